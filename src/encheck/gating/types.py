"""The inputs and outputs of a gate, in the form that results.json keeps."""

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
FigureKind = Literal["rate", "mean"]
Outcome = Literal["pass", "block", "inconclusive"]
ExitCode = Literal[0, 1, 5, 10]
PurposeName = Literal["change", "search", "pairs", "similarity"]
Budget = Literal["primary", "behaviour", "slices"]
BUDGETS: tuple[Budget, ...] = ("primary", "behaviour", "slices")
ALPHA_SHARES: Mapping[Budget, float] = MappingProxyType({"primary": 0.6, "behaviour": 0.2, "slices": 0.2})
Z_95 = 1.959964  # normal quantile of 97.5%: both ends of a 95% interval
TOLERANCE = 1e-5  # a score of the same checkpoint at other batch sizes and thread counts differs by less
PRIOR_REPLICATES = 4  # weight of the pooled noise, in seed replicates, when the noise of one row is estimated
FEWEST_REPLICATES = 3
EXIT_CODES: Mapping[Outcome, ExitCode] = {"pass": 0, "block": 1, "inconclusive": 10}


@dataclass(frozen=True)
class Rule:
    """How strict a gate is. The error rates of the defaults are measured in docs/method/gate.md.

    `rate_delta` and `mean_delta` are the smallest losses that matter: of a rate, as a proportion, and of a mean, on the
    calibrated scale. A row blocks if its change is shown to be below `-block * delta`; the test has level `alpha` for
    all rows together (Holm). A row passes if its lower bound is above `-row * delta` and its estimate is above
    `-estimate * delta`. A family passes if its lower bound is above `-family * delta`. Bounds are the ends of two-sided
    intervals of confidence `level`, and tests are two-sided, so the decision agrees with the printed intervals. Seed
    noise multiplies delta by at most `widest`. If a row has parts, they share the fraction `parts` of its level
    equally, and the row keeps the rest.

    If a search with labels gates, `split` divides `alpha` between its primary endpoint, behaviour, and slices of its
    queries. A row gates only if it has enough items and clusters: `min_items` and `min_clusters` for behaviour,
    `primary_items` and `primary_clusters` for a primary endpoint, and `slice_clusters` for a slice. At most
    `max_slices` slices are tested.
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
    split: Mapping[Budget, float] = field(default_factory=lambda: ALPHA_SHARES)
    primary_clusters: int = 20
    primary_items: int = 100
    slice_clusters: int = 20
    max_slices: int = 12
    least_loss: float = 0.0
    needs_headroom: bool = True

    @property
    def max_seed_noise(self) -> float:
        """The largest seed noise with which a gate can pass, in deltas: a third of the widest factor."""
        return self.widest / 3

    def required_sizes(self, budget: Budget) -> tuple[int, int]:
        """Return the numbers of items and of clusters that a row of this budget needs to gate."""
        few: Mapping[Budget, tuple[int, int]] = {
            "primary": (self.primary_items, self.primary_clusters),
            "behaviour": (self.min_items, self.min_clusters),
            "slices": (self.slice_clusters, self.slice_clusters),
        }
        return few[budget]


DEFAULT = Rule()


@dataclass(frozen=True)
class Noise:
    """Seed noise: the standard deviation of the change between checkpoints that differ only in seed, in deltas.

    `pooled` is the noise over all rows. `own` has the noise of each row that seed replicates measured. `replicates`
    counts them, without the baseline. If `replicates` is None, the noise is known exactly, as in simulations.

    >>> noise = Noise(0.2, {"jumble/probes/3": 1.1, "antonym/probes/1": 0.0}, replicates=3)
    >>> [round(noise.noise_of_row(row), 2) for row in ("jumble/probes/3", "antonym/probes/1", "negation/probes/1")]
    [0.74, 0.15, 0.2]
    >>> [round(noise.widening_noise(row), 2) for row in ("jumble/probes/3", "antonym/probes/1", "negation/probes/1")]
    [0.74, 0.0, 0.0]
    """

    pooled: NonNegative = 0.0
    own: Mapping[str, NonNegative] = field(default_factory=dict)
    replicates: int | None = None

    @property
    def degrees_of_freedom(self) -> float:
        """Degrees of freedom of the noise of a row."""
        return inf if self.replicates is None else PRIOR_REPLICATES + self.replicates

    def noise_of_row(self, row: str) -> float:
        """Return the noise that a loss of this gate row has to exceed to block: the row's own, shrunk towards the
        pooled one.

        The pooled noise counts as much as `PRIOR_REPLICATES` further replicates (Smyth 2004, SAGMB 3). A row that was
        not measured has the pooled noise.
        """
        own = self.own.get(row)
        if own is None or self.replicates is None:
            return self.pooled if own is None else own
        mean = (PRIOR_REPLICATES * self.pooled**2 + self.replicates * own**2) / (PRIOR_REPLICATES + self.replicates)
        return float(mean**0.5)

    def widening_noise(self, row: str) -> float:
        """Return the noise that widens this gate row's delta: at most the row's own, so no other row widens it."""
        return min(self.own.get(row, 0.0), self.noise_of_row(row))


NO_SEED_NOISE = Noise()


@dataclass(frozen=True)
class PairedRow:
    """The metric of one gate row for each item, under both models: wins (0 or 1) for a rate, values for a mean.

    `baseline` and `candidate` have shape [n], with the same items in the same order. `things` numbers what items share
    with others, with the same numbers in all rows: a cluster, shape [n], or several things, shape [n, k], where -1
    means none (`statistics.sharing`). `calibration_error` is what calibration adds to the standard error of the change.
    `same` is true if all scores agree within the noise tolerance. `chance` is the chance level, None if unknown.

    `unseen` is the reason why the baseline is not shown to beat guessing; such a row neither blocks nor counts towards
    passing. `proxy` is the reason why the figure is easier than the real task; such a row can block, but never counts
    towards passing. Both are empty otherwise. `budget` is the part of the gate's alpha that tests the row. `endpoint`
    names the figure of a search with labels ("recall@1"), and is empty for other rows. `part_of` names the row that
    contains this part (a property, a level or a surface direction), and is empty for a whole row. `strata` has the
    number of each item's surface direction, if any item has one. Each direction's mean is subtracted before the error
    is computed.
    """

    name: str
    family: str
    kind: FigureKind
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
    """The additional clusters that decide with a power of 80% if the estimate is right, and the queries in each."""

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
    """A rank metric that is reported with the primary endpoint but not tested: its change with a 95% interval."""

    metric: str
    baseline: float
    candidate: float
    change: float
    low: float
    high: float


@dataclass(frozen=True)
class ChangedQuery:
    """A query, and the document that comes first under each model, each text in one line."""

    query: str
    before: str
    now: str


@dataclass(frozen=True)
class UnjudgedAnswer:
    """A document that comes first but is not judged: the query, and the document's id and text, each in one line."""

    query: str
    document_id: str = field(metadata={"alias": "corpus-id"})
    document: str


