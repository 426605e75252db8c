"""Files of word vectors: GloVe (no header), word2vec text and fastText .vec (header), word2vec binary.

Only the vectors that are asked for are kept: the published files hold two million words and more.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.files import COPY, CUT_OFF, must_exist
from encheck.errors import EncoderError, ModelError

Vectors = NDArray[np.float32]
Entry = tuple[int, bytes, "NDArray[np.float32] | bytes"]
MAX_WORD_BYTES = 4_096


class VectorFile:
    """Vectors on disk; ModelError names the file if it is not one of the known formats, or was cut off."""

    def __init__(self, path: Path, *, option: str = "name") -> None:
        self.path = must_exist(path, "the file of word vectors", f"Remedy: say where it is: --model-arg {option}=PATH")
        with path.open("rb") as file:
            first = file.readline(1 << 20)
        self.header = len(fields := first.split()) == 2 and all(f.isdigit() for f in fields)
        if self.header:
            self._count, self.dimension = (int(f) for f in fields)
        else:
            self._count, self.dimension = 0, len(fields) - 1
        self.binary = self.header and self._is_binary(len(first))
        self._check(first)

    def _is_binary(self, start: int) -> bool:
        """Text has a word and `dimension` numbers in its next line; binary has a word and anything."""
        with self.path.open("rb") as file:
            file.seek(start)
            fields = file.readline(1 << 20).rstrip().split(b" ")  # fastText ends its lines with a blank
        return len(fields) <= self.dimension or not all(map(_is_number, fields[-self.dimension :]))

    def _check(self, first: bytes) -> None:
        size = self.path.stat().st_size
        if not size:
            raise ModelError(f"{self.path} is empty: {CUT_OFF}")
        if self.dimension < 1 or not (self.header or all(map(_is_number, first.split()[-self.dimension :]))):
            raise ModelError(
                f"{self.path} begins with {first[:40]!r}, but should hold word vectors: a word and its numbers a line, "
                "or word2vec's binary format. Remedy: GloVe's .txt, fastText's .vec (not its .bin) or word2vec's .bin"
            )
        if self.binary and size < self._count * (4 * self.dimension + 2):
            raise ModelError(
                f"{self.path} says {self._count} x {self.dimension} vectors, but has {size} bytes: {CUT_OFF}"
            )
        if not self.binary:
            self._check_end(size)

    def _check_end(self, size: int) -> None:
        with self.path.open("rb") as file:
            file.seek(max(0, size - (1 << 16)))
            end = file.read().rstrip(b"\n").rpartition(b"\n")[2]
        if size < 1 << 16 or b" " in end:
            fields = end.split()[-self.dimension :]
            if len(end.split()) <= self.dimension or not all(map(_is_number, fields)):
                raise ModelError(f"{self.path} ends in the middle of a line ({end[:40]!r}): {CUT_OFF}")

    @cached_property
    def count(self) -> int:
        """How many words the file holds."""
        return self._count if self.header else sum(1 for _ in self._lines())

    def read(self, wanted: set[str] | None, *, first: int | None = None) -> dict[str, tuple[int, Vectors]]:
        """word -> (rank from 0, vector) of the words wanted, or of the `first` words; a word that comes twice counts
        where it comes first.
        """
        keys = None if wanted is None else {w.encode("utf-8") for w in wanted}
        found: dict[str, tuple[int, Vectors]] = {}
        rank = -1
        for rank, word, vector in self._binary() if self.binary else self._text():
            if first is not None and rank >= first:
                return found
            if keys is None or word in keys:
                found.setdefault(word.decode("utf-8", "replace"), (rank, self._numbers(word, vector)))
        if self.header and rank + 1 != self._count:
            raise EncoderError(f"{self.path} says {self._count} words, but holds {rank + 1}: {CUT_OFF}")
        return found

    def _numbers(self, word: bytes, vector: Vectors | bytes) -> Vectors:
        if not isinstance(vector, bytes):
            return vector
        try:
            numbers = np.array(vector.split(), np.float32)
        except ValueError as error:
            raise EncoderError(
                f"{self.path}: the vector of {word!r} is not a list of numbers: {error}. {COPY}"
            ) from error
        if len(numbers) != self.dimension:
            raise EncoderError(
                f"{self.path}: {word!r} has {len(numbers)} numbers, but should have {self.dimension}. {COPY}"
            )
        return numbers

    def _lines(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            if self.header:
                file.readline()
            yield from (line for line in file if line.strip())

    def _text(self) -> Iterator[Entry]:
        """The numbers are left as text until it is known that they are wanted; a word may hold blanks (GloVe 840B)."""
        for rank, line in enumerate(self._lines()):
            line = line.rstrip()
            word, _, numbers = line.partition(b" ")
            if numbers.count(b" ") + 1 > self.dimension:
                parts = line.rsplit(b" ", self.dimension)
                word, numbers = parts[0], b" ".join(parts[1:])
            yield rank, word, numbers

    def _binary(self) -> Iterator[Entry]:
        width = 4 * self.dimension
        with self.path.open("rb") as file:
            file.readline()
            for rank in range(self._count):
                word = self._word(file)
                data = file.read(width)
                if len(data) != width:
                    raise EncoderError(f"{self.path} ends after {rank} of {self._count} words: {CUT_OFF}")
                yield rank, word, np.frombuffer(data, "<f4")

    def _word(self, file: IO[bytes]) -> bytes:
        """Up to the blank; some writers put a line break before the next word."""
        letters = bytearray()
        while (letter := file.read(1)) not in (b" ", b""):
            letters += letter
            if len(letters) > MAX_WORD_BYTES:
                raise EncoderError(
                    f"{self.path} has a word of more than {MAX_WORD_BYTES} bytes: it is not a word2vec file. {COPY}"
                )
        return bytes(letters).lstrip(b"\n")


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
