"""`encheck data variants`: what generators make of a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    tell,
    told,
)
from encheck.cli.table import as_option

if TYPE_CHECKING:
    from encheck.items.catalogue import Listing, Work
    from encheck.items.lock import Frozen
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
    lock: Annotated[Path | None, typer.Option(help="Lock file to write the variants to.")] = None,
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

    --lock writes them to a file of hashes and edits, which holds no sentence. `encheck run --lock FILE` stops if a
    variant differs from the file, and says what changed.

    Examples:

        encheck data variants --data mrpc:path/to/MRPC

        encheck data variants --data mrpc:path/to/MRPC --lock mrpc.lock

        encheck data variants --data mrpc:path/to/MRPC --generator synonym
    """
    from encheck.options import Settings, mode_of, sample_of

    with told():
        settings = Settings(
            store=store, spacy_model=spacy_model, lexicon=lexicon, generator_mode=mode_of(generator_mode), seed=seed,
            continuation_model=continuation_model, back_translate=back_translate, project=project(),
        )  # fmt: skip
        _show(settings, data, generator or [], lock, n=n, sample=sample_of(sample), skip_bad_rows=skip_bad_rows)


def _show(
    settings: Settings,
    data: str,
    generators: list[str],
    lock: Path | None,
    *,
    n: int,
    sample: int | None,
    skip_bad_rows: bool,
) -> None:
    """Say what these generators make, and write it to the lock file where there is to be one."""
    from encheck.items.catalogue import chosen_works
    from encheck.items.lock import Frozen, refuse_place
    from encheck.reporting.variants import lines

    if lock:
        refuse_place(lock)
    works = chosen_works(generators, lock=lock is not None)
    with Frozen() if lock else nullcontext() as frozen:
        listings, language = _made(
            settings, works, data, sample=sample, skip_bad_rows=skip_bad_rows, keep=n, frozen=frozen
        )
        say(lines(listings, language=language, show=n))
        if lock and frozen is not None:
            tell(f"{lock}: {_freeze(lock, frozen, listings, data, language=language, seed=settings.seed)} variants")


def _made(
    settings: Settings,
    works: Sequence[Work],
    data: str,
    *,
    sample: int | None,
    skip_bad_rows: bool,
    keep: int,
    frozen: Frozen | None,
) -> tuple[list[Listing], Mapping[str, Any]]:
    """The variants of each generator, the first `keep` of them and all `frozen`, and what parsed the sentences.

    Texts are read one after the other where all are asked for, and no model writes.
    """
    from encheck.datasets.load import load, stream
    from encheck.items.catalogue import list_all, list_stream
    from encheck.items.variants import Maker
    from encheck.running.resources import open_store, resolve_english, resolve_writers

    store = open_store(settings)
    maker = Maker(settings.seed, resolve_english(settings, store), writers=resolve_writers(settings, store))
    is_plain = sample is None and not settings.continuation_model and not settings.back_translate
    texts = stream(data, skip_bad_rows=skip_bad_rows) if is_plain else None
    if texts is not None:
        listings = list_stream(texts, maker, works=works, keep=keep, frozen=frozen)
    else:
        dataset = load(data, sample=sample, seed=settings.seed, skip_bad_rows=skip_bad_rows)
        listings = list_all(dataset, maker, works=works, keep=keep, frozen=frozen)
    language = maker.english.describe()
    store.close()
    return listings, language


def _freeze(
    lock: Path, frozen: Frozen, listings: list[Listing], data: str, *, language: Mapping[str, Any], seed: int
) -> int:
    """Write the lock file; how many variants it holds. UsageError where there is none to lock."""
    from encheck.errors import UsageError

    if not len(frozen):
        raise UsageError(f"{data} has no variant to lock: no generator made one (written ones are not locked)")
    works = [(listing.generator, listing.level) for listing in listings]
    return frozen.write(lock, language=language, seed=seed, works=works)
