"""Each side of a crossed or mirrored group as a group of its own, for claims that weigh single contrasts.

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
    """The group, with the near pair of a crossed form as its plain contrast, and a group for each other side."""
    crossed = _crossed(group)
    plain = tuple(replace(v, favours="") for v in group.variants if v.favours == "kept" and _name(v) in crossed)
    yield replace(group, variants=(*group.variants, *plain)) if plain else group
    for name in crossed:
        yield _far(group, name)
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


def _crossed(group: Group) -> list[str]:
    """The phenomena in the crossed form, of which no plain contrast was written."""
    names = dict.fromkeys(_name(v) for v in group.variants if v.favours == "changed")
    return [name for name in names if group.variant(name) is None]


def _name(variant: Variant) -> str:
    return variant.relation.removesuffix("_kept")


def _far(group: Group, name: str) -> Group:
    """The pair of the crossed form whose surface favours the changed text, as a plain contrast."""
    pair = (v for v in group.variants if v.favours == "changed" and _name(v) == name)
    variants = [replace(v, favours="") for v in pair]
    return _alone(group, f"far-{name}", group.source, [*variants, *_control(group, name, group.source)])


def _turned(group: Group, name: str, source: str) -> Group:
    """A mirrored group from its second sentence: what changed the first keeps the second."""
    kept, changed = group.variant(kept_relation(name)), group.variant(name)
    if kept is None or changed is None:
        return _alone(group, f"mirror-{name}", source, [])
    variants = [
        replace(kept, text=changed.text, edits=edits(source, changed.text), certificate=changed.certificate),
        replace(changed, text=kept.text, edits=edits(source, kept.text), certificate=kept.certificate),
    ]
    return _alone(group, f"mirror-{name}", source, [*variants, *_control(group, name, source)])


def _control(group: Group, name: str, source: str) -> list[Variant]:
    found = group.variant(control_relation(name))
    return [replace(found, edits=edits(source, found.text))] if found else []


def _alone(group: Group, side: str, source: str, variants: list[Variant]) -> Group:
    name = f"{group.id}~{side}"
    return Group(
        name,
        source,
        source,
        group.cluster,
        tuple(variants),
        None,
        group.split,
        side=side,
        is_quick=group.is_quick,
        shares=group.shares,
        construction=group.construction,
    )
