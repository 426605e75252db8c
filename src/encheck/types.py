"""Frozen dataclasses for the data of a run.

A data set holds `SentencePair`s and `Group`s. A generator makes a `Variant` from a group. A check compares pairs, or
`Triplet`s of a group's texts. Its metric returns an `Estimate`, and the verdict on that makes a `CheckResult`.
"""

from __future__ import annotations

import builtins
import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

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
    """Return a hash of these texts in sixteen hex digits, the same on every machine.

    >>> content_hash("A dog barks.")
    '8f51134ccd0afd90'
    """
    return hashlib.sha256("\x00".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


class MissingNeed(str):
    """The reason why a sentence has no variant. It no longer applies if the data have what it `needs`.

    >>> MissingNeed("no number edit was written", needs="written probes").needs
    'written probes'
    """

    needs: str

    def __new__(cls, reason: str, *, needs: str) -> MissingNeed:
        """Create the reason, with the name of what it needs."""
        made = super().__new__(cls, reason)
        made.needs = needs
        return made


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit that replaces the characters `start` to `end` of the source by `text`."""

    start: int
    end: int
    text: str


def apply_edits(source: str, edits: tuple[Edit, ...]) -> str:
    """Apply the edits, which are in order and do not overlap, to the source; return the edited text.

    >>> apply_edits("a fast car", (Edit(2, 6, "slow"),))
    'a slow car'
    """
    parts, at = [], 0
    for edit in edits:
        parts += [source[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, source[at:]])


def edits_in_words(source: str, edits: tuple[Edit, ...]) -> str:
    """Return the edits in words, "old > new", for certificates.

    >>> edits_in_words("a fast car", (Edit(2, 6, "slow"),))
    'fast > slow'
    """
    return "; ".join(f"{source[edit.start : edit.end]} > {edit.text}" for edit in edits)


@dataclass(frozen=True, slots=True)
class Variant:
    """A text made from a source sentence by edits of `generator` ("written" for handwritten ones).

    `certificate` justifies the edit: which words, of which tag, by which relation, under which conditions.
    """

    text: str
    relation: str
    level: int = 1
    edits: tuple[Edit, ...] = ()
    generator: str = "written"
    certificate: str = ""


@dataclass(frozen=True, slots=True)
class PublishedVariant(Variant):
    """A variant that a published recipe made. If it equals its sentence, it also counts, with similarity 1."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """A published way to make variants. A package offers it under the entry point `encheck.generators`.

    `replacements` maps a generator to the function that a run calls instead of it. Generators of phenomena and of noise
    have no place in a published recipe, so they return a reason. `describe_stop_words` returns the name of the list of
    words that the recipe never replaces, for results.json.
    """

    name: str
    replacements: Mapping[Any, Callable[..., Variant | str | None]]
    describe_stop_words: Callable[[], str] = str


KEEPING = frozenset(
    """paraphrase rewrite synonym reorder negated_antonym casing spacing contraction back_translation typo keyboard
    transposition missing quotes blanks composition accents capitals markup emoji""".split()
)


def keeps_meaning(relation: str) -> bool:
    """Return whether variants of this relation keep the meaning of their sentence.

    >>> keeps_meaning("synonym"), keeps_meaning("number_kept"), keeps_meaning("number")
    (True, True, False)
    """
    return relation in KEEPING or relation.endswith("_kept")


@dataclass(frozen=True, slots=True)
class Passage:
    """The sentences around a sentence. `place` is the position of the sentence among them."""

    context: tuple[str, ...]
    place: int

    def around(self, text: str, *, sentences: int) -> str:
        """Return a passage of `sentences` sentences: `text` in its place among its nearest neighbours; on a tie,
        earlier ones.

        >>> Passage(("A.", "B.", "C."), 2).around("X.", sentences=3)
        'B. X. C.'
        """
        whole = [*self.context[: self.place], text, *self.context[self.place :]]
        start = min(max(self.place - sentences // 2, 0), max(len(whole) - sentences, 0))
        return " ".join(whole[start : start + sentences])


@dataclass(frozen=True, slots=True)
class Group:
    """A source sentence with its paraphrase and its handwritten variants.

    Without a paraphrase, `paraphrase` is the source. `side` names the only side of a crossed group that is used.
    `is_quick` marks the groups of a fixed small part of the data. `shares` are hashes of what the group has in common
    with other groups, if these overlap; it is empty if the groups share only their cluster. `construction` names how
    the texts of a contrast differ. The group's items have the same `shares` and `construction`.
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
        """Return the written variant of this relation and level, or None."""
        for v in self.variants:  # called for every sentence, relation and level: a generator expression is slower
            if v.relation == relation and v.level == level:
                return v
        return None

    @property
    def is_contrast(self) -> bool:
        """Whether the group has written variants but no free paraphrase. Then only its written texts are measured."""
        return bool(self.variants) and self.paraphrase == self.source


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A point of a margin curve: the share of items whose margin is above `epsilon`, where a tie counts as half.

    `count` is the number of items above `epsilon`.
    """

    epsilon: float
    value: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95% interval, and the numbers of items and independent clusters that it is based on.

    If the figure compares two labels, `clusters` is the number for the label with fewer clusters. `surface` has the
    figure of each surface scorer by name ("jaccard" is word overlap). If there is no estimate, `value` is NaN, and
    `missing` says what the data lack.
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
        """The surface scorer with the highest figure, or the first of several; None if no scorer has a figure."""
        found = [(name, beside) for name, beside in self.surface.items() if not math.isnan(beside.value)]
        return max(found, key=lambda one: one[1].value, default=None)


@dataclass(frozen=True, slots=True)
class Validity:
    """How many of a generator's triples blind readers judged to be right. `read` is 0 if they read none."""

    generator: str
    right: int
    read: int

    @builtins.property
    def rate(self) -> float | None:
        """The share of right triples, which is an upper limit for aims; None if no triple was read."""
        return self.right / self.read if self.read else None


@dataclass(frozen=True, slots=True)
class LanguageResources:
    """The resources that made a data set's variants: version of encheck, parser, lexicon and mode.

    `substitutes` is a hash of the careful mode's table, and `stop_words` names the paper mode's list. Both are "" in
    the other mode.
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
class FloorAndAim:
    """The floor and the aim of a figure. The figure fails if its interval is below the floor, and passes at or above
    the aim.

    `rival` names the surface baseline whose figure is the floor. It is empty if the floor was declared as a number.
    """

    aim: float
    floor: float | None = None
    rival: str = ""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One row of results.json: a figure of one check, with its floor and aim if it is judged, and its verdict if it has
    one.

    `validity` is the validity of the generator that made the items; None for written items.
    """

    id: str
    check: str
    property: str
    level: str
    model: str
    data: str
    estimate: Estimate | None
    verdict: Verdict | None
    lines: FloorAndAim | None = None
    reason: str = ""
    excluded: dict[str, int] = field(default_factory=dict)
    validity: Validity | None = None

    @builtins.property
    def case(self) -> CaseId:
        """The id of the figure's case."""
        return CaseId(self.check, self.model, self.data, self.level)


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a check declares besides its items, in plain types.

    results.json contains it, so reading a run does not import its checks.

    `metric` names the metric that `judge` uses, and `gates` the one that the gate compares item by item. If `gates`
    is empty, `reported` says why the check is only reported. A check without a metric has all three empty; the gate
    then compares the figure of its kind of items. `part` is "test" for a check that measures only the test part of the
    data. `criterion` is the number of the check's criterion in Mahajan et al. 2023, from 1 to 4, or 0 for none.
    `pictures` are extra pictures on the page. `step` describes one step of the check's chains. If `selects`, training
    loops choose checkpoints by this check by default.

    `aim` is the value that the metric should reach. `floor` is the value that no model may fall below: a number,
    "surface" (the best surface baseline's figure on the same items), or None. `unjudged` says why a check has neither
    and gives no verdict. `proxy` says why the check is easier than the real task: the gate may block on its figure, but
    never counts it towards passing. If `primary`, the items are queries with known right documents, which give the gate
    its primary endpoint. `means` is a sentence on what a loss means to users of the model. `capability` names the row
    of the gate that pools this check with others; if it is empty, the property does. If `headline`, the check's figure
    represents the property where the data have no crossed groups of the property. `tells` completes the sentence "it
    cannot tell ..." in the page's findings.
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
        """Whether the check's metric is the share of crossed groups won in both directions."""
        return self.metric.startswith("both_directions")

    @builtins.property
    def stands_for_property(self) -> bool:
        """Whether the check's figure may represent its property in a profile."""
        return self.headline or self.is_in_both_directions


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimEntry(Declaration):
    """A check's texts and declaration, which is all that readers of a run need.

    `says` is the check's claim. `title` is the topic of its file, with the source. `why` says why the topic matters.
    """

    says: str
    title: str
    why: str
