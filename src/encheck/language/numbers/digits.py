"""Numbers in digits: read, and written in the same style."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from encheck.language.numbers.mention import Form, Write
from encheck.language.numbers.words import SCALES, read, spelled

PLAIN = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
SCALE = r"(?: ?(?:thousand|million|billion|trillion|mn|bn|tn|k|K|m|M|b|B)(?![A-Za-z]))"
SHORT = {"k": 10**3, "m": 10**6, "mn": 10**6, "b": 10**9, "bn": 10**9, "tn": 10**12}
SPELLED_MOST = 100
SIZE = re.compile(rf"({PLAIN})({SCALE})?")


@dataclass(frozen=True, slots=True)
class Style:
    """How a number is written: commas, decimal places, a nought before the point, and the word or letter behind it."""

    commas: bool = False
    decimals: int = 0
    nought: bool = True
    scale: str = ""

    @property
    def size(self) -> int:
        """What the scale stands for."""
        name = self.scale.strip().lower()
        return SCALES.get(name) or SHORT.get(name) or 1

    def write(self, value: Fraction) -> str:
        """The value in this style; ValueError for one that it has no place for."""
        found = value / self.size
        if found * 10**self.decimals % 1:
            raise ValueError(f"{value} has more than {self.decimals} decimal places")
        number = Decimal(found.numerator) / Decimal(found.denominator)
        text = f"{number:{',' if self.commas else ''}.{self.decimals}f}"
        return (text if self.nought else text.removeprefix("0")) + self.scale


def read_digits(text: str) -> tuple[Fraction, Style]:
    """What digits are worth, and their style; ValueError for anything else.

    >>> value, style = read_digits("1,250.50"); str(value), style.write(value + 1)
    ('2501/2', '1,251.50')
    >>> read_digits("2.5 million")[0] == 2_500_000
    True
    """
    found = SIZE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no number in digits")
    plain, scale = found[1], found[2] or ""
    style = Style("," in plain, len(plain.partition(".")[2]), not plain.startswith("."), scale)
    return Fraction(plain.replace(",", "")) * style.size, style


def forms(value: Fraction, style: Style) -> tuple[Form, ...]:
    """Other ways to write a number that stands in digits."""
    found = []
    if style.scale:
        found.append(Form("digits", Style(commas=True).write))
        if style.scale.strip().lower() in SHORT:
            found.append(Form("scale in full", Style(False, style.decimals, True, f" {_name(style.size)}").write))
    elif style.decimals:
        found += _decimals(value, style)
    elif value <= SPELLED_MOST or (value % 100 == 0 and value < 10**5):
        found.append(Form("words", whole))
    elif value >= 1_000:
        found.append(Form("without commas" if style.commas else "commas", Style(not style.commas).write))
        found += _scaled(value)
    else:
        found.append(Form("words", whole))
    return tuple(found)


def whole(value: Fraction) -> str:
    """A whole number in words; ValueError for any other."""
    if value % 1:
        raise ValueError(f"{value} is no whole number")
    return spelled(int(value))


def _name(size: int) -> str:
    return next(name for name, other in SCALES.items() if other == size)


def _scaled(value: Fraction) -> list[Form]:
    for name, size in reversed(SCALES.items()):
        if value >= size and value % (size // 10) == 0 and value % size:
            return [Form(name, Style(False, 1, True, f" {name}").write)]
        if value >= size and value % size == 0:
            return [Form(name, Style(False, 0, True, f" {name}").write)]
    return []


def _decimals(value: Fraction, style: Style) -> list[Form]:
    if value % 1 == Fraction(1, 2) and value < 20 and value > 1 and style.decimals == 1:
        return [Form("words", halves)]
    if style.commas:
        return [Form("without commas", Style(False, style.decimals).write)]
    nought = [Form("nought", Style(style.commas, style.decimals, not style.nought).write)] if value < 1 else []
    words = [Form("words", point(style))] if _is_pointed(value, style) else []
    return nought + words


def said(value: Fraction, style: Style) -> Write | None:
    """Writes a number in words where people do; None if they do not."""
    if style.decimals:
        return point(Style(decimals=style.decimals)) if _is_pointed(value, style) and not style.scale else None
    if style.scale:
        return whole if value / style.size <= SPELLED_MOST else None
    return whole if value <= SPELLED_MOST or (value % 100 == 0 and value < 10**7) else None


def _is_pointed(value: Fraction, style: Style) -> bool:
    """Whether people say the decimals one by one: neither "ten point zero zero" nor "zero point four five"."""
    return 1 <= value < 100 and style.decimals <= 2 and value * 10 ** (style.decimals - 1) % 1 != 0


def halves(value: Fraction) -> str:
    """A number and a half in words; what is no half with a point.

    >>> halves(Fraction(5, 2))
    'two and a half'
    """
    if value % 1 == Fraction(1, 2):
        return f"{spelled(int(value))} and a half"
    return point(Style(decimals=1))(value)


def point(style: Style) -> Write:
    """Writes decimals in words, digit by digit: "three point one four"; ValueError if the last of them is 0."""

    def write(value: Fraction) -> str:
        whole, _, places = style.write(value).replace(",", "").partition(".")
        if places.endswith("0") or value < 1:
            raise ValueError(f"{value} is not said with {len(places)} decimal places")
        return f"{spelled(int(whole or 0))} point {' '.join(spelled(int(digit)) for digit in places)}"

    return write


def words_value(text: str) -> Fraction | None:
    """What number words are worth."""
    found = read(text)
    return None if found is None else Fraction(found)
