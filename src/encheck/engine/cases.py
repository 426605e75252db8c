"""The cases that pytest items stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from encheck.claims import Claim
from encheck.datasets.dataset import Dataset
from encheck.options import models_of
from encheck.running.case import Case
from encheck.running.labels import data_labels, labels


def cases(option: Any, function: str, claim: Claim, tested: str) -> list[Case]:
    """Every model x data x level of one claim. Nothing is loaded or checked yet."""
    models = labels(models_of(option))
    data = data_labels(list(dict.fromkeys(option.encheck_data or ["probes"])))
    return [Case(function, claim, m, d, level, tested) for m in models for d in data for level in claim.levels]


def clashes(selected: Iterable[tuple[Any, str, Case]]) -> Iterator[tuple[Any, str]]:
    """(test, what is wrong), where several of (test, place, case) would have the same ids in results and baselines."""
    by_id: dict[str, list[tuple[Any, str]]] = {}
    for test, place, case in selected:
        by_id.setdefault(str(case.id), []).append((test, place))
    for name, found in by_id.items():
        places = " and ".join(place for _, place in found)
        problem = (
            f"{len(found)} checks would write the results {name!r}: {places}. A check is identified by the name of "
            f"its test alone. Remedy: give each test its own name, and write variations of one check as @claim(..., "
            f"levels=(...))"
        )
        yield from ((test, problem) for test, _ in found if len(found) > 1)


TEXTS_PER_SECOND = 150  # a small encoder on two CPU cores


def roughly(cases: Sequence[Case], data: Mapping[str, Dataset]) -> str:
    """What these cases ask for, before anything is made or encoded: at most this many items, about so long."""
    models = {case.model for case in cases}
    sizes = [max(len(data[c.data].groups), 1) for c in cases]
    once = sum(2 * len(d.groups) + len(d.pairs) for d in data.values())
    once += sum(len(d.collection.documents) + len(d.collection.queries) for d in data.values() if d.collection)
    texts = once + sum(sizes) // max(len(models), 1)
    minutes = max(1, round(len(models) * texts / TEXTS_PER_SECOND / 60))
    return (
        f"{len(cases)} cases, at most {sum(sizes):,} items; about {texts:,} texts a model: some {minutes} min where a "
        f"small encoder has two CPU cores ({TEXTS_PER_SECOND} texts a second), and no time for what the store has"
    )
