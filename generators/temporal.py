"""Reverse the order of two events, or state the same order in other words, in any English text.

"Ann paid before she called" is kept by "Before she called, Ann paid" and changed by "Ann paid after she called". If no
pronoun prevents it, the clauses also change places: "The shop closed after Ann left" is "Ann left before the shop
closed".
"""

from __future__ import annotations

import re

from encheck.generators.clauses import TwoClauses, join_clauses, split_two_clauses
from encheck.generators.phenomenon import Phenomenon, Rephrasings, edits_from_rephrasings
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.statistics.draws import Draws

TRIGGER = re.compile(r"\b(?:before|after)\b", re.IGNORECASE)
NONE = "no two events in order"
OTHER = {"before": "after", "after": "before"}
BOUND = frozenset(  # fits only one order, or states an amount
    """not n't n’t no never nobody nothing none neither nor just only even soon shortly long right immediately day days
    week weeks month months year years hour hours minute minutes moments time yet already still until once again first
    finally then later ever any had because since so while when if though past earlier previously
    eventually""".split()
)


def event_order_rephrasings(parse: Parse, english: English, rng: Draws) -> Rephrasings | str:  # noqa: ARG001 - a reading has all three
    """Return the rephrasings of a clause with "before" or "after" and its main clause."""
    clauses = split_two_clauses(parse, english, frozenset(OTHER))
    if isinstance(clauses, str):
        return clauses
    if not clauses.fits_event_order:
        return "tenses that fit only one order of events"
    if not BOUND.isdisjoint(parse.lowers):
        return "a word that fits only one order of events"
    kept, changed = (
        _join_in_each_order(clauses, clauses.conjunction),
        _join_in_each_order(clauses, OTHER[clauses.conjunction]),
    )
    control = join_clauses(clauses, clauses.main, "because", clauses.other) if clauses.are_both_past else ""
    return Rephrasings(kept, changed, "the order of events", control)


def _join_in_each_order(clauses: TwoClauses, word: str) -> list[str]:
    """Return the texts with this order of events.

    The clause with "before" or "after" is at the front or at the end. If either clause can be the main clause, both
    choices are returned.
    """
    texts = [
        join_clauses(clauses, clauses.main, word, clauses.other),
        join_clauses(clauses, clauses.main, word, clauses.other, front=True),
    ]
    if clauses.clauses_can_swap:
        turned = OTHER[word]
        texts += [join_clauses(clauses, clauses.other, turned, clauses.main, front=front) for front in (False, True)]
    return texts


TEMPORAL = Phenomenon(
    "temporal",
    edits_from_rephrasings(event_order_rephrasings),
    "reversed orders of events",
    trigger=TRIGGER,
    without=NONE,
    in_probes=True,
)
