"""Human judgements of two models' answers, for the gate at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from encheck.engine.folder import from_here
from encheck.gating.judged import Pool, judge
from encheck.gating.judgements import place_of, read
from encheck.gating.types import Judged, UnjudgedSearch
from encheck.gating.weighing import People, Searched
from encheck.options import Settings
from encheck.reporting.answers import Documents, asked_queries


def qrels_of(settings: Settings) -> str:
    """The file of judgements of the run's log of queries, as one would type it; empty if there is no log."""
    if settings.queries is None:
        return ""
    return from_here(place_of(settings.queries))


def people(
    items: Mapping[str, Mapping[str, Sequence[Any]]], documents: Mapping[str, Documents], settings: Settings
) -> People:
    """What is known of a search's answers; UsageError if the file of judgements is wrong."""

    def said(one: Searched, baseline: str, found: UnjudgedSearch) -> Judged | None:
        if settings.queries is None:
            return None
        texts = {name: text for some in items.values() for name, text in zip(some["item"], some["source"], strict=True)}
        asked = asked_queries(one, texts, documents[one.after.case])
        pool = Pool(asked, settings.seed, found.delta, found.least, found.alpha)
        return judge(pool, read(place_of(settings.queries)).answers(pool.order), baseline=baseline)

    return said
