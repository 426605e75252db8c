"""Inflection: give a replacement the form of the word that it replaces.

Only attested forms are returned: the table next to this file compares LemmInflect's word list with WordNet's irregular
forms, the treebank and the regular patterns (lab/recipes/build_inflections.py). Doubtful forms are refused, and the
caller leaves the word unchanged.

`inflect_by_rule` handles words that are on no list, so it refuses ambiguous patterns: *potato* and *photo*, *visited*
and *admitted*, *stomachs* and *coaches*.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from encheck.language.lexicon.lexicon import EmbeddedLexicon, Pos

SIBILANT = re.compile(r"(?:s|x|z|sh|ch)$")
CONSONANT_Y = re.compile(r"[^aeiou]y$")
CLOSED = re.compile(r"(?:^|[^aeiou]|qu)[aeiouy][bdfgklmnprtvz]$")  # one vowel letter, one consonant letter
UNSURE_PLURAL = re.compile(
    r"(?:[^aeiou]o|[aeiou]o|f|fe|[^s]s|um|a|ex|ix|ies|man|men|[^nt]ch|z|ness|ism|ics|ing|ware|craft|eau|ese|een)$"
)
CLASSICAL = (("man", "men"), ("f", "ves"), ("fe", "ves"), ("um", "a"), ("us", "i"), ("is", "es"), ("a", "ae"))
ENDINGS = {"VBD": "ed", "VBN": "ed", "VBG": "ing", "JJR": "er", "RBR": "er", "JJS": "est", "RBS": "est"}
SHORT_COMPARED = re.compile(r"[^aeiou]y$|le$|er$|ow$")


def count_syllables(word: str) -> int:
    """Estimate a word's syllables from its letters.

    >>> [count_syllables(w) for w in ("big", "like", "happy", "simple", "interesting", "tired")]
    [1, 1, 2, 2, 4, 2]
    """
    spoken = re.sub(r"(?<=[^aeiouyl])e$", "", word)
    spoken = re.sub(r"(?<=[aeiouy])le$", "l", spoken)
    return max(1, len(re.findall(r"[aeiouy]+", spoken)))


def inflect_by_rule(lemma: str, tag: str) -> str | None:
    """Return the form of a lower-case lemma for a Penn tag, if a rule is certain, otherwise None.

    >>> inflect_by_rule("study", "VBD"), inflect_by_rule("stop", "VBG"), inflect_by_rule("box", "NNS")
    ('studied', 'stopping', 'boxes')
    >>> inflect_by_rule("admit", "VBD"), inflect_by_rule("photo", "NNS"), inflect_by_rule("big", "JJR")
    (None, None, None)
    """
    if not re.search(r"[aeiouy]", lemma) or len(lemma) < 2:
        return None
    if tag in ("NNS", "VBZ"):
        return None if tag == "NNS" and UNSURE_PLURAL.search(lemma) else add_s(lemma)
    if tag in ("VBD", "VBN", "VBG") and not CLOSED.search(lemma):
        return add_suffix(lemma, "ing" if tag == "VBG" else "ed")
    if tag in ("VBD", "VBN", "VBG") and count_syllables(lemma) == 1:
        return lemma + lemma[-1] + ("ing" if tag == "VBG" else "ed")
    return None


def list_possible_forms(lemma: str, tag: str) -> frozenset[str]:
    """Return all forms by patterns that fit the lemma; a list decides which of them it really has.

    Comparatives only for words that certainly take -er: with one syllable, or two with -y, -le, -er, -ow.

    >>> sorted(list_possible_forms("admit", "VBD")), sorted(list_possible_forms("let", "VBD"))
    (['admit', 'admited', 'admitted'], ['let', 'leted', 'letted'])
    >>> sorted(list_possible_forms("big", "JJR")), list_possible_forms("interesting", "JJR")
    (['biger', 'bigger'], frozenset())
    >>> sorted(list_possible_forms("larva", "NNS")), sorted(list_possible_forms("fireman", "NNS"))
    (['larvae', 'larvas'], ['firemans', 'firemen'])
    """
    if tag in ("NNS", "VBZ"):
        forms = {add_s(lemma), lemma + "s", *([lemma + "es"] if lemma[-1] in "osz" else [])}
        return frozenset(forms | {lemma[: -len(a)] + b for a, b in CLASSICAL if tag == "NNS" and lemma.endswith(a)})
    if tag[0] in "JR" and not takes_er(lemma):
        return frozenset()
    ending = ENDINGS[tag]
    forms = {add_suffix(lemma, ending), *([lemma + lemma[-1] + ending] if CLOSED.search(lemma) else [])}
    unchanged = tag in ("VBD", "VBN") and lemma[-1] in "td"
    kept_e = tag == "VBG" and lemma.endswith(("ge", "oe", "ue", "ye"))
    return frozenset(forms | ({lemma} if unchanged else set()) | ({lemma + "ing"} if kept_e else set()))


def takes_er(lemma: str) -> bool:
    """Return whether an adjective is short enough to certainly take -er."""
    count = count_syllables(lemma)
    return count == 1 or (count == 2 and bool(SHORT_COMPARED.search(lemma)))


def add_s(lemma: str) -> str:
    """Return the lemma with -s, -es or -ies."""
    if CONSONANT_Y.search(lemma):
        return lemma[:-1] + "ies"
    return lemma + ("es" if SIBILANT.search(lemma) else "s")


def add_suffix(lemma: str, suffix: str) -> str:
    """Return the lemma with -ed, -ing, -er or -est, without doubling consonants.

    >>> add_suffix("die", "ing"), add_suffix("agree", "ed"), add_suffix("large", "er"), add_suffix("happy", "est")
    ('dying', 'agreed', 'larger', 'happiest')
    >>> add_suffix("mimic", "ing")
    'mimicking'
    """
    if lemma.endswith("ic"):
        lemma += "k"
    if suffix == "ing":
        if lemma.endswith("ie"):
            return lemma[:-2] + "ying"
        silent = lemma.endswith("e") and not lemma.endswith(("ee", "oe", "ye")) and len(lemma) > 2
        return (lemma[:-1] if silent else lemma) + suffix
    if lemma.endswith("e"):
        return lemma + suffix[1:]
    return (lemma[:-1] + "i" if CONSONANT_Y.search(lemma) else lemma) + suffix


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


def inflect_like(lemma: str, tag: str, *, like: str, periphrasis: bool = False) -> str | None:
    """Inflect the lemma for the Penn tag, in the style of the word `like` that it replaces, or None if refused.

    The result has the letter case of `like` (lower, Capitalised, ALL CAPITALS) and its clitic ("'s", "'re"). With
    `periphrasis`, an adjective or adverb without -er is compared with *more* and *most*, which makes two words. Refused
    are auxiliaries, letters in mixed case, several words, negated auxiliaries ("n't"), words that the lexicon lacks in
    that part of speech, and forms that are not attested.

    >>> inflect_like("seek", "VBD", like="Wanted")
    'Sought'
    >>> inflect_like("quick", "JJR", like="FASTER"), inflect_like("mate", "NN", like="friend's")
    ('QUICKER', "mate's")
    >>> inflect_like("interesting", "JJR", like="duller")
    >>> inflect_like("interesting", "JJR", like="duller", periphrasis=True)
    'more interesting'
    >>> inflect_like("be", "VBZ", like="exists")
    """
    host, clitic = split_clitic(like)
    form = inflect(lemma, tag)
    if form is None and periphrasis and tag in DEGREE and (base := inflect(lemma, BASE_OF[tag])):
        form = f"{DEGREE[tag]} {base}"
    if form is None:
        return None
    written = match_case(form, host)
    if written is None:
        return None
    # A bare apostrophe follows a plural in -s only: the dogs' bowl, the men's bowl.
    if clitic in ("'", "’") and written[-1] not in "sS":
        clitic += "S" if written.isupper() else "s"
    return written + clitic


def inflect_or_keep_like(lemma: str, tag: str, *, like: str) -> str | None:
    """Return the replacement for the word `like`: the lemma inflected for the tag, or uninflected if the tag needs no
    form.

    It has two words if a degree has no form ("more expensive").
    """
    return match_case(lemma, like) if tag in UNINFLECTED else inflect_like(lemma, tag, like=like, periphrasis=True)


@cache
def inflect(lemma: str, tag: str) -> str | None:
    """Return the form of a lemma for a Penn tag, in the lemma's own case, or None if it is refused."""
    pos = PARTS_OF_SPEECH.get(tag)
    if pos is None or (pos == "v" and lemma.lower() in AUXILIARIES) or not EmbeddedLexicon.shared().senses(lemma, pos):
        return None
    listed = load_inflections().get((lemma, pos), {}).get(tag)
    if listed is not None:
        return None if listed == REFUSED else listed
    if tag in BASE:
        return lemma if "_" not in lemma else None
    return inflect_by_rule(lemma, tag) if WORD.fullmatch(lemma) else None


