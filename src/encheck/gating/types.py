"""The values that go in and out of the gate, and the gate as results.json keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from types import MappingProxyType
from typing import Annotated, Literal, Self

import numpy as np
from annotated_types import MinLen
from numpy.typing import NDArray

from encheck.gating.old_index import IndexFaults, MapKind, OldIndex
from encheck.gating.reindex import Reindex
from encheck.gating.scale_shift import ScaleShift, ThresholdShift
from encheck.statistics.hypothesis_tests import units_needed
from encheck.system.typed_files import Count, MaybeNaN, NonNegative, Positive, writes_properties

Floats = NDArray[np.float64]
Kind = Literal["rate", "mean"]
Outcome = Literal["pass", "block", "inconclusive"]
ExitCode = Literal[0, 1, 5, 10]
PurposeName = Literal["change", "search", "pairs", "similarity"]
Budget = Literal["primary", "behaviour", "slices"]
BUDGETS: tuple[Budget, ...] = ("primary", "behaviour", "slices")
SPLIT: Mapping[Budget, float] = MappingProxyType({"primary": 0.6, "behaviour": 0.2, "slices": 0.2})
Z = 1.959964  # normal quantile of 97.5%: both ends of a 95% interval
TOLERANCE = 1e-5  # a score of the same checkpoint at other batch sizes and thread counts differs by less
PRIOR = 4  # seed replicates that the noise of all rows is worth, where that of one row is estimated
FEWEST_REPLICATES = 3
EXIT_CODES: Mapping[Outcome, ExitCode] = {"pass": 0, "block": 1, "inconclusive": 10}


@dataclass(frozen=True)
class Rule:
    """How strict a gate is. The defaults are those of docs/method/gate.md, whose error rates are measured.

    `rate_delta` and `mean_delta` are the losses that matter, as proportion and on the calibrated scale. A row
    blocks when its change is below `-block * delta`, tested at `alpha` for all rows together (Holm). It
    passes when its lower bound is above `-row * delta` and its estimate above `-estimate * delta`; a family,
    when its lower bound is above `-family * delta`. Bounds are the ends of two-sided intervals of confidence `level`,
    and tests are two-sided, so that what is printed is what decides. Seed noise widens delta by a factor of `widest` at
    most. A row that has parts is tested with its level less the share `parts`, which its parts have, in equal pieces.

    Where a search with labels gates, its primary endpoint, the behaviour and the slices of its queries have the shares
    of `alpha` that `split` names, each to themselves. `min_items` and `min_clusters` gate of behaviour,
    `primary_items` and `primary_clusters` of a primary endpoint, `slice_clusters` of a slice; of slices, no more than
    `max_slices` are tested.
    """

    rate_delta: float = 0.02
    mean_delta: float = 0.015
    block: float = 0.5
    alpha: float = 0.05
    level: float = 0.95
    family: float = 1.5
    row: float = 2.0
    estimate: float = 1.0
    widest: float = 1.25
    parts: float = 0.2
    min_clusters: int = 30
    min_items: int = 150
    power: float = 0.8
    split: Mapping[Budget, float] = field(default_factory=lambda: SPLIT)
    primary_clusters: int = 20
    primary_items: int = 100
    slice_clusters: int = 20
    max_slices: int = 12
    least_loss: float = 0.0
    needs_headroom: bool = True

    @property
    def covered_noise(self) -> float:
        """The seed noise, in deltas, that the widest delta is three times as large as."""
        return self.widest / 3

    def least(self, budget: Budget) -> tuple[int, int]:
        """The fewest (items, clusters) that gate."""
        few: Mapping[Budget, tuple[int, int]] = {
            "primary": (self.primary_items, self.primary_clusters),
            "behaviour": (self.min_items, self.min_clusters),
            "slices": (self.slice_clusters, self.slice_clusters),
        }
        return few[budget]


DEFAULT = Rule()


@dataclass(frozen=True)
class Noise:
    """How far luck goes: the standard deviation of the change between checkpoints that differ only in seed, in deltas.

    `pooled` over all rows, `own` of each row that seed replicates have measured; `replicates` counts them, beside the
    baseline. None stands for a noise that is known exactly, as in simulations.

    >>> noise = Noise(0.2, {"jumble/probes/3": 1.1, "antonym/probes/1": 0.0}, replicates=3)
    >>> [round(noise.of(row), 2) for row in ("jumble/probes/3", "antonym/probes/1", "negation/probes/1")]
    [0.74, 0.15, 0.2]
    >>> [round(noise.widens(row), 2) for row in ("jumble/probes/3", "antonym/probes/1", "negation/probes/1")]
    [0.74, 0.0, 0.0]
    """

    pooled: NonNegative = 0.0
    own: Mapping[str, NonNegative] = field(default_factory=dict)
    replicates: int | None = None

    @property
    def free(self) -> float:
        """Degrees of freedom of the noise of a row."""
        return inf if self.replicates is None else PRIOR + self.replicates

    def of(self, row: str) -> float:
        """What a loss of this gate row has to go beyond to block: its own noise, drawn towards that of all.

        The pooled noise counts as much as `PRIOR` replicates more (Smyth 2004, SAGMB 3); it stands for rows that were
        not measured.
        """
        own = self.own.get(row)
        if own is None or self.replicates is None:
            return self.pooled if own is None else own
        mean = (PRIOR * self.pooled**2 + self.replicates * own**2) / (PRIOR + self.replicates)
        return float(mean**0.5)

    def widens(self, row: str) -> float:
        """What makes the delta of this gate row wider: no more than its own noise, so that no other row widens it."""
        return min(self.own.get(row, 0.0), self.of(row))


QUIET = Noise()


@dataclass(frozen=True)
class Paired:
    """One gate row's metric, item by item: wins (0 or 1) of a rate, values of a mean.

    `baseline` and `candidate` have shape [n] and the same items in the same order; `things` numbers what each item
    shares with others, by the same numbers in all rows: a cluster, of shape [n], or several things, of shape [n, k], -1
    for none (`statistics.sharing`). `calibration_error` is what the calibration adds to the
    standard error of the change; `same` says that all scores agree within the noise tolerance. `chance` is
    what guessing gets, None if that is not known. `unseen` says why the baseline does not see the row, so that it
    neither blocks nor counts towards passing; empty if it does. `proxy` says why the figure
    is easier than what it stands for, so that it can block and is no evidence; empty if it is the thing itself.
    `budget` says which part of the gate's alpha the row is tested with, `endpoint` names the figure of a search with
    labels ("recall@1"), and is empty elsewhere. `part_of` names the row that this one is a part of: a property, a
    level or a surface direction of a capability; empty for a row that stands for itself. `strata` numbers the surface
    direction of each item, where some have one: its mean is taken out of the error.
    """

    name: str
    family: str
    kind: Kind
    baseline: Floats
    candidate: Floats
    things: NDArray[np.intp]
    delta: float | None = None
    calibration_error: float = 0.0
    same: bool = False
    chance: float | None = None
    unseen: str = ""
    proxy: str = ""
    budget: Budget = "behaviour"
    endpoint: str = ""
    part_of: str = ""
    strata: NDArray[np.intp] | None = None


@writes_properties("says")
@dataclass(frozen=True)
class Remedy:
    """So many clusters more, of so many queries each, would decide in 80% of cases, were the change what it seems."""

    clusters: Count
    queries: Positive

    @property
    def says(self) -> str:
        """In words.

        >>> Remedy(5, 6).says
        '5 more right documents (or clusters) with 6 queries each would decide'
        """
        documents = "1 more right document (or cluster)"
        if self.clusters != 1:
            documents = f"{self.clusters:,} more right documents (or clusters)"
        return f"{documents} with {self.queries} {'query' if self.queries == 1 else 'queries'} each would decide"


@dataclass(frozen=True)
class SecondaryMetric:
    """A rank metric that is reported beside the primary endpoint and tested nowhere: its change with a 95% interval."""

    metric: str
    baseline: float
    candidate: float
    change: float
    low: float
    high: float


@dataclass(frozen=True)
class ChangedQuery:
    """A query, with what came first before and what comes first now, in a line each."""

    query: str
    before: str
    now: str


@dataclass(frozen=True)
class UnjudgedAnswer:
    """A first answer that nobody judged: the query, and the document's id and text, in a line each."""

    query: str
    document_id: str = field(metadata={"alias": "corpus-id"})
    document: str


