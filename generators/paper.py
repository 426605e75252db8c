"""The published recipe without changes, for reproduction: `--generator-mode paper` (Mahajan et al. 2023, authors'
code).

Words are separated by blanks. Candidates are all words except stop words, compared with their capitals; any part of
speech, all senses together; every occurrence is replaced, nothing is inflected; antonyms keep WordNet's underscores. A
sentence without a candidate is returned unchanged, and counts. Only the order of the candidates is encheck's: theirs
depended on Python's hash seed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from random import Random
from typing import NamedTuple

from encheck.language.lexicon.lexicon import PARTS, Antonym, Lexicon, Pos
from encheck.language.words import paper_stop_words
from encheck.types import Edit, Variant

PREFIX = "paper-"  # of the generator's name in a variant
Related = Callable[[str], Sequence[str]]  # a word -> all related words of the lexicon
DRAWS = 3
LONG = 1_000  # words and blanks: comparing more takes minutes


def synonyms_of(lexicon: Lexicon) -> Related:
    """All words that share a synset with a word, lower-cased, only letters and blanks."""

    def related(word: str) -> list[str]:
        result = (lemma for pos in PARTS for base in lexicon.base_forms(word.lower(), pos)
                 for sense in lexicon.senses(base, pos) for lemma in sense.lemmas)  # fmt: skip
        clean = (re.sub("[^a-z ]", "", re.sub("[_-]", " ", lemma.lower())) for lemma in result)
        return sorted({lemma for lemma in clean if lemma and lemma != word})

    return related


def antonyms_of(lexicon: Lexicon) -> Related:
    """All antonyms of all words that share a synset with a word."""

    def related(word: str) -> list[str]:
        return sorted({
            antonym.lemma for pos in PARTS for base in lexicon.base_forms(word.lower(), pos)
            for sense in lexicon.senses(base, pos) for lemma in sense.lemmas
            for antonym in _antonyms(lexicon, lemma, pos, sense.id)
        })  # fmt: skip

    return related


def _antonyms(lexicon: Lexicon, lemma: str, pos: Pos, sense_id: str) -> Sequence[Antonym]:
    own = next((s for s in lexicon.senses(lemma, pos) if s.id == sense_id), None)
    return lexicon.antonyms(lemma, pos, own) if own else ()


class PaperText(NamedTuple):
    """A text, and a description of its changes."""

    text: str
    said: str


def substituted(text: str, *, words: int, rng: Random, related: Related, stop: frozenset[str]) -> PaperText:
    """The text with up to `words` distinct words replaced, each by one of its related words, wherever it occurs."""
    tokens = text.split()
    candidates = sorted({token for token in tokens if token not in stop})
    rng.shuffle(candidates)
    done: list[str] = []
    for candidate in candidates:
        if choices := related(candidate):
            choice = rng.choice(list(choices))
            tokens = [choice if token == candidate else token for token in tokens]
            done.append(f"{candidate} > {choice}")
        if len(done) == words:
            break
    return PaperText(" ".join(tokens), "; ".join(done))


def jumbled(text: str, *, swaps: int, rng: Random) -> PaperText:
    """The text after `swaps` exchanges of two random positions; a later one may undo an earlier one."""
    tokens, done = text.split(), []
    for _ in range(swaps):
        first = second = rng.randint(0, len(tokens) - 1)
        for _ in range(DRAWS):
            second = rng.randint(0, len(tokens) - 1)
            if second != first:
                break
        done.append(f"{tokens[first]} <-> {tokens[second]}")
        tokens[first], tokens[second] = tokens[second], tokens[first]
    return PaperText(" ".join(tokens), "; ".join(done))


def paper_synonym(text: str, *, words: int, rng: Random, lexicon: Lexicon) -> Variant | str:
    """Criterion 2 as published."""
    made = substituted(text, words=words, rng=rng, related=synonyms_of(lexicon), stop=paper_stop_words()[1])
    return _variant(text, made, "synonym", words)


def paper_antonym(text: str, *, words: int, rng: Random, lexicon: Lexicon) -> Variant | str:
    """Criterion 3 as published."""
    made = substituted(text, words=words, rng=rng, related=antonyms_of(lexicon), stop=paper_stop_words()[1])
    return _variant(text, made, "antonym", words)


def paper_jumble(text: str, *, swaps: int, rng: Random) -> Variant | str:
    """Criterion 4 as published."""
    return _variant(text, jumbled(text, swaps=swaps, rng=rng), "jumble", swaps) if text.split() else "no word"


def _variant(text: str, made: PaperText, relation: str, level: int) -> Variant:
    """The variant, its edits found by comparing words; blanks between words become single ones, as in the paper."""
    said = f"paper mode: {made.said or 'nothing was replaced'}"
    return Variant(made.text, relation, level, _edits(text, made.text), f"{PREFIX}{relation}", said)


def is_published(variant: Variant) -> bool:
    """Whether the published recipe made this: then an unchanged sentence counts, with similarity 1."""
    return variant.generator.startswith(PREFIX)


def _edits(text: str, made: str) -> tuple[Edit, ...]:
    """The differences, word by word; the whole text if it is very long."""
    old, new = (re.findall(r"\s+|\S+", t) for t in (text, made))
    at = [0, *accumulate(map(len, old))]
    if len(old) > LONG:
        return (Edit(0, len(text), made),) if text != made else ()
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(Edit(at[i1], at[i2], "".join(new[j1:j2])) for tag, i1, i2, j1, j2 in codes if tag != "equal")
