"""Detect the adapter for a folder or file."""

from __future__ import annotations

from pathlib import Path

from encheck.encoders.checkpoints.folders import listed_modules, numbered_folders
from encheck.encoders.checkpoints.known import HEAD, SPAN_POOLING
from encheck.encoders.files import read_json, value_of
from encheck.errors import ModelError
from encheck.system.files import is_file, is_folder

Found = tuple[str, str]
PAIR_HEAD = "pair-head"
SETTINGS = "config_sentence_transformers.json"
LANGUAGE_MODELS = ("ForMaskedLM", "ForCausalLM", "LMHeadModel", "ForPreTraining")
FILES = {
    ".onnx": ("onnx", "its name ends in .onnx"),
    ".vec": ("vectors", "its name ends in .vec, as fastText's do"),
    ".txt": ("vectors", "its name ends in .txt, as GloVe's do"),
    ".bin": ("vectors", "its name ends in .bin, as word2vec's do"),
    ".doc2vec": ("doc2vec", "its name ends in .doc2vec"),
    ".d2v": ("doc2vec", "its name ends in .d2v"),
}


def detect(path: Path) -> Found:
    """(adapter, why) of a local model; ModelError if no adapter fits.

    A folder is taken for the first that fits of: sentence-transformers (its cross-encoders too), PEFT adapter,
    SavedModel, model2vec, cross-encoder, transformers, ONNX.
    """
    if is_file(path):
        return _file(path)
    if not is_folder(path):
        raise ModelError(f"model folder {str(path)!r} does not exist. Remedy: name one that exists")
    return _folder(path) or _onnx_folder(path) or ("sentence-transformers", "nothing else fits")


def _file(path: Path) -> Found:
    if path.suffix == ".pt" and "laser" in path.name.lower():
        return "laser", "its name says laser and ends in .pt"
    if path.suffix == ".pt" and path.name.startswith("bilstm."):
        return "laser", "its name is that of LASER1's encoder"
    if path.suffix in (".pkl", ".pt") and "infersent" in path.name.lower():
        return "infersent", "its name says infersent"
    if path.suffix not in FILES:
        kinds = ", ".join(sorted(FILES))
        raise ModelError(
            f"{path} is a file, but should be a folder, or a file that ends in {kinds}. "
            "Remedy: say what it is: --model-arg adapter=NAME"
        )
    return FILES[path.suffix]


def _folder(folder: Path) -> Found | None:
    has = {p.name for p in folder.iterdir()}
    if "modules.json" in has:
        if read_json(folder / SETTINGS, dict).get("model_type") == "CrossEncoder":
            return "cross-encoder", f"its {SETTINGS} says CrossEncoder: it scores pairs"
        return _with_modules(folder, "it has modules.json")
    weights = any(name.endswith((".safetensors", ".bin")) for name in has)
    if weights and (numbered := numbered_folders(folder)) and not _pair_head(folder):
        return _with_modules(folder, f"it has {' and '.join(numbered)}, and has lost its modules.json")
    if "adapter_config.json" in has:
        return "peft", "it has adapter_config.json"
    if "saved_model.pb" in has:
        return "savedmodel", "it has saved_model.pb"
    if "config.json" in has and weights:
        return _by_config(folder)
    return None


def _with_modules(folder: Path, why: str) -> Found:
    if (folder / HEAD).exists():
        return PAIR_HEAD, f"{why} and {HEAD}: its head scores pairs"
    if any(isinstance(one, dict) and one.get("type") == SPAN_POOLING for one in listed_modules(folder)):
        return PAIR_HEAD, f"{why} with a pooling over spans"
    return "sentence-transformers", why


def _by_config(folder: Path) -> Found:
    config = read_json(folder / "config.json", dict)
    made = value_of(folder / "config.json", "architectures", list) or []
    said = config.get("model_type") == "model2vec" or "StaticModel" in made
    if said or ("model_type" not in config and "embedding_dtype" in config):
        return "model2vec", "its config.json is model2vec's"
    if head := _pair_head(folder):
        return "cross-encoder", f"its config.json says {head}: it scores pairs"
    if language := next((name for name in map(str, made) if name.endswith(LANGUAGE_MODELS)), None):
        return "transformers", (
            f"its config.json says {language}, a language model, and it has no modules.json. The states below its head "
            "are pooled by the mean, which nobody trained to tell sentences apart. Sparse vectors of a SPLADE need a "
            "class of your own (--model=module:Class)"
        )
    kind = config.get("model_type", "no model_type")
    return "transformers", f"its config.json says {kind}, and it has no modules.json: pooled by the mean"


def _pair_head(folder: Path) -> str | None:
    """The class of a model whose head scores pairs, where the configuration names one."""
    made = value_of(folder / "config.json", "architectures", list) or []
    return next((name for name in map(str, made) if name.endswith("ForSequenceClassification")), None)


def _onnx_folder(folder: Path) -> Found | None:
    found = sorted(p.relative_to(folder).as_posix() for p in (*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")))
    return ("onnx", f"it has {found[0]} and no weights of another kind") if found else None