@dataclass(frozen=True)
class ExampleText:
    """A text of an item: what should be nearer to the source or farther from it; "pair" if it is the only one.

    `pieces` are (kind, text): what stays of the source, what was deleted, what was inserted. `before` and `now` are
    both models' scores, NaN where there is none.
    """

    side: Literal["near", "far", "pair"]
    pieces: tuple[tuple[Literal["same", "del", "ins"], str], ...]
    before: MaybeNaN
    now: MaybeNaN


@dataclass(frozen=True)
class LostExample:
    """An item that scores less than before: its source in a line, and its other texts, from the candidate's run."""

    source: str
    texts: tuple[ExampleText, ...]


@dataclass(frozen=True)
class PropertyFigure:
    """The figure that is printed of a property, under the baseline and now; `chance` is None where it is not known."""

    property: str
    metric: str
    before: float
    now: float
    chance: float | None


@dataclass(frozen=True)
class GateRow:
    """What the gate says of a capability on one data set, which `name` says.

    `change` is candidate minus baseline; `low` and `high` are the ends of its 95% interval, NaN where it is withheld.
    `p` is that of a loss beyond half of `delta`, and `adjusted` the same after Holm's correction over the rows, each
    of which is a closed family with its parts.
    `gates` is False if the row is reported only, and `why` says why. `needed` is how many items would
    decide, None if it is decided. `detectable` is the smallest loss that this row blocks in 80% of cases.
    `budget` is the part of alpha that the row is tested with, and `alpha` how much that is, all its rows together.
    `unseen` says that the baseline is not shown to beat guessing here by 2 deltas, `doubtful` that the row was lost for
    certain all the same, `widened` how many times seed noise made `delta` as large. `remedy` says of a primary endpoint
    that is open which further queries would decide; None where none would. `part_of` names the row that this is a part
    of: a part can block, and else decides nothing. `unjudged` counts queries whose first answers nobody judged, where
    these would change the outcome.

    `means` is what a loss means to those who use the model, as the check says. `lost_items` and `gained_items` are ids,
    the first few of each, `worse_queries` and `better_queries` count the queries of a search that score less and more
    than before, `beside` has the other rank metrics of a primary endpoint. A row that blocks or is open shows what it
    lost: `lost_queries` of a search, `lost_examples` of other data, of several clusters where it can, and
    `unjudged_answers` what to judge. `baseline` and `candidate` are means over all items of the row's checks, which is
    what is tested; `figures` are those that are printed of its properties.
    """

    name: str = field(metadata={"alias": "row"})
    family: str
    kind: Kind
    n: Count
    clusters: Count
    baseline: MaybeNaN
    candidate: MaybeNaN
    change: MaybeNaN
    low: MaybeNaN
    high: MaybeNaN
    error: MaybeNaN
    delta: MaybeNaN
    p: MaybeNaN
    adjusted: MaybeNaN
    outcome: Outcome
    gates: bool
    evidence: bool
    gained: Count
    lost: Count
    mcnemar: float | None
    detectable: MaybeNaN
    needed: int | None
    why: str = ""
    budget: Budget = "behaviour"
    alpha: float = 0.05
    endpoint: str = ""
    remedy: Remedy | None = None
    unseen: bool = False
    doubtful: bool = False
    widened: float = 1.0
    part_of: str = ""
    unjudged: int = 0
    means: str = ""
    lost_items: tuple[str, ...] = ()
    gained_items: tuple[str, ...] = ()
    worse_queries: int | None = None
    better_queries: int | None = None
    beside: tuple[SecondaryMetric, ...] = ()
    lost_queries: tuple[ChangedQuery, ...] = ()
    lost_examples: tuple[LostExample, ...] = ()
    unjudged_answers: tuple[UnjudgedAnswer, ...] = ()
    figures: tuple[PropertyFigure, ...] = ()


