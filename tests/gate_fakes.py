"""A run as the gate sees it, made by hand: results and items of one case on invented texts."""

import numpy as np
from declared import claims
from recorded import result, run_file

from encheck.gating.types import EXIT_CODES, ExampleText, Gate, GateAgainst, GateRow, LostExample
from encheck.scoring.both_orders import BOTH_ORDERS
from encheck.scoring.item import ItemFrame, TextColumns
from encheck.scoring.pairs import LABELLED, PAIR
from encheck.scoring.triplets import TRIPLET

CASE = "short_is_farther_than_long"


def frame(near, far, *, clusters=None, split="", label=None, far_text=True):
    n, text = len(near), far_text and far is not None
    kind = TRIPLET if text else BOTH_ORDERS if far is not None else PAIR if label is None else LABELLED
    other = None if far is None else tuple(f"far {i}" for i in range(n)) if text else ()
    return ItemFrame(
        kind, f"{CASE}/m-d-1", tuple(f"d/{i}" for i in range(n)), tuple(f"source {i}" for i in range(n)),
        TextColumns(tuple(f"near {i}" for i in range(n)), np.array(near, float)),
        tuple(f"c{i if clusters is None else clusters[i]}" for i in range(n)),
        (split,) * n if isinstance(split, str) else tuple(split),
        None if far is None else TextColumns(other, np.array(far, float)), () if label is None else (label,) * n,
    )  # fmt: skip


def given(*, tested="antonym", kind="vector", error=None, verdict=None, check=CASE, **model):
    """What results.json says of the run: `run_file` makes results of it."""
    row = {
        "id": f"{check}/m-d-1/margin_rate", "check": check, "property": tested, "level": "1", "reason": "",
        "model": "m", "data": "d", "metric": "margin_rate", "value": 0.9, "low": 0.8, "high": 1.0, "n": 400,
        "clusters": 400, "floor": 0.8, "aim": 0.8, "verdict": verdict,
    }  # fmt: skip
    about = {"label": "m", "kind": kind, "error": error, **model}
    calibration = {"m": {"reference": 0.1, "identity": 1.0, "pairs": 2_000, "spread": 0.1}}
    data = {"name": "d", "fingerprint": "x", "language": {"lexicon": "embedded"}, "calibration": calibration}
    run = {"versions": {"encheck": "1"}, "settings": {"seed": 0, "models": ["/home/me/model"]}}
    said = claims(result(row))
    return {"run": run, "models": [about], "data": [data], "checks": [row], "claims": said}


def results(**more):
    return run_file(given(**more))


def scores(n=400, *, wins=0.9, lost=(), seed=0):
    """(near, far) scores with this share of wins; the wins at `lost` are turned into losses."""
    rng = np.random.default_rng(seed)
    near, far = rng.uniform(0.5, 0.9, (2, n))
    high, low = np.maximum(near, far) + 0.01, np.minimum(near, far)
    won = np.arange(n) < wins * n
    won[list(lost)] = False
    return np.where(won, high, low), np.where(won, low, high)


def gate_row(name="retrieval/mine/1", **more):
    """A row of a gate that blocks: of 456 items 29 are lost and 6 won."""
    return GateRow(**{
        "name": name, "family": "retrieval" if "retrieval" in name else "order", "kind": "rate", "n": 456,
        "clusters": 60, "baseline": 0.95, "candidate": 0.9, "change": -0.05, "low": -0.07, "high": -0.03, "delta": 0.02,
        "error": 0.01, "p": 0.001, "adjusted": 0.002, "outcome": "block", "gates": True, "evidence": True, "lost": 29,
        "gained": 6, "mcnemar": 0.01, "detectable": 0.05, "needed": None, "why": "95.0% to 90.0%",
        "means": "People search longer.", **more,
    })  # fmt: skip


def gate_against(*rows, outcome="block", **more):
    """What a gate decided by these rows against the baseline "old"."""
    reasons = tuple(f"{one.name}: {one.why}" for one in rows if one.outcome != "pass")
    return GateAgainst(**{"baseline": "old", "outcome": outcome, "rows": rows, "reasons": reasons, **more})


def gate_of_one(against):
    """A gate against one baseline."""
    return Gate(against.outcome, EXIT_CODES[against.outcome], against.partial, (against,))


def lost_example(*sides, source="all plans"):
    """An item that was lost, with a text a side."""
    return LostExample(source, tuple(ExampleText(side, (("same", side),), 0.9, 0.5) for side in sides))
