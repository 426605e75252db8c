"""One run, as the plugin sees it: the cases that were selected, the bench they share, and the rows they leave."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from encheck.bench import Bench, Subject
from encheck.chain_table import chain_table
from encheck.claims import Claim
from encheck.datasets import base as datasets
from encheck.encoders.config import ModelConfig, known_models, with_args
from encheck.encoders.load import Device, as_fetched, config_for, load, owner_of
from encheck.errors import UsageError, unknown
from encheck.fluency import Surprisal
from encheck.known_failures import known_failure, label_of
from encheck.language.english import English, Lock
from encheck.language.lexicon import lexicon
from encheck.language.pipeline import Pipeline
from encheck.lock import Lock as LockFile
from encheck.making import Maker
from encheck.messages import failure_message
from encheck.progress import Progress
from encheck.scores import ChainScores, Floats, MarginScores, Scores, TurnedScores
from encheck.settings import Settings, arguments_for, model_options, models_of
from encheck.store import DEFAULT_LIMIT, Store, default_path
from encheck.types import (
    Chain,
    CheckResult,
    Estimate,
    Item,
    Items,
    Query,
    Repeated,
    SentencePair,
    Triplet,
    Turned,
    Verdict,
)
from encheck.verdict import judge
from encheck.writing import Continuer, back_translator

log = logging.getLogger("encheck")
CONTRACT = "contract"  # its checks decide with a baseline too: a contract is no threshold


@dataclass(frozen=True)
class Case:
    """One claim x model x data x level: what one pytest item tests."""

    function: str
    claim: Claim
    model: str
    data: str
    level: int | str
    marker: str = ""

    @property
    def name(self) -> str:
        """The id between brackets: model-data-level."""
        return f"{self.model}-{self.data}-{self.level}"

    @property
    def claim_name(self) -> str:
        """The test's name without `test_`."""
        return self.function.removeprefix("test_")


def labels(specs: Sequence[str]) -> dict[str, str]:
    """Label -> specification of the models; two that would have the same label get numbers.

    >>> labels(["sbert", "./a/ckpt", "./b/ckpt"])
    {'sbert': 'sbert', 'ckpt': './a/ckpt', 'ckpt-2': './b/ckpt'}
    """
    return _distinct((_model_stem(spec), spec) for spec in specs)


def _model_stem(spec: str) -> str:
    path = spec.rstrip("/\\").replace("\\", "/")
    is_path = path.startswith((".", "/", "~")) or Path(spec).is_dir()
    return Path(path).resolve().name if is_path else spec


def data_labels(specs: Sequence[str]) -> dict[str, str]:
    """Label -> specification of the data: the name before the colon.

    >>> data_labels(["mrpc:x", "pairs:a.csv", "pairs:b.csv"])
    {'mrpc': 'mrpc:x', 'pairs': 'pairs:a.csv', 'pairs-2': 'pairs:b.csv'}
    """
    return _distinct((spec.partition(":")[0], spec) for spec in specs)


def _distinct(named: Iterable[tuple[str, str]]) -> dict[str, str]:
    out: dict[str, str] = {}
    for stem, spec in named:
        label, number = label_of(stem), 1
        while label in out:
            number += 1
            label = f"{label_of(stem)}-{number}"
        out[label] = spec
    return out


def cases(option: Any, function: str, claim: Claim, marker: str) -> list[Case]:
    """Every model x data x level of one claim. Nothing is loaded or checked yet."""
    models = labels(models_of(option))
    data = data_labels(list(dict.fromkeys(option.encheck_data or ["probes"])))
    return [Case(function, claim, m, d, level, marker) for m in models for d in data for level in claim.levels]


def clashes(selected: Iterable[tuple[Any, str, Case]]) -> Iterator[tuple[Any, str]]:
    """(test, what is wrong), where several of (test, place, case) would have the same ids in results and baselines."""
    by_id: dict[str, list[tuple[Any, str]]] = {}
    for test, place, case in selected:
        by_id.setdefault(f"{case.claim_name}/{case.name}", []).append((test, place))
    for name, found in by_id.items():
        places = " and ".join(place for _, place in found)
        problem = (
            f"{len(found)} checks would have the results {name!r}: {places}. A check "
            "is known by its test's name alone. Remedy: give each its own, and write values of one check as "
            "@claim(..., levels=(...))"
        )
        yield from ((test, problem) for test, _ in found if len(found) > 1)


PATIENCE = 5.0  # seconds that a run waits for another in silence
TEXTS_PER_SECOND = 150  # a small encoder on two CPU cores


