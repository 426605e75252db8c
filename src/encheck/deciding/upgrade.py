"""The whole upgrade: both models measured on an index in use, and one document with the findings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any

from encheck.deciding import shipping
from encheck.deciding.changes import Changes, changes
from encheck.deciding.index_in_use import IndexFaults, faults_of
from encheck.deciding.index_sources import Fresh
from encheck.deciding.score_ranges import Mapped, Range, firsts, mapped, ranged
from encheck.deciding.shipping import Gated, Verdict
from encheck.deciding.sides import Asked, Side, answered, encoded, encoded_again, stored_as_it_is
from encheck.deciding.space import MAPPED, Route, Space, compared, of_no_use
from encheck.encoders.protocol import Encoder
from encheck.encoders.stored import StoredVectors
from encheck.errors import UsageError
from encheck.gating.judgements import place_of, read
from encheck.options import Settings
from encheck.reporting.results import into
from encheck.running.resources import open_store, resolve_data, resolve_models
from encheck.running.speed import bytes_a_million, measured, tokens_a_text
from encheck.running.subject import Subject
from encheck.store import Store
from encheck.system.files import write_text
from encheck.system.progress import Progress

SCHEMA_VERSION = 2
RESULTS, PAGE, ADAPTER = "upgrade.json", "upgrade.html", "adapter.npz"
TEXT_SHOWN = 160
Weigher = Callable[[Space, Sequence[Side]], Gated]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is asked of an upgrade beside the settings of a run: thresholds in use, judgements, and whether to time."""

    thresholds: tuple[float, ...] = ()
    qrels: Path | None = None
    timing: bool = True


@dataclass(frozen=True)
class Upgrade:
    """What was found: the outcome, the reasons, the changes that shipping needs, and a checklist for a ticket.

    `exit_code` is 0 (ship, ship with these changes), 1 (do not ship) or 10 (cannot tell). `raw` is all of upgrade.json.
    """

    outcome: shipping.Outcome
    reasons: tuple[str, ...]
    changes: tuple[str, ...]
    checklist: tuple[str, ...]
    exit_code: int
    raw: Mapping[str, Any]


def measure(settings: Settings, wanted: Wanted, *, gate: Weigher, folder: Path | None, progress: Progress) -> Upgrade:
    """Hold the new model against the old one: `settings` name these two, in this order, and one data set.

    `gate` is asked once it is known whether the vectors are the same; it sees the old side and the new one.
    upgrade.json, and the adapter where there is one, go to the folder. UsageError for what cannot be compared,
    EncoderError where a model fails.
    """
    if folder is not None:
        with into(folder):
            pass  # a place that takes no files is said before anything is encoded
    store = open_store(settings)
    subjects = resolve_models(settings, store)
    (data,) = resolve_data(settings).values()
    asked = Asked.of(data, seed=settings.seed)
    candidate, in_use = subjects.values()
    new = encoded(candidate, asked, store, progress=progress)
    if new.queries is None:
        raise UsageError(f"{new.subject.label} has no vectors of the queries: {new.subject.error}")
    faults = _index_faults(in_use, new, asked)
    old = stored_as_it_is(in_use, asked) if faults else encoded(in_use, asked, store, progress=progress)
    found = _Found.of(old, new, asked, settings, wanted, store, faults)
    gated = Gated(None, (f"not run: {faults.says}",)) if faults else gate(found.space, (found.old, found.new))
    return _weighed(found, gated, wanted, folder)


def _index_faults(in_use: Subject, new: Side, asked: Asked) -> IndexFaults | None:
    """What is wrong with an index that is given as stored vectors; None of a model, which is encoded with."""
    if not isinstance(in_use.model, StoredVectors) or in_use.model.lacks(asked.documents, role="document"):
        return None
    source = new.subject.model
    made = dict(zip(asked.documents, new.documents, strict=True))
    assert isinstance(source, Encoder)
    fresh = Fresh(new.subject.label, source.index if isinstance(source, StoredVectors) else source, "document", made)
    return faults_of(in_use.model.index, fresh, made)


