"""Build the items of a check from a data set and generators. A sentence without a variant is excluded and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.dataset import Dataset
from encheck.datasets.probes import MIRROR, relation_keeping_meaning
from encheck.datasets.senteval import TASKS
from encheck.errors import NothingToMeasure
from encheck.generators.base import (
    EXPERIMENTAL_OPTION,
    NEEDS_OWN_TEXT,
    NEEDS_PROBES,
    BesideGenerator,
    Generator,
    beside,
)
from encheck.generators.phenomenon import MIRRORED, all_phenomena
from encheck.ids import ItemId
from encheck.items.variants import VariantMaker
from encheck.scoring.both_orders import BothOrders
from encheck.scoring.crossed import Crossed, CrossedSide
from encheck.scoring.item import Item, Items
from encheck.scoring.pairs import SentencePair, tuning_pairs
from encheck.scoring.splits import TEST, test_positions
from encheck.scoring.triplets import Triplet, nearer_by_edit_distance
from encheck.statistics.regression import min_texts_for_folds
from encheck.types import Edit, Group, MissingNeed, PublishedVariant, Variant, content_hash

LABELS, PARAPHRASES, UNEDITED_TEXT = "labelled pairs", "paraphrases", "text without written edits"
Builder = Callable[[Dataset, int | str, VariantMaker], Items]


def against_paraphrase(far: Generator) -> Builder:
    """Return a builder of triplets (source, paraphrase, variant), as in criteria 3 and 4."""

    def build_items(dataset: Dataset, level: int | str, maker: VariantMaker) -> Items:
        refuse_without_paraphrase(dataset)
        found = maker.variants(dataset.groups, far, level=int(level))
        return collect_items(
            dataset, (_paraphrase_triplet(dataset, g, v) for g, v in zip(dataset.groups, found, strict=True))
        )

    return build_items


def contrast(near: Generator, far: Generator) -> Builder:
    """Return a builder of triplets (source, near variant, far variant) of one sentence: a controlled contrast.

    The level is the level of the far variant; the near variant has level 1.
    """

    def build_items(dataset: Dataset, level: int | str, maker: VariantMaker) -> Items:
        groups = dataset.groups
        first = maker.variants(groups, near)
        second = maker.variants(groups, far, level=int(level))
        return collect_items(
            dataset, (_contrast_triplet(dataset, *gvw) for gvw in zip(groups, first, second, strict=True))
        )

    return build_items


def noise_contrasts(noise: Generator | Mapping[str, Generator], far: BesideGenerator) -> Builder:
    """Return a builder of triplets (source, noise, noise with a different meaning). The level is that of the noise or
    its kind.
    """

    def build_items(dataset: Dataset, level: int | str, maker: VariantMaker) -> Items:
        groups = dataset.groups
        if groups and all(group.variants for group in groups):
            raise NothingToMeasure(f"{dataset.name} has written edits, but none of them is noise", needs=UNEDITED_TEXT)
        near, at = (noise[str(level)], 1) if isinstance(noise, Mapping) else (noise, int(level))
        both = (maker.variants(groups, generator, level=at) for generator in (near, beside(near, far)))
        return collect_items(dataset, (_contrast_triplet(dataset, *gvw) for gvw in zip(groups, *both, strict=True)))

    return build_items


def edited_pairs(generator: Generator) -> Builder:
    """Return a builder of pairs (source, variant), as in criterion 2."""

    def build_items(dataset: Dataset, level: int | str, maker: VariantMaker) -> Items:
        found = maker.variants(dataset.groups, generator, level=int(level))
        return collect_items(dataset, (_edited_pair(dataset, g, v) for g, v in zip(dataset.groups, found, strict=True)))

    return build_items


def passage_triplets(phenomena: Sequence[str]) -> Builder:
    """Return a builder of triplets in passages: the source, the kept and the changed edit of one phenomenon.

    The level is the number of sentences in the passage. The hash of the sentence chooses one of its phenomena, so all
    phenomena are used about equally. A group without a phenomenon gives its antonym and its synonym.
    """

    def build_items(dataset: Dataset, level: int | str, _maker: VariantMaker) -> Items:
        return collect_items(dataset, (_passage_triplet(dataset, g, phenomena, int(level)) for g in dataset.groups))

    return build_items


def labelled_pairs(dataset: Dataset, _level: int | str, _maker: VariantMaker) -> Items:
    """Return paraphrases and the data's own negatives, as in criterion 1."""
    if dataset.whole:
        return dataset.whole.classification_items()
    return _positives_and_negatives(dataset, [p for p in dataset.pairs if p.label == 0], "label 0")


