"""The pairs that a run keeps of a large file, in a file of their own: its processes read the large one once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from encheck.datasets.reader import Row
from encheck.system.files import write_whole
from encheck.types import content_hash


@dataclass(frozen=True)
class KeptPairs:
    """Rows with the names of their clusters, out of so many; what is to be told; what was said of malformed rows."""

    rows: Sequence[tuple[Row, str]]
    of: int
    said: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


class KeptFile:
    """An Arrow file with kept pairs."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> KeptPairs | None:
        """The pairs; None where no process has written them."""
        import pyarrow

        if not self._path.exists():
            return None
        with pyarrow.memory_map(str(self._path)) as source:
            table = pyarrow.ipc.open_file(source).read_all()
            columns = [table.column(name).to_pylist() for name in COLUMNS]
            about = json.loads(table.schema.metadata[ABOUT])
        rows = [
            (Row(first, second, label, "", _text(given), score), str(_text(cluster)))
            for first, second, label, given, score, cluster in zip(*columns, strict=True)
        ]
        return KeptPairs(rows, about["of"], tuple(about["said"]), tuple(about["skipped"]))

    def write(self, kept: KeptPairs) -> None:
        """Write the pairs for the other processes; where the disk is full, each of them reads the data itself."""
        with suppress(OSError), write_whole(self._path) as file:
            file.write(_packed(kept))


COLUMNS = ("first", "second", "label", "given", "score", "cluster")
ABOUT = b"about"


@contextmanager
def shared_by(run: str | None, asked: tuple[object, ...]) -> Iterator[KeptFile | None]:
    """The file of what is `asked` of data at a path, in one process of the run at a time; None without a run.

    Its name begins with `run`. `asked` has the path as its second part: another file there is other data.
    """
    if run is None:
        yield None
        return
    from filelock import FileLock

    path = Path(f"{run}.data-{content_hash(*map(str, (*asked, *_state(str(asked[1])))))}.arrow")
    with FileLock(f"{path}.lock"):
        yield KeptFile(path)


def _state(path: str) -> tuple[int, ...]:
    try:
        found = Path(path).expanduser().stat()
    except OSError:
        return ()
    return found.st_size, found.st_mtime_ns


def _packed(kept: KeptPairs) -> Any:
    import pyarrow

    columns: list[Any] = [[getattr(row, name) for row, _ in kept.rows] for name in COLUMNS[:3]]
    columns += [[_bytes(row.cluster) for row, _ in kept.rows], [row.score for row, _ in kept.rows]]
    columns.append([_bytes(cluster) for _, cluster in kept.rows])
    text, label, name = pyarrow.large_string(), pyarrow.int8(), pyarrow.large_binary()
    types = zip(COLUMNS, (text, text, label, name, pyarrow.float64(), name), strict=True)
    about = json.dumps({"of": kept.of, "said": kept.said, "skipped": kept.skipped})
    schema = pyarrow.schema(list(types), metadata={ABOUT: about})
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_file(sink, schema) as file:
        file.write_table(pyarrow.table(columns, schema=schema))
    return sink.getvalue()


def _bytes(name: str | None) -> bytes | None:
    """A cluster's name, which may hold half a character."""
    return None if name is None else name.encode("utf-8", "surrogatepass")


def _text(name: bytes | None) -> str | None:
    return None if name is None else name.decode("utf-8", "surrogatepass")
