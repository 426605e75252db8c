"""Does the surface explain a contrast? Win rates by which of the two edits keeps more of the source's word order.

    encheck run -m "roles or temporal" --report-dir reports/strata
    python lab/recipes/surface_strata.py reports/strata

For each triplet claim of the run, items are divided by the token edit distance from the source to each of the two
edits: the surface favours the edit that should be nearer, the one that should be farther, or neither. A claim about
meaning is a finding only where the model wins in all three. A tie counts one half. Intervals resample clusters, 2,000
times.
"""

import argparse
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from nltk.metrics.distance import edit_distance
from nltk.tokenize import NLTKWordTokenizer

STRATA = {1: "favours near", -1: "favours far", 0: "favours neither"}
ROUNDING = 1e-6  # differences of similarities below this are fp32 rounding


def tokens(text: str) -> list[str]:
    return NLTKWordTokenizer().tokenize(text.lower())


def favours(source: str, near: str, far: str) -> int:
    """1 where the near edit has the smaller token edit distance to the source, -1 where the far one has, else 0."""
    to_near, to_far = (edit_distance(tokens(source), tokens(text)) for text in (near, far))
    return int(np.sign(to_far - to_near))


def interval(won: np.ndarray, clusters: np.ndarray) -> tuple[float, float]:
    """95% percentile interval of the mean of `won`, drawing clusters."""
    _, code = np.unique(clusters, return_inverse=True)
    sums, counts = np.bincount(code, won), np.bincount(code)
    drawn = np.random.default_rng(0).integers(len(sums), size=(2_000, len(sums)))
    low, high = np.quantile(sums[drawn].sum(1) / counts[drawn].sum(1), [0.025, 0.975])
    return float(low), float(high)


def line(name: str, won: np.ndarray, clusters: np.ndarray, total: int) -> str:
    low, high = interval(won, clusters)
    return f"  {name:<16} {len(won):>5}  {len(won) / total:>4.0%}   {won.mean():.2f} [{low:.2f}, {high:.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a report directory with items.parquet")
    rows = pq.read_table(parser.parse_args().run / "items.parquet").to_pylist()
    triplets = [row for row in rows if row["far"] is not None]
    for case in dict.fromkeys(row["case"] for row in triplets):
        some = [row for row in triplets if row["case"] == case]
        sides = np.array([favours(row["source"], row["near"], row["far"]) for row in some])
        margins = np.array([row["near_score"] - row["far_score"] for row in some])
        won = np.where(np.abs(margins) <= ROUNDING, 0.5, margins > 0)
        clusters = np.array([row["cluster"] for row in some])
        print(f"{case}\n{line('all', won, clusters, len(some))}")
        for side, name in STRATA.items():
            if (chosen := sides == side).any():
                print(line(name, won[chosen], clusters[chosen], len(some)))


if __name__ == "__main__":
    main()
