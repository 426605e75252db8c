"""Are two models one model in use? Decided by the rule of a re-index, so that both never contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from encheck.encoders.protocol import PartialEncoder
from encheck.gating import reindex
from encheck.gating.reindex import FEWEST, SAME_VECTOR, Outcome, VectorSample
from encheck.operations.same import causes
from encheck.operations.same.causes import Cause, common
from encheck.operations.same.changes import CauseName
from encheck.operations.same.sides import Kind, Side, agree
from encheck.operations.same.texts import Text, texts
from encheck.running.subject import Subject
from encheck.similarity import cosine
from encheck.types import content_hash

ExitCode = Literal[0, 1, 10]
EXIT_CODES: dict[Outcome, ExitCode] = {"same": 0, "same for use": 0, "another": 1, "cannot tell": 10}


@dataclass(frozen=True, slots=True)
class TextFigure:
    """Of one text, how far its two vectors are alike: their cosine, the lowest of all roles.

    Of a reranker, `figure` is by how much the scores of its pair differ, as a share of the scores' spread. `moved`: by
    more than rounding.
    """

    id: str
    kind: str
    text: str
    figure: float
    moved: bool


@dataclass(frozen=True)
class Same:
    """Whether A and B, named by their labels, are one model in use: what `encheck same A B --json FILE` writes.

    `outcome` is "same", "same for use" (rounding, batches and precision differ at most), "another" or "cannot tell";
    `exit_code` 0 of the first two, then 1 and 10. `causes` are "prompt", "pooling", "truncation", "normalisation",
    "precision", "padding", "missing layer", "tokenizer", "template" and "dimension": undoing them explains the
    difference. None if nothing is known to explain it. `reasons` say each in a sentence. `kind` is "pair" of rerankers.
    `reindex` is what a gate says of stored vectors; None of rerankers. `moved` counts the texts that moved by more than
    rounding. `texts` has a figure for each text; none where dimensions differ.
    """

    encheck_same: Literal[1] = field(default=1, kw_only=True)
    outcome: Outcome
    exit_code: ExitCode
    causes: tuple[CauseName, ...]
    reasons: tuple[str, ...]
    a: str
    b: str
    kind: Kind
    reindex: str | None = None
    moved: int = 0
    texts: tuple[TextFigure, ...] = ()


def texts_for(subjects: Sequence[Subject], *, role: str | None = None) -> list[Text]:
    """The texts to compare models on: the 200; if a file of vectors lacks them, up to 200 texts of that file."""
    some: Sequence[Text] = texts()
    for model in (subject.model for subject in subjects):
        if isinstance(model, PartialEncoder):
            lacks = {*model.lacks([one.text for one in some], role=role)}
            there = [one for one in some if one.text not in lacks]
            if len(there) < FEWEST:
                own = sorted(getattr(model, "texts_there", ()), key=content_hash)[: len(texts())]
                there = [Text(f"text-{i:03}", "of the file", text) for i, text in enumerate(own, 1)]
            some = there
    return list(some)


def compare(a: Side, b: Side) -> Same:
    """Whether these are one model in use; both give vectors, or both score pairs."""
    if unstable := [name for name, side in (("A", a), ("B", b)) if side.unstable]:
        said = "gives a text another vector each time: several models answer, or one whose output is random"
        reasons = [f"{name} {said}" for name in unstable]
        return Same("cannot tell", EXIT_CODES["cannot tell"], (), tuple(reasons), a.label, b.label, a.kind)
    if a.model is None or b.model is None:  # a file rounds vectors, and projects wide ones
        a, b = (replace(one, sample=VectorSample.unpacked(one.sample.packed())) for one in (a, b))
    found = reindex.compare(a.sample, b.sample) if a.kind == "vector" else None
    figures, is_set_alike = _figures(a, b), a.sample.settings == b.sample.settings
    outcome = found.in_use if found else _of_scores(figures, equal_settings=is_set_alike)
    known, reasons = _explained(a, b) if outcome == "another" else ([], [])
    if outcome == "cannot tell" and found:
        reasons.append(found.why)
    if a.padded != b.padded:
        said = f"the vectors of {'A' if a.padded else 'B'} depend on the other texts in their batch"
        if outcome in ("same", "same for use"):
            outcome, said = "another", f"{said}; in batches of one length, as a gate makes them, both have the same"
        known.append(Cause("padding", said))
    elif a.padded:
        reasons.append("the vectors of both depend on the other texts in their batch")
    if outcome.startswith("same"):
        reasons += _rounding(a, b, figures)
    if outcome == "another" and not known:
        reasons.insert(0, "none of the known causes explains it")
    said_of = [f"{one.name}: {one.says}" for one in dict.fromkeys(known)]
    named = tuple(dict.fromkeys(one.name for one in known if one.name))
    return Same(
        outcome, EXIT_CODES[outcome], named, (*said_of, *reasons), a.label, b.label, a.kind,
        found.says if found else None, sum(one.moved for one in figures), figures,
    )  # fmt: skip


def _explained(a: Side, b: Side) -> tuple[list[Cause], list[str]]:
    """The causes over all roles; and what else is known, of roles that they do not explain."""
    known: list[Cause] = []
    reasons: list[str] = []
    done: list[tuple[object, object]] = []
    for role in a.sample.roles:
        if role not in b.sample.roles:
            continue
        pair = (a.sample.roles[role], b.sample.roles[role])
        if any(pair[0] is one and pair[1] is other for one, other in done):
            continue
        done.append(pair)
        _, old, new = common(a, b, role)
        if old.shape == new.shape and agree(old, new, a.kind).all():
            continue
        found, hint = causes.find(a, b, role)
        known += found
        if not found:
            reasons += [hint] if hint else []
            if len(done) > 1 or role:
                reasons.append(f"no known cause explains the vectors in the role {role or 'of plain texts'}")
    settings = [side.sample.settings.maximum_length for side in (a, b)]
    if not known and not reasons and None not in settings and settings[0] != settings[1]:
        known.append(Cause("truncation", f"A reads {settings[0]:,} tokens of a text, B {settings[1]:,}"))
    return known, list(dict.fromkeys(reasons))


def _rounding(a: Side, b: Side, figures: Sequence[TextFigure]) -> list[str]:
    """How far the vectors of one model in use lie apart, and why that may be."""
    said = []
    if figures and a.kind == "vector":
        lowest = np.floor((min(one.figure for one in figures) + 5e-7) * 1e5) / 1e5
        said.append(f"the lowest cosine of {len(figures)} texts is {lowest:.5f}")
    elif figures:
        largest = max(one.figure for one in figures)
        said.append(f"the scores of {len(figures)} pairs differ by up to {largest:.2g} of their spread")
    if a.dtype and b.dtype and a.dtype != b.dtype:
        said.append(f"A computes in {a.dtype}, B in {b.dtype}")
    if a.kind == "vector" and a.sample.similarity != b.sample.similarity:
        said.append(f"A compares by {a.sample.similarity}, B by {b.sample.similarity}")
    return said


def _figures(a: Side, b: Side) -> tuple[TextFigure, ...]:
    """One for each text that both have; none where dimensions differ."""
    if a.sample.dimension != b.sample.dimension:
        return ()
    by_cosine = a.sample.similarity == b.sample.similarity == "cosine"
    some: Sequence[Text] = ()
    worst, moved = np.array([np.inf]), np.array([False])
    for role in a.sample.roles:
        if role in b.sample.roles:
            some, old, new = common(a, b, role)
            figures = np.where(~old.any(axis=1) & ~new.any(axis=1), 1, np.nan_to_num(cosine(old, new)))
            if a.kind == "pair":
                figures = np.abs(old - new)[:, 0] / max(float(old.std()), 1e-12)
            worst, moved = np.minimum(worst, figures), moved | ~agree(old, new, a.kind, by_cosine=by_cosine)
    rows = zip(some, worst.tolist(), moved.tolist(), strict=True) if some else ()
    return tuple(TextFigure(one.id, one.kind, one.text, figure, is_moved) for one, figure, is_moved in rows)


def _of_scores(figures: Sequence[TextFigure], *, equal_settings: bool) -> Outcome:
    """Whether two rerankers are one in use."""
    if len(figures) < FEWEST:
        return "cannot tell"
    if any(one.moved for one in figures):
        return "another"
    return "same" if equal_settings and all(one.figure <= 10 * SAME_VECTOR for one in figures) else "same for use"