def is_form_of(word: str, verb: str, tag: str, *, not_tag: str) -> bool:
    """Return whether a word is this form of an irregular verb and not the other form.

    >>> is_form_of("rose", "rise", "VBD", not_tag="VBN"), is_form_of("told", "tell", "VBD", not_tag="VBN")
    (True, False)
    """
    forms = load_inflections().get((verb, "v"), {})
    return forms.get(tag) == word != forms.get(not_tag, word)


@cache
def load_inflections() -> dict[tuple[str, str], dict[str, str]]:
    """Return (lemma, part of speech) -> tag -> form, for forms without a rule; "-" for a refused form.

    A line of the file: part of speech, lemma, and a form for each tag of COLUMNS; an empty form follows the rule.
    """
    text = (resources.files("encheck.language.edits") / "inflections.tsv").read_text("utf-8")
    rows = (line.split("\t") for line in text.splitlines() if not line.startswith("#"))
    return {(row[1], row[0]): {t: f for t, f in zip(COLUMNS[row[0]], row[2:], strict=True) if f} for row in rows}


def split_clitic(word: str) -> tuple[str, str]:
    """Split a word from its clitic.

    >>> split_clitic("friends'"), split_clitic("who're"), split_clitic("plain")
    (('friends', "'"), ('who', "'re"), ('plain', ''))
    """
    match = CLITIC.search(word)
    return (word[: match.start()], match.group()) if match else (word, "")


def match_case(form: str, like: str) -> str | None:
    """Return the form in the letter case of `like`, or None if that is mixed or has signs other than a hyphen.

    The form's own capitals stay.

    >>> match_case("swift", "Fast"), match_case("swift", "FAST"), match_case("Christian", "pious")
    ('Swift', 'SWIFT', 'Christian')
    >>> match_case("swift", "iPhone"), match_case("swift", "n't")
    (None, None)
    """
    if not like.replace("-", "").isalpha():
        return None
    if like.islower():
        return form
    if like.isupper() and len(like) > 1:
        return form.upper()
    return form[0].upper() + form[1:] if like[0].isupper() and like[1:] == like[1:].lower() else None
