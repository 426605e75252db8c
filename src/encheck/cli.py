"""The `encheck` command: the suite from a plain install, and a look at models, data, runs and the store."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer

from encheck.errors import EncheckError

app = typer.Typer(
    name="encheck",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Behavioural tests for sentence encoders. Start with: encheck run",
)
store_app = typer.Typer(invoke_without_command=True, help="Look at the embedding store, and prune it.")
annotate_app = typer.Typer(no_args_is_help=True, help="Have people label pairs, blind, and see how far they agree.")
app.add_typer(store_app, name="store")
app.add_typer(annotate_app, name="annotate")
DataSpec = Annotated[str, typer.Option("--data", help="NAME or NAME:PATH; `encheck data` lists them.")]
SkipBadRows = Annotated[bool, typer.Option("--skip-bad-rows", help="Leave malformed rows out.")]
Split = Annotated[str | None, typer.Option(help="One split of the data alone: train, validation, test ...")]
Variants = Annotated[bool, typer.Option("--variants", help="Sentences and their variants, in place of pairs.")]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", help="A name in models.yaml, a folder or a hub id; repeatable. Default: sbert."),
]
ModelArgs = Annotated[
    list[str] | None,
    typer.Option("--model-arg", help="[MODEL:]KEY=VALUE: a field of models.yaml, or an option of the adapter."),
]
SpacyModel = Annotated[
    str | None, typer.Option(help="An installed spaCy pipeline, or a folder, in place of the bundled one.")
]
LexiconName = Annotated[str, typer.Option(help="embedded, nltk, or a folder of WordNet's files.")]
BackTranslate = Annotated[
    str | None, typer.Option(help="Rewrite sentences by way of this language (de), or by two models: ./en-de,./de-en.")
]
ContinuationModel = Annotated[
    str | None, typer.Option(help="A causal language model that goes on with sentences: a folder or a hub id.")
]
GeneratorMode = Annotated[str, typer.Option(help="careful, or paper: by the published recipe.")]
StorePath = Annotated[
    Path | None, typer.Option("--store", help="The store. Default: $ENCHECK_STORE or the user's cache.")
]


@contextmanager
def _told() -> Iterator[None]:
    """Say what the user got wrong in one line, and leave with exit code 4."""
    try:
        yield
    except EncheckError as error:
        typer.echo(f"encheck: {error}", err=True)
        raise typer.Exit(4) from error


def _print_version(asked: bool) -> None:
    if asked:
        from encheck import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _app(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def run(
    context: typer.Context,
    markers: Annotated[str, typer.Option("-m", help='Which checks: -m antonym, -m "antonym or jumble".')] = "",
    model: Models = None,
    model_arg: ModelArgs = None,
    data: Annotated[
        list[str] | None, typer.Option("--data", help="NAME or NAME:PATH; repeatable; `encheck data` lists them.")
    ] = None,
    epsilon: Annotated[float, typer.Option(help="Margin that criteria 3 and 4 ask for.")] = 0.0,
    threshold: Annotated[
        float | None, typer.Option(help="A cut-off of yours: what share of each label reaches it.")
    ] = None,
    sample: Annotated[str, typer.Option(help="Clusters taken of each --data, or: all.")] = "2000",
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    median_scope: Annotated[str, typer.Option(help="Obvious or not: by split, by dataset, or at a number.")] = "split",
    spacy_model: SpacyModel = None,
    lexicon: LexiconName = "embedded",
    generator_mode: GeneratorMode = "careful",
    lock: Annotated[Path | None, typer.Option(help="Hold variants to this file of `encheck variants`.")] = None,
    continuation_model: ContinuationModel = None,
    back_translate: BackTranslate = None,
    save_baseline: Annotated[Path | None, typer.Option(help="Keep the item scores in this folder.")] = None,
    baseline: Annotated[Path | None, typer.Option(help="The gate: against the baseline in this folder.")] = None,
    anchor: Annotated[Path | None, typer.Option(help="A second, fixed baseline.")] = None,
    twin: Annotated[
        list[str] | None, typer.Option(help="A checkpoint that differs from the baseline's only in seed; repeatable.")
    ] = None,
    inconclusive: Annotated[str | None, typer.Option(help="An inconclusive gate counts as: pass or block.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, mps.")] = "auto",
    dtype: Annotated[str | None, typer.Option(help="float32, bfloat16 or float16.")] = None,
    store: StorePath = None,
    no_store: Annotated[bool, typer.Option("--no-store", help="Keep no embeddings after the run.")] = False,
    report_dir: Annotated[Path | None, typer.Option(help="Where results go. Default: reports/<run>.")] = None,
    skip_bad_rows: Annotated[bool, typer.Option("--skip-bad-rows", help="Leave malformed rows out.")] = False,
) -> None:
    """Run the checks. What is not listed here goes to pytest: -n 2, -k NAME, -x, --junitxml=FILE, --collect-only.

    Exit code: 0 passed, 1 a check failed or the gate blocks, 4 usage or bad input, 5 nothing was measured, 10 the gate
    could not decide.

    Examples:

        encheck run

        encheck run -m antonym --model=./checkpoint-5000

        encheck run -m "paraphrase or jumble" --data mrpc:path/to/MRPC -n 2

        encheck run --model sbert --save-baseline=reports/baselines/sbert

        encheck run --model=./candidate --baseline=reports/baselines/sbert
    """
    import pytest

    single = {
        "epsilon": epsilon, "threshold": threshold, "sample": sample, "seed": seed, "device": device, "dtype": dtype,
        "store": store, "report-dir": report_dir, "median-scope": median_scope, "spacy-model": spacy_model,
        "continuation-model": continuation_model, "back-translate": back_translate,
        "lexicon": lexicon, "generator-mode": generator_mode, "lock": lock, "save-baseline": save_baseline,
        "baseline": baseline, "anchor": anchor, "inconclusive": inconclusive,
    }  # fmt: skip
    args = [f"--encheck-model={m}" for m in model or []] + [f"--encheck-data={d}" for d in data or []]
    args += [f"--encheck-model-arg={a}" for a in model_arg or []] + [f"--encheck-twin={t}" for t in twin or []]
    args += [f"--encheck-{name}={value}" for name, value in single.items() if value is not None]
    args += ["--encheck-no-store"] * no_store + ["--encheck-skip-bad-rows"] * skip_bad_rows
    ini = str(resources.files("encheck") / "run.ini")
    markers_args = ["-m", markers] if markers else []
    base = ["-c", ini, f"--rootdir={Path.cwd()}", "--noconftest", "--pyargs", "encheck.checks"]
    raise typer.Exit(int(pytest.main([*base, *markers_args, *args, *context.args])))


@app.command()
def models() -> None:
    """List what --model takes by name: whether it can be loaded here, from where or what it lacks, what pins it."""
    from encheck.encoders.config import known_models
    from encheck.encoders.load import pinned, where

    with _told():
        known = known_models(Path("models.yaml"))
        rows = [("name", "loadable", "from, or what it lacks", "pinned", "licence", "what")]
        for config in known.values():
            ready, source = where(config)
            is_ready, licence = "yes" if ready else "no", config.licence or "-"
            rows.append((config.label, is_ready, source, pinned(config), licence, config.description))
    _print_table(rows)
    typer.echo("A folder or file (--model=./checkpoint) or a hub id (--model=owner/name) needs no entry.")


@app.command()
def data(
    spec: Annotated[str | None, typer.Argument(help="NAME or NAME:PATH: show what it holds.")] = None,
    skip_bad_rows: Annotated[bool, typer.Option("--skip-bad-rows", help="Leave malformed rows out.")] = False,
) -> None:
    """List the data sets that --data takes, or show one: rows, labels, splits, clusters, divergence, samples."""
    from encheck.datasets.base import load, names
    from encheck.reporting.data import describe, rows_of

    with _told():
        if spec is None:
            rows = [("name", "rows", "path should hold", "licence")]
            rows += [(name, rows_of(module), module.FILES, module.LICENCE) for name, module in sorted(names().items())]
            _print_table(rows)
            fetched = ", ".join(sorted(name for name, module in names().items() if hasattr(module, "HUB")))
            typer.echo(f"probes is embedded and needs no path. From the hub, as NAME:hub: {fetched}.")
            return
        loaded = load(spec, sample=None, skip_bad_rows=skip_bad_rows)
    for line in describe(loaded):
        typer.echo(line)


@app.command()
def show(
    item: Annotated[str, typer.Argument(help="An item's id, or its beginning.")],
    run_folder: Annotated[Path | None, typer.Option("--run", help="The run. Default: the newest in reports/.")] = None,
    model: Annotated[str | None, typer.Option("--model", help="Score the item again with this model.")] = None,
    model_arg: ModelArgs = None,
    store: StorePath = None,
) -> None:
    """Show one item of a past run: its texts, its scores, and with --model the scores as they are now."""
    from encheck.errors import UsageError
    from encheck.reporting.results import find_item, newest_run
    from encheck.reporting.show import describe, rescore
    from encheck.settings import Settings

    with _told():
        folder = run_folder or newest_run(Path("reports"))
        rows = find_item(folder, item)
        if not rows:
            raise UsageError(f"no item of {folder} begins with {item!r}")
        asked = Settings(models=(model or "",), model_args=tuple(model_arg or ()), store=store)
        scorer = rescore(asked, rows) if model else None
        for line in describe(rows, scorer):
            typer.echo(line)


@app.command()
def report(
    run_folder: Annotated[Path | None, typer.Argument(metavar="RUN", help="Default: the newest in reports/.")] = None,
    out: Annotated[Path | None, typer.Option(help="The page to write. Default: RUN/report.html.")] = None,
) -> None:
    """Make the report of a run again from its raw results."""
    from encheck.reporting.again import make_again
    from encheck.reporting.results import newest_run

    with _told():
        folder = run_folder or newest_run(Path("reports"))
        typer.echo(make_again(folder, out or folder / "report.html"))


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs; the first is held against.")],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("compare.html"),
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the differences to this file too.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the intervals.")] = 0,
) -> None:
    """Compare the models of runs on the items they share: differences with intervals, flips, pictures. Judges nothing.

    Example:

        encheck compare reports/monday reports/tuesday --out compare.html
    """
    from encheck.reporting import compare as side_by_side
    from encheck.reporting.again import as_written
    from encheck.reporting.results import write_text

    with _told():
        with as_written(*runs):
            found = side_by_side.compare(runs, seed=seed)
            page = side_by_side.render(found)
        write_text(out, page)
        if json_file:
            side_by_side.write_json(json_file, found)
    _say(side_by_side.lines(found))
    typer.echo(f"page: {out}")


@app.command()
def seeds(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    everything: Annotated[bool, typer.Option("--all", help="Every figure, not those that decide alone.")] = False,
) -> None:
    """Show each figure's mean and standard error over checkpoints that differ in their seed alone.

    Example:

        encheck run --model=./seed-1 --model=./seed-2 --model=./seed-3 --report-dir reports/seeds

        encheck seeds reports/seeds
    """
    from encheck.reporting.again import as_written
    from encheck.reporting.seeds import lines, over_seeds

    with _told(), as_written(*runs):
        found = over_seeds(runs, everything=everything)
    _say(lines(found))


@app.command()
def export(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    out: Annotated[Path | None, typer.Option(help="Where the files go. Default: RUN/exports.")] = None,
    formats: Annotated[
        list[str] | None,
        typer.Option("--format", help="model-index, eval-results, mteb, csv or parquet; repeatable. Default: all."),
    ] = None,
) -> None:
    """Write a run as model-card metadata, the hub's evaluation results, MTEB-style JSON, CSV and Parquet.

    Nothing is pushed anywhere.

    Example:

        encheck export reports/my-run --format csv
    """
    from encheck.reporting.exports import FORMATS
    from encheck.reporting.exports import export as write
    from encheck.reporting.results import read_results

    with _told():
        for path in write(read_results(run_folder), out or run_folder / "exports", formats=formats or list(FORMATS)):
            typer.echo(path)


@app.command()
def variants(
    data: DataSpec,
    lock: Annotated[Path | None, typer.Option(help="Freeze the variants in this file.")] = None,
    n: Annotated[int, typer.Option("--n", min=0, help="Show so many of each generator.")] = 2,
    sample: Annotated[str, typer.Option(help="Clusters taken of the data, or: all.")] = "2000",
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
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
    """
    from encheck import lock as lock_files
    from encheck.datasets.base import load
    from encheck.listing import list_all, lock_lines
    from encheck.making import Maker
    from encheck.reporting.variants import lines
    from encheck.session import give_writers, open_store, resolve_english
    from encheck.settings import Settings, mode_of, sample_of

    with _told():
        asked = Settings(
            store=store,
            spacy_model=spacy_model,
            lexicon=lexicon,
            generator_mode=mode_of(generator_mode),
            seed=seed,
            continuation_model=continuation_model,
            back_translate=back_translate,
        )
        opened = open_store(asked)
        maker = Maker(seed, resolve_english(asked, opened))
        give_writers(maker, asked, opened)
        dataset = load(data, sample=sample_of(sample), seed=seed, skip_bad_rows=skip_bad_rows)
        listings = list(list_all(dataset, maker))
        _say(lines(listings, language=maker.english.describe(), show=n))
        if lock:
            language = maker.english.describe()
            count = lock_files.write(lock, language=language, seed=seed, lines=lock_lines(listings))
            typer.echo(f"{lock}: {count} variants")
        opened.close()


