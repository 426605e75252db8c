"""Human judgements of pairs of answers, kept as qrels for the next candidate: LOG.qrels beside the query log.

The file is tab-separated, as BEIR's qrels: `query-id`, `corpus-id`, `score` and `against`, the document beside which
the one of `corpus-id` was judged. A pair has two rows. The score is 1 for the better document, for both where they are
equally good, and 0 for both where neither answers the query. All ids are hashes of the texts: where a text is
another, nobody has judged it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from encheck.errors import UsageError
from encheck.gating.judged import Answer, Asked, Pair, pair_of
from encheck.system import files
from encheck.system.documents import read_text

COLUMNS = ("query-id", "corpus-id", "score", "against")
ENDING = ".qrels"
SCORES: Mapping[Answer, tuple[int, int]] = {"before": (1, 0), "after": (0, 1), "equal": (1, 1), "neither": (0, 0)}
ANSWERS = {scores: answer for answer, scores in SCORES.items()}


def place_of(log: Path) -> Path:
    """Where the judgements of a log of queries are kept.

    >>> place_of(Path("logs/march.txt")).name
    'march.txt.qrels'
    """
    return log.with_name(log.name + ENDING)


@dataclass(frozen=True)
class Judgements:
    """The score of both documents of each pair, in the order in which people judged them."""

    scores: Mapping[Pair, tuple[int, int]]

    def answer(self, asked: Asked) -> Answer | None:
        """What was said of a query's two answers; None if nobody judged them."""
        found = self.scores.get(asked.pair)
        return found and ANSWERS[found if asked.before < asked.after else found[::-1]]

    def answers(self, asked: Iterable[Asked]) -> dict[str, Answer]:
        """What is known of these queries, by item."""
        found = {q.item: self.answer(q) for q in asked}
        return {item: answer for item, answer in found.items() if answer}

    def with_answer(self, asked: Asked, answer: Answer | None) -> Judgements:
        """The same with this answer last, in the place of an earlier one; None takes that back."""
        rest = {pair: scores for pair, scores in self.scores.items() if pair != asked.pair}
        if answer:
            scores = SCORES[answer]
            rest[asked.pair] = scores if asked.before < asked.after else scores[::-1]
        return Judgements(rest)


def keep(path: Path, said: Iterable[tuple[Asked, Answer | None]]) -> Judgements:
    """Put answers into the file, the others of which stay; UsageError if it cannot be read or written."""
    try:
        with files.lock_folder(path.parent):
            found = read(path)
            for asked, answer in said:
                found = found.with_answer(asked, answer)
            files.write_text(path, _text(found))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}. Name another file with --qrels FILE") from error
    return found


def _text(found: Judgements) -> str:
    rows = [COLUMNS]
    for (query, one, other), (first, second) in found.scores.items():
        rows += [(query, one, str(first), other), (query, other, str(second), one)]
    return "".join("\t".join(row) + "\n" for row in rows)


def read(path: Path) -> Judgements:
    """The judgements of a file, none where there is no file; UsageError names the line of what is wrong."""
    try:
        lines = read_text(path).splitlines()
    except FileNotFoundError:
        return Judgements({})
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if not lines or tuple(lines[0].split("\t")) != COLUMNS:
        raise UsageError(f"{path}:1: should have the columns {', '.join(COLUMNS)}, with tabs between them")
    rows: dict[Pair, dict[str, int]] = {}
    for number, line in enumerate(lines[1:], 2):
        query, document, score, against = _row(path, number, line)
        rows.setdefault(pair_of(query, document, against), {})[document] = score
    if alone := next((pair for pair, found in rows.items() if len(found) < 2), None):
        raise UsageError(f"{path}: query {alone[0]} has one row for documents {alone[1]} and {alone[2]}, but needs two")
    return Judgements({pair: (found[pair[1]], found[pair[2]]) for pair, found in rows.items()})


def _row(path: Path, number: int, line: str) -> tuple[str, str, int, str]:
    fields = line.split("\t")
    if len(fields) != len(COLUMNS) or fields[1] == fields[3]:
        raise UsageError(f"{path}:{number}: should be two different documents of a query: {', '.join(COLUMNS)}")
    if fields[2] not in ("0", "1"):
        raise UsageError(f"{path}:{number}: the score is {fields[2]!r}, but should be 0 or 1")
    return fields[0], fields[1], int(fields[2]), fields[3]
