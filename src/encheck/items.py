"""From a data set and a generator to the items of a check. A sentence without a variant is left out and counted."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.base import Dataset
from encheck.errors import NothingToMeasure
from encheck.types import Group, Item, Items, SentencePair, Triplet, Turned, Variant, content_hash

Builder = Callable[[Dataset, int | str, int], Items]


class Generator(Protocol):
    """Makes a variant of a group's sentence, or None where it cannot."""

    __name__: str

    def __call__(self, group: Group, *, level: int, rng: random.Random) -> Variant | None:
        """See the package docstring of generators."""
        ...


def against_paraphrase(far: Generator) -> Builder:
    """Triplets (source, paraphrase, variant): criteria 3 and 4."""

    def build(dataset: Dataset, level: int | str, seed: int) -> Items:
        return _collect(dataset, lambda group: _against(dataset, group, far, int(level), seed))

    return build


def contrast(near: Generator, far: Generator) -> Builder:
    """Triplets (source, near variant, far variant) of one sentence: a controlled contrast.

    The level is the far variant's; the near one is of level 1.
    """

    def build(dataset: Dataset, level: int | str, seed: int) -> Items:
        return _collect(dataset, lambda group: _contrast(dataset, group, near, far, int(level), seed))

    return build


def edited(generator: Generator) -> Builder:
    """Pairs (source, variant): criterion 2."""

    def build(dataset: Dataset, level: int | str, seed: int) -> Items:
        return _collect(dataset, lambda group: _edited(dataset, group, generator, int(level), seed))

    return build


def labelled_pairs(dataset: Dataset, _level: int | str, _seed: int) -> Items:
    """Paraphrases, and the data's own negatives: criterion 1."""
    return _two_classes(dataset, [p for p in dataset.pairs if p.label == 0], "label 0")


def against_random_pairs(dataset: Dataset, _level: int | str, seed: int) -> Items:
    """Paraphrases, and random cross-topic pairs: criterion 1, alternative set-up."""
    return _two_classes(dataset, dataset.reference(seed=seed, purpose="random-negatives"), "random")


def _two_classes(dataset: Dataset, negative: Sequence[SentencePair], name: str) -> Items:
    positive = [p for p in dataset.pairs if p.label == 1]
    for kind, found in (("label 1", positive), (name, negative)):
        if len(found) < 2:
            raise NothingToMeasure(f"{dataset.name} has {len(found)} pairs of {kind}: two classes are compared")
    return Items((*positive, *negative))


def turned_pairs(dataset: Dataset, _level: int | str, _seed: int) -> Items:
    """Labelled pairs in both orders: prediction consistency. Identical sentences have one order and are left out."""
    labelled = [p for p in dataset.pairs if p.label is not None]
    kept = tuple(
        Turned(f"{p.id}/turned", p.first, p.second, int(p.label or 0), p.cluster, p.split)
        for p in labelled
        if p.first != p.second
    )
    if {item.label for item in kept} != {0, 1}:
        raise NothingToMeasure(f"{dataset.name} has not both labels: no threshold tells two classes apart")
    left_out = {"no label": len(dataset.pairs) - len(labelled), "identical sentences": len(labelled) - len(kept)}
    return Items(kept, {reason: count for reason, count in left_out.items() if count})


def graded_pairs(dataset: Dataset, _level: int | str, _seed: int) -> Items:
    """Pairs with a graded similarity, of the test part where there is one: correlations."""
    graded = [p for p in dataset.pairs if p.score is not None]
    if len(graded) < 2:
        raise NothingToMeasure(
            f"{dataset.name} has {len(graded)} pairs with a graded similarity: two or more are ranked"
        )
    kept = tuple(graded[i] for i in measured_part(graded))
    left_out = {"no score": len(dataset.pairs) - len(graded), "not of the test part": len(graded) - len(kept)}
    return Items(kept, {reason: count for reason, count in left_out.items() if count})


VALIDATION, TEST = {"validation", "dev"}, {"test", "gate"}  # dev and gate are the probes' own


def measured_part(pairs: Sequence[SentencePair]) -> NDArray[np.intp]:
    """Positions of the test split's pairs; of all of them where the data name none."""
    test = np.flatnonzero([p.split in TEST for p in pairs])
    return test if len(test) else np.arange(len(pairs))


def validation_part(pairs: Sequence[SentencePair]) -> NDArray[np.intp]:
    """Positions of the validation split's pairs."""
    return np.flatnonzero([p.split in VALIDATION for p in pairs])


def variant_of(group: Group, generator: Generator, *, level: int, seed: int) -> Variant | None:
    """The variant, its randomness seeded from (seed, generator, group): other groups change nothing."""
    rng = random.Random(f"{seed}/{generator.__name__}/{group.id}")  # noqa: S311 - no secret
    return generator(group, level=level, rng=rng)


Outcome = Item | str


def _collect(dataset: Dataset, make: Callable[[Group], Outcome]) -> Items:
    outcomes = [make(group) for group in dataset.groups]
    kept = tuple(_numbered(o for o in outcomes if not isinstance(o, str)))
    if not kept:
        raise NothingToMeasure(f"no sentence of {dataset.name} has what this check compares")
    return Items(kept, dict(Counter(o for o in outcomes if isinstance(o, str))))


def _numbered(items: Iterable[Item]) -> Iterable[Item]:
    """Give items whose texts are the same numbers of their own."""
    import dataclasses

    seen: Counter[str] = Counter()
    for item in items:
        yield dataclasses.replace(item, id=f"{item.id}/{seen[item.id]}")
        seen[item.id] += 1


def _id(dataset: Dataset, texts: tuple[str, ...], variant: Variant) -> str:
    return f"{dataset.name}/{content_hash(*texts)}/{variant.relation}/{variant.level}/{variant.generator}"


def _against(dataset: Dataset, group: Group, generator: Generator, level: int, seed: int) -> Outcome:
    if group.source == group.paraphrase:
        return "the paraphrase equals the sentence"
    variant = variant_of(group, generator, level=level, seed=seed)
    if variant is None:
        return f"no {generator.__name__} of {level} word(s)"
    name = _id(dataset, (group.source, group.paraphrase), variant)
    edits = next((v.edits for v in group.variants if v.text == group.paraphrase), ())
    return Triplet(name, group.source, group.paraphrase, variant.text, group.cluster, edits, variant.edits)


def _contrast(dataset: Dataset, group: Group, near: Generator, far: Generator, level: int, seed: int) -> Outcome:
    first = variant_of(group, near, level=1, seed=seed)
    second = variant_of(group, far, level=level, seed=seed)
    if first is None or second is None:
        return f"no {(near if first is None else far).__name__}"
    name = _id(dataset, (group.source, first.text), second)
    return Triplet(name, group.source, first.text, second.text, group.cluster, first.edits, second.edits)


def _edited(dataset: Dataset, group: Group, generator: Generator, level: int, seed: int) -> Outcome:
    variant = variant_of(group, generator, level=level, seed=seed)
    if variant is None:
        return f"no {generator.__name__} of {level} word(s)"
    name = _id(dataset, (group.source,), variant)
    return SentencePair(name, group.source, variant.text, None, group.cluster, group.split, variant.edits)
