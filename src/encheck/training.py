"""Measure behaviour inside a training loop: compare each checkpoint with the model before training.

`BehaviourEvaluator` is for sentence-transformers' trainer, `behaviour` for any other loop. Both use only the dev items.
The best of many checkpoints would look too good on the items of the split `gate` if it were chosen on them.

    evaluator = BehaviourEvaluator()
    args = SentenceTransformerTrainingArguments(
        ..., eval_strategy="steps", eval_on_start=True, load_best_model_at_end=True,
        metric_for_best_model=evaluator.primary_metric,
    )
    SentenceTransformerTrainer(..., args=args, evaluator=evaluator, callbacks=[evaluator.callback()]).train()

The primary metric is the score: a checkpoint's gain over the base, which is the model before training. The score of the
base is 0. A checkpoint that the gate would block has the score -1, so it is never the best.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from encheck.claims import CONTRACT
from encheck.datasets.dataset import Dataset
from encheck.encoders.load import foreign_class_name
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.objects import UNIDENTIFIED, wrap_model_object
from encheck.encoders.protocol import Model
from encheck.engine.checks import Check, Selection, packaged_checks, select_checks
from encheck.engine.evaluation import Evaluation
from encheck.errors import NothingToMeasure, UsageError
from encheck.gating.balance import (
    PARTS,
    PropertyWins,
    balanced_score,
    balanced_score_replicates,
    part_means,
    property_families,
    property_wins,
    score_part_of_family,
)
from encheck.gating.baseline import make_case_scores
from encheck.gating.decision import assess_rows, decide_by_rows, row_statistics
from encheck.gating.gate_rows import cases_with_chance, pool_by_property, pool_rows
from encheck.gating.pairing import ModelScores, compare_cases
from encheck.gating.types import DEFAULT
from encheck.items.variants import refuse_unread_variants
from encheck.metrics import find_metric
from encheck.options.settings import settings_from_keywords
from encheck.running.labels import OBJECT
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.scoring_session import ScoringSession
from encheck.scoring.frame import DEV_SPLIT
from encheck.scoring.splits import join_split_names
from encheck.store import Store
from encheck.system.files import Scratch
from encheck.system.lock import no_locks
from encheck.system.terminal import Progress

MODEL = "model"
BALANCED = "balanced"
BLOCKED = -1.0  # below every gain of a model, since scores are between 0 and 1
RULE = replace(DEFAULT, min_items=100)  # the dev part has 105 sentences with a paraphrase; a gate needs 150 items
BEFORE = "before_training"  # the folder of the model before training, in the trainer's output_dir
log = logging.getLogger("encheck")


class PlannedCases:
    """The items of some checks on one part of a data set.

    `dataset` is the part, `data` the name of the data set, and `cases` the cases that have items. The constructor reads
    the data and makes the items. It raises UsageError or DataError for missing or invalid data.
    """

    def __init__(
        self, checks: Sequence[Check], data: str, part: Callable[[Dataset], Dataset], *, seed: int = 0
    ) -> None:
        settings = replace(settings_from_keywords([], [data], {"seed": seed}), models=())
        evaluation = Evaluation.open(settings, (), quiet=True)
        try:
            ((self.data, whole),) = evaluation.session.data.items()
            refuse_unread_variants(whole, [check.claim for check in packaged_checks([data])])
            self.dataset = part(whole)
            gates = [check.claim.declared.gates for check in checks]
            calibrates = not all(
                metric and find_metric(metric).kind == "rate" for metric in gates
            )  # rates need no scale
            data_of = {self.data: self.dataset}
            session = ScoringSession(
                {}, data_of, evaluation.session.store, maker=evaluation.session.maker, calibrates=calibrates
            )
            self._evaluation = evaluation.with_session(session)
            named_models = replace(settings, models=(f"{OBJECT}{MODEL}",))
            self.cases = []
            for case in (case for check in checks for case in check.cases(named_models)):
                with suppress(NothingToMeasure):
                    self._evaluation.items(case)
                    self.cases.append(case)
        finally:
            evaluation.close()

    @property
    def properties(self) -> tuple[str, ...]:
        """The properties of the cases."""
        return tuple(dict.fromkeys(case.property for case in self.cases))

    def score_model(self, model: Model) -> ModelScores:
        """Return the model's scores on the items, and its calibration if a figure needs one. No vector is stored.

        Cases that cannot measure this kind of model are left out. Raise EncoderError if the model fails.
        """
        with Scratch() as folder:
            store = Store(Path(folder, "store.sqlite"))
            subject = ModelUnderTest(MODEL, ModelConfig(MODEL), model, foreign_class_name(model))
            session = self._evaluation.session.with_models({MODEL: subject}, store)
            evaluation = self._evaluation.with_session(session)
            try:
                requests = [(case.model, case.data, case.claim, case.level) for case in self.cases]
                session.prepare(requests, locks=no_locks, progress=Progress(quiet=True))
                session.refuse_failed_model(MODEL)
                tables = []
                for case in self.cases:
                    with suppress(NothingToMeasure):
                        frame = evaluation.item_frame(case)
                        tables.append(make_case_scores(case.id, case.property, frame, case.claim.declared))
            finally:
                store.close()
        scale = session.scale(MODEL, self.data)
        return ModelScores({table.case: table for table in tables}, {self.data: scale} if scale else {})


if TYPE_CHECKING:
    from sentence_transformers.base.evaluation import BaseEvaluator as Base
else:
    Base = object  # the class that is made in the end has BaseEvaluator, which brings torch along


def behaviour(
    model: object,
    *,
    data: str = "probes",
    checks: Selection = None,
    seed: int = 0,
    baseline: object | None = None,
) -> dict[str, float]:
    """Measure a model on the dev items. With a `baseline`, also measure how the model differs from it.

    Args:
        model: anything that encodes, as in `encheck.run`, except a name or a path.
        data: a data set, of which the split `dev` is measured. Without it, `validation` or else all data are measured.
        checks: which checks to run, by property, as in `encheck.run`. Default: all that can block in a gate.
        seed: seed of generated items and of intervals.
        baseline: the model to compare with, usually the model before training.

    Returns:
        Finite numbers by name. A property without items in the data has no key.
        PROPERTY is the property's figure, usually the share of its items that the model gets right.
        sensitivity_part, invariance_part, retrieval_part and balanced are the balanced score and its parts, from 0
        (chance) to 1. They cover the properties in `checks`, or by default the checks that declare `selects`.
        `balanced` needs all three parts.
        With a baseline, each property and the score also have FIGURE_change, FIGURE_change_low and
        FIGURE_change_high: the paired difference and the ends of its 95% interval, as in the gate. `blocked` is 1 if a
        gate on these items would block, otherwise 0. `score` is the change of the score, or -1 if blocked.
        `certainly_better` is 1 if the lower bound of that change is above 0 and nothing blocks.

    Raises:
        UsageError: a check is unknown or no gate uses it, the data have no items for the checks, or `model` is a name.
        TypeError: `model` cannot encode.
        EncoderError: the model's vectors are invalid.

    >>> from encheck import load_model
    >>> before, after = load_model("oracle"), load_model("bag-of-words")
    >>> found = behaviour(after, checks="number", baseline=before)
    >>> found["number_change"] <= found["number_change_high"] < 0, found["blocked"]
    (True, 1.0)
    """
    models = [_wrap_model(model, "model"), *([] if baseline is None else [_wrap_model(baseline, "baseline")])]
    dev = CheckpointScorer(data, checks, seed)
    after, *before = [dev.plan.score_model(one) for one in models]
    return dev.change_figures(after, before[0] if before else None)[0]


def _wrap_model(candidate: object, name: str) -> Model:
    """Wrap an object as a model under test. Raise UsageError for a name or a path, since no model is loaded here."""
    if isinstance(candidate, str | Path):
        raise UsageError(
            f"{name} is {str(candidate)!r}, but should be in memory. Remedy: encheck.load_model({str(candidate)!r})"
        )
    return wrap_model_object(candidate, name)


def select_dev_part(dataset: Dataset) -> Dataset:
    """Return the groups and pairs of the split `dev`, or else of `validation`, or else all of them.

    Raise UsageError if the data have items for a gate but none for development.
    """
    splits = {g.split for g in dataset.groups} | {p.split for p in dataset.pairs}
    for split in (DEV_SPLIT, "validation"):
        if split in splits:
            groups = tuple(g for g in dataset.groups if g.split == split)
            pairs = tuple(p for p in dataset.pairs if p.split == split)
            universe = tuple(sorted({g.cluster for g in groups} | {p.cluster for p in pairs}))
            return replace(dataset, groups=groups, pairs=pairs, universe=universe)
    if "gate" in splits:
        raise UsageError(
            f"{dataset.name} has items for the gate but none in the split dev, and "
            f"the gate's items must not choose a checkpoint"
        )
    return dataset


class CheckpointScorer:
    """Measures checkpoints on the dev items of some checks."""

    def __init__(self, data: str, checks: Selection, seed: int) -> None:
        every = packaged_checks([data])
        chosen = [c for c in every if not c.claim.declared.reported and c.claim.family != CONTRACT]
        if checks is not None:
            properties = {check.property for check in select_checks(every, checks)}
            weighed = sorted({check.property for check in chosen})
            if unweighed := sorted(properties - {*weighed}):
                raise UsageError(
                    f"no gate uses {', '.join(unweighed)}, so they cannot choose a checkpoint. A gate uses: "
                    f"{', '.join(weighed)}"
                )
            chosen = [check for check in chosen if check.property in properties]
        self.seed, self.plan = seed, PlannedCases(chosen, data, select_dev_part, seed=seed)
        if not self.plan.cases:
            names = ", ".join(dict.fromkeys(check.property for check in chosen))
            raise UsageError(f"{data} has no item for {names}: name other checks, or data that have some")
        scored = {check.property for check in chosen if _counts_in_balanced_score(check)}
        if checks is None:
            scored &= {check.property for check in packaged_checks() if check.claim.declared.selects}
        self.scored = scored
        families = {score_part_of_family(check.claim.family) for check in chosen if check.property in self.scored}
        self.parts = [part for part in PARTS if part in families]
        families = {score_part_of_family(case.claim.family) for case in self.plan.cases if case.property in self.scored}
        self.parts_with_items = [part for part in PARTS if part in families]

    @property
    def score_figure(self) -> str:
        """The figure whose change is the score: `balanced`, or the only part of the checks. Empty if there is none."""
        if len(self.parts_with_items) == len(PARTS):
            return BALANCED
        return f"{self.parts_with_items[0]}_part" if len(self.parts_with_items) == 1 else ""

    def change_figures(self, after: ModelScores, before: ModelScores | None) -> tuple[dict[str, float], str]:
        """Return the figures of `behaviour` from these scores, and the reason why a gate would block (empty if it would
        not).
        """
        base = before or after
        compared, _ = compare_cases(
            base, after, held_out=cases_with_chance(base.tables)
        )  # all the items: the gate has others
        paired = pool_by_property(compared)
        rows = assess_rows(paired, row_statistics(paired, rule=RULE), rule=RULE) if paired else ()
        figures = {row.name: row.candidate for row in rows} | self._balanced_scores(after)
        why = ""
        if before is not None:
            decision = decide_by_rows(pool_rows(compared), rule=RULE)
            reasons = list(decision.reasons) if decision.outcome == "block" else []
            none = "the base has a figure, but this model has none: random pairs and identical texts get equal scores"
            reasons += [f"{row.name}: {none}" for row in rows if isfinite(row.baseline) and not isfinite(row.candidate)]
            if reasons:
                why = reasons[0] + (f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else "")
            for row in rows:
                figures |= _change_figures(row.name, row.change, row.low, row.high)
            figures["blocked"] = float(bool(why))
            base_scores = self._balanced_scores(before)
            if self.score_figure in figures and self.score_figure in base_scores:
                change = figures[self.score_figure] - base_scores[self.score_figure]
                old, new = (
                    balanced_score_replicates(self._property_wins(side), property_families(side.tables), self.seed)
                    for side in (before, after)
                )  # both use the same clusters
                finite = (new - old)[np.isfinite(new - old)]
                low, high = np.percentile(finite, [2.5, 97.5]) if 2 * len(finite) >= len(new) else (np.nan, np.nan)
                figures |= _change_figures(self.score_figure, change, low, high)
                figures["score"] = BLOCKED if why else change
                lows = [row.low for row in rows if row.name in self.scored]
                certain = low > 0 and (len(lows) > 1 or lows[0] > 0)  # a bootstrap is overconfident with few items
                figures["certainly_better"] = float(certain and not why)
        # training tools do not accept NaN
        return {name: float(value) for name, value in figures.items() if isfinite(value)}, why

    def _property_wins(self, side: ModelScores) -> dict[str, PropertyWins]:
        return {name: wins for name, wins in property_wins(side.tables, side.scales).items() if name in self.scored}

    def _balanced_scores(self, side: ModelScores) -> dict[str, float]:
        """Return the balanced score and its parts, as far as they have items."""
        families = property_families(side.tables)
        above_chance = {name: wins.share for name, wins in self._property_wins(side).items()}
        score = balanced_score(above_chance, families)
        scores = {f"{part}_part": value for part, value in part_means(above_chance, families).items()}
        return scores if score is None else scores | {BALANCED: score}


def _counts_in_balanced_score(check: Check) -> bool:
    """Return whether the check has a win rate and counts in the balanced score."""
    declared = check.claim.declared
    return (
        bool(declared.gates)
        and find_metric(declared.gates).kind == "rate"
        and score_part_of_family(declared.family) is not None
    )


def _change_figures(name: str, change: float, low: float, high: float) -> dict[str, float]:
    return {f"{name}_change": change, f"{name}_change_low": low, f"{name}_change_high": high}


@dataclass(frozen=True)
class Evaluated:
    """The figures of a model at one step of the training, with the names that `behaviour` uses.

    `blocked` is the reason why a gate would block the model; empty if it would not.
    """

    step: int
    figures: Mapping[str, float]
    blocked: str = ""


class _Evaluator(Base):
    """The methods that `BehaviourEvaluator` adds to sentence-transformers' BaseEvaluator."""

    def __init__(
        self,
        *,
        name: str = "behaviour",
        data: str = "probes",
        checks: Selection = None,
        seed: int = 0,
        baseline: object | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.name, self.data, self.seed = name, data, seed
        self.checks = checks if checks is None or isinstance(checks, str) else tuple(checks)
        self._dev = CheckpointScorer(data, self.checks, seed)
        names, dev = ", ".join(self._dev.plan.properties), self._dev
        if not dev.parts:
            rated = sorted({check.property for check in packaged_checks() if _counts_in_balanced_score(check)})
            raise UsageError(
                f"{names}: no win rate to choose a checkpoint by. Remedy: add a check that has one: {', '.join(rated)}"
            )
        if len(dev.parts) not in (1, len(PARTS)):
            lacking = " and ".join(part for part in PARTS if part not in dev.parts)
            raise UsageError(
                f"checks of {' and '.join(dev.parts)} cannot choose a checkpoint: without {lacking} there is no "
                "balanced score. Remedy: add 'antonym' (sensitivity), 'synonym' (invariance) and 'retrieval', or name "
                "checks of one part alone"
            )
        if without_items := [part for part in dev.parts if part not in dev.parts_with_items]:
            raise UsageError(
                f"{dev.plan.data} has no item for {' and '.join(without_items)}: name checks of other parts, or other "
                "data"
            )
        self.primary_metric = f"{name}_score" if name else "score"
        self.history: list[Evaluated] = []
        self._base: tuple[str, ModelScores] | None = None  # the model's fingerprint and scores
        self._last: tuple[str, ModelScores] | None = None
        if baseline is not None:
            self._evaluate(baseline, 0)

    def _evaluate(self, model: object, step: int) -> Evaluated:
        """Measure a model, unless it equals the base or the last measured model. The first measured model becomes the
        base.
        """
        loaded = _wrap_model(model, "the model in training")
        fingerprint = loaded.fingerprint()
        if fingerprint.startswith(UNIDENTIFIED):  # the code of one model does not change within a training
            fingerprint = f"{id(model)} {fingerprint.rpartition(':')[2]}"
        known = dict(filter(None, (self._base, self._last)))
        side = known[fingerprint] if fingerprint in known else self._dev.plan.score_model(loaded)
        self._last = (fingerprint, side)
        self._base = self._base or self._last
        evaluated = Evaluated(step, *self._dev.change_figures(side, self._base[1]))
        if "score" not in evaluated.figures:
            raise UsageError(
                f"this kind of model has no {self._dev.score_figure}: some checks cannot measure it. Remedy: "
                "checks=['antonym'], or others of one part alone"
            )
        if fingerprint not in known:
            self.history.append(evaluated)
        return evaluated

    def __call__(
        self,
        model: Any,
        output_path: str | None = None,  # noqa: ARG002 - the interface's
        epoch: int = -1,
        steps: int = -1,
    ) -> dict[str, float]:
        """Return the metrics of the model at this step."""
        evaluated = self._evaluate(model, steps)
        if evaluated.blocked:
            log.warning("step %d is blocked: %s", steps, evaluated.blocked)
        metrics: dict[str, float] = self.prefix_name_to_metrics(dict(evaluated.figures), self.name)
        if hasattr(model, "model_card_data"):
            shown = {name: value for name, value in metrics.items() if "_change" not in name}
            self.store_metrics_in_model_card_data(model, shown, epoch, steps)
        return metrics

    @property
    def best(self) -> Evaluated | None:
        """The checkpoint with the highest score; None if no checkpoint is better than the base."""
        first = max(self.history[1:], key=lambda checkpoint: checkpoint.figures["score"], default=None)
        return first if first and first.figures["score"] > 0 else None

    def summary(self) -> str:
        """Say which checkpoint is best, how certain that is, and whether to keep the base instead."""
        if not self.history:
            return "nothing was evaluated"
        figure, (base, *checkpoints) = self._dev.score_figure, self.history
        before = f"the base ({figure} {base.figures[figure]:.4f})"
        if not checkpoints:
            return f"only {before} was evaluated"
        several, count = f"{len(checkpoints)} checkpoints", sum(bool(checkpoint.blocked) for checkpoint in checkpoints)
        if count == len(checkpoints):
            last = checkpoints[-1].blocked
            return f"every checkpoint is blocked ({count} of {count}): keep {before}. The last: {last}"
        first = max(checkpoints, key=lambda checkpoint: checkpoint.figures["score"])
        bounds = [first.figures.get(f"{figure}_change_{end}") for end in ("low", "high")]
        between = "" if None in bounds else f" [{bounds[0]:+.4f}, {bounds[1]:+.4f}]"
        description = f"step {first.step}, {figure} {first.figures[figure]:.4f}, {first.figures['score']:+.4f}{between}"
        blocked = f". Blocked: {count} of {len(checkpoints)}" if count else ""
        if self.best is None:
            return f"no checkpoint is better than {before}: keep it. The best of {several}: {description}{blocked}"
        certain = first.figures["certainly_better"]  # as if it were the only checkpoint
        how = "Its interval, which ignores the choice, is above" if certain else "It is not certainly better than"
        return f"the best of {several}: {description}. {how} {before} on the dev items{blocked}"

    def callback(self) -> Any:
        """Return a callback for the trainer. It measures the model before training, and logs `summary()` at the end.

        The callback saves the model before training in `output_dir/before_training`. If `load_best_model_at_end` is
        set and `metric_for_best_model` is the primary metric, this is the best model until a checkpoint has a higher
        score.
        """
        from transformers import TrainerCallback

        evaluator = self

        class BehaviourCallback(TrainerCallback):
            def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
                """Measure the model before training as the base. Raise UsageError if the training resumes without a
                base.
                """
                if not state.is_world_process_zero:
                    return
                if state.global_step and evaluator._base is None:
                    raise UsageError(
                        f"the training resumes at step {state.global_step}, but the evaluator has no baseline. Remedy: "
                        f"BehaviourEvaluator(baseline=SentenceTransformer({str(Path(args.output_dir, BEFORE))!r}))"
                    )
                if state.global_step:
                    return
                metrics = evaluator(given["model"], epoch=0, steps=0)
                if not args.eval_on_start:
                    state.log_history.append(
                        {f"eval_{name}": one for name, one in metrics.items()} | {"epoch": 0, "step": 0}
                    )
                if not args.should_save:
                    return
                folder = str(Path(args.output_dir, BEFORE))
                given["model"].save_pretrained(folder)
                chooses = (args.metric_for_best_model or "").removeprefix("eval_") == evaluator.primary_metric
                if args.load_best_model_at_end and chooses:
                    state.best_metric, state.best_model_checkpoint = metrics[str(evaluator.primary_metric)], folder

            def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
                if state.is_world_process_zero:
                    certain = evaluator.best is not None and evaluator.best.figures["certainly_better"]
                    log.log(logging.INFO if certain else logging.WARNING, "%s", evaluator.summary())

        return BehaviourCallback()

    def __getstate__(self) -> dict[str, object]:
        """Leave out the planned items, since some generators cannot be pickled."""
        return {name: value for name, value in vars(self).items() if name != "_dev"}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Plan the items again."""
        vars(self).update(state)
        self._dev = CheckpointScorer(self.data, self.checks, self.seed)

    def get_config_dict(self) -> dict[str, object]:
        """Return the settings for the model card. Paths are left out, since the card is published."""
        data = self._dev.plan.dataset
        splits = [*(group.split for group in data.groups), *(pair.split for pair in data.pairs)]
        return {
            "data": data.name, "checks": list(self._dev.plan.properties), "split": join_split_names(splits),
            "seed": self.seed, "primary_metric": self.primary_metric,
        }  # fmt: skip


@cache
def _evaluator_class() -> type:
    from sentence_transformers.base.evaluation import BaseEvaluator

    class BehaviourEvaluator(_Evaluator, BaseEvaluator):
        """An evaluator for sentence-transformers' trainer that calls `behaviour`. `name` goes before every metric.

        `data`, `checks` and `seed` are arguments of `behaviour`. By default the score is the balanced score, and
        everything that can block in a gate is measured. With `checks`, only these checks are measured and can block. If
        all of them belong to one part of the balanced score, the score is that part. Checks of exactly two of the three
        parts are refused.

        `baseline` is the model before training, or a function from texts to vectors. Default: the first evaluated
        model, which is the model at step 0 with `eval_on_start=True` or `callback()`. The base's score is 0.

        `history` lists the evaluated models, the base first. `best` is the best checkpoint, or None. `summary()`
        describes the result.
        """

        __qualname__ = "BehaviourEvaluator"  # where pickle finds it: see __getattr__ of this module

    return BehaviourEvaluator


def __getattr__(name: str) -> Any:
    """Make `BehaviourEvaluator` on first use: its base class imports torch."""
    if name != "BehaviourEvaluator":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _evaluator_class()


def __dir__() -> Iterator[str]:
    yield from (*globals(), "BehaviourEvaluator")
