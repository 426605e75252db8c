"""Mutation testing: which small faults in the statistics do the tests find?

    python scripts/mutate.py [PACKAGE or MODULE ...] [--sample 40] [--seed 0]

Cosmic Ray makes the faults: another operator, another number, a condition that never holds. Each package gets a sample
of them, drawn from all its modules together. Each fault meets the tests that run its statement, the quickest file
first, until one fails. No file is changed: a fork of a process that has the libraries imports the module with the fault
in it. What only an annotation says is no fault, nor which arguments go by name, and not counted; those that no test
could ever find are counted as survivors.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from itertools import islice
from pathlib import Path
from types import CodeType

import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import MutationVisitor
from cosmic_ray.plugins import get_operator, operator_names
from coverage import Coverage
from statsmodels.stats.proportion import proportion_confint

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src/encheck"
PACKAGES = ("gating", "metrics", "scoring", "statistics", "verdict.py")
TESTS = (
    *(f"tests/{name}" for name in ("gating", "metrics", "scoring", "statistics")), "tests/test_verdict.py",
    "tests/test_claims.py", "tests/items/test_items.py", "tests/items/test_crossed.py",
    "tests/generators/test_draws.py",
    *(f"src/encheck/{name}" for name in PACKAGES),
)  # fmt: skip
LIBRARIES = (
    "hypothesis", "numpy", "pyarrow.parquet", "scipy.optimize", "scipy.sparse.csgraph", "scipy.special", "scipy.stats",
    "sklearn.metrics", "statsmodels.api", "statsmodels.stats.contingency_tables", "statsmodels.stats.multitest",
)  # fmt: skip
PYTEST = ("-q", "-p", "no:cacheprovider", "--assert=plain", "-m", "not long", "--doctest-modules")
LEFT_OUT = frozenset({"pytester", "encheck", "shared_data"})  # fixtures
WALL = 3600  # seconds until a process that waits for something is ended; a busy machine is slow


@dataclass(frozen=True)
class Fault:
    path: Path
    source: str  # of the whole module, with the fault in it
    what: str  # for people
    lines: frozenset[int] | None  # of its statement; None where that is run by the import


@dataclass(frozen=True)
class Touched:
    """What a run without a fault shows: which tests run each line of each module, and each test's processor time."""

    lines: Mapping[str, Mapping[int, Collection[str]]]
    seconds: Mapping[str, float]

    def tests_of(self, fault: Fault) -> list[str]:
        """Those that run the fault's statement, the quickest file first; those of a fixture are all of its file."""
        by_line = self.lines.get(str(fault.path), {})
        contexts = {name for line in fault.lines or by_line for name in by_line.get(line, ())}
        if fault.lines is None or "" in contexts:  # the import runs it, and a test may see that without running a line
            every = {name for names in by_line.values() for name in names} - {""}
            contexts = {name.partition("::")[0] + "::" for name in every}
        whole = tuple(name for name in contexts if name.endswith("::"))
        cost: Counter[str] = Counter()  # of a file, since its first test sets up the fixtures of all
        for test, seconds in self.seconds.items():
            cost[test.partition("::")[0]] += seconds
        return sorted(
            (test for test in self.seconds if test in contexts or (whole and test.startswith(whole))),
            key=lambda test: (cost[test.partition("::")[0]], test.partition("::")[0], self.seconds[test]),
        )


