"""Other values beside one that a text has: near, middle and far."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

NEAR, MIDDLE, FAR = 1, 2, 3
SIZES = {NEAR: "near", MIDDLE: "middle", FAR: "far"}
EIGHTHS = (2, 3, 4, 5, 11, 12, 13, 14)
TIMES = (5, 6, 8, 9, 10, 12, 15)
FEW = 12  # steps: of smaller values the middle is so many steps away, and no share
MOST = 10**13


def step(value: Fraction, decimals: int) -> Fraction:
    """The last place that the value is written to: of round numbers the place of the last digit that is not 0.

    >>> str(step(Fraction(2500), 0)), str(step(Fraction(7), 0)), str(step(Fraction("1.50"), 2))
    ('100', '1', '1/100')
    """
    found = Fraction(1, 10**decimals)
    while value and decimals == 0 and value % (10 * found) == 0:
        found *= 10
    return found


def others(
    value: Fraction, *, decimals: int = 0, size: int, least: Fraction | int = 2, most: Fraction | int = MOST
) -> list[Fraction]:
    """Values at this distance, written to as many places, from `least` to `most`; none of them is `value`.

    Near is one or two steps of the last place (of round numbers one, or a part of it), middle a quarter to three
    quarters of the value, far five to fifteen times it or a tenth.

    >>> [int(v) for v in others(Fraction(12), size=NEAR)], [int(v) for v in others(Fraction(12), size=MIDDLE)]
    ([10, 11, 13, 14], [3, 4, 6, 8, 16, 18, 20, 21])
    """
    one = step(value, decimals)
    if size == NEAR:
        found = _near(value, one, Fraction(1, 10**decimals))
    elif size == MIDDLE:
        found = _middle(value, one)
    else:
        found = [value * k for k in TIMES] + [_rounded(value / 10, Fraction(1, 10**decimals))]
    return [v for v in dict.fromkeys(found) if least <= v <= most and v != value]


def _near(value: Fraction, one: Fraction, last: Fraction) -> list[Fraction]:
    """One or two steps away; of a round number that is few of them one step, or a half or a tenth of it."""
    if one <= last:
        return [value + k * one for k in (-2, -1, 1, 2)]
    steps = value / one
    smaller = max(one / 10 if steps < 2 else one / 2 if steps <= 5 else one, last)
    return [value - smaller, value + smaller]


def _middle(value: Fraction, one: Fraction) -> list[Fraction]:
    if value < FEW * one:
        return [value + k * one for k in (-5, -4, -3, 3, 4, 5)]
    found = [_rounded(value * share / 8, one) for share in EIGHTHS]
    return [v for v in found if abs(v - value) > 2 * one]


def _rounded(value: Fraction, one: Fraction) -> Fraction:
    return round(value / one) * one


def around(value: int, size: int, steps: Sequence[Sequence[int]], *, least: int, most: int) -> list[int]:
    """Whole numbers so many steps away on either side, by size, within bounds: days, hours, years.

    >>> around(5, MIDDLE, ((1,), (2, 3), (6,)), least=1, most=12)
    [3, 2, 7, 8]
    """
    far = steps[size - 1]
    return [v for v in (*(value - k for k in far), *(value + k for k in far)) if least <= v <= most]
