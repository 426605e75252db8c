"""Of how many sentences items were generated, and how often these are right: the ceiling of rates on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from encheck.gating.types import Z
from encheck.generators.phenomenon import title_of
from encheck.run_file import DataEntry, Result, RunFile
from encheck.statistics.bootstrap import Figure
from encheck.statistics.hypothesis_tests import wilson
from encheck.types import Validity


def lines(results: RunFile) -> Iterator[str]:
    """A line for each data set and generator whose items the run measured on."""
    yield from said([row for row in results.checks if row.verdict != "skipped"], results.data)


def said(rows: Sequence[Result], data: Sequence[DataEntry]) -> list[str]:
    """The same of some rows. Of a generator's rows the one with most sentences counts: others ask more of a text."""
    groups = {one.name: one.groups for one in data}
    found: dict[tuple[str, str], tuple[Validity, int]] = {}
    for row in rows:
        if row.validity:
            key = row.validity.generator, row.data
            made = groups[row.data] - sum(row.excluded.values())
            found[key] = row.validity, max(made, found[key][1] if key in found else 0)
    return [_says(one, made, groups[name], name) for (_, name), (one, made) in sorted(found.items())]


def _says(one: Validity, made: int, sentences: int, data: str) -> str:
    start = f"{title_of(one.generator)}: made of {made:,} of {sentences:,} sentences ({data}); "
    if one.rate is None:
        return f"{start}nobody has checked them yet, so the share that is right is unknown"
    figure = Figure(one.rate, *wilson(one.rate, one.read, z=Z))
    return f"{start}blind readers found {figure.says} of {one.read} right, a ceiling for rates"
