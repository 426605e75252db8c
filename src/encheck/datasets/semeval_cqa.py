"""SemEval-2016 task 3, Community Question Answering (Nakov et al. 2016), English, subtasks A, B and C, as distributed.

    --data semeval-cqa:FOLDER      every subtask that has labels; `split` is A, B or C (A-train, A-validation ...)
    --data semeval-cqa:FOLDER#B    only subtask B; a .relevancy file next to its XML, or an .xml file, also works

Label 1 is Good (A, C), PerfectMatch or Relevant (B). The test XML holds "?" instead of labels. The gold files have
these labels, and give the order of the pairs, which every submitted run shares. The cluster is the related question in
A, and the original question in B and C. Of SemEval-2017, only subtask B is read, from testing_data.txt, where questions
have no subject.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from encheck.datasets.reader import (
    LOG,
    BadRows,
    Expected,
    PairRow,
    binary_label_or_none,
    make_checked_rows,
    read_lines,
    read_tab_rows,
    read_utf8,
    yield_and_check_counts,
)
from encheck.errors import DataError

SKIP = "SubtaskA_Skip_Because_Same_As_RelQuestion_ID"
PLAIN = "testing_data.txt"
DIVIDER = "+++$$$+++"
Key = tuple[str, str]
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


class Candidate(NamedTuple):
    """A question and a candidate answer to it. `label` is as in the file; "?" if the label is in the gold file."""

    key: Key
    first: str
    second: str
    label: str
    file: Path
    line: int


def read_candidates(file: Path, task: str, bad: BadRows) -> Iterator[Candidate]:
    """Read subtask A, B or C from an XML file, or B from the plain text of 2017. The candidates are in file order."""
    if file.name == PLAIN:
        return _read_plain_candidates(file, bad) if task == "B" else iter(())
    root = parse_xml(file)
    return (
        _read_comments_of_related_questions(file, root, bad)
        if task == "A"
        else _read_candidates_of_original_questions(file, root, task, bad)
    )


def parse_xml(path: Path) -> ET.Element:
    """Return the root of an XML file. The attribute "line" of each element has its line number.

    Raise DataError if the file is not well-formed or declares entities. (The task's files do have a document type.)
    """
    builder, parser = ET.TreeBuilder(), expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        builder.start(tag, attributes | {"line": str(parser.CurrentLineNumber)})

    def refuse(name: str, *_: object) -> None:
        problem = f"declares the entity {name!r}, which the task's files never do: it is a different file, or an attack"
        raise DataError(f"{path}:{parser.CurrentLineNumber}: {problem}; get the file from the task's page")

    parser.StartElementHandler, parser.EndElementHandler = start, builder.end
    parser.CharacterDataHandler, parser.EntityDeclHandler = builder.data, refuse
    try:
        parser.Parse(read_utf8(path), True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise DataError(
            f"{path}:{error.lineno}: is not well-formed XML ({what}): is it truncated, or another file?"
        ) from error
    return builder.close()


def _read_comments_of_related_questions(file: Path, root: ET.Element, bad: BadRows) -> Iterator[Candidate]:
    for thread in root.iter("Thread"):
        for question in thread.iter("RelQuestion") if SKIP not in thread.attrib else ():
            for comment in thread.iter("RelComment"):
                keys = (question, "RELQ_ID"), (comment, "RELC_ID")
                yield from _make_candidate(file, keys, comment.get("RELC_RELEVANCE2RELQ"), bad)


def _read_candidates_of_original_questions(
    file: Path, root: ET.Element, task: str, bad: BadRows
) -> Iterator[Candidate]:
    tag, name, label = {
        "B": ("RelQuestion", "RELQ_ID", "RELQ_RELEVANCE2ORGQ"),
        "C": ("RelComment", "RELC_ID", "RELC_RELEVANCE2ORGQ"),
    }[task]
    for question in root.iter("OrgQuestion"):
        for element in question.iter(tag):
            yield from _make_candidate(file, ((question, "ORGQ_ID"), (element, name)), element.get(label), bad)


def _make_candidate(
    file: Path, sides: tuple[tuple[ET.Element, str], tuple[ET.Element, str]], label: str | None, bad: BadRows
) -> Iterator[Candidate]:
    (query, _), (other, _) = sides
    line = int(other.get("line", 0))
    ids = [element.get(name, "") for element, name in sides]
    if all(ids) and label:
        yield Candidate((ids[0], ids[1]), _element_text(query), _element_text(other), label, file, line)
    else:
        bad(file, line, f"{other.tag} {ids[1]!r} of {query.tag} {ids[0]!r} lacks an id or its relevance label")


def _element_text(element: ET.Element) -> str:
    """Return a question's subject and body, or a comment's text, without the thread inside the element."""
    parts = [child.text or "" for child in element if re.fullmatch(r"(Org|Rel)Q(Subject|Body)|RelCText", child.tag)]
    return " ".join(part.strip() for part in parts).strip()


def _read_plain_candidates(file: Path, bad: BadRows) -> Iterator[Candidate]:
    """Yield the candidates of a plain text file, which has no subjects and no labels.

    Fields: question id, its body, related id, its body, ten comments.
    """
    for number, line in enumerate(read_lines(file), 1):
        fields = line.split(DIVIDER)
        if len(fields) == 15:
            yield Candidate((fields[0], fields[2]), fields[1], fields[3], "?", file, number)
        else:
            bad(file, number, f"{len(fields)} fields separated by {DIVIDER}, but should be 15, the last one empty")


def read_gold_labels(file: Path, bad: BadRows) -> Iterator[tuple[int, Key, int]]:
    """Yield (line, ids, label) of a .relevancy file. Fields: question id, candidate id, rank, score, true or false."""
    seen: set[Key] = set()
    for number, fields in read_tab_rows(file, columns=5, bad=bad):
        key, label = (fields[0], fields[1]), binary_label_or_none(fields[4])
        if label is None:
            bad(file, number, f"the label is {fields[4]!r:.60}, but should be true or false")
        elif key in seen:
            bad(file, number, f"{'/'.join(key)} already has a label: each candidate is judged once")
        else:
            seen.add(key)
            yield number, key, label


def read(path: Path, bad: BadRows) -> Iterator[PairRow]:
    """Yield the pairs by subtask: first those of a gold file, in its order, then those with labels in the XML."""
    texts, golds, wanted = find_files_and_subtasks(path)
    pools: dict[str, dict[Key, Candidate]] = {task: {} for task in wanted}
    for task, pool in pools.items():
        for candidate in chain.from_iterable(read_candidates(file, task, bad) for file in texts):
            pool.setdefault(candidate.key, candidate)  # several of the task's files repeat the same pairs
    open_tasks = [task for task in wanted if task not in golds and all(c.label == "?" for c in pools[task].values())]
    if len(open_tasks) == len(wanted):
        raise DataError(f"semeval-cqa: {path} has no labels of subtask {', '.join(wanted)}; give {FILES}")
    if left_out := [task for task in open_tasks if pools[task]]:
        LOG.warning("semeval-cqa: %s has no labels of subtask %s: left out", path, ", ".join(left_out))
    for task in wanted:
        if task not in open_tasks:
            yield from _make_labelled_pairs(task, pools[task], golds.get(task), bad)


def find_files_and_subtasks(path: Path) -> tuple[list[Path], dict[str, Path], str]:
    """Return the files with texts, the gold file of each subtask, and the subtasks to read."""
    folder, divider, task = str(path).rpartition("#")
    path, wanted = (Path(folder), task) if divider and task in LABELS and not path.exists() else (path, "ABC")
    if not path.exists():
        raise DataError(f"semeval-cqa: {path} does not exist; it should be {FILES}")
    beside = path.parent.glob if path.is_file() else path.rglob
    texts = sorted([*beside("*.xml"), *beside(PLAIN)]) if path.suffix != ".xml" else [path]
    golds = sorted(beside("*.relevancy")) if path.suffix != ".relevancy" else [path]
    wanted = _subtask_in_file_name(path) if path.suffix == ".relevancy" else wanted
    if not texts:
        where = path.parent if path.is_file() else path
        raise DataError(f"semeval-cqa: {where} holds no .xml file and no {PLAIN}, so no texts; give {FILES}")
    by_task = {_subtask_in_file_name(file): file for file in golds}
    if len(by_task) < len(golds):
        names = ", ".join(file.name for file in golds)
        raise DataError(f"semeval-cqa: {path} holds several gold files of a subtask ({names}): give the folder of one")
    return texts, by_task, wanted


def _subtask_in_file_name(gold_file: Path) -> str:
    """Return the subtask in a gold file's name: B for X.subtaskB.relevancy."""
    task = gold_file.name.removesuffix(".relevancy")[-1:]
    if task not in LABELS or not gold_file.name.endswith(f".subtask{task}.relevancy"):
        raise DataError(f"{gold_file} does not say its subtask: call it ....subtaskA.relevancy (or B, C)")
    return task


def _make_labelled_pairs(
    task: str, pool: dict[Key, Candidate], answers: Path | None, bad: BadRows
) -> Iterator[PairRow]:
    """Yield a subtask's labelled pairs: first those of the gold file, in its order, then those of the XML files."""
    judged = list(read_gold_labels(answers, bad)) if answers else []
    if answers and any(key in pool for _, key, _ in judged):

        def candidates() -> Iterator[tuple[int, tuple[Candidate, int]]]:
            for line, key, label in judged:
                if key in pool:
                    yield line, (pool[key], label)
                else:
                    bad(answers, line, f"no file with texts has {'/'.join(key)}")

        rows = make_checked_rows(answers, candidates(), lambda pair: _make_pair_row(task, *pair), bad=bad)
        yield from yield_and_check_counts(answers, rows, EXPECTED, bad)
    rest = [pool[key] for key in pool.keys() - {key for _, key, _ in judged}]
    rest.sort(key=lambda c: (c.file, c.line))
    for file, group in groupby(rest, key=lambda c: c.file):
        own = make_checked_rows(
            file,
            ((c.line, c) for c in group),
            lambda c: _make_pair_row(task, c, None),
            bad=bad,
        )
        yield from yield_and_check_counts(file, own, EXPECTED, bad, name=f"{file.name} {task}")


def _make_pair_row(task: str, candidate: Candidate, gold_label: int | None) -> PairRow:
    """Make the pair of a candidate. Without a gold label, use the file's. Raise ValueError if that is not a label."""
    if gold_label is None and candidate.label == "?":
        raise ValueError(f"the label of {'/'.join(candidate.key)} is '?', and it is in no gold file")
    if gold_label is None and candidate.label not in LABELS[task]:
        raise ValueError(f"the label is {candidate.label!r:.60}, but should be one of {', '.join(LABELS[task])}")
    label = LABELS[task][candidate.label] if gold_label is None else gold_label
    name = candidate.file.name
    part = "-train" if "train" in name else "-validation" if "dev" in name else ""
    question, _ = candidate.key
    return PairRow(candidate.first, candidate.second, label, task + part, question, key="/".join(candidate.key))
