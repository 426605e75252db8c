"""Encode what a run needs and the store lacks; the only owner of a model's output.

All processes of a run make the same plan, in the same order. Whoever gets the locks first encodes it; the others
find everything in the store. So vectors, and all that is computed from them, do not depend on the number of
workers.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.failing import is_failure
from encheck.encoders.protocol import Encoder, Fitted, PairScorer, Partial, Verified, batches_of, check_scores
from encheck.encoders.settings import ROLES, EncodingSettings
from encheck.errors import EncheckError, EncoderError
from encheck.gating.reindex import DocumentLengths, RoleVectors, VectorSample
from encheck.running.comparable import lengths_of, stable_fingerprint, texts_to_compare
from encheck.running.looking import Busy, looking
from encheck.running.repeating import again
from encheck.running.roles import Role, Texts, key_of, prompt_of, tell_prompts
from encheck.running.subject import InRole, Pair, Subject
from encheck.store import Kind, Store, text_key
from encheck.system.lock import Locks, no_locks
from encheck.system.progress import Progress
from encheck.system.waiting import WorkClock
from encheck.types import content_hash

Floats = NDArray[np.float32]
Compute = Callable[[list[int], Progress], Iterable[tuple[list[int], Floats]]]
PAIRS_PER_BATCH = 1_024


class Encoding:
    """Has the models of a run encode, one after the other; `seconds` is the time of work that it took."""

    def __init__(self, subjects: Mapping[str, Subject], store: Store, *, clock: WorkClock | None = None) -> None:
        self.subjects, self.store, self.seconds = subjects, store, 0.0
        self._clock = clock or WorkClock()

    def repeat(self, subject: Subject, texts: Sequence[str], locks: Locks) -> None:
        """Encode these texts again, in another batch, for a check of determinism."""
        how: Any = {"store": self.store, "kind": subject.kind, "name": subject.label, "locks": locks}
        try:
            computed = again(subject.model, texts, fingerprint=f"{subject.fingerprint}/again", **how)
            subject.state.again.update(zip(texts, computed, strict=True))
        except BaseException as error:
            if not is_failure(error):
                raise
            subject.state.error = EncoderError(f"{type(error).__name__} when texts were encoded again: {error}")
            subject.state.error.__cause__ = error

    def compare(
        self,
        subject: Subject,
        others: Sequence[VectorSample],
        documents: Sequence[str],
        locks: Locks,
        progress: Progress,
    ) -> None:
        """Encode the texts by which this model's vectors are compared with those of others; nothing if it failed.

        `documents` are the user's, which are counted and not encoded.
        """
        texts = {} if subject.error else texts_to_compare(subject, others, documents)
        if not texts or not isinstance(subject.model, Encoder):
            return
        model, roles = subject.model, {}
        try:
            for name, some in texts.items():
                role = cast(Role | None, name or None)
                keys = list(map(key_of(model, role) if role else text_key, some))
                vectors = self._through_store(subject, keys, _encoder_of(subject, some, role), locks, progress)
                roles[name] = RoleVectors(tuple(map(content_hash, some)), vectors)
        except BaseException as error:
            if not is_failure(error):
                raise
            subject.state.error = EncoderError(f"{type(error).__name__} when texts were compared: {error}")
            subject.state.error.__cause__ = error
            return
        for name in ROLES:  # a role that changes nothing has the vectors of texts without one
            if name not in roles and "" in roles and not isinstance(model, Partial):
                roles[name] = roles[""]
        every = list(dict.fromkeys(text for some in texts.values() for text in some))
        lengths = dict(zip(map(content_hash, every), lengths_of(model, every), strict=True))
        settings, dimension = EncodingSettings.of(model), next(iter(roles.values())).vectors.shape[1]
        in_order = {name: roles[name] for name in ROLES if name in roles}
        subject.state.sample = VectorSample(
            settings, model.similarity, dimension, lengths, in_order, stable_fingerprint(subject)
        )
        subject.state.documents = DocumentLengths.of(lengths_of(model, documents)) if documents else None

    def encode(
        self,
        wanted: Mapping[str, Iterable[Pair]],
        *,
        roles: Mapping[str, Texts] | None = None,
        locks: Locks = no_locks,
        progress: Progress,
        fit: bool = True,
    ) -> None:
        """Have the scores of these pairs, a model's label -> pairs, from the store or by computing them.

        `roles` has the texts that are encoded in a role, a model's label -> role -> texts; of a model that scores pairs
        it only learns from them.
        A model that learns from the texts of the run does so first, unless `fit` is false. Where one of the locks is
        another's, and does not wait for it, nothing is encoded with that model.
        """
        start = self._clock.now()
        for name, pairs in wanted.items():
            texts = (roles or {}).get(name, {})
            self._prepare(self.subjects[name], list(dict.fromkeys(pairs)), texts, locks, progress, fit=fit)
        self.seconds += self._clock.now() - start

    def _prepare(
        self, subject: Subject, pairs: list[Pair], roles: Texts, locks: Locks, progress: Progress, *, fit: bool
    ) -> None:
        fill = self._fill_vectors if subject.kind == "vector" else self._fill_pairs
        start = self._clock.now()
        try:
            if fit and isinstance(subject.model, Fitted):
                texts = itertools.chain(*pairs, *roles.values())
                subject.model.fit(list(dict.fromkeys(texts)))
            fill(subject, pairs, locks, progress)
            if subject.kind == "vector":
                self._fill_roles(subject, roles, locks, progress)
        except Busy:
            pass
        except EncoderError as error:
            subject.state.error = error
        except EncheckError:
            raise
        except BaseException as error:
            if not is_failure(error):
                raise
            subject.state.error = EncoderError(f"{type(error).__name__} while encoding: {error}")
            subject.state.error.__cause__ = error
        subject.state.seconds += self._clock.now() - start

    def _fill_vectors(self, subject: Subject, pairs: list[Pair], locks: Locks, progress: Progress) -> None:
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        keys, encode = [text_key(t) for t in texts], _encoder_of(subject, texts, None)
        subject.state.vectors = self._through_store(subject, keys, encode, locks, progress)
        subject.state.rows = {text: i for i, text in enumerate(texts)}

    def _fill_roles(self, subject: Subject, roles: Texts, locks: Locks, progress: Progress) -> None:
        for role, texts in roles.items():
            keys, encode = list(map(key_of(subject.model, role), texts)), _encoder_of(subject, texts, role)
            vectors = self._through_store(subject, keys, encode, locks, progress)
            rows = {text: i for i, text in enumerate(texts)}
            subject.state.roles[role] = InRole(rows, vectors, prompt_of(subject.model, role))
        if roles:
            tell_prompts(subject.model, subject.label)

    def _fill_pairs(self, subject: Subject, pairs: list[Pair], locks: Locks, progress: Progress) -> None:
        def score(missing: list[int], progress: Progress) -> Iterable[tuple[list[int], NDArray[np.float32]]]:
            assert isinstance(subject.model, PairScorer)
            for start in range(0, len(missing), PAIRS_PER_BATCH):
                some = missing[start : start + PAIRS_PER_BATCH]
                asked = [pairs[i] for i in some]
                first, second = zip(*asked, strict=True)
                scores = check_scores(subject.model.score_pairs(first, second), asked)
                progress.advance(len(some))
                yield some, scores[:, None].astype(np.float32)

        scores = self._through_store(subject, [text_key(*p) for p in pairs], score, locks, progress)
        values = scores.ravel().astype(float).tolist()  # no column where no pair
        subject.state.scored = dict(zip(pairs, values, strict=True))

    def _through_store(
        self, subject: Subject, keys: list[bytes], compute: Compute, locks: Locks, progress: Progress
    ) -> Floats:
        """The array of each key: from the store where it is there, else computed and kept, batch by batch."""
        kind, fingerprint = subject.kind, subject.fingerprint
        look = partial(self.store.get, kind, fingerprint, keys)
        with looking(look, locks(subject.model)) as (arrays, there):
            if there.all():
                self.store.touch(kind, fingerprint)
                return arrays
            missing = [int(i) for i in np.flatnonzero(~there)]
            with progress.task(f"encoding with {subject.label}", len(missing)):
                return self._kept(subject, keys, compute(missing, progress), arrays)

    def _kept(
        self, subject: Subject, keys: list[bytes], batches: Iterable[tuple[list[int], Floats]], arrays: Floats
    ) -> Floats:
        """The arrays with what is computed, which the store keeps."""
        fingerprint, model = subject.fingerprint, subject.model
        verify = model.verify_fingerprint if isinstance(model, Verified) else None
        saver = Saver(self.store, subject.kind, fingerprint, subject.label, verify=verify)
        try:
            with saver.keeping():
                for positions, fresh in batches:
                    computed = self.store.as_kept(subject.kind, fresh)
                    if not arrays.shape[1]:
                        arrays = np.zeros((len(keys), computed.shape[1]), np.float32)
                    _same_width(computed, arrays, fingerprint)
                    arrays[positions] = computed
                    saver.add([keys[i] for i in positions], computed)
        finally:
            subject.state.encoded += saver.kept
        return arrays


def _encoder_of(subject: Subject, texts: Sequence[str], role: Role | None) -> Compute:
    """What computes the vectors of those of the texts that the store lacks."""

    def encode(missing: list[int], progress: Progress) -> Iterable[tuple[list[int], Floats]]:
        assert isinstance(subject.model, Encoder)
        for positions, vectors in batches_of(subject.model, [texts[i] for i in missing], role=role):
            progress.advance(len(positions))
            yield [missing[i] for i in positions], vectors

    return encode


def _same_width(computed: NDArray[np.float32], kept: NDArray[np.float32], fingerprint: str) -> None:
    if computed.shape[1] != kept.shape[1]:
        raise EncoderError(
            f"encode() gave vectors of {computed.shape[1]} dimensions, but the store has some of {kept.shape[1]} from "
            f"a model with the same fingerprint {fingerprint!r}; a changed model should have another"
        )


class Saver:
    """Hands batches to the store about once a second, so that little is lost and little time is spent.

    With `verify` a batch waits until that was called after it came, and raised nothing. Where calls are slow they take
    at most one part in twenty of the time.
    """

    def __init__(
        self, store: Store, kind: Kind, fingerprint: str, name: str, *, verify: Callable[[], None] | None = None
    ) -> None:
        self._put: Callable[[list[bytes], NDArray[np.float32]], None] = partial(store.put, kind, fingerprint, name=name)
        self._verify, self._what = verify, "vectors" if kind == "vector" else "scores"
        self._keys: list[bytes] = []
        self._arrays: list[NDArray[np.float32]] = []
        self._saved, self._pause = time.monotonic(), 1.0
        self.kept = 0

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Keep the rest at the end, after an error too; but nothing that `verify` did not follow: the error says so."""
        try:
            yield
            if self._verify:
                self.flush()
        except EncoderError as error:
            if self._verify is None:
                raise
            raise EncoderError(f"{error}. {self._lost()}") from error
        finally:
            if self._verify is None:
                self.flush()

    def add(self, keys: list[bytes], arrays: NDArray[np.float32]) -> None:
        """Take a batch."""
        self._keys += keys
        self._arrays.append(arrays)
        if time.monotonic() - self._saved > self._pause:
            self.flush()

    def flush(self) -> None:
        """Keep what was taken."""
        if self._keys:
            self._check()
            self._put(self._keys, np.concatenate(self._arrays))
            self.kept += len(self._keys)
        self._keys, self._arrays, self._saved = [], [], time.monotonic()

    def _check(self) -> None:
        if self._verify:
            start = time.monotonic()
            self._verify()
            self._pause = max(1.0, 20 * (time.monotonic() - start))

    def _lost(self) -> str:
        what, lost = self._what, len(self._keys)
        return (
            f"Discarded: {lost} {what} that came after the last good check of the model, and all requests in "
            f"progress. Kept in this pass: {self.kept} {what}, checked after they came"
        )
