"""Mutation testing: which small faults in the statistics do the tests find?

    python scripts/mutate.py [MODULE ...] [--sample 60] [--seed 0]

Cosmic Ray makes the faults: another operator, another number, a condition that never holds. Each module gets a sample
of them, and each fault runs the tests of its module until one fails. No file is changed: a fork of a process that has
the libraries imports the module with the fault in it. What only an annotation says is no fault and not counted;
those that no test could ever find are counted as survivors.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import resource
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
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

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src/encheck"
TESTS = {
    "verdict": "verdict promises",
    "gating": "gate promises gating gate_simulated baseline",
    "statistics": "gate_statistics statistics gate promises draws",
    "metrics": "metrics values symmetry ranking classification wellbeing nonobvious",
    "scoring": "frame metrics symmetry difficulty ranking items",
}
LIBRARIES = (
    "hypothesis", "numpy", "pyarrow.parquet", "scipy.optimize", "scipy.sparse.csgraph", "scipy.special", "scipy.stats",
    "sklearn.metrics", "statsmodels.api", "statsmodels.stats.contingency_tables", "statsmodels.stats.multitest",
)  # fmt: skip
SLOW = "not threshold_goes and not long"  # whole runs of the suite
SECONDS = 60  # of processor time: what takes longer never ends


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


def faults(source: str, *, seed: int) -> Iterator[tuple[str, str]]:
    """(what it is, the source with it) of every fault that changes what is run, in random order."""
    every, seen = list(places(source)), {meaning(source)}
    random.Random(seed).shuffle(every)
    for name, occurrence in every:
        code = MutationVisitor.mutate_code(source, get_operator(name)(), occurrence)
        with suppress(SyntaxError):
            if (what := meaning(code)) not in seen:
                seen.add(what)
                yield f"{difference(source, code)}  ({name.partition('/')[2]})", code


def places(source: str) -> Iterator[tuple[str, int]]:
    """Each operator, once for each place where it can be used."""
    nodes = list(ast_nodes(get_ast(source)))
    for name in sorted(operator_names()):
        if not get_operator(name).arguments():
            count = sum(1 for node in nodes for _ in get_operator(name)().mutation_positions(node))
            yield from ((name, i) for i in range(count))


def difference(old: str, new: str) -> str:
    """The line that is another, as it is now."""
    lines = zip(old.splitlines(), new.splitlines(), strict=False)
    return next((f"{n}: {b.strip()}" for n, (a, b) in enumerate(lines, start=1) if a != b), "end")


def meaning(source: str) -> str:
    """The syntax tree without annotations."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if getattr(node, name, None) is not None:
                setattr(node, name, ast.Constant(None))
    return ast.dump(tree)


def is_found(path: Path, source: str) -> bool:
    """Whether a test of the module fails with this source."""
    child = os.fork()
    if not child:
        _run_tests(path, source)
    return os.waitpid(child, 0)[1] != 0


def _run_tests(path: Path, source: str) -> None:
    """Ends the process: 0 where all tests pass."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    status = 1
    with suppress(BaseException):
        sys.meta_path.insert(0, Faulty(path, source))
        names = TESTS[path.relative_to(SOURCES).with_suffix("").parts[0]].split()
        tests = [str(found) for name in names for found in (ROOT / "tests").rglob(f"test_{name}.py")]
        how = ("-x", "-q", "-p", "no:cacheprovider", "--assert=plain", "-k", SLOW, "--doctest-modules")
        status = int(pytest.main([*how, str(path), *tests]))
    os._exit(status)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("modules", nargs="*", help="such as gating/decision.py; all of the five packages without")
    parser.add_argument("--sample", type=int, default=60, help="faults a module")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    os.environ["OMP_NUM_THREADS"] = "1"
    for name in LIBRARIES:
        import_module(name)
    total = caught = 0
    for path in [SOURCES / name for name in asked.modules] or list(sources()):
        found, tried = one_module(path, sample=asked.sample, seed=asked.seed)
        total, caught = total + tried, caught + found
    print(f"{caught} of {total} faults found: {caught / max(total, 1):.0%}")
    return 0


def sources() -> Iterator[Path]:
    for name in TESTS:
        yield from [SOURCES / f"{name}.py"] if name == "verdict" else sorted((SOURCES / name).rglob("*.py"))


def one_module(path: Path, *, sample: int, seed: int) -> tuple[int, int]:
    """How many faults of the sample are found, and how many were tried; survivors are printed."""
    source = path.read_text("utf-8")
    if is_found(path, source):
        raise SystemExit(f"the tests of {path} fail without any fault")
    tried = list(islice(faults(source, seed=seed), sample))
    survivors = [what for what, code in tried if not is_found(path, code)]
    print(f"{path.relative_to(SOURCES)}: {len(tried) - len(survivors)} of {len(tried)} found", flush=True)
    for what in survivors:
        print(f"  survives: {what}", flush=True)
    return len(tried) - len(survivors), len(tried)


if __name__ == "__main__":
    sys.exit(main())
