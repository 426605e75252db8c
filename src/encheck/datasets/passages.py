"""Your own articles without labels, split into passages, with a log of real queries.

Articles are Markdown, web pages, plain text, and tables with a column of texts. A passage is the text under one
heading, or a part of it. The encoded text has the article's title, the heading and the text, one per line; the known
items (see `titles`) search texts without title and heading. The log has one query per line, or is a table with a
column `query`; repeated queries have more weight.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Literal

from encheck.datasets.clusters import near_duplicates
from encheck.datasets.collection import ArticlePassage, Collection, CollectionQuery
from encheck.datasets.reader import (
    FORMATS,
    BadRows,
    checked_text,
    decoded,
    file_ending,
    is_missing,
    lines_of,
    refuse_misspelt,
    table_rows,
    unknown_format,
)
from encheck.datasets.splitting import split
from encheck.errors import DataError
from encheck.types import content_hash

UNREAD = {"script", "style", "template", "noscript", "svg", "head", "nav", "iframe", "button", "select"}
BLOCKS = {
    "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figcaption", "figure", "footer",
    "form", "header", "hr", "li", "main", "ol", "p", "pre", "section", "table", "tbody", "td", "th", "thead", "tr",
    "ul",
}  # fmt: skip
HEADING = re.compile(r"h[1-6]")
FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
FRONT_MATTER_TITLE = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
PAGE_KINDS = {
    ".md": "Markdown", ".markdown": "Markdown", ".html": "web pages", ".htm": "web pages", ".txt": "plain text",
}  # fmt: skip
TEXT_COLUMNS = ("text", "body", "content", "passage", "document", "article")
TITLE_COLUMNS = ("title", "heading", "name")
TEXT_ENDINGS = (".txt", ".log")
MOST_ASKED = 10**12
log = logging.getLogger("encheck")
LICENCE = "yours"
FILES = "a folder or file of documents (.md, .html, .txt, .jsonl, .csv, .parquet), with the log: --queries=FILE"
DEFAULT_WORDS = 150
ENDINGS_SHOWN = 4


@dataclass(frozen=True, slots=True)
class PageSection:
    """The text under a heading, "" for the part before the first heading."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """A page's title ("" if none) and sections in order; sections without heading and text are left out."""

    title: str
    sections: tuple[PageSection, ...]


def page_of_html(text: str) -> Page:
    """The page in an HTML text; its title is the first `h1`, else `title`.

    >>> page_of_html("<title>T</title><h1>Refunds</h1><p>Ask <b>us</b>.</p>")
    Page(title='Refunds', sections=(PageSection(heading='Refunds', text='Ask us.'),))
    """
    reader = _PageReader()
    reader.feed(text)
    reader.close()
    return reader.page()


def page_of_markdown(text: str) -> Page:
    r"""The page in a Markdown text (CommonMark and tables); a title in YAML front matter takes precedence.

    >>> page_of_markdown("# Refunds\n\nAsk *us*.").sections
    (PageSection(heading='Refunds', text='Ask us.'),)
    """
    from markdown_it import MarkdownIt

    front = FRONT_MATTER.match(text)
    page = page_of_html(MarkdownIt("commonmark").enable("table").render(text[front.end() :] if front else text))
    named = FRONT_MATTER_TITLE.search(front[1]) if front else None
    return Page(named[1].strip("\"'"), page.sections) if named else page


def page_of_text(text: str, title: str = "") -> Page:
    """The page of a plain text, which has no headings."""
    return Page(title, (PageSection("", text.strip()),) if text.strip() else ())


@dataclass
class _PageReader(HTMLParser):
    """Collects the text of a page during parsing."""

    found: list[tuple[str, list[str]]] = field(default_factory=lambda: [("", [])])
    hidden: list[str] = field(default_factory=list)
    heading: list[str] | None = None
    level: str = ""
    name: list[str] = field(default_factory=list)
    first: str = ""
    in_name: bool = False

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the parser's own signature
        if tag == "title":
            self.in_name = True
        elif tag in UNREAD:
            self.hidden.append(tag)
        elif tag == "body":
            self.hidden.clear()  # a head without an end tag
        elif not self.hidden and HEADING.fullmatch(tag):
            self.heading, self.level = [], tag
        elif tag in BLOCKS:
            self._add("\n")

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        if tag not in UNREAD:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self.in_name = False
        elif tag in self.hidden:
            del self.hidden[self.hidden.index(tag) :]
        elif self.heading is not None and tag == self.level:
            self._end_heading()
        elif tag in BLOCKS:
            self._add("\n")

    def handle_data(self, data: str) -> None:
        if self.in_name and not self.name_is_over:
            self.name.append(data)
        elif not self.hidden:
            self._add(data)

    @property
    def name_is_over(self) -> bool:
        """Whether the text of `title` is not the page's title: it is in a picture, or after the first heading."""
        return "svg" in self.hidden or bool(self.first)

    def _add(self, text: str) -> None:
        (self.found[-1][1] if self.heading is None else self.heading).append(text)

    def _end_heading(self) -> None:
        said = _in_a_line("".join(self.heading or []))
        if said:
            self.found.append((said, []))
        self.first = self.first or (said if self.level == "h1" else "")
        self.heading = None

    def page(self) -> Page:
        """The collected page."""
        if self.heading is not None:
            self._end_heading()
        sections = (
            PageSection(heading, "\n".join(line for line in map(_in_a_line, "".join(parts).split("\n")) if line))
            for heading, parts in self.found
        )
        title = self.first or _in_a_line("".join(self.name))
        return Page(title, tuple(one for one in sections if one.heading or one.text))


