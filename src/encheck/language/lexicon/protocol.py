"""What a lexicon answers: senses, synonyms and antonyms of a word, and the lemmas that a form may belong to."""

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
    "dog.n.01"; `lemmas` are all words of the synset in WordNet's order, the lemma itself among them. `count` says how
    often the *lemma* was tagged with this sense. `marker` is where an adjective may stand: "a" before its noun only,
    "p" as a predicate only, "ip" right after its noun only. `frames` are the numbers of a verb's sentence frames
    (https://wordnet.princeton.edu/documentation/wninput5wn), `lexfile` that of the lexicographer's file, a coarse
    topic. `satellite` tells an adjective whose antonym, if any, is that of the head it is similar to.
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
    """A word in a sense that opposes; not `direct` where only the heads of the two are opposed."""

    lemma: str
    sense: str
    direct: bool = True


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
        rows = ([line.split(" ") for line in text.split("\n")] for text in (forms, lemmas))
        self.forms, self._lemmas = (
            {row[0]: dict(zip(row[1::2], map(int, row[2::2]), strict=True)) for row in lines} for lines in rows
        )

    def lemma(self, lemma: str, pos: str) -> int:
        """How often the lemma occurs."""
        return self._lemmas.get(lemma.lower(), {}).get(pos, 0)

    def form(self, word: str, upos: str | None = None) -> int:
        """How often the form occurs, with this universal tag or with any."""
        counts = self.forms.get(word.lower(), {})
        return sum(counts.values()) if upos is None else counts.get(upos, 0)

    def words_with(self, tagged: int) -> float:
        """How much running text the treebank and so many words that WordNet tagged stand for.

        WordNet tagged open classes only: as much as holds so many of them in the treebank.
        """
        of_open_classes = sum(n for of in self.forms.values() for tag, n in of.items() if tag in OPEN_CLASSES)
        return self.words + tagged / (of_open_classes / self.words)


class Lexicon(ABC):
    """What every lexicon answers. A word or sense that it doesn't know has no senses and no relations."""

    release: str

    def __init__(self) -> None:
        self._frequency: dict[tuple[str, Pos], float] = {}

    @property
    @abstractmethod
    def treebank(self) -> TreebankCounts:
        """How often a treebank has words and lemmas."""

    @property
    @abstractmethod
    def words(self) -> float:
        """How much running text its counts stand for, the treebank's and WordNet's together."""

    @abstractmethod
    def fingerprint(self) -> str:
        """What stands in the record for this lexicon: its release and its files' content."""

    @abstractmethod
    def lemmas(self, pos: Pos) -> tuple[str, ...]:
        """All lemmas of a part of speech in lower case, sorted."""

    @abstractmethod
    def _entries(self, lemma: str, pos: Pos) -> Sequence[Any]:
        """The lemma in each of its senses, in their order."""

    @abstractmethod
    def senses(self, lemma: str, pos: Pos) -> tuple[Sense, ...]:
        """The senses of a lemma, the most frequent first; no inflected form is looked up, case is ignored."""

    @abstractmethod
    def antonyms(self, lemma: str, pos: Pos, sense: Sense, *, indirect: bool = False) -> tuple[Antonym, ...]:
        """What opposes the lemma in this sense; with `indirect`, after it what opposes the heads of a satellite."""

    @abstractmethod
    def members(self, sense: str) -> tuple[str, ...]:
        """The words of the synset with this id."""

    @abstractmethod
    def similar(self, sense: str) -> tuple[str, ...]:
        """The ids of the heads of a satellite adjective, sorted."""

    @abstractmethod
    def hypernyms(self, sense: str) -> tuple[str, ...]:
        """The ids of the next wider senses of a noun or verb, sorted."""

    @abstractmethod
    def irregular(self, form: str, pos: Pos) -> tuple[str, ...]:
        """The base forms of a form in WordNet's list of irregular forms, whether they are lemmas or not."""

    def base_forms(self, form: str, pos: Pos) -> tuple[str, ...]:
        """The lemmas that a form may belong to, by WordNet's list of irregular forms and its rules.

        The endings count where no irregular form does: https://wordnet.princeton.edu/documentation/morphy7wn, for
        single words, and as NLTK reads it.
        """
        lower = form.lower()
        regular = (lower.removesuffix(old) + new for old, new in ENDINGS[pos] if lower.endswith(old))
        candidates = dict.fromkeys((lower, *(self.irregular(form, pos) or regular)))
        return tuple(lemma for lemma in candidates if self._entries(lemma, pos))

    def count(self, lemma: str, pos: Pos) -> int:
        """How often the lemma was seen: WordNet's tags and the treebank's words together."""
        return sum(s.count for s in self.senses(lemma, pos)) + self.treebank.lemma(lemma, pos)

    def frequency(self, lemma: str, pos: Pos) -> float:
        """How common the lemma is on the Zipf scale."""
        known = self._frequency.get((lemma, pos))
        if known is None:
            known = self._frequency[lemma, pos] = zipf(self.count(lemma, pos), self.words)
        return known

    def word_count(self, word: str, upos: str | None = None) -> int:
        """How often the treebank has the word in this form, with this universal tag or with any; case is ignored."""
        return self.treebank.form(word, upos)

    def word_frequency(self, word: str) -> float:
        """How common the word in this form is on the Zipf scale, in the treebank alone."""
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
