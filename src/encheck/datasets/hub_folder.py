"""A folder of the Hugging Face hub, at a given commit: `--data retrieval:hub:OWNER/NAME@COMMIT`.

It is fetched only when asked for by that word, into the hub's own cache, and read from there ever after. No code of a
repository is fetched or run.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from encheck.errors import DataError

log = logging.getLogger("encheck")
PREFIX = "hub:"
SPEC = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)@(?P<commit>[0-9a-f]{40})")


def folder_of(spec: str, *, patterns: Sequence[str], is_whole: Callable[[Path], bool]) -> Path:
    """The folder of `OWNER/NAME@COMMIT` in the hub's cache, fetched where it is not there.

    `patterns` say which files are wanted, `is_whole` whether a folder holds what is needed. DataError for another
    specification, and where the hub cannot be reached.
    """
    found = SPEC.fullmatch(spec)
    if found is None:
        raise DataError(
            f"--data=retrieval:{PREFIX}{spec} should be retrieval:{PREFIX}OWNER/NAME@COMMIT, with all 40 hex digits "
            "of a commit of the data set: a branch or a tag moves"
        )
    repo, commit = found["repo"], found["commit"]
    cached = _cached(repo, commit, patterns)
    return cached if cached and is_whole(cached) else _fetched(repo, commit, patterns, is_whole)


def _cached(repo: str, commit: str, patterns: Sequence[str]) -> Path | None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(
            snapshot_download(
                repo, repo_type="dataset", revision=commit, allow_patterns=list(patterns), local_files_only=True
            )
        )
    except (LocalEntryNotFoundError, OSError, ValueError):
        return None


def _fetched(repo: str, commit: str, patterns: Sequence[str], is_whole: Callable[[Path], bool]) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(repo, repo_type="dataset", revision=commit, allow_patterns=list(patterns)))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError, ValueError) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise DataError(_not_had(repo, commit, reason)) from error
    if not is_whole(folder):
        held = ", ".join(sorted(p.name for p in folder.iterdir())[:8]) or "nothing"
        raise DataError(_not_had(repo, commit, f"the download holds {held}, which is not a whole collection"))
    log.warning("%s at %s was fetched from the hub", repo, commit[:12])
    return folder


def _not_had(repo: str, commit: str, reason: str) -> str:
    return (
        f"{repo} at {commit[:12]} is not complete in the hub's cache, and cannot be downloaded ({reason:.200}). On a "
        f"machine with a network: hf download {repo} --repo-type dataset --revision {commit} --local-dir FOLDER. "
        f"Then here: "
        "--data=retrieval:FOLDER"
    )
