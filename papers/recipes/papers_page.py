"""papers/docs/reproduction.md: the papers' tables with ours beside, from what published/ records. No model, no data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from papers_claims import Beside, Held, Theirs, held
from papers_ours import THEN, Figure, Label, Measured, Ours, on_table
from papers_pictures import PICTURES, file_name
from papers_published import GAIN, PAPERS, Cell, errors, lacks, protocols, published, tables

DIGITS = {
    "percent": 1, "correlation x100": 1, "share": 3, "cosine": 3, "cosine difference": 3, "coefficient": 2, "kappa": 2,
    "seconds": 2, "gain": 2, "count": 0, "count, rounded": 0, "p": 4,
}  # fmt: skip
TUNED, RECORDED = " †", " ‡"
DIFFERENCES = {
    "model": "another model", "data": "other data", "sample": "a sample", "split": "another split",
    "tagger": "another tagger", "roles": "other roles", "expectation": "the expectation in place of a draw",
    "machine": "another machine",
}  # fmt: skip
TITLE = "# The papers' tables, and ours beside"


def page(measured: Sequence[Measured]) -> str:
    """The whole page."""
    made = protocols()["page"]
    parts = [TITLE, made["intro"].rstrip(), summary(measured), made["splits"].rstrip()]
    parts += [paper_section(paper, measured) for paper in made["order"]]
    return "\n\n".join(parts) + "\n"


def summary(measured: Sequence[Measured]) -> str:
    """One line a paper."""
    head = ("paper", "tables", "numbers printed", "ours beside", "same model and data",
            "comparisons that come out as the paper says", "most of the rest")  # fmt: skip
    return "\n".join(markdown([head, *(_summary_row(paper, measured) for paper in protocols()["page"]["order"])]))


def _summary_row(paper: str, measured: Sequence[Measured]) -> tuple[str, ...]:
    cells, found = published(paper), Counter[str]()
    beside = same = 0
    for cell in cells:
        kind = account(cell, measured)
        beside += kind in ("same", "stand-in")
        same += kind == "same"
        if kind not in ("same", "stand-in"):
            found[_reason_key(cell)] += 1
    all_held = sum((sides[1] for table in tables(paper) for _, sides in claims(paper, table, measured)), Held())
    printed = {cell.table for cell in cells}
    rest = "; ".join(f"{count} {key}" for key, count in found.most_common(3))
    came_out = f"{all_held.holds} of {all_held.pairs}" if all_held.pairs else "-"
    name = protocols()[paper]["name"]
    link = f"[{paper}](#{anchor(heading(paper))}) {name}"
    return link, str(len(printed)), str(len(cells)), str(beside), str(same), came_out, rest


def account(cell: Cell, measured: Sequence[Measured]) -> str:
    """`same` or `stand-in` where there is a figure of ours; else why there is none, or nothing if nobody said."""
    ours = on_table(measured, cell.paper, cell.table)
    if (found := ours.of(cell.row, cell.column)) is not None:
        return "stand-in" if ours.differs(found.row, found.column) else "same"
    return lacks(cell) or ""


def _reason_key(cell: Cell) -> str:
    """The short name of the reason, or the reason."""
    reasons = {reason: key for key, reason in protocols()["reasons"].items()}
    said = lacks(cell) or ""
    return protocols()["short"].get(reasons.get(said, ""), "others")


def heading(paper: str) -> str:
    """The heading of a paper's section."""
    return f"{paper}: {protocols()[paper]['short']}"


