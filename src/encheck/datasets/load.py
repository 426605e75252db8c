"""Data sets by their name: what `--data` takes."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import encheck.datasets
from encheck.datasets.classes import Tasks, with_tasks
from encheck.datasets.clusters import sample_clusters
from encheck.datasets.collection import Collection, said_of_own
from encheck.datasets.contests import KINDS, checked_property, properties_in
from encheck.datasets.dataset import Dataset
from encheck.datasets.drawn import drawn
from encheck.datasets.guessing import PASSAGES, taken_for
from encheck.datasets.hub import WORD, Hub, Hubs
from encheck.datasets.hub_folder import PREFIX
from encheck.datasets.kept import KeptPairs, shared_by
from encheck.datasets.labelled import from_kept, from_rows
from encheck.datasets.pairs_in_columns import HeldPairs
from encheck.datasets.passages import PassageOptions
from encheck.datasets.probes import FRESH
from encheck.datasets.reader import BadRows, Readings
from encheck.datasets.searched_texts import groups_of
from encheck.errors import DataError, UsageError, unknown
from encheck.system import entry_points
from encheck.system.files import exists, expand_home
from encheck.system.memory import without_collection
from encheck.types import Group

log = logging.getLogger("encheck")
DEFAULT_SAMPLE_CLUSTERS = 2_000
QUICK_CLUSTERS = 100
AS_USUAL = PassageOptions()
PATHS = (".", "/", "~")  # what no name of a data set begins with


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is read of a data set that lies somewhere, and how; `bad` takes its malformed rows."""

    called: str
    path: str
    reading: str
    sample: int | None
    seed: int
    passages: PassageOptions
    bad: BadRows
    shared: str | None = None


