"""Strategies for hypothesis: sentences, minimal pairs, paraphrases and hostile texts, for your own tests.

Texts come from certified frames, so shrunk examples are still correct. docs/tasks/own-tests.md has examples.
`encheck.relations` has relations to test.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any, Literal

try:
    import hypothesis
    from hypothesis import HealthCheck, settings
    from hypothesis import strategies as st
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "encheck.strategies needs hypothesis. Remedy: pip install 'encheck[strategies]'", name="hypothesis"
    ) from error

from encheck.datasets import fresh_probes
from encheck.datasets.fresh_probes import ProbeFrame, fill_frame
from encheck.datasets.probes import expand_mirror_groups, relation_keeping_meaning
from encheck.errors import UsageError, unknown_name_message
from encheck.scoring.triplets import nearer_by_edit_distance
from encheck.types import Group, Variant

__all__ = [
    "PROFILE",
    "MinimalPair",
    "Paraphrase",
    "hostile_texts",
    "lift_deadline",
    "minimal_pair",
    "paraphrases",
    "properties",
    "sentences",
]  # fmt: skip
PROFILE = "encheck"


def register_profile() -> None:
    """Register a profile with the user's settings but no deadline.

    The profile is not loaded, so other tests keep their own settings.
    """
    now = settings()
    settings.register_profile(PROFILE, now, deadline=None, suppress_health_check=_suppressed_checks(now))


def lift_deadline(test: Any) -> Any:
    """Remove the deadline of a test decorated with `@given`, and keep its other settings.

    The plugin calls this function for each test with the fixture `encoder`. A deadline that the user set stays.
    """
    function = getattr(test, "__func__", test)
    given: settings = getattr(function, "_hypothesis_internal_use_settings", None) or settings()
    usual = settings.get_profile("default").deadline
    deadline = None if given.deadline == usual else given.deadline
    function._hypothesis_internal_use_settings = settings(
        given, deadline=deadline, suppress_health_check=_suppressed_checks(given)
    )
    return test


def _suppressed_checks(given: settings) -> list[HealthCheck]:
    return sorted({*given.suppress_health_check, HealthCheck.too_slow}, key=lambda check: check.value)


@dataclass(frozen=True, slots=True)
class FrameForms:
    """A frame whose fillers are sorted by plainness, and the same frame reduced to its clause.

    `forms` has the frame in its forms, the shortest first. `id` is the id of the frame in the fresh probes.
    """

    id: str
    property: str
    forms: tuple[ProbeFrame, ...]


def properties_with_frames() -> tuple[str, ...]:
    """Return the names of the properties that have frames."""
    return tuple(sorted({frame.phenomenon for frame in fresh_probes.load_probe_frames()}))


@cache
def frames_of_property(name: str | None) -> tuple[FrameForms, ...]:
    """Return the frames of a property, or all frames if `name` is None; frames with short sentences come first."""
    found = []
    for frame in fresh_probes.load_probe_frames():
        if name in (None, frame.phenomenon):
            fillers = {key: tuple(sorted(options, key=plainness_key)) for key, options in frame.fillers.items()}
            whole = replace(frame, fillers=fillers)
            alone = fresh_probes.reduce_frame_to_clause(whole)
            found.append(FrameForms(frame.id, frame.phenomenon, (alone, whole) if alone else (whole,)))
    return tuple(sorted(found, key=frame_sort_key))


def frame_sort_key(drawable: FrameForms) -> tuple[tuple[int, bool, int, str], str]:
    """Return a sort key: the plainness of the frame's shortest sentence with fillers from a fixed seed."""
    group = fresh_probes.fill_frame(drawable.forms[0], Random(0))  # noqa: S311 - no secret
    return plainness_key(group.source if group else drawable.forms[0].template), drawable.id


def plainness_key(text: str) -> tuple[int, bool, int, str]:
    """Return a sort key that puts plain texts first: few words, ASCII letters, few characters.

    >>> sorted(["the night porter", "Zoë", "Maria", "Tom"], key=plainness_key)
    ['Tom', 'Maria', 'Zoë', 'the night porter']
    """
    return len(text.split()), not text.isascii(), len(text), text


