"""The models of several runs, with the data that a comparison needs."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from encheck.errors import UsageError, unknown_name_message
from encheck.gating.comparison import run_scores
from encheck.gating.pairing import ModelScores
from encheck.reporting.profile import headline_rows
from encheck.reporting.results import read_items, read_results
from encheck.reporting.view import Items, full_name, measured_in_shards
from encheck.run_file import ModelEntry, Result, RunFile
from encheck.types import Declaration

log = logging.getLogger("encheck")
MAX_MODELS = 10
HUB_ID = r"[\w.-]+/[\w.-]+"  # owner/name
ROUNDING = 1e-6  # tolerance between figures from two machines
Run = tuple[str, str, RunFile, Items]  # folder name, model label, results, items


@dataclass(frozen=True)
class ComparedModel:
    """A model of one run, with its scores, rows and items, the data's fingerprints and editions, and its checks'
    declarations.

    `name` is its name in the comparison. `full_name` adds the last part of the model's own name, if that differs.
    `headlines` has the main row of each (data, property). `run` is the name of the run's directory, `started` its start
    in ISO 8601, and `seed` its seed. `look` describes a first look; "" for a complete run. `about` is the model's entry
    in the run's results.
    """

    name: str
    label: str
    side: ModelScores
    rows: Sequence[Result]
    items: Items
    data: Mapping[str, str]
    editions: Mapping[str, str]
    declared: Mapping[str, Declaration]
    headlines: Mapping[tuple[str, str], Result] = field(default_factory=dict)
    run: str = ""
    started: str = ""
    look: str = ""
    full_name: str = ""
    about: ModelEntry | None = None
    seed: int = 0

    @property
    def own_name(self) -> str:
        """The model's source, without directories if it is a path. For a model without one, its label."""
        source = self.about.name if self.about and self.about.name != self.about.adapter else ""
        return source if re.fullmatch(HUB_ID, source) else Path(source.rpartition(":")[2]).name or self.label


def read_models(folders: Sequence[Path], *, reference: str | None = None) -> list[ComparedModel]:
    """Return the models of all runs in the given order, starting with `reference`. Merge runs of one model and setting.

    Raise UsageError for too few or too many models, a run without items, runs of one model that disagree, or an unknown
    reference.
    """
    found: list[Run] = []
    for folder in folders:
        results, items = read_run(folder)
        found += [
            (folder.resolve().name, m.label, results, items) for m in models_in_command_order(results) if not m.error
        ]
    # Complete runs that have the same model fingerprint, label and settings are merged.
    merged: dict[tuple[object, ...], Run] = {}
    for place, label, results, items in found:
        (about,) = (m for m in results.models if m.label == label)
        asked = replace(results.run.settings, models=(), model_args=(), data=(), queries=None)  # these change no figure
        key = about.fingerprint, label, asked, place if results.first_look else ""
        cases = {str(row.case) for row in results.checks if row.model == label}
        own = {case: columns for case, columns in items.items() if case in cases}
        merged[key] = _join_runs(merged[key], place, results, own) if key in merged else (place, label, results, items)
    found = [*merged.values()]
    if not 2 <= len(found) <= MAX_MODELS:
        named = ", ".join(map(str, folders))
        raise UsageError(f"{named}: {len(found)} different models; a comparison takes 2 to {MAX_MODELS}")
    names = distinct_names([(run, label) for run, label, _, _ in found])
    models = [compared_model(name, label, run, items, folder=folder)
              for name, (folder, label, run, items) in zip(names, found, strict=True)]  # fmt: skip
    return models if reference is None else _with_reference_first(reference, models)


def _join_runs(first: Run, place: str, results: RunFile, items: Items) -> Run:
    """Join two runs of the same model. Raise UsageError if they disagree on a figure."""
    there, label, known, kept = first
    data = {d.name: d for d in known.data}
    rows = {row.id: row for row in known.checks}
    same = [(data[d.name].fingerprint, d.fingerprint, d.name) for d in results.data if d.name in data]
    other: list[tuple[object, object, str]] = [one for one in same if one[0] != one[1]]
    for old, new in ((rows[row.id], row) for row in results.checks if row.id in rows):
        is_same = old.value == new.value or (
            old.value is not None and new.value is not None and abs(old.value - new.value) <= ROUNDING
        )
        other += [] if is_same else [(old.value, new.value, new.id)]
    if wrong := next(iter(other), None):
        raise UsageError(
            f"{there} and {place} have the same model, {label}, and settings, but disagree on {wrong[2]}: {wrong[0]} "
            f"and {wrong[1]}. Remedy: run one of them again"
        )
    rows |= {row.id: row for row in results.checks if row.model == label}
    joined = replace(
        known, data=tuple(({d.name: d for d in results.data} | data).values()), checks=tuple(rows.values()),
        claims={**results.claims, **known.claims},
    )  # fmt: skip
    return there, label, joined, {**items, **kept}


def models_in_command_order(results: RunFile) -> list[ModelEntry]:
    """Return a run's models in the order of its command line. The first is the reference."""
    named = results.run.settings.models
    labels = [Path(one).name for one in named]
    return sorted(results.models, key=lambda m: labels.index(m.label) if m.label in labels else len(named))


def read_run(folder: Path) -> tuple[RunFile, Items]:
    """Return the results and items of a run. Raise UsageError if it has no items."""
    results, items = read_results(folder), read_items(folder)
    if not items:
        raise UsageError(f"{folder} has no items.parquet, which a comparison needs to pair items. Run again")
    return results, items


def compared_model(name: str, label: str, results: RunFile, items: Items, *, folder: str = "") -> ComparedModel:
    """Return a model of a run under the name `name`.

    Cases measured in shards are left out, because the run stored only a sample of their items.
    """
    if sampled := measured_in_shards(results, items):
        said = "%s: %d cases are not compared, because a run in shards keeps only a sample of their items"
        log.warning(said, name, len(sampled))
        items = {case: columns for case, columns in items.items() if case not in sampled}
    rows = [row for row in results.checks if row.model == label]
    (own,) = (one for one in results.models if one.label == label)
    data = {d.name: d.fingerprint for d in results.data}
    editions = {d.name: d.version for d in results.data}
    best = {(on, one): row for on in data for one, row in headline_rows(results, model=label, data=on).items()}
    look = ""
    if first := results.first_look:
        look = f"a first look at {first.clusters:,} of {first.of_clusters:,} clusters"
    return ComparedModel(
        name, label, run_scores(results, items, label), rows, items, data, editions, results.declarations, best,
        folder, results.run.started, look, full_name(own, name),
        next((m for m in results.models if m.label == label), None), results.run.settings.seed,
    )  # fmt: skip


def _with_reference_first(reference: str, models: Sequence[ComparedModel]) -> list[ComparedModel]:
    """Return the models with the reference moved to the front.

    `reference` is a model's name in the comparison, or a label or run that identifies exactly one model.
    """
    for names in ([m.name for m in models], [m.label for m in models], [m.run for m in models]):
        if names.count(reference) == 1:
            place = names.index(reference)
            return [models[place], *models[:place], *models[place + 1 :]]
    raise UsageError(unknown_name_message("reference", reference, [m.name for m in models]))


def distinct_names(models: Sequence[tuple[str, str]]) -> list[str]:
    """Return a distinct name for each (run, model): the model, followed by its run if several runs have that model.

    >>> distinct_names([("a", "m"), ("b", "m"), ("b", "n")])
    ['m (a)', 'm (b)', 'n']
    """
    labels = [model for _, model in models]
    return [model if labels.count(model) == 1 else f"{model} ({run})" for run, model in models]