class DataSets(Mapping[str, ModuleType]):
    """The data sets that there are, by name: every module of this package that has a LICENCE, and those of packages.

    Those of `packaged` are modules or objects with the same names in them, and are imported when they are asked for:
    UsageError where that fails. DataError for one that lacks what a data set has to have.
    """

    def __init__(self) -> None:
        modules = [
            importlib.import_module(f"{encheck.datasets.__name__}.{m.name}")
            for m in pkgutil.iter_modules(encheck.datasets.__path__)
        ]
        self.ours = {m.__name__.rpartition(".")[2].replace("_", "-"): m for m in modules if hasattr(m, "LICENCE")}
        self.packaged = entry_points.entry_points_of(entry_points.DATA, ours=self.ours)
        self._imported = dict(self.ours)
        for name, module in self.ours.items():
            _refuse_unfinished(name, module, str(module.__file__))

    def __getitem__(self, name: str) -> ModuleType:
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
def names() -> DataSets:
    """The data sets that there are, by name."""
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

    Of pairs it has at most `sample` clusters (None: all of them). A sample of data that name a test part is of that
    part, with as many clusters of the validation part; else it is of all pairs. Probes come whole: embedded, of a file
    or fresh (`probes:fresh=SEED`).
    `label` names it in results where two of the same name are loaded. A path without a name is
    taken for what it looks like; `passages` says how articles are read that have no labels. SPLIT is one that the data
    set's module names in READINGS, PROPERTY what all rows of triplets or contrasts are of. With `quick` it is the fixed
    part of the embedded probes, of other data at most 100 clusters. `shared` is what the names of files begin with in
    which the processes of one run keep what they read.
    """
    label, spec = _named(label, spec, has_log=passages.queries is not None)
    if quick:
        few = min(sample or QUICK_CLUSTERS, QUICK_CLUSTERS)
        whole = load(
            spec, label=label, sample=few, seed=seed, skip_bad_rows=skip_bad_rows, passages=passages, shared=shared
        )
        return whole.quick_part()
    full, _, path = spec.partition(":")
    name, _, reading = full.partition("@")
    module = _module_of(spec, name)
    _refuse_reading(name, module, reading, path)
    if not path:
        return replace(_embedded(name, module), name=label or stem(full))
    made: Dataset | None = module.made(path) if hasattr(module, "made") else None
    if made:
        return replace(made, name=label or stem(spec).replace(":", "-"))
    called = label or stem(spec)
    asked = _Asked(called, path, reading, sample, seed, passages, BadRows(skip=skip_bad_rows), shared)
    if name in KINDS and properties_of(spec):
        return _of_contests(module, asked)
    return _lying_there(name, _taken_for(module, path, asked.called), asked)


def stream(spec: str, *, skip_bad_rows: bool = False) -> Iterator[Group] | None:
    """All texts of `texts:FILE` as groups, one after the other in little memory; None of other data.

    DataError says what is wrong with the file, once it is come to.
    """
    full, _, path = spec.partition(":")
    name, _, reading = full.partition("@")
    module = names().get(name)
    if module is None or not path or not hasattr(module, "stream"):
        return None
    _refuse_reading(name, module, reading, path)
    return _told(full, module, path, reading, BadRows(skip=skip_bad_rows))


def _told(called: str, module: ModuleType, path: str, reading: str, bad: BadRows) -> Iterator[Group]:
    yield from module.stream(called, path, bad, part=reading)
    _tell_skipped(called, bad)


@dataclass(frozen=True)
class InColumns:
    """All labelled pairs of a file, not one of them made; `skipped` has what was said of malformed rows."""

    name: str
    pairs: HeldPairs
    licence: str
    skipped: tuple[str, ...]


def load_in_columns(spec: str, *, skip_bad_rows: bool = False) -> InColumns | None:
    """The pairs of `pairs:FILE` as columns, in little memory; None of other data. DataError as for `load`."""
    if is_path(spec) and not hasattr(names()[taken_for(Path(spec).expanduser(), has_log=False)], "hold"):
        return None
    label, spec = _named(None, spec, has_log=False)
    name, _, path = spec.partition(":")
    module = names().get(name)
    if module is None or not path or not hasattr(module, "hold"):
        return None
    if hasattr(module, "taken_for") and module.taken_for(_place(path)):
        return None
    asked = _Asked(label or name, path, "", None, 0, AS_USUAL, BadRows(skip=skip_bad_rows))
    found = _held(name, module, asked)
    for line in (*found.said, *_said_of_skipped(asked.called, asked.bad)):
        log.warning("%s", line)
    return InColumns(asked.called, found, module.LICENCE, tuple(asked.bad.skipped))


def stem(spec: str) -> str:
    """What results call the data of a specification: its name, and the seed of what is made from one.

    >>> stem("mrpc:/data/mrpc"), stem("probes:fresh=3"), stem("./help-center"), stem("triplets@hedging:hedges.csv")
    ('mrpc', 'probes:fresh=3', 'help-center', 'triplets')
    """
    head = spec.partition(":")[0]
    name = head.partition("@")[0]
    if name not in names():
        path = Path(head).expanduser()
        return path.stem if path.name not in ("", "..") else path.resolve().stem
    if name in KINDS:
        return name
    return spec if spec.startswith(f"probes:{FRESH}") else head


def is_path(spec: str) -> bool:
    """Whether a specification is a path alone, without the name of a data set."""
    return spec.partition(":")[0].partition("@")[0] not in names() and Path(spec).expanduser().exists()


def properties_of(spec: str, kind: str = "") -> tuple[str, ...]:
    """The properties of the user's own that the file of a specification has; none of other data.

    With a `kind` none of data other than that: "triplets" or "contrast". DataError for a property that is none, and for
    one of all rows where a column names that of each.
    """
    found, given, path = _contests_of(spec)
    if found not in ({kind} if kind else KINDS):
        return ()
    file, names = Path(path).expanduser(), tuple[str, ...]()
    if file.is_file():
        at = file.stat()
        names = _properties_in(file, at.st_mtime_ns, at.st_size)
    if given and names:
        raise DataError(f"{file}:1: the column 'property' names the property of each row: leave out {given!r}")
    return (given,) if given else names


@lru_cache(maxsize=64)
def _properties_in(file: Path, _changed: int, _size: int) -> tuple[str, ...]:
    """What `properties_in` finds: each check and the data themselves ask for it."""
    return properties_in(file)


def _contests_of(spec: str) -> tuple[str, str, str]:
    """Data set, property of all rows and path of a specification of triplets or contrasts; of others each is ""."""
    head, _, path = spec.partition(":")
    name, _, given = head.partition("@")
    if is_path(spec):
        name, given, path = taken_for(Path(spec).expanduser(), has_log=False), "", spec
    return (name, given, path) if name in KINDS else ("", "", "")


def with_property(specs: Sequence[str], given: object) -> list[str]:
    """The specifications; those of triplets and contrasts say that all their rows are of the given property, if any.

    UsageError if none is of such data, or names another property.
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
            raise UsageError(f"--data={spec} names the property {other!r}, and --property={name} another one")
    return [f"{found[spec][0]}@{name}:{found[spec][2]}" if spec in found else spec for spec in specs]