@app.command()
def score(
    data: DataSpec,
    predictions: Annotated[Path, typer.Option(help="CSV, TSV or JSONL with prediction or score; or a SemEval run.")],
    threshold: Annotated[float | None, typer.Option(help="Cut the file's scores here: at least it is 1.")] = None,
    split: Split = None,
    median_scope: Annotated[str, typer.Option(help="Obvious or not: by split, by dataset, or at a number.")] = "split",
    seed: Annotated[int, typer.Option(help="Seed of the intervals.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file too.")] = None,
    skip_bad_rows: SkipBadRows = False,
) -> None:
    """Score a file of predictions on a data set: obvious and non-obvious F1, MAP, and what constants would get.

    Examples:

        encheck score --data pairs:mine.csv --predictions theirs.csv

        encheck score --data semeval-cqa:FOLDER --predictions subtask_B_primary.txt --json b.json
    """
    from encheck.datasets.base import load
    from encheck.predictions import read_predictions
    from encheck.reporting import scored
    from encheck.settings import scope_of

    with _told():
        scope, told = scope_of(median_scope), read_predictions(predictions)
        loaded = load(data, sample=None, skip_bad_rows=skip_bad_rows)
        found = scored.score(told, loaded, threshold=threshold, split=split, scope=scope, seed=seed)
        if json_file:
            scored.write(json_file, found, data=loaded, predictions=told)
    _say(scored.lines(found))