CONTROLS = [*map(chr, range(32)), *map(chr, range(0x7F, 0xA0))]
SURROGATES = ("\ud800", "\udbff", "\udc00", "\udfff", "\udc00\ud800")
UNSEEN = ("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u034f", "\u180e", "\U000e0061")
TURNING = ("\u202e", "\u202d", "\u2066", "\u2067", "\u2068", "\u2069", "\u200f", "\u061c")
RIGHT_TO_LEFT = ("שלום", "سلام", "زبان", "ܫܠܡܐ")
STACKED = ("e" + "\u0301" * 40, "\u0f7c" * 20, "n" + "\u0303\u0330" * 20)
JOINED = ("👩‍👩‍👧", "🏳️‍🌈", "👍🏽", "🇪🇺", "\U0010ffff", "\ufffe", "ﷺ", "İ", "ß")
MARKS = ("[CLS]", "[MASK]", "<s>", "</s>", "<pad>", "<|endoftext|>", "%s", "{0}", "\\x00", "<b>", "'; --")
BLANKS = ("", " ", "\n", "\t", "\u00a0", "\u2028", "\u3000", "\r\n")
MOST_CHARACTERS = 100_000


def hostile_texts(*, max_size: int = MOST_CHARACTERS) -> st.SearchStrategy[str]:
    """Return a strategy for texts that break naive code.

    The texts contain control characters, lone surrogates, right-to-left and invisible marks; some are empty or very
    long. They shrink towards short texts and the empty text. No text is longer than `max_size` characters.

    Raises:
        UsageError: max_size is below 1.
    """
    if max_size < 1:
        raise UsageError(f"hostile_texts(max_size={max_size}) leaves no text, but should be 1 or more")
    register_profile()
    pieces = (*CONTROLS, *SURROGATES, *UNSEEN, *TURNING, *RIGHT_TO_LEFT, *STACKED, *JOINED, *MARKS, *BLANKS)
    part = st.one_of(st.sampled_from(["the dog", "a", "Don't", "1.5"]), st.sampled_from(pieces))
    units = ("a", "the dog ", "é", "\u0301", "\u200b", "犬", "👩‍👩‍👧", "\ud800", "\x00", "\n", ".", "1,000 ")
    sizes = sorted({min(size, max_size) for size in (1, 10, 100, 513, 1_000, 10_000, max_size)})
    mixed = st.lists(part, min_size=1, max_size=6).map("".join)
    return st.one_of(
        st.one_of(st.sampled_from(BLANKS), mixed, st.text()).map(lambda text: text[:max_size]),
        st.builds(repeated, st.sampled_from(units), st.sampled_from(sizes)),
    )


class RepeatedText(str):
    """A text with a short repr, so that a failing example of 100,000 characters takes one line."""

    unit: str
    __slots__ = ("unit",)

    def __repr__(self) -> str:
        return f"repeated({self.unit!r}, {len(self)})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002 - hypothesis calls it so
        printer.text(repr(self))


