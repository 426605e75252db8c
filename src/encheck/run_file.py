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
    """A figure of the baseline's model. A value is null if it could not be computed."""

    value: float | None
    low: float | None
    high: float | None
    n: Count


@dataclass(frozen=True, slots=True)
class SurfaceFigure:
    """The figure of a surface scorer on the same items, with its margin curve if the metric has one."""

    value: float | None
    low: float | None
    high: float | None
    curve: tuple[CurvePoint, ...] = ()

    @property
    def numbers(self) -> tuple[float, float, float]:
        """Value, lower and upper end of the 95% interval; NaN if null."""
        value, low, high = (math.nan if x is None else x for x in (self.value, self.low, self.high))
        return value, low, high


@dataclass(frozen=True, slots=True)
class Result:
    """One metric of one case, with the verdict on it if there is one.

    A case is a check on one model and data set at one level. `property` is what the check tests (antonym, number, ...).
    `low` and `high` bound the 95% interval, `n` counts items, and `clusters` counts independent groups of items. A
    metric fails below its `floor` and passes at or above its `aim`. A metric that is only reported has no floor, aim or
    verdict. `floor_of` names the surface baseline whose figure is the floor; null if the floor is a declared number.
    `reason` says why a failure is known, or why the check was skipped, measured nothing or was not decided. `metric` is
    null for a check that measured nothing.

    `params` has the metric's parameters and counts. `baseline` is the figure of the baseline's model, and `surface`
    has the figure of each surface scorer. `excluded` counts sentences without an item, by reason. `validity` is the
    validity of the items' generator; null for written items.
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
        """The id of the figure's case."""
        return CaseId(self.check, self.model, self.data, self.level)

    @builtins.property
    def numbers(self) -> tuple[float, float, float]:
        """Value, lower and upper end of the 95% interval; NaN if null."""
        return SurfaceFigure(self.value, self.low, self.high).numbers

    @builtins.property
    def figure(self) -> str:
        """The name of the figure within its case: the metric, with its label if it has one."""
        return self.case.name_of(self.id)


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model of the run.

    `fingerprint` covers weights, tokenizer, pooling, prompt, dtype and maximum length. `kind` is "vector" for a model
    that encodes texts, "pair" for a model that scores pairs. `prompt` was put before every text; `prompts_used` has the
    prompts that were put before the texts of a role. `how` has further settings of the adapter, such as pooling, and
    code that was allowed to run. `dimension` is the length of the model's vectors; null without vectors. `error` says
    why the model could not encode. `weights` is a hash of the tensors alone. `architecture` is a hash of the tensors'
    shapes and the vocabulary, so it is the same for every training seed. Both hashes are null for models without files.
    `lacks` lists the cases with texts that a file of vectors lacks.
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
    """Counts of the checks on a data set's texts: `selected` checks, `measured` checks, and the `items` of these.

    Contracts and health checks are not counted, since they apply to any text. Checks that a first look left out are not
    counted either.
    """

    selected: Count
    measured: Count
    items: Count


@dataclass(frozen=True, slots=True)
class DataEntry:
    """A data set of the run.

    `version` is the edition, if the data have editions. `rows` counts the rows in the files before sampling, `groups`
    the sentences that variants are made from, and `skipped` the malformed rows. `sample` is the number of sampled
    clusters; null if all clusters were used. `language` names the resources that made the variants; null if all
    variants were written or the run needed none. `calibration` and `measured` have an entry for each model. `whole`
    describes data in shards; the other counts are then counts of the sample for variants. `own_documents` counts the
    queries whose document has the same id and text. The search of such a query leaves that document out.
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
    """The cost of one property: its distinct texts, the estimated seconds to encode them, and the seconds to measure
    them.
    """

    texts: Count
    encode_seconds: float
    measure_seconds: float


@dataclass(frozen=True, slots=True)
class RemainingWorkOfModel:
    """An estimate of what one model still has to compute: `texts` (texts or pairs) with their characters and tokens.

    `tokens` come from the model's tokenizer if `is_counted`, otherwise they are a quarter of the characters. `price` is
    in dollars per million tokens. If models.yaml has no price, it is 0 for a model on this machine and null for other
    models. `seconds` assume the speed of the first look; null if the first look computed too little.
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
    """Why a run stopped after its first look, what each model still has to compute, and the command that does it."""

    why: str
    models: tuple[RemainingWorkOfModel, ...]
    command: str = ""


@dataclass(frozen=True, slots=True)
class RunEntry:
    """The values that may differ between equal runs.

    `started` is UTC in ISO 8601. `wait_seconds` is the time spent waiting for other runs, which no other time includes;
    `seconds` is the rest of the run's time. `environment` has encheck's code, Python, platform and threads. `notes` are
    warnings. `encoded` counts the texts or pairs that each model computed: 0 if the store had all of them.
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
    """The cases that were left out because -m, -k or named tests did not select them.

    `unselected` lists these cases as check/data/level. `left_out` lists their properties that a gate uses; in a gate,
    only the properties with items in the data.
    """

    unselected: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FirstLook:
    """The part of the data that a run measured before it stopped after its first look. The other checks are skipped.

    `texts` counts the texts or pairs of the model that needs most. `of_texts` estimates how many texts that model needs
    for all checks on all data, except searches.
    """

    texts: Count
    of_texts: Count
    clusters: Count
    of_clusters: Count


@dataclass(frozen=True, slots=True)
class Contamination:
    """A candidate's gain on the written probes, which are public, minus its gain on fresh probes.

    `older` is the label of the first model, or the folder of the baseline. `written` and `fresh` name the data.
    `checks` counts the checks that both data sets have and that gate by a rate. A gain is the mean change of their
    rates. `value` is the difference of the gains. `low` and `high` bound its 95% interval; they are null if there are
    too few clusters.
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

    `p` is the two-sided p-value of no difference, after Holm's correction over all properties on the data set. It is 1
    if no item changed or if there are too few clusters. `beats_chance` says whether the second model is shown to beat
    guessing, by the gate's rule. If it is not, a rise is "no evidence", since damage also moves figures below chance
    up.
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
    """A comparison of a model with a model whose item scores ship, or with its checkpoint's parent. It decides nothing.

    `named_by` is the file that names the parent. `properties` has the properties that were measured for both models.
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

    `claims` has an entry for each check, by name. `selection` is null if every check was selected. `first_look` is null
    unless the run stopped after its first look. `gate` is the result of a gate with its rows.
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
