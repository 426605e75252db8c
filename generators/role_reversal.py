"""Role reversals: the same words, with who does what to whom swapped."""

from __future__ import annotations

from random import Random

from encheck.generators.base import listed
from encheck.generators.moving import OBJECT_FORMS, SUBJECT_FORMS, Span, capital, inside_sentence, text_of
from encheck.generators.reorder import reorder
from encheck.generators.reversible import why_not_reversed
from encheck.generators.written import written
from encheck.language.edits.conditions import base_of
from encheck.language.edits.inflection import in_case_of
from encheck.language.edits.places import first_word
from encheck.language.english import English
from encheck.language.lexicon.protocol import Lexicon
from encheck.language.parse import Parse
from encheck.language.prose import why_left
from encheck.types import Edit, Group, Variant, apply_edits

# Verbs that say the same both ways round: "A met B".
SYMMETRIC = frozenset(
    """meet marry divorce resemble equal match join contact face border date kiss hug fight battle collide intersect
    adjoin accompany have be become mean cost weigh include contain comprise involve""".split()
)
SUBJECT = {word: form for word, form in SUBJECT_FORMS.items() if word != form} | {"whom": "who"}
PERSON, ANIMAL, FOOD = 18, 5, 13  # lexicographer's files, lexnames(5WN)
BEAST, HUMAN = "animal.n.01", "person.n.01"
EATEN = 3  # an animal that is food in one of so many first senses is more often eaten than an actor
GROUPS = frozenset(
    """administration agency airline alliance army assembly association audience authority band bank battalion brigade
    bureau cabinet choir church clan club coalition college commission committee community company congress
    consortium corporation council couple court crew crowd delegation department enemy faculty family firm force
    gang government group household industry jury league mafia management media military militia ministry mob navy
    opposition orchestra organisation organization panel parliament party patrol people platoon police posse press
    public regime regiment school senate squad staff team town tribe tribunal troop troops troupe union university
    village""".split()
)
SINGULAR_PRONOUNS, PLURAL_PRONOUNS = {"he", "she", "it"}, {"we", "they", "you"}
AGREEMENT = {"is": "are", "was": "were", "has": "have", "does": "do"}


@listed(1)
def role_reversal(group: Group, *, level: int, rng: Random, english: English) -> Variant | str | None:  # noqa: ARG001
    """The written edit where the data has one, else subject and object of the main verb exchanged.

    Both must be able to act: persons, groups, animals or names of such. Pronouns and the verb follow.
    """
    if group.variants:
        return written(group, "role_reversal", level=level)
    if left := why_left(group.source):
        return left
    parse = english.parse(group.source)
    reason: str = "no verb with subject and object"
    for verb in range(len(parse)):
        ends = _arguments(parse, verb)
        if ends is None:
            continue
        made = _reversed(english.lexicon, parse, *ends, verb)
        if not isinstance(made, str):
            text = apply_edits(group.source, made)
            said = f"{parse.words[ends[0]]} <-> {parse.words[ends[1]]} of {parse.words[verb]}"
            return Variant(text, "role_reversal", level, made, "role_reversal", said)
        reason = made
    return reason


def _reversed(lexicon: Lexicon, parse: Parse, subject: int, thing: int, verb: int) -> tuple[Edit, ...] | str:
    """The edits that exchange subject and object of a verb, or why they are not exchanged."""
    if parse.lower_lemmas[verb] in SYMMETRIC:
        return "the verb means the same in both directions"
    if not (_acts(lexicon, parse, subject) and _acts(lexicon, parse, thing)):
        return "subject and object cannot both act"
    if parse.lower_lemmas[subject] == parse.lower_lemmas[thing]:
        return "subject and object are the same word"
    return why_not_reversed(parse, subject, thing, verb) or _exchange(lexicon, parse, subject, thing, verb)


@listed(1)
def roles_kept(group: Group, *, level: int, rng: Random, english: English) -> Variant | str | None:
    """What a role reversal stands against: the written edit of the same words, else a reorder of the sentence."""
    if group.variants:
        return written(group, "role_reversal_kept", level=level)
    return reorder(group, level=level, rng=rng, english=english)


def _arguments(parse: Parse, verb: int) -> tuple[int, int] | None:
    """Subject and object of an active verb, around it, each in one piece."""
    if parse.pos[verb] != "VERB":
        return None
    subject, thing = parse.child(verb, "nsubj"), parse.child(verb, "obj")
    if subject is None or thing is None or parse.deps[subject] != "nsubj" or not subject < verb < thing:
        return None
    if parse.tags[subject] in ("WP", "WDT") or parse.child(verb, "iobj", "ccomp", "xcomp") is not None:
        return None
    return (subject, thing) if _solid(parse, subject) and _solid(parse, thing) else None


