"""Lemmas of silver words: as the treebank has them, else by WordNet's morphology; unknown where neither says.

The teacher's own are not used: it says "countrie", and 95.5% of dev's lemmas are right where the student's are 97% from
the treebank alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from pipeline_data import Sentence

from encheck.language.lexicon.lexicon import Pos
from encheck.language.lexicon.load import load_lexicon

BASE = {"NN", "VB", "VBP", "JJ", "RB"}
INFLECTED: dict[str, Pos] = {
    "NNS": "n", "VBZ": "v", "VBD": "v", "VBN": "v", "VBG": "v", "JJR": "a", "JJS": "a", "RBR": "r", "RBS": "r",
}  # fmt: skip
LemmaOf = Callable[[str, str], str]


def lemmas_like(gold: Sequence[Sentence]) -> LemmaOf:
    """A function from word and Penn tag to lemma, "" where it is unknown."""
    seen: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for s in gold:
        for word, tag, lemma in zip(s.words, s.tags, s.lemmas, strict=True):
            seen[key_of(word, tag)][lemma] += 1
    words = load_lexicon()

    def lemma_of(word: str, tag: str) -> str:
        if counts := seen.get(key_of(word, tag)):
            return counts.most_common(1)[0][0]
        if tag == "NNP":
            return word
        if tag in BASE:
            return word.lower()
        pos = INFLECTED.get(tag)
        bases = [b for b in words.base_forms(word.lower(), pos) if b != word.lower()] if pos else []
        return max(bases, key=lambda base: words.count(base, pos), default="") if pos else ""

    return lemma_of


def key_of(word: str, tag: str) -> tuple[str, str]:
    """Names count by their letters' case, other words do not."""
    return (word if tag.startswith("NNP") else word.lower()), tag


def with_lemmas(sentence: Sentence, lemma_of: LemmaOf) -> Sentence:
    """The sentence with these lemmas."""
    return replace(sentence, lemmas=[lemma_of(w, t) for w, t in zip(sentence.words, sentence.tags, strict=True)])
