"""Swap the attributes of two things, and name the two things in the other order, in any English text.

"A red car and a blue truck" is kept by "a blue truck and a red car" and changed by "a blue car and a red truck".
"""

from __future__ import annotations

import re
from typing import NamedTuple

from encheck.generators.phenomenon import Phenomenon, Rephrasings, edits_from_rephrasings, replace_tokens
from encheck.generators.phrases import Span, contiguous_span, span_text, text_inside_sentence
from encheck.language.edits.replace import choose_article
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.statistics.draws import Draws

TRIGGER = re.compile(r"\band\b", re.IGNORECASE)
NONE = "no two things with the same kind of attribute"
ATTRIBUTE_KINDS = tuple(
    tuple(words.split())
    for words in (
        "red blue green yellow black white brown grey gray orange purple pink golden silver",
        "big small large little tiny huge giant",
        "old young new elderly",
        "tall short long",
        "hot cold warm cool",
        "wooden plastic metal metallic leather glass concrete",
        "left right", "upper lower", "northern southern eastern western", "rich poor", "male female",
        "American British French German Italian Spanish Chinese Japanese Indian Russian Canadian Australian Mexican",
        "heavy light", "cheap expensive", "empty full", "high low", "wet dry",
    )
)  # fmt: skip
KIND_OF_ATTRIBUTE = {word.lower(): sort for sort in ATTRIBUTE_KINDS for word in sort}
SHOWING = frozenset(
    """his her their its he she it they him them other another same each which who that whose former latter respectively
    between both""".split()
)
ONE = frozenset(["one", "1"])


WORDS = frozenset("DT JJ NN NNS NNP PRP$ CD IN".split())
MEASURES = frozenset("percent year month week day hour minute second mile inch foot pound dollar point cent".split())
INDEFINITE = frozenset(["a", "an"])


class BoundPair(NamedTuple):
    """Two coordinated noun phrases, and the token of each phrase's attribute."""

    first: Span
    second: Span
    attributes: tuple[int, int]


def attribute_rephrasings(parse: Parse, english: English, rng: Draws) -> Rephrasings | str:
    """Return the rephrasings of two noun phrases joined by "and", each with one attribute of the same kind."""
    result = [pair for i in range(len(parse)) if (pair := _joined_pair(parse, i)) is not None]
    if len(result) != 1:
        return NONE
    pair = result[0]
    if not SHOWING.isdisjoint(parse.lowers[pair.first[0] : pair.second[1]]):
        return "a word that refers to the other thing"
    one = (
        text_inside_sentence(parse, pair.first, english.lexicon) if pair.first[0] == 0 else span_text(parse, pair.first)
    )
    if one is None:
        return "an uncertain capital letter"
    second = span_text(parse, pair.second)
    kept = _join_in_both_orders(parse, pair, one, second)
    at, other = pair.attributes
    own = parse.words[at] if at else parse.lowers[at]
    changed = _join_in_both_orders(
        parse,
        pair,
        _replace_attribute(parse, pair.first, at, parse.words[other], one),
        _replace_attribute(parse, pair.second, other, own, second),
    )
    if not set(kept).isdisjoint(changed):
        return "things that differ only in the attribute"
    return Rephrasings(kept, changed, "two attributes", _replace_first_attribute(parse, pair, rng))


def _joined_pair(parse: Parse, at: int) -> BoundPair | None:
    """Return this noun and the noun coordinated with it, or None.

    Each must have one attribute, and both attributes must be of the same kind.
    """
    joined = [i for i in parse.children[at] if parse.bases[i] == "conj"]
    if len(joined) != 1 or parse.bases[at] in ("conj", "appos"):
        return None
    spans = _joined_phrase_spans(parse, at, joined[0])
    if spans is None:
        return None
    for span in spans:  # only articles, adjectives, numbers and nouns, with at most one preposition
        tags = parse.tags[span[0] : span[1]]
        if not WORDS.issuperset(tags) or tags.count("IN") > 1 or tags[-1] not in ("NN", "NNS", "NNP"):
            return None
    # A phrase's adjectives of a kind, and its numbers; names also count.
    own, others = (
        [i for i in range(*span) if parse.tags[i] == "CD" or parse.lowers[i] in KIND_OF_ATTRIBUTE] for span in spans
    )
    if len(own) != 1 or len(others) != 1 or not _have_attributes_of_one_kind(parse, spans, own[0], others[0]):
        return None
    return BoundPair(*spans, (own[0], others[0]))


