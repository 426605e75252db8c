"""A model under test with one interface, from texts to similarities and vectors, through the store.

All processes of a run make the same plan, in the same order. The process that gets the locks first encodes the texts.
The others find all vectors in the store. So neither vectors nor figures depend on the number of workers.
"""

from __future__ import annotations

import inspect
import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Self, cast

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.dataset import Dataset
from encheck.encoders.base import is_failure_not_stop
from encheck.encoders.batching import PAIRS_PER_BATCH, allow_mixed_lengths
from encheck.encoders.protocol import (
    Encoder,
    FittedModel,
    Model,
    PairScorer,
    PartialEncoder,
    VerifiedModel,
    check_scores,
    checked_batches,
)
from encheck.encoders.settings import ROLES, EncodingSettings, count_model_tokens
from encheck.errors import EncheckError, EncoderError, UsageError
from encheck.gating.reindex import (
    FIXED_TEXTS,
    KEPT_DIMENSIONS,
    LONG_WORDS,
    MIN_TEXTS,
    DocumentLengths,
    RoleVectors,
    TextLength,
    VectorSample,
    make_long_text,
)
from encheck.options import Settings
from encheck.running.model_under_test import (
    Encoded,
    ModelUnderTest,
    Pair,
    Role,
    RoleVectorsOfRun,
    Texts,
    log_prompts,
    prompt_of,
    store_key_function,
)
from encheck.running.resources import open_store, resolve_models
from encheck.running.scorer import Similarity, pair_similarity_function
from encheck.store import Kind, Store, text_key
from encheck.system.files import Scratch
from encheck.system.lock import Locks, WorkClock, no_locks
from encheck.system.terminal import Progress
from encheck.types import content_hash

Stored = tuple[NDArray[np.float32], NDArray[np.bool_]]  # arrays, and which of them exist


class LockedElsewhere(EncheckError):  # noqa: N818 - not an error: the caller did not want to wait
    """Another process has the lock."""


@contextmanager
def look_up_or_lock(look: Callable[[], Stored], locks: Iterable[AbstractContextManager[object]]) -> Iterator[Stored]:
    """Yield the result of `look`: arrays and which of them exist. If some are missing, hold all locks during the block.

    `look` is called again after each lock, because the previous holder may have computed the missing arrays. If so, no
    further lock is taken. A lock that gives False belongs to another process and raises LockedElsewhere.
    """
    with ExitStack() as stack:
        stored, left = look(), iter(locks)
        while not stored[1].all() and (lock := next(left, None)) is not None:
            if stack.enter_context(lock) is False:
                raise LockedElsewhere
            stored = look()
        yield stored


MOST_BYTES = 20 * 1024  # of all vectors that a baseline keeps, at one byte per number
LONGEST_WORDS = 700  # in a long text; for longer documents, the first length that covers them
LONGEST_STORED = 8  # longest texts of a file of vectors that are compared
PROBES = "probes"

RoleTexts = dict[str, list[str]]  # by `ROLES`


