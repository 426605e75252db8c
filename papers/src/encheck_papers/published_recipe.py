"""The published recipes without changes, for reproduction: `--generator-mode paper`.

Synonyms, antonyms and jumbles are those of Mahajan et al. 2023 (authors' code): words are separated by blanks.
Candidates are all words except stop words, compared with their capitals; any part of speech, all senses together; every
occurrence is replaced, nothing is inflected; antonyms keep WordNet's underscores. A sentence without a candidate is
returned unchanged, and counts. Only the order of the candidates is encheck's: theirs depended on Python's hash seed.
Swap chains and continuations are those of Peng, Weir and Weeds 2023.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import accumulate
from random import Random
from typing import NamedTuple

from encheck.generators.antonym import antonym
from encheck.generators.continuation import append_words, continuation, why_no_continuation
from encheck.generators.jumble import jumble
from encheck.generators.swap_chain import (
    SWAPS,
    Groups,
    SwappedVariant,
    require_swap_groups,
    split_into_units,
    swap_chain,
    swap_units,
)
from encheck.generators.synonym import synonym
from encheck.language.english import English
from encheck.language.lexicon.lexicon import PARTS, Antonym, Lexicon, Pos
from encheck.language.parse import Parse
from encheck.language.words import STOP_WORDS
from encheck.system.imports import import_nltk
from encheck.types import Edit, Group, PublishedVariant, Recipe, Variant, content_hash

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


@cache
def stop_words() -> tuple[str, frozenset[str]]:
    """Return a description of the stop words, for the record, and the words: NLTK's if installed, else encheck's."""
    import_nltk()
    from nltk.corpus import stopwords

    try:
        words, whose = frozenset(stopwords.words("english")), "NLTK"
    except (LookupError, OSError):
        words, whose = STOP_WORDS, "encheck"
    return f"{whose}, {len(words)} words, {content_hash(*sorted(words))}", words


def published_synonym(group: Group, *, level: int, rng: Random, english: English) -> Variant | str | None:
    """Criterion 2 as published; the written edit if the data have one."""
    if group.variants:
        return group.variant("synonym", level)
    return substituted_variant(group.source, "synonym", words=level, rng=rng, lexicon=english.lexicon)


def published_antonym(group: Group, *, level: int, rng: Random, english: English) -> Variant | str | None:
    """Criterion 3 as published; the written edit if the data have one."""
    if group.variants:
        return group.variant("antonym", level)
    return substituted_variant(group.source, "antonym", words=level, rng=rng, lexicon=english.lexicon)


def substituted_variant(text: str, relation: str, *, words: int, rng: Random, lexicon: Lexicon) -> PublishedVariant:
    """Return the text with up to `words` words replaced by their synonyms or antonyms, as `relation` says."""
    related = {"synonym": synonyms_of, "antonym": antonyms_of}[relation](lexicon)
    made = substituted(text, words=words, rng=rng, related=related, stop=stop_words()[1])
    return _variant(text, made, relation, words)


def published_jumble(group: Group, *, level: int, rng: Random, english: English) -> Variant | str | None:
    """Criterion 4 as published; encheck's own jumble of a sentence with written edits."""
    if group.variants:
        return jumble.function(group, level=level, rng=rng, english=english)
    text = group.source
    return _variant(text, jumbled(text, swaps=level, rng=rng), "jumble", level) if text.split() else "no word"


def published_swap_chain(group: Group, *, level: int, rng: Random, english: English) -> SwappedVariant | str:
    """Three groups and two units of each, drawn as in Peng, Weir and Weeds (2023)."""
    groups = english.derive(_swap_groups, group.source)
    if isinstance(groups, str):
        return groups
    swaps = []
    for tag in rng.sample(sorted(groups), SWAPS):
        first, second = rng.sample(groups[tag], 2)
        swaps.append((tag, (first, second)))
    return swap_units(english.stored_parse(group.source), swaps, level=level, adapts_capitals=False)


def _swap_groups(_english: English, parse: Parse) -> Groups | str:
    units = split_into_units(parse.words, parse.tags, parse.entities, lemmas=parse.lemmas)
    return require_swap_groups(parse, units)


def published_continuation(group: Group, *, level: int, rng: Random, english: English) -> Variant | str:  # noqa: ARG001
    """The sentence with exactly `level` more words, as in Peng, Weir and Weeds (2023), section 3.3."""
    return why_no_continuation(group, level) or append_words(group, level, level=level)


RECIPE = Recipe(
    "paper",
    {
        synonym: published_synonym,
        antonym: published_antonym,
        jumble: published_jumble,
        swap_chain: published_swap_chain,
        continuation: published_continuation,
    },
    describe_stop_words=lambda: stop_words()[0],
)


def _variant(text: str, made: PaperText, relation: str, level: int) -> PublishedVariant:
    """The variant, its edits found by comparing words; blanks between words become single ones, as in the paper."""
    said = f"paper mode: {made.said or 'nothing was replaced'}"
    return PublishedVariant(made.text, relation, level, _edits(text, made.text), f"{PREFIX}{relation}", said)


def _edits(text: str, made: str) -> tuple[Edit, ...]:
    """The differences, word by word; the whole text if it is very long."""
    old, new = (re.findall(r"\s+|\S+", t) for t in (text, made))
    at = [0, *accumulate(map(len, old))]
    if len(old) > LONG:
        return (Edit(0, len(text), made),) if text != made else ()
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(Edit(at[i1], at[i2], "".join(new[j1:j2])) for tag, i1, i2, j1, j2 in codes if tag != "equal")
