"""STS 2012 to 2016 (Agirre et al.), the test sub-sets: a folder with an input file and a gold file for each sub-set.

Line n of a gold file belongs to line n of its input file. The distributed layout and SentEval's (tokenised,
lower-cased) are read. Pairs with a blank gold line (2015, 2016) were not judged and are left out. So is 2013's sub-set
SMT, whose text may not be redistributed. `score` is from 0 to 5. The label is 1 for scores of at least 4, as in the STS
benchmark, which is made from these data. `split` is the name of the sub-set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from encheck.datasets.hub import Hub
from encheck.datasets.reader import (
    LOG,
    BadRows,
    Expected,
    PairRow,
    make_checked_rows,
    parse_score,
    read_lines,
    yield_and_check_counts,
)
from encheck.errors import DataError

LEFT_OUT = {"ALL", "SMT"}  # 2012's gold file of all sub-sets; 2013's SMT, whose text may not be redistributed
Fields = tuple[list[str], str]


@dataclass(frozen=True)
class StsYear:
    """The data set of a year. `folders` are the names of its folder as distributed, and in SentEval."""

    LICENCE: ClassVar[str] = "annotations CC BY-SA where stated; texts as in the readme files"
    name: str
    folders: tuple[str, str]
    CITATION: str
    HUB: Hub
    EXPECTED: Expected

    @property
    def FILES(self) -> str:  # noqa: N802 - as modules have it
        """What the path should hold."""
        return f"{' or '.join(self.folders)}, or a folder that holds one of them"

    def read(self, path: Path, bad: BadRows) -> Iterator[PairRow]:
        """Yield the pairs of each sub-set, by name, in file order."""
        folder = self._find_folder(path)
        subsets = {
            file.name.partition(".input.")[2].removesuffix(".txt"): file for file in folder.glob("STS*.input.*.txt")
        }
        known = {name.removeprefix("STS.input.").removesuffix(".txt") for name in self.EXPECTED}
        there = subsets.keys() - LEFT_OUT
        if there - known or not there:
            names = ", ".join(sorted(there - known)) or "no sub-set at all"
            raise DataError(
                f"{self.name}: {folder} holds {names}, but {self.name} has {', '.join(sorted(known))}: another year's?"
            )
        if known - there:
            lacking = f"{self.name}: {folder} lacks {', '.join(sorted(known - there))}"
            if bad.whole:
                raise DataError(f"{lacking}. Get the folder again")
            LOG.warning("%s, so its means are not comparable with published ones", lacking)
        for subset, file in sorted(subsets.items(), key=lambda entry: entry[1]):
            if subset not in LEFT_OUT:
                yield from yield_and_check_counts(
                    file, _read_scored_rows(file, subset, bad), self.EXPECTED, bad, name=f"STS.input.{subset}.txt"
                )

    def _find_folder(self, path: Path) -> Path:
        if not path.is_dir():
            state = "is a file, but the scores are in a second file beside it" if path.exists() else "does not exist"
            raise DataError(f"{self.name}: {path} {state}; give the folder ({' or '.join(self.folders)})")
        if any(path.glob("STS*.input.*.txt")):
            return path
        folders = sorted(folder for name in self.folders for folder in path.rglob(name) if folder.is_dir())
        if len(folders) != 1:
            content = ", ".join(str(folder.relative_to(path)) for folder in folders) or "neither of these"
            raise DataError(
                f"{self.name}: {path} should be or hold one folder {' or '.join(self.folders)}, but holds {content}"
            )
        return folders[0]


def _read_scored_rows(file: Path, subset: str, bad: BadRows) -> Iterator[PairRow]:
    gold = file.with_name(file.name.replace(".input.", ".gs."))
    texts, scores = read_lines(file), read_lines(gold)
    if len(texts) != len(scores):
        raise DataError(
            f"{gold} has {len(scores):,} lines, but {file.name} has {len(texts):,}: one is truncated, or is another "
            f"version"
        )

    def make_row(fields: Fields) -> PairRow:
        sides, gold_score = fields
        if len(sides) not in (2, 4):
            raise ValueError(f"{len(sides)} tab-separated fields, but should be 2, or 4 in 2016")
        score = parse_score(gold_score, 0, 5)
        return PairRow(sides[0], sides[1], int(score >= 4), subset, score=score)

    judged = (
        (number, (text.split("\t"), score))
        for number, (text, score) in enumerate(zip(texts, scores, strict=True), 1)
        if score.strip()
    )
    return make_checked_rows(file, judged, make_row, bad=bad)


YEARS = (
    StsYear(
        "sts12",
        ("test-gold", "STS12-en-test"),
        "Agirre et al. 2012: SemEval-2012 Task 6: A Pilot on Semantic Textual Similarity. *SEM",
        Hub(
            "mteb/sts12-sts",
            "a0d554a64d88156834ff5ae9920b964011b16384",
            score="score",
            expected={"train": (2_234, {}), "test": (3_108, {})},
        ),
        {
            "STS.input.MSRpar.txt": (750, {"1": 169, "0": 581}),
            "STS.input.MSRvid.txt": (750, {"1": 150, "0": 600}),
            "STS.input.SMTeuroparl.txt": (459, {"1": 416, "0": 43}),
            "STS.input.surprise.OnWN.txt": (750, {"1": 445, "0": 305}),
            "STS.input.surprise.SMTnews.txt": (399, {"1": 318, "0": 81}),
        },
    ),
    StsYear(
        "sts13",
        ("test-gs", "STS13-en-test"),
        "Agirre et al. 2013: *SEM 2013 shared task: Semantic Textual Similarity. *SEM",
        Hub(
            "mteb/sts13-sts", "7e90230a92c190f1bf69ae9002b8cea547a64cca", score="score", expected={"test": (1_500, {})}
        ),
        {
            "STS.input.FNWN.txt": (189, {"1": 1, "0": 188}),
            "STS.input.OnWN.txt": (561, {"1": 163, "0": 398}),
            "STS.input.headlines.txt": (750, {"1": 162, "0": 588}),
        },
    ),
    StsYear(
        "sts14",
        ("sts-en-test-gs-2014", "STS14-en-test"),
        "Agirre et al. 2014: SemEval-2014 Task 10: Multilingual Semantic Textual Similarity. SemEval",
        Hub(
            "mteb/sts14-sts", "6031580fec1f6af667f0bd2da0a551cf4f0b2375", score="score", expected={"test": (3_750, {})}
        ),
        {
            "STS.input.OnWN.txt": (750, {"1": 309, "0": 441}),
            "STS.input.deft-forum.txt": (450, {"1": 103, "0": 347}),
            "STS.input.deft-news.txt": (300, {"1": 79, "0": 221}),
            "STS.input.headlines.txt": (750, {"1": 187, "0": 563}),
            "STS.input.images.txt": (750, {"1": 192, "0": 558}),
            "STS.input.tweet-news.txt": (750, {"1": 240, "0": 510}),
        },
    ),
    StsYear(
        "sts15",
        ("test_evaluation_task2a", "STS15-en-test"),
        "Agirre et al. 2015: SemEval-2015 Task 2: Semantic Textual Similarity. SemEval",
        Hub(
            "mteb/sts15-sts", "ae752c7c21bf194d8b67fd573edf7ae58183cbe3", score="score", expected={"test": (3_000, {})}
        ),
        {
            "STS.input.answers-forums.txt": (375, {"1": 15, "0": 360}),
            "STS.input.answers-students.txt": (750, {"1": 228, "0": 522}),
            "STS.input.belief.txt": (375, {"1": 31, "0": 344}),
            "STS.input.headlines.txt": (750, {"1": 197, "0": 553}),
            "STS.input.images.txt": (750, {"1": 210, "0": 540}),
        },
    ),
    StsYear(
        "sts16",
        ("sts2016-english-with-gs-v1.0", "STS16-en-test"),
        "Agirre et al. 2016: SemEval-2016 Task 1: Semantic Textual Similarity. SemEval",
        Hub(
            "mteb/sts16-sts", "4d8694f8f0e0100860b497b999b3dbed754a0513", score="score", expected={"test": (1_186, {})}
        ),
        {
            "STS.input.answer-answer.txt": (254, {"1": 90, "0": 164}),
            "STS.input.headlines.txt": (249, {"1": 82, "0": 167}),
            "STS.input.plagiarism.txt": (230, {"1": 77, "0": 153}),
            "STS.input.postediting.txt": (244, {"1": 82, "0": 162}),
            "STS.input.question-question.txt": (209, {"1": 49, "0": 160}),
        },
    ),
)
DATA_SETS = {year.name: year for year in YEARS}
