"""Each side of a crossed group as a group of its own, for claims that weigh single contrasts.

The sides of a group share its cluster, so that no interval takes them for independent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from encheck.datasets.fresh.wording import edits
from encheck.types import Group, Variant

MIRROR = "_mirror"
KEPT_OF = {"antonym": "synonym"}  # of other phenomena it is the name with "_kept"
CONTROL_OF = {"antonym": "control"}


def sides(group: Group) -> Iterator[Group]:
    """The group, and a group for each other sentence that mirrors it."""
    yield group
    for mirror in group.variants:
        if mirror.relation.endswith(MIRROR):
            yield _turned(group, mirror.relation.removesuffix(MIRROR), mirror.text)


def kept_relation(phenomenon: str) -> str:
    """The relation of the edit that keeps the meaning beside a phenomenon.

    >>> kept_relation("number"), kept_relation("antonym")
    ('number_kept', 'synonym')
    """
    return KEPT_OF.get(phenomenon, f"{phenomenon}_kept")


def control_relation(phenomenon: str) -> str:
    """The relation of the control beside a phenomenon."""
    return CONTROL_OF.get(phenomenon, f"{phenomenon}_control")


def _turned(group: Group, name: str, source: str) -> Group:
    """The group from its second sentence: what changed the first keeps the second."""
    kept, changed, control = (group.variant(r) for r in (kept_relation(name), name, control_relation(name)))
    variants: list[Variant] = []
    if kept and changed:
        variants = [
            replace(kept, text=changed.text, edits=edits(source, changed.text), certificate=changed.certificate),
            replace(changed, text=kept.text, edits=edits(source, kept.text), certificate=kept.certificate),
        ]
        variants += [replace(control, edits=edits(source, control.text))] if control else []
    side = f"mirror-{name}"
    return replace(
        group, id=f"{group.id}~{side}", source=source, paraphrase=source, variants=tuple(variants), continuation=None,
        passage=None, side=side,
    )  # fmt: skip
