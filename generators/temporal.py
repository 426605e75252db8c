"""The order of two events reversed, and the same order in other words: for any English text.

"Ann paid before she called" is kept by "Before she called, Ann paid" and changed by "Ann paid after she called". If no
pronoun prevents it, the clauses also change places: "The shop closed after Ann left" is "Ann left before the shop
closed".
"""

from __future__ import annotations

import re

from encheck.generators.clauses import TwoClauses, arranged, two_clauses
from encheck.generators.phenomenon import Phenomenon, Ways, choice_of
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


def read(parse: Parse, english: English, rng: Draws) -> Ways | str:  # noqa: ARG001 - a reading has all three
    """The clause that "before" or "after" opens, with the main clause."""
    clauses = two_clauses(parse, english, frozenset(OTHER))
    if isinstance(clauses, str):
        return clauses
    if not clauses.agrees:
        return "tenses that fit only one order of events"
    if not BOUND.isdisjoint(parse.lowers):
        return "a word that fits only one order of events"
    kept, changed = _told(clauses, clauses.word), _told(clauses, OTHER[clauses.word])
    control = arranged(clauses, clauses.main, "because", clauses.other) if clauses.is_past else ""
    return Ways(kept, changed, "the order of events", control)


def _told(clauses: TwoClauses, word: str) -> list[str]:
    """The texts with this order of events, by the place of the clause and, if either can be the main one, by that
    choice.
    """
    texts = [
        arranged(clauses, clauses.main, word, clauses.other),
        arranged(clauses, clauses.main, word, clauses.other, front=True),
    ]
    if clauses.is_free:
        turned = OTHER[word]
        texts += [arranged(clauses, clauses.other, turned, clauses.main, front=front) for front in (False, True)]
    return texts


TEMPORAL = Phenomenon(
    "temporal", choice_of(read), "reversed orders of events", trigger=TRIGGER, without=NONE, in_probes=True
)
