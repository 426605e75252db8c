"""Your own articles without labels, split into passages, and a log of real queries.

Articles are Markdown, web pages, plain text, or rows of a table with a column of texts. A passage is the text under one
heading, or a part of that text. Models encode the article's title, the heading and the text, one per line. The
known-item search (see `titles`) uses the texts alone, because titles and headings are its queries. The log has one
query per line, or is a table with a column `query`. A query that occurs more often has more weight.
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

from encheck.datasets.clusters import find_first_near_duplicates
from encheck.datasets.collection import ArticlePassage, Collection, CollectionQuery
from encheck.datasets.reader import (
    TABLE_READERS,
    BadRows,
    check_text,
    field_text,
    file_ending,
    is_missing,
    read_lines,
    read_table,
    read_utf8,
    refuse_misspelt_columns,
    trec_sgml_remedy,
    unknown_format_error,
)
from encheck.datasets.splitting import split_passages
from encheck.errors import DataError
from encheck.system.files import files_under
from encheck.types import content_hash

IGNORED_ELEMENTS = {"script", "style", "template", "noscript", "svg", "head", "nav", "iframe", "button", "select"}
BLOCKS = {
    "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figcaption", "figure", "footer",
    "form", "header", "hr", "li", "main", "ol", "p", "pre", "section", "table", "tbody", "td", "th", "thead", "tr",
    "ul",
}  # fmt: skip
END_TAG = re.compile(r"</([a-z0-9]+)")
HEADING = re.compile(r"h[1-6]")
FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
FRONT_MATTER_TITLE = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
PAGE_KINDS = {
    ".md": "Markdown", ".markdown": "Markdown", ".html": "web pages", ".htm": "web pages", ".txt": "plain text",
}  # fmt: skip
TEXT_COLUMNS = ("text", "body", "content", "passage", "document", "article")
TITLE_COLUMNS = ("title", "heading", "name")
TEXT_ENDINGS = (".txt", ".log")
MAX_QUERY_COUNT = 10**12
log = logging.getLogger("encheck")
LICENCE = "yours"
FILES = "a folder or file of documents (.md, .html, .txt, .jsonl, .csv, .parquet), with the log: --queries=FILE"
DEFAULT_WORDS = 150
EXPECTED_LOG = f"one query per line (.txt), or a table with a column `query` ({', '.join(TABLE_READERS)})"


@dataclass(frozen=True, slots=True)
class PageSection:
    """The text under a heading. The heading is "" for the text before the first one."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """A page's title ("" if none) and its sections in order. Sections without heading and text are left out."""

    title: str
    sections: tuple[PageSection, ...]


def parse_html(text: str) -> Page:
    """Parse an HTML page. Its title is the first `h1`, otherwise the `title` element.

    >>> parse_html("<title>T</title><h1>Refunds</h1><p>Ask <b>us</b>.</p>")
    Page(title='Refunds', sections=(PageSection(heading='Refunds', text='Ask us.'),))
    """
    reader = _PageReader(Counter(END_TAG.findall(text.lower())))
    reader.feed(text)
    reader.close()
    return reader.page()


def parse_markdown(text: str) -> Page:
    r"""Parse a Markdown page (CommonMark and tables). A title in YAML front matter takes precedence over the first
    heading.

    >>> parse_markdown("# Refunds\n\nAsk *us*.").sections
    (PageSection(heading='Refunds', text='Ask us.'),)
    """
    from markdown_it import MarkdownIt

    text = text.replace("\r\n", "\n")
    front = FRONT_MATTER.match(text)
    page = parse_html(MarkdownIt("commonmark").enable("table").render(text[front.end() :] if front else text))
    named = FRONT_MATTER_TITLE.search(front[1]) if front else None
    return Page(named[1].strip("\"'"), page.sections) if named else page


def parse_plain_text(text: str, title: str = "") -> Page:
    """Make a page from plain text, which has no headings."""
    return Page(title, (PageSection("", text.strip()),) if text.strip() else ())


