"""Vectors that were computed elsewhere, looked up by text: `--model=vectors:FILE`.

`StoredIndex` reads the file. A row may have the `hash` of a text in its place (SHA-256 of the text in UTF-8, in hex);
`role` (query, document or empty) tells two vectors of one text apart.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.files import must_exist
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.stored_index import COLUMNS, ROLES, StoredIndex, sha256_of, spaced
from encheck.errors import DataError, EncoderError, ModelError
from encheck.similarity import ROUNDING, cosine
from encheck.types import content_hash

if TYPE_CHECKING:
    from encheck.encoders.load import Device

Vectors = NDArray[np.float32]
Key = tuple[str, str]  # role, text or hash
ENGINE = "stored-1"
REMEDY = "Remedy: write it with a row a text, all vectors of one length"
log = logging.getLogger("encheck")


class StoredVectors:
    """Looks vectors up; it computes none. Without a role it takes the vector without one, else a query's.

    The option `texts` names a file that has the texts by id.
    """

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:  # noqa: ARG002
        self.source = must_exist(source, "the file of vectors", "Remedy: name one that exists: vectors:FILE")
        texts = config.options.get("texts")
        remedy = "Remedy: name one that exists: --model-arg texts=FILE"
        self.texts = must_exist(Path(texts).expanduser(), "the file of texts", remedy) if texts else None
        self._file_hash = file_hash
        self.similarity: str = config.similarity or "cosine"
        self._told: set[str] = set()

    @cached_property
    def index(self) -> StoredIndex:
        """The rows of the file; ModelError says what is wrong with it."""
        try:
            return StoredIndex(self.source, texts=self.texts)
        except DataError as error:
            raise ModelError(f"{error}") from error

    @property
    def place(self) -> str:
        """The file."""
        return str(self.source)

    def fingerprint(self) -> str:
        """From the content of the file, and of that of texts."""
        hashes = [self._file_hash(path) for path in (self.source, self.texts) if path]
        return f"stored:{content_hash(ENGINE, *hashes)}"

    def about(self) -> dict[str, Any]:
        """Where the vectors came from."""
        return {"vectors": self.source.name}

    @cached_property
    def _found(self) -> tuple[dict[Key, int], dict[Key, int], Vectors]:
        """The row of each role and name, the same of texts with their blanks alike, and the vectors, shape [n, d]."""
        try:
            return _read(self.index)
        except DataError as error:
            raise ModelError(f"{error}") from error

    @property
    def texts_there(self) -> list[str]:
        """The texts that have a vector, in the order of the rows; none of a file that names them by hash."""
        return list(dict.fromkeys(name for _, name in self._found[0])) if self.index.named_by == "text" else []

    def lacks(self, texts: Sequence[str], *, role: str | None = None) -> list[str]:
        """Those of the texts that have no vector in this role."""
        return [text for text in texts if self._row(text, role)[0] is None]

    def _row(self, text: str, role: str | None) -> tuple[int | None, bool]:
        """The row of a text, None if there is none, and whether its text differs in blanks or line breaks."""
        exact, loose, _ = self._found
        roles = ROLES if role is None else (role, "")
        for rows, names, is_loose in ((exact, (text, sha256_of(text)), False), (loose, (spaced(text),), True)):
            row = next((rows[key] for key in ((r, n) for r in roles for n in names) if key in rows), None)
            if row is not None:
                return row, is_loose
        return None, False

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> Vectors:
        """The vectors of the texts, shape [n, d]; EncoderError if the file lacks one."""
        rows = [self._row(text, role) for text in texts]
        if missing := [text for text, (row, _) in zip(texts, rows, strict=True) if row is None]:
            raise EncoderError(
                f"{self.source} has no vector of {len(missing)} of {len(texts)} texts, first of {missing[0][:80]!r}. "
                "Remedy: add them to the file, or leave these texts out of the data"
            )
        loose = {text for text, (_, is_loose) in zip(texts, rows, strict=True) if is_loose} - self._told
        if loose:
            self._told |= loose
            log.warning("%s: %s", self.source.name, said_of_loose(len(loose)))
        vectors: Vectors = self._found[2][[row for row, _ in rows if row is not None]]
        return vectors


def said_of_loose(count: int) -> str:
    """That so many texts were joined to texts that are not letter by letter the same."""
    return f"{count:,} texts were joined with texts that differ from them in blanks or line breaks alone"


def _read(index: StoredIndex) -> tuple[dict[Key, int], dict[Key, int], Vectors]:
    should = f"{index.source} should hold {COLUMNS}, but"
    _ = index.count  # ids and roles are looked at
    for note in index.notes:
        log.warning("%s: %s", index.source.name, note)
    vectors = np.concatenate([block.vectors for block in index.blocks(index.dimension)])
    rows = np.array([number for number, _, _ in index.by_role_and_name()], np.intp)
    lengths = np.concatenate([block.lengths for block in index.blocks(index.dimension)])
    if (lengths[rows] != index.dimension).any():
        raise ModelError(f"{should} its vectors are not of one length. {REMEDY}")
    if not index.dimension or not np.isfinite(vectors[rows]).all():
        raise ModelError(f"{should} its vectors are not finite numbers. {REMEDY}")
    exact: dict[Key, int] = {}
    loose: dict[Key, int] = {}
    for number, role, name in index.by_role_and_name():
        first = exact.setdefault((role, name), number)
        if first != number and not cosine(vectors[[first]], vectors[[number]])[0] >= 1 - ROUNDING:
            raise ModelError(f"{index.source} has two vectors of {name[:80]!r} in the role {role!r}. {REMEDY}")
        if index.named_by == "text":
            loose.setdefault((role, spaced(name)), number)
    return exact, loose, vectors
