"""What thresholds are chosen on: labelled pairs of the validation part, none of which is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from encheck.scoring.measure import Measure
from encheck.scoring.pairs import SentencePair
from encheck.scoring.scale import Floats, Scale


@dataclass(frozen=True)
class Learned:
    """Scores of the validation part's labelled pairs, with their labels (1 paraphrase, 0 none); shape [n] each."""

    values: Floats
    labels: NDArray[np.int8]

    @classmethod
    def of(cls, pairs: Sequence[SentencePair], by: Measure) -> Learned | None:
        """The scores of these pairs; None if they have not both labels, so that no threshold can be chosen."""
        labels = np.array([p.label for p in pairs], float)
        if {0, 1} - set(labels.tolist()):
            return None
        return cls(by.pairs([p.first for p in pairs], [p.second for p in pairs]), labels.astype(np.int8))

    def on(self, scale: Scale) -> Learned:
        """The same on the scale where 0 is a random pair and 1 is identical text."""
        return Learned(scale.similarity(self.values), self.labels)