@annotate_app.command()
def sheet(
    data: DataSpec,
    out: Annotated[Path, typer.Option(help="The sheet to write: a CSV file.")] = Path("sheet.csv"),
    n: Annotated[int, typer.Option("--n", min=1, help="How many pairs.")] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 0,
    split: Split = None,
    variants: Variants = False,
    skip_bad_rows: SkipBadRows = False,
) -> None:
    """Write a sheet without labels: pairs in random order, as many of each difficulty as of the next.

    With --variants the pairs are sentences and their variants, as many of each relation as of the next.
    """
    from encheck.annotate import cells_of, draw, relations_of, write_sheet

    with _told():
        pairs = _pairs_to_label(data, variants=variants, skip_bad_rows=skip_bad_rows)
        strata = relations_of if variants else cells_of
        lines = draw(pairs, n=n, seed=seed, split=split, strata_of=strata)
        write_sheet(out, lines, new=True)
    typer.echo(f"{out}: {len(lines)} pairs; next: encheck annotate label {out} --name YOU")


@annotate_app.command("label")
def label_(
    sheet: Annotated[Path, typer.Argument(help="The sheet, as it was written.")],
    name: Annotated[str, typer.Option(help="Who labels; the answers go to SHEET-NAME.csv.")],
) -> None:
    """Show pair after pair and ask: the same meaning or not? Every answer is saved; go on where you left."""
    from encheck.annotate import label, own_sheet

    def ask(keys: str) -> str:
        return str(typer.prompt(keys, default="", show_default=False))

    with _told():
        own, lines = own_sheet(sheet, name)
        left = label(own, lines, ask=ask, show=typer.echo)
    typer.echo(f"{own}: {len(lines) - left} of {len(lines)} answered")


