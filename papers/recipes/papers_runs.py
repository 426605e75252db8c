"""Figures of runs that take training or long encoding: read from the JSON files of a folder.

These files count, and any other JSON is left alone:

    train_head.py                    DATA/PARTS/SEED/results.json, with `settings` and `test`
    train_cross_encoder.py           seed-N/results.json, with `also`
    train_spans.py                   papers.json, as below
    rise_control.py                  SOURCE/seedN/ARM.json
    encheck run -m downstream        results.json of the report directory
    anything else                    {"seed": 0, "model": "sbert", "command": "python ...", "papers": [{"paper": "002",
                                     "table": "T5", "row": "(|u-v|)", "column": "MSRP", "value": 80.5, "n": 1725}]}

`papers` names rows and columns of published/NNN.csv, or own ones for what a paper does not have (a control). `value` is
in the unit of the table, `seed` an integer; `n` (how many items), `note` (what was otherwise, for the name of the row),
`command` and `trained_on` (`from`: which pairs) may be missing. Where results.json lies beside it, its seed, model and
figures must be the same. A training on a sample of its pairs has a row of its own. Files of one paper, table, row,
column and model are seeds of one figure: its value is their mean, `error` the standard error, and the interval that of
Student's t over the seeds. One seed has no interval.
"""

from __future__ import annotations

import logging
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from papers_ours import THEN, Figure, Label, Measured, shown
from papers_published import PAPERS, published, tables
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from scipy.stats import t

from encheck.errors import DataError
from encheck.system.documents import read_json
from encheck_papers.fit import Choices

Raw = Mapping[str, Any]
Of = tuple[str, str, str, str]  # paper, table, column, model
Place = tuple[str, str, str]  # row, column, note
Number = Annotated[float, Field(allow_inf_nan=False)]
COLUMNS = {
    "mrpc": "MSRP", "mrpc@glue": "MSRP", "pit2015": "PIT-2015", "paws": "PAWS-Wiki", "paws-qqp": "PAWS-QQP",
    "paws-qqp@paws-wiki": "PAWS-QQP",
    "twitter-url": "Twitter-URL", "twitter-url@held-out": "Twitter-URL", "qqp": "QQP",
}  # fmt: skip
SYMMETRIC, SBERT = ("|u-v|", "u*v"), ("u", "v", "|u-v|")
AS_SYMMETRIC = {"T2": "SBERT", "T4": "SBERT only", "T6": "SBERT"}  # rows that repeat Table 5's
ARMS = {"rise": "RISE", "none": "DINO", "filter": "Filtering", "random": "Random", "permuted": "permuted weights",
        "uniform": "one weight for all"}  # fmt: skip
SOURCES = {"stsb": "STSb", "mrpc": "MRPC"}
RISE_FIGURES = {"stsb_spearman": "STSb Spearman", "stsb_pearson": "STSb Pearson", "mrpc_accuracy": "MRPC accuracy",
                "mrpc_f1": "MRPC F1"}  # fmt: skip
OF_A_SEED = {"seed", "pairs"}  # which pairs: a sample is drawn by the seed
OF_FLIPS = "S3"  # section 3 is on the order of the sentences
OF_TOKENIZERS = {"tokenizer.json", "vocab.json"}
MOST_NAMED = 3
log = logging.getLogger("papers")
TASKS = ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC")


class Value(BaseModel):
    """A figure of one seed."""

    model_config = ConfigDict(extra="ignore", strict=True)
    paper: str
    table: str
    row: str
    column: str
    value: Number
    n: int | None = None
    note: str = ""
    is_on_other_data: bool = False  # than the paper trains on, where the row does not say so


class Run(BaseModel):
    """A finished run of one seed."""

    model_config = ConfigDict(extra="ignore", strict=True)
    seed: int
    model: str
    papers: list[Value]
    command: str = ""
    settings: dict[str, Any] = {}  # what seeds of one figure have in common
    trained_on: dict[str, Any] = {}