def roughly(cases: Sequence[Case], data: Mapping[str, datasets.Dataset]) -> str:
    """What these cases ask for, before anything is made or encoded: at most so many items, about so long."""
    models = {case.model for case in cases}
    sizes = [max(len(data[c.data].groups), 1) for c in cases]
    once = sum(2 * len(d.groups) + len(d.pairs) for d in data.values())
    texts = once + sum(sizes) // max(len(models), 1)
    minutes = max(1, round(len(models) * texts / TEXTS_PER_SECOND / 60))
    return (
        f"{len(cases)} cases, at most {sum(sizes):,} items; about {texts:,} texts a model: some {minutes} min where a "
        f"small encoder has two CPU cores ({TEXTS_PER_SECOND} texts a second), and no time for what the store has"
    )


def resolve_models(settings: Settings, store: Store) -> dict[str, Subject]:
    """The models of a run, checked and named; UsageError says what is wrong with one of them."""
    known = known_models(settings.models_file)
    device = Device(settings.device, settings.dtype)
    configs = {label: _config(label, spec, settings, known) for label, spec in labels(settings.models).items()}
    _refuse_unknown_labels(settings.model_args, configs)
    models = {k: load(c, device=device, file_hash=store.file_hash) for k, c in configs.items()}
    subjects = {k: Subject(k, configs[k], model, owner_of(model)) for k, model in models.items()}
    for subject in subjects.values():
        subject.model.fingerprint()
    return subjects


def _config(label: str, spec: str, settings: Settings, known: Mapping[str, ModelConfig]) -> ModelConfig:
    """The entry of a model with the run's arguments over it; what a path was taken for is said."""
    given = arguments_for(label, settings.model_args)
    config = config_for(spec, known, adapter=given.get("adapter"))
    if spec not in known and "adapter" not in given:
        config = as_fetched(config)
    if spec not in known and config.description:
        log.warning("%s: %s", label, config.description)
    return with_args(config, given)


def _refuse_unknown_labels(given: Sequence[str], known: Mapping[str, ModelConfig]) -> None:
    for text in given:
        model, colon, _ = text.partition("=")[0].rpartition(":")
        if colon and model not in known:
            raise UsageError(f"--model-arg {text}: {unknown('model', model, known)}")


def resolve_data(settings: Settings) -> dict[str, datasets.Dataset]:
    """The data of a run, loaded and named; UsageError says what is wrong with a file."""
    how: dict[str, Any] = {
        "sample": settings.sample, "seed": settings.seed, "skip_bad_rows": settings.skip_bad_rows
    }  # fmt: skip
    labelled = data_labels(settings.data)
    for name in dict.fromkeys(spec.partition(":")[0] for spec in settings.data):
        same = {label: spec for label, spec in labelled.items() if spec.partition(":")[0] == name}
        if len(same) > 1:
            log.warning("%s", "; ".join(f"{label} is --data={spec}" for label, spec in same.items()))
    return {label: datasets.load(spec, label=label, **how) for label, spec in labelled.items()}


def resolve_english(settings: Settings, store: Store, *, lock: Lock = nullcontext) -> English:
    """The language resources of a run; LanguageError or UsageError where one of those that were named is not there."""
    pipeline = Pipeline(settings.spacy_model, file_hash=store.file_hash)
    if settings.spacy_model:
        pipeline.fingerprint  # noqa: B018 - reads its files
    if settings.lexicon != "embedded":
        lexicon(settings.lexicon)
    return English(pipeline, settings.lexicon, settings.generator_mode, store=store, lock=lock)


def give_writers(maker: Maker, settings: Settings, store: Store, *, lock: Lock = nullcontext) -> None:
    """Give the maker the language model and the translators that the settings name; UsageError where there is none."""
    asked: dict[str, Any] = {"device": settings.device, "store": store, "lock": lock}
    if settings.continuation_model:
        maker.continuations = model = Continuer(settings.continuation_model, **asked)
        maker.surprisal = Surprisal(model)
    if settings.back_translate:
        maker.translations = back_translator(settings.back_translate, **asked)


