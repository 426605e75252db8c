"""Functions that reorder generators share: spans of a parse, capitals, the case of pronouns, quantifiers."""

from __future__ import annotations

from encheck.language.edits.conditions import strip_subtype
from encheck.language.english import English
from encheck.language.lexicon.lexicon import Lexicon, Pos
from encheck.language.parse import Parse
from encheck.types import Edit

Span = tuple[int, int]  # first token, one past the last
Move = tuple[str, tuple[Edit, ...]]
TIMES = {"DATE", "TIME"}
COMMON = 3.5  # Zipf: a noun that a capital may hide at the front of a sentence
FRONTABLE = {"after", "before", "during", "since", "until", "despite", "in", "on", "at", "because", "although", "when"}
FUTURE = frozenset("tomorrow next".split())
MEASURING = frozenset("a an about almost another half nearly over several".split())  # how long, not when
POINTS = frozenset("ago earlier later before after".split())
SUBJECT_FORMS = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they", "it": "it", "you": "you"}
OBJECT_FORMS = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
THIRD_PERSON = frozenset("his her hers its their theirs".split())
RECIPROCAL = frozenset("other another same respective own".split())
NEGATIVE = frozenset("no not n't n’t never nobody nothing none neither nor few hardly scarcely barely".split())
FOCUS = frozenset("only even just also too alone either".split())
UNIVERSAL = frozenset("every each all any most both many several half everyone everybody everything anyone".split())
EXISTENTIAL = frozenset("some someone somebody something more less fewer lots dozens hundreds thousands".split())
ARTICLES = frozenset(["a", "an"])
CLOSED_TAGS = frozenset("DT PDT PRP PRP$ CD IN TO".split())  # tags of words that are not capitalised by themselves
ACTORS = frozenset({14, 18})  # lexicographer's files: noun.group, noun.person
NOUN_PARTS = frozenset("det amod compound nmod:poss nummod flat case cc conj advmod nmod:desc punct".split())
PARTS: dict[str, Pos] = {"NOUN": "n", "ADJ": "a", "ADV": "r", "VERB": "v"}


def statement_root(parse: Parse) -> int | None:
    """Return the head of the text if it is a single declarative sentence, or None."""
    roots = [i for i, head in enumerate(parse.heads) if head == i and parse.pos[i] not in ("PUNCT", "SPACE")]
    return roots[0] if len(roots) == 1 and "?" not in parse.text else None


def last_word(parse: Parse) -> int:
    """Return the last token other than punctuation and blanks."""
    end = len(parse) - 1
    while end > 0 and parse.pos[end] in ("PUNCT", "SPACE"):
        end -= 1
    return end


def contiguous_span(parse: Parse, head: int) -> Span | None:
    """Return the span of a head's subtree, or None if it is not contiguous."""
    tokens = parse.subtree(head)
    return (tokens[0], tokens[-1] + 1) if tokens[-1] - tokens[0] + 1 == len(tokens) else None


def span_text(parse: Parse, span: Span) -> str:
    """Return the characters of a span."""
    return parse.text[parse.starts[span[0]] : parse.ends[span[1] - 1]]


def is_movable_time(parse: Parse, head: int, span: Span) -> bool:
    """Return whether this is a date or time that can move in any clause without a change of meaning.

    It may have a preposition.
    """
    if strip_subtype(parse.deps[head]) not in ("obl", "advmod") or span[1] - span[0] > 8:
        return False
    inside = {parse.entities[i].partition("-")[2] for i in range(*span)} - {""}
    words, last = parse.lowers[slice(*span)], parse.lowers[span[1] - 1]
    if not inside or not inside <= TIMES or (parse.tags[parse.heads[head]] == "VBD" and not FUTURE.isdisjoint(words)):
        return False  # in "set a hearing tomorrow", the setting is not tomorrow
    measured = parse.tags[span[0]] == "CD" or words[0] in MEASURING
    return words[0] in FRONTABLE or (bool(parse.entities[span[0]]) and (not measured or last in POINTS))


def keeps_capital_elsewhere(parse: Parse, at: int) -> bool:
    """Return whether a word that opens the sentence would also have its capital elsewhere."""
    word = parse.words[at]
    return parse.pos[at] == "PROPN" or bool(parse.entities[at]) or word == "I" or not word.istitle()


def capitalise_first_letter(text: str) -> str:
    """Return the text with a capital as its first letter."""
    return text[:1].upper() + text[1:]


