"""`encheck compare`: two to ten models side by side, on the terminal and as a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from encheck.comparing import charts as comparison_charts
from encheck.comparing.runs import Difference, behaviour, compare_sides, in_common, names_of
from encheck.errors import UsageError
from encheck.gating.baseline import case_of
from encheck.gating.declared import declarations
from encheck.gating.weighing import Side, side_of
from encheck.ids import CaseId
from encheck.metrics import named
from encheck.reporting.html import page as html
from encheck.reporting.html.payload import pack
from encheck.reporting.results import read_items, read_results, write_named
from encheck.reporting.text import pieces, table
from encheck.reporting.view import Items, figure, sentence
from encheck.scoring.frame import edits_of
from encheck.system.terminal import visible
from encheck.types import Declaration
from encheck.verdict import MIN_CLUSTERS

MAX_MODELS = 10
MAX_FLIPS_SHOWN = 5  # of each direction and case
BENCHMARKS = (  # the metric that a check is judged by, its family where that matters, the row's metric, in words
    ("spearman", "", "spearman_all", "Spearman with people's scores, all sets"),
    ("spearman", "", "spearman", "Spearman with people's scores"),
    ("recall_at_1", "retrieval", "recall_at_1", "recall@1 of plain retrieval"),
)


@dataclass(frozen=True)
class Model:
    """One model of one run: its name here, what it scored, its rows, its items, the data's fingerprints, what its
    checks declare.
    """

    name: str
    label: str
    side: Side
    rows: Sequence[Mapping[str, Any]]
    items: Items
    data: Mapping[str, str]
    declared: Mapping[str, Declaration]


@dataclass(frozen=True)
class Comparison:
    """The first model, the others, and each one's differences from the first; what the pictures need beside.

    `whole` has a line for each figure of a whole set, which no item has a part in: it is not paired.
    """

    models: Sequence[Model]
    differences: Mapping[str, Sequence[Difference]]
    whole: Sequence[Sequence[str]]
    benchmark: str
    points: Sequence[Mapping[str, Any]]

    @property
    def first(self) -> Model:
        """The model that the others are held against."""
        return self.models[0]


def read_models(folders: Sequence[Path]) -> list[Model]:
    """Every model of the runs, in the order given; UsageError for too few, too many, or a run without items."""
    found: list[tuple[str, str, Mapping[str, Any], Items]] = []
    for folder in folders:
        results, items = read_results(folder), read_items(folder)
        if not items:
            raise UsageError(f"{folder} has no items.parquet: a comparison pairs items. Run again")
        found += [(folder.resolve().name, m["label"], results, items) for m in results["models"] if not m["error"]]
    if not 2 <= len(found) <= MAX_MODELS:
        raise UsageError(f"the runs hold {len(found)} models; a comparison takes 2 to {MAX_MODELS}")
    names = names_of([(run, label) for run, label, _, _ in found])
    return [_model(name, label, run, items) for name, (_, label, run, items) in zip(names, found, strict=True)]


def _model(name: str, label: str, results: Mapping[str, Any], items: Items) -> Model:
    rows = [row for row in results["checks"] if row["model"] == label]
    data = {d["name"]: d["fingerprint"] for d in results["data"]}
    return Model(name, label, side_of(results, items, label), rows, items, data, declarations(results))


def compare(folders: Sequence[Path], *, seed: int = 0) -> Comparison:
    """Hold the first model of the runs against every other; UsageError where they share no items."""
    models = read_models(folders)
    first = models[0]
    epsilons = _epsilons(models)
    differences = {
        m.name: sorted(compare_sides(first.side, m.side, seed=seed, epsilons=epsilons), key=_place(first))
        for m in models[1:]
    }
    whole = _whole(models)
    if not any(differences.values()) and not whole:
        named = ", ".join(map(str, folders))
        raise UsageError(f"the runs share no items ({named}): compare runs on the same data, seed and generators")
    benchmark, scores = _benchmark(models)
    told = zip(models, in_common([m.side.tables for m in models]), strict=True)
    points = [{"series": m.name, "benchmark": scores[m.name], "behaviour": behaviour(tables)} for m, tables in told]
    return Comparison(models, differences, whole, benchmark, points)


def _epsilons(models: Sequence[Model]) -> dict[str, float]:
    """By how much an item of each case is won; UsageError where the runs had several --epsilon."""
    found: dict[str, float] = {}
    for model in models:
        for row in model.rows:
            if "epsilon" in row["params"]:
                epsilon = float(row["params"]["epsilon"])
                if found.setdefault(case_of(row), epsilon) != epsilon:
                    told = f"--epsilon {found[case_of(row)]} and {epsilon}"
                    raise UsageError(f"the runs were made with {told}: compare runs with one --epsilon")
    return found


def _whole(models: Sequence[Model]) -> list[list[str]]:
    """Claim, level, data, figure, and each model's value with its interval, for checks judged by a whole set's."""
    rows = {
        (case_of(row), row["metric"]): row
        for model in models
        for row in model.rows
        if _is_whole(model.declared[row["check"]]) and row["verdict"] is not None and row["value"] is not None
    }
    told = []
    for (case, metric), row in rows.items():
        values = [
            next((r for r in model.rows if case_of(r) == case and r["metric"] == metric), None) for model in models
        ]
        shown = ["-" if r is None or r["value"] is None else figure(r) for r in values]
        told.append([sentence(row["check"]), row["level"], row["data"], metric, *shown])
    return told


def _is_whole(declared: Declaration) -> bool:
    """Whether no item has a part in the metric that a check is judged and weighed by."""
    try:
        return bool(declared.metric) and not declared.gates and named(declared.metric).values is None
    except KeyError:
        return True


def _place(first: Model) -> Callable[[Difference], tuple[bool, int, str, str, str]]:
    """The four criteria first, as everywhere."""

    def place(d: Difference) -> tuple[bool, int, str, str, str]:
        criterion = first.declared[d.check].criterion
        return (not criterion, criterion, d.property, d.check, d.level)

    return place


def _benchmark(models: Sequence[Model]) -> tuple[str, dict[str, float | None]]:
    """What stands for a benchmark here: the first of BENCHMARKS that every model has a figure of, on the same data."""
    for judged_by, family, metric, words in BENCHMARKS:
        first, *others = (_figures(m, judged_by, family, metric) for m in models)
        for key in first:
            if all(key in other for other in others):
                scores = {m.name: found[key] for m, found in zip(models, (first, *others), strict=True)}
                return f"{words} ({key[0]})", scores
    return "", {m.name: None for m in models}


def _figures(model: Model, judged_by: str, family: str, metric: str) -> dict[tuple[str, str, str], float | None]:
    """By data, case and the fingerprint of its data: one name may stand for other data in another run."""
    own = {
        name
        for name, declared in model.declared.items()
        if declared.metric == judged_by and declared.family in (family or declared.family,)
    }
    rows = [r for r in model.rows if r["check"] in own and r["metric"] == metric and r["value"] is not None]
    return {(r["data"], case_of(r), model.data[r["data"]]): r["value"] for r in rows}


def lines(found: Comparison) -> Iterator[str]:
    """The comparison on the terminal: a table for each further model."""
    for name, differences in found.differences.items():
        if not differences:
            continue
        yield f"{name} less {found.first.name}, on the same items"
        names = (found.first.name, name)
        head = ("claim", "level", "data", "figure", *names, "difference [95% CI]", "lost", "gained", "n (clusters)")
        yield from table([head, *(_cells(d) for d in differences)])
        clear = [d for d in differences if d.is_clear]
        better = sum(d.difference > 0 for d in clear)
        counts = f"{better} higher, {len(clear) - better} lower"
        yield f"{len(clear)} of {len(differences)} differ beyond their interval: {counts}"
        if small := sum(d.is_small for d in differences):
            yield f"{small} of {len(differences)} rest on fewer than {MIN_CLUSTERS} clusters: too few to tell"
        yield ""
    if found.whole:
        yield "figures of whole sets, each with its own interval: not paired, since no item has a part in them"
        heads = ("claim", "level", "data", "figure", *(m.name for m in found.models))
        yield from table([heads, *map(tuple, found.whole)])


def _cells(d: Difference) -> tuple[str, ...]:
    change = f"{d.difference:+.3f} [{d.low:+.3f}, {d.high:+.3f}]"
    flips = [str(len(f)) if _flips_count(d) else "-" for f in (d.lost, d.gained)]
    values = (f"{d.before:.3f}", f"{d.after:.3f}", change)
    return (sentence(d.check), d.level, d.data, named(d.figure).label, *values, *flips, f"{d.n} ({d.clusters})")


def _flips_count(d: Difference) -> bool:
    """Whether the items of a case are won or lost, one by one."""
    metric = named(d.figure)
    return metric.kind == "rate" and metric.unit == "item"


def render(found: Comparison) -> str:
    """The page: a table with every model, the differences as a picture, the dilemma, and the flips with their texts."""
    against = found.first.name
    rows = [{**asdict(d), "run": name} for name, some in found.differences.items() for d in some]
    specs = {
        "differences": comparison_charts.differences(rows, against=against),
        "dilemma": comparison_charts.dilemma(found.points, benchmark=found.benchmark),
    }
    captions = {
        "differences": f"Each model less {against} on the same items, with 95% intervals over clusters.",
        "dilemma": "High on a benchmark is not yet right about meaning: the dilemma of Mahajan et al. 2023.",
    }
    drawn = {name: spec for name, spec in specs.items() if spec}
    return html.page(
        "compare.html",
        pack({"charts": drawn, "cases": {}, "texts": []}),
        models=found.models,
        pictures=[{"id": name, "caption": captions[name], "spec": spec} for name, spec in drawn.items()],
        table=_table(found),
        flips=[f for name, some in found.differences.items() for f in _flips(found, name, some)],
        label=lambda d: named(d.figure).label,
        counts=_flips_count,
        judges=lambda d: not named(d.figure).why_reported,
        whole=found.whole,
        clusters=MIN_CLUSTERS,
    )


def _table(found: Comparison) -> list[dict[str, Any]]:
    """A line a case: the first model's figure, and of each other its figure and difference (None where not shared)."""
    cases = {d.case: d for some in found.differences.values() for d in some}
    by_case = {name: {d.case: d for d in some} for name, some in found.differences.items()}
    return [{"case": d, "others": [some.get(case) for some in by_case.values()]} for case, d in cases.items()]


