"""Noise: typing errors that are not real words, and other notations of the same text.

Kinds of typing errors after Damerau 1964 (https://doi.org/10.1145/363958.363994): a wrong letter (a neighbour on the
keyboard), two letters swapped, a missing letter. Notations are Unicode forms, quotes, blanks, accents, capitals, markup
and emoji: each kind yields a text's possible edits with their numbers of changed characters; `choose_notation_edits`
chooses edits with exactly the wanted number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from random import Random
from string import ascii_lowercase
from typing import NamedTuple

from encheck.language.edits.substitutes import Expressions
from encheck.language.lexicon.lexicon import PARTS, EmbeddedLexicon, Lexicon
from encheck.language.parse import Parse
from encheck.language.prose import find_unedited_spans
from encheck.language.words import FUNCTION_WORDS
from encheck.types import Edit

ROWS = ("qwertyuiop", " asdfghjkl", "  zxcvbnm")  # each row is half a key to the right of the row above
MIN_TYPABLE_LETTERS = 5  # letters: shorter words are too like other words
STAYING = frozenset("NNP NNPS CD FW UH SYM ADD AFX GW LS XX".split())
COARSE = ("cunt", "fuck", "shit", "cock", "dick", "fag", "slut", "piss", "rape", "nig", "anal", "whore", "tits", "arse")
GAP, LETTERS = "\0", frozenset(ascii_lowercase)
JOINERS = "-\u2010\u2011\u2013/'’@#_&.\\"


def _find_keyboard_neighbours() -> dict[str, str]:
    """Return letter -> its neighbours on a QWERTY keyboard, in its own row and the adjacent rows."""
    neighbours: dict[str, set[str]] = {letter: set() for letter in ascii_lowercase}
    for row in ROWS:
        for one, other in pairwise(row.strip()):
            neighbours[one].add(other)
            neighbours[other].add(one)
    for above, below in pairwise(row.strip() for row in ROWS):
        for i, letter in enumerate(below):
            for other in above[i : i + 2]:
                neighbours[letter].add(other)
                neighbours[other].add(letter)
    return {letter: "".join(sorted(letters)) for letter, letters in neighbours.items()}


NEIGHBOURS = _find_keyboard_neighbours()


TYPOS = ("keyboard", "transposition", "missing")  # kinds


def list_typos(word: str, kind: str) -> Iterator[str]:
    """Yield all typing errors of a kind in a word, none of them in its first letter."""
    for i in range(1, len(word) - (kind != "keyboard")):
        head, letter, rest = word[:i], word[i], word[i + 1 :]
        if kind == "keyboard":
            yield from (f"{head}{other}{rest}" for other in NEIGHBOURS[letter] if other != word[i - 1])
        elif kind == "missing":
            yield f"{head}{rest}"
        elif letter != rest[0]:
            yield f"{head}{rest[0]}{letter}{rest[1:]}"


def draw_typo(lexicon: Lexicon, word: str, kind: str, rng: Random) -> str | None:
    """Return a typing error of this kind in a lower-case word, or None.

    It is not a word, and no other common word is as near to it.

    >>> from random import Random
    >>> from encheck.language.lexicon.lexicon import EmbeddedLexicon
    >>> draw_typo(EmbeddedLexicon.shared(), "market", "missing", Random(0))
    'mrket'
    """
    result = list(dict.fromkeys(list_typos(word, kind)))
    rng.shuffle(result)
    return next((one for one in result if is_recognisable_typo(lexicon, one, word)), None)


@lru_cache(maxsize=50_000)
def is_recognisable_typo(lexicon: Lexicon, slip: str, word: str) -> bool:
    """Return whether the error can be recognised: it is no word itself, and no other common word is as near."""
    if slip == word or is_known_word(lexicon, slip) or any(part in slip and part not in word for part in COARSE):
        return False
    return not _resembles_another_word(slip, word)


def is_known_word(lexicon: Lexicon, word: str) -> bool:
    """Return whether the lexicon has the word in any form, or its treebank contains it."""
    return bool(lexicon.word_count(word)) or any(lexicon.base_forms(word, pos) for pos in PARTS)


def _resembles_another_word(slip: str, word: str) -> bool:
    """Return whether a letter added, removed or changed, or two swapped, makes the error another common word."""
    forms, by_gap = EmbeddedLexicon.shared().treebank.forms, _index_words_by_gap()
    own = (word,)
    for i in range(len(slip)):
        head, letter, rest = slip[:i], slip[i], slip[i + 1 :]
        exchanged = f"{head}{rest[:1]}{letter}{rest[1:]}"
        if (
            by_gap.get(f"{head}{GAP}{letter}{rest}", own) != own
            or by_gap.get(f"{head}{GAP}{rest}", own) != own
            or (head + rest in forms and head + rest != word)
            or (exchanged in forms and exchanged != word)
        ):
            return True
    return by_gap.get(f"{slip}{GAP}", own) != own


@lru_cache(maxsize=1)
def _index_words_by_gap() -> dict[str, tuple[str, ...]]:
    """Return the common words by their patterns with one letter as a gap."""
    result: dict[str, tuple[str, ...]] = {}
    for word in EmbeddedLexicon.shared().treebank.forms:
        for i, letter in enumerate(word):
            if letter in LETTERS:
                rest = f"{word[:i]}{GAP}{word[i + 1 :]}"
                result[rest] = (*result.get(rest, ()), word)
    return result


def find_typable_tokens(parse: Parse, lexicon: Lexicon, expressions: Expressions) -> tuple[int, ...]:
    """Return the tokens that may be mistyped: known lower-case words of five letters or more.

    They are not in names, addresses, code or fixed expressions, and no other word is joined to them.
    """
    taken = find_unedited_spans(parse.text)
    return tuple(
        i
        for i, word in enumerate(parse.words)
        if len(word) >= MIN_TYPABLE_LETTERS
        and word.isascii()
        and word.isalpha()
        and word.islower()
        and parse.tags[i] not in STAYING
        and not parse.entities[i]
        and not _is_joined_to_neighbour(parse, i)
        and not any(start < parse.ends[i] and parse.starts[i] < end for start, end in taken)
        and not expressions.contain(parse, i)
        and is_known_word(lexicon, word)
        and not (parse.tags[i] in ("NN", "NNS") and _is_name_in_lexicon(lexicon, word))
    )


def _is_name_in_lexicon(lexicon: Lexicon, word: str) -> bool:
    """Return whether the lexicon writes the noun with a capital: a name, in a text without capitals."""
    first = lexicon.senses(word, "n")[:1]
    return any(word not in sense.lemmas and word.capitalize() in sense.lemmas for sense in first)


def _is_joined_to_neighbour(parse: Parse, at: int) -> bool:
    """Return whether a letter, a hyphen or the like touches the token: "data-set", "file.name"."""
    before, after = parse.text[: parse.starts[at]][-1:], parse.text[parse.ends[at] :][:2]
    if before.isalnum() or (before and before in JOINERS):
        return True
    return after[:1].isalnum() or (after[:1] in tuple(JOINERS) and (after[:1] != "." or after[1:].strip() != ""))


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


class NotationEdit(NamedTuple):
    """Edits that belong together, and their number of changed characters; plain tuples, since most are never made."""

    edits: tuple[Piece, ...]
    size: int


def find_quote_edits(text: str) -> Iterator[NotationEdit]:
    """Yield edits that curl straight quotes and apostrophes, or straighten curly ones. Quotes change in pairs."""
    for match in re.finditer(r"(?<=\w)(['’])(?=\w)", text):
        yield NotationEdit(((*match.span(), "’" if match[1] == "'" else "'"),), 1)
    for match in re.finditer(r'(?<!\w)"(?=\S)([^"“”\n]*[^"“”\s])"(?!\w)', text):
        yield _replace_pair(match, "“", "”")
    for match in re.finditer(r"“([^\"“”\n]*)”", text):
        yield _replace_pair(match, '"', '"')


def _replace_pair(match: re.Match[str], opening: str, closing: str) -> NotationEdit:
    start, end = match.span()
    return NotationEdit(((start, start + 1, opening), (end - 1, end, closing)), 2)


def find_no_break_space_edits(text: str) -> Iterator[NotationEdit]:
    """Yield edits that replace blanks by no-break blanks, or the reverse."""
    for match in re.finditer(rf"(?<=\S)[ {NO_BREAK}](?=\S)", text):
        yield NotationEdit(((*match.span(), NO_BREAK if match[0] == " " else " "),), 1)


def find_composition_edits(text: str) -> Iterator[NotationEdit]:
    """Yield edits that decompose marked letters (NFD), or compose letters and marks (NFC)."""
    for match in re.finditer(r"[^\W\d_][\u0300-\u036f]+|[^\W\d_]", "" if text.isascii() else text):
        composed, apart = (unicodedata.normalize(form, match[0]) for form in ("NFC", "NFD"))
        if composed != apart and unicodedata.combining(apart[1]):  # except Korean syllables
            other = apart if match[0] == composed else composed
            yield NotationEdit(((*match.span(), other),), max(len(match[0]), len(other)))


def find_accent_edits(text: str) -> Iterator[NotationEdit]:
    """Yield edits that remove accents, or add them to listed loan words."""
    for match in re.finditer(r"[^\W\d_]", "" if text.isascii() else text):
        apart = unicodedata.normalize("NFD", match[0])
        if len(apart) > 1 and apart[0].isascii():
            yield NotationEdit(((*match.span(), apart[0]),), 1)
    for match in LOANS.finditer(text):
        pairs = enumerate(zip(match[0], ACCENTED[match[0].lower()], strict=True), match.start())
        differ = [(i, own, new) for i, (own, new) in pairs if own.lower() != new]
        edits = tuple((i, i + 1, new.upper() if own.isupper() else new) for i, own, new in differ)
        yield NotationEdit(edits, len(edits))


def _find_content_words(text: str) -> Iterator[re.Match[str]]:
    return (match for match in WORD.finditer(text) if match[0] not in FUNCTION_WORDS)


def find_capital_edits(text: str) -> Iterator[NotationEdit]:
    """Yield words of four letters or more capitalised, as in a title."""
    for result in _find_content_words(text):
        yield NotationEdit(((result.start(), result.start() + 1, result[0][0].upper()),), 1)


def find_markup_edits(text: str) -> Iterator[NotationEdit]:
    """Yield edits that add marks of lists, headings and quotations, bold, italics, code, or stray HTML tags."""
    if not re.match(r"[\W\d]", text):  # "> 100 users" says more than 100
        yield from (NotationEdit(((0, 0, mark),), len(mark)) for mark in BEFORE)
    for result in _find_content_words(text):
        for mark in AROUND:
            start, end = result.span()
            yield NotationEdit(((start, start, mark), (end, end, mark)), 2 * len(mark))
    yield from (NotationEdit(((len(text), len(text), mark),), len(mark)) for mark in BEHIND)


def find_emoji_edits(text: str) -> Iterator[NotationEdit]:
    """Yield an emoji that points at the text before it, or one after it."""
    end = len(text)
    for sign in EMOJI:
        yield NotationEdit(((0, 0, f"{sign} "),), 2)
    for sign in FINAL:
        yield from (NotationEdit(((end, end, behind),), len(behind)) for behind in (sign, f" {sign}", f" {sign}{sign}"))


NOTATIONS: Mapping[str, Callable[[str], Iterator[NotationEdit]]] = {
    "quotes": find_quote_edits, "blanks": find_no_break_space_edits, "composition": find_composition_edits,
    "accents": find_accent_edits, "capitals": find_capital_edits,
    "markup": find_markup_edits, "emoji": find_emoji_edits,
}  # fmt: skip
ENGLISH_ONLY = frozenset(["accents", "capitals"])  # elsewhere an accent or a capital may make a different word
ONE_PER_TEXT = frozenset(["markup", "emoji"])  # one per text, since a second one would be a further notation


def choose_notation_edits(text: str, kind: str, changed_characters: int, rng: Random) -> tuple[Edit, ...] | None:
    """Choose edits of this kind that change so many characters, outside addresses and code, or None if impossible.

    >>> from random import Random
    >>> choose_notation_edits("A café", "accents", 1, Random(0))
    (Edit(start=5, end=6, text='e'),)
    """
    units = list(_find_notation_edits(text, kind))
    if kind in ONE_PER_TEXT:
        fitting = [unit for unit in units if unit.size == changed_characters]
        result: Sequence[Piece] | None = rng.choice(fitting).edits if fitting else None
    else:
        rng.shuffle(units)
        chosen: list[Piece] = []
        left = changed_characters
        for unit in units:
            if unit.size <= left:
                chosen += unit.edits
                left -= unit.size
        result = sorted(chosen, key=lambda edit: edit[0]) if left == 0 else None
    return None if result is None else tuple(Edit(*one) for one in result)


@lru_cache(maxsize=16)  # sizes are tried in turn
def _find_notation_edits(text: str, kind: str) -> tuple[NotationEdit, ...]:
    """Return the possible edits of this kind in a text, outside addresses and code."""
    taken = find_unedited_spans(text)
    return tuple(
        unit
        for unit in NOTATIONS[kind](text)
        if not any(start < b and a < end for start, end in taken for a, b, _ in unit.edits)
    )
