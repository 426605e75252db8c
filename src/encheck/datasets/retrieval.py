"""Your own queries and documents: a folder in the layout of BEIR or MTEB, or one file with one judgement per row.

A folder holds corpus, queries and qrels. Each is a file or a folder of files, in JSON Lines or Parquet; qrels may also
be TSV or in TREC's format, and text files may be gzipped. A JSON file may hold all three, as LlamaIndex writes it. The
name of a qrels file is its split. The default split is `test`; name a qrels file to use another. A query that is also a
document, with the same id and text, is not searched for itself (BEIR's ignore_identical_ids).

A single file has the columns `query` and `document` (or `positive`), and may have wrong documents. A list in a row can
hold several documents, as FlagEmbedding (`pos`, `neg`) and Tevatron (`positive_passages`, `negative_passages`) write
them. Texts serve as ids, so a repeated text is one query or one document. All documents, including hard negatives, are
searched. A query that is also a document does not retrieve itself, unless a row judges its own text relevant.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from encheck.datasets.collection import Collection, CollectionQuery, assign_query_clusters
from encheck.datasets.contrast import PROPERTY_COLUMN, PropertyRow, property_of_row
from encheck.datasets.hub import fetch_hub_folder
from encheck.datasets.reader import (
    ADD_QUOTES,
    TABLE_READERS,
    BadRows,
    check_text,
    column_names,
    field_text,
    file_ending,
    is_missing,
    read_first_line,
    read_table,
    refuse_misspelt_columns,
    stream_lines,
    trec_sgml_remedy,
    unread_columns_message,
)
from encheck.errors import DataError
from encheck.system.documents import read_json
from encheck.system.files import files_under
from encheck.types import content_hash

log = logging.getLogger("encheck")
ROW_COLUMNS = {
    "query": ("query", "anchor"),
    "document": ("document", "positive", "pos", "positives", "positive_passages"),
    "relevance": ("relevance", "label"),
    "cluster": ("cluster",),
}
NEGATIVE = re.compile(r"neg|negatives|negative_passages|negative(_\d+)?")
RELEVANT = 1
MAX_RELEVANCE = 10**9  # of a relevance: sums of larger ones lose digits
LICENCE = "yours"
FILES = (
    "a folder with corpus, queries and qrels (BEIR, MTEB, TREC), a .json file with queries, corpus and relevant_docs "
    "(LlamaIndex), or a file with columns query, document (and negative)"
)
DEFAULT_SPLIT = "test"
JUDGEMENT_FOLDERS = ("default", "data")  # other names of the qrels folder
PATTERNS = ("corpus*", "queries*", "qrels*", *(f"{name}/*" for name in JUDGEMENT_FOLDERS))
SHARD = re.compile(r"-\d{5}-of-\d{5}$")
PART_COLUMNS = {
    "document": {"id": ("_id", "id", "doc_id"), "text": ("text",)},
    "query": {"id": ("_id", "id", "query_id"), "text": ("text", "query")},
    "judgement": {
        "query": ("query-id", "query_id", "qid"),
        "document": ("corpus-id", "corpus_id", "doc_id", "document_id"),
        "score": ("score", "relevance"),
    },
}
TREC_ENDINGS = (".txt", ".qrels", ".qrel", ".trec")  # and .tsv; text files may be gzipped
TO_CORPUS = {  # by the ending of the files: that of the corpus, and the command
    ".tsv": (".tsv", rf"(printf 'id\ttext\n'; cat {{}}) | {ADD_QUOTES}"),
    ".jsonl": (".jsonl", """sed 's/"contents" *:/"text":/' {}"""),
    ".json": (".jsonl", """sed 's/"contents" *:/"text":/' {}"""),
}
JUDGEMENT_KEYS = ("relevant_docs", "qrels")
HEADER_HINT = ". A text file names its columns in the first line: query-id, corpus-id, score"
Fields = Mapping[str, Any]


@dataclass
class _JudgedQuery:
    """The judgements of one query, collected from its rows."""

    relevance: dict[str, int] = field(default_factory=dict)
    negatives: dict[str, None] = field(default_factory=dict)
    cluster: str = ""
    slices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _RowColumns:
    """The column of each role; "" for a role without a column."""

    query: str
    document: str
    relevance: str
    cluster: str
    negatives: tuple[str, ...]
    slices: tuple[str, ...]


def read_judged_rows(path: Path, bad: BadRows, *, needs_negatives: bool = False) -> Collection:
    """Read a file with one judgement per row as a collection. DataError names a missing column."""
    names, rows = read_table(path, bad)
    columns = _find_row_columns(path, names, needs_negatives=needs_negatives)
    documents: dict[str, str] = {}
    judged_queries: dict[str, _JudgedQuery] = {}
    excluded: Counter[str] = Counter()
    for line, row in rows:
        try:
            _add_row(row, columns, documents, judged_queries, excluded)
        except ValueError as error:
            bad(path, line, str(error))
    queries = [_make_query(text, one, documents, excluded) for text, one in judged_queries.items()]
    return Collection(
        documents,
        assign_query_clusters(queries),
        excluded={reason: count for reason, count in excluded.items() if count},
    )


def read_triplet_rows(path: Path, bad: BadRows, property_of_all: str) -> Iterator[PropertyRow]:
    """Read a file as triplets of query, relevant document and wrong document.

    `property_of_all` is the property of all rows; if it is "", each row names its own.
    """
    names, rows = read_table(path, bad)
    columns = _find_row_columns(path, names, needs_negatives=True)
    read = (columns.query, columns.document, columns.cluster, *columns.negatives, PROPERTY_COLUMN)
    for message in unread_columns_message(path, names, read):
        log.warning("%s", message)
    for line, row in rows:
        try:
            of_property = property_of_row(row, names, property_of_all)
            anchor, right, wrong, cluster = _parse_row(row, columns)
            if not wrong:
                raise ValueError("the negative text is missing")
            triplets = [PropertyRow((anchor, near, far), cluster, of_property) for near in right for far in wrong]
            if any(len({*triplet.texts}) < 3 for triplet in triplets):
                raise ValueError(
                    "two of anchor, positive and negative are the same text, so they cannot be distinguished"
                )
        except ValueError as error:
            bad(path, line, str(error))
        else:
            yield from triplets


def are_query_columns(names: Sequence[str]) -> bool:
    """Return whether a table with these columns holds queries and documents.

    >>> are_query_columns(["query", "document", "label"]), are_query_columns(["anchor", "second", "label"])
    (True, False)
    """
    return "query" in names and any(name in names for name in ROW_COLUMNS["document"])


def _find_row_columns(path: Path, names: Sequence[str], *, needs_negatives: bool) -> _RowColumns:
    chosen = {role: next((name for name in known if name in names), "") for role, known in ROW_COLUMNS.items()}
    negatives = tuple(name for name in names if NEGATIVE.fullmatch(name))
    missing = [" or ".join(ROW_COLUMNS[role]) for role in ("query", "document") if not chosen[role]]
    if needs_negatives and not negatives:
        missing.append("negative")
    if missing:
        raise DataError(f"{path}:1: no column {' and no '.join(missing)} (columns: {', '.join(names) or 'none'})")
    refuse_misspelt_columns(
        path,
        [name for name in names if name not in negatives],
        {**ROW_COLUMNS, "negative": ("negative",)},
        {**chosen, "negative": next(iter(negatives), None)},
    )
    rest = tuple(name for name in names if name not in {*chosen.values(), *negatives})
    return _RowColumns(**chosen, negatives=negatives, slices=rest)


def _add_row(
    row: Mapping[str, Any],
    at: _RowColumns,
    documents: dict[str, str],
    queries: dict[str, _JudgedQuery],
    excluded: Counter[str],
) -> None:
    """Add a row to the collection. Raise ValueError, and add nothing, if the row is invalid."""
    query, right, wrong, cluster = _parse_row(row, at)
    grade = parse_relevance(row.get(at.relevance)) if at.relevance else RELEVANT
    texts = {name: field_text(row.get(name)) for name in at.slices if not isinstance(row.get(name), list | dict)}
    one = queries.get(query) or _JudgedQuery(cluster=cluster, slices={name: v for name, v in texts.items() if v})
    names = list(dict.fromkeys(map(content_hash, right)))
    if one.cluster != cluster:
        raise ValueError(f"the query was in cluster {one.cluster!r:.60} before, but here it is in {cluster!r:.60}")
    known = [one.relevance[name] for name in names if name in one.relevance]
    if other := next((before for before in known if before != grade), None):
        raise ValueError(f"query and document were judged {other} before, but here {grade}")
    excluded["repeated judgements"] += len(known) if not wrong else 0
    queries[query] = one
    one.relevance.update(dict.fromkeys(names, grade))
    one.negatives.update(dict.fromkeys(map(content_hash, wrong)))
    documents.update({content_hash(text): text for text in (*right, *wrong)})


class _RowTexts(NamedTuple):
    query: str
    relevant: list[str]
    negatives: list[str]
    cluster: str


def _parse_row(row: Mapping[str, Any], at: _RowColumns) -> _RowTexts:
    """Return a row's texts and its cluster ("" if none). Raise ValueError for a missing text or a value that is not
    text.
    """
    query, right = check_text("query", row.get(at.query)), _parse_cell("document", row.get(at.document))
    wrong = [
        text for name in at.negatives if not is_missing(row.get(name)) for text in _parse_cell("negative", row[name])
    ]
    return _RowTexts(query, right, wrong, field_text(row.get(at.cluster)))


def _parse_cell(name: str, value: object) -> list[str]:
    """Return the text in a cell, or each text of a list, joined with its title in Tevatron's format.

    Raise ValueError if a text is missing.
    """
    values = value if isinstance(value, list) and value else [value]
    parts = [[one.get("title"), one.get("text")] if isinstance(one, dict) else [one] for one in values]
    joined = [[check_text(name, part) for part in some if len(some) == 1 or not is_missing(part)] for some in parts]
    return [check_text(name, " ".join(texts)) for texts in joined]


def _make_query(
    text: str, judged: _JudgedQuery, documents: Mapping[str, str], excluded: Counter[str]
) -> CollectionQuery:
    negatives = tuple(name for name in judged.negatives if judged.relevance.get(name, 0) <= 0)
    excluded["hard negatives that are right for the same query"] += len(judged.negatives) - len(negatives)
    name = content_hash(text)
    own = name if name in documents and judged.relevance.get(name, 0) < RELEVANT else ""
    relevance = {document: grade for document, grade in judged.relevance.items() if document != own}
    wrong = tuple(document for document in negatives if document != own)
    return CollectionQuery(name, text, relevance, wrong, judged.cluster, judged.slices, own_document=own)


def parse_relevance(value: object) -> int:
    """Return a relevance as a whole number. Raise ValueError if the value is not a whole number.

    >>> parse_relevance("2"), parse_relevance(1.0)
    (2, 1)
    """
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if not number.is_integer() or abs(number) > MAX_RELEVANCE:
        found = "missing" if is_missing(value) else f"{value!r:.60}"
        raise ValueError(f"the relevance is {found}, but should be a whole number: 0 is wrong, more is right")
    return int(number)


@dataclass(frozen=True)
class JsonPart:
    """The rows of one part of a JSON file. Errors call the part `place`."""

    place: str
    rows: Sequence[Fields]

    def __str__(self) -> str:
        return self.place


Source = Path | JsonPart


def fetch_from_hub(spec: str) -> Path:
    """Return the folder of `OWNER/NAME@COMMIT` on the hub. Raise DataError if it is neither cached nor can be
    downloaded.
    """
    return fetch_hub_folder(
        spec, patterns=PATTERNS, is_whole=lambda folder: not _names_of_missing_parts(_find_parts(folder))
    )


def collection(path: Path, bad: BadRows) -> Collection:
    """Read the collection at the path: a folder, one of its qrels files, or a single file.

    DataError explains a fault in the files.
    """
    if path.is_dir():
        return _read_folder(path, "", bad)
    if not path.is_file():
        raise DataError(f"retrieval: {path} does not exist; expected {FILES}")
    is_flat = path.name.startswith("qrels")
    folder = path.parent if is_flat else path.parent.parent
    is_judged = is_flat or path.parent.name in ("qrels", *JUDGEMENT_FOLDERS)
    if (
        is_judged and _find_part_files(folder, "corpus") and _find_part_files(folder, "queries")
    ):  # a file of the folder's judgements
        if path.parent == folder:
            split = _split_in_file_name(path).removeprefix("qrels").strip("._-")
            parts: dict[str, list[Source]] = {name: [*_find_part_files(folder, name)] for name in ("corpus", "queries")}
            return _read_parts({**parts, "qrels": [path]}, split, bad)
        return _read_folder(folder, _split_in_file_name(path), bad)
    if parts_in_file := read_json_parts(path):
        return _read_parts(parts_in_file, "", bad)
    if _read_trec_qrels(path, bad):
        files = " ".join(map(quote, ("corpus.jsonl", "queries.jsonl", str(path))))
        raise DataError(
            f"retrieval: {path} holds judgements without texts. Remedy: mkdir SEARCH && cp {files} SEARCH/ && "
            f"mv SEARCH/{quote(path.name)} SEARCH/qrels{file_ending(path)}; then --data retrieval:SEARCH"
        )
    return read_judged_rows(path, bad)


def read_json_parts(path: Path) -> dict[str, list[Source]]:
    """Return corpus, queries and judgements of a JSON file that has all three by id (LlamaIndex), otherwise {}."""
    if file_ending(path) != ".json":
        return {}
    try:
        content = read_json(path, infinite=True)
    except (ValueError, OSError):
        return {}
    judged = next((name for name in JUDGEMENT_KEYS if name in content), "") if isinstance(content, dict) else ""
    if not judged or not all(isinstance(content.get(name), dict) for name in ("queries", "corpus", judged)):
        return {}
    texts = {
        name: [
            {"id": key, **(value if isinstance(value, dict) else {"text": value})}
            for key, value in content[name].items()
        ]
        for name in ("queries", "corpus")
    }
    judgements = [
        {"query-id": query, "corpus-id": document, "score": grade}
        for query, judged_of in content[judged].items()
        for document, grade in (
            judged_of.items() if isinstance(judged_of, dict)
            else [(one, 1) for one in (judged_of if isinstance(judged_of, list) else [judged_of])]
        )
    ]  # fmt: skip
    rows = {"queries": texts["queries"], "corpus": texts["corpus"], "qrels": judgements}
    places = {"queries": "queries", "corpus": "corpus", "qrels": judged}
    return {part: [JsonPart(f"{path}:{places[part]}", some)] for part, some in rows.items()}


def _read_folder(folder: Path, wanted_split: str, bad: BadRows) -> Collection:
    parts = _find_parts(folder)
    if missing := _names_of_missing_parts(parts):
        content = ", ".join(sorted(p.name for p in folder.iterdir())[:8]) or "nothing"
        raise DataError(
            f"retrieval: {folder} has no {' and no '.join(missing)} "
            f"(as a file or a folder: {', '.join(TABLE_READERS)}). "
            f"It holds: {content}{_remedy_of_missing_parts(folder, missing)}"
        )
    split, files = _choose_split(folder, parts["qrels"], wanted_split)
    return _read_parts({**parts, "qrels": files}, split, bad)


def _remedy_of_missing_parts(folder: Path, missing: Sequence[str]) -> str:
    """Return a command that writes the missing parts from other files in the folder, or "" if no file fits.

    Such files are TREC's topics and documents, and the corpus of MS MARCO or Anserini, called `collection` or `docs`.
    MS MARCO's text files have an id and a text per line. Anserini's JSON has the text as `contents`.
    """
    if {"corpus", "queries"} & {*missing} and (remedy := trec_sgml_remedy(files_under(folder), folder)):
        return f". Remedy: {remedy}"
    for name in ("collection", "docs") if "corpus" in missing else ():
        places = [path for path in (*folder.glob(f"{name}.*"), *folder.glob(f"{name}/*"))
                  if path.is_file() and not path.name.startswith(("queries", "qrels"))]  # fmt: skip
        for ending, text in TO_CORPUS.items():
            if some := sorted(path for path in places if file_ending(path) == ending):
                given, target = " ".join(quote(str(path)) for path in some), folder / f"corpus{text[0]}"
                return f". Remedy: {text[1].format(given)} > {quote(str(target))}"
    return ""


def _read_parts(parts: Mapping[str, Sequence[Source]], split: str, bad: BadRows) -> Collection:
    excluded: Counter[str] = Counter()
    files = parts["queries"]
    found: dict[str, str] = {}
    for file, line, row, at in _read_part_rows(files, "query", bad):
        try:
            name = parse_id(row.get(at["id"]), "id")
            _add_text(found, name, check_text("query", row.get(at["text"])), excluded, "repeated queries")
        except ValueError as error:
            bad(file, line, str(error))
    texts = found
    documents, own = _read_documents(parts["corpus"], texts, bad, excluded)
    judged = _read_judgements(parts["qrels"], texts, documents, bad)
    queries = []
    for name, relevance in judged.items():
        if name in own:  # a query that is also a document: the judgement of that pair is left out with the document
            others = {document: grade for document, grade in relevance.items() if document != name}
            queries.append(CollectionQuery(name, texts[name], others, own_document=name))
        else:
            queries.append(CollectionQuery(name, texts[name], relevance))
    if unasked := len(texts) - len(queries):
        excluded[f"queries that the judgements{f' of {split}' * bool(split)} do not name"] = unasked
    return Collection(documents, assign_query_clusters(queries), split, dict(excluded))


def _find_parts(folder: Path) -> dict[str, list[Path]]:
    """Return the files of each part. MTEB also calls the folder of qrels `default` or `data`."""
    parts = {name: _find_part_files(folder, name) for name in ("corpus", "queries", "qrels")}
    others = (_find_part_files(folder, name) for name in JUDGEMENT_FOLDERS)
    return {**parts, "qrels": parts["qrels"] or next(filter(None, others), [])}


def _names_of_missing_parts(parts: Mapping[str, Sequence[Path]]) -> list[str]:
    return [name for name, files in parts.items() if not files]


def _find_part_files(folder: Path, name: str) -> list[Path]:
    """Return the files of a part: all files in its folder, or the file with its name."""
    endings = (
        {*TABLE_READERS}
        if name in ("corpus", "queries")
        else {*TABLE_READERS, *TREC_ENDINGS, *(f"{ending}.gz" for ending in TREC_ENDINGS)}
    )
    inside = sorted(p for p in (folder / name).glob("*") if file_ending(p) in endings)
    flat = sorted(
        p for p in folder.glob(f"{name}.*") if file_ending(p) in endings and p.name == f"{name}{file_ending(p)}"
    )
    if (inside and flat) or len(flat) > 1:
        both = " and ".join(str(p.relative_to(folder)) for p in [*flat, *inside][:3])
        raise DataError(f"retrieval: {folder} holds {both}: keep only one of them")
    return flat or inside


def _split_in_file_name(path: Path) -> str:
    """Return the split that a qrels file's name gives.

    >>> _split_in_file_name(Path("qrels/dev.tsv.gz")), _split_in_file_name(Path("qrels/test-00000-of-00001.parquet"))
    ('dev', 'test')
    """
    return SHARD.sub("", path.name[: -len(file_ending(path))])


def _choose_split(folder: Path, files: Sequence[Path], wanted_split: str) -> tuple[str, list[Path]]:
    """Return the split to measure and its files: the wanted split, otherwise `test`, otherwise the only one."""
    if files[0].parent == folder:
        return "", list(files)
    splits: dict[str, list[Path]] = {}
    for file in files:
        splits.setdefault(_split_in_file_name(file), []).append(file)
    split = wanted_split or (DEFAULT_SPLIT if DEFAULT_SPLIT in splits else next(iter(splits)))
    if not wanted_split and split != DEFAULT_SPLIT and len(splits) > 1:
        raise DataError(
            f"retrieval: {folder / 'qrels'} holds the splits {', '.join(splits)} and no {DEFAULT_SPLIT}. Name the file "
            f"of one: --data=retrieval:{files[0]}"
        )
    return split, splits[split]


def _read_documents(
    files: Sequence[Source], queries: Mapping[str, str], bad: BadRows, excluded: Counter[str]
) -> tuple[dict[str, str], set[str]]:
    """Return each document's text by id, and the ids of documents that are also a query.

    Such a document has a query's id, and the query's text as its title, text or both. A document without title and text
    is left out.
    """
    documents: dict[str, str] = {}
    own: set[str] = set()
    for file, line, row, at in _read_part_rows(files, "document", bad):
        try:
            parts = (row.get("title"), row.get(at["text"]))
            name, text = (
                parse_id(row.get(at["id"]), "id"),
                " ".join(check_text("document", part) for part in parts if not is_missing(part)),
            )
            if name in queries and queries[name] in (text, row.get("title"), row.get(at["text"])):
                own.add(name)
            if not text:
                excluded["documents without text"] += 1
            else:
                _add_text(documents, name, text, excluded, "repeated documents")
        except ValueError as error:
            bad(file, line, str(error))
    if not documents:
        raise DataError(f"retrieval: {files[0]} has no documents")
    return documents, own


def _add_text(texts: dict[str, str], name: str, text: str, excluded: Counter[str], repeated: str) -> None:
    """Add a text under its id. Count an exact repeat, and raise ValueError if the id already has a different text."""
    known = texts.setdefault(name, text)
    if known is not text:
        if known != text:
            raise ValueError(f"the id {name!r:.60} appears twice, with different texts")
        excluded[repeated] += 1


def _read_judgements(
    files: Sequence[Source], queries: Fields, documents: Fields, bad: BadRows
) -> dict[str, dict[str, int]]:
    """Return query id -> document id -> grade, in file order."""
    grades_by_query: dict[str, dict[str, int]] = {}
    for file, line, row, at in _read_part_rows(files, "judgement", bad):
        try:
            query, document = (parse_id(row.get(at[side]), f"{side}'s id") for side in ("query", "document"))
            for name, known, what in ((query, queries, "query"), (document, documents, "document")):
                if name not in known:
                    raise ValueError(f"the {what} {name!r:.60} is judged, but the {what} is missing or has no text")
            grades = grades_by_query.setdefault(query, {})
            if grades.setdefault(document, grade := parse_relevance(row.get(at["score"]))) != grade:
                raise ValueError(f"{query!r:.60} and {document!r:.60} are judged twice: {grades[document]} and {grade}")
        except ValueError as error:
            bad(file, line, str(error))
    if not grades_by_query:
        raise DataError(f"retrieval: {files[0]} has no judgements")
    return grades_by_query


def _read_part_rows(
    files: Sequence[Source], part: str, bad: BadRows
) -> Iterator[tuple[Any, int, Fields, Mapping[str, str]]]:
    """Yield (file, line, fields, column of each role) for each row. DataError names a file without a needed column."""
    for file in files:
        rows: Iterator[tuple[int, Fields]] | None
        if isinstance(file, JsonPart):
            columns, rows = column_names(file.rows), enumerate(file.rows, 1)
        elif part == "judgement" and (rows := _read_trec_qrels(file, bad)):
            columns = [names[0] for names in PART_COLUMNS[part].values()]
        else:
            columns, rows = read_table(file, bad)
        if columns:
            at = {}
            for role, names in PART_COLUMNS[part].items():
                at[role] = next((name for name in names if name in columns), "")
                if not at[role]:
                    remedy = HEADER_HINT * (part == "judgement")
                    if isinstance(file, Path) and file_ending(file) == ".tsv" and len(columns) == 2 and not remedy:
                        # a text file of ids and texts without a header, such as MS MARCO's
                        place, new = quote(str(file)), quote(f"{file}.new")
                        remedy = f". Remedy: {TO_CORPUS['.tsv'][1].format(place)} > {new} && mv {new} {place}"
                    raise DataError(
                        f"{file}:1: no column for the {role} of a {part} (columns: {', '.join(columns)}; accepted: "
                        f"{', '.join(names)}){remedy}"
                    )
            if part == "document":
                title = "title" if "title" in columns else None
                refuse_misspelt_columns(str(file), {*columns} - {*at.values()}, {"title": ("title",)}, {"title": title})
            yield from ((file, line, row, at) for line, row in rows)


def _read_trec_qrels(path: Path, bad: BadRows) -> Iterator[tuple[int, Fields]] | None:
    """Return (line, fields) for each of TREC's judgements: query, an unused field, document, grade.

    The unused field may be missing. Return None for any other format. Raise DataError for a TREC run, which has a
    system's scores instead of judgements.
    """
    if file_ending(path).removesuffix(".gz") not in (*TREC_ENDINGS, ".tsv"):
        return None
    count = len(fields := _split_fields(first := read_first_line(path)))
    if count == 6 and fields[1].upper() in ("Q0", "0"):
        raise DataError(
            f"{path} is a run of TREC, with the scores of a system, but should hold judgements: query, 0, document, "
            f"grade. Remedy, if its answers are right: awk '{{print $1, 0, $3, 1}}' {quote(str(path))} > qrels.txt"
        )
    if count not in (3, 4) or not re.fullmatch(r"-?\d+", fields[-1]):
        return None

    def read_rows() -> Iterator[tuple[int, Fields]]:
        for number, line in enumerate(stream_lines(path), 1):
            divided = _split_fields(line)
            if divided and len(divided) != count:
                bad(path, number, f"{len(divided)} fields, but the first line has {count}")
            elif divided:
                yield number, {"query-id": divided[0], "corpus-id": divided[-2], "score": divided[-1]}

    return read_rows() if first else None


def _split_fields(line: str) -> list[str]:
    """Split a line at tabs if it has any, because ids may hold blanks, otherwise at blanks."""
    return [field.strip() for field in line.split("\t")] if "\t" in line.strip() else line.split()


def parse_id(value: object, name: str) -> str:
    """Return an id, which may be a number and may hold blanks, as text. Raise ValueError for any other value.

    >>> parse_id(12, "id"), parse_id("Geneva Durben", "id")
    ('12', 'Geneva Durben')
    """
    if isinstance(value, str) and not is_missing(value):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # from a column of whole numbers with a missing value
    raise ValueError(f"the {name} is {value!r:.60}, but should be text or a whole number")
