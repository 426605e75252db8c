"""A baseline: one model's scores, item by item, in a small folder that can be kept in a repository.

`baseline.json` records what was measured and how, with a lock for each case. `items.parquet` has the scores, but no
ids, sentences, paths or hosts. The lock is a hash of ids and texts, so a candidate is compared on exactly the same
items. Scores have six decimals. A run's scores are rounded in the same way before the comparison, so a baseline that is
read from a folder and one made from a run give the same result. The same run gives the same bytes.

The summary contains the hash of the items file. The new baseline takes effect when its summary is renamed. If the
process is killed before it renames the items file, the next reader finds that file by its hash.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePath
from typing import Any, BinaryIO, Literal, Self

import numpy as np
from numpy.typing import NDArray

from encheck.errors import BaselineError
from encheck.gating.reindex import PackedSample, VectorSample
from encheck.gating.types import FEWEST_REPLICATES, Noise
from encheck.ids import CaseId, ItemId
from encheck.options import try_to_write
from encheck.options.settings import select_settings
from encheck.run_file import BaselineFigure, ModelEntry, RunFile
from encheck.scoring.crossed import CONTRAST
from encheck.scoring.frame import CaseScores
from encheck.scoring.item import ItemFrame
from encheck.scoring.scale import Floats, Scale
from encheck.system import files
from encheck.system.documents import parquet_table, read_json
from encheck.system.typed_files import Count, Positive, as_values, read_typed
from encheck.types import Declaration, LanguageResources, content_hash

DECIMALS = 6
STEPS = 10**DECIMALS  # steps per unit of a score: rounding moves it by half a step, 1/20 of the gate's tolerance
LARGEST = 2**53  # steps: a double cannot count further
DIGITS = 3  # hex digits of an item's key: keys only count differing items, the lock refuses them
CaseFigure = tuple[float | None, float | None, float | None, Count]  # value, low, high and n of a row


@dataclass(frozen=True)
class FirstLookItems:
    """The positions (`at`) of a first look's items among all items of their case; `lock` covers all items."""

    lock: str
    at: tuple[int, ...]

    @classmethod
    def of(cls, table: CaseScores, whole: CaseScores) -> Self | None:
        """Return the positions of a table's items in the whole table, or None if one is missing."""
        ordered = whole.select(_sorted_positions(whole))
        places = {named: i for i, named in enumerate(zip(ordered.items, ordered.texts, strict=True))}
        at = [places.get(named) for named in zip(table.items, table.texts, strict=True)]
        return None if None in at else cls(_hash_items(ordered), tuple(i for i in at if i is not None))


@dataclass(frozen=True)
class SavedScores:
    """The scores of one case, shape [n], with the items sorted by id and texts.

    `lock` is a hash of kind, ids and texts, `parts` a hash of splits and labels. `keys` are the first digits of the
    hashes of the sources. `far` is NaN for an item with one score. `unscaled` is true if the figures do not depend on
    calibration.
    """

    case: str
    check: str
    data: str
    lock: str
    parts: str
    unscaled: bool
    keys: NDArray[np.int64]
    near: Floats
    far: Floats
    answers: tuple[str, ...] = ()
    weights: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def of(cls, table: CaseScores) -> Self:
        """Return a run's table in its saved form."""
        some = table.select(_sorted_positions(table))
        first = ItemId(table.items[0]).parts_or_none
        is_unscaled = bool(table.answers) or bool(first and first.relation == CONTRAST.name)
        return cls(
            some.case, some.check, some.data, _hash_items(some), _hash_splits(some), is_unscaled,
            _source_keys(some.items), round_scores(some.near), round_scores(some.far), some.answers, some.weights,
        )  # fmt: skip

    def has_same_items(self, table: CaseScores) -> bool:
        """Return whether a run's case has the same items: kind, ids and texts."""
        return len(self) == len(table.items) and self.lock == _hash_items(table.select(_sorted_positions(table)))

    def has_same_splits(self, table: CaseScores) -> bool:
        """Return whether these items have the same splits and labels."""
        return self.parts == _hash_splits(table.select(_sorted_positions(table)))

    def align_to(self, table: CaseScores) -> CaseScores:
        """Return these scores as a table in the order of the run's table, which has the same items."""
        at = np.argsort(_sorted_positions(table))
        answers, weights = (tuple(some[i] for i in at) if some else () for some in (self.answers, self.weights))
        return replace(table, near=self.near[at], far=self.far[at], answers=answers, weights=weights, slices=())

    def align_to_part(self, table: CaseScores, part: FirstLookItems) -> CaseScores | None:
        """Return these scores as a table for a subset of the items, or None if the case's items differ."""
        if part.lock != self.lock:
            return None
        at = np.array(part.at, np.intp)
        return replace(table, near=self.near[at], far=self.far[at], answers=(), weights=(), slices=())

    def count_unmatched_items(self, table: CaseScores) -> tuple[int, int]:
        """Return the least number of items that the run lacks, and that it adds, judged by source texts alone."""
        mine, theirs = Counter(self.keys.tolist()), Counter(_source_keys(table.items).tolist())
        return (mine - theirs).total(), (theirs - mine).total()


