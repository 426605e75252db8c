"""Loads data sets by the names that `--data` accepts."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, cast

import encheck.datasets
from encheck.datasets.clusters import sample_clusters
from encheck.datasets.collection import own_documents_message, search_groups
from encheck.datasets.contrast import CONTEST_KINDS, checked_property, is_of_contrasts, properties_in_file
from encheck.datasets.dataset import Dataset, Tasks, dataset_from_rows, dataset_from_sample, with_tasks
from encheck.datasets.hub import HUB_PREFIX, HUB_WORD, Hub, Hubs
from encheck.datasets.pair_table import SampledPairs, sample_rows, shared_sample_file
from encheck.datasets.pairs import LinkedPairs, is_of_pairs
from encheck.datasets.passages import PassageOptions, is_page
from encheck.datasets.probes import FRESH
from encheck.datasets.reader import FORMATS, BadRows, SplitReaders, file_ending, parquet_files, table_rows
from encheck.datasets.retrieval import NEGATIVE, is_of_queries, json_parts
from encheck.errors import DataError, UsageError, unknown_name_message
from encheck.system import entry_points
from encheck.system.files import exists, expand_home
from encheck.system.memory import without_collection
from encheck.types import Group

PASSAGES = "passages"
log = logging.getLogger("encheck")
DEFAULT_SAMPLE_CLUSTERS = 2_000
QUICK_CLUSTERS = 100
AS_USUAL = PassageOptions()
PATHS = (".", "/", "~")  # characters that no data set name begins with
DataSource = Any  # a module with LICENCE, FILES and a reader, or an object with the same attributes


def guess_kind(path: Path, *, has_log: bool) -> str:
    """The data set that the path's files and columns look like; articles if there is a query log.

    >>> guess_kind(Path("handbook.md"), has_log=False)
    'passages'
    """
    if has_log or is_page(path):
        return PASSAGES
    if path.is_dir():
        parts = {file.name.partition(".")[0] for file in path.iterdir()}
        if {"corpus", "queries", "qrels"} <= parts:
            return "retrieval"
        files = parquet_files(path) if {file.suffix for file in path.iterdir()} == {".parquet"} else []
        return "pairs" if files and is_of_pairs(table_rows(files[0], BadRows())[0]) else PASSAGES
    if file_ending(path) == ".json" and json_parts(path):
        return "retrieval"
    return _kind_by_columns(path) if file_ending(path) in FORMATS else PASSAGES


def _kind_by_columns(path: Path) -> str:
    columns, _ = table_rows(path, BadRows(skip=True))
    negatives = any(NEGATIVE.fullmatch(name) for name in columns)
    if {"anchor", "positive"} <= {*columns} and negatives:
        return "triplets"
    if is_of_queries(columns):
        return "retrieval"
    if is_of_contrasts(columns):
        return "contrast"
    return "pairs" if is_of_pairs(columns) else PASSAGES


@dataclass(frozen=True, slots=True)
class DataRequest:
    """A request for a data set at a path, and how to read it; `bad` takes its malformed rows."""

    called: str
    path: str
    reading: str
    sample: int | None
    seed: int
    passages: PassageOptions
    bad: BadRows
    shared: str | None = None


class DataSets(Mapping[str, DataSource]):
    """The available data sets by name: those of this package's modules, and those of other packages.

    A module with a LICENCE is a data set; one with DATA_SETS holds several. Those of `packaged` are imported on
    request: UsageError if that fails. DataError for a data set without a required attribute.
    """

    def __init__(self) -> None:
        self.ours: dict[str, DataSource] = {}
        for found in pkgutil.iter_modules(encheck.datasets.__path__):
            module = importlib.import_module(f"{encheck.datasets.__name__}.{found.name}")
            own = {found.name.replace("_", "-"): module} if hasattr(module, "LICENCE") else {}
            for name, source in (own | getattr(module, "DATA_SETS", {})).items():
                _refuse_unfinished(name, source, str(module.__file__))
                self.ours[name] = source
        self.packaged = entry_points.entry_points_of(entry_points.DATA, ours=self.ours)
        self._imported = dict(self.ours)

    def __getitem__(self, name: str) -> DataSource:
        if name not in self._imported:
            module = entry_points.load_entry_point(self.packaged[name])
            _refuse_unfinished(name, module, f"the package {entry_points.package_of(self.packaged[name])}")
            self._imported[name] = module
        return self._imported[name]

    def __contains__(self, name: object) -> bool:
        return name in self.ours or name in self.packaged

    def __iter__(self) -> Iterator[str]:
        yield from (*self.ours, *self.packaged)

    def __len__(self) -> int:
        return len(self.ours) + len(self.packaged)


@cache
def known_data_sets() -> DataSets:
    """The available data sets, by name."""
    return DataSets()


@without_collection()
def load(
    spec: str,
    *,
    label: str | None = None,
    sample: int | None = DEFAULT_SAMPLE_CLUSTERS,
    seed: int = 0,
    skip_bad_rows: bool = False,
    quick: bool = False,
    passages: PassageOptions = AS_USUAL,
    shared: str | None = None,
) -> Dataset:
    """The data set `NAME`, `NAME:PATH`, `NAME@SPLIT:PATH` or `NAME@PROPERTY:PATH`.

    Pairs have at most `sample` clusters (None: all of them). If the data name a test part, the sample is of that part,
    with as many clusters of the validation part; else it is of all pairs. Probes are never sampled: embedded, from a
    file or fresh (`probes:fresh=SEED`).

    `label` names it in results if two with the same name are loaded. The kind of a path without a name is guessed;
    `passages` says how to read articles without labels. SPLIT is one of the READINGS of the data set's module, PROPERTY
    the property of all rows of triplets or contrasts. With `quick` it is the fixed part of the embedded probes, or at
    most 100 clusters of other data. `shared` is the prefix of files in which the processes of one run store what they
    read.
    """
    label, spec = _with_guessed_kind(label, spec, has_log=passages.queries is not None)
    if quick:
        few = min(sample or QUICK_CLUSTERS, QUICK_CLUSTERS)
        whole = load(
            spec, label=label, sample=few, seed=seed, skip_bad_rows=skip_bad_rows, passages=passages, shared=shared
        )
        return whole.quick_part()
    full, _, path = spec.partition(":")
    name, _, reading = full.partition("@")
    if name not in known_data_sets():
        if spec.startswith(PATHS):
            raise DataError(f"--data={spec}: the file or folder does not exist")
        raise DataError(unknown_name_message("data set", name, known_data_sets()))
    module = known_data_sets()[name]
    _refuse_reading(name, module, reading, path)
    if not path:
        if not hasattr(module, "embedded"):
            fetched = f"; or --data {name}:hub, which fetches it" if hasattr(module, "HUB") else ""
            wanted = f"--data {name}:PATH, where PATH holds {module.FILES}{fetched}"
            raise DataError(f"data set {name!r} needs a path: {wanted}")
        found: Dataset = module.embedded()
        return replace(found, name=label or data_label(full))
    made: Dataset | None = module.from_seed(path) if hasattr(module, "from_seed") else None
    if made:
        return replace(made, name=label or data_label(spec).replace(":", "-"))
    called = label or data_label(spec)
    request = DataRequest(called, path, reading, sample, seed, passages, BadRows(skip=skip_bad_rows), shared)
    if name in CONTEST_KINDS and properties_of(spec):
        return _contest_dataset(module, request)
    if hasattr(module, "other_kind") and (kind := module.other_kind(_place(path))):
        log.warning(
            "%s: %s holds queries and documents, so it is read as --data=%s:%s", request.called, path, kind, path
        )
        module = known_data_sets()[kind]
    return _read_place(name, module, request)


def stream(spec: str, *, skip_bad_rows: bool = False) -> Iterator[Group] | None:
    """All texts of `texts:FILE` as groups, one after the other in little memory; None for other data.

    A DataError explains a fault in the file when it is reached.
    """
    full, _, path = spec.partition(":")
    name, _, reading = full.partition("@")
    module = known_data_sets().get(name)
    if module is None or not path or not hasattr(module, "stream"):
        return None
    _refuse_reading(name, module, reading, path)
    return _stream_groups(full, module, path, reading, BadRows(skip=skip_bad_rows))


def _stream_groups(called: str, module: DataSource, path: str, reading: str, bad: BadRows) -> Iterator[Group]:
    yield from module.stream(called, path, bad, part=reading)
    _warn_of_skipped(called, bad)


@dataclass(frozen=True)
class InColumns:
    """All labelled pairs of a file in columns, without Python objects; `skipped` has the problems of malformed rows."""

    name: str
    pairs: LinkedPairs
    licence: str
    skipped: tuple[str, ...]


def load_in_columns(spec: str, *, skip_bad_rows: bool = False) -> InColumns | None:
    """The pairs of `pairs:FILE` as columns, in little memory; None for other data. DataError as for `load`."""
    if is_path(spec):
        kind = guess_kind(expand_home(spec), has_log=False)
        if not hasattr(known_data_sets()[kind], "read_in_columns"):
            return None
    label, spec = _with_guessed_kind(None, spec, has_log=False)
    name, _, path = spec.partition(":")
    module = known_data_sets().get(name)
    if module is None or not path or not hasattr(module, "read_in_columns"):
        return None
    if hasattr(module, "other_kind") and module.other_kind(_place(path)):
        return None
    request = DataRequest(label or name, path, "", None, 0, AS_USUAL, BadRows(skip=skip_bad_rows))
    found = _linked_pairs(name, module, request)
    for line in (*found.said, *_skipped_messages(request.called, request.bad)):
        log.warning("%s", line)
    return InColumns(request.called, found, module.LICENCE, tuple(request.bad.skipped))


def data_label(spec: str) -> str:
    """The name of a specification's data in results: its name, and the seed for generated data.

    >>> [data_label(spec) for spec in ("mrpc:/data/mrpc", "probes:fresh=3", "./help-center", "triplets@hedging:a.csv")]
    ['mrpc', 'probes:fresh=3', 'help-center', 'triplets']
    """
    head = spec.partition(":")[0]
    name = head.partition("@")[0]
    if name not in known_data_sets():
        path = expand_home(head)
        return path.stem if path.name not in ("", "..") else path.resolve().stem
    if name in CONTEST_KINDS:
        return name
    return spec if spec.startswith(f"probes:{FRESH}") else head


def is_path(spec: str) -> bool:
    """Whether a specification is only a path, without the name of a data set."""
    return spec.partition(":")[0].partition("@")[0] not in known_data_sets() and expand_home(spec).exists()


def properties_of(spec: str, kind: str = "") -> tuple[str, ...]:
    """The user's own properties in the file of a specification; empty for other data.

    With a `kind` ("triplets" or "contrast"), empty for data of a different kind. DataError for an invalid property, and
    for a property that is given both for all rows and in a column.
    """
    found, given, path = _contests_of(spec)
    if found not in ({kind} if kind else CONTEST_KINDS):
        return ()
    file, known_data_sets = expand_home(path), tuple[str, ...]()
    if file.is_file():
        at = file.stat()
        known_data_sets = _properties_in(file, at.st_mtime_ns, at.st_size)
    if given and known_data_sets:
        raise DataError(f"{file}:1: the column 'property' names the property of each row: leave out {given!r}")
    return (given,) if given else known_data_sets


@lru_cache(maxsize=64)
def _properties_in(file: Path, _changed: int, _size: int) -> tuple[str, ...]:
    """The cached result of `properties_in`, which each check and the data themselves need."""
    return properties_in_file(file)


def _contests_of(spec: str) -> tuple[str, str, str]:
    """Data set, property of all rows and path of a specification of triplets or contrasts; "" for other data."""
    head, _, path = spec.partition(":")
    name, _, given = head.partition("@")
    if is_path(spec):
        name, given, path = guess_kind(expand_home(spec), has_log=False), "", spec
    return (name, given, path) if name in CONTEST_KINDS else ("", "", "")


def with_property(specs: Sequence[str], given: object) -> list[str]:
    """The specifications, with the given property, if any, added to those of triplets and contrasts.

    UsageError if no specification is of such data, or one names a different property.
    """
    if given is None:
        return list(specs)
    try:
        name = checked_property(given)
    except ValueError as error:
        raise UsageError(f"--property={given}: {error}") from error
    found = {spec: one for spec in specs if any(one := _contests_of(spec))}
    if not found:
        raise UsageError(
            f"--property={name} is for triplets and contrasts, --data=triplets:FILE or --data=contrast:FILE, but "
            f"--data is {', '.join(specs)}"
        )
    for spec, (_, other, _) in found.items():
        if other not in ("", name):
            raise UsageError(f"--data={spec} names the property {other!r}, but --property={name} was given")
    return [f"{found[spec][0]}@{name}:{found[spec][2]}" if spec in found else spec for spec in specs]


def holds_search(spec: str, *, has_log: bool) -> bool:
    """Whether a specification is of documents and queries; `has_log` says whether there is a query log."""
    if properties_of(spec):
        return False
    head = spec.partition(":")[0]
    kind = guess_kind(expand_home(spec), has_log=has_log) if is_path(spec) else head
    return hasattr(known_data_sets().get(kind), "collection") or (has_log and kind == PASSAGES)


def may_hold_pairs(spec: str) -> bool:
    """Whether a specification is of data that are read as pairs; their labels and scores are known only when loaded."""
    name = guess_kind(expand_home(spec), has_log=False) if is_path(spec) else data_label(spec).partition("@")[0]
    module = known_data_sets().get(name)
    return not hasattr(module, "groups") and (hasattr(module, "read") or hasattr(module, "read_in_columns"))


def is_unlabelled(spec: str, *, has_log: bool) -> bool:
    """Whether a specification is of documents without labels; also true for a missing path, which `load` refuses."""
    if is_path(spec):
        return guess_kind(expand_home(spec), has_log=has_log) == PASSAGES
    return spec.startswith(PATHS) or spec.partition(":")[0] == PASSAGES


def _with_guessed_kind(label: str | None, spec: str, *, has_log: bool) -> tuple[str | None, str]:
    """Label and specification; a path gets the name of the data set that it looks like, with a log message."""
    if not is_path(spec):
        return label, spec
    kind = guess_kind(expand_home(spec), has_log=has_log)
    log.warning("--data=%s is read as --data=%s:%s", spec, kind, spec)
    return label or data_label(spec), f"{kind}:{spec}"


def _no_rows(name: str, module: DataSource, request: DataRequest) -> DataError:
    left_out = request.bad.skipped
    first = f"valid row (the first problem of {len(left_out)}: {left_out[0]})" if left_out else "rows"
    return DataError(f"{name}: {request.path} has no {first}; expected {module.FILES}")


def _warn_of_skipped(called: str, bad: BadRows) -> None:
    for line in _skipped_messages(called, bad):
        log.warning("%s", line)


def _skipped_messages(called: str, bad: BadRows) -> list[str]:
    left_out = bad.skipped
    return [f"{called}: {len(left_out)} malformed rows excluded; the first: {one}" for one in left_out[:1]]


def _read_place(name: str, module: DataSource, request: DataRequest) -> Dataset:
    """The data at the path, read by the module's reader."""
    if hasattr(module, "tasks"):
        found: Tasks = {} if request.path == HUB_WORD else module.tasks(_place(request.path), request.bad)
        if not found or module.has_pairs(_place(request.path)):
            pairs = _labelled_dataset(name, module, request)
        else:
            _warn_of_skipped(request.called, request.bad)
            pairs = Dataset(request.called, (), (), module.LICENCE, 0, skipped=tuple(request.bad.skipped))
        return with_tasks(pairs, found, sample=request.sample, seed=request.seed)
    if hasattr(module, "collection"):
        return _search_dataset(name, module, request)
    if hasattr(module, "texts"):
        plain: Dataset = module.texts(
            request.called, request.path, request.bad, part=request.reading, sample=request.sample, seed=request.seed
        )
        _warn_of_skipped(request.called, request.bad)
        return plain
    return (
        _contest_dataset(module, request) if hasattr(module, "contrasts") else _labelled_dataset(name, module, request)
    )


