"""Numbers in words: spelled out, and read back."""

from __future__ import annotations

import re

ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen""".split()
TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety".split()
SPOKEN = {1: "first", 2: "second", 3: "third", 5: "fifth", 8: "eighth", 9: "ninth", 12: "twelfth"}
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
HUNDRED = "hundred"
MOST = 10**15


def spelled(number: int) -> str:
    """The number in words, from 0 to 999,999,999,999,999.

    >>> spelled(45), spelled(120), spelled(2_300)
    ('forty-five', 'one hundred and twenty', 'two thousand three hundred')
    """
    if not 0 <= number < MOST:
        raise ValueError(f"the number is {number}, but should be from 0 to {MOST - 1:,}")
    if number < 100:
        return _below_hundred(number)
    if number < 1_000:
        rest = f" and {spelled(number % 100)}" if number % 100 else ""
        return f"{ONES[number // 100]} {HUNDRED}{rest}"
    name, size = max(((n, s) for n, s in SCALES.items() if s <= number), key=lambda one: one[1])
    joint = " and " if 0 < number % size < 100 else " "
    rest = f"{joint}{spelled(number % size)}" if number % size else ""
    return f"{spelled(number // size)} {name}{rest}"


def _below_hundred(number: int) -> str:
    if number < 20:
        return ONES[number]
    tens = TENS[number // 10 - 1]
    return f"{tens}-{ONES[number % 10]}" if number % 10 else tens


def spelled_ordinal(number: int) -> str:
    """The ordinal number in words, from 1 to 99.

    >>> spelled_ordinal(21), spelled_ordinal(30), spelled_ordinal(12)
    ('twenty-first', 'thirtieth', 'twelfth')
    """
    last = number if number < 20 else number % 10
    if number >= 20 and last == 0:
        return f"{TENS[number // 10 - 1][:-1]}ieth"
    word = SPOKEN.get(last, f"{ONES[last]}th")
    return word if number < 20 else f"{TENS[number // 10 - 1]}-{word}"


def ordinal(number: int) -> str:
    """The ordinal number in digits.

    >>> ordinal(3), ordinal(11), ordinal(22)
    ('3rd', '11th', '22nd')
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


SMALL = {_below_hundred(n): n for n in range(100)} | {_below_hundred(n).replace("-", " "): n for n in range(21, 100)}
ORDINALS = {spelled_ordinal(n): n for n in range(1, 100)}
_ONE = "|".join(ONES[1:10])
_TENS = "|".join(TENS[1:])
_TEENS = "|".join(reversed(ONES[10:]))
_BELOW_HUNDRED = rf"(?:(?:{_TENS})(?:[- ](?:{_ONE}))?|{_TEENS}|{_ONE})"
_BELOW_THOUSAND = rf"(?:(?:{_ONE}|a) hundred(?: and {_BELOW_HUNDRED})?|{_BELOW_HUNDRED})"
WORDS = rf"{_BELOW_THOUSAND}(?: (?:thousand|million|billion|trillion)(?: (?:and )?{_BELOW_THOUSAND})?)?"
ORDINAL_WORDS = "|".join(sorted(ORDINALS, key=len, reverse=True))


def read(text: str) -> int | None:
    """What number words are worth; None for anything else.

    >>> read("two hundred and five"), read("Twelve"), read("a hundred thousand"), read("dozen")
    (205, 12, 100000, None)
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