def paraphrases_and_random_pairs(dataset: Dataset, _level: int | str, maker: VariantMaker) -> Items:
    """Return paraphrases and random cross-topic pairs, as in the alternative setup of criterion 1."""
    negative = dataset.draw_random_pairs(seed=maker.seed, purpose="random-negatives")
    if dataset.whole:
        return dataset.whole.classification_items(negative)
    return _positives_and_negatives(dataset, negative, "random")


def _positives_and_negatives(dataset: Dataset, negative: Sequence[SentencePair], name: str) -> Items:
    positive = [p for p in dataset.pairs if p.label == 1]
    refuse_small_class(dataset.name, {"label 1": len(positive), name: len(negative)})
    return Items((*positive, *negative))


def refuse_small_class(name: str, sizes: Mapping[str, int]) -> None:
    """Raise NothingToMeasure if a class has fewer than two pairs."""
    for kind, size in sizes.items():
        if size < 2:
            raise NothingToMeasure(f"{name} has {size} pairs of {kind}, but both classes need two", needs=LABELS)


def pairs_in_both_orders(dataset: Dataset, _level: int | str, _maker: VariantMaker) -> Items:
    """Return labelled pairs in both orders, for prediction consistency.

    The pairs are those of the test part, or all pairs if the data have no test part. Pairs of identical sentences are
    excluded, since they have only one order. The validation part's pairs are for choosing a threshold.
    """
    if dataset.whole:
        return dataset.whole.both_order_items()
    labelled = [p for p in dataset.pairs if p.label is not None]
    measured = [labelled[i] for i in test_positions([p.split for p in labelled])]
    kept = tuple(
        BothOrders(ItemId(p.id).in_both_orders, p.first, p.second, int(p.label or 0), p.cluster, p.split, p.shares)
        for p in measured
        if p.first != p.second
    )
    refuse_one_label(dataset.name, {item.label for item in kept})
    excluded = {
        "no label": len(dataset.pairs) - len(labelled),
        "not in the test part": len(labelled) - len(measured),
        "identical sentences": len(measured) - len(kept),
    }
    found = {reason: count for reason, count in excluded.items() if count}
    return Items(kept, found, tuning=tuning_pairs(dataset.pairs))


def refuse_one_label(name: str, labels: Set[int]) -> None:
    """Raise NothingToMeasure unless both labels occur."""
    if labels != {0, 1}:
        raise NothingToMeasure(
            f"{name} does not have both labels, so no threshold can separate two classes", needs=LABELS
        )


def graded_pairs(dataset: Dataset, _level: int | str, _maker: VariantMaker) -> Items:
    """Return pairs with a graded similarity, for correlations: the test part if there is one, otherwise all."""
    if dataset.whole:
        return dataset.whole.graded_items()
    graded = [p for p in dataset.pairs if p.score is not None]
    refuse_constant_scores(dataset.name, np.array([p.score for p in graded], np.float64))
    kept = tuple(graded[i] for i in test_positions([p.split for p in graded]))
    excluded = {"no score": len(dataset.pairs) - len(graded), "not in the test part": len(graded) - len(kept)}
    return Items(kept, {reason: count for reason, count in excluded.items() if count})


def refuse_constant_scores(name: str, gold: NDArray[np.float64]) -> None:
    """Raise NothingToMeasure if all human scores are equal."""
    if len(gold) < 2:
        raise NothingToMeasure(
            f"{name} has {len(gold)} pairs with a graded similarity, but a ranking needs two or more",
            needs="graded pairs",
        )
    if gold.min() == gold.max():
        raise NothingToMeasure(f"all {len(gold)} pairs of {name} have the same score, so they have no order")


Outcome = Item | str


def collect_items(dataset: Dataset, outcomes: Iterable[Outcome]) -> Items:
    """Return the items, numbered, and the number of sentences without an item for each reason."""
    kept: list[Item] = []
    excluded: Counter[str] = Counter()
    for outcome in outcomes:
        if isinstance(outcome, str):
            excluded[outcome] += 1
        else:
            kept.append(outcome)
    if not kept:
        reasons = "; ".join(f"{reason}: {count}" for reason, count in excluded.most_common(3)) or "it has no groups"
        needs = {getattr(reason, "needs", "") for reason in excluded} or {"sentences"}
        raise NothingToMeasure(
            f"no sentence of {dataset.name} gives this check something to compare ({reasons})",
            needs=needs.pop() if len(needs) == 1 else "",
        )
    numbered, seen = [], Counter[str]()  # items with the same texts get different ids
    for item in kept:
        numbered.append(replace(item, id=ItemId(item.id).numbered(seen[item.id])))  # type: ignore[type-var]
        seen[item.id] += 1
    return Items(tuple(numbered), dict(excluded))