def _in_a_line(text: str) -> str:
    return " ".join(text.split())


PAGES: Mapping[str, Callable[[str], Page]] = {
    ".md": page_of_markdown,
    ".markdown": page_of_markdown,
    ".html": page_of_html,
    ".htm": page_of_html,
    ".txt": page_of_text,
}
ENDINGS = (*PAGES, *FORMATS)


@dataclass(frozen=True, slots=True)
class Article:
    """An article; `name` is its path in the folder, followed by the row number for a row of a table."""

    name: str
    page: Page


def articles(path: Path, bad: BadRows, seen: Counter[str]) -> Iterator[Article]:
    """The articles at the path, in the order of their names; an unreadable one is a bad row.

    `seen` counts files by their ending. DataError for a path that does not exist, and a table without a column of
    texts.
    """
    for file, name in article_files(path, seen):
        if file_ending(file) in PAGES:
            yield from _article_of_page(file, name, bad)
        else:
            yield from _articles_of_table(file, name, bad)


def article_files(path: Path, seen: Counter[str]) -> Iterator[tuple[Path, str]]:
    """(file, its name in the folder) of the files to read; hidden files and folders are skipped."""
    if path.is_file():
        if file_ending(path) not in ENDINGS:
            raise unknown_format(path, ENDINGS)
        seen[file_ending(path)] += 1
        yield path, path.name
        return
    if not path.is_dir():
        raise DataError(f"{path} does not exist; expected a folder or a file of documents: {', '.join(ENDINGS)}")
    for file in sorted(path.rglob("*")):
        inside = file.relative_to(path)
        if any(part.startswith(".") for part in inside.parts) or not file.is_file():
            continue
        seen[file_ending(file)] += 1
        if file_ending(file) in ENDINGS and file_ending(file) != ".json":  # in a folder, such a file may be anything
            yield file, inside.as_posix()


def _article_of_page(file: Path, name: str, bad: BadRows) -> Iterator[Article]:
    try:
        text = decoded(file)
    except DataError as error:
        if not bad.skip:
            raise
        bad.skipped.append(str(error))
        return
    yield Article(name, PAGES[file_ending(file)](text))


def _articles_of_table(file: Path, name: str, bad: BadRows) -> Iterator[Article]:
    columns, rows = table_rows(file, bad)
    text = next((one for one in TEXT_COLUMNS if one in columns), None)
    if not columns:
        return
    if text is None:
        raise DataError(
            f"{file}:1: no column with the texts of documents (columns: {', '.join(columns)}; understood: "
            f"{', '.join(TEXT_COLUMNS)})"
        )
    title = next((one for one in TITLE_COLUMNS if one in columns and one != text), None)
    for line, row in rows:
        try:
            said = row.get(title) if title else None
            yield Article(
                f"{name}:{line}",
                page_of_text(
                    checked_text("document", row.get(text)),
                    (" ".join(said.split()) if isinstance(said, str) and not is_missing(said) else ""),
                ),
            )
        except ValueError as error:
            bad(file, line, str(error))


@dataclass(frozen=True, slots=True)
class _LoggedQuery:
    text: str
    count: int
    cluster: str


def query_log(path: Path, bad: BadRows) -> tuple[CollectionQuery, ...]:
    """The distinct queries of a log in the order of their first appearance, each with its count.

    A query is its own cluster unless a column `cluster` names one. DataError if the log holds no query.
    """
    if not path.is_file():
        state = "is a folder, but should be a file" if path.is_dir() else "does not exist"
        raise DataError(f"--queries={path} {state}: {_expected_log()}")
    found: dict[str, _LoggedQuery] = {}
    for line, one in _log_rows(path, bad):
        known = found.setdefault(one.text, one)
        if known is not one:
            if known.cluster != one.cluster:
                bad(
                    path,
                    line,
                    f"the query was in cluster {known.cluster!r:.60} before, but here it is in {one.cluster!r:.60}",
                )
                continue
            found[one.text] = _LoggedQuery(one.text, known.count + one.count, one.cluster)
    if not found:
        raise DataError(f"--queries={path} has no queries: {_expected_log()}")
    return tuple(
        CollectionQuery(content_hash(one.text), one.text, {}, cluster=one.cluster or content_hash("query", one.text),
                        weight=one.count)
        for one in found.values()
    )  # fmt: skip


