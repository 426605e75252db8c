"""Speed of encheck beside what it is made of, in one run, as ratios.

    python lab/benchmarks/speed.py --mrpc path/to/MRPC [--rounds 3]
    python lab/benchmarks/speed.py --mrpc path/to/MRPC --beside PYTHON [--rounds 3]

Each figure is the median over rounds in which the two sides take turns; the ratio is the median of the rounds'
ratios, since shared machines drift. MRPC's texts are read from the user's own copy. `--beside` is the Python of an
environment that has another version of encheck: warm runs of the two take turns, each with a store of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BATCHES = {"tokens": (1_024, 2_048, 4_096), "texts": (16, 32, 64)}

SUITE = """
import sys, time
started = time.perf_counter()
import torch, transformers, sentence_transformers, numpy, pyarrow.parquet, pyarrow.compute, jinja2, scipy, filelock
import nltk.tokenize.destructive, spacy, scipy.sparse, xdist.plugin, huggingface_hub, yaml, platformdirs
from transformers.models.bert import modeling_bert, tokenization_bert
import pytest, encheck.engine.evaluation, encheck.items.builders, encheck.metrics.nonobvious
import encheck.metrics.correlation, encheck.metrics.symmetry
import encheck.encoders.checkpoints.sentence_transformers, encheck.engine.folder, encheck.reporting.terminal
imported = time.perf_counter()
code = pytest.main(sys.argv[1:])
print("RESULT", int(code), imported - started, time.perf_counter() - imported)
"""


def suite(folder: Path) -> tuple[float, float, list[str]]:
    """(imports, whole cold run after them, distinct texts encoded) on the embedded probes."""
    report = folder / f"run-{time.monotonic_ns()}"
    args = ["--pyargs", "encheck.checks", "-q", "--encheck-no-store", f"--encheck-report-dir={report}"]
    args += ["-c", str(ROOT / "src/encheck/run.ini"), f"--rootdir={folder}"]
    done = subprocess.run([sys.executable, "-c", SUITE, *args], cwd=folder, capture_output=True, text=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith("RESULT"))
    code, imports, run = line.split()[1:]
    assert code == "0", done.stdout
    encoded = json.loads((report / "results.json").read_text("utf-8"))["run"]["encoded"]["sbert"]
    texts = texts_of(report)
    assert abs(len(texts) - encoded) <= encoded // 1000, (len(texts), encoded)  # a truncated text can stand for two
    return float(imports), float(run), texts


def texts_of(report: Path) -> list[str]:
    """The distinct texts that a run on the probes encoded: those of its items, and the random pairs' sentences."""
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(report / "items.parquet").to_pydict()
    found = [text for side in ("source", "near", "far") for text in table[side] if text is not None]
    return list(dict.fromkeys(found))


def mrpc_texts(path: Path) -> list[str]:
    from encheck.datasets.load import load

    return [text for pair in load(f"mrpc:{path}", sample=None).pairs for text in (pair.first, pair.second)]


def encoder() -> object:
    from encheck.encoders.load import find_or_make_model_config, load_model
    from encheck.encoders.model_config import Device
    from encheck.encoders.models_file import known_models

    return load_model(find_or_make_model_config("sbert", known_models()), device=Device("cpu"))


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def best_encoding(texts: list[str]) -> tuple[float, str]:
    """Seconds for these texts in the best batch set-up: by tokens as encheck does, or by texts as its library does.

    The set-up is chosen on a tenth of the texts, and timed on all of them.
    """
    from encheck.encoders.checkpoints import sentence_transformers as adapter

    model = encoder()
    model.encode(texts[:64])

    def by_tokens(budget: int) -> Callable[[list[str]], object]:
        def work(some: list[str]) -> object:
            adapter.TOKENS_PER_BATCH["cpu"] = budget
            return model.encode(some)

        return work

    def by_texts(size: int) -> Callable[[list[str]], object]:
        return lambda some: model.model.encode(some, batch_size=size, show_progress_bar=False)

    ways = {f"{b} tokens a batch": by_tokens(b) for b in BATCHES["tokens"]}
    ways |= {f"{n} texts a batch": by_texts(n) for n in BATCHES["texts"]}
    best = min(ways, key=lambda name: timed(lambda: ways[name](texts[::10])))
    return timed(lambda: ways[best](texts)), best


def against_default(texts: list[str], rounds: int) -> tuple[float, float, float]:
    """Medians of encheck's seconds, of sentence-transformers' default `encode`, and of the ratio."""
    model = encoder()
    model.encode(texts[:64])
    ours, theirs = [], []
    for _ in range(rounds):
        theirs.append(timed(lambda: model.model.encode(texts, show_progress_bar=False)))
        ours.append(timed(lambda: model.encode(list(dict.fromkeys(texts)))))
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    return statistics.median(ours), statistics.median(theirs), statistics.median(ratios)


def warm_mrpc(path: Path, folder: Path) -> tuple[list[float], bool]:
    """Wall seconds of warm runs of criteria 1 and 4 on all of MRPC, and whether torch was imported."""
    code = "import sys, encheck.cli as c\ntry: c.main(sys.argv[1:])\n"
    code += "except SystemExit: print('TORCH', 'torch' in sys.modules)"
    environment = os.environ | {"ENCHECK_STORE": str(folder / "store.sqlite")}
    seconds, torch = [], True
    for _ in range(4):
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", code, *warm_args(path)], cwd=folder, env=environment, capture_output=True, text=True
        )
        seconds.append(time.perf_counter() - start)
        torch = "TORCH True" in done.stdout
    return seconds[1:], torch


