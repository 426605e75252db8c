"""report.html: one file that needs no network, made from results.json and the items."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.reporting import contamination, cut_offs, reference, view
from encheck.reporting.commands import commands
from encheck.reporting.gate import words
from encheck.reporting.gate.view import views
from encheck.reporting.html.payload import margins_asked, packed
from encheck.reporting.html.sections import Section, sections
from encheck.reporting.html.vega_lite import series
from encheck.system.terminal import LINES, visible

if TYPE_CHECKING:
    import jinja2

Row = Mapping[str, Any]


def render(results: Mapping[str, Any], items: view.Items, *, folder: Path | None = None) -> str:
    """The whole page; every text in it is escaped, by the template or by being packed.

    `folder` is where the run lies: the commands of the page name it.
    """
    frames = view.frames(results, items)
    found, to_type = sections(results, frames), commands(results, folder)
    pictures = {p.id: p.spec for s in found for p in s.pictures}
    payload, shown = packed(frames, pictures, margins_asked(results))
    everything = sum(map(len, frames.values()))
    rows = view.judged(results)
    trend = any(row["baseline"] for row in rows)
    table = _table(found, [m["label"] for m in results["models"]], trend=trend)
    return page(
        "report.html",
        payload,
        results=results,
        headlines=view.headline(results),
        cut_offs=list(cut_offs.lines(results)),
        contamination=list(contamination.lines(results.get("contamination", ()))),
        matrix=view.matrix(results),
        criteria=view.CRITERIA,
        words=view.WORDS,
        sections=found,
        commands=to_type,
        cases=lambda section: [(case, name, to_type.show(model)) for case, name, model in section.cases],
        table=table,
        filters={verdict for line in table for verdict in line["verdicts"]},
        trend=trend,
        not_run=view.not_run(results, named=True),
        shown_less={"shown": sum(shown.values()), "all": everything} if sum(shown.values()) < everything else None,
        series=series,
        gate=results.get("gate"),
        gates=words,
        gate_views=views(results),
        references=results.get("references", []),
        reference=reference,
        surface=view.surface,
    )


def page(template: str, payload: str, **context: Any) -> str:
    """A page from a template of this package, with its style and scripts in it and a policy that allows no others."""
    scripts = [f"/*\n{_read('vega-LICENCE.txt')}*/\n{_read('vega.js')}", _read("report.js")]  # a page is a copy of it
    hashes = " ".join(f"'sha256-{_hash(script)}'" for script in scripts)
    policy = f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'"
    shared = {"style": _style(), "scripts": scripts, "policy": policy, "payload": payload}
    return _environment().get_template(template).render(**shared, **context)


def still(template: str, **context: Any) -> str:
    """A page from a template of this package with its style and no script, under a policy that allows none."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
    return _environment().get_template(template).render(style=_style(), policy=policy, **context)


def _style() -> str:
    return _read("report.css") + _read("gate.css")


def picture(template: str, **context: Any) -> str:
    """An SVG from a template of this package, its texts escaped."""
    return _environment().get_template(template).render(**context)


@cache
def _environment() -> jinja2.Environment:
    """The templates of this package, compiled once a process."""
    import jinja2

    loader = jinja2.FunctionLoader(_read)
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, finalize=_visible
    )
    environment.globals |= {"bars": _bar, "figure": view.figure, "sentence": view.sentence}
    return environment


def _visible(value: Any) -> Any:
    """Every text that a template puts in, with what nobody sees made visible; what is HTML stays as it is."""
    return visible(value, keep=LINES) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def _read(name: str) -> str:
    return (resources.files("encheck.reporting.html") / name).read_text("utf-8")


@cache
def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def _table(found: Sequence[Section], models: Sequence[str], *, trend: bool) -> list[dict[str, Any]]:
    """A line for each claim, level and data set, with a cell a model (None where it was not run).

    `shared` has what stands once for all models: floor and aim, the best surface scorer, numbers of items, and with
    `trend` the baseline's figure.
    """
    lines: dict[tuple[str, str, str], dict[str, Row]] = {}
    anchors = {}
    for section in found:
        for row in view.ran(section.rows):
            key = (row["check"], row["data"], row["level"])
            anchors[key] = section.anchor
            lines.setdefault(key, {})[row["model"]] = row
    return [
        {
            "anchor": anchors[key],
            "first": next(iter(cells.values())),
            "cells": [cells.get(model) for model in models],
            "shared": [
                _each(cells, text) for text in (view.wants, view.surface, _counts, *([_trend] if trend else []))
            ],
            "verdicts": sorted({str(row["verdict"]) for row in cells.values()}),
        }
        for key, cells in lines.items()
    ]


def _each(cells: Mapping[str, Row], text: Callable[[Row], str]) -> list[str]:
    """What is so of every model that was measured, once; each model's own where they differ."""
    said = {model: text(row) for model, row in cells.items() if row["value"] is not None}
    if len(set(said.values())) > 1:
        return [f"{model}: {own}" for model, own in said.items()]
    return [*said.values()][:1] or [text(next(iter(cells.values())))]


def _counts(row: Row) -> str:
    return f"{row['n']} ({row['clusters']})"


def _bar(row: Row) -> dict[str, float | None] | None:
    """Percentages along a line from 0 to 1 for a figure that lies there."""
    if row["low"] is None or row["value"] is None or row["low"] < -0.5 or row["high"] > 1.5:
        return None
    best = view.best_surface(row)
    own = [row[name] for name in ("low", "high", "value", "floor", "aim")]
    low, high, value, floor, aim, surface = (
        None if v is None else max(0.0, min(1.0, v)) * 100 for v in (*own, best and best[1]["value"])
    )
    assert low is not None
    assert high is not None
    return {"low": low, "width": max(high - low, 0.8), "value": value, "floor": floor, "aim": aim, "surface": surface}


def _trend(row: Row) -> str:
    """The baseline's figure, and which way it went; a dash where there is none."""
    before = (row["baseline"] or {}).get("value")
    if before is None or row["value"] is None:
        return "-"
    moved = row["value"] - before
    return f"{before:.2f} ({'same' if abs(moved) < 0.005 else f'{moved:+.2f}'})"
