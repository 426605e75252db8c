"""Pin an entry of models.yaml to one model: by a commit of the hub, or by the hashes of its files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from encheck.encoders.adapters import adapter_of
from encheck.encoders.model_config import ModelConfig
from encheck.errors import ModelError
from encheck.system.files import exists, typed

REMEDY = (
    "not the model it claims to be. Remedy: download it again, or --model-arg sha256=HASH of the one you mean "
    "(empty: any)"
)


def held(config: ModelConfig, source: Path, weights: Path, file_hash: Callable[[Path], str]) -> None:
    """ModelError for a file without the SHA-256 that the entry gives: that of `weights`, or of each file by its name.

    A name is an option that names the file, or a path inside the folder `source`. A file that an option names and that
    is not there is left to the adapter, which says what it needs.
    """
    for file, expected in _expected(config, source, weights):
        if not file.is_file() or file_hash(file) != expected:
            raise ModelError(f"{config.label}: {file} does not have the SHA-256 {expected}: {REMEDY}")


def _expected(config: ModelConfig, source: Path, weights: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(config.sha256, str):
        if config.sha256:
            yield weights, config.sha256
        return
    for name, expected in (config.sha256 or {}).items():
        if name not in config.options:
            yield source / name, expected
        elif exists(file := typed(config.options[name])):
            yield file, expected


def pinned(config: ModelConfig) -> str:
    """What pins the entry, in a few words; `-` where there is nothing to pin."""
    known = adapter_of(config.adapter) if config.name else None
    if known is None or known.source == "optional":
        return "-"
    if config.revision:
        return config.revision[:12]
    if isinstance(config.sha256, str) and config.sha256:
        return f"sha256 {config.sha256[:12]}"
    parts = (f"{name.rpartition('/')[2]} {digest[:12]}" for name, digest in dict(config.sha256 or {}).items())
    return ", ".join(f"sha256 of {part}" for part in parts) or "not pinned"
