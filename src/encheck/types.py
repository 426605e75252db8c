"""The values that flow through a run, as frozen dataclasses.

A data set holds `SentencePair`s and `Group`s; a generator turns a group into a `Variant`; a check compares
the pairs or the `Triplet`s that come of them; a metric gives an `Estimate`; a verdict makes a `CheckResult`.
"""

from __future__ import annotations

import builtins
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from annotated_types import Ge, Le

from encheck.ids import CaseId

if TYPE_CHECKING:
    Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
else:
    Json = object  # as files hold it
Verdict = Literal[
    "pass", "below_aim", "fail", "known_failure", "stale_known_failure", "inconclusive", "skipped", "error"
]
Floor = float | Literal["surface"] | None


def content_hash(*texts: str) -> str:
    """Sixteen hex digits that stand for these texts, the same on every machine.

    >>> content_hash("A dog barks.")
    '8f51134ccd0afd90'
    """
    return hashlib.sha256("\x00".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Lacking(str):
    """A reason why a sentence has no variant that ends where the data have what it `needs`.

    >>> Lacking("no number edit was written", needs="written probes").needs
    'written probes'
    """

    needs: str

    def __new__(cls, reason: str, *, needs: str) -> Lacking:
        """The reason with what it needs."""
        made = super().__new__(cls, reason)
        made.needs = needs
        return made


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


def changes(source: str, edits: tuple[Edit, ...]) -> str:
    """What gives way to what, for certificates.

    >>> changes("a fast car", (Edit(2, 6, "slow"),))
    'fast > slow'
    """
    return "; ".join(f"{source[edit.start : edit.end]} > {edit.text}" for edit in edits)


@dataclass(frozen=True, slots=True)
class Variant:
    """A text made from a source sentence by edits; `generator` says by whom ("written" = by hand).

    `certificate` says why it holds: which words, of which tag, by which relation, under which conditions.
    """

    text: str
    relation: str
    level: int = 1
    edits: tuple[Edit, ...] = ()
    generator: str = "written"
    certificate: str = ""


KEEPING = frozenset(
    """paraphrase rewrite synonym reorder negated_antonym casing spacing contraction back_translation typo keyboard
    transposition missing quotes blanks composition accents capitals markup emoji""".split()
)


def keeps_meaning(relation: str) -> bool:
    """Whether a variant of this relation means what its sentence means.

    >>> keeps_meaning("synonym"), keeps_meaning("number_kept"), keeps_meaning("number")
    (True, True, False)
    """
    return relation in KEEPING or relation.endswith("_kept")


@dataclass(frozen=True, slots=True)
class Passage:
    """The sentences around one that stands at `place` among them."""

    context: tuple[str, ...]
    place: int

    def around(self, text: str, *, sentences: int) -> str:
        """`text` in its place among so many sentences, itself counted: the nearest ones, the earlier first.

        >>> Passage(("A.", "B.", "C."), 2).around("X.", sentences=3)
        'B. X. C.'
        """
        whole = [*self.context[: self.place], text, *self.context[self.place :]]
        start = min(max(self.place - sentences // 2, 0), max(len(whole) - sentences, 0))
        return " ".join(whole[start : start + sentences])


@dataclass(frozen=True, slots=True)
class Group:
    """A source sentence, one paraphrase of it, and the variants that were written by hand for it.

    Where nobody wrote a paraphrase, the sentence itself stands for it. `side` names the side of a crossed group that
    stands by itself. Those that are `is_quick` are a fixed small part. `shares` are hashes of what it has in
    common with other groups, where these overlap; empty where that is the cluster. `construction` names how the texts
    of a contrast differ. Its items have the same `shares` and `construction`.
    """

    id: str
    source: str
    paraphrase: str
    cluster: str
    variants: tuple[Variant, ...] = ()
    continuation: str | None = None
    split: str = ""
    passage: Passage | None = None
    side: str = ""
    is_quick: bool = False
    shares: tuple[str, ...] = ()
    construction: str = ""

    def variant(self, relation: str, level: int = 1) -> Variant | None:
        """The written variant of this relation and level, if there is one."""
        for v in self.variants:  # asked for every sentence, relation and level: a generator would take its time
            if v.relation == relation and v.level == level:
                return v
        return None

    @property
    def is_contrast(self) -> bool:
        """Whether it has written variants and no free paraphrase: then only what was written for it is measured."""
        return bool(self.variants) and self.paraphrase == self.source


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point of a margin curve: the share of items whose margin is above `epsilon`, where a tie counts one half.

    `count` is the number of those above.
    """

    epsilon: float
    value: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95% interval, and the numbers of items and independent clusters behind it.

    Where a figure compares two labels, the clusters are those of the label that has fewer. `surface` has the same
    figure of each surface scorer in place of the model, by its name ("jaccard" is word overlap). If there is no
    estimate, `missing` says what it would need, and the value is NaN.
    """

    metric: str
    value: float
    low: float
    high: float
    n: int
    clusters: int
    curve: tuple[CurvePoint, ...] = ()
    surface: Mapping[str, Estimate] = field(default_factory=dict)
    params: Mapping[str, float | str] = field(default_factory=dict)
    missing: str = ""

    @builtins.property
    def best_surface(self) -> tuple[str, Estimate] | None:
        """The surface scorer with the highest figure, of several the first; None where none has a figure."""
        found = [(name, beside) for name, beside in self.surface.items() if not math.isnan(beside.value)]
        return max(found, key=lambda one: one[1].value, default=None)


@dataclass(frozen=True, slots=True)
class Validity:
    """How many of a generator's triples blind readers found right; `read` is 0 if nobody has read any."""

    generator: str
    right: int
    read: int

    @builtins.property
    def rate(self) -> float | None:
        """The share that is right, which is a ceiling; None if nobody has read any."""
        return self.right / self.read if self.read else None


@dataclass(frozen=True, slots=True)
class LanguageResources:
    """What variants of a data set were made with: version of encheck, parser, lexicon and mode.

    `substitutes` is a hash of the table of the careful mode, `stop_words` says whose list the paper mode takes; the
    mode that does without has "".
    """

    encheck: str = ""
    pipeline: str = ""
    pipeline_fingerprint: str = ""
    lexicon: str = ""
    mode: str = ""
    experimental: bool = False
    substitutes: str = ""
    stop_words: str = ""


@dataclass(frozen=True, slots=True)
class Lines:
    """What a figure is held against: it fails wholly under the floor, and passes wholly at or above the aim.

    `rival` names the surface baseline whose figure the floor is; empty for a floor that was declared as a number.
    """

    aim: float
    floor: float | None = None
    rival: str = ""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One row of results.json: a figure of one check, with its lines where it is judged and its verdict where it has
    one. `validity` is of the generator that made the items, None where they were written by hand.
    """

    id: str
    check: str
    property: str
    level: str
    model: str
    data: str
    estimate: Estimate | None
    verdict: Verdict | None
    lines: Lines | None = None
    reason: str = ""
    excluded: dict[str, int] = field(default_factory=dict)
    validity: Validity | None = None

    @builtins.property
    def case(self) -> CaseId:
        """The check x model x data x level that the figure is of."""
        return CaseId(self.check, self.model, self.data, self.level)


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a check declares besides its items, in plain types. results.json keeps it, so that reading a run does not
    import its checks.

    `metric` is what the check passes to `judge`, and `gates` what the gate weighs item by item, both by name. If
    `gates` is empty, `reported` says why the check is only reported. A check that declares no metric has all three
    empty: it gates by the figure of its kind of items. `part` is "test" for a check that measures the test part of the
    data alone. `criterion` is its number among the four of Mahajan et al. 2023 (0: none). `pictures` are those that the
    page draws beside the ones that any figures and items give, `step` what one step of its chains is. `selects` says
    that a training loop chooses checkpoints by it unless told otherwise.

    `aim` is what the metric should reach. `floor` is what no model may fall below: a number, "surface" (the best
    surface baseline's figure on the same items), or None. `unjudged` says why a check has neither and gives no verdict.
    `proxy` says why its figure is easier than what it stands for: the gate may block on it, but never counts it towards
    passing. `primary` says that the check's items are queries whose right documents are known: they give the gate its
    primary endpoint. `means` is a sentence on what a loss means to those who use the model. `capability` is what the
    gate weighs as one: all checks, levels and properties of that name; empty where that is the property. `headline`
    says that its figure stands for the property where the data have no crossed groups of it. `tells` is what the model
    can tell if the check comes out well, as it goes on from "it cannot tell": the page's sentences are made with it.
    """

    property: str = ""
    family: str = "meaning changed"
    metric: str = ""
    gates: str = ""
    reported: str = ""
    chance: float | None = None
    aim: float | None = None
    floor: Floor = None
    unjudged: str = ""
    source: str = ""
    part: Literal["all", "test"] = "all"
    criterion: Annotated[int, Ge(0), Le(4)] = 0
    pictures: tuple[str, ...] = ()
    step: str = ""
    selects: bool = False
    proxy: str = ""
    primary: bool = False
    means: str = ""
    capability: str = ""
    headline: bool = False
    tells: str = ""

    @builtins.property
    def is_in_both_directions(self) -> bool:
        """Whether it is judged by the share of crossed groups won in both directions."""
        return self.metric.startswith("both_directions")

    @builtins.property
    def stands_for_property(self) -> bool:
        """Whether its figure may be the one that is printed of its property."""
        return self.headline or self.is_in_both_directions


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimEntry(Declaration):
    """What a check says and declares of itself: who reads a run needs nothing else of it.

    `says` is its claim, `title` what its file is about, with the source, `why` why that matters.
    """

    says: str
    title: str
    why: str
