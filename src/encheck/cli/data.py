"""`encheck data`: data sets, and the variants that generators make of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from encheck.cli.annotate import annotate_app
from encheck.cli.shared import (
    BackTranslate,
    ContinuationModel,
    DataSpec,
    GeneratorMode,
    LexiconName,
    Sample,
    SkipBadRows,
    SpacyModel,
    StorePath,
    app,
    print_table,
    project,
    say,
    told,
)
from encheck.cli.table import as_option

SHOW = "show"


class DataCommands(typer.core.TyperGroup):
    """`encheck data NAME` shows a data set where NAME is no command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As typer's, with the command that may be left out."""
        is_named = bool(args) and args[0] in (*self.commands, "--help")
        return super().parse_args(ctx, args if is_named else [SHOW, *args])


data_app = typer.Typer(
    cls=DataCommands,
    subcommand_metavar="[NAME[:PATH]] | COMMAND",
    help="List the data sets that --data takes, or show one: `encheck data mrpc:PATH`.",
)
app.add_typer(data_app, name="data")
data_app.add_typer(annotate_app, name="annotate")
app.add_typer(annotate_app, name="annotate", hidden=True)


@data_app.command(SHOW, hidden=True)
def show(
    spec: Annotated[str | None, typer.Argument(help="NAME or NAME:PATH: show what it holds.")] = None,
    skip_bad_rows: SkipBadRows = False,
) -> None:
    """List the data sets that --data takes, or show one: rows, labels, splits, clusters, divergence, samples."""
    from encheck.datasets.load import load, names
    from encheck.reporting.data import describe, rows_of

    with told():
        if spec is None:
            rows = [("name", "rows", "path should hold", "licence")]
            rows += [(name, rows_of(module), module.FILES, module.LICENCE) for name, module in sorted(names().items())]
            print_table(rows)
            fetched = ", ".join(sorted(name for name, module in names().items() if hasattr(module, "HUB")))
            typer.echo(f"probes is embedded and needs no path. From the hub, as NAME:hub: {fetched}.")
            return
        loaded = load(spec, sample=None, skip_bad_rows=skip_bad_rows)
    say(describe(loaded))


@app.command("variants", hidden=True)
@data_app.command()
def variants(
    data: DataSpec,
    generator: Annotated[
        list[str] | None,
        typer.Option(help="Only this generator: a name in the listing, or module:function of your own. Repeatable."),
    ] = None,
    lock: Annotated[Path | None, typer.Option(help="Write the variants to this file.")] = None,
    n: Annotated[int, typer.Option("--n", min=0, help="Number of examples of each generator to show.")] = 2,
    sample: Sample = "2000",
    seed: Annotated[int, as_option("seed", min=0)] = 0,
    spacy_model: SpacyModel = None,
    lexicon: LexiconName = "embedded",
    generator_mode: GeneratorMode = "careful",
    continuation_model: ContinuationModel = None,
    back_translate: BackTranslate = None,
    store: StorePath = None,
    skip_bad_rows: SkipBadRows = False,
) -> None:
    """Make every generator's variants of a data set: how many sentences have one, why the others have none.

    --lock writes them to a file of hashes and edits, without a sentence. `encheck run --lock FILE` stops where a
    variant differs from the file, and says what changed.

    Examples:

        encheck data variants --data mrpc:path/to/MRPC

        encheck data variants --data mrpc:path/to/MRPC --lock mrpc.lock

        encheck data variants --data mrpc:path/to/MRPC --generator synonym
    """
    from encheck.datasets.load import load
    from encheck.errors import UsageError
    from encheck.items import lock as lock_files
    from encheck.items.catalogue import chosen_works, list_all, lock_lines
    from encheck.items.variants import Maker
    from encheck.options import Settings, mode_of, sample_of
    from encheck.reporting.variants import lines
    from encheck.running.resources import open_store, resolve_english, resolve_writers

    with told():
        if lock:
            lock_files.refuse_place(lock)
        works = chosen_works(generator or [], lock=lock is not None)
        asked = Settings(
            store=store,
            spacy_model=spacy_model,
            lexicon=lexicon,
            generator_mode=mode_of(generator_mode),
            seed=seed,
            continuation_model=continuation_model,
            back_translate=back_translate,
            project=project(),
        )
        opened = open_store(asked)
        maker = Maker(seed, resolve_english(asked, opened), writers=resolve_writers(asked, opened))
        dataset = load(data, sample=sample_of(sample), seed=seed, skip_bad_rows=skip_bad_rows)
        listings = list(list_all(dataset, maker, works=works))
        say(lines(listings, language=maker.english.describe(), show=n))
        if lock:
            language = maker.english.describe()
            covered = [(listing.generator, listing.level) for listing in listings]
            frozen = list(lock_lines(listings))
            if not frozen:
                raise UsageError(
                    f"{data} has no variant to lock: no generator made one (those written by hand are not locked)"
                )
            count = lock_files.write(lock, language=language, seed=seed, works=covered, lines=frozen)
            typer.echo(f"{lock}: {count} variants")
        opened.close()