@dataclass(frozen=True)
class FamilyRow:
    """A family: the mean change of its gating rows, in units of their deltas, with the lower end of its 95% interval.

    `more` says how many times its items would decide where it is open; None if it is not, or no number would.
    """

    family: str
    rows: int
    change: MaybeNaN
    low: MaybeNaN
    passes: bool
    more: float | None = None


@dataclass(frozen=True)
class ChangedShare:
    """The share of queries of which `what` holds, by how often they were asked, with the ends of its 95% interval.

    `figure` moves by no more than that. `queries` counts different ones that changed; `worth` says how many queries of
    the same weight, each its own cluster, would say as much as all of them.
    """

    figure: str
    what: str
    value: float
    low: float
    high: float
    queries: int
    worth: float


@dataclass(frozen=True)
class Judged:
    """What people say of queries whose first answers differ, at the last look that their answers reach.

    `looks` are the numbers of answers after which a decision may fall, fixed beforehand; `asked` is the one reached, 0
    before the first. Of these answers `old` favour `baseline`, `new` the candidate; `equal` and `neither` are ties.
    `loss` is that of `figure` over all queries, with the ends of its repeated interval; it is None before the first
    look. `answered` counts what is answered without a gap, `left` what is still to be asked. `lost` names items that
    the candidate answers worse. A loss of `delta` has to be ruled out, and one of `least` blocks. Of all `queries`
    `changed` have another first answer; of these people found `better`, `worse` and `tied` so many.
    """

    outcome: Outcome
    baseline: str
    figure: str
    delta: float
    looks: tuple[int, ...]
    asked: int
    answered: int
    left: int
    old: int
    new: int
    equal: int
    neither: int
    loss: float | None
    low: float | None
    high: float | None
    lost: tuple[str, ...] = ()
    least: float = 0.0
    queries: int = 0
    changed: int = 0
    better: int = 0
    worse: int = 0
    tied: int = 0

    @property
    def here(self) -> str:
        """What people said of these very queries, whatever holds of others."""
        ties = "1 tie" if self.tied == 1 else f"{self.tied:,} ties"
        open_ = self.changed - self.better - self.worse - self.tied
        not_judged = f" ({open_:,} not judged)" if open_ else ""
        return (
            f"in these {self.queries:,} queries: {self.better:,} better, {self.worse:,} worse, {ties} of "
            f"{self.changed:,} changed{not_judged}"
        )

    @property
    def favoured(self) -> str:
        """Whom the decisive answers favour."""
        decisive, most = self.old + self.new, max(self.old, self.new)
        whom = self.baseline if self.old >= self.new else "the candidate"
        return f"{most:,} of {decisive:,} decisive answers favour {whom}"

    @property
    def said(self) -> str:
        """What the answers say of the loss; empty before the first look."""
        if self.loss is None or self.low is None or self.high is None:
            return ""
        change = f"{-100 * self.loss:+.1f} points [{-100 * self.high:+.1f}, {-100 * self.low:+.1f}]"
        return f"{self.favoured} ({self.asked:,} judged): {self.figure} changes by {change}"

    @property
    def why(self) -> str:
        """Why that decides, or does not."""
        if self.outcome == "block":
            return f"the loss is certain, and is at least {100 * self.least:g} points by this estimate"
        if self.outcome == "pass":
            return f"a loss of {100 * self.delta:g} points is ruled out, so search passes"
        if self.left:
            return f"at most {self.left:,} more answers decide"
        return (
            f"a loss of {100 * self.delta:g} points is neither shown nor ruled out, and all that was planned is "
            "judged: it takes a longer log"
        )


