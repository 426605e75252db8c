"""Files of every kind that encheck reads, spoilt at random: what readers make of them is an EncheckError, and soon.

`survivors(work, count, seed)` is for the tests and for larger attacks alike: it spoils and reads `count` files of each
kind, and gives (kind, seed, what went wrong) where a reader raised anything else, took too long, or named no file.
"""

import copy
import hashlib
import io
import json
import random
import shutil
import time
import traceback
from importlib import resources
from pathlib import Path

import pyarrow
import pyarrow.parquet
from typer.testing import CliRunner

import encheck
from encheck.cli import app
from encheck.cli.show import show_items_with_edits
from encheck.comparing.comparison import compare
from encheck.comparing.page import render_comparison
from encheck.comparing.predictions import read_predictions
from encheck.comparing.seeds import compare_seeds
from encheck.comparing.terminal import comparison_lines
from encheck.datasets.load import load
from encheck.encoders.files import largest_token_id, read_model_json
from encheck.encoders.models_file import packaged_models_path, read_models
from encheck.engine.results import read_run as read_run
from encheck.errors import EncheckError
from encheck.gating.baseline import read_baseline as read_baseline
from encheck.gating.comparison import gate_against_baseline
from encheck.operations.same.sides import read_side as read_saved
from encheck.options import project_table
from encheck.reporting.formats import FORMATS, export_run
from encheck.reporting.rebuild import rebuild_page, reject_invalid_results
from encheck.reporting.results import find_item, read_items, read_results, read_splits

PATIENCE = 10.0  # seconds of the processor that a reader may take
STRANGE = (
    None, True, -1, 0, 2**70, 10**400, 1e308, -0.0, "", "x", "\ud800", "\x1b]0;t\x07", "a/b/c", [], {}, [[]], [None],
    {"a": None}, [1, "x"], float("nan"), float("inf"),
)  # fmt: skip
JUNK = (
    b"",
    b"\0",
    b"\xff\xfe",
    b"\x1b]0;t\x07",
    b"{",
    b"[" * 300,
    b"]",
    b'"',
    b",",
    b"\n",
    b"1e999",
    b"9" * 5_000,
    b": &a",
)