@dataclass
class _PageReader(HTMLParser):
    """A parser that collects a page's title and sections.

    `ends` counts the end tags ahead. An element that never ends is not ignored, because the rest of the page is in it.
    """

    ends: Counter[str]
    found: list[tuple[str, list[str]]] = field(default_factory=lambda: [("", [])])
    hidden: list[str] = field(default_factory=list)
    heading: list[str] | None = None
    level: str = ""
    name: list[str] = field(default_factory=list)
    first: str = ""
    in_name: bool = False

    parse_marked_section = HTMLParser.parse_bogus_comment  # of `<![...`, in HTML as in any other unknown declaration

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the parser's own signature
        if tag == "title":
            self.in_name = self.ends[tag] > 0
        elif tag in IGNORED_ELEMENTS:
            self.hidden += [tag] * (self.ends[tag] > 0 or tag in self.CDATA_CONTENT_ELEMENTS)
        elif not self.hidden and HEADING.fullmatch(tag):
            self.heading, self.level = [], tag
        elif tag in BLOCKS:
            self._add("\n")

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        if tag not in IGNORED_ELEMENTS:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        self.ends[tag] -= 1
        if tag == "title":
            self.in_name = False
        elif tag in self.hidden:
            del self.hidden[self.hidden.index(tag) :]
        elif self.heading is not None and tag == self.level:
            self._end_heading()
        elif tag in BLOCKS:
            self._add("\n")

    def handle_data(self, data: str) -> None:
        if self.in_name and "svg" not in self.hidden and not self.first:
            self.name.append(data)
        elif not self.hidden:
            self._add(data)

    def _add(self, text: str) -> None:
        (self.found[-1][1] if self.heading is None else self.heading).append(text)

    def _end_heading(self) -> None:
        heading = _join_white_space("".join(self.heading or []))
        if heading:
            self.found.append((heading, []))
        self.first = self.first or (heading if self.level == "h1" else "")
        self.heading = None

    def page(self) -> Page:
        """Return the collected page."""
        if self.heading is not None:
            self._end_heading()
        sections = (
            PageSection(heading, "\n".join(line for line in map(_join_white_space, "".join(parts).split("\n")) if line))
            for heading, parts in self.found
        )
        title = self.first or _join_white_space("".join(self.name))
        return Page(title, tuple(one for one in sections if one.heading or one.text))


def _join_white_space(text: str) -> str:
    return " ".join(text.split())


PAGE_PARSERS: Mapping[str, Callable[[str], Page]] = {
    ".md": parse_markdown,
    ".markdown": parse_markdown,
    ".html": parse_html,
    ".htm": parse_html,
    ".txt": parse_plain_text,
}
ENDINGS = (*PAGE_PARSERS, *TABLE_READERS)


@dataclass(frozen=True, slots=True)
class Article:
    """An article. `name` is its path in the folder; for a row of a table, the row number follows."""

    name: str
    page: Page


def read_articles(files: Iterable[tuple[Path, str]], bad: BadRows) -> Iterator[Article]:
    """Yield the articles in files with these names. An unreadable article counts as a bad row.

    Raise DataError if a table has no column of texts.
    """
    for file, name in files:
        if file_ending(file) not in PAGE_PARSERS:
            yield from _read_article_table(file, name, bad)
            continue
        try:
            text = read_utf8(file)
        except DataError as error:
            if not bad.skip:
                raise
            bad.skipped.append(str(error))
            continue
        if remedy := trec_sgml_remedy([file], file.parent):
            raise DataError(f"{file} holds TREC's SGML. Remedy: {remedy}")
        yield Article(name, PAGE_PARSERS[file_ending(file)](text))


