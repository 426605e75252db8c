"""Write a comparison for other tools: JSON, a tidy CSV, a LaTeX table, and the BibTeX of its sources.

Each source is declared in one place: with the check (`@claim(source=...)`), in the data set's `CITATION`, or in the
first sentence of the generator's file. `references.bib` has the BibTeX entries. An entry's field `declared` lists the
words by which declarations refer to it.
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
from typing import Literal

import encheck.generators
from encheck.comparing.comparison import Compared, ModelComparison, PropertyCell, PropertyLine, pairwise_differences
from encheck.comparing.models import ComparedModel
from encheck.datasets.load import known_data_sets
from encheck.errors import UsageError
from encheck.ids import ItemId
from encheck.metrics import find_metric
from encheck.reporting.results import write_named
from encheck.reporting.text import data_name
from encheck.reporting.view import format_figure, format_interval
from encheck.system.terminal import safe_cell
from encheck.types import content_hash

_ENTRY_PATTERN = re.compile(r"@\w+\{(?P<key>[^,]+),\n(?P<body>.*?)\n\}", re.DOTALL)
_DECLARED = re.compile(r",\n  declared = \{(?P<words>[^}]*)\}")
_OWN_PAGE = re.compile(r"^docs/\S+$")
Pairs = Literal["reference", "all"]
OWN = "encheck"  # the key of encheck itself
OWN_DATA = ("probes", "search")
SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
           "<": r"\textless{}", ">": r"\textgreater{}", "[": "{[}", "]": "{]}",
           **{sign: f"\\{sign}" for sign in "&%$#_{}"}}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BibEntry:
    """A BibTeX entry with its key, and the words by which declarations refer to it."""

    key: str
    text: str
    declared: tuple[str, ...] = ()


def escape_latex(text: str) -> str:
    r"""Return text escaped for LaTeX: no commands, arguments or comments.

    >>> escape_latex("50% of a_b {x} \\y [z]")
    '50\\% of a\\_b \\{x\\} \\textbackslash{}y {[}z{]}'
    """
    clean = "".join(sign if sign.isprintable() else " " for sign in text)
    return "".join(SPECIAL.get(sign, sign) for sign in clean)


@cache
def bibliography_entries() -> Mapping[str, BibEntry]:
    """Return the entries of `references.bib` by key, without `declared`."""
    text = (resources.files("encheck.comparing") / "references.bib").read_text("utf-8")
    found = {}
    for match in _ENTRY_PATTERN.finditer(text):
        declared = _DECLARED.search(match[0])
        assert declared
        words = tuple(word.strip() for word in declared["words"].split(";"))
        found[match["key"]] = BibEntry(match["key"], _DECLARED.sub("", match[0]), words)
    return found


def entries_of_source(source: str) -> list[BibEntry]:
    """Return the entries that a declaration names.

    A page of encheck's docs gives encheck's own entry. An unknown source gives a new entry.

    >>> [one.key for one in entries_of_source("Radovanovic et al. 2010; Ethayarajh 2019")]
    ['ethayarajh2019', 'radovanovic2010']
    """
    found = [one for one in bibliography_entries().values() if any(words in source for words in one.declared)]
    if found or not source:
        return found
    if _OWN_PAGE.match(source):
        return [encheck_entry()]
    key = f"source-{content_hash(source)[:8]}"
    return [BibEntry(key, _bibtex_entry("misc", key, (f"title = {{{{{escape_latex(source)}}}}}",)))]


def encheck_entry(year: str = "") -> BibEntry:
    """Return the entry of this version of encheck, with the year of use and, if encheck has one, its address."""
    about = metadata.metadata("encheck")
    lines = ["author = {{The encheck authors}}", "title = {encheck: behavioural tests for sentence encoders}",
             f"note = {{Version {metadata.version('encheck')}}}"]  # fmt: skip
    lines += [f"year = {{{year}}}"] * bool(year)
    lines += [f"url = {{{url.rpartition(' ')[2]}}}" for url in (about.get_all("Project-URL") or ())[:1]]
    return BibEntry(OWN, _bibtex_entry("misc", OWN, lines))


def model_entries(model: ComparedModel) -> list[BibEntry]:
    """Return the entries that the model declares, otherwise one with its name, address, revision and year of use.

    Models without a source have an entry for each label.
    """
    source = model.about.name if model.about and model.about.name != model.about.adapter else model.label
    if known := [one for one in bibliography_entries().values() if source in one.declared]:
        return known
    name, key = model.own_name, f"model-{content_hash(source)[:8]}"
    owner, _, short = name.rpartition("/")
    lines = [
        f"key = {{{{{escape_latex(short)}}}}}",
        f"title = {{{{{escape_latex(short)}}}}}",
        f"year = {{{model.started[:4]}}}",
    ]
    lines += [f"author = {{{{{escape_latex(owner)}}}}}", f"url = {{https://huggingface.co/{name}}}"] if owner else []
    told = [f"{what} {value}" for what, value in (
        ("revision", model.about and model.about.revision), ("weights", model.about and model.about.weights),
    ) if value]  # fmt: skip
    lines.append(f"note = {{{escape_latex(', '.join(['Sentence encoder', *told]))}}}")
    return [BibEntry(key, _bibtex_entry("misc", key, lines))]


def _bibtex_entry(kind: str, key: str, lines: Sequence[str]) -> str:
    body = ",\n".join(f"  {line}" for line in lines)
    return f"@{kind}{{{key},\n{body}\n}}"


def sources_of_line(comparison: ModelComparison, line: PropertyLine) -> list[BibEntry]:
    """Return the BibTeX entries of a line of the matrix by key: of its check, its data, and the generators of its
    items.

    The items are those of the first model that has any. A generator's sources are those in its file.
    """
    sources, kind = [line.source], re.split(r"[@:]", line.data)[0]
    if kind in OWN_DATA:
        sources.append("docs/method/probes.md")
    elif kind in known_data_sets():
        sources.append(getattr(known_data_sets()[kind], "CITATION", ""))
    own = next((t for m in comparison.models for t in m.side.tables.values()
                if (t.check, t.data, t.level) == (line.check, line.data, line.level)), None)  # fmt: skip
    made = {known.generator for item in (own.items if own else ()) if (known := ItemId(item).parts_or_none)}
    for name in sorted(made & set(_generator_summaries())):
        sources += re.findall(r"\(([^()]+ \d{4}[^()]*)\)", _generator_summaries()[name])
    cited = {one.key: one for source in sources for one in entries_of_source(source)}
    return [cited[key] for key in sorted(cited)]


@cache
def _generator_summaries() -> Mapping[str, str]:
    """Return the first paragraph of each generator's file."""
    found = [m.name for m in pkgutil.iter_modules(encheck.generators.__path__)]
    modules = {name: importlib.import_module(f"encheck.generators.{name}") for name in found}
    return {name: " ".join((module.__doc__ or "").split("\n\n")[0].split()) for name, module in modules.items()}


