"""How often a gate for graded pairs says yes and no, by the real decision function on simulated pairs.

    python lab/similarity_rates.py --runs 1000

People's scores and those of both models are normal, so that the correlations in the population are exactly .82 before,
and .82 with the true change now. What the models get wrong correlates by .5 (two models) or .9 (one model, fine-tuned).
Of clustered pairs four each have a cluster in common, which makes up half the variance of all scores.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from encheck.gating.pairing import graded_endpoint
from encheck.gating.purpose import Purpose, PurposeFigures, decide_for_purpose
from encheck.scoring.frame import CaseScores

Floats = NDArray[np.float64]
SIZES = (60, 120, 225, 500, 1_000)
AGREEMENTS = (0.5, 0.9)
CHANGES = (("yes", 0.0), ("no", 0.0), ("yes", -0.02), ("no", -0.04), ("yes", 0.02))
BEFORE = 0.82
PER_CLUSTER = 4


def normals(n: int, rng: np.random.Generator, *, per_cluster: int) -> Floats:
    """Standard normal numbers, shape [n]; half their variance is common to a cluster."""
    own = rng.normal(size=n)
    if per_cluster == 1:
        return own
    common = np.repeat(rng.normal(size=-(-n // per_cluster)), per_cluster)[:n]
    clustered: Floats = (own + common) / np.sqrt(2)
    return clustered


def scored(gold: Floats, noise: Floats, spearman: float) -> Floats:
    """Scores whose correlation with people's is this one in the population (Pearson 1907: of normal variables)."""
    pearson = 2 * np.sin(np.pi * spearman / 6)
    scores: Floats = pearson * gold + np.sqrt(1 - pearson**2) * noise
    return scores


def table(scores: Floats, gold: Floats, per_cluster: int) -> CaseScores:
    """The pairs under one model."""
    n = len(scores)
    names = tuple(map(str, range(n)))
    clusters = tuple(str(i // per_cluster) for i in range(n))
    return CaseScores(
        "ranks/d/1", "ranks", "sts", "d", "1", "pair", names, names, clusters, ("",) * n, (None,) * n, scores,
        np.full(n, np.nan), gold=tuple(gold.tolist()),
    )  # fmt: skip


def rates(n: int, change: float, agreement: float, runs: int, *, per_cluster: int) -> Counter[str]:
    """How often each outcome fell."""
    rng = np.random.default_rng([n, round(1e3 * change) % 997, round(10 * agreement), per_cluster])
    found = Counter[str]()
    for _ in range(runs):
        gold, common, *own = (normals(n, rng, per_cluster=per_cluster) for _ in range(4))
        noise = [np.sqrt(agreement) * common + np.sqrt(1 - agreement) * one for one in own]
        before, after = (
            table(scored(gold, one, BEFORE + moved), gold, per_cluster)
            for one, moved in zip(noise, (0.0, change), strict=True)
        )
        one = decide_for_purpose(Purpose("similarity"), PurposeFigures([graded_endpoint(before, after)], [], {}, []))
        found[one.outcome] += 1
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--pairs", type=int, nargs="+", default=SIZES, help="graded pairs of a simulation")
    args = parser.parse_args()
    named = {"yes": "pass", "no": "block"}
    heads = [f"{'equal' if not change else f'{100 * change:+.0f}'}: {answer}" for answer, change in CHANGES]
    print(f"| graded pairs | {' | '.join(heads)} |")
    print("| --- " * (1 + len(CHANGES)) + "|")
    for per_cluster in (1, PER_CLUSTER):
        for n in args.pairs:
            found = {
                (change, agreement): rates(n, change, agreement, args.runs, per_cluster=per_cluster)
                for change in dict.fromkeys(change for _, change in CHANGES)
                for agreement in AGREEMENTS
            }
            cells = [
                " / ".join(f"{100 * found[change, one][named[answer]] / args.runs:.1f}" for one in AGREEMENTS)
                for answer, change in CHANGES
            ]
            clustered = f" in {-(-n // per_cluster):,} clusters" if per_cluster > 1 else ""
            print(f"| {n:,}{clustered} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
