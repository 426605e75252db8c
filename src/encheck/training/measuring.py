"""What an encoding function scores on the items of a few cases, without a run: tables and calibration, as a gate has
them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from encheck.datasets.dataset import Dataset
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.protocol import ROW_A_TEXT, TRAINED, check_vectors
from encheck.errors import EncoderError, NothingToMeasure, UsageError, unknown
from encheck.gating.baseline import tables_of
from encheck.gating.weighing import Side
from encheck.items.variants import Maker
from encheck.running.bench import Bench
from encheck.running.case import Case
from encheck.running.shipped import shipped_checks
from encheck.running.subject import Subject
from encheck.similarity import SIMILARITIES
from encheck.store import Store
from encheck.system.lock import no_locks
from encheck.system.progress import Progress

Encode = Callable[[list[str]], Any]
MODEL, DATA = "model", "data"


@dataclass
class _Encoding:
    """The model as it is at this step; no two of them share a vector."""

    encode_texts: Encode
    similarity: str
    name: str = field(default_factory=lambda: f"training:{np.random.default_rng().integers(2**63)}")

    def fingerprint(self) -> str:
        return self.name

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> Any:  # noqa: ARG002
        vectors = np.asarray(self.encode_texts(list(texts)), np.float32)
        try:
            return check_vectors(vectors, texts)
        except EncoderError as error:
            is_row_a_text = vectors.ndim == 2 and len(vectors) == len(texts)
            raise EncoderError(f"the model in training: {error}. {TRAINED if is_row_a_text else ROW_A_TEXT}") from error


@dataclass(frozen=True)
class Plan:
    """What is measured: the cases that have items in the data."""

    dataset: Dataset
    cases: tuple[Case, ...]
    maker: Maker

    @property
    def checks(self) -> tuple[str, ...]:
        """The properties of its cases."""
        return tuple(dict.fromkeys(case.property for case in self.cases))


@cache
def shipped_cases() -> tuple[Case, ...]:
    """Every claim of the checks that come with encheck, at every level."""
    return tuple(
        Case(f.__name__, claim, MODEL, DATA, level, claim.property)
        for f, claim in shipped_checks()
        for level in claim.levels
    )


def measured(encode: Encode, plan: Plan, similarity: str = "cosine") -> Side:
    """The scores of the plan's items under this encoding.

    `encode` gives vectors of shape [n, d] for n texts. UsageError for an unknown similarity, EncoderError for vectors
    that are none.
    """
    if similarity not in SIMILARITIES:
        raise UsageError(unknown("similarity", similarity, SIMILARITIES))
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "store.sqlite")
        found = _measured(_Encoding(encode, similarity), plan, store)
        store.close()
    return found


def _measured(encoding: _Encoding, plan: Plan, store: Store) -> Side:
    subject = Subject(MODEL, ModelConfig(label=MODEL), encoding)
    bench = Bench({MODEL: subject}, {DATA: plan.dataset}, store, maker=plan.maker)
    requests = [(c.model, c.data, c.claim, c.level) for c in plan.cases]
    bench.prepare(requests, locks=no_locks, progress=Progress(quiet=True))
    bench.refuse_failed(MODEL)
    items: dict[str, Any] = {}
    for case in plan.cases:
        with suppress(NothingToMeasure):
            found = bench.items(DATA, case.claim, case.level)
            items[str(case.id)] = bench.scores(MODEL, DATA, found).frame(case.id, found.kept).to_columns()
    rows = [_row(case) for case in plan.cases if str(case.id) in items]
    entries = {case.check: asdict(case.claim.declared) for case in plan.cases}
    scale = bench.scale(MODEL, DATA)
    tables = tables_of({"checks": rows, "claims": entries}, items, MODEL)
    return Side(tables, {DATA: scale} if scale else {})


def _row(case: Case) -> dict[str, str]:
    """What results.json would say of a case, as far as its table needs it."""
    return {
        "id": f"{case.id}/x", "check": case.check, "property": case.property, "data": DATA,
        "level": str(case.level), "model": MODEL,
    }  # fmt: skip
