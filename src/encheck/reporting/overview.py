"""What `encheck data` says of labelled pairs: gathered from a data set, or from columns in which no pair is made."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.dataset import Dataset, pair_fingerprint, pair_id
from encheck.datasets.load import InColumns
from encheck.datasets.pair_table import number_of_clusters
from encheck.scoring.pairs import SentencePair
from encheck.types import content_hash

Labels = list[int | None]


@dataclass(frozen=True)
class Overview:
    """Counts of a data set of pairs, and some of its pairs.

    `scores` has every graded similarity. `drawn` has, by label, the pairs whose words are compared; `is_drawn` says
    whether they are a part of all.
    """

    name: str
    rows: int
    skipped: int
    labels: Mapping[str, int]
    scores: NDArray[np.float64]
    splits: Mapping[str, int]
    paraphrases: int
    clusters: int
    licence: str
    fingerprint: str
    drawn: Mapping[str, list[SentencePair]]
    is_drawn: bool
    samples: list[SentencePair]
    contrasts: int = 0
    written: Mapping[str, int] = field(default_factory=dict)
    version: str = ""


def of_dataset(dataset: Dataset, *, most: int, samples: int, seed: int) -> Overview:
    """The overview of a loaded data set, with at most `most` pairs drawn of a label."""
    places = _Places([pair.label for pair in dataset.pairs], most, samples, seed)
    return Overview(
        dataset.name,
        dataset.rows,
        len(dataset.skipped),
        dataset.labels,
        np.array([p.score for p in dataset.pairs if p.score is not None], np.float64),
        Counter(p.split or "-" for p in dataset.pairs),
        sum(not g.is_contrast for g in dataset.groups),
        len(dataset.universe),
        dataset.licence,
        dataset.fingerprint,
        {name: [dataset.pairs[at] for at in chosen] for name, chosen in places.drawn.items()},
        places.is_drawn,
        [dataset.pairs[at] for at in places.samples],
        contrasts=sum(g.is_contrast for g in dataset.groups),
        written=dataset.written,
        version=dataset.version,
    )


def of_columns(found: InColumns, *, most: int, samples: int, seed: int) -> Overview:
    """The overview of the same pairs, `sample=None`, in columns: only those that are shown or compared are made."""
    held, links = found.pairs.held, found.pairs.links
    labels: Labels = []
    scores = [np.empty(0, np.float64)]
    for _, batch in held.batches():
        labels += batch.column("label").to_pylist()
        scores.append(batch.column("score").drop_null().to_numpy())
    places = _Places(labels, most, samples, seed)
    made = _Made(found, {*places.samples, *(at for some in places.drawn.values() for at in some)})
    counted = dict(sorted(Counter(map(str, labels)).items()))
    return Overview(
        found.name,
        held.rows,
        len(found.skipped),
        counted,
        np.concatenate(scores),
        {"-": held.rows},
        counted.get("1", 0),
        number_of_clusters(held, links),
        found.licence,
        made.fingerprint,
        {name: [made.pairs[at] for at in chosen] for name, chosen in places.drawn.items()},
        places.is_drawn,
        [made.pairs[at] for at in places.samples],
    )


class _Places:
    """The rows of the pairs that are drawn: some of each label, and some to show."""

    def __init__(self, labels: Labels, most: int, samples: int, seed: int) -> None:
        by_label = {f"label {label}": _places_of(labels, label) for label in (1, 0)}
        whole = {name: places for name, places in by_label.items() if len(places)} or {"all": np.arange(len(labels))}
        self.is_drawn = any(len(places) > most for places in whole.values())
        self.drawn = {name: _drawn(places, most, seed) for name, places in whole.items()}
        rng = random.Random(seed)  # noqa: S311 - no secret
        self.samples = rng.sample(range(len(labels)), min(samples, len(labels)))


def _places_of(labels: Labels, label: int) -> NDArray[np.int64]:
    return np.flatnonzero(np.fromiter((one == label for one in labels), np.bool_, len(labels)))


def _drawn(places: NDArray[np.int64], most: int, seed: int) -> list[int]:
    if len(places) <= most:
        return list(map(int, places))
    return [int(places[at]) for at in random.Random(seed).sample(range(len(places)), most)]  # noqa: S311 - no secret


class _Made:
    """The pairs of the `wanted` rows, and the fingerprint of all."""

    def __init__(self, found: InColumns, wanted: set[int]) -> None:
        self.pairs: dict[int, SentencePair] = {}
        digest, start = hashlib.sha256(), 0
        for parts in self._parts(found, wanted):
            digest.update(("\x00" * (start > 0) + "\x00".join(parts)).encode("utf-8", "surrogatepass"))
            start += len(parts)
        self.fingerprint = digest.hexdigest()[:16]

    def _parts(self, found: InColumns, wanted: set[int]) -> Iterator[list[str]]:
        """What the fingerprint has of each pair, some pairs at a time."""
        seen: Counter[str] = Counter()
        for start, batch in found.pairs.held.batches():
            may_repeat = found.pairs.links.may_repeat[start : start + batch.num_rows].tolist()
            columns: Iterable[tuple[str, str, int | None, float | None]] = zip(
                *(batch.column(name).to_pylist() for name in ("first", "second", "label", "score")), strict=True
            )
            parts = []
            for at, (first, second, label, score) in enumerate(columns, start):
                key = content_hash(first, second)
                item = pair_id(found.name, key, seen[key] if may_repeat[at - start] else 0)
                if may_repeat[at - start]:
                    seen[key] += 1
                parts.append(pair_fingerprint(item, label, score))
                if at in wanted:
                    self.pairs[at] = SentencePair(item, first, second, label, "", score=score)
            yield parts
