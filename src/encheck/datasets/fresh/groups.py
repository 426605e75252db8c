"""Groups made from frames: the same ones for the same seed, others for another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from random import Random

from encheck.datasets.fresh.frames import GAP, Frame, frames
from encheck.datasets.fresh.notations import drawn
from encheck.datasets.fresh.wording import edits, sentence
from encheck.types import Group, Variant, content_hash

A_FRAME = 6  # groups
TRIES = 200
GENERATOR = "fresh"
SPLIT = "gate"  # what was never seen decides
ORDINALS = {"former": "the former", "latter": "the latter"}
Values = dict[str, str]


@cache
def groups(seed: int) -> tuple[Group, ...]:
    """The groups of this seed: of each frame as many as its fillers give, at most six, and no text twice."""
    taken: set[str] = set()
    return tuple(group for frame in frames() for group in _of_frame(frame, seed, taken))


def _of_frame(frame: Frame, seed: int, taken: set[str]) -> Iterator[Group]:
    rng = Random(f"{seed}/{frame.id}")  # noqa: S311 - no secret
    made = 0
    for group in (filled(frame, rng) for _ in range(TRIES)):
        texts = {group.source, *(variant.text for variant in group.variants)} if group else taken
        if group and not texts & taken:
            taken |= texts
            made += 1
            yield group
        if made == A_FRAME:
            return


def filled(frame: Frame, rng: Random) -> Group | None:
    """One group of this frame, as `rng` fills it; None where two of its texts came out alike.

    Of two sources, the other one is the mirror: the changed text says what it says, and the kept one does not.
    """
    form, values = frame.form, _filled(frame, rng)
    sources = [_text(frame, one, values, values) for one in (form.first, form.second)]
    meanings = [values, _exchanged(values, form.exchanged)]
    turn = rng.choice([1, -1])
    (source, mirror), (meant, other) = sources[::turn], meanings[::turn]
    kept, changed = (_text(frame, form.candidate, values, meaning) for meaning in (meant, other))
    if len({source, mirror, kept, changed}) < len((source, mirror, kept, changed)):
        return None
    name, why = frame.phenomenon, form.changed.format(**meant)
    variants = (
        _variant(source, kept, f"{name}_kept", f"{form.name}: {form.kept.format(**meant)}"),
        _variant(source, changed, name, f"{form.name}: {why}"),
        _variant(source, mirror, f"{name}_mirror", f"{form.name}: {why}"),
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


def _variant(source: str, text: str, relation: str, why: str) -> Variant:
    return Variant(text, relation, 1, edits(source, text), GENERATOR, why)


def _text(frame: Frame, form: str, values: Values, inside: Values) -> str:
    """The sentence of a frame, with this form of its gap."""
    return sentence(frame.template.format(**values).replace(GAP, form.format(**inside)))


def _exchanged(values: Values, names: Sequence[str]) -> Values:
    pairs = list(zip(names[::2], names[1::2], strict=True))
    return values | {one: values[other] for pair in pairs for one, other in (pair, pair[::-1])}


def _filled(frame: Frame, rng: Random) -> Values:
    """A value for each filler: a+b are two options, v/w the two halves of one, n|m these in either order."""
    values = dict(ORDINALS)
    for name, options in frame.fillers.items():
        if name == "number":
            values |= _number(options[0], rng)
            continue
        turn = rng.choice([1, -1]) if "|" in name else 1
        for part, option in zip(name.split("+"), rng.sample(options, name.count("+") + 1), strict=True):
            halves = option.split("/")[::turn]
            values |= zip(part.replace("|", "/").split("/"), halves * 2, strict=False)
    return values


def _number(notation: str, rng: Random) -> Values:
    """Two values in both notations, `n` and `o` in the one, `m` and `p` in the other, and how far they lie apart."""
    *pairs, size = drawn(notation, rng)
    turn = rng.choice([1, -1])
    (n, m), (o, p) = (pair[::turn] for pair in pairs)
    return {"n": n, "m": m, "o": o, "p": p, "size": size}
