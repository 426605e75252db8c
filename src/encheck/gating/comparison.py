"""Compare a candidate's run with a baseline: pair the same items, and let the gate decide."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import PurePath
from types import MappingProxyType

import numpy as np

from encheck.claims import CONTRACT, OF_ANY_TEXT
from encheck.errors import BaselineError
from encheck.gating import reindex
from encheck.gating.advice import (
    apply_partial,
    find_left_out_checks,
    list_required_changes,
    suggest_remedies,
    unselected_cases,
)
from encheck.gating.balance import balanced_score, property_families, shares_above_chance
from encheck.gating.baseline import (
    STORED,
    Baseline,
    BaselineSettings,
    FirstLookItems,
    SavedScores,
    model_tables,
)
from encheck.gating.decision import decide_by_rows
from encheck.gating.gate_rows import (
    LostItem,
    LostQuery,
    choose_slices,
    divide_items,
    pool_by_property,
    pool_rows,
    split_rows,
    unjudged_queries,
    worst_lost_items,
    worst_lost_queries,
)
from encheck.gating.gate_rows import group_into_rows as gate_rows
from encheck.gating.old_index import OldIndex
from encheck.gating.pairing import (
    GRADED,
    ComparedCase,
    ModelScores,
    compare_cases,
    declaration_of,
    gating_metric,
    graded_endpoint,
    secondary_metrics,
)
from encheck.gating.purpose import (
    BUDGET,
    DECIDED_BY,
    ENGLISH,
    NO_BUILT_IN,
    PROTECTED_FOR_PAIRS,
    Purpose,
    PurposeFigures,
    compare_labelled_pairs,
    decide_for_purpose,
    has_enough_items,
)
from encheck.gating.reindex import DocumentLengths, Reindex, VectorSample, truncation_faults
from encheck.gating.scale_shift import (
    FIRST_ANSWERS,
    LABELLED,
    PAIRS,
    ThresholdShift,
    measure_scale_shifts,
    measure_threshold_shift,
)
from encheck.gating.types import (
    DEFAULT,
    FEWEST_REPLICATES,
    NO_SEED_NOISE,
    Balanced,
    GateAgainst,
    GateDecision,
    GateRow,
    IndexAdapter,
    JudgementSummary,
    Noise,
    PairedRow,
    Rule,
    UnjudgedSearch,
)
from encheck.gating.unlabelled_search import ALPHA, count_changed_answers, is_unlabelled_log
from encheck.language.prose import count_languages, english_share, summarise_languages
from encheck.metrics.health import OF_THE_SPACE, ends_seen
from encheck.options import RunSettings, model_options
from encheck.options.settings import select_settings
from encheck.run_file import ModelEntry, RunFile
from encheck.scoring.documents import Answers
from encheck.scoring.frame import CaseScores
from encheck.scoring.item import ItemFrame
from encheck.statistics.sharing import number_units
from encheck.types import LanguageResources

BROKEN_VERDICTS = ("fail", "error", "known_failure")  # known failures count too
TOO_FEW_REPLICATES = (
    f"it was not measured on {FEWEST_REPLICATES} seed replicates or more. Make the baseline again with that many --twin"
)
BUILT_IN = "probes"  # the data set that comes with encheck
MAX_FLIPPED = 10  # per row and direction
NEW_CASE = "new, not compared: the baseline only has searches on these data"


@dataclass(frozen=True)
class LogAnswers:
    """Both models' answers to the queries of a log without labels: the same queries in the same order."""

    before: CaseScores
    after: CaseScores


# The judgements of two models' answers; the text is the baseline's name.
FindJudgements = Callable[[LogAnswers, str, UnjudgedSearch], JudgementSummary | None]


@dataclass(frozen=True)
class GateComparison:
    """The decision against one baseline, with the items, queries and answers whose texts a report shows.

    `noise` is the seed noise that was used. `searched` has both models' answers to queries without labels. Three fields
    are by gate row: `lost_queries` has the queries of a search that lost most, `lost_items` the items of other data
    that lost most, and `unjudged` the queries whose unjudged first documents leave a search open. `index` is the check
    of an index of the old model's vectors, None if the run has no documents.
    """

    decision: GateAgainst
    noise: Noise = NO_SEED_NOISE
    searched: tuple[LogAnswers, ...] = ()
    lost_queries: Mapping[str, tuple[LostQuery, ...]] = field(default_factory=dict)
    lost_items: Mapping[str, tuple[LostItem, ...]] = field(default_factory=dict)
    unjudged: Mapping[str, tuple[LostQuery, ...]] = field(default_factory=dict)
    index: OldIndex | None = None


