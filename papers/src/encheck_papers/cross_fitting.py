"""Logits of a discriminator of machine-written sentences for every text, by folds that keep clusters whole.

    found = cross_fitted(human, machine, Discriminator("roberta-base").fit)
    weights = human_probability(found.machine, temperature=0.5)

`human` and `machine` are `Sentences`: texts with their clusters. A machine-made text has the cluster of the sentence
that it was made from. `cross_fitted` never scores a text with a discriminator that was trained on it, its cluster, or
the same text elsewhere. `on_own_training_data` scores the discriminator's training texts, as the authors of RISE
(COLING 2022) do, so its weights also reflect memorised texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from encheck.errors import UsageError
from encheck.scoring.splits import assign_folds
from encheck_papers.reweighting import HUMAN

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Scorer = Callable[[Sequence[str]], Floats]  # texts -> logits, shape [n, 2], the second class being human
FOLDS = 5


@dataclass(frozen=True)
class Sentences:
    """Texts and the cluster of each; UsageError if their numbers differ."""

    texts: tuple[str, ...]
    clusters: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.texts) != len(self.clusters):
            raise UsageError(f"{len(self.texts)} texts have {len(self.clusters)} clusters, but each should have one")

    def part(self, chosen: Booleans) -> Sentences:
        """The chosen sentences; `chosen` has shape [n]."""
        return Sentences(
            tuple(text for text, stays in zip(self.texts, chosen, strict=True) if stays),
            tuple(name for name, stays in zip(self.clusters, chosen, strict=True) if stays),
        )

    def without(self, texts: Sequence[str]) -> Sentences:
        """The sentences without these texts."""
        gone = set(texts)
        return self.part(np.array([text not in gone for text in self.texts], bool))


Fit = Callable[[Sentences, Sentences], Scorer]  # human and machine-made sentences -> a scorer


@dataclass(frozen=True)
class Logits:
    """Logits of the human and the machine-made texts, shapes [n, 2] and [m, 2]; 0 folds mean its own training data."""

    human: Floats
    machine: Floats
    folds: int

    @property
    def auc(self) -> float:
        """How often a human text looks more human than a machine-made text; a tie counts as one half.

        0.5 is chance: weights from such a discriminator are noise.
        """
        from scipy.stats import rankdata

        human, machine = (side[:, HUMAN] - side[:, 1 - HUMAN] for side in (self.human, self.machine))
        above = rankdata(np.concatenate([human, machine]))[: len(human)].sum() - len(human) * (len(human) + 1) / 2
        return float(above / (len(human) * len(machine)))


def cross_fitted(human: Sentences, machine: Sentences, fit: Fit, *, folds: int | Mapping[str, int] = FOLDS) -> Logits:
    """Logits of every text by a discriminator of the other folds; a cluster stays in one fold.

    `folds` is their number, or the fold of each cluster: with a fold for each kind of machine-made text, no kind is
    scored by a discriminator that saw it. UsageError for a class without text, for fewer than two folds or fewer
    clusters than folds, and for a cluster without a fold.
    """
    _refuse_one_class(human, machine)
    fold, split = _folds([*human.clusters, *machine.clusters], folds), len(human.texts)
    found = np.zeros((len(fold), 2))
    for k in np.unique(fold):
        inside = fold == k
        scored = [*human.part(inside[:split]).texts, *machine.part(inside[split:]).texts]
        seen = (human.part(~inside[:split]).without(scored), machine.part(~inside[split:]).without(scored))
        found[inside] = _scores(fit, *seen, scored)
    return Logits(found[:split], found[split:], len(np.unique(fold)))


def _folds(clusters: Sequence[str], folds: int | Mapping[str, int]) -> NDArray[np.intp]:
    """The fold of each text."""
    if not isinstance(folds, int):
        if missing := sorted(set(clusters) - set(folds)):
            raise UsageError(f"the cluster {missing[0]!r} (and {len(missing) - 1} more) has no fold")
        found = np.array([folds[name] for name in clusters], np.intp)
        if len(np.unique(found)) < 2:
            raise UsageError("all clusters are in one fold: nothing is left to learn from")
        return found
    if not 2 <= folds <= len(set(clusters)):
        raise UsageError(f"folds is {folds}, but should be from 2 to {len(set(clusters))}, the number of clusters")
    return assign_folds(clusters, folds=folds)


def on_own_training_data(human: Sentences, machine: Sentences, fit: Fit) -> Logits:
    """Logits of every text by one discriminator that is trained on all of them, as the authors do."""
    _refuse_one_class(human, machine)
    found = _scores(fit, human, machine, [*human.texts, *machine.texts])
    return Logits(found[: len(human.texts)], found[len(human.texts) :], 0)


def _scores(fit: Fit, human: Sentences, machine: Sentences, texts: Sequence[str]) -> Floats:
    """A discriminator's logits for the texts; it is not trained on machine-made texts that also occur as human texts.

    UsageError if a class has no text left.
    """
    machine = machine.without(human.texts)
    _refuse_one_class(human, machine)
    found = np.asarray(fit(human, machine)(texts), float)
    if found.shape != (len(texts), 2):
        raise UsageError(f"the discriminator gave logits of shape {found.shape}, but should give [{len(texts)}, 2]")
    return found


def _refuse_one_class(human: Sentences, machine: Sentences) -> None:
    if not human.texts or not machine.texts:
        raise UsageError(
            f"a discriminator has {len(human.texts)} human and {len(machine.texts)} machine-made sentences to learn "
            "from, but needs both. Machine-made sentences that are in the human text as well do not count"
        )