def _joined_phrase_spans(parse: Parse, at: int, other: int) -> tuple[Span, Span] | None:
    """Return the two phrases without the "and" and their shared preposition, or None if they are not contiguous."""
    second, link = contiguous_span(parse, other), parse.child(other, "cc")
    outside = {i for i in parse.children[at] if parse.bases[i] in ("case", "punct", "mark", "cop", "nsubj", "aux")}
    rest = sorted(set(parse.subtree(at)) - set(parse.subtree(other)) - outside)
    if second is None or link is None or parse.lowers[link] != "and" or second[0] != link:
        return None
    if rest != list(range(rest[0], link)) or parse.lowers[max(rest[0] - 1, 0)] in ("to", "or", "-"):
        return None
    return (rest[0], link), (link + 1, second[1])


def _have_attributes_of_one_kind(parse: Parse, spans: tuple[Span, Span], first: int, second: int) -> bool:
    both = (first, second)
    links = [[parse.lowers[i] for i in range(*span) if parse.tags[i] == "IN"] for span in spans]
    if parse.lowers[first] == parse.lowers[second] or links[0] != links[1]:
        return False
    if parse.tags[first] == parse.tags[second] == "CD":
        plain = all(parse.heads[i] == i + 1 and i == span[0] for i, span in zip(both, spans, strict=True))
        things = [i + 1 for i in both]
        counted = all(parse.tags[i] == "NNS" and parse.lower_lemmas[i] not in MEASURES for i in things)
        return plain and counted and ONE.isdisjoint(parse.lowers[i] for i in both)
    written = all(parse.words[i] in (parse.lowers[i], *KIND_OF_ATTRIBUTE.get(parse.lowers[i], ())) for i in both)
    plain = all(parse.bases[i] == "amod" and not parse.children[i] for i in both)
    return (
        written
        and plain
        and KIND_OF_ATTRIBUTE.get(parse.lowers[first]) is KIND_OF_ATTRIBUTE.get(parse.lowers[second], ())
    )


def _replace_attribute(parse: Parse, span: Span, at: int, word: str, text: str) -> str:
    """Return the phrase with another word at this place and the article adapted to it."""
    start = parse.starts[at] - parse.starts[span[0]]
    text = text[:start] + word + text[start + len(parse.words[at]) :]
    if at == span[0] or parse.lowers[at - 1] not in INDEFINITE:
        return text
    begin = parse.starts[at - 1] - parse.starts[span[0]]
    return text[:begin] + choose_article(word) + text[begin + len(parse.words[at - 1]) :]


def _join_in_both_orders(parse: Parse, pair: BoundPair, first: str, second: str) -> list[str]:
    """Return the two phrases in both orders, with and without "both". A shared article stays in front."""
    span = (pair.first[0], pair.second[1])
    article, behind = first.partition(" ")[::2]
    is_plural = parse.tags[pair.second[1] - 1] == "NNS"
    is_shared = article in (*INDEFINITE, "the") and parse.tags[pair.second[0]] not in ("DT", "PRP$")
    if not is_shared or (article in INDEFINITE and is_plural):
        reverse = f"{second} and {first}"
    else:
        reverse = f"{article if article == 'the' else choose_article(second)} {second} and {behind}"
    said = (f"{first} and {second}", reverse)
    takes_both = all(parse.tags[phrase[0]] == "DT" for phrase in (pair.first, pair.second))  # each has an article
    both = [f"both {one}" for one in said] if takes_both else []
    return [replace_tokens(parse, (*span, one)) for one in (*said, *both)]


def _replace_first_attribute(parse: Parse, pair: BoundPair, rng: Draws) -> str:
    """Return the first thing with a different attribute."""
    at = pair.attributes[0]
    if parse.tags[at] == "CD":
        return replace_tokens(parse, (at, at + 1, "several"))
    own = {parse.lowers[i] for i in pair.attributes}
    others = [word for word in KIND_OF_ATTRIBUTE[parse.lowers[at]] if word.lower() not in own]
    if not others:
        return ""
    word = rng.choice(others)
    change = (at, at + 1, word)
    if at and parse.lowers[at - 1] in ("a", "an"):
        return replace_tokens(parse, (at - 1, at + 1, f"{choose_article(word)} {word}"))
    return replace_tokens(parse, change)


BINDING = Phenomenon(
    "binding",
    edits_from_rephrasings(attribute_rephrasings),
    "swapped attributes",
    trigger=TRIGGER,
    without=NONE,
    in_probes=True,
)