def run_scores(results: RunFile, items: Mapping[str, ItemFrame], model: str) -> ModelScores:
    """Return the scores of one model of a run."""
    scales = {data.name: data.calibration[model] for data in results.data if model in data.calibration}
    return ModelScores(model_tables(results, items, model), scales)


def baseline_scores(
    baseline: Baseline, run: ModelScores, parts: Mapping[str, FirstLookItems] = MappingProxyType({})
) -> ModelScores:
    """Return the scores of the baseline's model on the items of a run, with the declarations of the run's checks.

    Cases are left out if the run lacks them or has other items for them. `parts` maps each case to the positions of a
    first look's items among all its items.
    """
    scales = {data.name: data.calibration for data in baseline.summary.data if data.calibration}
    tables = {}
    for name, table in run.tables.items():
        if (case := baseline.cases.get(name)) is None:
            continue
        part = parts.get(name)
        own = case.align_to_part(table, part) if part else case.align_to(table) if case.has_same_items(table) else None
        if own:
            tables[name] = own
    return ModelScores(tables, scales)


def gate_against_baseline(
    baseline: Baseline,
    results: RunFile,
    items: Mapping[str, ItemFrame],
    *,
    model: str,
    rule: Rule = DEFAULT,
    seed_noise: Noise | None = None,
    primary: str | None = None,
    purpose: Purpose | None = None,
    people: FindJudgements | None = None,
    vectors: VectorSample | None = None,
    documents: DocumentLengths | None = None,
    index: OldIndex | None = None,
    thresholds: Sequence[float] = (),
) -> GateComparison:
    """Compare `model` of a run with a baseline. Raise BaselineError if they cannot be compared.

    If the run left out checks that its data allow, the gate is partial and does not pass. `primary` names the primary
    endpoint of searches with labels; if it is None, the labels determine the endpoint. `purpose` is the candidate's
    purpose; if it is None, the data determine it: the first of `DECIDED_BY`, else a changed version of the same model.
    `people` returns people's judgements of changed answers. `vectors` are the candidate's vectors of some texts,
    `documents` the lengths of the user's documents. `index` is the check of an index of these documents. `thresholds`
    are those in use.
    """
    then, now = (sorted(one.name for one in data) for data in (baseline.summary.data, results.data))
    if then and now and not set(then) & set(now):  # fresh probes of two seeds are two data sets
        raise BaselineError(
            f"{baseline.folder} was made on {', '.join(then)}, but this run is on {', '.join(now)}: run on the data of "
            "the baseline, or make the baseline again with --save-baseline"
        )
    refuse_other_edition(baseline, {data.name: data.version for data in results.data}, results.run.settings)
    about = next(one for one in results.models if one.label == model)
    refuse_other_kind(baseline, model, about.kind)
    pair = _pair_sides(baseline, results, items, model)
    about = next(one for one in results.models if one.label == model)
    stays = _compare_vectors(baseline, about.dimension, vectors, documents)
    if index and stays:
        stays = replace(index.reindex, same_model=index.reindex.same_model and stays.same_model)
    is_other_family = stays is not None and stays.related is False
    found = _GateRows.of(pair, rule=rule, primary=primary, is_other_family=is_other_family)
    new, missing = _one_sided_cases(pair, results)
    noise = seed_noise or baseline.seed_noise or NO_SEED_NOISE
    graded = [
        (old, pair.new.tables[name])
        for name, old in pair.old.tables.items()
        if old.property == GRADED and is_user_data(old.data) and len({*old.gold}) > 1
    ]
    pairs = _labelled_pairs(pair)
    held = {"search": found.endpoints or pair.searched, "similarity": graded, "pairs": pairs}
    wanted = purpose or Purpose(next((name for name in DECIDED_BY if held[name]), "change"))
    broken = _broken_contracts(results, model, cuts=wanted.name == "change")
    if wanted.name == "search" and vectors and baseline.sample:
        broken += truncation_faults(baseline.sample.settings, vectors.settings, documents)
    own = {str(row.case) for row in results.checks if is_user_data(row.data)}
    languages = count_languages({text for case in own & items.keys() for text in items[case].sources})
    decisive: set[str] = set()
    has_english = english_share(languages) >= ENGLISH
    if wanted.name == "change":
        moved_ = [_compare_answers(one, baseline.name, people, wanted) for one in pair.searched]
        decision = decide_by_rows(
            found.paired, rule=rule, seed_noise=noise, contracts=broken, missing=missing, moved=moved_
        )
    else:
        found = found.with_pooled_properties(built_in=has_english)
        figures = found.purpose_figures
        if wanted.name == "pairs":
            figures = _figures_for_pairs(found, pairs, wanted)
            guarded = (
                name for name in PROTECTED_FOR_PAIRS if (one := figures.behaviours.get(name)) and has_enough_items(one)
            )
            wanted = replace(wanted, protect=wanted.protect or tuple(guarded))
        if wanted.name == "similarity":
            endpoints = [graded_endpoint(*both) for both in graded]
            beside_ = [replace(one, budget="behaviour") for one in figures.endpoints]
            figures = replace(figures, endpoints=endpoints, slices=(), rows=[*beside_, *figures.rows])
            decisive = {old.case for old, _ in graded}
        logs = pair.searched if wanted.name == "search" else ()
        moved_ = [_compare_answers(one, baseline.name, people, wanted) for one in logs]
        decision = decide_for_purpose(
            wanted, figures, rule=rule, contracts=broken, missing=missing, moved=moved_, languages=languages
        )
    is_stored = baseline.model.adapter == STORED  # stored vectors, whose behaviour cannot be compared
    partial = find_left_out_checks(baseline, results, model=model, weighed=pair.properties, missing=missing,
                           uncompared=sorted({table.property for table in new}),
                           compares_quality=pair.compares_quality or bool(pair.searched and not is_stored))  # fmt: skip
    decision = apply_partial(apply_seed_noise(decision, noise, rule), partial)
    if index and index.faults and decision.outcome != "block":
        why = f"{index.faults.says}: the comparison needs an index without faults"
        decision = replace(decision, outcome="inconclusive", reasons=(why, *decision.reasons), yours=())
    named = {str(row.case): row.case.of_any_model for row in results.checks if row.model == model}
    mine = {named[case]: frame for case, frame in items.items() if case in named}
    shifts = measure_threshold_shifts(baseline.cases, pair.whole[1].tables, mine, thresholds=thresholds)
    not_weighed = {case: why for case, why in found.reported.items() if case not in decisive}
    prints = {data.name: data.fingerprint for data in baseline.summary.data}
    against = GateAgainst(
        **vars(replace(decision, rows=tuple(found.with_item_details(row) for row in decision.rows))),
        baseline=baseline.name,
        languages="" if has_english else summarise_languages(languages),
        balanced=Balanced(
            _model_balanced_score(pair.old, pair.both),
            # a blocked model gets no score, so that nobody selects by it
            None if decision.outcome == "block" else _model_balanced_score(pair.new, pair.both),
        ),
        remedies=suggest_remedies(decision, sampled={data.name for data in results.data if data.sample}),
        reported_only={**not_weighed, **{table.case: NEW_CASE for table in new}},
        notes=(
            *_decision_notes(baseline, results, about, new, is_change=wanted.name == "change"),
            *([NO_BUILT_IN] if not has_english and wanted.name != "change" else []),
        ),
        required_changes=tuple(
            list_required_changes(baseline.model, about, reindex=stays, index=index, thresholds=shifts)
        ),
        index_faults=index.faults if index else None,
        adapter=IndexAdapter.of(index) if index else None,
        reindex=stays,
        scales=tuple(
            one
            for one in measure_scale_shifts(pair.old.scales, pair.new.scales, threshold=next(iter(thresholds), None))
            if one.has_moved
        ),
        thresholds=shifts,
    )
    return GateComparison(
        against,
        noise,
        pair.searched,
        worst_lost_queries(
            found.rows, changed={one.name for one in results.data if prints.get(one.name) != one.fingerprint}
        ),
        worst_lost_items(found.rows),
        {row.name: unjudged_queries(found.rows[row.name]) for row in decision.rows if row.unjudged},
        index,
    )


