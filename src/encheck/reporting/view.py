"""What terminal, Markdown and HTML share: verdicts in words, the matrix of criteria, rivals, and the worst items.

A rival is a scorer that does not read meaning, yet is right in both directions more often than guessing. A model that
does no better may use the same cue: negation words, or the position of the first difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from encheck.encoders.model_config import ModelConfig
from encheck.errors import UsageError, missing_need
from encheck.gating.types import Z_95
from encheck.generators.phenomenon import relation_title
from encheck.metrics import adjusted_rate, both_directions, find_metric
from encheck.reporting.failures import rounded_figure
from encheck.reporting.text import Piece, data_name, percent, percent_interval, pieces, plain_name
from encheck.run_file import DataEntry, ModelEntry, Result, RunFile, SurfaceFigure
from encheck.scoring.item import ItemFrame, ItemRow
from encheck.similarity import WORD_OVERLAP
from encheck.statistics.bootstrap import Figure
from encheck.statistics.hypothesis_tests import wilson_interval
from encheck.surface import UNBALANCED_SCORERS
from encheck.types import CurvePoint, Declaration, Validity, Verdict

NOTHING = "NOTHING WAS MEASURED"
Items = Mapping[str, ItemFrame]  # case -> its items
CRITERIA = {  # the criteria of Mahajan et al. 2023, by the numbers that checks declare
    1: "1 Paraphrasing",
    2: "2 Synonym replacement",
    3: "3 Paraphrase against antonym",
    4: "4 Paraphrase against jumble",
}
WORDS: dict[str | None, str] = {
    None: "not judged",
    "pass": "pass",
    "below_aim": "below aim",
    "fail": "fail",
    "known_failure": "known failure",
    "stale_known_failure": "stale known failure",
    "inconclusive": "inconclusive",
    "skipped": "skipped",
    "error": "error",
}
_WORST_FIRST = (
    "error",
    "fail",
    "known_failure",
    "below_aim",
    "inconclusive",
    "stale_known_failure",
    "pass",
    None,
    "skipped",
)


@dataclass(frozen=True)
class MatrixCell:
    """A model on a data set, judged by the four criteria. The mappings are keyed by the number of the criterion.

    `verdicts` has the worst verdict of each criterion that ran (None if a gate decides instead), and `words` the same
    in words. `properties` has the property of each criterion's check. `all` is the verdict on all four.
    """

    model: str
    data: str
    verdicts: Mapping[int, Verdict | None]
    words: Mapping[int, str]
    properties: Mapping[int, str]
    all: str


def full_name(model: ModelEntry | ModelConfig, label: str = "") -> str:
    """Return the model's name on pages: the last part of its name. If its label differs, add the label in brackets.

    >>> full_name(ModelConfig("sbert", name="sentence-transformers/all-MiniLM-L6-v2"))
    'all-MiniLM-L6-v2 (sbert)'
    """
    label = label or model.label
    last = "" if model.name == model.adapter else model.name.rstrip("/").rpartition("/")[2]
    return f"{last} ({label})" if last not in ("", model.label) else label


def partial_lines(results: RunFile) -> Iterator[str]:
    """Yield a line if the run is partial, because it stopped after its first look or ran only selected checks."""
    if look := results.first_look:
        yield f"Partial: {look.clusters:,} of {look.of_clusters:,} clusters"
    is_whole_gate = results.gate and not any(one.partial for one in results.gate.against)
    if results.selection and results.selection.unselected and not is_whole_gate:
        ran = {row.check for row in results.checks if row.verdict != "skipped"}
        every = ran | {one.partition("/")[0] for one in results.selection.unselected}
        yield f"Partial: {len(ran):,} of {len(every):,} checks"


def judged_rows(results: RunFile) -> list[Result]:
    """Return the rows with a verdict or an aim, and the rows of checks that never have a verdict.

    They are grouped by model, in the order of the criteria. Controls follow the criterion whose property they share.
    """
    declared, last = results.declarations, len(CRITERIA) + 1
    numbers: dict[str, int] = {}
    for one in declared.values():
        numbers[one.property] = min(one.criterion or last, numbers.get(one.property, last))
    rows = [
        row
        for row in results.checks
        if (bool(row.verdict) or row.aim is not None) or has_no_verdict(row, declared[row.check])
    ]
    place = {row.id: numbers.get(row.property, last) for row in rows}
    return sorted(rows, key=lambda r: (r.model, r.data, place[r.id], r.property, r.id))


def rows_that_ran(rows: Iterable[Result]) -> list[Result]:
    """Return the rows of checks that were not skipped."""
    return [row for row in rows if row.verdict != "skipped"]


def skip_reasons_by_place(results: RunFile, *, named: bool = False) -> dict[str, list[str]]:
    """Return the distinct reasons for skipped checks for each "model on data" that has some; see `skip_reasons`."""
    found: dict[str, list[Result]] = {}
    for row in judged_rows(results):
        found.setdefault(f"{row.model} on {data_name(row.data)}", []).append(row)
    return {place: why for place, rows in found.items() if (why := skip_reasons(rows, named=named))}


def skip_reasons(rows: Iterable[Result], *, named: bool = False) -> list[str]:
    """Return the distinct reasons why checks of these rows were skipped, the most common reason first.

    Properties with the same need are counted: "2 properties need labels". With `named`, all properties are named,
    otherwise only a property that is alone. If only one check was skipped, its reason is given in full.
    """
    those = [row for row in rows if row.verdict == "skipped"]
    if len(those) == 1 and missing_need(those[0].reason):
        return [f"{plain_name(those[0].property)} {those[0].reason}"]
    found: dict[tuple[str, str], set[str]] = {}
    for row in those:
        needs = missing_need(row.reason)
        found.setdefault((needs, "" if needs else row.reason), set()).add(row.property)
    lines = []
    for (needs, reason), properties in sorted(found.items(), key=lambda one: (-len(one[1]), one[0])):
        plain = [plain_name(name) for name in sorted(properties)]
        is_one = len(plain) == 1
        who = plain[0] if is_one else f"{len(plain)} properties"
        names = f" ({', '.join(plain)})" if named and not is_one else ""
        if needs:
            lines.append(f"{who}: needs {needs}" if is_one else f"{who} need {needs}{names}")
        else:  # the reasons of single sentences belong in the details
            shown = reason if named else reason.partition(" (")[0]
            lines.append(f"{who}{names}: {shown or 'no reason given'}")
    return lines


def has_no_verdict(row: Result, declared: Declaration) -> bool:
    """Return whether the row's check never has a verdict, in general or on these data."""
    return bool(declared.unjudged or row.params.get("unjudged")) and row.metric == declared.metric


