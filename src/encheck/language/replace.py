"""Replace words of a parsed sentence: the form of the word that goes, the article before it, the tags afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from encheck.language.articles import OPENING, articles
from encheck.language.english import English
from encheck.language.inflection import BASE_OF, in_case_of, inflect
from encheck.language.parse import Parse
from encheck.types import Edit

ENDINGS = {"VBZ": "s", "VBG": "ing"}
BEFORE = OPENING | {"a", "an"}
COMPARED = {"JJR": "RBR", "JJS": "RBS", "RBR": "RBR", "RBS": "RBS"}  # tag of "more" or "most" in their place
UNINFLECTED = {"IN", "DT", "PDT"}
Words = Mapping[int, str]  # position of a token -> the word that takes its place


def form(parse: Parse, at: int, lemma: str) -> str | None:
    """The lemma in the form of the word at `at`, or None where there is none or the sentence has the word already."""
    tag, old, lower = parse.tags[at], parse.words[at], parse.lowers[at]
    if not _has_form(lower, parse.lower_lemmas[at], tag):
        return None
    plain = old.islower() and old.isalpha()
    word = _plainly_formed(lemma, tag) if plain else _formed(lemma, tag, old)
    return None if word is None or word.lower() in parse.lower_words else word


@cache
def _plainly_formed(lemma: str, tag: str) -> str | None:
    """In the place of any word in lower case."""
    return _formed(lemma, tag, "word")


def _formed(lemma: str, tag: str, old: str) -> str | None:
    return in_case_of(lemma, old) if tag in UNINFLECTED else inflect(lemma, tag, like=old, periphrasis=True)


def _has_form(word: str, lemma: str, tag: str) -> bool:
    """Whether a verb or adjective looks as its tag says: "allege" is no VBZ, whatever the tagger thinks."""
    if tag in ("VB", "VBP", "JJ"):
        return word == lemma
    return tag not in ENDINGS or word.endswith(ENDINGS[tag])


def edits(parse: Parse, words: Words) -> tuple[Edit, ...]:
    """The edits that put `words` in their places, an article before them repaired, past an opening quote too."""
    put = words
    for at in words:
        if at and parse.lowers[at - 1] in BEFORE:
            tokens = [words.get(i, word) for i, word in enumerate(parse.words)]
            put = articles(tokens, changed=words.keys()) | dict(words)
            break
    return tuple([Edit(parse.starts[i], parse.ends[i], put[i]) for i in sorted(put)])


def keeps_tags(english: English, parse: Parse, words: Words, text: str) -> bool:
    """Whether the tagger gives the new words, in this text that they make, the tags of the old ones.

    "more expensive" has those of an adverb that compares and of a plain adjective.
    Raises Waiting where it was not asked yet.
    """
    tokens, tags = english.tags(text)
    more = 0
    for i in sorted(words):
        word, tag, at = words[i], parse.tags[i], i + more
        if " " not in word:
            if at >= len(tokens) or tokens[at] != word or tags[at] != tag:
                return False
            continue
        parts, wanted = tuple(word.split(" ")), (COMPARED.get(tag), BASE_OF.get(tag))
        if tokens[at : at + len(parts)] != parts or tags[at : at + len(parts)] != wanted:
            return False
        more += len(parts) - 1
    return len(tags) == len(parse.tags) + more
