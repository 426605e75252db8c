"""SemEval-2016 task 3, Community Question Answering (Nakov et al. 2016), English, subtasks A, B and C, as distributed.

    --data semeval-cqa:FOLDER      every subtask that has labels; `split` is A, B or C (A-train, A-validation ...)
    --data semeval-cqa:FOLDER#B    one of them; a .relevancy file (its XML beside it) or an .xml file does too

Label 1 is Good (A, C), PerfectMatch or Relevant (B). The test XML holds "?": its labels are those of the gold files,
and its pairs come in their order, which is that of every submitted run. The cluster is the related question in A, the
original one in B and C. Of SemEval-2017, subtask B is read from testing_data.txt, where questions have no subject.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, groupby
from pathlib import Path

from encheck.datasets.cqa_files import PLAIN, Candidate, Key, candidates, gold
from encheck.datasets.published import LOG, Expected, as_published
from encheck.datasets.reader import BadRows, Row, made_rows
from encheck.errors import DataError

LICENCE = "free for general research use"
CITATION = "Nakov et al. 2016: SemEval-2016 Task 3: Community Question Answering. SemEval"
FILES = "a folder of the task's .xml and .relevancy files; PATH#A, #B or #C for one subtask"
EXPECTED: Expected = {
    "SemEval2016-Task3-CQA-QL-test-subtaskA.xml.subtaskA.relevancy": (3_270, {"1": 1_329, "0": 1_941}),
    "SemEval2016-Task3-CQA-QL-test.xml.subtaskB.relevancy": (700, {"1": 233, "0": 467}),
    "SemEval2016-Task3-CQA-QL-test.xml.subtaskC.relevancy": (7_000, {"1": 654, "0": 6_346}),
    "SemEval2017-Task3-CQA-QL-test.xml.subtaskB.relevancy": (880, {"1": 163, "0": 717}),
    "SemEval2016-Task3-CQA-QL-dev.xml A": (2_440, {"1": 818, "0": 1_622}),
    "SemEval2016-Task3-CQA-QL-dev.xml B": (500, {"1": 214, "0": 286}),
    "SemEval2016-Task3-CQA-QL-dev.xml C": (5_000, {"1": 345, "0": 4_655}),
}
LABELS = {
    "A": {"Good": 1, "PotentiallyUseful": 0, "Bad": 0},
    "B": {"PerfectMatch": 1, "Relevant": 1, "Irrelevant": 0},
    "C": {"Good": 1, "PotentiallyUseful": 0, "Bad": 0},
}


def read(path: Path, bad: BadRows) -> Iterator[Row]:
    """Pairs by subtask: those with a gold file in its order, then those whose XML has the labels."""
    texts, golds, wanted = found(path)
    pools = {task: _pool(task, texts, bad) for task in wanted}
    open_tasks = [task for task in wanted if task not in golds and all(c.label == "?" for c in pools[task].values())]
    if len(open_tasks) == len(wanted):
        raise DataError(f"semeval-cqa: {path} has no labels of subtask {', '.join(wanted)}; give {FILES}")
    if left_out := [task for task in open_tasks if pools[task]]:
        LOG.warning("semeval-cqa: %s has no labels of subtask %s: left out", path, ", ".join(left_out))
    for task in wanted:
        if task not in open_tasks:
            yield from _judged(task, pools[task], golds.get(task), bad)


def _pool(task: str, texts: list[Path], bad: BadRows) -> dict[Key, Candidate]:
    """Every candidate of a subtask once: the same pairs stand in several of the task's files."""
    pool: dict[Key, Candidate] = {}
    for candidate in chain.from_iterable(candidates(file, task, bad) for file in texts):
        pool.setdefault(candidate.key, candidate)
    return pool


def found(path: Path) -> tuple[list[Path], dict[str, Path], str]:
    """The files with texts, the gold file of each subtask, and the subtasks to read."""
    folder, divider, task = str(path).rpartition("#")
    path, wanted = (Path(folder), task) if divider and task in LABELS and not path.exists() else (path, "ABC")
    if not path.exists():
        raise DataError(f"semeval-cqa: {path} does not exist; it should be {FILES}")
    beside = path.parent.glob if path.is_file() else path.rglob
    texts = sorted([*beside("*.xml"), *beside(PLAIN)]) if path.suffix != ".xml" else [path]
    golds = sorted(beside("*.relevancy")) if path.suffix != ".relevancy" else [path]
    wanted = _task(path) if path.suffix == ".relevancy" else wanted
    if not texts:
        where = path.parent if path.is_file() else path
        raise DataError(f"semeval-cqa: {where} holds no .xml file and no {PLAIN}, so no texts; give {FILES}")
    return texts, _by_task(path, golds), wanted


def _by_task(path: Path, golds: list[Path]) -> dict[str, Path]:
    by_task = {_task(file): file for file in golds}
    if len(by_task) < len(golds):
        names = ", ".join(file.name for file in golds)
        raise DataError(f"semeval-cqa: {path} holds several gold files of a subtask ({names}): give the folder of one")
    return by_task


def _task(gold_file: Path) -> str:
    """X.subtaskB.relevancy -> B."""
    task = gold_file.name.removesuffix(".relevancy")[-1:]
    if task not in LABELS or not gold_file.name.endswith(f".subtask{task}.relevancy"):
        raise DataError(f"{gold_file} does not say its subtask: call it ....subtaskA.relevancy (or B, C)")
    return task


def _judged(task: str, pool: dict[Key, Candidate], answers: Path | None, bad: BadRows) -> Iterator[Row]:
    judged = list(gold(answers, bad)) if answers else []
    if answers and any(key in pool for _, key, _ in judged):
        numbered = _with_texts(answers, judged, pool, bad)
        rows = made_rows(answers, numbered, lambda pair: _row(task, *pair), bad=bad)
        yield from as_published(answers.name, rows, EXPECTED)
    rest = [pool[key] for key in pool.keys() - {key for _, key, _ in judged}]
    rest.sort(key=lambda c: (c.file, c.line))
    for file, group in groupby(rest, key=lambda c: c.file):
        own = made_rows(file, ((c.line, c) for c in group), lambda c: _row(task, c, _label(task, c)), bad=bad)
        yield from as_published(f"{file.name} {task}", own, EXPECTED)


def _with_texts(
    file: Path, judged: list[tuple[int, Key, int]], pool: dict[Key, Candidate], bad: BadRows
) -> Iterator[tuple[int, tuple[Candidate, int]]]:
    for line, key, label in judged:
        if key in pool:
            yield line, (pool[key], label)
        else:
            bad(file, line, f"{'/'.join(key)} is in none of the files with texts")


def _row(task: str, candidate: Candidate, label: int) -> Row:
    name = candidate.file.name
    part = "-train" if "train" in name else "-validation" if "dev" in name else ""
    question, _ = candidate.key
    return Row(candidate.first, candidate.second, label, task + part, question, key="/".join(candidate.key))


def _label(task: str, candidate: Candidate) -> int:
    if candidate.label == "?":
        raise ValueError(f"the label of {'/'.join(candidate.key)} is '?', and no gold file has it")
    if candidate.label not in LABELS[task]:
        raise ValueError(f"the label is {candidate.label!r:.60}, but should be one of {', '.join(LABELS[task])}")
    return LABELS[task][candidate.label]
