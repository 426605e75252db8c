"""Words that differ by a few letters and mean something else: "million" and "billion", "employer" and "employee".

The table was written for encheck. A word is replaced only if the other one fits for any meaning of the sentence,
judging by its tag, its neighbours and the other words of the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

from encheck.language.edits.substitutes import Expressions
from encheck.language.lexicon.lexicon import Lexicon
from encheck.language.parse import Parse
from encheck.types import Edit

Place = Literal[
    "any", "day", "month", "counted", "amount", "this or last", "of the day", "colour", "somebody", "people", "pronoun",
    "before a number", "without", "there", "described", "compass", "limit", "passive",
]  # fmt: skip
BEFORE_THERE = frozenset("VB VBP VBD VBN VBZ VBG NN NNS RB".split())
PERSONS = frozenset(
    """he she his her hers him himself herself man woman men women boy girl boys girls lady ladies gentleman guy guys
    father mother dad mum mom brother sister son daughter husband wife uncle aunt king queen actor actress waitress
    pregnant beard bearded skirt dress bra bikini topless shirtless mr mrs ms mr. mrs. ms. sir madam male female
    girlfriend boyfriend fathers mothers brothers sisters sons daughters maternal paternal""".split()
)
COLOURS = frozenset("red blue green black white brown yellow purple pink gray grey orange golden dark light".split())
OF_THINGS = ("red", "blue", "green", "black", "white", "yellow", "pink", "purple")
OF_ANIMALS = ("black", "white", "brown", "gray")
SKILLED = frozenset(
    """board box card belt flag house paper pepper wine tea cap light lights line list market hole sheet tape screen tie
    collar goods carpet coat gold onion book room phone line room hat pages chip noise head bread chocolate""".split()
)
ARTIFACT, ANIMAL = 6, 5  # WordNet's files of nouns, https://wordnet.princeton.edu/documentation/lexnames5wn
OF_DAY = frozenset("a.m. p.m. am pm breakfast dinner sunrise sunset night afternoon good".split())
COMPASS = frozenset("north south east west".split())
DAYS = tuple("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())
MONTHS = tuple("January February April June July August September October November December".split())
UNITS = ("minutes", "hours", "days", "weeks", "months", "years")  # each next to its neighbours
LONG_MONTHS = 29  # days that some months lack
MEASURES = "mg/g g/kg mm/cm cm/m m/km ml/l KB/MB MB/GB GB/TB ms/s kW/MW Hz/kHz"


class CloseWords(NamedTuple):
    """Words that can replace each other in such a place, with these tags."""

    words: tuple[str, ...]
    tags: frozenset[str]
    place: Place


def _fits_place(place: Place, lexicon: Lexicon, parse: Parse, at: int, new: str) -> bool:
    """Return whether the other word fits whatever the sentence means, judging by tags and neighbouring words."""
    word, head = parse.lowers[at], parse.heads[at]
    before = parse.lowers[at - 1] if at else ""
    behind = parse.lowers[at + 1] if at + 1 < len(parse) else ""
    tag_before, tag_behind = parse.tags[at - 1] if at else "", parse.tags[at + 1] if at + 1 < len(parse) else ""
    match place:
        case "any":
            return True
        case "day":  # the only one, and not part of a name such as Black Friday
            is_named = tag_before.startswith("NNP") or tag_behind.startswith("NNP")
            return sum(word in DAYS for word in parse.words) <= 1 and not is_named
        case "month":  # the only one; its day, if any, exists in all months
            numbers = [int(word) for word in (behind, before) if word.isdigit() and len(word) < 3]
            months = sum(word in (*MONTHS, "March", "May") for word in parse.words)
            return months == 1 and all(number < LONG_MONTHS for number in numbers)
        case "counted":  # after a number; the text has no other span of time
            spans = sum(word.rstrip("s") + "s" in UNITS for word in parse.lowers)
            return tag_before == "CD" and spans == 1 and behind not in ("old", "of", "'", "’")
        case "amount":  # after a number that does not count people: there are not 50 billion of them
            is_counted = tag_before == "CD" and before[:1].isdigit()
            return is_counted and behind not in ("people", "persons", "years", "of")
        case "this or last":
            spans = sum(word in ("week", "month", "year", "weeks", "months", "years") for word in parse.lowers)
            return spans == 1 and before in ("last", "next", "per", "every") and behind != "old"
        case "of the day":
            here = sum(word in ("morning", "evening") for word in parse.lowers) == 1
            return here and OF_DAY.isdisjoint(parse.lowers) and before in ("the", "this", "every", "in")
        case "colour":  # of a thing or an animal that can have both
            is_own = head != at and parse.bases[at] == "amod" and sum(word in COLOURS for word in parse.lowers) == 1
            senses = lexicon.senses(parse.lower_lemmas[head], "n")
            is_noun = senses and parse.tags[head] in ("NN", "NNS") and head == at + 1
            colours = {ARTIFACT: OF_THINGS, ANIMAL: OF_ANIMALS}.get(senses[0].lexfile, ()) if is_noun else ()
            return is_own and word in colours and new in colours and parse.lower_lemmas[head] not in SKILLED
        case "somebody" | "people" | "pronoun":  # no other word shows whether it is a man or a woman
            is_named = any(entity.endswith("PER") for entity in parse.entities)
            is_named |= place == "pronoun" and any(tag in ("NNP", "NNPS") for tag in parse.tags)
            is_called = parse.bases[at] in ("vocative", "discourse", "parataxis", "root")
            is_alone = sum(word in PERSONS for word in parse.lowers) == 1
            # "Oh man" names no person.
            is_noun = place != "somebody" or parse.child(at, "det", "nummod", "nmod") is not None
            return is_noun and is_alone and not is_named and not is_called
        case "before a number":  # under or over an amount, not over a period
            words = parse.lowers[at + 2 : at + 4]
            return tag_behind == "CD" and not any(word.rstrip("s") + "s" in UNITS for word in words)
        case "without":  # "without a licence" can be with one
            return tag_behind in ("DT", "PRP$") and behind not in ("any", "either", "another")
        case "there":  # a place after its verb
            return at > 1 and tag_before in BEFORE_THERE and not behind.isalpha()
        case "described":  # before its noun
            return parse.bases[at] == "amod" and head > at
        case "compass":  # the only one, and not a name
            return parse.words[at] in COMPASS and sum(word in COMPASS for word in parse.lowers) == 1
        case "limit":
            return before != "bare"
        case "passive":  # without a following place: "excluded from", "included in"
            is_passive = before in ("is", "are", "was", "were", "be", "been")
            return is_passive and {"from", "in", "with"}.isdisjoint(parse.lowers[at + 1 : at + 6])


TABLE: tuple[tuple[str, str, Place], ...] = (  # sets of words, their tags, and the places where they fit
    ("/".join(DAYS), "NNP", "day"),
    ("/".join(MONTHS), "NNP", "month"),
    (" ".join(map("/".join, pairwise(UNITS))), "NNS", "counted"),
    (MEASURES, "NN NNS NNP FW", "amount"),
    ("million/billion", "CD", "amount"),
    ("week/month/year", "NN", "this or last"),
    ("morning/evening", "NN", "of the day"),
    ("/".join(dict.fromkeys((*OF_THINGS, *OF_ANIMALS))), "JJ", "colour"),
    ("man/woman", "NN", "somebody"),
    ("men/women", "NNS", "people"),
    ("boy/girl", "NN", "somebody"),
    ("boys/girls", "NNS", "people"),
    ("mother/father/brother", "NN", "somebody"),
    ("he/she", "PRP", "pronoun"),
    ("under/over", "IN", "before a number"),
    ("without/with", "IN", "without"),
    ("here/there", "RB", "there"),
    ("northern/southern eastern/western internal/external interior/exterior major/minor urban/suburban "
     "indoor/outdoor inbound/outbound minimum/maximum upper/lower systolic/diastolic ascending/descending "
     "explicit/implicit inclusive/exclusive", "JJ", "described"),
    ("north/south east/west", "NN RB", "compass"),
    ("employer/employee trainer/trainee lessor/lessee assignor/assignee majority/minority "
     "shirt/skirt cat/rat monkey/donkey bear/deer lemon/melon potato/tomato pasta/pizza "
     "hypertension/hypotension hyperglycemia/hypoglycemia prefix/suffix input/output debit/credit "
     "import/export hyperthyroidism/hypothyroidism encryption/decryption upload/download "
     "encoder/decoder summer/winter interior/exterior", "NN", "any"),
    ("employers/employees trainers/trainees shirts/skirts cats/rats monkeys/donkeys bears/deer lemons/melons "
     "potatoes/tomatoes imports/exports inputs/outputs uploads/downloads prefixes/suffixes debits/credits",
     "NNS", "any"),
    ("import/export upload/download encode/decode encrypt/decrypt enable/disable minimize/maximize "
     "minimise/maximise underestimate/overestimate inhale/exhale mute/unmute", "VB VBP", "any"),
    ("imported/exported uploaded/downloaded encoded/decoded encrypted/decrypted enabled/disabled "
     "underestimated/overestimated", "VBD VBN", "any"),
    ("imports/exports enables/disables uploads/downloads", "VBZ", "any"),
    ("minimum/maximum", "NN", "limit"),
    ("included/excluded", "VBD VBN", "passive"),
    ("indoors/outdoors upstairs/downstairs", "RB", "any"),
)  # fmt: skip
ONE_WAY = frozenset(  # words that only replace others: their own replacement would often not fit
    "with there employee employees trainee trainees assignee lessee rat rats credit credits".split()
)


BY_WORD: dict[str, list[CloseWords]] = {}
for _sets, _tags, _place in TABLE:
    for _set in _sets.split():
        _row = CloseWords(tuple(_set.split("/")), frozenset(_tags.split()), _place)
        for _word in _row.words:
            if _word not in ONE_WAY:
                BY_WORD.setdefault(_word, []).append(_row)


def find_close_word_edits(lexicon: Lexicon, expressions: Expressions, parse: Parse) -> Iterator[Edit]:
    """Yield the edits of one word that change the meaning by a few letters."""
    for at, word in enumerate(parse.words):
        known = word if word in BY_WORD or (word.isupper() and len(word) > 1) else word.lower()
        rows = [row for row in BY_WORD.get(known, ()) if parse.tags[at] in row.tags]
        if not rows or expressions.contain(parse, at):
            continue
        # It is not joined to another word, occurs once in the text, and is not part of a longer name.
        around = (parse.text[: parse.starts[at]][-1:], parse.text[parse.ends[at] :][:1])
        is_joined = any(sign.isalnum() or (sign and sign in "-–/_@#'’") for sign in around)
        is_named = parse.entities[at][2:] in ("PER", "ORG", "LOC")
        if is_joined or is_named or parse.lowers.count(parse.lowers[at]) > 1:
            continue
        for row in rows:
            for new in row.words:
                if new != known and _fits_place(row.place, lexicon, parse, at, new):
                    written = new.capitalize() if word[0].isupper() else new
                    yield Edit(parse.starts[at], parse.ends[at], written)