def is_user_data(data: str) -> bool:
    """Return whether the data set with this name is the user's, and not the built-in sentences."""
    return data.partition(":")[0] != BUILT_IN


def _labelled_pairs(pair: _GateSides) -> dict[str, tuple[CaseScores, CaseScores]]:
    """Return the user's pairs of both labels under both models, each pair once, by data set."""
    labelled: dict[str, tuple[CaseScores, CaseScores]] = {}
    for name, old in pair.old.tables.items():
        if old.kind == LABELLED and is_user_data(old.data) and old.data not in labelled:
            once = np.unique(old.texts, return_index=True)[1]
            both = old.select(once), pair.new.tables[name].select(once)
            labelled |= {old.data: both} if {0, 1} <= {*both[0].labels} else {}
    return labelled


def _figures_for_pairs(
    gate_rows: _GateRows, pairs: Mapping[str, tuple[CaseScores, CaseScores]], purpose: Purpose
) -> PurposeFigures:
    """Return the figures of a gate for pairs: the user's labelled pairs, and the edits below each model's threshold.

    Searches are only reported.
    """
    endpoints = {
        data: compare_labelled_pairs(
            old.near, new.near, labels=[label == 1 for label in old.labels], things=number_units(old.shared_units),
            budget=purpose.budget or BUDGET,
        )
        for data, (old, new) in pairs.items()
    }  # fmt: skip
    first = next(iter(endpoints.values()), None)
    ends = (first.old.threshold, first.new.threshold) if first else (None, None)
    behaviours = {}  # whether each edit that changes the meaning stays below each model's threshold
    for name in gate_rows.behaviours:
        tables = [(one.before, one.after) for one in gate_rows.rows[name] if np.isfinite(one.before.far).all()]
        if tables:
            wins = [
                np.concatenate([(both[i].far < (np.inf if end is None else end)).astype(float) for both in tables])
                for i, end in enumerate(ends)
            ]
            things = number_units([names for both in tables for names in both[0].shared_units])
            behaviours[name] = PairedRow(
                name, "pairs", "rate", wins[0], wins[1], things, endpoint="share of edits below the threshold"
            )
    figures = gate_rows.purpose_figures
    beside = [replace(one, budget="behaviour") for one in figures.endpoints]
    return PurposeFigures((), (), {n: one for n, one in behaviours.items() if one}, [*beside, *figures.rows], endpoints)