def open_store(settings: Settings) -> Store:
    """The store that the settings name, or the default one."""
    megabytes = settings.project.get("store-limit-mb", DEFAULT_LIMIT // 1024**2)
    return Store(settings.store or default_path(), limit=int(megabytes) * 1024**2)


class Notes(logging.Handler):
    """Keeps what is logged for the report, and shows it at once on standard error."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Note one line."""
        line = record.getMessage()
        if line not in self.lines:
            self.lines.append(line)
            print(f"encheck: {line}", file=_stderr(), flush=True)


@contextmanager
def _held(path: str, does: str) -> Iterator[None]:
    """Hold this lock; where that takes long, say what for, but not where it may be another worker of the same run."""
    from filelock import FileLock, Timeout

    lock = FileLock(path, is_singleton=True)  # so that who holds it may take it again
    try:
        lock.acquire(timeout=-1 if "PYTEST_XDIST_WORKER" in os.environ else PATIENCE)
    except Timeout:
        log.warning("waiting for another run that %s with the same store: it holds %s", does, path)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _held_if_free(path: str) -> Iterator[bool]:
    """Hold this lock where nobody else does; say whether."""
    from filelock import FileLock, Timeout

    lock = FileLock(path, is_singleton=True)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


@contextmanager
def store_notes() -> Iterator[list[str]]:
    """Show and give what is said of the store meanwhile; the workers of xdist, who come later, say the rest."""
    notes = Notes()
    notes.addFilter(lambda record: record.module == "store")
    log.addHandler(notes)
    try:
        yield notes.lines
    finally:
        log.removeHandler(notes)


def _stderr() -> Any:
    import sys

    return sys.__stderr__ or sys.stderr


class Session:
    """The bench of a run, the cases that are measured on it, and the rows that come of them."""

    def __init__(self, settings: Settings, cases: Sequence[Case], *, quiet: bool = False) -> None:
        self.settings, self.cases, self.quiet = settings, list(cases), quiet
        self.notes = Notes()
        log.addHandler(self.notes)
        self.store = open_store(settings)
        subjects = resolve_models(settings, self.store)
        self.english = resolve_english(settings, self.store, lock=self._parse_lock)
        maker = Maker(settings.seed, self.english, LockFile.read(settings.lock) if settings.lock else None)
        give_writers(maker, settings, self.store, lock=self._lock)
        self.bench = Bench(subjects, resolve_data(settings), self.store, maker=maker)

    def prepare(self) -> None:
        """Encode everything that the cases need.

        Who tries the models out keeps the device until it has encoded: another worker would load them once more.
        """
        requests = [(c.model, c.data, c.claim, c.level) for c in self.cases]
        how: dict[str, Any] = {"lock": self._lock, "progress": Progress(quiet=self.quiet)}
        with _held_if_free(self._device) as is_ours:
            if is_ours:
                self.bench.try_out(requests, **how)
            self.bench.prepare(requests, **how)

    @property
    def _device(self) -> str:
        """The lock of what encodes."""
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "all")
        return f"{self.store.path}.{label_of(self.settings.device)}-{label_of(visible)}.lock"

    def _lock(self) -> AbstractContextManager[object]:
        """One encoding process a device: the others wait, then find the vectors in the store."""
        return _held(self._device, "encodes")

    def _parse_lock(self) -> AbstractContextManager[object]:
        """One parsing process at a time: the others wait, then find the parses in the store."""
        return _held(f"{self.store.path}.parse.lock", "parses")

    def items(self, case: Case) -> Items:
        """What the case measures on."""
        return self.bench.items(case.data, case.claim, case.level)

    def scores(self, case: Case) -> Scores:
        """The similarities of the case's items; a model that failed is said before any item is made."""
        self.bench.refuse_failed(case.model)
        return self.bench.scores(case.model, case.data, self.items(case))

    def row(
        self, case: Case, estimate: Estimate | None, verdict: Verdict | None, threshold: float | None, reason: str
    ) -> CheckResult:
        """A row of results.json; what a figure names a model for is noted."""
        metric = _metric_key(estimate)
        if estimate and (named := estimate.params.get("ranks_by")):
            said = f"{estimate.value:.2f} ({case.claim_name})"
            log.warning("%s ranks the paraphrases of %s by %s: Spearman %s", case.model, case.data, named, said)
        return CheckResult(
            id=f"{case.claim_name}/{case.name}/{metric}",
            claim=case.claim_name,
            check=case.marker,
            capability=case.claim.capability or case.marker,
            level=str(case.level),
            model=case.model,
            data=case.data,
            estimate=estimate,
            verdict=verdict,
            threshold=threshold,
            reason=reason,
            left_out=self._left_out(case),
        )

    def _left_out(self, case: Case) -> dict[str, int]:
        found = self.bench.found(case.data, case.claim, case.level)
        return found.left_out if found else {}

    def judged(self, case: Case, estimate: Estimate, at_least: float) -> CheckResult:
        """The row of a figure that decides, with its verdict."""
        config = self.bench.subjects[case.model].config
        threshold, own = self._threshold(case, at_least)
        known = known_failure(case.claim_name, case.data, str(case.level), self._known_failures(case.model))
        verdict, reason = judge(estimate, threshold, known_failure=known)
        if verdict in ("pass", "stale_known_failure") and self._seen(case.data, config.trained_on):
            reason = f"{reason}; trained on {case.data}".removeprefix("; ")
        if self.settings.baseline and not own and verdict != "error" and case.marker != CONTRACT:
            return self.row(case, estimate, None, threshold, "")  # shown; what decides is the gate
        return self.row(case, estimate, verdict, threshold, reason)

    @staticmethod
    def _seen(data: str, trained_on: Sequence[str]) -> bool:
        return data in trained_on

    def _threshold(self, case: Case, default: float) -> tuple[float, bool]:
        """The model's own threshold, else the project's, else the check's, and whether somebody chose it.

        `claim/level` goes before `claim`.
        """
        own = self.bench.subjects[case.model].config.thresholds
        project = self.settings.project.get("thresholds", {})
        keys = (f"{case.claim_name}/{case.level}", case.claim_name)
        chosen = next((table[key] for table in (own, project) for key in keys if key in table), None)
        return float(default if chosen is None else chosen), chosen is not None

    def _known_failures(self, model: str) -> dict[str, str] | None:
        own = self.bench.subjects[model].config.known_failures
        project = self.settings.project.get("known_failures", {}).get(model)
        return dict(own) if own is not None else project

    def message(self, case: Case, row: CheckResult) -> str:
        """What the terminal says of a failure: the figure, the worst examples, how to see one again."""
        scores = self.scores(case)
        model, folder = self._model_option(case), self.settings.report_dir
        return failure_message(row, shown(self.items(case).kept, scores), scores, model=model, folder=folder)

    def _model_option(self, case: Case) -> str:
        spec = labels(self.settings.models)[case.model]
        return model_options(case.model, spec, self.settings.model_args)

    def table(self, case: Case) -> dict[str, list[Any]]:
        """The items of a case with their scores, column by column."""
        scores = self.scores(case)
        return item_table(case, shown(self.items(case).kept, scores), scores)

    def describe(self) -> dict[str, Any]:
        """Models, data, notes and times of this run, for results.json."""
        return {
            "models": [_describe_model(s) for s in self.bench.subjects.values()],
            "data": [self._describe_data(name) for name in self.bench.data],
            "notes": self.notes.lines,
            "seconds": {**self.bench.seconds},
            "texts": self._texts(),
            "encoded": {s.label: s.encoded for s in self.bench.subjects.values()},
        }

    def _texts(self) -> dict[str, int]:
        """Distinct texts that each criterion needs, for all models of the run together."""
        texts: dict[str, set[tuple[str, str]]] = {}
        for case in self.cases:
            found = self.bench.found(case.data, case.claim, case.level)
            kept = found.kept if found else ()
            pairs = (pair for item in kept for pair in item.pairs)
            texts.setdefault(case.marker, set()).update((case.model, text) for pair in pairs for text in pair)
        return {marker: len(found) for marker, found in texts.items()}

    def _describe_data(self, name: str) -> dict[str, Any]:
        data = self.bench.data[name]
        scales = {m: self.bench.scale(m, name) for m in self.bench.subjects}
        return {
            "name": name,
            "licence": data.licence,
            "rows": data.rows,
            "pairs": len(data.pairs),
            "groups": len(data.groups),
            "clusters": len(data.universe),
            "labels": data.labels,
            "skipped": len(data.skipped),
            "sample": self.settings.sample if data.sampled else None,
            "seed": self.settings.seed,
            "fingerprint": data.fingerprint,
            "language": self.english.describe() if self._generated(name) else None,
            "calibration": {
                m: {"reference": s.reference, "identity": s.identity, "pairs": s.pairs, "spread": s.spread}
                for m, s in scales.items()
                if s
            },
        }

    def _generated(self, name: str) -> bool:
        """Whether variants of this data were made by the generators that read language."""
        return self.english.asked and not all(group.variants for group in self.bench.data[name].groups)

    def close(self) -> None:
        """Keep the store within its limit, and let go of it."""
        if self.store.size() > self.store.limit:
            used = [s.fingerprint for s in self.bench.subjects.values()]
            used += [self.english.pipeline.fingerprint] * self.english.asked
            for gone in self.store.prune(keep=used):
                log.warning("the store is over its limit: dropped the %d rows of %s", gone.rows, gone.name)
        self.store.close()
        log.removeHandler(self.notes)