def floor_and_aim(row: Result, *, name: bool = False) -> str:
    """Return the floor and the aim, or one number if they are equal. With `name`, also name the scorer that sets the
    floor.
    """
    if row.aim is None:
        return "-"
    of = f" ({row.floor_of})" if name and row.floor_of else ""
    if row.floor == row.aim:
        return f"{round(row.aim, 2) if row.floor_of else row.aim:g}{of}"
    floor = "-" if row.floor is None else f"{round(row.floor, 2):g}"
    return f"{floor}{of} / {row.aim:g}"


def claim_sentence(check: str) -> str:
    """Return the name of a check as a sentence.

    >>> claim_sentence("jumble_is_farther_than_paraphrase")
    'jumble is farther than paraphrase'
    """
    return check.replace("_", " ")


def figure_text(row: Result) -> str:
    """Return a row's value and interval, or a dash if there is no value."""
    if row.value is None or row.low is None:
        return "-"
    value, low, high = rounded_figure(*row.numbers)
    return f"{value} [{low}, {high}]"


def is_rate(metric: str | None) -> bool:
    """Return whether a metric is a share of items, as in "right in 23% of 235"."""
    try:
        return find_metric(metric or "").kind == "rate" or find_metric(metric or "").base == adjusted_rate.name
    except UsageError:
        return False


def format_figure(metric: str | None, value: float) -> str:
    """Return a figure as all outputs print it: a rate in percent, any other figure with two digits.

    >>> format_figure("both_directions_calibrated", 0.5215), format_figure("auc", 0.5215)
    ('52%', '0.52')
    """
    return percent(value) if is_rate(metric) else f"{value + 0.0:.2f}"


