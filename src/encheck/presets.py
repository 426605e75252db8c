"""Decorators for the three checks of a phenomenon.

The first compares a change of meaning with a rewording, the second is a control, the third uses crossed groups.

    @seen_in_both_directions("number", capability="facts", tells="one number from another", means="...")
    def test_number_is_seen_in_both_directions(judge): ...

Each decorator is `claim` with default items, metric, floor and aim. Keyword arguments replace the defaults.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from encheck.claims import Function, claim
from encheck.generators.phenomenon import phenomenon_generator
from encheck.items import contrast, crossed
from encheck.metrics import adjusted_rate, both_directions, directions_mean, margin_rate, mean_margin
from encheck.metrics.crossed import crossed_figures
from encheck.metrics.metric import on_calibrated_scale

MARGINS = (mean_margin, mean_margin.calibrated)
RATES = (margin_rate, margin_rate.calibrated, *MARGINS)
probe_claim = partial(claim, floor=0.5, aim=0.8, source="docs/method/probes.md")


def declare_change_is_farther(name: str, **declared: Any) -> Callable[[Function], Function]:
    """Declare the check that changing this phenomenon moves a text farther than a rewording that keeps it."""
    items = contrast(phenomenon_generator(name, "kept"), phenomenon_generator(name, "changed"))
    shared = partial(probe_claim, property=name, metric=adjusted_rate.calibrated, gates=margin_rate, show=RATES)
    return shared(items, **declared)


def declare_other_statement_is_farther(name: str, **declared: Any) -> Callable[[Function], Function]:
    """Declare the control: a different statement in the same place is farther than a rewording of the meaning."""
    items = contrast(phenomenon_generator(name, "kept"), phenomenon_generator(name, "control"))
    shared = partial(probe_claim, property=name, metric=margin_rate.calibrated, show=(margin_rate, *MARGINS))
    return shared(items, **declared)


def declare_both_directions(name: str, **declared: Any) -> Callable[[Function], Function]:
    """Declare the check that each of two texts that differ in this phenomenon is nearer to its rewording.

    A scorer that goes by the surface wins one of the two directions. Guessing wins both directions in a quarter of the
    groups, so the floor is one quarter.
    """
    shared = partial(
        probe_claim, property=name, metric=both_directions.calibrated, gates=directions_mean,
        show=(on_calibrated_scale(crossed_figures),), floor=0.25,
    )  # fmt: skip
    return shared(crossed(name), **declared)
