"""Load data sets by the names that `--data` accepts."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import encheck.datasets
from encheck.datasets.clusters import sample_clusters
from encheck.datasets.collection import make_text_groups, own_documents_message
from encheck.datasets.contrast import PROPERTY_DATA_SETS, are_contrast_columns, parse_property_name, read_property_names
from encheck.datasets.dataset import Dataset, Tasks, add_classification_tasks, dataset_from_rows, dataset_from_sample
from encheck.datasets.hub import HUB_PREFIX, HUB_WORD, Hub, Hubs
from encheck.datasets.pair_table import SampledPairs, sample_rows, shared_sample_file
from encheck.datasets.pairs import LinkedPairs, are_pair_columns
from encheck.datasets.passages import PassageOptions, is_article_file
from encheck.datasets.probes import FRESH
from encheck.datasets.reader import TABLE_READERS, BadRows, SplitReaders, file_ending, find_parquet_files, read_table
from encheck.datasets.retrieval import NEGATIVE, are_query_columns, read_json_parts
from encheck.errors import DataError, EncheckError, UsageError, unknown_name_message
from encheck.system import imports
from encheck.system.files import exists, expand_home
from encheck.system.memory import without_collection
from encheck.types import Group

PASSAGES = "passages"
log = logging.getLogger("encheck")
DEFAULT_SAMPLE_CLUSTERS = 2_000
QUICK_CLUSTERS = 100
DEFAULT_PASSAGE_OPTIONS = PassageOptions()
PATH_STARTS = (".", "/", "~")  # characters that no data set name begins with
DataSource = Any  # a module with LICENCE, FILES and a reader, or an object with the same attributes


def guess_data_set(path: Path, *, has_log: bool) -> str:
    """Return the name of the data set that the path's files and columns look like: `passages` if there is a query log.

    >>> guess_data_set(Path("handbook.md"), has_log=False)
    'passages'
    """
    if has_log or is_article_file(path):
        return PASSAGES
    if path.is_dir():
        parts = {file.name.partition(".")[0] for file in path.iterdir()}
        if {"corpus", "queries", "qrels"} <= parts:
            return "retrieval"
        files = find_parquet_files(path) if {file.suffix for file in path.iterdir()} == {".parquet"} else []
        return "pairs" if files and are_pair_columns(read_table(files[0], BadRows())[0]) else PASSAGES
    if file_ending(path) == ".json" and read_json_parts(path):
        return "retrieval"
    if file_ending(path) not in TABLE_READERS:
        return PASSAGES
    columns, _ = read_table(path, BadRows(skip=True))
    negatives = any(NEGATIVE.fullmatch(name) for name in columns)
    if {"anchor", "positive"} <= {*columns} and negatives:
        return "triplets"
    if are_query_columns(columns):
        return "retrieval"
    if are_contrast_columns(columns):
        return "contrast"
    return "pairs" if are_pair_columns(columns) else PASSAGES


@dataclass(frozen=True, slots=True)
class DataRequest:
    """The data set to load, its path, and how to read it. `bad` handles malformed rows."""

    name: str
    path: str
    split_or_property: str
    sample: int | None
    seed: int
    passages: PassageOptions
    bad: BadRows
    shared_prefix: str | None = None


class DataSets(Mapping[str, DataSource]):
    """The available data sets by name, from this package's modules and from other packages.

    A module with a LICENCE is a data set. A module with DATA_SETS holds several. Data sets in `packaged` are imported
    when first used. Raise UsageError if that fails, and DataError if a data set lacks a required attribute.
    """

    def __init__(self) -> None:
        self.ours: dict[str, DataSource] = {}
        for package in pkgutil.iter_modules(encheck.datasets.__path__):
            module = importlib.import_module(f"{encheck.datasets.__name__}.{package.name}")
            own = {package.name.replace("_", "-"): module} if hasattr(module, "LICENCE") else {}
            for name, source in (own | getattr(module, "DATA_SETS", {})).items():
                _refuse_incomplete_module(name, source, str(module.__file__))
                self.ours[name] = source
        self.packaged = imports.entry_points_of(imports.DATA, ours=self.ours)
        self._imported = dict(self.ours)

    def __getitem__(self, name: str) -> DataSource:
        if name not in self._imported:
            module = imports.load_entry_point(self.packaged[name])
            _refuse_incomplete_module(name, module, f"the package {imports.package_of(self.packaged[name])}")
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
    """Return all available data sets by name."""
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
    passages: PassageOptions = DEFAULT_PASSAGE_OPTIONS,
    shared: str | None = None,
    whole: bool = False,
) -> Dataset:
    """Load the data set `NAME`, `NAME:PATH`, `NAME@SPLIT:PATH` or `NAME@PROPERTY:PATH`.

    Pairs have at most `sample` clusters (None: all of them). If the data name a test part, the sample has that many
    clusters of the test part and as many of the validation part. Otherwise the sample is of all pairs. Probes are never
    sampled, whether they are the embedded ones, fresh (`probes:fresh=SEED`) or from a file.

    `label` names the data set in results, to tell two data sets of the same name apart. For a path without a name, the
    kind of data is guessed. `passages` says how to read articles without labels. SPLIT is a key of READINGS in the data
    set's module. PROPERTY is the property of all rows of triplets or contrasts. With `quick`, the embedded probes are
    reduced to a fixed part, and other data to 100 clusters. `shared` is the prefix of files in which the processes of
    one run share what they read. With `whole`, a file of a public corpus that has fewer rows than it was published with
    is a DataError; otherwise, a warning gives both counts.
    """
    label, spec = _name_data_set_of_path(label, spec, has_log=passages.queries is not None)
    if quick:
        few = min(sample or QUICK_CLUSTERS, QUICK_CLUSTERS)
        unreduced = load(
            spec, label=label, sample=few, seed=seed, skip_bad_rows=skip_bad_rows, passages=passages, shared=shared,
            whole=whole,
        )  # fmt: skip
        return unreduced.select_quick_groups()
    full, _, path = spec.partition(":")
    name, _, reading = full.partition("@")
    if name not in known_data_sets():
        if spec.startswith(PATH_STARTS):
            raise DataError(f"--data={spec}: the file or folder does not exist")
        raise DataError(unknown_name_message("data set", name, known_data_sets()))
    module = known_data_sets()[name]
    _refuse_unknown_split(name, module, reading, path)
    if not path:
        if not hasattr(module, "embedded"):
            fetched = f"; or --data {name}:hub, which fetches it" if hasattr(module, "HUB") else ""
            wanted = f"--data {name}:PATH, where PATH holds {module.FILES}{fetched}"
            raise DataError(f"data set {name!r} needs a path: {wanted}")
        embedded: Dataset = module.embedded()
        return replace(embedded, name=label or data_label(full))
    fresh: Dataset | None = module.from_seed(path) if hasattr(module, "from_seed") else None
    if fresh:
        return replace(fresh, name=label or data_label(spec).replace(":", "-"))
    called = label or data_label(spec)
    bad = BadRows(skip=skip_bad_rows, whole=whole)
    request = DataRequest(called, path, reading, sample, seed, passages, bad, shared)
    if name in PROPERTY_DATA_SETS and properties_of_spec(spec):
        return _load_property_rows(module, request)
    if hasattr(module, "data_set_with_these_columns") and (
        kind := module.data_set_with_these_columns(_accessible_path(path))
    ):
        log.warning("%s: %s holds queries and documents, so it is read as --data=%s:%s", request.name, path, kind, path)
        module = known_data_sets()[kind]
    try:
        return _load_from_path(name, module, request)
    except EncheckError:
        raise
    except Exception as error:
        if (package := known_data_sets().packaged.get(name)) is None:
            raise
        raise UsageError(
            f"the package {imports.package_of(package)} cannot read these data: {package.value}: "
            f"{type(error).__name__}: {error}. Remedy: correct the data, or report the fault to the package's author"
        ) from error


def stream_groups(spec: str, *, skip_bad_rows: bool = False) -> Iterator[Group] | None:
    """Return an iterator over all texts of `texts:FILE` as groups, which needs little memory, or None for other data.

    The iterator raises DataError when it reaches a fault in the file.
    """
    full, _, path = spec.partition(":")
    name, _, reading = full.partition("@")
    module = known_data_sets().get(name)
    if module is None or not path or not hasattr(module, "stream"):
        return None
    _refuse_unknown_split(name, module, reading, path)

    def groups() -> Iterator[Group]:
        bad = BadRows(skip=skip_bad_rows)
        yield from module.stream(full, path, bad, part=reading)
        _warn_of_skipped_rows(full, bad)

    return groups()


@dataclass(frozen=True)
class PairsInColumns:
    """All labelled pairs of a file in columns, without a Python object per row. `skipped` has the problems of malformed
    rows.
    """

    name: str
    pairs: LinkedPairs
    licence: str
    skipped: tuple[str, ...]


def load_pairs_in_columns(spec: str, *, skip_bad_rows: bool = False) -> PairsInColumns | None:
    """Return the pairs of `pairs:FILE` as columns, which need little memory, or None for other data.

    Raise DataError as `load` does.
    """
    if is_plain_path(spec):
        kind = guess_data_set(expand_home(spec), has_log=False)
        if not hasattr(known_data_sets()[kind], "read_in_columns"):
            return None
    label, spec = _name_data_set_of_path(None, spec, has_log=False)
    name, _, path = spec.partition(":")
    module = known_data_sets().get(name)
    if module is None or not path or not hasattr(module, "read_in_columns"):
        return None
    if hasattr(module, "data_set_with_these_columns") and module.data_set_with_these_columns(_accessible_path(path)):
        return None
    request = DataRequest(label or name, path, "", None, 0, DEFAULT_PASSAGE_OPTIONS, BadRows(skip=skip_bad_rows))
    linked = _read_linked_pairs(name, module, request)
    for line in (*linked.messages, *_skipped_messages(request.name, request.bad)):
        log.warning("%s", line)
    return PairsInColumns(request.name, linked, module.LICENCE, tuple(request.bad.skipped))


def data_label(spec: str) -> str:
    """Return the name that results use for the data: the data set's name and, for generated data, the seed.

    >>> [data_label(spec) for spec in ("mrpc:/data/mrpc", "probes:fresh=3", "./help-center", "triplets@hedging:a.csv")]
    ['mrpc', 'probes:fresh=3', 'help-center', 'triplets']
    """
    head = spec.partition(":")[0]
    name = head.partition("@")[0]
    if name not in known_data_sets():
        path = expand_home(head)
        return path.stem if path.name not in ("", "..") else path.resolve().stem
    if name in PROPERTY_DATA_SETS:
        return name
    return spec if spec.startswith(f"probes:{FRESH}") else head


def is_plain_path(spec: str) -> bool:
    """Return whether a specification is a path without the name of a data set."""
    return spec.partition(":")[0].partition("@")[0] not in known_data_sets() and expand_home(spec).exists()


def properties_of_spec(spec: str, kind: str = "") -> tuple[str, ...]:
    """Return the user's own properties in the file of a specification, or () for other data.

    With a `kind` ("triplets" or "contrast"), also return () for data of the other kind. Raise DataError for an invalid
    property, or if a property is given both for all rows and in a column.
    """
    data_set, given, path = _parse_property_spec(spec)
    if data_set not in ({kind} if kind else PROPERTY_DATA_SETS):
        return ()
    file, known_data_sets = expand_home(path), tuple[str, ...]()
    if file.is_file():
        at = file.stat()
        known_data_sets = _read_properties_cached(file, at.st_mtime_ns, at.st_size)
    if given and known_data_sets:
        raise DataError(f"{file}:1: the column 'property' names the property of each row: leave out {given!r}")
    return (given,) if given else known_data_sets


@lru_cache(maxsize=64)
def _read_properties_cached(file: Path, _changed: int, _size: int) -> tuple[str, ...]:
    """Read the properties of a file, once for each state of the file. Every check needs them, and so does loading the
    data.
    """
    return read_property_names(file)


class _PropertySpec(NamedTuple):
    """The parts of DATA_SET@PROPERTY:PATH. `property` applies to all rows; "" if each row names its own."""

    data_set: str
    property: str
    path: str


def _parse_property_spec(spec: str) -> _PropertySpec:
    """Split a specification of triplets or contrasts into its parts. For other data, all parts are ""."""
    head, _, path = spec.partition(":")
    name, _, given = head.partition("@")
    if is_plain_path(spec):
        name, given, path = guess_data_set(expand_home(spec), has_log=False), "", spec
    return _PropertySpec(name, given, path) if name in PROPERTY_DATA_SETS else _PropertySpec("", "", "")


def add_property_to_specs(specs: str | Path | Sequence[str], property_name: object) -> list[str]:
    """Return the specifications with this property added to those of triplets and contrasts.

    Raise UsageError if there is none, if there is a property but no triplets or contrasts, or if one names a different
    property.
    """
    specs = str(expand_home(specs).absolute()) if isinstance(specs, Path) else specs
    specs = [specs] if isinstance(specs, str) else list(specs)
    if not specs:
        raise UsageError("no data are named: give at least one data set")
    if property_name is None:
        return specs
    try:
        name = parse_property_name(property_name)
    except ValueError as error:
        raise UsageError(f"--property={property_name}: {error}") from error
    parsed_specs = {spec: one for spec in specs if any(one := _parse_property_spec(spec))}
    if not parsed_specs:
        raise UsageError(
            f"--property={name} is for triplets and contrasts, --data=triplets:FILE or --data=contrast:FILE, but "
            f"--data is {', '.join(specs)}"
        )
    for spec, parts in parsed_specs.items():
        if parts.property not in ("", name):
            raise UsageError(f"--data={spec} names the property {parts.property!r}, but --property={name} was given")
    return [
        f"{parsed_specs[spec].data_set}@{name}:{parsed_specs[spec].path}" if spec in parsed_specs else spec
        for spec in specs
    ]


def is_search_spec(spec: str, *, has_log: bool) -> bool:
    """Return whether a specification names documents and queries. `has_log` says whether there is a query log."""
    if properties_of_spec(spec):
        return False
    head = spec.partition(":")[0]
    kind = guess_data_set(expand_home(spec), has_log=has_log) if is_plain_path(spec) else head
    return hasattr(known_data_sets().get(kind), "collection") or (has_log and kind == PASSAGES)


def may_be_pairs_spec(spec: str) -> bool:
    """Return whether a specification's data are read as pairs.

    Whether the pairs have labels or scores is known only when they are loaded.
    """
    name = (
        guess_data_set(expand_home(spec), has_log=False) if is_plain_path(spec) else data_label(spec).partition("@")[0]
    )
    module = known_data_sets().get(name)
    return not hasattr(module, "groups") and (hasattr(module, "read") or hasattr(module, "read_in_columns"))


def is_unlabelled_spec(spec: str, *, has_log: bool) -> bool:
    """Return whether a specification names documents without labels.

    Also return True for a missing path, so that `load` reports it.
    """
    if is_plain_path(spec):
        return guess_data_set(expand_home(spec), has_log=has_log) == PASSAGES
    return spec.startswith(PATH_STARTS) or spec.partition(":")[0] == PASSAGES


def _name_data_set_of_path(label: str | None, spec: str, *, has_log: bool) -> tuple[str | None, str]:
    """Return label and specification. For a plain path, guess the data set, add its name, and log the guess."""
    if not is_plain_path(spec):
        return label, spec
    kind = guess_data_set(expand_home(spec), has_log=has_log)
    log.warning("--data=%s is read as --data=%s:%s", spec, kind, spec)
    return label or data_label(spec), f"{kind}:{spec}"


def _no_rows_error(name: str, module: DataSource, request: DataRequest) -> DataError:
    left_out = request.bad.skipped
    first = f"valid row (the first problem of {len(left_out)}: {left_out[0]})" if left_out else "rows"
    return DataError(f"{name}: {request.path} has no {first}; expected {module.FILES}")


def _warn_of_skipped_rows(data_name: str, bad: BadRows) -> None:
    for line in _skipped_messages(data_name, bad):
        log.warning("%s", line)


def _skipped_messages(data_name: str, bad: BadRows) -> list[str]:
    left_out = bad.skipped
    return [f"{data_name}: {len(left_out)} malformed rows excluded; the first: {one}" for one in left_out[:1]]


def _load_from_path(name: str, module: DataSource, request: DataRequest) -> Dataset:
    """Load the data at the path with the module's reader."""
    if hasattr(module, "tasks"):
        tasks: Tasks = {} if request.path == HUB_WORD else module.tasks(_accessible_path(request.path), request.bad)
        if not tasks or module.has_pairs(_accessible_path(request.path)):
            pairs = _load_labelled_pairs(name, module, request)
        else:
            _warn_of_skipped_rows(request.name, request.bad)
            pairs = Dataset(request.name, (), (), module.LICENCE, 0, skipped=tuple(request.bad.skipped))
        return add_classification_tasks(pairs, tasks, sample=request.sample, seed=request.seed)
    if hasattr(module, "collection"):
        return _load_collection(name, module, request)
    if hasattr(module, "texts"):
        plain: Dataset = module.texts(
            request.name,
            request.path,
            request.bad,
            part=request.split_or_property,
            sample=request.sample,
            seed=request.seed,
        )
        _warn_of_skipped_rows(request.name, request.bad)
        return plain
    return (
        _load_property_rows(module, request)
        if hasattr(module, "contrasts")
        else _load_labelled_pairs(name, module, request)
    )


