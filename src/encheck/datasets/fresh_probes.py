"""Generate fresh probes for `--data probes:fresh=SEED` from certified frames, so that no model has seen them before.

`fresh/frames.tsv` has sentences with a gap. `forms.tsv` has the texts that fill the gap, and explains why each text
keeps or changes the meaning. `lists.tsv` and the notations below have the fillers. The frames were written without the
help of an encoder (docs/method/probes.md).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache, lru_cache
from importlib import resources
from itertools import accumulate
from random import Random

from encheck.language.numbers.numerals import ordinal_in_digits, spell_number, spell_ordinal
from encheck.types import Edit, Group, Variant, content_hash

BEGIN = re.compile(r"(?:^|(?<=\w\w[.!?] ))\W*[a-zß-ÿ]")
TOKEN = re.compile(r"\w+|\W+")
Pair = tuple[str, str]
SIZES = ("near", "middle", "far")
MONTHS = "January February March April May June July August September October November December".split()
DECADES = "twenties thirties forties fifties sixties seventies eighties nineties".split()
QUARTERS = ("first", "second", "third", "fourth")
SHARES = {
    10: "a tenth", 20: "a fifth", 25: "a quarter", 30: "three tenths", 40: "two fifths", 50: "half",
    60: "three fifths", 70: "seven tenths", 75: "three quarters", 80: "four fifths", 90: "nine tenths",
}  # fmt: skip
MINUTES = {
    30: "half an hour", 45: "three quarters of an hour", 90: "an hour and a half", 120: "two hours",
    150: "two and a half hours", 180: "three hours", 210: "three and a half hours", 240: "four hours",
    270: "four and a half hours", 300: "five hours", 360: "six hours", 480: "eight hours", 720: "twelve hours",
}  # fmt: skip
MONTHS_LONG = {
    12: "one year", 18: "a year and a half", 24: "two years", 30: "two and a half years", 36: "three years",
    42: "three and a half years", 48: "four years", 60: "five years", 72: "six years", 84: "seven years",
    96: "eight years", 120: "ten years", 180: "fifteen years",
}  # fmt: skip
PERCENT_PARTS = ((0.25, "a quarter of a percent"), (0.5, "half a percent"), (0.75, "three quarters of a percent"))
RANGES = (
    (1, 2), (2, 3), (2, 4), (3, 4), (3, 5), (4, 6), (5, 7), (5, 8), (6, 8), (7, 10), (8, 10), (10, 12), (12, 15),
    (15, 20), (20, 25), (25, 30),
)  # fmt: skip
LIST_REFERENCE = "@"
GAP = "[]"
FORMS_IN_CLAUSES = {"number", "name"}  # their gap is part of a clause; in all others it is a whole clause
GROUPS_PER_FRAME = 6  # groups
TRIES = 200
GENERATOR = "fresh"
SPLIT = "gate"  # unseen texts decide
ORDINALS = {"former": "the former", "latter": "the latter"}
Values = dict[str, str]


@lru_cache(maxsize=20_000)  # the probes have 6,000 of them, and a process may load them more than once
def diff_words(source: str, text: str) -> tuple[Edit, ...]:
    """Return the edits that turn the source into the text, as replacements of words.

    >>> diff_words("a red car", "a blue car")
    (Edit(start=2, end=5, text='blue'),)
    """
    old, new = TOKEN.findall(source), TOKEN.findall(text)
    starts = list(accumulate(map(len, old), initial=0))
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(Edit(starts[i], starts[j], "".join(new[k:m])) for tag, i, j, k, m in codes if tag != "equal")


def number_in_words(number: int) -> str:
    """Write a number from 0 to 999 in words.

    >>> number_in_words(45), number_in_words(120)
    ('forty-five', 'a hundred and twenty')
    """
    words = spell_number(number)
    return words.replace("one", "a", 1) if 100 <= number < 200 else words


@cache
def _values_by_notation() -> Mapping[str, list[Pair]]:
    """Return the values of each kind in ascending order, each value in two notations."""

    def smaller(unit: str, small: str, least: int) -> list[Pair]:
        """Return amounts below one unit, written in the unit and in thousandths of it, in steps of 0.05."""
        return [(f"{part / 100:g} {unit}", f"{part}0 {small}") for part in range(least, 100, 5)]

    halves = {number: f"{number_in_words(number)} and a half" for number in range(1, 15)}

    def and_a_half(unit: str, word: str) -> list[Pair]:
        return [(f"{number}.5 {unit}", f"{halves[number]} {word}") for number in range(1, 10)]

    pence = [(pounds, tens) for pounds in range(1, 10) for tens in range(2, 10)]
    clock = []
    for hour in range(1, 12):
        clock += [
            (f"quarter past {number_in_words(hour)}", f"{hour}:15"),
            (f"half past {number_in_words(hour)}", f"{hour}:30"),
        ]
        clock += [(f"quarter to {number_in_words(hour + 1)}", f"{hour}:45")]
    return {
        "kilograms": [*smaller("kg", "g", 5), *and_a_half("kg", "kilograms")],
        "kilometres": [*smaller("km", "metres", 5), *and_a_half("km", "kilometres")],
        "metres": [*((f"0.{d} m", f"{d}0 cm") for d in range(3, 10)), *and_a_half("m", "metres")],
        "litres": [*smaller("litres", "ml", 25), *and_a_half("litres", "litres")],
        "hours": [(words, f"{minutes} minutes") for minutes, words in MINUTES.items()],
        "days": [(f"{number_in_words(days)} days", f"{24 * days} hours") for days in range(2, 11)],
        "weeks": [(f"{number_in_words(weeks)} weeks", f"{7 * weeks} days") for weeks in range(2, 16)],
        "years": [(words, f"{months} months") for months, words in MONTHS_LONG.items()],
        "millions": [(f"$1.{tenths} million", f"$1,{tenths}00,000") for tenths in range(1, 10)],
        "pence": [
            (f"£{pounds}.{tens}0", f"{number_in_words(pounds)} pound{'s' * (pounds > 1)} {number_in_words(10 * tens)}")
            for pounds, tens in pence
        ],
        "euros": [(f"€{n}", f"{number_in_words(n)} euros") for n in (*range(15, 100, 5), *range(120, 500, 30))],
        "percent": [(f"{share}%", words) for share, words in SHARES.items()],
        "halves-percent": [
            *((f"{share:g}%", words) for share, words in PERCENT_PARTS),
            *((f"{number}.5%", f"{words} percent") for number, words in halves.items()),
        ],
        "halves": [(f"{number}.5", halves[number]) for number in range(1, 10)],
        "clock": clock,
        "range": [(f"{number_in_words(low)} to {number_in_words(high)}", f"{low}–{high}") for low, high in RANGES],
        "ordinal": [(spell_ordinal(number), ordinal_in_digits(number)) for number in range(4, 21)],
        "version": [(f"version {number}.0", f"v{number}") for number in range(2, 20)],
        "bounds": [(f"at least {number_in_words(number)}", f"{number} or more") for number in range(4, 25)],
        "thousands": [(f"{number},000", f"{number_in_words(number)} thousand") for number in range(2, 20)],
        "count": [(number_in_words(number), f"{number}") for number in range(2, 41)],
        "decades": [(f"the {name}", f"the 19{2 + number}0s") for number, name in enumerate(DECADES)],
        "centuries": [(f"the {ordinal_in_digits(number)} century", f"the {number - 1}00s") for number in range(12, 20)],
    }


def draw_two_values(notation: str, rng: Random) -> tuple[Pair, Pair, str]:
    """Draw two values, each in two notations, and say how far apart they are in their order: near, middle or far.

    Raise KeyError for an unknown notation.
    """
    if notation == "dates":
        year = rng.randrange(2012, 2025)
        days = [(month, day) for month in range(1, 13) for day in range(1, 10)]
        values = [(f"{day} {MONTHS[month - 1]} {year}", f"{year}-{month:02}-{day:02}") for month, day in days]
    elif notation == "times":
        minutes = rng.choice(["05", "10", "20", "25", "35", "40", "50", "55"])
        values = [(f"{hour}:{minutes} p.m.", f"{hour + 12}:{minutes}") for hour in range(1, 12)]
    elif notation == "quarter":
        year = rng.randrange(2012, 2025)
        values = [(f"the {name} quarter of {year}", f"Q{number} {year}") for number, name in enumerate(QUARTERS, 1)]
    elif notation == "limits":
        k = rng.randrange(3, 13)
        values = [
            (f"at least {number_in_words(k)}", f"{k} or more"),
            (f"at most {number_in_words(k)}", f"{k} or fewer"),
        ]
    else:
        values = _values_by_notation()[notation]
    size, count = rng.choice(SIZES), len(values)
    least, most = {
        "near": (1, 1), "middle": (2, max(2, count // 4)), "far": (max(count // 3, 1), count),
    }[size]  # fmt: skip
    first = rng.randrange(count)
    others = [i for i in range(count) if least <= abs(i - first) <= most]
    if not others:
        return draw_two_values(notation, rng)
    return values[first], values[rng.choice(others)], size


@dataclass(frozen=True, slots=True)
class GapForm:
    """What fills the gap in two similar sources, and in a candidate text with the meaning of the first source.

    If each two fillers in `exchanged` trade their values, the candidate has the meaning of the second source instead.
    `kept` and `changed` explain why.
    """

    name: str
    first: str
    second: str
    candidate: str
    exchanged: tuple[str, ...]
    kept: str
    changed: str


@dataclass(frozen=True, slots=True)
class ProbeFrame:
    """A sentence with a gap `[]`, and the options for each of its fillers."""

    phenomenon: str
    form: GapForm
    template: str
    fillers: Mapping[str, tuple[str, ...]]

    @property
    def id(self) -> str:
        """The phenomenon and a hash of the sentence. It is also the cluster of the frame's groups."""
        return f"fresh-{self.phenomenon}-{content_hash(self.template)[:8]}"


