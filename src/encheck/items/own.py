"""Items of properties of the user's own, which the data name."""

from __future__ import annotations

from dataclasses import dataclass

from encheck.datasets.dataset import Dataset
from encheck.errors import NothingToMeasure
from encheck.items.variants import Maker
from encheck.scoring.item import Items


@dataclass(frozen=True, slots=True)
class OwnProperty:
    """A builder of the items of one property of the data of a `kind`, "triplets" or "contrast".

    In a declaration `name` is "": the check stands for one check of each property that the data of a run name.
    """

    kind: str
    name: str = ""

    def __call__(self, dataset: Dataset, _level: int | str, _maker: Maker) -> Items:
        """The items; NothingToMeasure where the data lack the property."""
        if not dataset.properties.get(self.name):
            raise NothingToMeasure(
                f"{dataset.name} has nothing of the property {self.name!r}: see --data={self.kind}:FILE",
                needs=f"{self.kind} of the property",
            )
        return Items(dataset.properties[self.name])