@writes_properties("passes", "says")
@dataclass(frozen=True)
class UnjudgedSearch:
    """What changed in the answers to the queries of a log, which nobody judged; the first of `shares` decides.

    `queries` are different ones, `asked` counts how often they were asked. Search passes where the first share's upper
    end is below `delta`. `same` says that all answers and their scores are the same, as of the same checkpoint.
    Where it does not pass so, `judged` is what people said of the queries whose first answer changed: a loss of `least`
    blocks. `alpha` is the error of the intervals, and of both decisions together.

    `judge` is the command that decides by judging, None where that is decided or would not; `asks` says what decides
    soonest, judgements or more queries, empty where it is decided. At most `left` answers decide; `qrels` is the file
    where judgements are kept. `lost_queries` are shown of a search that judgements block, `changed_queries` of one that
    is open: those with another first answer, the most frequent first.
    """

    name: str = field(metadata={"alias": "row"})
    queries: int
    asked: int
    clusters: int
    delta: float
    shares: Annotated[tuple[ChangedShare, ...], MinLen(1)]
    same: bool = False
    judged: Judged | None = None
    least: float = 0.0
    alpha: float = 0.05
    judge: str | None = None
    asks: str = ""
    left: int = 0
    qrels: str | None = None
    lost_queries: tuple[ChangedQuery, ...] = ()
    changed_queries: tuple[ChangedQuery, ...] = ()

    @property
    def says(self) -> str:
        """What is known, and why that decides, or does not."""
        return f"{self.said}; {self.why}"

    @property
    def passes(self) -> bool:
        """Whether the loss is too small to matter, whatever is right or as it was judged."""
        return self.is_bounded or (self.judged is not None and self.judged.outcome == "pass")

    @property
    def is_bounded(self) -> bool:
        """Whether the loss is too small to matter, whatever is right."""
        return self.shares[0].high < self.delta

    @property
    def blocks(self) -> bool:
        """Whether people found worse answers for certain."""
        return not self.is_bounded and self.judged is not None and self.judged.outcome == "block"

    @property
    def said(self) -> str:
        """What is known without a judgement."""
        one = self.shares[0]
        most = f"{100 * one.high:.1f}"
        if float(most) >= 100 * self.delta > 100 * one.high:
            most = f"{100 * one.high:.2f}"  # rounded, it would look like as much as matters
        if not one.queries and not self.same:
            return f"nothing changes in these {self.queries:,} first answers; at most {most}% of others"
        ends = f"[{100 * one.low:.1f}, {most}]"
        return f"{one.what} for {100 * one.value:.1f}% of queries {ends}: {one.figure} moves by {most} points at most"

    @property
    def why(self) -> str:
        """Why that decides, or does not."""
        matters = f"{100 * self.delta:g} points"
        if self.same:
            return "all scores agree, so search passes without a label"
        if self.is_bounded:
            return f"less than the {matters} that matter, so search passes without a label"
        if self.judged and self.judged.asked:
            return f"{self.judged.said}; {self.judged.why}"
        if not self.shares[0].queries:
            needed, worth = units_needed(0, self.delta, alpha=self.alpha / 2), self.shares[0].worth
            alike = "" if worth > self.queries - 0.5 else f", and these are worth {worth:,.0f} of the same weight"
            return f"to rule out a loss of {matters} takes {needed} queries{alike}"
        return f"a loss of {matters} cannot be ruled out; {self.shares[0].queries:,} queries have another first answer"