@dataclass(frozen=True, slots=True)
class CaseEntry:
    """A case: the number of its `items`, and hashes that show whether a run has the same items.

    `lock` is a hash of the items' kind, ids and texts, `parts` a hash of their splits and labels. `unscaled` is true if
    the figures do not depend on calibration.
    """

    check: str
    data: str
    items: Positive
    lock: str
    parts: str
    unscaled: bool = False


def round_scores(scores: Floats) -> Floats:
    """Return scores rounded to six decimals, as a baseline stores them; NaN for a missing score.

    >>> round_scores(np.array([0.12345678, -1.0])).tolist()
    [0.123457, -1.0]
    """
    found: Floats = np.rint(scores * STEPS) / STEPS
    return found


def _sorted_positions(table: CaseScores) -> NDArray[np.intp]:
    """Return the positions of the items, sorted by id and texts."""
    named = list(zip(table.items, table.texts, strict=True))
    return np.array(sorted(range(len(named)), key=named.__getitem__), np.intp)


def _hash_items(ordered: CaseScores) -> str:
    return content_hash(ordered.kind, *ordered.items, *ordered.texts)


def _hash_splits(ordered: CaseScores) -> str:
    return content_hash(*ordered.splits, *map(str, ordered.labels))


def _source_keys(items: Sequence[str]) -> NDArray[np.int64]:
    """Return the first digits of the hash of each item's source; shape [n]."""
    known = [(item, ItemId(item).parts_or_none) for item in items]
    return np.array(
        [int((parts.texts if parts else content_hash(item))[:DIGITS], 16) for item, parts in known], np.int64
    )


VERSION: Literal[4] = 4
SUMMARY, ITEMS = "baseline.json", "items.parquet"
FILE_NAMES = (SUMMARY, ITEMS)
STORED = "stored-vectors"  # adapter of models that only have stored vectors of some texts
ANSWERS = "answers"  # column that only document searches have
WEIGHT = "weight"  # column that only queries of a log have
_FIELDS = {ANSWERS: "answers", WEIGHT: "weights"}
COLUMNS = ("case", "key", "near", "far")
ENCODINGS = {"key": "DELTA_BINARY_PACKED", "near": "BYTE_STREAM_SPLIT", "far": "BYTE_STREAM_SPLIT"}


@dataclass(frozen=True, slots=True)
class BaselineData:
    """A data set: `version` is its edition, if it has any; `language` describes how variants were generated."""

    name: str
    fingerprint: str
    language: LanguageResources | None
    calibration: Scale | None
    version: str = ""


@dataclass(frozen=True, slots=True)
class BaselineSettings:
    """The settings of a run that a gate compares: the `RunSettings` that may change scores or items."""

    epsilon: float
    sample: int | None
    seed: int
    dtype: str | None
    store_dtype: str
    generator_mode: str
    passage_words: int
    near_duplicates: str
    search_index: str
    check_packages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineSummary:
    """The summary of a baseline (baseline.json); the scores are in items.parquet next to it.

    `model` is the model's entry from results.json, with a name without folders or host. The keys of `cases` and
    `figures` are check/data/level. A figure is a value, the ends of its 95% interval and the number of items; null if
    it could not be computed. `vectors` are sample vectors, from which a gate decides whether an index has to be
    rebuilt; null for a model without vectors. `items_sha256` is the hash of items.parquet, `checksum` the hash of the
    rest of this file.
    """

    encheck_baseline: Literal[4] = VERSION
    versions: Mapping[str, str]
    settings: BaselineSettings
    model: ModelEntry
    data: tuple[BaselineData, ...]
    cases: Mapping[str, CaseEntry]
    figures: Mapping[str, Mapping[str, CaseFigure]]
    seed_noise: Noise | None
    vectors: PackedSample | None = None
    items_sha256: str = ""
    checksum: str = ""


