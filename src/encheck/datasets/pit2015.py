"""PIT-2015, SemEval-2015 task 1: Paraphrase and Semantic Similarity in Twitter (Xu et al. 2015), as distributed.

Training and development labels are votes such as (3, 2). Three or more votes for give label 1, at most one gives 0, and
two are debatable. Test labels are an expert's digit: 4 and 5 give label 1, 0 to 2 give 0, and 3 is debatable. Debatable
pairs have no label (None), so classification leaves them out, but similarity uses them. `score` is the number of votes
for, or the digit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from encheck.datasets.hub import Hub
from encheck.datasets.reader import (
    BadRows,
    Expected,
    PairRow,
    find_split_files,
    make_checked_rows,
    read_tab_rows,
    yield_and_check_counts,
)

LICENCE = "unknown"
CITATION = "Xu, Callison-Burch and Dolan 2015: SemEval-2015 Task 1: Paraphrase and Semantic Similarity in Twitter (PIT)"
FILES = "train.data, dev.data and / or test.data of PIT-2015"
HUB = Hub(
    "mteb/twittersemeval2015-pairclassification",
    "70970daeab8776df92f5ea462b6173c0b46fd2d1",
    first="sent1",
    second="sent2",
    label="labels",
    expected={"test": (16_777, {"1": 3_790, "0": 12_987})},
    listed=True,
)  # MTEB's selection, without votes and topics
EXPECTED: Expected = {
    "train.data": (13_063, {"1": 3_996, "0": 7_534, "None": 1_533}),
    "dev.data": (4_727, {"1": 1_470, "0": 2_672, "None": 585}),
    "test.data": (972, {"1": 175, "0": 663, "None": 134}),
}
SPLITS = {"train.data": "train", "dev.data": "validation", "test.data": "test"}
VOTES = re.compile(r"\(([0-5]), ([0-5])\)")


def read(path: Path, bad: BadRows) -> Iterator[PairRow]:
    """Yield the pairs in file order. Columns: topic id, topic, two sentences, label, two tags. The topic is the
    cluster.
    """
    for file, split in find_split_files(path, SPLITS, data_set="pit2015"):

        def make_row(fields: list[str], split: str = split) -> PairRow:
            label, score = parse_judgement(fields[4])
            return PairRow(fields[2], fields[3], label, split, fields[0], score)

        rows = make_checked_rows(file, read_tab_rows(file, columns=7, bad=bad), make_row, bad=bad)
        yield from yield_and_check_counts(file, rows, EXPECTED, bad)


def parse_judgement(field: str) -> tuple[int | None, float]:
    """Return the label and score of a vote or a digit. Raise ValueError if the field is neither.

    >>> [parse_judgement(field) for field in ("(3, 2)", "3", "(2, 3)", "0")]
    [(1, 3.0), (None, 3.0), (None, 2.0), (0, 0.0)]
    """
    votes = VOTES.fullmatch(field)
    if votes and int(votes[1]) + int(votes[2]) == 5:
        return {0: 0, 1: 0, 2: None}.get(int(votes[1]), 1), float(votes[1])
    if re.fullmatch("[0-5]", field):
        return {4: 1, 5: 1, 3: None}.get(int(field), 0), float(field)
    raise ValueError(f"the label is {field!r:.60}, but should be five votes like (3, 2), or a digit from 0 to 5")
