"""Write report.html and gate.html from results.json and the items. Each is one file that needs no network.

Figures and charts are plain HTML and SVG. The worst items of all cases are packed into one text (gzip in base64), which
the browser unpacks. All other items are in items.parquet.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from encheck.datasets.probes import sentence_domains
from encheck.gating import contamination
from encheck.gating.reference import SHIPPED
from encheck.gating.types import Gate, GateAgainst
from encheck.reporting import decisions, profile, reference, story, view
from encheck.reporting.decisions import NextStep, VerdictBanner, gate_commands, next_steps, run_commands
from encheck.reporting.gate import words
from encheck.reporting.gate.rows import GateLine, family_cells, gate_overview, verdict_explanations
from encheck.reporting.gate.words import NEW, GateStory, gate_story, inconclusive_lines
from encheck.reporting.html import charts, sections
from encheck.reporting.text import SENTENCES, data_name, plain_name
from encheck.run_file import Result, RunFile
from encheck.scoring.item import ItemFrame
from encheck.system.terminal import LINES, make_visible
from encheck.types import apply_edits

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

    from encheck.reporting.where import KindBlock


Frames = Mapping[str, ItemFrame]
Margins = Mapping[str, tuple[float, float]]
MOST_OF_CASE = 200  # worst items of a case in a page
MOST_BYTES = 400_000  # of base64, so that the page of one model stays under 1 MB
NONE, EDITED = -1, -2  # in place of a text: missing; the source with its edits
TEXT_COLUMNS = ("source", "near", "far", "near_why", "far_why", "slice", "domain")


def pack_json(content: Mapping[str, object]) -> str:
    """Return a JSON value as gzip in base64."""
    raw = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8")
    return base64.b64encode(gzip.compress(raw, 9, mtime=0)).decode("ascii")


def pack_items(frames: Frames, asked: Margins, domains: Mapping[str, str] | None = None) -> tuple[str, int]:
    """Pack the worst items of each case, and return the packed text and the maximum number of items per case in it.

    The number is lowered until the text fits `MOST_BYTES`. `asked` comes from `win_margins`. `domains` maps a source to
    its domain.
    """
    most = MOST_OF_CASE
    worst = {
        case: _case_columns(frame, most, domains or {}, *asked.get(case, (0.0, 1.0))) for case, frame in frames.items()
    }
    while True:
        texts: dict[str, int] = {}
        cases = {case: _with_text_indices(columns, most, texts) for case, columns in worst.items()}
        text = pack_json({"cases": cases, "texts": [*texts]})
        if len(text) <= MOST_BYTES or most == 1:
            return text, most
        most = max(1, min(most - 1, most * MOST_BYTES // len(text)))


def win_margins(results: RunFile) -> dict[str, tuple[float, float]]:
    """Return, for each case, the (epsilon, unit) that decide whether an item is won.

    An item is won if its margin divided by the unit is above epsilon. For figures of raw similarities, the unit is 1.
    """
    scales = {(d.name, model): c for d in results.data for model, c in d.calibration.items()}
    found = {}
    for row in results.checks:
        if row.aim is not None and "epsilon" in row.params:
            scale = scales.get((row.data, row.model)) if (row.metric or "").endswith("_calibrated") else None
            unit = scale.identity - scale.reference if scale else 1.0
            found[str(row.case)] = (float(row.params["epsilon"]), unit)
    return found


def _case_columns(
    frame: ItemFrame, count: int, domains: Mapping[str, str], epsilon: float, unit: float
) -> dict[str, object]:
    """Return columns of the `count` worst items, worst first, and facts about the case."""

    def visible(text: str | None) -> str | None:
        return None if text is None else make_visible(text)

    order, lost = frame.worst_positions(count), frame.mark_lost(epsilon=epsilon, unit=unit)
    rows = [frame.row(i) for i in order]
    found: dict[str, object] = {"source": [visible(row.source) for row in rows]}
    for name, sides in (("near", [row.near for row in rows]), ("far", [row.far for row in rows])):
        found[f"{name}_edits"] = [[[e.start, e.end, e.text] for e in side.edits] for side in sides]
        found[name] = [
            EDITED if side.edits and apply_edits(row.source, side.edits) == side.text else visible(side.text)
            for row, side in zip(rows, sides, strict=True)
        ]
    found["near_score"] = [_rounded_score(row.near.score) for row in rows]
    found["far_score"] = [_rounded_score(row.far.score) for row in rows]
    found["item"] = [row.item for row in rows]
    found["label"] = [frame.labels[i] if frame.labels else None for i in order]
    for name, texts_or_none in (
        ("near_why", frame.near.why), ("far_why", frame.far.why if frame.far else ()), ("slice", frame.slices)
    ):  # fmt: skip
        if texts_or_none:
            found[name] = [visible(texts_or_none[i]) for i in order]
    if any(source in domains for source in frame.sources):
        found["domain"] = [visible(domains.get(row.source, "")) for row in rows]
    right = frame.sort_keys.tolist()
    found["question"], found["right"] = frame.kind.is_question, [_rounded_score(right[i]) for i in order]
    if frame.kind.note:
        found["side"] = [frame.kind.note(row) for row in rows]
    found["all"] = len(frame)
    found["wrong"] = [int(lost[i]) for i in order]
    return found


def _with_text_indices(columns: Mapping[str, object], count: int, texts: dict[str, int]) -> dict[str, object]:
    """Return the columns of the first `count` items, with each text replaced by its index in `texts`."""
    found = {name: values[:count] if isinstance(values, list) else values for name, values in columns.items()}
    for name in TEXT_COLUMNS:
        if isinstance(some := found.get(name), list):
            found[name] = [NONE if text is None else EDITED if text == EDITED else texts.setdefault(text, len(texts))
                           for text in some]  # fmt: skip
    return found


def _rounded_score(value: float) -> float | None:
    return None if value != value else round(float(value), 4)


@dataclass(frozen=True)
class GateView:
    """The gate against one baseline, as the page shows it.

    `changes` says what has to change with the model. `verdicts` explains the verdicts of the lines. `notes` are further
    remarks. `families` has the table cells of each family. `left_out` lists the cases that cannot block, with the
    reason.
    """

    baseline: str
    banner: VerdictBanner
    story: GateStory
    changes: Sequence[str]
    steps: Sequence[NextStep]
    lines: Sequence[GateLine]
    verdicts: Sequence[str]
    families: Sequence[Sequence[str]]
    notes: Sequence[str]
    left_out: Mapping[str, str]


def gate_views(results: RunFile) -> list[GateView]:
    """Return the gate in results.json against each baseline, or an empty list for a run without a gate."""
    return [_gate_view(results, against) for against in results.gate.against] if results.gate else []


def _gate_view(results: RunFile, against: GateAgainst) -> GateView:
    candidate = results.models[0].label if results.models else NEW
    told = gate_story(against, candidate=candidate)
    found = next_steps(against, candidate=candidate, to_type=gate_commands(results.run))
    steps = [step for step in found if step.says]
    banner = VerdictBanner(
        told.tone,
        words.outcome_word(against) + words.partial_suffix(against),
        told.answer,
        told.lead,
        next(iter(steps), None),
    )
    if against.outcome == "pass" and (nothing := view.unmeasured_data(results)):
        names = ", ".join(sorted({data for data, _ in nothing}))
        answer = f"Not yet: nothing was measured on {names}"
        banner = VerdictBanner("open", "NOT DECIDED", answer, told.lead, NextStep("See what did not run, and why."))
    lines = gate_overview(against)
    said = {*against.reasons, *(f"to decide: {text}" for text in words.remedies_in_words(against))}
    gate_notes = [
        *told.others,
        *filter(None, [words.widening_note(against)]),
        *(x for x in words.reason_lines(against) if x not in said),
    ]
    return GateView(
        against.baseline,
        banner,
        told,
        words.what_has_to_change(against),
        steps,
        lines,
        verdict_explanations(lines),
        [family_cells(one) for one in against.families],
        gate_notes,
        against.reported_only,
    )


LONG = 36  # characters: longer words of a command may break
REFERENCE = next(name for name, role in SHIPPED.items() if role == "reference")


def render_run(
    results: RunFile,
    items: view.Items,
    *,
    folder: Path | None = None,
    where: Sequence[KindBlock] = (),
) -> str:
    """Return the HTML page of a run. Every text is escaped by the template or packed.

    `folder` is the run's folder, for the commands on the page. `where` comes from `where.kind_blocks`.
    """
    frames = view.item_frames(results, items)
    found, to_type = sections.check_sections(results, frames), run_commands(results, folder)
    versions = [data.version for data in results.data if data.name == "probes"]
    topics = {text: topic for version in versions for text, topic in sentence_domains(version).items()}
    payload, most = pack_items(frames, win_margins(results), topics)
    drawn = sections.profile_blocks(results, found)
    gates, facts = gate_views(results), {}
    for block in drawn:  # figures that sum up the profile of a run's only model
        (label, *others) = (one.label for one in results.models)
        lines = [] if others else profile.profile(results, model=label, data=block.data)
        facts[block.data] = sections.standing_facts(lines)
    return render_template(
        "report.html",
        payload=payload,
        results=results,
        names=", ".join(map(view.full_name, results.models)),
        partial=list(view.partial_lines(results)),
        banners=[one.banner for one in gates] or [decisions.run_banner(results)],
        story=story.main_findings(results, frames),
        lines=story.LINES,
        blocks=drawn,
        kinds=sections.KINDS,
        filters={kind for block in drawn for _, some in block.families for row in some for kind in row.kinds},
        facts=facts,
        decided=decisions.run_decisions(results),
        headlines=view.run_headlines(results),
        contamination=list(contamination.contamination_lines(results.contamination)),
        matrix=view.criteria_matrix(results),
        criteria=view.CRITERIA,
        words=view.WORDS,
        sections=found,
        anchors={(section.check, section.data): section.anchor for section in found},
        commands=to_type,
        cases=lambda section: [(case, name, to_type.show(model)) for case, name, model in section.cases],
        not_run=view.skip_reasons_by_place(results, named=True),
        most=most if any(len(frame) > most for frame in frames.values()) else None,
        trend=_baseline_change,
        unpaired=_unpaired_note(results, drawn),
        undecided=inconclusive_lines(results.gate) if results.gate else [],
        gate_views=gates,
        peers=reference.shipped_peers(),
        references=results.references,
        reference=reference,
        surface=view.surface_text,
        where=where,
    )


def _unpaired_note(results: RunFile, drawn: Sequence[sections.ProfileBlock]) -> str:
    """Return why no model is compared with a reference, or "" if one is, or if there is a gate."""
    labels = [one.label for one in results.models]
    if results.gate or any(block.has_others for block in drawn):
        return ""
    if REFERENCE in labels:
        return f"{REFERENCE} is the reference model itself, so there is no other model to pair it with."
    return (
        f"The pictures leave out the reference model {REFERENCE}: encheck ships its scores for the {SENTENCES} alone."
    )


def render_template(template: str, *, payload: str = "", has_script: bool = True, **context: object) -> str:
    """Return a page from one of this package's templates. Its policy allows no styles and scripts except the inline
    ones.

    `payload` comes from `pack_json`, and the script lists its content.
    """
    script = _read_template("report.js") if has_script else ""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    allowed = f"script-src 'sha256-{digest}'; " if script else ""
    policy = f"default-src 'none'; {allowed}style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
    style = _read_template("report.css") + _read_template("gate.css")
    return _environment().get_template(template).render(
        style=style, script=script, policy=policy, payload=payload, **context
    )  # fmt: skip


def render_picture(template: str, **context: object) -> str:
    """Return an SVG from one of this package's templates, with its texts escaped."""
    return _environment().get_template(template).render(**context)


