"""What a bare .onnx needs beside it: the tokenizer, and the weights that lie in files of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath

from encheck.encoders.checkpoints.folders import check_vocabulary
from encheck.encoders.files import COPY, CUT_OFF, must_exist, read_json
from encheck.encoders.onnx.protobuf import locations
from encheck.errors import ModelError

FILES = ("model.onnx", "onnx/model.onnx")
TOKENIZER = ("tokenizer.json", "tokenizer_config.json")


def model_file(source: Path) -> Path:
    """The .onnx that a file or a folder names; ModelError if there is none, or it is empty."""
    found = [source] if source.is_file() else [source / name for name in FILES if (source / name).is_file()]
    found = found or sorted(source.glob("*.onnx"))
    if not found:
        raise ModelError(f"{source} has no .onnx file. Remedy: name the file, or a folder that holds model.onnx")
    if found[0].stat().st_size == 0:
        raise ModelError(f"{found[0]} is empty: {CUT_OFF}")
    return found[0]


def tokenizer_folder(file: Path) -> Path:
    """The folder with the tokenizer: the model's or the one above; ModelError if it is missing or of another model."""
    around = (file.parent, file.parent.parent)
    folder = next((p for p in around if (p / "tokenizer.json").is_file()), file.parent)
    must_exist(folder / "tokenizer.json", "the tokenizer", "Remedy: put it beside the .onnx")
    read_json(folder / "tokenizer.json", dict)
    check_vocabulary(folder)
    return folder


def external(file: Path) -> Mapping[str, Path]:
    """The files beside the model that hold its weights; ModelError if one is missing, or lies elsewhere."""
    found = {}
    for name in locations(file):
        if _leads_out(name):
            raise ModelError(
                f"{file} points outside its folder ({name}), which is not followed. {COPY}, with its weights"
            )
        found[name] = _beside(file, name)
    return found


def _beside(file: Path, name: str) -> Path:
    what = f"{file} keeps weights in a file that is not beside it:"
    try:
        return must_exist(file.parent / name, what, COPY)
    except OSError as error:  # a name that no file can have, or a folder that may not be read
        raise ModelError(f"{what} {name[:200]!r}: {error.strerror}. {COPY}") from error


def _leads_out(name: str) -> bool:
    """Whether a path leaves the folder that it starts in, on this system or on another."""
    paths = (PurePosixPath(name), PureWindowsPath(name))
    return any(path.anchor or ".." in path.parts for path in paths)
