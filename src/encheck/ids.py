"""Ids of items, cases and figures. Only this module composes and parses them."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

PYTEST_MARKERS = frozenset(("parametrize", "usefixtures", "skip", "skipif", "xfail", "filterwarnings"))
PROPERTY_RULE = "a word of letters, digits and _ that neither Python nor pytest uses, such as hedging"
PROPERTY_NAME = re.compile(rf"(?!(?:{'|'.join((*keyword.kwlist, *PYTEST_MARKERS))})$)[A-Za-z][A-Za-z0-9_]*")
BOTH_ORDERS = "turned"  # the last part of such an id; baselines contain it
_ITEM = re.compile(
    r"(?P<data>.*)/(?P<texts>[0-9a-f]{16})/(?P<relation>[^/]+)/(?P<level>[^/]+)/(?P<generator>.+?)"
    rf"/(?P<occurrence>\d+)(?:/(?P<step>[1-9]\d*)|/(?P<orders>{BOTH_ORDERS}))?",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class ItemParts:
    """The parts of an item's id.

    `step` is the position of a chain's member; None for other items.
    """

    data: str
    texts: str
    relation: str
    level: str
    generator: str
    occurrence: int
    step: int | None = None
    in_both_orders: bool = False


class ItemId(str):
    """An item's id: data set / hash of the source texts / relation / level / generator / occurrence.

    The id of a pair scored in both orders and of a chain's member has one more part. A run compares, sorts and stores
    tens of thousands of ids, so an id is a string whose parts are parsed only on demand.

    >>> ItemId("mrpc/8f51134ccd0afd90/antonym/1/antonym/0").parts.relation
    'antonym'
    """

    __slots__ = ()

    @classmethod
    def of(
        cls, data: str, texts: str, relation: str, level: int | str, generator: str, occurrence: int | None = None
    ) -> Self:
        """Compose an id; `texts` is a `content_hash`. Without `occurrence`, the id still has to be `numbered`.

        >>> ItemId.of("mrpc", "8f51134ccd0afd90", "antonym", 1, "antonym", 0)
        'mrpc/8f51134ccd0afd90/antonym/1/antonym/0'
        """
        stem = f"{data}/{texts}/{relation}/{level}/{generator}"
        return cls(stem if occurrence is None else f"{stem}/{occurrence}")

    def numbered(self, occurrence: int) -> ItemId:
        """Return the id with its occurrence number, which distinguishes items with the same texts."""
        return ItemId(f"{self}/{occurrence}")

    def of_step(self, step: int) -> ItemId:
        """Return the id of a chain's member; step 1 is the nearest member.

        >>> ItemId("d/8f51134ccd0afd90/swap/3/pivot-a/0").of_step(2).parts.step
        2
        """
        return ItemId(f"{self}/{step}")

    @property
    def in_both_orders(self) -> ItemId:
        """The id of this pair scored in both orders."""
        return ItemId(f"{self}/{BOTH_ORDERS}")

    @property
    def chain(self) -> ItemId:
        """The id of this member's chain.

        >>> ItemId("d/8f51134ccd0afd90/swap/3/pivot-a/0/2").chain
        'd/8f51134ccd0afd90/swap/3/pivot-a/0'
        """
        return ItemId(self.rpartition("/")[0])

    @property
    def data(self) -> str:
        """The data set; for an id of unknown form, the text before its first slash."""
        return found.data if (found := self.parts_or_none) else self.partition("/")[0]

    @property
    def parts_or_none(self) -> ItemParts | None:
        """The parts, or None if the id has a different form."""
        found = _ITEM.fullmatch(self)
        if not found:
            return None
        data, texts, relation, level, generator, occurrence, step, orders = found.groups()
        last, is_in_both = int(step) if step else None, orders is not None
        return ItemParts(data, texts, relation, level, generator, int(occurrence), last, is_in_both)

    @property
    def parts(self) -> ItemParts:
        """The parts. Raises ValueError if the id has a different form."""
        if (found := self.parts_or_none) is None:
            raise ValueError(
                f"the item's id is {str(self)!r}, but should be data/hash/relation/level/generator/occurrence"
            )
        return found


@dataclass(frozen=True, slots=True)
class CaseId:
    """The id of a case: a check on one model and data set at one level. `check` is the test's name without `test_`.

    The text of the id cannot be parsed, since names of models and data may contain hyphens.

    >>> str(CaseId("a_is_b", "my-model", "mrpc", "1"))
    'a_is_b/my-model-mrpc-1'
    """

    check: str
    model: str
    data: str
    level: str

    def __str__(self) -> str:
        return f"{self.check}/{self.name}"

    @property
    def name(self) -> str:
        """The part between brackets in pytest's output: model-data-level."""
        return f"{self.model}-{self.data}-{self.level}"

    @property
    def of_any_model(self) -> str:
        """The name of the case's items for any model: check/data/level.

        >>> CaseId("a_is_b", "m", "probes", "1").of_any_model
        'a_is_b/probes/1'
        """
        return f"{self.check}/{self.data}/{self.level}"

    def figure(self, name: str) -> str:
        """Return the id of a figure of this case, as in a row of results.json."""
        return f"{self}/{name}"

    def name_of(self, figure: str) -> str:
        """Return the name of a figure of this case, from its id.

        >>> CaseId("a_is_b", "m", "sts", "1").name_of("a_is_b/m-sts-1/spearman_2012/MSRpar")
        'spearman_2012/MSRpar'
        """
        return figure.removeprefix(f"{self}/")


