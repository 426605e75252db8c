"""`encheck models` and `encheck show`: list the models; show one item of a past run in full."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from encheck.cli.shared import (
    ModelArgs,
    StorePath,
    app,
    print_lines,
    print_message,
    print_table,
    project,
    report_errors,
)
from encheck.options import Settings
from encheck.reporting.text import mark_edits
from encheck.scoring.item import ItemRow

if TYPE_CHECKING:
    from encheck.options import RunSettings
    from encheck.reporting.failures import Shrink


@app.command()
def models(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Show this model in full.")] = None,
) -> None:
    """List the models that --model knows by name, or show one: where its weights are, how it is pinned, its licence."""
    from encheck.encoders.hub import describe_pin
    from encheck.encoders.load import locate_weights
    from encheck.encoders.models_file import known_models
    from encheck.errors import UsageError, unknown_name_message
    from encheck.reporting.text import cut_line

    with report_errors():
        known = known_models(Settings(project=project()).models_file)
        if name is not None and name not in known:
            raise UsageError(unknown_name_message("model", name, known))
        shown = [known[name]] if name is not None else list(known.values())
        weights = {config.label: locate_weights(config) for config in shown}
    if name is None:
        room = MAX_LINE - len("    yes    ") - max(map(len, known))
        rows = [("name", "here", "what")]
        rows += [(one.label, "yes" if weights[one.label][0] else "no", cut_line(one.description, room))
                 for one in shown]  # fmt: skip
        print_table(rows)
        print_message(
            "Show one in full: encheck models NAME. A directory, a file and a hub id (owner/name) need no entry."
        )
        return
    config, (is_here, source) = known[name], weights[name]
    facts = {
        "what": config.description, "here" if is_here else "lacks": source, "pinned": describe_pin(config),
        "licence": config.licence, "trained on": ", ".join(config.trained_on),
    }  # fmt: skip
    print_table([("name", name), *((fact, value) for fact, value in facts.items() if value)])


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
    from encheck.reporting.rebuild import reject_invalid_results
    from encheck.reporting.results import find_item, newest_run, read_results

    with report_errors():
        if shrink and not model:
            raise UsageError("--shrink requires --model")
        folder = run_folder or newest_run(Path("reports"))
        asked = Settings(models=(model or "",), model_args=tuple(model_arg or ()), store=store, project=project())
        with reject_invalid_results(folder):
            rows = find_item(folder, item)
        if not rows:
            raise UsageError(f"no item of {folder} begins with {item!r}")
        scorer = item_scorer(asked, rows) if model else None
        with reject_invalid_results(folder):
            lines = list(show_items_with_edits(rows, scorer))
        if shrink:
            from encheck.reporting.failures import shrunk_lines

            lines += shrunk_lines(rows, item_shrinker(asked, read_results(folder).run.settings))
        print_lines(lines)


log = logging.getLogger("encheck")
MAX_LINE = 100  # columns
Scorer = Callable[[str, str], float]


def show_items_with_edits(rows: Sequence[ItemRow], scorer: Scorer | None) -> Iterator[str]:
    """Yield lines that show each row with its edits marked. With a scorer, also show its scores now."""
    for row in rows:
        yield f"{row.item}  ({row.case})"
        if row.kind.note:
            yield f"  {row.kind.note(row)}"
        yield f"  source           {row.source}"
        yield from _side_line(row, "near", scorer)
        if row.kind.compares_near_and_far:
            yield from _side_line(row, "far", scorer)
            yield f"  margin           {row.near.score - row.far.score:+.4f}"
        elif row.kind.score_form == "turned":
            now = f", now {scorer(*_side_pair(row, 'source')):.4f}" if scorer else ""
            yield f"  turned {row.far.score:.4f}{now}"
        yield ""


def _side_line(row: ItemRow, side: str, scorer: Scorer | None) -> Iterator[str]:
    found = row.near if side == "near" else row.far
    now = f", now {scorer(*_side_pair(row, side)):.4f}" if scorer else ""
    overlap = "" if found.overlap is None else f"  (word overlap {found.overlap:.2f})"  # no text is encoded twice
    yield f"  {side:4} {found.score:.4f}{now}{overlap}"
    yield f"                   {mark_edits(row.source, found.text or '', found.edits)}"
    if found.why:
        yield f"                   {found.why}"


def _side_pair(row: ItemRow, side: str) -> tuple[str, str]:
    """Return the two texts of a row as they were scored: the source, and the near or far text."""
    near, far = row.near.text or "", row.far.text or ""
    if side == "source":
        return near, row.source
    text = near if side == "near" else far
    return (text, row.source) if row.source_is_second else (row.source, text)


def item_scorer(settings: Settings, rows: Sequence[ItemRow]) -> Scorer:
    """Return a function that scores a pair of these rows' texts with the settings' only model."""
    from encheck.running.service import EncoderService
    from encheck.system.terminal import Progress

    service = EncoderService.open(settings, progress=Progress())
    before = service.model.fingerprint()
    pairs = []
    for row in rows:  # the sides that were scored; `source` is that of the other order
        other = "far" if row.kind.compares_near_and_far else "source" if row.kind.score_form == "turned" else ""
        pairs += [_side_pair(row, side) for side in ("near", other) if side]
    score = service.similarity_function_uncached(pairs)
    if service.model.fingerprint() != before:
        log.warning(
            "%s learns from a run's texts. Here it learned only from this item's, so its scores differ", service.label
        )
    return lambda first, second: float(score([first], [second])[0])


def item_shrinker(settings: Settings, run: RunSettings) -> Shrink:
    """Return a function that shrinks a row of items.parquet with the settings' only model. `run` are the settings of
    the run that wrote the row.
    """
    from encheck.engine import shrinking
    from encheck.running.resources import resolve_english
    from encheck.running.service import EncoderService
    from encheck.system.terminal import Progress

    settings = replace(
        settings, seed=run.seed, generator_mode=run.generator_mode, lexicon=run.lexicon, spacy_model=run.spacy_model,
        experimental=run.experimental,
    )  # fmt: skip
    service = EncoderService.open(settings, progress=Progress())
    english = resolve_english(settings, service.store)
    return shrinking.row_shrinker(service, english=english, seed=settings.seed)