def _load_property_rows(module: DataSource, request: DataRequest) -> Dataset:
    """Load triplets with properties, or contrasts."""
    dataset: Dataset = module.contrasts(
        request.name,
        _accessible_path(request.path),
        request.bad,
        property_of_all=request.split_or_property,
        sample=request.sample,
        seed=request.seed,
    )
    _warn_of_skipped_rows(request.name, request.bad)
    return dataset


def _load_labelled_pairs(name: str, module: DataSource, request: DataRequest) -> Dataset:
    """Load labelled pairs, or groups."""
    if hasattr(module, "read_in_columns"):
        return _load_pair_table(name, module, request)
    rows = list(_read_rows(module, request.path, request.bad, request.split_or_property))
    if not rows:
        raise _no_rows_error(name, module, request)
    _warn_of_skipped_rows(request.name, request.bad)
    skipped = tuple(request.bad.skipped)
    if hasattr(module, "groups"):
        own: Dataset = module.dataset_from_groups(rows)
        return replace(own, name=request.name, skipped=skipped)
    return dataset_from_rows(
        request.name, rows, licence=module.LICENCE, sample=request.sample, seed=request.seed, skipped=skipped
    )


def _load_pair_table(name: str, module: DataSource, request: DataRequest) -> Dataset:
    """Load labelled pairs in columns, or read those that another process of the run has stored."""
    with shared_sample_file(
        request.shared_prefix, (request.name, request.path, request.sample, request.seed, request.bad.skip)
    ) as file:
        sample = file.read() if file else None
        if sample is None:
            linked = _read_linked_pairs(name, module, request)
            rows = list(sample_rows(linked.table, linked.links, count=request.sample, seed=request.seed))
            messages = (*linked.messages, *_skipped_messages(request.name, request.bad))
            sample = SampledPairs(rows, linked.table.rows, messages, tuple(request.bad.skipped))
            if file:
                file.write(sample)
    for line in sample.messages:
        log.warning("%s", line)
    return dataset_from_sample(request.name, sample, licence=module.LICENCE)


