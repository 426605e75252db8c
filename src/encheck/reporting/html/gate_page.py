"""gate.html: the gate of a run alone, for whoever decides; it has no scripts and needs no network."""

from __future__ import annotations

from encheck.gating.types import Gate
from encheck.reporting.gate.view import views
from encheck.reporting.gate.words import undecided
from encheck.reporting.html.page import still
from encheck.run_file import RunFile


def render(results: RunFile, gate: Gate) -> str:
    """The page of a run with this gate; every text in it is escaped by the template."""
    return still(
        "gate_page.html",
        gate_views=views(results),
        run=results.run,
        candidate=results.models[0].label,
        undecided=undecided(gate),
    )