def anchor(text: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return "".join(c for c in text.lower() if c.isalnum() or c in " -_").replace(" ", "-")


def paper_section(paper: str, measured: Sequence[Measured]) -> str:
    """A paper: what it is, its tables, and its own errors."""
    about = protocols()[paper]
    parts = [f"## {heading(paper)}", f"{about['name']}.\n\n{about['about'].rstrip()}"]
    parts += [table_section(paper, table, measured) for table in tables(paper)]
    parts.append("\n".join([f"### Errors in {paper}", "", *_errors(paper)]))
    return "\n\n".join(parts)


def table_section(paper: str, table: str, measured: Sequence[Measured]) -> str:
    """A table: theirs and ours, what differs, what the paper says of it, where ours come from, what is missing."""
    about = tables(paper)[table]
    cells = [cell for cell in published(paper) if cell.table == table]
    ours = on_table(measured, paper, table)
    blocks = [[f"### {paper}, {named(table)}: {about['title']}"]]
    if (paper, table) in PICTURES and ours.figures:
        blocks.append([f"![{about['title']}]({file_name(paper, table)})"])
    if about.get("grid", True):
        blocks += [markdown(rows) for rows in laid_out(about, cells, ours)]
    blocks += [[*_stands_for(ours), *(f"- {line}" for line in about.get("differs", ()))]]
    blocks += [claim_lines(paper, table, measured), _sources(ours), _protocols(cells, ours), _missing(cells, measured)]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def named(table: str) -> str:
    """T5 is Table 5, F1 Figure 1, S3 section 3, A2 appendix 2, O1 the first addition of ours."""
    return {"T": "Table ", "F": "Figure ", "S": "section ", "A": "appendix ", "O": "addition "}[table[0]] + table[1:]


def laid_out(about: Mapping[str, Any], cells: Sequence[Cell], ours: Ours) -> list[list[tuple[str, ...]]]:
    """The tables to print, as rows of texts: one, or theirs and ours apart."""
    printed = [cell for cell in cells if not cell.column.endswith(GAIN)]
    theirs = {(cell.row, cell.column): _printed(cell) for cell in printed}
    units = {cell.row: cell.unit for cell in printed} | {(c.row, c.column): c.unit for c in printed}
    fallback = printed[0].unit if printed else about.get("unit", "share")
    known = about.get("units", {})
    own = {at: _own(figure, _unit(units, at, ours, known, fallback)) for at, figure in ours.figures.items()}
    counted = own | _counts(ours, about.get("models", "none"))
    groups = [theirs, counted] if about.get("apart") else [theirs | counted]
    return [_grid(group, is_turned=about.get("turned", False)) for group in groups if group]


def _unit(units: Mapping[Any, str], at: tuple[str, str], ours: Ours, own: Mapping[str, str], fallback: str) -> str:
    """The unit of our own row or column, else of the published cell that a figure stands beside, or of its row."""
    row, column = at
    for pattern, unit in own.items():
        if fnmatchcase(row, pattern) or fnmatchcase(column, pattern):
            return unit
    rows = (row, *ours.labels.get(row, Label()).stands_for)
    columns = (column, *ours.labels.get(column, Label()).stands_for)
    for r in rows:
        for c in columns:
            if (r, c) in units:
                return units[r, c]
    known = {c: unit for (_, c), unit in ((k, v) for k, v in units.items() if isinstance(k, tuple))}
    return next((units[r] for r in rows if r in units), next((known[c] for c in columns if c in known), fallback))


def _grid(group: Mapping[tuple[str, str], str], *, is_turned: bool) -> list[tuple[str, ...]]:
    at = {(column, row): text for (row, column), text in group.items()} if is_turned else group
    rows, columns = (list(dict.fromkeys(place[axis] for place in at)) for axis in (0, 1))
    body = ((_name(row), *(at.get((row, column), "") for column in columns)) for row in rows)
    return [("", *map(_name, columns)), *body]


def _name(text: str) -> str:
    """A name with asterisks of its own, which Markdown leaves alone."""
    return text.replace("*", "\\*")


def _counts(ours: Ours, models: str) -> dict[tuple[str, str], str]:
    """How many items are behind our figures: a column where models are columns, a row under each row elsewhere."""
    found: dict[tuple[str, str], list[str]] = {}
    for (row, column), figure in ours.figures.items():
        if figure.n is not None:
            place = (row, "n") if models == "columns" or _is_grid(ours) else (f"{row}: n", column)
            found.setdefault(place, []).append(f"{figure.n:,}")
    return {place: ", ".join(dict.fromkeys(numbers)) for place, numbers in found.items()}


def _is_grid(ours: Ours) -> bool:
    """Whether every row of ours has one n throughout, so that a column can say it."""
    by_row: dict[str, set[int | None]] = {}
    for (row, _), figure in ours.figures.items():
        by_row.setdefault(row, set()).add(figure.n)
    return all(len(numbers) == 1 for numbers in by_row.values())


def _printed(cell: Cell) -> str:
    value = f"{int(float(cell.shown)):,}" if cell.unit.startswith("count") else cell.shown
    return f"{value} ± {cell.plus_minus}" if cell.plus_minus else value


def _own(figure: Figure, unit: str) -> str:
    digits = DIGITS.get(unit, 3)
    value, *ends = (f"{x + 0.0:,.{digits}f}" for x in (figure.value, figure.low, figure.high) if x is not None)
    error = "" if figure.error is None else f" ± {figure.error:.{digits + 1}f}"
    interval = f" [{', '.join(ends)}]" if len(ends) == 2 else ""
    marks = TUNED * figure.is_tuned + RECORDED * figure.is_recorded
    return f"**{value}**{error}{interval}{marks}"


def _stands_for(ours: Ours) -> Iterator[str]:
    """What each row or column of ours stands for: one by one, or together if their names end alike."""
    used = {name for place in ours.figures for name in place}
    by_ending: dict[str, dict[str, str]] = {}  # ending or own name -> own name -> what it stands for and how it differs
    for name, label in ours.labels.items():
        if name in used and label.stands_for and label.differs:
            how = ", ".join(DIFFERENCES[kind] for kind in label.differs)
            ending = name.removeprefix(label.stands_for[0]) if len(label.stands_for) == 1 else name
            by_ending.setdefault(ending, {})[name] = f"{_name(' and '.join(label.stands_for))}: {how}."
    for ending, found in by_ending.items():
        differs = {one.rpartition(": ")[2] for one in found.values()}
        if len(found) > 1 and len(differs) == 1:
            yield f"- Names that end in *{ending.removeprefix(', ')}* stand for the paper's without it: {differs.pop()}"
        else:
            yield from (f"- *{name}* stands for {one}" for name, one in found.items())
    if any(figure.is_tuned for figure in ours.figures.values()):
        yield "- †: the model was trained on this data set."
    if any(figure.is_recorded for figure in ours.figures.values()):
        yield "- ‡: recorded earlier, not measured by this call."


def claims(
    paper: str, table: str, measured: Sequence[Measured]
) -> Iterator[tuple[Mapping[str, Any], tuple[Held, Held]]]:
    """Each claim on a table, with how often it holds there and with ours."""
    theirs = Theirs([cell for cell in published(paper) if cell.table == table])
    ours = Beside(on_table(measured, paper, table), theirs)
    for claim in tables(paper)[table].get("claims", ()):
        yield claim, (held(claim, theirs), held(claim, ours))


def claim_lines(paper: str, table: str, measured: Sequence[Measured]) -> list[str]:
    """A table of the claims."""
    rows = [(claim["says"], _held(sides[0]), _held(sides[1])) for claim, sides in claims(paper, table, measured)]
    rows = [row for row in rows if row[1:] != ("-", "-")]
    clear = {claim["says"]: sides[1] for claim, sides in claims(paper, table, measured)}
    head = ("what the paper says of it", "holds there", "holds with ours", "the intervals are apart")
    return markdown([head, *((*row, _clear(clear[row[0]])) for row in rows)]) if rows else []


def _held(found: Held) -> str:
    return f"{found.holds} of {found.pairs}" if found.pairs else "-"


def _clear(found: Held) -> str:
    return f"{found.clear} of {found.judged}" if found.judged else "-"


def _sources(ours: Ours) -> list[str]:
    """Command, date and versions behind our figures, once each."""
    found: dict[tuple[str, str, str], set[str]] = {}
    for one in ours.sources:
        versions = {f"{name} {fingerprint}" for name, fingerprint in one.data.items()}
        for command in one.command.split(THEN):
            found.setdefault((command, one.date, one.version), set()).update(versions)
    lines = [
        f"- `{command}` ({date}, encheck {version}{''.join(f', {data}' for data in sorted(versions))})"
        for (command, date, version), versions in found.items()
    ]
    return ["Measured by:", "", *lines] if lines else []


def _protocols(cells: Sequence[Cell], ours: Ours) -> list[str]:
    """How a table without a figure of ours is measured, where a command does it."""
    if ours.sources:
        return []
    known = [protocols()[cell.paper]["protocols"][cell.protocol] for cell in cells]
    found = dict.fromkeys((one["what"], _commands(one["command"])) for one in known if one["command"])
    return ["How to measure it:", "", *(f"- {what}: {command}" for what, command in found)] if found else []


def _commands(said: str | Sequence[str]) -> str:
    """A command, or several in their order."""
    return ", then ".join(f"`{command}`" for command in ([said] if isinstance(said, str) else said))


def _missing(cells: Sequence[Cell], measured: Sequence[Measured]) -> list[str]:
    """Why printed numbers have none of ours beside: how many, and the reason."""
    found = Counter(kind for cell in cells if (kind := account(cell, measured)) not in ("same", "stand-in"))
    if not found:
        return []
    total = f"{sum(found.values())} of {len(cells)}"
    lines = (f"- {count}: {reason}." for reason, count in found.most_common())
    return [f"Without a figure of ours ({total}):", "", *lines]


def _errors(paper: str) -> Iterator[str]:
    found = [error for error in errors() if error.paper == paper]
    if not found:
        yield "None found: repeated rows agree."
        return
    head = ("table", "row", "column", "printed", "follows", "why")
    rows = [(named(e.table), e.row, e.column, e.stated, e.follows or "-", e.note) for e in found]
    yield from markdown([head, *rows])


def markdown(rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table; bars in a name are escaped."""
    head, *rest = [tuple(text.replace("|", "\\|") for text in row) for row in rows]
    return [f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rest)]


def all_cells() -> Iterator[Cell]:
    """Every printed number of every paper."""
    for paper in PAPERS:
        yield from published(paper)
