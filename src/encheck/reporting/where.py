"""Find kinds of items that a model gets wrong more often, on half of the clusters, and confirm them on the other half.

The search is `statistics.subgroups`, and the features are `scoring.features`. Each finding comes with surface figures
on the same items, so that a difference in word overlap is not mistaken for a difference in meaning.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from encheck.datasets.load import load
from encheck.errors import EncheckError, UsageError
from encheck.ids import ItemId
from encheck.language.english import English
from encheck.reporting.results import ITEMS, read_items, read_results
from encheck.reporting.view import claim_sentence, item_frames
from encheck.run_file import Result
from encheck.scoring.features import item_feature_columns
from encheck.scoring.item import ItemFrame
from encheck.scoring.scale import Floats
from encheck.scoring.triplets import DIFFERENCE_SCORERS, Triplet, surface_differences
from encheck.statistics.subgroups import CLUSTERS, MOST, FailureRates, FeatureTable, Subgroup, find_subgroups

log = logging.getLogger("encheck")
NOTE = (
    f"Kinds of {CLUSTERS} clusters or more, compared with the other items of their check, the surface held equal.",
    f"A search nominates {MOST} kinds at most. By chance, at most 5% of searches confirm one (docs/tasks/explore.md).",
)
_EXPLAINED = 0.5


@dataclass(frozen=True)
class SurfaceBeside:
    """Surface figures for a kind of items, computed on the confirmation half.

    `scorer` is the surface scorer whose failure rate differs most between these items and the rest. `inside` and
    `outside` are its failure rates. `left` is the model's own difference after controlling for six surface differences
    of each item (`scoring.differences`, least squares).
    """

    scorer: str
    inside: float
    outside: float
    left: float


@dataclass(frozen=True)
class KindFinding:
    """A confirmed kind of items of a check on a data set."""

    check: str
    data: str
    level: str
    cell: Subgroup
    beside: SurfaceBeside

    @property
    def is_surface(self) -> bool:
        """Whether controlling for surface differences removes at least half of the model's difference."""
        confirmed = self.cell.confirmation
        return self.beside.left < _EXPLAINED * (confirmed.inside - confirmed.outside)


@dataclass(frozen=True)
class KindSearch:
    """The result of one model's search: the confirmed kinds, and the numbers of nominated kinds, items and checks."""

    model: str
    findings: tuple[KindFinding, ...]
    nominated: int
    items: int
    checks: int


def find_failing_kinds(folder: Path, english: English) -> list[KindSearch]:
    """Return the search of each model of a run. Raise UsageError if the run has no items."""
    results, items = read_results(folder), read_items(folder)
    if not items:
        raise UsageError(f"{folder} has no {ITEMS}: the run measured nothing, or stopped early")
    contests = [frame for frame in item_frames(results, items).values() if frame.kind.stands_alone]
    english.parse_all(dict.fromkeys(source for frame in contests for source in frame.sources))
    settings = results.run.settings
    domains, seed = _domains_of_probes(settings.data), settings.seed
    rows = {str(row.case): row for row in results.checks}
    models = [model.label for model in results.models]
    by_model = {model: [f for f in contests if rows[f.case].model == model] for model in models}
    return [_search_model(m, own, english, domains, rows, seed) for m, own in by_model.items()]


def _search_model(
    model: str,
    contests: Sequence[ItemFrame],
    english: English,
    domains: Mapping[str, str],
    rows: Mapping[str, Result],
    seed: int,
) -> KindSearch:
    tables = []
    for frame in contests:
        columns = item_feature_columns(frame, english) | {
            "domain": [domains.get(source, "") for source in frame.sources]
        }
        topic, lost = rows[frame.case].property, np.array(frame.mark_lost())
        known = _surface_covariates(frame)
        tables.append(FeatureTable(frame.case, topic, lost, frame.clusters, frame.sources, columns, known))
    cells = find_subgroups(tables, seed=seed)
    frames = {frame.case: frame for frame in contests}
    findings = tuple(_confirmed_finding(rows[c.table], frames[c.table], c) for c in cells if c.is_confirmed)
    return KindSearch(model, findings, len(cells), sum(map(len, contests)), len(contests))


def _surface_covariates(frame: ItemFrame) -> Floats:
    """Return the surface differences of each item and their signs, shape [n, 12]."""
    assert frame.far is not None
    rows = zip(frame.ids, frame.sources, frame.near.texts, frame.far.texts, frame.clusters, strict=True)
    found = surface_differences([Triplet(ItemId(i), s, near, far, c) for i, s, near, far, c in rows])
    return np.column_stack([found, np.sign(found)])


