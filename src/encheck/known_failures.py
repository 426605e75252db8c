"""Which failures are known, by whom it is said: shown with their reason, never hidden."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType


def known_failure(
    check: str,
    data: str,
    level: str,
    entries: Mapping[str, str] | None,
    *,
    declared: Mapping[str, str] = MappingProxyType({}),
) -> str | None:
    """The reason why this failure is known, or None.

    `entries` are a model's own, with `check` or patterns of `check/data/level` for keys. A model without any has what
    the check itself has `declared`, with patterns of `data/level`. The longest pattern that matches wins.

    >>> known_failure("antonym_is_farther_than_paraphrase", "mrpc", "1", {"antonym_*/mrpc/*": "old"})
    'old'
    >>> known_failure("jumble_is_farther_than_reorder", "mrpc", "1", None, declared={"*/1": "the papers"})
    'the papers'
    """
    table = {f"{check}/{key}": reason for key, reason in declared.items()} if entries is None else entries
    name = f"{check}/{data}/{level}"
    patterns = {key: key if "/" in key else f"{key}/*" for key in table}
    keys = [key for key, pattern in patterns.items() if fnmatchcase(name, pattern)]
    return table[max(keys, key=len)] if keys else None