def _compare_vectors(
    baseline: Baseline, dimension: int | None, vectors: VectorSample | None, documents: DocumentLengths | None
) -> Reindex | None:
    """Return whether the baseline's vectors stay valid for the candidate, or None for models that score pairs."""
    if baseline.model.kind != "vector":
        return None
    if baseline.model.dimension and dimension and baseline.model.dimension != dimension:
        return reindex.reindex_for_other_dimension((baseline.model.dimension, dimension))
    if baseline.sample is None:
        return reindex.unknown_reindex("the baseline keeps no vectors: it was made from a run's folder")
    if vectors is None:
        return reindex.unknown_reindex("the run kept no vectors of the candidate")
    return reindex.compare_samples(baseline.sample, vectors, documents=documents)


@dataclass(frozen=True)
class _GateRows:
    """The rows, slices and parts of a gate by name, the rows that decide, and why each other case is only reported."""

    rows: Mapping[str, list[ComparedCase]]
    paired: Sequence[PairedRow]
    reported: Mapping[str, str]
    compared: Sequence[ComparedCase] = ()
    behaviours: Mapping[str, PairedRow] = field(default_factory=dict)

    @classmethod
    def of(cls, pair: _GateSides, *, rule: Rule, primary: str | None, is_other_family: bool = False) -> _GateRows:
        """Return the rows of both sides. For models of two families, health figures are only reported."""
        compared, reported = compare_cases(pair.old, pair.new, primary=primary, held_out=pair.held_out)
        rows = gate_rows(compared)
        slices, left_out = choose_slices(rows, rule)
        judged = {name: why for name, why in reported.items() if name not in pair.unjudged}
        named = rows | slices | {name: part.cases for name, part in split_rows(compared).items()}
        paired, reported = pool_rows(compared, slices), judged | left_out
        if is_other_family:
            space = {name for name, some in named.items() if some[0].metric in OF_THE_SPACE}
            for one in paired:
                if one.name in space:
                    before, after = (float(side.mean()) for side in (one.baseline, one.candidate))
                    reported[one.name] = (
                        f"{before:.3f} before, {after:.3f} now; reported only, because the vectors come from another "
                        f"family of models"
                    )
            named = {name: some for name, some in named.items() if name not in space}
            paired = [one for one in paired if one.name not in space]
        return cls(named, paired, reported, compared)

    @property
    def endpoints(self) -> list[PairedRow]:
        """The primary endpoints of searches with labels."""
        return [one for one in self.paired if one.budget == "primary"]

    def with_pooled_properties(self, *, built_in: bool) -> _GateRows:
        """Return the rows with each rate property pooled over all data.

        Without `built_in`, pool only the user's data.
        """
        found = [
            one for one in self.compared
            if one.budget == "behaviour" and one.metric.kind == "rate" and not declaration_of(one.before).proxy
            and (built_in or one.before.data.partition(":")[0] != BUILT_IN)
        ]  # fmt: skip
        behaviours = {one.name: one for one in pool_by_property(found)}
        cases = {name: [one for one in found if one.before.property == name] for name in behaviours}
        return replace(self, rows={**cases, **self.rows}, behaviours=behaviours)

    @property
    def purpose_figures(self) -> PurposeFigures:
        """The figures that a gate for another model uses."""
        slices = [one for one in self.paired if one.budget == "slices"]
        rows = [one for one in self.paired if one.budget == "behaviour"]
        if_right = {}
        for one in self.endpoints:
            (case,) = self.rows[one.name]
            if not case.metric.values or not (places := {query.item for query in unjudged_queries([case])}):
                continue
            sides = []
            for table, scale in zip((case.before, case.after), case.scales, strict=True):
                answers = tuple(
                    str(Answers.parse(text).with_unjudged_as_right) if item in places else text
                    for item, text in zip(table.items, table.answers, strict=True)
                )
                sides.append(case.metric.values(replace(table, answers=answers), scale))
            if_right[one.name] = replace(one, baseline=sides[0], candidate=sides[1], same=False)
        return PurposeFigures(self.endpoints, slices, self.behaviours, rows, if_right=if_right)

    def with_item_details(self, row: GateRow) -> GateRow:
        """Return the row with details from its items: the first flips, what a loss means, how many queries changed."""
        if not (some := self.rows.get(row.name)):
            return row
        worst = max(some, key=lambda one: float(one.old.sum() - one.new.sum()))
        worse, better = (sum(int((sign * (one.new - one.old) > 0).sum()) for one in some) for sign in (-1, 1))
        is_search = bool(some[0].after.answers)
        lost, gained = (tuple(i for one in some for i in one.flipped_items(sign))[:MAX_FLIPPED] for sign in (-1, 1))
        return replace(
            row, means=declaration_of(worst.after).means, lost_items=lost, gained_items=gained,
            worse_queries=worse if is_search else None, better_queries=better if is_search else None,
            beside=(
                secondary_metrics(some[0].before, some[0].after, some[0].metric) if some[0].budget == "primary" else ()
            ),
        )  # fmt: skip