@dataclass(frozen=True)
class ExampleText:
    """A text of an item, compared with the item's source.

    `side` is "near" for the text that should be nearer to the source, "far" for the other one, and "pair" for a single
    text. `pieces` are (kind, text): words kept from the source, deleted words, inserted words. `before` and `now` are
    the scores of the baseline and the candidate, NaN if missing.
    """

    side: Literal["near", "far", "pair"]
    pieces: tuple[tuple[Literal["same", "del", "ins"], str], ...]
    before: MaybeNaN
    now: MaybeNaN


@dataclass(frozen=True)
class LostExample:
    """An item on which the candidate scores lower: its source in one line, and its other texts."""

    source: str
    texts: tuple[ExampleText, ...]


@dataclass(frozen=True)
class PropertyFigure:
    """The printed figure of a property, for the baseline and the candidate; `chance` is None if unknown."""

    property: str
    metric: str
    before: float
    now: float
    chance: float | None


@dataclass(frozen=True)
class GateRow:
    """The gate's result for one capability on one data set, as named by `name`.

    `baseline` and `candidate` are means over all items of the row's checks. `change` is candidate minus baseline; `low`
    and `high` are the ends of its 95% interval, NaN if it is withheld. A loss of `delta` matters; seed noise multiplied
    `delta` by `widened`. `p` is the p-value of a loss beyond half of `delta`. `adjusted` is p after Holm's correction
    over the rows of its budget, where a row and its parts are one closed family. `budget` is the part of alpha that
    tests the row, and `alpha` the level of all rows of that budget together.

    `gates` is false if the row is only reported. `evidence` is true if the row counts towards passing. `why` is the
    reason for the outcome. `needed` is the number of items that would decide, null if the row is decided. `remedy`
    names the further queries that would decide a primary endpoint if it or its family is open; null if no number would.
    `detectable` is the smallest loss that this row blocks with a power of 80%. `unseen` is true if the baseline is not
    shown to beat guessing by two deltas. `doubtful` is true if the row is `unseen` but its loss is certain. `part_of`
    names the row that contains this part: a part can block, but decides nothing else. `unjudged` counts queries whose
    first document is not judged, if their judgements could change the outcome.

    `means` says what a loss means to users of the model. `lost_items` and `gained_items` are the first few ids of items
    that changed from right to wrong, and from wrong to right. `worse_queries` and `better_queries` count the queries of
    a search that score lower, and higher, than before. `beside` has the other rank metrics of a primary endpoint. If
    the row blocks or is open, `lost_queries` shows losses of a search and `lost_examples` those of other data, from
    different clusters if possible. `unjudged_answers` are answers to judge. `figures` are the printed figures of the
    row's properties.
    """

    name: str = field(metadata={"alias": "row"})
    family: str
    kind: FigureKind
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
    """A family of gate rows: their mean change in deltas, and the lower end of its 95% interval.

    `rows` counts the rows that count towards passing. `more` is the factor by which the number of items has to grow to
    decide an open family; null if the family is decided, or if no number of items would decide it.
    """

    family: str
    rows: int
    change: MaybeNaN
    low: MaybeNaN
    passes: bool
    more: float | None = None


