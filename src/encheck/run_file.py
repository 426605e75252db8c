"""The types of results.json, which the engine writes and reports read (schema: docs/reference/results.schema.json)."""

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
    from encheck.datasets.dataset import ShardedPairsSummary
    from encheck.gating.types import Gate
else:
    ShardedPairsSummary = Annotated[Any, DeferredClass("encheck.datasets.dataset", "ShardedPairsSummary")]
    Gate = Annotated[Any, DeferredClass("encheck.gating.types", "Gate")]

SCHEMA_VERSION: Literal[2] = 2
Role = Literal["reference", "surface", "parent"]
ChangeVerdict = Literal["better", "worse", "cannot tell", "no evidence"]  # of a difference: a rise may be no evidence


@dataclass(frozen=True, slots=True)
class BaselineFigure:
    """A figure of the baseline's model: null if it could not be computed."""

    value: float | None
    low: float | None
    high: float | None
    n: Count


@dataclass(frozen=True, slots=True)
class SurfaceFigure:
    """The figure of a surface scorer on the same items, and its curve if it has one."""

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
    `high` bound the 95% interval; `n` counts items, `clusters` the independent groups of items. A metric fails below
    its `floor` and passes at or above its `aim`; one that is only reported has neither, and no verdict. `floor_of`
    names the surface baseline whose figure is the floor; null for a declared number. `reason` says why a failure is
    known, or why the check was skipped, measured nothing or was not decided. A check that measured nothing has no
    metric.

    `params` are the metric's parameters and counts. `baseline` is the figure of the baseline's model, `surface` that of
    each surface scorer. `excluded` counts sentences without an item, by reason. `validity` is that of the items'
    generator; null for written items.
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
        """The figure's name within its case: the metric, with its label if any."""
        return self.case.name_of(self.id)


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model of the run.

    `fingerprint` covers weights, tokenizer, pooling, prompt, dtype and maximum length. `kind` says whether the model
    gives vectors, or scores of pairs. `prompt` was put before every text, `prompts_used` before the texts of a role;
    `how` has further settings of the adapter: pooling, code that was allowed to run. `dimension` is that of its
    vectors; null without vectors. `error` says why it could not encode. `weights` is a hash of the tensors alone,
    `architecture` one of their shapes and the vocabulary, which is the same for every training seed; both are null for
    models without files. `lacks` lists the cases with texts that a file of vectors lacks.
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
    """The number of selected checks on a data set's texts, of those that measured, and of their items.

    Contracts and health apply to any text and are not counted, nor are checks that a first look left out.
    """

    selected: Count
    measured: Count
    items: Count


@dataclass(frozen=True, slots=True)
class DataEntry:
    """A data set of the run.

    `version` is the edition, if the data have editions. `rows` counts rows in the files, before sampling, `groups` the
    sentences that variants are made from, `skipped` malformed rows. `sample` is the number of sampled clusters; null if
    everything was used. `language` has the resources that made the variants; null if all were written or none was
    needed. `calibration` and `measured` are by model. `whole` describes data in shards; the other counts are then those
    of the sample for variants. `own_documents` counts queries with a document of the same id and text, which is left
    out of that query's search.
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
    whole: ShardedPairsSummary | None = None
    own_documents: Count = 0


@dataclass(frozen=True, slots=True)
class PropertyTimes:
    """A property's distinct texts, the estimated seconds to encode only these, and the seconds to measure it."""

    texts: Count
    encode_seconds: float
    measure_seconds: float


@dataclass(frozen=True, slots=True)
class RemainingWorkOfModel:
    """An estimate of what one model still has to compute: texts or pairs, with their characters and tokens.

    Tokens are counted by the model's tokenizer if `is_counted`, otherwise they are a quarter of the characters. `price`
    is dollars per million tokens; without one in models.yaml, 0 for a model on this machine and null for others.
    `seconds` assume the rate of the first look; null if it computed too little.
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
class RemainingWork:
    """Why a run stopped after its first look, what is left, and the command for it."""

    why: str
    models: tuple[RemainingWorkOfModel, ...]
    command: str = ""


@dataclass(frozen=True, slots=True)
class RunEntry:
    """The values that may differ between equal runs.

    `started` is UTC in ISO 8601. `seconds` is the time of the whole run without `wait_seconds`, the time spent waiting
    for other runs; no other time includes it. `environment` has encheck's code, Python, platform and threads. `notes`
    are warnings. `encoded` counts the texts or pairs that each model computed: 0 if all were stored.
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
    properties: Mapping[str, PropertyTimes]
    rest: RemainingWork | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """The cases that -m, -k or named tests left out.

    `unselected` lists check/data/level. `left_out` lists their properties that a gate uses; in a gate, only those with
    items in these data.
    """

    unselected: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FirstLook:
    """The part of the data that a run measured before it stopped after its first look; its other checks are skipped.

    `texts` counts texts or pairs of the model that needs most, `of_texts` estimates how many it needs for all checks on
    all data except searches.
    """

    texts: Count
    of_texts: Count
    clusters: Count
    of_clusters: Count


@dataclass(frozen=True, slots=True)
class Contamination:
    """A candidate's gain on the written probes, which are public, minus its gain on fresh ones.

    `older` is the first model's label, or the baseline's folder. `written` and `fresh` name the data, `checks` counts
    the checks that both data have and that gate by a rate. A gain is the mean change of their rates; `value` is the
    difference of the gains with its 95% interval, whose ends are null if there are too few clusters.
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
    """A property's figure for two models on their `n` common items, with the 95% interval of the change.

    `p` is the two-sided p-value of no difference, after Holm's correction over all properties on the data set: 1 if no
    item changed, or if there are too few clusters. `beats_chance` says whether the second model is shown to beat
    guessing, by the gate's rule: if not, a rise is "no evidence", since damage raises figures below chance.
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
    said: ChangeVerdict = "cannot tell"


@dataclass(frozen=True, slots=True)
class Reference:
    """A comparison of a model with one whose item scores ship, or with its checkpoint's parent; it decides nothing.

    `named_by` is the file that names a parent. `properties` are those measured for both.
    """

    model: str
    against: str
    role: Role
    same_weights: bool
    properties: tuple[Difference, ...] = ()
    named_by: str = ""


@dataclass(frozen=True, slots=True)
class RunFile:
    """The results of one run. Two runs with the same models, data, options and versions differ only in `run`.

    `claims` are by the name of the check. `selection` is null if every check was selected, `first_look` if the run did
    not stop after one. `gate` is the result of a gate with its rows.
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
        """The declaration of each check."""
        return {row.check: Declaration(property=row.property) for row in self.checks} | dict(self.claims)
