"""The session of a run, which computes scores from the items that checks declare.

The session makes the items and has their texts encoded.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from encheck.claims import Claim
from encheck.datasets.dataset import Dataset
from encheck.encoders.protocol import FittedModel, PartialEncoder
from encheck.errors import CheckError, EncheckError, EncoderError, NothingToMeasure
from encheck.gating.reindex import VectorSample
from encheck.items.variants import VariantMaker
from encheck.running.model_under_test import ModelUnderTest, Pair, Texts, store_key_function, texts_by_role
from encheck.running.scorer import Scorer
from encheck.running.service import EncoderService, user_texts_of_run
from encheck.scoring.item import Item, Items, ItemsScoredInParts
from encheck.scoring.pairs import SentencePair
from encheck.scoring.scores import ENTRY_POINTS, Scale, Scores, find_kind
from encheck.scoring.vector_search import ListCounts
from encheck.store import Store, text_key
from encheck.system.lock import Locks, WorkClock, no_locks
from encheck.system.memory import rare_collection
from encheck.system.terminal import Progress

StoreNeeds = dict[bytes, tuple[str, ...]]  # key in the store -> a text, or the two texts of a pair


@dataclass(frozen=True)
class EncodingPlan:
    """What to encode, by a model's label: the pairs to score, and the texts to encode in a role."""

    pairs: dict[str, list[Pair]] = field(default_factory=dict)
    roles: dict[str, Texts] = field(default_factory=dict)

    def needs(self, subject: ModelUnderTest) -> StoreNeeds:
        """Return the texts or pairs that this model computes, by their key in the store, without repeats."""
        pairs = dict.fromkeys(self.pairs.get(subject.label, []))
        if subject.kind == "pair":
            return {text_key(*pair): pair for pair in pairs}
        needs: StoreNeeds = {text_key(text): (text,) for text in dict.fromkeys(text for pair in pairs for text in pair)}
        for role, texts in self.roles.get(subject.label, {}).items():
            key = store_key_function(subject.model, role)
            needs |= {key(text): (text,) for text in texts}
        return needs


def missing_from_store(subject: ModelUnderTest, needs: StoreNeeds, store: Store) -> StoreNeeds:
    """Return the part of `needs` that the store lacks; empty for a model that computes nothing."""
    if isinstance(subject.model, PartialEncoder):
        return {}
    keys = list(needs)
    _, there = store.get(subject.kind, subject.store_fingerprint, keys)
    return {keys[i]: needs[keys[i]] for i in np.flatnonzero(~there)}


Request = tuple[str, str, Claim, int | str]  # model, data, claim, level


