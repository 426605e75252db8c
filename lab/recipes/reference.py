"""Make the item scores that ship with encheck: MiniLM's and those of the best surface scorer, on the embedded probes.

    python lab/recipes/reference.py

The first is the baseline in reports/baselines/sbert, which `src/encheck/gating/shipped/sbert` links to; the second lies
in `src/encheck/gating/shipped/bigrams`. The best surface scorer is the one that wins most where meaning or order
changes: bigrams, with 52.1% (trigrams 50.8%, word overlap 48.9%, tf-idf 48.8%, edit distance 45.6%), on probes 4.0.0.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from encheck import run
from encheck.gating.balance import part_means, property_families, property_wins
from encheck.gating.baseline import Baseline, read_baseline, write_baseline
from encheck.gating.comparison import run_scores
from encheck.gating.reference import SHIPPED

ROOT = Path(__file__).resolve().parents[2]
BASELINE = ROOT / "reports/baselines/sbert"
FOLDER = ROOT / "src/encheck/gating/shipped"
SURFACE = ("jaccard", "edit-distance", "bigrams", "trigrams", "tf-idf")


def main() -> None:
    run("sbert", save_baseline=BASELINE)
    best = best_surface()
    if SHIPPED.get(best) != "surface":
        raise SystemExit(f"{best} is the best surface scorer now: name it in encheck.gating.reference.SHIPPED")
    with tempfile.TemporaryDirectory() as scratch:
        run(best, save_baseline=Path(scratch, best))
        keep(read_baseline(Path(scratch, best)), FOLDER / best)


def best_surface() -> str:
    """The surface scorer that wins most contrasts where meaning or order changes."""
    results = run(SURFACE)
    won = {name: sensitivity(results, name) for name in SURFACE}
    for name, share in sorted(won.items(), key=lambda one: -one[1]):
        print(f"{name:15}{share:.3f}")
    return max(won, key=won.__getitem__)


def sensitivity(results: object, name: str) -> float:
    side = run_scores(results.raw, results.items, name).select_split()  # type: ignore[attr-defined]
    rates = {name: wins.rate for name, wins in property_wins(side.tables, side.scales).items()}
    return part_means(rates, property_families(side.tables))["sensitivity"]


def keep(found: Baseline, folder: Path) -> None:
    """Without the figures, which no comparison reads."""
    folder.mkdir(parents=True, exist_ok=True)
    write_baseline(folder, replace(found.summary, figures={}), found.cases)


if __name__ == "__main__":
    main()
