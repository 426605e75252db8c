"""Format texts for display: mark edits, escape Markdown, align columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from encheck.system.terminal import LINES, make_visible
from encheck.types import Edit

NAMES: Mapping[str, str] = {  # names of properties, and of the capabilities in which a gate pools some of them
    "antonym": "opposites",
    "assertion": "negation, conditions, must and may",
    "binding": "which attribute is whose",
    "comparative": "which of two is more",
    "condition": "if and unless",
    "context": "edits in longer texts",
    "continuation": "texts that go on",
    "contract": "contracts",
    "contrast": "near-identical queries",
    "dilution": "edits in long passages",
    "downstream": "classifiers on the vectors",
    "entity": "names",
    "facts": "numbers, quantities and names",
    "health": "vector space",
    "invariance": "case and spacing",
    "jumble": "jumbled words",
    "modality": "must and may",
    "negation": "what is denied",
    "nonobvious": "paraphrases in other words",
    "number": "numbers",
    "own": "your contrasts",
    "paraphrase": "paraphrases",
    "quantifier": "all, some and none",
    "relation": "who, whose, which and when",
    "retrieval": "search",
    "roles": "who did what to whom",
    "sts": "graded pairs",
    "swapchain": "swapped words",
    "symmetry": "first or second text",
    "synonym": "synonyms",
    "temporal": "what came first",
    "typo": "typing errors",
    "word-order": "word order",
}
SENTENCES = "built-in English sentences"
Piece = tuple[Literal["same", "del", "ins"], str]
MAX_EDITS_MARKED = 8
MOST_CODE = 600  # characters of a command


def plain_name(tested: str) -> str:
    """Return the plain name of a property or capability. For an unknown one, derive a name from its id.

    >>> plain_name("roles"), plain_name("legal-terms")
    ('who did what to whom', 'legal terms')
    """
    return NAMES.get(tested) or tested.replace("-", " ").replace("_", " ")


def data_name(data: str, *, with_code: bool = True) -> str:
    """Return the plain name of a data set. If that differs from the name for `--data`, add the latter in brackets.

    >>> data_name("probes"), data_name("probes", with_code=False), data_name("mrpc")
    ('built-in English sentences (probes)', 'built-in English sentences', 'mrpc')
    """
    return f"{SENTENCES} ({data})" if data == "probes" and with_code else SENTENCES if data == "probes" else data


def percent(share: float) -> str:
    """Return a share in percent. Only an exact 0 or 1 gives 0% or 100%.

    >>> percent(0.2297), percent(0.004), percent(0.9996), percent(1.0)
    ('23%', 'under 1%', 'over 99%', '100%')
    """
    if 0 < share < 0.005:
        return "under 1%"
    return "over 99%" if 0.995 <= share < 1 else f"{100 * share:.0f}%"


def percent_interval(low: float, high: float) -> str:
    """Return the ends of a share's interval in percent, with as many digits as its width supports.

    >>> percent_interval(0.481, 0.557), percent_interval(0.991, 1.0)
    ('48 to 56', '99.1 to 100.0')
    """
    digits = 0 if high - low > 0.02 else 1
    return f"{100 * low:.{digits}f} to {100 * high:.{digits}f}"


def pieces(source: str, text: str, edits: Sequence[Edit]) -> list[Piece]:
    """Return a variant as pieces (kind, text). The kind is same, del or ins.

    The variant is a single piece if it has no edits, many edits, or edits of more than half of the source, because
    marks would make it hard to read.

    >>> pieces("a fast car", "a slow car", [Edit(2, 6, "slow")])
    [('same', 'a '), ('del', 'fast'), ('ins', 'slow'), ('same', ' car')]
    """
    replaced = sum(edit.end - edit.start for edit in edits)
    if not edits or len(edits) > MAX_EDITS_MARKED or replaced * 2 > len(source):
        return [("same", text)]
    out: list[Piece] = []
    at = 0
    for edit in edits:
        out += [("same", source[at : edit.start]), ("del", source[edit.start : edit.end]), ("ins", edit.text)]
        at = edit.end
    return [(kind, piece) for kind, piece in [*out, ("same", source[at:])] if piece]


def mark_edits(source: str, text: str, edits: Sequence[Edit]) -> str:
    """Return the variant as plain text, with deletions in [-brackets-] and insertions in {+braces+}.

    >>> mark_edits("a fast car", "a slow car", [Edit(2, 6, "slow")])
    'a [-fast-]{+slow+} car'
    """
    return join_pieces(pieces(source, text, edits))


def join_pieces(found: Iterable[Piece]) -> str:
    """Return pieces as plain text with marks.

    >>> join_pieces([("same", "a "), ("del", "fast"), ("ins", "slow")])
    'a [-fast-]{+slow+}'
    """
    signs = {"same": "{}", "del": "[-{}-]", "ins": "{{+{}+}}"}
    return "".join(signs[kind].format(piece) for kind, piece in found)


def shorten_pieces(found: Sequence[Piece], *, context: int = 60) -> list[Piece]:
    """Return pieces on one line, with `context` characters of unchanged text on each side of an edit.

    Pieces without edits are not shortened.

    >>> shorten_pieces([("same", "x" * 70), ("ins", "new"), ("same", " end")], context=3)
    [('same', '...xxx'), ('ins', 'new'), ('same', ' end')]
    """
    return [(kind, _cut(kind, text, i, len(found), context)) for i, (kind, text) in enumerate(found)]


def _cut(kind: str, text: str, place: int, count: int, context: int) -> str:
    line = re.sub(r"\s+", " ", text)
    first, last = place == 0, place == count - 1
    if kind != "same" or (first and last) or len(line) <= 2 * context + 3:
        return line
    return ("" if first else line[:context]) + "..." + ("" if last else line[-context:])


FORMATTING = re.compile(r"[|`*~]|(?<![^\W_])_|_(?![^\W_])")  # an underscore within a word formats nothing


# Hosts parse these even after a backslash: formulas, mentions, issues (also GH-1), addresses, emoji by name.
LINKING = re.compile(r"[$@#]|:(?=//|[\w+-]+:)|(?<=www)\.|[!%](?=\w)|&amp;(?=\d)|(?<=\bgh)-(?=\d)", re.IGNORECASE)


def escape_markdown(text: str) -> str:
    r"""Escape a text for Markdown, so that it ends no table cell and makes no tag, link, formula, emphasis or control
    character.

    >>> escape_markdown("a|b <i> a_b __c__ $x$")
    'a\\|b &lt;i&gt; a_b \\_\\_c\\_\\_ <span>$</span>x<span>$</span>'
    """
    clean = " ".join("".join(c if c.isprintable() else " " for c in make_visible(text, keep=LINES)).split())
    for old, new in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\\", "\\\\"), ("](", "]\\(")):
        clean = clean.replace(old, new)
    return LINKING.sub(r"<span>\g<0></span>", FORMATTING.sub(r"\\\g<0>", clean))


def inline_code(text: str, *, most: int = MOST_CODE) -> str:
    """Return a text as inline code in Markdown.

    >>> inline_code("a`b")
    '`` a`b ``'
    """
    line = one_line(text, most)
    fence = "`" * (longest_backticks(line) + 1)
    return f"{fence} {line} {fence}" if "`" in line else f"`{line}`"


def one_line(text: str, most: int) -> str:
    """Return a text that others wrote on one line, shortened if necessary, with invisible characters made visible."""
    return cut_line(make_visible(" ".join(text.split())), most)


def cut_line(line: str, most: int) -> str:
    """Return the line, cut to at most `most` characters."""
    return line if len(line) <= most else f"{line[: most - 3]}..."


def longest_backticks(text: str) -> int:
    """Return the length of the longest run of backticks in the text. A code fence must be longer."""
    return max(map(len, re.findall("`+", text)), default=0)


def table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield rows as aligned columns. The first row is the heading."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