@annotate_app.command()
def agreement(
    sheets: Annotated[list[Path], typer.Argument(help="The answered copies of one sheet.")],
    data: DataSpec,
    seed: Annotated[int, typer.Option(help="Seed of intervals and permutations.")] = 0,
    variants: Variants = False,
    skip_bad_rows: SkipBadRows = False,
) -> None:
    """Report Fleiss' kappa and seconds a pair, by difficulty, and whether people agree less where overlap misleads."""
    from encheck.datasets.base import load
    from encheck.reporting import annotators

    with _told():
        if variants:
            pairs = _pairs_to_label(data, variants=True, skip_bad_rows=skip_bad_rows)
            _say(annotators.lines_of_variants(sheets, pairs, seed=seed))
        else:
            loaded = load(data, sample=None, skip_bad_rows=skip_bad_rows)
            _say(annotators.lines(sheets, loaded, seed=seed))


def _pairs_to_label(data: str, *, variants: bool, skip_bad_rows: bool) -> Sequence[Any]:
    """The pairs of the data, or its sentences with their variants."""
    from encheck.annotate import variants_of
    from encheck.datasets.base import load
    from encheck.making import Maker
    from encheck.session import open_store, resolve_english
    from encheck.settings import Settings

    loaded = load(data, sample=2_000 if variants else None, skip_bad_rows=skip_bad_rows)
    if not variants:
        return loaded.pairs
    asked = Settings()
    return variants_of(loaded, Maker(0, resolve_english(asked, open_store(asked))))