def reduce_frame_to_clause(frame: ProbeFrame) -> ProbeFrame | None:
    """Return the frame without the sentence around its gap.

    Return None if the gap is not a clause, or if it refers to the rest of the sentence.
    """
    needs_more = frame.form.name in FORMS_IN_CLAUSES or "{" in frame.template
    return None if needs_more else replace(frame, template=f"{GAP}.")


@cache
def load_probe_frames() -> tuple[ProbeFrame, ...]:
    """Return all frames in file order."""
    forms = {
        name: GapForm(name, first, second, candidate, tuple(exchanged.split()), kept, changed)
        for name, first, second, candidate, exchanged, kept, changed in _read_package_tsv("forms")
    }
    lists = dict(_read_package_tsv("lists"))
    frames = []
    for phenomenon, form, template, *given in _read_package_tsv("frames"):
        fillers = {}
        for text in given:
            name, _, options = text.partition("=")
            listed = lists[options.removeprefix(LIST_REFERENCE)] if options.startswith(LIST_REFERENCE) else options
            fillers[name] = tuple(option.strip() for option in listed.split(";"))
        frames.append(ProbeFrame(phenomenon, forms[form], template, fillers))
    return tuple(frames)


def _read_package_tsv(name: str) -> list[list[str]]:
    """Return the rows of one of this package's tables, without the header."""
    text = (resources.files("encheck.datasets") / "fresh" / f"{name}.tsv").read_text("utf-8")
    return list(csv.reader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))[1:]


