"""Sample the pairs of a sheet evenly over strata."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, zip_longest

from encheck.annotation.sheets import Line
from encheck.datasets.dataset import Dataset
from encheck.errors import UsageError, no_pair
from encheck.ids import ItemId
from encheck.items.catalogue import list_all
from encheck.items.variants import Maker
from encheck.scoring.difficulty import CELLS, difficulty
from encheck.types import Group, SentencePair, Variant, content_hash, keeps_meaning


def cells_of(pairs: Sequence[SentencePair]) -> dict[str, str]:
    """Item -> difficulty cell (Po, Pn, No, Nn), for the pairs that have a label."""
    labelled = [p for p in pairs if p.label is not None]
    cells = difficulty(labelled).cells.tolist() if labelled else []
    return {content_hash(pair.id): CELLS[cell] for pair, cell in zip(labelled, cells, strict=True)}


def variants_of(dataset: Dataset, maker: Maker) -> tuple[SentencePair, ...]:
    """Every sentence with each of its variants, written or generated; label 1 where the meaning should be kept."""
    written = (pair for group in dataset.groups for pair in _written(dataset.name, group))
    generated = (
        _pair(dataset.name, group, variant)
        for listing in (list_all(dataset, maker) if any(not g.variants for g in dataset.groups) else ())
        for group, variant in listing.made
        if not group.variants
    )
    return tuple({pair.id: pair for pair in (*written, *generated)}.values())


def _written(name: str, group: Group) -> Iterator[SentencePair]:
    return (_pair(name, group, variant) for variant in group.variants)


def _pair(name: str, group: Group, variant: Variant) -> SentencePair:
    texts = content_hash(group.source, variant.text)
    key = ItemId.of(name, texts, variant.relation, variant.level, variant.generator, 0)
    return SentencePair(
        key, group.source, variant.text, int(keeps_meaning(variant.relation)), group.cluster, group.split
    )


def relations_of(pairs: Sequence[SentencePair]) -> dict[str, str]:
    """Item -> the relation of its variant, as its id names it."""
    return {content_hash(pair.id): ItemId(pair.id).parts.relation for pair in pairs}


def draw(
    pairs: Sequence[SentencePair],
    *,
    n: int,
    seed: int,
    split: str | None = None,
    strata_of: Callable[[Sequence[SentencePair]], dict[str, str]] = cells_of,
) -> list[Line]:
    """At most `n` pairs (of a split) in random order, of each stratum equally many while they last.

    The strata are the cells of difficulty, or `relations_of` for variants.
    """
    rng = random.Random(f"{seed}/annotate")  # noqa: S311 - no secret
    cells = strata_of(pairs)
    eligible = [p for p in pairs if split is None or p.split == split]
    if not eligible:
        raise UsageError(no_pair(split, {p.split for p in pairs}))
    strata: dict[str, list[SentencePair]] = {}
    for pair in eligible:
        strata.setdefault(cells.get(content_hash(pair.id), ""), []).append(pair)
    for name in sorted(strata):
        rng.shuffle(strata[name])
    turns = chain.from_iterable(zip_longest(*(strata[name] for name in sorted(strata))))
    chosen = [pair for pair in turns if pair][:n]
    rng.shuffle(chosen)
    return [Line(content_hash(p.id), p.first, p.second) for p in chosen]