@dataclass(frozen=True)
class ChangedShare:
    """The share of queries for which `what` holds, weighted by frequency, with the ends of its 95% interval.

    `figure` names a metric that cannot change by more than this share. `queries` counts the distinct queries that
    changed. `worth` is the effective number of queries: the number of independent queries of equal weight that give the
    same precision.
    """

    figure: str
    what: str
    value: float
    low: float
    high: float
    queries: int
    worth: float


@dataclass(frozen=True)
class JudgementSummary:
    """People's judgements of the queries for which the two models put different documents first.

    `looks` are the numbers of answers after which a decision is possible, fixed in advance. `asked` is the last look
    that was reached, 0 before the first. Of the answers up to that look, `old` favour `baseline` and `new` favour the
    candidate; `equal` and `neither` are ties. `loss` is the estimated loss of `figure` over all queries; `low` and
    `high` are the ends of its repeated interval. All three are null before the first look. `answered` counts the
    answers without a gap, `left` the queries still to be judged. `lost` names the items on which the candidate does
    worse. A loss of `delta` has to be ruled out, and a loss of `least` blocks. `changed` counts those of all `queries`
    for which another document comes first. Of these, people judged `better`, `worse` and `tied`.
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
    def counts_in_words(self) -> str:
        """The judgements of these queries alone, in words, without inference to others."""
        ties = "1 tie" if self.tied == 1 else f"{self.tied:,} ties"
        open_ = self.changed - self.better - self.worse - self.tied
        not_judged = f" ({open_:,} not judged)" if open_ else ""
        return (
            f"in these {self.queries:,} queries: {self.better:,} better, {self.worse:,} worse, {ties} of "
            f"{self.changed:,} changed{not_judged}"
        )

    @property
    def favoured_in_words(self) -> str:
        """The model that the decisive answers favour."""
        decisive, most = self.old + self.new, max(self.old, self.new)
        whom = self.baseline if self.old >= self.new else "the candidate"
        return f"{most:,} of {decisive:,} decisive answers favour {whom}"

    @property
    def said(self) -> str:
        """The estimated loss in words; empty before the first look."""
        if self.loss is None or self.low is None or self.high is None:
            return ""
        change = f"{-100 * self.loss:+.1f} points [{-100 * self.high:+.1f}, {-100 * self.low:+.1f}]"
        return f"{self.favoured_in_words} ({self.asked:,} judged): {self.figure} changes by {change}"

    @property
    def why(self) -> str:
        """The reason why the judgements decide, or do not."""
        if self.outcome == "block":
            return f"the loss is certain, and is at least {100 * self.least:g} points by this estimate"
        if self.outcome == "pass":
            return f"a loss of {100 * self.delta:g} points is ruled out, so search passes"
        if self.left:
            return f"at most {self.left:,} more answers decide"
        return (
            f"a loss of {100 * self.delta:g} points is neither shown nor ruled out, and all planned queries are "
            "judged: a longer log is needed"
        )


@writes_properties("passes", "says")
@dataclass(frozen=True)
class UnjudgedSearch:
    """The number of changed answers for the queries of a log without labels; the first of `shares` decides.

    `queries` counts distinct queries, `asked` all their occurrences. The search passes if the upper end of the first
    share is below `delta`. `same` is true if all answers and scores are the same, as for the same checkpoint.
    Otherwise, `judged` has people's judgements of the queries for which another document comes first; a loss of `least`
    blocks. `alpha` is the error rate of the intervals, and of both decisions together.

    `judge` is the command with which people can decide, null if the search is decided or if judgements would not decide
    it. `asks` says whether judgements or more queries decide sooner, and is empty if the search is decided. At most
    `left` answers decide. `qrels` is the file of the judgements. If judgements block, `lost_queries` shows losses. If
    the search is open, `changed_queries` shows queries for which another document comes first, the most frequent first.
    """

    name: str = field(metadata={"alias": "row"})
    queries: int
    asked: int
    clusters: int
    delta: float
    shares: Annotated[tuple[ChangedShare, ...], MinLen(1)]
    same: bool = False
    judged: JudgementSummary | None = None
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
        """The evidence, and why the search is decided or open."""
        return f"{self.said}; {self.why}"

    @property
    def passes(self) -> bool:
        """Whether the loss is too small to matter, by the bound or by the judgements."""
        return self.is_bounded or (self.judged is not None and self.judged.outcome == "pass")

    @property
    def is_bounded(self) -> bool:
        """Whether the loss is too small to matter, no matter which answers are right."""
        return self.shares[0].high < self.delta

    @property
    def blocks(self) -> bool:
        """Whether the judgements show a certain loss."""
        return not self.is_bounded and self.judged is not None and self.judged.outcome == "block"

    @property
    def said(self) -> str:
        """The evidence without judgements, in words."""
        one = self.shares[0]
        most = f"{100 * one.high:.1f}"
        if float(most) >= 100 * self.delta > 100 * one.high:
            most = f"{100 * one.high:.2f}"  # rounded, it would look like as much as matters
        if not one.queries and not self.same:
            return f"none of these {self.queries:,} first answers changes; of all others, at most {most}% do"
        ends = f"[{100 * one.low:.1f}, {most}]"
        return f"{one.what} for {100 * one.value:.1f}% of queries {ends}: {one.figure} moves by {most} points at most"

    @property
    def why(self) -> str:
        """The reason why the evidence decides, or does not."""
        matters = f"{100 * self.delta:g} points"
        if self.same:
            return "all scores agree, so search passes without a label"
        if self.is_bounded:
            return f"less than the {matters} that matter, so search passes without a label"
        if self.judged and self.judged.asked:
            return f"{self.judged.said}; {self.judged.why}"
        if not self.shares[0].queries:
            needed, worth = units_needed(0, self.delta, alpha=self.alpha / 2), self.shares[0].worth
            alike = "" if worth > self.queries - 0.5 else f", but these count as only {worth:,.0f} independent ones"
            return f"ruling out a loss of {matters} takes {needed} queries{alike}"
        count = self.shares[0].queries
        changed = "1 query" if count == 1 else f"{count:,} queries"
        return f"a loss of {matters} cannot be ruled out; for {changed} another document comes first"


@dataclass(frozen=True)
class PartialGate:
    """The reason why a gate is partial: it left out checks that its data allow. It can block, but never passes.

    `weighed` names the properties that were compared, `left_out` those that were not; `left_out` may be incomplete.
    `why` says why checks were left out.
    """

    weighed: tuple[str, ...]
    left_out: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class GateDecision:
    """The verdict, the rows behind it, and the reasons in words, the most important first.

    `purpose` is the candidate's purpose: "change" if it is a changed version of the same model. For another model, a
    loss of `margin` has to be ruled out. `seed_noise` is the pooled seed noise in deltas, measured on `replicates` seed
    replicates, without the baseline. `missing` are the cases that only one model has. `contracts` are the broken
    contracts, each with its cause. `searches` are searches without labels. `yours` are watched behaviours that fell:
    the gate would pass without them, so the user decides. `partial` says which checks were left out; null if every
    check that the data allow was used.
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
        """0 if the gate passed, 1 if it blocked, 10 if it is inconclusive."""
        return EXIT_CODES[self.outcome]


