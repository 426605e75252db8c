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
from typing import TYPE_CHECKING, TypeVar

from encheck.types import Items

if TYPE_CHECKING:
    from encheck.datasets.base import Dataset
    from encheck.making import Maker

Builder = Callable[["Dataset", int | str, "Maker"], Items]
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
    """Declare a test function to be a check; `capability` is the row it belongs to (default: its marker)."""

    def mark(function: Function) -> Function:
        setattr(function, ATTRIBUTE, Claim(items, levels, capability))
        return function

    return mark


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
