"""The shortest form of an item that a model still gets wrong: as results.json has it, and as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from encheck.ids import CaseId
from encheck.reporting.text import marked
from encheck.running.shrinking import Row, Shrink
from encheck.scoring.frame import edits_of
from encheck.shrinking.shrink import Form, Shrunk
from encheck.types import Edit

Entry = Mapping[str, Any]
SIDES = ("near", "far")
EDITS = ("near_edits", "far_edits")


def as_dict(row: Row, found: Shrunk | str) -> dict[str, Any]:
    """What became of a row of items.parquet, as results.json has it.

    `least` is null where it is the shortest, or none is shorter, and both are where nothing can go, for a `reason`.
    """
    entry: dict[str, Any] = {"item": row["item"], "source": row["source"], "reason": "", "words": None, "margin": None}
    entry |= {"scored": 0, "is_cut_short": False, "least": None, "shortest": None}
    if isinstance(found, str):
        return entry | {"reason": found}
    entry |= {"words": found.whole.words, "margin": found.whole.margin, "scored": found.scored}
    is_shorter = found.shortest.words < found.whole.words
    least = None if found.least is found.shortest or not is_shorter else _form(found.least)
    shortest = None if found.shortest is found.whole else _form(found.shortest)
    return entry | {"reason": found.why, "is_cut_short": found.is_cut_short, "least": least, "shortest": shortest}


def _form(form: Form) -> dict[str, Any]:
    item = form.item
    edits = ([[e.start, e.end, e.text] for e in some] for some in (item.near_edits, item.far_edits))
    texts = {"source": item.source, "near": item.near, "far": item.far}
    whys = {"near_why": item.near_why, "far_why": item.far_why}
    return {"words": form.words, "margin": form.margin} | texts | dict(zip(EDITS, edits, strict=True)) | whys


def entries(results: Mapping[str, Any]) -> dict[str, dict[tuple[str, str], Entry]]:
    """Case -> (id, source) of an item -> what became of it."""
    found: dict[str, dict[tuple[str, str], Entry]] = {}
    for row in results["checks"]:
        for entry in row.get("shrunk", ()):
            found.setdefault(str(CaseId.of(row)), {})[entry["item"], entry["source"]] = entry
    return found


def headline(results: Mapping[str, Any]) -> Iterator[str]:
    """How many items could be shrunk, and how long that took, in one line; nothing of a run that shrank none."""
    seconds = results["run"].get("shrink_seconds")
    if seconds is None:
        return
    found = [entry for row in results["checks"] for entry in row.get("shrunk", ())]
    short = [entry for entry in found if entry["shortest"] and _left(entry) < 1]
    if not found:
        yield "shrunk: nothing, since no check with triplets failed or is below its aim"
        return
    words = ", ".join(_words_of(entry) for entry in sorted(short, key=_left)[:1])
    most = f" (the most from {words} words)" if words else ""
    where = "on the page, -v" if short else "-v says more"
    yield f"shrunk: {len(short)} of {len(found)} worst items{most}, in {seconds:.1f} s: {where}"


def _left(entry: Entry) -> float:
    """The share of its words that is left."""
    return float(entry["shortest"]["words"] / entry["words"])


def _words_of(entry: Entry) -> str:
    return f"{entry['words']} to {entry['shortest']['words']}"


def of_run(results: Mapping[str, Any]) -> Iterator[str]:
    """What became of the worst items of each check, case by case."""
    for row in results["checks"]:
        if some := row.get("shrunk"):
            yield title(row)
            for entry in some:
                yield from lines(entry)


def title(row: Mapping[str, Any]) -> str:
    """The check whose worst items follow."""
    said = (row["verdict"] or "below its aim").replace("_", " ")
    return f"{row['property']}  ({CaseId.of(row)}, {said})"


def rows_shrunk(rows: Sequence[Row], shrink: Shrink, *, whole: bool = False) -> Iterator[str]:
    """What becomes of each row, as `lines`; with `whole`, the row as it was stands before its forms."""
    for row in rows:
        yield from lines(as_dict(row, shrink(row)), whole=row if whole else None)


def lines(entry: Entry, *, whole: Row | None = None) -> Iterator[str]:
    """An item's shortest form with the least shrunk one beside it, or why there is none."""
    yield f"{entry['item']}, shrunk"
    if entry["margin"] is None:
        yield f"  not shrunk: {entry['reason']}"
    else:
        if whole:
            yield from _lines_of("whole", {**_texts(whole), "words": entry["words"], "margin": entry["margin"]}, entry)
        if entry["least"]:
            yield from _lines_of("least shrunk", entry["least"], entry)
        if entry["shortest"]:
            name = "shortest" if _left(entry) < 1 else "no shorter, in plainer words"
            yield from _lines_of(name, entry["shortest"], entry)
        if not entry["shortest"]:
            yield f"  nothing can go: {entry['reason']}"
        if entry["is_cut_short"]:
            yield f"  stopped after {entry['scored']} pairs: more may go"
    yield ""


def _texts(row: Row) -> dict[str, Any]:
    edits = {name: [[e.start, e.end, e.text] for e in edits_of(row[name])] for name in EDITS}
    whys = {f"{side}_why": row.get(f"{side}_why") or "" for side in SIDES}
    return {side: row[side] for side in ("source", *SIDES)} | edits | whys


def _lines_of(name: str, form: Entry, entry: Entry) -> Iterator[str]:
    yield f"  {name}: {form['words']} of {entry['words']} words, margin {form['margin']:+.4f} of {entry['margin']:+.4f}"
    yield f"    source  {form['source']}"
    for side in SIDES:
        edits = [Edit(*edit) for edit in form[f"{side}_edits"]]
        yield f"    {side:<6}  {marked(form['source'], form[side], edits)}"
    for why in dict.fromkeys(filter(None, (form["near_why"], form["far_why"]))):
        yield f"            {why}"