def bibtex(comparison: ModelComparison) -> str:
    """Return each entry that the table cites once: data, checks, generators, models, and encheck itself."""
    cited = {one.key: one for line in comparison.matrix for one in sources_of_line(comparison, line)}
    cited |= {one.key: one for model in comparison.models for one in model_entries(model)}
    cited |= {OWN: encheck_entry(comparison.first.started[:4])}
    return "\n\n".join(cited[key].text for key in sorted(cited)) + "\n"


SIGNS: Mapping[Compared, str] = {
    "better": r"$^{\uparrow}$", "worse": r"$^{\downarrow}$", "cannot tell": r"$^{\approx}$",
    "no evidence": r"$^{\ast}$", "not compared": "",
}  # fmt: skip
MOST_NARROW = 2  # models that fit side by side on a page unscaled
SMALL = "{{\\scriptsize {}}}"


def display_names(comparison: ModelComparison, given: Sequence[str] = ()) -> dict[str, str]:
    """Return the name of each model in a table or picture: its full name, or the name in `given` ("sbert=MiniLM").

    Raise UsageError if `given` names an unknown model.
    """
    own = [model.own_name for model in comparison.models]
    # several runs of one model keep their distinct names
    names = {m.name: m.name if own.count(m.own_name) > 1 else m.own_name for m in comparison.models}
    for text in given:
        name, sign, full = text.partition("=")
        if not sign or not full or name not in names:
            raise UsageError(f"--names={text} should be NAME=TEXT, with a NAME among: {', '.join(names)}")
        names[name] = full
    return names


