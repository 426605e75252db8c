"""Reverse a comparison, or state the same comparison in other words, in any English text.

"More than 50 people" is kept by "over 50 people" and changed by "fewer than 50 people". "The attic is larger than the
cellar" is kept by "the cellar is smaller than the attic" and changed by "the attic is smaller than the cellar".
"""

from __future__ import annotations

import re

from encheck.generators.phenomenon import Phenomenon, Rephrasings, edits_from_rephrasings, replace_tokens
from encheck.generators.phrases import (
    capitalise_first_letter,
    contiguous_span,
    is_noun_phrase,
    span_text,
    text_inside_sentence,
)
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.statistics.draws import Draws

TRIGGER = re.compile(r"\b(?:than|at\s+least|at\s+most)\b", re.IGNORECASE)
NONE = "no comparison that can be reversed"
BOUND = frozenset(  # negates a comparison, or fits only one direction
    """not n't n’t no never nobody nothing none neither nor hardly barely even much far slightly rather other t 't
    ’t""".split()
)
OPPOSED = (  # words for one direction, and those for the other
    (("larger", "bigger"), ("smaller",)),
    (("faster", "quicker"), ("slower",)),
    (("cheaper", "less expensive"), ("more expensive", "costlier")),
    (("easier", "less difficult"), ("harder", "more difficult")),
    (("safer", "less dangerous"), ("more dangerous", "riskier")),
    (("sooner", "earlier"), ("later",)),
    (("stronger",), ("weaker",)),
    (("more often", "more frequently"), ("less often", "less frequently")),
    (("higher", "greater"), ("lower",)),
    (("taller",), ("shorter",)), (("older",), ("younger",)), (("longer",), ("shorter",)), (("heavier",), ("lighter",)),
    (("wider", "broader"), ("narrower",)), (("better",), ("worse",)), (("richer", "wealthier"), ("poorer",)),
    (("newer",), ("older",)), (("warmer",), ("colder",)), (("louder", "noisier"), ("quieter",)),
    (("more common", "commoner"), ("rarer", "less common")), (("deeper",), ("shallower",)),
    (("more important",), ("less important",)), (("more popular",), ("less popular",)),
    (("nearer", "closer"), ("farther away",)),
)  # fmt: skip
AMBIGUOUS = frozenset(["shorter", "older"])  # shorter than the tall and than the long
BOUNDS = (  # for a number: (words for one direction, and those for the other); {few} agrees with the counted noun
    (("more than", "over"), ("{less} than", "under")),
    (("at least", "no {less} than"), ("at most", "no more than")),
)
LIMITS = frozenset("more less fewer least most".split())
MEASURES = frozenset(
    """percent year month week day hour minute second mile kilometer kilometre metre meter foot inch pound dollar euro
    kilo kilogram ton tonne gram litre liter gallon cent point degree time ft km kg hr min bn""".split()
)
CLIMBING = frozenset("rise fall jump drop climb slip sink soar surge plunge tumble go".split())  # "fell under 5"
HALF = "half"


def comparison_rephrasings(parse: Parse, english: English, rng: Draws) -> Rephrasings | str:  # noqa: ARG001 - a reading has all three
    """Return the rephrasings of a sentence's only comparison: a bound on a number, or two things compared by an
    adjective.
    """
    if not BOUND.isdisjoint(set(parse.lowers) - {"no"}) or parse.lowers.count("than") > 1:
        return "two comparisons, or a word that fits only one direction"
    bounds = [i for i in range(1, len(parse) - 1) if _is_number_bound(parse, i)]
    if len(bounds) == 1:
        at = bounds[0]
        first = at - 1 - (parse.lowers[at - 2 : at - 1] == ("no",))
        written = [parse.words[i] for i in range(max(first, 1), at + 1)]
        if parse.lowers[at + 1] in ("one", "once") or not " ".join(written).islower() or parse.tags[first - 1] == "DT":
            return "a bound that is not plain"
        if parse.lower_lemmas[first - 1] in CLIMBING:
            return "a bound that is not plain"
        # The number counts things, so that there can be fewer of them.
        after = next((i for i in range(at + 1, len(parse)) if parse.tags[i] != "CD"), len(parse) - 1)
        is_measure = (
            parse.lower_lemmas[after] in MEASURES or parse.words[after].startswith("%") or parse.pos[after] == "SYM"
        )
        less = (
            "fewer"
            if parse.words[at + 1] not in ("$", HALF) and "." not in parse.words[at + 1] and not is_measure
            else "less"
        )
        said = " ".join(parse.lowers[first : at + 1]).replace("fewer", "less")
        for pair in BOUNDS:
            words = [[one.format(less="less") for one in side] for side in pair]
            side = next((i for i in (0, 1) if said in words[i]), None)
            if side is not None and "no" not in set(parse.lowers) - set(parse.lowers[first : at + 1]):
                result = [
                    [replace_tokens(parse, (first, at + 1, one.format(less=less))) for one in each] for each in pair
                ]
                number = parse.lowers[at + 1]
                is_round = number in ("$", HALF) or (number.endswith("0") and number.replace(",", "").isdigit())
                control = replace_tokens(parse, (first, at + 1, "almost" if is_round else "exactly"))
                return Rephrasings(result[side], result[1 - side], "a bound of a number", control)
        return NONE
    return (_adjective_rephrasings(parse, english) if "than" in parse.lowers else None) or NONE


