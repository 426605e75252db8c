"""From the value of `--model` to a model under test: a name, a folder, a file or a hub id."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import logging
import re
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from encheck.encoders.adapters import ADAPTERS, PAPERS, Adapter, adapter_of
from encheck.encoders.detect import detect
from encheck.encoders.failing import in_a_line, named
from encheck.encoders.files import WHOLE, refuse_endless
from encheck.encoders.function import FunctionEncoder, FunctionScorer, is_encoding, is_scoring
from encheck.encoders.hub import cached, from_hub
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.pins import held
from encheck.encoders.protocol import Encoder, Model, PairScorer
from encheck.errors import ModelError, UsageError, unknown
from encheck.similarity import SIMILARITIES
from encheck.store import file_sha256
from encheck.system import entry_points
from encheck.system import imports as own
from encheck.system.files import exists, is_folder, typed

HUB_ID = re.compile(r"([\w.-]+/[\w.-]+)(?:@([\w./-]+))?")
DEVICE = re.compile(r"cpu|mps|cuda(?::\d+)?")
STORED = "vectors:"
FileHash = Callable[[Path], str]
log = logging.getLogger("encheck")


@dataclass(frozen=True, slots=True)
class Device:
    """Where and how to compute: auto, cpu, cuda, cuda:1, cuda:all, mps, several by comma; a dtype of `DTYPES`."""

    name: str = "auto"
    dtype: str | None = None

    def __post_init__(self) -> None:
        """UsageError for an invalid name; whether the device exists is checked when a model is loaded."""
        if self.name not in ("auto", "cuda:all") and not all(map(DEVICE.fullmatch, self.name.split(","))):
            raise UsageError(
                f"--device={self.name} is not a device: it should be auto, cpu, cuda, cuda:1 (any number), mps, "
                "cuda:all, or several of cpu, cuda:N and mps by comma"
            )


def config_for(model: str, known: Mapping[str, ModelConfig], *, adapter: str | None = None) -> ModelConfig:
    """The entry of models.yaml, or one made up for a path or a hub id; ModelError if it is not one of them.

    A name goes before a folder of the same name; `./name` is the folder. A hub id can end in @revision;
    `module:name` is a class or a function of your own, `vectors:FILE` vectors that were computed elsewhere. A path is
    looked at to see what it is, unless `adapter` says so.
    """
    if model in known:
        return known[model]
    if model.startswith(STORED) and model != STORED:
        path = model.removeprefix(STORED)
        return ModelConfig(Path(path).stem, adapter="stored-vectors", name=path)
    if _is_path(model):
        return _config_of_path(model) if adapter is None else ModelConfig(Path(model).resolve().name, name=model)
    if own.NAME.fullmatch(model):
        return ModelConfig(label=model.rpartition(":")[2], adapter=model)
    if hub := HUB_ID.fullmatch(model):
        return ModelConfig(label=model.replace("/", "--"), name=hub[1], revision=hub[2])
    raise ModelError(
        unknown("model", model, known)
        + ". A folder is written --model=./folder, a hub id owner/name or owner/name@revision"
    )


def as_fetched(config: ModelConfig) -> ModelConfig:
    """A hub id without an entry, fetched where it must be: the entry with the adapter that its files are for."""
    known = adapter_of(config.adapter)
    if known is None or known.source != "hub" or _is_path(config.name):
        return config
    name, why = detect(folder_of(config))
    found = adapter_of(name)
    if name == config.adapter or (found and found.source != "hub"):
        return config
    return dataclasses.replace(config, adapter=name, description=_description(name, why))


def _config_of_path(model: str) -> ModelConfig:
    """What a folder or a file was taken for; one that is wrong or missing is refused when it is loaded."""
    path = typed(model)
    try:
        adapter, why = detect(path)
    except ModelError:
        if exists(path):
            raise
        return ModelConfig(label=path.resolve().name, name=model)
    return ModelConfig(label=path.resolve().name, name=model, adapter=adapter, description=_description(adapter, why))


def _description(adapter: str, why: str) -> str:
    known = adapter_of(adapter)
    return f"loaded as a {known.what if known else adapter}: {why}"


def _is_path(model: str) -> bool:
    return model.startswith((".", "/", "~", "\\")) or is_folder(model) or Path(model).is_absolute()


def load(config: ModelConfig, *, device: Device, file_hash: FileHash = file_sha256) -> Model:
    """The model, checked as far as that goes without loading its weights."""
    factory, known = _adapter(config), adapter_of(config.adapter)
    if known is None:
        return _own(factory, config)
    if known.source == "url":
        served: Model = factory(config)
        return served
    source = source_of(config, known, file_hash)
    failed = f"{config.label}: {source} cannot be loaded"
    with named(lambda error: ModelError(f"{failed} ({in_a_line(error)}). {WHOLE}")):
        model: Model = factory(source, config, device=device, file_hash=file_hash)
    return model


def lacks(config: ModelConfig) -> str:
    """What must be installed before the adapter can work, as a command; empty if nothing is missing."""
    known = adapter_of(config.adapter)
    if known is None and config.adapter in PAPERS:
        return "pip install ./papers (in a clone of encheck)"
    missing = [module for module in known.modules if importlib.util.find_spec(module) is None] if known else []
    return f"pip install '{known.install}'" if known and missing else ""


def _own(factory: Callable[..., Model], config: ModelConfig) -> Model:
    if is_encoding(factory):
        return FunctionEncoder(factory, config.options)
    if is_scoring(factory, config.options):
        return FunctionScorer(factory, config.options)
    try:
        model = factory(**config.options)
    except Exception as error:
        raise ModelError(
            f"{config.label}: {config.adapter}(**options) says: {error!r}. Remedy: other options: --model-arg KEY=VALUE"
        ) from error
    if not isinstance(model, Encoder | PairScorer):
        wants = "fingerprint() and score_pairs(), or fingerprint(), encode() and `similarity`"
        raise ModelError(
            f"{config.label}: {config.adapter} is not a model: it should have {wants}. Remedy: add these methods"
        )
    if isinstance(model, Encoder) and model.similarity not in SIMILARITIES:
        raise ModelError(f"{config.label}: {config.adapter}: {unknown('similarity', model.similarity, SIMILARITIES)}")
    _refuse_fingerprint(model, config)
    return model


def _refuse_fingerprint(model: Model, config: ModelConfig) -> None:
    """ModelError if the fingerprint of an adapter of one's own names nothing."""
    remedy = "Remedy: return a text that changes with whatever changes what the model gives, and with nothing else"
    try:
        found: object = model.fingerprint()
    except Exception as error:
        raise ModelError(f"{config.label}: fingerprint() of {config.adapter} raised {error!r}. {remedy}") from error
    if not isinstance(found, str) or not found.strip():
        raise ModelError(f"{config.label}: fingerprint() of {config.adapter} gave {found!r}. {remedy}")