def _domains_of_probes(specs: Sequence[str]) -> dict[str, str]:
    """Return the domain of each probe sentence, from its group's id."""
    found: dict[str, str] = {}
    for spec in specs:
        if spec.startswith("probes"):
            try:
                groups = load(spec, sample=None).groups
            except EncheckError as error:  # its file is missing or has changed
                log.warning("the domains of %s are left out: %s", spec, error)
                continue
            found |= {group.source: f"domain {group.id.rpartition('-')[0]}" for group in groups}
    return found


def _confirmed_finding(row: Result, frame: ItemFrame, cell: Subgroup) -> KindFinding:
    at = np.flatnonzero(cell.confirming)
    surface, inside, lost = _surface_covariates(frame)[at], cell.members[at], np.array(frame.mark_lost())[at]
    rates = {}
    for number, scorer in enumerate(DIFFERENCE_SCORERS):
        failed = surface[:, number] <= 0
        rates[scorer] = (float(failed[inside].mean()), float(failed[~inside].mean()))
    scorer = max(rates, key=lambda name: rates[name][0] - rates[name][1])
    design = np.column_stack([inside, np.ones(len(lost)), surface]).astype(float)
    difference_left = float(np.linalg.lstsq(design, lost.astype(float), rcond=None)[0][0])
    beside = SurfaceBeside(scorer, *rates[scorer], difference_left)
    return KindFinding(row.check, row.data, row.level, cell, beside)


def kind_lines(found: Sequence[KindSearch]) -> Iterator[str]:
    """Yield the searches as lines for the terminal."""
    for one in found:
        yield f"Where {one.model} fails: {_search_headline(one)}"
        for finding in one.findings:
            cell, beside = finding.cell, finding.beside
            yield ""
            yield f"  {claim_sentence(finding.check)}, on {finding.data}, level {finding.level}"
            yield f"    {', '.join(value for _, value in cell.values)}"
            found_in = f"where it was found, {_rates_text(cell.search)}"
            yield f"    fails {_rates_text(cell.confirmation)}, p {cell.p:.2g}; {found_in}"
            rates = f"{beside.inside:.0%} against {beside.outside:.0%}"
            yield f"    {beside.scorer} fails {rates}: {_difference_text(finding)}"
        yield ""
    yield from NOTE


@dataclass(frozen=True, slots=True)
class KindCard:
    """A finding in words: its check and data, the kind of items, and each figure as (term, text)."""

    check: str
    on: str
    kind: str
    said: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class KindBlock:
    """One model's search, as the page shows it."""

    model: str
    headline: str
    findings: tuple[KindCard, ...]


def kind_blocks(found: Sequence[KindSearch]) -> list[KindBlock]:
    """Return the searches as the page shows them."""
    return [KindBlock(one.model, _search_headline(one), tuple(map(_finding_card, one.findings))) for one in found]


def _finding_card(one: KindFinding) -> KindCard:
    cell, beside = one.cell, one.beside
    said = (
        ("it fails", _rates_text(cell.confirmation)),
        ("where it was found", _rates_text(cell.search)),
        ("the surface fails", f"{beside.inside:.0%} against {beside.outside:.0%} ({beside.scorer})"),
        ("the difference", _difference_text(one)),
        ("p", f"{cell.p:.2g}"),
    )
    kind = ", ".join(value for _, value in cell.values)
    return KindCard(claim_sentence(one.check), f"{one.data}, level {one.level}", kind, said)


def _search_headline(one: KindSearch) -> str:
    count, checks = len(one.findings), "check" if one.checks == 1 else "checks"
    of = f"of {one.nominated} kinds of items found on one half of the clusters"
    what = f"{count or 'none'} {of} {'hold' if count > 1 else 'holds'} on the other"
    return f"{what} ({one.items:,} items of {one.checks} {checks})"


def _rates_text(share: FailureRates) -> str:
    of = f"{share.n} items in {share.clusters} clusters"
    return f"{share.inside:.0%} of {of} against {share.outside:.0%} of {share.n_outside}"


def _difference_text(one: KindFinding) -> str:
    left = f"{100 * one.beside.left:+.0f} points with the surface held equal"
    return f"the surface may explain it, {left}" if one.is_surface else left
