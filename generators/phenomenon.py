"""The generators and phenomena that the files of this package declare, by their names.

Of a phenomenon, one edit keeps the meaning, one changes it, and one is a control, another plausible statement of the
same place. Those of the probes were written by hand (docs/probes.md).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from typing import TypeVar

from encheck import generators as package
from encheck.generators.base import NamedGenerator
from encheck.generators.sides import Phenomenon, Side
from encheck.types import Validity

Declared = TypeVar("Declared", NamedGenerator, Phenomenon)


@cache
def generators() -> Mapping[str, NamedGenerator]:
    """What makes variants by itself or beside another generator; the sides of phenomena are not among them."""
    return _declared(NamedGenerator)


@cache
def phenomena() -> Mapping[str, Phenomenon]:
    """Each phenomenon, of the probes or made of any English text."""
    return _declared(Phenomenon)


def _declared(kind: type[Declared]) -> dict[str, Declared]:
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    modules = [importlib.import_module(f"{package.__name__}.{name}") for name in names]
    found = {one.name: one for module in modules for one in vars(module).values() if isinstance(one, kind)}
    return dict(sorted(found.items()))


def phenomenon(name: str, side: Side) -> NamedGenerator:
    """The generator of one side of a phenomenon; ValueError for an unknown name.

    >>> phenomenon("number", "kept").name
    'number_kept'
    """
    if name not in phenomena():
        raise ValueError(f"{name!r} is not a phenomenon; there are {', '.join(phenomena())}")
    return phenomena()[name].generators[side]


def validity_of(relation: str) -> Validity | None:
    """How many of the edits of this relation blind readers found right: the ceiling of any rate on them.

    A triple (a text with its kept and its changed edit, or with its control) is right where both readers confirm all
    its relations and its English (docs/generators.md). None of edits that no file declares a title for.

    >>> validity_of("number").right, validity_of("temporal").rate, validity_of("unheard-of")
    (252, None, None)
    """
    name = relation.removesuffix("_control")
    if one := phenomena().get(name):
        return Validity(relation, *one.readers.get("changed" if name == relation else "control", (0, 0)))
    generator = generators().get(relation)
    return Validity(relation, *generator.readers) if generator and generator.readers[1] else None


def title_of(relation: str) -> str:
    """What a generator makes, in words.

    >>> title_of("other_meaning"), title_of("number_control"), title_of("of_your_own")
    ('changes of meaning as small as a typing error', 'controls of other numbers', 'of your own')
    """
    name = relation.removesuffix("_control")
    declared = phenomena().get(name) or generators().get(name)
    title = (declared and declared.title) or name.replace("_", " ")
    return title if name == relation else f"controls of {title}"
