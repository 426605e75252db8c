"""Sentences, paraphrases and minimal pairs, with the reason why each means what it should."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import hypothesis
from hypothesis import strategies as st

from encheck.datasets.fresh_probes import fill_frame
from encheck.datasets.probes import group_sides, kept_relation
from encheck.errors import UsageError, unknown
from encheck.scoring.triplets import surface_preference
from encheck.strategies.frames import Drawable, frames_of, length, names, plainness
from encheck.strategies.patience import register
from encheck.types import Group, Variant

Side = Literal["kept", "changed"]
SIDES: dict[int, Side] = {1: "kept", -1: "changed"}
WRITTEN = ("antonym", "modality", "quantifier")  # properties that have no frames: the embedded probes hold them


@dataclass(frozen=True, slots=True)
class MinimalPair:
    """`kept` means what `source` means, `changed` does not.

    `favours` says which of the two the surface favours: the one nearer to the source by token edit distance; "" for
    neither. The certificates say why the meaning is kept and changed.
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
        UsageError: there is no such property, or no such text.
    """
    _refuse(name, properties())
    if favours is not None and favours not in SIDES.values():
        raise UsageError(unknown("side of the surface", favours, tuple(SIDES.values())))
    register()
    if name in WRITTEN:
        _written(name)  # reading the probes takes a second, which no example should wait for
        return _written_pairs(name, favours)
    return _framed_pairs(name, favours)


def paraphrases(name: str | None = None) -> st.SearchStrategy[Paraphrase]:
    """Texts that mean the same, from the frames of one property or of all.

    Raises:
        UsageError: there are no frames of this property.
    """
    _refuse_unframed(name)
    return _paraphrases(name)


def sentences(name: str | None = None) -> st.SearchStrategy[str]:
    """English sentences, from the frames of one property or of all.

    Raises:
        UsageError: there are no frames of this property.
    """
    _refuse_unframed(name)
    return _groups(name).map(lambda made: made[1].source)


def _refuse_unframed(name: str | None) -> None:
    register()
    if name is not None:
        _refuse(name, names())


@cache
def _frames(name: str | None) -> Sequence[Drawable]:
    """The frames of a property, or of all."""
    return frames_of(name) if name else sorted((one for each in names() for one in frames_of(each)), key=length)


def _refuse(name: str, known: Collection[str]) -> None:
    if name not in known:
        raise UsageError(unknown("property", name, known))


@st.composite
def _groups(draw: st.DrawFn, name: str | None) -> tuple[Drawable, Group]:
    """A group of one of the frames; hypothesis makes each choice, so that it can make it smaller."""
    drawables = _frames(name)
    drawable = drawables[draw(st.sampled_from(range(len(drawables))))]
    frame = drawable.forms[0 if draw(st.sampled_from([True, False])) else -1]  # one choice for every frame
    group = fill_frame(frame, draw(st.randoms(use_true_random=False)))
    hypothesis.assume(group is not None)
    assert group is not None
    return drawable, group


@st.composite
def _framed_pairs(draw: st.DrawFn, name: str, favours: str | None) -> MinimalPair:
    drawable, group = draw(_groups(name))
    pair = _one_of(draw, [pair for side in group_sides(group) for pair in _pairs_in(side, name, drawable.id)], favours)
    hypothesis.event(f"{name}: the surface favours {pair.favours or 'neither'}")
    return pair


@st.composite
def _written_pairs(draw: st.DrawFn, name: str, favours: str | None) -> MinimalPair:
    return _one_of(draw, _written(name), favours)


def _one_of(draw: st.DrawFn, pairs: Sequence[MinimalPair], favours: str | None) -> MinimalPair:
    found = [pair for pair in pairs if favours in (None, pair.favours)]
    hypothesis.assume(found)
    return found[draw(st.sampled_from(range(len(found))))]


@st.composite
def _paraphrases(draw: st.DrawFn, name: str | None) -> Paraphrase:
    drawable, group = draw(_groups(name))
    found = [variant for variant in group.variants if variant.relation.endswith("_kept")]
    kept = found[draw(st.sampled_from(range(len(found))))]
    return Paraphrase(group.source, kept.text, drawable.property, _why(kept))


def _pairs_in(group: Group, name: str, frame: str) -> Iterator[MinimalPair]:
    """Each text that changes the meaning, with one beside it that keeps it."""
    for changed in (v for v in group.variants if v.relation == name):
        if kept := group.variant(kept_relation(name), changed.level):
            favours = SIDES.get(surface_preference(group.source, kept.text, changed.text), "")
            yield MinimalPair(group.source, kept.text, changed.text, name, favours, _why(kept), _why(changed), frame)


def _why(variant: Variant) -> str:
    return variant.certificate or "written for the embedded probes"


@cache
def _written(name: str) -> tuple[MinimalPair, ...]:
    """The pairs of a property in the embedded probes, the shortest first."""
    from encheck.datasets.load import load

    groups = load("probes").groups
    found = dict.fromkeys(pair for group in groups for pair in _pairs_in(group, name, group.cluster))
    return tuple(sorted(found, key=lambda pair: (plainness(pair.source), pair.kept, pair.changed)))
