"""The values that flow through a run, as frozen dataclasses.

A data set holds `SentencePair`s and `Group`s; a generator turns a group into a `Variant`; a check compares
the pairs or the `Triplet`s that come of them; a metric gives an `Estimate`; a verdict makes a `CheckResult`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["pass", "fail", "known_failure", "stale_known_failure", "inconclusive", "skipped", "error"]


def content_hash(*texts: str) -> str:
    """Sixteen hex digits that stand for these texts, the same on every machine.

    >>> content_hash("A dog barks.")
    '8f51134ccd0afd90'
    """
    return hashlib.sha256("\x00".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters `start` to `end` of the source give way to `text`."""

    start: int
    end: int
    text: str


def apply_edits(source: str, edits: tuple[Edit, ...]) -> str:
    """The source with its edits made; they are in order and do not overlap.

    >>> apply_edits("a fast car", (Edit(2, 6, "slow"),))
    'a slow car'
    """
    parts, at = [], 0
    for edit in edits:
        parts += [source[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, source[at:]])


@dataclass(frozen=True, slots=True)
class Variant:
    """A text made from a source sentence by edits; `generator` says by whom ("written" = by hand)."""

    text: str
    relation: str
    level: int = 1
    edits: tuple[Edit, ...] = ()
    generator: str = "written"


@dataclass(frozen=True, slots=True)
class Group:
    """A source sentence, one paraphrase of it, and the variants that were written by hand for it."""

    id: str
    source: str
    paraphrase: str
    cluster: str
    variants: tuple[Variant, ...] = ()
    continuation: str | None = None
    split: str = ""

    def variant(self, relation: str, level: int = 1) -> Variant | None:
        """The hand-written variant of this relation and level, if there is one."""
        return next((v for v in self.variants if v.relation == relation and v.level == level), None)


@dataclass(frozen=True, slots=True)
class SentencePair:
    """Two sentences and what the data says of them: label 1 is a paraphrase, 0 is none, None is not said.

    `score` is the graded similarity in the data's own range, where there is one; `key` is the data's own name of the
    pair, where there is one: in ranking data "question id/candidate id".
    """

    id: str
    first: str
    second: str
    label: int | None
    cluster: str
    split: str = ""
    edits: tuple[Edit, ...] = ()
    score: float | None = None
    key: str = ""

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """What a model has to score: one pair."""
        return ((self.first, self.second),)


@dataclass(frozen=True, slots=True)
class Triplet:
    """A source, a text that should be near to it and a text that should be farther."""

    id: str
    source: str
    near: str
    far: str
    cluster: str
    near_edits: tuple[Edit, ...] = ()
    far_edits: tuple[Edit, ...] = ()

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """What a model has to score: the near pair, then the far pair."""
        return ((self.source, self.near), (self.source, self.far))


@dataclass(frozen=True, slots=True)
class Turned:
    """A labelled pair that is scored in both orders."""

    id: str
    first: str
    second: str
    label: int
    cluster: str
    split: str = ""

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """What a model has to score: the pair as it is, then the other way round."""
        return ((self.first, self.second), (self.second, self.first))


Item = SentencePair | Triplet | Turned


@dataclass(frozen=True, slots=True)
class Items:
    """What a check measures on, and why each of the others was left out."""

    kept: tuple[Item, ...]
    left_out: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point of a margin curve: the share (and number) of items whose margin is above `epsilon`."""

    epsilon: float
    value: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95% interval, the number of items and of independent clusters behind it.

    `lexical` is the same figure for word overlap (Jaccard) in place of the model.
    """

    metric: str
    value: float
    low: float
    high: float
    n: int
    clusters: int
    curve: tuple[CurvePoint, ...] = ()
    lexical: Estimate | None = None
    params: Mapping[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One row of results.json: a figure of one claim, with its verdict where it has one."""

    id: str
    claim: str
    check: str
    capability: str
    level: str
    model: str
    data: str
    estimate: Estimate | None
    verdict: Verdict | None
    threshold: float | None = None
    reason: str = ""
    left_out: dict[str, int] = field(default_factory=dict)