class Row(BaseModel):
    """A row of a report that holds a figure."""

    model_config = ConfigDict(extra="ignore", strict=True)
    model: str
    level: str
    value: Number
    low: Number
    high: Number
    n: int


def files(folder: Path) -> list[Path]:
    """Every JSON file of a folder, from the root on, so that a reader may ask above it; DataError without a folder."""
    if not folder.is_dir():
        raise DataError(f"--runs={folder}: no such folder")
    every = sorted((path for path in folder.resolve().rglob("*.json") if not path.is_dir()), reverse=True)
    found = {path.resolve(): path for path in every}  # a link counts once
    return sorted(path for path in found.values() if path.name not in OF_TOKENIZERS)


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """The content of a JSON file, for a block that reads it; DataError where it is not what the block expects."""
    try:
        yield read_json(path, infinite=True)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise DataError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        said = f"no {error}" if isinstance(error, KeyError) else error
        raise DataError(
            f"{path} is not whole, or of another version: {said}. Remedy: delete it, and let its recipe make it again"
        ) from None


def run_of(path: Path, raw: Any) -> Run | None:
    """The run in a file, whichever recipe wrote it; None if it is none."""
    found = next((r for read in READERS if (r := read(path, raw))), None) if isinstance(raw, dict) else None
    return None if found is None else Run.model_validate(found)


def _plain(path: Path, raw: Raw) -> Run | None:
    """A file with `papers`. Where results.json of its training lies beside it, both must say the same."""
    if "papers" not in raw:
        return None
    run, beside = Run.model_validate(raw), path.with_name("results.json")
    note, settings = _sample({"parts": {"train": run.trained_on}}), run.settings
    if beside != path and beside.is_file():
        with opened(beside) as results:
            note, settings = _sample(results) or note, _common(results)
            _refuse_others(path, run, results)
    papers = [
        value if value.table.startswith("F") else value.model_copy(update={"note": value.note or note})
        for value in run.papers  # a figure of the paper's names the share of the pairs itself
    ]
    return run.model_copy(update={"papers": papers, "settings": settings})


def _refuse_others(path: Path, run: Run, results: Raw) -> None:
    """DataError where seed, model or a figure is another one in the results of the training."""
    there = {**results["settings"], **{name: 100.0 * results["test"][name] for name in ("f1", "flips")}}
    said = [("seed", run.seed), ("model", run.model)]
    said += [("flips" if value.table == OF_FLIPS else "f1", value.value) for value in run.papers]
    for name, one in said:
        other = there[name]
        if one != other and not (isinstance(one, float) and math.isclose(one, other)):
            raise DataError(
                f"{path} says {name} {one}, but results.json beside it {other}: one of them was changed. "
                "Remedy: delete both, and let the recipe make them again"
            )


def _common(raw: Raw) -> dict[str, Any]:
    """The settings of a training that its other seeds share."""
    return {name: value for name, value in raw["settings"].items() if name not in OF_A_SEED}


def _head(_path: Path, raw: Raw) -> Raw | None:
    """papers/recipes/train_head.py: Table 5, the rows that repeat it, and the flips of section 3."""
    settings, test = raw.get("settings"), raw.get("test")
    if not isinstance(settings, dict) or not isinstance(test, dict) or "features" not in settings:
        return None
    features, column, note = tuple(settings["features"]), COLUMNS.get(settings["data"]), _sample(raw)
    if column is None or settings.get("spans") or settings.get("pooling"):
        return None
    places = {"T5": f"({', '.join(features)})", **(AS_SYMMETRIC if features == SYMMETRIC else {})}
    if column not in {cell.column for cell in published("002") if cell.table == "T6"}:
        places.pop("T6", None)
    made = [_value("002", table, row, column, 100 * test["f1"], test["n"], note) for table, row in places.items()]
    name = "SBERT, (u, v, |u-v|)" if features == SBERT else f"head, ({', '.join(features)})"
    made.append(_value("002", OF_FLIPS, name, column, 100 * test["flips"], test["n"], note))
    command = f'python papers/recipes/train_head.py --data {settings["data"]}:... --features "{",".join(features)}"'
    command += f"{_pairs(note)}{_options(settings)} --out RUNS"
    return {**_seed(raw), "command": command, "papers": made}


