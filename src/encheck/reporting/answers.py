"""The answers of two models to unjudged queries: answers.parquet and documents.parquet in a gate's folder.

answers.parquet has a row per query: `case`, `data`, `item`, `query`, `weight`, `cluster`, and the ids of the first ten
documents, best first, under the baseline (`before`) and the candidate (`after`). documents.parquet has the `data`, `id`
and `text` of each of these documents. `read_disagreements` and `read_compared_queries` read both files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from encheck.errors import UsageError
from encheck.gating.comparison import LogAnswers
from encheck.gating.types import ChangedQuery, Gate
from encheck.gating.unlabelled_search import JudgingQuery
from encheck.reporting.gate.record import on_one_line, query_texts
from encheck.scoring.documents import Answers
from encheck.scoring.item import ItemFrame
from encheck.system import files
from encheck.system.documents import parquet_table
from encheck.system.terminal import safe_cell
from encheck.types import content_hash

ANSWERS, DOCUMENTS = "answers.parquet", "documents.parquet"
UNJUDGED = "unjudged.tsv"
PLAN, SHEET, AGAIN = "judging.json", "judging.html", "repeats.json"  # files that `encheck judge` adds
COLUMNS = ("case", "data", "item", "query", "weight", "cluster", "before", "after")
OF_DOCUMENTS = ("data", "id", "text")
Documents = Mapping[int, tuple[str, str]]  # row -> (id, text)


@dataclass(frozen=True, slots=True)
class FirstAnswer:
    """The document that a search ranks first."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A query for which the baseline and the candidate have different first answers. Users asked it `weight` times."""

    data: str
    item: str
    query: str
    weight: int
    cluster: str
    before: FirstAnswer
    after: FirstAnswer

    @property
    def changed(self) -> ChangedQuery:
        """The query and both answers, each shortened to one line."""
        return ChangedQuery(*map(on_one_line, (self.query, self.before.text, self.after.text)))


def write_answers(
    folder: Path,
    searched: Sequence[LogAnswers],
    items: Mapping[str, ItemFrame],
    documents: Mapping[str, Documents],
) -> None:
    """Write both files for the searches without judgements. Without such searches, write nothing.

    `items` are the candidate's. `documents` are those that either model retrieved, by case without the model.
    """
    if not searched:
        return
    texts = query_texts(items)
    rows = [row for one in searched for row in _answer_rows(one, texts, documents[one.after.case])]
    named = {
        (one.after.data, id_): text for one in searched for id_, text in documents[one.after.case].values()
    }  # fmt: skip
    _write_parquet(folder / ANSWERS, rows, COLUMNS)
    kept = [dict(zip(OF_DOCUMENTS, (*key, named[key]), strict=True)) for key in sorted(named)]
    _write_parquet(folder / DOCUMENTS, kept, OF_DOCUMENTS)


def write_unjudged(folder: Path, gate: Gate) -> None:
    """Write the first answers whose missing judgements keep a search undecided. If there are none, write nothing."""
    rows = [one for against in gate.against for row in against.rows for one in row.unjudged_answers]
    if rows:
        lines = dict.fromkeys("\t".join(map(safe_cell, (one.query, one.document_id, one.document))) for one in rows)
        files.write_text(folder / UNJUDGED, "\n".join(["query\tcorpus-id\tdocument", *lines]) + "\n")


def compared_queries(one: LogAnswers, texts: Mapping[str, str], documents: Documents) -> tuple[JudgingQuery, ...]:
    """Return each query of a search with the hashes of both models' first answers.

    `texts` maps an item to its query.
    """
    firsts = zip(one.before.answers, one.after.answers, strict=True)
    rows = [[Answers.parse(text).first[0] for text in both] for both in firsts]
    columns = (one.after.items, one.after.weights, one.after.clusters, rows)
    return tuple(
        _compared_query(item, weight, cluster, texts[item], *(documents[row][1] for row in both))
        for item, weight, cluster, both in zip(*columns, strict=True)
    )


def read_compared_queries(folder: Path) -> tuple[JudgingQuery, ...]:
    """Read from a gate's folder what `compared_queries` returned. Raise UsageError as `read_disagreements` does."""
    texts = _read_documents(folder)
    return tuple(
        _compared_query(row["item"], row["weight"], row["cluster"], row["query"],
               *(texts[row["data"], row[side][0]] for side in ("before", "after")))
        for row in _read_parquet(folder / ANSWERS, COLUMNS)
    )  # fmt: skip


def _compared_query(item: str, weight: int, cluster: str, query: str, before: str, after: str) -> JudgingQuery:
    return JudgingQuery(item, weight, cluster, *map(content_hash, (query, before, after)))


def _answer_rows(one: LogAnswers, texts: Mapping[str, str], documents: Documents) -> Iterator[dict[str, Any]]:
    for i, item in enumerate(one.after.items):
        found = [
            [documents[row][0] for row in Answers.parse(side.answers[i]).first] for side in (one.before, one.after)
        ]
        yield dict(zip(COLUMNS, (
            one.after.case, one.after.data, item, texts[item], one.after.weights[i], one.after.clusters[i], *found
        ), strict=True))  # fmt: skip


def _write_parquet(path: Path, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    import pyarrow
    import pyarrow.parquet

    types = {"weight": pyarrow.int64()} | dict.fromkeys(("before", "after"), pyarrow.list_(pyarrow.string()))
    schema = pyarrow.schema([(name, types.get(name, pyarrow.string())) for name in columns])
    with files.write_whole(path) as file:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows), schema), file, compression="zstd")


def read_disagreements(folder: Path) -> Iterator[Disagreement]:
    """Yield the queries of a gate's folder whose first answer changed, in the order of the query log.

    Raise UsageError if the folder has no answers, because the run was not a gate or its data have labels.
    """
    texts = _read_documents(folder)
    for row in _read_parquet(folder / ANSWERS, COLUMNS):
        first = [row[side][0] for side in ("before", "after")]
        if first[0] != first[1]:
            before, after = (FirstAnswer(name, texts[row["data"], name]) for name in first)
            yield Disagreement(
                row["data"], row["item"], row["query"], row["weight"], row["cluster"], before, after
            )  # fmt: skip


def _read_documents(folder: Path) -> dict[tuple[str, str], str]:
    """Return the text of each document by (data, id). Raise UsageError if the two files do not match."""
    found = {(row["data"], row["id"]): row["text"] for row in _read_parquet(folder / DOCUMENTS, OF_DOCUMENTS)}
    named = {(row["data"], id_) for row in _read_parquet(folder / ANSWERS, COLUMNS) for s in ("before", "after")
             for id_ in row[s][:1]}  # fmt: skip
    if missing := sorted(named - found.keys()):
        raise UsageError(f"{folder / DOCUMENTS} lacks document {missing[0][1]!r} of {ANSWERS}. Run the gate again")
    return found


def _read_parquet(path: Path, columns: Sequence[str]) -> list[dict[str, Any]]:
    if not path.exists():
        raise UsageError(
            f"{path.parent} has no {path.name}: it is not the folder of a gate on documents without labels. Make one "
            "with: encheck gate NEW OLD --data FOLDER --queries FILE"
        )
    try:
        found: list[dict[str, Any]] = parquet_table(path, columns=columns).to_pylist()
        if path.name == ANSWERS and not all(row["before"] and row["after"] and row["weight"] > 0 for row in found):
            raise ValueError("a query has no answer, or was never asked")
    except (ValueError, OSError, TypeError) as error:
        raise UsageError(f"{path} cannot be read: {error}. Run the gate again") from error
    return found
