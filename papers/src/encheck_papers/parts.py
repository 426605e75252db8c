"""The training, development and test part of labelled pairs.

The data's own parts are used. A missing part is held out from the training part: a fifth for the test part, a tenth for
the development part. Whole clusters are held out, chosen by a hash of their names, so the same pairs are measured with
every seed. For data without a training part, training uses the validation part, less that tenth.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from encheck.datasets.dataset import Dataset
from encheck.errors import DataError, UsageError, unknown_name_message
from encheck.scoring.pairs import SentencePair
from encheck.scoring.splits import TEST, VALIDATION
from encheck.types import content_hash

TRAINING = "train"
TEST_SHARE, DEV_SHARE = 0.2, 0.1
Pairs = tuple[SentencePair, ...]


@dataclass(frozen=True)
class Parts:
    """Labelled pairs to train on, to choose a checkpoint by, and to measure; `told` says where each part comes from."""

    name: str
    train: Pairs
    dev: Pairs
    test: Pairs
    told: Mapping[str, str] = field(default_factory=dict)

    @property
    def sizes(self) -> dict[str, int]:
        """The number of pairs in each part."""
        return {"train": len(self.train), "dev": len(self.dev), "test": len(self.test)}

    @property
    def fingerprint(self) -> str:
        """A fingerprint that changes if a pair in any part changes."""
        every = (self.train, self.dev, self.test)
        return content_hash(*(f"{i}/{p.first}/{p.second}/{p.label}" for i, part in enumerate(every) for p in part))

    def sampled(self, count: int, *, seed: int) -> Self:
        """The parts with this many training pairs, drawn at random by the seed; unchanged if there are no more."""
        if count < 1:
            raise UsageError(f"{count} training pairs were asked for, but there should be at least 1")
        if count >= len(self.train):
            return self
        chosen = sorted(random.Random(f"{seed}/training").sample(range(len(self.train)), count))  # noqa: S311
        told = {**self.told, "train": f"{self.told.get('train', '')}, {count:,} of {len(self.train):,} pairs"}
        found = replace(self, train=tuple(self.train[i] for i in chosen), told=told)
        _refuse_one_class(self.name, {"train": found.train})
        return found


def parts_of(data: Dataset) -> Parts:
    """The parts of a data set of labelled pairs; DataError if a part would be empty or have only one class."""
    pairs = tuple(pair for pair in data.pairs if pair.label is not None)
    train, told = _training(data.name, pairs)
    dev = tuple(p for p in pairs if p.split in VALIDATION) if told != "validation" else ()
    found = {"train": train, "dev": dev, "test": tuple(p for p in pairs if p.split in TEST)}
    said = {"train": told, "dev": "validation", "test": "test"}
    for part, share in (("test", TEST_SHARE), ("dev", DEV_SHARE)):
        if not found[part]:
            whole = said["train"]
            found["train"], found[part] = held_out(found["train"], share)
            said |= {part: f"{share:.0%} of {whole}", "train": f"the rest of {told}"}
    _refuse_empty(data.name, found)
    _refuse_one_class(data.name, found)
    return Parts(data.name, found["train"], found["dev"], found["test"], said)


def joined(parts: Sequence[Parts], *, dev: str | None = None) -> Parts:
    """Parts of several data sets, for training on all of them; the development part is that of `dev`, by name, else of
    the first.

    UsageError for an unknown name.
    """
    named = {one.name: one for one in parts}
    chosen = parts[0].name if dev is None else dev
    if chosen not in named:
        raise UsageError(unknown_name_message("data set", chosen, named))
    if len(parts) == 1:
        return parts[0]
    told = {part: "; ".join(f"{one.name}: {one.told[part]}" for one in parts) for part in ("train", "test")}
    train, test = (tuple(p for one in parts for p in getattr(one, part)) for part in ("train", "test"))
    dev_told = f"{chosen}: {named[chosen].told['dev']}"
    return Parts("+".join(named), train, named[chosen].dev, test, {**told, "dev": dev_told})


def _training(name: str, pairs: Pairs) -> tuple[Pairs, str]:
    """The pairs to train on, and the name of their split; DataError if the data have only a test part."""
    splits = {pair.split for pair in pairs}
    if TRAINING in splits or "" in splits:
        kept = tuple(p for p in pairs if p.split in (TRAINING, ""))
        return kept, "train" if TRAINING in splits else "all pairs"
    if splits & VALIDATION:
        return tuple(p for p in pairs if p.split in VALIDATION), "validation"
    found = ", ".join(sorted(splits)) or "none"
    raise DataError(f"{name} has no labelled pairs to train on: its parts are {found}, but should have train or dev")


def held_out(pairs: Pairs, share: float) -> tuple[Pairs, Pairs]:
    """(the rest, at least this share of the pairs), by whole clusters in the order of their names' hashes.

    All pairs of a single cluster stay together: then one side is empty.
    """
    sizes: dict[str, int] = {}
    for pair in pairs:
        sizes[pair.cluster] = sizes.get(pair.cluster, 0) + 1
    chosen: set[str] = set()
    left = share * len(pairs)
    for cluster in sorted(sizes, key=content_hash):
        if left <= 0:
            break
        if len(sizes) > 1 and sizes[cluster] <= max(left * 2, 1):  # a giant cluster would exceed the share
            chosen.add(cluster)
            left -= sizes[cluster]
    return tuple(p for p in pairs if p.cluster not in chosen), tuple(p for p in pairs if p.cluster in chosen)


def _refuse_empty(name: str, parts: Mapping[str, Sequence[SentencePair]]) -> None:
    for part, pairs in parts.items():
        if not pairs:
            raise DataError(
                f"{name}: the {part} part is empty. Remedy: data with more clusters, or with a {part} part of their own"
            )


def _refuse_one_class(name: str, parts: Mapping[str, Iterable[SentencePair]]) -> None:
    for part, pairs in parts.items():
        if len(labels := {pair.label for pair in pairs}) < 2:
            raise DataError(
                f"{name}: the {part} part has pairs of label {', '.join(map(str, labels))} alone, but a classifier "
                "needs two. Remedy: more pairs"
            )