@dataclass(frozen=True)
class _GateSides:
    """Both models of a gate; `whole` has each side before anything was left out.

    `both` are the cases that both models have. `held_out` has the baseline's held-out items, which show what it sees.
    """

    whole: tuple[Baseline, ModelScores]
    old: ModelScores
    new: ModelScores
    held_out: Mapping[str, CaseScores]
    both: tuple[str, ...]

    @property
    def properties(self) -> tuple[str, ...]:
        """The compared properties, without contracts, which always apply."""
        tables = [self.new.tables[name] for name in self.both]
        return tuple(sorted({table.property for table in tables if declaration_of(table).family != CONTRACT}))

    @property
    def compares_quality(self) -> bool:
        """Whether behaviour or a search with labels was compared."""
        tables = [self.new.tables[name] for name in self.both if name not in self.unjudged]
        return any(one.family not in OF_ANY_TEXT and not one.proxy for one in map(declaration_of, tables))

    @property
    def unjudged(self) -> tuple[str, ...]:
        """The cases of searches without labels."""
        return tuple(name for name in self.both if is_unlabelled_log(self.old.tables[name]))

    @property
    def searched(self) -> tuple[LogAnswers, ...]:
        """Both models' answers to the queries without labels."""
        return tuple(LogAnswers(self.old.tables[name], self.new.tables[name]) for name in self.unjudged)


