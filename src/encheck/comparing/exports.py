"""A comparison for other tools: JSON, a tidy CSV, a LaTeX table, and the BibTeX of what its figures rest on.

Sources are declared once: with the check (`@claim(source=...)`), in the data set's `CITATION`, in the first sentence of
the generator's file. `references.bib` has the entries; `declared` in each says by which words declarations name it.
"""

from __future__ import annotations

import csv
import importlib
import io
import json
import pkgutil
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from importlib import metadata, resources
from itertools import groupby
from pathlib import Path

import encheck.generators
from encheck.comparing.comparison import ModelComparison, PropertyLine, Said
from encheck.datasets.load import known_data_sets
from encheck.errors import UsageError
from encheck.ids import ItemId
from encheck.metrics import named
from encheck.reporting.results import write_named
from encheck.system.terminal import safe_cell
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
class BibEntry:
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
def entries() -> Mapping[str, BibEntry]:
    """The entries of `references.bib` by key, without `declared`."""
    text = (resources.files("encheck.comparing") / "references.bib").read_text("utf-8")
    found = {}
    for match in _ENTRY.finditer(text):
        declared = _DECLARED.search(match[0])
        assert declared
        words = tuple(word.strip() for word in declared["words"].split(";"))
        found[match["key"]] = BibEntry(match["key"], _DECLARED.sub("", match[0]), words)
    return found


def entries_named_in(source: str) -> list[BibEntry]:
    """The entries that a declaration names; encheck's own for a page of its docs, a new one for a source unknown here.

    >>> [one.key for one in entries_named_in("Radovanovic et al. 2010; Ethayarajh 2019")]
    ['ethayarajh2019', 'radovanovic2010']
    """
    found = [one for one in entries().values() if any(words in source for words in one.declared)]
    if found or not source:
        return found
    if _OWN_PAGE.match(source):
        return [encheck_entry()]
    key = f"source-{content_hash(source)[:8]}"
    return [BibEntry(key, _entry("misc", key, (f"title = {{{{{escape(source)}}}}}",)))]


def encheck_entry() -> BibEntry:
    """The entry of encheck in this version."""
    version = metadata.version("encheck")
    lines = ("author = {{The encheck authors}}", "title = {encheck: behavioural tests for sentence encoders}",
             f"note = {{Version {version}}}")  # fmt: skip
    return BibEntry(OWN, _entry("misc", OWN, lines))


def _entry(kind: str, key: str, lines: Sequence[str]) -> str:
    body = ",\n".join(f"  {line}" for line in lines)
    return f"@{kind}{{{key},\n{body}\n}}"


def line_sources(found: ModelComparison, line: PropertyLine) -> list[BibEntry]:
    """What a line of the matrix rests on, by key: its check's source, its data, and the generators of its items.

    The items are those of the first model that has any; of a generator, what its file says of itself.
    """
    sources, kind = [line.source], re.split(r"[@:]", line.data)[0]
    if kind in OWN_DATA:
        sources.append("docs/probes.md")
    elif kind in known_data_sets():
        sources.append(getattr(known_data_sets()[kind], "CITATION", ""))
    own = next((t for m in found.models for t in m.side.tables.values()
                if (t.check, t.data, t.level) == (line.check, line.data, line.level)), None)  # fmt: skip
    made = {known.generator for item in (own.items if own else ()) if (known := ItemId(item).known)}
    for name in sorted(made & set(_generators())):
        sources += re.findall(r"\(([^()]+ \d{4}[^()]*)\)", _generators()[name])
    cited = {one.key: one for source in sources for one in entries_named_in(source)}
    return [cited[key] for key in sorted(cited)]


@cache
def _generators() -> Mapping[str, str]:
    """The first paragraph of each generator's file."""
    found = [m.name for m in pkgutil.iter_modules(encheck.generators.__path__)]
    modules = {name: importlib.import_module(f"encheck.generators.{name}") for name in found}
    return {name: " ".join((module.__doc__ or "").split("\n\n")[0].split()) for name, module in modules.items()}


def bibliography(found: ModelComparison) -> str:
    """Every entry that the table cites, each once, encheck's own among them."""
    cited = {one.key: one for line in found.matrix for one in line_sources(found, line)} | {OWN: encheck_entry()}
    return "\n\n".join(cited[key].text for key in sorted(cited)) + "\n"


SIGNS: Mapping[Said, str] = {
    "better": r"$^{\uparrow}$", "worse": r"$^{\downarrow}$", "cannot tell": r"$^{\approx}$",
    "no evidence": r"$^{\ast}$", "not compared": "",
}  # fmt: skip
MOST_NARROW = 4  # models that stand side by side on a page without being scaled


