"""`encheck data`: show a data set, and the variants that generators make from it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

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
    as_option,
    print_lines,
    print_message,
    print_table,
    project,
    report_errors,
)
from encheck.errors import UsageError

if TYPE_CHECKING:
    from encheck.options import Settings

SHOW = "show"


class DataCommands(typer.core.TyperGroup):
    """A group in which `encheck data NAME` shows a data set unless NAME is a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse like typer, but insert `show` before an argument that is not a command."""
        is_named = bool(args) and args[0] in (*self.commands, "--help")
        return super().parse_args(ctx, args if is_named else [SHOW, *args])


data_app = typer.Typer(
    cls=DataCommands,
    subcommand_metavar="[NAME[:PATH]] | COMMAND",
    help="List the data sets that --data accepts, or show one: `encheck data mrpc:PATH`.\n\n"
    "Its options: `encheck data NAME --help`.",
)
app.add_typer(data_app, name="data")


@data_app.command(SHOW, hidden=True)
def show(
    spec: Annotated[
        str | None, typer.Argument(metavar="NAME[:PATH]", help="Data set to show. Default: list all.")
    ] = None,
    skip_bad_rows: SkipBadRows = False,
    queries: Annotated[Path | None, as_option("queries")] = None,
    passage_words: Annotated[int, as_option("passage_words")] = 150,
    against: Annotated[
        str | None, typer.Option(metavar="NAME:PATH", help="Compare its text with the text of this data set.")
    ] = None,
    texts: Annotated[
        int, typer.Option(min=1, help="With --against: measure at most this many texts of each data set.")
    ] = 2_000,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="With --against: also write JSON to this file.")
    ] = None,
) -> None:
    """List the data sets that --data accepts, or show one: rows, labels, splits, clusters, divergence, samples.

    With --against, compare its text with that of another data set at equal sizes: overlap within pairs, repetition,
    vocabulary and length.
    """
    from encheck.datasets.load import (
        is_unlabelled_spec,
        known_data_sets,
        load,
        load_pairs_in_columns,
        properties_of_spec,
    )
    from encheck.datasets.passages import PassageOptions
    from encheck.reporting.data import describe_columns, describe_dataset, row_counts
    from encheck.system.imports import package_of

    with report_errors():
        if spec is None and (against or json_file):
            raise UsageError("--against compares two data sets: name the first one too (encheck data A --against B)")
        if json_file is not None and against is None:
            raise UsageError("--json requires --against")
        if spec is None:
            rows = [("name", "rows", "path should hold", "licence")]
            ours, packaged = known_data_sets().ours, known_data_sets().packaged
            rows += [(name, row_counts(module), module.FILES, module.LICENCE) for name, module in sorted(ours.items())]
            rows += [(name, "-", f"from the package {package_of(packaged[name])}", "-") for name in sorted(packaged)]
            print_table(rows)
            fetched = ", ".join(sorted(name for name, module in ours.items() if hasattr(module, "HUB")))
            print_message(f"probes is embedded and needs no path. From the hub, as NAME:hub: {fetched}.")
            return
        if queries is not None and not is_unlabelled_spec(spec, has_log=True):
            raise UsageError(f"--queries={queries} works only with unlabelled documents, but {spec} has none")
        if against is not None:
            _compare_texts(spec, against, texts, json_file, skip_bad_rows=skip_bad_rows)
            return
        if spec.startswith("triplets:") and not properties_of_spec(spec):
            print_message(
                "These triplets name no property, so they are read as a search, with the anchors as queries. To test a "
                "property of your own, name it: triplets@NAME:FILE, or add a column `property`."
            )
        if queries is None and (columns := load_pairs_in_columns(spec, skip_bad_rows=skip_bad_rows)):
            lines = describe_columns(columns)
        else:
            how = PassageOptions(queries, passage_words)
            lines = describe_dataset(load(spec, sample=None, skip_bad_rows=skip_bad_rows, passages=how))
    print_lines(lines)


def _compare_texts(spec: str, against: str, texts: int, json_file: Path | None, *, skip_bad_rows: bool) -> None:
    from encheck.api import text_shift
    from encheck.comparing.text_shift import text_shift_lines
    from encheck.reporting.results import refuse_over, write_named
    from encheck.system.typed_files import as_json

    refuse_over(json_file, [".json"], option="--json", reads=[spec, against])
    found = text_shift(spec, against=against, texts=texts, skip_bad_rows=skip_bad_rows)
    if json_file is not None:
        write_named(json_file, as_json(found))
    print_lines(text_shift_lines(found))


@data_app.command()
def variants(
    data: DataSpec,
    generator: Annotated[
        list[str] | None,
        typer.Option(
            help="Use only this generator: a name from the listing, or module:function of your own. Repeatable."
        ),
    ] = None,
    n: Annotated[int, typer.Option("--n", min=0, help="Number of examples to show for each generator.")] = 2,
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
    """Make the variants of a data set. For each generator, show how many sentences have one, and why the others do not.

    Examples:

        encheck data variants --data mrpc:path/to/MRPC

        encheck data variants --data mrpc:path/to/MRPC --generator synonym
    """
    from encheck.options import Settings, parse_generator_mode, parse_sample

    with report_errors():
        settings = Settings(
            store=store, spacy_model=spacy_model, lexicon=lexicon, seed=seed,
            generator_mode=parse_generator_mode(generator_mode), continuation_model=continuation_model,
            back_translate=back_translate, project=project(),
        )  # fmt: skip
        _show_variants(settings, data, generator or [], n=n, sample=parse_sample(sample), skip_bad_rows=skip_bad_rows)


def _show_variants(
    settings: Settings, data: str, generators: list[str], *, n: int, sample: int | None, skip_bad_rows: bool
) -> None:
    """Print what these generators make, with `n` examples from each.

    If no sample is requested and no language model writes variants, read the texts one at a time instead of loading
    them all.
    """
    from encheck.datasets.load import load, stream_groups
    from encheck.items.catalogue import choose_generators, list_variants, list_variants_of_stream
    from encheck.items.variants import VariantMaker
    from encheck.reporting.data import variant_lines
    from encheck.running.resources import open_store, resolve_english, resolve_writers

    works = choose_generators(generators)
    with closing(open_store(settings)) as store:
        maker = VariantMaker(settings.seed, resolve_english(settings, store), writers=resolve_writers(settings, store))
        is_plain = sample is None and not settings.continuation_model and not settings.back_translate
        texts = stream_groups(data, skip_bad_rows=skip_bad_rows) if is_plain else None
        if texts is not None:
            listings = list_variants_of_stream(texts, maker, works=works, keep=n)
        else:
            dataset = load(data, sample=sample, seed=settings.seed, skip_bad_rows=skip_bad_rows)
            listings = list_variants(dataset, maker, works=works, keep=n)
        language = maker.english.describe()
    print_lines(variant_lines(listings, language=language, show=n))
