"""Your own queries and documents: a folder in the layout of BEIR or MTEB, or one file with one judgement per row.

A folder holds corpus, queries and qrels, each as one file or as a folder of files: JSON Lines or Parquet, judgements
also as TSV or in TREC's format, text files also gzipped. A JSON file may hold all three, as LlamaIndex writes it. The
name of a file of judgements is its split: `test` is taken where it is there, another by naming its file. One file has
the columns `query` and `document` (or `positive`). A query that stands among the documents, with the same id and text,
does not find itself (ignore_identical_ids of BEIR).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from encheck.datasets.collection import Collection, CollectionQuery, clustered
from encheck.datasets.hub_folder import folder_of
from encheck.datasets.query_rows import from_file, grade_of
from encheck.datasets.reader import BadRows, checked_text, first_line, is_missing, streamed
from encheck.datasets.records import FORMATS, ending_of, records
from encheck.errors import DataError
from encheck.system.documents import read_json

LICENCE = "yours"
FILES = (
    "a folder with corpus, queries and qrels (BEIR, MTEB, TREC), a .json file with queries, corpus and relevant_docs "
    "(LlamaIndex), or a file with columns query, document (and negative)"
)
DEFAULT_SPLIT = "test"
JUDGEMENTS = ("default", "data")  # folders of qrels by other names
PATTERNS = ("corpus*", "queries*", "qrels*", *(f"{name}/*" for name in JUDGEMENTS))
SHARD = re.compile(r"-\d{5}-of-\d{5}$")
NAMES = {
    "document": {"id": ("_id", "id", "doc_id"), "text": ("text",)},
    "query": {"id": ("_id", "id", "query_id"), "text": ("text", "query")},
    "judgement": {
        "query": ("query-id", "query_id", "qid"),
        "document": ("corpus-id", "corpus_id", "doc_id", "document_id"),
        "score": ("score", "relevance"),
    },
}
TREC = (".txt", ".qrels", ".qrel", ".trec")  # and .tsv; text files may be gzipped
JUDGED = ("relevant_docs", "qrels")
HEADER = ". A text file names its columns in the first line: query-id, corpus-id, score"
Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """The rows of a part of a JSON file; `place` names it in errors."""

    place: str
    rows: Sequence[Fields]

    def __str__(self) -> str:
        return self.place


Source = Path | Part


def fetched(spec: str) -> Path:
    """The folder of `OWNER/NAME@COMMIT` on the hub; DataError if it is neither in the cache nor to be had."""
    return folder_of(spec, patterns=PATTERNS, is_whole=lambda folder: not _missing(_parts(folder)))


def collection(path: Path, bad: BadRows) -> Collection:
    """What lies at the path: a folder, one of its files of judgements, or one file; DataError says what is wrong."""
    if path.is_dir():
        return _of_folder(path, "", bad)
    if not path.is_file():
        raise DataError(f"retrieval: {path} does not exist; expected {FILES}")
    if folder := _folder_above(path):
        if path.parent == folder:
            split = _split_of(path).removeprefix("qrels").strip("._-")
            parts: dict[str, list[Source]] = {name: [*_files(folder, name)] for name in ("corpus", "queries")}
            return _collection({**parts, "qrels": [path]}, split, bad)
        return _of_folder(folder, _split_of(path), bad)
    if held := parts_of(path):
        return _collection(held, "", bad)
    if _trec_rows(path, bad):
        files = " ".join(map(quote, ("corpus.jsonl", "queries.jsonl", str(path))))
        raise DataError(
            f"retrieval: {path} holds judgements without texts. Remedy: mkdir SEARCH && cp {files} SEARCH/ && "
            f"mv SEARCH/{quote(path.name)} SEARCH/qrels{ending_of(path)}; then --data retrieval:SEARCH"
        )
    return from_file(path, bad)


def parts_of(path: Path) -> dict[str, list[Source]]:
    """Corpus, queries and judgements of a JSON file that has all three by id (LlamaIndex); nothing of another file."""
    if ending_of(path) != ".json":
        return {}
    try:
        found = read_json(path, infinite=True)
    except (ValueError, OSError):
        return {}
    names = {"queries", "corpus", judged} if isinstance(found, dict) and (
        judged := next((name for name in JUDGED if name in found), "")) else {""}  # fmt: skip
    if not isinstance(found, dict) or not all(isinstance(found.get(name), dict) for name in names):
        return {}

    def of(name: str) -> list[Source]:
        rows = [
            {"id": one, **(value if isinstance(value, dict) else {"text": value})} for one, value in found[name].items()
        ]
        return [Part(f"{path}:{name}", rows)]

    judgements = [
        {"query-id": query, "corpus-id": document, "score": grade}
        for query, judged_of in found[judged].items()
        for document, grade in (
            judged_of.items() if isinstance(judged_of, dict)
            else [(one, 1) for one in (judged_of if isinstance(judged_of, list) else [judged_of])]
        )
    ]  # fmt: skip
    return {"queries": of("queries"), "corpus": of("corpus"), "qrels": [Part(f"{path}:{judged}", judgements)]}


def _folder_above(path: Path) -> Path | None:
    """The folder of the collection whose judgements this file holds, if it is such a file."""
    is_flat = path.name.startswith("qrels")
    folder = path.parent if is_flat else path.parent.parent
    is_judged = is_flat or path.parent.name in ("qrels", *JUDGEMENTS)
    return folder if is_judged and _files(folder, "corpus") and _files(folder, "queries") else None


def _of_folder(folder: Path, wanted: str, bad: BadRows) -> Collection:
    parts = _parts(folder)
    if missing := _missing(parts):
        held = ", ".join(sorted(p.name for p in folder.iterdir())[:8]) or "nothing"
        raise DataError(
            f"retrieval: {folder} has no {' and no '.join(missing)} (as a file or a folder: {', '.join(FORMATS)}). "
            f"It holds: {held}"
        )
    split, files = _chosen(folder, parts["qrels"], wanted)
    return _collection({**parts, "qrels": files}, split, bad)


def _collection(parts: Mapping[str, Sequence[Source]], split: str, bad: BadRows) -> Collection:
    excluded: Counter[str] = Counter()
    texts = _texts(parts["queries"], bad, excluded)
    documents, own = _documents(parts["corpus"], texts, bad, excluded)
    judged = _judged(parts["qrels"], texts, documents, bad)
    queries = [_query(name, texts[name], relevance, is_document=name in own) for name, relevance in judged.items()]
    if unasked := len(texts) - len(queries):
        excluded[f"queries that the judgements{f' of {split}' * bool(split)} do not name"] = unasked
    return Collection(documents, clustered(queries), split, dict(excluded))


def _query(name: str, text: str, relevance: Mapping[str, int], *, is_document: bool) -> CollectionQuery:
    """The query; where it is a document itself, what is judged of that pair is left out with the document."""
    if not is_document:
        return CollectionQuery(name, text, relevance)
    others = {document: grade for document, grade in relevance.items() if document != name}
    return CollectionQuery(name, text, others, own=name)


def _parts(folder: Path) -> dict[str, list[Path]]:
    """The files of each part; MTEB also calls the folder of judgements `default` or `data`."""
    found = {name: _files(folder, name) for name in ("corpus", "queries", "qrels")}
    others = (_files(folder, name) for name in JUDGEMENTS)
    return {**found, "qrels": found["qrels"] or next(filter(None, others), [])}


def _missing(parts: Mapping[str, Sequence[Path]]) -> list[str]:
    return [name for name, files in parts.items() if not files]


def _files(folder: Path, name: str) -> list[Path]:
    """The files of one part: those of its folder, or the one of its name."""
    endings = {*FORMATS} if name in ("corpus", "queries") else {*FORMATS, *TREC, *(f"{ending}.gz" for ending in TREC)}
    inside = sorted(p for p in (folder / name).glob("*") if ending_of(p) in endings)
    flat = sorted(p for p in folder.glob(f"{name}.*") if ending_of(p) in endings and p.name == f"{name}{ending_of(p)}")
    if (inside and flat) or len(flat) > 1:
        both = " and ".join(str(p.relative_to(folder)) for p in [*flat, *inside][:3])
        raise DataError(f"retrieval: {folder} holds {both}: keep only one of them")
    return flat or inside


def _split_of(path: Path) -> str:
    """The split that a file of judgements is of.

    >>> _split_of(Path("qrels/dev.tsv.gz")), _split_of(Path("qrels/test-00000-of-00001.parquet"))
    ('dev', 'test')
    """
    return SHARD.sub("", path.name[: -len(ending_of(path))])


def _chosen(folder: Path, files: Sequence[Path], wanted: str) -> tuple[str, list[Path]]:
    """The split that is measured, with its files: the one that was named, else `test`, else the only one."""
    if files[0].parent == folder:
        return "", list(files)
    splits: dict[str, list[Path]] = {}
    for file in files:
        splits.setdefault(_split_of(file), []).append(file)
    split = wanted or (DEFAULT_SPLIT if DEFAULT_SPLIT in splits else next(iter(splits)))
    if not wanted and split != DEFAULT_SPLIT and len(splits) > 1:
        raise DataError(
            f"retrieval: {folder / 'qrels'} holds the splits {', '.join(splits)} and no {DEFAULT_SPLIT}. Name the file "
            f"of one: --data=retrieval:{files[0]}"
        )
    return split, splits[split]


def _documents(
    files: Sequence[Source], queries: Mapping[str, str], bad: BadRows, excluded: Counter[str]
) -> tuple[dict[str, str], set[str]]:
    """Text by id, and the ids of documents that are a query: they have its id, and its text as title, text or both.

    A document without title and text is left out.
    """
    found: dict[str, str] = {}
    own: set[str] = set()
    for file, line, row, at in _rows(files, "document", bad):
        try:
            name, text = identifier(row.get(at["id"]), "id"), _joined(row, at["text"])
            if name in queries and queries[name] in (text, row.get("title"), row.get(at["text"])):
                own.add(name)
            if not text:
                excluded["documents without text"] += 1
            else:
                _add(found, name, text, excluded, "repeated documents")
        except ValueError as error:
            bad(file, line, str(error))
    if not found:
        raise DataError(f"retrieval: {files[0]} has no documents")
    return found, own


def _joined(row: Fields, column: str) -> str:
    """Title and text with a blank between them; either may be missing."""
    parts = (row.get("title"), row.get(column))
    return " ".join(checked_text("document", part) for part in parts if not is_missing(part))


def _texts(files: Sequence[Source], bad: BadRows, excluded: Counter[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for file, line, row, at in _rows(files, "query", bad):
        try:
            name = identifier(row.get(at["id"]), "id")
            _add(found, name, checked_text("query", row.get(at["text"])), excluded, "repeated queries")
        except ValueError as error:
            bad(file, line, str(error))
    return found


def _add(found: dict[str, str], name: str, text: str, excluded: Counter[str], repeated: str) -> None:
    """Take a text under its id; ValueError if another text has it, a count where it is the same."""
    known = found.setdefault(name, text)
    if known is not text:
        if known != text:
            raise ValueError(f"the id {name!r:.60} appears twice, with different texts")
        excluded[repeated] += 1


def _judged(files: Sequence[Source], queries: Fields, documents: Fields, bad: BadRows) -> dict[str, dict[str, int]]:
    """Query id -> document id -> grade, in file order."""
    found: dict[str, dict[str, int]] = {}
    for file, line, row, at in _rows(files, "judgement", bad):
        try:
            query, document = (identifier(row.get(at[side]), f"{side}'s id") for side in ("query", "document"))
            _refuse_missing(query, queries, "query")
            _refuse_missing(document, documents, "document")
            grades = found.setdefault(query, {})
            if grades.setdefault(document, grade := grade_of(row.get(at["score"]))) != grade:
                raise ValueError(f"{query!r:.60} and {document!r:.60} are judged twice: {grades[document]} and {grade}")
        except ValueError as error:
            bad(file, line, str(error))
    if not found:
        raise DataError(f"retrieval: {files[0]} has no judgements")
    return found


def _refuse_missing(name: str, known: Fields, what: str) -> None:
    if name not in known:
        raise ValueError(f"the {what} {name!r:.60} is judged, but there is no such {what}, or it has no text")


def _rows(files: Sequence[Source], what: str, bad: BadRows) -> Iterator[tuple[Any, int, Fields, Mapping[str, str]]]:
    """(file, line, fields, column of each role) of all rows; DataError names the file that lacks a column."""
    for file in files:
        rows: Iterator[tuple[int, Fields]] | None
        if isinstance(file, Part):
            columns, rows = [*file.rows[0]] if file.rows else [], enumerate(file.rows, 1)
        elif what == "judgement" and (rows := _trec_rows(file, bad)):
            columns = [names[0] for names in NAMES[what].values()]
        else:
            columns, rows = records(file, bad)
        if columns:
            at = {role: _column(file, role, names, columns, what) for role, names in NAMES[what].items()}
            yield from ((file, line, row, at) for line, row in rows)


def _trec_rows(path: Path, bad: BadRows) -> Iterator[tuple[int, Fields]] | None:
    """(line, fields) of TREC's judgements: query, an unused field, document, grade; also without the unused one.

    None of another file; DataError for a run, which has the scores of a system and no judgements.
    """
    if ending_of(path).removesuffix(".gz") not in (*TREC, ".tsv"):
        return None
    count = len(fields := _divided(first := first_line(path)))
    if count == 6 and fields[1].upper() in ("Q0", "0"):
        raise DataError(
            f"{path} is a run of TREC, with the scores of a system, but should hold judgements: query, 0, document, "
            f"grade. Remedy, if its answers are right: awk '{{print $1, 0, $3, 1}}' {quote(str(path))} > qrels.txt"
        )
    if count not in (3, 4) or not re.fullmatch(r"-?\d+", fields[-1]):
        return None

    def rows() -> Iterator[tuple[int, Fields]]:
        for number, line in enumerate(streamed(path), 1):
            divided = _divided(line)
            if divided and len(divided) != count:
                bad(path, number, f"{len(divided)} fields, but the first line has {count}")
            elif divided:
                yield number, {"query-id": divided[0], "corpus-id": divided[-2], "score": divided[-1]}

    return rows() if first else None


def _divided(line: str) -> list[str]:
    """The fields of a line: by tabs where it has some, for ids may hold blanks, else by blanks."""
    return [field.strip() for field in line.split("\t")] if "\t" in line.strip() else line.split()


def _column(file: Source, role: str, names: Sequence[str], columns: Sequence[str], what: str) -> str:
    found = next((name for name in names if name in columns), None)
    if found is None:
        raise DataError(
            f"{file}:1: no column for the {role} of a {what} (columns: {', '.join(columns)}; understood: "
            f"{', '.join(names)}){HEADER * (what == 'judgement')}"
        )
    return found


def identifier(value: object, name: str) -> str:
    """An id as text; it may be a number and may hold blanks. ValueError if it is not one.

    >>> identifier(12, "id"), identifier("Geneva Durben", "id")
    ('12', 'Geneva Durben')
    """
    if isinstance(value, str) and not is_missing(value):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a table whose column of whole numbers had a gap
    raise ValueError(f"the {name} is {value!r:.60}, but should be text or a whole number")
