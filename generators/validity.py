"""How often blind readers found what a generator makes right: the ceiling of any rate on it (docs/generators.md).

A triple (a text with its kept and its changed edit, or with its control) is right where both readers confirm all its
relations and its English.
"""

from __future__ import annotations

from collections.abc import Mapping

from encheck.types import Validity

READ: Mapping[str, tuple[int, int]] = {  # relation -> right, read; of a control: those with a control, and it alone
    "antonym": (86, 140),
    "control": (59, 77),
    "entity": (119, 148),
    "entity_control": (34, 74),
    "negation": (131, 152),
    "negation_control": (120, 144),
    "number": (153, 170),
    "number_control": (55, 66),
    "other_meaning": (146, 155),
    "reorder": (21, 23),
    "synonym": (118, 140),
}
_NAMES: Mapping[str, str] = {  # relation -> what readers of a report call it
    "antonym": "antonyms",
    "binding": "swapped attributes",
    "comparative": "reversed comparisons",
    "condition": "exceptions for conditions",
    "control": "unrelated words",
    "entity": "other names",
    "modality": "other modalities",
    "negation": "negations",
    "number": "other numbers",
    "other_meaning": "changes of meaning as small as a typing error",
    "quantifier": "other quantifiers",
    "reorder": "reorderings",
    "role_reversal": "swapped roles",
    "synonym": "synonyms",
    "temporal": "reversed orders of events",
}


def validity_of(relation: str) -> Validity:
    """What readers found of the edits of this relation, as items name it.

    >>> validity_of("number").rate, validity_of("unheard-of").rate
    (0.9, None)
    """
    return Validity(relation, *READ.get(relation, (0, 0)))


def named(relation: str) -> str:
    """What a generator makes, in words.

    >>> named("other_meaning"), named("number_control"), named("of_your_own")
    ('changes of meaning as small as a typing error', 'controls of other numbers', 'of your own')
    """
    base = relation.removesuffix("_control")
    if base != relation:
        return f"controls of {named(base)}"
    return _NAMES.get(relation, relation.replace("_", " "))
