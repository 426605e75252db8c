"""`encheck models` and `encheck show`: which models there are; one item of a past run in full."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from encheck.cli.shared import ModelArgs, StorePath, app, print_table, project, say, tell, told
from encheck.options import Settings
from encheck.reporting.text import marked
from encheck.scoring.frame import edits_of
from encheck.scoring.scores import kind_named

if TYPE_CHECKING:
    from encheck.options import Settings
    from encheck.reporting.shrunk import Shrink


@app.command()
def models() -> None:
    """List the models that --model knows by name: whether they can be loaded here, where from, and what pins them."""
    from encheck.encoders.hub import describe_pin
    from encheck.encoders.load import find_weights
    from encheck.encoders.models_file import known_models
    from encheck.options import Settings

    with told():
        known = known_models(Settings(project=project()).models_file)
        rows = [("name", "loadable", "from, or what it lacks", "pinned", "licence", "what")]
        for config in known.values():
            ready, source = find_weights(config)
            is_ready, licence = "yes" if ready else "no", config.licence or "-"
            rows.append((config.label, is_ready, source, describe_pin(config), licence, config.description))
    print_table(rows)
    tell("A directory or file (--model=./checkpoint) and a hub id (--model=owner/name) need no entry.")


@app.command()
def show(
    item: Annotated[str, typer.Argument(help="Id of an item, or the start of it.")],
    run_folder: Annotated[
        Path | None, typer.Option("--run", help="Run directory. Default: the newest in reports/.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="Also score the item with this model now.")] = None,
    shrink: Annotated[
        bool, typer.Option("--shrink", help="Also show the shortest form that --model still gets wrong.")
    ] = False,
    model_arg: ModelArgs = None,
    store: StorePath = None,
) -> None:
    """Show one item of a past run with its texts and scores, and with --model its scores now.

    With --shrink, also show the shortest, plainest form of it that the model still gets wrong.

    Example:

        encheck show probes/0b7d59ab9a4a7370 --model sbert --shrink
    """
    from encheck.errors import UsageError
    from encheck.options import Settings
    from encheck.reporting.rebuild import as_written
    from encheck.reporting.results import find_item, newest_run

    with told():
        if shrink and not model:
            raise UsageError("--shrink needs a model to ask: name it with --model")
        folder = run_folder or newest_run(Path("reports"))
        asked = Settings(models=(model or "",), model_args=tuple(model_arg or ()), store=store, project=project())
        rows = find_item(folder, item)
        if not rows:
            raise UsageError(f"no item of {folder} begins with {item!r}")
        scorer = rescore(asked, rows) if model else None
        with as_written(folder):
            lines = list(describe(rows, scorer))
        if shrink:
            from encheck.reporting.shrunk import shrunk_lines

            lines += shrunk_lines(rows, shrinker(asked, run_settings(folder)))
        say(lines)


log = logging.getLogger("encheck")
Row = Mapping[str, Any]
Scorer = Callable[[str, str], float]


def describe(rows: Sequence[Row], scorer: Scorer | None) -> Iterator[str]:
    """Lines that show each row, the edits marked; with a scorer, what it says now."""
    for row in rows:
        yield f"{row['item']}  ({row['case']})"
        kind = kind_named(row["kind"])
        if kind and kind.note:
            yield f"  {kind.note(row)}"
        yield f"  source           {row['source']}"
        yield from _side(row, "near", scorer)
        if kind and kind.is_contest:
            yield from _side(row, "far", scorer)
            yield f"  margin           {row['near_score'] - row['far_score']:+.4f}"
        elif kind and kind.weighed_as == "turned":
            now = f", now {scorer(*_pair(row, 'source')):.4f}" if scorer else ""
            yield f"  turned {row['far_score']:.4f}{now}"
        yield ""


def _side(row: Row, side: str, scorer: Scorer | None) -> Iterator[str]:
    text, score, overlap = row[side], row[f"{side}_score"], row[f"{side}_overlap"]
    now = f", now {scorer(*_pair(row, side)):.4f}" if scorer else ""
    beside = "" if overlap is None else f"  (word overlap {overlap:.2f})"  # a text that is encoded twice has none
    yield f"  {side:4} {score:.4f}{now}{beside}"
    yield f"                   {marked(row['source'], text, edits_of(row[f'{side}_edits']))}"
    if why := row.get(f"{side}_why"):
        yield f"                   {why}"


def _pair(row: Row, side: str) -> tuple[str, str]:
    """The two texts of a row as they were scored, the one of this side beside the source."""
    if side == "source":
        return row["near"], row["source"]
    return (row[side], row["source"]) if row["source_is_second"] else (row["source"], row[side])


def rescore(settings: Settings, rows: Sequence[Row]) -> Scorer:
    """A function that scores pairs of these rows' texts with the settings' one model."""
    from encheck.running.service import EncoderService
    from encheck.system.progress import Progress

    service = EncoderService.open(settings, progress=Progress())
    before = service.model.fingerprint()
    pairs = []
    for row in rows:  # the sides that were scored; `source` is that of the other order
        kind = kind_named(row["kind"])
        other = "far" if kind and kind.is_contest else "source" if kind and kind.weighed_as == "turned" else ""
        pairs += [_pair(row, side) for side in ("near", other) if side]
    score = service.scorer_anew(pairs)
    if service.model.fingerprint() != before:
        log.warning("%s learns from a run's texts, and here from this item's alone: other scores", service.label)
    return lambda first, second: float(score([first], [second])[0])


def shrinker(settings: Settings, run: Mapping[str, Any]) -> Shrink:
    """What shrinks a row of items.parquet for the settings' one model; `run` has the settings that made the row."""
    from encheck.engine import shrinking
    from encheck.running.resources import resolve_english
    from encheck.running.service import EncoderService
    from encheck.system.progress import Progress

    made_by = {name: run.get(name) for name in ("seed", "generator_mode", "lexicon", "spacy_model", "experimental")}
    settings = replace(settings, **{name: value for name, value in made_by.items() if value is not None})
    service = EncoderService.open(settings, progress=Progress())
    english = resolve_english(settings, service.store)
    return shrinking.shrinker(service, english=english, seed=settings.seed)


def run_settings(folder: Path) -> dict[str, Any]:
    """The settings of a run, out of its results.json; nothing where they are not there."""
    try:
        found = json.loads((folder / "results.json").read_text("utf-8"))["run"]["settings"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}
