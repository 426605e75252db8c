"""The files of SemEval task 3, Community Question Answering: questions with their candidates, and gold labels apart.

Subtask A pairs a related question with its comments, B an original question with related ones, C an original question
with the comments of the related ones. A question's text is its subject and its body.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from encheck.datasets.reader import BadRows, binary_label, decoded, lines_of, tab_rows
from encheck.errors import DataError

SKIP = "SubtaskA_Skip_Because_Same_As_RelQuestion_ID"
PLAIN = "testing_data.txt"
DIVIDER = "+++$$$+++"
Key = tuple[str, str]


class Candidate(NamedTuple):
    """A question and one candidate for it; `label` is what the file says, "?" where it keeps the gold back."""

    key: Key
    first: str
    second: str
    label: str
    file: Path
    line: int


def candidates(file: Path, task: str, bad: BadRows) -> Iterator[Candidate]:
    """The candidates of subtask A, B or C in an XML file, or in the plain text of 2017 (B only), in file order."""
    if file.name == PLAIN:
        return _plain(file, bad) if task == "B" else iter(())
    root = parsed(file)
    return _comments_of_related(file, root, bad) if task == "A" else _of_original(file, root, task, bad)


def parsed(path: Path) -> ET.Element:
    """The root of an XML file, each element's line in its attribute "line".

    DataError if it is not well-formed or declares entities. (The task's files do have a document type.)
    """
    builder, parser = ET.TreeBuilder(), expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        builder.start(tag, attributes | {"line": str(parser.CurrentLineNumber)})

    def refuse(name: str, *_: object) -> None:
        problem = f"declares the entity {name!r}, which the task's files never do: it is another file, or an attack"
        raise DataError(f"{path}:{parser.CurrentLineNumber}: {problem}; get the file from the task's page")

    parser.StartElementHandler, parser.EndElementHandler = start, builder.end
    parser.CharacterDataHandler, parser.EntityDeclHandler = builder.data, refuse
    try:
        parser.Parse(decoded(path), True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise DataError(
            f"{path}:{error.lineno}: is not well-formed XML ({what}): is it truncated, or another file?"
        ) from error
    return builder.close()


def _comments_of_related(file: Path, root: ET.Element, bad: BadRows) -> Iterator[Candidate]:
    for thread in root.iter("Thread"):
        for question in thread.iter("RelQuestion") if SKIP not in thread.attrib else ():
            for comment in thread.iter("RelComment"):
                keys = (question, "RELQ_ID"), (comment, "RELC_ID")
                yield from _candidate(file, keys, comment.get("RELC_RELEVANCE2RELQ"), bad)


def _of_original(file: Path, root: ET.Element, task: str, bad: BadRows) -> Iterator[Candidate]:
    tag, name, label = {
        "B": ("RelQuestion", "RELQ_ID", "RELQ_RELEVANCE2ORGQ"),
        "C": ("RelComment", "RELC_ID", "RELC_RELEVANCE2ORGQ"),
    }[task]
    for question in root.iter("OrgQuestion"):
        for element in question.iter(tag):
            yield from _candidate(file, ((question, "ORGQ_ID"), (element, name)), element.get(label), bad)


def _candidate(
    file: Path, sides: tuple[tuple[ET.Element, str], tuple[ET.Element, str]], label: str | None, bad: BadRows
) -> Iterator[Candidate]:
    (query, _), (other, _) = sides
    line = int(other.get("line", 0))
    ids = [element.get(name, "") for element, name in sides]
    if all(ids) and label:
        yield Candidate((ids[0], ids[1]), _text(query), _text(other), label, file, line)
    else:
        bad(file, line, f"{other.tag} {ids[1]!r} of {query.tag} {ids[0]!r} lacks an id or its relevance label")


def _text(element: ET.Element) -> str:
    """Subject and body of a question, the text of a comment: its own, not that of the thread inside it."""
    parts = [child.text or "" for child in element if re.fullmatch(r"(Org|Rel)Q(Subject|Body)|RelCText", child.tag)]
    return " ".join(part.strip() for part in parts).strip()


def _plain(file: Path, bad: BadRows) -> Iterator[Candidate]:
    """Question id, its body, related id, its body, ten comments; bodies only, and no labels."""
    for number, line in enumerate(lines_of(file), 1):
        fields = line.split(DIVIDER)
        if len(fields) == 15:
            yield Candidate((fields[0], fields[2]), fields[1], fields[3], "?", file, number)
        else:
            bad(file, number, f"{len(fields)} fields divided by {DIVIDER}, but should be 15, the last one empty")


def gold(file: Path, bad: BadRows) -> Iterator[tuple[int, Key, int]]:
    """(line, ids, label) of a .relevancy file: question id, candidate id, rank, score, true or false."""
    seen: set[Key] = set()
    for number, fields in tab_rows(file, columns=5, bad=bad):
        key, label = (fields[0], fields[1]), binary_label(fields[4])
        if label is None:
            bad(file, number, f"the label is {fields[4]!r:.60}, but should be true or false")
        elif key in seen:
            bad(file, number, f"{'/'.join(key)} has a label already: each candidate is judged once")
        else:
            seen.add(key)
            yield number, key, label