@dataclass(frozen=True)
class Baseline:
    """A baseline: the summary, and the saved scores of each case by name (check/data/level).

    `is_saved` is true if the user saved it in `folder`, and so can save it again.
    """

    folder: Path
    summary: BaselineSummary
    cases: Mapping[str, SavedScores]
    is_saved: bool = False

    @classmethod
    def of(
        cls,
        results: RunFile,
        tables: Mapping[str, CaseScores],
        *,
        model: str,
        seed_noise: Noise | None = None,
        vectors: VectorSample | None = None,
        may_be_empty: bool = False,
    ) -> Self:
        """Return the baseline of one model of a run, as if read from a folder.

        Raise BaselineError if nothing was measured.
        """
        if not tables and not may_be_empty:
            raise BaselineError(f"nothing was measured for {model}, so there is no baseline to save")
        cases = {name: SavedScores.of(table) for name, table in tables.items()}
        for case in cases.values():
            scores = np.concatenate([case.near, case.far[~np.isnan(case.far)]])
            wrong = scores[~(np.abs(scores) < LARGEST / STEPS)]
            if len(wrong):
                raise BaselineError(
                    f"{case.case} has the score {wrong[0]:g}, but a baseline keeps numbers below "
                    f"{LARGEST / STEPS:.0e}: there is no baseline to save"
                )
        about = next(one for one in results.models if one.label == model)
        used = {case.data for case in cases.values()}
        figures: dict[str, dict[str, CaseFigure]] = {}
        for row in results.checks:
            if row.model == model and row.data in used:
                value, low, high = (None if x is None else round(x, DECIMALS) for x in (row.value, row.low, row.high))
                figures.setdefault(row.case.of_any_model, {})[row.figure] = (value, low, high, row.n)
        summary = BaselineSummary(
            versions=results.run.versions,
            settings=select_settings(BaselineSettings, results.run.settings),
            model=replace(about, name=name_without_folders(about.name, model)),
            data=tuple(
                BaselineData(one.name, one.fingerprint, one.language, one.calibration.get(model), one.version)
                for one in results.data
                if one.name in used
            ),
            cases={
                name: CaseEntry(kept.check, kept.data, len(kept), kept.lock, kept.parts, kept.unscaled)
                for name, kept in sorted(cases.items())
            },
            figures=dict(sorted(figures.items())),
            seed_noise=seed_noise,
            vectors=vectors.pack() if vectors else None,
        )
        return cls(Path(model), summary, cases)

    def with_cases_of(self, known: Baseline) -> Self:
        """Return this baseline with the cases of another baseline of the same model.

        The versions are those of the other one, which may be older.
        """
        mine, theirs = self.summary, known.summary
        data = {one.name: one for one in (*mine.data, *theirs.data)}
        cases, figures = {**mine.cases, **theirs.cases}, {**mine.figures, **theirs.figures}
        summary = replace(mine, versions=theirs.versions, data=tuple(data.values()), cases=cases, figures=figures)
        return replace(self, summary=summary, cases={**self.cases, **known.cases})

    @property
    def name(self) -> str:
        """The folder's name, resolved for `.`; the model's name if there is no folder."""
        return (self.is_saved and self.folder.resolve().name) or str(self.folder)

    @property
    def model(self) -> ModelEntry:
        """The model that got these scores."""
        return self.summary.model

    def figure(self, case: str, name: str) -> BaselineFigure | None:
        """Return the figure with its 95% interval and number of items, or None if the case was not measured."""
        found = self.summary.figures.get(case, {}).get(name)
        return BaselineFigure(*found) if found else None

    @property
    def sample(self) -> VectorSample | None:
        """Vectors of some texts and the settings that make them; None for a model without vectors."""
        return VectorSample.unpack(self.summary.vectors) if self.summary.vectors else None

    @property
    def seed_noise(self) -> Noise | None:
        """The noise of seed replicates; None without enough replicates."""
        found = self.summary.seed_noise
        return found if found and (found.replicates or 0) >= FEWEST_REPLICATES else None


