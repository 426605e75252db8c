"""WordNet's morphology: from a form to the lemmas that it may belong to."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from encheck.language.lexicon.protocol import Pos

ENDINGS: dict[Pos, tuple[tuple[str, str], ...]] = {
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}


def base_forms(form: str, pos: Pos, irregular: Iterable[str], known: Callable[[str], bool]) -> tuple[str, ...]:
    """The form itself and its base forms, as far as they are `known`; the endings count where no irregular form does.

    https://wordnet.princeton.edu/documentation/morphy7wn, for single words, and as NLTK reads it.

    >>> base_forms("axes", "n", ["ax", "axis"], {"ax", "axe", "axis"}.__contains__)
    ('ax', 'axis')
    >>> base_forms("leaves", "v", [], {"leave", "leaf"}.__contains__)
    ('leave',)
    """
    found = list(irregular) or [form.removesuffix(old) + new for old, new in ENDINGS[pos] if form.endswith(old)]
    return tuple(dict.fromkeys(f for f in (form, *found) if known(f)))
