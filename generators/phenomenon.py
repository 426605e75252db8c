"""The phenomena of the probes, each with the edits that belong to it.

Of each, one edit keeps the meaning, one changes it, and one is a control, another plausible statement of the same
place. They were written by hand (docs/probes.md).
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Literal, cast

from encheck.generators.base import Generator
from encheck.generators.written import unwritten, written
from encheck.language.english import English
from encheck.types import Group, Variant

PHENOMENA = (
    "negation", "number", "role_reversal", "temporal", "quantifier", "modality", "entity", "binding", "comparative",
)  # fmt: skip
Side = Literal["kept", "changed", "control"]


@cache
def phenomenon(name: str, side: Side) -> Generator:
    """The generator of one side of a phenomenon; ValueError for a name that is none.

    >>> phenomenon("number", "kept").__name__
    'number_kept'
    """
    if name not in PHENOMENA:
        raise ValueError(f"{name!r} is no phenomenon of the probes; there are {', '.join(PHENOMENA)}")
    relation = name if side == "changed" else f"{name}_{side}"

    def generate(group: Group, *, level: int, rng: Random, english: English) -> Variant | str:  # noqa: ARG001
        return written(group, relation, level=level) or unwritten(f"{relation} edit")

    generate.__name__ = relation
    generate.is_written = True  # type: ignore[attr-defined]  # may share its name with a generator that makes some
    return cast(Generator, generate)