def made(work):
    """A run with its baseline, settings and data, as encheck writes them or as people do."""
    rows = "".join(f"a b {i},a c {i},{i % 2}\n" for i in range(60))
    (work / "own.csv").write_text(f"first,second,label\n{rows}")
    rated = [{"first": f"a {i}", "second": f"b {i}", "label": i % 2} for i in range(20)]
    (work / "own.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in rated))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rated), work / "own.parquet")
    probes = (resources.files("encheck.datasets") / "probes.jsonl").read_text("utf-8").split("\n")
    (work / "probes.jsonl").write_text("\n".join(probes[::6]), "utf-8")
    chosen = "antonym_is_farther_than_paraphrase or than_random_pair or symmetry"
    args = ["run", "-q", "-k", chosen, "--model=jaccard", f"--data=probes:{work / 'probes.jsonl'}"]
    CliRunner().invoke(app, [*args, f"--report-dir={work / 'run'}", f"--save-baseline={work / 'base'}"])
    (work / "pyproject.toml").write_text(
        '[tool.encheck]\nmodels = "m.yaml"\nstore-limit-mb = 40\nthresholds = {a = 0.5}\n'
        '[tool.encheck.known_failures.m]\n"a_*" = "few"\n'
    )
    (work / "models.yaml").write_text("\n".join(packaged_models_path().read_text("utf-8").split("\n")[:60]), "utf-8")
    (work / "predictions.csv").write_text("prediction,score\n" + "1,0.5\n" * 9)
    encheck.same(lambda some: [[len(text), 1.0] for text in some], save=work / "saved.json")
    (work / "config.json").write_text(json.dumps({"model_type": "bert", "vocab_size": 9, "added_tokens": [{"id": 3}]}))
    return work


def report(work):
    rebuild_page(work / "run", work / "page.html")


def compared(work):
    with reject_invalid_results(work / "run"):
        render_comparison(found := compare([work / "run", work / "twin"]))
        list(comparison_lines(found))


def exported(work):
    results, splits = read_results(work / "run"), read_splits(work / "run")
    with reject_invalid_results(work / "run"):
        export_run(results, work / "exports", formats=[name for name in FORMATS if name != "parquet"], splits=splits)


def shown(work):
    with reject_invalid_results(work / "run"):
        list(show_items_with_edits(find_item(work / "run", "")[:20], None))


def seeds(work):
    with reject_invalid_results(work / "run"):
        compare_seeds([work / "run", work / "twin"], everything=True)


def weighed(work):
    baseline = read_baseline(work / "base")
    results = read_results(work / "twin")
    gate_against_baseline(baseline, results, read_items(work / "twin"), model=results.models[0].label)


RUN = (lambda work: read_run(work / "run"), report, compared, exported, shown, seeds)
KINDS = {  # the file, what spoils it, what reads it
    "results": ("run/results.json", "json", RUN),
    "items": ("run/items.parquet", "parquet", RUN),
    "baseline": ("base/baseline.json", "json", (weighed,)),
    "baseline, resealed": ("base/baseline.json", "sealed", (weighed,)),
    "baseline items": ("base/items.parquet", "sealed parquet", (weighed,)),
    "project": ("pyproject.toml", "bytes", (lambda work: project_table(work / "pyproject.toml"),)),
    "models": ("models.yaml", "bytes", (lambda work: read_models(work / "models.yaml"),)),
    "csv": ("own.csv", "bytes", (lambda work: load(f"pairs:{work / 'own.csv'}", sample=None),)),
    "jsonl": ("own.jsonl", "lines", (lambda work: load(f"pairs:{work / 'own.jsonl'}", sample=None),)),
    "parquet": ("own.parquet", "parquet", (lambda work: load(f"pairs:{work / 'own.parquet'}", sample=None),)),
    "predictions": ("predictions.csv", "bytes", (lambda work: read_predictions(work / "predictions.csv"),)),
    "saved vectors": ("saved.json", "json", (lambda work: read_saved(work / "saved.json"),)),
    "config": ("config.json", "json", (lambda work: configured(work / "config.json"),)),
}


def configured(path):
    read_model_json(path, dict)
    largest_token_id(path)


def survivors(work, *, count, seed=0, kinds=tuple(KINDS)):
    """Spoil and read `count` files of each kind; (kind, number, what went wrong) for each that was not survived."""
    whole = work / "whole"
    whole.mkdir(parents=True, exist_ok=True)
    if not (whole / "twin").exists():
        made(whole)
        shutil.copytree(whole / "run", whole / "twin")
        twin = json.loads((whole / "twin/results.json").read_text("utf-8"))
        twin["models"][0]["fingerprint"] = "another model, to compare with"
        (whole / "twin/results.json").write_text(json.dumps(twin), "utf-8")
    for kind in kinds:
        name, way, readers = KINDS[kind]
        file, before = whole / name, (whole / name).read_bytes()
        head = (whole / "base/baseline.json").read_bytes()
        for number in range(count):
            rng = random.Random(f"{seed}/{kind}/{number}")
            try:
                file.write_bytes(spoilt(before, way, rng))
                if way == "sealed parquet":
                    reseal(whole / "base/baseline.json", items_sha256=hashlib.sha256(file.read_bytes()).hexdigest())
                if problem := read(rng.choice(readers), whole):
                    yield kind, number, problem
            finally:
                file.write_bytes(before)
                (whole / "base/baseline.json").write_bytes(head)


def read(reader, work):
    """What is wrong with how a reader took it: nothing where it read, or raised an EncheckError that names a file."""
    start = time.process_time()
    try:
        reader(work)
    except EncheckError as error:
        if str(work) not in str(error):
            return f"names no file: {error}"
    except Exception:
        return traceback.format_exc()
    took = time.process_time() - start
    return f"took {took:.1f} s" if took > PATIENCE else ""


def reseal(path, **changed):
    """Make the checksum of a baseline's summary hold again."""
    found = json.loads(path.read_text("utf-8"))
    found.pop("checksum", None)
    found |= changed
    canonical = json.dumps(found, sort_keys=True, ensure_ascii=True)
    path.write_text(json.dumps({**found, "checksum": hashlib.sha256(canonical.encode()).hexdigest()}), "utf-8")


def spoilt(data, way, rng):
    """The bytes of a file, spoilt in one of the ways that its kind has."""
    if way.endswith("parquet"):
        return of_columns(data, rng) if rng.random() < 0.7 else of_bytes(data, rng)
    if way == "bytes" or rng.random() < 0.3:
        return of_bytes(data, rng) if way != "sealed" else sealed(json.loads(data), rng)
    if way == "sealed":
        return sealed(json.loads(data), rng)
    if way == "lines":
        lines = data.decode().rstrip("\n").split("\n")
        at = rng.randrange(len(lines))
        lines[at] = json.dumps(of_values(json.loads(lines[at]), rng))
        return "".join(f"{line}\n" for line in lines).encode()
    return json.dumps(of_values(json.loads(data), rng)).encode()


def sealed(values, rng):
    values.pop("checksum")
    values = of_values(values, rng)
    if not isinstance(values, dict):
        return json.dumps(values).encode()
    canonical = json.dumps(values, sort_keys=True, ensure_ascii=True)
    return json.dumps({**values, "checksum": hashlib.sha256(canonical.encode()).hexdigest()}).encode()


def of_bytes(data, rng):
    spoilt = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        start = rng.randrange(len(spoilt) + 1)
        end = min(start + rng.choice([0, 1, 1, 8, 400]), len(spoilt))
        spoilt[start:end] = rng.choice([*JUNK, rng.randbytes(rng.randrange(1, 9))])
    return bytes(spoilt[: rng.randrange(len(spoilt) + 1)] if rng.random() < 0.1 else spoilt)


def of_values(values, rng):
    """JSON values of which some are others, missing, or twice as many."""
    values = copy.deepcopy(values)
    for _ in range(rng.randrange(1, 4)):
        places = list(all_places(values))
        if not places:
            return values
        holder, key = rng.choice(places)
        if rng.random() < 0.25:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(rng.choice(STRANGE)) if rng.random() < 0.9 else deep(holder[key])
    return values


def all_places(values):
    todo = [values]
    while todo:
        holder = todo.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            yield holder, key
            if isinstance(holder[key], dict | list):
                todo.append(holder[key])


def deep(value):
    for _ in range(200):
        value = [value]
    return value


def of_columns(data, rng):
    """A table of which a column is missing, doubled, of another type, or has other values."""
    table = pyarrow.parquet.read_table(io.BytesIO(data))
    at = rng.randrange(table.num_columns)
    name, count = table.column_names[at], table.num_rows
    ways = {
        "dropped": lambda: table.drop_columns([name]),
        "twice": lambda: table.append_column(name, table[name]),
        "nothing": lambda: table.set_column(at, name, pyarrow.nulls(count, table[name].type)),
        "untyped": lambda: table.set_column(at, name, pyarrow.nulls(count)),
        "numbers": lambda: table.set_column(at, name, pyarrow.array(range(count))),
        "lists": lambda: table.set_column(at, name, pyarrow.array([[1]] * count)),
        "bytes": lambda: table.set_column(at, name, pyarrow.array([b"\xff"] * count)),
        "texts": lambda: table.set_column(at, name, pyarrow.array(["[[1, 2]"] * count)),
        "no numbers": lambda: table.set_column(at, name, pyarrow.array([float("nan"), *[1e300] * (count - 1)][:count])),
        "one": lambda: table.slice(rng.randrange(count), 1),
        "none": lambda: table.slice(0, 0),
        "turned": lambda: table.take(pyarrow.array(range(count - 1, -1, -1))),
    }
    out = io.BytesIO()
    pyarrow.parquet.write_table(ways[rng.choice(list(ways))](), out)
    return out.getvalue()


if __name__ == "__main__":
    import sys
    import tempfile

    tries = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as folder:
        for found in survivors(Path(folder), count=tries, seed=int(sys.argv[2]) if len(sys.argv) > 2 else 0):
            sys.stdout.write("\n".join(map(str, found)) + "\n")