def model_tables(results: RunFile, items: Mapping[str, ItemFrame], model: str) -> dict[str, CaseScores]:
    """Return the tables of one model of a run, by case: check/data/level."""
    rows = {str(row.case): row for row in results.checks if row.model == model}
    declared = results.declarations
    tables = [
        make_case_scores(rows[case].case, rows[case].property, frame, declared[rows[case].check])
        for case, frame in sorted(items.items())
        if case in rows
    ]
    return {table.case: table for table in tables}


def make_case_scores(case: CaseId, property: str, frame: ItemFrame, declared: Declaration) -> CaseScores:  # noqa: A002
    """Return the table of one case, made from its items; `property` is the tested property."""
    labels, nothing = frame.labels or (None,) * len(frame), np.full(len(frame), np.nan)
    answer = frame.kind.answer
    own = frame.far.texts if frame.far and answer != "far" else ()
    near = () if answer == "near" else frame.near.texts
    texts = zip(frame.sources, *[some for some in (near, own) if some], strict=True)
    clusters = tuple(map(content_hash, frame.clusters))  # data name them by URL, or by the title of a thread
    return CaseScores(
        case.of_any_model, case.check, property, case.data, case.level, frame.kind.score_form,
        frame.ids, tuple(content_hash(*some) for some in texts), clusters, frame.splits, labels,
        round_scores(frame.near.scores), round_scores(frame.far.scores if frame.far else nothing), declared,
        frame.answers, frame.weights, frame.slices if frame.answers else (), frame.shares, frame.gold,
    )  # fmt: skip


def save_baseline(
    folder: Path,
    results: RunFile,
    tables: Mapping[str, CaseScores],
    *,
    model: str,
    seed_noise: Noise | None = None,
    vectors: VectorSample | None = None,
) -> None:
    """Write a baseline. Raise BaselineError if the folder holds other files or cannot be written.

    Even if the process is interrupted, the folder holds a readable baseline: the old one or the new one.
    """
    made = Baseline.of(results, tables, model=model, seed_noise=seed_noise, vectors=vectors)
    write_baseline(folder, made.summary, made.cases)