def _metric_key(estimate: Estimate | None) -> str:
    if estimate is None:
        return "none"
    label = estimate.params.get("label")
    return estimate.metric if label is None else f"{estimate.metric}[{label}]"


def _describe_model(subject: Subject) -> dict[str, Any]:
    config = subject.config
    about: dict[str, Any] = getattr(subject.model, "about", dict)()
    return {
        "label": subject.label,
        "name": config.name or config.adapter,
        "adapter": config.adapter,
        "fingerprint": subject.fingerprint,
        "kind": subject.kind,
        "revision": about.pop("revision", config.revision),
        "licence": config.licence,
        "prompt": about.pop("prompt", config.prompt),
        "how": about,
        "trained_on": list(config.trained_on),
        "error": str(subject.error) if subject.error else None,
    }


def item_table(case: Case, items: Sequence[Item], scores: Scores) -> dict[str, list[Any]]:
    """Columns of the per-item file: texts, edits, scores. A pair has no far text; its near score is its score.

    A pair that is scored in both orders has no far text either; its far score is that of the turned pair.
    """
    if isinstance(scores, ChainScores):
        return chain_table(f"{case.claim_name}/{case.name}", scores)
    plain = [item for item in items if not isinstance(item, Chain | Query | Repeated)]
    near, far = _two(scores)
    lexical_near, lexical_far = _two(scores.lexical) if scores.lexical else (None, None)
    count = len(plain)
    return {
        "case": [f"{case.claim_name}/{case.name}"] * count,
        "item": [i.id for i in plain],
        "cluster": [i.cluster for i in plain],
        "split": [i.split for i in plain],
        "label": [None if isinstance(i, Triplet) else i.label for i in plain],
        "source": [i.source if isinstance(i, Triplet) else i.first for i in plain],
        "near": [i.near if isinstance(i, Triplet) else i.second for i in plain],
        "far": [i.far if isinstance(i, Triplet) else None for i in plain],
        "near_edits": [_near_edits(i) for i in plain],
        "far_edits": [_edits(i.far_edits) if isinstance(i, Triplet) else None for i in plain],
        "near_score": near.tolist(),
        "far_score": far.tolist() if far is not None else [None] * count,
        "near_overlap": lexical_near.tolist() if lexical_near is not None else [None] * count,
        "far_overlap": lexical_far.tolist() if lexical_far is not None else [None] * count,
        "gold": [i.score if isinstance(i, SentencePair) else None for i in plain],
        "key": [i.key or None if isinstance(i, SentencePair) else None for i in plain],
        "near_why": [_why(i) or None for i in plain],
        "far_why": [i.far_why or None if isinstance(i, Triplet) else None for i in plain],
    }


