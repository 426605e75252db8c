"""Paths as people type them: a name that no file system accepts counts as missing, and raises no system error."""

from __future__ import annotations

import os
from pathlib import Path


def typed(name: str) -> Path:
    """The path, with `~` as the home folder; a user that there is not stays as it was typed.

    >>> typed("~nobody-of-this-name/model").parts[0]
    '~nobody-of-this-name'
    """
    return Path(os.path.expanduser(name))  # noqa: PTH111 - pathlib's raises RuntimeError for an unknown user


def exists(path: Path | str) -> bool:
    """Whether there is such a file or folder.

    >>> exists("x" * 4_000)
    False
    """
    return os.path.exists(path)  # noqa: PTH110 - pathlib's raises OSError for a name that is too long


def is_file(path: Path | str) -> bool:
    """Whether there is such a file."""
    return os.path.isfile(path)  # noqa: PTH113 - as in `exists`


def is_folder(path: Path | str) -> bool:
    """Whether there is such a folder."""
    return os.path.isdir(path)  # noqa: PTH112 - as in `exists`
