"""Counts, percentages, fractions, ranges, ordinals, labels, versions and codes in a text."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from encheck.language.edits.inflection import inflect
from encheck.language.numbers.mention import (
    IN_NAME,
    Mention,
    NumberForm,
    NumberPlace,
    Write,
    begins_capitalised_name,
    is_capitalised_number_word,
    is_hour,
    is_house_number,
)
from encheck.language.numbers.numerals import (
    FAR,
    MIDDLE,
    NEAR,
    ONES,
    ORDINAL_WORDS,
    ORDINALS,
    PLAIN,
    SCALE,
    SCALES,
    SMALL,
    WORDS,
    NumberStyle,
    list_other_notations,
    list_values_at_distance,
    make_spoken_writer,
    ordinal_in_digits,
    parse_digits,
    spell_half,
    spell_integer,
    spell_number,
    spell_ordinal,
    value_of_number_words,
)

MentionOrReason = Mention | str | None
MentionReader = Callable[[re.Match[str], NumberPlace], MentionOrReason]
NO_OTHER = "no other way to write the number"
PARTS = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
PART_NAMES = {d: name for name, d in PARTS.items()}
LABELS = frozenset(
    """chapter section page room platform level phase step table figure article part question grade gate line day week
    unit class type stage group route track lane floor channel number no size age lesson act round option item point
    version season episode volume vol row seat shelf slide game top book inning quarter""".split()
)
CODED = frozenset(
    "order ticket invoice case flight bug issue request booking claim bus train form ref reference".split()
)
PERSONS = frozenset("first second third world person party degree reich hand lady base aid place time".split())
IDIOMS = frozenset("half thought nature world hand party degree person reich guessing estate fiddle wind rate".split())
DAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
MAX_COMPOUND = 100
SIGNS = frozenset("^ _ = + * × / \\ - − < > ~ ±".split())  # of formulas, with blanks around them
NO_PLURAL = "the number is one or zero, and any other would need a plural"
SINGLE_UNITS = frozenset("year hour day week month minute mile star night page".split())
WHOLES = frozenset("the these those his her its their our us them".split())
UNIT_SIGNS = frozenset(
    """mbps kbps mb gb kb tb mhz ghz khz hz w kw kwh wh v mv a mah ma mp mpx px dpi fps mph kmh kph rpm psi db ft
    lb lbs oz kg km cm mm nm ml mg mcg m g l hr hrs min mins sec secs s yr yrs yo k x bhk qar usd aed sar gbp
    eur inr rs kcal cal c f am pm bd od""".split()
)
ABOUT = frozenset("about around almost nearly over only roughly some under".split())
DEAD = frozenset("dead dies died".split())
MAX_SPELLED_ALONE = 99  # for a number in words that does not count a noun
UNITS_AFTER = frozenset(["'s", "’s", "$", "€", "£", "s", "°", "%", "``", "''", '"', "”"])
LETTERS = frozenset(["m", "M", "b", "B", "mn", "bn", "tn"])  # for money; elsewhere they also mean bytes and metres


def read_cardinal(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read a count in digits, or a number that labels something ("chapter 5")."""
    value, style = parse_digits(match["number"])
    if (
        spot.word_before() in LABELS
        and (not spot.is_modifier or spot.word_before() == "top")
        and 0 < value <= MAX_COMPOUND
        and not style.decimals
    ):
        return _read_label(value, style, spot)
    if _follows_name(spot) or is_house_number(spot) or (spot.word_before() == "the" and begins_capitalised_name(spot)):
        return IN_NAME
    if value == 1 and match["number"] == "1":
        return _read_single_thing(spot)
    if value < 2 and not style.decimals:
        return NO_PLURAL
    if reason := _why_not_count(style, spot):
        return reason
    in_figures = _is_abbreviated(spot.word_after()) or (
        value > MAX_SPELLED_ALONE and not style.decimals and not spot.counts_many
    )
    forms = tuple(form for form in list_other_notations(value, style) if form.name != "words" or not in_figures)

    def other_values(distance: int) -> list[Fraction]:
        least, most = (0, 999) if style.scale else (0 if style.decimals else 2, 10**13)
        match = list_values_at_distance(
            value / style.size, decimals=style.decimals, distance=distance, minimum=least, maximum=most
        )
        return [v * style.size for v in match if v > 0 and v != 1]

    return Mention(
        spot.start, spot.end, "decimal" if style.decimals else "cardinal", value, style.write, forms, other_values
    )


