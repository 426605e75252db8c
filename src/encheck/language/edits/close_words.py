"""Words that differ by a few letters and mean something else: "million" and "billion", "employer" and "employee".

The table was written for encheck. A word gives way only where the other one fits whatever the sentence says, as far as
its tag, its neighbours and the other words of the text can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from encheck.language.edits.substitutes import Expressions
from encheck.language.lexicon.protocol import Lexicon
from encheck.language.parse import Parse
from encheck.types import Edit

Fits = Callable[[Lexicon, Parse, int, str], bool]  # lexicon, parse, token, the word that would stand there
NOUN, NOUNS, ADJECTIVE, ADVERB = frozenset(["NN"]), frozenset(["NNS"]), frozenset(["JJ"]), frozenset(["RB"])
VERB = frozenset("VB VBP".split())
PAST = frozenset("VBD VBN".split())
ANY_VERB = VERB | PAST | {"VBZ", "VBG"}
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
DAYS = tuple("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())
MONTHS = tuple("January February April June July August September October November December".split())
UNITS = ("minutes", "hours", "days", "weeks", "months", "years")  # each beside those that are next to it
LONG_MONTHS = 29  # days that not all months have
MEASURES = (("mg", "g"), ("g", "kg"), ("mm", "cm"), ("cm", "m"), ("m", "km"), ("ml", "l"), ("KB", "MB"), ("MB", "GB"),
            ("GB", "TB"), ("ms", "s"), ("kW", "MW"), ("Hz", "kHz"))  # fmt: skip


class Row(NamedTuple):
    """Words that can stand for each other, with these tags, where `fits` says so."""

    words: tuple[str, ...]
    tags: frozenset[str]
    fits: Fits


def _always(_lexicon: Lexicon, _parse: Parse, _at: int, _new: str) -> bool:
    return True


def _alone(words: frozenset[str]) -> Fits:
    """Where it is the only one of these words in the text, and has no capital."""
    return lambda _lexicon, parse, at, _new: parse.words[at] in words and sum(w in words for w in parse.lowers) == 1


def _person(_lexicon: Lexicon, parse: Parse, at: int, _new: str) -> bool:
    """Where no other word tells whether somebody is a man or a woman."""
    if any(entity.endswith("PER") for entity in parse.entities):
        return False
    alone = sum(word in PERSONS for word in parse.lowers) == 1
    return alone and parse.bases[at] not in ("vocative", "discourse", "parataxis", "root")


def _one_person(lexicon: Lexicon, parse: Parse, at: int, new: str) -> bool:
    """The same behind an article or the like: "oh man" names nobody."""
    return parse.child(at, "det", "nummod", "nmod") is not None and _person(lexicon, parse, at, new)


def _pronoun(lexicon: Lexicon, parse: Parse, at: int, new: str) -> bool:
    return _person(lexicon, parse, at, new) and not any(tag in ("NNP", "NNPS") for tag in parse.tags)


def _day(_lexicon: Lexicon, parse: Parse, at: int, _new: str) -> bool:
    """Where it is the only day, and no part of a name such as Black Friday."""
    others = sum(word in DAYS for word in parse.words) > 1
    around = (parse.tags[at - 1] if at else "", parse.tags[at + 1] if at + 1 < len(parse) else "")
    return not others and not any(tag.startswith("NNP") for tag in around)


def _month(_lexicon: Lexicon, parse: Parse, at: int, _new: str) -> bool:
    """Where it is the only month and its day, if any, is one that all months have."""
    numbers = [int(word) for word in (_next(parse, at), _before(parse, at)) if word.isdigit() and len(word) < 3]
    return sum(word in (*MONTHS, "March", "May") for word in parse.words) == 1 and all(n < LONG_MONTHS for n in numbers)


def _counted(_lexicon: Lexicon, parse: Parse, at: int, _new: str) -> bool:
    """Where a number stands before it, and no other span of time in the text."""
    spans = sum(word.rstrip("s") + "s" in UNITS for word in parse.lowers)
    return at > 0 and parse.tags[at - 1] == "CD" and spans == 1 and _next(parse, at) not in ("old", "of", "'", "’")


def _amount(_lexicon: Lexicon, parse: Parse, at: int, _new: str) -> bool:
    """Where a number stands before it, and no people are counted: there are no 50 billion of them."""
    is_counted = at > 0 and parse.tags[at - 1] == "CD" and parse.words[at - 1][:1].isdigit()
    return is_counted and _next(parse, at) not in ("people", "persons", "years", "of")


def _this_or_last(_lexicon: Lexicon, parse: Parse, at: int, _new: str) -> bool:
    spans = sum(word in ("week", "month", "year", "weeks", "months", "years") for word in parse.lowers)
    return spans == 1 and _before(parse, at) in ("last", "next", "per", "every") and _next(parse, at) != "old"


def _of_day(_lexicon: Lexicon, parse: Parse, at: int, _new: str) -> bool:
    times = {"a.m.", "p.m.", "am", "pm", "breakfast", "dinner", "sunrise", "sunset", "night", "afternoon", "good"}
    here = sum(word in ("morning", "evening") for word in parse.lowers) == 1
    return here and times.isdisjoint(parse.lowers) and _before(parse, at) in ("the", "this", "every", "in")


def _colour(lexicon: Lexicon, parse: Parse, at: int, new: str) -> bool:
    """Where a thing or an animal has it that can have both colours."""
    head = parse.heads[at]
    if head == at or parse.bases[at] != "amod" or sum(word in COLOURS for word in parse.lowers) != 1:
        return False
    senses = lexicon.senses(parse.lower_lemmas[head], "n")
    kind = senses[0].lexfile if senses and parse.tags[head] in ("NN", "NNS") and head == at + 1 else 0
    allowed = {ARTIFACT: OF_THINGS, ANIMAL: OF_ANIMALS}.get(kind, ())
    return parse.lowers[at] in allowed and new in allowed and parse.lower_lemmas[head] not in SKILLED


def _described(_lexicon: Lexicon, parse: Parse, at: int, _new: str) -> bool:
    """An adjective before its noun."""
    return parse.bases[at] == "amod" and parse.heads[at] > at


def _there(_lexicon: Lexicon, parse: Parse, at: int, _new: str) -> bool:
    """ "Here" as a place behind its verb."""
    return at > 1 and parse.tags[at - 1] in {*ANY_VERB, "NN", "NNS", "RB"} and not _next(parse, at).isalpha()


def _before_number(_lexicon: Lexicon, parse: Parse, at: int, _new: str) -> bool:
    """Under or over an amount, and not over some time."""
    behind = parse.lowers[at + 2 : at + 4]
    return parse.tags[at + 1 : at + 2] == ("CD",) and not any(word.rstrip("s") + "s" in UNITS for word in behind)


def _counts(_lexicon: Lexicon, parse: Parse, at: int, _new: str) -> bool:
    """In the passive, where nothing is said of where it is counted: "excluded from", "included in"."""
    passive = _before(parse, at) in ("is", "are", "was", "were", "be", "been")
    return passive and {"from", "in", "with"}.isdisjoint(parse.lowers[at + 1 : at + 6])


def _limit(_lexicon: Lexicon, parse: Parse, at: int, _new: str) -> bool:
    return _before(parse, at) != "bare"


def _lacking(_lexicon: Lexicon, parse: Parse, at: int, _new: str) -> bool:
    """Without a thing: "without a licence" can be with one."""
    return parse.tags[at + 1 : at + 2] in (("DT",), ("PRP$",)) and _next(parse, at) not in ("any", "either", "another")


def _row(words: str, tags: frozenset[str], fits: Fits = _always) -> Row:
    return Row(tuple(words.split()), tags, fits)


def _pairs(words: str, tags: frozenset[str], fits: Fits = _always) -> tuple[Row, ...]:
    """A row for each "one/other"."""
    return tuple(Row(tuple(pair.split("/")), tags, fits) for pair in words.split())


ROWS: tuple[Row, ...] = (
    Row(DAYS, frozenset(["NNP"]), _day),
    Row(MONTHS, frozenset(["NNP"]), _month),
    *(Row(pair, NOUNS, _counted) for pair in pairwise(UNITS)),
    *(Row(pair, frozenset("NN NNS NNP FW".split()), _amount) for pair in MEASURES),
    _row("million billion", frozenset(["CD"]), _amount),
    _row("week month year", NOUN, _this_or_last),
    _row("morning evening", NOUN, _of_day),
    _row(" ".join(dict.fromkeys((*OF_THINGS, *OF_ANIMALS))), ADJECTIVE, _colour),
    _row("man woman", NOUN, _one_person),
    _row("men women", NOUNS, _person),
    _row("boy girl", NOUN, _one_person),
    _row("boys girls", NOUNS, _person),
    _row("mother father brother", NOUN, _one_person),
    _row("he she", frozenset(["PRP"]), _pronoun),
    _row("under over", frozenset(["IN"]), _before_number),
    Row(("without", "with"), frozenset(["IN"]), _lacking),
    Row(("here", "there"), ADVERB, _there),
    *_pairs("northern/southern eastern/western internal/external interior/exterior major/minor urban/suburban "
            "indoor/outdoor inbound/outbound minimum/maximum upper/lower systolic/diastolic ascending/descending "
            "explicit/implicit inclusive/exclusive", ADJECTIVE, _described),
    *_pairs("north/south east/west", NOUN | ADVERB, _alone(frozenset("north south east west".split()))),
    *_pairs("employer/employee trainer/trainee lessor/lessee assignor/assignee majority/minority "
            "shirt/skirt cat/rat monkey/donkey bear/deer lemon/melon potato/tomato pasta/pizza "
            "hypertension/hypotension hyperglycemia/hypoglycemia prefix/suffix input/output debit/credit "
            "import/export hyperthyroidism/hypothyroidism encryption/decryption upload/download "
            "encoder/decoder summer/winter interior/exterior", NOUN),
    *_pairs("employers/employees trainers/trainees shirts/skirts cats/rats monkeys/donkeys bears/deer lemons/melons "
            "potatoes/tomatoes imports/exports inputs/outputs uploads/downloads prefixes/suffixes debits/credits",
            NOUNS),
    *_pairs("import/export upload/download encode/decode encrypt/decrypt enable/disable minimize/maximize "
            "minimise/maximise underestimate/overestimate inhale/exhale mute/unmute", VERB),
    *_pairs("imported/exported uploaded/downloaded encoded/decoded encrypted/decrypted enabled/disabled "
            "underestimated/overestimated", PAST),
    *_pairs("imports/exports enables/disables uploads/downloads", frozenset(["VBZ"])),
    *_pairs("minimum/maximum", NOUN, _limit),
    *_pairs("included/excluded", PAST, _counts),
    *_pairs("indoors/outdoors upstairs/downstairs", ADVERB),
)  # fmt: skip
ONE_WAY = frozenset(  # words that are put, and never given up: the other one would often fit nowhere
    "with there employee employees trainee trainees assignee lessee rat rats credit credits".split()
)


def _by_word() -> Mapping[str, tuple[Row, ...]]:
    found: dict[str, list[Row]] = {}
    for row in ROWS:
        for word in row.words:
            if word not in ONE_WAY:
                found.setdefault(word, []).append(row)
    return {word: tuple(rows) for word, rows in found.items()}


BY_WORD = _by_word()


def close_words(lexicon: Lexicon, expressions: Expressions, parse: Parse) -> Iterator[Edit]:
    """The edits of one word that say another thing by a few letters."""
    for at, word in enumerate(parse.words):
        known = word if word in BY_WORD or (word.isupper() and len(word) > 1) else word.lower()
        for row in BY_WORD.get(known, ()):
            if parse.tags[at] in row.tags and _stands_free(parse, at) and not expressions.hold(parse, at):
                for new in row.words:
                    if new != known and row.fits(lexicon, parse, at, new):
                        written = new.capitalize() if word[0].isupper() else new
                        yield Edit(parse.starts[at], parse.ends[at], written)


def _stands_free(parse: Parse, at: int) -> bool:
    """Whether the word is joined to no other, stands once in its text, and is no part of a name of more words."""
    before, after = parse.text[: parse.starts[at]][-1:], parse.text[parse.ends[at] :][:1]
    named = parse.entities[at][2:] in ("PER", "ORG", "LOC")
    once = parse.lowers.count(parse.lowers[at]) == 1
    return once and not named and not any(sign.isalnum() or (sign and sign in "-–/_@#'’") for sign in (before, after))


def _next(parse: Parse, at: int) -> str:
    return parse.lowers[at + 1] if at + 1 < len(parse) else ""


def _before(parse: Parse, at: int) -> str:
    return parse.lowers[at - 1] if at else ""
