"""Groups made from frames: the same ones for the same seed, others for another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from encheck.datasets.fresh.frames import GAP, Form, Frame, frames
from encheck.datasets.fresh.notations import drawn
from encheck.datasets.fresh.wording import edits, sentence
from encheck.types import Group, Variant, content_hash

A_FRAME = 6  # groups
TRIES = 200
GENERATOR = "fresh"
SPLIT = "gate"  # what was never seen decides
Values = dict[str, str]


@cache
def groups(seed: int) -> tuple[Group, ...]:
    """The groups of this seed: of each frame as many as its fillers give, at most six, and no text twice."""
    taken: set[str] = set()
    return tuple(group for frame in frames() for group in _of_frame(frame, seed, taken))


def _of_frame(frame: Frame, seed: int, taken: set[str]) -> Iterator[Group]:
    rng = Random(f"{seed}/{frame.id}")  # noqa: S311 - no secret
    made = 0
    for _ in range(TRIES):
        source, texts = _texts(frame, rng)
        all_texts = {source, *(text.text for text in texts)}
        if len(all_texts) > len(texts) and not all_texts & taken:
            taken |= all_texts
            made += 1
            yield _group(frame, source, texts)
        if made == A_FRAME:
            return


def filled(frame: Frame, rng: Random) -> Group | None:
    """One group of this frame, as `rng` fills it; None where two of its texts came out alike."""
    source, texts = _texts(frame, rng)
    distinct = {source, *(text.text for text in texts)}
    return _group(frame, source, texts) if len(distinct) > len(texts) else None


@dataclass(frozen=True, slots=True)
class _Text:
    """A text of a group before its edits are worked out."""

    text: str
    relation: str
    why: str
    favours: str = ""


def _texts(frame: Frame, rng: Random) -> tuple[str, list[_Text]]:
    return _crossed(frame, rng) if frame.form.near else _mirrored(frame, rng)


def _crossed(frame: Frame, rng: Random) -> tuple[str, list[_Text]]:
    """One source, and two edits of it, each with and without the values of two fillers exchanged."""
    form, name, values = frame.form, frame.phenomenon, _filled(frame, rng)
    texts = []
    for favours, inside, exchanged in (
        ("kept", form.near, form.near_exchanges),
        ("changed", form.far, form.far_exchanges),
    ):
        other = _text(frame, inside, _exchanged(values, exchanged))
        texts.append(_Text(_text(frame, inside, values), f"{name}_kept", values["kept"], favours))
        texts.append(_Text(other, name, values["changed"], favours))
    return _text(frame, form.source, values), texts


def _mirrored(frame: Frame, rng: Random) -> tuple[str, list[_Text]]:
    """Two sources; each of two texts says what the one says and not what the other says."""
    name, (values, other) = frame.phenomenon, _two(frame, rng)
    source, mirror = (_text(frame, frame.form.source, v) for v in (values, other))
    kept, changed = (_text(frame, frame.form.source, v | {"n": v["m"]}) for v in (values, other))
    texts = [
        _Text(kept, f"{name}_kept", values["kept"]),
        _Text(changed, name, values["changed"]),
        _Text(mirror, f"{name}_mirror", values["changed"]),
    ]
    return source, texts


def _group(frame: Frame, source: str, texts: Sequence[_Text]) -> Group:
    """A group without a free paraphrase: the sentence stands for it, and checks of paraphrases exclude such groups."""
    variants = tuple(
        Variant(t.text, t.relation, 1, edits(source, t.text), GENERATOR, f"{frame.form.name}: {t.why}", t.favours)
        for t in texts
    )
    return Group(f"{frame.id}-{content_hash(source)[:8]}", source, source, frame.id, variants, None, SPLIT)


def _text(frame: Frame, form: str, values: Values) -> str:
    """The sentence of a frame, with this form of its gap; {1} and {2} are the two places of a pattern."""
    inside = values | {
        name: values["pat"].replace("{1}", values[one]).replace("{2}", values[two])
        for name, one, two in (("p1", "w", "y"), ("p2", "x", "z"))
        if "pat" in values
    }
    clause = form.format(**inside)
    template = frame.template if GAP in frame.template else frame.template.replace("{n}", GAP)
    return sentence(template.replace(GAP, clause).format(**values))


def _exchanged(values: Values, names: tuple[str, ...]) -> Values:
    first, second = names
    return values | {first: values[second], second: values[first]}


def _filled(frame: Frame, rng: Random) -> Values:
    """A value for each filler: a+b are two options, v/w the two halves of one, p|m these in either order."""
    values: Values = {}
    for name, options in frame.fillers.items():
        if "+" in name:
            found = rng.sample(options, 2)
        elif "|" in name:
            found = rng.sample(rng.choice(options).split("/"), 2)
        elif "/" in name:
            found = (rng.choice(options).split("/") * 2)[:2]
        else:
            found = [rng.choice(options)]
        values |= zip(name.replace("+", " ").replace("|", " ").replace("/", " ").split(), found, strict=True)
    return values | _reasons(frame.form, values)


def _two(frame: Frame, rng: Random) -> tuple[Values, Values]:
    """What fills the two sources of a mirrored group, `n`, and what says the same, `m`."""
    if "n" in frame.fillers:
        *pairs, size = drawn(frame.fillers["n"][0], rng)
    else:
        pairs, size = [_halves(option) for option in rng.sample(frame.fillers["n/m"], 2)], ""
    turn = rng.choice([1, -1])
    rng.shuffle(pairs)
    (n, m), (o, p) = (pair[::turn] for pair in pairs)
    first, second = {"n": n, "m": m, "o": o}, {"n": o, "m": p, "o": n}
    said = f" ({size})" if size else ""
    reasons = [_reasons(frame.form, v, said=said) for v in (first, second)]
    return first | reasons[0], second | reasons[1]


def _halves(option: str) -> tuple[str, str]:
    first, _, second = option.partition("/")
    return first, second


def _reasons(form: Form, values: Values, *, said: str = "") -> Values:
    """Why the kept text keeps the meaning, and why the changed one changes it."""
    return {"kept": form.kept.format(**values), "changed": form.changed.format(**values) + said}