def _pair_sides(baseline: Baseline, results: RunFile, items: Mapping[str, ItemFrame], model: str) -> _GateSides:
    """Pair the baseline's scores with the run's on the same items. Raise BaselineError if the items differ."""
    after = run_scores(results, items, model)
    both = tuple(name for name in after.tables if name in baseline.cases)
    for name in both:
        _refuse_other_items(baseline.cases[name], after.tables[name], baseline, results)
    there = ModelScores({name: after.tables[name] for name in both}, after.scales)
    before = baseline_scores(baseline, there)
    sight = divide_items(before.tables, there.tables, before.scales)
    old, new = ModelScores(sight.old, before.scales), ModelScores(sight.new, there.scales)
    return _GateSides((baseline, after), old, new, sight.held_out, both)


def _one_sided_cases(pair: _GateSides, results: RunFile) -> tuple[list[CaseScores], list[str]]:
    """Return the new cases that the baseline was not measured on, and the names of other cases that only one model has.

    Cases of unselected checks are left out. A case counts as new if the baseline has only searches with labels on its
    data: it was saved with `-m retrieval`, or by an encheck version that made no contrasts from a search.
    """
    before, after = pair.whole
    left_out = unselected_cases(before, results)
    missing = [f"{name} (the baseline)" for name in before.cases if name not in after.tables and name not in left_out]
    uncompared = []
    for name, table in after.tables.items():
        if name in (*before.cases, *before.model.lacks) or not (gating_metric(table)[0] or is_unlabelled_log(table)):
            continue
        known = [after.tables.get(case) for case, one in before.cases.items() if one.data == table.data]
        if known and all(one and one.answers and not is_unlabelled_log(one) for one in known):
            uncompared.append(table)
        else:
            missing.append(f"{table.case} (the candidate)")
    return uncompared, missing


def _compare_answers(one: LogAnswers, baseline: str, people: FindJudgements | None, purpose: Purpose) -> UnjudgedSearch:
    """Return the changed answers of a search, with the judgements if the number of changes alone does not decide."""
    margin = purpose.margin
    bars = {} if purpose.name == "change" else {"delta": margin, "least": margin / 2, "alpha": ALPHA / purpose.tried}
    found = count_changed_answers(one.before, one.after, **bars)
    if people is None or found.is_bounded or not found.shares[0].queries:
        return found
    return replace(found, judged=people(one, baseline, found))


def apply_seed_noise(decision: GateDecision, noise: Noise, rule: Rule) -> GateDecision:
    """Return the decision. A pass becomes inconclusive if the seed noise exceeds what the widest delta covers."""
    if decision.outcome != "pass" or noise.pooled <= rule.max_seed_noise:
        return decision
    points, most = (100 * rule.rate_delta * one for one in (noise.pooled, rule.max_seed_noise))
    reason = (
        f"the seed replicates differ by {noise.pooled:.2f} deltas (a standard deviation of {points:.1f} points), but "
        f"with more than {most:.1f} points of seed variance nothing can pass: a loss could be due to the seed. Are "
        f"they fine-tunes that differ only in the seed?"
    )
    return replace(decision, outcome="inconclusive", reasons=(reason,))


def refuse_other_kind(baseline: Baseline, model: str, kind: str) -> None:
    """Raise BaselineError if one of candidate and baseline gives vectors and the other gives scores of pairs."""
    refuse_kinds(f"{baseline.folder} is of {baseline.model.label!r}, which", baseline.model.kind, model, kind)


def refuse_kinds(old: str, old_kind: str, new: str, new_kind: str) -> None:
    """Raise BaselineError if one of two models gives vectors and the other gives scores of pairs.

    The message begins with `old`.
    """
    if new_kind != old_kind:
        gives = {"vector": "vectors", "pair": "scores of pairs"}
        raise BaselineError(
            f"{old} gives {gives[old_kind]}, but {new!r} gives {gives[new_kind]}: make a baseline from a model of the "
            f"same kind"
        )


def refuse_other_search(baseline: Baseline, index: str) -> None:
    """Raise BaselineError if the baseline's documents were not searched with `index`."""
    then = baseline.summary.settings.search_index
    if then != index and any(any(kept.answers) for kept in baseline.cases.values()):
        raise BaselineError(
            f"{baseline.folder} has searches with --search-index={then}, but this run has --search-index={index}: an "
            f"index's misses would look like a change of the model. Run with --search-index={then}, or make the "
            "baseline again with --save-baseline"
        )


