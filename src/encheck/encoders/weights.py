"""Whether two checkpoints have the same weights, or the same architecture, whatever else is in their folders."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

from encheck.errors import ModelError
from encheck.store import file_sha256
from encheck.types import content_hash

SAFE = ".safetensors"
OTHERS = (".bin", ".pt", ".onnx")
POSITIONS = "I64"
HEADER_BYTES = 8  # which say how long the header is
LARGEST_HEADER = 100_000_000  # as safetensors has it
WORDS = ("vocab.txt", "vocab.json", "merges.txt", "tokenizer.json", "sentencepiece.bpe.model", "spiece.model")
FileHash = Callable[[Path, Callable[[Path], str]], str]


def weights_of(model: object, file_hash: FileHash) -> str | None:
    """A hash of the weights of a model that is made of files; None of others. No model is loaded.

    Of safetensors it is one of the tensors, so that saving them again keeps it; of other files one of their bytes.
    """
    content: Callable[[], Mapping[str, Path]] | None = getattr(model, "content", None)
    if content is None:
        return None
    files = [path for _, path in sorted(content().items()) if path.suffix in (SAFE, *OTHERS)]
    safe = [path for path in files if path.suffix == SAFE]
    try:
        found = [file_hash(path, tensors_sha256 if safe else file_sha256) for path in safe or files]
    except OSError as error:
        raise ModelError(f"cannot read the model: {error}") from error
    return content_hash(*sorted(found)) if found else None


def architecture_of(model: object, file_hash: FileHash) -> str | None:
    """A hash of what checkpoints of one training with several seeds share: the shapes of tensors, and the vocabulary.

    None of a model without safetensors. No model is loaded.
    """
    content: Callable[[], Mapping[str, Path]] | None = getattr(model, "content", None)
    files = sorted(content().items()) if content else []
    safe = [path for _, path in files if path.suffix == SAFE]
    words = [(path.name, path) for _, path in files if path.name in WORDS]
    try:
        shapes = [file_hash(path, shapes_sha256) for path in safe]
        vocabularies = [f"{name}={file_hash(path, vocabulary_sha256)}" for name, path in words]
    except OSError as error:
        raise ModelError(f"cannot read the model: {error}") from error
    return content_hash(*sorted(shapes), *sorted(vocabularies)) if shapes else None


def shapes_sha256(path: Path) -> str:
    """SHA-256 of the names and shapes of the tensors of a safetensors file, in hex; of others, of the file."""
    try:
        shapes = [[name, shape] for name, kind, shape, _, _ in _tensors(path)[1] if kind != POSITIONS]
    except ValueError:
        return file_sha256(path)
    return hashlib.sha256(json.dumps(shapes).encode()).hexdigest()


def vocabulary_sha256(path: Path) -> str:
    """SHA-256 of a vocabulary, in hex; of tokenizer.json without its padding and truncation, which training changes."""
    if path.name != "tokenizer.json":
        return file_sha256(path)
    try:
        found = json.loads(path.read_bytes())
        kept = {name: found[name] for name in sorted(found) if name not in ("padding", "truncation")}
    except (ValueError, TypeError):
        return file_sha256(path)
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def tensors_sha256(path: Path) -> str:
    """SHA-256 of names, types, shapes and bytes of the tensors of a safetensors file, in hex; of others, of the file.

    Metadata and the order in the file do not count, nor tensors of int64, which hold positions and no weights: some
    versions of transformers save them and others do not.
    """
    try:
        start_of_bytes, tensors = _tensors(path)
    except ValueError:
        return file_sha256(path)
    found = hashlib.sha256()
    with path.open("rb") as file:
        for name, kind, shape, start, end in tensors:
            if kind != POSITIONS:
                file.seek(start_of_bytes + start)
                found.update(json.dumps([name, kind, shape, end - start]).encode())
                found.update(file.read(max(end - start, 0)))
    return found.hexdigest()


def _tensors(path: Path) -> tuple[int, list[tuple[str, str, list[int], int, int]]]:
    """Where the bytes of a safetensors file start, and (name, type, shape, start, end) of each tensor, by name.

    ValueError for a file that is none.
    """
    with path.open("rb") as file:
        size = int.from_bytes(file.read(HEADER_BYTES), "little")
        if size > min(LARGEST_HEADER, path.stat().st_size):
            raise ValueError(f"{path} has no header of safetensors")
        try:
            header = json.loads(file.read(size))
            named = [(name, header[name]) for name in sorted(header) if name != "__metadata__"]
            tensors = [(name, one["dtype"], one["shape"], *map(int, one["data_offsets"])) for name, one in named]
        except (LookupError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} has no header of safetensors: {error}") from error
    return HEADER_BYTES + size, tensors