def holds_search(spec: str, *, has_log: bool) -> bool:
    """Whether a specification is of documents and queries; `has_log` says that there is a log of queries."""
    if properties_of(spec):
        return False
    head = spec.partition(":")[0]
    kind = taken_for(Path(spec).expanduser(), has_log=has_log) if is_path(spec) else head
    return hasattr(names().get(kind), "collection") or (has_log and kind == PASSAGES)


def may_hold_pairs(spec: str) -> bool:
    """Whether a specification is of data that are read as pairs; their labels and scores only show when loaded."""
    name = taken_for(Path(spec).expanduser(), has_log=False) if is_path(spec) else stem(spec).partition("@")[0]
    module = names().get(name)
    return not hasattr(module, "groups") and (hasattr(module, "read") or hasattr(module, "hold"))


def is_unlabelled(spec: str, *, has_log: bool) -> bool:
    """Whether a specification is of documents without labels; so is a path that is not there, which `load` refuses."""
    if is_path(spec):
        return taken_for(Path(spec).expanduser(), has_log=has_log) == PASSAGES
    return spec.startswith(PATHS) or spec.partition(":")[0] == PASSAGES


def _named(label: str | None, spec: str, *, has_log: bool) -> tuple[str | None, str]:
    """Label and specification, of a path alone with the name of what it is taken for, which is said."""
    if not is_path(spec):
        return label, spec
    kind = taken_for(Path(spec).expanduser(), has_log=has_log)
    log.warning("--data=%s was taken for --data=%s:%s", spec, kind, spec)
    return label or stem(spec), f"{kind}:{spec}"


def _module_of(spec: str, name: str) -> ModuleType:
    """The module of a data set; DataError for an unknown name, and a path that is not there."""
    if name in names():
        return names()[name]
    if spec.startswith(PATHS):
        raise DataError(f"--data={spec}: there is no such file or folder")
    raise DataError(unknown("data set", name, names()))


def _embedded(name: str, module: ModuleType) -> Dataset:
    """The data that come with encheck; DataError for a data set that has to be given a path."""
    if not hasattr(module, "embedded"):
        fetched = f"; or --data {name}:hub, which fetches it" if hasattr(module, "HUB") else ""
        wanted = f"--data {name}:PATH, where PATH holds {module.FILES}{fetched}"
        raise DataError(f"data set {name!r} needs a path: {wanted}")
    found: Dataset = module.embedded()
    return found


def _taken_for(module: ModuleType, path: str, name: str) -> ModuleType:
    """The module that reads the path: another one where the path holds what that reads, which is said."""
    kind = module.taken_for(_place(path)) if hasattr(module, "taken_for") else ""
    if not kind:
        return module
    log.warning("%s: %s holds queries and documents: taken for --data=%s:%s", name, path, kind, path)
    return names()[kind]


def _rows(name: str, module: ModuleType, asked: _Asked) -> list[Any]:
    """All rows that lie at the path; DataError where there is none."""
    rows = list(_read(module, asked.path, asked.bad, asked.reading))
    if not rows:
        raise _no_rows(name, module, asked)
    return rows


def _no_rows(name: str, module: ModuleType, asked: _Asked) -> DataError:
    left_out = asked.bad.skipped
    first = f"valid row (the first problem of {len(left_out)}: {left_out[0]})" if left_out else "rows"
    return DataError(f"{name}: {asked.path} has no {first}; expected {module.FILES}")


