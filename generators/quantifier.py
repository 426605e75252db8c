"""Change the quantity in "all", "every", "many" or "nobody", or state the same quantity in other words.

"Every student passed" is kept by "each student passed" and changed by "no student passed".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from encheck.generators.phenomenon import Phenomenon, Rephrasings, edits_from_rephrasings, replace_tokens
from encheck.language.edits.inflection import inflect
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.statistics.draws import Draws

TRIGGER = re.compile(
    r"\b(?:all|every|each|many|most|several|no|everyone|everybody|someone|somebody|no\s+one|nobody)\b", re.IGNORECASE
)
NONE = "no quantifier that can be exchanged"
TWO = "two quantifiers, or a negation beside one"
NEGATIVE = frozenset("not n't n’t no nobody none neither nor never hardly barely scarcely few nothing without".split())
UNIVERSAL = frozenset("all every each everyone everybody many most several someone somebody both any".split())
BOUND = frozenset(  # contradicts a negative quantifier, or fits only one kind of quantifier
    """but except other ever yet until only even just also still already almost nearly virtually they them their
    it together same different another more than such so too if although though while because or including
    pretty""".split()
)
TIMES = frozenset(
    """day time year month week night morning evening afternoon hour minute second moment weekend season decade
    century way kind sort type case step bit turn occasion place side corner one thing part portion area manner
    acre mile reason evidence information money food water music help work damage news advice progress doubt""".split()
)
DEFINITE = frozenset("the these those my your his her our their its".split())
Maker = Callable[[Parse, int, int], Rephrasings | None]
PERSONS = {
    "everyone": ("everybody",), "everybody": ("everyone",), "someone": ("somebody",), "somebody": ("someone",),
    "nobody": ("no one",), "no one": ("nobody",),
}  # fmt: skip
OTHERS = {"nobody": ("everyone", "everybody"), "no one": ("everyone", "everybody")}
NO_PERSON = ("no one", "nobody")
PART = ("only some of the", "some but not all of the")


def quantifier_rephrasings(parse: Parse, english: English, rng: Draws) -> Rephrasings | str:  # noqa: ARG001 - a reading has all three
    """Return the rephrasings of a subject's or object's quantifier, if it is the only one of its sentence."""
    lowers = parse.lowers
    result = [i for i, word in enumerate(lowers) if word in UNIVERSAL or word in NEGATIVE]
    if len(result) != 1:
        return TWO if result else NONE
    at = result[0]
    if any(word in BOUND for i, word in enumerate(lowers) if i != at) or parse.entities[at]:
        return "a word that fits only one of the two quantifiers"
    ways = _person_rephrasings(parse, at) or _noun_rephrasings(parse, at)
    return ways or NONE


def _person_rephrasings(parse: Parse, at: int) -> Rephrasings | None:
    """Return the rephrasings of "everybody": "everyone" keeps the meaning, "no one" changes it."""
    after = at + 2 if parse.lowers[at : at + 2] == ("no", "one") else at + 1
    said = " ".join(parse.lowers[at:after])
    if said not in PERSONS or parse.bases[after - 1] not in ("nsubj", "obj"):
        return None
    if parse.child(parse.heads[after - 1], "expl") is not None:
        return None
    return _exchange_quantifier(parse, at, after, PERSONS[said], OTHERS.get(said, NO_PERSON), "persons", "a friend")


def _noun_rephrasings(parse: Parse, at: int) -> Rephrasings | None:
    """Return the rephrasings of the quantifier of a noun that is a subject or an object."""
    noun = parse.heads[at]
    if parse.bases[at] not in ("det", "amod") or not parse.tags[noun].startswith("NN") or noun < at:
        return None
    begins = parse.subtree(noun)[0] == at
    if not begins or parse.bases[noun] not in ("nsubj", "obj") or parse.lower_lemmas[noun] in TIMES:
        return None
    if any(parse.tags[i] == "CD" for i in range(at, noun)) or parse.entities[noun]:
        return None
    if parse.child(noun, "conj", "appos") is not None:
        return None
    return MAKERS[parse.lowers[at]](parse, at, noun) if parse.lowers[at] in MAKERS else None


def _is_subject(parse: Parse, noun: int) -> bool:
    return parse.bases[noun] == "nsubj"


def _every_rephrasings(parse: Parse, at: int, noun: int) -> Rephrasings | None:
    """Return the rephrasings of "every student".

    For a subject these are "each" and "no". For an object it is only "some", which needs a plural.
    """
    other = "each" if parse.lowers[at] == "every" else "every"
    if parse.tags[noun] != "NN":
        return None
    if _is_subject(parse, noun):
        return _exchange_quantifier(
            parse, at, at + 1, (other,), ("no", "not a single"), "every one of a kind", "another"
        )
    plural = inflect(parse.lower_lemmas[noun], "NNS")
    if plural is None or parse.words[noun] != parse.lowers[noun]:
        return None
    changed = [replace_tokens(parse, (at, at + 1, part), (noun, noun + 1, plural)) for part in PART]
    control = replace_tokens(parse, (at, at + 1, "another"))
    return Rephrasings([replace_tokens(parse, (at, at + 1, other))], changed, "every one of a kind", control)


def _all_rephrasings(parse: Parse, at: int, noun: int) -> Rephrasings | None:
    """Return the rephrasings of "all the students".

    These are "all of them" and "only some of them", and also "all students" if the verb need not agree.
    """
    if parse.tags[noun] != "NNS":
        return None
    if parse.lowers[at + 1] in DEFINITE:
        of = parse.lowers[at + 1]
        parts = tuple(part.removesuffix("the") + of for part in PART)
        return _exchange_quantifier(
            parse, at, at + 2, (f"all of {of}",), parts, "all of a group", "the other" if of == "the" else ""
        )
    singular = parse.lower_lemmas[noun]
    if not _is_subject(parse, noun) or inflect(singular, "NNS") != parse.words[noun]:
        return None
    # The verb needs the same form for singular and plural, as "must" and "passed" have.
    verb = parse.heads[noun]
    finite = next((i for i in parse.children[verb] if parse.bases[i] in ("aux", "cop")), verb)
    if parse.tags[finite] != "MD" and (parse.tags[finite] != "VBD" or parse.lower_lemmas[finite] == "be"):
        return None
    kept = [replace_tokens(parse, (at, at + 1, word), (noun, noun + 1, singular)) for word in ("every", "each")]
    changed = [replace_tokens(parse, (at, at + 1, part)) for part in ("only some", "some but not all")]
    return Rephrasings(kept, changed, "all of a kind", replace_tokens(parse, (at, at + 1, "other")))


def _many_rephrasings(parse: Parse, at: int, noun: int, *, said: str, kept: tuple[str, ...]) -> Rephrasings | None:
    """Return the rephrasings of "many".

    They are "few" and "not many" for a subject, "very few" and "hardly any" for an object.
    """
    if parse.tags[noun] != "NNS":
        return None
    few = ("few", "not many", "very few") if _is_subject(parse, noun) else ("very few", "hardly any")
    return _exchange_quantifier(parse, at, at + 1, kept, few, f"{said} of a kind", "other")


def _no_rephrasings(parse: Parse, at: int, noun: int) -> Rephrasings | None:
    """Return the rephrasings of "no student" as a subject: "not a single student", "every student", "each student"."""
    is_there = parse.child(parse.heads[noun], "expl") is not None
    if parse.tags[noun] != "NN" or not _is_subject(parse, noun) or is_there:
        return None
    return _exchange_quantifier(
        parse, at, at + 1, ("not a single", "not one"), ("every", "each"), "none of a kind", "another"
    )


MAKERS: dict[str, Maker] = {
    "every": _every_rephrasings, "each": _every_rephrasings, "all": _all_rephrasings, "no": _no_rephrasings,
    "many": partial(_many_rephrasings, said="many", kept=("a lot of", "a large number of")),
    "several": partial(_many_rephrasings, said="several", kept=("a number of",)),
    "most": partial(_many_rephrasings, said="most", kept=("the majority of", "more than half of all")),
}  # fmt: skip


def _exchange_quantifier(
    parse: Parse, at: int, after: int, kept: tuple[str, ...], changed: tuple[str, ...], why: str, control: str = ""
) -> Rephrasings:
    def replace_with(words: str) -> str:
        return replace_tokens(parse, (at, after, words))

    return Rephrasings(
        [replace_with(one) for one in kept],
        [replace_with(one) for one in changed],
        why,
        replace_with(control) if control else "",
    )


QUANTIFIER = Phenomenon(
    "quantifier",
    edits_from_rephrasings(quantifier_rephrasings),
    "other quantifiers",
    trigger=TRIGGER,
    without=NONE,
    in_probes=True,
)
