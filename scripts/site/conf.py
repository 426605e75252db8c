"""The site: the Markdown files of the repository as they stand, with docs/README.md for the table of contents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from encheck import __version__

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[([^\]]*)\]\(([\w./-]+\.md)")
SECTION = re.compile(r"^## (.+)\n((?:(?!^## ).*\n?)*)", re.MULTILINE)

project, author = "encheck", "The encheck authors"
release = __version__
extensions = ["myst_parser"]
include_patterns = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "docs/**.md", "papers/**.md"]
exclude_patterns = [".*", "build", "dist", "node_modules", "reports", "src", "tests"]
root_doc = "docs/README"
myst_heading_anchors = 6
smartquotes = False  # two dashes begin an option

html_title = f"encheck {release}"
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "navbar_center": [],
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "footer_start": [],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}
html_sidebars = {"**": ["contents.html"]}
html_copy_source = html_show_sourcelink = False
html_static_path = ["static"]
html_css_files = ["site.css"]
templates_path = ["templates"]


def setup(app: Any) -> None:
    """Have pages that list others hold their tables of contents, and Markdown that is no page be a download."""
    app.connect("source-read", _read)


def _read(_app: Any, docname: str, source: list[str]) -> None:
    if docname.startswith("docs/") and docname.endswith("/README"):
        source[0] += "".join(_contents(docname, source[0]))
    source[0] = re.sub(r"\]\(((?:\.\./)*(?:src|lab)/[^)#]+\.md)(?:#[^)]*)?\)", r"](path:\1)", source[0])


def _contents(docname: str, text: str) -> Iterator[str]:
    """A hidden table of contents for each section, of the pages that it is the first to link to."""
    seen = {docname}
    for caption, body in SECTION.findall(text) or [("", text)]:
        linked: dict[str, str] = {}
        for words, target in LINK.findall(body):
            linked.setdefault(_page(docname, target), words)
        fresh = [page for page in linked if page not in seen]
        seen.update(fresh)
        if fresh:
            head = [":hidden:", f":caption: {caption}"] if caption else [":hidden:"]
            lines = [f"{linked[page]} </{page}>" if page == "README" else f"/{page}" for page in fresh]
            yield "\n".join(["\n\n```{toctree}", *head, "", *lines, "```\n"])


def _page(docname: str, target: str) -> str:
    """The name that Sphinx has a linked file by."""
    linked = ((ROOT / docname).parent / target).resolve()
    return str(linked.relative_to(ROOT).with_suffix(""))