def find_article_files(path: Path, query_log: Path | None, excluded: Counter[str]) -> list[tuple[Path, str]]:
    """Return (file, its name in the folder) for each file to read, in the order of their names.

    `excluded` counts the other files; hidden files and folders are skipped. Raise DataError if the path does not exist.
    """
    if path.is_file():
        if file_ending(path) not in ENDINGS:
            raise unknown_format_error(path, ENDINGS)
        return [(path, path.name)]
    if not path.is_dir():
        raise DataError(f"{path} does not exist; expected a folder or a file of documents: {', '.join(ENDINGS)}")
    found = []
    for file in files_under(path):
        ending = file_ending(file)
        if file.name.startswith("."):
            continue
        if query_log and file.samefile(query_log):
            excluded["log of queries"] += 1
        elif ending not in ENDINGS or ending == ".json":  # in a folder, such a file may be anything
            excluded[f"files ending in {ending}" if ending else "files without an ending"] += 1
        else:
            found.append((file, file.relative_to(path).as_posix()))
    return found


def _read_article_table(file: Path, name: str, bad: BadRows) -> Iterator[Article]:
    columns, rows = read_table(file, bad)
    text = next((one for one in TEXT_COLUMNS if one in columns), None)
    if not columns:
        return
    if text is None:
        raise DataError(
            f"{file}:1: no column with the texts of documents (columns: {', '.join(columns)}; accepted: "
            f"{', '.join(TEXT_COLUMNS)})"
        )
    title = next((one for one in TITLE_COLUMNS if one in columns and one != text), None)
    refuse_misspelt_columns(file, {*columns} - {text}, {"title": TITLE_COLUMNS}, {"title": title})
    for line, row in rows:
        try:
            heading = row.get(title) if title else None
            yield Article(
                f"{name}:{line}",
                parse_plain_text(
                    check_text("document", row.get(text)),
                    (" ".join(heading.split()) if isinstance(heading, str) and not is_missing(heading) else ""),
                ),
            )
        except ValueError as error:
            bad(file, line, str(error))


@dataclass(frozen=True, slots=True)
class _LoggedQuery:
    text: str
    count: int
    cluster: str


def read_query_log(path: Path, bad: BadRows) -> tuple[CollectionQuery, ...]:
    """Return the distinct queries of a log, in the order in which they first occur, each with its count as weight.

    A query is its own cluster unless a column `cluster` names one. Raise DataError if the log has no query.
    """
    if not path.is_file():
        state = "is a folder, but should be a file" if path.is_dir() else "does not exist"
        raise DataError(f"--queries={path} {state}: {EXPECTED_LOG}")
    queries: dict[str, _LoggedQuery] = {}
    for line, one in _read_log_rows(path, bad):
        known = queries.setdefault(one.text, one)
        if known is not one:
            if known.cluster != one.cluster:
                bad(
                    path,
                    line,
                    f"the query was in cluster {known.cluster!r:.60} before, but here it is in {one.cluster!r:.60}",
                )
                continue
            queries[one.text] = _LoggedQuery(one.text, known.count + one.count, one.cluster)
    if not queries:
        raise DataError(f"--queries={path} has no queries: {EXPECTED_LOG}")
    return tuple(
        CollectionQuery(content_hash(one.text), one.text, {}, cluster=one.cluster or content_hash("query", one.text),
                        weight=one.count)
        for one in queries.values()
    )  # fmt: skip


def _read_log_rows(path: Path, bad: BadRows) -> Iterator[tuple[int, _LoggedQuery]]:
    ending = file_ending(path)
    if ending in TEXT_ENDINGS:
        lines = ((number, " ".join(line.split())) for number, line in enumerate(read_lines(path), 1))
        yield from ((number, _LoggedQuery(line, 1, "")) for number, line in lines if line)
        return
    if ending not in TABLE_READERS:
        raise unknown_format_error(path, (*TEXT_ENDINGS, *TABLE_READERS))
    columns, rows = read_table(path, bad)
    if columns and "query" not in columns:
        raise DataError(f"{path}:1: no column query (columns: {', '.join(columns)})")
    chosen = {name: name if name in columns else None for name in ("query", "count", "cluster")}
    refuse_misspelt_columns(path, columns, {name: (name,) for name in chosen}, chosen)
    for number, row in rows:
        try:
            text = " ".join(check_text("query", row.get("query")).split())
            yield number, _LoggedQuery(text, parse_query_count(row.get("count")), field_text(row.get("cluster")))
        except ValueError as error:
            bad(path, number, str(error))


