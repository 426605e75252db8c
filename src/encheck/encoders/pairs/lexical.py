"""Surface scorers as models: what a model should beat before anyone says that it understands meaning.

The formulas are in `encheck.surface`. Document frequencies are counted in the run's own texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from encheck.encoders.model_config import ModelConfig
from encheck.encoders.pairs.model import Floats, Pair, PairModel
from encheck.surface import SURFACE, WEIGHTED, Frequencies
from encheck.types import content_hash

if TYPE_CHECKING:
    from encheck.encoders.load import Device


class LexicalScorer(PairModel):
    """Scores pairs by what they share on the surface; `weighting` is one of SHARED or WEIGHTED."""

    engine = "lexical-1"

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        self.weighting: str = config.options.get("weighting", "jaccard")
        self._corpus = ""
        self._frequencies = Frequencies.of(())

    @property
    def ready(self) -> bool:
        """Whether it needs no texts to learn from."""
        return self.weighting in SURFACE

    @property
    def learns(self) -> bool:
        """Whether its scores depend on what it is fitted on."""
        return not self.ready

    def fit(self, texts: Sequence[str]) -> None:
        """Count document frequencies in these texts."""
        if self.weighting in WEIGHTED:
            self._corpus = content_hash(*sorted(set(texts))) if texts else ""
            self._frequencies = Frequencies.of(texts)
            self.changed()

    def how(self) -> list[str]:
        """The weighting, and the texts that were counted."""
        return [self.weighting, *filter(None, [self._corpus])]

    def compute(self, pairs: Sequence[Pair]) -> Floats:
        """Pair by pair."""
        first, second = map(list, zip(*pairs, strict=True))
        if self.weighting in SURFACE:
            return SURFACE[self.weighting](first, second)
        return WEIGHTED[self.weighting](first, second, self._frequencies)
