"""report.html: one file that needs no network, made from results.json and the items."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.datasets.probes import domains
from encheck.gating import contamination
from encheck.gating.reference import SHIPPED
from encheck.reporting import decided, peers, profile, reference, story, view
from encheck.reporting.commands import commands
from encheck.reporting.gate.view import views
from encheck.reporting.html import rows
from encheck.reporting.html.payload import margins_asked, packed
from encheck.reporting.html.sections import sections
from encheck.run_file import Result, RunFile
from encheck.system.terminal import LINES, visible

if TYPE_CHECKING:
    import jinja2

LONG = 40  # characters: longer words of a command may break
REFERENCE = next(name for name, role in SHIPPED.items() if role == "reference")


def render(
    results: RunFile,
    items: view.Items,
    *,
    folder: Path | None = None,
    where: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The whole page; every text in it is escaped, by the template or by being packed.

    `folder` is where the run lies: the commands of the page name it. `where` is what `reporting.where.blocks` gives.
    """
    frames = view.frames(results, items)
    found, to_type = sections(results, frames), commands(results, folder)
    pictures = {p.id: p.spec for s in found for p in s.pictures}
    payload, shown = packed(frames, pictures, margins_asked(results), _domains(results))
    everything = sum(map(len, frames.values()))
    drawn = rows.blocks(results, found)
    return page(
        "report.html",
        payload,
        results=results,
        story=story.story(results, frames),
        lines=story.LINES,
        blocks=drawn,
        kinds=rows.KINDS,
        filters={kind for block in drawn for _, some in block.families for row in some for kind in row.kinds},
        facts=_facts(results, drawn),
        decided=decided.decided(results),
        headlines=view.headline(results),
        contamination=list(contamination.lines(results.contamination)),
        matrix=view.matrix(results),
        criteria=view.CRITERIA,
        words=view.WORDS,
        sections=found,
        anchors={(section.check, section.data): section.anchor for section in found},
        commands=to_type,
        cases=lambda section: [(case, name, to_type.show(model)) for case, name, model in section.cases],
        not_run=view.not_run(results, named=True),
        shown_less={"shown": sum(shown.values()), "all": everything} if sum(shown.values()) < everything else None,
        trend=_trend,
        unpaired=_unpaired(results, drawn),
        gate=results.gate,
        gate_views=views(results),
        peers=peers.shipped(),
        references=results.references,
        reference=reference,
        surface=view.surface,
        where=where,
    )


def _domains(results: RunFile) -> Mapping[str, str]:
    """Of which domain the sentences of the embedded probes are, where the run has them."""
    versions = [data.version for data in results.data if data.name == "probes"]
    return {text: domain for version in versions for text, domain in domains(version).items()}


def _facts(results: RunFile, drawn: Sequence[rows.Block]) -> dict[str, list[tuple[str, str]]]:
    """Data set -> figures that sum up the profile of a run's only model; none where there are several."""
    models = [one.label for one in results.models]
    if len(models) != 1:
        return {block.data: [] for block in drawn}
    return {block.data: rows.facts(profile.profile(results, model=models[0], data=block.data)) for block in drawn}


def _unpaired(results: RunFile, drawn: Sequence[rows.Block]) -> str:
    """Why no model is paired with a reference; empty where one is, or the gate has its own."""
    labels = [one.label for one in results.models]
    if results.gate or any(block.has_others for block in drawn):
        return ""
    if REFERENCE in labels:
        return f"{REFERENCE} is the reference model itself, so no other one stands beside it."
    return f"The reference model {REFERENCE} is not drawn: its scores ship for the embedded probes alone."


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
    environment.globals |= {"figure": view.figure, "sentence": view.sentence}
    environment.filters["typed"] = _typed
    return environment


def _typed(command: str) -> Any:
    """A command whose words stay whole at the end of a line: "-" and "-model" would be typed as they stand."""
    from markupsafe import Markup, escape

    words = (escape(visible(word, keep=LINES)) for word in command.split(" "))
    return Markup(" ").join(Markup('<span class="word">{}</span>').format(w) if len(w) < LONG else w for w in words)


def _visible(value: Any) -> Any:
    """Every text that a template puts in, with what nobody sees made visible; what is HTML stays as it is."""
    return visible(value, keep=LINES) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def _read(name: str) -> str:
    return (resources.files("encheck.reporting.html") / name).read_text("utf-8")


@cache
def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def _trend(row: Result) -> str:
    """The baseline's figure, and which way it went; empty where there is none."""
    before = row.baseline.value if row.baseline else None
    if before is None or row.value is None:
        return ""
    moved = row.value - before
    return f"{before:.2f} ({'same' if abs(moved) < 0.005 else f'{moved:+.2f}'})"
