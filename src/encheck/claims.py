"""How a check says what it measures on, before anything is encoded.

    @pytest.mark.antonym
    @claim(against_paraphrase(antonym), levels=(1,))
    def test_antonym_is_farther_than_paraphrase(scores, judge, report, epsilon): ...

The run collects the claims of all selected checks, encodes their texts in one go, then calls the checks.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from encheck.errors import UsageError
from encheck.types import Items

if TYPE_CHECKING:
    from encheck.datasets.base import Dataset

Builder = Callable[["Dataset", int | str, Any], Items]  # the last is the `Maker` of the variants
Function = TypeVar("Function", bound=Callable[..., object])
ATTRIBUTE = "__encheck_claim__"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a check measures on: `items(dataset, level, maker)` for each of `levels`."""

    items: Builder
    levels: tuple[int | str, ...] = (1,)
    capability: str = ""


def claim(
    items: Builder, *, levels: tuple[int | str, ...] = (1,), capability: str = ""
) -> Callable[[Function], Function]:
    """Declare a test function to be a check; `capability` is the row it belongs to (default: its marker).

    UsageError for levels that are none.
    """

    def mark(function: Function) -> Function:
        if not _are_levels(levels):
            raise UsageError(
                f"{function.__qualname__} of {function.__module__}: @claim has levels={levels!r}, but should have a "
                "tuple of one or more different numbers or names: levels=(1,), levels=(1, 2, 3)"
            )
        setattr(function, ATTRIBUTE, Claim(items, tuple(levels), capability))
        return function

    return mark


def _are_levels(levels: object) -> bool:
    """Whether these are levels of a claim: one or more, and all different."""
    if not isinstance(levels, tuple | list) or not all(isinstance(level, int | str) for level in levels):
        return False
    return 0 < len(levels) == len(set(levels))


def claim_of(function: object) -> Claim | None:
    """The claim of a test function, or None where it is no check."""
    return getattr(function, ATTRIBUTE, None)


def told_of(function: Callable[..., object]) -> dict[str, str]:
    """What a check says of itself, for the report, out of its docstrings.

    `says` is the test's own; `title` and `why` are the first two paragraphs of its file's: what it is about, with the
    source, and why that matters to someone who uses the model.
    """
    of_file = inspect.getdoc(sys.modules.get(function.__module__)) or ""
    title, why, *_ = [" ".join(part.split()) for part in of_file.split("\n\n")] + ["", ""]
    return {"says": " ".join((inspect.getdoc(function) or "").split()), "title": title, "why": why}