def write_baseline(folder: Path, summary: BaselineSummary, cases: Mapping[str, SavedScores]) -> None:
    """Write a baseline from its parts, for example from one that was read."""
    try:
        _refuse_other_files(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with files.lock_folder(folder):
            _restore_items_file(folder)  # left by a save that was cut off before it renamed the file
            files.remove_leftovers(folder, names=FILE_NAMES)
            items, head = files.partial_path(folder / ITEMS), files.partial_path(folder / SUMMARY)
            try:
                with files.open_flushed(items, to=folder / ITEMS) as file:
                    _write_items(file, cases)
                sealed = as_values(replace(summary, items_sha256=_hash(items.read_bytes())))
                to_json = partial(json.dumps, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
                lines = []  # one for each case and for its figures, so that diffs are line by line
                for name, value in {**sealed, "checksum": summary_checksum(sealed)}.items():
                    text = to_json(value)
                    if isinstance(value, Mapping) and value:
                        entries = (f" {to_json(key)}: {to_json(entry)}" for key, entry in value.items())
                        text = "{\n" + ",\n".join(entries) + "\n}"
                    lines.append(f"{to_json(name)}: {text}")
                with files.open_flushed(head, to=folder / SUMMARY) as file:
                    file.write(("{\n" + ",\n".join(lines) + "\n}\n").encode())
                files.sync_folder(folder)
                files.move_into_place(head, folder / SUMMARY)  # from here on the folder holds the new baseline
            finally:
                _restore_items_file(folder)
                files.remove_leftovers(folder, names=FILE_NAMES)
    except OSError as error:
        raise _cannot_save(folder, error) from error


def refuse_baseline_folder(folder: Path) -> None:
    """Raise BaselineError if no baseline can be saved in this folder. Called before the work starts; leaves no file."""
    try:
        _refuse_other_files(folder)
        try_to_write(folder)
    except OSError as error:
        raise _cannot_save(folder, error) from error


def _refuse_other_files(folder: Path) -> None:
    remedy = "Name a new folder, or one of an older baseline, for --save-baseline"
    if folder.exists() and not folder.is_dir():
        raise BaselineError(f"{folder} is a file, but a baseline is a folder. {remedy}")
    with suppress(OSError, ValueError):  # a damaged file may be a baseline's
        found = read_json(folder / SUMMARY)
        if not isinstance(found, dict) or "checksum" not in found:
            raise BaselineError(f"{folder}/{SUMMARY} does not belong to a baseline. {remedy}")
    ours = {*FILE_NAMES, "README.md", *(path.name for path in files.leftover_files(folder, names=FILE_NAMES))}
    others = sorted(path.name for path in folder.iterdir() if path.name not in ours) if folder.exists() else []
    if others:
        named = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
        raise BaselineError(f"{folder} has files that do not belong to a baseline: {named}. {remedy}")


def _cannot_save(folder: Path, error: OSError) -> BaselineError:
    return BaselineError(
        f"no baseline can be saved in {folder}: {files.describe_os_error(error, folder=folder)}. Make room, or name "
        "another folder with --save-baseline=DIR"
    )


def _restore_items_file(folder: Path) -> None:
    """Rename the items file that the summary names, if an interrupted save did not rename it."""
    left = files.leftover_files(folder, names=(ITEMS,))
    if not left:
        return
    try:
        wanted = _read_summary(folder / SUMMARY).get("items_sha256")
    except BaselineError:
        return
    there = next(
        (path for path in (folder / ITEMS, *left) if path.is_file() and _hash(path.read_bytes()) == wanted), None
    )
    if there and there != folder / ITEMS:
        files.move_into_place(there, folder / ITEMS)


def name_without_folders(name: str, label: str) -> str:
    """Return a model's name without folders or host."""
    if "://" in name:
        return label
    is_path = name.startswith((".", "/", "~", "\\")) or "\\" in name or name.count("/") > 1
    return PurePath(name).name if is_path else name


def _write_items(file: BinaryIO, cases: Mapping[str, SavedScores]) -> None:
    import pyarrow
    import pyarrow.parquet

    whole: dict[str, list[Any]] = {
        "case": [kept.case for kept in cases.values() for _ in range(len(kept))],
        "key": [key for kept in cases.values() for key in kept.keys.tolist()],
        "near": [step for kept in cases.values() for step in _steps(kept.near)],
        "far": [step for kept in cases.values() for step in _steps(kept.far)],
    }
    for name in (ANSWERS, WEIGHT):
        some = [getattr(kept, _FIELDS[name]) or (None,) * len(kept) for kept in cases.values()]
        if any(one is not None for column in some for one in column):
            whole[name] = [one for column in some for one in column]
    arrays = {name: pyarrow.array(v, _column_types()[name]) for name, v in whole.items()}
    named = [name for name in ("case", ANSWERS, WEIGHT) if name in whole]
    pyarrow.parquet.write_table(
        pyarrow.table(arrays), file, compression="zstd", compression_level=19, use_dictionary=named,
        column_encoding=ENCODINGS, write_statistics=False, store_schema=False,
    )  # fmt: skip


def _steps(scores: Floats) -> Iterator[int | None]:
    """Yield scores as whole millionths, which compress better than rounded doubles."""
    return (None if score != score else round(score * STEPS) for score in scores.tolist())


def _column_types() -> dict[str, Any]:
    """Return the type of each column of the items file."""
    import pyarrow

    whole = dict.fromkeys(("key", "near", "far", WEIGHT), pyarrow.int64())
    return whole | dict.fromkeys(("case", ANSWERS), pyarrow.string())


def read_baseline(folder: Path) -> Baseline:
    """Return the baseline in `folder`.

    Raise BaselineError if the baseline is missing, incomplete, edited, or of another version.
    """
    if files.leftover_files(folder, names=(ITEMS,)):
        with suppress(OSError), files.lock_folder(folder):
            _restore_items_file(folder)
    values, data = _read_matching_files(folder)
    try:
        summary = read_typed(BaselineSummary, values)
        found = Baseline(folder, summary, _read_items(data, summary), is_saved=True)
        _ = found.sample
        return found
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        why = str(error) if type(error) is ValueError else repr(error)
        raise BaselineError(
            f"{folder} has other fields than --save-baseline writes ({why}). Make the baseline again"
        ) from error


def _read_matching_files(folder: Path) -> tuple[dict[str, Any], bytes]:
    """Return the summary and the items file.

    If they do not match, read both again, because a save may have replaced one of them meanwhile.
    """
    for is_last in (False, True):
        summary = _read_summary(folder / SUMMARY)
        for path in (folder / ITEMS, *files.leftover_files(folder, names=(ITEMS,))):
            with suppress(OSError):
                data = path.read_bytes()
                if _hash(data) == summary.get("items_sha256"):
                    return summary, data
        if is_last and not (folder / ITEMS).is_file():
            raise BaselineError(
                f"{folder} is an incomplete baseline: it has no {ITEMS}. Make it again with --save-baseline"
            )
    raise BaselineError(f"{folder / ITEMS} was changed after it was saved. Make the baseline again")


def _read_summary(path: Path) -> dict[str, Any]:
    try:
        found = read_json(path)
        version = found["encheck_baseline"]
    except OSError as error:
        raise BaselineError(
            f"{path.parent} is not a baseline: {path.name} cannot be read ({error.strerror})"
        ) from error
    except (ValueError, LookupError, TypeError) as error:
        raise BaselineError(f"{path} was not written by --save-baseline, or is truncated ({error!r})") from error
    if version != VERSION:
        versions = found.get("versions")
        maker = versions.get("encheck", "unknown") if isinstance(versions, dict) else "unknown"
        raise BaselineError(
            f"{path} has baseline version {version!r}, but this encheck reads version {VERSION}: make the baseline "
            f"again, or install the version of encheck that made it ({maker})"
        )
    if found.get("checksum") != summary_checksum(found):
        raise BaselineError(f"{path} was edited by hand: its checksum does not match. Make the baseline again")
    return dict(found)


def _read_items(data: bytes, summary: BaselineSummary) -> dict[str, SavedScores]:
    import pyarrow

    types = _column_types()
    table = parquet_table(io.BytesIO(data), columns=COLUMNS, also=(ANSWERS, WEIGHT))
    for name in table.column_names:
        if table[name].type != types[name]:
            raise ValueError(f"{ITEMS}: column {name} has type {table[name].type}, but should have {types[name]}")
        if table[name].null_count and name in COLUMNS and name != "far":
            raise ValueError(f"{ITEMS}: column {name} has an empty field")
    try:
        table.validate(full=True)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{ITEMS}: {error}") from error
    columns: dict[str, list[Any]] = table.to_pydict()
    at: dict[str, list[int]] = {}
    for i, name in enumerate(columns["case"]):
        at.setdefault(name, []).append(i)
    calibrated = {one.name for one in summary.data if one.calibration}
    found = {}
    for case, about in summary.cases.items():
        if len(at.get(case, ())) != about.items:
            raise ValueError(f"{case} has {len(at.get(case, ()))} items, but should have {about.items}")
        if about.data not in calibrated and not about.unscaled:
            raise ValueError(f"data {about.data!r} of {case} has no calibration")
        rows = at[case]
        near, far = (np.array([columns[name][i] for i in rows], float) / STEPS for name in ("near", "far"))
        answers, weights = (
            tuple(columns[name][i] for i in rows) if name in columns else () for name in (ANSWERS, WEIGHT)
        )
        keys = np.array([columns["key"][i] for i in rows], np.int64)
        found[case] = SavedScores(
            case, about.check, about.data, about.lock, about.parts, about.unscaled, keys, near, far,
            answers * any(answers), weights * any(weights),
        )  # fmt: skip
    return found


def summary_checksum(summary: Mapping[str, object]) -> str:
    """Return the hash of a summary without its `checksum` field."""
    rest = {name: value for name, value in summary.items() if name != "checksum"}
    canonical = json.dumps(rest, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
