"""A case: one claim x model x data x level."""

from __future__ import annotations

from dataclasses import dataclass

from encheck.claims import Claim
from encheck.ids import CaseId


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
        return self.id.name

    @property
    def claim_name(self) -> str:
        """The test's name without `test_`."""
        return self.function.removeprefix("test_")

    @property
    def id(self) -> CaseId:
        """What items and results name the case by."""
        return CaseId(self.claim_name, self.model, self.data, str(self.level))