def _is_abbreviated(word: str) -> bool:
    """Return whether a word is a unit's sign or abbreviation, which needs a number in digits before it."""
    return word in UNIT_SIGNS or (word[:1].isalpha() and not word.replace("-", "").replace("'", "").isalpha())


def _read_single_thing(spot: NumberPlace) -> MentionOrReason:
    """Return a single thing with its noun, whose form depends on the number: "1 month", "2 months"."""
    at = spot.after
    if spot.noun != at or spot.parse.tags[at] != "NN" or spot.parse.bases[at] in ("nsubj", "compound", "nmod:poss"):
        return NO_PLURAL
    noun, many = spot.parse.words[at], inflect(spot.parse.lowers[at], "NNS")
    if (
        spot.start == 0
        or spot.word_before() in LABELS | CODED
        or _is_abbreviated(noun)
        or many is None
        or not noun.islower()
    ):
        return NO_PLURAL
    gap = spot.parse.text[spot.end : spot.parse.starts[at]]

    def write_value(value: Fraction, *, count: Write) -> str:
        return f"{count(value)}{gap}{noun if value == 1 else many}"

    form = NumberForm("words", partial(write_value, count=spell_integer))
    counts = {NEAR: (2, 3), MIDDLE: (4, 5, 6), FAR: (8, 10, 12)}
    own = partial(write_value, count=NumberStyle().write)
    return Mention(spot.start, spot.parse.ends[at], "cardinal", Fraction(1), own, (form,),
                   lambda size: [Fraction(v) for v in counts[size]])  # fmt: skip


def _nearby_values(
    value: Fraction, decimals: int, distance: int, *, minimum: Fraction, maximum: Fraction | int = 10**13
) -> list[Fraction]:
    result = list_values_at_distance(value, decimals=decimals, distance=distance, minimum=minimum, maximum=maximum)
    return [v for v in result if v > 0 and v != 1]


def _why_not_count(style: NumberStyle, spot: NumberPlace) -> str:
    """Return why a number in digits is not a count, or "" if it may be one."""
    is_rupees = spot.word_before() in (".", ":") and spot.word_before(2) == "rs"
    if style.scale.strip() in LETTERS or spot.word_after() in UNITS_AFTER or is_rupees or is_hour(spot):
        return NO_OTHER
    if style.scale.strip().lower() == "k" and not spot.counts_many:  # "a 4K TV", "the 5K race"
        return NO_OTHER
    # A headline: "Man, 20, kills", "Singer dead at 87".
    if (
        spot.word_before() == "," or (spot.word_before() == "at" and spot.word_before(2) in DEAD)
    ) and spot.word_after() in (
        ",",
        ".",
        ")",
        "",
    ):
        return "an age in figures"
    if spot.word_before() in SIGNS or spot.word_after() in SIGNS:
        return "a formula"
    if spot.tag_after() == "CD" or spot.word_after() in SCALES:
        return "numbers that depend on each other"
    if not (style.commas or style.scale or style.decimals):
        text = spot.parse.text[spot.start : spot.end]
        if len(text) == 4 and 1100 <= int(text) < 2100 and not spot.counts_many:
            return "a year by itself"
        if spot.end - spot.start > len("999") and not spot.counts_many:
            return IN_NAME
    marks = spot.word_after() == ")" or (spot.start == 0 and not spot.is_modifier)
    if marks or (spot.word_after() == "." and spot.first and spot.parse.pos[spot.first - 1] == "PUNCT"):
        return "a list marker"
    after_noun = (
        spot.first and spot.parse.pos[spot.first - 1] in ("NOUN", "PROPN", "X") and spot.previous_word[-1].isalnum()
    )
    is_model = after_noun and spot.end - spot.start >= len("100") and spot.previous_word.lower() not in ABOUT
    if is_model or (after_noun and not spot.is_modifier and not style.scale):
        return IN_NAME
    is_title = (
        spot.tag_after() == "NNP" and not spot.tag_after(2).startswith("NN") and spot.word_after() not in UNIT_SIGNS
    )
    return IN_NAME if is_title else ""