def format_interval(metric: str | None, low: float, high: float) -> str:
    """Return the ends of a figure's 95% interval, printed like the figure.

    >>> format_interval("both_directions_calibrated", 0.481, 0.557), format_interval("auc", 0.4812, 0.5571)
    ('48 to 56', '0.48 to 0.56')
    """
    return percent_interval(low, high) if is_rate(metric) else f"{low + 0.0:.2f} to {high + 0.0:.2f}"


def best_surface(row: Result) -> tuple[str, float, SurfaceFigure] | None:
    """Return the name, value and estimate of the surface scorer with the highest figure, or None if there is none."""
    found = [(name, beside.value, beside) for name, beside in row.surface.items() if beside.value is not None]
    return max(found, key=lambda one: one[1], default=None)


def surface_text(row: Result) -> str:
    """Return the best surface scorer and its figure, or a dash if there is none."""
    best = best_surface(row)
    return f"{best[0]} {round(best[1], 2) + 0.0:.2f}" if best else "-"


def overlap_curve(row: Result) -> tuple[CurvePoint, ...]:
    """Return the curve of the word-overlap scorer, or () if there is none."""
    overlap = row.surface.get(WORD_OVERLAP)
    return overlap.curve if overlap else ()


def run_headlines(results: RunFile) -> list[str]:
    """Return one sentence per model that counts passed and failed checks and known failures.

    If the run stopped early, the first sentence says where. For data on which nothing was measured, another sentence
    says so instead.
    """
    nothing = unmeasured_data(results)
    there = [row for row in judged_rows(results) if (row.data, row.model) not in nothing]
    rows = {m.label: [r for r in there if r.model == m.label] for m in results.models}
    said = (model_headline(model, its) for model, its in rows.items() if its or not nothing)
    if results.gate:  # the gate decides: only checks that fail by themselves are added
        failed = {row.model for row in there if row.verdict in ("fail", "error")}
        said = (model_headline(model, its) for model, its in rows.items() if model in failed)
    unmeasured = [
        f"{NOTHING} on {name} with {model}: {data.rows:,} rows were read, but none of the "
        f"{data.measured[model].selected} selected checks measured any. Contracts and health do not count, since they "
        "accept any text. So this run does not pass"
        for (name, model), data in nothing.items()
    ]
    return [*first_look_lines(results), *shard_lines(results), *unmeasured, *said]


def unmeasured_data(results: RunFile) -> dict[tuple[str, str], DataEntry]:
    """Return the data on which no check measured anything, as (data, model) -> the entry of the data."""
    return {
        (data.name, model): data
        for data in results.data
        for model, one in data.measured.items()
        if one.selected and not one.items
    }


def failed_models(results: RunFile) -> dict[str, str]:
    """Return, by label, the error of each model that failed before any check measured it."""
    measured = {row.model for row in rows_that_ran(results.checks) if row.verdict != "error"}
    return {one.label: one.error for one in results.models if one.error and one.label not in measured}


def shard_lines(results: RunFile) -> Iterator[str]:
    """Yield lines for data in shards that say which checks used all pairs, and which used a sample."""
    for data in results.data:
        if whole := data.whole:
            yield (
                f"{data.name}: checks on labelled pairs measure all {whole.pairs:,} pairs "
                f"({whole.clusters:,} clusters), all others a sample of {data.pairs:,} of them; the items shown "
                f"are the worst and a random sample"
            )


def measured_in_shards(results: RunFile, items: Items) -> set[str]:
    """Return the cases for which the run stored only the worst items and a random sample."""
    whole = {data.name for data in results.data if data.whole}
    sizes: dict[str, int] = {}
    for row in results.checks if whole else ():
        case = str(row.case)
        sizes[case] = max(sizes.get(case, 0), row.n) if row.data in whole else 0
    return {case for case, size in sizes.items() if case in items and size > len(items[case])}


