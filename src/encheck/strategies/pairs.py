"""Sentences, paraphrases and minimal pairs, with the reason why each means what it should."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import hypothesis
from hypothesis import strategies as st

from encheck.datasets.fresh import filled
from encheck.errors import UsageError, unknown
from encheck.strategies.frames import Drawable, frames_of, length, names, plainness
from encheck.strategies.patience import register
from encheck.types import Group, Variant

Side = Literal["kept", "changed"]
SIDES = ("kept", "changed")
WRITTEN = ("antonym", "modality", "quantifier")  # properties that have no frames: the embedded probes hold them
KEPT = {"antonym": "synonym"}  # what keeps the meaning beside this property; "<property>_kept" beside the others


@dataclass(frozen=True, slots=True)
class MinimalPair:
    """`kept` means what `source` means, `changed` does not.

    `favours` says which of the two the surface favours: the one that shares more words, or their order, with the
    source; "" where neither was built to. The certificates say why the meaning is kept and changed.
    """

    source: str
    kept: str
    changed: str
    property: str
    favours: str
    why_kept: str
    why_changed: str
    frame: str


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """Two texts that mean the same, and why."""

    source: str
    kept: str
    property: str
    why: str


def properties() -> tuple[str, ...]:
    """The properties that `minimal_pair` has material for."""
    return tuple(sorted({*names(), *WRITTEN}))


def minimal_pair(name: str, *, favours: Side | None = None) -> st.SearchStrategy[MinimalPair]:
    """Minimal pairs of a property, as "number", "negation" or "role_reversal": `properties()` lists them.

    Most are made from the frames of the fresh probes; "antonym", "modality" and "quantifier" are drawn from the
    embedded probes. They shrink towards short frames, a clause by itself, and plain words.

    Args:
        name: the property.
        favours: draw only pairs whose surface favours this text; "changed" are the hard ones. None draws all.

    Raises:
        UsageError: there is no such property, or it has no pair whose surface favours that text.
    """
    _refuse(name, properties())
    if favours is not None and favours not in SIDES:
        raise UsageError(unknown("side of the surface", favours, SIDES))
    register()
    if name in WRITTEN:
        return st.sampled_from(_favouring(_written(name), favours, name))
    drawables = frames_of(name)
    if favours and not all(frame.form.near for drawable in drawables for frame in drawable.forms):
        drawables = _crossed(drawables, favours, name)
    return _framed_pairs(drawables, favours)


def paraphrases(name: str | None = None) -> st.SearchStrategy[Paraphrase]:
    """Texts that mean the same, from the frames of one property or of all.

    Raises:
        UsageError: there are no frames of this property.
    """
    return _paraphrases(_drawables(name))


def sentences(name: str | None = None) -> st.SearchStrategy[str]:
    """English sentences, from the frames of one property or of all.

    Raises:
        UsageError: there are no frames of this property.
    """
    return _groups(_drawables(name)).map(lambda made: made[1].source)


def _drawables(name: str | None) -> Sequence[Drawable]:
    register()
    if name is None:
        return _all_frames()
    _refuse(name, names())
    return frames_of(name)


@cache
def _all_frames() -> Sequence[Drawable]:
    return sorted((one for name in names() for one in frames_of(name)), key=length)


def _refuse(name: str, known: Collection[str]) -> None:
    if name not in known:
        raise UsageError(unknown("property", name, known))


def _crossed(drawables: Sequence[Drawable], favours: str, name: str) -> Sequence[Drawable]:
    """The frames that are crossed with the surface; a mirrored one favours neither text."""
    found = [one for one in drawables if one.forms[0].form.near]
    if not found:
        raise UsageError(f"the surface of minimal pairs of {name} favours neither text: leave favours={favours!r} out")
    return found


@st.composite
def _groups(draw: st.DrawFn, drawables: Sequence[Drawable]) -> tuple[Drawable, Group]:
    """A group of one of the frames; hypothesis makes each choice, so that it can make it smaller."""
    drawable = draw(st.sampled_from(drawables))
    frame = draw(st.sampled_from([drawable.forms[0], drawable.forms[-1]]))  # a choice for every frame: fewer are simpler
    group = filled(frame, draw(st.randoms(use_true_random=False)))
    hypothesis.assume(group is not None)
    assert group is not None
    return drawable, group


@st.composite
def _framed_pairs(draw: st.DrawFn, drawables: Sequence[Drawable], favours: str | None) -> MinimalPair:
    drawable, group = draw(_groups(drawables))
    found = [pair for pair in _pairs_in(group, drawable.property, drawable.id) if favours in (None, pair.favours)]
    pair = draw(st.sampled_from(found))
    hypothesis.event(f"{pair.property}: the surface favours {pair.favours or 'neither'}")
    return pair


@st.composite
def _paraphrases(draw: st.DrawFn, drawables: Sequence[Drawable]) -> Paraphrase:
    drawable, group = draw(_groups(drawables))
    kept = draw(st.sampled_from([v for v in group.variants if v.relation.endswith("_kept")]))
    return Paraphrase(group.source, kept.text, drawable.property, _why(kept))


def _pairs_in(group: Group, name: str, frame: str) -> Iterator[MinimalPair]:
    """Each text that changes the meaning, with one beside it that keeps it."""
    for changed in (v for v in group.variants if v.relation == name):
        if kept := _beside(group, changed):
            yield MinimalPair(
                group.source, kept.text, changed.text, name, changed.favours, _why(kept), _why(changed), frame
            )


def _beside(group: Group, changed: Variant) -> Variant | None:
    wanted = KEPT.get(changed.relation, f"{changed.relation}_kept")
    same = (v for v in group.variants if (v.relation, v.level, v.favours) == (wanted, changed.level, changed.favours))
    return next(same, None)


def _why(variant: Variant) -> str:
    return variant.certificate or "written by hand for the embedded probes"


def _favouring(pairs: Sequence[MinimalPair], favours: str | None, name: str) -> Sequence[MinimalPair]:
    found = [pair for pair in pairs if favours in (None, pair.favours)]
    if not found:
        raise UsageError(f"the surface of minimal pairs of {name} favours neither text: leave favours={favours!r} out")
    return found


@cache
def _written(name: str) -> tuple[MinimalPair, ...]:
    """The pairs of a property in the embedded probes, the shortest first."""
    from encheck.datasets.load import load

    groups = load("probes").groups
    found = dict.fromkeys(pair for group in groups for pair in _pairs_in(group, name, group.cluster))
    return tuple(sorted(found, key=lambda pair: (plainness(pair.source), pair.kept, pair.changed)))
