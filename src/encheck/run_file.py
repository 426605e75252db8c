"""results.json, as the engine makes it and reports read it: its schema is docs/reference/results.schema.json."""

from __future__ import annotations

import builtins
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge, Le

from encheck.ids import CaseId
from encheck.options.settings import RunSettings
from encheck.scoring.scale import Scale
from encheck.system.typed_files import Count, DeferredClass, Positive
from encheck.types import ClaimEntry, CurvePoint, Declaration, Json, LanguageResources, Validity, Verdict

if TYPE_CHECKING:
    from encheck.datasets.dataset import WholeDataSummary
    from encheck.gating.types import Gate
else:
    WholeDataSummary = Annotated[Any, DeferredClass("encheck.datasets.dataset", "WholeDataSummary")]
    Gate = Annotated[Any, DeferredClass("encheck.gating.types", "Gate")]

SCHEMA_VERSION: Literal[2] = 2
Role = Literal["reference", "surface", "parent"]
Said = Literal["better", "worse", "cannot tell", "no evidence"]  # of a difference: a rise may be no evidence


@dataclass(frozen=True, slots=True)
class BaselineFigure:
    """A figure of the baseline's model: null where it could not be computed."""

    value: float | None
    low: float | None
    high: float | None
    n: Count


@dataclass(frozen=True, slots=True)
class SurfaceFigure:
    """The figure of a surface scorer in place of the model, and its curve where it has one."""

    value: float | None
    low: float | None
    high: float | None
    curve: tuple[CurvePoint, ...] = ()

    @property
    def numbers(self) -> tuple[float, float, float]:
        """Value and ends of its interval; NaN for what could not be computed."""
        value, low, high = (math.nan if x is None else x for x in (self.value, self.low, self.high))
        return value, low, high