def _seed(raw: Raw) -> dict[str, Any]:
    """What a run of one seed says of its training."""
    return {"seed": raw["settings"]["seed"], "model": raw["settings"]["model"], "settings": _common(raw)}


def _pairs(note: str) -> str:
    """The option of a training on a sample of its pairs."""
    return f" --pairs {note.split()[0].replace(',', '')}" if note else ""


def _options(settings: Raw, **usual: float) -> str:
    """The options of a training's command, but for those that have their usual value."""
    known = {"rate": Choices.rate, "head_rate": None, "epochs": Choices.epochs, "batch": Choices.batch,
             "patience": Choices.patience, **usual}  # fmt: skip
    numbers = (f" --{k.replace('_', '-')} {settings[k]:g}" for k, v in known.items() if settings.get(k, v) != v)
    model = "" if settings["model"] == "sbert" else f" --model {settings['model']}"
    return model + "".join(numbers) + (" --bf16" if settings.get("bf16") else "")


def cross_encoder_row(raw: Raw) -> str | None:
    """The paper's row of a finished cross-encoder, by its weights; those that are no RoBERTa stand in for BERT."""
    settings = raw.get("settings")
    if not isinstance(settings, dict) or not raw.get("also") or "features" in settings:
        return None
    return "RoBERTa" if "roberta" in settings["model"].lower() else "BERT"


def on_other_data(raw: Raw) -> bool:
    """Whether a cross-encoder was trained on anything but the whole of QQP, PAWS-QQP and PAWS-Wiki."""
    used = {name.partition("@")[0] for name in raw["also"]}
    said = str(raw.get("parts", {}).get("train", {}).get("from", ""))
    return used != {"qqp", "paws", "paws-qqp"} or "validation" in said or bool(_sample(raw))


def _sample(raw: Raw) -> str:
    """Of how many training pairs a training saw a part; empty if it saw all."""
    said = re.search(r"[\d,]+ of [\d,]+ pairs", str(raw.get("parts", {}).get("train", {}).get("from", "")))
    return f"{said[0]} of training" if said else ""


def _cross_encoder(_path: Path, raw: Raw) -> Raw | None:
    """papers/recipes/train_cross_encoder.py: Table 2 of 000, and flips."""
    if (row := cross_encoder_row(raw)) is None:
        return None
    settings, also, note = raw["settings"], raw["also"], _sample(raw)
    made = []
    for name, found in also.items():
        column, n = COLUMNS.get(name, name), found["n"]
        if column.startswith("PAWS"):
            made += [{**_value("000", "T2", row, f"{column} {said}", 100 * found[key], n, note),
                      "is_on_other_data": on_other_data(raw)}
                     for key, said in (("accuracy", "accuracy"), ("f1", "F1"))]  # fmt: skip
        made.append(_value("002", OF_FLIPS, f"cross-encoder, {row}", column, 100 * found["flips"], n, note))
    data = "".join(f" --data {name}:..." for name in also)
    dev = str(raw.get("parts", {}).get("dev", {}).get("from", "")).partition(":")[0]
    dev = f" --dev {dev}" if dev in also and len(also) > 1 else ""
    options = f"{data}{dev}{_pairs(note)}{_options({**settings, 'model': 'sbert'}, epochs=3)}"
    command = f"python papers/recipes/train_cross_encoder.py{options} --model {settings['model']} --out RUNS"
    return {**_seed(raw), "command": command, "papers": made}


