"""Which surface feature the learned rival reads in four phenomena, and what takes it away.

    python lab/recipes/learned_rival_causes.py [PHENOMENON ...]

Texts are rewritten by rule, to show a cause: nothing here is English that the probes might have.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

import numpy as np
from check_probes import Contrast, contrasts, of_phenomena, texts_of
from learned_rival import Floats, differences, features, null, right

from encheck.datasets.probes import embedded
from encheck.surface import SURFACE, count_negative_words, tokens

FEATURES = {"binding": "changes", "comparative": "changes"} | dict.fromkeys(
    ("negation", "quantifier"), "edit distance of characters"
)
REFITS = 200
WORD = re.compile(r"[\w’'-]+")
AUXILIARIES = (
    "am are be been being can could did do does had has have is may might must need shall should was were will would"
).split()
LETTERS = "bcdfghjklmnpqrstvwxz"
SAME = 6  # letters of each word that gets a length of its own


def letters(word: str, length: int) -> str:
    """So many consonants, always the same for a word."""
    found = hashlib.sha256(word.encode()).digest()
    return "".join(LETTERS[found[i % len(found)] % len(LETTERS)] for i in range(length))


def asserts_or_denies(word: str) -> bool:
    """Whether a word is an auxiliary or a negative word."""
    return word in AUXILIARIES or count_negative_words(word) > 0


def of_one_length(word: str) -> str:
    """An auxiliary or negative word in as many letters as all others."""
    return letters(word.lower(), SAME) if asserts_or_denies(word.lower()) else word


def in_other_letters(word: str) -> str:
    """Another word of the same length, with whose forms it shares no stem."""
    return letters(word.lower(), len(word))


def now_or_not(text: str) -> str:
    """Each auxiliary with "not" written in full or, as it asserts, with "now"."""
    whole = re.sub(r"\b(wo|ca|sha|\w+)n['’]t\b", lambda m: f"{FULL.get(m[1].lower(), m[1])} not", text)
    return re.sub(rf"\b({'|'.join(AUXILIARIES)})\b(?! not)", r"\1 now", whole)


FULL = {"wo": "will", "ca": "can", "sha": "shall"}


def by_words(change: Callable[[str], str]) -> Callable[[str], str]:
    """A change of each word of a text."""
    return lambda text: WORD.sub(lambda m: change(m[0]), text)


def throughout(some: Sequence[Contrast], change: Callable[[str], str]) -> Iterator[Contrast]:
    """The contrasts with all three texts changed."""
    for c in some:
        yield replace(c, source=change(c.source), kept=change(c.kept), changed=change(c.changed))


def sentences(some: Sequence[Contrast]) -> dict[str, list[str]]:
    """The two sentences of each group."""
    found: dict[str, list[str]] = {}
    for c in some:
        found.setdefault(c.group, []).append(c.source)
    return found


def padded(first: str, second: str) -> tuple[str, str]:
    """Two sentences with an idle word where the other has one more."""
    a, b = first.split(), second.split()
    longer: tuple[list[str], list[str]] = [], []
    for _, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        for out, own, other in zip(longer, (a[i:j], b[k:m]), (b[k:m], a[i:j]), strict=True):
            out += [*own, *["xxx"] * (len(other) - len(own))]
    return " ".join(longer[0]), " ".join(longer[1])


def of_equal_length(some: Sequence[Contrast]) -> Iterator[Contrast]:
    """The contrasts with equally many words in both sentences of a group."""
    known = {group: dict(zip(two, padded(*two), strict=True)) for group, two in sentences(some).items()}
    for c in some:
        yield replace(c, source=known[c.group][c.source])


def without_markers(some: Sequence[Contrast]) -> Iterator[Contrast]:
    """The contrasts with other words in the restatements for those that only one of the two sentences has."""
    words = {group: set.symmetric_difference(*map(set, map(tokens, two))) for group, two in sentences(some).items()}
    for c in some:
        change = by_words(lambda word, own=words[c.group]: "x" * len(word) if word.lower() in own else word)
        yield replace(c, kept=change(c.kept), changed=change(c.changed))


REWRITTEN: Mapping[str, Sequence[tuple[str, Callable[[Sequence[Contrast]], Iterator[Contrast]]]]] = {
    "binding": [("both sentences have equally many words", of_equal_length)],
    "comparative": [("no restatement has a word that only one of the two sentences has", without_markers)],
    "negation": [
        ("auxiliaries and negative words have one length", lambda some: throughout(some, by_words(of_one_length))),
        ('"has not" and "has now" for "hasn\'t" and "has"', lambda some: throughout(some, now_or_not)),
    ],
    "quantifier": [
        ("no two words resemble each other", lambda some: throughout(some, by_words(in_other_letters))),
    ],
}


def figures(apart: Floats, some: Sequence[Contrast]) -> str:
    """What the rival gets in other constructions, and by chance with whole groups and with whole frames exchanged."""
    folds = [c.construction for c in some]
    names = ([c.group for c in some], [c.cluster for c in some])
    chance = (np.quantile(null(apart, folds, one, refits=REFITS), 0.95) for one in names)
    return f"{right(apart, folds).mean():.3f} | {' | '.join(f'{one:.3f}' for one in chance)}"


def main() -> None:
    found = of_phenomena(list(contrasts(embedded().groups)))
    names = [*SURFACE, *features("", "")]
    print("| phenomenon | what the rival sees | other constructions | by chance | by chance, frames |")
    print("| --- | --- | --- | --- | --- |")
    for phenomenon in sys.argv[1:] or FEATURES:
        feature = FEATURES[phenomenon]
        some = found[phenomenon]
        apart, at = differences(*texts_of(some)), names.index(feature)
        print(f"| {phenomenon} | everything | {figures(apart, some)} |")
        print(f"| | {feature} alone | {figures(apart[:, [at]], some)} |")
        print(f"| | everything else | {figures(np.delete(apart, at, axis=1), some)} |", flush=True)
        for what, change in REWRITTEN.get(phenomenon, ()):
            changed = list(change(some))
            print(f"| | {what} | {figures(differences(*texts_of(changed)), changed)} |", flush=True)


if __name__ == "__main__":
    main()
