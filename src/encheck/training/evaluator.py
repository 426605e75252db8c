"""Behaviour inside a training loop: each checkpoint beside the model before training, on the dev items alone.

`BehaviourEvaluator` is for sentence-transformers' trainer, `behaviour` for any other loop. The items of the split
`gate` stay unseen: the best of many checkpoints on the items that judge it would look better than it is.

    evaluator = BehaviourEvaluator()
    args = SentenceTransformerTrainingArguments(
        ..., eval_strategy="steps", eval_on_start=True, load_best_model_at_end=True,
        metric_for_best_model=evaluator.primary_metric,
    )
    SentenceTransformerTrainer(..., args=args, evaluator=evaluator, callbacks=[evaluator.callback()]).train()

The primary metric, the score, is what a checkpoint gained since the model before training, the base: 0 for the base
itself, and -1 for a checkpoint that lost what the gate would block, so that it never wins.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from encheck.claims import CONTRACT
from encheck.datasets.dataset import Dataset
from encheck.encoders.objects import as_model
from encheck.encoders.protocol import Model
from encheck.engine.checks import Check, packaged_checks, select_checks
from encheck.errors import UsageError
from encheck.gating.balance import PARTS, balanced, families_of, part_of, parts, score_replicates, won
from encheck.gating.capabilities import by_property, pooled
from encheck.gating.decision import assess, decide, measure
from encheck.gating.sight import asked
from encheck.gating.types import DEFAULT, GateRow
from encheck.gating.weighing import Side, compare_all
from encheck.metrics import named
from encheck.scoring.frame import DEV_SPLIT
from encheck.scoring.splits import split_label
from encheck.training.measuring import Plan

if TYPE_CHECKING:
    from sentence_transformers.base.evaluation import BaseEvaluator as Base
else:
    Base = object  # the class that is made in the end has BaseEvaluator, which brings torch along

BALANCED = "balanced"
BLOCKED = -1.0  # no score of a model is as low: scores lie between 0 and 1, and so do their losses
RULE = replace(DEFAULT, min_items=100)  # the dev part has 105 sentences with a paraphrase: a gate asks for 150 items
BEFORE = "before_training"  # the folder of the model before training, in the trainer's output_dir
log = logging.getLogger("encheck")


def behaviour(
    model: object,
    *,
    data: str = "probes",
    checks: str | Iterable[str] | None = None,
    seed: int = 0,
    baseline: object | None = None,
) -> dict[str, float]:
    """What a model scores on the dev items; with a `baseline`, the model before training, also what changed since.

    Args:
        model: anything that encodes, as in `encheck.run`, but no name and no path.
        data: a data set. Its split `dev` is measured, or `validation`, or all of it where it has neither.
        checks: which properties, as in `encheck.run`. Default: all that a gate may block.
        seed: of generated items and of the intervals.
        baseline: what to compare with.

    Returns:
        Finite numbers. A property without items in the data has no key.
        PROPERTY: its figure, mostly the share of its items that are right.
        sensitivity_part, invariance_part, retrieval_part, balanced: the balanced score and its parts, from chance, 0,
        to 1, of the properties that were asked for by name, or of `default_checks()`. `balanced` needs all three parts.
        With a baseline, FIGURE_change, FIGURE_change_low and FIGURE_change_high of each property and of the score: the
        paired difference with the ends of its 95% interval, as the gate has them. `blocked` is 1 where a gate on these
        items would block, else 0. `score` is the change of the score, -1 where blocked; `certainly_better` is 1 where
        its lower bound is above 0 and nothing blocks.

    Raises:
        UsageError: a check that there is not, or that no gate weighs; checks without an item in the data; a name.
        TypeError: `model` encodes nothing. EncoderError: its vectors are none.
    """
    models = [_in_memory(model, "model"), *([] if baseline is None else [_in_memory(baseline, "baseline")])]
    watch = _Watch(data, checks, seed)
    after, *before = [watch.plan.side(one) for one in models]
    return watch.figures(after, before[0] if before else None)[0]


def _in_memory(given: object, name: str) -> Model:
    """The model under test that this object is; UsageError for a name or a path, which nothing has loaded."""
    if isinstance(given, str | Path):
        raise UsageError(
            f"{name} is {str(given)!r}, but should be in memory. Remedy: encheck.load_model({str(given)!r})"
        )
    return as_model(given, name)


def default_checks() -> tuple[str, ...]:
    """The properties that the score is made of unless others are asked for: those that declare `selects`."""
    return tuple(dict.fromkeys(one.property for one in packaged_checks() if one.claim.declared.selects))


def dev_part(dataset: Dataset) -> Dataset:
    """The data's groups and pairs of the split `dev`, or of `validation`; all of them where there is neither.

    UsageError if there are items for a gate and none for development.
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
            f"{dataset.name} has items for the gate but none in the split dev, and no checkpoint may be "
            f"chosen on those of the gate"
        )
    return dataset