@dataclass(frozen=True, slots=True)
class Result:
    """One metric of one case, with its verdict if it has one.

    A case is a check x model x data x level. `property` is what the check tests (antonym, number, ...). `low` and
    `high` bound the 95% interval; `n` counts items, `clusters` the independent groups of items. Below its `floor` a
    metric fails, at or above its `aim` it passes; one that is only reported has neither, and no verdict. `floor_of`
    names the surface baseline whose figure the floor is, null for a number that was declared. `reason` says why a
    failure is known, or why nothing was decided, skipped or measured: a check that measured nothing has no metric.

    `params` are what the metric was computed with and counts behind it. `baseline` is the same figure of the baseline's
    model, `surface` that of each surface scorer. `excluded` counts sentences without an item, by reason. `validity` is
    of the generator that made the items, null where they were written by hand.
    """

    id: str
    check: str
    property: str
    level: str
    reason: str
    model: str
    data: str
    params: Mapping[str, bool | int | float | str]
    metric: str | None
    value: float | None
    low: float | None
    high: float | None
    n: Count
    clusters: Count
    floor: float | None
    floor_of: str | None
    aim: float | None
    verdict: Verdict | None
    baseline: BaselineFigure | None
    excluded: Mapping[str, Count]
    surface: Mapping[str, SurfaceFigure]
    validity: Validity | None = None
    curve: tuple[CurvePoint, ...] = ()

    @builtins.property
    def case(self) -> CaseId:
        """The check x model x data x level that the figure is of."""
        return CaseId(self.check, self.model, self.data, self.level)

    @builtins.property
    def numbers(self) -> tuple[float, float, float]:
        """Value and ends of its interval; NaN for what could not be computed."""
        return SurfaceFigure(self.value, self.low, self.high).numbers

    @builtins.property
    def figure(self) -> str:
        """What the figure is called within its case: the metric, with its label where it is of one."""
        return self.case.name_of(self.id)


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model of the run.

    `fingerprint` is of the content: weights, tokenizer, pooling, prompt, dtype, maximum length. `kind` is what the
    model gives: vectors, or scores of pairs. `prompt` is what stood before every text, `prompts_used` before those of a
    role, `how` what else the adapter did: pooling, code that was allowed to run. `dimension` is that of its vectors,
    null where it gave none. `error` says why it could not encode. `weights` is a hash of the tensors alone,
    `architecture` one of their shapes and the vocabulary, the same for every seed of one training; null of models that
    are not made of files. `lacks` are the cases that a file of vectors lacks texts of.
    """

    label: str
    name: str
    adapter: str
    fingerprint: str
    kind: Literal["vector", "pair"]
    revision: str | None
    licence: str
    prompt: str | None
    how: Mapping[str, Json]
    trained_on: tuple[str, ...]
    dimension: Count | None
    error: str | None
    weights: str | None = None
    architecture: str | None = None
    lacks: tuple[str, ...] = ()
    prompts_used: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MeasuredItems:
    """The checks about a data set's texts that were selected, how many of them measured, and the items of these.

    Contracts and health are of any text and not counted, nor is what a first look has left.
    """

    selected: Count
    measured: Count
    items: Count


@dataclass(frozen=True, slots=True)
class DataEntry:
    """A data set of the run.

    `version` is the edition, of data that have some. `rows` counts those in the files, before sampling, `groups` the
    sentences that variants are made from, `skipped` malformed rows. `sample` counts the clusters that were drawn, null
    where everything was taken. `language` is what the variants were generated with, null where all were written by hand
    or none was asked for. `calibration` and `measured` are by model. `whole` is of data in shards, whose pairs, groups
    and clusters beside it are those of the sample that variants are made from. `own_documents` counts queries that
    stand among the documents with the same id and text: each one's own document is left out of its search.
    """

    name: str
    licence: str
    version: str
    rows: Count
    pairs: Count
    groups: Count
    clusters: Count
    labels: Mapping[str, Count]
    skipped: Count
    sample: Count | None
    seed: int
    fingerprint: str
    language: LanguageResources | None
    calibration: Mapping[str, Scale]
    measured: Mapping[str, MeasuredItems] = field(default_factory=dict)
    whole: WholeDataSummary | None = None
    own_documents: Count = 0


@dataclass(frozen=True, slots=True)
class Times:
    """Of a property: distinct texts, seconds to encode them alone (an estimate from this run), seconds to measure."""

    texts: Count
    encode_seconds: float
    measure_seconds: float


@dataclass(frozen=True, slots=True)
class ModelRest:
    """About what one model has to compute that the store lacks: texts or pairs, characters and tokens in them.

    The tokens are of its own tokenizer where `is_counted`, else a quarter of the characters. `price` is that of a
    million tokens in dollars: 0 of a model on this machine unless models.yaml gives one, else null where it gives none.
    `seconds` are at the rate of the first look, null where it computed too little to tell.
    """

    model: str
    texts: Count
    characters: float
    tokens: Count
    is_counted: bool
    price: float | None
    dollars: float | None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Rest:
    """Of a run that stopped after its first look: why, what is left, and the command for it."""

    why: str
    models: tuple[ModelRest, ...]
    command: str = ""


@dataclass(frozen=True, slots=True)
class RunEntry:
    """What may differ between equal runs.

    `started` is UTC in ISO 8601. `seconds` are those of the whole run without `wait_seconds`, for which it waited for
    other runs: no other time has these. `environment` has encheck's code, Python, platform and threads. `notes` are
    warnings. `encoded` counts the texts or pairs that each model computed: 0 where the store had them all.
    """

    id: str
    started: str
    seconds: float
    command: str
    exit_status: int
    versions: Mapping[str, str]
    environment: Mapping[str, str]
    settings: RunSettings
    notes: tuple[str, ...]
    wait_seconds: float
    encode_seconds: float
    generate_seconds: float
    encoded: Mapping[str, Count]
    properties: Mapping[str, Times]
    rest: Rest | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """Where -m, -k or named tests left out cases of checks that there are.

    `unselected` are check/data/level. `left_out` are the properties of these that a gate weighs; in a gate, of some
    that have items in these data, and none where none has.
    """

    unselected: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FirstLook:
    """How much of the data a run is from that stopped after its first look: its other checks are skipped.

    `texts` are those, or the pairs, that the model computed which needs most, `of_texts` about how many it needs for
    all checks on all data that are not searched.
    """

    texts: Count
    of_texts: Count
    clusters: Count
    of_clusters: Count


@dataclass(frozen=True, slots=True)
class Contamination:
    """What a candidate gained on the written probes, which are public, beyond what it gained on fresh ones.

    `older` is the first model's label, or the baseline's folder. `written` and `fresh` name the data, `checks` counts
    what both have and gate by a rate. The gains are means over the checks of the change of their rates; `value` is
    their difference with its 95% interval, whose ends are null where there are too few clusters.
    """

    candidate: str
    older: str
    written: str
    fresh: str
    checks: Positive
    written_gain: float
    fresh_gain: float
    written_clusters: Positive
    fresh_clusters: Positive
    value: Annotated[float, Ge(-2), Le(2)]
    low: float | None
    high: float | None
    says: str


@dataclass(frozen=True, slots=True)
class Difference:
    """The figure of a property under two models, on the `n` items that both have, with the 95% interval of the change.

    `p` is two-sided, of no difference at all, after Holm's correction for all properties on the data set: 1 where no
    item changed, or where there are too few clusters to tell. `beats_chance` says whether the second model is shown to
    beat guessing, by the gate's rule: if not, a rise is "no evidence", since damage raises what is below chance.
    """

    property: str
    data: str
    n: Positive
    clusters: Count
    before: float
    after: float
    difference: float
    low: float
    high: float
    p: float
    beats_chance: bool
    said: Said = "cannot tell"


@dataclass(frozen=True, slots=True)
class Reference:
    """A model beside one whose item scores ship, or beside the parent that its checkpoint names; decides nothing.

    `named_by` is the file that names a parent. `properties` are those that both were measured in.
    """

    model: str
    against: str
    role: Role
    same_weights: bool
    properties: tuple[Difference, ...] = ()
    named_by: str = ""


@dataclass(frozen=True, slots=True)
class RunFile:
    """What one run found. Two runs on the same models, data, options and versions differ in `run` only.

    `claims` are by the name of the check. `selection` is null where every check was selected, `first_look` of a run
    that did not stop after one. `gate` is what came of a gate, and the rows behind it.
    """

    schema_version: Literal[2] = field(default=SCHEMA_VERSION, kw_only=True)
    run: RunEntry
    models: tuple[ModelEntry, ...]
    data: tuple[DataEntry, ...]
    claims: Mapping[str, ClaimEntry]
    checks: tuple[Result, ...]
    selection: Selection | None = None
    first_look: FirstLook | None = None
    gate: Gate | None = None
    contamination: tuple[Contamination, ...] = ()
    references: tuple[Reference, ...] = ()

    @property
    def declarations(self) -> dict[str, Declaration]:
        """What each check declares."""
        return {row.check: Declaration(property=row.property) for row in self.checks} | dict(self.claims)
