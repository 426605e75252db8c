"""Rebuild reports from finished runs, whatever has become of their files since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from encheck.errors import UsageError
from encheck.reporting.html import page as html
from encheck.reporting.results import into, read_items, read_results, write_named
from encheck.system.files import write_whole


def rebuild(folder: Path, out: Path, *, where: Sequence[Mapping[str, Any]] = ()) -> Path:
    """Write the report of a run to `out`; UsageError if the results are not what encheck writes.

    `where` is what `reporting.where.blocks` gives.
    """
    results, items = read_results(folder), read_items(folder)
    with as_written(folder):
        if not items:
            note = "items.parquet is missing: no items and no histograms here"
            results = replace(results, run=replace(results.run, notes=(*results.run.notes, note)))
        page = html.render(results, items, folder=folder, where=where)
    write_named(out, page)
    return out


def write_picture(folder: Path, kind: str, out: Path, *, model: str | None, data: str | None) -> Path:
    """Write a run's "card" or "badge" as SVG or, by the file's ending, PNG; UsageError for another ending."""
    from encheck.reporting import card as drawing

    if out.suffix not in (".svg", ".png"):
        raise UsageError(f"{out} should end in .svg or .png")
    with as_written(folder):
        svg = {"card": drawing.card, "badge": drawing.badge}[kind](read_results(folder), model=model, data=data)
    if out.suffix == ".svg":
        write_named(out, svg)
        return out
    try:
        import resvg_py
    except ImportError:
        raise UsageError("a PNG needs the extra png. Remedy: pip install 'encheck[png]', or write .svg") from None
    with into(out.parent), write_whole(out) as file:
        file.write(resvg_py.svg_to_bytes(svg_string=svg, zoom=2))
    return out


@contextmanager
def as_written(*folders: Path) -> Iterator[None]:
    """What goes wrong here is the results' fault: they lack, or hold otherwise, what encheck writes."""
    import jinja2

    try:
        yield
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        RecursionError,
        jinja2.TemplateError,
    ) as error:
        raise UsageError(
            f"the results in {', '.join(map(str, folders))} are not valid: {type(error).__name__}: "
            f"{error}. Run again, or hold them to results.schema.json"
        ) from error