@cache
def _environment() -> jinja2.Environment:
    """Return the templates of this package. They are compiled once per process."""
    import jinja2

    loader = jinja2.FunctionLoader(_read_template)
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, finalize=_visible_text
    )
    environment.globals |= {
        "figure": view.figure_text,
        "sentence": view.claim_sentence,
        "charts": charts,
        "plain": plain_name,
    }
    environment.filters |= {"data_name": data_name, "typed": _unbroken_command, "g": "{:g}".format, "asdict": asdict}
    return environment


def _unbroken_command(command: str) -> Markup:
    """Return a command whose words do not break at the end of a line.

    Otherwise "-" and "-model" would be copied as two words.
    """
    from markupsafe import Markup, escape

    words = (escape(make_visible(word, keep=LINES)) for word in command.split(" "))
    return Markup(" ").join(Markup('<span class="word">{}</span>').format(w) if len(w) < LONG else w for w in words)


def _visible_text(value: object) -> object:
    """Make the invisible characters of a template's text visible. HTML stays unchanged."""
    return make_visible(value, keep=LINES) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def _read_template(name: str) -> str:
    return (resources.files("encheck.reporting.html") / name).read_text("utf-8")


def _baseline_change(row: Result) -> str:
    """Return the baseline's figure and the change from it, or "" without a baseline."""
    before = row.baseline.value if row.baseline else None
    if before is None or row.value is None:
        return ""
    moved = row.value - before
    change = f"{100 * moved:+.0f} points" if view.is_rate(row.metric) else f"{moved:+.2f}"
    return f"{view.format_figure(row.metric, before)} ({'same' if abs(moved) < 0.005 else change})"


def render_gate(results: RunFile, gate: Gate) -> str:
    """Return the HTML page of a run with this gate. The template escapes every text."""
    return render_template(
        "gate_page.html",
        has_script=False,
        gate_views=gate_views(results),
        results=results,
        candidate=view.full_name(results.models[0]),
        partial=list(view.partial_lines(results)),
        undecided=inconclusive_lines(gate),
    )
