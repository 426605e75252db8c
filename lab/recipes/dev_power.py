"""Which losses the dev part of the probes finds in 80% of cases: the figures of docs/tasks/training.md.

    python lab/recipes/dev_power.py [--model sbert] [--noise 0.15] [--runs 50] [--seed 0]

A copy of the model whose weights carry noise, as a share of each tensor's standard deviation, stands for a fine-tune
that won and lost some items by luck. Rates: the copy loses items drawn at random, all rows are decided as in a
training, and the loss is looked for that is blocked in 80% of runs. Means: the loss is that of the gate's own formula,
for all items alike.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from encheck.claims import CONTRACT
from encheck.encoders.objects import wrap_model_object
from encheck.engine.checks import packaged_checks
from encheck.gating.decision import decide_by_rows
from encheck.gating.gate_rows import cases_with_chance, pool_rows
from encheck.gating.pairing import compare_cases
from encheck.gating.types import PairedRow
from encheck.training import RULE, PlannedCases, select_dev_part

PRECISION = 0.004


def lost(one: PairedRow, loss: float, rng: np.random.Generator) -> PairedRow:
    """The row with a loss of this size, in items drawn at random.

    First both models change places in half of the clusters, so that what the copy won or lost by itself cancels out.
    """
    clusters = one.things.reshape(len(one.things), -1)[:, 0]
    swapped = rng.random(int(clusters.max()) + 1)[clusters] < 0.5
    baseline = np.where(swapped, one.candidate, one.baseline)
    candidate = np.where(swapped, one.baseline, one.candidate)
    won = np.flatnonzero(candidate > 0)
    share = (candidate.mean() - baseline.mean() + loss) / candidate.mean()
    candidate[won[rng.random(len(won)) < share]] = 0
    return replace(one, baseline=baseline, candidate=candidate, same=False)


def blocked(rows: Sequence[PairedRow], at: int, loss: float, *, runs: int, seed: int) -> float:
    """How often the decision blocks this row, of those that lost as much."""
    rng, hits = np.random.default_rng(seed), 0
    for _ in range(runs):
        changed = [lost(one, loss, rng) if i == at else one for i, one in enumerate(rows)]
        hits += decide_by_rows(changed, rule=RULE).rows[at].outcome == "block"
    return hits / runs


def smallest(rows: Sequence[PairedRow], at: int, *, runs: int, seed: int) -> float | None:
    """The loss that is blocked in 80% of runs, to 0.4 points; None if the row has too little to lose."""
    low, high = 0.0, float(rows[at].baseline.mean())
    if blocked(rows, at, high, runs=runs, seed=seed) < RULE.power:
        return None
    while high - low > PRECISION:
        middle = (low + high) / 2
        if blocked(rows, at, middle, runs=runs, seed=seed) < RULE.power:
            low = middle
        else:
            high = middle
    return high


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="sbert")
    parser.add_argument("--noise", type=float, default=0.15)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    import torch

    from encheck.api import load_model

    model = load_model(options.model).models[0]
    checks = [c for c in packaged_checks() if not c.claim.declared.reported and c.claim.family != CONTRACT]
    plan = PlannedCases(checks, "probes", select_dev_part, seed=options.seed)
    before = plan.score_model(wrap_model_object(model, options.model))
    torch.manual_seed(options.seed)
    with torch.no_grad():
        for weights in model.parameters():
            weights.add_(torch.randn_like(weights) * weights.std().nan_to_num() * options.noise)
    after = plan.score_model(wrap_model_object(model, "copy"))
    rows = pool_rows(compare_cases(before, after, held_out=cases_with_chance(before.tables))[0])

    decision = decide_by_rows(rows, rule=RULE)
    print("| row | items | clusters | flips | finds a loss of |\n| --- | --- | --- | --- | --- |")
    for at, (one, row) in enumerate(zip(rows, decision.rows, strict=True)):
        if row.part_of:
            continue
        flips = f"{(row.gained + row.lost) / row.n:.0%}" if one.kind == "rate" else ""
        found = f"{row.detectable:.3f}"
        if one.kind == "rate" and row.gates and not row.unseen:
            loss = smallest(rows, at, runs=options.runs, seed=options.seed)
            found = "none: too little to lose" if loss is None else f"{100 * loss:.0f} points"
        told = "never: the model is not shown to see it" if row.unseen else found
        told = told if row.gates else "never: too few items or clusters"
        print(f"| `{row.name}` | {row.n} | {row.clusters} | {flips} | {told} |", flush=True)


if __name__ == "__main__":
    main()
