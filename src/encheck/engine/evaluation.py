"""One evaluation: what its cases share, whoever calls them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Self

from encheck.claims import CONTRACT
from encheck.encoders.files import architecture_of, weights_of
from encheck.encoders.objects import UNIDENTIFIED
from encheck.encoders.protocol import Model, PartialEncoder
from encheck.engine.first_look import Decision, Mode, Shared, decide, look_of
from encheck.engine.locks import Locks
from encheck.engine.measured import Described
from encheck.engine.shards import in_shards
from encheck.errors import UNSEEN, EncheckError, NothingToMeasure
from encheck.gating.baseline import Baseline, scored_table
from encheck.gating.declared import is_weighed
from encheck.gating.kept import Part
from encheck.gating.reference import has_shipped
from encheck.generators.phenomenon import validity_of
from encheck.ids import ItemId
from encheck.items import OwnProperty
from encheck.items.variants import Maker
from encheck.language.english import English
from encheck.options import Settings, model_options
from encheck.reporting.failures import failure_message
from encheck.run_file import DataEntry, ModelEntry, Selection
from encheck.running.bench import Bench, Request
from encheck.running.case import Case
from encheck.running.first_look import Look
from encheck.running.labels import labels
from encheck.running.notes import Notes
from encheck.running.parents import Parent, known_parent
from encheck.running.resources import (
    open_store,
    resolve_data,
    resolve_english,
    resolve_index,
    resolve_models,
    resolve_writers,
)
from encheck.running.roles import texts_of
from encheck.running.subject import Subject
from encheck.scoring.answers import Answers
from encheck.scoring.documents import SearchingQuery
from encheck.scoring.frame import Columns
from encheck.scoring.item import Items
from encheck.scoring.scores import LoggedScores, RankedScores, Scores
from encheck.store import Store
from encheck.system.lock import WorkClock
from encheck.system.memory import rare_collection
from encheck.system.progress import Progress
from encheck.types import CheckResult, Estimate, Floor, Lines, Validity, Verdict
from encheck.verdict import Terms, known_failure, rule

PROBES = "probes"
PAUSE = 0.1  # seconds between two looks whether another worker has decided
PARENTS_COLUMNS = ("near_score", "far_score")
log = logging.getLogger("encheck")
Show = Callable[["Evaluation"], object]


def no_show(_evaluation: Evaluation) -> None:
    """Show nothing."""


@dataclass(frozen=True)
class Against:
    """What a gate weighs the models of an evaluation against: saved baselines, or its model `old`, by its label."""

    baselines: tuple[Baseline, ...] = ()
    old: str = ""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The cases of a run, and the bench of models, data and store that they are measured on; `open` makes one.

    Its parts are evaluations of their own, which `on` gives: `bench` has the data of the part and `whole` all data, and
    `seen` has the ids of the cases that the part measures. `existing` has all cases that there are, selected or not, by
    their names. `against` is what a gate asks for, None where there is none.
    """

    settings: Settings
    cases: tuple[Case, ...]
    bench: Bench
    whole: Bench
    english: English
    notes: Notes
    locks: Locks
    existing: Mapping[str, Case] = field(default_factory=dict)
    against: Against | None = None
    mode: Mode = ""
    quiet: bool = False
    decision: Decision = field(default_factory=Decision)
    seen: frozenset[str] | None = None
    parents: Mapping[str, Parent] = field(default_factory=dict)
    _shared: Shared
    _last: dict[str, Scores] = field(default_factory=dict)

    @classmethod
    def open(
        cls,
        settings: Settings,
        cases: Sequence[Case],
        *,
        existing: Mapping[str, Case] = MappingProxyType({}),
        against: Against | None = None,
        loaded: Mapping[str, Model] | None = None,
        run: str | None = None,
        mode: Mode = "",
        quiet: bool = False,
    ) -> Self:
        """Find the models, load the data and open the store; UsageError where one of them is wrong.

        `run` is the lock that the workers of a run share, where it has several. `loaded` has the models that are in
        memory, by what the settings call them. A `quiet` evaluation shows neither progress nor what is logged.
        """
        notes, clock = Notes(silent=quiet), WorkClock()
        log.addHandler(notes)
        store: Store | None = None
        try:
            store = open_store(settings)
            locks = Locks(store.path, clock, run=run)
            subjects = resolve_models(settings, store, loaded)
            english = resolve_english(settings, store, lock=locks.parsing)
            writers = resolve_writers(settings, store, locks=locks.encoding)
            shards = in_shards(settings, quiet=quiet, is_gated=against is not None)
            data = resolve_data(settings, shared=run, in_shards=shards)
            index = resolve_index(settings, subjects.values(), data.values())
            maker = Maker(settings.seed, english, writers)
            bench = Bench(subjects, data, store, maker=maker, clock=clock, index=index)
        except BaseException:
            log.removeHandler(notes)
            if store:
                store.close()
            raise
        return cls(
            settings=settings, cases=tuple(cases), bench=bench, whole=bench, english=english, notes=notes, locks=locks,
            existing=existing, against=against, mode=mode, quiet=quiet, _shared=Shared(run),
        )  # fmt: skip

    def prepare(self, show: Show = no_show) -> Self:
        """Encode what the cases need; the evaluation to go on with, which is a part of this one where a run stops.

        The worker that tries the models out keeps the run's lock until it has encoded: another would load them again.
        A model whose device another run has is not tried out: there is enough to do before it is waited for.
        `show` shows the first look of a run that goes on, from an evaluation of that part.
        """
        progress = Progress(quiet=self.quiet)
        while (prepared := self._prepared(show, progress)) is None:
            with self.bench.clock.standing(for_others=False):
                time.sleep(PAUSE)
        return prepared

    def _prepared(self, show: Show, progress: Progress) -> Self | None:
        """The evaluation to go on with; None where another worker of the run has yet to decide whether it stops."""
        with self.locks.run_if_free() as is_ours:
            decision, look = self._shared.read() if self.mode else Decision(), None
            if is_ours and (decision is None or not self.mode):
                self.bench.try_out(self._requests, locks=self.locks.if_free, progress=progress)
            if is_ours and decision is None:
                look, decision = self._look(show, progress)
            if decision is None:
                return None
            return self._stopped(look, decision, progress) if decision.stops else self._all_prepared(progress)

    @property
    def _requests(self) -> list[Request]:
        return [(c.model, c.data, c.claim, c.level) for c in self.cases]

    def _look(self, show: Show, progress: Progress) -> tuple[Look | None, Decision]:
        """Decide after a first look; show it where the run goes on."""
        found, decision = decide(self.bench, self._requests, self.mode, locks=self.locks.encoding, progress=progress)
        self._shared.write(decision)
        if found and not decision.stops:
            self.bench.count_time_of(found.drawn)
            self.bench.count_time_of(found.bench)
            show(self._on_look(found, decision))
        return found, decision

    def on(self, bench: Bench, **changes: Any) -> Self:
        """This evaluation on another bench; `changes` are what else is different."""
        return replace(self, bench=bench, _last={}, **changes)

    def _on_look(self, look: Look | None, decision: Decision) -> Self:
        """The evaluation of the part of the data that a first look is at, or of nothing where there is no part."""
        requests = look.requests if look else ()
        both = zip(self.cases, self._requests, strict=True)
        seen = frozenset(str(case.id) for case, request in both if request in requests)
        return self.on(look.bench if look else self.bench, decision=decision, seen=seen)

    def _stopped(self, look: Look | None, decision: Decision, progress: Progress) -> Self:
        """The evaluation of the first look, whose texts this process or another worker has encoded."""
        look = look or look_of(self.bench, self._requests, self.mode)
        if look:
            plan = look.plan
            look.bench.encode(plan.pairs, roles=plan.roles, locks=self.locks.encoding, progress=progress)
        return self._on_look(look, decision)

    def _all_prepared(self, progress: Progress) -> Self:
        self.bench.prepare(self._requests, locks=self.locks.encoding, progress=progress)
        if self.against or self.settings.save_baseline:
            against = self.against or Against()
            samples = [baseline.sample for baseline in against.baselines if baseline.sample]
            self.bench.compare(samples, old=against.old, locks=self.locks.encoding, progress=progress)
        if PROBES in self.bench.data and not self.against:
            return replace(self, parents=dict(self._known_parents()))
        return self

    def sees(self, case: Case) -> bool:
        """Whether the case is measured: all are, but where the run stops after a first look."""
        return self.seen is None or str(case.id) in self.seen

    def _known_parents(self) -> Iterator[tuple[str, Parent]]:
        for label, subject in self.bench.subjects.items():
            if parent := known_parent(subject, self.settings, self.bench.store, self.bench.scorer):
                yield label, parent

    def items(self, case: Case) -> Items:
        """What the case measures on."""
        return self.bench.items(case.data, case.claim, case.level)

    @rare_collection()
    def scores(self, case: Case) -> Scores:
        """The similarities of the case's items; a model that failed is said before any item is made.

        Those of the last case are kept: its check, its rows and its message ask for the same ones.
        """
        name = str(case.id)
        if name not in self._last:
            self._last.clear()
            self.bench.refuse_failed(case.model)
            if not self.sees(case):
                raise NothingToMeasure(UNSEEN)
            self._last[name] = self.bench.scores(case.model, case.data, self.items(case))
        return self._last[name]

    def row(
        self, case: Case, estimate: Estimate | None, verdict: Verdict | None, held: Lines | None, reason: str
    ) -> CheckResult:
        """A row of results.json; what a figure names a model for is noted."""
        metric = _metric_key(estimate)
        if estimate and (named := estimate.params.get("ranks_by")):
            said = f"{estimate.value:.2f} ({case.check})"
            log.warning("%s ranks the paraphrases of %s by %s: Spearman %s", case.model, case.data, named, said)
        return CheckResult(
            id=case.id.figure(metric),
            check=case.check,
            property=case.property,
            level=str(case.level),
            model=case.model,
            data=case.data,
            estimate=estimate,
            verdict=verdict,
            lines=held,
            reason=reason,
            excluded=self._excluded(case),
            validity=self._validity(case),
        )

    def _excluded(self, case: Case) -> dict[str, int]:
        found = self.bench.found(case.data, case.claim, case.level)
        return {str(reason): count for reason, count in found.excluded.items()} if found else {}  # plain, for xdist

    def _validity(self, case: Case) -> Validity | None:
        """Of the generator that made the items, where it was read or is of a phenomenon; None of written items."""
        found = self.bench.found(case.data, case.claim, case.level)
        parts = ItemId(found.every[0].id).known if found and found.every else None
        if not parts or any(group.variants for group in self.bench.data[case.data].groups):
            return None
        return validity_of(parts.relation)

    def judged(self, case: Case, estimate: Estimate, declared: tuple[Floor, float] | None) -> CheckResult:
        """The row of a figure that decides, with its verdict; `declared` are the check's floor and aim."""
        config = self.bench.subjects[case.model].config
        terms = Terms(
            declared=declared,
            own=self._threshold(case),
            unjudged=case.claim.declared.unjudged,
            validity=self._validity(case),
            known_failure=known_failure(case.check, case.data, str(case.level), self._known_failures(case.model)),
            trained_on=case.data if case.data in config.trained_on else "",
            strict=self.settings.strict,
            only_shown=self.against is not None and case.claim.family != CONTRACT,
        )
        if terms.decides:
            estimate = self._with_limit(case, estimate)
        ruling = rule(estimate, terms)
        return self.row(case, estimate, ruling.verdict, ruling.lines, ruling.reason)

    def _with_limit(self, case: Case, estimate: Estimate) -> Estimate:
        """The figure of a broken contract, with the length that the model cuts texts at, where it cuts some."""
        limit = getattr(self.bench.subjects[case.model].model, "limit_of", None)
        cause = estimate.params.get("cause")
        if not cause or limit is None:
            return estimate
        cut = limit([text for item in self.items(case).kept for text, _ in item.pairs])
        return replace(estimate, params={**estimate.params, "cause": f"{cut}; {cause}"}) if cut else estimate

    def _threshold(self, case: Case) -> float | None:
        """The model's own threshold, else the project's, else None. Whoever sets one asks for both: less fails.

        `check/level` goes before `check`, and that before what stands for every property of the user's own.
        """
        own = self.bench.subjects[case.model].config.thresholds
        project = self.settings.project.get("thresholds", {})
        items = case.claim.items
        of_all = case.check.removeprefix(f"{items.name}_") if isinstance(items, OwnProperty) else case.check
        keys = (f"{case.check}/{case.level}", case.check, of_all)
        chosen = next((table[key] for table in (own, project) for key in keys if key in table), None)
        return None if chosen is None else float(chosen)

    def _known_failures(self, model: str) -> dict[str, str] | None:
        own = self.bench.subjects[model].config.known_failures
        project = self.settings.project.get("known_failures", {}).get(model)
        return dict(own) if own is not None else project

    def message(self, case: Case, row: CheckResult) -> str:
        """What the terminal says of a failure: the figure, the worst examples, how to see one again."""
        scores = self.scores(case)
        model, folder = self._model_option(case), self.settings.report_dir
        return failure_message(row, self.items(case).every, scores, model=model, folder=folder)

    def _model_option(self, case: Case) -> str:
        spec = labels(self.settings.models)[case.model]
        return model_options(case.model, spec, self.settings.model_args)

    def table(self, case: Case) -> Columns:
        """The items of a case with their scores, column by column."""
        items, scores = self.items(case), self.scores(case)
        listed = items.kept
        if items.whole:
            listed, scores = items.whole.shown(scores, seed=self.settings.seed)
        return scores.frame(case.id, listed).to_columns()

    def part_of_whole(self, case: Case) -> Part | None:
        """Where the items of a first look stand among all of their case, where a reference was measured on these data.

        None of a run on all items.
        """
        if self.seen is None or not has_shipped(case.data, self.whole.data[case.data].fingerprint):
            return None
        items = self.whole.items(case.data, case.claim, case.level)
        listed = self.whole.scorer.unmeasured(items).frame(case.id, items.kept).to_columns()
        both = (self.table(case), listed)
        mine, every = (scored_table(case.id, case.property, some, case.claim.declared) for some in both)
        return Part.of(mine, every)

    def parents_scores(self, case: Case) -> Columns:
        """The scores of a case's items under the model's parent, as columns of `table`; nothing where it has none."""
        parent, items = self.parents.get(case.model), self.items(case)
        if parent is None or items.whole or any(item.repeats for item in items.kept):
            return {}
        scores = parent.scores(case.data, items)
        columns = scores.frame(case.id, items.kept).to_columns() if scores else {}
        return {name: columns[name] for name in PARENTS_COLUMNS if columns}

    def documents(self, case: Case) -> list[tuple[int, str, str]]:
        """(row, id, text) of what the queries of a case found first, under this model or the baselines; sorted.

        Only where a gate shows them: nothing without one, nor of items that search no documents.
        """
        items, scores = self.items(case).kept, self.scores(case)
        if self.against is None or not isinstance(scores, RankedScores | LoggedScores):
            return []
        cases = [b.cases[name] for b in self.against.baselines if (name := case.id.of_any_model) in b.cases]
        known = (Answers.of(text) for kept in cases for text in kept.answers)
        first = items[0]
        assert isinstance(first, SearchingQuery)
        searched = first.documents
        rows = {row for found in (*scores.answers, *known) for row in found.first if row < len(searched.ids)}
        return [(row, searched.ids[row], searched.texts[row]) for row in sorted(rows)]

    def describe(self) -> Described:
        """Models, data, notes and times of this run, for results.json."""
        subjects = self.bench.subjects
        return Described(
            models=tuple(map(self._describe_model, subjects.values())),
            data=tuple(map(self._describe_data, self.whole.data)),
            notes=tuple(self.notes.lines),
            selection=self._selection(),
            seconds={**self.bench.seconds, "wait": self.bench.clock.for_others},
            texts=self._texts(),
            encoded={label: subject.encoded for label, subject in subjects.items()},
            look=self.decision.look,
            rest=self.decision.rest,
            parents={model: parent.measured(self.bench.data) for model, parent in self.parents.items()},
            vectors={label: one.packed() for label, s in subjects.items() if (one := s.state.sample)},
            documents={label: some for label, s in subjects.items() if (some := s.state.documents)},
        )

    def _selection(self) -> Selection:
        """The cases that there are and that were not selected, and the properties of those that a gate weighs.

        In a gate, only of those that have items in its data: of one, if the baseline lacks them all.
        """
        selected = {case.id.of_any_model for case in self.cases}
        unselected = {name: case for name, case in self.existing.items() if name not in selected}
        weighed = {name: case for name, case in unselected.items() if is_weighed(case.claim.declared)}
        left_out = list(weighed.values())
        if self.against:
            baselines = self.against.baselines
            known = [case for name, case in weighed.items() if any(name in one.cases for one in baselines)]
            left_out = known or next(([case] for case in left_out if self._has_items(case)), [])
        return Selection(tuple(sorted(unselected)), tuple(sorted({case.property for case in left_out})))

    def _has_items(self, case: Case) -> bool:
        """Whether the data give a case something to measure; also where that cannot be found out."""
        try:
            return bool(self.whole.items(case.data, case.claim, case.level).every)
        except NothingToMeasure:
            return False
        except EncheckError:
            return True

    def _texts(self) -> dict[str, int]:
        """Distinct texts that each property needs, for all models of the run together."""
        texts: dict[str, set[tuple[str, str]]] = {}
        for case in filter(self.sees, self.cases):
            found = self.bench.found(case.data, case.claim, case.level)
            kept = found.kept if found else ()
            pairs = (pair for item in (*kept, *found.tuning) for pair in item.pairs) if found else ()
            texts.setdefault(case.property, set()).update((case.model, text) for pair in pairs for text in pair)
            texts[case.property].update((case.model, text) for some in texts_of(kept).values() for text in some)
        return {name: len(found) for name, found in texts.items()}

    def _describe_data(self, name: str) -> DataEntry:
        data = self.whole.data[name]
        whole = data.whole.described() if data.whole else None
        scales = {model: self.bench.scale(model, name) for model in self.bench.subjects}
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
            language=self.english.describe() if self._generated(name) else None,
            calibration={model: scale for model, scale in scales.items() if scale},
            whole=whole,
            own_documents=data.collection.own_documents if data.collection else 0,
        )

    def _describe_model(self, subject: Subject) -> ModelEntry:
        config, model, file_hash = subject.config, subject.model, self.bench.store.file_hash
        about: dict[str, object] = getattr(model, "about", dict)()
        revision, prompt = about.pop("revision", config.revision), about.pop("prompt", config.prompt)
        used = {role: found.prompt for role, found in subject.roles.items() if found.prompt is not None}
        return ModelEntry(
            label=subject.label,
            name=config.name or config.adapter,
            adapter=config.adapter,
            fingerprint=subject.fingerprint,
            kind=subject.kind,
            revision=None if revision is None else str(revision),
            licence=config.licence,
            prompt=None if prompt is None else str(prompt),
            how=about | ({"prompts used": used} if used else {}),
            trained_on=tuple(config.trained_on),
            dimension=subject.dimension,
            error=str(subject.error) if subject.error else None,
            weights=None if subject.error else weights_of(model, file_hash),
            architecture=None if subject.error else architecture_of(model, file_hash),
            lacks=self._lacks(subject) if isinstance(model, PartialEncoder) else (),
        )

    def _lacks(self, subject: Subject) -> tuple[str, ...]:
        """The cases of a file of vectors that it lacks texts of."""
        cases = (case for case in self.cases if case.model == subject.label and self._has_items(case))
        return tuple(sorted(case.id.of_any_model for case in cases if self._lacks_texts(case)))

    def _lacks_texts(self, case: Case) -> bool:
        try:
            self.bench.refuse_lacking(case.model, case.data, self.items(case))
        except NothingToMeasure:
            return True
        return False

    def _generated(self, name: str) -> bool:
        """Whether variants of this data were made by the generators that read language."""
        return self.english.is_used and not all(group.variants for group in self.bench.data[name].groups)

    def close(self) -> None:
        """Keep the store within its limit, without the vectors of models that have no identity, and let go of it."""
        subjects, store = self.bench.subjects.values(), self.bench.store
        try:
            for subject in subjects:
                if subject.fingerprint.startswith(UNIDENTIFIED):
                    store.remove(subject.fingerprint)
            if store.size() > store.limit:
                used = [s.fingerprint for s in subjects]
                used += [self.english.pipeline.fingerprint] * self.english.is_used
                for gone in store.prune(keep=used):
                    log.warning("the store is over its limit: dropped the %d rows of %s", gone.rows, gone.name)
        finally:
            store.close()
            log.removeHandler(self.notes)


def _metric_key(estimate: Estimate | None) -> str:
    if estimate is None:
        return "none"
    label = estimate.params.get("label")
    return estimate.metric if label is None else f"{estimate.metric}[{label}]"
