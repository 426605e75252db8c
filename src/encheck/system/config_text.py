"""The text of a configuration file."""

from __future__ import annotations

from pathlib import Path

from encheck.errors import ConfigError


def config_text(path: Path) -> str:
    """The text of a configuration file; ConfigError names the line that is not UTF-8."""
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: is not UTF-8 (byte {error.start})") from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
