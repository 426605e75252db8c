"""A case: one check x model x data x level."""

from __future__ import annotations

import builtins
from dataclasses import dataclass

from encheck.claims import Claim
from encheck.ids import CaseId


@dataclass(frozen=True)
class Case:
    """One check x model x data x level: what one pytest item tests. `property` is what the check tests."""

    function: str
    claim: Claim
    model: str
    data: str
    level: int | str
    property: str = ""

    @builtins.property
    def name(self) -> str:
        """The id between brackets: model-data-level."""
        return self.id.name

    @builtins.property
    def check(self) -> str:
        """The test's name without `test_`."""
        return self.function.removeprefix("test_")

    @builtins.property
    def id(self) -> CaseId:
        """What items and results name the case by."""
        return CaseId(self.check, self.model, self.data, str(self.level))