def _expected_log() -> str:
    return f"one query per line (.txt), or a table with a column `query` ({', '.join(FORMATS)})"


def _log_rows(path: Path, bad: BadRows) -> Iterator[tuple[int, _LoggedQuery]]:
    ending = file_ending(path)
    if ending in TEXT_ENDINGS:
        lines = ((number, " ".join(line.split())) for number, line in enumerate(lines_of(path), 1))
        yield from ((number, _LoggedQuery(line, 1, "")) for number, line in lines if line)
        return
    if ending not in FORMATS:
        raise unknown_format(path, (*TEXT_ENDINGS, *FORMATS))
    columns, rows = table_rows(path, bad)
    if columns and "query" not in columns:
        raise DataError(f"{path}:1: no column query (columns: {', '.join(columns)})")
    chosen = {name: name if name in columns else None for name in ("query", "count", "cluster")}
    refuse_misspelt(path, columns, {name: (name,) for name in chosen}, chosen)
    for number, row in rows:
        try:
            text = " ".join(checked_text("query", row.get("query")).split())
            cluster = row.get("cluster")
            named = "" if is_missing(cluster) else str(cluster).strip()
            yield number, _LoggedQuery(text, query_count(row.get("count")), named)
        except ValueError as error:
            bad(path, number, str(error))


def query_count(value: Any) -> int:
    """How often a query was asked, 1 by default; ValueError unless it is a whole number above 0.

    >>> query_count("12"), query_count(None)
    (12, 1)
    """
    if is_missing(value):
        return 1
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if not 1 <= number <= MOST_ASKED or not number.is_integer():
        raise ValueError(f"the count is {value!r:.60}, but should be a whole number, 1 or more")
    return int(number)


@dataclass(frozen=True, slots=True)
class PassageOptions:
    """How articles become passages: the query log, the maximum words of a passage, and near-duplicates.

    `near_duplicates` says whether near-duplicate answers count as the `same` answer, or `differ`.
    """

    queries: Path | None = None
    words: int = DEFAULT_WORDS
    near_duplicates: Literal["differ", "same"] = "differ"


def collection(path: Path, bad: BadRows, options: PassageOptions) -> Collection:
    """The passages of the articles at the path, and the queries of the log; DataError if there is no text."""
    seen: Counter[str] = Counter()
    excluded: Counter[str] = Counter()
    found = list(_passages(articles(path, bad, seen), options.words, excluded))
    if not found:
        held = (
            ", ".join(f"{count} {ending or 'without an ending'}" for ending, count in sorted(seen.items())) or "nothing"
        )
        raise DataError(f"passages: {path} has no document with text ({held}); expected {', '.join(ENDINGS)}")
    queries = query_log(options.queries, bad) if options.queries else ()
    for ending, count in sorted(seen.items()):
        if ending not in ENDINGS:
            excluded[f"files ending in {ending}" if ending else "files without an ending"] += count
    texts = {one.id: one.text for one in found}
    whole = Collection(texts, queries, excluded=dict(excluded), passages=tuple(found))
    if options.near_duplicates == "same":
        whole = whole.merged(near_duplicates(whole.searched.texts))
    log.warning("%s", "; ".join(_summary(path, whole, seen, options)))
    return whole


def _summary(path: Path, found: Collection, seen: Mapping[str, int], options: PassageOptions) -> Iterator[str]:
    """Messages about what was read from which files."""
    taken = Counter[str]()
    for ending in (one for one in seen if one in ENDINGS):
        taken[PAGE_KINDS.get(ending, f"table ({ending})")] += seen[ending]
    files = ", ".join(
        f"{count:,} {'file' if count == 1 else 'files'} of {what}" for what, count in sorted(taken.items())
    )
    many = len({one.article for one in found.passages})
    yield (
        f"{path} is read as documents without labels: {files}; {many:,} articles in {len(found.documents):,} "
        f"passages, cut at headings and after at most {options.words} words (--passage-words)"
    )
    if options.queries:
        total = sum(q.weight for q in found.queries)
        yield f"{options.queries}: {total:,} queries, {len(found.queries):,} of them different"
    if found.excluded:
        yield "left out: " + ", ".join(f"{count:,} {what}" for what, count in found.excluded.items())


def _passages(found: Iterable[Article], words: int, excluded: Counter[str]) -> Iterator[ArticlePassage]:
    """The passages of the articles, without repeats of a text; `excluded` counts what is left out."""
    known: set[str] = set()
    for article in found:
        sections = article.page.sections
        bodies = [(section.heading, body) for section in sections for body in split(section.text, words=words)]
        for number, (heading, body) in enumerate(bodies, 1):
            passage = ArticlePassage(f"{article.name}#{number}", article.name, article.page.title, heading, body)
            key = content_hash(" ".join(passage.text.split()))
            if key in known:
                excluded["repeated passages"] += 1
            else:
                known.add(key)
                yield passage
        if not bodies:
            excluded["documents without text"] += 1


def is_page(path: Path) -> bool:
    """Whether the file is an article."""
    return path.suffix.lower() in PAGES
