"""`vectors:FILE`: the vectors of a canary's texts from a Parquet file, for a model that encheck cannot call.

Columns: `text`, or `hash` (SHA-256 of the text in UTF-8, in hexadecimal digits), `vector` (a list of numbers), and
perhaps `role`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from encheck.deciding.canary_calls import Vectors
from encheck.deciding.canary_texts import NOTHING, texts
from encheck.errors import DataError
from encheck.system.parquet import opened, rows_of

PREFIX = "vectors:"
REMEDY = "Remedy: encheck canary texts FILE writes the texts; encode each, and write text and vector to a Parquet file"


def read_vectors(path: Path, *, role: str | None = None) -> Vectors:
    """The vectors of the texts, shape [texts, d]; NaN for an empty text that has none. DataError says what is wrong."""
    try:
        found = dict(_rows(path, role))
    except (ValueError, TypeError, OSError) as error:
        raise DataError(f"{path} cannot be read: {error}. {REMEDY}") from error
    missing = [one for one in texts() if one.kind != NOTHING and _hash(one.text) not in found]
    if missing:
        raise DataError(
            f"{path} lacks the vectors of {len(missing)} of {len(texts())} texts; the first is "
            f"{missing[0].text[:60]!r}. {REMEDY}"
        )
    width = len(found[_hash(texts()[0].text)])
    nothing = np.full(width, np.nan, np.float32)
    rows = [found.get(_hash(one.text), nothing) for one in texts()]
    if odd := [one.id for one, row in zip(texts(), rows, strict=True) if len(row) != width]:
        raise DataError(f"{path}: the vector of {odd[0]} has another dimension than {width}")
    return np.stack(rows)


def _rows(path: Path, role: str | None) -> Iterator[tuple[str, Vectors]]:
    """(hash, vector) of the canary's texts; ValueError for NaN and infinity."""
    file = opened(path)
    names = file.schema_arrow.names
    key = next((name for name in ("text", "hash") if name in names), None)
    if key is None or "vector" not in names:
        raise ValueError(f"has the columns {', '.join(names)}, but should have text or hash, and vector")
    wanted = {_hash(one.text) for one in texts()}
    for row in rows_of(file, size=path.stat().st_size):
        hashed = row["hash"] if key == "hash" else _hash(row["text"] or "")
        if hashed in wanted and row.get("role") in (None, "", role):
            vector = np.array(row["vector"], np.float32)
            if vector.ndim != 1 or not len(vector) or not np.isfinite(vector).all():
                raise ValueError(f"the vector of {row[key]!r:.60} is empty, or holds NaN or infinity")
            yield hashed, vector


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