class _Watch:
    """The dev items of some checks, and what is said of a model on them."""

    def __init__(self, data: str, checks: str | Iterable[str] | None, seed: int) -> None:
        weighed = [c for c in packaged_checks() if not c.claim.declared.reported and c.claim.family != CONTRACT]
        chosen = weighed if checks is None else _asked(weighed, checks)
        self.seed, self.plan = seed, Plan(chosen, data, dev_part, seed=seed)
        if not self.plan.cases:
            names = ", ".join(dict.fromkeys(one.property for one in chosen))
            raise UsageError(f"{data} has no item for {names}: name other checks, or data that have some")
        scored = {one.property for one in chosen if _has_rate(one)}
        self.scored = scored if checks is not None else scored & {*default_checks()}
        self.asked = _parts_of(one for one in chosen if one.property in self.scored)
        self.found = _parts_of(case for case in self.plan.cases if case.property in self.scored)

    def refuse_to_choose(self) -> None:
        """UsageError where these checks or these data have no one score that a checkpoint could be chosen by."""
        names = ", ".join(self.plan.properties)
        if not self.asked:
            rated = sorted({one.property for one in packaged_checks() if _has_rate(one)})
            raise UsageError(
                f"{names}: no win rate to choose a checkpoint by. Remedy: add a check that has one: {', '.join(rated)}"
            )
        if len(self.asked) not in (1, len(PARTS)):
            lacking = " and ".join(part for part in PARTS if part not in self.asked)
            raise UsageError(
                f"checks of {' and '.join(self.asked)} cannot choose a checkpoint: without {lacking} there is no "
                "balanced score. Remedy: add 'antonym' (sensitivity), 'synonym' (invariance) and 'retrieval', or name "
                "checks of one part alone"
            )
        if lacking_items := [part for part in self.asked if part not in self.found]:
            raise UsageError(
                f"{self.plan.data} has no item for {' and '.join(lacking_items)}: name checks of other parts, or other "
                "data"
            )

    @property
    def figure(self) -> str:
        """What the score is the change of: `balanced`, or the one part that the checks belong to; else empty."""
        if len(self.found) == len(PARTS):
            return BALANCED
        return f"{self.found[0]}_part" if len(self.found) == 1 else ""

    def figures(self, after: Side, before: Side | None) -> tuple[dict[str, float], str]:
        """`behaviour` of what was measured, and why a gate would block; empty if it would not."""
        rows, why = _weighed(before or after, after)
        found = {row.name: row.candidate for row in rows} | self._scores(after)
        if before is None:
            return _finite(found), ""
        for row in rows:
            found |= _change(row.name, row.change, row.low, row.high)
        found["blocked"] = float(bool(why))
        then = self._scores(before)
        if self.figure in found and self.figure in then:
            change = found[self.figure] - then[self.figure]
            low, high = self._bounds(before, after)
            found |= _change(self.figure, change, low, high)
            found["score"] = BLOCKED if why else change
            alone = [row.low for row in rows if row.name in self.scored]
            certain = low > 0 and (len(alone) > 1 or alone[0] > 0)  # a bootstrap is too sure of a few items
            found["certainly_better"] = float(certain and not why)
        return _finite(found), why

    def _scores(self, side: Side) -> dict[str, float]:
        """The parts and the balanced score, as far as there are items."""
        families = families_of(side.tables)
        above = {name: one.share for name, one in won(side.tables, side.scales).items() if name in self.scored}
        score = balanced(above, families)
        found = {f"{part}_part": value for part, value in parts(above, families).items()}
        return found if score is None else found | {BALANCED: score}

    def _bounds(self, before: Side, after: Side) -> tuple[float, float]:
        """The 95% interval of the score's change, from replicates that draw the same clusters for both models."""
        old, new = (
            score_replicates(
                {name: one for name, one in won(side.tables, side.scales).items() if name in self.scored},
                families_of(side.tables),
                self.seed,
            )
            for side in (before, after)
        )
        change = (new - old)[np.isfinite(new - old)]
        if 2 * len(change) < len(new):
            return float("nan"), float("nan")
        low, high = np.percentile(change, [2.5, 97.5])
        return float(low), float(high)