def _contest_dataset(module: DataSource, request: DataRequest) -> Dataset:
    """The data of triplets of properties, or of contrasts of queries."""
    found: Dataset = module.contrasts(
        request.called,
        _place(request.path),
        request.bad,
        given=request.reading,
        sample=request.sample,
        seed=request.seed,
    )
    _warn_of_skipped(request.called, request.bad)
    return found


def _labelled_dataset(name: str, module: DataSource, request: DataRequest) -> Dataset:
    """The data of labelled pairs or of groups."""
    if hasattr(module, "read_in_columns"):
        return _dataset_of_table(name, module, request)
    rows = list(_read(module, request.path, request.bad, request.reading))
    if not rows:
        raise _no_rows(name, module, request)
    _warn_of_skipped(request.called, request.bad)
    skipped = tuple(request.bad.skipped)
    if hasattr(module, "groups"):
        own: Dataset = module.dataset_of_groups(rows)
        return replace(own, name=request.called, skipped=skipped)
    return dataset_from_rows(
        request.called, rows, licence=module.LICENCE, sample=request.sample, seed=request.seed, skipped=skipped
    )


def _dataset_of_table(name: str, module: DataSource, request: DataRequest) -> Dataset:
    """The labelled pairs held in columns, or those that another process of the run has stored."""
    with shared_sample_file(
        request.shared, (request.called, request.path, request.sample, request.seed, request.bad.skip)
    ) as file:
        kept = file.read() if file else None
        if kept is None:
            found = _linked_pairs(name, module, request)
            rows = list(sample_rows(found.held, found.links, count=request.sample, seed=request.seed))
            said = (*found.said, *_skipped_messages(request.called, request.bad))
            kept = SampledPairs(rows, found.held.rows, said, tuple(request.bad.skipped))
            if file:
                file.write(kept)
    for line in kept.said:
        log.warning("%s", line)
    return dataset_from_sample(request.called, kept, licence=module.LICENCE)


