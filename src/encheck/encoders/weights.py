"""Whether two checkpoints have the same weights, whatever else is in their folders."""

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


def tensors_sha256(path: Path) -> str:
    """SHA-256 of names, types, shapes and bytes of the tensors of a safetensors file, in hex; of others, of the file.

    Metadata and the order in the file do not count, nor tensors of int64, which hold positions and no weights: some
    versions of transformers save them and others do not.
    """
    with path.open("rb") as file:
        size = int.from_bytes(file.read(HEADER_BYTES), "little")
        if size > min(LARGEST_HEADER, path.stat().st_size):
            return file_sha256(path)
        try:
            header = json.loads(file.read(size))
            named = [(name, header[name]) for name in sorted(header) if name != "__metadata__"]
            places = [
                (name, one["dtype"], one["shape"], *map(int, one["data_offsets"]))
                for name, one in named
                if one["dtype"] != POSITIONS
            ]
        except (ValueError, LookupError, TypeError, AttributeError):
            return file_sha256(path)
        found = hashlib.sha256()
        for name, kind, shape, start, end in places:
            file.seek(HEADER_BYTES + size + start)
            found.update(json.dumps([name, kind, shape, end - start]).encode())
            found.update(file.read(max(end - start, 0)))
    return found.hexdigest()