def latex_table(found: ModelComparison, *, cite: bool = False) -> str:
    """The table, for `booktabs`, and `graphicx` where it is scaled; with `cite` every property cites its sources."""
    names, is_wide = [escape(m.name) for m in found.models], len(found.models) > MOST_NARROW
    kind = "table*" if is_wide else "table"
    lines = [
        f"% needs \\usepackage{{booktabs}}{' and graphicx' if is_wide else ''}; made by encheck compare",
        f"\\begin{{{kind}}}[t]", r"\centering\small", *([r"\resizebox{\textwidth}{!}{%"] if is_wide else []),
        f"\\begin{{tabular}}{{lr{'l' * len(names)}}}", r"\toprule",
        " & ".join(["Property", "Chance", *names]) + r" \\",
    ]  # fmt: skip
    several = len({line.data for line in found.matrix}) > 1
    for (data, family), some in groupby(found.matrix, key=lambda line: (line.data, line.family)):
        name = escape(f"{family}, {data}" if several else family)
        lines += [r"\midrule", f"\\multicolumn{{{len(found.models) + 2}}}{{l}}{{\\emph{{{name}}}}} \\\\"]
        for line in some:
            keys = [one.key for one in line_sources(found, line)] if cite else []
            cells = [escape(line.property) + (f"~\\cite{{{','.join(keys)}}}" if keys else "")]
            cells.append("--" if line.chance is None else f"{line.chance:.2f}")
            for cell in line.cells:
                ends = f"{{\\scriptsize [{cell.low:.2f}, {cell.high:.2f}]}}" if cell else ""
                cells.append(f"{cell.value:.2f}{SIGNS[cell.said]} {ends}" if cell else "--")
            lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}" + ("}" if is_wide else "")]
    lines += [f"\\caption{{{_caption(found, cite=cite)}}}", r"\label{tab:encheck}", f"\\end{{{kind}}}"]
    return "\n".join(lines) + "\n"


def _caption(found: ModelComparison, *, cite: bool) -> str:
    by = f" with encheck~\\cite{{{OWN}}}" if cite else " with encheck"
    return (
        f"Behaviour by property{by}, with 95\\% intervals over clusters. "
        f"$^{{\\uparrow}}$ and $^{{\\downarrow}}$: better and worse than {escape(found.first.name)} on the same items "
        r"(5\% for the whole table, Holm); $^{\approx}$: not separable from it."
        + r" $^{\ast}$: rose, but is not shown to beat guessing, which is no evidence."
        * any(cell and cell.said == "no evidence" for line in found.matrix for cell in line.cells)
    )


@dataclass(frozen=True, slots=True)
class TidyRow:
    """A figure of a model: `low` and `high` end its 95% interval, `chance` is what guessing gets, None if unknown.

    The last four are there for the figure that stands for a property: its difference from the reference on the same
    items, and what the matrix says of it.
    """

    model: str
    reference: str
    data: str
    property: str
    family: str
    check: str
    level: str
    figure: str | None
    value: float
    low: float | None
    high: float | None
    n: int
    clusters: int
    chance: float | None
    difference: float | str = ""
    difference_low: float | str = ""
    difference_high: float | str = ""
    compared: str = ""


COLUMNS = tuple(one.name for one in fields(TidyRow))


def tidy_rows(found: ModelComparison) -> Iterator[TidyRow]:
    """Every figure of the models: a row a model, case and figure."""
    cells = {
        (model.name, line.data, line.check, line.level, line.figure): cell
        for line in found.matrix
        for model, cell in zip(found.models, line.cells, strict=True)
    }
    for model in found.models:
        for row in model.rows:
            if row.value is None:
                continue
            declared = model.declared[row.check]
            try:
                chance = declared.chance if row.metric == declared.metric else named(row.metric or "").chance
            except UsageError:
                chance = None
            tidy = TidyRow(
                model.name, found.first.name, row.data, row.property, declared.family, row.check, row.level,
                row.metric, row.value, row.low, row.high, row.n, row.clusters, chance,
            )  # fmt: skip
            cell = cells.get((model.name, row.data, row.check, str(row.level), row.metric or ""))
            if cell and cell.change:
                change = cell.change
                tidy = replace(
                    tidy, difference=change.difference, difference_low=change.low, difference_high=change.high
                )
            yield replace(tidy, compared=cell.said) if cell else tidy


def as_csv(found: ModelComparison) -> str:
    """The rows as CSV with a header."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    writer.writerows({name: safe_cell(getattr(row, name)) for name in COLUMNS} for row in tidy_rows(found))
    return out.getvalue()


def write_json(path: Path, found: ModelComparison) -> None:
    """The differences as JSON, for other tools; UsageError where the disk does not take it."""
    differences = {name: [asdict(d) for d in some] for name, some in found.differences.items()}
    matrix = [
        asdict(line)
        | {"cells": {m.name: cell and asdict(cell) for m, cell in zip(found.models, line.cells, strict=True)}}
        for line in found.matrix
    ]
    whole = {
        "against": found.first.name,
        "matrix": matrix,
        "differences": differences,
        "dilemma": found.dilemma and asdict(found.dilemma) | {"correlation": found.dilemma.correlation},
        "contamination": [asdict(one) for one in found.contamination],
    }
    write_named(path, json.dumps(whole, indent=1) + "\n")