def repeated(unit: str, size: int) -> str:
    """Return the unit repeated until the text has `size` characters; the last repetition may be cut.

    >>> repeated("ab", 5), str(repeated("ab", 5))
    (repeated('ab', 5), 'ababa')
    """
    text = RepeatedText((unit * -(-size // len(unit)))[:size])
    text.unit = unit
    return text


Side = Literal["kept", "changed"]
SIDES: dict[int, Side] = {1: "kept", -1: "changed"}
WRITTEN = ("antonym", "modality", "quantifier")  # properties without frames: their texts are in the embedded probes


@dataclass(frozen=True, slots=True)
class MinimalPair:
    """A source with two texts: `kept` has its meaning, `changed` does not.

    `favours` names the text that the surface favours, which is nearer to the source by token edit distance; "" if
    neither is. `why_kept` and `why_changed` are the certificates of the two texts.
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
    """Two texts with the same meaning; `why` is the certificate."""

    source: str
    kept: str
    property: str
    why: str


def properties() -> tuple[str, ...]:
    """Return the properties that `minimal_pair` accepts."""
    return tuple(sorted({*properties_with_frames(), *WRITTEN}))


def minimal_pair(name: str, *, favours: Side | None = None) -> st.SearchStrategy[MinimalPair]:
    """Return a strategy for minimal pairs of a property, such as "number", "negation" or "role_reversal".

    `properties()` lists all properties. The pairs of "antonym", "modality" and "quantifier" are embedded probes; the
    others come from the frames of the fresh probes. They shrink towards short frames, single clauses, and plain words.

    Args:
        name: the property.
        favours: draw only pairs whose surface favours this text, "kept" or "changed"; "changed" gives hard pairs.
                Default: all pairs.

    Raises:
        UsageError: the property or `favours` is unknown.
    """
    _register_and_check(name, properties())
    if favours is not None and favours not in SIDES.values():
        raise UsageError(unknown_name_message("side of the surface", favours, tuple(SIDES.values())))
    if name in WRITTEN:
        _embedded_pairs(name)  # reading the probes takes a second, which no example should wait for
        return _draw_embedded_pair(name, favours)
    return _draw_framed_pair(name, favours)


def paraphrases(name: str | None = None) -> st.SearchStrategy[Paraphrase]:
    """Return a strategy for paraphrases, from the frames of one property or of all properties.

    Raises:
        UsageError: there are no frames of this property.
    """
    _register_and_check(name, properties_with_frames())
    return _draw_paraphrase(name)


def sentences(name: str | None = None) -> st.SearchStrategy[str]:
    """Return a strategy for English sentences, from the frames of one property or of all properties.

    Raises:
        UsageError: there are no frames of this property.
    """
    _register_and_check(name, properties_with_frames())
    return _draw_group(name).map(lambda made: made[1].source)


def _register_and_check(name: str | None, known: Collection[str]) -> None:
    """Register the profile, and raise UsageError for an unknown property."""
    register_profile()
    if name is not None and name not in known:
        raise UsageError(unknown_name_message("property", name, known))


@st.composite
def _draw_group(draw: st.DrawFn, name: str | None) -> tuple[FrameForms, Group]:
    """Draw a group from one of the frames. Hypothesis makes each choice, so it can shrink the group."""
    drawables = frames_of_property(name)
    drawable = drawables[draw(st.sampled_from(range(len(drawables))))]
    frame = drawable.forms[0 if draw(st.sampled_from([True, False])) else -1]  # one choice for every frame
    group = fill_frame(frame, draw(st.randoms(use_true_random=False)))
    hypothesis.assume(group is not None)
    assert group is not None
    return drawable, group


@st.composite
def _draw_framed_pair(draw: st.DrawFn, name: str, favours: str | None) -> MinimalPair:
    drawable, group = draw(_draw_group(name))
    pair = _draw_pair(
        draw,
        [pair for side in expand_mirror_groups(group) for pair in _minimal_pairs_of(side, name, drawable.id)],
        favours,
    )
    hypothesis.event(f"{name}: the surface favours {pair.favours or 'neither'}")
    return pair


@st.composite
def _draw_embedded_pair(draw: st.DrawFn, name: str, favours: str | None) -> MinimalPair:
    return _draw_pair(draw, _embedded_pairs(name), favours)


def _draw_pair(draw: st.DrawFn, pairs: Sequence[MinimalPair], favours: str | None) -> MinimalPair:
    found = [pair for pair in pairs if favours in (None, pair.favours)]
    hypothesis.assume(found)
    return found[draw(st.sampled_from(range(len(found))))]


@st.composite
def _draw_paraphrase(draw: st.DrawFn, name: str | None) -> Paraphrase:
    drawable, group = draw(_draw_group(name))
    found = [variant for variant in group.variants if variant.relation.endswith("_kept")]
    kept = found[draw(st.sampled_from(range(len(found))))]
    return Paraphrase(group.source, kept.text, drawable.property, _certificate(kept))


def _minimal_pairs_of(group: Group, name: str, frame: str) -> Iterator[MinimalPair]:
    """Yield a minimal pair for each text that changes the meaning, with a text that keeps the meaning."""
    for changed in (v for v in group.variants if v.relation == name):
        if kept := group.variant(relation_keeping_meaning(name), changed.level):
            favours = SIDES.get(nearer_by_edit_distance(group.source, kept.text, changed.text), "")
            yield MinimalPair(
                group.source, kept.text, changed.text, name, favours, _certificate(kept), _certificate(changed), frame
            )


def _certificate(variant: Variant) -> str:
    return variant.certificate or "written for the embedded probes"


@cache
def _embedded_pairs(name: str) -> tuple[MinimalPair, ...]:
    """Return the pairs of a property in the embedded probes, the shortest pair first."""
    from encheck.datasets.load import load

    groups = load("probes").groups
    found = dict.fromkeys(pair for group in groups for pair in _minimal_pairs_of(group, name, group.cluster))
    return tuple(sorted(found, key=lambda pair: (plainness_key(pair.source), pair.kept, pair.changed)))
