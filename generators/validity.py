"""How often blind readers found what a generator makes right: the ceiling of any rate on it (docs/generators.md).

A triple (a text with its kept and its changed edit, or with its control) is right where both readers confirm all its
relations and its English. What nobody would write there may be right.
"""

from __future__ import annotations

from collections.abc import Mapping

from encheck.types import Validity

READ: Mapping[str, tuple[int, int]] = {  # relation -> right, read; of a control: those with a control, and it alone
    "antonym": (239, 260),
    "control": (228, 256),
    "entity": (208, 221),
    "entity_control": (101, 103),
    "negation": (247, 254),
    "negation_control": (237, 241),
    "number": (252, 260),
    "number_control": (105, 106),
    "other_meaning": (146, 155),
    "reorder": (107, 112),
    "synonym": (216, 260),
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

    >>> validity_of("number").right, validity_of("unheard-of").rate
    (252, None)
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
