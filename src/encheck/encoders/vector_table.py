"""Read files of vectors as databases and libraries write them.

Formats are Parquet, JSON Lines, JSON (an array, Qdrant's scroll, Chroma's `get()`, LlamaIndex's vector store), CSV,
TSV, and .npy or .npz with ids. A vector is a list, an array, the text form of pgvector or PostgreSQL, or the bytes of
float32, float64 or float16. The module finds the parts of a row and reads some rows at a time.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import tokenize
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.reader import (
    TABLE_READERS,
    BadRows,
    file_ending,
    is_missing,
    read_json_rows,
    read_lines,
    read_table,
    unknown_format_error,
)
from encheck.encoders.files import FAULTS
from encheck.errors import DataError
from encheck.system.documents import FREE_BYTES, MOST_TIMES, ROWS_AT_ONCE, open_parquet, read_json, record_batches

Vectors = NDArray[np.float32]
Ints = NDArray[np.intp]
Columns = Mapping[str, Any]  # some rows: a list, a numpy or a pyarrow array per column
ReadColumns = Callable[[Sequence[str]], Iterator[tuple[int, Columns]]]

VECTOR = ("vector", "embedding", "embeddings", "vectors", "values")
TEXT = ("text", "document", "page_content", "content", "chunk", "documents")
ID = ("id", "_id", "ids", "uuid")
ENDINGS = (*TABLE_READERS, ".npy", ".npz")
SAMPLED = 100  # rows read to find the parts of a row
DEEPEST = 3  # depth of nested containers in which to look for a text
BITS = re.compile("[01]{8,}")
FLOATS = ("<f4", "<f8", "<f2")
REMEDY = "Remedy: write the vectors as lists of numbers"


@dataclass(frozen=True)
class VectorTable:
    """The rows of a file of vectors.

    `paths` maps each part of a row (id, text, hash, role, vector) to its column and the keys inside it. `count` is the
    number of rows, if known without reading any. `integers` is true if vectors are stored as integers. `number_type` is
    the type of vectors stored as bytes. `ids` are those from a separate file.
    """

    source: Path
    paths: Mapping[str, tuple[str, ...]]
    read: ReadColumns
    count: int | None = None
    integers: bool = False
    number_type: str = ""
    ids: tuple[str, ...] = ()

    def values(self, parts: Sequence[str]) -> Iterator[tuple[int, dict[str, list[Any]]]]:
        """Yield (first row, values by part) for some rows at a time. A missing value is None.

        Raise DataError as `open_vector_table` does.
        """
        there = [part for part in parts if part in self.paths]
        for start, columns in self.read([self.paths[part][0] for part in there]):
            try:
                by_part = {
                    part: _values_at_keys(_to_list(columns[self.paths[part][0]]), self.paths[part][1:])
                    for part in there
                }
            except UnicodeDecodeError as error:
                raise DataError(f"{self.source} is not UTF-8: {error}. Remedy: write it again") from error
            yield start, by_part

    def vectors(self) -> Iterator[tuple[int, Ints, Vectors]]:
        """Yield (first row, lengths, numbers) for some rows at a time.

        `lengths` has the length of each vector, 0 if missing. `numbers` are the concatenated vectors.
        """
        column, *keys = self.paths["vector"]
        for start, columns in self.read([column]):
            try:
                yield (
                    start,
                    *_concatenate_vectors(
                        _values_at_keys(_to_list(columns[column]), keys) if keys else columns[column], self.number_type
                    ),
                )
            except (ValueError, TypeError, OverflowError) as error:
                raise DataError(
                    f"{self.source}: its column {column!r} does not hold vectors: {error}. {REMEDY}"
                ) from error


def open_vector_table(path: Path, *, needs_vectors: bool = True) -> VectorTable:
    """Return the rows of an existing file.

    Raise a DataError that says what the file lacks, or why its vectors cannot be read.
    """
    ending = file_ending(path)
    ids: tuple[str, ...] = ()
    count: int | None
    if ending == ".parquet":
        names, read, count = _open_parquet_columns(path)
    elif ending in (".npy", ".npz"):
        names, read, count = _open_numpy_columns(path)
        stems = (f"{path.stem}.ids", "ids")
        places = [path.with_name(f"{stem}{kind}") for stem in stems for kind in (".npy", ".txt", ".json")]
        place = next((place for place in places if place.is_file()), None)
        if place and not {*ID} & {*names}:
            try:
                if place.suffix == ".npy":
                    listed = np.load(place, allow_pickle=False).tolist()
                else:
                    listed = json.loads(place.read_text("utf-8-sig")) if place.suffix == ".json" else read_lines(place)
                ids = tuple(map(str, listed))
            except (ValueError, OSError, TypeError) as error:
                raise DataError(f"{place} should hold the ids of {path.name}, but {error}") from error
            if len(ids) != count:
                raise DataError(f"{place} has {len(ids):,} ids, but {path.name} has {count:,} vectors")
    elif ending == ".txt" and not needs_vectors:
        lines = read_lines(path)
        names, read, count = ["text"], _columns_from_rows(lambda: ({"text": line} for line in lines)), len(lines)
    elif ending == ".json" and (parsed := _read_llama_index(path)):
        names, read, count = ["id", "vector"], _columns_from_rows(lambda: iter(parsed)), len(parsed)
    elif ending in TABLE_READERS:
        bad = BadRows(remedy="Remedy: write the file again")
        names, rows = read_table(path, bad)
        count = None
        if ending == ".json":  # it is parsed completely
            parsed = [dict(row) for _, row in rows]
            read, count = _columns_from_rows(lambda: iter(parsed)), len(parsed)
        elif ending.startswith(".jsonl"):  # its columns are known: the file is read once
            read = _columns_from_rows(lambda: (row for _, row in read_json_rows(path, bad)))
        else:
            read = _columns_from_rows(lambda: (row for _, row in read_table(path, bad)[1]))
    else:
        raise unknown_format_error(path, ENDINGS if needs_vectors else (*ENDINGS, ".txt"))
    try:
        sample = [dict(zip(names, row, strict=True)) for _, columns in islice(read(names), 1)
                  for row in zip(*(_to_list(columns[name][:SAMPLED]) for name in names), strict=True)]  # fmt: skip
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8: {error}. Remedy: copy or write it again") from error
    paths = _locate_row_parts(path, names, sample, needs_vectors=needs_vectors)
    integers, number_type = False, ""
    if "vector" in paths:
        column, *keys = paths["vector"]
        values = _values_at_keys([row[column] for row in sample], keys)
        try:
            number_type = _detect_number_type(values)
            some = [value for value in values if not is_missing(value)]
            if all(isinstance(value, list) for value in some):
                integers = bool(some) and all(isinstance(number, int) for value in some for number in value)
            else:
                integers = all(
                    isinstance(value, str) and value[0] in "[{" and not {*value} & {*".eENn"} for value in some
                )
        except ValueError as error:
            raise DataError(f"{path}: its column {column!r} does not hold vectors: {error}") from error
    return VectorTable(path, paths, read, count, integers, number_type, ids)


def _read_llama_index(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a LlamaIndex vector store, whose texts are in a separate file, or [] for any other file."""
    with path.open("rb") as file:
        if b'"embedding_dict"' not in file.read(1_000):
            return []
    try:
        held = read_json(path)["embedding_dict"]
        return [{"id": name, "vector": vector} for name, vector in held.items()]
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise DataError(f"{path}: its embedding_dict should hold a vector for each id, but {error}") from error


