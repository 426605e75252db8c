"""What a figure rests on, as BibTeX: the source that its check declares, its data set, the generators of its items.

Sources are declared once: with the check (`@claim(source=...)`), in the data set's `CITATION`, in the first sentence of
the generator's file. `references.bib` has the entries; `declared` in each says by which words declarations name it.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources

import encheck.generators
from encheck.comparing.comparison import Comparison
from encheck.comparing.matrix import Line
from encheck.datasets.load import known_data_sets
from encheck.ids import ItemId
from encheck.types import content_hash

_ENTRY = re.compile(r"@\w+\{(?P<key>[^,]+),\n(?P<body>.*?)\n\}", re.DOTALL)
_DECLARED = re.compile(r",\n  declared = \{(?P<words>[^}]*)\}")
_OWN_PAGE = re.compile(r"^docs/\S+$")
OWN = "encheck"  # the key of encheck itself
OWN_DATA = ("probes", "search")
SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
           "<": r"\textless{}", ">": r"\textgreater{}", "[": "{[}", "]": "{]}",
           **{sign: f"\\{sign}" for sign in "&%$#_{}"}}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: its key, its BibTeX, and the words by which declarations name it."""

    key: str
    text: str
    declared: tuple[str, ...] = ()


def escape(text: str) -> str:
    r"""Text as LaTeX sets it: nothing in it is a command, an argument or a comment.

    >>> escape("50% of a_b {x} \\y [z]")
    '50\\% of a\\_b \\{x\\} \\textbackslash{}y {[}z{]}'
    """
    clean = "".join(sign if sign.isprintable() else " " for sign in text)
    return "".join(SPECIAL.get(sign, sign) for sign in clean)


@cache
def entries() -> Mapping[str, Entry]:
    """The entries of `references.bib` by key, without `declared`."""
    text = (resources.files("encheck.comparing") / "references.bib").read_text("utf-8")
    found = {}
    for match in _ENTRY.finditer(text):
        declared = _DECLARED.search(match[0])
        assert declared
        words = tuple(word.strip() for word in declared["words"].split(";"))
        found[match["key"]] = Entry(match["key"], _DECLARED.sub("", match[0]), words)
    return found


def named_in(source: str) -> list[Entry]:
    """The entries that a declaration names; encheck's own for a page of its docs, a new one for a source unknown here.

    >>> [one.key for one in named_in("Radovanovic et al. 2010; Ethayarajh 2019")]
    ['ethayarajh2019', 'radovanovic2010']
    """
    found = [one for one in entries().values() if any(words in source for words in one.declared)]
    if found or not source:
        return found
    return [itself()] if _OWN_PAGE.match(source) else [_unknown(source)]


def itself() -> Entry:
    """The entry of encheck in this version."""
    version = metadata.version("encheck")
    lines = ("author = {{The encheck authors}}", "title = {encheck: behavioural tests for sentence encoders}",
             f"note = {{Version {version}}}")  # fmt: skip
    return Entry(OWN, _entry("misc", OWN, lines))


def _unknown(source: str) -> Entry:
    key = f"source-{content_hash(source)[:8]}"
    return Entry(key, _entry("misc", key, (f"title = {{{{{escape(source)}}}}}",)))


def _entry(kind: str, key: str, lines: Sequence[str]) -> str:
    body = ",\n".join(f"  {line}" for line in lines)
    return f"@{kind}{{{key},\n{body}\n}}"


def of_line(found: Comparison, line: Line) -> list[Entry]:
    """What a line of the matrix rests on, by key: its check's source, its data, and the generators of its items."""
    sources = [line.source, *_of_data(line.data), *_of_generators(found, line)]
    cited = {one.key: one for source in sources for one in named_in(source)}
    return [cited[key] for key in sorted(cited)]


def _of_data(name: str) -> Iterator[str]:
    kind = re.split(r"[@:]", name)[0]
    if kind in OWN_DATA:
        yield "docs/probes.md"
    elif kind in known_data_sets():
        yield getattr(known_data_sets()[kind], "CITATION", "")


def _of_generators(found: Comparison, line: Line) -> Iterator[str]:
    """What the file of each generator says of itself, of the items of the first model that has any."""
    own = next((t for m in found.models for t in m.side.tables.values()
                if (t.check, t.data, t.level) == (line.check, line.data, line.level)), None)  # fmt: skip
    made = {known.generator for item in (own.items if own else ()) if (known := ItemId(item).known)}
    for name in sorted(made & set(_generators())):
        yield from re.findall(r"\(([^()]+ \d{4}[^()]*)\)", _generators()[name])


@cache
def _generators() -> Mapping[str, str]:
    """The first paragraph of each generator's file."""
    found = [m.name for m in pkgutil.iter_modules(encheck.generators.__path__)]
    modules = {name: importlib.import_module(f"encheck.generators.{name}") for name in found}
    return {name: " ".join((module.__doc__ or "").split("\n\n")[0].split()) for name, module in modules.items()}


def bibliography(found: Comparison) -> str:
    """Every entry that the table cites, each once, encheck's own among them."""
    cited = {one.key: one for line in found.matrix for one in of_line(found, line)} | {OWN: itself()}
    return "\n\n".join(cited[key].text for key in sorted(cited)) + "\n"