def _linked_pairs(name: str, module: DataSource, request: DataRequest) -> LinkedPairs:
    found: LinkedPairs = module.read_in_columns(_place(request.path), request.bad)
    if not found.held.rows:
        raise _no_rows(name, module, request)
    return found


def _search_dataset(name: str, module: DataSource, request: DataRequest) -> Dataset:
    """The data of queries and documents, from the path or the hub."""
    is_of_hub = request.path.startswith(HUB_PREFIX) and hasattr(module, "fetched")
    of_hub = request.path.removeprefix(HUB_PREFIX) if is_of_hub else ""
    place = module.fetched(of_hub) if is_of_hub else expand_home(request.path)
    found = module.collection(place, request.bad, *([request.passages] if name == PASSAGES else []))
    licence = "its data card has it" if of_hub else module.LICENCE
    _warn_of_skipped(request.called, request.bad)
    skipped = tuple(request.bad.skipped)
    if not found.queries and not found.passages:
        raise DataError(f"{request.called}: no query has a judgement{f' ({skipped[0]})' if skipped else ''}")
    if own := own_documents_message(request.called, found.own_documents, len(found.queries)):
        log.warning("%s", own)
    clusters = [q.cluster for q in found.queries]
    kept = found if request.sample is None else found.of(sample_clusters(clusters, request.sample, seed=request.seed))
    return Dataset(
        request.called, (), search_groups(request.called, kept), licence, len(found.queries), skipped=skipped,
        sampled=len(kept.queries) < len(found.queries),
        universe=tuple(sorted({*kept.clusters, *(one.article for one in found.passages)})), collection=kept,
        version=of_hub,
    )  # fmt: skip


