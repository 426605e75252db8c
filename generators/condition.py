"""Turn a condition into its exception, or state the same condition in other words, in any English text.

"The shop closes if it rains" is kept by "If it rains, the shop closes" and changed by "The shop closes unless it
rains".
"""

from __future__ import annotations

import re

from encheck.generators.clauses import TwoClauses, join_clauses, split_two_clauses
from encheck.generators.phenomenon import Phenomenon, Rephrasings, edits_from_rephrasings
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.statistics.draws import Draws

TRIGGER = re.compile(r"\b(?:if|unless)\b", re.IGNORECASE)
NONE = "no condition"
SAYING = {"if": ("if", "provided that"), "unless": ("unless",)}
OTHER = {"if": "unless", "unless": "if"}
NEGATIVE = frozenset("not n't n’t no never nobody nothing none neither nor without".split())
BOUND = frozenset(  # fits only one of the two
    """would could might were had then only even just what as else otherwise any anything anyone anybody ever yet please
    sorry also still instead until when whether possible necessary sure free let welcome""".split()
)
ADDRESSED = frozenset(  # "if you want a copy" names the audience of a statement, not its condition
    "think know believe see understand mean suppose guess wonder want like need enjoy prefer love look ask".split()
)


def condition_rephrasings(parse: Parse, english: English, rng: Draws) -> Rephrasings | str:  # noqa: ARG001 - a reading has all three
    """Return the rephrasings of a clause with "if" or "unless" and its main clause."""
    clauses = split_two_clauses(parse, english, frozenset(OTHER))
    if isinstance(clauses, str):
        return clauses
    if not clauses.fits_open_condition:
        return "no open condition"
    if not ADDRESSED.isdisjoint(parse.lower_lemmas):
        return "a condition on the reader's wishes"
    is_denied = not NEGATIVE.isdisjoint(parse.lowers)
    if is_denied or not BOUND.isdisjoint(parse.lowers):
        return "a word that fits only a condition or only an exception"
    kept, changed = (
        _join_with_each_conjunction(clauses, clauses.conjunction),
        _join_with_each_conjunction(clauses, OTHER[clauses.conjunction]),
    )
    return Rephrasings(kept, changed, "a condition", join_clauses(clauses, clauses.main, "even if", clauses.other))


def _join_with_each_conjunction(clauses: TwoClauses, word: str) -> list[str]:
    return [
        join_clauses(clauses, clauses.main, each, clauses.other, front=front)
        for each in SAYING[word]
        for front in (False, True)
    ]


CONDITION = Phenomenon(
    "condition",
    edits_from_rephrasings(condition_rephrasings),
    "exceptions for conditions",
    trigger=TRIGGER,
    without=NONE,
)