def warm_args(path: Path) -> list[str]:
    """What `encheck` is given for criteria 1 and 4 on all of MRPC."""
    return ["run", "--full", "-m", "paraphrase or jumble", "--data", f"mrpc:{path}", "--sample=all", "-q"]


def warm_run(python: str | Path, path: Path, folder: Path) -> tuple[float, float]:
    """Wall and processor seconds of a run of criteria 1 and 4 on all of MRPC; the first in a folder fills its store."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = os.environ | {"ENCHECK_STORE": str(folder / "store.sqlite")}
    subprocess.run([python, "-m", "encheck", *warm_args(path)], cwd=folder, env=environment, capture_output=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def beside_rows(other: str, mrpc: Path, folder: Path, rounds: int) -> list[tuple[str, str, str]]:
    """Medians of this version's warm runs, of the other's, and of the rounds' ratios."""
    pythons = {"this": sys.executable, "the other": other}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in pythons}
    for name, python in pythons.items():
        (folder / name).mkdir()
        warm_run(python, mrpc, folder / name)
    for _ in range(rounds):
        for name, python in pythons.items():
            found[name].append(warm_run(python, mrpc, folder / name))
    rows = []
    for what, ours, theirs in zip(
        ("wall", "processor"), *(zip(*runs, strict=True) for runs in found.values()), strict=True
    ):
        ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
        seconds = f"{statistics.median(ours):.1f} s / {statistics.median(theirs):.1f} s"
        rows.append((f"warm run, this version / the other, {what} time", f"{seconds} = {ratio:.2f}", ""))
    return rows


def help_seconds(folder: Path, *args: str) -> float:
    command = [sys.executable, "-m", "pytest", "--help", *args]
    return timed(lambda: subprocess.run(command, cwd=folder, capture_output=True, check=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mrpc", type=Path, required=True, help="folder of MRPC as distributed")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=("cold", "encoding", "warm", "help"), help="one part of it")
    parser.add_argument("--beside", help="the Python of another version: warm runs of the two, in turn, and no more")
    options = parser.parse_args()
    mrpc = options.mrpc.resolve()
    rows: list[tuple[str, str, str]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = {
            "cold": lambda: cold_rows(folder, options.rounds),
            "encoding": lambda: encoding_rows(mrpc, options.rounds),
            "warm": lambda: warm_rows(mrpc, folder),
            "help": lambda: help_rows(folder),
        }
        if options.beside:
            parts = {"beside": lambda: beside_rows(options.beside, mrpc, folder, options.rounds)}
        for part in [options.only] if options.only and not options.beside else parts:
            rows += parts[part]()
    print("| what | figure | note |\n| --- | --- | --- |")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def cold_rows(folder: Path, rounds: int) -> list[tuple[str, str, str]]:
    runs, pure, imports, ratios, how = [], [], [], [], ""
    for _ in range(rounds):
        brought, run, texts = suite(folder)
        seconds, how = best_encoding(texts)
        runs.append(run)
        pure.append(seconds)
        imports.append(brought)
        ratios.append(run / seconds)
    start = statistics.median(timed(lambda: subprocess.run([sys.executable, "-c", ""], check=True)) for _ in range(5))
    return [
        (f"pure encoding of {len(texts):,} distinct texts", f"{statistics.median(pure):.2f} s", f"best: {how}"),
        ("whole cold run on them, imports apart", f"{statistics.median(runs):.2f} s", "loading, measuring, report"),
        ("whole run / pure encoding", f"{statistics.median(ratios):.2f}", "wanted: at most 1.25"),
        ("interpreter start-up", f"{start:.2f} s", ""),
        ("imports (torch, transformers, ...)", f"{statistics.median(imports):.2f} s", ""),
    ]


def encoding_rows(mrpc: Path, rounds: int) -> list[tuple[str, str, str]]:
    rows = []
    everything = mrpc_texts(mrpc)
    cases = (("MRPC's distinct texts", list(dict.fromkeys(everything)), 0.85), ("MRPC's texts", everything, 0.8))
    for what, texts, wanted in cases:
        ours, theirs, ratio = against_default(texts, rounds)
        rows += [
            (f"encheck, {what} ({len(texts):,})", f"{ours:.1f} s", ""),
            (f"sentence-transformers' encode, {what}", f"{theirs:.1f} s", "its defaults"),
            ("encheck / sentence-transformers", f"{ratio:.2f}", f"wanted: at most {wanted}"),
        ]
    return rows


def warm_rows(mrpc: Path, folder: Path) -> list[tuple[str, str, str]]:
    seconds, torch = warm_mrpc(mrpc, folder)
    figure = f"{statistics.median(seconds):.1f} s"
    return [
        ("warm run, criteria 1 and 4, all 5,801 MRPC pairs", figure, f"wanted: under 10 s; torch imported: {torch}")
    ]


def help_rows(folder: Path) -> list[tuple[str, str, str]]:
    pairs = [(help_seconds(folder), help_seconds(folder, "-p", "no:encheck.plugin")) for _ in range(9)]
    difference = statistics.median(a - b for a, b in pairs)
    return [("pytest --help, with the plugin minus without", f"{difference:.2f} s", "wanted: at most 0.1 s")]


if __name__ == "__main__":
    main()