def _refuse_other_items(case: SavedScores, table: CaseScores, baseline: Baseline, results: RunFile) -> None:
    """Raise BaselineError if a case of the run has different items from the baseline's."""
    if not case.has_same_items(table):
        # at least so many, since a baseline keeps three digits of each source's hash
        absent, extra = case.count_unmatched_items(table)
        differ = f"at least {absent} of its {len(case)} items are not in this run, and at least {extra} are new"
        if not absent and not extra:
            differ = f"some of its {len(case)} items have other texts"
        raise BaselineError(
            f"{baseline.folder} was made on other items than this run's. Of {case.case}, {differ}: "
            + ("; ".join(_changed_settings(baseline, results, None)) or "data, settings and versions are the same")
            + ". Run on the data of the baseline, or make the baseline again with --save-baseline"
        )
    if not case.has_same_splits(table):
        raise BaselineError(
            f"{baseline.folder} has items of {case.case} in other splits, or with other labels, than this run. Make "
            "the baseline again with --save-baseline"
        )


def refuse_other_edition(baseline: Baseline, editions: Mapping[str, str], settings: RunSettings) -> None:
    """Raise BaselineError if the edition of a data set differs from the baseline's. `editions` maps data sets to
    editions.

    `settings` are the run's settings. The message suggests a command with the run's data. If the baseline's model is
    among the run's models, the command includes its path and --model-arg, because a baseline only records a model's
    name.
    """
    for data in baseline.summary.data:
        name, then = data.name, data.version
        if (now := editions.get(name)) and then != now:
            place = baseline.folder if baseline.is_saved else "DIR"
            model = baseline.model
            by_itself = model.name if PurePath(model.name).name == model.label else model.label
            path = next((one for one in settings.models if PurePath(one).name == model.label), by_itself)
            asked = [model_options(model.label, path, settings.model_args)]
            asked += [f"--data={shlex.quote(one)}" for one in settings.data if settings.data != ("probes",)]
            asked += [f"--save-baseline={shlex.quote(str(place))}"]
            raise BaselineError(
                f"{baseline.folder} was made on {name} {then or 'of a file'}, but this run is on {name} {now}, which "
                f"has other items. Make it again: encheck run {' '.join(asked)}"
            )


def _changed_settings(baseline: Baseline, results: RunFile, model: str | None) -> list[str]:
    """Return the data, settings and versions that have changed since the baseline was made."""
    then = baseline.summary
    now = select_settings(BaselineSettings, results.run.settings)
    pairs: list[tuple[str, object, object]] = [
        (f"--{one.name.replace('_', '-')}", getattr(then.settings, one.name), getattr(now, one.name))
        for one in fields(BaselineSettings)
        if one.name != "check_packages"  # of which `partial_gate` tells
    ]
    pairs += [(k, then.versions.get(k), results.run.versions.get(k)) for k in sorted(then.versions)]
    there = {one.name: one for one in results.data}
    for data in then.data:
        other = there.get(data.name)
        pairs += [(f"{data.name}'s fingerprint", data.fingerprint, other.fingerprint)] if other else []
        if data.language:
            made_with = (other.language if other else None) or LanguageResources()
            pairs += [
                (f"{data.name}'s {one.name}", getattr(data.language, one.name), getattr(made_with, one.name))
                for one in fields(LanguageResources)
            ]
    if model and baseline.model.adapter != STORED:
        old, new = baseline.model, next(m for m in results.models if m.label == model)
        pairs += [(k, old.how.get(k), new.how.get(k)) for k in sorted({*old.how, *new.how})]
        pairs += [("prompts used", old.prompts_used, new.prompts_used)]
    return [f"{name} was {old!r} and is {new!r}" for name, old, new in pairs if old != new]


