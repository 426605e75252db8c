"""The decorator `@claim`, which declares a check: its items, its metric, its floor and aim, and its texts.

    @claim(contrast(casing, antonym), property="casing", metric=margin_rate.calibrated, floor=0.5, aim=0.95)
    def test_lower_case_is_nearer_than_antonym(judge): ...

The run collects the claims of all selected checks, encodes all their texts together, then calls the checks. It writes
the declarations to results.json, where the gate, the balanced score, comparisons, reports and exports read them.
"""

from __future__ import annotations

import ast
import inspect
import math
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from encheck.errors import UsageError, unknown_name_message
from encheck.ids import PROPERTY_NAME, PROPERTY_RULE, PYTEST_MARKERS
from encheck.types import ClaimEntry, Declaration, Estimate, Floor

if TYPE_CHECKING:
    from encheck.datasets.dataset import Dataset
    from encheck.scoring.item import Items

Builder = Callable[["Dataset", int | str, Any], "Items"]  # the last is the `Maker` of the variants
Figure = Callable[..., Estimate | Iterable[Estimate]]  # a function of scores; it may take settings of the run by name
Function = TypeVar("Function", bound=Callable[..., object])
ATTRIBUTE = "__encheck_claim__"
CONTRACT = "contract"  # a broken contract blocks, also with a baseline: it is not a threshold
OF_ANY_TEXT = (CONTRACT, "health")  # families whose checks measure any text of any data
FAMILIES = ("meaning kept", "meaning changed", "order", "retrieval", "invariance", "health", "downstream")
PICTURES = ("profile", "divergence")
SURFACE = "surface"  # as a floor: the best surface baseline's figure


class DeclaredMetric(Protocol):
    """The attributes of a metric that a claim reads: see `encheck.metrics.Metric`."""

    def __call__(self, scores: Any, /, *args: Any, **options: Any) -> Estimate:
        """Return the metric's figure over these scores."""

    @property
    def name(self) -> str:
        """The metric's name in results.json."""

    @property
    def base(self) -> str:
        """The metric's name without the scale."""

    @property
    def chance(self) -> float | None:
        """The metric's value for a model that guesses."""

    @property
    def why_reported(self) -> str:
        """Why the gate never uses the metric; empty if it may."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a check declares with `@claim`.

    `items(dataset, level, maker)` makes its items for each of `levels`. `judge` uses `metric` and reports the figures
    in `show` next to it. `declared` has no property if the test's own marker names it.
    """

    items: Builder
    levels: tuple[int | str, ...] = (1,)
    declared: Declaration = field(default_factory=Declaration)
    metric: DeclaredMetric | None = None
    show: tuple[Figure, ...] = ()

    @property
    def family(self) -> str:
        """The gate's family: one of FAMILIES, or CONTRACT."""
        return self.declared.family

    @property
    def aim(self) -> float | None:
        """The value that the metric should reach."""
        return self.declared.aim

    @property
    def floor(self) -> Floor:
        """The value that the metric may not fall below."""
        return self.declared.floor

    @property  # last: the name hides the decorator's
    def property(self) -> str:
        """The tested property; empty if the test's own marker gives it."""
        return self.declared.property


