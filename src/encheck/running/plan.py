"""What the models of a run have to compute for the requests of its checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from encheck.encoders.protocol import PartialEncoder
from encheck.running.roles import Texts, key_of
from encheck.running.subject import Pair, Subject
from encheck.store import Store, text_key

Asked = dict[bytes, tuple[str, ...]]


@dataclass(frozen=True)
class Plan:
    """By a model's label: the pairs to score, and the texts to encode in a role."""

    pairs: dict[str, list[Pair]] = field(default_factory=dict)
    roles: dict[str, Texts] = field(default_factory=dict)

    def asked(self, subject: Subject) -> Asked:
        """What this model computes, each once: its key in the store -> its text, or the two texts of a pair."""
        return dict(self._asked(subject))

    def _asked(self, subject: Subject) -> Iterator[tuple[bytes, tuple[str, ...]]]:
        pairs = dict.fromkeys(self.pairs.get(subject.label, []))
        if subject.kind == "pair":
            yield from ((text_key(*pair), pair) for pair in pairs)
            return
        yield from ((text_key(text), (text,)) for text in dict.fromkeys(text for pair in pairs for text in pair))
        for role, texts in self.roles.get(subject.label, {}).items():
            key = key_of(subject.model, role)
            yield from ((key(text), (text,)) for text in texts)


def missing(subject: Subject, asked: Asked, store: Store) -> Asked:
    """The part of `asked` that the store lacks; nothing of a model that computes nothing."""
    if isinstance(subject.model, PartialEncoder):
        return {}
    keys = list(asked)
    _, there = store.get(subject.kind, subject.fingerprint, keys)
    return {keys[i]: asked[keys[i]] for i in np.flatnonzero(~there)}