def shown(items: Sequence[Item], scores: Scores) -> Sequence[Item]:
    """The items as reports show them: a query with the text that was found, a repeated text as a pair."""
    found = scores.found if isinstance(scores, MarginScores) else ()
    return [_shown(item, found[i] if found else None) for i, item in enumerate(items)]


def _shown(item: Item, found: str | None) -> Item:
    if isinstance(item, Repeated):
        return SentencePair(item.id, item.text, item.text, None, item.cluster, item.split)
    if not isinstance(item, Query):
        return item
    if found is None:
        return SentencePair(item.id, item.source, item.near, None, item.cluster, item.split, item.near_edits)
    return Triplet(item.id, item.source, item.near, found, item.cluster, item.near_edits, (), item.split)


def _two(scores: Scores) -> tuple[Floats, Floats | None]:
    """The column of each item's score, and that of its second score where it has two."""
    if isinstance(scores, MarginScores):
        return scores.near, scores.far
    if isinstance(scores, TurnedScores):
        return scores.forward, scores.backward
    assert not isinstance(scores, ChainScores)
    return scores.values, None


def _why(item: SentencePair | Triplet | Turned) -> str:
    if isinstance(item, Turned):
        return ""
    return item.near_why if isinstance(item, Triplet) else item.why


def _near_edits(item: SentencePair | Triplet | Turned) -> str:
    if isinstance(item, Turned):
        return _edits(())
    return _edits(item.near_edits if isinstance(item, Triplet) else item.edits)


def _edits(edits: Sequence[Any]) -> str:
    return json.dumps([[e.start, e.end, e.text] for e in edits], ensure_ascii=False)
