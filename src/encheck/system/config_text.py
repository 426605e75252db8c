"""The text of a configuration file."""

from __future__ import annotations

from pathlib import Path

from encheck.errors import ConfigError
from encheck.system.documents import TextError, text_of


def config_text(path: Path, *, most: int) -> str:
    """The text of a configuration file of at most this many bytes; ConfigError names the line that is not UTF-8."""
    try:
        return text_of(path, most=most)
    except TextError as error:
        raise ConfigError(f"{path}{error.place}: {error.problem}") from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
