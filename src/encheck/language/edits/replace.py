"""Replace words of a parsed sentence: the form of the word that goes, the article before it, the tags afterwards."""

from __future__ import annotations

from collections.abc import Mapping

from encheck.language.edits.articles import OPENING, articles
from encheck.language.edits.inflection import BASE_OF, formed
from encheck.language.edits.places import has_form
from encheck.language.english import English, Replaced
from encheck.language.parse import Parse
from encheck.types import Edit, apply_edits

BEFORE = OPENING | {"a", "an"}
COMPARED = {"JJR": "RBR", "JJS": "RBS", "RBR": "RBR", "RBS": "RBS"}  # tag of "more" or "most" in their place
Words = Mapping[int, str]  # position of a token -> the word that takes its place


def form(parse: Parse, at: int, lemma: str) -> str | None:
    """The lemma in the form of the word at `at`, or None where there is none or the sentence has the word already."""
    tag, old, lower = parse.tags[at], parse.words[at], parse.lowers[at]
    if not has_form(lower, parse.lower_lemmas[at], tag):
        return None
    word = formed(lemma, tag, like=old)
    return None if word is None or word.lower() in parse.lower_words else word


def put(english: English, parse: Parse, words: Words) -> Replaced | None:
    """The edits that put these words in their places, and the text they make; None where their tags are others there.

    Raises Waiting where the tagger was not asked yet. Decided once: further levels, seeds and generators try it again.
    """
    key = (parse.text, *words.items())
    if key not in english.decided:
        change = edits(parse, words)
        text = apply_edits(parse.text, change)
        english.decided[key] = (change, text) if _keeps_tags(english, parse, words, text) else None
    return english.decided[key]


def edits(parse: Parse, words: Words) -> tuple[Edit, ...]:
    """The edits that put `words` in their places, an article before them repaired, past an opening quote too."""
    placed = words
    for at in words:
        if at and parse.lowers[at - 1] in BEFORE:
            tokens = [words.get(i, word) for i, word in enumerate(parse.words)]
            placed = articles(tokens, changed=words.keys()) | dict(words)
            break
    return tuple([Edit(parse.starts[i], parse.ends[i], placed[i]) for i in sorted(placed)])


def _keeps_tags(english: English, parse: Parse, words: Words, text: str) -> bool:
    """Whether the tagger gives the new words, in this text that they make, the tags of the old ones.

    "more expensive" has those of an adverb that compares and of a plain adjective.
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
