"""A baseline: what one model scored, item by item, in a small folder that a repository can keep.

`baseline.json` says what was measured and how, `items.parquet` has ids, hashes of texts and clusters, splits, scores:
no sentence, no path, no host. The hashes are the lock of the items: a candidate is compared on exactly these texts.

The summary holds the hash of the items file. So a new baseline takes the old one's place in one step, when its summary
is renamed: if the process is killed before it has renamed the items too, they are found by their hash.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePath
from typing import Any, BinaryIO

import numpy as np

from encheck import schema1
from encheck.errors import BaselineError
from encheck.gating.declared import declarations
from encheck.gating.types import FEWEST_REPLICATES, Noise
from encheck.ids import CaseId, ItemId
from encheck.options import try_place
from encheck.scoring.frame import Columns, Frame
from encheck.scoring.scale import Floats
from encheck.scoring.table import Table
from encheck.system import files
from encheck.system.documents import json_of
from encheck.system.json_schema import refuse_wrong, schema_of
from encheck.system.parquet import table_of
from encheck.types import Contrast, Declaration, Kind, content_hash

VERSION = 2
SUMMARY, ITEMS = "baseline.json", "items.parquet"
WRITTEN = (SUMMARY, ITEMS)
NOT_KEPT = ("curve", "surface", "excluded", "reason")  # of the rows: large, not the model's, or a place for paths
STRINGS = ("case", "item", "texts", "cluster", "split")
KINDS: Mapping[Kind, str] = {
    "triplet": "triplet",
    "crossed": "triplet",
    "contrast": "triplet",
    "chain": "triplet",
    "search": "triplet",
    "ranked": "triplet",
    "both_orders": "turned",
    "labelled": "labelled",
    "pair": "pair",
    "occurrence": "pair",
    "logged": "pair",
    "repeated": "pair",
}  # what a gate and a baseline's folder tell apart: what wins, what changes, what lies apart, and what is reported
SEARCHES: frozenset[Kind] = frozenset({"search", "ranked"})
ANSWERS = "answers"  # the column that only searches of documents have
WEIGHT = "weight"  # the column that only queries of a log have
SETTINGS = ("epsilon", "sample", "seed", "dtype", "generator_mode", "passage_words", "near_duplicates")


@dataclass(frozen=True)
class Baseline:
    """A baseline that was read: the summary, and the tables of its cases by name."""

    folder: Path
    summary: Mapping[str, Any]
    tables: Mapping[str, Table]

    @property
    def name(self) -> str:
        """The folder's name, also of `.`."""
        return self.folder.resolve().name or str(self.folder)

    @property
    def model(self) -> Mapping[str, Any]:
        """The model that made it, as results.json describes models."""
        found: Mapping[str, Any] = self.summary["model"]
        return found

    @property
    def seed_noise(self) -> Noise | None:
        """The noise of seed replicates; None where none were given, or fewer than can tell luck."""
        found = self.summary["seed_noise"]
        if found is None or (found.get("replicates") or 0) < FEWEST_REPLICATES:
            return None
        return Noise(found["pooled"], found["own"], found["replicates"])


def tables_of(
    results: Mapping[str, Any], items: Mapping[str, Mapping[str, Sequence[Any]]], model: str
) -> dict[str, Table]:
    """The tables of one model of a run, by case: check/data/level."""
    rows = {str(CaseId.of(row)): row for row in results["checks"] if row["model"] == model}
    declared = declarations(results)
    tables = [
        _table(rows[case], columns, declared[rows[case]["check"]])
        for case, columns in sorted(items.items())
        if case in rows
    ]
    return {table.case: table for table in tables}


def case_of(row: Mapping[str, Any]) -> str:
    """What tells a row's items from others, whatever the model: check/data/level.

    >>> case_of({"check": "a_is_b", "model": "m", "data": "probes", "level": "1"})
    'a_is_b/probes/1'
    """
    return CaseId.of(row).of_any_model


