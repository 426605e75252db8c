"""The bench of a run: from the items that checks have declared to their scores.

It has the items made and their texts encoded.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from encheck.claims import Claim
from encheck.datasets.dataset import Dataset
from encheck.encoders.protocol import FittedModel, Model, PartialEncoder
from encheck.errors import CheckError, EncheckError, EncoderError, NothingToMeasure
from encheck.gating.reindex import VectorSample
from encheck.items.variants import Maker
from encheck.running.comparable import documents_of
from encheck.running.plan import Plan
from encheck.running.roles import Texts, texts_of
from encheck.running.scorer import Scorer
from encheck.running.service import EncoderService
from encheck.running.subject import Pair, Subject
from encheck.scoring.inverted import IndexSize
from encheck.scoring.item import Item, Items, WholeItems
from encheck.scoring.pairs import SentencePair
from encheck.scoring.scores import ENTRY_POINTS, Scale, Scores, kind_named
from encheck.store import Store
from encheck.system.lock import Locks, WorkClock
from encheck.system.memory import rare_collection
from encheck.system.progress import Progress

Request = tuple[str, str, Claim, int | str]  # model, data, claim, level


class Bench:
    """Models, data and store of one run; times are by its `clock`.

    Documents are searched with an `index`, or exactly where it is None. Without `calibrates` no random pairs are
    encoded: enough for rates, but nothing has a calibrated scale.
    """

    def __init__(
        self,
        subjects: dict[str, Subject],
        data: dict[str, Dataset],
        store: Store,
        *,
        maker: Maker,
        clock: WorkClock | None = None,
        index: IndexSize | None = None,
        calibrates: bool = True,
    ) -> None:
        self.subjects, self.data, self.store, self.maker = subjects, data, store, maker
        self.seed = maker.seed
        self._items: dict[tuple[str, object, int | str], Items | NothingToMeasure | CheckError] = {}
        self.scorer = Scorer(subjects, data, seed=maker.seed, index=index, calibrates=calibrates)
        self.clock = clock or WorkClock()
        self.services = {label: EncoderService(one, store, clock=self.clock) for label, one in subjects.items()}
        self._generating = self._encoding = 0.0

    def with_models(self, subjects: dict[str, Subject], store: Store) -> Bench:
        """A bench of other models and their store, with the items, draws and random pairs of this one."""
        other = copy.copy(self)
        other.subjects, other.store = subjects, store
        other.scorer = self.scorer.beside(subjects)
        other.services = {label: EncoderService(one, store, clock=self.clock) for label, one in subjects.items()}
        return other

    def items(self, data: str, claim: Claim, level: int | str) -> Items:
        """What a claim measures on; made once. NothingToMeasure where there is none, CheckError where it breaks."""
        key = (data, claim.items, level)
        if key not in self._items:
            start = self.clock.now()
            try:
                with rare_collection():
                    self._items[key] = _built(claim, self.data[data], level, self.maker)
            except (NothingToMeasure, CheckError) as error:
                self._items[key] = error
            self._generating += self.clock.now() - start
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

    def prepare(self, requests: Iterable[Request], *, locks: Locks, progress: Progress) -> None:
        """Encode what the requests need and the store lacks, one model after the other."""
        requests = list(requests)
        plan = self.plan(requests)
        self.encode(plan.pairs, roles=plan.roles, locks=locks, progress=progress)
        self._score_wholes(requests, locks, progress)
        self._repeat(requests, locks)

    def _score_wholes(self, requests: Sequence[Request], locks: Locks, progress: Progress) -> None:
        """Have items scored that are not in memory, by each model that can."""
        asked: dict[tuple[str, str], list[WholeItems]] = {}
        for model, data, claim, level in requests:
            found = self.found(data, claim, level)
            if found and found.whole and not self.subjects[model].error:
                asked.setdefault((model, data), []).append(found.whole)
        for (model, _), wholes in asked.items():
            subject, start = self.subjects[model], self.clock.now()
            try:
                subject.state.encoded += wholes[0].prepare(subject, wholes, locks=locks, progress=progress)
            except NothingToMeasure:
                continue  # said again when the check asks for its scores
            except EncoderError as error:
                subject.state.error = error
            seconds = self.clock.now() - start
            subject.state.seconds += seconds
            self._encoding += seconds

    def plan(self, requests: Iterable[Request]) -> Plan:
        """What the requests need of each model that has not failed; their items are made."""
        plan = Plan()
        for model, data, claim, level in requests:
            if self.subjects[model].error:
                continue
            with suppress(NothingToMeasure, CheckError):  # said again when the check asks for its scores
                items = self.items(data, claim, level)
                self.refuse_lacking(model, data, items)
                wanted = plan.pairs.setdefault(model, [])
                kept = items.kept
                wanted += [pair for i in (*kept, *items.tuning) for pair in i.pairs]
                if texts := texts_of(kept):
                    self._search(model, kept, texts, wanted, plan.roles.setdefault(model, {}))
                    continue
                if self.scorer.calibrates:
                    wanted += [pair for item in self.reference(data) for pair in item.pairs]
                    wanted += [(text, text) for text in self.scorer.identical(data)]
        return plan

    def compare(self, others: Sequence[VectorSample], *, old: str = "", locks: Locks, progress: Progress) -> None:
        """Encode the texts by which each model's vectors are compared with those of others, and of the model `old`."""
        known = list(others)
        for label in sorted(self.services, key=lambda label: label != old):
            subject = self.subjects[label]
            self.services[label].compare(known, documents_of(subject, self.data.values()), locks, progress)
            known += [subject.state.sample] if label == old and subject.state.sample else []

    def _search(self, model: str, kept: Sequence[Item], texts: Texts, pairs: list[Pair], roles: Texts) -> None:
        """Note what a search needs: texts in their roles, and of a model that scores pairs the candidates."""
        for role, some in texts.items():
            roles[role] = list(dict.fromkeys([*roles.get(role, []), *some]))
        if self.subjects[model].kind == "pair":
            pairs += self.scorer.candidates(kept)

    def _repeat(self, requests: Iterable[Request], locks: Locks) -> None:
        """Encode again what a check of determinism asks for."""
        for model, data, claim, level in requests:
            found, subject = self.found(data, claim, level), self.subjects[model]
            texts = [text for item in found.kept for text in item.repeats] if found else []
            if texts and not subject.error and not isinstance(subject.model, PartialEncoder):
                self.services[model].repeat(texts, locks)

    def try_out(self, requests: Iterable[Request], *, locks: Locks, progress: Progress) -> None:
        """Encode one pair with each model, before anything is generated: does it load, and give numbers?

        It is a pair that the run needs anyway. A model that can compute nothing before it has learned from all texts of
        the run is left out.
        """
        first = {model: data for model, data, _, _ in requests}
        tried = {m: self.reference(d)[:1] for m, d in first.items() if _computes(self.subjects[m].model)}
        self.encode(
            {model: [pair for item in some for pair in item.pairs] for model, some in tried.items()},
            locks=locks,
            progress=progress,
            fit=False,
        )

    def refuse_lacking(self, model: str, data: str, items: Items) -> None:
        """NothingToMeasure where a model has vectors of some texts only, and these items need others."""
        known = self.subjects[model].model
        if not isinstance(known, PartialEncoder):
            return
        if items.whole:
            items.whole.refuse(self.subjects[model])
            return
        texts: dict[str | None, list[str]] = dict(texts_of(items.kept).items())
        if not texts:
            pairs = [pair for i in (*items.kept, *items.tuning) for pair in i.pairs]
            pairs += [pair for i in self.reference(data) for pair in i.pairs]
            texts = {None: [text for pair in pairs for text in pair]}
        missing = {text for role, some in texts.items() for text in known.lacks(some, role=role)}
        if missing or any(item.repeats for item in items.kept):
            total = len({text for some in texts.values() for text in some})
            raise NothingToMeasure(
                f"{model} has no vector of {len(missing):,} of the {total:,} texts of this check, and cannot compute "
                f"them"
            )

    def refuse_failed(self, model: str) -> None:
        """Raise what went wrong with this model, if anything did."""
        if error := self.subjects[model].error:
            raise error

    def encode(
        self, wanted: Mapping[str, Iterable[Pair]], *, roles: Mapping[str, Texts] | None = None, **how: Any
    ) -> None:
        """Have pairs scored and texts in roles encoded, each by a model's label: see `EncoderService.prepare`."""
        start = self.clock.now()
        for model, pairs in wanted.items():
            self.services[model].prepare(pairs, (roles or {}).get(model, {}), **how)
        self._encoding += self.clock.now() - start

    @property
    def seconds(self) -> dict[str, float]:
        """How long generating and encoding took, without what this process waited meanwhile."""
        return {"generate": self._generating, "encode": self._encoding}

    def count_time_of(self, other: Bench) -> None:
        """Count the time of a bench on a part of the data as this one's."""
        self._generating += other._generating
        self._encoding += other._encoding

    def scores(self, model: str, data: str, items: Items) -> Scores:
        """The similarities of these items under this model, with word overlap beside them."""
        self.refuse_failed(model)
        self.refuse_lacking(model, data, items)
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
        raise CheckError(f"{place} gave {str(found)[:80]!r}, but should give encheck.scoring.item.Items of items")
    if not found.every:
        raise NothingToMeasure(f"{place} gave no item of {data.name}")
    if kind_named(kind := found.every[0].kind.name) is None:
        raise CheckError(
            f"{place} gave items of the kind {kind!r}, which no installed package declares. Remedy: name it among the "
            f"entry points {ENTRY_POINTS}"
        )
    return found


def _computes(model: Model) -> bool:
    """Whether a model can compute before it has seen the texts of the run, and any text."""
    return not isinstance(model, PartialEncoder) and (
        not isinstance(model, FittedModel) or bool(getattr(model, "ready", False))
    )
