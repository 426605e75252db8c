"""Vectors that were computed elsewhere, looked up by text: `--model=vectors:FILE`.

The file is Parquet or JSON Lines with the columns `text`, or `hash` (SHA-256 of the text in UTF-8, in hex), and
`vector`; `role` (query, document or empty) tells two vectors of one text apart.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.files import must_exist
from encheck.encoders.model_config import ModelConfig
from encheck.errors import EncoderError, ModelError
from encheck.system.parquet import table_of
from encheck.types import content_hash

if TYPE_CHECKING:
    from encheck.encoders.load import Device

Vectors = NDArray[np.float32]
Key = tuple[str, str]  # role, text or hash
ENGINE = "stored-1"
ROLES = ("", "query", "document")
COLUMNS = "the columns text (or hash) and vector, and perhaps role"
REMEDY = "Remedy: write it with a row a text, all vectors of one length"


class StoredVectors:
    """Looks vectors up; it computes none. Without a role it takes the vector without one, else a query's."""

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:  # noqa: ARG002
        self.source = must_exist(source, "the file of vectors", "Remedy: name one that exists: vectors:FILE")
        self.similarity: str = config.similarity or "cosine"
        self._file_hash = file_hash

    @property
    def place(self) -> str:
        """The file."""
        return str(self.source)

    def fingerprint(self) -> str:
        """From the file's content."""
        return f"stored:{content_hash(ENGINE, self._file_hash(self.source))}"

    def about(self) -> dict[str, Any]:
        """Where the vectors came from."""
        return {"vectors": self.source.name}

    @cached_property
    def _found(self) -> tuple[dict[Key, int], Vectors]:
        return _read(self.source)

    def lacks(self, texts: Sequence[str], *, role: str | None = None) -> list[str]:
        """Those of the texts that have no vector in this role."""
        return [text for text in texts if self._row(text, role) is None]

    def _row(self, text: str, role: str | None) -> int | None:
        rows, _ = self._found
        names = (text, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())
        roles = ROLES if role is None else (role, "")
        return next((rows[key] for key in ((r, n) for r in roles for n in names) if key in rows), None)

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> Vectors:
        """The vectors of the texts, shape [n, d]; EncoderError if the file lacks one."""
        rows = [self._row(text, role) for text in texts]
        if missing := [text for text, row in zip(texts, rows, strict=True) if row is None]:
            raise EncoderError(
                f"{self.source} has no vector of {len(missing)} of {len(texts)} texts, first of {missing[0][:80]!r}. "
                "Remedy: add them to the file, or leave these texts out of the data"
            )
        found: Vectors = self._found[1][[row for row in rows if row is not None]]
        return found


def _read(path: Path) -> tuple[dict[Key, int], Vectors]:
    """The row of each role and text, and the vectors, shape [n, d]; ModelError says what is wrong."""
    try:
        columns = _of_lines(path) if path.suffix.lower() == ".jsonl" else _of_parquet(path)
        vectors = np.asarray(columns["vector"], np.float32)
    except (ValueError, OSError, TypeError) as error:
        raise ModelError(f"{path} should hold {COLUMNS}, but {error}. {REMEDY}") from error
    if vectors.ndim != 2 or not vectors.shape[1] or not np.isfinite(vectors).all():
        raise ModelError(
            f"{path} should hold {COLUMNS}, but its vectors are not finite numbers of one length. {REMEDY}"
        )
    return dict(_keyed(path, columns)), vectors


def _keyed(path: Path, columns: Mapping[str, Any]) -> Iterator[tuple[Key, int]]:
    names = columns["text"] if "text" in columns else [str(name).lower() for name in columns["hash"]]
    roles = [role or "" for role in columns.get("role") or [""] * len(names)]
    if strange := sorted(set(map(str, roles)) - set(ROLES)):
        raise ModelError(f"{path}: the role is {strange[0]!r}, but should be query, document or empty")
    seen: set[Key] = set()
    for row, key in enumerate(zip(roles, names, strict=True)):
        if key in seen:
            raise ModelError(f"{path} has two vectors of {str(key[1])[:80]!r} in the role {key[0]!r}. {REMEDY}")
        seen.add(key)
        yield key, row


def _of_parquet(path: Path) -> dict[str, Any]:
    import pyarrow.compute

    table = table_of(path, columns=["vector"], also=["text", "hash", "role"])
    if not {"text", "hash"} & set(table.column_names):
        raise ValueError("lacks the column 'text'")
    found = {name: table.column(name).to_pylist() for name in table.column_names if name != "vector"}
    vectors = table.column("vector").combine_chunks()
    lengths = set(pyarrow.compute.list_value_length(vectors).unique().to_pylist())
    if len(lengths) != 1 or None in lengths:
        raise ValueError("its vectors are not of one length")
    flat = vectors.flatten().to_numpy(zero_copy_only=False)
    return found | {"vector": flat.reshape(len(vectors), -1)}


def _of_lines(path: Path) -> dict[str, Any]:
    import json

    rows = [json.loads(line) for line in path.read_text("utf-8-sig").splitlines() if line.strip()]
    names = [name for name in ("text", "hash") if rows and all(name in row for row in rows)]
    if not names or not all("vector" in row for row in rows):
        raise ValueError("a row lacks one of them")
    return {names[0]: [row[names[0]] for row in rows], "vector": [row["vector"] for row in rows],
            "role": [row.get("role") for row in rows]}  # fmt: skip