def _flips(found: Comparison, name: str, differences: Sequence[Difference]) -> Iterator[dict[str, Any]]:
    other = next(m for m in found.models if m.name == name)
    for d in differences:
        if d.lost or d.gained:
            columns = other.items[str(CaseId(d.check, other.label, d.data, d.level))]
            at = {item: i for i, item in enumerate(columns["item"])}
            some = [("lost", i) for i in d.lost[:MAX_FLIPS_SHOWN]] + [("gained", i) for i in d.gained[:MAX_FLIPS_SHOWN]]
            shown = [(what, item, _texts(columns, at[item])) for what, item in some]
            yield {"model": name, "case": d, "shown": shown}


def _texts(columns: Mapping[str, Sequence[Any]], at: int) -> dict[str, Any]:
    source = columns["source"][at]
    sides = {s: (visible(columns[s][at] or ""), edits_of(columns[f"{s}_edits"][at])) for s in ("near", "far")}
    return {"source": visible(source), **{s: pieces(visible(source), *both) for s, both in sides.items()}}


def write_json(path: Path, found: Comparison) -> None:
    """The differences as JSON, for other tools; UsageError where the disk does not take it."""
    told = {name: [asdict(d) for d in some] for name, some in found.differences.items()}
    write_named(path, json.dumps({"against": found.first.name, "differences": told}, indent=1) + "\n")
