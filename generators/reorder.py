"""Reorders that keep the meaning: an adverbial moved to front or end, the halves of a coordination exchanged.

Where a sentence has neither, it may have another order of its two objects (`dative`) or a passive (`voice`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from encheck.generators.base import listed
from encheck.generators.dative import shifted
from encheck.generators.moving import (
    Move,
    Span,
    capital,
    is_circumstance,
    keeps_capital,
    last_word,
    root_of,
    span_of,
    text_of,
)
from encheck.generators.voice import passive
from encheck.generators.written import written
from encheck.language.edits.conditions import base_of
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.types import Edit, Group, Variant, apply_edits

SIDES = {"NOUN", "PROPN", "ADJ"}
FIXED = frozenset(
    """rock-and-roll pros-and-cons trial-and-error supply-and-demand law-and-order research-and-development
    back-and-forth up-and-down more-or-less sooner-or-later black-and-white bed-and-breakfast cause-and-effect
    hide-and-seek give-and-take profit-and-loss merger-and-acquisition term-and-condition rhythm-and-blues
    drum-and-bass life-and-death life-or-death crime-and-punishment track-and-field bread-and-butter mac-and-cheese
    macaroni-and-cheese fish-and-chips gin-and-tonic cat-and-mouse nut-and-bolt odds-and-ends ups-and-downs
    ins-and-outs flesh-and-blood heart-and-soul cut-and-paste copy-and-paste question-and-answer wear-and-tear
    check-and-balance search-and-rescue assault-and-battery art-and-craft lady-and-gentleman safe-and-sound
    null-and-void stars-and-stripes trick-or-treat truth-or-dare dead-or-alive all-or-nothing make-or-break
    barnes-and-noble marks-and-spencer procter-and-gamble johnson-and-johnson standard-and-poor smith-and-wesson
    ernst-and-young black-and-decker simon-and-schuster simon-and-garfunkel tom-and-jerry romeo-and-juliet
    bonnie-and-clyde adam-and-eve lewis-and-clark trinidad-and-tobago bosnia-and-herzegovina antigua-and-barbuda
    tyne-and-wear dolce-and-gabbana abercrombie-and-fitch""".split()
)
NAMES_APART = frozenset("PER PERSON GPE LOC NORP DATE".split())  # two of these are two
RECIPROCAL = {"respectively", "both", "either", "neither", "former", "latter", "between", "first", "then", "vice"}


@listed(1)
def reorder(group: Group, *, level: int, rng: Random, english: English) -> Variant | str | None:
    """The hand-written edit where the data has one, else one move that the parse shows to be safe."""
    if group.variants:
        return written(group, "reorder", level=level)
    if level > 1:
        return "a reorder is one move"
    parse = english.parse(group.source)
    moves = [move for find in FINDERS for move in find(parse)]
    rng.shuffle(moves)
    for name, made in moves:
        text = apply_edits(group.source, made)
        if text.lower() != group.source.lower():
            return Variant(text, "reorder", 1, made, "reorder", name)
    return _rebuilt(group.source, parse, english)


def _rebuilt(source: str, parse: Parse, english: English) -> Variant | str:
    """The same clause with its objects in another order, else in the passive; or why neither is safe."""
    reasons: list[str] = []
    for build in BUILDERS:
        found = build(parse, english)
        if isinstance(found, tuple):
            name, made = found
            return Variant(apply_edits(source, made), "reorder", 1, made, "reorder", name)
        reasons += [found] if found else []
    return reasons[0] if reasons else "nothing that can be moved safely"


def fronted(parse: Parse) -> Iterator[Move]:
    """A time or circumstance at the end of the one main clause goes to the front, before a comma."""
    root, end = root_of(parse), last_word(parse)
    if root is None or parse.pos[root] not in ("VERB", "AUX") or _opens_oddly(parse):
        return
    for i in parse.children[root]:
        span = span_of(parse, i)
        if span and span[1] - 1 == end and span[0] > root and is_circumstance(parse, i, span):
            phrase = parse.text[parse.starts[span[0]] : parse.ends[end]]
            first = Edit(0, parse.ends[0], f"{capital(phrase)}, {_lower_first(parse)}")
            cut = Edit(parse.ends[span[0] - 1], parse.ends[end], "")
            if parse.words[span[0] - 1] not in (",", ";", ":") and span[0] > 1:
                yield f"fronted {base_of(parse.deps[i])}", (first, cut)


def postponed(parse: Parse) -> Iterator[Move]:
    """A time or circumstance before a comma at the front goes to the end of the one main clause."""
    root, end = root_of(parse), last_word(parse)
    if root is None or parse.pos[root] not in ("VERB", "AUX") or parse.child(root, "conj", "parataxis", "advcl"):
        return
    for i in parse.children[root]:
        span = span_of(parse, i)
        if span and span[0] == 0 and span[1] < root and parse.words[span[1]] == "," and is_circumstance(parse, i, span):
            start = span[1] + 1
            if start <= end:
                phrase = parse.text[: parse.ends[span[1] - 1]]
                phrase = phrase if keeps_capital(parse, 0) else phrase[0].lower() + phrase[1:]
                rest = Edit(0, parse.ends[start], capital(parse.words[start]))
                yield (
                    f"postponed {base_of(parse.deps[i])}",
                    (rest, Edit(parse.ends[end], parse.ends[end], f" {phrase}")),
                )


def exchanged(parse: Parse) -> Iterator[Move]:
    """The two halves of "A and B" or "A or B" change places, but not within a fixed pair or one name."""
    if {word.lower() for word in parse.words} & RECIPROCAL:
        return
    for second in range(len(parse)):
        first = parse.heads[second]
        if parse.deps[second] != "conj" or parse.pos[first] not in SIDES or parse.pos[second] != parse.pos[first]:
            continue
        link = parse.child(second, "cc")
        if link is None or parse.words[link].lower() not in ("and", "or") or _conjuncts(parse, first) != 1:
            continue
        halves = _halves(parse, first, second, link)
        if halves and not _is_one(parse, *halves):
            (a, b), (c, d) = halves
            texts = [text_of(parse, half) for half in halves]
            if a == 0 and not keeps_capital(parse, 0):
                texts = [texts[0][0].lower() + texts[0][1:], capital(texts[1])]
            yield (
                "exchanged coordination",
                (
                    Edit(parse.starts[a], parse.ends[b - 1], texts[1]),
                    Edit(parse.starts[c], parse.ends[d - 1], texts[0]),
                ),
            )


FINDERS: tuple[Callable[[Parse], Iterator[Move]], ...] = (fronted, postponed, exchanged)
BUILDERS: tuple[Callable[[Parse, English], Move | str | None], ...] = (shifted, passive)


def _halves(parse: Parse, first: int, second: int, link: int) -> tuple[Span, Span] | None:
    """The two halves around the link, where they are bare: nothing hangs on one that could belong to both."""
    left = [i for i in parse.subtree(first) if i < link and i not in parse.subtree(second)]
    right = [i for i in parse.subtree(second) if i > link]
    solid = left and right and left[-1] == link - 1 and right[0] == link + 1
    if not solid or not (_bare(parse, first, left) and _bare(parse, second, right)):
        return None
    if left != list(range(left[0], link)) or right != list(range(link + 1, right[-1] + 1)):
        return None
    after = [i for i in parse.subtree(first) if i > right[-1]]
    return None if after else ((left[0], link), (link + 1, right[-1] + 1))


def _is_one(parse: Parse, left: Span, right: Span) -> bool:
    """A fixed pair ("law and order"), or one name: "Barnes and Noble", "Procter and Gamble sells"."""
    start, link, end = left[0], left[1], right[1]
    written = ("-".join(column[start:end]).lower() for column in (parse.lowers, parse.lemmas))
    if parse.entities[link] or not FIXED.isdisjoint(written):
        return True
    if parse.pos[link - 1] != "PROPN" and parse.pos[end - 1] != "PROPN":
        return start > 0 and all(parse.words[i].istitle() for i in (link - 1, end - 1))
    kinds = {parse.entities[i].partition("-")[2] for i in range(start, end) if i != link}
    beside = (i for i in (start - 1, end) if 0 <= i < len(parse))
    return not kinds <= NAMES_APART or any(parse.pos[i] == "PROPN" for i in beside) or _is_singular(parse, left)


def _is_singular(parse: Parse, half: Span) -> bool:
    """Whether a pair of subjects has a verb in the singular."""
    subjects = [i for i in range(*half) if parse.bases[i] == "nsubj"]
    verbs = (i for at in subjects for i in (parse.heads[at], *parse.children[parse.heads[at]]))
    return any(parse.tags[i] == "VBZ" or parse.lowers[i] == "was" for i in verbs)


def _bare(parse: Parse, head: int, half: list[int]) -> bool:
    """Only names and compounds: an article or adjective before the first half may be meant for both."""
    return all(i == head or base_of(parse.deps[i]) in ("compound", "flat") for i in half)


def _conjuncts(parse: Parse, first: int) -> int:
    return sum(parse.deps[i] == "conj" for i in parse.children[first])


def _opens_oddly(parse: Parse) -> bool:
    """A quote, a conjunction or an adverbial at the front: a second one would not stand well before it."""
    return not parse.words[0][:1].isalpha() or parse.pos[0] in ("CCONJ", "SCONJ", "ADP", "ADV", "AUX", "VERB", "INTJ")


def _lower_first(parse: Parse) -> str:
    word = parse.words[0]
    return word if keeps_capital(parse, 0) else word[0].lower() + word[1:]
