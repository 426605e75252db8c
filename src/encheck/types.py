"""The values that flow through a run, as frozen dataclasses.

A data set holds `SentencePair`s and `Group`s; a generator turns a group into a `Variant`; a check compares
the pairs or the `Triplet`s that come of them; a metric gives an `Estimate`; a verdict makes a `CheckResult`.
"""

from __future__ import annotations

import builtins
import hashlib
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from encheck.ids import CaseId, ItemId

Verdict = Literal[
    "pass", "below_aim", "fail", "known_failure", "stale_known_failure", "inconclusive", "skipped", "error"
]
Floor = float | Literal["surface"] | None
Kind = Literal[
    "pair",
    "labelled",
    "both_orders",
    "triplet",
    "crossed",
    "contrast",
    "chain",
    "search",
    "occurrence",
    "ranked",
    "logged",
    "repeated",
    "classified",
]


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

    `certificate` says why it holds: which words, of which tag, by which relation, under which conditions. `favours`
    says of a crossed group's variant which text the surface favours on its side: "kept" or "changed"; "" of others.
    """

    text: str
    relation: str
    level: int = 1
    edits: tuple[Edit, ...] = ()
    generator: str = "written"
    certificate: str = ""
    favours: str = ""


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

    Where nobody wrote a paraphrase, the sentence itself stands for it. `side` names the side of a crossed or mirrored
    group that stands by itself. Those that are `is_quick` are a fixed small part. `shares` are hashes of what it has in
    common with other groups, where these overlap; empty where that is the cluster. Its items have the same.
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

    def variant(self, relation: str, level: int = 1, favours: str = "") -> Variant | None:
        """The written variant of this relation and level, if there is one; see `Variant` for `favours`."""
        for v in self.variants:  # asked for every sentence, relation and level: a generator would take its time
            if v.relation == relation and v.level == level and v.favours == favours:
                return v
        return None

    @property
    def is_contrast(self) -> bool:
        """Whether it has written variants and no free paraphrase: then only what was written for it is measured."""
        return bool(self.variants) and self.paraphrase == self.source


@dataclass(frozen=True, slots=True)
class SentencePair:
    """Two sentences and their label: 1 is a paraphrase, 0 is not a paraphrase, None is unlabelled.

    `score` is the graded similarity in the data's own range, where there is one; `key` is the data's own name of the
    pair, where there is one: in ranking data "question id/candidate id". `other` is the cluster of the second sentence
    where that is another one's: of a random pair. `why` is the certificate of a second sentence that was generated.
    `shares` is as for `Group`.
    """

    id: ItemId
    first: str
    second: str
    label: int | None
    cluster: str
    split: str = ""
    edits: tuple[Edit, ...] = ()
    score: float | None = None
    key: str = ""
    other: str = ""
    why: str = ""
    shares: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """Whether the data say what the two sentences are to each other."""
        return "pair" if self.label is None else "labelled"

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """What a model has to score: one pair."""
        return ((self.first, self.second),)


@dataclass(frozen=True, slots=True)
class Triplet:
    """A source, a text that should be near to it and a text that should be farther.

    `near_why` and `far_why` are the certificates of those that were generated.
    """

    kind: ClassVar[Kind] = "triplet"
    id: ItemId
    source: str
    near: str
    far: str
    cluster: str
    near_edits: tuple[Edit, ...] = ()
    far_edits: tuple[Edit, ...] = ()
    split: str = ""
    near_why: str = ""
    far_why: str = ""
    shares: tuple[str, ...] = ()

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """What a model has to score: the near pair, then the far pair."""
        return ((self.source, self.near), (self.source, self.far))


@dataclass(frozen=True, slots=True)
class Side:
    """One direction of a crossed group: a source, the text that keeps its meaning (near), one that changes it (far)."""

    source: str
    near: str
    far: str
    near_edits: tuple[Edit, ...] = ()
    far_edits: tuple[Edit, ...] = ()
    near_why: str = ""
    far_why: str = ""


@dataclass(frozen=True, slots=True)
class Crossed:
    """Two contrasts of one kind whose surfaces pull against each other.

    In the crossed form both sides have the same source; the surface of the first favours the kept text, that of the
    second the changed one. In the mirrored form each text is the kept one of one source and the changed one of the
    other.
    """

    kind: ClassVar[Kind] = "crossed"
    id: ItemId
    sides: tuple[Side, Side]
    cluster: str
    split: str = ""
    shares: tuple[str, ...] = ()

    @property
    def triplets(self) -> tuple[Triplet, ...]:
        """Its sides by themselves, numbered 1 and 2."""
        return tuple(
            Triplet(
                ItemId(self.id).member(number), s.source, s.near, s.far, self.cluster, s.near_edits, s.far_edits,
                self.split, s.near_why, s.far_why, self.shares,
            )
            for number, s in enumerate(self.sides, 1)
        )  # fmt: skip

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """What a model has to score: near and far pair of the first side, then of the second."""
        return tuple(pair for triplet in self.triplets for pair in triplet.pairs)


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two queries and two documents: the first document is right for the first query, the second for the second.

    The queries are encoded as queries, the documents as documents.
    """

    kind: ClassVar[Kind] = "contrast"
    shares: ClassVar[tuple[str, ...]] = ()
    pairs: ClassVar[tuple[tuple[str, str], ...]] = ()
    id: ItemId
    queries: tuple[str, str]
    documents: tuple[str, str]
    cluster: str
    split: str = ""

    @property
    def triplets(self) -> tuple[Triplet, Triplet]:
        """Each query with its own document (near) and the other one (far), numbered 1 and 2."""
        (first, second), (own, other) = self.queries, self.documents
        return (
            Triplet(ItemId(self.id).member(1), first, own, other, self.cluster, split=self.split),
            Triplet(ItemId(self.id).member(2), second, other, own, self.cluster, split=self.split),
        )

    @property
    def judged(self) -> tuple[tuple[str, str], ...]:
        """Each query with its own document, then with the other one: what a model that scores pairs has to score."""
        return tuple(pair for triplet in self.triplets for pair in triplet.pairs)


