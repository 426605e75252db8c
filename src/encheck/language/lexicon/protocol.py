"""The interface of a lexicon: senses, synonyms and antonyms of a word, and the possible lemmas of a form."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

Pos = Literal["n", "v", "a", "r"]


PARTS: tuple[Pos, ...] = get_args(Pos)


Marker = Literal["", "a", "p", "ip"]


MARKERS: tuple[Marker, ...] = get_args(Marker)


OPEN_CLASSES = frozenset({"NOUN", "VERB", "ADJ", "ADV"})


@dataclass(frozen=True, slots=True)
class Sense:
    """One sense of a lemma.

    `id` is the first word of the synset, its part of speech and the number of this sense among that word's, as in
    "dog.n.01"; `lemmas` are all words of the synset in WordNet's order, including the lemma. `count` says how often the
    *lemma* was tagged with this sense. `marker` is the position of an adjective: "a" only before its noun, "p" only as
    a predicate, "ip" only right after its noun. `frames` are the numbers of a verb's sentence frames
    (https://wordnet.princeton.edu/documentation/wninput5wn), `lexfile` that of the lexicographer's file, a coarse
    topic. `satellite` marks an adjective whose antonym, if any, is that of a similar head adjective.
    """

    id: str
    lemmas: tuple[str, ...]
    count: int
    marker: Marker = ""
    frames: tuple[int, ...] = ()
    lexfile: int = 0
    satellite: bool = False


@dataclass(frozen=True, slots=True)
class Antonym:
    """An antonym in its sense; not `direct` if only the heads of the two are antonyms."""

    lemma: str
    sense: str
    direct: bool = True


def zipf(count: int, words: float) -> float:
    """The logarithm (base 10) of a word's frequency per 1e9 words, with half an occurrence added.

    So an unseen word has the lowest value for the size of the corpus. Scale: van Heuven et al. 2014,
    https://doi.org/10.1080/17470218.2013.850521.

    >>> round(zipf(99, 1_000_000), 2), round(zipf(0, 1_000_000), 2)
    (5.0, 2.7)
    """
    return math.log10((count + 0.5) / words) + 9


class TreebankCounts:
    """Counts of a treebank of `words` words: of forms by tag, and of WordNet's lemmas by part of speech.

    The texts have one line per word: `light ADJ 12 NOUN 20`.

    >>> counts = TreebankCounts("light ADJ 12 NOUN 20\\nlights NOUN 3", "light a 12 n 23", words=1000)
    >>> counts.form("Light"), counts.form("light", "ADJ"), counts.lemma("light", "n")
    (32, 12, 23)
    """

    def __init__(self, forms: str, lemmas: str, *, words: int) -> None:
        self.words = words
        rows = ([line.split(" ") for line in text.split("\n")] for text in (forms, lemmas))
        self.forms, self._lemmas = (
            {row[0]: dict(zip(row[1::2], map(int, row[2::2]), strict=True)) for row in lines} for lines in rows
        )

    def lemma(self, lemma: str, pos: str) -> int:
        """The count of the lemma."""
        return self._lemmas.get(lemma.lower(), {}).get(pos, 0)

    def form(self, word: str, upos: str | None = None) -> int:
        """The count of the form, with this universal tag or any."""
        counts = self.forms.get(word.lower(), {})
        return sum(counts.values()) if upos is None else counts.get(upos, 0)

    def words_with(self, tagged: int) -> float:
        """The running text behind the treebank and so many words tagged by WordNet, in words.

        WordNet tagged only open classes, so its share is estimated from the treebank.
        """
        of_open_classes = sum(n for of in self.forms.values() for tag, n in of.items() if tag in OPEN_CLASSES)
        return self.words + tagged / (of_open_classes / self.words)


class Lexicon(ABC):
    """The methods of every lexicon. An unknown word or sense has no senses and no relations."""

    release: str

    def __init__(self) -> None:
        self._frequency: dict[tuple[str, Pos], float] = {}

    @property
    @abstractmethod
    def treebank(self) -> TreebankCounts:
        """A treebank's counts of words and lemmas."""

    @property
    @abstractmethod
    def words(self) -> float:
        """The number of words of running text behind its counts, the treebank's and WordNet's together."""

    @abstractmethod
    def fingerprint(self) -> str:
        """The lexicon's release and a hash of its files, for the record."""

    @abstractmethod
    def lemmas(self, pos: Pos) -> tuple[str, ...]:
        """All lemmas of a part of speech in lower case, sorted."""

    @abstractmethod
    def _entries(self, lemma: str, pos: Pos) -> Sequence[Any]:
        """The lemma in each of its senses, in order."""

    @abstractmethod
    def senses(self, lemma: str, pos: Pos) -> tuple[Sense, ...]:
        """The senses of a lemma, the most frequent first; no inflected form is looked up, case is ignored."""

    @abstractmethod
    def antonyms(self, lemma: str, pos: Pos, sense: Sense, *, indirect: bool = False) -> tuple[Antonym, ...]:
        """The antonyms of the lemma in this sense; with `indirect`, followed by those of a satellite's heads."""

    @abstractmethod
    def members(self, sense: str) -> tuple[str, ...]:
        """The words of the synset with this id."""

    @abstractmethod
    def similar(self, sense: str) -> tuple[str, ...]:
        """The ids of the heads of a satellite adjective, sorted."""

    @abstractmethod
    def hypernyms(self, sense: str) -> tuple[str, ...]:
        """The ids of the hypernyms of a noun or verb, sorted."""

    @abstractmethod
    def irregular(self, form: str, pos: Pos) -> tuple[str, ...]:
        """The base forms of an irregular form in WordNet's list, even if they are not lemmas."""

    def base_forms(self, form: str, pos: Pos) -> tuple[str, ...]:
        """The possible lemmas of a form, by WordNet's list of irregular forms and its rules.

        Endings are used only without an irregular form (https://wordnet.princeton.edu/documentation/morphy7wn, for
        single words, as NLTK implements it).
        """
        lower = form.lower()
        regular = (lower.removesuffix(old) + new for old, new in ENDINGS[pos] if lower.endswith(old))
        candidates = dict.fromkeys((lower, *(self.irregular(form, pos) or regular)))
        return tuple(lemma for lemma in candidates if self._entries(lemma, pos))

    def count(self, lemma: str, pos: Pos) -> int:
        """The count of the lemma in WordNet's tags and the treebank together."""
        return sum(s.count for s in self.senses(lemma, pos)) + self.treebank.lemma(lemma, pos)

    def frequency(self, lemma: str, pos: Pos) -> float:
        """The frequency of the lemma on the Zipf scale."""
        known = self._frequency.get((lemma, pos))
        if known is None:
            known = self._frequency[lemma, pos] = zipf(self.count(lemma, pos), self.words)
        return known

    def word_count(self, word: str, upos: str | None = None) -> int:
        """The treebank's count of this form, with this universal tag or any; case is ignored."""
        return self.treebank.form(word, upos)

    def word_frequency(self, word: str) -> float:
        """The frequency of this form on the Zipf scale, in the treebank only."""
        return zipf(self.treebank.form(word), self.treebank.words)


def part_of(kind: str) -> Pos:
    """The part of speech of a kind of synset: satellite adjectives ("s") are adjectives."""
    return "a" if kind == "s" else cast("Pos", kind)


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