def _tell_skipped(called: str, bad: BadRows) -> None:
    for line in _said_of_skipped(called, bad):
        log.warning("%s", line)


def _said_of_skipped(called: str, bad: BadRows) -> list[str]:
    left_out = bad.skipped
    return [f"{called}: {len(left_out)} malformed rows excluded; the first: {one}" for one in left_out[:1]]


def _lying_there(name: str, module: ModuleType, asked: _Asked) -> Dataset:
    """The data at the path, by the one reader that the module has."""
    if hasattr(module, "tasks"):
        return _with_tasks(name, module, asked)
    if hasattr(module, "collection"):
        return _searched(name, module, asked)
    if hasattr(module, "texts"):
        plain: Dataset = module.texts(
            asked.called, asked.path, asked.bad, part=asked.reading, sample=asked.sample, seed=asked.seed
        )
        _tell_skipped(asked.called, asked.bad)
        return plain
    return _of_contests(module, asked) if hasattr(module, "contrasts") else _of_rows(name, module, asked)


def _of_contests(module: ModuleType, asked: _Asked) -> Dataset:
    """The data of triplets of properties, or of contrasts of queries."""
    found: Dataset = module.contrasts(
        asked.called, _place(asked.path), asked.bad, given=asked.reading, sample=asked.sample, seed=asked.seed
    )
    _tell_skipped(asked.called, asked.bad)
    return found


def _with_tasks(name: str, module: ModuleType, asked: _Asked) -> Dataset:
    """The texts with classes that lie at the path, with the labelled pairs where it has some."""
    found: Tasks = {} if asked.path == WORD else module.tasks(_place(asked.path), asked.bad)
    if not found or module.has_pairs(_place(asked.path)):
        pairs = _of_rows(name, module, asked)
    else:
        _tell_skipped(asked.called, asked.bad)
        pairs = Dataset(asked.called, (), (), module.LICENCE, 0, skipped=tuple(asked.bad.skipped))
    return with_tasks(pairs, found, sample=asked.sample, seed=asked.seed)


def _of_rows(name: str, module: ModuleType, asked: _Asked) -> Dataset:
    """The data of labelled pairs or of groups."""
    if hasattr(module, "hold"):
        return _of_held(name, module, asked)
    rows = _rows(name, module, asked)
    _tell_skipped(asked.called, asked.bad)
    skipped = tuple(asked.bad.skipped)
    if hasattr(module, "groups"):
        own: Dataset = module.dataset(rows)
        return replace(own, name=asked.called, skipped=skipped)
    return from_rows(asked.called, rows, licence=module.LICENCE, sample=asked.sample, seed=asked.seed, skipped=skipped)


def _of_held(name: str, module: ModuleType, asked: _Asked) -> Dataset:
    """The data of labelled pairs that are held in columns, or of those that another process of the run has kept."""
    with shared_by(asked.shared, (asked.called, asked.path, asked.sample, asked.seed, asked.bad.skip)) as file:
        kept = file.read() if file else None
        if kept is None:
            kept = _kept(name, module, asked)
            if file:
                file.write(kept)
    for line in kept.said:
        log.warning("%s", line)
    return from_kept(asked.called, kept, licence=module.LICENCE)


def _kept(name: str, module: ModuleType, asked: _Asked) -> KeptPairs:
    found = _held(name, module, asked)
    rows = list(drawn(found.held, found.links, count=asked.sample, seed=asked.seed))
    said = (*found.said, *_said_of_skipped(asked.called, asked.bad))
    return KeptPairs(rows, found.held.rows, said, tuple(asked.bad.skipped))


def _held(name: str, module: ModuleType, asked: _Asked) -> HeldPairs:
    found: HeldPairs = module.hold(_place(asked.path), asked.bad)
    if not found.held.rows:
        raise _no_rows(name, module, asked)
    return found


