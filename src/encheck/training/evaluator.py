"""Behaviour inside a training loop: what the gate weighs, measured on the dev items alone.

`BehaviourEvaluator` is for sentence-transformers' trainer, `behaviour` for any other loop. The items of the split
`gate` stay unseen: the best of many checkpoints on the items that judge it would look better than it is.

    evaluator = BehaviourEvaluator(baseline=model)
    args = SentenceTransformerTrainingArguments(
        ..., eval_strategy="steps", load_best_model_at_end=True, metric_for_best_model=evaluator.primary_metric
    )

A checkpoint that lost what the gate would block has no score: it is minus infinity, so that it never wins.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any

from encheck.datasets.dataset import Dataset
from encheck.datasets.load import load
from encheck.errors import NothingToMeasure, UsageError, unknown
from encheck.gating.balance import PARTS, balanced, families_of, part_of, parts, shares, win_rates
from encheck.gating.capabilities import pooled
from encheck.gating.decision import decide
from encheck.gating.weighing import Side, compare_all
from encheck.items.reading import refuse_unread
from encheck.items.variants import Maker
from encheck.metrics import named
from encheck.running.case import Case
from encheck.scoring.splits import splits_together
from encheck.scoring.table import DEV_SPLIT
from encheck.training.measuring import Encode, Plan, measured, shipped_cases
from encheck.types import Chain, Contrast, Crossed, Query, Triplet

if TYPE_CHECKING:
    from sentence_transformers.base.evaluation import BaseEvaluator as Base
else:
    Base = object  # the class that is made in the end has BaseEvaluator, which brings torch along

BALANCED = "balanced"
GUARDS = ("meaning kept", "health")
log = logging.getLogger("encheck")


def behaviour(
    encode: Encode,
    *,
    data: str = "probes",
    checks: Sequence[str] | None = None,
    similarity: str = "cosine",
    seed: int = 0,
    baseline: Encode | None = None,
) -> dict[str, float]:
    """Win rates on the dev items, and the balanced score: sensitivity, invariance and retrieval together.

    `checks` names the properties, `default_checks()` unless given. With a `baseline`, the model before training,
    `blocked` is 1 where a gate on the same items would block, else 0, and `balanced` is minus infinity where it would.

    `encode` gives vectors of shape [n, d] for n texts, the model being in evaluation mode. Keys are the checks that the
    data have items for, the parts, and `balanced`, which is NaN if one of the parts is lacking. Parts and score
    count from chance, 0, to 1. `invariance` is the part: the mean of the checks `synonym` and `invariance`, as far as
    both are asked for.

    UsageError for a check that there is not, that has no win rate, or checks that all have no item in the data; for an
    unknown similarity; and for data that are not there.
    """
    names = default_checks() if checks is None else checks
    plan = _plan(data, names, seed, guarded=baseline is not None)
    before = measured(baseline, plan, similarity) if baseline else None
    return _figures(measured(encode, plan, similarity), before)[0]


def default_checks() -> tuple[str, ...]:
    """The properties that choose checkpoints unless others are asked for: those that declare `selects`."""
    return tuple(dict.fromkeys(case.property for case in shipped_cases() if case.claim.declared.selects))


def _families() -> dict[str, str]:
    """The family of each property."""
    return {case.property: case.claim.family for case in shipped_cases()}


def _has_rate(case: Case) -> bool:
    """Whether two scores of each item decide who wins, and the balanced score counts that."""
    declared = case.claim.declared
    return bool(declared.gates) and named(declared.gates).kind == "rate" and part_of(declared.family) is not None


def _plan(data: str, checks: Sequence[str], seed: int, *, guarded: bool = False) -> Plan:
    """What these checks measure on the development part of the data; UsageError if that is nothing.

    If `guarded`, what shows that the rest of the space broke is measured too: it can block, and has no part in a score.
    """
    if isinstance(checks, str) or not checks:
        raise UsageError(f"checks is {checks!r}, but should be a list of names: checks=['antonym', 'retrieval']")
    rated = sorted({case.property for case in shipped_cases() if _has_rate(case)})
    for name in checks:
        if name not in rated and name in _families():
            raise UsageError(
                f"the check {name!r} has no win rate to choose by. Those that have one: {', '.join(rated)}"
            )
        if name not in rated:
            raise UsageError(unknown("check", name, rated))
    whole, maker = load(data, seed=seed), Maker(seed)
    refuse_unread(whole, (case.claim for case in shipped_cases()))
    dataset = dev_part(whole)
    cases = tuple(case for case in shipped_cases() if case.property in checks and _has_items(case, dataset, maker))
    if not cases:
        raise UsageError(f"{data} has no item for {', '.join(checks)}: name other checks, or data that have some")
    return Plan(dataset, (*cases, *_guards(dataset, maker)) if guarded else cases, maker)


def _guards(dataset: Dataset, maker: Maker) -> Iterator[Case]:
    """The cases of `GUARDS` that the gate weighs and the score does not count."""
    for case in shipped_cases():
        declared = case.claim.declared
        if declared.family in GUARDS and declared.gates and not _has_rate(case):
            with suppress(NothingToMeasure):
                case.claim.items(dataset, case.level, maker)
                yield case


def _has_items(case: Case, dataset: Dataset, maker: Maker) -> bool:
    """Whether a case has items that are won or lost."""
    with suppress(NothingToMeasure):
        kept = case.claim.items(dataset, case.level, maker).kept
        return any(isinstance(item, Triplet | Crossed | Contrast | Query | Chain) for item in kept)
    return False


def _figures(found: Side, before: Side | None, metric: str = BALANCED) -> tuple[dict[str, float], str]:
    """`behaviour` of what was measured, and why `metric` is minus infinity; empty if it is not."""
    families, above = families_of(found.tables), shares(found.tables)
    score = balanced(above, families)
    figures = {**win_rates(found.tables), **parts(above, families), BALANCED: float("nan") if score is None else score}
    if before is None:
        return figures, ""
    why = lost(before, found)
    unscored = dict.fromkeys({BALANCED, metric}, -inf) if why else {}
    return {**figures, **unscored, "blocked": float(bool(why))}, why


def lost(before: Side, after: Side) -> str:
    """Why a gate on these items would block, by their weightiest row; empty if it would not."""
    decision = decide(pooled(compare_all(before, after)[0]))
    if decision.outcome != "block":
        return ""
    more = len(decision.reasons) - 1
    return decision.reasons[0] + (f" (and {more} more)" if more else "")


def primary(checks: Sequence[str]) -> str:
    """The figure of these checks that a best checkpoint is chosen by: `balanced`, or the one part that they belong to.

    UsageError if they belong to two of the three parts, or to none: neither has one figure.

    >>> primary(default_checks()), primary(["antonym", "jumble"])
    ('balanced', 'sensitivity')
    """
    asked = _parts_of(checks)
    if len(asked) == len(PARTS):
        return BALANCED
    if len(asked) == 1:
        return asked[0]
    lacking = " and ".join(part for part in PARTS if part not in asked)
    raise UsageError(
        f"checks={list(checks)} cannot choose a checkpoint: without {lacking} there is no balanced score. "
        "Remedy: add 'antonym' (sensitivity), 'synonym' (invariance) and 'retrieval', or name checks of one part alone"
    )


def _parts_of(checks: Sequence[str]) -> list[str]:
    """The parts of the balanced score that these properties count in."""
    families = _families()
    return list(parts(dict.fromkeys(checks, 0.0), families))


def _refuse_lacking_parts(data: str, checks: Sequence[str], plan: Plan) -> None:
    """UsageError if the data have no item for a part that the primary metric is made of: it would be NaN."""
    found = _parts_of(plan.checks)
    if lacking := [part for part in _parts_of(checks) if part not in found]:
        raise UsageError(f"{data} has no item for {' and '.join(lacking)}: name checks of other parts, or other data")


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


class _Evaluator(Base):
    """What `BehaviourEvaluator` adds to sentence-transformers' BaseEvaluator."""

    def __init__(
        self,
        *,
        name: str = "behaviour",
        data: str = "probes",
        checks: Sequence[str] | None = None,
        seed: int = 0,
        baseline: Any = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        checks = default_checks() if checks is None else checks
        self._plan, self._metric = _plan(data, checks, seed, guarded=True), primary(checks)
        self.name, self.data, self.checks, self.seed = name, data, tuple(checks), seed
        _refuse_lacking_parts(data, checks, self._plan)
        self.primary_metric = f"{name}_{self._metric}" if name else self._metric
        self.blocked, self._before = "", None if baseline is None else self._measured(baseline)

    def _measured(self, model: Any) -> Side:
        """What a model, or a function from texts to vectors, scores as it is."""
        if not hasattr(model, "encode"):
            return measured(model, self._plan)
        similarity = str(getattr(model, "similarity_fn_name", None) or "cosine")
        return measured(lambda texts: model.encode(texts, show_progress_bar=False), self._plan, similarity)

    def __call__(
        self,
        model: Any,
        output_path: str | None = None,  # noqa: ARG002 - the interface's
        epoch: int = -1,
        steps: int = -1,
    ) -> dict[str, float]:
        """The metrics of the model as it is."""
        side = self._measured(model)
        self._before = self._before or side
        found, self.blocked = _figures(side, self._before, self._metric)
        if self.blocked:
            log.warning("step %d has no %s: blocked: %s", steps, self.primary_metric, self.blocked)
        metrics: dict[str, float] = self.prefix_name_to_metrics(found, self.name)
        self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics

    def __getstate__(self) -> dict[str, Any]:
        """Without what is planned: some of the generators cannot be pickled."""
        return {name: value for name, value in vars(self).items() if name != "_plan"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Plan again."""
        vars(self).update(state)
        self._plan = _plan(self.data, self.checks, self.seed, guarded=True)

    def get_config_dict(self) -> dict[str, Any]:
        """What the model card says of how it was measured; no path, since the card is published."""
        data = self._plan.dataset
        splits = [*(group.split for group in data.groups), *(pair.split for pair in data.pairs)]
        return {
            "data": data.name, "checks": list(self.checks), "split": splits_together(splits),
            "seed": self.seed, "primary_metric": self.primary_metric,
        }  # fmt: skip


@cache
def _evaluator_class() -> type:
    from sentence_transformers.base.evaluation import BaseEvaluator

    class BehaviourEvaluator(_Evaluator, BaseEvaluator):
        """sentence-transformers' evaluator interface over `behaviour`; the primary metric is the balanced score.

        `data`, `checks` and `seed` are those of `behaviour`; `name` goes before every metric. With checks of one part
        alone that part is the primary metric (`behaviour_sensitivity`); checks of two of the three parts are refused.

        `baseline` is the model before training, or a function from texts to vectors; without one, the first model that
        is evaluated. A later one that a gate on the same items would block has a primary metric of minus infinity;
        `blocked` says why, and is empty if it was not.
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
