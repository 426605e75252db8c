"""Jumbles: pairs of words exchanged at random (Mahajan et al. 2023, criterion 4)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from encheck.generators.base import listed_generator
from encheck.language.english import English
from encheck.language.prose import find_unedited_spans, why_not_edited
from encheck.types import Edit, Group, Variant, apply_edits, edits_in_words

WORD = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")
TRIES = 20


@listed_generator(1, 2, 3)
def jumble(group: Group, *, level: int, rng: Random, english: English) -> Variant | str:  # noqa: ARG001
    """Exchange `level` disjoint pairs of different words, or return a reason if the sentence has too few.

    Words move without the punctuation around them, so a final full stop stays in its place. The result has the same
    words as the source, and differs from it in exactly 2 x `level` places.
    """
    if left := "" if group.variants else why_not_edited(group.source):
        return left
    stays = (
        () if group.variants else find_unedited_spans(group.source)
    )  # the shipped probes were measured before code was kept in place
    edits = choose_exchanges(group.source, pairs=level, rng=rng, stays=stays)
    if edits is None:
        return f"too few different words for {level} exchanges"
    said = f"exchanged: {edits_in_words(group.source, edits)}"
    return Variant(apply_edits(group.source, edits), "jumble", level, edits, "jumble", said)


def choose_exchanges(
    text: str, *, pairs: int, rng: Random, stays: Sequence[tuple[int, int]] = ()
) -> tuple[Edit, ...] | None:
    """Return the edits that exchange `pairs` disjoint pairs of words, or None if there are too few words.

    The words of a pair differ in more than case. Words in the character spans `stays` do not move.
    """
    match = (m for m in WORD.finditer(text) if not any(m.start() < b and a < m.end() for a, b in stays))
    words = [(m.start(), m.end(), m.group()) for m in match]
    for _ in range(TRIES):
        chosen = _sample_disjoint_pairs([w.lower() for _, _, w in words], pairs, rng)
        if chosen is not None:
            other = {a: b for pair in chosen for a, b in (pair, pair[::-1])}
            return tuple(Edit(*words[i][:2], words[other[i]][2]) for i in sorted(other))
    return None


def _sample_disjoint_pairs(words: list[str], pairs: int, rng: Random) -> list[tuple[int, int]] | None:
    order = list(range(len(words)))
    rng.shuffle(order)
    chosen: list[tuple[int, int]] = []
    while len(chosen) < pairs and order:
        first = order.pop()
        second = next((i for i in order if words[i] != words[first]), None)
        if second is None:
            return None
        order.remove(second)
        chosen.append((first, second))
    return chosen if len(chosen) == pairs else None
