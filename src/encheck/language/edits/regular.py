"""Regular inflection of English words, where the rule is certain; None if only a list can know.

`regular` is what a word gets that no list speaks of, so it refuses what may go either way: *potato* and *photo*,
*visited* and *admitted*, *stomachs* and *coaches*.
"""

from __future__ import annotations

import re

SIBILANT = re.compile(r"(?:s|x|z|sh|ch)$")
CONSONANT_Y = re.compile(r"[^aeiou]y$")
CLOSED = re.compile(r"(?:^|[^aeiou]|qu)[aeiouy][bdfgklmnprtvz]$")  # one vowel letter, one consonant letter
UNSURE_PLURAL = re.compile(
    r"(?:[^aeiou]o|[aeiou]o|f|fe|[^s]s|um|a|ex|ix|ies|man|men|[^nt]ch|z|ness|ism|ics|ing|ware|craft|eau|ese|een)$"
)
CLASSICAL = (("man", "men"), ("f", "ves"), ("fe", "ves"), ("um", "a"), ("us", "i"), ("is", "es"), ("a", "ae"))
ENDINGS = {"VBD": "ed", "VBN": "ed", "VBG": "ing", "JJR": "er", "RBR": "er", "JJS": "est", "RBS": "est"}
COMPARED = re.compile(r"[^aeiou]y$|le$|er$|ow$")


def syllables(word: str) -> int:
    """About how many syllables a word has, by its letters.

    >>> [syllables(w) for w in ("big", "like", "happy", "simple", "interesting", "tired")]
    [1, 1, 2, 2, 4, 2]
    """
    spoken = re.sub(r"(?<=[^aeiouyl])e$", "", word)
    spoken = re.sub(r"(?<=[aeiouy])le$", "l", spoken)
    return max(1, len(re.findall(r"[aeiouy]+", spoken)))


def regular(lemma: str, tag: str) -> str | None:
    """The form of a lower-case lemma for a Penn tag, if a rule gives it with certainty.

    >>> regular("study", "VBD"), regular("stop", "VBG"), regular("box", "NNS")
    ('studied', 'stopping', 'boxes')
    >>> regular("admit", "VBD"), regular("photo", "NNS"), regular("big", "JJR")
    (None, None, None)
    """
    if not re.search(r"[aeiouy]", lemma) or len(lemma) < 2:
        return None
    if tag in ("NNS", "VBZ"):
        return None if tag == "NNS" and UNSURE_PLURAL.search(lemma) else with_s(lemma)
    if tag in ("VBD", "VBN", "VBG") and not CLOSED.search(lemma):
        return with_suffix(lemma, "ing" if tag == "VBG" else "ed")
    if tag in ("VBD", "VBN", "VBG") and syllables(lemma) == 1:
        return lemma + lemma[-1] + ("ing" if tag == "VBG" else "ed")
    return None


def candidates(lemma: str, tag: str) -> frozenset[str]:
    """Every form that follows a pattern that fits the lemma; whether this lemma follows it, a list has to say.

    Comparatives only of words that take -er for certain: of one syllable, or of two with -y, -le, -er, -ow.

    >>> sorted(candidates("admit", "VBD")), sorted(candidates("let", "VBD"))
    (['admit', 'admited', 'admitted'], ['let', 'leted', 'letted'])
    >>> sorted(candidates("big", "JJR")), candidates("interesting", "JJR")
    (['biger', 'bigger'], frozenset())
    >>> sorted(candidates("larva", "NNS")), sorted(candidates("fireman", "NNS"))
    (['larvae', 'larvas'], ['firemans', 'firemen'])
    """
    if tag in ("NNS", "VBZ"):
        forms = {with_s(lemma), lemma + "s", *([lemma + "es"] if lemma[-1] in "osz" else [])}
        return frozenset(forms | {lemma[: -len(a)] + b for a, b in CLASSICAL if tag == "NNS" and lemma.endswith(a)})
    if tag[0] in "JR" and not compares(lemma):
        return frozenset()
    ending = ENDINGS[tag]
    forms = {with_suffix(lemma, ending), *([lemma + lemma[-1] + ending] if CLOSED.search(lemma) else [])}
    unchanged = tag in ("VBD", "VBN") and lemma[-1] in "td"
    kept_e = tag == "VBG" and lemma.endswith(("ge", "oe", "ue", "ye"))
    return frozenset(forms | ({lemma} if unchanged else set()) | ({lemma + "ing"} if kept_e else set()))


def compares(lemma: str) -> bool:
    """Whether an adjective is short enough to take -er for certain."""
    count = syllables(lemma)
    return count == 1 or (count == 2 and bool(COMPARED.search(lemma)))


def with_s(lemma: str) -> str:
    """The lemma with -s, -es or -ies."""
    if CONSONANT_Y.search(lemma):
        return lemma[:-1] + "ies"
    return lemma + ("es" if SIBILANT.search(lemma) else "s")


def with_suffix(lemma: str, suffix: str) -> str:
    """The lemma with -ed, -ing, -er or -est; nothing is doubled.

    >>> with_suffix("die", "ing"), with_suffix("agree", "ed"), with_suffix("large", "er"), with_suffix("happy", "est")
    ('dying', 'agreed', 'larger', 'happiest')
    >>> with_suffix("mimic", "ing")
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
