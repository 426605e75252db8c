"""`encheck show ITEM --shrink`: the shortest form of an item on which a model still errs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from encheck.ids import CaseId
from encheck.reporting.text import marked
from encheck.running.labels import labels

if TYPE_CHECKING:
    from encheck.claims import Claim
    from encheck.options import Settings
    from encheck.shrinking.shrink import Form, Shrunk
    from encheck.types import Triplet

Row = Mapping[str, Any]
Shrink = Callable[[Row], "Shrunk | str"]
SHRUNK = ("triplet", "crossed")
WANTED = ("fail", "below_aim", "known_failure")


def shrinker(settings: Settings, run: Mapping[str, Any] | None = None) -> Shrink:
    """What shrinks a row of items.parquet for the settings' one model; `run` has the settings that made the row."""
    from encheck.items.variants import Maker
    from encheck.running.asking import asker
    from encheck.running.resources import open_store, resolve_english, resolve_models
    from encheck.shrinking.shrink import shrink

    settings = _as_run(settings, run or {})
    store = open_store(settings)
    (subject,) = resolve_models(settings, store).values()
    english = resolve_english(settings, store)
    ask, maker = asker(subject, store), Maker(settings.seed, english)

    def one(row: Row) -> Shrunk | str:
        if row["kind"] not in SHRUNK or row.get("source_is_second"):
            return f"items of the kind {row['kind']} are not shrunk, only {' and '.join(SHRUNK)} items"
        return shrink(triplet_of(row), ask, english, remake=_remake(row, maker))

    return one


def _as_run(settings: Settings, run: Mapping[str, Any]) -> Settings:
    """The settings, with those of the run that decide what generators make."""
    names = ("seed", "generator_mode", "lexicon", "spacy_model", "experimental")
    return replace(settings, **{name: run[name] for name in names if run.get(name) is not None})


def triplet_of(row: Row) -> Triplet:
    """The triplet that a row of items.parquet holds."""
    from encheck.ids import ItemId
    from encheck.scoring.frame import edits_of
    from encheck.types import Triplet

    return Triplet(
        ItemId(row["item"]), row["source"], row["near"], row["far"], row["cluster"],
        tuple(edits_of(row["near_edits"])), tuple(edits_of(row["far_edits"])), row["split"] or "",
        row.get("near_why") or "", row.get("far_why") or "",
    )  # fmt: skip


def _remake(row: Row, maker: Any) -> Any:
    """What makes the row's edits again, or None where no packaged check made it."""
    from encheck.ids import ItemId
    from encheck.shrinking.remake import remaker

    known, claim = ItemId(row["item"]).known, claim_named(row["case"].partition("/")[0])
    if known is None or claim is None:
        return None
    return remaker(claim.items, level=int(known.level) if known.level.isdigit() else known.level, maker=maker)


def claim_named(check: str) -> Claim | None:
    """The claim of the packaged check of this name, which stands in the ids of cases; None where there is none."""
    from encheck.claims import claim_of

    package = import_module("encheck.checks")
    for found in iter_modules(package.__path__):
        function = getattr(import_module(f"encheck.checks.{found.name}"), f"test_{check}", None)
        if function is not None:
            return claim_of(function)
    return None


def of_run(folder: Path, settings: Settings) -> Iterator[str]:
    """What became of the three worst items of each check of a run that failed or is below its aim, case by case."""
    from encheck.reporting.results import read_items, read_results

    results, items = read_results(folder), read_items(folder)
    shrink = shrinker(settings, results["run"].get("settings"))
    (model,) = labels(settings.models)
    wanted = [row for row in results["checks"] if row["verdict"] in WANTED and row["model"] == model]
    if not wanted:
        yield f"no check of {folder} failed or is below its aim for {model}"
    for row in wanted:
        case = str(CaseId(row["check"], row["model"], row["data"], str(row["level"])))
        yield f"{row['property']}  ({case}, {row['verdict'].replace('_', ' ')})"
        rows = worst(case, items.get(case))
        yield from (
            lines(rows, shrink, whole=True)
            if rows
            else [f"  not shrunk: its items are no {' or '.join(SHRUNK)} items", ""]
        )


def worst(case: str, columns: Mapping[str, Sequence[Any]] | None, count: int = 3) -> list[Row]:
    """The rows of a case's worst items that are lost, the smallest margin first; one a source."""
    if not columns or columns["kind"][0] not in SHRUNK:
        return []
    rows = [{**dict(zip(columns, values, strict=True)), "case": case} for values in zip(*columns.values(), strict=True)]
    lost = sorted((row for row in rows if row["near_score"] <= row["far_score"]), key=_margin)
    return list({row["source"]: row for row in reversed(lost)}.values())[::-1][:count]


def _margin(row: Row) -> tuple[float, str]:
    return row["near_score"] - row["far_score"], row["item"]


def run_settings(folder: Path) -> dict[str, Any]:
    """The settings of a run, out of its results.json; nothing where they are not there."""
    try:
        found = json.loads((folder / "results.json").read_text("utf-8"))["run"]["settings"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def lines(rows: Sequence[Row], shrink: Shrink, *, whole: bool = False) -> Iterator[str]:
    """What became of each row: its shortest form with the least shrunk one beside it, or why there is none.

    With `whole`, the row as it was stands before it.
    """
    for row in rows:
        found = shrink(row)
        yield f"{row['item']}, shrunk"
        if isinstance(found, str):
            yield f"  not shrunk: {found}"
        elif found.shortest is found.whole:
            yield from _form("whole", found.whole, found) if whole else ()
            yield f"  nothing can go without half of the margin of {found.whole.margin:+.4f}"
        else:
            yield from _form("whole", found.whole, found) if whole else ()
            yield from _both(found)
        yield ""


def _both(found: Shrunk) -> Iterator[str]:
    if found.least is not found.shortest:
        yield from _form("least shrunk", found.least, found)
    yield from _form("shortest", found.shortest, found)
    if found.is_cut_short:
        yield f"  stopped after {found.scored} pairs: more may go"


def _form(name: str, form: Form, found: Shrunk) -> Iterator[str]:
    item = form.item
    yield f"  {name}: {form.words} of {found.whole.words} words, margin {form.margin:+.4f} of {found.whole.margin:+.4f}"
    yield f"    source  {item.source}"
    yield f"    near    {marked(item.source, item.near, item.near_edits)}"
    yield f"    far     {marked(item.source, item.far, item.far_edits)}"
    for why in dict.fromkeys(filter(None, (item.near_why, item.far_why))):
        yield f"            {why}"
