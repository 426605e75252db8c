"""Variants that were written by hand: those of the embedded probes, or of a probe file of the user's own."""

from __future__ import annotations

from encheck.types import Group, Lacking, Variant

PROBES = "written probes"
OWN_TEXT = "text of your own and --experimental"
OPTION = "--experimental"


def written(group: Group, relation: str, *, level: int = 1) -> Variant | None:
    """The written variant of this relation and level, or None if this sentence has none."""
    return group.variant(relation, level)


def unwritten(what: str) -> Lacking:
    """Why a sentence has nothing that only hands write.

    >>> unwritten("number_kept edit")
    'no number_kept edit was written for this sentence'
    """
    return Lacking(f"no {what} was written for this sentence", needs=PROBES)