class Tracing:
    """A plugin of pytest: notes which lines each test runs."""

    def __init__(self) -> None:
        self.coverage = Coverage(data_file=None, config_file=False, include=[f"{SOURCES}/*"])
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Neither whole runs of pytest, which take seconds, nor tests of data sets that are not in the repository."""
        items[:] = [item for item in items if LEFT_OUT.isdisjoint(getattr(item, "fixturenames", ()))]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        _empty_caches()
        self.coverage.switch_context(item.nodeid.partition("::")[0] + "::")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        self.coverage.switch_context(item.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        start = time.process_time()
        result = yield
        self.seconds[item.nodeid] = time.process_time() - start
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)

    def lines(self) -> dict[str, dict[int, list[str]]]:
        data = self.coverage.get_data()
        return {path: data.contexts_by_lineno(path) for path in data.measured_files()}


def _empty_caches() -> None:
    """What a test finds in a cache it would not run."""
    for name, module in list(sys.modules.items()):
        if name.startswith("encheck."):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


class Chosen:
    """A plugin of pytest: runs these tests, in their order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.place = {test: i for i, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        kept = [item for item in items if item.nodeid in self.place]
        items[:] = sorted(kept, key=lambda item: self.place[item.nodeid])


class Faulty(SourceFileLoader):
    """Finds one module, and gives it another source."""

    def __init__(self, path: Path, source: str) -> None:
        super().__init__(name_of(path), str(path))
        self.source = source

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        return spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        return compile(self.source, self.path, "exec")


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCES.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def faults(paths: Sequence[Path], *, seed: int) -> Iterator[Fault]:
    """Every fault of these modules that changes what is run, in random order."""
    sources = {path: path.read_text("utf-8") for path in paths}
    seen = {(path, meaning(source)) for path, source in sources.items()}
    every = [(path, *place) for path, source in sources.items() for place in places(source)]
    random.Random(seed).shuffle(every)
    for path, name, occurrence in every:
        code = MutationVisitor.mutate_code(sources[path], get_operator(name)(), occurrence)
        with suppress(SyntaxError):
            if (key := (path, meaning(code))) not in seen:
                seen.add(key)
                yield fault(path, sources[path], code, operator=name.partition("/")[2])


def places(source: str) -> Iterator[tuple[str, int]]:
    """Each operator, once for each place where it can be used."""
    nodes = list(ast_nodes(get_ast(source)))
    for name in sorted(operator_names()):
        if not get_operator(name).arguments():
            count = sum(1 for node in nodes for _ in get_operator(name)().mutation_positions(node))
            yield from ((name, i) for i in range(count))


def meaning(source: str) -> str:
    """The syntax tree without annotations, and without the star of a signature, which is taken for an operator.

    >>> meaning("def f(a, *, b=1): pass") == meaning("def f(a, /, b=1): pass")
    True
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if getattr(node, name, None) is not None:
                setattr(node, name, ast.Constant(None))
        if isinstance(node, ast.arguments):
            node.args = [*node.posonlyargs, *node.args, *node.kwonlyargs]
            node.defaults = [*node.defaults, *(value for value in node.kw_defaults if value is not None)]
            node.posonlyargs, node.kwonlyargs, node.kw_defaults = [], [], []
    return ast.dump(tree)


def fault(path: Path, old: str, new: str, *, operator: str) -> Fault:
    before, after = old.splitlines(), new.splitlines()
    first = _alike(before, after)
    last = len(before) - _alike(before[first:][::-1], after[first:][::-1])
    text = after[first].strip() if first < len(after) else "end"
    what = f"{path.relative_to(SOURCES)}:{first + 1}: {text}  ({operator})"
    return Fault(path, new, what, statement(old, first + 1, max(first + 1, last)))


def _alike(a: Sequence[str], b: Sequence[str]) -> int:
    """How many lines are the same from the beginning."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def statement(source: str, first: int, last: int) -> frozenset[int] | None:
    """The lines of the smallest statement of a function that has these; None where no function has them."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    inner = [node for function in functions for part in function.body for node in ast.walk(part)]
    spans = [(node.lineno, node.end_lineno) for node in inner if isinstance(node, ast.stmt)]
    around = [range(a, b + 1) for a, b in spans if b is not None and a <= first and last <= b]
    return frozenset(min(around, key=len)) if around else None


def touched() -> Touched:
    """Runs all tests once, without a fault. Those that fail even so find none, and are named."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "touched.json"
        if forked(lambda: _trace(written)) not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            raise SystemExit(f"the tests do not run: python -m pytest {' '.join(TESTS)}")
        lines, seconds, failed = json.loads(written.read_text("utf-8"))
    for test in failed:
        print(f"left out, because it fails without any fault: {test}", file=sys.stderr)
    kept = {test: cost for test, cost in seconds.items() if test not in failed}
    return Touched({path: {int(n): tests for n, tests in by_line.items()} for path, by_line in lines.items()}, kept)


def _trace(into: Path) -> int:
    tracing = Tracing()
    tracing.coverage.start()
    status = pytest.main([*PYTEST, *TESTS], plugins=[tracing])
    tracing.coverage.stop()
    into.write_text(json.dumps([tracing.lines(), tracing.seconds, sorted(tracing.failed)]), "utf-8")
    return int(status)


def is_found(fault: Fault, tests: Sequence[str], *, seconds: float) -> bool:
    """Whether one of these tests fails with the fault, or takes longer."""
    passes = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    return bool(tests) and forked(lambda: _meet(fault, tests), seconds=seconds) not in passes


def _meet(fault: Fault, tests: Sequence[str]) -> int:
    sys.meta_path.insert(0, Faulty(fault.path, fault.source))
    files = sorted({test.partition("::")[0] for test in tests})
    return int(pytest.main([*PYTEST, "-x", *files], plugins=[Chosen(tests)]))


def forked(work: Callable[[], int], *, seconds: float = WALL) -> int:
    """The exit status of this, silent, in a process of its own; a signal's for one that takes more processor time."""
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1,) * 2)
        signal.alarm(WALL)
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        status = 1
        with suppress(BaseException):
            status = work()
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("modules", nargs="*", default=PACKAGES, help="such as gating or gating/decision.py")
    parser.add_argument("--sample", type=int, default=40, help="faults of each")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    os.chdir(ROOT)
    os.environ["OMP_NUM_THREADS"] = "1"
    for name in LIBRARIES:
        import_module(name)
    tests = touched()
    results = [one_sample(name, tests, sample=asked.sample, seed=asked.seed) for name in asked.modules]
    print(in_words("together", *(sum(column) for column in zip(*results, strict=True))))
    return 0


def one_sample(name: str, tests: Touched, *, sample: int, seed: int) -> tuple[int, int]:
    """How many faults of the sample are found, and how many were tried; survivors are printed."""
    paths = [SOURCES / name] if name.endswith(".py") else sorted((SOURCES / name).rglob("*.py"))
    tried = list(islice(faults(paths, seed=seed), sample))
    found = sum(_falls(each, tests) for each in tried)
    print(in_words(name, found, len(tried)), flush=True)
    return found, len(tried)


def _falls(fault: Fault, tests: Touched) -> bool:
    chosen = tests.tests_of(fault)
    found = is_found(fault, chosen, seconds=20 + 3 * sum(tests.seconds[test] for test in chosen))
    if not found:
        print(f"  survives {len(chosen)} tests: {fault.what}", flush=True)
    return found


def in_words(name: str, found: int, tried: int) -> str:
    """With Wilson's interval."""
    low, high = proportion_confint(found, tried, method="wilson")
    return f"{name}: {found} of {tried} found, {found / tried:.0%} (95% CI {low:.0%}-{high:.0%})"


if __name__ == "__main__":
    sys.exit(main())