def refuse_without_paraphrase(dataset: Dataset) -> None:
    """Raise NothingToMeasure, before items are made, if no sentence has a paraphrase."""
    if dataset.groups and all(group.source == group.paraphrase for group in dataset.groups):
        raise NothingToMeasure(f"every paraphrase of {dataset.name} is identical to its sentence", needs=PARAPHRASES)


def _item_id(dataset: Dataset, texts: tuple[str, ...], variant: Variant) -> ItemId:
    return ItemId.of(dataset.name, content_hash(*texts), variant.relation, variant.level, variant.generator)


def _paraphrase_triplet(dataset: Dataset, group: Group, variant: Variant | str) -> Outcome:
    if isinstance(variant, str):
        return variant
    if group.source == group.paraphrase and not isinstance(variant, PublishedVariant):
        return "the paraphrase is identical to the sentence"
    name = _item_id(dataset, (group.source, group.paraphrase), variant)
    edits = next((v.edits for v in group.variants if v.text == group.paraphrase), ())
    return Triplet(
        name, group.source, group.paraphrase, variant.text, group.cluster, edits, variant.edits, group.split,
        far_why=variant.certificate, shares=group.shares,
    )  # fmt: skip


def _contrast_triplet(dataset: Dataset, group: Group, near: Variant | str, far: Variant | str) -> Outcome:
    if (
        isinstance(far, MissingNeed) and far.needs == EXPERIMENTAL_OPTION
    ):  # applies to every sentence, whatever the kept text lacks
        return far
    if isinstance(near, str) or isinstance(far, str):
        return near if isinstance(near, str) else str(far)
    if group.source in (near.text, far.text):
        return "the published recipe changed nothing: there is no contrast"
    if near.text == far.text:
        return "both edits give the same text"
    name = _item_id(dataset, (group.source, near.text), far)
    return Triplet(
        name, group.source, near.text, far.text, group.cluster, near.edits, far.edits, group.split,
        near.certificate, far.certificate, group.shares, group.construction,
    )  # fmt: skip


def _passage_triplet(dataset: Dataset, group: Group, phenomena: Sequence[str], level: int) -> Outcome:
    if group.passage is None:
        return MissingNeed("no passage was written around this sentence", needs=NEEDS_PROBES)
    there = [name for name in phenomena if group.variant(name)] or ["antonym"]
    sides = ((name, group.variant(relation_keeping_meaning(name)), group.variant(name)) for name in there)
    both = [(name, kept, changed) for name, kept, changed in sides if kept and changed]
    if not both:
        return MissingNeed("no edit that keeps the meaning was written for this phenomenon", needs=NEEDS_PROBES)
    name, near, far = both[int(content_hash(group.source), 16) % len(both)]
    source, kept, changed = (
        group.passage.around(text, sentences=level) for text in (group.source, near.text, far.text)
    )
    at = source.index(group.source)
    item = ItemId.of(dataset.name, content_hash(source, kept), name, level, "passage")
    near_edits, far_edits = (tuple(Edit(e.start + at, e.end + at, e.text) for e in v.edits) for v in (near, far))
    return Triplet(item, source, kept, changed, group.cluster, near_edits, far_edits, group.split,
                   shares=group.shares)  # fmt: skip


