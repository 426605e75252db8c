"""Show a comparison on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from encheck.comparing.comparison import NO_EVIDENCE, Compared, ModelComparison, PropertyCell, count_verdicts
from encheck.comparing.differences import CaseDifference, has_item_flips
from encheck.gating import contamination
from encheck.metrics import find_metric
from encheck.reporting.text import percent, table
from encheck.reporting.view import claim_sentence
from encheck.verdict import MIN_CLUSTERS

SIGNS: Mapping[Compared, str] = {
    "better": "+",
    "worse": "-",
    "cannot tell": "~",
    "no evidence": "*",
    "not compared": " ",
}
MAX_HEAD = 12  # characters of a model's name above its column; longer names are numbered


def comparison_lines(comparison: ModelComparison, *, everything: bool = False) -> Iterator[str]:
    """Yield the lines of the matrix, its summary, and the flips. With `everything`, also list each check of every
    model.
    """
    yield from comparison.looks
    if comparison.matrix:
        yield from _matrix_lines(comparison)
    if everything or not comparison.matrix:
        yield from _check_lines(comparison)
    if comparison.benchmark_plot:
        plot = comparison.benchmark_plot
        yield f"benchmark: {plot.benchmark}; behaviour: {plot.behaviour}"
        rows = [
            (p.model, *(f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]" for one in (p.benchmark, p.behaviour)))
            for p in plot.points
        ]
        yield from table([("model", "benchmark [95% CI]", "behaviour [95% CI]"), *rows])
        yield plot.words
        yield ""
    yield from contamination.contamination_lines(comparison.contamination)
    if comparison.whole and (everything or not comparison.matrix):
        yield "figures of whole sets, each with its own interval: not paired, since they are not computed from items"
        heads = ("check", "level", "data", "figure", *(m.name for m in comparison.models))
        yield from table([heads, *map(tuple, comparison.whole)])


def _matrix_lines(comparison: ModelComparison) -> Iterator[str]:
    names = [m.name for m in comparison.models]
    heads = names if max(map(len, names)) <= MAX_HEAD else [str(i) for i in range(1, len(names) + 1)]
    if heads != names:
        yield from (f"  {i}  {name}" for i, name in zip(heads, names, strict=True))
        yield ""
    several = len({line.data for line in comparison.matrix}) > 1
    rows = [
        (f"{line.title}, {line.data}" if several else line.title,
         line.printed_chance, *map(_cell_words, line.cells))
        for line in comparison.matrix
    ]  # fmt: skip
    yield from table([("property", "chance", *heads), *rows])
    yield ""
    if any(cell and cell.adjusted is not None for line in comparison.matrix for cell in line.cells):
        yield "In brackets: the rate under weights that balance the surface (guessing gets 50%)"
    yield f"Certain differences from {comparison.first.name}, on the same items: + better, - worse, ~ cannot tell"
    every = list(count_verdicts(comparison.matrix, comparison.models))
    if any(counts["no evidence"] for _, counts in every):
        yield f"* no evidence: {NO_EVIDENCE}"
    for name, counts in every:
        worse, doubtful = (_properties_with_verdict(comparison, name, said) for said in ("worse", "no evidence"))
        line = f"{name}: better in {counts['better']}, worse in {counts['worse']}{worse}, "
        line += f"cannot tell in {counts['cannot tell']}"
        yield line + f", no evidence in {counts['no evidence']}{doubtful}" * bool(counts["no evidence"])
    alone = {m.name: sum(flip.only_wrong_model == m.name for flip in comparison.flips) for m in comparison.models}
    if any(alone.values()):
        yield "wrong where every other model is right: " + ", ".join(f"{name} {n}" for name, n in alone.items())
    yield ""


def _cell_words(one: PropertyCell | None) -> str:
    """Return a figure with its sign, followed by the adjusted rate."""
    if one is None:
        return "-"
    adjusted = "" if one.adjusted is None else f" ({percent(one.adjusted)})"
    return f"{one.figure} {SIGNS[one.said]}{adjusted}".rstrip()


def _properties_with_verdict(comparison: ModelComparison, model: str, said: Compared) -> str:
    """Return the names of a model's properties with this verdict in brackets, or "" if there are none."""
    some = [
        line.title
        for line in comparison.matrix
        for other, cell in zip(comparison.models, line.cells, strict=True)
        if other.name == model and cell and cell.said == said
    ]
    return f" ({', '.join(dict.fromkeys(some))})" if some else ""


def _check_lines(comparison: ModelComparison) -> Iterator[str]:
    """Yield a table of all checks for each model other than the reference."""
    for name, differences in comparison.differences.items():
        if not differences:
            continue
        yield f"{name} minus {comparison.first.name}, on the same items"
        names = (comparison.first.name, name)
        head = (
            "check",
            "level",
            "data",
            "figure",
            *names,
            "surface",
            "difference [95% CI]",
            "lost",
            "gained",
            "n (clusters)",
        )
        yield from table([head, *(_difference_cells(d, comparison.surface_of(d)) for d in differences)])
        clear = [d for d in differences if d.is_clear]
        better = sum(d.difference > 0 for d in clear)
        counts = f"{better} higher, {len(clear) - better} lower"
        yield f"{len(clear)} of {len(differences)} differ beyond their interval: {counts}"
        if unproven := sum(d.is_no_evidence for d in differences):
            yield f"{unproven} of {len(differences)} are no evidence: {NO_EVIDENCE}"
        if small := sum(d.is_small for d in differences):
            yield f"{small} of {len(differences)} rest on fewer than {MIN_CLUSTERS} clusters: too few to tell"
        yield ""


def _difference_cells(d: CaseDifference, surface: str) -> tuple[str, ...]:
    change = f"{d.difference:+.3f} [{d.low:+.3f}, {d.high:+.3f}]"
    flips = [str(len(f)) if has_item_flips(d) else "-" for f in (d.lost, d.gained)]
    values = (f"{d.before:.3f}", f"{d.after:.3f}", surface, change)
    return (
        claim_sentence(d.check),
        d.level,
        d.data,
        find_metric(d.figure).label,
        *values,
        *flips,
        f"{d.n} ({d.clusters})",
    )