def latex_table(
    comparison: ModelComparison, *, cite: bool = False, names: Sequence[str] = (), pairs: Pairs = "reference"
) -> str:
    """Return a LaTeX table for `booktabs`, and for `graphicx` if it is scaled. With `cite`, properties and models have
    citations.

    `names` is as for `display_names`. With `pairs="all"`, a second table (`longtable`) compares every two models.
    """
    called, is_wide = display_names(comparison, names), len(comparison.models) > MOST_NARROW
    kind, packages = "table*" if is_wide else "table", ["booktabs"]
    packages += ["graphicx"] * is_wide + ["longtable"] * (pairs == "all")
    heads = [escape_latex(called[m.name]) + (_citation(model_entries(m)) if cite else "") for m in comparison.models]
    lines = [
        "% made by encheck compare; needs " + ", ".join(f"\\usepackage{{{name}}}" for name in packages),
        f"\\begin{{{kind}}}[t]", r"\centering\footnotesize\setlength{\tabcolsep}{2pt}",
        *([r"\resizebox{\textwidth}{!}{%"] if is_wide else []),
        f"\\begin{{tabular}}{{lrr{'l' * len(heads)}}}", r"\toprule",
        " & ".join(["Property", "$n$", "Chance", *heads]) + r" \\",
    ]  # fmt: skip
    several = len({line.data for line in comparison.matrix}) > 1
    for (data, family), some in groupby(comparison.matrix, key=lambda line: (line.data, line.family)):
        name = escape_latex(f"{family}, {data}" if several else family)
        lines += [r"\midrule", f"\\multicolumn{{{len(heads) + 3}}}{{l}}{{\\emph{{{name}}}}} \\\\"]
        for line in some:
            cells = [escape_latex(line.title) + (_citation(sources_of_line(comparison, line)) if cite else "")]
            cells.append(f"{next((one.n for one in line.cells if one), 0):,}")
            cells.append("--" if line.chance is None else _latex_figure(line.figure, line.chance))
            lines.append(" & ".join([*cells, *(_latex_cell(line.figure, one) for one in line.cells)]) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}" + ("}" if is_wide else "")]
    lines += [
        f"\\caption{{{_latex_caption(comparison, called, cite=cite)}}}",
        r"\label{tab:encheck}",
        f"\\end{{{kind}}}",
    ]
    lines += _latex_pairs_table(comparison, called) if pairs == "all" else []
    return "\n".join(lines) + "\n"


def _citation(entries: Sequence[BibEntry]) -> str:
    return f"~\\cite{{{','.join(one.key for one in entries)}}}" if entries else ""


def _latex_figure(metric: str, value: float) -> str:
    """Return a figure without a percent sign, because the caption gives the unit."""
    return escape_latex(
        format_figure(metric, value).removesuffix("%").replace("under 1%", "<1").replace("over 99%", ">99")
    )


def _latex_cell(metric: str, one: PropertyCell | None) -> str:
    """Return the figure and its sign, followed in small type by the interval, the adjusted rate and p."""
    if one is None:
        return "--"
    small = [f"{{[}}{format_interval(metric, one.low, one.high).replace(' to ', ', ')}{{]}}"]
    small += [] if one.adjusted is None else [f"adj.~{100 * one.adjusted:.0f}"]
    small += [f"${_latex_p(one.change.p)}$"] if one.change else []
    return f"{_latex_figure(metric, one.value)}{SIGNS[one.said]} {SMALL.format('; '.join(small))}"


def _latex_p(p: float) -> str:
    return "p<.001" if p < 0.001 else f"p={p:.3f}".replace("0.", ".") if p < 1 else "p=1"


