"""The phenomena of the probes, each with the edits that belong to it.

Of each, one edit keeps the meaning, one changes it, and one is a control, another plausible statement of the same
place. They were written by hand (docs/probes.md); on other text those of `MADE` are made, some of them with
`--experimental` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from encheck.generators import (
    binding,
    comparative,
    condition,
    entity,
    modality,
    negation,
    number,
    quantifier,
    roles,
    temporal,
)  # fmt: skip
from encheck.generators.base import Generator, Outcome, name_of
from encheck.generators.written import OPTION, OWN_TEXT, unwritten, written
from encheck.language.english import English
from encheck.statistics.draws import Draws
from encheck.types import Group, Lacking

PHENOMENA = (
    "negation", "number", "role_reversal", "temporal", "quantifier", "modality", "entity", "binding", "comparative",
)  # fmt: skip
Side = Literal["kept", "changed", "control", "mirror"]
MADE: Mapping[str, Mapping[str, Generator]] = {  # by phenomenon and side, of any English text
    "entity": entity.SIDES,
    "negation": negation.SIDES,
    "number": number.SIDES,
    "quantifier": quantifier.SIDES,
    "modality": modality.SIDES,
    "comparative": comparative.SIDES,
    "temporal": temporal.SIDES,
    "condition": condition.SIDES,
    "binding": binding.SIDES,
    "role_reversal": roles.SIDES,
}
EXPERIMENTAL = {  # what blind readers did not find good enough, or have not read (docs/generators.md)
    "entity": frozenset({"control"}),
    "quantifier": frozenset(quantifier.SIDES),
    "modality": frozenset(modality.SIDES),
    "comparative": frozenset(comparative.SIDES),
    "temporal": frozenset(temporal.SIDES),
    "condition": frozenset(condition.SIDES),
    "binding": frozenset(binding.SIDES),
    "role_reversal": frozenset(roles.SIDES),
}


def _lacking(name: str, what: str) -> Lacking:
    """Why a sentence has no edit: nobody wrote one, or what is made alone was not asked for."""
    return unwritten(what) if name in PHENOMENA else Lacking(f"no {what} in these data", needs=OWN_TEXT)


@cache
def phenomenon(name: str, side: Side) -> Generator:
    """The generator of one side of a phenomenon, of the probes or made; ValueError for an unknown name.

    >>> phenomenon("number", "kept").__name__
    'number_kept'
    """
    known = dict.fromkeys((*PHENOMENA, *MADE))
    if name not in known:
        raise ValueError(f"{name!r} is not a phenomenon; there are {', '.join(known)}")
    relation = name if side == "changed" else f"{name}_{side}"
    made = MADE.get(name, {}).get(side)
    is_experimental = side in EXPERIMENTAL.get(name, ())
    lacking = _lacking(name, f"{relation} edit")
    is_alone = is_experimental and EXPERIMENTAL[name] < MADE[name].keys()  # other sides are made without the option
    on_trial = Lacking(f"{relation} is made with {OPTION} only", needs=OPTION)

    def generate(group: Group, *, level: int, rng: Draws, english: English) -> Outcome | None:
        if made is not None and not group.variants and (english.experimental or not is_experimental):
            return made(group, level=level, rng=rng, english=english)
        return written(group, relation, level=level) or (on_trial if is_alone and not group.variants else lacking)

    generate.__name__ = relation
    generate.label = relation if made is None else name_of(made)  # type: ignore[attr-defined]
    generate.is_written = True  # type: ignore[attr-defined]  # may share its name with a generator that makes some
    generate.is_experimental = is_experimental  # type: ignore[attr-defined]
    generate.surveys = getattr(made, "surveys", None)  # type: ignore[attr-defined]
    generate.seeded_as = getattr(made, "seeded_as", relation)  # type: ignore[attr-defined]
    return generate