class ScoringSession:
    """Models, data and store of one run. `clock` measures its times.

    Documents are searched with an `index`, or exactly if it is None. Without `calibrates`, no random pairs are encoded.
    That suffices for rates but gives no calibrated scale. `items` has finished items by data, builder and level.
    """

    def __init__(
        self,
        subjects: dict[str, ModelUnderTest],
        data: dict[str, Dataset],
        store: Store,
        *,
        maker: VariantMaker,
        clock: WorkClock | None = None,
        index: ListCounts | None = None,
        calibrates: bool = True,
        items: Mapping[tuple[str, object, int | str], Items] = MappingProxyType({}),
    ) -> None:
        self.subjects, self.data, self.store, self.maker = subjects, data, store, maker
        self.seed = maker.seed
        self._items: dict[tuple[str, object, int | str], Items | NothingToMeasure | CheckError] = dict(items)
        self.scorer = Scorer(subjects, data, seed=maker.seed, index=index, calibrates=calibrates)
        self.clock = clock or WorkClock()
        self.services = {label: EncoderService(one, store, clock=self.clock) for label, one in subjects.items()}
        self._generating = self._encoding = 0.0

    def with_models(self, subjects: dict[str, ModelUnderTest], store: Store) -> ScoringSession:
        """Return a session for other models and their store, with this session's items, draws and random pairs."""
        other = copy.copy(self)
        other.subjects, other.store = subjects, store
        other.scorer = self.scorer.for_models(subjects)
        other.services = {label: EncoderService(one, store, clock=self.clock) for label, one in subjects.items()}
        return other

    def items(self, data: str, claim: Claim, level: int | str) -> Items:
        """Return a claim's items, which are made only once.

        Raise NothingToMeasure if there are none, and CheckError if making them fails.
        """
        key = (data, claim.items, level)
        if key not in self._items:
            start = self.clock.now()
            try:
                with rare_collection():
                    self._items[key] = _build_items(claim, self.data[data], level, self.maker)
            except (NothingToMeasure, CheckError) as error:
                self._items[key] = error
            self._generating += self.clock.now() - start
        items = self._items[key]
        if not isinstance(items, Items):
            raise items
        return items

    def cached_items(self, data: str, claim: Claim, level: int | str) -> Items | None:
        """Return the items that `items` made, or None if it made none or was not called."""
        items = self._items.get((data, claim.items, level))
        return items if isinstance(items, Items) else None

    def random_pairs(self, data: str) -> tuple[SentencePair, ...]:
        """Return the random pairs that calibrate scores on this data."""
        return self.scorer.random_pairs(data)

    def prepare(self, requests: Iterable[Request], *, locks: Locks, progress: Progress) -> None:
        """Encode what the requests need and the store lacks, one model after the other.

        Then score items that are not in memory, and encode again the texts that a determinism check repeats.
        """
        requests = list(requests)
        plan = self.plan_encoding(requests)
        self.encode(plan.pairs, roles=plan.roles, locks=locks, progress=progress)
        wholes: dict[tuple[str, str], list[ItemsScoredInParts]] = {}
        for model, data, claim, level in requests:
            items = self.cached_items(data, claim, level)
            if items and items.whole and not self.subjects[model].error:
                wholes.setdefault((model, data), []).append(items.whole)
        for (model, _), some in wholes.items():
            subject, start = self.subjects[model], self.clock.now()
            try:
                subject.state.encoded += some[0].prepare(subject, some, locks=locks, progress=progress)
            except NothingToMeasure:
                continue  # reported when the check asks for its scores
            except EncoderError as error:
                subject.state.error = error
            seconds = self.clock.now() - start
            subject.state.seconds += seconds
            self._encoding += seconds
        self.encode_repeats(requests, locks=locks)

    def encode_repeats(self, requests: Iterable[Request], *, locks: Locks) -> None:
        """Encode again the texts that determinism checks among these requests repeat."""
        for model, data, claim, level in requests:
            items, subject = self.cached_items(data, claim, level), self.subjects[model]
            texts = [text for item in items.included for text in item.texts_to_encode_again] if items else []
            if texts and not subject.error and not isinstance(subject.model, PartialEncoder):
                self.services[model].encode_repeats(texts, locks)

    def plan_encoding(self, requests: Iterable[Request]) -> EncodingPlan:
        """Return what the requests need from each model that has not failed. Makes their items."""
        plan = EncodingPlan()
        for model, data, claim, level in requests:
            if self.subjects[model].error:
                continue
            with suppress(NothingToMeasure, CheckError):  # reported when the check asks for its scores
                items = self.items(data, claim, level)
                self.refuse_missing_vectors(model, data, items)
                wanted = plan.pairs.setdefault(model, [])
                kept = items.included
                wanted += [pair for i in (*kept, *items.tuning) for pair in i.pairs_to_score]
                if texts := texts_by_role(kept):
                    roles = plan.roles.setdefault(model, {})
                    for role, some in texts.items():
                        roles[role] = list(dict.fromkeys([*roles.get(role, []), *some]))
                    if self.subjects[model].kind == "pair":
                        wanted += self.scorer.candidate_and_judged_pairs(kept)
                    continue
                if self.scorer.calibrates:
                    wanted += [pair for item in self.random_pairs(data) for pair in item.pairs_to_score]
                    wanted += [(text, text) for text in self.scorer.texts_for_identity(data)]
        return plan

    def encode_comparison_texts(
        self, others: Sequence[VectorSample], *, old: str = "", locks: Locks, progress: Progress
    ) -> None:
        """Encode the texts on which each model's vectors are compared with those of `others` and of the model `old`."""
        known = list(others)
        for label in sorted(self.services, key=lambda label: label != old):
            subject = self.subjects[label]
            self.services[label].encode_comparison_texts(
                known, user_texts_of_run(subject, self.data.values()), locks, progress
            )
            known += [subject.state.sample] if label == old and subject.state.sample else []

    def smoke_test_models(self, requests: Iterable[Request], *, locks: Locks, progress: Progress) -> None:
        """Encode one pair with each model before anything is generated, to see that it loads and gives numbers.

        The run needs this pair anyway. Skip models that first have to learn from all texts of the run.
        """
        wanted: dict[str, list[Pair]] = {}
        for label, data in {model: data for model, data, _, _ in requests}.items():
            model = self.subjects[label].model
            if not isinstance(model, PartialEncoder) and (
                not isinstance(model, FittedModel) or getattr(model, "ready", False)
            ):
                wanted[label] = [pair for item in self.random_pairs(data)[:1] for pair in item.pairs_to_score]
        self.encode(wanted, locks=locks, progress=progress, fit=False)

    def refuse_missing_vectors(self, model: str, data: str, items: Items) -> None:
        """Raise NothingToMeasure if a model has vectors of some texts only, and these items need more."""
        known = self.subjects[model].model
        if not isinstance(known, PartialEncoder):
            return
        if items.whole:
            items.whole.refuse_unscorable_model(self.subjects[model])
            return
        texts: dict[str | None, list[str]] = dict(texts_by_role(items.included).items())
        if not texts:
            pairs = [pair for i in (*items.included, *items.tuning) for pair in i.pairs_to_score]
            pairs += [pair for i in self.random_pairs(data) for pair in i.pairs_to_score]
            texts = {None: list({text: None for pair in pairs for text in pair})}  # a text is in many random pairs
        missing = {text for role, some in texts.items() for text in known.texts_without_vector(some, role=role)}
        if missing or any(item.texts_to_encode_again for item in items.included):
            total = len({text for some in texts.values() for text in some})
            raise NothingToMeasure(
                f"{model} has no vector of {len(missing):,} of the {total:,} texts of this check, and cannot compute "
                f"them"
            )

    def refuse_failed_model(self, model: str) -> None:
        """Raise this model's error, if it had one."""
        if error := self.subjects[model].error:
            raise error

    def encode(
        self,
        wanted: Mapping[str, Iterable[Pair]],
        *,
        roles: Mapping[str, Texts] | None = None,
        locks: Locks = no_locks,
        progress: Progress,
        fit: bool = True,
    ) -> None:
        """Score pairs and encode texts in roles, both by model label. See `EncoderService.prepare`."""
        start = self.clock.now()
        for model, pairs in wanted.items():
            in_roles = (roles or {}).get(model, {})
            self.services[model].prepare(pairs, in_roles, locks=locks, progress=progress, fit=fit)
        self._encoding += self.clock.now() - start

    @property
    def seconds(self) -> dict[str, float]:
        """The time for generating and encoding, without the time that this process waited."""
        return {"generate": self._generating, "encode": self._encoding}

    def add_time_of(self, other: ScoringSession) -> None:
        """Add the time of a session on a part of the data to this session's time."""
        self._generating += other._generating
        self._encoding += other._encoding

    def scores(self, model: str, data: str, items: Items) -> Scores:
        """Return the similarities of these items under this model, and their word overlap."""
        self.refuse_failed_model(model)
        self.refuse_missing_vectors(model, data, items)
        return self.scorer.scores(model, data, items)

    def scale(self, model: str, data: str) -> Scale | None:
        """Return the calibration of a model on a data set, after something was measured there."""
        return self.scorer.scale(model, data)


def _build_items(claim: Claim, data: Dataset, level: int | str, maker: VariantMaker) -> Items:
    """Return the items from the claim's builder. Raise CheckError if it fails or returns something else."""
    place = f"{getattr(claim.items, '__qualname__', claim.items)!s}(dataset, level={level!r}, maker)"
    try:
        items = claim.items(data, level, maker)
    except EncheckError:
        raise
    except Exception as error:
        raise CheckError(f"{place}, which should build the items of the check, raised {error!r}") from error
    if not isinstance(items, Items) or not all(isinstance(item, Item) for item in items.included):
        raise CheckError(f"{place} gave {str(items)[:80]!r}, but should give encheck.scoring.item.Items of items")
    if not items.all_items:
        raise NothingToMeasure(f"{place} gave no item of {data.name}")
    if find_kind(kind := items.all_items[0].kind.name) is None:
        raise CheckError(
            f"{place} gave items of the kind {kind!r}, which no installed package declares. Remedy: name it among the "
            f"entry points {ENTRY_POINTS}"
        )
    return items
