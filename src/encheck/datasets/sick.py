"""SICK (Marelli et al. 2014), as distributed: the three files of SemEval-2014 task 1, or SICK.txt with 12 columns.

Copies without the header row are also accepted: a first line that begins with a number is a pair.

`score` is the relatedness, from 1 to 5. The paper defines no paraphrases, so the labels are encheck's choice: 1 for
ENTAILMENT, 0 for CONTRADICTION, None for NEUTRAL.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from encheck.datasets.hub import Hub
from encheck.datasets.reader import (
    BadRows,
    Expected,
    PairRow,
    find_split_files,
    make_checked_rows,
    parse_score,
    read_first_line,
    read_tab_rows,
    yield_and_check_counts,
)

LICENCE = "CC BY-NC-SA 3.0"
CITATION = "Marelli et al. 2014: A SICK cure for the evaluation of compositional distributional semantic models. LREC"
FILES = "SICK_train.txt, SICK_trial.txt and / or SICK_test_annotated.txt, or SICK.txt"
HUB = Hub(
    "mteb/sickr-sts",
    "20a6d6f312dd54037fe07a32d58e5e168867909d",
    score="score",
    low=1.0,
    positive=None,
    expected={"test": (9_927, {})},
)
EXPECTED: Expected = {
    "SICK_train.txt": (4_500, {"1": 1_299, "0": 665, "None": 2_536}),
    "SICK_trial.txt": (500, {"1": 144, "0": 74, "None": 282}),
    "SICK_test_annotated.txt": (4_927, {"1": 1_414, "0": 720, "None": 2_793}),
    "SICK.txt": (9_840, {"1": 2_821, "0": 1_424, "None": 5_595}),
}
SPLITS = {"SICK_train.txt": "train", "SICK_trial.txt": "validation", "SICK_test_annotated.txt": "test"}
SETS = {"TRAIN": "train", "TRIAL": "validation", "TEST": "test"}
LABELS = {"ENTAILMENT": 1, "CONTRADICTION": 0, "NEUTRAL": None}
HEADER = ("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")
WIDE_HEADER = (
    *("pair_ID", "sentence_A", "sentence_B", "entailment_label", "relatedness_score", "entailment_AB", "entailment_BA"),
    *("sentence_A_original", "sentence_B_original", "sentence_A_dataset", "sentence_B_dataset", "SemEval_set"),
)


def read(path: Path, bad: BadRows) -> Iterator[PairRow]:
    """Yield the pairs in file order. If a folder holds both layouts, read the three files."""
    files = find_split_files(path, SPLITS | {"SICK.txt": ""}, data_set="sick")
    for file, split in [entry for entry in files if entry[1]] or files:
        first = read_first_line(file).split("\t")
        names = WIDE_HEADER if len(first) == len(WIDE_HEADER) else HEADER
        numbered = read_tab_rows(
            file, columns=len(names), header=() if first[0].strip().isdecimal() else names, bad=bad
        )
        rows = make_checked_rows(file, numbered, partial(_make_pair_row, split=split), bad=bad)
        yield from yield_and_check_counts(file, rows, EXPECTED, bad)


def _make_pair_row(fields: list[str], split: str) -> PairRow:
    """Return the pair of a row. A row of 12 columns names its part; a row of 5 columns belongs to `split`."""
    judgement, score = fields[4], fields[3]
    if len(fields) == len(WIDE_HEADER):
        judgement, score = fields[3], fields[4]
        if fields[11].strip() not in SETS:
            raise ValueError(f"the set is {fields[11]!r:.60}, but should be one of {', '.join(SETS)}")
        split = SETS[fields[11].strip()]
    if judgement.strip() not in LABELS:
        raise ValueError(f"the judgment is {judgement!r:.60}, but should be one of {', '.join(LABELS)}")
    return PairRow(fields[1], fields[2], LABELS[judgement.strip()], split, score=parse_score(score, 1, 5))