def claim(
    items: Builder,
    *,
    levels: tuple[int | str, ...] = (1,),
    property: str = "",  # noqa: A002 - the word for it
    family: str = "meaning changed",
    metric: DeclaredMetric | None = None,
    show: tuple[Figure, ...] = (),
    gates: DeclaredMetric | str | None = None,
    chance: float | None = None,
    aim: float | None = None,
    floor: Floor = None,
    unjudged: str = "",
    source: str = "",
    part: Literal["all", "test"] = "all",
    criterion: int = 0,
    pictures: tuple[str, ...] = (),
    step: str = "",
    selects: bool = False,
    proxy: str = "",
    primary: bool = False,
    means: str = "",
    capability: str = "",
    headline: bool = False,
    tells: str = "",
) -> Callable[[Function], Function]:
    """Declare that a test function is a check.

    Args:
        items: a function that makes the items of a data set, such as `encheck.items.against_paraphrase(generator)`.
        levels: numbers or names, such as the number of words that a generator changes. The check runs once for each.
        property: the property that the check tests; -m selects it. Default: the test's own marker.
        metric: the metric that `judge` uses.
        show: figures to report next to `metric`: metrics, or functions of the scores that return estimates.
        gates: the metric that the gate compares item by item, or the reason why the gate only reports the check.
            Default: `metric`, if it has a value per item.
        chance: the metric's value for a model that guesses. Default: `metric.chance`.
        aim: the value that the metric should reach, in its unit: a share from 0 to 1, or a correlation.
        floor: the value that it must not fall below: a number up to `aim`, or "surface" for the best surface baseline.
        unjudged: the reason why the check has no verdict. The gate still uses the check if `gates` names a metric.

    `Declaration` describes the other arguments.

    Returns:
        A decorator that returns the test function unchanged.

    Raises:
        UsageError: the levels are wrong, -m cannot select the property, the family or a picture is unknown, `metric` is
            not a metric, or `floor`, `aim` and `unjudged` contradict each other.

    >>> from encheck.generators.antonym import antonym
    >>> from encheck.items import against_paraphrase
    >>> from encheck.metrics import margin_rate
    >>> @claim(against_paraphrase(antonym), property="antonym", metric=margin_rate.calibrated, floor=0.5, aim=0.8)
    ... def test_antonym_is_farther_than_paraphrase(judge):
    ...     judge()
    >>> claim_of(test_antonym_is_farther_than_paraphrase).declared.aim
    0.8
    """

    def mark(function: Function) -> Function:
        place = f"{function.__qualname__} of {function.__module__}: @claim"
        _refuse_invalid_declaration(place, levels, property, family, metric, pictures)
        if isinstance(floor, str) and floor != SURFACE:
            raise UsageError(f"{place} has floor={floor!r}, but should have a number, {SURFACE!r} or None")
        if any(isinstance(one, int | float) and not math.isfinite(one) for one in (floor, aim)):
            raise UsageError(f"{place} has floor={floor} and aim={aim}, but should have finite numbers")
        if floor is not None and aim is None:
            raise UsageError(f"{place} has floor={floor!r} and no aim: a figure needs an aim to pass")
        if unjudged and aim is not None:
            raise UsageError(f"{place} has unjudged={unjudged!r} and aim={aim:g}, but should have one of them")
        if isinstance(floor, int | float) and aim is not None and floor > aim:
            raise UsageError(f"{place} has floor={floor:g} above aim={aim:g}")
        weighed = gates or unjudged or metric
        if isinstance(weighed, str) or weighed is None:  # the reason why the check does not gate
            gated, reported = "", weighed or ""
        else:
            gated, reported = ("", weighed.why_reported) if weighed.why_reported else (weighed.base, "")
        declared = Declaration(
            property, family, metric.name if metric else "", gated, reported,
            chance if chance is not None or metric is None else metric.chance,
            aim, floor, unjudged, source, part, criterion, pictures, step, selects, proxy,
            primary, means, capability, headline, tells,
        )  # fmt: skip
        setattr(function, ATTRIBUTE, Claim(items, tuple(levels), declared, metric, tuple(show)))
        return function

    return mark


def _refuse_invalid_declaration(
    place: str, levels: object, name: str, family: str, metric: object, pictures: tuple[str, ...]
) -> None:
    """Raise UsageError for an invalid declaration."""
    listed = levels if isinstance(levels, tuple | list) else ()
    if not all(isinstance(level, int | str) for level in listed) or not 0 < len(listed) == len(set(listed)):
        raise UsageError(
            f"{place} has levels={levels!r}, but should have a "
            "tuple of one or more different numbers or names: levels=(1,), levels=(1, 2, 3)"
        )
    if name and not PROPERTY_NAME.fullmatch(name):
        raise UsageError(f"{place} has property={name!r}, but should have {PROPERTY_RULE}")
    if family not in (*FAMILIES, CONTRACT):
        raise UsageError(f"{place} has an {unknown_name_message('family', family, (*FAMILIES, CONTRACT))}")
    if metric is not None and not hasattr(metric, "why_reported"):
        raise UsageError(f"{place} has metric={metric!r}, but should have a Metric of encheck.metrics")
    for picture in pictures:
        if picture not in PICTURES:
            raise UsageError(f"{place} has an {unknown_name_message('picture', picture, PICTURES)}")