def _asked(weighed: Sequence[Check], checks: str | Iterable[str]) -> list[Check]:
    """The checks of the properties that were asked for and that a gate weighs; UsageError where it weighs none."""
    properties = {one.property for one in select_checks(packaged_checks(), checks)}
    there = sorted({one.property for one in weighed})
    if unweighed := sorted(properties - {*there}):
        raise UsageError(
            f"no gate weighs {', '.join(unweighed)}, so no checkpoint can be chosen by it. Checks that it weighs: "
            f"{', '.join(there)}"
        )
    return [one for one in weighed if one.property in properties]


def _has_rate(check: Check) -> bool:
    """Whether two scores of each item decide who wins, and the balanced score counts that."""
    declared = check.claim.declared
    return bool(declared.gates) and named(declared.gates).kind == "rate" and part_of(declared.family) is not None


def _parts_of(some: Iterable[Any]) -> list[str]:
    """The parts of the balanced score that these checks or cases count in, in its order."""
    found = {part_of(one.claim.family) for one in some}
    return [part for part in PARTS if part in found]


def _weighed(before: Side, after: Side) -> tuple[Sequence[GateRow], str]:
    """A row for each property, and why a gate on these items would block: its weightiest reason, or empty."""
    compared, _ = compare_all(before, after, aside=asked(before.tables))  # all that there is: the gate has others
    decision = decide(pooled(compared), rule=RULE)
    paired = by_property(compared)
    rows = assess(paired, measure(paired, rule=RULE), rule=RULE) if paired else ()
    reasons = list(decision.reasons) if decision.outcome == "block" else []
    none = "the base has a figure, and this model has none: random pairs and identical texts score alike"
    reasons += [f"{row.name}: {none}" for row in rows if isfinite(row.baseline) and not isfinite(row.candidate)]
    return rows, reasons[0] + (f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else "") if reasons else ""


def _change(name: str, change: float, low: float, high: float) -> dict[str, float]:
    return {f"{name}_change": change, f"{name}_change_low": low, f"{name}_change_high": high}


def _finite(figures: Mapping[str, float]) -> dict[str, float]:
    """Those that are numbers: nothing that follows a training takes others."""
    return {name: float(value) for name, value in figures.items() if isfinite(value)}


@dataclass(frozen=True)
class Evaluated:
    """A model at a step of the training: its figures, named as `behaviour` names them, and why it is blocked."""

    step: int
    figures: Mapping[str, float]
    blocked: str = ""