def _read_linked_pairs(name: str, module: DataSource, request: DataRequest) -> LinkedPairs:
    linked: LinkedPairs = module.read_in_columns(_accessible_path(request.path), request.bad)
    if not linked.table.rows:
        raise _no_rows_error(name, module, request)
    return linked


def _load_collection(name: str, module: DataSource, request: DataRequest) -> Dataset:
    """Load queries and documents from the path or the hub."""
    is_of_hub = request.path.startswith(HUB_PREFIX) and hasattr(module, "fetch_from_hub")
    of_hub = request.path.removeprefix(HUB_PREFIX) if is_of_hub else ""
    place = module.fetch_from_hub(of_hub) if is_of_hub else expand_home(request.path)
    whole = module.collection(place, request.bad, *([request.passages] if name == PASSAGES else []))
    licence = "its data card has it" if of_hub else module.LICENCE
    _warn_of_skipped_rows(request.name, request.bad)
    skipped = tuple(request.bad.skipped)
    if not whole.queries and not whole.passages:
        raise DataError(f"{request.name}: no query has a judgement{f' ({skipped[0]})' if skipped else ''}")
    if own := own_documents_message(request.name, whole.own_document_count, len(whole.queries)):
        log.warning("%s", own)
    clusters = [q.cluster for q in whole.queries]
    sample = (
        whole
        if request.sample is None
        else whole.select_clusters(sample_clusters(clusters, request.sample, seed=request.seed))
    )
    return Dataset(
        request.name, (), make_text_groups(request.name, sample), licence, len(whole.queries), skipped=skipped,
        sampled=len(sample.queries) < len(whole.queries),
        universe=tuple(sorted({*sample.clusters, *(one.article for one in whole.passages)})), collection=sample,
        version=of_hub,
    )  # fmt: skip


