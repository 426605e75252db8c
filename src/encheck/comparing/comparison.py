"""One model of several, the reference, compared with each of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from encheck.comparing.dilemma import Dilemma, dilemma
from encheck.comparing.flips import Flip, flips
from encheck.comparing.matrix import Line, matrix
from encheck.comparing.models import Model, read_models
from encheck.comparing.runs import Difference, compare_sides
from encheck.errors import UsageError
from encheck.gating.contamination import contaminations
from encheck.metrics import named
from encheck.reporting.view import figure, sentence, surface
from encheck.run_file import Contamination
from encheck.types import Declaration


@dataclass(frozen=True)
class Comparison:
    """The reference, which is the first of `models`, and each other model's differences from it.

    `matrix` has a line for each property, with a cell a model. `whole` has a line for each figure of a whole set, which
    no item has a part in: it is not paired. `dilemma` has a point a model, if two or more have a benchmark's figure and
    behaviour. `flips` are the items that some models win and others lose. `contamination`
    has a row for each other model that was run on the written probes and on fresh ones, as the reference was.
    """

    models: Sequence[Model]
    differences: Mapping[str, Sequence[Difference]]
    whole: Sequence[Sequence[str]]
    dilemma: Dilemma | None = None
    matrix: Sequence[Line] = ()
    flips: Sequence[Flip] = ()
    contamination: Sequence[Contamination] = ()

    def surface_of(self, difference: Difference) -> str:
        """The best surface scorer on a case, with the same figure of it; a dash where none was measured."""
        for row in self.first.rows:
            if row.case.of_any_model == difference.case and row.metric in _names(difference.figure) and row.surface:
                return surface(row)
        return "-"

    @property
    def looks(self) -> Sequence[str]:
        """Which models stopped after a first look: their checks are few, and so are the items that pair."""
        return [f"{m.name} is {m.look}: only what it measured is compared" for m in self.models if m.look]

    @property
    def first(self) -> Model:
        """The reference."""
        return self.models[0]


def compare(
    folders: Sequence[Path], *, reference: str | None = None, behaviour: str | None = None, seed: int = 0
) -> Comparison:
    """Compare every model of the runs with the `reference`, by default the first; UsageError where none share items.

    `behaviour` names the property that stands for behaviour beside a benchmark, by default the balanced score.
    """
    models = read_models(folders, reference=reference)
    first = models[0]
    epsilons = epsilons_of(models)
    differences = {
        m.name: sorted(compare_sides(first.side, m.side, epsilons=epsilons), key=_place(first)) for m in models[1:]
    }
    whole = _whole(models)
    if not any(differences.values()) and not whole:
        named = ", ".join(map(str, folders))
        raise UsageError(f"the runs share no items ({named}): compare runs on the same data, seed and generators")
    lines = matrix(models, epsilons=epsilons)
    return Comparison(
        models, differences, whole, dilemma(models, behaviour=behaviour, seed=seed), lines,
        flips(models, epsilons=epsilons), _contamination(models, seed),
    )  # fmt: skip


def _contamination(models: Sequence[Model], seed: int) -> list[Contamination]:
    """The rows of every other model since the reference, which is taken for the older one."""
    first, *others = models
    return [
        row
        for m in others
        for row in contaminations(first.side, m.side, first.editions, names=(first.name, m.name), seed=seed)
    ]


def _names(figure: str) -> tuple[str, str]:
    """How rows name a metric: as it is, and on the calibrated scale."""
    return figure, f"{figure}_calibrated"


def epsilons_of(models: Sequence[Model]) -> dict[str, float]:
    """By how much an item of each case is won; UsageError where the runs had several --epsilon."""
    found: dict[str, float] = {}
    for model in models:
        for row in model.rows:
            if "epsilon" in row.params:
                epsilon = float(row.params["epsilon"])
                if found.setdefault(row.case.of_any_model, epsilon) != epsilon:
                    several = f"--epsilon {found[row.case.of_any_model]} and {epsilon}"
                    raise UsageError(f"the runs were made with {several}: compare runs with one --epsilon")
    return found


def _whole(models: Sequence[Model]) -> list[list[str]]:
    """Check, level, data, figure, and each model's value with its interval, for checks judged by a whole set's."""
    rows = {
        (row.case.of_any_model, row.metric or ""): row
        for model in models
        for row in model.rows
        if _is_whole(model.declared[row.check]) and row.verdict is not None and row.value is not None
    }
    lines = []
    for (case, metric), row in rows.items():
        values = [
            next((r for r in model.rows if (r.case.of_any_model, r.metric) == (case, metric)), None) for model in models
        ]
        shown = ["-" if r is None or r.value is None else figure(r) for r in values]
        lines.append([sentence(row.check), row.level, row.data, metric, *shown])
    return lines


def _is_whole(declared: Declaration) -> bool:
    """Whether no item has a part in the metric that a check is judged and weighed by."""
    try:
        return bool(declared.metric) and not declared.gates and named(declared.metric).values is None
    except KeyError:
        return True


def _place(first: Model) -> Callable[[Difference], tuple[bool, int, str, str, str]]:
    """The four criteria first, as everywhere, each with the controls of its property."""
    found: dict[str, int] = {}
    for declared in first.declared.values():
        found[declared.property] = max(declared.criterion, found.get(declared.property, 0))

    def place(d: Difference) -> tuple[bool, int, str, str, str]:
        criterion = found.get(d.property, 0)
        return (not criterion, criterion, d.property, d.check, d.level)

    return place
