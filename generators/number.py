"""Replace a number by a different number, or write it in a second notation, in any English text.

If a number has two notations, the kept edit writes it in the other notation. The changed edit writes a different
number, also in the other notation, so both edits change the notation equally. The second source, a mirror, has the
different number in the text's own notation. So the edit that keeps the text changes the mirror, and vice versa
(docs/method/probes.md). The control keeps the number and changes its context: "12 people" and "12 women", "5 minutes"
and "5 hours".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from encheck.generators.phenomenon import Edits, Phenomenon, Side, SideEdit
from encheck.language.edits.replace import choose_article
from encheck.language.english import English
from encheck.language.numbers.mention import Mention, NumberForm, NumberPlace, Value, Write
from encheck.language.numbers.mentions import find_number_mentions
from encheck.language.numbers.numerals import NEAR, SIZES
from encheck.language.parse import Parse
from encheck.statistics.draws import Draws
from encheck.surface import tokens
from encheck.types import Edit, apply_edits


class PhraseWord(NamedTuple):
    """Characters `start` to `end` of a text, and the word that replaces them."""

    start: int
    end: int
    text: str


UNITS = dict(
    pair.split(">")
    for pair in """
    seconds>minutes minutes>hours hours>days days>weeks weeks>months months>years years>months miles>yards
    kilometers>miles kilometres>miles km>miles meters>feet metres>feet feet>meters inches>centimeters
    yards>miles pounds>kilograms kilograms>pounds kilos>pounds kg>lbs lbs>kg grams>ounces ounces>grams
    liters>gallons litres>gallons gigabytes>megabytes megabytes>gigabytes GB>MB MB>GB KB>MB gigs>megabytes
    mins>hours hrs>days secs>minutes cm>inches hour>day minute>hour day>week week>month month>week year>month
    mile>kilometer inch>centimeter pound>kilogram dollars>euros euros>dollars yen>dollars rupees>dollars
    """.split()
)
OF_AGE = re.compile(r"\S+[- ]years?[- ](?:old|of age)")
SIGNS = {"$": "€", "€": "$", "£": "€", "¥": "$", "₹": "$"}
HALVES = {"am": "pm", "pm": "am", "a.m.": "p.m.", "p.m.": "a.m.", "AM": "PM", "PM": "AM"}
MONTHS = dict(
    pair.split(">")
    for pair in """January>May February>June March>August April>September May>October June>November July>December
    August>March September>April October>January November>June December>July Jan>Oct Feb>Jun Mar>Aug Apr>Sep Jun>Nov
    Jul>Dec Aug>Mar Sep>Apr Oct>Jan Nov>Jun Dec>Jul""".split()
)
OTHER_COUNTED_NOUN = dict(  # words for the same places, of similar frequency
    pair.split(">")
    for pair in """people>women men>women women>men children>adults adults>children boys>girls girls>boys sons>daughters
    daughters>sons brothers>sisters sisters>brothers kids>adults students>teachers teachers>students pupils>teachers
    workers>managers employees>customers customers>employees soldiers>civilians civilians>soldiers troops>civilians
    patients>doctors doctors>nurses nurses>doctors players>coaches officers>civilians officials>reporters members>guests
    guests>members passengers>drivers drivers>passengers lawyers>doctors companies>schools firms>schools banks>shops
    countries>cities nations>cities states>cities cities>villages towns>villages villages>towns schools>hospitals
    hospitals>schools houses>shops homes>shops shops>schools stores>offices offices>shops rooms>floors buildings>streets
    cars>bikes bikes>cars trucks>cars buses>trains trains>buses planes>ships ships>planes books>films films>books
    movies>books songs>poems albums>books articles>books pages>chapters chapters>pages letters>emails emails>letters
    calls>emails messages>calls dogs>cats cats>dogs horses>cows birds>dogs fish>birds apples>oranges eggs>apples
    deaths>injuries injuries>deaths goals>fouls games>seasons matches>games seasons>games wins>losses losses>wins
    reasons>examples questions>answers answers>questions ways>reasons examples>reasons problems>advantages
    photos>videos pictures>videos videos>pictures photographs>paintings songs>albums files>folders
    buttons>lights phones>computers computers>phones cameras>phones batteries>chargers screens>keyboards lamps>chairs
    chairs>tables tables>chairs days>weeks weeks>months nights>weekends lives>jobs jobs>homes votes>seats seats>votes
    points>games witnesses>lawyers suspects>witnesses victims>witnesses bombs>rockets rockets>bombs
    attacks>arrests arrests>attacks charges>warnings rivers>lakes lakes>rivers islands>lakes mountains>rivers
    courses>exams exams>courses subjects>teachers languages>instruments brothers>cousins parties>meetings""".split()
)


def replace_phrase_word(parse: Parse, mention: Mention) -> PhraseWord | None:
    """Return a replacement for one word in the phrase of a number.

    Return None if there is none, or if the word occurs twice.
    """
    spot = NumberPlace(parse, mention.start, mention.end)
    result, noun = _replace_unit(parse, mention), spot.noun
    if result is None and noun is not None and parse.words[noun] in OTHER_COUNTED_NOUN:
        result = PhraseWord(parse.starts[noun], parse.ends[noun], OTHER_COUNTED_NOUN[parse.words[noun]])
    if result is None:
        return None
    own = parse.text[result.start : result.end]
    again = re.findall(rf"(?<!\w){re.escape(own)}(?!\w)", parse.text) if own.isalpha() else [own]
    return result if len(again) == 1 and result.text.lower() not in parse.lower_words else None


def _replace_unit(parse: Parse, mention: Mention) -> PhraseWord | None:
    """Return a replacement for a unit, a sign, a month or an "a.m." or "p.m." within the number."""
    text = parse.text[mention.start : mention.end]
    if OF_AGE.match(parse.text[mention.start :]):
        return None
    for table in (SIGNS,) if mention.kind == "money" else ({"date": MONTHS, "time": HALVES}.get(mention.kind, UNITS),):
        for match in re.finditer(r"[^\W\d_]+(?:\.[^\W\d_]\.)?|[$€£¥₹]", text):
            # A date at the end of a month, which not every month has.
            if match[0] in table and not (
                mention.kind == "date" and re.search(r"\b(?:29|30|31)(?!\d)", text) is not None
            ):
                return PhraseWord(mention.start + match.start(), mention.start + match.end(), table[match[0]])
    return None


OPENING = re.compile(r"(?:^|[.!?][\"'”’)]*\s)[\"'“‘(\s]*$")
ENDED = re.compile(
    r"[\"'”’)]*(?:$|\s+[\"'“‘(]*(?:The|It|He|She|They|We|I|You|But|And|In|On|At|A|An|This|That|His|Her)\b)"
)
WORD_LENGTH = 6  # a word and the blank behind it
COIN = (1, -1, -1)  # which text the surface should favour: most notations favour the kept one anyway
Choice = tuple[NumberForm, Value, float]


class NumberChange(NamedTuple):
    """The number to edit, its other notation, and the other value for each distance at which there is one."""

    mention: Mention
    form: NumberForm
    values: dict[int, Value]


def number_edits(parse: Parse, english: English, rng: Draws) -> Edits | str:  # noqa: ARG001 - a phenomenon has all three
    """Return edits that write the number in a second notation, and edits that write a different number.

    The different number is near (level 1), at a middle distance (2) or far (3), in both notations. The control makes a
    different statement with the number: "12 people" > "12 women", "5 minutes" > "5 hours".
    """
    source, found = parse.text, find_number_mentions(parse)
    if isinstance(found, str):
        return found
    ranks = rng.random_ranks(len(found))
    plans = (
        _choose_number_change(found[at], rng, len(source)) for at in sorted(range(len(found)), key=ranks.__getitem__)
    )
    plan = next(filter(None, plans), None)
    if plan is None:
        return "no other number that is near"

    one, form = plan.mention, plan.form
    made: dict[tuple[Side, int], SideEdit | str] = {}
    for level, size in SIZES.items():
        made["kept", level] = _side_edit(source, plan, form.write(one.value), "the same value")
        if level in plan.values:
            value, why = plan.values[level], f"another value, {size}"
            made["changed", level] = _side_edit(source, plan, form.write(value), why)
            made["mirror", level] = _side_edit(source, plan, one.write(value), f"{why}, same notation")
        else:
            made["changed", level] = made["mirror", level] = f"no other number that is {size}"
    if other := replace_phrase_word(parse, one):
        start, end, word = other
        why = f"{one.kind}: {source[start:end]} > {word}: another statement of the same number"
        made |= dict.fromkeys((("control", level) for level in SIZES), SideEdit((Edit(start, end, word),), why))
    return made


def _choose_number_change(mention: Mention, rng: Draws, context: int) -> NumberChange | None:
    """Return how to change a number, or None if no near value can be written in both notations.

    If there is a choice, a coin decides whether the surface favours the kept or the changed text. So a model that goes
    by the surface should win as often as it loses.
    """
    favoured = rng.choice(COIN)
    near = [(form, *result) for form in mention.forms for result in _expressible_values(mention, form, NEAR, context)]
    if not near:
        return None
    form, _, _ = _choose_by_surface(near, favoured, rng)
    values: dict[int, Value] = {}
    for size in SIZES:
        if result := [(form, *one_found) for one_found in _expressible_values(mention, form, size, context)]:
            values[size] = _choose_by_surface(result, favoured, rng)[1]
    return NumberChange(mention, form, values)


def _choose_by_surface(choices: Sequence[Choice], favoured: int, rng: Draws) -> Choice:
    """Return a choice whose surface favours this side.

    For the changed text, take the one that favours it most. If there is none, take a choice that favours neither side
    much.
    """
    there = [one for one in choices if one[2] * favoured > 0]
    if not there:
        return min(choices, key=lambda one: abs(one[2]))
    return rng.choice(there) if favoured > 0 else min(there, key=lambda one: one[2])


def _expressible_values(mention: Mention, form: NumberForm, distance: int, context: int) -> list[tuple[Value, float]]:
    """Return (value, how much the surface favours the kept text) for values that both notations can express."""
    kept, own = write_or_none(form.write, mention.value), write_or_none(mention.write, mention.value)
    if kept is None or own is None or "".join(kept.split()) == "".join(own.split()):
        return []
    result = []
    of_kept = similarity_in_context(own, kept, context)
    for value in mention.other_values_at_distance(distance):
        said, mirrored = write_or_none(form.write, value), write_or_none(mention.write, value)
        if said and mirrored and said not in (kept, own) and mirrored not in (kept, own, said):
            result.append((value, of_kept - similarity_in_context(own, said, context)))
    return result


def similarity_in_context(own: str, other: str, context: int) -> float:
    """Return the similarity of two texts that differ only in these words.

    It compares words and trigrams (see `encheck.surface`).
    """
    return _jaccard_in_context(tokens(own), tokens(other), context / WORD_LENGTH) + _jaccard_in_context(
        _trigrams(own), _trigrams(other), context
    )


def _jaccard_in_context(first: Iterable[str], second: Iterable[str], around: float) -> float:
    """Return the Jaccard overlap of two texts that share `around` items besides these."""
    one, other = set(first), set(second)
    return (around + len(one & other)) / (around + len(one | other))


def _trigrams(text: str) -> list[str]:
    return [f" {text} "[i : i + 3].lower() for i in range(len(text))]


def write_or_none(write: Callable[[Value], str], value: Value) -> str | None:
    """Return the value in a notation, or None if that notation cannot express it."""
    try:
        return write(value)
    except ValueError:
        return None


def _side_edit(source: str, plan: NumberChange, text: str, why: str) -> SideEdit:
    made = edits_that_write_number(source, plan.mention, text)
    said = source[plan.mention.start : plan.mention.end]
    return SideEdit(made, f"{plan.mention.kind}: {said} > {made[-1].text}: {why}; notation: {plan.form.name}")


def edits_that_write_number(source: str, mention: Mention, text: str) -> tuple[Edit, ...]:
    """Return the edits that write a number, with the capital and the article adapted.

    They also adapt a full stop that an abbreviation shares with its sentence.
    """
    text = capitalise_at_sentence_start(source, mention.start, text)
    if source[mention.end - 1] == "." and not text.endswith(".") and ENDED.match(source, mention.end):
        text += "."
    made: tuple[Edit, ...] = (Edit(mention.start, mention.end, text),)
    match = re.search(r"\b(an?)\s+$", source[: mention.start], re.IGNORECASE)
    if match and (wanted := choose_article(text)) != match[1].lower():
        wanted = wanted.capitalize() if match[1][0].isupper() else wanted
        made = (Edit(match.start(1), match.end(1), wanted), *made)
    return made


def capitalise_at_sentence_start(source: str, start: int, text: str) -> str:
    """Return the text with a capital letter at the start of a sentence.

    It stays unchanged if the author of the source uses no capitals or full stops.
    """
    begins = OPENING.search(source[:start]) is not None and not source[start].islower()
    uses_none = not any(sign.isupper() for sign in source) and source[-1] not in ".!?"
    return text[0].upper() + text[1:] if begins and not uses_none else text


NUMBER = Phenomenon(
    "number", number_edits, "other numbers", levels=tuple(SIZES), experimental=(), in_probes=True,
    readers={"changed": (252, 260), "control": (105, 106)},
)  # fmt: skip


NAME = "shared_number"
OF_COUNTS = frozenset({"cardinal", "decimal"})  # the counted noun must also be the same
NOTHING_SHARED = "the query and the document share no number that can be written in another notation"


class SharedNumber(NamedTuple):
    """A query with each of two numbers in its own notation, and a document with each of them in another notation."""

    queries: tuple[str, str]
    documents: tuple[str, str]


def contrast_shared_number(query: Parse, document: Parse, *, seed: int) -> SharedNumber | str:
    """Return a number that both texts share and a near number that replaces it, or the reason why there is none.

    A number is shared if its kind and value are the same. For a count, the counted noun must be the same too.
    """
    asked, said = find_number_mentions(query), find_number_mentions(document)
    if isinstance(asked, str):
        return f"{asked} in the query"
    if isinstance(said, str):
        return f"{said} in the document"
    rng = Draws(seed, NAME, f"{query.text}\n{document.text}")
    result = [
        contrast
        for one in asked
        for other in said
        if (one.kind, one.value) == (other.kind, other.value)
        and (one.kind not in OF_COUNTS or _counted_noun(query, one) == _counted_noun(document, other))
        for contrast in _contrasts_of_mention(query.text, one, document.text, other)
    ]
    return rng.choice(result) if result else NOTHING_SHARED


def _counted_noun(parse: Parse, mention: Mention) -> str:
    return NumberPlace(parse, mention.start, mention.end).word_after().removesuffix("s")


def _contrasts_of_mention(query: str, mention: Mention, document: str, other: Mention) -> Iterator[SharedNumber]:
    """Yield contrasts for near values that both texts can express.

    The document is written in notations in which no word reveals the number.
    """
    for write in (other.write, *(form.write for form in other.forms)):
        for value in mention.other_values_at_distance(NEAR):
            asked, said = ([write_or_none(way, v) for v in (mention.value, value)] for way in (mention.write, write))
            if all(asked) and all(said) and not _distinguishing_words(asked) & _distinguishing_words(said):
                yield SharedNumber(
                    _write_both_values(query, mention, mention.write, value),
                    _write_both_values(document, other, write, value),
                )


def _distinguishing_words(both: list[str | None]) -> set[str]:
    """Return the words that distinguish two numbers in one notation."""
    first, second = (set(tokens(text or "")) for text in both)
    return first ^ second


def _write_both_values(text: str, mention: Mention, write: Write, value: Value) -> tuple[str, str]:
    """Return the text with its own value in this notation, and the text with the other value."""
    first, second = (
        apply_edits(text, edits_that_write_number(text, mention, write(v))) for v in (mention.value, value)
    )
    return first, second