def _rise(path: Path, raw: Raw) -> Raw | None:
    """rise_control.py: an arm of a seed. Its human pairs with machine-made ones stand in for DINO's text."""
    source, seed = path.parts[-3], re.fullmatch(r"seed(\d+)", path.parent.name)
    if path.stem not in ARMS or source not in SOURCES or seed is None or "stsb_spearman" not in raw:
        return None
    with opened(path.parents[2] / "settings.json") as settings:
        model = settings["model"]
    row = f"{SOURCES[source]}: {ARMS[path.stem]}"
    made = [
        _value("001", "T3", row, column, 100 * raw[key], None) for key, column in RISE_FIGURES.items() if key in raw
    ]
    command = f"python papers/recipes/rise_control.py --data DIR --sources {source} --out RUNS"
    return {"seed": int(seed[1]), "model": model, "command": command, "papers": made, "settings": settings}


def _value(
    paper: str, table: str, row: str, column: str, value: float, n: int | None, note: str = ""
) -> dict[str, Any]:
    return {"paper": paper, "table": table, "row": row, "column": column, "value": value, "n": n, "note": note}


READERS = (_plain, _head, _cross_encoder, _rise)


def measured(folder: Path) -> list[Measured]:
    """The figures of a folder: those of seeds, a measurement for each table and model, and those of downstream runs.

    A warning counts the files without a figure, but for those that a recipe keeps beside its figures.

    Raises:
        DataError: there is no such folder, or no figure in it; a file cannot be read, is cut off, lacks a key or has a
            value that is no number, or another one than results.json beside it; a paper or table is unknown; or a seed
            stands there twice.
    """
    found: dict[Of, dict[Place, dict[int, Value]]] = defaultdict(lambda: defaultdict(dict))
    commands: dict[Of, set[str]] = defaultdict(set)
    settings: dict[Any, Raw] = {}
    reports, unused, beside = list[Measured](), list[Path](), set[Path]()
    for path in files(folder):
        with opened(path) as raw:
            of_report = [*downstream(raw)] if isinstance(raw, dict) and "checks" in raw else []
            run = None if of_report else run_of(path, raw)
        reports += of_report
        if run is not None:
            _add(found, settings, path, run)
            of_rise = {path.with_name("pool.json"), path.parent.parent.with_name("settings.json")}
            beside |= of_rise if path.stem in ARMS else {path.with_name("results.json")}
            for value in run.papers:
                commands[_of(value, run)] |= {run.command} if run.command else set()
        elif not of_report:
            unused.append(path)
    left = [str(path.relative_to(folder.resolve())) for path in unused if path not in beside]
    named = ", ".join(left[:MOST_NAMED]) or "it, for it has no JSON file"
    if not (found or reports):
        raise DataError(
            f"--runs={folder}: no figure in {named}. Give the folder of train_head.py, train_cross_encoder.py, "
            "train_spans.py or rise_control.py, or the reports of encheck run -m downstream"
        )
    if left:
        log.warning("--runs=%s: no figure in %d files (%s)", folder, len(left), named)
    seeds = [_measurement(*key, THEN.join(sorted(commands[key])), of) for key, of in found.items()]
    return [*seeds, *reports]


def _of(value: Value, run: Run) -> Of:
    """What is recorded together: a column of a table, so that later runs on other data take nothing away."""
    return value.paper, value.table, value.column, run.model


def _add(found: Any, settings: dict[Any, Raw], path: Path, run: Run) -> None:
    for value in run.papers:
        if value.paper not in PAPERS:
            raise DataError(f"{path}: paper {value.paper!r}, but should be one of {', '.join(PAPERS)}")
        if value.table not in (known := tables(value.paper)):
            raise DataError(f"{path}: table {value.table!r} of {value.paper} is none of {', '.join(known)}")
        of, place = _of(value, run), (value.row, value.column, value.note)
        seeds, where = found[of][place], f"{value.table}, {value.row}, {value.column}"
        if run.seed in seeds:
            raise DataError(f"{path}: seed {run.seed} of {where} is there twice")
        shared = settings.setdefault((of, place), run.settings)
        if other := [key for key in {**shared, **run.settings} if shared.get(key) != run.settings.get(key)]:
            raise DataError(f"{path}: other seeds of {where} were trained otherwise ({', '.join(sorted(other))})")
        seeds[run.seed] = value


