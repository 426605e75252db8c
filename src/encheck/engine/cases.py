"""The cases that pytest items stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from encheck.claims import Claim
from encheck.datasets.dataset import Dataset
from encheck.datasets.load import properties_of
from encheck.items import OwnProperty
from encheck.running.case import Case
from encheck.running.labels import data_labels, labels


def claims_on(claim: Claim, data: Iterable[str]) -> list[Claim]:
    """The claim itself, or, where it stands for properties of the user's own, one claim of each that the data have."""
    own = claim.items
    if not isinstance(own, OwnProperty) or own.name:
        return [claim]
    names = dict.fromkeys(name for spec in data for name in properties_of(spec, own.kind))
    return [
        replace(claim, items=replace(own, name=name), declared=replace(claim.declared, property=name)) for name in names
    ]


def name_of(function: str, claim: Claim) -> str:
    """What results and baselines call a check: its test without `test_`, after a property of the user's own."""
    stem = function.removeprefix("test_")
    return f"{claim.items.name}_{stem}" if isinstance(claim.items, OwnProperty) else stem


def cases(models: Sequence[str], data: Sequence[str], function: str, claim: Claim, tested: str) -> list[Case]:
    """Every model x data x level of one claim; of a property of the user's own, on the data that have it."""
    own, named = claim.items, data_labels(data)
    if isinstance(own, OwnProperty):
        named = {label: spec for label, spec in named.items() if own.name in properties_of(spec, own.kind)}
    test = f"test_{name_of(function, claim)}"
    return [Case(test, claim, m, d, level, tested) for m in labels(models) for d in named for level in claim.levels]


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
