"""The matrix as a LaTeX table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from encheck.comparing.citations import OWN, escape, of_line
from encheck.comparing.comparison import Comparison
from encheck.comparing.matrix import Cell, Line, Said

SIGNS: Mapping[Said, str] = {
    "better": r"$^{\uparrow}$", "worse": r"$^{\downarrow}$", "cannot tell": r"$^{\approx}$",
    "no evidence": r"$^{\ast}$", "not compared": "",
}  # fmt: skip
MOST_NARROW = 4  # models that stand side by side on a page without being scaled


def table(found: Comparison, *, cite: bool = False) -> str:
    """The table, for `booktabs`, and `graphicx` where it is scaled; with `cite` every property cites its sources."""
    return "\n".join(_lines(found, cite=cite)) + "\n"


def _lines(found: Comparison, *, cite: bool) -> Iterator[str]:
    names, is_wide = [escape(m.name) for m in found.models], len(found.models) > MOST_NARROW
    kind = "table*" if is_wide else "table"
    yield f"% needs \\usepackage{{booktabs}}{' and graphicx' if is_wide else ''}; made by encheck compare"
    yield from (f"\\begin{{{kind}}}[t]", r"\centering\small", *([r"\resizebox{\textwidth}{!}{%"] if is_wide else []))
    yield f"\\begin{{tabular}}{{lr{'l' * len(names)}}}"
    yield r"\toprule"
    yield " & ".join(["Property", "Chance", *names]) + r" \\"
    yield from _body(found, cite=cite)
    yield from (r"\bottomrule", r"\end{tabular}" + ("}" if is_wide else ""))
    yield f"\\caption{{{_caption(found, cite=cite)}}}"
    yield from (r"\label{tab:encheck}", f"\\end{{{kind}}}")


def _body(found: Comparison, *, cite: bool) -> Iterator[str]:
    several = len({line.data for line in found.matrix}) > 1
    for (data, family), lines in groupby(found.matrix, key=lambda line: (line.data, line.family)):
        name = f"{family}, {data}" if several else family
        yield r"\midrule"
        yield f"\\multicolumn{{{len(found.models) + 2}}}{{l}}{{\\emph{{{escape(name)}}}}} \\\\"
        yield from (_row(found, line, cite=cite) for line in lines)


def _row(found: Comparison, line: Line, *, cite: bool) -> str:
    keys = [one.key for one in of_line(found, line)] if cite else []
    name = escape(line.property) + (f"~\\cite{{{','.join(keys)}}}" if keys else "")
    chance = "--" if line.chance is None else f"{line.chance:.2f}"
    return " & ".join([name, chance, *map(_cell, line.cells)]) + r" \\"


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "--"
    return f"{cell.value:.2f}{SIGNS[cell.said]} {{\\scriptsize [{cell.low:.2f}, {cell.high:.2f}]}}"


def _caption(found: Comparison, *, cite: bool) -> str:
    by = f" with encheck~\\cite{{{OWN}}}" if cite else " with encheck"
    return (
        f"Behaviour by property{by}, with 95\\% intervals over clusters. "
        f"$^{{\\uparrow}}$ and $^{{\\downarrow}}$: better and worse than {escape(found.first.name)} on the same items "
        r"(5\% for the whole table, Holm); $^{\approx}$: not separable from it."
        + r" $^{\ast}$: rose, but is not shown to beat guessing, which is no evidence."
        * any(cell and cell.said == "no evidence" for line in found.matrix for cell in line.cells)
    )