def model_headline(model: str, rows: Sequence[Result]) -> str:
    """Return a sentence that counts a model's passed and failed checks and known failures."""
    counts = {v: [r for r in rows if r.verdict == v] for v in WORDS}
    counted = [r for r in rows if r.verdict not in ("skipped", None)]
    if rows and not rows_that_ran(rows):
        return f"{model}: every check was skipped"
    if not counted and rows:
        return f"{model}: floors and aims are informational here"
    parts = [f"{model} passes {len(counts['pass']) + len(counts['stale_known_failure'])} of {len(counted)} checks"]
    for verdict, words in (("fail", "fails"), ("error", "cannot be measured on")):
        if counts[verdict]:
            parts.append(f"{words} {len(counts[verdict])} ({_property_names(counts[verdict])})")
    if known := counts["known_failure"]:
        parts.append(f"{_count_of(known, 'known failure')} ({_property_names(known)})")
    if counts["below_aim"]:
        parts.append(f"is below aim in {len(counts['below_aim'])} ({_property_names(counts['below_aim'])})")
    if counts["inconclusive"]:
        parts.append(f"{len(counts['inconclusive'])} inconclusive")
    if stale := counts["stale_known_failure"]:
        parts.append(f"{_count_of(stale, 'stale known failure')}: passed now")
    return "; ".join(parts)


def _count_of(rows: Sequence[Result], what: str) -> str:
    return f"{len(rows)} {what}{'s' * (len(rows) != 1)}"


def first_look_lines(results: RunFile) -> Iterator[str]:
    """Yield lines that say that a run stopped after its first look, and on how little data. For other runs, yield
    nothing.
    """
    if look := results.first_look:
        clusters = f"{look.clusters:,} of {look.of_clusters:,} clusters"
        yield (
            f"First look, from {look.texts:,} of about {look.of_texts:,} texts ({clusters}): the other checks "
            "have not run, and it cannot be a baseline"
        )


def _property_names(rows: Iterable[Result]) -> str:
    return ", ".join(sorted({plain_name(row.property) for row in rows}))


def criteria_matrix(results: RunFile) -> list[MatrixCell]:
    """Apply the rule of Mahajan et al. 2023, section 6: a good encoder passes all four criteria.

    Only checks of the paper's criteria count, not the controls that encheck adds.
    """
    rows, declared = judged_rows(results), results.declarations
    cells = []
    for model, data in sorted({(r.model, r.data) for r in rows}):
        here = [r for r in rows if (r.model, r.data) == (model, data) and not r.params.get("unjudged")]
        run = {c: [r for r in here if declared[r.check].criterion == c] for c in CRITERIA}
        verdicts = {c: min([r.verdict for r in found], key=_WORST_FIRST.index) for c, found in run.items() if found}
        names = {c: found[0].property for c, found in run.items() if found}
        words = {c: WORDS[verdicts[c]] if c in verdicts else "skipped" for c in CRITERIA}
        cells.append(MatrixCell(model, data, verdicts, words, names, _verdict_on_criteria(verdicts)))
    return cells


def _verdict_on_criteria(verdicts: Mapping[int, Verdict | None]) -> str:
    found = set(verdicts.values())
    if len(verdicts) == len(CRITERIA) and found <= {"pass", "stale_known_failure"}:
        return "pass"
    if found & {"fail", "error", "known_failure", "below_aim"}:
        return "fail"
    if len(verdicts) < len(CRITERIA) or "skipped" in found:
        return "skipped"
    return WORDS[None if None in found else "inconclusive"]


def item_frames(results: RunFile, items: Items) -> dict[str, ItemFrame]:
    """Return the items of every case that has a row in the results."""
    cases = {str(row.case) for row in results.checks}
    return {case: frame for case, frame in items.items() if case in cases}


@dataclass(frozen=True, slots=True)
class ItemExample:
    """An item on a page: its source, its texts in pieces that mark the edits, and their scores (NaN if not known)."""

    source: str
    near_pieces: Sequence[Piece]
    far_pieces: Sequence[Piece]
    near_score: float
    far_score: float
    item: str = ""
    is_question: bool = False


def example_of(row: ItemRow, *, is_question: bool = False) -> ItemExample:
    """Return a row of items.parquet as an example for a page."""
    near, far = ([] if side.text is None else pieces(row.source, side.text, side.edits) for side in (row.near, row.far))
    return ItemExample(row.source, near, far, row.near.score, row.far.score, row.item, is_question)


