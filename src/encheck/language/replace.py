"""Replace words of a parsed sentence: the form of the word that goes, the article before it, the tags afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from encheck.language.articles import articles
from encheck.language.english import English
from encheck.language.inflection import in_case_of, inflect
from encheck.language.parse import Parse
from encheck.types import Edit, apply_edits

ALIKE = {"VBP": "VB"}  # one form of the word: only the words around it tell them apart
ENDINGS = {"VBZ": "s", "VBG": "ing"}
UNINFLECTED = {"IN", "DT", "PDT"}
Words = Mapping[int, str]  # position of a token -> the word that takes its place


def form(parse: Parse, at: int, lemma: str) -> str | None:
    """The lemma in the form of the word at `at`, or None where there is none or the sentence has the word already."""
    word = _formed(lemma, parse.tags[at], parse.words[at], parse.lemmas[at].lower())
    return None if word is None or word.lower() in parse.lower_words else word


@lru_cache(maxsize=100_000)
def _formed(lemma: str, tag: str, old: str, old_lemma: str) -> str | None:
    if not _has_form(old.lower(), old_lemma, tag):
        return None
    return in_case_of(lemma, old) if tag in UNINFLECTED else inflect(lemma, tag, like=old)


def _has_form(word: str, lemma: str, tag: str) -> bool:
    """Whether a verb or adjective looks as its tag says: "allege" is no VBZ, whatever the tagger thinks."""
    if tag in ("VB", "VBP", "JJ"):
        return word == lemma
    return tag not in ENDINGS or word.endswith(ENDINGS[tag])


def edits(parse: Parse, words: Words) -> tuple[Edit, ...]:
    """The edits that put `words` in their places, an article before them repaired."""
    put = dict(words)
    if any(i and parse.words[i - 1].lower() in ("a", "an") for i in words):
        tokens = [words.get(i, word) for i, word in enumerate(parse.words)]
        put = articles(tokens, changed=words.keys()) | put
    return tuple(Edit(parse.starts[i], parse.ends[i], put[i]) for i in sorted(put))


def text_with(parse: Parse, words: Words) -> str:
    """The sentence with these words in their places."""
    return apply_edits(parse.text, edits(parse, words))


def keeps_tags(english: English, parse: Parse, words: Words) -> bool:
    """Whether the tagger gives the new words the tags of the old ones; raises Waiting where it was not asked yet."""
    ((tokens, tags),) = english.tags([text_with(parse, words)])
    kept = (tokens[i] == word and _alike(tags[i], parse.tags[i]) for i, word in words.items())
    return len(tags) == len(parse) and all(kept)


def _alike(tag: str, other: str) -> bool:
    return ALIKE.get(tag, tag) == ALIKE.get(other, other)
