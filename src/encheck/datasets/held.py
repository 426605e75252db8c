"""Labelled pairs in columns, compressed: a million of them are held in little memory, on disk from some size on."""

from __future__ import annotations

import itertools
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.errors import DataError

IN_MEMORY = 32 * 2**20  # bytes that are held before the rest goes to a temporary file
ROWS_AT_ONCE = 10_000


class Held:
    """Rows in columns, which are written once, batch by batch, and can then be read any number of times.

    The columns are those of `schema`. Not for use by several threads.
    """

    def __init__(self) -> None:
        import pyarrow

        self.rows = 0
        self._file: Any = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - closed with this
        weakref.finalize(self, self._file.close)
        packed = pyarrow.ipc.IpcWriteOptions(compression=pyarrow.Codec("zstd", 1), use_threads=False)
        sink = pyarrow.PythonFile(self._file, mode="w")
        self._writer: Any = pyarrow.ipc.new_stream(sink, schema(), options=packed)

    def append(self, batch: Any) -> None:
        """Hold a record batch of the schema; DataError if the disk for temporary files is full."""
        self._written(lambda: self._writer.write_batch(batch))
        self.rows += batch.num_rows

    def batches(self) -> Iterator[tuple[int, Any]]:
        """(number of its first row, record batch), in the order in which they were appended."""
        import pyarrow

        if self._writer is not None:
            self._written(self._writer.close)
            self._writer = None
        self._file.seek(0)
        start = 0
        for batch in pyarrow.ipc.open_stream(pyarrow.PythonFile(self._file, mode="r")):
            yield start, batch
            start += batch.num_rows

    @staticmethod
    def _written(write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            raise DataError(
                f"cannot hold the rows in {tempfile.gettempdir()}: {error.strerror or error}. "
                "Set TMPDIR to a folder with more space"
            ) from error


@cache
def schema() -> Any:
    """The pyarrow schema of held pairs: `label` is 0, 1 or missing; a cluster is in UTF-8, halves of characters too."""
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
    """A pyarrow array of these texts: several times as fast as pyarrow's own constructor."""
    import pyarrow

    joined = "".join(texts)
    parts: Sequence[str | bytes] = texts if joined.isascii() else [text.encode() for text in texts]
    ends = np.fromiter(itertools.accumulate(map(len, parts), initial=0), np.int64, len(texts) + 1)
    data = joined.encode()
    return pyarrow.LargeStringArray.from_buffers(len(texts), pyarrow.py_buffer(ends), pyarrow.py_buffer(data))


def spans(texts: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of an array of texts without a missing one, and where each text begins and the last one ends."""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return np.frombuffer(data or b"", np.uint8)[ends[0] : ends[-1]], ends - ends[0]
