"""Rebuild a finished run's page from its stored results, and draw its card and its badge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from encheck.errors import UsageError
from encheck.reporting.html import page as html
from encheck.reporting.html.page import render_picture
from encheck.reporting.profile import profile, profile_summary
from encheck.reporting.results import read_items, read_results, writable_folder, write_named
from encheck.reporting.where import KindBlock
from encheck.run_file import RunFile
from encheck.system.files import write_whole

WIDTH, LEFT, RIGHT = 600, 210, 80
TOP, STEP, BELOW = 124, 21, 80  # pixels
MAX_NAME = 40
KINDS = {"above chance": "above", "below chance": "below", "at chance": "at", "": "none"}


def render_card(results: RunFile, *, model: str | None = None, data: str | None = None) -> str:
    """Return a picture of a model's profile as SVG, 600 pixels wide. It adapts to the reader's dark or light setting.

    Without `model` and `data`, it shows the run's first. Raise UsageError if the run lacks that model or data, or if no
    property of a profile was measured.
    """
    name, on = _model_and_data(results, model=model, data=data)
    lines = profile(results, model=name, data=on)
    if not lines:
        raise UsageError(f"the run measured no property of {name} on {on} for a profile; run more checks")
    bottom = TOP + STEP * len(lines)
    # Date, encheck version, edition of the data, seed.
    (its,) = (one for one in results.data if one.name == on)
    run = results.run
    edition = f", {on} {its.version}" if its.version else ""
    look = "first look, " if results.first_look else ""
    origin_line = f"{look}{run.started[:10]}, encheck {run.versions['encheck']}{edition}, seed {its.seed}"
    return render_picture(
        "card.svg",
        model=_short_name(name), data=_short_name(on), lines=lines, facts=profile_summary(lines), kinds=KINDS,
        made=origin_line, width=WIDTH, height=bottom + BELOW, top=TOP, bottom=bottom,
        step=STEP, at=lambda share: round(LEFT + share * (WIDTH - LEFT - RIGHT), 1),
    )  # fmt: skip


def render_badge(results: RunFile, *, model: str | None = None, data: str | None = None) -> str:
    """Return a badge as SVG: "encheck", and the number of properties in which the model is above chance."""
    name, on = _model_and_data(results, model=model, data=data)
    found = profile_summary(profile(results, model=name, data=on))
    said = f"{found[0][0]} above chance" if found else "no figures"
    said += " (first look)" if results.first_look else ""
    return render_picture("badge.svg", said=said, width=round(70 + 6.6 * len(said)))


def _model_and_data(results: RunFile, *, model: str | None, data: str | None) -> tuple[str, str]:
    """Return the model and the data set to show. Raise UsageError for a name that the run lacks."""
    labels, names = [one.label for one in results.models], [one.name for one in results.data]
    for kind, asked, there in (("models", model, labels), ("data", data, names)):
        if asked is not None and asked not in there:
            raise UsageError(f"the run has no {asked!r} among its {kind}: {', '.join(there)}")
    return model or labels[0], data or names[0]


def _short_name(name: str) -> str:
    return name if len(name) <= MAX_NAME else f"...{name[3 - MAX_NAME :]}"


def rebuild_page(folder: Path, out: Path, *, where: Sequence[KindBlock] = ()) -> Path:
    """Write the report of a run to `out` and return its path. Raise UsageError if encheck did not write the results.

    `where` comes from `reporting.where.kind_blocks`.
    """
    results, items = read_results(folder), read_items(folder)
    with reject_invalid_results(folder):
        if not items:
            note = "items.parquet is missing: no items and no histograms here"
            results = replace(results, run=replace(results.run, notes=(*results.run.notes, note)))
        page = html.render_run(results, items, folder=folder, where=where)
    write_named(out, page)
    return out


def write_picture(folder: Path, kind: str, out: Path, *, model: str | None, data: str | None) -> Path:
    """Write a run's "card" or "badge" as SVG or PNG, by the file's ending. Raise UsageError for any other ending."""

    if out.suffix not in (".svg", ".png"):
        raise UsageError(f"{out} should end in .svg or .png")
    with reject_invalid_results(folder):
        svg = {"card": render_card, "badge": render_badge}[kind](read_results(folder), model=model, data=data)
    if out.suffix == ".svg":
        write_named(out, svg)
        return out
    try:
        import resvg_py
    except ImportError:
        raise UsageError("a PNG needs the extra png. Remedy: pip install 'encheck[png]', or write .svg") from None
    with writable_folder(out.parent), write_whole(out) as file:
        file.write(resvg_py.svg_to_bytes(svg_string=svg, zoom=2))
    return out


@contextmanager
def reject_invalid_results(*folders: Path) -> Iterator[None]:
    """Turn errors in the block into a UsageError that says that the results are not what encheck writes."""
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
            f"{error}. Run again, or check them against results.schema.json"
        ) from error
