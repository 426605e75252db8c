"""Read numbers in words and digits, write them in the same style, and find other values near one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from encheck.language.numbers.mention import NumberForm, Write

ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen""".split()
TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety".split()
SPOKEN = {1: "first", 2: "second", 3: "third", 5: "fifth", 8: "eighth", 9: "ninth", 12: "twelfth"}
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
HUNDRED = "hundred"
SPELLED_END = 10**15


def spell_number(number: int) -> str:
    """Return the number in words, from 0 to 999,999,999,999,999.

    >>> spell_number(45), spell_number(120), spell_number(2_300)
    ('forty-five', 'one hundred and twenty', 'two thousand three hundred')
    """
    if not 0 <= number < SPELLED_END:
        raise ValueError(f"the number is {number}, but should be from 0 to {SPELLED_END - 1:,}")
    if number < 100:
        return _spell_below_hundred(number)
    if number < 1_000:
        rest = f" and {spell_number(number % 100)}" if number % 100 else ""
        return f"{ONES[number // 100]} {HUNDRED}{rest}"
    name, size = max(((n, s) for n, s in SCALES.items() if s <= number), key=lambda one: one[1])
    joint = " and " if 0 < number % size < 100 else " "
    rest = f"{joint}{spell_number(number % size)}" if number % size else ""
    return f"{spell_number(number // size)} {name}{rest}"


