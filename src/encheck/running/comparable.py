"""The texts on which the vectors of two models are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from encheck.encoders.protocol import Partial
from encheck.gating.dropin import MOST, Space
from encheck.gating.fixed_texts import FIXED_TEXTS
from encheck.running.roles import Role
from encheck.running.subject import Subject
from encheck.types import content_hash


def compared(subject: Subject, asked: Sequence[Space]) -> tuple[list[str], Role | None]:
    """The texts to encode and their role, beside what the models have that are `asked`; no text of a scorer of pairs.

    The fixed texts first, then those of the run that the others have besides. Where a search is among the checks,
    documents are what is stored. Of a model that has some vectors only, the first texts of the run that it has.
    """
    if subject.kind != "vector":
        return [], None
    role: Role | None = cast(Role, asked[0].role) if asked else "document" if "document" in subject.roles else None
    run = list(subject.roles[role].rows) if role and role in subject.roles else list(subject.rows)
    if isinstance(subject.model, Partial):
        lacking = set(subject.model.lacks(run, role=role))
        return sorted((text for text in run if text not in lacking), key=content_hash)[:MOST], role
    others = {key for space in asked for key in space.keys} - set(map(content_hash, FIXED_TEXTS))
    return [*FIXED_TEXTS, *(text for text in run if others and content_hash(text) in others)], role