@dataclass(frozen=True)
class Balanced:
    """The balanced scores of both models; null if a score cannot be computed, and for a blocked candidate."""

    baseline: float | None = None
    candidate: float | None = None


@dataclass(frozen=True)
class IndexAdapter:
    """A linear map, saved in a file, with which new queries find as much on the old index as on a new one.

    `unit` is true if each vector is first normalised to length 1. `texts` is the number of texts on which the map was
    fitted. `says` has the figures of new queries with the map.
    """

    file: Literal["adapter.npz"]
    kind: MapKind
    how: str
    unit: bool
    texts: Count
    says: str

    @classmethod
    def of(cls, index: OldIndex) -> Self | None:
        """Return the adapter of an old index, or None if no map helps or none is needed."""
        one = index.adapter
        if one is None or index.mapped is None:
            return None
        return cls("adapter.npz", one.kind, one.how, one.unit, one.texts, index.mapped.says)


@dataclass(frozen=True, kw_only=True)
class GateAgainst(GateDecision):
    """The decision against one baseline, named by its folder.

    `languages` counts the user's texts by language, if few are English. `balanced` has the balanced scores.
    `reported_only` has the reason for each case that cannot block. `remedies` are ways to decide an inconclusive
    gate. `required_changes` are the changes that a switch to the new model needs, one sentence each. `index_faults` are
    the faults of an index that is given as stored vectors; `adapter` is a linear map for that index. `reindex` says
    whether stored vectors stay valid; it is null for models that score pairs. `scales` has the data sets whose
    similarity scale changed, `thresholds` the effect on thresholds in use.
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
    """A gate: its worst outcome against the baselines (the model in use and an anchor), and the exit code.

    `partial` is not null if the gate left out checks that its data allow. Such a gate can block, but never passes.
    """

    outcome: Outcome
    exit_code: ExitCode
    partial: PartialGate | None
    against: tuple[GateAgainst, ...]
