"""The readable text of a web page or Markdown file: its title, and the text under each heading."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

UNREAD = {"script", "style", "template", "noscript", "svg", "head", "nav", "iframe", "button", "select"}
BLOCKS = {
    "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figcaption", "figure", "footer",
    "form", "header", "hr", "li", "main", "ol", "p", "pre", "section", "table", "tbody", "td", "th", "thead", "tr",
    "ul",
}  # fmt: skip
HEADING = re.compile(r"h[1-6]")
FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
TITLE = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under a heading, "" before the first."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """A title, "" if there is none, and sections in order; those without heading and text are left out."""

    title: str
    sections: tuple[Section, ...]


def of_html(text: str) -> Page:
    """What stands in HTML; its title is the first `h1`, else `title`.

    >>> of_html("<title>T</title><h1>Refunds</h1><p>Ask <b>us</b>.</p><h2>When</h2>Soon.")
    Page(title='Refunds', sections=(Section(heading='Refunds', text='Ask us.'), Section(heading='When', text='Soon.')))
    """
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader.page()


def of_markdown(text: str) -> Page:
    """What stands in Markdown (CommonMark and tables); a title in YAML front matter goes first.

    >>> of_markdown("# Refunds\\n\\nAsk *us*.").sections
    (Section(heading='Refunds', text='Ask us.'),)
    """
    from markdown_it import MarkdownIt

    front = FRONT_MATTER.match(text)
    page = of_html(MarkdownIt("commonmark").enable("table").render(text[front.end() :] if front else text))
    named = TITLE.search(front[1]) if front else None
    return Page(named[1].strip("\"'"), page.sections) if named else page


def of_text(text: str, title: str = "") -> Page:
    """Plain text, which has no headings."""
    return Page(title, (Section("", text.strip()),) if text.strip() else ())


@dataclass
class _Reader(HTMLParser):
    """Gathers the text of a page as the parser goes through it."""

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
            self.hidden.clear()  # a head that nobody closed
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
        """Whether the text of the title is no title: one in a picture, or behind the first heading."""
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
        """What was gathered."""
        if self.heading is not None:
            self._end_heading()
        sections = (Section(heading, _in_lines("".join(parts))) for heading, parts in self.found)
        title = self.first or _in_a_line("".join(self.name))
        return Page(title, tuple(one for one in sections if one.heading or one.text))


def _in_a_line(text: str) -> str:
    return " ".join(text.split())


def _in_lines(text: str) -> str:
    """The lines that hold something, without white space around them."""
    return "\n".join(line for line in map(_in_a_line, text.split("\n")) if line)