def _follows_name(spot: NumberPlace) -> bool:
    """Return whether a capitalised word inside a sentence is right before it: "Windows 10", "iPhone 6"."""
    at = spot.first - 1
    word = spot.parse.words[at] if at >= 0 else ""
    if word.islower() or not word[:1].isalpha() or spot.parse.ends[at] + 1 < spot.start:
        return False
    if spot.parse.lowers[at] in DAYS:
        return False
    return spot.parse.pos[at] == "PROPN" or not word.istitle() or at > 0


def _read_label(value: Fraction, style: NumberStyle, spot: NumberPlace) -> MentionOrReason:
    word = spot.previous_word

    def write_value(value: Fraction) -> str:
        return spell_integer(value).title() if word[0].isupper() and spot.first > 1 else spell_integer(value)

    other_values = partial(list_values_at_distance, value, minimum=1, maximum=99 if word.lower() == "age" else 999)
    return Mention(spot.start, spot.end, "label", value, style.write, (NumberForm("words", write_value),),
                   lambda size: other_values(distance=size))  # fmt: skip


def read_number_in_words(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read a count in words."""
    text = match["number"]
    value = value_of_number_words(text)
    if (
        value is None
        or value < 2
        or (text.lower().startswith("a ") and value < 10**3 and spot.word_before() in ("half", "such"))
    ):
        return None
    is_named = spot.word_before() in ("the", "those", "these", "all", "any", "both", "which")
    if is_hour(spot) or (spot.word_after() == "(" and spot.tag_after(2) == "CD"):
        return NO_OTHER
    if spot.start == 0 and spot.word_after() in (":", ")"):
        return "a list marker"
    if is_capitalised_number_word(spot):
        return IN_NAME
    if spot.tag not in ("CD", "DT") or (is_named and not spot.is_modifier):
        return "a number word that does not count anything"
    if spot.word_after() == "of" and spot.word_after(2) in WHOLES and "CD" in {spot.tag_after(k) for k in (3, 4, 5)}:
        return None if value < 2 else "a part of a number"
    big = value >= 10**6 and value % 10**5 == 0
    digit_forms = [NumberForm("digits", NumberStyle(commas=value >= 10**3).write)]
    if big:
        name, size = ("billion", 10**9) if value >= 10**9 else ("million", 10**6)
        digit_forms.append(
            NumberForm(f"digits and {name}", NumberStyle(False, 1 if value % size else 0, True, f" {name}").write)
        )

    def write_value(value: Fraction) -> str:
        spoken = spell_integer(value)
        if text.lower().startswith("a "):
            spoken = re.sub("^one ", "a ", spoken)
        return spoken[0].upper() + spoken[1:] if text[0].isupper() else spoken

    other_values = partial(_nearby_values, value, 0, minimum=Fraction(2))
    return Mention(spot.start, spot.end, "cardinal", value, write_value, tuple(digit_forms), other_values)


def read_dozens(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read dozens: "two dozen eggs"."""
    count = value_of_number_words(match["number"])
    if count is None or spot.word_after() == "of":
        return None
    value = count * 12

    def write_value(value: Fraction) -> str:
        if value % 12:
            raise ValueError(f"{value} is no number of dozens")
        text = f"{'a' if value == 12 else spell_integer(value / 12)} dozen"
        return text[0].upper() + text[1:] if match[0][0].isupper() else text

    sizes = {NEAR: (12,), MIDDLE: (24, 36), FAR: (60, 72, 96)}
    return Mention(spot.start, spot.end, "cardinal", value, write_value, (NumberForm("digits", NumberStyle().write),),
                   lambda size: [v for k in sizes[size] for v in (value + k, value - k) if v > 0])  # fmt: skip


def read_percentage(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read a percentage: its sign or its word, in digits or words."""
    text = match["number"]
    if text[0].isalpha():
        count = value_of_number_words(text)
        if count is None:
            return None
        value, style = count, NumberStyle()
    else:
        value, style = parse_digits(text)
    sign = match["sign"]

    def write_in_same_notation(value: Fraction) -> str:
        if not text[0].isalpha():
            return style.write(value) + sign
        return (spell_integer(value).capitalize() if text[0].isupper() else spell_integer(value)) + sign

    forms = (
        [NumberForm("per cent", lambda v: f"{style.write(v)} percent")]
        if sign.strip() == "%" or text[0].isalpha()
        else []
    )
    if sign.strip() != "%":
        forms.append(NumberForm("%", lambda v: f"{style.write(v)}%"))
    if not text[0].isalpha() and not style.decimals and (words := make_spoken_writer(value, style)) is not None:
        forms.append(NumberForm("words", lambda v: f"{words(v)} percent"))
    most = Fraction(100) if value <= 100 else Fraction(10**6)
    other_values = partial(_nearby_values, value, style.decimals, minimum=Fraction(0), maximum=most)
    return Mention(spot.start, spot.end, "percentage", value, write_in_same_notation, tuple(forms), other_values)


def read_fraction(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read a fraction: 3/4, or two thirds."""
    if match["below"]:
        upper, lower = int(match["above"]), int(match["below"])
    else:
        upper, lower = int(value_of_number_words(match["count"]) or 0), PARTS[match["part"].lower().removesuffix("s")]
    if not 0 < upper < lower or lower not in PART_NAMES or spot.is_modifier or spot.word_before() in ("a", "an", "the"):
        return NO_OTHER
    is_words, dash = not match["below"], "-" if "-" in match[0] else " "
    if not is_words and (spot.word_after() != "of" or spot.word_before() in LABELS):  # "on 3/4", "part 1/2 of it"
        return NO_OTHER

    def write_in_words(value: Fraction) -> str:
        name = PART_NAMES[value.denominator]
        if value.denominator == 2:
            return "one half" if is_words else "half"
        count = "one" if value.numerator == 1 else spell_integer(Fraction(value.numerator))
        said = f"{count}{dash if is_words else ' '}{name}"
        said = said if value.numerator == 1 else f"{said}s"
        return said[0].upper() + said[1:] if is_words and match[0][0].isupper() else said

    def write_in_digits(value: Fraction) -> str:
        return f"{value.numerator}/{value.denominator}"

    own, form = (
        (write_in_words, NumberForm("digits", write_in_digits))
        if is_words
        else (write_in_digits, NumberForm("words", write_in_words))
    )
    value = Fraction(upper, lower)
    if own(value) != match[0]:
        return NO_OTHER
    return Mention(spot.start, spot.end, "fraction", value, own, (form,), partial(_nearby_fractions, value))


def _nearby_fractions(value: Fraction, distance: int) -> list[Fraction]:
    every = sorted({Fraction(n, d) for d in (3, 4, 5) for n in range(1, d)})
    reach = {NEAR: (0.0, 0.16), MIDDLE: (0.16, 0.4), FAR: (0.4, 1.0)}[distance]
    return [v for v in every if v != value and reach[0] < abs(float(v - value)) <= reach[1]]


def read_number_and_a_half(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read a number and a half: 2 1/2, 2½, two and a half."""
    count = value_of_number_words(match["words"]) if match["words"] else Fraction(match["whole"])
    if count is None or count < 1:
        return None
    value = count + Fraction(1, 2)
    tail = match[0][len(match["words"] or match["whole"]) :]

    def write_in_same_notation(value: Fraction) -> str:
        return (spell_integer(value - Fraction(1, 2)) if match["words"] else str(int(value))) + tail

    other_form = (
        NumberForm("words", spell_half) if match["whole"] else NumberForm("digits", NumberStyle(decimals=1).write)
    )
    sizes = {NEAR: (1,), MIDDLE: (2, 3), FAR: (5, 6, 8, 10)}

    def other_values(distance: int) -> list[Fraction]:
        return [v for k in sizes[distance] for v in (value - k, value + k) if v > 1]

    return Mention(spot.start, spot.end, "fraction", value, write_in_same_notation, (other_form,), other_values)


def read_range(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read a range of counts or years: 10-15 people, 2003 to 2005."""
    low, high = (int(match[name].replace(",", "")) for name in ("low", "high"))
    joint = match["joint"]
    years = all(len(match[name]) == 4 and 1500 <= int(match[name]) < 2100 for name in ("low", "high"))
    in_unit = spot.word_after() in SINGLE_UNITS and spot.pos_after(2) in ("NOUN", "ADJ") and joint.strip() in ("-", "–")
    if not low < high or (
        not years and not spot.counts_many and not in_unit and spot.word_after() not in ("percent", "%")
    ):
        return None
    if spot.word_before() in ("between", "from") and joint.strip() != "to":
        return NO_OTHER
    commas = "," in match[0]

    def write_value(value: tuple[int, int], *, joined: str) -> str:
        return joined.join(f"{n:,}" if commas else f"{n}" for n in value)

    def write_in_words(value: tuple[int, int]) -> str:
        return f" {joint.strip() if joint.strip().isalpha() else 'to'} ".join(map(spell_number, value))

    forms = (
        [NumberForm("words", write_in_words)]
        if high <= MAX_COMPOUND and spot.word_after() != "%" and not in_unit
        else []
    )
    if joint.strip() not in ("to", "or"):
        forms.append(NumberForm("to", partial(write_value, joined=" to ")))
    elif joint.strip() == "to" and spot.word_before() != "from":
        forms.append(NumberForm("dash", partial(write_value, joined="-")))
    return Mention(spot.start, spot.end, "range", (low, high), partial(write_value, joined=joint), tuple(forms),
                   partial(_nearby_ranges, low, high, is_or=joint.strip() == "or"))  # fmt: skip


def read_range_in_words(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read a range of counts in words: six to seven years, two or three."""
    low, high = (SMALL[match[name].lower()] for name in ("low", "high"))
    joint, capital = match["joint"], match[0][0].isupper()
    if not 0 < low < high or not spot.counts_many or spot.word_before() == "from":
        return "numbers that depend on each other"

    def write_value(value: tuple[int, int]) -> str:
        text = joint.join(map(spell_number, value))
        return text[0].upper() + text[1:] if capital else text

    if write_value((low, high)) != match[0]:
        return NO_OTHER
    forms = [NumberForm("digits", lambda v: f"{v[0]}{joint}{v[1]}")]
    if joint == " to ":
        forms.append(NumberForm("dash", lambda v: f"{v[0]}-{v[1]}"))
    other_values = partial(_nearby_ranges, low, high, is_or=joint == " or ")
    return Mention(spot.start, spot.end, "range", (low, high), write_value, tuple(forms), other_values)


def _nearby_ranges(low: int, high: int, distance: int, *, is_or: bool = False) -> list[tuple[int, int]]:
    if is_or and high - low == 1:
        return [
            (v, v + 1)
            for v in map(int, list_values_at_distance(Fraction(low), distance=distance, minimum=2))
            if v + 1 < MAX_COMPOUND
        ]
    result = [(low, int(v)) for v in list_values_at_distance(Fraction(high), distance=distance, minimum=low + 1)]
    if high >= 1500 and len(str(low)) == 4:
        return [(a, b) for a, b in result if b < 2050 and len(str(b)) == 4] or [
            (low + k, high + k) for k in (-distance * 3, distance * 3)
        ]
    return result


def read_ordinal(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read an ordinal number before a noun: the third floor, the 21st century."""
    text = match["number"]
    value = ORDINALS.get(text.lower()) or int(re.sub(r"\D", "", text) or 0)
    if not 2 <= value <= 99:
        return NO_OTHER
    if spot.tag_after() not in ("NN", "NNS", "JJS", "JJ") or spot.word_after() in IDIOMS or spot.tag in ("RB", "NN"):
        return "an ordinal that does not count anything"
    if begins_capitalised_name(spot):
        return IN_NAME
    words = text[0].isalpha()

    def write_as_spoken(value: int) -> str:
        said = spell_ordinal(value)
        return said[0].upper() + said[1:] if words and text[0].isupper() else said

    own, form = (
        (write_as_spoken, NumberForm("digits", ordinal_in_digits))
        if words
        else (ordinal_in_digits, NumberForm("words", spell_ordinal))
    )
    if own(value) != text:
        return NO_OTHER
    # The noun after it, past one word: "third calendar quarter".
    most = {"century": 21, "centuries": 21, "quarter": 4, "half": 2, "grade": 12}.get(
        spot.word_after(2) if spot.word_after(2) in ("quarter", "century", "half") else spot.word_after(), 99
    )

    def other_values(distance: int) -> list[int]:
        return [int(v) for v in list_values_at_distance(Fraction(value), distance=distance, minimum=2, maximum=most)]

    return Mention(spot.start, spot.end, "ordinal", value, own, (form,), other_values)


def read_compound(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read a number joined to a noun: a 14-year-old boy, a 12-member board."""
    text, tail = match["number"], match["tail"]
    value = value_of_number_words(text) if text[0].isalpha() else Fraction(text)
    if value is None or not 1 <= value <= MAX_COMPOUND or (value == 1 and text[0].isalpha()):
        return None
    if text[0].isalpha() and SMALL.get(text.lower()) is None:
        return None

    def write_as_spoken(value: Fraction) -> str:
        said = spell_integer(value) + tail
        return said[0].upper() + said[1:] if text[0].isupper() else said

    def write_in_digits(value: Fraction) -> str:
        return f"{int(value)}{tail}"

    own, form = (
        (write_as_spoken, NumberForm("digits", write_in_digits))
        if text[0].isalpha()
        else (write_in_digits, NumberForm("words", write_as_spoken))
    )
    most = 99 if "old" in tail else 999
    other_values = partial(_nearby_values, value, 0, minimum=Fraction(2), maximum=most)
    return Mention(spot.start, spot.end, "compound", value, own, (form,), other_values)


def read_score(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read a score: 3-2, recognised by a word of winning or losing before it."""
    low, high = int(match["low"]), int(match["high"])
    near = {spot.word_before(k) for k in range(1, 8)}
    if near.isdisjoint({"won", "win", "wins", "lost", "lose", "loses", "beat", "beats", "defeated", "victory", "defeat",
                        "lead", "led", "draw", "drew", "beating", "score", "loss", "over"}) or low == high:  # fmt: skip
        return "a comparison of numbers, or a score"

    def write_value(value: tuple[int, int], *, joined: str) -> str:
        return f"{value[0]}{joined}{value[1]}"

    def other_values(distance: int) -> list[tuple[int, int]]:
        reach = {NEAR: (1,), MIDDLE: (2, 3), FAR: (5, 7, 10)}[distance]
        best = [(low + k, high) if low > high else (low, high + k) for k in reach]
        return [v for v in best if v != (low, high)]

    return Mention(spot.start, spot.end, "score", (low, high), partial(write_value, joined=match["joint"]),
                   (NumberForm("to", partial(write_value, joined=" to ")),), other_values)  # fmt: skip


def read_version(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read a version: version 2.1, v2.1, Python 3.11."""
    mark, number = match["mark"], match["version"]
    if not mark and spot.word_before() in LABELS | {"appendix", "clause", "paragraph", "rule"}:
        return NO_OTHER
    parts = tuple(map(int, number.split(".")))

    def write_value(value: tuple[int, ...], *, before: str) -> str:
        return before + ".".join(map(str, value))

    other_mark = "v" if "ersion" in mark else "version "
    if mark == "":
        other_mark = "version "
    return Mention(spot.start, spot.end, "version", parts, partial(write_value, before=mark),
                   (NumberForm("version" if other_mark != "v" else "v", partial(write_value, before=other_mark)),),
                   partial(_nearby_versions, parts))  # fmt: skip


def _nearby_versions(parts: tuple[int, ...], distance: int) -> list[tuple[int, ...]]:
    if distance == NEAR or len(parts) == 1:
        return [
            (*parts[:-1], int(v))
            for v in list_values_at_distance(Fraction(parts[-1]), distance=distance, minimum=0, maximum=999)
        ]
    firsts = [parts[0] + k for k in ((1, 2) if distance == MIDDLE else (4, 6, 9))]
    return [(first, *parts[1:]) for first in firsts]


def read_code(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read a number that names something: order #12345, ticket no. 77."""
    mark, digits, before = match["mark"], match["digits"], slice(spot.first - 1, spot.first)
    if mark == "":  # not "They order 300 pizzas", "the bus 300 people took"
        is_code = (
            spot.word_before() in CODED and spot.parse.pos[before] in (("NOUN",), ("PROPN",)) and not spot.counts_many
        )
    elif mark == "number ":  # not "The victims number 300"
        is_code = spot.tag in ("NN", "NNP") and spot.parse.tags[before] != ("NNS",)
    else:  # not "Did he come? No. 15 people came."
        is_code = mark == "#" or spot.word_before() not in ("", ".", "!", "?")
    if not is_code:
        return None

    def write_value(value: int, *, before: str) -> str:
        return f"{before}{value:0{len(digits)}d}"

    marks = {"#": "number ", "": "number ", "no. ": "#", "No. ": "#", "number ": "#"}
    if mark not in marks or (mark == "" and len(digits) < 2):
        return NO_OTHER
    return Mention(spot.start, spot.end, "code", int(digits), partial(write_value, before=mark),
                   (NumberForm("mark", partial(write_value, before=marks[mark])),),
                   partial(_nearby_codes, digits))  # fmt: skip


def _nearby_codes(digits: str, distance: int) -> list[int]:
    """Return codes of the same length: with another last digit, with another middle digit, and with all digits
    reversed.
    """
    value, places = int(digits), len(digits)
    reach = {NEAR: (1, 2), MIDDLE: (10, 20, 30), FAR: (10 ** (places - 1), 2 * 10 ** (places - 1))}[distance]
    result = [value + k for k in reach] + [value - k for k in reach]
    return [v for v in result if v > 0 and len(str(v)) <= places and v != value]


def read_product_code(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read a product's code of capitals and digits: A320, A-320."""
    letters, dash, digits = match["letters"], match["dash"], match["digits"]

    def write_value(value: int, *, joined: str) -> str:
        return f"{letters}{joined}{value}"

    form = NumberForm("hyphen" if not dash else "no hyphen", partial(write_value, joined="" if dash else "-"))
    return Mention(spot.start, spot.end, "product", int(digits), partial(write_value, joined=dash), (form,),
                   partial(_nearby_codes, digits))  # fmt: skip


_N = rf"(?P<number>(?:{PLAIN}){SCALE}?)"
_W = rf"(?P<number>{WORDS})"
_FEW, _PARTS = "one|two|three|four|five|seven", "third|quarter|fifth|sixth|eighth|tenth"
_ONES = "|".join(ONES)
_WHOLE = r"\d{1,3}(?:,\d{3})+|\d{1,4}"
_SMALL = "|".join(sorted((word for word in SMALL if word != "zero"), key=len, reverse=True))
PERCENT: tuple[tuple[str, MentionReader], ...] = (
    (rf"{_N}(?P<sign> ?%| ?percent| per cent| pct)", read_percentage),
    (rf"(?i:{_W})(?P<sign> percent| per cent)", read_percentage),
)
PATTERNS: tuple[tuple[str, MentionReader], ...] = (
    (r"(?P<mark>[Vv]ersion |v\.?|v\.? (?=\d+\.\d)|V(?=\d+\.))(?P<version>\d+(?:\.\d+){0,3})", read_version),
    (r"(?<=[a-z] )(?P<mark>)(?P<version>\d+\.\d+\.\d{1,3})", read_version),
    (r"(?P<mark>#|[Nn]o\. |number )(?P<digits>\d{2,12})", read_code),
    (r"(?P<mark>)(?P<digits>\d{3,12})", read_code),
    (r"(?P<letters>[A-Z]{1,3})(?P<dash>-?)(?P<digits>[1-9]\d{2,3})", read_product_code),
    (rf"(?:(?P<whole>\d{{1,2}})(?: 1/2| ?½)|(?P<words>(?i:{_SMALL})) and a half)", read_number_and_a_half),
    (rf"(?:(?P<above>\d{{1,2}})/(?P<below>\d{{1,2}})|(?P<count>(?i:{_FEW}))[ -](?P<part>(?:{_PARTS})s?))",
     read_fraction),
    (rf"(?P<low>{_WHOLE})(?P<joint>[-\u2013]| [-\u2013] | to | or )(?P<high>{_WHOLE})", read_range),
    (r"(?P<low>\d{1,3})(?P<joint> ?[-\u2013] ?)(?P<high>\d{1,3})", read_score),
    (rf"(?P<low>(?i:{_SMALL}))(?P<joint> to | or )(?P<high>{_SMALL})", read_range_in_words),
    (rf"(?P<number>(?i:a|{WORDS})) dozen", read_dozens),
    (rf"(?P<number>\d{{1,3}}|(?i:{_SMALL}))(?!-(?:{_ONES})\b)(?P<tail>(?:-[a-z]{{2,}})+)", read_compound),
    (rf"(?P<number>\d{{1,2}}(?:st|nd|rd|th)|(?i:{ORDINAL_WORDS}))", read_ordinal),
    (_N, read_cardinal),
    (rf"(?i:{_W})", read_number_in_words),
)  # fmt: skip
