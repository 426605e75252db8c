"""Synonym edits: `level` words replaced by words of the same meaning (Mahajan et al. 2023, criterion 2)."""

from __future__ import annotations

from encheck.generators.base import listed
from encheck.generators.paper import paper_synonym
from encheck.generators.replacing import Slot, find_slots, is_last, ordered, replaced
from encheck.language.edits.substitutes import SYNONYM
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.statistics.draws import Draws
from encheck.types import Group, Variant


@listed(1, 2, 3, title="synonyms", readers=(216, 260))
def synonym(group: Group, *, level: int, rng: Draws, english: English) -> Variant | str | None:
    """The written edit where the data has them, else `level` words replaced by those of the table.

    Each word gives way to one that holds in its place: same part of speech and inflection, conditions of the
    substitute met, tagged as before. A higher level keeps the edits of the lower one.
    """
    if group.variants:
        return group.variant("synonym", level)
    if english.mode == "paper":
        return paper_synonym(group.source, words=level, rng=rng, lexicon=english.lexicon)
    slots = english.read(synonym_slots, group.source)
    if isinstance(slots, str):
        return slots
    parse = english.parse(group.source)
    ranked_slots = ordered(slots, rng, is_last)
    return replaced(english, parse, ranked_slots, relation="synonym", level=level)


def synonym_slots(english: English, parse: Parse) -> tuple[Slot, ...] | str:
    """Where this sentence has a synonym, in the order of words; or the reason why nowhere."""
    return find_slots(english, parse, SYNONYM)


@listed(beside=("antonym",))
def synonym_beside(
    group: Group,
    *,
    base: Variant,
    level: int,
    rng: Draws,  # noqa: ARG001
    english: English,
) -> Variant | str | None:
    """A synonym of the very word that `base` replaces."""
    if group.variants:
        return group.variant("synonym", level)
    slots = english.read(synonym_slots, group.source)
    if isinstance(slots, str):
        return slots
    parse = english.parse(group.source)
    replaced_at = {edit.start for edit in base.edits}
    here = [slot for slot in slots if parse.starts[slot.at] in replaced_at]
    if not here:
        return "no synonym of the same word"
    return replaced(english, parse, here, relation="synonym", level=1)
