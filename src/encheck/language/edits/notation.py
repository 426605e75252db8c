"""Ways to write the same text: Unicode forms, quotes, blanks, accents, capitals, markup, emoji.

Each kind gives, of a text, the edits that it could make, each with how many characters it changes; `chosen` takes some
of them that change exactly as many as are wanted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import NamedTuple

from encheck.language.prose import left_spans
from encheck.language.words import FUNCTION_WORDS
from encheck.types import Edit

NO_BREAK = "\u00a0"
ACCENTED = {
    "cafe": "café", "cafes": "cafés", "cliche": "cliché", "cliches": "clichés", "crepe": "crêpe", "crepes": "crêpes",
    "debut": "début", "decor": "décor", "elite": "élite", "entree": "entrée", "facade": "façade", "facades": "façades",
    "fiance": "fiancé", "fiancee": "fiancée", "jalapeno": "jalapeño", "melee": "mêlée", "naive": "naïve",
    "naivete": "naïveté", "pinata": "piñata", "protege": "protégé", "puree": "purée", "regime": "régime",
    "role": "rôle", "roles": "rôles", "saute": "sauté", "seance": "séance", "smorgasbord": "smörgåsbord",
    "soiree": "soirée", "souffle": "soufflé", "voila": "voilà", "premiere": "première", "creme": "crème",
    "fete": "fête", "doppelganger": "doppelgänger", "applique": "appliqué", "communique": "communiqué",
    "coup d'etat": "coup d'état", "deja vu": "déjà vu", "tete-a-tete": "tête-à-tête", "vis-a-vis": "vis-à-vis",
    "a la carte": "à la carte", "senor": "señor", "senora": "señora", "matinee": "matinée", "sautee": "sautée",
}  # fmt: skip
BEFORE = ("- ", "* ", "• ", "# ", "> ", "1. ", "## ", "<p>", "### ", "<h1>")
AROUND = ("*", "_", "`", "**", "__")
BEHIND = ("<br>", "</p>", "<br/>")
EMOJI = "📌📎📝🔎💬👉📣"
FINAL = "📌📎💬👇🧵"
WORD = re.compile(r"(?<![\w'’.@#/&-])[a-z]{4,}(?![\w@#/&-]|['’.]\w)")
LOANS = re.compile(rf"\b(?:{'|'.join(sorted(ACCENTED, key=len, reverse=True))})\b", re.IGNORECASE)


Piece = tuple[int, int, str]  # start, end and text of an edit


class Unit(NamedTuple):
    """Edits that belong together, and how many characters they change; most are never made, so they are plain."""

    edits: tuple[Piece, ...]
    size: int


def quotes(text: str) -> Iterator[Unit]:
    """Straight quotes and apostrophes curled, curly ones straightened; quotes in pairs."""
    for found in re.finditer(r"(?<=\w)(['’])(?=\w)", text):
        yield Unit(((*found.span(), "’" if found[1] == "'" else "'"),), 1)
    for found in re.finditer(r'(?<!\w)"(?=\S)([^"“”\n]*[^"“”\s])"(?!\w)', text):
        yield _pair(found, "“", "”")
    for found in re.finditer(r"“([^\"“”\n]*)”", text):
        yield _pair(found, '"', '"')


def _pair(found: re.Match[str], opening: str, closing: str) -> Unit:
    start, end = found.span()
    return Unit(((start, start + 1, opening), (end - 1, end, closing)), 2)


def blanks(text: str) -> Iterator[Unit]:
    """Blanks that no line breaks at, for blanks, and the other way round."""
    for found in re.finditer(rf"(?<=\S)[ {NO_BREAK}](?=\S)", text):
        yield Unit(((*found.span(), NO_BREAK if found[0] == " " else " "),), 1)


def composition(text: str) -> Iterator[Unit]:
    """Letters with marks as letter and mark (NFD), or marks composed with their letters (NFC)."""
    for found in re.finditer(r"[^\W\d_][\u0300-\u036f]+|[^\W\d_]", "" if text.isascii() else text):
        composed, apart = (unicodedata.normalize(form, found[0]) for form in ("NFC", "NFD"))
        if composed != apart and unicodedata.combining(apart[1]):  # not the syllables of Korean
            other = apart if found[0] == composed else composed
            yield Unit(((*found.span(), other),), max(len(found[0]), len(other)))


def accents(text: str) -> Iterator[Unit]:
    """Accents left out where the text has them, and set where a list of loan words does."""
    for found in re.finditer(r"[^\W\d_]", "" if text.isascii() else text):
        apart = unicodedata.normalize("NFD", found[0])
        if len(apart) > 1 and apart[0].isascii():
            yield Unit(((*found.span(), apart[0]),), 1)
    for found in LOANS.finditer(text):
        yield from _accented(found)


def _accented(found: re.Match[str]) -> Iterator[Unit]:
    pairs = enumerate(zip(found[0], ACCENTED[found[0].lower()], strict=True), found.start())
    differ = [(i, own, new) for i, (own, new) in pairs if own.lower() != new]
    edits = tuple((i, i + 1, new.upper() if own.isupper() else new) for i, own, new in differ)
    yield Unit(edits, len(edits))


def _content(text: str) -> Iterator[re.Match[str]]:
    return (found for found in WORD.finditer(text) if found[0] not in FUNCTION_WORDS)


def capitals(text: str) -> Iterator[Unit]:
    """Words of four letters or more with a capital, as in a title."""
    for found in _content(text):
        yield Unit(((found.start(), found.start() + 1, found[0][0].upper()),), 1)


def markup(text: str) -> Iterator[Unit]:
    """Marks of lists, headings and quotations, words in bold, italics or as code, stray tags of HTML."""
    if not re.match(r"\W", text):
        yield from (Unit(((0, 0, mark),), len(mark)) for mark in BEFORE)
    for found in _content(text):
        for mark in AROUND:
            start, end = found.span()
            yield Unit(((start, start, mark), (end, end, mark)), 2 * len(mark))
    yield from (Unit(((len(text), len(text), mark),), len(mark)) for mark in BEHIND)


def emoji(text: str) -> Iterator[Unit]:
    """An emoji that points at the text before it, or one behind it."""
    end = len(text)
    for sign in EMOJI:
        yield Unit(((0, 0, f"{sign} "),), 2)
    for sign in FINAL:
        yield from (Unit(((end, end, behind),), len(behind)) for behind in (sign, f" {sign}", f" {sign}{sign}"))


NOTATIONS: Mapping[str, Callable[[str], Iterator[Unit]]] = {
    "quotes": quotes, "blanks": blanks, "composition": composition, "accents": accents, "capitals": capitals,
    "markup": markup, "emoji": emoji,
}  # fmt: skip
OF_ENGLISH = frozenset(["accents", "capitals"])  # elsewhere an accent or a capital may make another word
ALONE = frozenset(["markup", "emoji"])  # one of them a text: a second one would be another way to write


def chosen(text: str, kind: str, size: int, rng: Random) -> tuple[Edit, ...] | None:
    """Edits of this kind that change so many characters, none of them in addresses or code; None if there are none.

    >>> from random import Random
    >>> chosen("A café", "accents", 1, Random(0))
    (Edit(start=5, end=6, text='e'),)
    """
    units = list(_units(text, kind))
    if kind in ALONE:
        fitting = [unit for unit in units if unit.size == size]
        found: Sequence[Piece] | None = rng.choice(fitting).edits if fitting else None
    else:
        rng.shuffle(units)
        found = _filled(units, size)
    return None if found is None else tuple(Edit(*one) for one in found)


@lru_cache(maxsize=16)  # one size is tried after the other
def _units(text: str, kind: str) -> tuple[Unit, ...]:
    """The edits of this kind that a text can have, outside addresses and code."""
    found, taken = NOTATIONS[kind](text), left_spans(text)
    return tuple(unit for unit in found if not _touches(unit, taken)) if taken else tuple(found)


def _touches(unit: Unit, taken: Sequence[tuple[int, int]]) -> bool:
    return any(start < b and a < end for a, b, _ in unit.edits for start, end in taken)


def _filled(units: Sequence[Unit], size: int) -> list[Piece] | None:
    edits: list[Piece] = []
    for unit in units:
        if unit.size <= size:
            edits += unit.edits
            size -= unit.size
    return sorted(edits, key=lambda edit: edit[0]) if size == 0 else None
