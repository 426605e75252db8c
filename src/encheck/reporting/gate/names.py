"""Names of gate rows that readers of a verdict know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from encheck.gating.purpose import ACCEPTED
from encheck.gating.types import GateRow
from encheck.ids import GateRowId

SPOKEN: Mapping[str, str] = MappingProxyType(
    {
        "antonym": "Opposites",
        "assertion": "Negation and conditions",
        "binding": "Which attribute is whose",
        "comparative": "Comparisons",
        "condition": "If and unless",
        "context": "Edits in longer texts",
        "continuation": "Corrected texts",
        "contrast": "Near-identical queries",
        "dilution": "Edits far from the start",
        "entity": "Names",
        "facts": "Numbers, quantities and names",
        "health": "Vector space",
        "invariance": "Case and spacing",
        "jumble": "Word salad",
        "modality": "Must and may",
        "negation": "Negation",
        "number": "Numbers",
        "paraphrase": "Paraphrases",
        "quantifier": "All, some and none",
        "relation": "Who did what to whom",
        "retrieval": "Search",
        "roles": "Who did it to whom",
        "sts": "Graded pairs",
        "swapchain": "Swapped words",
        "symmetry": "First or second text",
        "synonym": "Synonyms",
        "temporal": "Before and after",
        "typo": "Typing errors",
        "word-order": "Word order",
    }
)
PARTS: Mapping[str, str] = MappingProxyType(
    {
        "known": "by title or heading",
        "direction-1": "where the wording helps",
        "direction-2": "where the wording misleads",
    }
)
OF_THE_SPACE: Mapping[str, str] = MappingProxyType(
    {
        "evenness": "Variety of search results",
        "rate": "Search among unrelated texts",
        "room": "Distance of unrelated texts",
        "steadiness": "Steady scores of unrelated texts",
    }
)


def name_of(row: GateRow, *, with_data: bool = False) -> str:
    """The row in words; a capability without a name here is called what its check declares."""
    found = GateRowId(row.name)
    *_, last = found.split("/")
    if row.endpoint.startswith(ACCEPTED):
        return "Accepted pairs" + (f" of {found}" if with_data and found != "pairs" else "")
    if found.property == "health" and last in OF_THE_SPACE:
        return OF_THE_SPACE[last] + (f" on {found.data}" if with_data else "")
    said = SPOKEN.get(found.property) or found.property.replace("-", " ").capitalize()
    data = f" on {found.data}" if with_data and found.data else ""
    level, parts = found.below_data[:1], found.below_data[1:]
    own = [*(_level(level[0], row) if level else ()), *(PARTS.get(part, part) for part in parts)]
    return ", ".join([said + data, *own])


def _level(text: str, row: GateRow) -> Iterable[str]:
    """What stands at the level's place: a part of a capability, or a level that tells parts apart."""
    if text in PARTS:
        return (PARTS[text],)
    return (f"level {text}",) if row.part_of and text != "1" else ()


def with_data(rows: Iterable[GateRow]) -> bool:
    """Whether rows are of several data sets, so that each has to say its own."""
    return len({GateRowId(row.name).data for row in rows}) > 1
