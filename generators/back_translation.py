"""Back-translations: the sentence translated to a second language and back (Peng, Weir and Weeds 2023, section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from encheck.generators.base import NamedGenerator
from encheck.language.english import English
from encheck.language.words import FUNCTION_WORDS
from encheck.similarity import words
from encheck.types import Edit, Group, Variant

MIN_LENGTH_RATIO, MAX_LENGTH_RATIO = 0.5, 2.0  # words of the translation per word of the sentence
MIN_FUNCTION_WORD_SHARE = 0.15  # share of function words; even telegraphic English has more
CERTIFICATE = "translated there and back, in English, about as long"
MIN_DISTINCT_SHARE = 0.5  # distinct words per word: below it, the translator went in circles


def back_translation(texts: Mapping[str, str]) -> NamedGenerator:
    """Return a generator that gives each sentence its back-translation."""

    def generate(group: Group, *, level: int, rng: Random, english: English) -> Variant | str:  # noqa: ARG001
        text = texts[group.source]
        if reason := back_translation_problem(group.source, text):
            return reason
        return Variant(
            text, "back_translation", 1, (Edit(0, len(group.source), text),), "back_translation", CERTIFICATE
        )

    return NamedGenerator(generate, "back_translation")


def back_translation_problem(source: str, text: str) -> str:
    """Return why a back-translation cannot be used as a variant of its source, or "" if it can.

    >>> back_translation_problem("The mill closed on Monday.", "the mill closed on monday")
    'the back-translation is a copy of the sentence'
    """
    before, after = words(source), words(text)
    if not after:
        return "the back-translation is empty"
    if before == after:
        return "the back-translation is a copy of the sentence"
    if not MIN_LENGTH_RATIO <= len(after) / max(len(before), 1) <= MAX_LENGTH_RATIO:
        return "the back-translation is much longer or shorter"
    if len(set(after)) < MIN_DISTINCT_SHARE * len(after):
        return "the back-translation repeats itself"
    if sum(word in FUNCTION_WORDS for word in after) < MIN_FUNCTION_WORD_SHARE * len(after) and not set(before) & set(
        after
    ):
        return "the back-translation is not English"
    return ""
