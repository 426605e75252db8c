"""Print the tables of docs/reproduction.md: what public data allow of Peinelt et al. 2019, Tables 5 to 8.

    python recipes/reproduce.py DATA

DATA holds mrpc, stsbenchmark, qqp, semeval2016_task3, semeval2017_task3 (and paws_wiki, pit2015, twitter_url) as
distributed; all of them have to be there. Counts and rates are printed, no text.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from encheck.comparing.predictions import Predictions, read_predictions
from encheck.comparing.scored import score
from encheck.datasets.dataset import Dataset
from encheck.datasets.load import load
from encheck.errors import EncheckError
from encheck.scoring.difficulty import CELLS, difficulty

SETS = {
    "MRPC": "mrpc:{}/mrpc",
    "STS benchmark": "stsb:{}/stsbenchmark",
    "QQP, dev and test": "qqp:{}/qqp/Quora_question_pair_partition",
    "SemEval-2016 A, dev and test": "semeval-cqa:{}/semeval2016_task3#A",
    "SemEval-2016 B, dev and test": "semeval-cqa:{}/semeval2016_task3#B",
    "SemEval-2016 C, dev and test": "semeval-cqa:{}/semeval2016_task3#C",
    "SemEval-2017 B, test": "semeval-cqa:{}/semeval2017_task3#B",
    "PAWS-Wiki, dev and test": "paws:{}/paws_wiki/final",
    "PIT-2015, dev and test": "pit2015:{}/pit2015",
    "Twitter-URL, train": "twitter-url:{}/twitter_url",
}
RUNS = "semeval2016_task3/SemEval2016_task3_submissions_and_scores"
FOLDERS = tuple(dict.fromkeys(spec.partition("{}/")[2].partition("/")[0].partition("#")[0] for spec in SETS.values()))
ROWS = {
    "TPR_o": "tpr_o", "TPR_n": "tpr_n", "TNR_o": "tnr_o", "TNR_n": "tnr_n", "F1_o": "f1_o", "F1_n": "f1_n", "F1": "f1",
    "MAP": "map", "auc_n": "auc_n",
}  # fmt: skip
Column = Mapping[str, float]


def main(root: str) -> None:
    """All tables."""
    print("Table 5\n")
    print(line(["data", "pairs", *CELLS, "obvious", "medians"]), line(["---"] * 8), sep="\n")
    for name, spec in SETS.items():
        print(line([name, *cells(load(spec.format(root), sample=None))]))
    for number, task in zip((6, 7, 8), "ABC", strict=True):
        data = load(f"semeval-cqa:{root}/semeval2016_task3#{task}", sample=None)
        runs = {f.parent.name: read_predictions(f) for f in Path(root, RUNS).glob(f"*/subtask_{task}_primary.txt")}
        print(f"\nTable {number}, with the primary runs of SemEval-2016, subtask {task}\n")
        print_runs(data, runs)
    print("\nTable 7's own data: one later system on SemEval-2017, subtask B\n")
    run = read_predictions(Path(root, "semeval2017_task3/mappsent_subtaskB.pred"))
    print_runs(load(f"semeval-cqa:{root}/semeval2017_task3#B", sample=None), {"MappSent": run})


def cells(data: Dataset) -> Iterable[object]:
    """Pairs, the four cells, the share of obvious pairs and each split's median."""
    found = difficulty([p for p in data.pairs if p.label is not None])
    counts = found.counts
    total = sum(counts.values())
    medians = ", ".join(f"{name or 'all'} {cut:.3f}" for name, cut in sorted(found.medians.items()))
    return [total, *counts.values(), f"{(counts['Po'] + counts['No']) / total:.0%}", medians]


def print_runs(data: Dataset, runs: Mapping[str, Predictions]) -> None:
    """One column a run, by MAP, then what random and constant predictions get."""
    columns: dict[str, Column] = {}
    for name, run in runs.items():
        found = score(run, data)
        columns[name] = {e.metric: e.value for e in found.figures}
    columns = dict(sorted(columns.items(), key=lambda column: -column[1]["map"]))
    for baseline in ("random", "always_positive"):
        columns[baseline.replace("_", " ")] = {m: beside.get(baseline, np.nan) for m, beside in found.baselines.items()}
    print(line(["", *columns]), line(["---"] * (len(columns) + 1)), sep="\n")
    for name, key in ROWS.items():
        print(line([name, *("-" if np.isnan(c[key]) else f"{c[key]:.3f}" for c in columns.values())]))


def line(fields: Iterable[object]) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(map(str, fields))} |"


def run() -> None:
    """Print the tables of the folder that was given; one message where it is none."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", metavar="DATA", help="the folder that holds the data sets")
    root = parser.parse_args().data
    if lacking := [name for name in FOLDERS if not Path(root, name).exists()]:
        parser.error(f"DATA is {root}, but should be a folder that holds {', '.join(lacking)}")
    try:
        main(root)
    except EncheckError as error:
        parser.error(str(error))


if __name__ == "__main__":
    run()