def _table(row: Mapping[str, Any], columns: Columns, declared: Declaration) -> Table:
    frame = Frame.from_columns(CaseId.of(row), columns)
    labels, nothing = frame.labels or (None,) * len(frame), np.full(len(frame), np.nan)
    own = frame.far.texts if frame.far and frame.kind not in SEARCHES else ()  # a far text is the model's answer there
    near = () if frame.kind == "logged" else frame.near.texts  # so is its near text
    texts = zip(frame.sources, *[some for some in (near, own) if some], strict=True)
    clusters = tuple(map(content_hash, frame.clusters))  # data name them by URL, or by the title of a thread
    return Table(
        case_of(row), row["check"], row["property"], row["data"], row["level"], KINDS[frame.kind],
        frame.ids, tuple(content_hash(*some) for some in texts), clusters, frame.splits, labels,
        _single(frame.near.scores), _single(frame.far.scores if frame.far else nothing), declared, frame.answers,
        frame.weights, frame.slices if frame.kind == "ranked" else (),
    )  # fmt: skip


def _single(values: Floats) -> Floats:
    """Scores as the folder keeps them, in single precision; NaN where there is none."""
    return values.astype(np.float32).astype(np.float64)


def save(
    folder: Path,
    results: Mapping[str, Any],
    tables: Mapping[str, Table],
    *,
    model: str,
    seed_noise: Noise | None = None,
) -> None:
    """Write a baseline; BaselineError where the folder holds something else, or takes nothing.

    Whatever goes wrong or ends the process, the folder holds the old baseline or the new one, and can be read.
    """
    if not tables:
        raise BaselineError(f"nothing of {model} was measured: there is no baseline to save")
    summary = _summary(results, tables, model, seed_noise)
    try:
        _refuse_others(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with files.alone(folder):
            _tidy(folder)
            _write(folder, summary, tables)
    except OSError as error:
        raise _unwritten(folder, error) from error


def refuse_place(folder: Path) -> None:
    """BaselineError where no baseline can be saved in this folder: found out before the work, and nothing is left."""
    try:
        _refuse_others(folder)
        try_place(folder)
    except OSError as error:
        raise _unwritten(folder, error) from error


def _refuse_others(folder: Path) -> None:
    remedy = "Name a new folder, or one of an older baseline, for --save-baseline"
    if folder.exists() and not folder.is_dir():
        raise BaselineError(f"{folder} is a file, but a baseline is a folder. {remedy}")
    ours = {*WRITTEN, "README.md", *(path.name for path in files.leftovers(folder, names=WRITTEN))}
    others = sorted(path.name for path in folder.iterdir() if path.name not in ours) if folder.exists() else []
    if others:
        named = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
        raise BaselineError(f"{folder} holds other files than a baseline's: {named}. {remedy}")


def _unwritten(folder: Path, error: OSError) -> BaselineError:
    return BaselineError(
        f"no baseline can be saved in {folder}: {files.problem_of(error, folder=folder)}. Make room, or name another "
        "folder with --save-baseline=DIR"
    )


def _write(folder: Path, summary: Mapping[str, Any], tables: Mapping[str, Table]) -> None:
    items, head = files.partial(folder / ITEMS), files.partial(folder / SUMMARY)
    try:
        with files.flushed(items, to=folder / ITEMS) as file:
            _write_items(file, tables)
        sealed = {**summary, "items_sha256": _hash(items.read_bytes())}
        text = json.dumps({**sealed, "checksum": _checksum(sealed)}, indent=1, ensure_ascii=False, allow_nan=False)
        with files.flushed(head, to=folder / SUMMARY) as file:
            file.write(f"{text}\n".encode())
        files.sync(folder)
        files.put(head, folder / SUMMARY)  # from here on the folder holds the new baseline
    finally:
        _tidy(folder)


def _tidy(folder: Path) -> None:
    """Give the items their name where a save was cut off before it did, then remove what else such saves left."""
    _mend(folder)
    files.sweep(folder, names=WRITTEN)


def _mend(folder: Path) -> None:
    left = files.leftovers(folder, names=(ITEMS,))
    if not left:
        return
    try:
        wanted = _read_summary(folder / SUMMARY).get("items_sha256")
    except BaselineError:
        return
    if not _holds(folder / ITEMS, wanted):
        for path in (path for path in left if _holds(path, wanted)):
            files.put(path, folder / ITEMS)
            return


def _holds(path: Path, wanted: str | None) -> bool:
    return path.is_file() and _hash(path.read_bytes()) == wanted


def _summary(
    results: Mapping[str, Any], tables: Mapping[str, Table], model: str, seed_noise: Noise | None
) -> dict[str, Any]:
    about = next(m for m in results["models"] if m["label"] == model)
    used = {table.data for table in tables.values()}
    rows = [row for row in results["checks"] if row["model"] == model and row["data"] in used]
    return {
        "encheck_baseline": VERSION,
        "versions": results["run"]["versions"],
        "settings": {k: v for k, v in results["run"]["settings"].items() if k in SETTINGS},
        "model": {
            **about,
            "name": shown_name(str(about["name"]), model),
        },
        "data": [
            {**data, "calibration": data["calibration"].get(model)} for data in results["data"] if data["name"] in used
        ],
        "cases": [
            {k: getattr(t, k) for k in ("case", "check", "property", "data", "level", "kind")} | {"items": len(t.items)}
            for t in tables.values()
        ],
        "checks": [{k: v for k, v in row.items() if k not in NOT_KEPT} for row in rows],
        "claims": {t.check: asdict(t.declared) for t in tables.values() if t.declared},
        "seed_noise": seed_noise and asdict(seed_noise),
    }


def shown_name(name: str, label: str) -> str:
    """A model's name without the folders or the host that it lies on."""
    if "://" in name:
        return label
    return PurePath(name).name if _is_path(name) else name


def _is_path(name: str) -> bool:
    return name.startswith((".", "/", "~", "\\")) or "\\" in name or name.count("/") > 1


def _write_items(file: BinaryIO, tables: Mapping[str, Table]) -> None:
    import pyarrow
    import pyarrow.parquet

    columns: dict[str, list[Any]] = {name: [] for name in (*STRINGS, "label", "near", "far")}
    for table in tables.values():
        columns["case"] += [table.case] * len(table.items)
        for name, own in zip(STRINGS[1:], (table.items, table.texts, table.clusters, table.splits), strict=True):
            columns[name] += own
        columns["label"] += table.labels
        columns["near"] += table.near.tolist()
        columns["far"] += [None if v != v else v for v in table.far.tolist()]
    if any(table.answers for table in tables.values()):
        columns[ANSWERS] = [one for t in tables.values() for one in t.answers or (None,) * len(t.items)]
    if any(table.weights for table in tables.values()):
        columns[WEIGHT] = [one for t in tables.values() for one in t.weights or (None,) * len(t.items)]
    arrays = {name: pyarrow.array(v, _types()[name]) for name, v in columns.items()}
    pyarrow.parquet.write_table(pyarrow.table(arrays), file, compression="zstd")


def _types() -> dict[str, Any]:
    """The type of each column of the items file."""
    import pyarrow

    types = {name: pyarrow.string() for name in (*STRINGS, ANSWERS)} | {
        "label": pyarrow.int8(),
        WEIGHT: pyarrow.int64(),
    }
    return types | dict.fromkeys(("near", "far"), pyarrow.float32())


def read(folder: Path) -> Baseline:
    """The baseline in `folder`; BaselineError where it is none, half-written, edited, or from a newer encheck."""
    _mend_if_it_may(folder)
    summary, data = _read_parts(folder)
    try:
        said = schema1.baseline(summary) if summary["encheck_baseline"] == schema1.VERSION else summary
        refuse_wrong(said, schema_of("encheck.gating", "baseline.schema.json"))
        return Baseline(folder, said, _read_items(data, said))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        why = str(error) if type(error) is ValueError else repr(error)
        raise BaselineError(
            f"{folder} holds other fields than --save-baseline writes ({why}). Make the baseline again"
        ) from error


def _mend_if_it_may(folder: Path) -> None:
    if files.leftovers(folder, names=(ITEMS,)):
        with suppress(OSError), files.alone(folder):
            _mend(folder)


def _read_parts(folder: Path) -> tuple[dict[str, Any], bytes]:
    """Summary and items file; read once more where they do not fit, since a save may have come between."""
    for is_last in (False, True):
        summary = _read_summary(folder / SUMMARY)
        for path in (folder / ITEMS, *files.leftovers(folder, names=(ITEMS,))):
            with suppress(OSError):
                data = path.read_bytes()
                if _hash(data) == summary.get("items_sha256"):
                    return summary, data
        if is_last and not (folder / ITEMS).is_file():
            raise BaselineError(
                f"{folder} is half of a baseline: it has no {ITEMS}. Make it again with --save-baseline"
            )
    raise BaselineError(f"{folder / ITEMS} is not the one that was saved: it was changed. Make the baseline again")


def _read_summary(path: Path) -> dict[str, Any]:
    try:
        found = json_of(path)
        version = found["encheck_baseline"]
    except OSError as error:
        raise BaselineError(f"{path.parent} is no baseline: {path.name} cannot be read ({error.strerror})") from error
    except (ValueError, LookupError, TypeError) as error:
        raise BaselineError(f"{path} is no summary of --save-baseline, or was cut off ({error!r})") from error
    if version not in (schema1.VERSION, VERSION):
        age = "newer" if isinstance(version, int) and version > VERSION else "other"
        versions = found.get("versions")
        maker = versions.get("encheck", "not said") if isinstance(versions, dict) else "not said"
        raise BaselineError(
            f"{path} is of the {age} baseline version {version!r}, but this encheck reads {schema1.VERSION} and "
            f"{VERSION}: install the encheck that made it ({maker}), or make the baseline again"
        )
    said = found.pop("checksum", None)
    if said != _checksum(found):
        raise BaselineError(f"{path} was edited by hand: its checksum does not hold. Make the baseline again")
    return dict(found)


def _read_items(data: bytes, summary: Mapping[str, Any]) -> dict[str, Table]:
    columns = _items_of(data)
    at: dict[str, list[int]] = {}
    for i, name in enumerate(columns["case"]):
        at.setdefault(name, []).append(i)
    unscaled = {name for name, some in at.items() if _is_unscaled(columns, some[0])}
    _refuse_uneven(summary, {name: len(some) for name, some in at.items()}, unscaled)
    declared = declarations(summary)
    return {c["case"]: _rebuilt(c, columns, at[c["case"]], declared.get(c["check"])) for c in summary["cases"]}


def _is_unscaled(columns: Mapping[str, list[Any]], row: int) -> bool:
    """Whether an item is the answers to a query, or a contrast of queries, which no calibration moves."""
    parts = ItemId(columns["item"][row]).known
    return (ANSWERS in columns and columns[ANSWERS][row] is not None) or (parts and parts.relation) == Contrast.kind


def _items_of(data: bytes) -> dict[str, list[Any]]:
    """The columns of the items file; ValueError where one is missing, of another type, or has an empty field."""
    import pyarrow

    names = (*STRINGS, "label", "near", "far")
    types = _types()
    table = table_of(io.BytesIO(data), columns=names, also=(ANSWERS, WEIGHT))
    for name in table.column_names:
        if table[name].type != types[name]:
            raise ValueError(f"{ITEMS}: the column {name} is of {table[name].type}, but should be of {types[name]}")
        if table[name].null_count and name not in ("label", "far", "split", ANSWERS, WEIGHT):
            raise ValueError(f"{ITEMS}: the column {name} has an empty field")
    try:
        table.validate(full=True)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{ITEMS}: {error}") from error
    columns: dict[str, list[Any]] = table.to_pydict()
    if not np.isfinite([v for name in ("near", "far") for v in columns[name] if v is not None]).all():
        raise ValueError(f"{ITEMS}: a score is no number")
    return columns


def _refuse_uneven(summary: Mapping[str, Any], counts: Mapping[str, int], unscaled: Collection[str]) -> None:
    """ValueError where a case has other items than the summary says, or is on data that it does not tell of.

    `unscaled` names the cases whose items no calibration moves.
    """
    calibrated = {data["name"] for data in summary["data"] if data["calibration"]}
    for case in summary["cases"]:
        if counts.get(case["case"], 0) != case.get("items", counts.get(case["case"], 0)) or not counts.get(
            case["case"]
        ):
            raise ValueError(f"{case['case']} has {counts.get(case['case'], 0)} items, but should have {case['items']}")
        if case["data"] not in calibrated and case["case"] not in unscaled:
            raise ValueError(f"the data {case['data']!r} of {case['case']} are without a calibration")


def _rebuilt(
    about: Mapping[str, Any], columns: Mapping[str, list[Any]], at: Sequence[int], declared: Declaration | None
) -> Table:
    strings = [tuple(columns[name][i] for i in at) for name in (*STRINGS[1:], "label")]
    scores = [_single(np.array([columns[name][i] for i in at], float)) for name in ("near", "far")]
    names = ("case", "check", "property", "data", "level", "kind")
    answers = tuple(columns[ANSWERS][i] for i in at) if ANSWERS in columns else ()
    weights = tuple(columns[WEIGHT][i] for i in at) if WEIGHT in columns else ()
    found = Table(*(about[name] for name in names), *strings, *scores)
    return replace(found, declared=declared, answers=answers * any(answers), weights=weights * any(weights))


def _checksum(summary: Mapping[str, Any]) -> str:
    canonical = json.dumps(summary, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