@dataclass(frozen=True)
class _Found:
    """What was measured."""

    old: Side
    new: Side
    asked: Asked
    space: Space
    changes: Changes | None
    ranges: tuple[Range | None, Range]
    thresholds: tuple[Mapped, ...]
    costs: tuple[dict[str, Any], dict[str, Any]]
    faults: IndexFaults | None

    @classmethod
    def of(
        cls, old: Side, new: Side, asked: Asked, settings: Settings, wanted: Wanted, store: Store,
        faults: IndexFaults | None,
    ) -> _Found:  # fmt: skip
        assert new.queries is not None
        repeats = old.queries is not None and not old.is_stored
        repeated = encoded_again(old, asked, store) if repeats else None
        space = of_no_use() if faults else compared(old, new, asked, repeated=repeated)
        after = answered(new.queries, new.documents, similarity=new.similarity, own=asked.own)
        changed: Changes | None = None
        was: Range | None = None
        thresholds: tuple[Mapped, ...] = ()
        if old.queries is not None:
            before = answered(old.queries, old.documents, similarity=old.similarity, own=asked.own)
            again = None
            if repeated is not None and repeated.queries is not None:
                again = answered(repeated.queries, repeated.documents, similarity=old.similarity, own=asked.own)
            qrels = wanted.qrels or (place_of(settings.queries) if settings.queries else None)
            judgements = read(qrels) if qrels else read(Path("no judgements"))
            changed = changes(before, after, asked, repeated=again, judgements=judgements)
            was = ranged(old, before, asked, seed=settings.seed)
            scores = firsts(before), firsts(after)
            thresholds = tuple(mapped(*scores, threshold, asked.log) for threshold in wanted.thresholds)
        ranges = was, ranged(new, after, asked, seed=settings.seed)
        costs = _cost(old, asked, timing=wanted.timing), _cost(new, asked, timing=wanted.timing)
        return cls(old, new, asked, space, changed, ranges, thresholds, costs, faults)


def _cost(side: Side, asked: Asked, *, timing: bool) -> dict[str, Any]:
    """What a model costs: dimension, bytes, speed, tokens, prompts, licence."""
    speed = measured(side.subject, asked.documents, asked.texts) if timing else None
    return {
        "dimension": side.dimension,
        "similarity": side.similarity,
        "bytes_per_million": bytes_a_million(side.dimension),
        "speed": asdict(speed) if speed else None,
        "tokens_per_document": tokens_a_text(side.subject, asked.documents),
        "prompts": dict(zip(("query", "document"), side.prompts, strict=True)),
        "licence": side.subject.config.licence,
    }


def _weighed(found: _Found, gated: Gated, wanted: Wanted, folder: Path | None) -> Upgrade:
    names = found.new.subject.label, found.old.subject.label
    licences = tuple(one["licence"] for one in found.costs)
    needed = tuple(
        shipping.needed_changes(
            found.old, found.new, found.space, found.thresholds, licences, documents=len(found.asked.documents)
        )
    )
    made = shipping.verdict(found.space, gated, found.changes, needed)
    if found.faults:
        made = shipping.Verdict("do not ship", (found.faults.says,), (found.faults.step,))
    steps = tuple(
        shipping.checklist(
            made,
            *names,
            has_thresholds=bool(wanted.thresholds),
            gate_folder=gated.folder,
            judge=_waits(gated),
            faults=found.faults,
        )
    )
    raw = _finite(_as_dict(found, gated, made, steps, adapter=folder is not None))
    if folder is not None:
        _write(folder, found, raw)
    return Upgrade(made.outcome, made.reasons, made.changes, steps, made.exit_code, raw)


def _waits(gated: Gated) -> bool:
    """Whether people's answers would decide the gate."""
    against = gated.said["against"] if gated.said else ()
    return any(search["judge"] for one in against for search in one.get("searches", ()))