def _locate_row_parts(
    path: Path, names: Sequence[str], sample: Sequence[Mapping[str, Any]], *, needs_vectors: bool
) -> dict[str, tuple[str, ...]]:
    """Return the location of each part of a row that the file has."""
    paths: dict[str, tuple[str, ...]] = {name: (name,) for name in ("hash", "role") if name in names}
    if name := next((name for name in ID if name in names), ""):
        paths["id"] = (name,)
    vector = next((name for name in VECTOR if name in names), "")
    if not vector and needs_vectors:
        some = [name for name in names if any(_is_certainly_vector(row[name]) for row in sample)]
        if len(some) > 1:
            raise DataError(f"{path} has vectors in the columns {', '.join(some)}. Remedy: name the right one 'vector'")
        vector = next(iter(some), "")
    if vector:
        # a row's only vector, which may be a named vector, as in Qdrant and Weaviate
        named = [value for row in sample if isinstance(value := row[vector], dict)]
        keys = list(dict.fromkeys(key for value in named for key in value))
        dense = [key for key in keys if any(isinstance(value.get(key), list) for value in named)]
        if named and {"indices", "values"} <= {*keys}:
            raise DataError(f"{path}: its column {vector!r} has sparse vectors, which are not compared. {REMEDY}")
        if len(dense) > 1:
            raise DataError(
                f"{path}: its column {vector!r} has vectors of several names: {', '.join(dense)}. Remedy: write one of "
                f"them alone, as client.scroll(..., with_vectors=[{dense[0]!r}]) gives it"
            )
        paths["vector"] = (vector, *dense)
    level: list[tuple[str, ...]] = [(name,) for name in names if name != vector]
    empty: list[tuple[str, ...]] = []
    for _ in range(DEEPEST):
        inside: list[tuple[str, ...]] = []
        texts: list[tuple[str, ...]] = []
        for place in level:
            values = [
                value for value in _values_at_keys([row[place[0]] for row in sample], place[1:]) if value is not None
            ]
            objects = [inner for value in values if (inner := _as_object(value)) is not None]
            inside += [(*place, key) for key in dict.fromkeys(key for inner in objects for key in inner)]
            if place[-1] in TEXT and not objects and all(isinstance(value, str) for value in values):
                (texts if values else empty).append(place)
        if texts:
            break
        level = inside
    if places := texts or empty:
        paths["text"] = min(places, key=lambda place: TEXT.index(place[-1]))
    return paths


