"""Hold labelled pairs in columns: compress them, link pairs that share sentences, sample clusters, and share the
sample.

A table of a million pairs takes little memory, because it is compressed, and above some size it is on disk. The sum of
a random number per letter does not depend on word order and differs between nearly all texts, so only texts with equal
sums are compared by their words. Cluster names and samples equal those of `assign_clusters` and `sample_clusters` for
the same rows.
"""

from __future__ import annotations

import heapq
import itertools
import json
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.clusters import hash_cluster_name, hash_word_bag
from encheck.datasets.reader import PairRow
from encheck.errors import DataError
from encheck.statistics.clusters import component_numbers
from encheck.system.files import expand_home, write_whole
from encheck.types import content_hash

MAX_BYTES_IN_MEMORY = 32 * 2**20  # bytes table in memory before the rest goes to a temporary file
ROWS_AT_ONCE = 10_000
ASCII = 128
WHITE_SPACE = b" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f"  # the white space of str.split
ODD = np.uint64(0x9E3779B97F4A7C15)
Numbers = NDArray[np.uint64]
AFTER_EVERY_RANK = b"\xff" * 33  # after every rank
SAMPLE_COLUMNS = ("first", "second", "label", "given", "score", "cluster")
ABOUT_SAMPLE = b"about"


class PairTable:
    """Rows in columns, which are written once, batch by batch, and can then be read any number of times.

    The columns are those of `pair_schema`. Only one thread may use a table.
    """

    def __init__(self) -> None:
        import pyarrow

        self.rows = 0
        self._file: Any = tempfile.SpooledTemporaryFile(max_size=MAX_BYTES_IN_MEMORY)  # noqa: SIM115 - closed with this
        weakref.finalize(self, self._file.close)
        packed = pyarrow.ipc.IpcWriteOptions(compression=pyarrow.Codec("zstd", 1), use_threads=False)
        sink = pyarrow.PythonFile(self._file, mode="w")
        self._writer: Any = pyarrow.ipc.new_stream(sink, pair_schema(), options=packed)

    def append(self, batch: Any) -> None:
        """Store a record batch of the schema. Raise DataError if the disk for temporary files is full."""
        self._write_or_refuse(lambda: self._writer.write_batch(batch))
        self.rows += batch.num_rows

    def batches(self) -> Iterator[tuple[int, Any]]:
        """Yield (number of its first row, record batch) in the order in which the batches were appended."""
        import pyarrow

        if self._writer is not None:
            self._write_or_refuse(self._writer.close)
            self._writer = None
        self._file.seek(0)
        start = 0
        for batch in pyarrow.ipc.open_stream(pyarrow.PythonFile(self._file, mode="r")):
            yield start, batch
            start += batch.num_rows

    @staticmethod
    def _write_or_refuse(write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            raise DataError(
                f"cannot hold the rows in {tempfile.gettempdir()}: {error.strerror or error}. "
                "Set TMPDIR to a folder with more space"
            ) from error


@cache
def pair_schema() -> Any:
    """Return the pyarrow schema of a `PairTable`.

    `label` is 0, 1 or missing. `cluster` is in UTF-8 bytes that may hold lone surrogates.
    """
    import pyarrow

    return pyarrow.schema(
        [
            ("first", pyarrow.large_string()),
            ("second", pyarrow.large_string()),
            ("label", pyarrow.int8()),
            ("cluster", pyarrow.large_binary()),
            ("score", pyarrow.float64()),
        ]
    )


def text_array(texts: Sequence[str]) -> Any:
    """Return these texts as a pyarrow array. This is several times as fast as pyarrow's own constructor."""
    import pyarrow

    joined = "".join(texts)
    parts: Sequence[str | bytes] = texts if joined.isascii() else [text.encode() for text in texts]
    ends = np.fromiter(itertools.accumulate(map(len, parts), initial=0), np.int64, len(texts) + 1)
    data = joined.encode()
    return pyarrow.LargeStringArray.from_buffers(len(texts), pyarrow.py_buffer(ends), pyarrow.py_buffer(data))


def text_spans(texts: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the bytes of a text array without missing values, and the offset at which each text begins and the last
    ends.
    """
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return np.frombuffer(data or b"", np.uint8)[ends[0] : ends[-1]], ends - ends[0]


@dataclass(frozen=True)
class Links:
    """Which rows of a table share sentences.

    `component` [rows] numbers the groups of rows that share sentences; -1 for a row that shares none. `repeats` counts
    the rows that repeat an earlier pair word for word. `may_repeat` [rows] is true for each row that has or is such a
    repeat.
    """

    component: NDArray[np.int32]
    may_repeat: NDArray[np.bool_]
    repeats: int


class Linker:
    """Finds the links between rows from batches that it gets while a file is read."""

    def __init__(self) -> None:
        self._sums: list[Numbers] = []

    def append(self, batch: Any) -> None:
        """Add a batch of rows that is also appended to the table."""
        if batch.num_rows:
            self._sums.append(np.stack([letter_sums(batch.column(side)) for side in (0, 1)]))

    def links(self, table: PairTable) -> Links:
        """Return the links of all rows. Reads the table again only if some texts may be shared."""
        sums = np.concatenate([np.empty((2, 0), np.uint64), *self._sums], axis=1)
        self._sums.clear()
        may_repeat = _mark_repeated(sums[0] * ODD + sums[1])
        shared = _mark_repeated(sums.reshape(-1)).reshape(sums.shape)
        again = 0
        if shared.any():
            pairs: list[NDArray[np.int64]] = []
            for start, batch in table.batches():
                here = slice(start, start + batch.num_rows)
                for side in (0, 1):
                    rows = np.flatnonzero(shared[side, here])
                    bags = np.fromiter(map(hash_word_bag, batch.column(side).take(rows).to_pylist()), np.int64)
                    sums[side, start + rows] = bags.view(np.uint64)
                some = batch.take(np.flatnonzero(may_repeat[here]))
                pairs.append(np.fromiter(map(hash, zip(*_first_and_second_texts(some), strict=True)), np.int64))
            every = np.concatenate(pairs)
            may_repeat[may_repeat] = _mark_repeated(every.view(np.uint64))
            again = len(every) - len(np.unique(every))
            shared = _mark_repeated(sums.reshape(-1)).reshape(sums.shape)
        linked = np.flatnonzero(shared.any(axis=0))
        component = np.full(table.rows, -1, np.int32)
        if len(linked):
            ends = sums[:, linked].view(np.int64)
            component[linked] = component_numbers(ends[0], ends[1])
        return Links(component, may_repeat, again)


def letter_sums(texts: Any) -> Numbers:
    """Return one number per text, which depends on the letters in the text but not on their order or case.

    No text of the pyarrow array may be blank.
    """
    data, ends = text_spans(texts)
    sums = _sum_byte_weights(data, ends)
    if len(data) and data.max() >= ASCII:
        strange = np.flatnonzero(np.maximum.reduceat(data, ends[:-1]) >= ASCII)
        folded = ["".join(text.as_py().lower().split()) for text in texts.take(strange)]
        sums[strange] = _sum_byte_weights(*text_spans(text_array(folded)))
    return sums


def _sum_byte_weights(data: NDArray[np.uint8], ends: NDArray[np.int64]) -> Numbers:
    sums: Numbers = np.add.reduceat(BYTE_WEIGHTS[data], ends[:-1])
    return sums


# A random number for each byte: 0 for white space, the same for both cases of a letter.
BYTE_WEIGHTS: Numbers = np.random.default_rng(28).integers(2**64, size=256, dtype=np.uint64)
BYTE_WEIGHTS[[*WHITE_SPACE]] = 0
BYTE_WEIGHTS[ord("A") : ord("Z") + 1] = BYTE_WEIGHTS[ord("a") : ord("z") + 1]


def _mark_repeated(values: Numbers) -> NDArray[np.bool_]:
    """Return a mask of the values that occur more than once."""
    ordered = np.sort(values)
    twice = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if not len(twice):
        return np.zeros(len(values), np.bool_)
    places = np.minimum(np.searchsorted(twice, values), len(twice) - 1)
    is_repeated: NDArray[np.bool_] = twice[places] == values
    return is_repeated


def sample_rows(table: PairTable, links: Links, *, count: int | None, seed: int) -> Iterator[tuple[PairRow, str]]:
    """Yield the rows of `count` clusters (None: all) with the name of each row's cluster, in file order."""
    if count is None:
        yield from rows_with_clusters(table, links)
        return
    chosen, may_be_kept, names = _sample_clusters(table, links, count, seed)
    candidates = _rows_of_clusters(table, links, names, may_be_kept)
    yield from (one for one in candidates if one[1] in chosen.names)


def rows_with_clusters(table: PairTable, links: Links) -> Iterator[tuple[PairRow, str]]:
    """Return an iterator over the rows, each with the name of its cluster."""
    least = _FirstTexts()
    for start, batch in table.batches():
        least.add(links.component[start : start + batch.num_rows], *_first_and_second_texts(batch))
    return _rows_of_clusters(table, links, {number: content_hash(text) for number, text in least.texts.items()})


def _rows_of_clusters(
    table: PairTable, links: Links, names: Mapping[int, str], is_wanted: NDArray[np.bool_] | None = None
) -> Iterator[tuple[PairRow, str]]:
    """Yield each row, or only those in the mask `is_wanted` [rows], with the name of its cluster.

    `names` maps the number of a component to its name.
    """
    for start, batch in table.batches():
        numbers, some = links.component[start : start + batch.num_rows], batch
        if is_wanted is not None:
            rows = np.flatnonzero(is_wanted[start : start + batch.num_rows])
            numbers, some = numbers[rows], batch.take(rows)
        columns = [column.to_pylist() for column in some.columns]
        for number, first, second, label, given, score in zip(numbers.tolist(), *columns, strict=True):
            own = _cluster_text(given)
            name = own or (names[number] if number >= 0 else content_hash(min(first, second)))
            yield PairRow(first, second, label, "", own, score), name


def count_clusters(table: PairTable, links: Links) -> int:
    """Return how many clusters the rows form."""
    if any(batch.column("cluster").null_count < batch.num_rows for _, batch in table.batches()):
        return len({name for _, name in rows_with_clusters(table, links)})
    linked = links.component[links.component >= 0]
    return table.rows - len(linked) + len(np.unique(linked))


class _LowestRankedClusters:
    """The `count` clusters with the lowest rank so far. `left_out` says whether others were offered."""

    def __init__(self, count: int, seed: int) -> None:
        self.count, self.seed, self.left_out = count, seed, False
        self.names: set[str] = set()
        self._ranked: list[tuple[int, str]] = []  # a heap, the highest rank first
        self._highest = AFTER_EVERY_RANK

    def offer(self, name: str) -> bool:
        """Offer a cluster, and return whether it is now among the chosen ones."""
        if name in self.names:
            return True
        place = hash_cluster_name(name, self.seed)
        if place > self._highest:
            self.left_out = True
            return False
        heapq.heappush(self._ranked, (-int.from_bytes(place), name))
        self.names.add(name)
        if len(self._ranked) > self.count:
            self.names.remove(heapq.heappop(self._ranked)[1])
            self.left_out = True
        if len(self._ranked) == self.count:
            self._highest = (-self._ranked[0][0]).to_bytes(len(place))
        return name in self.names


class _FirstTexts:
    """Each component's first text in alphabetical order. The hash of this text is the component's name."""

    def __init__(self) -> None:
        self.texts: dict[int, str] = {}

    def add(self, numbers: NDArray[np.int32], first: Sequence[str], second: Sequence[str]) -> None:
        """Add rows, each with the number of its component (-1: none)."""
        for at in np.flatnonzero(numbers >= 0).tolist():
            number, text = int(numbers[at]), min(first[at], second[at])
            known = self.texts.get(number)
            if known is None or text < known:
                self.texts[number] = text


def _sample_clusters(
    table: PairTable, links: Links, count: int, seed: int
) -> tuple[_LowestRankedClusters, NDArray[np.bool_], dict[int, str]]:
    """Return the chosen clusters, a mask of the rows that may belong to them [rows], and the names of components.

    The mask covers all rows of the chosen clusters, and possibly others.
    """
    chosen, least = _LowestRankedClusters(count, seed), _FirstTexts()
    may_be_kept = np.zeros(table.rows, np.bool_)
    is_open = np.zeros(links.component.max(initial=-1) + 1, np.bool_)
    for start, batch in table.batches():
        first, second = _first_and_second_texts(batch)
        numbers = links.component[start : start + batch.num_rows]
        least.add(numbers, first, second)
        named = batch.column("cluster").to_pylist()
        for at, (given, number) in enumerate(zip(map(_cluster_text, named), numbers.tolist(), strict=True)):
            if given:
                may_be_kept[start + at] = chosen.offer(given)
            elif number >= 0:
                is_open[number] = True
            else:
                may_be_kept[start + at] = chosen.offer(content_hash(min(first[at], second[at])))
    opened = np.flatnonzero(is_open).tolist()
    names = {number: content_hash(least.texts[number]) for number in opened}
    taken = [number for number, name in names.items() if chosen.offer(name)]
    if taken:
        may_be_kept |= np.isin(links.component, taken)
    return chosen, may_be_kept, names


def _first_and_second_texts(batch: Any) -> tuple[list[str], list[str]]:
    return batch.column(0).to_pylist(), batch.column(1).to_pylist()


def _cluster_text(name: bytes | None) -> str | None:
    return None if name is None else name.decode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class SampledPairs:
    """Sampled rows with the names of their clusters.

    `total_rows` counts the rows before sampling. `skipped` has the problems of malformed rows.
    """

    rows: Sequence[tuple[PairRow, str]]
    total_rows: int
    messages: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


class SampleFile:
    """An Arrow file that passes sampled pairs from one process of a run to the others."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> SampledPairs | None:
        """Return the pairs, or None if no process has written them yet."""
        import pyarrow

        if not self._path.exists():
            return None
        with pyarrow.memory_map(str(self._path)) as source:
            table = pyarrow.ipc.open_file(source).read_all()
            columns = [table.column(name).to_pylist() for name in SAMPLE_COLUMNS]
            about = json.loads(table.schema.metadata[ABOUT_SAMPLE])
        rows = [
            (
                PairRow(first, second, label, "", _cluster_text(given), score),
                str(_cluster_text(cluster)),
            )
            for first, second, label, given, score, cluster in zip(*columns, strict=True)
        ]
        return SampledPairs(rows, about["total_rows"], tuple(about["messages"]), tuple(about["skipped"]))

    def write(self, sample: SampledPairs) -> None:
        """Write the pairs for the other processes. If the disk is full, write nothing, and each process reads the data
        itself.
        """
        with suppress(OSError), write_whole(self._path) as file:
            file.write(_to_arrow(sample))


@contextmanager
def shared_sample_file(run: str | None, request: tuple[object, ...]) -> Iterator[SampleFile | None]:
    """Yield the file for the data that `request` describes, to one process of the run at a time; None outside a run.

    The file's name begins with `run`. The second part of `request` is the path of the data. If the file there changes,
    the sample file gets a different name.
    """
    if run is None:
        yield None
        return
    from filelock import FileLock

    state: tuple[int, ...] = ()
    with suppress(OSError):
        stat = expand_home(str(request[1])).stat()
        state = (stat.st_size, stat.st_mtime_ns)
    path = Path(f"{run}.data-{content_hash(*map(str, (*request, *state)))}.arrow")
    with FileLock(f"{path}.lock"):
        yield SampleFile(path)


def _to_arrow(sample: SampledPairs) -> Any:
    import pyarrow

    columns: list[Any] = [[getattr(row, name) for row, _ in sample.rows] for name in SAMPLE_COLUMNS[:3]]
    columns += [[_cluster_bytes(row.cluster) for row, _ in sample.rows], [row.score for row, _ in sample.rows]]
    columns.append([_cluster_bytes(cluster) for _, cluster in sample.rows])
    text, label, name = pyarrow.large_string(), pyarrow.int8(), pyarrow.large_binary()
    types = zip(SAMPLE_COLUMNS, (text, text, label, name, pyarrow.float64(), name), strict=True)
    about = json.dumps({"total_rows": sample.total_rows, "messages": sample.messages, "skipped": sample.skipped})
    schema = pyarrow.schema(list(types), metadata={ABOUT_SAMPLE: about})
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_file(sink, schema) as file:
        file.write_table(pyarrow.table(columns, schema=schema))
    return sink.getvalue()


def _cluster_bytes(name: str | None) -> bytes | None:
    """Encode a cluster's name, which may hold a lone surrogate."""
    return None if name is None else name.encode("utf-8", "surrogatepass")
