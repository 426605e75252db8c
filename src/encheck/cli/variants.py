"""`encheck data variants`: what generators make of a data set."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from encheck.cli.data import data_app
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
    project,
    say,
    told,
)
from encheck.cli.table import as_option

if TYPE_CHECKING:
    from encheck.options import Settings


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
    """Make the variants of a data set: for each generator, how many sentences have one, and why the others have none.

    Examples:

        encheck data variants --data mrpc:path/to/MRPC

        encheck data variants --data mrpc:path/to/MRPC --generator synonym
    """
    from encheck.options import Settings, mode_of, sample_of

    with told():
        settings = Settings(
            store=store, spacy_model=spacy_model, lexicon=lexicon, generator_mode=mode_of(generator_mode), seed=seed,
            continuation_model=continuation_model, back_translate=back_translate, project=project(),
        )  # fmt: skip
        _show(settings, data, generator or [], n=n, sample=sample_of(sample), skip_bad_rows=skip_bad_rows)


def _show(
    settings: Settings, data: str, generators: list[str], *, n: int, sample: int | None, skip_bad_rows: bool
) -> None:
    """Say what these generators make, with `n` examples of each.

    Texts are read one after the other where all are asked for, and no model writes.
    """
    from encheck.datasets.load import load, stream
    from encheck.items.catalogue import chosen_works, list_all, list_stream
    from encheck.items.variants import Maker
    from encheck.reporting.data import variant_lines
    from encheck.running.resources import open_store, resolve_english, resolve_writers

    works = chosen_works(generators)
    with closing(open_store(settings)) as store:
        maker = Maker(settings.seed, resolve_english(settings, store), writers=resolve_writers(settings, store))
        is_plain = sample is None and not settings.continuation_model and not settings.back_translate
        texts = stream(data, skip_bad_rows=skip_bad_rows) if is_plain else None
        if texts is not None:
            listings = list_stream(texts, maker, works=works, keep=n)
        else:
            dataset = load(data, sample=sample, seed=settings.seed, skip_bad_rows=skip_bad_rows)
            listings = list_all(dataset, maker, works=works, keep=n)
        language = maker.english.describe()
    say(variant_lines(listings, language=language, show=n))