def worst_items(frame: ItemFrame, count: int) -> list[ItemExample]:
    """Return the worst items of a case, worst first."""
    return [example_of(frame.row(i)) for i in frame.worst_positions(count)]


def rival_lines(rows: Sequence[Result]) -> Iterator[str]:
    """Yield a line for each result in both directions in which a rival is above chance and the model is not above the
    rival.
    """
    for row in rows:
        if row.metric not in (both_directions.name, both_directions.calibrated.name) or row.value is None:
            continue
        rivals = [
            (name, one) for name, one in row.surface.items() if name in UNBALANCED_SCORERS and one.value is not None
        ]
        name, best = max(rivals, key=lambda rival: rival[1].numbers[0], default=("", None))
        if best is None:
            continue
        model, rival, chance = Figure(*row.numbers), Figure(*best.numbers), both_directions.chance or 0.0
        if rival.low > chance and rival.high > model.low:
            yield (
                f"{row.property} on {row.data}: {row.model} is right in both directions in {model.says} of the "
                f"groups, and {name}, which reads no meaning, in {rival.says}; guessing gets {chance:.0%}"
            )


def validity_lines(results: RunFile) -> Iterator[str]:
    """Yield a line on the quality of generated items for each data set and generator that the run used."""
    yield from row_validity_lines([row for row in results.checks if row.verdict != "skipped"], results.data)


def row_validity_lines(rows: Sequence[Result], data: Sequence[DataEntry]) -> list[str]:
    """Return the lines of `validity_lines` for these rows.

    A generator's number of sentences is that of the row with the most, because other rows need more from a sentence.
    """
    groups = {one.name: one.groups for one in data}
    found: dict[tuple[str, str], tuple[Validity, int]] = {}
    for row in rows:
        if row.validity:
            key = row.validity.generator, row.data
            made = groups[row.data] - sum(row.excluded.values())
            found[key] = row.validity, max(made, found[key][1] if key in found else 0)
    lines = []
    for (_, name), (one, made) in sorted(found.items()):
        told = "not checked yet, so the share that is right is unknown"
        if one.rate is not None:
            figure = Figure(one.rate, *wilson_interval(one.rate, one.read, z=Z_95))
            told = f"blind readers found {figure.says} of {one.read} right, a ceiling for rates"
        lines.append(
            f"{relation_title(one.generator)}: made from {made:,} of {groups[name]:,} sentences ({name}); {told}"
        )
    return lines


RECALL, FALSE_ACCEPTS = "recall", "false_positive_rate"
THRESHOLD_COMMAND = "encheck threshold shows which threshold keeps a budget of false accepts, and what it costs"


def threshold_lines(results: RunFile) -> Iterator[str]:
    """Yield a sentence on recall and false accepts for each model and data set. Without a threshold, yield nothing."""
    found: dict[tuple[str, str, float], dict[str, Result]] = {}
    for row in filter(_is_of_threshold, results.checks):
        found.setdefault((row.model, row.data, float(row.params["threshold"])), {})[str(row.metric)] = row
    for (model, data, cut), rows in found.items():
        parts = [f"{name} {figure_text(rows[metric])} of {rows[metric].n:,} pairs with label {label}"
                 for metric, name, label in ((RECALL, "recall", 1), (FALSE_ACCEPTS, "false accepts", 0))
                 if metric in rows]  # fmt: skip
        yield f"{model} on {data} at the threshold {cut:g}: {', '.join(parts)}"
    if found:
        yield THRESHOLD_COMMAND


def unused_threshold(threshold: float | None, rows: Iterable[Result]) -> list[str]:
    """Return a note if a threshold was given but no check of labelled pairs ran, otherwise an empty list."""
    if threshold is None or any(map(_is_of_threshold, rows)):
        return []
    return [f"--threshold={threshold:g} was not used: no check of labelled pairs (property paraphrase) ran"]


def _is_of_threshold(row: Result) -> bool:
    return row.metric in (RECALL, FALSE_ACCEPTS) and "threshold" in row.params and row.value is not None