def _refuse_unfinished(name: str, module: DataSource, place: str) -> None:
    """DataError for a module, from any package, that lacks a required attribute."""
    readers = ("read", "groups", "collection", "contrasts", "texts", "embedded")
    offers = [what for what in readers if hasattr(module, what)]
    lacks = "" if hasattr(module, "LICENCE") else "no LICENCE"
    if not offers:
        lacks = "no read(), groups(), collection(), contrasts() or texts()"
    elif "embedded" not in offers and not hasattr(module, "FILES"):
        lacks = "no FILES, which says what PATH should hold"
    if lacks:
        raise DataError(f"data set {name!r}: {place} has {lacks}")


def _refuse_reading(name: str, module: DataSource, reading: str, path: str) -> None:
    """DataError for an unknown split, a split that is not on the hub, and an invalid property."""
    if reading and name in CONTEST_KINDS:
        try:
            checked_property(reading)
        except ValueError as error:
            raise DataError(f"data set {name}@{reading}: {error}") from error
        return
    there: tuple[str, ...] = (*getattr(module, "READINGS", ()), *getattr(module, "PARTS", ()))
    if reading and not there:
        raise DataError(f"data set {name!r} has only one split: --data {name}:PATH")
    if reading and reading not in there:
        raise DataError(unknown_name_message(f"split of {name}", reading, there))
    if reading and path == HUB_WORD:
        raise DataError(f"--data {name}@{reading}:PATH reads files: on the hub the data have their own splits")


def _read(module: DataSource, path: str, bad: BadRows, reading: str = "") -> Iterable[Any]:
    """The content of the path, or of the hub if the path is `hub` and the data set is there."""
    if path == HUB_WORD and not hasattr(module, "HUB") and not exists(path):
        there = ", ".join(name for name, other in known_data_sets().ours.items() if hasattr(other, "HUB"))
        raise DataError(
            f"this data set is not on the hub: give the path of {module.FILES}. Data sets on the hub: {there}"
        )
    if path == HUB_WORD and hasattr(module, "HUB"):
        return cast("Hub | Hubs", module.HUB).read(bad)
    place = _place(path)
    if reading:
        readings: SplitReaders = module.READINGS
        return readings[reading](place, bad)
    found: Iterable[Any] = (module.groups if hasattr(module, "groups") else module.read)(place, bad)
    return found


def _place(path: str) -> Path:
    """The path; DataError if the file system refuses access."""
    place = expand_home(path)
    try:
        place.exists()
    except OSError as error:
        raise DataError(f"data {path[:80]!r} cannot be read: {error.strerror}") from error
    return place