def _is_number_bound(parse: Parse, at: int) -> bool:
    """Return whether "than", "least" or "most" before a number makes that number a lower or upper bound."""
    pair = parse.lowers[at - 1 : at + 1] in (("at", "least"), ("at", "most"))
    after = at + 1 + (parse.words[at + 1] == "$")
    numbered = parse.tags[after : after + 1] == ("CD",) or parse.lowers[after] == HALF
    than = parse.lowers[at] == "than" and parse.lowers[at - 1] in LIMITS
    return numbered and (pair or than)


def _adjective_rephrasings(parse: Parse, english: English) -> Rephrasings | None:
    """Return the rephrasings of a listed adjective or adverb before "than".

    They state the comparison in other words, reverse it, and exchange the two things.
    """
    than = parse.lowers.index("than")
    for pair in OPPOSED:
        for own, other in (pair, pair[::-1]):
            for words in (one for one in own if one not in AMBIGUOUS):
                first = than - len(words.split())
                # With an amount: "two years older", "three times faster".
                if " ".join(parse.lowers[max(first, 0) : than]) == words and not (
                    first < 1
                    or "CD" in parse.tags[max(first - 5, 0) : first]
                    or parse.tags[first - 1] in ("NNS", "RB", "RBR")
                ):
                    kept = [replace_tokens(parse, (first, than, one)) for one in own]
                    changed = [replace_tokens(parse, (first, than, one)) for one in other]
                    kept += _exchange_compared_things(parse, english, first, than, other)
                    changed += _exchange_compared_things(parse, english, first, than, own)
                    return Rephrasings(kept, changed, "a comparison", _equality_text(parse, first, than))
    return None


def _equality_text(parse: Parse, first: int, than: int) -> str:
    """Return the text with "as large as" in place of "larger than"."""
    if parse.pos[first - 1] not in ("AUX", "VERB"):
        return ""
    if parse.tags[than - 1] == "JJR":
        return replace_tokens(parse, (first, than + 1, f"as {parse.lower_lemmas[than - 1]} as"))
    return replace_tokens(parse, (first, than + 1, f"as {parse.lowers[than - 1]} as")) if than - first == 2 else ""


def _exchange_compared_things(
    parse: Parse, english: English, first: int, than: int, words: tuple[str, ...]
) -> list[str]:
    """Return the texts with the two things exchanged, if they are plain nouns, both singular or both plural."""
    at, second = parse.heads[parse.heads[than]], parse.heads[than]
    subject = parse.child(at, "nsubj")
    if parse.heads[at] != at or subject is None or parse.child(at, "cop") is None:
        return []
    one, two = contiguous_span(parse, subject), contiguous_span(parse, second)
    if one is None or two is None or one[0] != 0 or two[0] != than:
        return []
    # Two plurals or two singulars, each a plural, a name, or with a determiner.
    numbers = [parse.tags[i] in ("NNS", "NNPS") for i in (subject, second)]
    if numbers[0] != numbers[1] or not all(
        parse.tags[i] in ("NNP", "NNS") or parse.child(i, "det", "nmod:poss") is not None for i in (subject, second)
    ):
        return []
    two = (than + 1, two[1])
    nouns = is_noun_phrase(parse, subject, one, of=frozenset(["of"])) and is_noun_phrase(
        parse, second, two, of=frozenset(["of"])
    )
    back = text_inside_sentence(parse, one, english.lexicon)
    if not nouns or back is None or any(parse.pos[i] != "PUNCT" for i in range(two[1], len(parse))):
        return []
    front = capitalise_first_letter(span_text(parse, two)) if parse.words[0][0].isupper() else span_text(parse, two)
    return [replace_tokens(parse, (0, one[1], front), (first, than, each), (*two, back)) for each in words]


COMPARATIVE = Phenomenon(
    "comparative",
    edits_from_rephrasings(comparison_rephrasings),
    "reversed comparisons",
    trigger=TRIGGER,
    without=NONE,
    in_probes=True,
)
