"""Arrays of the packaged .npz files: whole numbers by their bytes, texts as bytes; nothing in them is executed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from zipfile import BadZipFile
from zlib import error as ZlibError  # noqa: N812 - a class

import numpy as np
from numpy.typing import NDArray

from encheck.errors import DataError

Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]
BROKEN = (OSError, ValueError, LookupError, EOFError, NotImplementedError, BadZipFile, ZlibError)


def planes(values: Sequence[int] | Ints) -> Bytes:
    """Whole numbers as an array (bytes, n), lowest byte first: compresses far better than the bytes side by side.

    >>> planes([3, 70000]).shape
    (3, 2)
    >>> whole(planes([3, 70000])).tolist()
    [3, 70000]
    """
    numbers = np.ascontiguousarray(values, "<u4")
    used = max(1, (int(numbers.max(initial=0)).bit_length() + 7) // 8)
    return np.ascontiguousarray(numbers.view(np.uint8).reshape(-1, 4).T[:used])


def whole(array: Bytes) -> Ints:
    """The numbers that `planes` laid out."""
    numbers = np.zeros(array.shape[1], np.int32)
    for i, plane in enumerate(array):
        numbers |= plane.astype(np.int32) << (8 * i)
    return numbers


def packed_text(text: str) -> Bytes:
    """A text as an array of its UTF-8 bytes."""
    return np.frombuffer(text.encode("utf-8"), np.uint8)


class Packed:
    """The arrays of one file, each read when it is asked for. DataError if the file is missing or something else."""

    def __init__(self, file: Path) -> None:
        self._path = file
        try:
            self._file = np.load(file, allow_pickle=False)
        except BROKEN as error:
            raise self._broken(error) from error

    def _broken(self, error: Exception) -> DataError:
        return DataError(f"{self._path} is not a lexicon file ({error}); lab/recipes/build_lexicon.py makes one")

    def _array(self, name: str) -> Bytes:
        try:
            array: Bytes = self._file[name]
        except BROKEN as error:
            raise self._broken(error) from error
        return array

    def bytes(self, name: str) -> Bytes:
        """An array of small numbers."""
        return self._array(name)

    def whole(self, name: str) -> Ints:
        """An array of whole numbers."""
        return whole(self._array(name))

    def text(self, name: str) -> str:
        """A text."""
        return self.bytes(name).tobytes().decode("utf-8")