def _measurement(
    paper: str, table: str, column: str, model: str, command: str, by_place: Mapping[Place, Mapping[int, Value]]
) -> Measured:
    rows = {(cell.table, cell.row) for cell in published(paper)}
    figures, labels = [], {}
    for (row, _, note), seeds in sorted(by_place.items(), key=_in_order) if table.startswith("F") else by_place.items():
        own = ", ".join(filter(None, (row, shown(model), note)))
        other_data = paper == "001" or any(one.is_on_other_data for one in seeds.values())
        differs = ("model", "data") if other_data else ("model",)
        also = ("sample",) if note else ()
        labels[own] = Label((row,) if (table, row) in rows else (), (*differs, *also))
        figures.append(over_seeds(table, own, column, [one.value for one in seeds.values()]))
    return Measured(paper, f"training runs, {table}, {column}", model, command, tuple(figures), labels)


def _in_order(place: tuple[Place, Any]) -> tuple[str, int, str]:
    """The points of a figure by what is drawn and the share of the data: SBERT, 10% before SBERT, 100%."""
    row, _, note = place[0]
    share = re.search(r"(\d+)%", row)
    return row.partition(",")[0], int(share[1]) if share else 0, note


def over_seeds(table: str, row: str, column: str, values: Sequence[float]) -> Figure:
    """Mean, standard error and the interval of Student's t; of one seed its value alone."""
    mean, count = float(np.mean(values)), len(values)
    if count == 1:
        return Figure(table, row, column, mean, n=1)
    error = float(np.std(values, ddof=1) / np.sqrt(count))
    half = float(t.ppf(0.975, count - 1)) * error
    return Figure(table, row, column, mean, mean - half, mean + half, count, error)


def downstream(raw: Raw) -> Iterator[Measured]:
    """Table 2 of 003 from results.json of `encheck run -m downstream`; nothing from another run."""
    rows = [
        Row.model_validate(row)
        for row in raw["checks"]
        if row["metric"] == "task_accuracy" and row["value"] is not None
    ]
    for model in dict.fromkeys(row.model for row in rows):
        own, of = shown(model), {row.level: row for row in rows if row.model == model}
        made = [
            Figure("T2", own, task.replace("SST2", "SST-2"), 100 * row.value, 100 * row.low, 100 * row.high, row.n)
            for task in TASKS
            if (row := of.get(task))
        ]
        if {*TASKS} <= {*of}:
            made.append(Figure("T2", own, "average", float(np.mean([figure.value for figure in made]))))
        data = {one["name"]: one["fingerprint"] for one in raw["data"] if one["name"] == "senteval"}
        command = "encheck run -m downstream --data senteval:DIR/senteval --sample all"
        is_sbert = {one["label"]: one["adapter"] for one in raw["models"]}.get(model) == "sentence-transformers"
        labels = {own: Label(("SBERT",), ("model",)) if is_sbert else Label()}
        yield Measured("003", "downstream", model, command, tuple(made), labels, data)


def described(found: Iterable[Measured]) -> Iterator[str]:
    """How many figures each measurement has: a line each."""
    for one in found:
        counts = sorted({f.n for f in one.figures if f.n and (f.error is not None or f.n == 1)})
        span = f"{counts[0]}{f' to {counts[-1]}' if counts[1:] else ''}" if counts else ""
        seeds = f" of {span} seed{'s' if span != '1' else ''}" if span else ""
        figures = f"{len(one.figures)} figure{'s' if one.figures[1:] else ''}"
        yield f"{one.paper}, {one.what}, {one.model}: {figures}{seeds}"
