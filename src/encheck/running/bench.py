"""The run: checks have declared their items; the bench encodes what the store lacks, then hands out scores.

All processes of a run make the same plan, in the same order. Whoever gets the lock first encodes it; the others
find everything in the store. So vectors, and all that is computed from them, do not depend on the number of
workers.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.claims import Claim
from encheck.datasets.base import Dataset
from encheck.encoders.protocol import Encoder, Fitted, Model, PairScorer, Verified, batches_of, check_scores
from encheck.errors import CheckError, EncheckError, EncoderError, NothingToMeasure
from encheck.items.variants import Maker
from encheck.running.repeating import again
from encheck.running.scorer import Scorer
from encheck.running.subject import Pair, Subject
from encheck.scoring.scores import Scale, Scores
from encheck.store import Kind, Store, text_key
from encheck.system.progress import Progress
from encheck.types import Item, Items, Repeated, SentencePair

log = logging.getLogger("encheck")
Lock = Callable[[], AbstractContextManager[object]]
Request = tuple[str, str, Claim, int | str]  # model, data, claim, level
PAIRS_PER_BATCH = 1_024


class Bench:
    """Models, data and store of one run."""

    def __init__(self, subjects: dict[str, Subject], data: dict[str, Dataset], store: Store, *, maker: Maker) -> None:
        self.subjects, self.data, self.store, self.maker = subjects, data, store, maker
        self.seed = maker.seed
        self._items: dict[tuple[str, object, int | str], Items | NothingToMeasure | CheckError] = {}
        self.scorer = Scorer(subjects, data, seed=maker.seed)
        self.seconds: dict[str, float] = {"generate": 0.0, "encode": 0.0, "measure": 0.0}

    def items(self, data: str, claim: Claim, level: int | str) -> Items:
        """What a claim measures on; made once. NothingToMeasure where there is none, CheckError where it breaks."""
        key = (data, claim.items, level)
        if key not in self._items:
            start = time.perf_counter()
            try:
                self._items[key] = _built(claim, self.data[data], level, self.maker)
            except (NothingToMeasure, CheckError) as error:
                self._items[key] = error
            self.seconds["generate"] += time.perf_counter() - start
        found = self._items[key]
        if not isinstance(found, Items):
            raise found
        return found

    def found(self, data: str, claim: Claim, level: int | str) -> Items | None:
        """What `items` gave, or None where it gave nothing or was not asked."""
        found = self._items.get((data, claim.items, level))
        return found if isinstance(found, Items) else None

    def reference(self, data: str) -> tuple[SentencePair, ...]:
        """The random pairs that calibrate on this data."""
        return self.scorer.reference(data)

    def prepare(self, requests: Iterable[Request], *, lock: Lock, progress: Progress) -> None:
        """Encode what the requests need and the store lacks, one model after the other."""
        requests = list(requests)
        wanted: dict[str, list[Pair]] = {}
        for model, data, claim, level in requests:
            if self.subjects[model].error:
                continue
            with suppress(NothingToMeasure, CheckError):  # said again when the check asks for its scores
                kept = self.items(data, claim, level).kept
                wanted.setdefault(model, []).extend(pair for item in kept for pair in item.pairs)
                wanted[model] += [pair for item in self.reference(data) for pair in item.pairs]
                wanted[model] += [(text, text) for text in self.scorer.identical(data)]
        self.encode(wanted, lock=lock, progress=progress)
        self._repeat(requests, lock)

    def _repeat(self, requests: Iterable[Request], lock: Lock) -> None:
        """Encode again what a check of determinism asks for."""
        for model, data, claim, level in requests:
            found, subject = self.found(data, claim, level), self.subjects[model]
            texts = [i.text for i in found.kept if isinstance(i, Repeated)] if found else []
            if texts and not subject.error:
                try:
                    how: Any = {"store": self.store, "kind": subject.kind, "name": subject.label, "lock": lock}
                    fingerprint = f"{subject.fingerprint}/again"
                    computed = again(subject.model, texts, fingerprint=fingerprint, **how)
                    subject.again.update(zip(texts, computed, strict=True))
                except Exception as error:
                    subject.error = EncoderError(f"{type(error).__name__} when texts were encoded again: {error}")
                    subject.error.__cause__ = error

    def try_out(self, requests: Iterable[Request], *, lock: Lock, progress: Progress) -> None:
        """Encode one pair with each model, before anything is generated: does it load, and give numbers?

        It is a pair that the run needs anyway. A model that can compute nothing before it has learned from all texts of
        the run is left out.
        """
        first = {model: data for model, data, _, _ in requests}
        tried = {m: self.reference(d)[:1] for m, d in first.items() if _computes(self.subjects[m].model)}
        self.encode(
            {model: [pair for item in some for pair in item.pairs] for model, some in tried.items()},
            lock=lock,
            progress=progress,
            fit=False,
        )

    def refuse_failed(self, model: str) -> None:
        """Raise what went wrong with this model, if anything did."""
        if error := self.subjects[model].error:
            raise error

    def encode(
        self, wanted: Mapping[str, Iterable[Pair]], *, lock: Lock = nullcontext, progress: Progress, fit: bool = True
    ) -> None:
        """Have the scores of these pairs, a model's label -> pairs, from the store or by computing them.

        A model that learns from the texts of the run does so first, unless `fit` is false.
        """
        start = time.perf_counter()
        for name, pairs in wanted.items():
            self._prepare(self.subjects[name], list(dict.fromkeys(pairs)), lock, progress, fit=fit)
        self.seconds["encode"] += time.perf_counter() - start

    def _prepare(self, subject: Subject, pairs: list[Pair], lock: Lock, progress: Progress, *, fit: bool) -> None:
        fill = self._fill_vectors if subject.kind == "vector" else self._fill_pairs
        start = time.perf_counter()
        try:
            if fit and isinstance(subject.model, Fitted):
                subject.model.fit(list(dict.fromkeys(text for pair in pairs for text in pair)))
            fill(subject, pairs, lock, progress)
        except EncoderError as error:
            subject.error = error
        except EncheckError:
            raise
        except Exception as error:
            subject.error = EncoderError(f"{type(error).__name__} while encoding: {error}")
            subject.error.__cause__ = error
        subject.seconds += time.perf_counter() - start

    def _fill_vectors(self, subject: Subject, pairs: list[Pair], lock: Lock, progress: Progress) -> None:
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        keys = [text_key(t) for t in texts]

        def encode(missing: list[int], progress: Progress) -> Iterable[tuple[list[int], NDArray[np.float32]]]:
            assert isinstance(subject.model, Encoder)
            for positions, vectors in batches_of(subject.model, [texts[i] for i in missing]):
                progress.advance(len(positions))
                yield [missing[i] for i in positions], vectors

        subject.vectors = self._through_store(subject, keys, encode, lock, progress)
        subject.rows = {text: i for i, text in enumerate(texts)}

    def _fill_pairs(self, subject: Subject, pairs: list[Pair], lock: Lock, progress: Progress) -> None:
        def score(missing: list[int], progress: Progress) -> Iterable[tuple[list[int], NDArray[np.float32]]]:
            assert isinstance(subject.model, PairScorer)
            for start in range(0, len(missing), PAIRS_PER_BATCH):
                some = missing[start : start + PAIRS_PER_BATCH]
                asked = [pairs[i] for i in some]
                first, second = zip(*asked, strict=True)
                scores = check_scores(subject.model.score_pairs(first, second), asked)
                progress.advance(len(some))
                yield some, scores[:, None].astype(np.float32)

        scores = self._through_store(subject, [text_key(*p) for p in pairs], score, lock, progress)
        subject.scored = dict(zip(pairs, scores.ravel().astype(float).tolist(), strict=True))  # no column where no pair

    def _through_store(
        self,
        subject: Subject,
        keys: list[bytes],
        compute: Callable[[list[int], Progress], Iterable[tuple[list[int], NDArray[np.float32]]]],
        lock: Lock,
        progress: Progress,
    ) -> NDArray[np.float32]:
        """The array of each key: from the store where it is there, else computed and kept, batch by batch."""
        kind, fingerprint, name = subject.kind, subject.fingerprint, subject.label
        arrays, there = self.store.get(kind, fingerprint, keys)
        if there.all():
            self.store.touch(kind, fingerprint)
            return arrays
        with lock():
            arrays, there = self.store.get(kind, fingerprint, keys)
            missing = [int(i) for i in np.flatnonzero(~there)]
            with progress.task(f"encoding with {name}", len(missing)):
                verify = subject.model.verify_fingerprint if isinstance(subject.model, Verified) else None
                saver = Saver(self.store, kind, fingerprint, name, verify=verify)
                try:
                    with saver.keeping():
                        for positions, computed in compute(missing, progress):
                            if not arrays.shape[1]:
                                arrays = np.zeros((len(keys), computed.shape[1]), np.float32)
                            _same_width(computed, arrays, fingerprint)
                            arrays[positions] = computed
                            saver.add([keys[i] for i in positions], computed)
                finally:
                    subject.encoded += saver.kept
        return arrays

    def scores(self, model: str, data: str, items: Items) -> Scores:
        """The similarities of these items under this model, with word overlap beside them."""
        self.refuse_failed(model)
        return self.scorer.scores(model, data, items)

    def scale(self, model: str, data: str) -> Scale | None:
        """The calibration of a model on a data set, once something was measured there."""
        return self.scorer.scale(model, data)


def _built(claim: Claim, data: Dataset, level: int | str, maker: Maker) -> Items:
    """What the claim's builder gives; CheckError where it breaks or gives something else."""
    place = f"{getattr(claim.items, '__qualname__', claim.items)!s}(dataset, level={level!r}, maker)"
    try:
        found = claim.items(data, level, maker)
    except EncheckError:
        raise
    except Exception as error:
        raise CheckError(f"{place}, which should build the items of the check, raised {error!r}") from error
    if not isinstance(found, Items) or not all(isinstance(item, Item) for item in found.kept):
        raise CheckError(f"{place} gave {str(found)[:80]!r}, but should give encheck.types.Items of items")
    if not found.kept:
        raise NothingToMeasure(f"{place} gave no item of {data.name}")
    return found


def _computes(model: Model) -> bool:
    """Whether a model can compute before it has seen the texts of the run."""
    return not isinstance(model, Fitted) or bool(getattr(model, "ready", False))


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
            f"Thrown away: {lost} {what} that came after the last good check of the model, and the requests under way. "
            f"Kept in this pass: {self.kept} {what}, checked after they came"
        )
