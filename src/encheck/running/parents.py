"""The parent of a model under test, measured from stored vectors without loading it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from encheck.encoders.files import hash_weights
from encheck.encoders.load import find_base_model, load_model
from encheck.encoders.model_config import Device
from encheck.encoders.models_file import known_models
from encheck.errors import EncheckError, NothingToMeasure
from encheck.options import Settings
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.scorer import Scorer
from encheck.scoring.item import Items
from encheck.scoring.scale import Scale
from encheck.scoring.scores import Scores
from encheck.store import Store, text_key


@dataclass(frozen=True)
class ParentScales:
    """A parent, the file that names it, and its calibration on each data set on which it was measured."""

    label: str
    named_by: str
    weights: str | None
    scales: Mapping[str, Scale]


@dataclass(frozen=True)
class ParentModel:
    """A parent, and the file that names it. `scorer` is None if the store lacks vectors of texts of the run."""

    label: str
    named_by: str
    weights: str | None
    scorer: Scorer | None = None

    def scores(self, data: str, items: Items) -> Scores | None:
        """Return the similarities of these items, or None if they are searches, or not measured."""
        try:
            return self.scorer.score_without_surface(self.label, data, items) if self.scorer else None
        except NothingToMeasure:
            return None

    def with_scales(self, data: Iterable[str]) -> ParentScales:
        """Return the parent with its calibration on each data set on which it was measured."""
        scales = {name: self.scorer.scale(self.label, name) for name in data} if self.scorer else {}
        return ParentScales(
            self.label, self.named_by, self.weights, {name: scale for name, scale in scales.items() if scale}
        )


def find_parent(subject: ModelUnderTest, settings: Settings, store: Store, scorer: Scorer) -> ParentModel | None:
    """Return the parent of a model that consists of files, or None if it is missing or cannot be read."""
    folder = getattr(subject.model, "source", None)
    if subject.kind != "vector" or subject.error or not isinstance(folder, Path) or not folder.is_dir():
        return None
    found = find_base_model(folder, known_models(settings.models_file))
    if found is None:
        return None
    label, config, file = found
    try:
        model = load_model(config, device=Device(settings.device, settings.dtype), file_hash=store.cached_file_hash)
        parent = ModelUnderTest(label, config, model)
        weights = hash_weights(model, store.cached_file_hash)
        is_there = parent.kind == "vector" and _load_vectors_from_store(parent, subject, store)
    except EncheckError:
        return None
    return ParentModel(label, file, weights, scorer.for_models({label: parent}) if is_there else None)


def _load_vectors_from_store(parent: ModelUnderTest, child: ModelUnderTest, store: Store) -> bool:
    """Give `parent` its vectors from the store. Return whether the store has them for all the child's texts."""
    texts = list(child.rows)
    keys = list(map(text_key, texts))
    for some in (keys[:1], keys):
        vectors, there = store.get("vector", parent.store_fingerprint, some)
        if not there.all() or not some:
            return False
    parent.state.vectors, parent.state.rows = np.asarray(vectors), {text: i for i, text in enumerate(texts)}
    return True
