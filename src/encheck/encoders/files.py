"""Check model files before anything in them runs: JSON, weights, and the code that a pickle would call."""

from __future__ import annotations

import io
import pickletools
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from encheck.errors import ModelError
from encheck.system.documents import parsed, text_of
from encheck.system.paths import is_file, is_folder

COPY = "Remedy: copy it again"
CUT_OFF = f"is the copy truncated, or a git-lfs pointer? {COPY}"
WHOLE = "Remedy: use a complete checkpoint, whose files belong together"
OTHER_VOCABULARY = "the vocabulary does not match. Remedy: copy the tokenizer that the model was trained with"
FAULTS = (ValueError, OSError, EOFError, RuntimeError, MemoryError, zlib.error, zipfile.BadZipFile)  # zip's are many
HARMLESS = ("torch._utils._rebuild_", "torch.storage.", "torch.FloatStorage", "torch.HalfStorage", "torch.LongStorage")
HARMLESS_NAMES = {
    *("collections.OrderedDict", "torch.BFloat16Storage", "torch.IntStorage", "torch.DoubleStorage"),
    *("torch.Size", "torch.BoolStorage", "torch.ByteStorage", "torch.ShortStorage", "torch.CharStorage"),
    *("torch.float32", "torch.float16", "torch.bfloat16", "torch.device", "torch.serialization._get_layout"),
    *("torch.nn.parameter.Parameter", "argparse.Namespace", "_codecs.encode"),
}


def must_exist(path: Path, what: str, remedy: str) -> Path:
    """The path of a file; ModelError names it and what to do where it is missing or a folder."""
    if not is_file(path):
        kind = "is a folder, but should be a file" if is_folder(path) else "does not exist"
        raise ModelError(f"{what} {path} {kind}. {remedy}")
    return path


def refuse_endless(path: Path) -> Path:
    """The path; ModelError for a device or a pipe, or a link to one: whoever reads it may never come to an end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise ModelError(f"{path} is a device or a pipe, but should be a file. {COPY}")
    return path


def hashes(content: Mapping[str, Path], file_hash: Callable[[Path], str]) -> list[str]:
    """What a fingerprint says of these files: name and hash, in the order of names."""
    try:
        return [f"{name}={file_hash(path)}" for name, path in sorted(content.items())]
    except OSError as error:
        raise ModelError(f"cannot read the model: {error}") from error


def read_json(path: Path, kind: type[Any] = object) -> Any:
    """What a JSON file holds, of this kind; an empty one where there is no file."""
    if not path.exists():
        return kind()
    refuse_endless(path)
    try:
        found = parsed(text_of(path), infinite=True)
    except (ValueError, OSError) as error:
        raise ModelError(f"{path} is not JSON: {error}. {COPY}") from error
    if not isinstance(found, kind):
        raise ModelError(
            f"{path} should hold a {'mapping' if kind is dict else 'list'}, but holds a {type(found).__name__}"
        )
    return found


def value_of(path: Path, key: str, kind: type[Any]) -> Any:
    """What a JSON file has under a key, None if it has nothing; ModelError for a value of another kind."""
    found = read_json(path, dict).get(key)
    if found is not None and (not isinstance(found, kind) or isinstance(found, bool)):
        wanted = {dict: "a mapping", list: "a list", int: "a whole number", str: "text"}[kind]
        raise ModelError(f"{path}: {key} is {str(found)[:80]!r}, but should be {wanted}. {COPY}")
    return found


def number_of(path: Path, key: str) -> float | None:
    """The number that a JSON file has under a key, None if it has nothing; ModelError if it is not a number."""
    found = read_json(path, dict).get(key)
    if found is None:
        return None
    if not isinstance(found, int | float) or isinstance(found, bool) or found != found:
        raise ModelError(f"{path}: {key} is {str(found)[:80]!r}, but should be a number. {COPY}")
    return found


def check_weights(path: Path) -> None:
    """ModelError if a file of weights was cut off or would run code; no tensor is read."""
    from safetensors import SafetensorError, safe_open

    try:
        if path.stat().st_size == 0:
            raise ModelError(f"{path} is empty: {CUT_OFF}")
        if path.suffix == ".safetensors":
            with safe_open(path, framework="numpy"):
                pass
    except (OSError, SafetensorError) as error:
        raise ModelError(f"{path} cannot be read ({error}): {CUT_OFF}") from error
    if path.suffix != ".safetensors":
        check_pickle(path)


def check_pickle(path: Path) -> None:
    """ModelError unless the pickle of a torch file names nothing but tensors and plain values; it is not run.

    This gives the message early; what loads the file later does so with `weights_only`, whatever was found here.
    """
    for name in _names_called(path):
        if name not in HARMLESS_NAMES and not name.startswith(HARMLESS):
            raise ModelError(
                f"{path} is a pickle that would call {name}: it is not loaded. "
                "Remedy: save the weights alone, as safetensors or with torch.save(model.state_dict())"
            )


def _names_called(path: Path) -> Iterator[str]:
    """module.name of everything that unpickling would look up."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                names = [n for n in archive.namelist() if n.endswith("data.pkl")]
                if not names:
                    raise ModelError(f"{path} is a zip file without data.pkl: torch.save did not write it. {COPY}")
                yield from _globals(io.BytesIO(archive.read(names[0])))
            return
        with path.open("rb") as file:
            for _ in range(5):  # the older format: magic number, protocol, system, object, keys of the storages
                yield from _globals(file)
    except FAULTS as error:
        raise ModelError(f"{path} is not a file of weights written by torch.save ({error}): {CUT_OFF}") from error


def _globals(file: Any) -> Iterator[str]:
    """What the GLOBAL and STACK_GLOBAL operations of one pickle name."""
    texts: list[str] = []
    for operation, argument, _ in pickletools.genops(file):
        if operation.name in ("GLOBAL", "INST"):
            yield str(argument).replace(" ", ".")
        elif operation.name == "STACK_GLOBAL":
            yield ".".join(texts[-2:]) if len(texts) > 1 else "something that it hides"
        elif isinstance(argument, str):
            texts.append(argument)
        elif operation.name in ("BINGET", "GET", "LONG_BINGET"):
            texts.append("?")  # a name that is built from the memo is none of the harmless ones


def largest_token(tokenizer: Path) -> int:
    """The largest id of a tokenizer.json that text can have; -1 where there is no such file.

    A special token may lie beyond the last row (the one of images in text models of Gemma 3): no text makes it.
    """
    found = read_json(tokenizer, dict)
    model = found.get("model")
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    listed = found.get("added_tokens")
    added = (
        [t for t in listed if isinstance(t, dict) and isinstance(t.get("id"), int)] if isinstance(listed, list) else []
    )
    special = {t["id"] for t in added if t.get("special")}
    ids = {t["id"] for t in added}
    if isinstance(vocabulary, dict):
        ids |= {i for i in vocabulary.values() if isinstance(i, int)}
    elif isinstance(vocabulary, list):
        ids |= set(range(len(vocabulary)))
    return max(ids - special, default=-1)
