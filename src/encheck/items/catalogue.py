"""Make and count every generator's variants of a data set, for `encheck data variants`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import cast

from encheck.datasets.dataset import Dataset
from encheck.errors import UsageError, unknown_name_message
from encheck.generators.back_translation import back_translation
from encheck.generators.base import Generator, beside, listing_name
from encheck.generators.continuation import CUTS, continuation
from encheck.generators.phenomenon import all_generators, all_phenomena
from encheck.generators.swap_chain import swap_chain
from encheck.items.chains import add_continuations, exchange_sides
from encheck.items.variants import CHUNK, VariantMaker
from encheck.system import imports as own
from encheck.types import Group, Variant

GeneratorLevels = tuple[Generator, tuple[int, ...]]  # a generator and its levels


def _listed_generators() -> tuple[GeneratorLevels, ...]:
    """Return the package's generators to list, sorted by name."""
    plain = [
        *all_generators().values(),
        *(side for one in all_phenomena().values() for side in one.generators_from_text.values()),
    ]
    works: list[GeneratorLevels] = [(one, one.levels) for one in plain if one.levels]
    works += [(beside(all_generators()[name], one), (1,)) for one in all_generators().values() for name in one.bases]
    return tuple(sorted(works, key=lambda work: listing_name(work[0])))


WORKS = _listed_generators()
OF_MODELS = {"continuation": "--continuation-model", "back_translation": "--back-translate"}  # what models write


@dataclass
class VariantListing:
    """The variants of one generator at one level: how many sentences have a variant, and why the others have none.

    `made` holds the first `keep` variants, or all variants if `keep` is None.
    """

    generator: str
    level: int
    made: list[tuple[Group, Variant]] = field(default_factory=list)
    excluded: Counter[str] = field(default_factory=Counter)
    count: int = 0
    keep: int | None = None

    @property
    def coverage(self) -> float:
        """The share of sentences with a variant."""
        total = self.count + self.excluded.total()
        return self.count / total if total else 0.0

    def add(self, group: Group, outcome: Variant | str) -> None:
        """Count a sentence, and keep its variant if fewer than `keep` variants are kept."""
        if isinstance(outcome, str):
            self.excluded[outcome] += 1
            return
        self.count += 1
        if self.keep is None or len(self.made) < self.keep:
            self.made.append((group, outcome))


def choose_generators(names: Sequence[str]) -> tuple[GeneratorLevels, ...]:
    """Return generators by their names in the listing, or your own, `module:function`, with level 1.

    Raise UsageError for other names.
    """
    ours = {listing_name(generator): (generator, levels) for generator, levels in WORKS}
    found: dict[str, GeneratorLevels] = {}
    for name in dict.fromkeys(names):
        work = ours[name] if name in ours else (_import_own_generator(name, ours), (1,))
        called = listing_name(work[0])
        if called in found:
            raise UsageError(f"--generator={name}: another generator is also called {called}. Remedy: rename yours")
        found[called] = work
    return tuple(found.values())


def _import_own_generator(name: str, ours: Collection[str]) -> Generator:
    """Return the user's generator of this name."""
    if option := OF_MODELS.get(name):
        raise UsageError(f"--generator={name} cannot be chosen: give {option}, and leave --generator out")
    if not own.OBJECT_PATH.fullmatch(name):
        raise UsageError(
            f"--generator: {unknown_name_message('generator', name, ours)}. One of your own is written module:function"
        )
    try:
        generator = own.import_object(name)
    except Exception as error:
        raise UsageError(f"--generator={name} cannot be imported: {error!r}. {own.REMEDY}") from error
    if not callable(generator) or not hasattr(generator, "__name__"):
        raise UsageError(f"--generator={name} names no function. {own.REMEDY}")
    return cast("Generator", generator)


def list_variants(
    dataset: Dataset, maker: VariantMaker, *, works: Sequence[GeneratorLevels] = (), keep: int | None = None
) -> list[VariantListing]:
    """Return the listing of each generator and level on this data set.

    Without `works`, all generators are listed. If `keep` is given, only the first `keep` variants of each are kept, and
    texts are processed in batches, so memory does not grow with their number.
    """
    if not works:  # also those that use language or translation models, if the run has such models
        more: list[GeneratorLevels] = []
        if maker.writers.continuations is not None:
            more.append((continuation, CUTS))
        if maker.writers.translations is not None:
            sources = [group.source for group in dataset.groups]
            texts = dict(zip(sources, maker.writers.translations(sources), strict=True))
            more.append((back_translation(texts), (1,)))
        works = (*WORKS, *more)
    return list_variants_of_stream(
        dataset.groups, maker, works=works, keep=keep,
        surveyed=[g for g in dataset.groups if not g.variants][:CHUNK],
    )  # fmt: skip


def list_variants_of_stream(
    groups: Iterable[Group],
    maker: VariantMaker,
    *,
    works: Sequence[GeneratorLevels] = (),
    keep: int | None = None,
    surveyed: Sequence[Group] = (),
) -> list[VariantListing]:
    """Return the listings for a stream of texts, by default of all generators that need no models.

    The names in the data are taken from the first texts, or from `surveyed`.
    """
    works, rest = works or WORKS, iter(groups)
    listings = [
        [VariantListing(listing_name(generator), level, keep=keep) for level in levels] for generator, levels in works
    ]
    while some := list(islice(rest, CHUNK)):
        surveyed = surveyed or some
        for (generator, levels), listed in zip(works, listings, strict=True):
            theirs: Sequence[Group] = some  # the groups that this generator gets in a run
            if generator is swap_chain:
                theirs = [exchange_sides(group) for group in some]
            elif generator is continuation:
                theirs = add_continuations(some, maker)
            maker.collect_names(surveyed, generator)
            for level, listing in zip(levels, listed, strict=True):
                for group, outcome in zip(theirs, maker.make_uncached(theirs, generator, level=level), strict=True):
                    listing.add(group, outcome)
        maker.english.clear_memory()
    return [listing for listed in listings for listing in listed]
