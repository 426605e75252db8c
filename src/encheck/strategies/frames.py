"""The frames of the fresh probes, ordered for hypothesis: what it shrinks to comes first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from random import Random

from encheck.datasets import fresh_probes
from encheck.datasets.fresh_probes import ProbeFrame


@dataclass(frozen=True, slots=True)
class Drawable:
    """A frame whose fillers stand in the order of their plainness, and the same frame with its clause alone.

    `forms` begins with the shortest. `id` is that of the frame in the fresh probes.
    """

    id: str
    property: str
    forms: tuple[ProbeFrame, ...]


def names() -> tuple[str, ...]:
    """The properties that have frames."""
    return tuple(sorted({frame.phenomenon for frame in fresh_probes.probe_frames()}))


@cache
def frames_of(name: str) -> tuple[Drawable, ...]:
    """The frames of a property, those that make the shortest sentences first."""
    found = [_drawable(frame) for frame in fresh_probes.probe_frames() if frame.phenomenon == name]
    return tuple(sorted(found, key=length))


def _drawable(frame: ProbeFrame) -> Drawable:
    fillers = {name: tuple(sorted(options, key=plainness)) for name, options in frame.fillers.items()}
    whole = replace(frame, fillers=fillers)
    alone = fresh_probes.clause_alone(whole)
    return Drawable(frame.id, frame.phenomenon, (alone, whole) if alone else (whole,))


def length(drawable: Drawable) -> tuple[tuple[int, bool, int, str], str]:
    """What sorts frames by the shortest sentence that they make, as one draw fills it."""
    group = fresh_probes.fill_frame(drawable.forms[0], Random(0))  # noqa: S311 - no secret
    return plainness(group.source if group else drawable.forms[0].template), drawable.id


def plainness(text: str) -> tuple[int, bool, int, str]:
    """What sorts plain words before others: few, of English letters, short.

    >>> sorted(["the night porter", "Zoë", "Maria", "Tom"], key=plainness)
    ['Tom', 'Maria', 'Zoë', 'the night porter']
    """
    return len(text.split()), not text.isascii(), len(text), text