@dataclass(frozen=True, slots=True)
class BothOrders:
    """A labelled pair that is scored in both orders."""

    kind: ClassVar[Kind] = "both_orders"
    id: ItemId
    first: str
    second: str
    label: int
    cluster: str
    split: str = ""
    shares: tuple[str, ...] = ()

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """What a model has to score: the pair as it is, then the other way round."""
        return ((self.first, self.second), (self.second, self.first))


@dataclass(frozen=True, slots=True)
class Query:
    """A source in search of the text `near`, among all texts of its check's items; `others` are texts to get wrong.

    With `counts` its figure is how often `near` turns up in the answers to all queries.
    """

    id: ItemId
    source: str
    near: str
    others: tuple[str, ...]
    cluster: str
    near_edits: tuple[Edit, ...] = ()
    split: str = ""
    counts: bool = False
    shares: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """Whether the answer counts, or how often the text is one."""
        return "occurrence" if self.counts else "search"

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Pairs that hold all of its texts."""
        return ((self.source, self.near), *((self.source, text) for text in self.others))


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """What queries are searched in: ids, the last first, and their texts. So ties stand in trec_eval's order.

    `same` has for each row the first one that counts as the same document; it is empty where each is its own.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    same: tuple[int, ...] = ()

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> Documents:
        """Of texts by id; ids are sorted by their UTF-8.

        >>> Documents.of({"a": "One.", "b": "Two."}).ids
        ('b', 'a')
        """
        ids = sorted(texts, key=lambda name: name.encode("utf-8", "surrogatepass"), reverse=True)
        return cls(tuple(ids), tuple(texts[name] for name in ids))

    @property
    def fingerprint(self) -> str:
        """Changes when a text, the order of the documents, or what counts as the same one changes."""
        digest = hashlib.sha256()
        for text in (*self.texts, *map(str, self.same)):
            digest.update(f"{text}\x00".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class RankedQuery:
    """A query that searches documents, of which the rows of the right ones are known with their grades, best first.

    `negatives` are rows of documents that were named as hard and wrong. `slices` are what the data say of the query
    besides. `own` is the row of the document that is the query itself: its search leaves that out. `shares` are hashes
    of its right documents and of the cluster that the data name. `wrong` are rows of all that were judged wrong; None
    where the judgements name right documents alone, so that all others count as wrong. The query is encoded as a query,
    the documents as documents.
    """

    kind: ClassVar[Kind] = "ranked"
    id: ItemId
    source: str
    documents: Documents = field(repr=False)
    right: tuple[tuple[int, int], ...]
    negatives: tuple[int, ...]
    cluster: str
    split: str = ""
    slices: tuple[tuple[str, str], ...] = ()
    own: int | None = None
    shares: tuple[str, ...] = ()
    wrong: tuple[int, ...] | None = None

    @property
    def near(self) -> str:
        """The text of the first right document."""
        return self.documents.texts[self.right[0][0]]

    @property
    def judged(self) -> tuple[tuple[str, str], ...]:
        """The query with each right document, then with each hard negative."""
        rows = [*(row for row, _ in self.right), *self.negatives]
        return tuple((self.source, self.documents.texts[row]) for row in rows)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """No pair of the run's: what is scored depends on the model, see `encheck.running.roles`."""
        return ()


@dataclass(frozen=True, slots=True)
class LoggedQuery:
    """A query that somebody asked `weight` times, and of which nobody said what is right; it searches documents.

    The query is encoded as a query, the documents as documents.
    """

    kind: ClassVar[Kind] = "logged"
    shares: ClassVar[tuple[str, ...]] = ()
    own: ClassVar[int | None] = None
    right: ClassVar[tuple[tuple[int, int], ...]] = ()
    judged: ClassVar[tuple[tuple[str, str], ...]] = ()
    pairs: ClassVar[tuple[tuple[str, str], ...]] = ()
    id: ItemId
    source: str
    documents: Documents = field(repr=False)
    weight: int
    cluster: str
    split: str = ""


SearchingQuery = RankedQuery | LoggedQuery


@dataclass(frozen=True, slots=True)
class Repeated:
    """A text that is encoded a second time, in other company."""

    kind: ClassVar[Kind] = "repeated"
    shares: ClassVar[tuple[str, ...]] = ()
    id: ItemId
    text: str
    cluster: str
    split: str = ""

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The text with itself."""
        return ((self.text, self.text),)


@dataclass(frozen=True, slots=True)
class Classified:
    """A text, or two that are sorted as a pair, and the class that people put it in: what a classifier has to tell.

    `second` is "" of a single text. Texts that share most of their words are of one cluster.
    """

    kind: ClassVar[Kind] = "classified"
    shares: ClassVar[tuple[str, ...]] = ()
    id: ItemId
    first: str
    second: str
    label: str
    cluster: str
    split: str = ""

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """A pair that holds its texts."""
        return ((self.first, self.second or self.first),)


@dataclass(frozen=True, slots=True)
class Chain:
    """A sentence, its paraphrase, and members that share less and less of its meaning (Peng et al. 2023).

    With `pivot` "b" every member stands beside the paraphrase, as the paper prints it; with "a" beside the sentence
    itself. `edits` are each member's, of the paraphrase or (`edited` "source") of the sentence. `overlap` is the word
    overlap of sentence and paraphrase; `unusual` the share of unusual tag pairs in the paraphrase, then the members;
    `surprisal` their bits a token, where a language model was given; `rejected` why other exchanges were not taken;
    `why` the members' certificates.
    """

    kind: ClassVar[Kind] = "chain"
    id: ItemId
    source: str
    partner: str
    members: tuple[str, ...]
    cluster: str
    pivot: Literal["a", "b"]
    split: str = ""
    edits: tuple[tuple[Edit, ...], ...] = ()
    edited: Literal["partner", "source"] = "partner"
    overlap: float = 1.0
    unusual: tuple[float, ...] = ()
    surprisal: tuple[float, ...] = ()
    rejected: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """What a model has to score: the paraphrase first, then the members, from the nearest to the farthest."""
        if self.pivot == "a":
            return tuple((self.source, text) for text in (self.partner, *self.members))
        return tuple((text, self.partner) for text in (self.source, *self.members))


Item = SentencePair | Triplet | Crossed | Contrast | BothOrders | Chain | Query | SearchingQuery | Repeated | Classified


class WholeItems(Sequence[Any]):
    """Items that are too many to hold in memory: they have themselves scored, and nothing goes through them one by one.

    `kind` is that of each item.
    """

    kind: Kind

    @abstractmethod
    def refuse(self, subject: Any) -> None:
        """NothingToMeasure for a model under test that cannot score them part by part."""

    @abstractmethod
    def prepare(self, subject: Any, together: Sequence[Any], *, locks: Any, progress: Any) -> int:
        """Have a model score all that these items of one data set need together; how many scores it computed.

        NothingToMeasure as of `refuse`; EncoderError where the model fails.
        """

    @abstractmethod
    def measured(self, by: Any, scale: Any, *, model: str | None, seed: int) -> Any:
        """Their scores by a model that has prepared them, named by its fingerprint; by word overlap for None.

        `by` scores those of them that are in memory.
        """

    @abstractmethod
    def shown(self, scores: Any, *, seed: int) -> tuple[Sequence[Item], Any]:
        """Those that reports show, with their scores: the worst, some at random, and all that are in memory."""


@dataclass(frozen=True, slots=True)
class Items:
    """The items that a check measures, and why each of the others was excluded.

    `tuning` are labelled pairs that thresholds are chosen on, or texts that a classifier learns from; none of them is
    measured. `whole` are all items where they are too many to hold in memory: `kept` has those among them that are.
    """

    kept: Sequence[Item]
    excluded: dict[str, int] = field(default_factory=dict)
    tuning: tuple[SentencePair | Classified, ...] = ()
    whole: WholeItems | None = None

    @property
    def every(self) -> Sequence[Item]:
        """All items, in memory or not."""
        return self.kept if self.whole is None else self.whole


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
    says that its figure stands for the property in a profile. `tells` is what the model can tell if the check comes out
    well, as it goes on from "it cannot tell": the page's sentences are made with it.
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
    criterion: int = 0
    pictures: tuple[str, ...] = ()
    step: str = ""
    selects: bool = False
    proxy: str = ""
    primary: bool = False
    means: str = ""
    capability: str = ""
    headline: bool = False
    tells: str = ""