@store_app.callback()
def store(context: typer.Context, path: StorePath = None) -> None:
    """List the models whose embeddings are kept."""
    from encheck.store import Store, default_path

    if context.invoked_subcommand:
        return
    where = path or default_path()
    if not where.exists():
        typer.echo(f"{where}: nothing is kept yet")
        return
    with _told():
        opened = Store(where)
        rows = [("model", "kind", "fingerprint", "rows", "MB")]
        rows += [(s.name, s.kind, s.fingerprint, str(s.rows), f"{s.bytes / 1e6:.1f}") for s in opened.contents()]
        typer.echo(f"{where}: {opened.size() / 1e6:.1f} MB of at most {opened.limit / 1e6:.0f} MB")
    _print_table(rows)


@store_app.command()
def prune(
    limit_mb: Annotated[
        float, typer.Option(help="Forget models, the one used longest ago first, down to this size.")
    ] = 0,
    fingerprint: Annotated[str | None, typer.Option(help="Forget this model only.")] = None,
    path: StorePath = None,
) -> None:
    """Forget embeddings. Without options: all of them."""
    from encheck.store import Store, default_path

    with _told():
        opened = Store(path or default_path())
        if fingerprint:
            opened.remove(fingerprint)
            opened.compact()
        else:
            for gone in opened.prune(limit=int(limit_mb * 1e6)):
                typer.echo(f"forgot {gone.rows} rows of {gone.name}")
        typer.echo(f"{opened.path}: {opened.size() / 1e6:.1f} MB")


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    from encheck.reporting.terminal import table

    _say(table(rows))


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        typer.echo(line)


def main(argv: Sequence[str] | None = None) -> Any:
    """Run the command; a closed pipe (`encheck data | head`) is no error."""
    try:
        app(args=list(argv) if argv is not None else None)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