def _solid(parse: Parse, head: int) -> bool:
    """One piece, without a clause or a possessive pronoun that would point elsewhere after the exchange."""
    tokens = parse.subtree(head)
    clause = any(base_of(parse.deps[i]) in ("acl", "advcl", "appos", "conj", "parataxis") for i in tokens)
    own = any(parse.tags[i] in ("PRP$", "WP$") or parse.lemmas[i].endswith("self") for i in tokens)
    return tokens[-1] - tokens[0] + 1 == len(tokens) and not clause and not own


def _acts(lexicon: Lexicon, parse: Parse, head: int) -> bool:
    if parse.pos[head] == "PRON":
        return parse.words[head].lower() in {*SUBJECT, *OBJECT_FORMS, "you"}
    if parse.entities[head]:
        return parse.entities[head].partition("-")[2] in ("PER", "PERSON", "ORG")
    lemma = parse.lemmas[head].lower()
    if parse.pos[head] != "NOUN" or lemma in GROUPS:
        return parse.pos[head] == "NOUN"
    senses = lexicon.senses(lemma, "n")
    files = [sense.lexfile for sense in senses]
    if files[:1] == [ANIMAL]:
        return FOOD not in files[:EATEN] and _is_a(lexicon, senses[0].id, BEAST)
    return files[:1] == [PERSON] and _is_a(lexicon, senses[0].id, HUMAN)


def _is_a(lexicon: Lexicon, sense: str, wanted: str) -> bool:
    """Whether a sense is a kind of another, by as many steps as it takes."""
    seen, left = set(), [sense]
    while left:
        here = left.pop()
        if here not in seen:
            seen.add(here)
            left += lexicon.hypernyms(here)
    return wanted in seen


def _exchange(lexicon: Lexicon, parse: Parse, subject: int, thing: int, verb: int) -> tuple[Edit, ...] | str:
    """The edits that exchange the two, or why that is not safe."""
    spans = [_limits(parse, head) for head in (subject, thing)]
    first, second = (text_of(parse, span) for span in spans)
    to_front = SUBJECT.get(second.lower(), second)
    to_back: str | None = OBJECT_FORMS.get(first.lower(), first)
    if first[0].isupper():
        start = spans[0][0]
        if first_word(parse, start) == start:
            to_front = capital(to_front)
            to_back = to_back if first.lower() in OBJECT_FORMS else inside_sentence(parse, spans[0], lexicon)
        elif first != "I" and parse.pos[start] != "PROPN" and not parse.entities[start]:
            to_back = None
    if to_back is None:
        return "an uncertain capital letter"
    agreement = _agreement(parse, subject, thing, verb)
    if agreement is None:
        return "the verb cannot be made to agree"
    made = [
        Edit(parse.starts[spans[0][0]], parse.ends[spans[0][1] - 1], to_front),
        Edit(parse.starts[spans[1][0]], parse.ends[spans[1][1] - 1], to_back),
        *agreement,
    ]
    return tuple(sorted(made, key=lambda edit: edit.start))


def _limits(parse: Parse, head: int) -> Span:
    tokens = parse.subtree(head)
    return tokens[0], tokens[-1] + 1


def _person(parse: Parse, head: int) -> str | None:
    """The form of the verb that this subject asks for: s (third person singular), p (the others), or None."""
    word = parse.words[head].lower()
    word = SUBJECT.get(word, word).lower()
    if word == "i":
        return None
    if word in SINGULAR_PRONOUNS or parse.tags[head] in ("NN", "NNP"):
        return "s"
    return "p" if word in PLURAL_PRONOUNS or parse.tags[head] in ("NNS", "NNPS") else None


def _agreement(parse: Parse, subject: int, thing: int, verb: int) -> list[Edit] | None:
    """The edit that makes the finite verb agree with its new subject; None if that is not safe."""
    before, after = _person(parse, subject), _person(parse, thing)
    finite = next((i for i in (*parse.children[verb], verb) if parse.tags[i] in ("VBZ", "VBP", "VBD")), None)
    past = finite is not None and parse.tags[finite] == "VBD" and parse.words[finite].lower() not in ("was", "were")
    if past or before == after is not None or finite is None:
        return [] if past or before == after is not None or parse.child(verb, "aux") is not None else None
    table = AGREEMENT if before == "s" else {b: a for a, b in AGREEMENT.items()}
    word = parse.words[finite]
    form = in_case_of(table.get(word.lower(), ""), word) if before and after and word.lower() in table else None
    return [Edit(parse.starts[finite], parse.ends[finite], form)] if form else None