def _refuse_incomplete_module(name: str, module: DataSource, place: str) -> None:
    """Raise DataError if a data set, whatever its package, lacks a required attribute."""
    readers = ("read", "groups", "collection", "contrasts", "texts", "embedded")
    offers = [what for what in readers if hasattr(module, what)]
    lacks = "" if hasattr(module, "LICENCE") else "no LICENCE"
    if not offers:
        lacks = "no read(), groups(), collection(), contrasts() or texts()"
    elif "embedded" not in offers and not hasattr(module, "FILES"):
        lacks = "no FILES, which says what PATH should hold"
    if lacks:
        raise DataError(f"data set {name!r}: {place} has {lacks}")


def _refuse_unknown_split(name: str, module: DataSource, reading: str, path: str) -> None:
    """Raise DataError for an unknown split, a split that is not on the hub, or an invalid property."""
    if reading and name in PROPERTY_DATA_SETS:
        try:
            parse_property_name(reading)
        except ValueError as error:
            raise DataError(f"data set {name}@{reading}: {error}") from error
        return
    there: tuple[str, ...] = (*getattr(module, "READINGS", ()), *getattr(module, "PARTS", ()))
    if reading and not there:
        raise DataError(f"data set {name!r} has only one split: --data {name}:PATH")
    if reading and reading not in there:
        raise DataError(unknown_name_message(f"split of {name}", reading, there))
    if reading and path == HUB_WORD:
        raise DataError(
            f"--data {name}@{reading}:PATH works with local files alone: data on the hub have their own splits"
        )


def _read_rows(module: DataSource, path: str, bad: BadRows, reading: str = "") -> Iterable[Any]:
    """Read the path, or the hub if the path is `hub` and the module has a data set there."""
    if path == HUB_WORD and not hasattr(module, "HUB") and not exists(path):
        there = ", ".join(name for name, other in known_data_sets().ours.items() if hasattr(other, "HUB"))
        raise DataError(
            f"this data set is not on the hub: give the path of {module.FILES}. Data sets on the hub: {there}"
        )
    if path == HUB_WORD and hasattr(module, "HUB"):
        return cast("Hub | Hubs", module.HUB).read(bad)
    place = _accessible_path(path)
    if reading:
        readings: SplitReaders = module.READINGS
        return readings[reading](place, bad)
    rows: Iterable[Any] = (module.groups if hasattr(module, "groups") else module.read)(place, bad)
    return rows


def _accessible_path(path: str) -> Path:
    """Return the path. Raise DataError if the file system denies access to it."""
    place = expand_home(path)
    try:
        place.exists()
    except OSError as error:
        raise DataError(f"data {path[:80]!r} cannot be read: {error.strerror}") from error
    return place