def _values_at_keys(values: Sequence[Any], keys: Sequence[str]) -> list[Any]:
    for key in keys:
        values = [(_as_object(value) or {}).get(key) for value in values]
    return list(values)


def _as_object(value: Any) -> dict[str, Any] | None:
    """Return the value if it is an object, the object in its JSON text (such as jsonb in a CSV file), or None."""
    if isinstance(value, str) and value.startswith("{") and value.endswith("}"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


def _is_certainly_vector(value: Any) -> bool:
    """Return whether a value can only be a vector: two or more numbers, in a list or as text."""
    if isinstance(value, str):
        try:
            return value[:1] in ("[", "{") and len(_parse_number_list(value)) > 1
        except ValueError:
            return False
    return isinstance(value, list) and len(value) > 1 and all(isinstance(number, float) for number in value)


# Vectors


def _concatenate_vectors(values: Any, number_type: str) -> tuple[Ints, Vectors]:
    """Return the length of each vector, and the vectors' concatenated numbers.

    Raise ValueError for a value that is not a vector.
    """
    if isinstance(values, np.ndarray):
        if values.ndim != 2 or values.dtype.kind not in "fiu":
            raise ValueError(f"it is an array of shape {values.shape} and type {values.dtype}")
        return np.full(len(values), values.shape[1], np.intp), values.astype(np.float32).ravel()
    if not isinstance(values, list):
        import pyarrow.compute

        types = pyarrow.types
        values = getattr(values, "storage", values)
        if types.is_fixed_size_list(values.type):
            values = values.cast(pyarrow.list_(values.type.value_type))
        if types.is_list(values.type) or types.is_large_list(values.type):
            kind = values.type.value_type
            if not (types.is_integer(kind) or types.is_floating(kind)):
                raise ValueError(f"its type is {values.type}")
            lengths = pyarrow.compute.fill_null(pyarrow.compute.list_value_length(values), 0)
            flat = values.flatten().to_numpy(zero_copy_only=False)
            return np.asarray(lengths.to_numpy(zero_copy_only=False), np.intp), _to_float32(flat)
        if types.is_primitive(values.type):
            raise ValueError(f"it is of type {values.type}, not a list of numbers")
        values = values.to_pylist()
    vectors = [np.zeros(0, np.float32)]
    for value in values:
        if isinstance(value, str) and is_missing(value):
            value = None
        data = value if isinstance(value, bytes) else _decode_bytes(value) if isinstance(value, str) else None
        if data is not None:
            if len(data) % np.dtype(number_type).itemsize:
                raise ValueError(
                    f"a vector has {len(data)} bytes, which does not fit numbers of {number_type[2]} bytes"
                )
            vectors.append(_to_float32(np.frombuffer(data, number_type)))
        elif isinstance(value, str):
            vectors.append(_to_float32(_parse_number_list(value)))
        elif value is None or isinstance(value, list):
            vectors.append(_to_float32(value or []))
        else:
            raise ValueError(f"{str(value)[:40]!r} is a {type(value).__name__}")
    return np.array([len(vector) for vector in vectors[1:]], np.intp), np.concatenate(vectors)


def _to_float32(numbers: Any) -> Vectors:
    with np.errstate(over="ignore"):
        vector = np.asarray(numbers, np.float32)  # NaN for None
    if vector.ndim != 1:
        raise ValueError(f"a row has vectors of shape {vector.shape}")
    return vector


def _parse_number_list(text: str) -> NDArray[np.float64]:
    """Return the numbers in pgvector's `[0.1,0.2]`, PostgreSQL's `{0.1,0.2}`, or numpy's `[0.1 0.2]`.

    >>> _parse_number_list("[0.5,2]"), _parse_number_list("{0.5,NULL}")
    (array([0.5, 2. ]), array([0.5, nan]))
    """
    if BITS.fullmatch(text):
        raise ValueError(f"{text[:40]!r} are bits, which cannot be compared with numbers. {REMEDY}")
    if "..." in text:
        raise ValueError(f"{text[:40]!r} was shortened by numpy when it was printed. {REMEDY}")
    if "/" in text or ":" in text:
        raise ValueError(f"{text[:40]!r} is a sparse vector, which is not supported. {REMEDY}")
    parts = text.strip().strip("[](){}").replace(",", " ").replace("null", "nan").replace("NULL", "nan").split()
    try:
        return np.array(parts, np.float64)
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not a list of numbers") from None


def _decode_bytes(text: str) -> bytes | None:
    """Return the bytes in PostgreSQL's hex form of bytea or in base64, or None for any other text."""
    if text.startswith("\\x"):
        return bytes.fromhex(text[2:])
    if len(text) < 8 or len(text) % 4 or BITS.fullmatch(text) or text[0] in "[{(":
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _detect_number_type(values: Sequence[Any]) -> str:
    """Return the number type of vectors stored as bytes.

    It is the first of float32, float64 and float16 that gives numbers of similar size. With the wrong type, numbers are
    spread over dozens of powers of ten. Raise ValueError if none fits.
    """
    decoded = [value if isinstance(value, bytes) else _decode_bytes(value) for value in values
            if isinstance(value, bytes | str)]  # fmt: skip
    data = [row_bytes for row_bytes in decoded if row_bytes]
    for kind in FLOATS if data else ():
        if any(len(row_bytes) % np.dtype(kind).itemsize for row_bytes in data):
            continue
        with np.errstate(invalid="ignore", over="ignore"):
            sizes = np.abs(np.concatenate([np.frombuffer(row_bytes, kind) for row_bytes in data]).astype(np.float64))
        sizes = sizes[sizes != 0]
        if not len(sizes) or (np.isfinite(sizes).all() and np.quantile(sizes, 0.1) > 1e-5 * sizes.max()):
            return kind
    if data:
        raise ValueError(
            f"its {len(data[0])} bytes a vector are not float32, float64 or float16; bytes of int8 and packed bits are "
            f"not read. {REMEDY}"
        )
    return ""


# Formats


def _to_list(values: Any) -> list[Any]:
    if isinstance(values, np.ndarray):
        return list(values.tolist())
    return values if isinstance(values, list) else list(values.to_pylist())


def _open_parquet_columns(path: Path) -> tuple[list[str], ReadColumns, int]:
    try:
        file = open_parquet(path)
    except (ValueError, OSError) as error:
        raise DataError(f"{path} should hold rows with vectors, but {error}. Remedy: copy or write it again") from error
    names = list(file.schema_arrow.names)
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise DataError(f"{path} has the column {twice!r} twice. Remedy: write it once")

    def read_columns(columns: Sequence[str]) -> Iterator[tuple[int, Columns]]:
        start = 0
        try:
            for batch in record_batches(file, file_bytes=path.stat().st_size, columns=list(dict.fromkeys(columns))):
                yield start, {name: batch.column(name) for name in columns}
                start += batch.num_rows
        except (ValueError, OSError) as error:
            raise DataError(f"{path} is damaged: {error}. Remedy: copy or write it again") from error

    return names, read_columns, int(file.metadata.num_rows)


def _open_numpy_columns(path: Path) -> tuple[list[str], ReadColumns, int]:
    """Open an array of vectors, a structured array, or the arrays of an .npz file. Pickled objects are rejected."""
    try:
        if file_ending(path) == ".npz":
            with zipfile.ZipFile(path) as file:
                if sum(mapped.file_size for mapped in file.infolist()) > max(
                    FREE_BYTES, MOST_TIMES * path.stat().st_size
                ):
                    raise ValueError(f"unpacks to more than {MOST_TIMES} times its size")
            with np.load(path, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
        else:
            mapped = np.load(path, mmap_mode="r", allow_pickle=False)
            arrays = {name: mapped[name] for name in mapped.dtype.names} if mapped.dtype.names else {"vector": mapped}
    except (*FAULTS, TypeError, KeyError, SyntaxError, tokenize.TokenError) as error:  # numpy's header is Python
        raise DataError(
            f"{path} holds no arrays of numbers and texts: {error}. Remedy: write it with np.save"
        ) from error
    count = len(arrays[name]) if (name := next(iter(arrays), "")) and arrays[name].ndim else 0
    if odd := next((name for name, array in arrays.items() if not array.ndim or len(array) != count), ""):
        raise DataError(f"{path}: {odd!r} and the other arrays have different numbers of rows, or it has none")

    def read_columns(columns: Sequence[str]) -> Iterator[tuple[int, Columns]]:
        for start in range(0, count, ROWS_AT_ONCE):
            yield start, {name: arrays[name][start : start + ROWS_AT_ONCE] for name in columns}

    return list(arrays), read_columns, count


def _columns_from_rows(rows: Callable[[], Iterator[Mapping[str, Any]]]) -> ReadColumns:
    def read_columns(columns: Sequence[str]) -> Iterator[tuple[int, Columns]]:
        start, left = 0, rows()
        while some := list(islice(left, ROWS_AT_ONCE)):
            yield start, {name: [row.get(name) for row in some] for name in columns}
            start += len(some)

    return read_columns