@cache
def generate_fresh_groups(seed: int) -> tuple[Group, ...]:
    """Generate the groups of this seed: as many per frame as its fillers allow, at most six, without repeated texts."""
    taken: set[str] = set()
    groups: list[Group] = []
    for frame in load_probe_frames():
        rng, count = Random(f"{seed}/{frame.id}"), 0  # noqa: S311 - no secret
        for _ in range(TRIES):
            group = fill_frame(frame, rng)
            texts = {group.source, *(variant.text for variant in group.variants)} if group else taken
            if group and not texts & taken:
                taken |= texts
                count += 1
                groups.append(group)
            if count == GROUPS_PER_FRAME:
                break
    return tuple(groups)


def fill_frame(frame: ProbeFrame, rng: Random) -> Group | None:
    """Make a group from this frame with fillers drawn by `rng`, or return None if two of its texts are equal.

    With two sources, the second is the mirror: it has the meaning of the changed text, but not of the kept text.
    """
    form, values = frame.form, _draw_filler_values(frame, rng)
    sources = [_fill_gap(frame, one, values, values) for one in (form.first, form.second)]
    pairs = list(zip(form.exchanged[::2], form.exchanged[1::2], strict=True))
    meanings = [values, (values | {one: values[other] for pair in pairs for one, other in (pair, pair[::-1])})]
    turn = rng.choice([1, -1])
    (source, mirror), (meant, other) = sources[::turn], meanings[::turn]
    kept, changed = (_fill_gap(frame, form.candidate, values, meaning) for meaning in (meant, other))
    if len({source, mirror, kept, changed}) < len((source, mirror, kept, changed)):
        return None
    name = frame.phenomenon
    variants = tuple(
        Variant(text, relation, 1, diff_words(source, text), GENERATOR, f"{form.name}: {reason}")
        for text, relation, reason in (
            (kept, f"{name}_kept", form.kept.format(**meant)),
            (changed, name, form.changed.format(**meant)),
            (mirror, f"{name}_mirror", form.changed.format(**meant)),
        )
    )
    return Group(
        f"{frame.id}-{content_hash(source)[:8]}",
        source,
        source,
        frame.id,
        variants,
        None,
        SPLIT,
        construction=form.name,
    )


def _fill_gap(frame: ProbeFrame, form: str, values: Values, inside: Values) -> str:
    """Return the frame's sentence with this form in its gap."""
    return BEGIN.sub(
        lambda found: found[0].upper(), frame.template.format(**values).replace(GAP, form.format(**inside))
    )


def _draw_filler_values(frame: ProbeFrame, rng: Random) -> Values:
    """Draw a value for each filler. a+b are two options, v/w the two halves of an option, and n|m are these in either
    order.
    """
    values = dict(ORDINALS)
    for name, options in frame.fillers.items():
        if name == "number":
            # `n` and `o` are in one notation, `m` and `p` in the other
            *pairs, size = draw_two_values(options[0], rng)
            turn = rng.choice([1, -1])
            (n, m), (o, p) = (pair[::turn] for pair in pairs)
            values |= {"n": n, "m": m, "o": o, "p": p, "size": size}
            continue
        turn = rng.choice([1, -1]) if "|" in name else 1
        for part, option in zip(name.split("+"), rng.sample(options, name.count("+") + 1), strict=True):
            halves = option.split("/")[::turn]
            values |= zip(part.replace("|", "/").split("/"), halves * 2, strict=False)
    return values
