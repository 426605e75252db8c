"""`encheck data annotate`: people label pairs, blind."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from encheck.cli.shared import DataSpec, SkipBadRows, Split, Variants, project, say, tell, told

annotate_app = typer.Typer(no_args_is_help=True, help="Have people label pairs blind, and measure how well they agree.")


@annotate_app.command()
def sheet(
    data: DataSpec,
    out: Annotated[Path, typer.Option(help="CSV file to write the sheet to.")] = Path("sheet.csv"),
    n: Annotated[int, typer.Option("--n", min=1, help="Number of pairs.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sample.")] = 0,
    split: Split = None,
    variants: Variants = False,
    skip_bad_rows: SkipBadRows = False,
) -> None:
    """Write a sheet without labels: pairs in random order, the same number for each difficulty.

    With --variants the pairs are sentences and their variants, the same number for each relation.
    """
    from encheck.annotation.choosing import cells_of, draw, relations_of
    from encheck.annotation.sheets import write_sheet

    with told():
        pairs = _pairs_to_label(data, variants=variants, skip_bad_rows=skip_bad_rows)
        strata = relations_of if variants else cells_of
        lines = draw(pairs, n=n, seed=seed, split=split, strata_of=strata)
        write_sheet(out, lines, new=True)
    tell(f"{out}: {len(lines)} pairs; next: encheck data annotate label {shlex.quote(str(out))} --name YOU")


@annotate_app.command("label")
def label_(
    sheet: Annotated[Path, typer.Argument(help="The sheet that `encheck data annotate sheet` wrote.")],
    name: Annotated[str, typer.Option(help="Name of the annotator. Answers are saved in SHEET-NAME.csv.")],
) -> None:
    """Ask, pair by pair, whether both texts mean the same. Every answer is saved, so you can stop and resume."""
    from encheck.annotation.labelling import label
    from encheck.annotation.sheets import annotator_sheet

    def ask(keys: str) -> str:
        return str(typer.prompt(keys, default="", show_default=False))

    with told():
        own, lines = annotator_sheet(sheet, name)
        left = label(own, lines, ask=ask, show=tell)
    tell(f"{own}: {len(lines) - left} of {len(lines)} answered")


@annotate_app.command()
def agreement(
    sheets: Annotated[list[Path], typer.Argument(help="Answered copies of one sheet, one for each annotator.")],
    data: DataSpec,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the intervals and the permutation test.")] = 0,
    variants: Variants = False,
    skip_bad_rows: SkipBadRows = False,
) -> None:
    """Report Fleiss' kappa and seconds per pair, by difficulty, and whether misleading overlap lowers agreement."""
    from encheck.annotation import agreement_text as annotators
    from encheck.datasets.load import load

    with told():
        if variants:
            pairs = _pairs_to_label(data, variants=True, skip_bad_rows=skip_bad_rows)
            say(annotators.lines_of_variants(sheets, pairs, seed=seed))
        else:
            loaded = load(data, sample=None, skip_bad_rows=skip_bad_rows)
            say(annotators.lines(sheets, loaded, seed=seed))


def _pairs_to_label(data: str, *, variants: bool, skip_bad_rows: bool) -> Sequence[Any]:
    """The pairs of the data, or its sentences with their variants."""
    from encheck.annotation.choosing import variants_of
    from encheck.datasets.load import load
    from encheck.items.variants import Maker
    from encheck.options import Settings
    from encheck.running.resources import open_store, resolve_english

    loaded = load(data, sample=2_000 if variants else None, skip_bad_rows=skip_bad_rows)
    if not variants:
        return loaded.pairs
    asked = Settings(project=project())
    return variants_of(loaded, Maker(0, resolve_english(asked, open_store(asked))))
