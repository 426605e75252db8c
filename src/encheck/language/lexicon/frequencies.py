"""How common words are: counts of a treebank, and of WordNet's tags."""

from __future__ import annotations

import math
from collections.abc import KeysView
from functools import cached_property

OPEN_CLASSES = frozenset({"NOUN", "VERB", "ADJ", "ADV"})


def zipf(count: int, words: float) -> float:
    """The logarithm (base 10) of how often a word is met in 1e9 words; half an occurrence is added.

    So a word that was never met stands at the floor that the size of the corpus sets. Scale: van Heuven et al. 2014,
    https://doi.org/10.1080/17470218.2013.850521.

    >>> round(zipf(99, 1_000_000), 2), round(zipf(0, 1_000_000), 2)
    (5.0, 2.7)
    """
    return math.log10((count + 0.5) / words) + 9


class TreebankCounts:
    """How often a treebank of `words` words has a form with a tag, and a lemma of WordNet's with a part of speech.

    The texts have a line a word: `light ADJ 12 NOUN 20`.

    >>> counts = TreebankCounts("light ADJ 12 NOUN 20\\nlights NOUN 3", "light a 12 n 23", words=1000)
    >>> counts.form("Light"), counts.form("light", "ADJ"), counts.lemma("light", "n")
    (32, 12, 23)
    """

    def __init__(self, forms: str, lemmas: str, *, words: int) -> None:
        self.words = words
        self._forms, self._lemmas = _counts(forms), _counts(lemmas)

    @cached_property
    def open_share(self) -> float:
        """The share of nouns, verbs, adjectives and adverbs among the words."""
        return sum(n for of in self._forms.values() for tag, n in of.items() if tag in OPEN_CLASSES) / self.words

    @property
    def forms(self) -> KeysView[str]:
        """The forms that occur, in lower case."""
        return self._forms.keys()

    def lemma(self, lemma: str, pos: str) -> int:
        """How often the lemma occurs."""
        return self._lemmas.get(lemma.lower(), {}).get(pos, 0)

    def form(self, word: str, upos: str | None = None) -> int:
        """How often the form occurs, with this universal tag or with any."""
        found = self._forms.get(word.lower(), {})
        return sum(found.values()) if upos is None else found.get(upos, 0)


def _counts(text: str) -> dict[str, dict[str, int]]:
    rows = (line.split(" ") for line in text.split("\n"))
    return {row[0]: dict(zip(row[1::2], map(int, row[2::2]), strict=True)) for row in rows}


class Frequencies:
    """Zipf frequencies from the treebank's counts and WordNet's `tagged` words together.

    WordNet tagged open classes only: it stands for as much running text as holds so many of them in the treebank.
    """

    def __init__(self, treebank: TreebankCounts, *, tagged: int) -> None:
        self.treebank = treebank
        self.words = treebank.words + tagged / treebank.open_share

    def lemma(self, count: int) -> float:
        """Of a lemma with this count in both together."""
        return zipf(count, self.words)

    def word(self, word: str) -> float:
        """Of a form, in the treebank alone."""
        return zipf(self.treebank.form(word), self.treebank.words)