def _spell_below_hundred(number: int) -> str:
    if number < 20:
        return ONES[number]
    tens = TENS[number // 10 - 1]
    return f"{tens}-{ONES[number % 10]}" if number % 10 else tens


def spell_ordinal(number: int) -> str:
    """Return the ordinal number in words, from 1 to 99.

    >>> spell_ordinal(21), spell_ordinal(30), spell_ordinal(12)
    ('twenty-first', 'thirtieth', 'twelfth')
    """
    last = number if number < 20 else number % 10
    if number >= 20 and last == 0:
        return f"{TENS[number // 10 - 1][:-1]}ieth"
    word = SPOKEN.get(last, f"{ONES[last]}th")
    return word if number < 20 else f"{TENS[number // 10 - 1]}-{word}"


def ordinal_in_digits(number: int) -> str:
    """Return the ordinal number in digits.

    >>> ordinal_in_digits(3), ordinal_in_digits(11), ordinal_in_digits(22)
    ('3rd', '11th', '22nd')
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


SMALL = {_spell_below_hundred(n): n for n in range(100)} | {
    _spell_below_hundred(n).replace("-", " "): n for n in range(21, 100)
}
ORDINALS = {spell_ordinal(n): n for n in range(1, 100)}
_ONE = "|".join(ONES[1:10])
_TENS = "|".join(TENS[1:])
_TEENS = "|".join(reversed(ONES[10:]))
_BELOW_HUNDRED = rf"(?:(?:{_TENS})(?:[- ](?:{_ONE}))?|{_TEENS}|{_ONE})"
_BELOW_THOUSAND = rf"(?:(?:{_ONE}|a) hundred(?: and {_BELOW_HUNDRED})?|{_BELOW_HUNDRED})"
WORDS = rf"{_BELOW_THOUSAND}(?: (?:thousand|million|billion|trillion)(?: (?:and )?{_BELOW_THOUSAND})?)?"
ORDINAL_WORDS = "|".join(sorted(ORDINALS, key=len, reverse=True))


def parse_number_words(text: str) -> int | None:
    """Return the value of number words, or None for other text.

    >>> [parse_number_words(text) for text in ("two hundred and five", "Twelve", "a hundred thousand", "dozen")]
    [205, 12, 100000, None]
    """
    total = part = 0
    parts = [word for word in re.split(r"[- ]", text.lower()) if word != "and"]
    for word in parts:
        if word == HUNDRED:
            part *= 100
        elif word in SCALES:
            total, part = total + part * SCALES[word], 0
        elif word in SMALL or word == "a":
            part += SMALL.get(word, 1)
        else:
            return None
    return total + part if parts else None


PLAIN = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
SCALE = r"(?: ?(?:thousand|million|billion|trillion|mn|bn|tn|k|K|m|M|b|B)(?![A-Za-z]))"
SHORT = {"k": 10**3, "m": 10**6, "mn": 10**6, "b": 10**9, "bn": 10**9, "tn": 10**12}
MAX_SPELLED = 100
SIZE = re.compile(rf"({PLAIN})({SCALE})?")


@dataclass(frozen=True, slots=True)
class NumberStyle:
    """A number's style: commas, decimal places, a zero before the point, and the word or letter after it."""

    commas: bool = False
    decimals: int = 0
    nought: bool = True
    scale: str = ""

    @property
    def size(self) -> int:
        """The value of the scale."""
        name = self.scale.strip().lower()
        return SCALES.get(name) or SHORT.get(name) or 1

    def write(self, value: Fraction) -> str:
        """Return the value in this style. Raise ValueError if it needs more decimal places."""
        result = value / self.size
        if result * 10**self.decimals % 1:
            raise ValueError(f"{value} has more than {self.decimals} decimal places")
        number = Decimal(result.numerator) / Decimal(result.denominator)
        text = f"{number:{',' if self.commas else ''}.{self.decimals}f}"
        return (text if self.nought else text.removeprefix("0")) + self.scale


def parse_digits(text: str) -> tuple[Fraction, NumberStyle]:
    """Return the value of digits, and their style. Raise ValueError for other text.

    >>> value, style = parse_digits("1,250.50"); str(value), style.write(value + 1)
    ('2501/2', '1,251.50')
    >>> parse_digits("2.5 million")[0] == 2_500_000
    True
    """
    match = SIZE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no number in digits")
    plain, scale = match[1], match[2] or ""
    style = NumberStyle("," in plain, len(plain.partition(".")[2]), not plain.startswith("."), scale)
    return Fraction(plain.replace(",", "")) * style.size, style


def list_other_notations(value: Fraction, style: NumberStyle) -> tuple[NumberForm, ...]:
    """Return other notations of a number in digits."""
    result = []
    if style.scale:
        result.append(NumberForm("digits", NumberStyle(commas=True).write))
        if style.scale.strip().lower() in SHORT:
            name = next(name for name, size in SCALES.items() if size == style.size)
            result.append(NumberForm("scale in full", NumberStyle(False, style.decimals, True, f" {name}").write))
    elif style.decimals:
        result += _forms_of_decimal(value, style)
    elif value <= MAX_SPELLED or (value % 100 == 0 and value < 10**5):
        result.append(NumberForm("words", spell_integer))
    elif value >= 1_000:
        result.append(NumberForm("without commas" if style.commas else "commas", NumberStyle(not style.commas).write))
        for name, size in reversed(SCALES.items()):
            if value >= size and (value % size == 0 or value % (size // 10) == 0):
                result.append(NumberForm(name, NumberStyle(False, int(value % size != 0), True, f" {name}").write))
                break
    else:
        result.append(NumberForm("words", spell_integer))
    return tuple(result)


def spell_integer(value: Fraction) -> str:
    """Return an integer in words. Raise ValueError for other numbers."""
    if value % 1:
        raise ValueError(f"{value} is no whole number")
    return spell_number(int(value))


def _forms_of_decimal(value: Fraction, style: NumberStyle) -> list[NumberForm]:
    if value % 1 == Fraction(1, 2) and value < 20 and value > 1 and style.decimals == 1:
        return [NumberForm("words", spell_half)]
    if style.commas:
        return [NumberForm("without commas", NumberStyle(False, style.decimals).write)]
    nought = (
        [NumberForm("nought", NumberStyle(style.commas, style.decimals, not style.nought).write)] if value < 1 else []
    )
    words = [NumberForm("words", make_decimal_writer(style))] if _is_natural_with_point(value, style) else []
    return nought + words


def make_spoken_writer(value: Fraction, style: NumberStyle) -> Write | None:
    """Write a number in words if that is natural, otherwise return None."""
    if style.decimals:
        return (
            make_decimal_writer(NumberStyle(decimals=style.decimals))
            if _is_natural_with_point(value, style) and not style.scale
            else None
        )
    if style.scale:
        return spell_integer if value / style.size <= MAX_SPELLED else None
    return spell_integer if value <= MAX_SPELLED or (value % 100 == 0 and value < 10**7) else None


def _is_natural_with_point(value: Fraction, style: NumberStyle) -> bool:
    """Return whether reading the decimals one by one is natural, unlike "ten point zero zero"."""
    return 1 <= value < 100 and style.decimals <= 2 and value * 10 ** (style.decimals - 1) % 1 != 0


def spell_half(value: Fraction) -> str:
    """Return a number and a half in words; other numbers with "point".

    >>> spell_half(Fraction(5, 2))
    'two and a half'
    """
    if value % 1 == Fraction(1, 2):
        return f"{spell_number(int(value))} and a half"
    return make_decimal_writer(NumberStyle(decimals=1))(value)


def make_decimal_writer(style: NumberStyle) -> Write:
    """Write decimals in words, digit by digit: "three point one four". Raise ValueError if the last of them is 0."""

    def write_value(value: Fraction) -> str:
        whole, _, places = style.write(value).replace(",", "").partition(".")
        if places.endswith("0") or value < 1:
            raise ValueError(f"{value} is not said with {len(places)} decimal places")
        return f"{spell_number(int(whole or 0))} point {' '.join(spell_number(int(digit)) for digit in places)}"

    return write_value


def value_of_number_words(text: str) -> Fraction | None:
    """Return the value of number words."""
    result = parse_number_words(text)
    return None if result is None else Fraction(result)


NEAR, MIDDLE, FAR = 1, 2, 3
SIZES = {NEAR: "near", MIDDLE: "middle", FAR: "far"}
EIGHTHS = (2, 3, 4, 5, 11, 12, 13, 14)
TIMES = (5, 6, 8, 9, 10, 12, 15)
FEW = 12  # steps: for smaller values, middle is so many steps away instead of a share
MAX_VALUE = 10**13


def last_significant_place(value: Fraction, decimals: int) -> Fraction:
    """Return the place of the value's last written digit: for round numbers, of the last digit that is not 0.

    >>> [str(last_significant_place(Fraction(value), places)) for value, places in (("2500", 0), ("7", 0), ("1.50", 2))]
    ['100', '1', '1/100']
    """
    result = Fraction(1, 10**decimals)
    while value and decimals == 0 and value % (10 * result) == 0:
        result *= 10
    return result


def list_values_at_distance(
    value: Fraction,
    *,
    decimals: int = 0,
    distance: int,
    minimum: Fraction | int = 2,
    maximum: Fraction | int = MAX_VALUE,
) -> list[Fraction]:
    """Return other values at this distance, with as many places, from `minimum` to `maximum`.

    Near is one or two steps of the last place (for round numbers one step or a part of it), middle a quarter to three
    quarters of the value (if it has under `FEW` steps, three to five steps), far five to fifteen times the value or a
    tenth.

    >>> [[int(v) for v in list_values_at_distance(Fraction(12), distance=size)] for size in (NEAR, MIDDLE)]
    [[10, 11, 13, 14], [3, 4, 6, 8, 16, 18, 20, 21]]
    """
    step = last_significant_place(value, decimals)
    if distance == NEAR:
        written = Fraction(1, 10**decimals)
        if step <= written:
            result = [value + k * step for k in (-2, -1, 1, 2)]
        else:  # a round number: one step, or with few steps a half or a tenth of it
            steps = value / step
            smaller = max(step / 10 if steps < 2 else step / 2 if steps <= 5 else step, written)
            result = [value - smaller, value + smaller]
    elif distance == MIDDLE and value < FEW * step:
        result = [value + k * step for k in (-5, -4, -3, 3, 4, 5)]
    elif distance == MIDDLE:
        result = [v for share in EIGHTHS if abs((v := _round_to(value * share / 8, step)) - value) > 2 * step]
    else:
        result = [value * k for k in TIMES] + [_round_to(value / 10, Fraction(1, 10**decimals))]
    return [v for v in dict.fromkeys(result) if minimum <= v <= maximum and v != value]


def _round_to(value: Fraction, step: Fraction) -> Fraction:
    return round(value / step) * step


def list_integers_at_distance(
    value: int, distance: int, steps: Sequence[Sequence[int]], *, minimum: int, maximum: int
) -> list[int]:
    """Integers so many steps away on both sides, by distance, within bounds: days, hours, years.

    >>> list_integers_at_distance(5, MIDDLE, ((1,), (2, 3), (6,)), minimum=1, maximum=12)
    [3, 2, 7, 8]
    """
    far = steps[distance - 1]
    return [v for v in (*(value - k for k in far), *(value + k for k in far)) if minimum <= v <= maximum]