def _decision_notes(
    baseline: Baseline, results: RunFile, model: ModelEntry, new: Sequence[CaseScores], *, is_change: bool
) -> Iterator[str]:
    """Yield notes on the decision.

    They report `new` cases, which a pass does not cover, and weights that equal the baseline's. If one model was
    changed, they also report settings that have changed since the baseline was made.
    """
    if new:
        cases = f"{len(new)} case{'s' * (len(new) > 1)}"
        names, data = (", ".join(sorted({getattr(one, of) for one in new})) for of in ("property", "data"))
        remedy = ". To weigh them, make the baseline again with --save-baseline" if baseline.is_saved else ""
        yield f"{cases} ({names}) on {data}: {NEW_CASE}{remedy}"
    if model.weights is not None and model.weights == baseline.model.weights:
        yield f"the weights are those of {baseline.model.label}"
    if not is_change:
        return
    if baseline.summary.seed_noise and baseline.seed_noise is None:
        yield f"its seed noise is not used: {TOO_FEW_REPLICATES}"
    if changed := _changed_settings(baseline, results, model.label):
        yield from changed
    if changed and baseline.is_saved:
        yield (
            "all items still match the baseline; if the candidate did not cause the change, make the baseline again "
            "with --save-baseline"
        )


def _broken_contracts(results: RunFile, model: str, *, cuts: bool) -> list[str]:
    """Return the contracts that the candidate broke because it could not be measured or because a contract check
    failed.

    Each text has the cause and what it means for users of the model. Without `cuts`, a candidate may cut long texts,
    because another model has its own limit.
    """
    if error := next(m.error for m in results.models if m.label == model):
        return [f"the model cannot encode: {error}"]
    broken = []
    for row in results.checks:
        declared = results.declarations.get(row.check)
        if row.model != model or row.verdict not in BROKEN_VERDICTS or declared is None or declared.family != CONTRACT:
            continue
        if cuts or declared.metric != ends_seen.name:
            cause = row.params.get("cause") or row.reason
            said = f"{row.check.replace('_', ' ')} on {row.data}"
            broken.append(". ".join(filter(None, (f"{said}: {cause}" if cause else said, declared.means))))
    return broken


def _model_balanced_score(side: ModelScores, cases: Sequence[str]) -> float | None:
    tables = {name: side.tables[name] for name in cases}
    return balanced_score(shares_above_chance(tables, side.scales), property_families(tables))


def measure_threshold_shifts(
    baseline: Mapping[str, SavedScores],
    run: Mapping[str, CaseScores],
    items: Mapping[str, ItemFrame],
    *,
    thresholds: Sequence[float],
) -> tuple[ThresholdShift, ...]:
    """Return the shift of each threshold on each data set with pairs. `items` are the run's items with texts, by case.

    The pairs are the labelled pairs of the data. If there are none, they are queries with their first answers, or else
    the distinct pairs of the checks.
    """
    if not thresholds:
        return ()
    found: dict[str, dict[str, dict[tuple[str, ...], tuple[float, float]]]] = {}
    for case, frame in items.items():
        if case in baseline and baseline[case].has_same_items(run[case]):
            kind = frame.kind
            sides = baseline[case].align_to(run[case]), run[case]
            of_data = found.setdefault(run[case].data, {})
            if kind.compares == "answers":
                # Without labels, `near` is the first answer. With labels, it is the right document, and `far` the best
                # other one; a query with several right documents is left out, since their best score is not kept.
                some = of_data.setdefault(FIRST_ANSWERS, {})
                for i, source in enumerate(frame.sources):
                    if len(Answers.parse(run[case].answers[i]).right) <= 1:
                        before, now = (float(np.nanmax([side.near[i], side.far[i]])) for side in sides)
                        some[source,] = before, now
            elif kind.compares == "texts":
                some = of_data.setdefault(LABELLED if kind.score_form == LABELLED else PAIRS, {})
                for name, columns in (("near", frame.near), ("far", frame.far)):
                    if columns and columns.texts:
                        scores = zip(*(getattr(side, name).tolist() for side in sides), strict=True)
                        pairs = zip(frame.sources, columns.texts, strict=True)
                        known = ((pair, both) for pair, both in zip(pairs, scores, strict=True) if both[0] == both[0])
                        some |= {tuple(sorted(pair)): both for pair, both in known}
    shifts = []
    for data, of_data in sorted(found.items()):
        scored = next((name for name in (LABELLED, FIRST_ANSWERS, PAIRS) if of_data.get(name)), None)
        if scored:
            old, new = np.array(list(of_data[scored].values())).T
            unit = FIRST_ANSWERS if scored == FIRST_ANSWERS else PAIRS
            shifts += [measure_threshold_shift(old, new, threshold=one, data=data, unit=unit) for one in thresholds]
    return tuple(shifts)