def _latex_pairs_table(comparison: ModelComparison, called: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of the table that compares every two models, one line per property and pair."""
    titles = {(line.data, line.property): line.title for line in comparison.matrix}
    yield r"{\footnotesize\setlength{\tabcolsep}{2pt}"
    yield r"\begin{longtable}{llrrr}"
    yield (
        r"\caption{Every two models, on the items that both scored: the second minus the first, in points, with 95\% "
        r"intervals; $p$ two-sided, after Holm's correction for the properties of a pair on a data set.}"
        r"\label{tab:encheck-pairs} \\"
    )
    yield r"\toprule Property & Second minus first & Difference & 95\% interval & $p$ \\ \midrule \endhead"
    for (first, second), some in pairwise_differences(comparison.models).items():
        for one in some:
            ends = f"{{[}}{100 * one.low:+.1f}, {100 * one.high:+.1f}{{]}}"
            pair = f"{escape_latex(called[second])} minus {escape_latex(called[first])}"
            p = _latex_p(one.p).removeprefix("p=").removeprefix("p")
            told = f"{100 * one.difference:+.1f}{SIGNS[one.said]} & {ends} & ${p}$"
            yield f"{escape_latex(titles[one.data, one.property])} & {pair} & {told} \\\\"
    yield r"\bottomrule"
    yield r"\end{longtable}}"


def _latex_caption(comparison: ModelComparison, called: Mapping[str, str], *, cite: bool) -> str:
    """Return the caption: metric, data and their edition, the part that a first look measured, seed, n, and what the
    signs mean.
    """
    by = f"encheck{_citation([encheck_entry()]) if cite else ''} {escape_latex(metadata.version('encheck'))}"
    data = dict.fromkeys(line.data for line in comparison.matrix)
    told = []
    for name in data:
        model = next((model for model in comparison.models if name in model.data), comparison.first)
        edition = model.editions.get(name)
        what = f"edition {edition}" if edition else f"fingerprint {model.data.get(name, '')}"
        told.append(f"{data_name(name)}, {what}")
    counts = [one.n for line in comparison.matrix for one in line.cells if one]
    n = f"{min(counts):,} to {max(counts):,}" if counts else "0"
    seeds = " and ".join(str(seed) for seed in sorted({model.seed for model in comparison.models}))
    looks: dict[str, list[str]] = {}
    for model in comparison.models:
        looks.setdefault(model.look, []).append(called[model.name])
    parts = [look + f" ({', '.join(names)})" * (len(looks) > 1) for look, names in looks.items() if look]
    partly = f"Measured in part: {escape_latex('; '.join(parts))}. " if parts else ""
    is_doubtful = any(cell and cell.said == "no evidence" for line in comparison.matrix for cell in line.cells)
    return (
        f"Behaviour by property, measured by {by} on {escape_latex('; '.join(told))}, seed {seeds}. {partly}"
        "Figures are percentages of groups that are right in both directions, or of items that are right where a "
        f"property has no such groups ($n$ = {n}); figures below 1 with two digits are AUC or nDCG. Brackets: 95\\% "
        "intervals over clusters; adj.: the rate of the same items under weights that balance the surface (chance 50). "
        "Chance: what guessing "
        f"gets. $^{{\\uparrow}}$, $^{{\\downarrow}}$: better, worse than "
        f"{escape_latex(called[comparison.first.name])} on "
        r"the same items (two-sided $p$ of the paired difference, Holm's correction for the properties of two models "
        r"on a data set, 5\%); $^{\approx}$: not separable from it."
        + r" $^{\ast}$: rose, but is not shown to beat guessing, which is no evidence."
        * is_doubtful
    )


@dataclass(frozen=True, slots=True)
class TidyRow:
    """A model's figure with its 95% interval from `low` to `high`. `chance` is None if unknown.

    `partial` says which part of the data a first look measured; it is empty for a complete run. The last four fields
    are set only for the main figure of a property. They give its difference from the reference on the same items, and
    the verdict of the matrix.
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
    partial: str
    difference: float | str = ""
    difference_low: float | str = ""
    difference_high: float | str = ""
    compared: str = ""


COLUMNS = tuple(one.name for one in fields(TidyRow))


def tidy_rows(comparison: ModelComparison) -> Iterator[TidyRow]:
    """Yield one row per model, case and figure."""
    cells = {
        (model.name, line.data, line.check, line.level, line.figure): cell
        for line in comparison.matrix
        for model, cell in zip(comparison.models, line.cells, strict=True)
    }
    for model in comparison.models:
        for row in model.rows:
            if row.value is None:
                continue
            declared = model.declared[row.check]
            try:
                chance = declared.chance if row.metric == declared.metric else find_metric(row.metric or "").chance
            except UsageError:
                chance = None
            tidy = TidyRow(
                model.name, comparison.first.name, row.data, row.property, declared.family, row.check, row.level,
                row.metric, row.value, row.low, row.high, row.n, row.clusters, chance, model.look,
            )  # fmt: skip
            cell = cells.get((model.name, row.data, row.check, str(row.level), row.metric or ""))
            if cell and cell.change:
                change = cell.change
                tidy = replace(
                    tidy, difference=change.difference, difference_low=change.low, difference_high=change.high
                )
            yield replace(tidy, compared=cell.said) if cell else tidy


def tidy_csv(comparison: ModelComparison) -> str:
    """Return the rows as CSV with a header."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    writer.writerows({name: safe_cell(getattr(row, name)) for name in COLUMNS} for row in tidy_rows(comparison))
    return out.getvalue()


def write_comparison_json(path: Path, comparison: ModelComparison) -> None:
    """Write the differences as JSON for other tools. Raise UsageError if writing fails."""
    differences = {name: [asdict(d) for d in some] for name, some in comparison.differences.items()}
    matrix = [
        asdict(line)
        | {"cells": {m.name: cell and asdict(cell) for m, cell in zip(comparison.models, line.cells, strict=True)}}
        for line in comparison.matrix
    ]
    plot = comparison.benchmark_plot
    whole = {
        "against": comparison.first.name,
        "partial": {model.name: model.look for model in comparison.models if model.look},
        "matrix": matrix,
        "differences": differences,
        "dilemma": plot and asdict(plot) | {"correlation": plot.correlation},
        "contamination": [asdict(one) for one in comparison.contamination],
    }
    write_named(path, json.dumps(whole, indent=1) + "\n")