class _Evaluator(Base):
    """What `BehaviourEvaluator` adds to sentence-transformers' BaseEvaluator."""

    def __init__(
        self,
        *,
        name: str = "behaviour",
        data: str = "probes",
        checks: str | Iterable[str] | None = None,
        seed: int = 0,
        baseline: object | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.name, self.data, self.seed = name, data, seed
        self.checks = checks if checks is None or isinstance(checks, str) else tuple(checks)
        self._watch = _Watch(data, self.checks, seed)
        self._watch.refuse_to_choose()
        self.primary_metric = f"{name}_score" if name else "score"
        self.history: list[Evaluated] = []
        self._base: tuple[str, Side] | None = None  # fingerprint of the model, what it scored
        self._last: tuple[str, Side] | None = None
        if baseline is not None:
            self._evaluate(baseline, 0)

    def _evaluate(self, model: object, step: int) -> Evaluated:
        """Measure a model, unless it is the base or the last one, unchanged; the first one is the base."""
        loaded = _in_memory(model, "the model in training")
        fingerprint = loaded.fingerprint()
        known = dict(filter(None, (self._base, self._last)))
        side = known[fingerprint] if fingerprint in known else self._watch.plan.side(loaded)
        self._last = (fingerprint, side)
        self._base = self._base or self._last
        found = Evaluated(step, *self._watch.figures(side, self._base[1]))
        if "score" not in found.figures:
            raise UsageError(
                f"this kind of model has no {self._watch.figure}: some checks cannot measure it. Remedy: "
                "checks=['antonym'], or others of one part alone"
            )
        if fingerprint not in known:
            self.history.append(found)
        return found

    def __call__(
        self,
        model: Any,
        output_path: str | None = None,  # noqa: ARG002 - the interface's
        epoch: int = -1,
        steps: int = -1,
    ) -> dict[str, float]:
        """The metrics of the model as it is."""
        found = self._evaluate(model, steps)
        if found.blocked:
            log.warning("step %d is blocked: %s", steps, found.blocked)
        metrics: dict[str, float] = self.prefix_name_to_metrics(dict(found.figures), self.name)
        if hasattr(model, "model_card_data"):
            shown = {name: value for name, value in metrics.items() if "_change" not in name}
            self.store_metrics_in_model_card_data(model, shown, epoch, steps)
        return metrics

    @property
    def best(self) -> Evaluated | None:
        """The checkpoint with the highest score; None where none is better than the base."""
        first = max(self.history[1:], key=lambda one: one.figures["score"], default=None)
        return first if first and first.figures["score"] > 0 else None

    def summary(self) -> str:
        """Which checkpoint is best, how certain that is, and whether to keep the base instead."""
        if not self.history:
            return "nothing was evaluated"
        figure, (base, *checkpoints) = self._watch.figure, self.history
        before = f"the base ({figure} {base.figures[figure]:.4f})"
        if not checkpoints:
            return f"only {before} was evaluated"
        several, count = f"{len(checkpoints)} checkpoints", sum(bool(one.blocked) for one in checkpoints)
        if count == len(checkpoints):
            last = checkpoints[-1].blocked
            return f"every checkpoint is blocked ({count} of {count}): keep {before}. The last: {last}"
        first = max(checkpoints, key=lambda one: one.figures["score"])
        bounds = [first.figures.get(f"{figure}_change_{end}") for end in ("low", "high")]
        between = "" if None in bounds else f" [{bounds[0]:+.4f}, {bounds[1]:+.4f}]"
        told = f"step {first.step}, {figure} {first.figures[figure]:.4f}, {first.figures['score']:+.4f}{between}"
        blocked = f". Blocked: {count} of {len(checkpoints)}" if count else ""
        if self.best is None:
            return f"no checkpoint is better than {before}: keep it. The best of {several}: {told}{blocked}"
        certain = first.figures["certainly_better"]
        how = "It is better than" if certain else "It is not certainly better than"
        return f"the best of {several}: {told}. {how} {before} on the dev items{blocked}"

    def callback(self) -> Any:
        """A callback for the trainer: the model before training competes, and the end of the training has `summary()`.

        It saves that model as `output_dir/before_training`. With `load_best_model_at_end`, and `metric_for_best_model`
        the primary metric, it is the best model until a checkpoint has a higher score.
        """
        from transformers import TrainerCallback

        evaluator = self

        class BehaviourCallback(TrainerCallback):
            def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
                if state.is_world_process_zero:
                    evaluator.begin(given["model"], args, state)

            def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
                if state.is_world_process_zero:
                    certain = evaluator.best is not None and evaluator.best.figures["certainly_better"]
                    log.log(logging.INFO if certain else logging.WARNING, "%s", evaluator.summary())

        return BehaviourCallback()

    def begin(self, model: Any, args: Any, state: Any) -> None:
        """Measure the model before training, and let it compete; UsageError where a training resumes without a base."""
        if state.global_step and self._base is None:
            raise UsageError(
                f"the training resumes at step {state.global_step}, but the evaluator has no baseline. Remedy: "
                f"BehaviourEvaluator(baseline=SentenceTransformer({str(Path(args.output_dir, BEFORE))!r}))"
            )
        if state.global_step:
            return
        metrics = self(model, epoch=0, steps=0)
        if not args.eval_on_start:
            state.log_history.append({f"eval_{name}": one for name, one in metrics.items()} | {"epoch": 0, "step": 0})
        chooses = (args.metric_for_best_model or "").removeprefix("eval_") == self.primary_metric
        if args.load_best_model_at_end and chooses and args.should_save:
            folder = str(Path(args.output_dir, BEFORE))
            model.save_pretrained(folder)
            state.best_metric, state.best_model_checkpoint = metrics[str(self.primary_metric)], folder

    def __getstate__(self) -> dict[str, Any]:
        """Without what is planned: some of the generators cannot be pickled."""
        return {name: value for name, value in vars(self).items() if name != "_watch"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Plan again."""
        vars(self).update(state)
        self._watch = _Watch(self.data, self.checks, self.seed)

    def get_config_dict(self) -> dict[str, Any]:
        """What the model card says of how it was measured; no path, since the card is published."""
        data = self._watch.plan.dataset
        splits = [*(group.split for group in data.groups), *(pair.split for pair in data.pairs)]
        return {
            "data": data.name, "checks": list(self._watch.plan.properties), "split": split_label(splits),
            "seed": self.seed, "primary_metric": self.primary_metric,
        }  # fmt: skip


@cache
def _evaluator_class() -> type:
    from sentence_transformers.base.evaluation import BaseEvaluator

    class BehaviourEvaluator(_Evaluator, BaseEvaluator):
        """sentence-transformers' evaluator interface over `behaviour`; `name` goes before every metric.

        `data`, `checks` and `seed` are those of `behaviour`. By default the score is the balanced one, and everything
        is watched that a gate may block. With `checks`, they alone are measured, and they alone can block. The score
        of checks of one part alone is that of the part; checks of two of the three parts are refused.

        `baseline` is the model before training, or a function from texts to vectors; without one, the first model that
        is evaluated: with `eval_on_start=True` or `callback()` that is the model at step 0. The score of the base is 0.

        `history` has what was evaluated, the base first; `best` is the best checkpoint, or None; `summary()` is the end
        in words.
        """

        __qualname__ = "BehaviourEvaluator"  # where pickle finds it: see __getattr__ of this module

    return BehaviourEvaluator


def __getattr__(name: str) -> Any:
    """`BehaviourEvaluator`, made when it is asked for: its base class brings torch along."""
    if name != "BehaviourEvaluator":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _evaluator_class()


def __dir__() -> Iterator[str]:
    yield from (*globals(), "BehaviourEvaluator")
