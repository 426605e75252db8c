"""What there is: models, data sets, items of past runs, variants."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from encheck.cli.shared import (
    BackTranslate,
    ContinuationModel,
    DataSpec,
    GeneratorMode,
    LexiconName,
    ModelArgs,
    SkipBadRows,
    SpacyModel,
    StorePath,
    app,
    print_table,
    project,
    say,
    told,
)


@app.command()
def models() -> None:
    """List what --model takes by name: whether it can be loaded here, from where or what it lacks, what pins it."""
    from encheck.encoders.load import where
    from encheck.encoders.models_file import known_models
    from encheck.encoders.pins import pinned
    from encheck.options import Settings

    with told():
        known = known_models(Settings(project=project()).models_file)
        rows = [("name", "loadable", "from, or what it lacks", "pinned", "licence", "what")]
        for config in known.values():
            ready, source = where(config)
            is_ready, licence = "yes" if ready else "no", config.licence or "-"
            rows.append((config.label, is_ready, source, pinned(config), licence, config.description))
    print_table(rows)
    typer.echo("A folder or file (--model=./checkpoint) or a hub id (--model=owner/name) needs no entry.")


@app.command()
def data(
    spec: Annotated[str | None, typer.Argument(help="NAME or NAME:PATH: show what it holds.")] = None,
    skip_bad_rows: Annotated[bool, typer.Option("--skip-bad-rows", help="Leave malformed rows out.")] = False,
) -> None:
    """List the data sets that --data takes, or show one: rows, labels, splits, clusters, divergence, samples."""
    from encheck.datasets.base import load, names
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


@app.command()
def show(
    item: Annotated[str, typer.Argument(help="An item's id, or its beginning.")],
    run_folder: Annotated[Path | None, typer.Option("--run", help="The run. Default: the newest in reports/.")] = None,
    model: Annotated[str | None, typer.Option("--model", help="Score the item again with this model.")] = None,
    model_arg: ModelArgs = None,
    store: StorePath = None,
) -> None:
    """Show one item of a past run: its texts, its scores, and with --model the scores as they are now."""
    from encheck.cli.showing import describe, rescore
    from encheck.errors import UsageError
    from encheck.options import Settings
    from encheck.reporting.results import find_item, newest_run

    with told():
        folder = run_folder or newest_run(Path("reports"))
        rows = find_item(folder, item)
        if not rows:
            raise UsageError(f"no item of {folder} begins with {item!r}")
        asked = Settings(models=(model or "",), model_args=tuple(model_arg or ()), store=store, project=project())
        scorer = rescore(asked, rows) if model else None
        say(describe(rows, scorer))


@app.command()
def variants(
    data: DataSpec,
    generator: Annotated[
        list[str] | None,
        typer.Option(help="Only this one: a name of the listing, or module:function of your own; repeatable."),
    ] = None,
    lock: Annotated[Path | None, typer.Option(help="Freeze the variants in this file.")] = None,
    n: Annotated[int, typer.Option("--n", min=0, help="Show so many of each generator.")] = 2,
    sample: Annotated[str, typer.Option(help="Clusters taken of the data, or: all. Probes are taken whole.")] = "2000",
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    spacy_model: SpacyModel = None,
    lexicon: LexiconName = "embedded",
    generator_mode: GeneratorMode = "careful",
    continuation_model: ContinuationModel = None,
    back_translate: BackTranslate = None,
    store: StorePath = None,
    skip_bad_rows: SkipBadRows = False,
) -> None:
    """Make every generator's variants of a data set: how many sentences have one, why the others have none.

    With --lock, freeze them: the file holds hashes and edits, no sentence. `encheck run --lock FILE` then holds its
    variants to the file, and says what changed where they are others.

    Examples:

        encheck variants --data mrpc:path/to/MRPC

        encheck variants --data mrpc:path/to/MRPC --lock mrpc.lock

        encheck variants --data mrpc:path/to/MRPC --generator synonym
    """
    from encheck.datasets.base import load
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