def _write(folder: Path, found: _Found, raw: Mapping[str, Any]) -> None:
    with into(folder):
        if raw["adapter"] and found.space.adapter:
            about = {"new": found.new.subject.fingerprint, "old": found.old.subject.fingerprint}
            found.space.adapter.save(folder / ADAPTER, about)
        write_text(folder / RESULTS, json.dumps(raw, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def _as_dict(found: _Found, gated: Gated, made: Verdict, steps: tuple[str, ...], *, adapter: bool) -> dict[str, Any]:
    asked = found.asked
    return {
        "schema_version": SCHEMA_VERSION,
        "encheck": version("encheck"),
        "new": _model(found.new),
        "old": _model(found.old),
        "data": {
            "name": asked.name, "queries": len(asked.queries), "asked": int(asked.log.weights.sum()),
            "clusters": len(set(asked.log.clusters)), "documents": len(asked.documents), "judged": asked.is_judged,
            "own_documents": sum(one is not None for one in asked.own),
        },
        "outcome": made.outcome,
        "exit_code": made.exit_code,
        "reasons": list(made.reasons),
        "changes": list(made.changes),
        "checklist": list(steps),
        "gate": {"outcome": gated.outcome, "lines": list(gated.lines), "folder": gated.folder, **_profile(gated)},
        "index_faults": {"says": found.faults.says, "rows": list(found.faults.rows)} if found.faults else None,
        "space": _space(found.space),
        "adapter": _adapter(found.space) if adapter else None,
        "search": _search(found) if found.changes else None,
        "scores": dict(zip(("old", "new"), (one and asdict(one) for one in found.ranges), strict=True)),
        "thresholds": [asdict(one) | {"says": one.says} for one in found.thresholds],
        "costs": dict(zip(("old", "new"), found.costs, strict=True)),
    }  # fmt: skip


def _model(side: Side) -> dict[str, Any]:
    return {
        "label": side.subject.label,
        "fingerprint": side.subject.fingerprint,
        "adapter": side.subject.config.adapter,
    }


def _profile(gated: Gated) -> dict[str, Any]:
    """Behaviour by family and gate row, from the gate."""
    if not gated.said:
        return {"families": [], "rows": [], "against": None}
    (against, *_) = gated.said["against"]
    names = ("row", "family", "baseline", "candidate", "change", "low", "high", "outcome", "gates")
    return {
        "families": [{name: one[name] for name in ("family", "change", "low")} for one in against["families"]],
        "rows": [{name: row[name] for name in names} for row in against["rows"]],
        "against": against,
    }


def _space(space: Space) -> dict[str, Any]:
    return {
        "name": space.name, "needs_reindex": space.needs_reindex, "why": space.why, "says": space.says,
        "vectors": asdict(space.vectors) | {"says": space.vectors.says}, "fitted_on": space.texts,
        "routes": [_route(one) for one in space.routes],
        "controls": {name: [_route(one) for one in some] for name, some in space.controls.items()},
    }  # fmt: skip


def _route(one: Route) -> dict[str, Any]:
    figures = [asdict(figure) | {"says": figure.says} for figure in one.figures]
    return {"name": one.name, "top10": asdict(one.top), "figures": figures, "queries": one.queries}


def _adapter(space: Space) -> dict[str, Any] | None:
    """The adapter that is written, where vectors do not do as they come."""
    if space.adapter is None or space.name in ("same", "compatible"):
        return None
    route = next(one for one in space.routes if one.name == MAPPED)
    one = space.adapter
    return {
        "file": ADAPTER, "kind": one.kind, "how": one.how, "unit": one.unit, "fitted_on": space.texts,
        "says": route.says,
    }  # fmt: skip


def _search(found: _Found) -> dict[str, Any]:
    one = found.changes
    assert one is not None
    better = one.better and {
        **asdict(one.better),
        "figures": {
            name: {"before": before, "after": after, "change": asdict(change)}
            for name, (before, after, change) in one.better.figures.items()
        },
    }
    return {
        "moved": asdict(one.moved),
        "control": asdict(one.control) if one.control else None,
        "better": better,
        "tied": list(one.tied),
        "most": list(_most(found)),
    }


def _most(found: _Found) -> Iterator[dict[str, Any]]:
    """The queries that change most, with the beginning of each document that they find."""
    assert found.changes is not None
    texts = found.asked.documents
    for one in found.changes.most:
        lists = {
            side: [{"text": " ".join(texts[row].split())[:TEXT_SHOWN], "score": score} for row, score in some]
            for side, some in (("before", one.before), ("after", one.after))
        }
        query = found.asked.queries[one.query]
        yield {"query": query.text, "asked": query.weight, "rbo": one.rbo, **lists}


def _finite(value: Any) -> Any:
    """The same with None for what is no number, as JSON has it, and lists for tuples."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
