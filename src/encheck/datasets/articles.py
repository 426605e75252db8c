"""A folder of articles, or a file of them: Markdown, web pages, plain text, and tables with a column of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from encheck.datasets.reader import BadRows, checked_text, decoded, is_missing
from encheck.datasets.records import FORMATS, ending_of, records, unread_format
from encheck.datasets.web_pages import Page, of_html, of_markdown, of_text
from encheck.errors import DataError

PAGES: Mapping[str, Callable[[str], Page]] = {
    ".md": of_markdown,
    ".markdown": of_markdown,
    ".html": of_html,
    ".htm": of_html,
    ".txt": of_text,
}
KINDS = {
    ".md": "Markdown", ".markdown": "Markdown", ".html": "web pages", ".htm": "web pages", ".txt": "plain text",
}  # fmt: skip
TEXT = ("text", "body", "content", "passage", "document", "article")
TITLE = ("title", "heading", "name")
ENDINGS = (*PAGES, *FORMATS)


@dataclass(frozen=True, slots=True)
class Article:
    """An article; `name` is its path in the folder, of a table's row with the row's number."""

    name: str
    page: Page


def articles(path: Path, bad: BadRows, seen: Counter[str]) -> Iterator[Article]:
    """The articles that lie at the path, in the order of their names; one that is no text is a bad row.

    `seen` counts files by their ending. DataError for a path that does not exist, and a table without a column of
    texts.
    """
    for file, name in files_of(path, seen):
        if ending_of(file) in PAGES:
            yield from _of_page(file, name, bad)
        else:
            yield from _of_rows(file, name, bad)


def files_of(path: Path, seen: Counter[str]) -> Iterator[tuple[Path, str]]:
    """(file, its name in the folder) of what is read there; hidden files and folders are passed over."""
    if path.is_file():
        if ending_of(path) not in ENDINGS:
            raise unread_format(path, ENDINGS)
        seen[ending_of(path)] += 1
        yield path, path.name
        return
    if not path.is_dir():
        raise DataError(f"{path} does not exist; expected a folder or a file of documents: {', '.join(ENDINGS)}")
    for file in sorted(path.rglob("*")):
        inside = file.relative_to(path)
        if any(part.startswith(".") for part in inside.parts) or not file.is_file():
            continue
        seen[ending_of(file)] += 1
        if ending_of(file) in ENDINGS and ending_of(file) != ".json":  # in a folder it may be anything
            yield file, inside.as_posix()


def _of_page(file: Path, name: str, bad: BadRows) -> Iterator[Article]:
    try:
        text = decoded(file)
    except DataError as error:
        if not bad.skip:
            raise
        bad.skipped.append(str(error))
        return
    yield Article(name, PAGES[ending_of(file)](text))


def _of_rows(file: Path, name: str, bad: BadRows) -> Iterator[Article]:
    columns, rows = records(file, bad)
    text = next((one for one in TEXT if one in columns), None)
    if not columns:
        return
    if text is None:
        raise DataError(
            f"{file}:1: no column with the texts of documents (columns: {', '.join(columns)}; understood: "
            f"{', '.join(TEXT)})"
        )
    title = next((one for one in TITLE if one in columns and one != text), None)
    for line, row in rows:
        try:
            yield Article(f"{name}:{line}", of_text(checked_text("document", row.get(text)), _title(row, title)))
        except ValueError as error:
            bad(file, line, str(error))


def _title(row: Mapping[str, Any], column: str | None) -> str:
    said = row.get(column) if column else None
    return " ".join(said.split()) if isinstance(said, str) and not is_missing(said) else ""
