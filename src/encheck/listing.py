"""What `encheck variants` makes: every generator's variants of a data set, counted, and frozen on request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from encheck import own
from encheck.chains import continued, turned
from encheck.datasets.base import Dataset
from encheck.errors import UsageError
from encheck.generators.antonym import antonym, negated_antonym
from encheck.generators.back_translation import back_translation
from encheck.generators.casing import casing
from encheck.generators.continuation import CUTS, continuation
from encheck.generators.contraction import contraction
from encheck.generators.control import control
from encheck.generators.jumble import jumble
from encheck.generators.reorder import reorder
from encheck.generators.role_reversal import role_reversal, roles_kept
from encheck.generators.spacing import spacing
from encheck.generators.swap_chain import swap_chain
from encheck.generators.synonym import synonym, synonym_beside
from encheck.lock import line_of
from encheck.making import Generator, Maker, beside, name_of
from encheck.types import Group, Variant

Work = tuple[Generator, tuple[int, ...]]  # and its levels
WORKS: tuple[Work, ...] = (
    (synonym, (1, 2, 3)),
    (antonym, (1,)),
    (beside(antonym, synonym_beside), (1,)),
    (beside(antonym, control), (1,)),
    (beside(synonym, control), (1,)),
    (negated_antonym, (1,)),
    (jumble, (1, 2, 3)),
    (reorder, (1,)),
    (role_reversal, (1,)),
    (roles_kept, (1,)),
    (casing, (1,)),
    (spacing, (1,)),
    (contraction, (1,)),
    (swap_chain, (1, 2, 3)),
)


@dataclass
class Listing:
    """The variants of one generator and level: how many sentences have one, and why the others have none."""

    generator: str
    level: int
    made: list[tuple[Group, Variant]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def coverage(self) -> float:
        """Share of sentences with a variant."""
        total = len(self.made) + self.left_out.total()
        return len(self.made) / total if total else 0.0


def own_works(names: Sequence[str]) -> tuple[Work, ...]:
    """The user's own generators, `module:function`, at level 1; UsageError for one that is none."""
    found = []
    for name in names:
        try:
            generator = own.imported(name) if own.NAME.fullmatch(name) else None
        except Exception as error:
            raise UsageError(f"--generator={name} cannot be imported: {error!r}. {own.REMEDY}") from error
        if not callable(generator) or not hasattr(generator, "__name__"):
            raise UsageError(f"--generator={name} names no function. {own.REMEDY}")
        found.append((generator, (1,)))
    return tuple(found)


def list_all(dataset: Dataset, maker: Maker, *, works: Sequence[Work] = ()) -> Iterator[Listing]:
    """These generators and levels on this data; all that there are where none is named."""
    for generator, levels in works or (*WORKS, *_of_models(dataset, maker)):
        groups = _groups(generator, dataset, maker)
        for level in levels:
            listing = Listing(name_of(generator), level)
            for group, outcome in zip(groups, maker.variants(groups, generator, level=level), strict=True):
                if isinstance(outcome, Variant):
                    listing.made.append((group, outcome))
                else:
                    listing.left_out[outcome] += 1
            yield listing


def _groups(generator: Generator, dataset: Dataset, maker: Maker) -> Sequence[Group]:
    """The groups as this generator meets them in a run."""
    if generator is swap_chain:
        return [turned(group) for group in dataset.groups]
    return continued(dataset.groups, maker) if generator is continuation else dataset.groups


def _of_models(dataset: Dataset, maker: Maker) -> Iterator[tuple[Generator, tuple[int, ...]]]:
    """The generators of what models write, where there are some."""
    sources = [group.source for group in dataset.groups]
    if maker.continuations is not None:
        yield continuation, CUTS
    if maker.translations is not None:
        yield back_translation(dict(zip(sources, maker.translations(sources), strict=True))), (1,)


def lock_lines(listings: list[Listing]) -> Iterator[dict[str, Any]]:
    """The lines of a lock file, of what was not written by hand."""
    for listing in listings:
        for group, variant in listing.made:
            if not group.variants:
                yield line_of(group.source, listing.generator, variant)