@dataclass(frozen=True)
class PartialGate:
    """A gate of a part of the checks: it can block, and never passes.

    `weighed` and `left_out` name properties; `left_out` need not name all. `why` says what left them out.
    """

    weighed: tuple[str, ...]
    left_out: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class GateDecision:
    """The verdict, the rows behind it, and the reasons in words, the weightiest first.

    `purpose` is what the candidate is for: the same model, changed, or another one, of which a loss of `margin` has to
    be ruled out. `seed_noise` is that of all rows, in deltas, and `replicates` counts the seed replicates that it was
    measured on, beside the baseline. `missing` are the cases that only one side has, `contracts` those that broke, each
    with its cause. `searches` are those that nobody judged. `yours` are watched behaviours that fell: a yes but for
    them, which the user decides. `partial` says what was left out where not every check was weighed that these data
    allow, else it is None: such a gate never passes.
    """

    outcome: Outcome
    reasons: tuple[str, ...]
    rows: tuple[GateRow, ...]
    families: tuple[FamilyRow, ...] = ()
    seed_noise: float = 0.0
    replicates: int | None = None
    missing: tuple[str, ...] = field(default=(), metadata={"exclude": True})
    contracts: tuple[str, ...] = ()
    searches: tuple[UnjudgedSearch, ...] = ()
    partial: PartialGate | None = None
    purpose: PurposeName = "change"
    margin: float | None = None
    yours: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """0 passed, 1 blocked, 10 inconclusive."""
        return EXIT_CODES[self.outcome]


@dataclass(frozen=True)
class Balanced:
    """The balanced score of both models; null where it cannot be told, and of a candidate that is blocked."""

    baseline: float | None = None
    candidate: float | None = None


@dataclass(frozen=True)
class IndexAdapter:
    """The file of a linear map from new vectors to old ones, with which new queries find as much on the old index.

    `unit` says that each vector is divided by its length first, `texts` on how many it was fitted, `says` how new
    queries do with it.
    """

    file: Literal["adapter.npz"]
    kind: MapKind
    how: str
    unit: bool
    texts: Count
    says: str

    @classmethod
    def of(cls, index: OldIndex) -> Self | None:
        """That of an old index; None where no map helps, or none is needed."""
        one = index.adapter
        if one is None or index.mapped is None:
            return None
        return cls("adapter.npz", one.kind, one.how, one.unit, one.texts, index.mapped.says)


@dataclass(frozen=True, kw_only=True)
class GateAgainst(GateDecision):
    """The decision against one baseline, which is named by its folder.

    `languages` counts the user's texts by language, where few are English. `reported_only` says why a case did not
    gate, `remedies` what can be done where the gate is inconclusive, `required_changes` what has to change with the
    model, a sentence each. `index_faults` is what is wrong with an old index that is given as stored vectors, `adapter`
    a linear map for it. `reindex` says whether stored vectors stay, None of models that score pairs; `scales` has the
    data sets whose scale moved, `thresholds` what becomes of thresholds in use.
    """

    baseline: str
    languages: str = ""
    balanced: Balanced = Balanced()
    remedies: tuple[str, ...] = ()
    reported_only: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    required_changes: tuple[str, ...] = ()
    index_faults: IndexFaults | None = None
    adapter: IndexAdapter | None = None
    reindex: Reindex | None = None
    scales: tuple[ScaleShift, ...] = ()
    thresholds: tuple[ThresholdShift, ...] = ()


@dataclass(frozen=True)
class Gate:
    """A gate: the worst outcome against any baseline, which are the one in use and an anchor, and the exit code.

    `partial` is not null where a gate did not weigh all checks that its data allow: it can block, and never passes.
    """

    outcome: Outcome
    exit_code: ExitCode
    partial: PartialGate | None
    against: tuple[GateAgainst, ...]
