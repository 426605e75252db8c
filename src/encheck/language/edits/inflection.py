"""Inflection: a replacement takes the form of the word that it replaces.

A form is given only where it is attested: what LemmInflect's word list says was held against WordNet's irregular forms,
the treebank and the regular patterns when the table beside this file was made (lab/recipes/build_inflections.py). What
is in doubt is refused, and the caller leaves the word as it is.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from encheck.language.edits.regular import regular
from encheck.language.lexicon.embedded import EmbeddedLexicon
from encheck.language.lexicon.protocol import Pos

PARTS_OF_SPEECH: dict[str, Pos] = {
    **dict.fromkeys(("VB", "VBP", "VBD", "VBN", "VBG", "VBZ"), "v"),
    **dict.fromkeys(("NN", "NNS"), "n"),
    **dict.fromkeys(("JJ", "JJR", "JJS"), "a"),
    **dict.fromkeys(("RB", "RBR", "RBS"), "r"),
}
BASE = frozenset({"VB", "VBP", "NN", "JJ", "RB"})
COLUMNS: dict[str, tuple[str, ...]] = {
    "n": ("NN", "NNS"),
    "v": ("VBD", "VBN", "VBG", "VBZ"),
    "a": ("JJ", "JJR", "JJS"),
    "r": ("RB", "RBR", "RBS"),
}
DEGREE = {"JJR": "more", "RBR": "more", "JJS": "most", "RBS": "most"}
AUXILIARIES = frozenset("be have do can could may might must shall should will would ought".split())
BASE_OF = {"JJR": "JJ", "JJS": "JJ", "RBR": "RB", "RBS": "RB"}
REFUSED = "-"
UNINFLECTED = {"IN", "DT", "PDT"}
CLITIC = re.compile(r"(?i)(?<=\w)(?:['’](?:s|re|ve|ll|d|m)|(?<=s)['’])$")
WORD = re.compile(r"[a-z]+")


def inflect(lemma: str, tag: str, *, like: str, periphrasis: bool = False) -> str | None:
    """The lemma in the form of the Penn tag, written as the word `like` that it replaces; None if that is refused.

    `like` gives the case of the letters (lower, Capitalised, ALL CAPITALS) and its clitic ("'s", "'re") is kept. With
    `periphrasis`, an adjective or adverb that has no -er is compared with *more* and *most*, which makes two words.
    Refused are auxiliaries, letters in mixed case, several words, negated auxiliaries ("n't"), words that the lexicon
    lacks in that part of speech, and forms that are not attested.

    >>> inflect("seek", "VBD", like="Wanted")
    'Sought'
    >>> inflect("quick", "JJR", like="FASTER"), inflect("mate", "NN", like="friend's")
    ('QUICKER', "mate's")
    >>> inflect("interesting", "JJR", like="duller")
    >>> inflect("interesting", "JJR", like="duller", periphrasis=True)
    'more interesting'
    >>> inflect("be", "VBZ", like="exists")
    """
    host, clitic = split_clitic(like)
    form = inflected(lemma, tag)
    if form is None and periphrasis and tag in DEGREE and (base := inflected(lemma, BASE_OF[tag])):
        form = f"{DEGREE[tag]} {base}"
    if form is None:
        return None
    written = in_case_of(form, host)
    return None if written is None else written + _clitic_after(written, clitic)


def formed(lemma: str, tag: str, *, like: str) -> str | None:
    """What takes the place of the word `like`: the lemma in the form of the tag, or as it is where none is inflected.

    Two words where a degree has no form of its own ("more expensive").
    """
    return in_case_of(lemma, like) if tag in UNINFLECTED else inflect(lemma, tag, like=like, periphrasis=True)


@cache
def inflected(lemma: str, tag: str) -> str | None:
    """The form of a lemma for a Penn tag, in the lemma's own case; None if it is refused."""
    pos = PARTS_OF_SPEECH.get(tag)
    if pos is None or (pos == "v" and lemma.lower() in AUXILIARIES) or not EmbeddedLexicon.opened().senses(lemma, pos):
        return None
    listed = table().get((lemma, pos), {}).get(tag)
    if listed is not None:
        return None if listed == REFUSED else listed
    if tag in BASE:
        return lemma if "_" not in lemma else None
    return regular(lemma, tag) if WORD.fullmatch(lemma) else None


def is_form_of(word: str, verb: str, tag: str, *, but: str) -> bool:
    """Whether a word is this form of an irregular verb and not that other one.

    >>> is_form_of("rose", "rise", "VBD", but="VBN"), is_form_of("told", "tell", "VBD", but="VBN")
    (True, False)
    """
    forms = table().get((verb, "v"), {})
    return forms.get(tag) == word != forms.get(but, word)


@cache
def table() -> dict[tuple[str, str], dict[str, str]]:
    """(lemma, part of speech) -> tag -> form, for what no rule gives; "-" for a form that is refused.

    A line of the file: part of speech, lemma, and a form for each tag of COLUMNS; an empty one follows the rule.
    """
    text = (resources.files("encheck.language.edits") / "inflections.tsv").read_text("utf-8")
    rows = (line.split("\t") for line in text.splitlines() if not line.startswith("#"))
    return {(row[1], row[0]): {t: f for t, f in zip(COLUMNS[row[0]], row[2:], strict=True) if f} for row in rows}


def split_clitic(word: str) -> tuple[str, str]:
    """A word and the clitic that hangs on it.

    >>> split_clitic("friends'"), split_clitic("who're"), split_clitic("plain")
    (('friends', "'"), ('who', "'re"), ('plain', ''))
    """
    found = CLITIC.search(word)
    return (word[: found.start()], found.group()) if found else (word, "")


def _clitic_after(word: str, clitic: str) -> str:
    """A bare apostrophe follows a plural in -s only: the dogs' bowl, the men's bowl."""
    return clitic + ("S" if word.isupper() else "s") if clitic in ("'", "’") and word[-1] not in "sS" else clitic


def in_case_of(form: str, like: str) -> str | None:
    """The form in the case of the letters of `like`; None if that is mixed or has other signs than - in it.

    A capital that the form has by itself stays.

    >>> in_case_of("swift", "Fast"), in_case_of("swift", "FAST"), in_case_of("Christian", "pious")
    ('Swift', 'SWIFT', 'Christian')
    >>> in_case_of("swift", "iPhone"), in_case_of("swift", "n't")
    (None, None)
    """
    if not like.replace("-", "").isalpha():
        return None
    if like.islower():
        return form
    if like.isupper() and len(like) > 1:
        return form.upper()
    return form[0].upper() + form[1:] if like[0].isupper() and like[1:] == like[1:].lower() else None