def _edited_pair(dataset: Dataset, group: Group, variant: Variant | str) -> Outcome:
    if isinstance(variant, str):
        return variant
    name = _item_id(dataset, (group.source,), variant)
    return SentencePair(
        name, group.source, variant.text, None, group.cluster, group.split, variant.edits, why=variant.certificate,
        shares=group.shares,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class OwnProperty:
    """A builder of items for one of the user's own properties, from data of a `kind`, "triplets" or "contrast".

    In a declaration, `name` is "". The check then expands to one check for each property that the data of a run name.
    """

    kind: str
    name: str = ""

    def __call__(self, dataset: Dataset, _level: int | str, _maker: VariantMaker) -> Items:
        """Return the items. Raise NothingToMeasure if the data lack the property."""
        if not dataset.properties.get(self.name):
            raise NothingToMeasure(
                f"{dataset.name} has no data for the property {self.name!r}: see --data={self.kind}:FILE",
                needs=f"{self.kind} of the property",
            )
        return Items(dataset.properties[self.name])


DEVELOPMENT = "validation"


def classified_texts(dataset: Dataset, level: int | str, _maker: VariantMaker) -> Items:
    """Return the texts of the task that the level names.

    They are the test part, with the other texts for training, or all texts in folds. Raise NothingToMeasure if the data
    lack the task, or if a sample leaves a class too small for the folds.
    """
    if level not in dataset.tasks:
        raise NothingToMeasure(
            f"{dataset.name} has no task {level}: see --data=senteval:PATH ({', '.join(TASKS)})",
            needs="" if dataset.tasks else "SentEval's downstream tasks",
        )
    texts = sorted(  # shorter texts first, then by class, like the toolkit: the folds depend on the order
        dataset.tasks[str(level)], key=lambda text: (len(text.first.split()), len(text.second.split()), text.label)
    )
    measured = tuple(text for text in texts if not text.split or text.split in TEST)
    others = tuple(text for text in texts if text.split and text.split not in TEST)

    if any(text.split == DEVELOPMENT for text in others):
        labels = {text.label for text in others if text.split != DEVELOPMENT}
        if len(labels) < 2:
            what = f"texts of the class {', '.join(labels)} alone" if labels else "no text"
            raise NothingToMeasure(f"{level} of {dataset.name} has {what} to learn from: take a larger --sample")
        return Items(measured, tuning=others)

    counts, fewest = Counter(text.label for text in others or measured), min_texts_for_folds(nested=not others)
    label, count = min(counts.items(), key=lambda entry: entry[1])
    if count < fewest or len(counts) < 2:
        raise NothingToMeasure(
            f"{level} of {dataset.name} has {count} texts of the class {label}, but its folds need {fewest} of each of "
            "at least two classes: take a larger --sample"
        )
    return Items(measured, tuning=others)


def crossed(phenomenon: str) -> Builder:
    """Return a builder of crossed groups of one phenomenon (docs/method/probes.md).

    If a text has no written edits, they are generated, provided that there are generators for all three texts.
    """

    def build_items(dataset: Dataset, _level: int | str, maker: VariantMaker) -> Items:
        groups = [group for group in dataset.groups if not group.side]
        return collect_items(
            dataset, (_crossed_item(dataset, g, phenomenon) for g in _generate_missing_edits(groups, phenomenon, maker))
        )

    return build_items


def _generate_missing_edits(groups: Sequence[Group], phenomenon: str, maker: VariantMaker) -> Iterator[Group | str]:
    """Yield each group with its written or generated edits, or the reason why it has none."""
    bare = [group for group in groups if not group.variants]
    if phenomenon not in all_phenomena() or not bare:
        yield from groups
        return
    sides = all_phenomena()[phenomenon].generators
    made = zip(*(maker.variants(bare, sides[side]) for side in MIRRORED), strict=True)
    for group in groups:
        if group.variants:
            yield group
            continue
        outcomes = next(made)
        reasons = [outcome for outcome in outcomes if isinstance(outcome, str)]
        variants = tuple(one for one in outcomes if isinstance(one, Variant))
        yield reasons[0] if reasons else replace(group, variants=variants)


def _crossed_item(dataset: Dataset, group: Group | str, phenomenon: str) -> Outcome:
    """Return the crossed item of a group: one side for the sentence, and one for the second sentence with the roles
    swapped.

    A scorer that uses only the two texts, such as their length or words, wins one side and loses the other. The surface
    distance from the sentences may favour the same text on both sides, unless the sentences look alike. No group is
    left out because of a scorer's result; rival scorers are reported with the figures.
    """
    if isinstance(group, str):
        return group
    near, far = group.variant(relation_keeping_meaning(phenomenon)), group.variant(phenomenon)
    mirror = group.variant(f"{phenomenon}{MIRROR}")
    if near is None or far is None or mirror is None:
        is_in_probes = phenomenon in all_phenomena() and all_phenomena()[phenomenon].in_probes
        needs = NEEDS_PROBES if is_in_probes else NEEDS_OWN_TEXT
        return MissingNeed("no group for both directions was written for this sentence", needs=needs)

    first = CrossedSide(group.source, near.text, far.text, near.edits, far.edits, near.certificate, far.certificate)
    sides = (first, CrossedSide(mirror.text, far.text, near.text))
    if nearer_by_edit_distance(first.source, first.near, first.far) < 0:
        sides = sides[::-1]
    texts = dict.fromkeys((sides[0].source, sides[1].source, sides[0].near, sides[1].near))
    name = ItemId.of(dataset.name, content_hash(*texts), phenomenon, 1, "crossed")
    return Crossed(name, sides, group.cluster, group.split, group.shares, group.construction)