def parse_query_count(value: Any) -> int:
    """Return how often a query occurs; 1 if the value is missing. Raise ValueError unless it is a whole number above 0.

    >>> parse_query_count("12"), parse_query_count(None)
    (12, 1)
    """
    if is_missing(value):
        return 1
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if not 1 <= number <= MAX_QUERY_COUNT or not number.is_integer():
        raise ValueError(f"the count is {value!r:.60}, but should be a whole number, 1 or more")
    return int(number)


@dataclass(frozen=True, slots=True)
class PassageOptions:
    """How articles become passages: the query log, the maximum number of words per passage, and near-duplicates.

    `near_duplicates` is "same" if near-duplicate passages count as the same answer, or "differ".
    """

    queries: Path | None = None
    words: int = DEFAULT_WORDS
    near_duplicates: Literal["differ", "same"] = "differ"


def collection(path: Path, bad: BadRows, options: PassageOptions) -> Collection:
    """Make a collection of the passages at the path and the queries of the log. Raise DataError if there is no text."""
    excluded: Counter[str] = Counter()
    queries = read_query_log(options.queries, bad) if options.queries else ()
    files = find_article_files(path, options.queries, excluded)
    passages = list(_split_articles(read_articles(files, bad), options.words, excluded))
    if not passages:
        content = ", ".join(f"{count:,} {what}" for what, count in excluded.items()) or "nothing"
        remedy = trec_sgml_remedy(files_under(path), path)
        raise DataError(
            f"passages: {path} has no document with text ({content}); expected {', '.join(ENDINGS)}"
            + f". Remedy: {remedy}" * bool(remedy)
        )
    texts = {one.id: one.text for one in passages}
    whole = Collection(texts, queries, excluded=dict(excluded), passages=tuple(passages))
    if options.near_duplicates == "same":
        whole = whole.with_same_documents(find_first_near_duplicates(whole.searchable_documents.texts))
    log.warning("%s", "; ".join(_summarise_files(path, whole, files, options)))
    return whole


def _summarise_files(
    path: Path, collection: Collection, files_read: Iterable[tuple[Path, str]], options: PassageOptions
) -> Iterator[str]:
    """Yield messages that say which files were read, and what they held."""
    endings = (file_ending(file) for file, _ in files_read)
    taken = Counter(PAGE_KINDS.get(ending, f"table ({ending})") for ending in endings)
    files = ", ".join(
        f"{count:,} {'file' if count == 1 else 'files'} of {what}" for what, count in sorted(taken.items())
    )
    many = len({one.article for one in collection.passages})
    yield (
        f"{path} is read as documents without labels: {files}; {many:,} articles in {len(collection.documents):,} "
        f"passages, cut at headings and after at most {options.words} words (--passage-words)"
    )
    if options.queries:
        total = sum(q.weight for q in collection.queries)
        yield f"{options.queries}: {total:,} queries, {len(collection.queries):,} of them different"
    if collection.excluded:
        yield "left out: " + ", ".join(f"{count:,} {what}" for what, count in collection.excluded.items())


def _split_articles(articles: Iterable[Article], words: int, excluded: Counter[str]) -> Iterator[ArticlePassage]:
    """Yield the passages of the articles. A passage that repeats a text is left out, and `excluded` counts it."""
    known: set[str] = set()
    for article in articles:
        sections = article.page.sections
        bodies = [(section.heading, body) for section in sections for body in split_passages(section.text, words=words)]
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


def is_article_file(path: Path) -> bool:
    """Return whether the file's ending is that of an article."""
    return path.suffix.lower() in PAGE_PARSERS
