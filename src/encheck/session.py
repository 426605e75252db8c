"""One run, as the plugin sees it: the cases that were selected, the bench they share, and the rows they leave."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from encheck.bench import Bench, Subject
from encheck.claims import Claim
from encheck.datasets import base as datasets
from encheck.encoders.config import known_models
from encheck.encoders.load import Device, config_for, load
from encheck.known_failures import known_failure, label_of
from encheck.messages import failure_message
from encheck.progress import Progress
from encheck.scores import Floats, MarginScores, Scores, TurnedScores
from encheck.settings import Settings
from encheck.store import DEFAULT_LIMIT, Store, default_path
from encheck.types import CheckResult, Estimate, Item, Items, Triplet, Turned, Verdict
from encheck.verdict import judge

log = logging.getLogger("encheck")


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
    models = labels(list(dict.fromkeys(option.encheck_model or ["sbert"])))
    data = data_labels(list(dict.fromkeys(option.encheck_data or ["probes"])))
    return [Case(function, claim, m, d, level, marker) for m in models for d in data for level in claim.levels]


def resolve_models(settings: Settings, store: Store) -> dict[str, Subject]:
    """The models of a run, checked and named; UsageError says what is wrong with one of them."""
    known = known_models(settings.models_file)
    device = Device(settings.device, settings.dtype)
    configs = {label: config_for(spec, known) for label, spec in labels(settings.models).items()}
    subjects = {k: Subject(k, c, load(c, device=device, file_hash=store.file_hash)) for k, c in configs.items()}
    for subject in subjects.values():
        subject.model.fingerprint()
    return subjects


def resolve_data(settings: Settings) -> dict[str, datasets.Dataset]:
    """The data of a run, loaded and named; UsageError says what is wrong with a file."""
    how: dict[str, Any] = {
        "sample": settings.sample, "seed": settings.seed, "skip_bad_rows": settings.skip_bad_rows
    }  # fmt: skip
    return {label: datasets.load(spec, label=label, **how) for label, spec in data_labels(settings.data).items()}


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
        self.bench = Bench(subjects, resolve_data(settings), self.store, seed=settings.seed)

    def prepare(self) -> None:
        """Encode everything that the cases need."""
        requests = [(c.model, c.data, c.claim, c.level) for c in self.cases]
        self.bench.prepare(requests, lock=self._lock, progress=Progress(quiet=self.quiet))

    def _lock(self) -> AbstractContextManager[object]:
        """One encoding process a device: the others wait, then find the vectors in the store."""
        from filelock import FileLock

        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "all")
        return FileLock(f"{self.store.path}.{label_of(self.settings.device)}-{label_of(visible)}.lock")

    def items(self, case: Case) -> Items:
        """What the case measures on."""
        return self.bench.items(case.data, case.claim, case.level)

    def scores(self, case: Case) -> Scores:
        """The similarities of the case's items."""
        return self.bench.scores(case.model, case.data, self.items(case))

    def row(
        self, case: Case, estimate: Estimate | None, verdict: Verdict | None, threshold: float | None, reason: str
    ) -> CheckResult:
        """A row of results.json."""
        metric = _metric_key(estimate)
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
        threshold = self._threshold(case, at_least)
        known = known_failure(case.claim_name, case.data, str(case.level), self._known_failures(case.model))
        verdict, reason = judge(estimate, threshold, known_failure=known)
        if verdict in ("pass", "stale_known_failure") and self._seen(case.data, config.trained_on):
            reason = f"{reason}; trained on {case.data}".removeprefix("; ")
        return self.row(case, estimate, verdict, threshold, reason)

    @staticmethod
    def _seen(data: str, trained_on: Sequence[str]) -> bool:
        return data in trained_on

    def _threshold(self, case: Case, default: float) -> float:
        """The model's own threshold, else the project's, else the check's; `claim/level` goes before `claim`."""
        own = self.bench.subjects[case.model].config.thresholds
        project = self.settings.project.get("thresholds", {})
        keys = (f"{case.claim_name}/{case.level}", case.claim_name)
        return float(next((table[key] for table in (own, project) for key in keys if key in table), default))

    def _known_failures(self, model: str) -> dict[str, str] | None:
        own = self.bench.subjects[model].config.known_failures
        project = self.settings.project.get("known_failures", {}).get(model)
        return dict(own) if own is not None else project

    def message(self, case: Case, row: CheckResult) -> str:
        """What the terminal says of a failure: the figure, the worst examples, how to see one again."""
        return failure_message(row, self.items(case).kept, self.scores(case), model=self._model_option(case))

    def _model_option(self, case: Case) -> str:
        return labels(self.settings.models)[case.model]

    def table(self, case: Case) -> dict[str, list[Any]]:
        """The items of a case with their scores, column by column."""
        return item_table(case, self.items(case).kept, self.scores(case))

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
            "calibration": {
                m: {"reference": s.reference, "identity": s.identity, "pairs": s.pairs} for m, s in scales.items() if s
            },
        }

    def close(self) -> None:
        """Keep the store within its limit, and let go of it."""
        if self.store.size() > self.store.limit:
            used = [s.model.fingerprint() for s in self.bench.subjects.values()]
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
    return {
        "label": subject.label,
        "name": config.name or config.adapter,
        "adapter": config.adapter,
        "fingerprint": subject.model.fingerprint(),
        "revision": config.revision,
        "licence": config.licence,
        "prompt": config.prompt,
        "trained_on": list(config.trained_on),
        "error": str(subject.error) if subject.error else None,
    }


def item_table(case: Case, items: Sequence[Item], scores: Scores) -> dict[str, list[Any]]:
    """Columns of the per-item file: texts, edits, scores. A pair has no far text; its near score is its score.

    A pair that is scored in both orders has no far text either; its far score is that of the turned pair.
    """
    near, far = _two(scores)
    lexical_near, lexical_far = _two(scores.lexical) if scores.lexical else (None, None)
    count = len(items)
    return {
        "case": [f"{case.claim_name}/{case.name}"] * count,
        "item": [i.id for i in items],
        "cluster": [i.cluster for i in items],
        "label": [None if isinstance(i, Triplet) else i.label for i in items],
        "source": [i.source if isinstance(i, Triplet) else i.first for i in items],
        "near": [i.near if isinstance(i, Triplet) else i.second for i in items],
        "far": [i.far if isinstance(i, Triplet) else None for i in items],
        "near_edits": [_near_edits(i) for i in items],
        "far_edits": [_edits(i.far_edits) if isinstance(i, Triplet) else None for i in items],
        "near_score": near.tolist(),
        "far_score": far.tolist() if far is not None else [None] * count,
        "near_overlap": lexical_near.tolist() if lexical_near is not None else [None] * count,
        "far_overlap": lexical_far.tolist() if lexical_far is not None else [None] * count,
    }


def _two(scores: Scores) -> tuple[Floats, Floats | None]:
    """The column of each item's score, and that of its second score where it has two."""
    if isinstance(scores, MarginScores):
        return scores.near, scores.far
    if isinstance(scores, TurnedScores):
        return scores.forward, scores.backward
    return scores.values, None


def _near_edits(item: Item) -> str:
    if isinstance(item, Turned):
        return _edits(())
    return _edits(item.near_edits if isinstance(item, Triplet) else item.edits)


def _edits(edits: Sequence[Any]) -> str:
    return json.dumps([[e.start, e.end, e.text] for e in edits], ensure_ascii=False)