def owner_of(model: Model) -> str:
    """Whose fingerprints a model's are: module:class where that is no part of encheck, else empty."""
    made_by = type(model)
    return "" if made_by.__module__.startswith("encheck.") else f"{made_by.__module__}:{made_by.__qualname__}"


def _adapter(config: ModelConfig) -> Callable[..., Model]:
    if remedy := lacks(config):
        raise ModelError(
            f"{config.label}: the adapter {config.adapter} needs a package that is not installed. Remedy: {remedy}"
        )
    point = None if config.adapter in ADAPTERS else entry_points.offered(entry_points.ADAPTERS).get(config.adapter)
    if known := adapter_of(config.adapter):
        module, _, name = known.path.partition(":")
        with entry_points.importing(point) if point else nullcontext():
            ours: Callable[..., Model] = getattr(importlib.import_module(module), name)
        return ours
    if point:
        packaged: Callable[..., Model] = entry_points.imported(point)
        return packaged
    try:
        found: Callable[..., Model] = own.imported(config.adapter)
    except Exception as error:
        raise ModelError(
            f"{config.label}: cannot import the adapter {config.adapter!r}: {error!r}. {own.REMEDY}"
        ) from error
    return found


def source_of(config: ModelConfig, adapter: Adapter, file_hash: FileHash = file_sha256) -> Path:
    """The folder or file of the model, held to its `sha256` where it has one."""
    if not config.name:
        if adapter.source == "optional":
            return Path()
        raise ModelError(f"{config.label} has no name. Remedy: give a folder or a hub id: --model-arg name=PATH")
    if adapter.source == "hub":
        return folder_of(config, file_hash)
    path = typed(config.name)
    if not exists(path):
        stored = config.adapter == "stored-vectors"
        where = f"{STORED}PATH" if stored else f"--model={config.label} --model-arg name=PATH"
        fetch = f" It is available from {config.fetch}." if config.fetch else ""
        raise ModelError(f"{config.label}: {config.name} does not exist.{fetch} Remedy: say where it is: {where}")
    held(config, refuse_endless(path), path, file_hash)
    return path


def folder_of(config: ModelConfig, file_hash: FileHash = file_sha256) -> Path:
    """The folder with the weights: a path, an installed package, or the hub's cache (fetched when it must be)."""
    folder = _existing(config) if _is_path(config.name) else _packaged(config) or from_hub(config)
    held(config, folder, folder / "model.safetensors", file_hash)
    return folder


def _existing(config: ModelConfig) -> Path:
    folder = typed(config.name)
    if not is_folder(folder):
        kind = "is a file, but should be a folder" if exists(folder) else "does not exist"
        raise ModelError(f"model folder {config.name!r} {kind}. Remedy: name a folder that exists: --model=./folder")
    return folder


def _packaged(config: ModelConfig) -> Path | None:
    """The folder inside the package, found without importing it."""
    try:
        spec = importlib.util.find_spec(config.package) if config.package else None
    except (ImportError, ValueError):  # a part of its dotted name is missing, or it is no module
        spec = None
    roots = [Path(p) for p in spec.submodule_search_locations or ()] if spec else []
    found = [f.parent for root in roots for f in sorted(root.rglob("modules.json"))]
    return found[0] if found else None


def where(config: ModelConfig) -> tuple[bool, str]:
    """Whether a model can be loaded without a network, and from where or what it lacks; nothing is loaded."""
    is_ours = config.adapter in ADAPTERS or config.adapter in PAPERS
    if not is_ours and not config.name:  # what a package offers is imported when it is loaded
        return True, config.adapter
    if remedy := lacks(config):
        return False, remedy
    known = adapter_of(config.adapter)
    if known is None:
        return True, config.adapter
    if known.source == "url":
        key = config.options.get("key_env", "OPENAI_API_KEY")
        return False, f"a server at {config.name}, with the key in {key}"
    if known.source == "optional" and not config.name:
        return True, "the run's own texts"
    if known.source != "hub" or _is_path(config.name):
        others = [str(config.options[name]) for name in ("vectors", "spm", "vocabulary") if name in config.options]
        missing = [name for name in (config.name, *others) if not exists(typed(name))]
        fetch = f", from {config.fetch}" if missing and config.fetch else ""
        return not missing, " and ".join(missing or [config.name]) + fetch
    if _packaged(config):
        return True, f"package {config.package}"
    if cached(config):
        return True, "the hub's cache"
    remedy = "pip install 'encheck[minilm]' or " if config.package else ""
    return False, f"{remedy}the hub ({config.name})"
