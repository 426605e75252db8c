"""SICK (Marelli et al. 2014), as distributed: the three files of SemEval-2014 task 1, or SICK.txt with 12 columns.

Copies without the header row are also accepted: a first line that begins with a number is a pair.

`score` is the relatedness, from 1 to 5. The label is encheck's choice, because the paper defines no paraphrases: 1 for
ENTAILMENT, 0 for CONTRADICTION, None for NEUTRAL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from encheck.datasets.hub import Hub
from encheck.datasets.reader import (
    BadRows,
    Expected,
    PairRow,
    as_published,
    checked_score,
    files_of,
    first_line,
    made_rows,
    tab_rows,
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
WIDE = (
    *("pair_ID", "sentence_A", "sentence_B", "entailment_label", "relatedness_score", "entailment_AB", "entailment_BA"),
    *("sentence_A_original", "sentence_B_original", "sentence_A_dataset", "sentence_B_dataset", "SemEval_set"),
)


def read(path: Path, bad: BadRows) -> Iterator[PairRow]:
    """Pairs in file order; if a folder holds both layouts, those of the three files."""
    files = files_of(path, SPLITS | {"SICK.txt": ""}, what="sick")
    for file, split in [entry for entry in files if entry[1]] or files:
        first = first_line(file).split("\t")
        names = WIDE if len(first) == len(WIDE) else HEADER
        numbered = tab_rows(file, columns=len(names), header=() if first[0].strip().isdecimal() else names, bad=bad)
        make: Callable[[list[str]], PairRow] = _wide if names is WIDE else partial(_narrow, split=split)
        yield from as_published(file, made_rows(file, numbered, make, bad=bad), EXPECTED)


def _narrow(fields: list[str], split: str) -> PairRow:
    return PairRow(fields[1], fields[2], _label(fields[4]), split, score=checked_score(fields[3], 1, 5))


def _wide(fields: list[str]) -> PairRow:
    if fields[11].strip() not in SETS:
        raise ValueError(f"the set is {fields[11]!r:.60}, but should be one of {', '.join(SETS)}")
    split = SETS[fields[11].strip()]
    return PairRow(fields[1], fields[2], _label(fields[3]), split, score=checked_score(fields[4], 1, 5))


def _label(field: str) -> int | None:
    if field.strip() not in LABELS:
        raise ValueError(f"the judgment is {field!r:.60}, but should be one of {', '.join(LABELS)}")
    return LABELS[field.strip()]
