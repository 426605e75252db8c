"""The shared state of a run's cases: models, data, store and settings."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from encheck.claims import CONTRACT
from encheck.encoders.files import hash_architecture, hash_weights
from encheck.encoders.objects import UNIDENTIFIED
from encheck.encoders.protocol import Model, PartialEncoder
from encheck.engine.case_outcome import ProcessDescription
from encheck.engine.checks import Case
from encheck.engine.first_look import (
    FirstLookPlan,
    LookDecision,
    Mode,
    SharedDecision,
    decide_whether_to_stop,
    plan_first_look,
)
from encheck.engine.locks import Locks
from encheck.errors import NOT_IN_FIRST_LOOK, EncheckError, NothingToMeasure
from encheck.gating.baseline import Baseline, FirstLookItems, make_case_scores
from encheck.gating.pairing import is_used_by_gate
from encheck.gating.reference import has_shipped_baseline
from encheck.generators.phenomenon import relation_validity
from encheck.ids import ItemId
from encheck.items import OwnProperty
from encheck.items.variants import VariantMaker
from encheck.language.english import English
from encheck.options import Settings, model_options
from encheck.reporting.failures import failure_message
from encheck.run_file import DataEntry, ModelEntry, Selection
from encheck.running.labels import model_labels
from encheck.running.model_under_test import ModelUnderTest, texts_by_role
from encheck.running.parents import ParentModel, find_parent
from encheck.running.resources import (
    open_store,
    resolve_data,
    resolve_english,
    resolve_list_counts,
    resolve_models,
    resolve_writers,
    shard_loader,
)
from encheck.running.scoring_session import Request, ScoringSession
from encheck.scoring.documents import Answers
from encheck.scoring.frame import item_table
from encheck.scoring.item import ItemFrame, Items, SearchingQuery
from encheck.scoring.scores import LoggedScores, RankedScores, Scores
from encheck.store import Store
from encheck.system.lock import WorkClock
from encheck.system.memory import rare_collection
from encheck.system.terminal import Notes, Progress
from encheck.types import CheckResult, Estimate, Floor, FloorAndAim, Json, Validity, Verdict
from encheck.verdict import JudgingTerms, judge_by_terms, known_failure_reason

if TYPE_CHECKING:
    from pyarrow import Table

PROBES = "probes"
PAUSE = 0.1  # seconds between checks whether another worker has decided
PARENT_COLUMNS = ("near_score", "far_score")
log = logging.getLogger("encheck")
Show = Callable[["Evaluation"], object]


@dataclass(frozen=True)
class GateBaseline:
    """What a gate compares the model with: saved baselines, or the evaluation's model with the label `old`.

    `known` names the cases (check/data/level) that are not measured for `old`, because its scores are known.
    """

    baselines: tuple[Baseline, ...] = ()
    old: str = ""
    known: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The cases of a run, and the session of models, data and store that they are measured on.

    `open` creates an evaluation. An evaluation can cover a part of the data: `session` has the data of the part,
    `whole` all data, and `measured_cases` the ids of the cases that the part measures. `existing` has all cases by
    name, selected or not. `against` is the comparison of a gate, or None.
    """

    settings: Settings
    cases: tuple[Case, ...]
    session: ScoringSession
    whole: ScoringSession
    english: English
    notes: Notes
    locks: Locks
    existing: Mapping[str, Case] = field(default_factory=dict)
    against: GateBaseline | None = None
    mode: Mode = ""
    quiet: bool = False
    decision: LookDecision = field(default_factory=LookDecision)
    measured_cases: frozenset[str] | None = None
    parents: Mapping[str, ParentModel] = field(default_factory=dict)
    _shared: SharedDecision
    _last: dict[str, Scores] = field(default_factory=dict)
    _rankings_named: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def open(
        cls,
        settings: Settings,
        cases: Sequence[Case],
        *,
        existing: Mapping[str, Case] = MappingProxyType({}),
        against: GateBaseline | None = None,
        loaded: Mapping[str, Model] | None = None,
        run: str | None = None,
        mode: Mode = "",
        quiet: bool = False,
    ) -> Self:
        """Find the models, load the data and open the store. Raise UsageError if one of them is wrong.

        `run` is the lock that the workers of a run share, if there are several workers. `loaded` has models in memory
        by their names in the settings. A `quiet` evaluation shows neither progress nor log messages.
        """
        notes, clock = Notes(silent=quiet), WorkClock()
        log.addHandler(notes)
        store: Store | None = None
        try:
            store = open_store(settings)
            locks = Locks(store.path, clock, run=run)
            subjects = resolve_models(settings, store, loaded)
            english = resolve_english(settings, store, lock=locks.lock_for_parsing)
            writers = resolve_writers(settings, store, locks=locks.locks_for_encoding)
            shards = shard_loader(settings, quiet=quiet, is_gated=against is not None)
            data = resolve_data(settings, shared=run, in_shards=shards)
            index = resolve_list_counts(settings, subjects.values(), data.values())
            maker = VariantMaker(settings.seed, english, writers)
            session = ScoringSession(subjects, data, store, maker=maker, clock=clock, index=index)
        except BaseException:
            log.removeHandler(notes)
            if store:
                store.close()
            raise
        return cls(
            settings=settings, cases=tuple(cases),
            session=session, whole=session, english=english, notes=notes, locks=locks,
            existing=existing, against=against, mode=mode, quiet=quiet, _shared=SharedDecision(run),
        )  # fmt: skip

    def prepare(self, show: Show | None = None) -> Self:
        """Encode the cases' texts; return the evaluation to continue with. If the run stops, that is the measured part.

        The worker that tries the models keeps the run's lock until encoding ends, so no other worker loads the models
        again. A model whose device another run uses is not tried, to save the wait. If the run continues after its
        first look, `show` prints the look; its argument is the evaluation of that part.
        """
        session, progress = self.session, Progress(quiet=self.quiet)
        requests: list[Request] = [(c.model, c.data, c.claim, c.level) for c in self.cases]
        while True:
            with self.locks.run_lock_if_free() as is_ours:
                decision, look = self._shared.read() if self.mode else LookDecision(), None
                if is_ours and (decision is None or not self.mode):
                    session.smoke_test_models(requests, locks=self.locks.locks_if_free, progress=progress)
                    if self.against and self.against.old:
                        session.refuse_failed_model(self.against.old)  # there would be nothing to compare with
                if is_ours and decision is None:
                    look, decision = decide_whether_to_stop(
                        session, requests, self.mode, locks=self.locks.locks_for_encoding, progress=progress
                    )
                    self._shared.write(decision)
                    if look and not decision.stops:
                        session.add_time_of(look.drawn)
                        session.add_time_of(look.session)
                        if show:
                            show(self._restrict_to_look(look, decision, requests))
                if decision and decision.stops:
                    look = look or plan_first_look(session, requests, self.mode)
                    if look:  # its texts are encoded by this process or another worker
                        look.session.prepare(look.requests, locks=self.locks.locks_for_encoding, progress=progress)
                    return self._restrict_to_look(look, decision, requests)
                if decision:
                    return self._prepare_everything(requests, progress)
            with session.clock.paused(for_others=False):  # another worker of the run has yet to decide
                time.sleep(PAUSE)

    def with_session(self, session: ScoringSession) -> Self:
        """Return this evaluation on the models and data of a different session."""
        return replace(self, session=session, whole=session, _last={})

    def _restrict_to_look(
        self, look: FirstLookPlan | None, decision: LookDecision, requests: Sequence[Request]
    ) -> Self:
        """Return the evaluation of a first look's part of the data, or of no data if there is no part."""
        measured = look.requests if look else ()
        both = zip(self.cases, requests, strict=True)
        seen = frozenset(str(case.id) for case, request in both if request in measured)
        return replace(
            self, session=look.session if look else self.session, decision=decision, measured_cases=seen, _last={}
        )

    def _prepare_everything(self, requests: Sequence[Request], progress: Progress) -> Self:
        self.session.prepare(requests, locks=self.locks.locks_for_encoding, progress=progress)
        if self.against or self.settings.save_baseline:
            against = self.against or GateBaseline()
            samples = [baseline.sample for baseline in against.baselines if baseline.sample]
            self.session.encode_comparison_texts(
                samples, old=against.old, locks=self.locks.locks_for_encoding, progress=progress
            )
        if PROBES not in self.session.data or self.against:
            return self
        store, scorer, subjects = self.session.store, self.session.scorer, self.session.subjects
        parents = {label: find_parent(one, self.settings, store, scorer) for label, one in subjects.items()}
        return replace(self, parents={label: parent for label, parent in parents.items() if parent})

    def is_measured(self, case: Case) -> bool:
        """Return whether the case is measured. Only a run that stops after its first look leaves cases out."""
        return self.measured_cases is None or str(case.id) in self.measured_cases

    def items(self, case: Case) -> Items:
        """Return the items of the case."""
        return self.session.items(case.data, case.claim, case.level)

    @rare_collection()
    def scores(self, case: Case) -> Scores:
        """Return the similarities of the case's items. A failed model is reported before any item is made.

        The last case's scores are cached, since its check, its rows and its message use them.
        """
        name = str(case.id)
        if name not in self._last:
            self._last.clear()
            self.session.refuse_failed_model(case.model)
            if not self.is_measured(case):
                raise NothingToMeasure(NOT_IN_FIRST_LOOK)
            self._last[name] = self.session.scores(case.model, case.data, self.items(case))
        return self._last[name]

    def make_row(
        self, case: Case, estimate: Estimate | None, verdict: Verdict | None, lines: FloorAndAim | None, reason: str
    ) -> CheckResult:
        """Return a row of results.json. Add a note if the figure names a model."""
        metric = estimate.metric if estimate else "none"
        if estimate and (label := estimate.params.get("label")) is not None:
            metric = f"{estimate.metric}[{label}]"
        named = estimate.params.get("ranks_by") if estimate else None
        if estimate and named and (case.model, case.data) not in self._rankings_named:  # once, not for each check
            self._rankings_named.add((case.model, case.data))
            told = (case.model, case.data, named, estimate.value)
            log.warning("%s ranks the paraphrases of %s much as %s does: Spearman %.2f", *told)
        items = self.session.cached_items(case.data, case.claim, case.level)
        return CheckResult(
            id=case.id.figure(metric),
            check=case.check,
            property=case.property,
            level=str(case.level),
            model=case.model,
            data=case.data,
            estimate=estimate,
            verdict=verdict,
            lines=lines,
            reason=reason,
            excluded={str(why): count for why, count in items.excluded.items()} if items else {},  # plain, for xdist
            validity=self._validity(case),
        )

    def _validity(self, case: Case) -> Validity | None:
        """Return the validity of the items' generator if readers read it or it belongs to a phenomenon; None for
        written items.
        """
        items = self.session.cached_items(case.data, case.claim, case.level)
        parts = ItemId(items.all_items[0].id).parts_or_none if items and items.all_items else None
        if not parts or any(group.variants for group in self.session.data[case.data].groups):
            return None
        return relation_validity(parts.relation)

    def judge_figure(self, case: Case, estimate: Estimate, declared: tuple[Floor, float] | None) -> CheckResult:
        """Return the row of a deciding figure, with its verdict. `declared` are the check's floor and aim.

        The user's threshold replaces both; a threshold for the model takes precedence over one for the project. In a
        table of thresholds, `check/level` takes precedence over `check`, and `check` over a key for all of the user's
        own properties.
        """
        config, project = self.session.subjects[case.model].config, self.settings.project
        items = case.claim.items
        of_all = case.check.removeprefix(f"{items.name}_") if isinstance(items, OwnProperty) else case.check
        keys, tables = (f"{case.check}/{case.level}", case.check, of_all), (config.thresholds, project.thresholds)
        own = next((float(table[key]) for table in tables for key in keys if key in table), None)
        failures = project.known_failures.get(case.model) if config.known_failures is None else config.known_failures
        terms = JudgingTerms(
            declared=declared,
            own=own,
            unjudged=case.claim.declared.unjudged,
            validity=self._validity(case),
            known_failure=known_failure_reason(case.check, case.data, str(case.level), failures),
            trained_on=case.data if case.data in config.trained_on else "",
            strict=self.settings.strict,
            only_shown=self.against is not None and case.claim.family != CONTRACT,
        )
        limit_of = getattr(self.session.subjects[case.model].model, "describe_truncated_texts", None)
        if terms.decides and limit_of and (cause := estimate.params.get("cause")):  # the cause of a broken contract
            texts = [text for item in self.items(case).included for text, _ in item.pairs_to_score]
            if limit := limit_of(texts):
                estimate = replace(estimate, params={**estimate.params, "cause": f"{limit}; {cause}"})
        ruling = judge_by_terms(estimate, terms)
        return self.make_row(case, estimate, ruling.verdict, ruling.lines, ruling.reason)

    def failure_message(self, case: Case, row: CheckResult) -> str:
        """Return the terminal's message on a failure: the figure, the worst examples, and the command to show an
        example.
        """
        settings = self.settings
        model = model_options(case.model, model_labels(settings.models)[case.model], settings.model_args)
        every, scores = self.items(case).all_items, self.scores(case)
        return failure_message(row, every, scores, model=model, folder=settings.report_dir)

    def item_frame(self, case: Case) -> ItemFrame:
        """Return the items of a case with their scores."""
        items, scores = self.items(case), self.scores(case)
        listed = items.included
        if items.whole:
            listed, scores = items.whole.select_for_report(scores, seed=self.settings.seed)
        return scores.to_item_frame(str(case.id), listed)

    def first_look_positions(self, case: Case) -> FirstLookItems | None:
        """Return the positions of a first look's items among all items of the case.

        Return None for a run on all items, or if no reference model was measured on the data.
        """
        if self.measured_cases is None or not has_shipped_baseline(case.data, self.whole.data[case.data].fingerprint):
            return None
        items = self.whole.items(case.data, case.claim, case.level)
        scores = self.whole.scorer.list_with_placeholder_scores(items)
        both = (self.item_frame(case), scores.to_item_frame(str(case.id), items.included))
        mine, every = (make_case_scores(case.id, case.property, some, case.claim.declared) for some in both)
        return FirstLookItems.of(mine, every)

    def parent_scores(self, case: Case) -> Table | None:
        """Return the parent model's near_score and far_score of a case's items; None without a parent."""

        parent, items = self.parents.get(case.model), self.items(case)
        if parent is None or items.whole or any(item.texts_to_encode_again for item in items.included):
            return None
        if (scores := parent.scores(case.data, items)) is None:
            return None
        return item_table(scores.to_item_frame(str(case.id), items.included)).select(PARENT_COLUMNS)

    def first_documents(self, case: Case) -> list[tuple[int, str, str]]:
        """Return sorted (row, id, text) of the documents that this model or the baselines rank first for a case's
        queries.

        The list is empty unless a gate shows the documents, and for items that search no documents.
        """
        scores = self.scores(case)
        if self.against is None or not isinstance(scores, RankedScores | LoggedScores):
            return []
        first = self.items(case).included[0]
        assert isinstance(first, SearchingQuery)
        cases = [b.cases[name] for b in self.against.baselines if (name := case.id.of_any_model) in b.cases]
        known = (Answers.parse(text) for kept in cases for text in kept.answers)
        ids, texts = first.documents.ids, first.documents.texts
        rows = {row for answers in (*scores.answers, *known) for row in answers.first if row < len(ids)}
        return [(row, ids[row], texts[row]) for row in sorted(rows)]

    def describe(self) -> ProcessDescription:
        """Return the models, data, notes and times of this run, for results.json."""
        subjects = self.session.subjects
        # The number of distinct texts that each property needs, for all models of the run together.
        texts: dict[str, set[tuple[str, str]]] = {}
        for case in filter(self.is_measured, self.cases):
            items = self.session.cached_items(case.data, case.claim, case.level)
            kept = items.included if items else ()
            pairs = (pair for item in (*kept, *items.tuning) for pair in item.pairs_to_score) if items else ()
            texts.setdefault(case.property, set()).update((case.model, text) for pair in pairs for text in pair)
            texts[case.property].update((case.model, text) for some in texts_by_role(kept).values() for text in some)
        # The cases that were not selected, and those of their properties that a gate uses.
        selected = {case.id.of_any_model for case in self.cases}
        unselected = {name: case for name, case in self.existing.items() if name not in selected}
        weighed = {name: case for name, case in unselected.items() if is_used_by_gate(case.claim.declared)}
        left_out = list(weighed.values())
        if self.against:
            had = self.against.known.union(*(one.cases for one in self.against.baselines))
            known = [case for name, case in weighed.items() if name in had]
            left_out = known or next(([case] for case in left_out if self._has_items(case)), [])
        return ProcessDescription(
            models=tuple(map(self._describe_model, subjects.values())),
            data=tuple(map(self._describe_data, self.whole.data)),
            notes=tuple(self.notes.lines),
            selection=Selection(tuple(sorted(unselected)), tuple(sorted({case.property for case in left_out}))),
            seconds={**self.session.seconds, "wait": self.session.clock.for_others},
            texts={name: len(some) for name, some in texts.items()},
            encoded={label: subject.encoded for label, subject in subjects.items()},
            look=self.decision.look,
            rest=self.decision.rest,
            parents={model: parent.with_scales(self.session.data) for model, parent in self.parents.items()},
            vectors={label: one.pack() for label, s in subjects.items() if (one := s.state.sample)},
            documents={label: some for label, s in subjects.items() if (some := s.state.documents)},
        )

    def _has_items(self, case: Case) -> bool:
        """Return whether the data have items for a case; True if that is unknown."""
        try:
            return bool(self.whole.items(case.data, case.claim, case.level).all_items)
        except NothingToMeasure:
            return False
        except EncheckError:
            return True

    def _describe_data(self, name: str) -> DataEntry:
        data = self.whole.data[name]
        whole = data.whole.summarise() if data.whole else None
        scales = {model: self.session.scale(model, name) for model in self.session.subjects}
        groups = self.session.data[name].groups
        is_generated = self.english.has_parsed and not all(group.variants for group in groups)
        return DataEntry(
            name=name,
            licence=data.licence,
            version=data.version,
            rows=data.rows,
            pairs=len(data.pairs),
            groups=len(data.groups),
            clusters=len(data.universe),
            labels=data.labels,
            skipped=whole.skipped if whole else len(data.skipped),
            sample=(self.settings.sample or len(data.universe)) if data.sampled else None,
            seed=self.settings.seed,
            fingerprint=data.fingerprint,
            language=self.english.describe() if is_generated else None,
            calibration={model: scale for model, scale in scales.items() if scale},
            whole=whole,
            own_documents=data.collection.own_document_count if data.collection else 0,
        )

    def _describe_model(self, subject: ModelUnderTest) -> ModelEntry:
        config, model, file_hash = subject.config, subject.model, self.session.store.cached_file_hash
        about: dict[str, Json] = getattr(model, "about", dict)()
        revision, prompt = about.pop("revision", config.revision), about.pop("prompt", config.prompt)
        used = {role: texts.prompt for role, texts in subject.roles.items() if texts.prompt is not None}
        lacks = []
        if isinstance(model, PartialEncoder):  # the cases with texts that a file of vectors lacks
            for case in (case for case in self.cases if case.model == subject.label and self._has_items(case)):
                try:
                    self.session.refuse_missing_vectors(case.model, case.data, self.items(case))
                except NothingToMeasure:
                    lacks.append(case.id.of_any_model)
        return ModelEntry(
            label=subject.label,
            name=config.name or config.adapter,
            adapter=config.adapter,
            fingerprint=subject.fingerprint,
            kind=subject.kind,
            revision=None if revision is None else str(revision),
            licence=config.licence,
            prompt=None if prompt is None else str(prompt),
            how=about,
            trained_on=tuple(config.trained_on),
            dimension=subject.dimension,
            error=str(subject.error) if subject.error else None,
            weights=None if subject.error else hash_weights(model, file_hash),
            architecture=None if subject.error else hash_architecture(model, file_hash),
            lacks=tuple(sorted(lacks)),
            prompts_used=used,
        )

    def close(self) -> None:
        """Prune the store to its limit, remove the vectors of models without an identity, and close the store."""
        subjects, store = self.session.subjects.values(), self.session.store
        try:
            for subject in subjects:
                if subject.fingerprint.startswith(UNIDENTIFIED):
                    store.delete_model(subject.store_fingerprint)
            if store.bytes_on_disk() > store.limit:
                used = [s.store_fingerprint for s in subjects]
                used += [self.english.pipeline.fingerprint] * self.english.has_parsed
                for gone in store.delete_least_recently_used(keep=used):
                    log.warning("the store is over its limit: dropped the %d rows of %s", gone.rows, gone.name)
        finally:
            store.close()
            log.removeHandler(self.notes)
