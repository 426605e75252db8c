"""The table of an annotation: agreement, time, the data's own label, by difficulty (Peinelt et al. 2019, Table 4)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from encheck.annotation.agreement import Floats, kappa, permutation_test, table_of
from encheck.annotation.choosing import cells_of, relations_of
from encheck.annotation.sheets import Line, ratings
from encheck.datasets.dataset import Dataset
from encheck.errors import DataError
from encheck.reporting.failures import rounded
from encheck.reporting.text import table
from encheck.scoring.difficulty import CELLS
from encheck.statistics.bootstrap import Resampler
from encheck.types import SentencePair, content_hash

GROUPS = {"all": CELLS, "obvious": ("Po", "No"), "non-obvious": ("Pn", "Nn"), **{cell: (cell,) for cell in CELLS}}
HEADING = ("pairs", "n", "Fleiss' kappa [95% CI]", "seconds a pair", "majority says the data's label")
Answered = tuple[SentencePair, str, list[Line]]


def lines_of_variants(sheets: Sequence[Path], pairs: Sequence[SentencePair], *, seed: int = 0) -> Iterator[str]:
    """The table of a sheet of variants: agreement by relation, and how often the majority says what they should be."""
    answered = list(_answered(sheets, pairs, relations_of(pairs)))
    if not answered:
        raise DataError("no pair has been answered by everybody yet: label with `encheck data annotate label`")
    yield f"{len(answered)} variants answered by all {len(sheets)} people"
    relations = sorted({relation for _, relation, _ in answered})
    groups = {"all": answered, **{name: [a for a in answered if a[1] == name] for name in relations}}
    yield from table([HEADING, *(_row(name, group, seed) for name, group in groups.items())])


def lines(sheets: Sequence[Path], dataset: Dataset, *, seed: int = 0) -> Iterator[str]:
    """The table line by line, what was left out, and whether people agree less where overlap misleads."""
    answered = list(_answered(sheets, dataset.pairs, cells_of(dataset.pairs)))
    if not answered:
        raise DataError("no pair has been answered by everybody yet: label with `encheck data annotate label`")
    yield f"{len(answered)} pairs answered by all {len(sheets)} people"
    groups = {name: [a for a in answered if a[1] in cells or name == "all"] for name, cells in GROUPS.items()}
    yield from table([HEADING, *(_row(name, group, seed) for name, group in groups.items() if group)])
    if groups["obvious"] and groups["non-obvious"]:
        labelled = [a for a in answered if a[1]]
        obvious = np.array([cell in GROUPS["obvious"] for _, cell, _ in labelled])
        difference, p = permutation_test(_table(labelled), obvious, seed=seed)
        yield f"kappa of obvious - kappa of non-obvious = {difference:.3f}, p = {p:.4f} (permutation test, two-sided)"


def _answered(sheets: Sequence[Path], pairs: Sequence[SentencePair], cells: Mapping[str, str]) -> Iterator[Answered]:
    known = {content_hash(pair.id): pair for pair in pairs}
    for item, answers in ratings(sheets):
        if item not in known:
            raise DataError(f"{sheets[0]}: item {item} is not in the data: give the --data that made the sheet")
        yield known[item], cells.get(item, ""), answers


def _table(answered: Sequence[Answered]) -> Floats:
    return table_of([[line.same for line in answers] for _, _, answers in answered])


def _row(name: str, answered: Sequence[Answered], seed: int) -> tuple[str, ...]:
    estimate = kappa(_table(answered), Resampler([pair.cluster for pair, _, _ in answered], seed=seed))
    value, low, high = rounded(estimate.value, estimate.low, estimate.high)
    agreed = "not defined" if math.isnan(estimate.value) else f"{value} [{low}, {high}]"
    seconds = np.mean([line.seconds for _, _, answers in answered for line in answers])
    confirmed = [_majority(answers) == str(pair.label) for pair, _, answers in answered if pair.label is not None]
    return name, str(len(answered)), agreed, f"{seconds:.2f}", f"{np.mean(confirmed):.0%}" if confirmed else "-"


def _majority(answers: Sequence[Line]) -> str:
    """What more than half of the people say; nothing if no answer has that many."""
    answer, count = Counter(line.same for line in answers).most_common(1)[0]
    return answer if 2 * count > len(answers) else ""
