"""Human judgements of two models' answers, for the gate at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from encheck.engine.folder import from_here
from encheck.gating.types import Judged, UnjudgedSearch
from encheck.gating.unjudged import Pool, judge_pool, judgements_path, read_judgements
from encheck.gating.weighing import LogAnswers, People
from encheck.options import Settings
from encheck.reporting.answers import Documents, asked_of


def qrels_of(settings: Settings) -> str:
    """The file of judgements of the run's log of queries, as one would type it; empty if there is no log."""
    if settings.queries is None:
        return ""
    return from_here(judgements_path(settings.queries))


def people(
    items: Mapping[str, Mapping[str, Sequence[Any]]], documents: Mapping[str, Documents], settings: Settings
) -> People:
    """What is known of a search's answers; UsageError if the file of judgements is wrong."""

    def said(one: LogAnswers, baseline: str, found: UnjudgedSearch) -> Judged | None:
        if settings.queries is None:
            return None
        texts = {name: text for some in items.values() for name, text in zip(some["item"], some["source"], strict=True)}
        asked = asked_of(one, texts, documents[one.after.case])
        pool = Pool(asked, settings.seed, found.delta, found.least, found.alpha)
        return judge_pool(
            pool, read_judgements(judgements_path(settings.queries)).answers(pool.order), baseline=baseline
        )

    return said