def question_id(key: str) -> str | None:
    """Return the question id of a key "question id/candidate id", as pairs of ranking data have; None for other keys.

    >>> question_id("Q268/Q268_R4")
    'Q268'
    """
    question, slash, _ = key.rpartition("/")
    return question if slash else None


class GateRowId(str):
    """The name of a gate's row: property / data set / level, or capability / data set. A part of the row adds its name.

    >>> GateRowId.of("health", "probes", "1").part("evenness")
    'health/probes/1/evenness'
    """

    __slots__ = ()

    @classmethod
    def of(cls, property: str, data: str, level: str) -> Self:  # noqa: A002 - the word for it
        """Return the row of a property on data at a level."""
        return cls(f"{property}/{data}/{level}")

    @classmethod
    def of_capability(cls, capability: str, data: str) -> Self:
        """Return the row that pools several properties or levels.

        >>> GateRowId.of_capability("word-order", "probes")
        'word-order/probes'
        """
        return cls(f"{capability}/{data}")

    def part(self, name: str) -> GateRowId:
        """Return the row of one part of this row."""
        return GateRowId(f"{self}/{name}")

    def with_parts_renamed(self, names: Mapping[str, str]) -> GateRowId:
        """Return the row with its part renamed; unchanged if the part is not in `names`, or the row has no part.

        >>> GateRowId("health/probes/1/hubs").with_parts_renamed({"hubs": "evenness"})
        'health/probes/1/evenness'
        """
        stem, _, last = self.rpartition("/")
        return GateRowId(stem).part(names[last]) if last in names else self

    @property  # last: the name hides the decorator's
    def property(self) -> str:
        """The row's property.

        >>> GateRowId("number/probes/1").property
        'number'
        """
        return self.partition("/")[0]

    @builtins.property
    def below_data(self) -> tuple[str, ...]:
        """The level and the names of parts, if any.

        >>> GateRowId("health/probes/1/evenness").below_data, GateRowId("word-order/probes").below_data
        (('1', 'evenness'), ())
        """
        return tuple(self.split("/")[2:])

    @builtins.property
    def data(self) -> str:
        """The row's data set; empty if this is not a row's name.

        >>> GateRowId("health/probes/1/evenness").data
        'probes'
        """
        return self.partition("/")[2].partition("/")[0]


def split_check_key(key: str) -> tuple[str, str]:
    """Split a key of thresholds or known failures into the check and the rest: a level, or data and level.

    >>> split_check_key("a_is_b"), split_check_key("a_is_b/3"), split_check_key("a_*/mrpc/*")
    (('a_is_b', ''), ('a_is_b', '3'), ('a_*', 'mrpc/*'))
    """
    check, _, rest = key.partition("/")
    return check, rest