def text_inside_sentence(parse: Parse, span: Span, lexicon: Lexicon) -> str | None:
    """Return the text of a span that opens the sentence, as written within a sentence, or None if in doubt."""
    at, text = span[0], span_text(parse, span)
    lower = text[0].lower() + text[1:]
    if parse.tags[at] in CLOSED_TAGS and parse.words[at] != "I":
        return lower
    if keeps_capital_elsewhere(parse, at):
        is_word = (
            parse.tags[at] == "NNP"
            and not parse.entities[at]
            and lexicon.lemma_frequency(parse.lowers[at], "n") > COMMON
        )
        return None if is_word and parse.words[at].istitle() else text
    if span[1] - at > 1 and parse.words[at + 1].istitle():  # "North American markets"
        return None
    part = PARTS.get(parse.pos[at])
    senses = lexicon.senses(parse.lemmas[at].lower(), part) if part else ()
    written = {lemma for sense in senses for lemma in sense.lemmas if lemma.lower() == parse.lemmas[at].lower()}
    return lower if any(lemma.islower() for lemma in written) else text if written else None


def may_possessive_refer_to(parse: Parse, span: Span, other: int) -> bool:
    """Return whether a possessive in a span could refer to the phrase whose head is `other`."""
    own = {parse.lowers[i] for i in range(*span) if parse.tags[i] == "PRP$"}
    person = parse.lowers[other] if parse.pos[other] == "PRON" else ""
    if person in ("i", "me", "we", "us"):
        return bool(own & {"my", "our"})
    return "your" in own if person == "you" else bool(own & THIRD_PERSON)


def quantifier_order_matters(parse: Parse, first: Span, second: Span) -> bool:
    """Return whether two phrases have quantifiers whose order matters, such as "every boy" and "a book"."""
    words = [{parse.lowers[i] for i in range(*span)} for span in (first, second)]
    every = [bool(w & UNIVERSAL) for w in words]
    counted = [
        bool(w & (UNIVERSAL | EXISTENTIAL)) or any(parse.tags[i] == "CD" for i in range(*span))
        for w, span in zip(words, (first, second), strict=True)
    ]
    some = [
        bool(w & ARTICLES) or has_no_determiner(parse, span) for w, span in zip(words, (first, second), strict=True)
    ]
    return all(counted) or (every[0] and some[1]) or (every[1] and some[0])


def has_no_determiner(parse: Parse, span: Span) -> bool:
    """Return whether this is a noun without article, number or possessive, and not a name: "houses", "green paint"."""
    tags = {parse.tags[i] for i in range(*span)}
    return tags.isdisjoint(("DT", "PDT", "PRP$", "PRP", "CD", "POS", "NNP", "NNPS"))


def names_an_agent(english: English, parse: Parse, head: int) -> bool:
    """Return whether a noun phrase names a person, a group or an organisation."""
    if parse.pos[head] == "PRON":
        return parse.lowers[head] in OBJECT_FORMS or parse.lowers[head] in SUBJECT_FORMS.keys() - {"it"}
    if parse.entities[head]:
        return parse.entities[head].partition("-")[2] in ("PER", "PERSON", "ORG")
    return noun_category(english.lexicon, parse, head) in ACTORS


def noun_category(lexicon: Lexicon, parse: Parse, at: int) -> int | None:
    """Return the lexicographer's file of a noun's first sense, or None for a name or unknown word.

    The file is a coarse topic.
    """
    senses = lexicon.senses(parse.lemmas[at].lower(), "n") if parse.pos[at] == "NOUN" else ()
    return senses[0].lexfile if senses else None


def is_noun_phrase(parse: Parse, head: int, span: Span, *, of: frozenset[str]) -> bool:
    """Return whether this is a noun or name with only modifiers, coordinated nouns, and phrases with these
    prepositions.
    """
    if not parse.tags[head].startswith("NN") or parse.pos[head] not in ("NOUN", "PROPN"):
        return False
    if any(parse.tags[i] in ("WDT", "WP", "WP$", "EX") for i in range(*span)):
        return False
    for i in (i for i in range(*span) if i != head):
        # An article, adjective, number, name or hyphen, an "and", or what an "and" joins.
        wanted = {"punct": parse.words[i] in ("-", "."), "cc": parse.lowers[i] == "and"}
        is_joined = parse.bases[i] != "conj" or parse.tags[i].startswith(("NN", "JJ"))
        is_part = (parse.deps[i] in NOUN_PARTS or parse.bases[i] == "flat") and wanted.get(parse.bases[i], is_joined)
        if not is_part and (parse.bases[i] != "nmod" or preposition_of(parse, i) not in of):
            return False
    return True


def preposition_of(parse: Parse, at: int) -> str:
    """Return the preposition of a phrase, or "" if it has none."""
    case = parse.child(at, "case")
    return "" if case is None else parse.lowers[case]