def choose_comparison_texts(
    subject: ModelUnderTest, others: Sequence[VectorSample], documents: Sequence[str]
) -> RoleTexts:
    """Return the texts to encode in each role; empty for a model that scores pairs.

    First come the fixed texts, short and long, then further texts of the run that the `others` have. A role that
    changes no vector is left out. For a model with vectors of some texts only, return texts of the run that it has:
    some short ones, and its longest.
    """
    model = subject.model
    if not isinstance(model, Encoder):
        return {}
    run: RoleTexts = {role: list(subject.roles[cast(Role, role)].rows) for role in ROLES if role in subject.roles}
    run[""] = list(subject.rows)
    if isinstance(model, PartialEncoder):
        stored: RoleTexts = {}
        for role, texts in run.items():
            lacking = set(model.texts_without_vector(texts, role=role or None))
            there = sorted((text for text in texts if text not in lacking), key=content_hash)
            longest = sorted(there, key=lambda text: -len(text.split()))[:LONGEST_STORED]
            if some := list(dict.fromkeys([*there[: len(FIXED_TEXTS)], *longest])):
                stored[role] = some
        return stored
    settings = EncodingSettings.of(model)
    roles = [role for role in ROLES if not role or _changes_vectors(model, settings, role)]
    words = max(LONGEST_WORDS, *(len(text.split()) for text in documents)) if documents else LONGEST_WORDS
    long = [make_long_text(count) for count in LONG_WORDS[: 1 + sum(count < words for count in LONG_WORDS)]]
    width = min(subject.dimension or KEPT_DIMENSIONS, KEPT_DIMENSIONS)
    short = list(FIXED_TEXTS[: max(MIN_TEXTS, MOST_BYTES // (len(roles) * width) - len(long))])
    wanted: RoleTexts = {role: [*short, *long] for role in roles}
    fixed = set(map(content_hash, (*FIXED_TEXTS, *map(make_long_text, LONG_WORDS))))
    for role in ROLES:
        keys = {key for other in others if role in other.roles for key in other.roles[role].keys} - fixed
        if keys and (shared := [text for text in run.get(role, ()) if content_hash(text) in keys]):
            wanted[role] = [*wanted.get(role, ()), *shared]
    return wanted


def _changes_vectors(model: Encoder, settings: EncodingSettings, role: str) -> bool:
    """Return whether a text can have a different vector in this role than without a role."""
    if settings.prompts:
        return settings.has_prompt(role)
    try:
        takes = inspect.signature(model.encode).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(one.name == "role" or one.kind is one.VAR_KEYWORD for one in takes)


def stable_fingerprint(subject: ModelUnderTest) -> str:
    """Return a hash of everything that makes the vectors; "" for a model at an address, which others can change."""
    return "" if isinstance(subject.model, VerifiedModel) else subject.fingerprint


def count_lengths(model: object, texts: Sequence[str], *, role: str = "document") -> list[TextLength]:
    """Return the number of words and tokens of each text."""
    tokens: Sequence[int | None] = count_model_tokens(model, texts, role=role) or [None] * len(texts)
    return [TextLength(len(text.split()), count) for text, count in zip(texts, tokens, strict=True)]


def user_texts_of_run(subject: ModelUnderTest, data: Iterable[Dataset]) -> list[str]:
    """Return the user's texts that are in memory, without the probes.

    If the run searches documents, return only these.
    """
    if "document" in subject.roles:
        return list(subject.roles["document"].rows)
    found: dict[str, None] = {}
    for one in data:
        if one.name.split("-")[0].split("@")[0] != PROBES:
            found |= dict.fromkeys(one.collection.searchable_documents.texts if one.collection else ())
            found |= dict.fromkeys(group.source for group in one.groups)
            found |= dict.fromkeys(text for pair in one.pairs for text in (pair.first, pair.second))
    return list(found)


Floats = NDArray[np.float32]
Compute = Callable[[list[int]], Iterable[tuple[list[int], Floats]]]


class EncoderService:
    """A model under test and the store of its output. Only this class handles a model's output.

    Each call returns a result or raises EncoderError. A run prepares everything first: `prepare`, `encode_repeats` and
    `encode_comparison_texts` leave the results, or the error, in `subject`.
    """

    def __init__(
        self, subject: ModelUnderTest, store: Store, *, progress: Progress | None = None, clock: WorkClock | None = None
    ) -> None:
        self.subject, self.store = subject, store
        self._progress, self._clock, self._fits = progress or Progress(quiet=True), clock or WorkClock(), True

    @classmethod
    def open(
        cls,
        settings: Settings,
        store: Store | None = None,
        *,
        loaded: Mapping[str, Model] = MappingProxyType({}),
        progress: Progress | None = None,
    ) -> Self:
        """Return the service for the one model that the settings name, with their store or a given one.

        `loaded` has the models in memory by their names in the settings. Raise UsageError if the model is unavailable.
        """
        opened = open_store(settings) if store is None else store
        (subject,) = resolve_models(settings, opened, loaded).values()
        return cls(subject, opened, progress=progress)

    def taking_any_text(self) -> Self:
        """Return this service, for repeated calls. Raise UsageError for a model that cannot take new texts."""
        if isinstance(self.model, FittedModel | PartialEncoder):
            raise UsageError(
                f"{self.label} cannot score new texts: it learns from the texts of a run, or has only some vectors"
            )
        return self

    def as_fixture(self) -> Self:
        """Return this service as the fixture `encoder`. Raise UsageError for a model that has to learn from the run's
        texts.
        """
        if isinstance(self.model, FittedModel) and not getattr(self.model, "ready", False):
            raise UsageError(
                f"the fixture `encoder` cannot be {self.label!r}: it learns from the texts of a run, and tests of your "
                "own have none. Remedy: name another model with --encheck-model"
            )
        self._fits = False
        return self

    def __repr__(self) -> str:
        return f"<encoder {self.label!r}>"

    @property
    def label(self) -> str:
        """The name of the model in messages."""
        return self.subject.label

    @property
    def model(self) -> Model:
        """The model itself, without the store, for `encheck.relations`."""
        return self.subject.model

    def similarity(self, first: str, second: str) -> float:
        """Return the similarity of two texts, by the model's own similarity function. Larger means nearer."""
        return float(self.similarities([first], [second])[0])

    def similarities(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """Return the similarity of each pair, shape [n]. Texts that the store lacks are encoded in one call."""
        return self.similarity_function(list(zip(first, second, strict=True)))(first, second)

    def score_pairs(self, pairs: Sequence[Pair]) -> list[float]:
        """Return the similarity of each pair."""
        values: list[float] = self.similarities([a for a, _ in pairs], [b for _, b in pairs]).tolist()
        return values

    def similarity_function(self, pairs: Iterable[Pair]) -> Similarity:
        """Encode what these pairs need, and return a function that gives the similarities of any of them."""
        self._prepare_or_raise(pairs)
        return pair_similarity_function(self.subject)

    def similarity_function_uncached(self, pairs: Iterable[Pair]) -> Similarity:
        """Return the same function, but computed now, without reading or writing the store."""
        with Scratch() as folder, closing(Store(Path(folder) / "store.sqlite")) as thrown_away:
            return type(self)(self.subject, thrown_away, progress=self._progress).similarity_function(pairs)

    def encode(self, texts: Sequence[str], *, role: Role | None = None) -> Floats:
        """Return the vectors of the texts, shape [n, d], in their order. Raise UsageError for a model that scores
        pairs.
        """
        if not isinstance(self.model, Encoder):
            raise UsageError(f"{self.label} scores pairs and gives no vectors: use similarity()")
        if role is None:
            state = self._prepare_or_raise((text, text) for text in texts)
            return state.vectors[[state.rows[text] for text in texts]]
        return self._prepare_or_raise(roles={role: list(dict.fromkeys(texts))}).roles[role].vectors_of(texts)

    def encode_in_roles(self, roles: Texts) -> dict[Role, RoleVectorsOfRun]:
        """Return the vectors of distinct texts in their roles, encoded in one call. An EncoderError names the model."""
        try:
            state = self._prepare_or_raise(roles=roles)
        except EncoderError as error:
            raise EncoderError(f"{self.label}: {error}") from error
        return {role: state.roles[role] for role in roles}

    def encode_again(
        self, texts: Sequence[str], *, role: Role | None = None, locks: Locks = no_locks, nth: int = 1
    ) -> Floats:
        """Return vectors, or self-scores of shape [n, 1], computed with the longest texts first, in the `nth` such
        pass.

        The store keeps them under a separate fingerprint, so that a warm run loads no model.
        """
        model, kind, fingerprint = (
            self.model,
            self.subject.kind,
            f"{self.subject.store_fingerprint}/again{nth if nth > 1 else ''}",
        )
        keys = self._store_keys(texts, role)
        with look_up_or_lock(partial(self.store.get, kind, fingerprint, keys), locks(model)) as (arrays, there):
            if there.all():
                return arrays
            order = np.argsort([-len(text) for text in texts], kind="stable")
            sorted_texts = [texts[i] for i in order]
            with allow_mixed_lengths():
                if isinstance(model, Encoder):
                    # in halves, so that a function that pads pads the shorter half less
                    batches = list(checked_batches(model, sorted_texts, role=role, batch_size=(len(texts) + 1) // 2))
                    arrays = np.zeros((len(texts), batches[0][1].shape[1]), np.float32)
                    for positions, some in batches:
                        arrays[order[positions]] = some
                else:
                    assert isinstance(model, PairScorer)
                    pairs = [(text, text) for text in sorted_texts]
                    scores = check_scores(model.score_pairs(sorted_texts, sorted_texts), pairs)
                    arrays = np.zeros((len(texts), 1), np.float32)
                    arrays[order, 0] = scores
            computed = self.store.round_as_stored(kind, arrays)
            if isinstance(model, VerifiedModel):
                model.verify_fingerprint()
            self.store.put(kind, fingerprint, keys, computed, name=f"{self.label}, again")
        return computed

    def encode_repeats(self, texts: Sequence[str], locks: Locks) -> None:
        """Encode these texts again, in a different batch, for a determinism check."""
        with self._record_error("when texts were encoded again"):
            for nth, vectors in enumerate(self.subject.state.again, 1):
                vectors.update(zip(texts, self.encode_again(texts, locks=locks, nth=nth), strict=True))

    def encode_comparison_texts(
        self, others: Sequence[VectorSample], documents: Sequence[str], locks: Locks, progress: Progress
    ) -> None:
        """Encode the texts on which this model's vectors are compared with other models'. Skip it if the model failed.

        `documents` are the user's; they are counted, not encoded.
        """
        subject, model, roles = self.subject, self.model, dict[str, RoleVectors]()
        texts = {} if subject.error else choose_comparison_texts(subject, others, documents)
        if not texts or not isinstance(model, Encoder):
            return
        with self._record_error("when texts were compared"):
            for name, some in texts.items():
                role = cast(Role | None, name or None)
                roles[name] = RoleVectors(
                    tuple(map(content_hash, some)), self._encode_texts(some, role, locks, progress)
                )
        if subject.error:
            return
        for name in ROLES:  # a role without effect has the vectors of texts without a role
            if name not in roles and "" in roles and not isinstance(model, PartialEncoder):
                roles[name] = roles[""]
        every = list(dict.fromkeys(text for some in texts.values() for text in some))
        lengths = dict(zip(map(content_hash, every), count_lengths(model, every), strict=True))
        settings, dimension = EncodingSettings.of(model), next(iter(roles.values())).vectors.shape[1]
        in_order = {name: roles[name] for name in ROLES if name in roles}
        subject.state.sample = VectorSample(
            settings, model.similarity, dimension, lengths, in_order, stable_fingerprint(subject)
        )
        subject.state.documents = DocumentLengths.of(count_lengths(model, documents)) if documents else None

    def prepare(
        self,
        pairs: Iterable[Pair],
        roles: Texts,
        *,
        locks: Locks = no_locks,
        progress: Progress | None = None,
        fit: bool = True,
    ) -> None:
        """Get the scores of these pairs, and the vectors of texts in roles, from the store or by computing them.

        A model that scores pairs only learns from texts in roles. A model that learns from the texts of the run does so
        first, unless `fit` is false. If another process has a lock that does not wait, nothing is encoded.
        """
        distinct, progress, start = list(dict.fromkeys(pairs)), progress or self._progress, self._clock.now()
        try:
            with self._record_error("while encoding", passing=(EncheckError,)):
                if fit and isinstance(self.model, FittedModel):
                    self.model.fit(list(dict.fromkeys(itertools.chain(*distinct, *roles.values()))))
                if self.subject.kind == "vector":
                    texts, state = list(dict.fromkeys(itertools.chain(*distinct))), self.subject.state
                    state.vectors = self._encode_texts(texts, None, locks, progress)
                    state.rows = {text: i for i, text in enumerate(texts)}
                    for role, some in roles.items():
                        vectors, rows = (
                            self._encode_texts(some, role, locks, progress),
                            {t: i for i, t in enumerate(some)},
                        )
                        state.roles[role] = RoleVectorsOfRun(rows, vectors, prompt_of(self.model, role))
                    if roles:
                        log_prompts(self.model, self.label)
                else:
                    self._score_pairs(distinct, locks, progress)
        except LockedElsewhere:
            pass
        except EncoderError as error:
            self.subject.state.error = error
        self.subject.state.seconds += self._clock.now() - start

    def _prepare_or_raise(self, pairs: Iterable[Pair] = (), roles: Texts | None = None) -> Encoded:
        """Return the model's output, and clear the error of an earlier call."""
        self.subject.state.error = None
        self.prepare(pairs, roles or {}, fit=self._fits)
        if self.subject.error:
            raise self.subject.error
        return self.subject.state

    @contextmanager
    def _record_error(self, when: str, *, passing: tuple[type[Exception], ...] = ()) -> Iterator[None]:
        """End the block if the model fails, and store the error in `subject`."""
        try:
            yield
        except passing:
            raise
        except BaseException as error:
            if not is_failure_not_stop(error):
                raise
            self.subject.state.error = EncoderError(f"{type(error).__name__} {when}: {error}")
            self.subject.state.error.__cause__ = error

    def _score_pairs(self, pairs: list[Pair], locks: Locks, progress: Progress) -> None:
        def score(missing: list[int]) -> Iterable[tuple[list[int], Floats]]:
            assert isinstance(self.model, PairScorer)
            for start in range(0, len(missing), PAIRS_PER_BATCH):
                some = missing[start : start + PAIRS_PER_BATCH]
                batch = [pairs[i] for i in some]
                first, second = zip(*batch, strict=True)
                scores = check_scores(self.model.score_pairs(first, second), batch)
                progress.advance(len(some))
                yield some, scores[:, None].astype(np.float32)

        scores = self._through_store([text_key(*p) for p in pairs], score, locks, progress)
        values = scores.ravel().astype(float).tolist()  # no column without a pair
        self.subject.state.scored = dict(zip(pairs, values, strict=True))

    def _encode_texts(self, texts: Sequence[str], role: Role | None, locks: Locks, progress: Progress) -> Floats:
        def encode(missing: list[int]) -> Iterable[tuple[list[int], Floats]]:
            assert isinstance(self.model, Encoder)
            for positions, vectors in checked_batches(self.model, [texts[i] for i in missing], role=role):
                progress.advance(len(positions))
                yield [missing[i] for i in positions], vectors

        return self._through_store(self._store_keys(texts, role), encode, locks, progress)

    def _store_keys(self, texts: Iterable[str], role: Role | None) -> list[bytes]:
        return list(map(text_key if role is None else store_key_function(self.model, role), texts))

    def _through_store(self, keys: list[bytes], compute: Compute, locks: Locks, progress: Progress) -> Floats:
        """Return the array of each key from the store. Compute and store missing arrays batch by batch."""
        kind, fingerprint, model = self.subject.kind, self.subject.store_fingerprint, self.model
        with look_up_or_lock(partial(self.store.get, kind, fingerprint, keys), locks(model)) as (arrays, there):
            if there.all():
                self.store.mark_as_used(kind, fingerprint)
                return arrays
            missing = [int(i) for i in np.flatnonzero(~there)]
            verify = model.verify_fingerprint if isinstance(model, VerifiedModel) else None
            saver = BatchSaver(self.store, kind, fingerprint, self.label, verify=verify)
            try:
                with progress.task(f"encoding with {self.label}", len(missing)), saver.flushing_at_end():
                    for positions, fresh in compute(missing):
                        computed = self.store.round_as_stored(kind, fresh)
                        if not arrays.shape[1]:
                            arrays = np.zeros((len(keys), computed.shape[1]), np.float32)
                        if computed.shape[1] != arrays.shape[1]:
                            raise EncoderError(
                                f"encode() gave vectors of {computed.shape[1]} dimensions, but the store has some of "
                                f"{arrays.shape[1]} from a model with the same fingerprint {fingerprint!r}. A changed "
                                "model needs another fingerprint"
                            )
                        arrays[positions] = computed
                        saver.add([keys[i] for i in positions], computed)
            finally:
                self.subject.state.encoded += saver.kept
        return arrays


class BatchSaver:
    """Writes batches to the store about once a second: a crash loses little, and writing takes little time.

    With `verify`, a batch waits until a later call of `verify` raised no error. Slow calls take at most one twentieth
    of the time.
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
    def flushing_at_end(self) -> Iterator[None]:
        """Store the remaining batches at the end, also after an error.

        With `verify`, discard the batches after its last successful call. The error reports the number.
        """
        try:
            yield
            if self._verify:
                self.flush()
        except EncoderError as error:
            if self._verify is None:
                raise
            what, lost = self._what, len(self._keys)
            raise EncoderError(
                f"{error}. Discarded: {lost} {what} that came after the last successful check of the model, and all "
                f"requests in progress. Saved in this pass: {self.kept} {what} that were checked"
            ) from error
        finally:
            if self._verify is None:
                self.flush()

    def add(self, keys: list[bytes], arrays: NDArray[np.float32]) -> None:
        """Add a batch."""
        self._keys += keys
        self._arrays.append(arrays)
        if time.monotonic() - self._saved > self._pause:
            self.flush()

    def flush(self) -> None:
        """Store the added batches."""
        if self._keys:
            if self._verify:
                start = time.monotonic()
                self._verify()
                self._pause = max(1.0, 20 * (time.monotonic() - start))
            self._put(self._keys, np.concatenate(self._arrays))
            self.kept += len(self._keys)
        self._keys, self._arrays, self._saved = [], [], time.monotonic()