def _searched(name: str, module: ModuleType, asked: _Asked) -> Dataset:
    """The data of queries and documents, which lie at the path or are fetched from the hub."""
    is_of_hub = asked.path.startswith(PREFIX) and hasattr(module, "fetched")
    of_hub = asked.path.removeprefix(PREFIX) if is_of_hub else ""
    place = module.fetched(of_hub) if is_of_hub else expand_home(asked.path)
    found = module.collection(place, asked.bad, *([asked.passages] if name == PASSAGES else []))
    licence = "its data card has it" if of_hub else module.LICENCE
    return replace(_sampled(asked, found, licence), version=of_hub)


def _sampled(asked: _Asked, found: Collection, licence: str) -> Dataset:
    """The data set of a collection, with at most `sample` clusters of its queries and all of its documents."""
    _tell_skipped(asked.called, asked.bad)
    skipped = tuple(asked.bad.skipped)
    if not found.queries and not found.passages:
        raise DataError(f"{asked.called}: no query has a judgement{f' ({skipped[0]})' if skipped else ''}")
    if own := said_of_own(asked.called, found.own_documents, len(found.queries)):
        log.warning("%s", own)
    clusters = [q.cluster for q in found.queries]
    kept = found if asked.sample is None else found.of(sample_clusters(clusters, asked.sample, seed=asked.seed))
    return Dataset(
        asked.called, (), groups_of(asked.called, kept), licence, len(found.queries), skipped=skipped,
        sampled=len(kept.queries) < len(found.queries),
        universe=tuple(sorted({*kept.clusters, *(one.article for one in found.passages)})), collection=kept,
    )  # fmt: skip


def _refuse_unfinished(name: str, module: ModuleType, place: str) -> None:
    """DataError for a module, of this file or package, that lacks what a data set has to have."""
    readers = ("read", "groups", "collection", "contrasts", "texts", "embedded")
    offers = [what for what in readers if hasattr(module, what)]
    lacks = "" if hasattr(module, "LICENCE") else "no LICENCE"
    if not offers:
        lacks = "no read(), groups(), collection(), contrasts() or texts()"
    elif "embedded" not in offers and not hasattr(module, "FILES"):
        lacks = "no FILES, which says what PATH should hold"
    if lacks:
        raise DataError(f"data set {name!r}: {place} has {lacks}")


def _refuse_reading(name: str, module: ModuleType, reading: str, path: str) -> None:
    """DataError for a split that the data set has not, or that is not on the hub, and for a wrong property."""
    if reading and name in KINDS:
        try:
            checked_property(reading)
        except ValueError as error:
            raise DataError(f"data set {name}@{reading}: {error}") from error
        return
    there: tuple[str, ...] = (*getattr(module, "READINGS", ()), *getattr(module, "PARTS", ()))
    if reading and not there:
        raise DataError(f"data set {name!r} has one split alone: --data {name}:PATH")
    if reading and reading not in there:
        raise DataError(unknown(f"split of {name}", reading, there))
    if reading and path == WORD:
        raise DataError(f"--data {name}@{reading}:PATH reads files: on the hub the data have a split of their own")


def _read(module: ModuleType, path: str, bad: BadRows, reading: str = "") -> Iterable[Any]:
    """What lies at the path, or on the hub where that is what the path says and the data set is there."""
    if path == WORD and not hasattr(module, "HUB") and not exists(path):
        there = ", ".join(name for name, other in names().ours.items() if hasattr(other, "HUB"))
        raise DataError(f"this data set is not on the hub: give the path of {module.FILES}. On the hub are: {there}")
    if path == WORD and hasattr(module, "HUB"):
        return cast("Hub | Hubs", module.HUB).read(bad)
    place = _place(path)
    if reading:
        readings: Readings = module.READINGS
        return readings[reading](place, bad)
    found: Iterable[Any] = (module.groups if hasattr(module, "groups") else module.read)(place, bad)
    return found


def _place(path: str) -> Path:
    """The path; DataError for one that the file system refuses to look at."""
    place = expand_home(path)
    try:
        place.exists()
    except OSError as error:
        raise DataError(f"data {path[:80]!r} cannot be read: {error.strerror}") from error
    return place