def tested_property(claim: Claim, markers: Iterable[str]) -> str:
    """Return the property that a check declares, or else the name of its nearest marker that is not pytest's own."""
    return claim.property or next((name for name in markers if name not in PYTEST_MARKERS), "unmarked")


def claim_of(function: object) -> Claim | None:
    """Return the claim of a test function, or None if it is not a check."""
    return getattr(function, ATTRIBUTE, None)


def floor_and_aim(claim: Claim, metric: str, at_least: float | None) -> tuple[Floor, float] | None:
    """Return the (floor, aim) that `judge` applies to this metric; None if the check has no verdict.

    If the claim declares no aim, `at_least` is both floor and aim. Raise UsageError if both or neither are given, if
    `at_least` is not finite, or if the metric is not the declared one.
    """
    declared = claim.declared
    if declared.metric and metric != declared.metric:
        raise UsageError(f"judge was given {metric}, but @claim declares metric={declared.metric}")
    if declared.unjudged:
        return None
    if at_least is not None and not math.isfinite(at_least):
        raise UsageError(f"judge was given at_least={at_least}, but should have a finite number")
    if declared.aim is not None and at_least is None:
        return declared.floor, declared.aim
    if declared.aim is None and at_least is not None:
        return at_least, at_least
    found = "neither" if at_least is None else f"both (aim={declared.aim:g}, at_least={at_least:g})"
    raise UsageError(f"judge needs aim= in @claim, or at_least=, but has {found}")


def claim_entry(function: Callable[..., object], *, property: str) -> ClaimEntry:  # noqa: A002
    """Return the entry of a check in results.json: its declaration, and texts from two docstrings.

    `says` is the docstring of the test. `title` and `why` are the first two paragraphs of its file's docstring: the
    topic with the source, and why it matters to users of a model.
    """
    found = claim_of(function)
    declared = found.declared if found else Declaration()
    of_file = inspect.getdoc(sys.modules.get(function.__module__)) or ""
    title, why, *_ = [" ".join(part.split()) for part in of_file.split("\n\n")] + ["", ""]
    says = " ".join((inspect.getdoc(function) or "").split())
    of_check = {field.name: getattr(declared, field.name) for field in fields(Declaration)}
    return ClaimEntry(**{**of_check, "property": property}, says=says, title=title, why=why)


def first_sentence(text: str | None) -> str:
    """Return the first sentence of a file's docstring, without text in brackets.

    >>> first_sentence("Criterion 2: a synonym keeps the meaning (Mahajan et al. 2023), and more. The rest.")
    'Criterion 2: a synonym keeps the meaning, and more'
    """
    first = " ".join((text or "").split("\n\n")[0].split())
    return re.sub(r"\s*\([^()]*\)", "", first).partition(". ")[0].rstrip(".")


def read_declared_properties(paths: Iterable[Path]) -> dict[str, str]:
    """Return the properties that check files declare, each with the topic of the first file that declares it.

    The files are parsed, not imported. Files that are not valid Python are skipped.
    """
    properties: dict[str, str] = {}
    for path in paths:
        try:
            text = path.read_text("utf-8")
            tree = ast.parse(text if "encheck" in text else "")
        except (OSError, ValueError, SyntaxError):
            continue
        for call in (d for node in tree.body for d in getattr(node, "decorator_list", ()) if isinstance(d, ast.Call)):
            declared = {k.arg: k.value for k in call.keywords}
            named = declared.get("property", *call.args[:1])  # in claim, or first in a preset
            if declared.keys() & {"property", "tells", "means"} and isinstance(named, ast.Constant):
                properties.setdefault(str(named.value), first_sentence(ast.get_docstring(tree)))
    return properties
