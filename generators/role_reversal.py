"""Role reversals: the same words, who does what to whom exchanged."""

from __future__ import annotations

from random import Random

from encheck.generators.moving import OBJECT_FORMS, SUBJECT_FORMS
from encheck.generators.reorder import reorder
from encheck.generators.written import written
from encheck.language.conditions import base_of
from encheck.language.english import English
from encheck.language.lexicon import Lexicon
from encheck.language.parse import Parse
from encheck.types import Edit, Group, Variant, apply_edits

# Verbs that say the same both ways round: "A met B".
SYMMETRIC = frozenset(
    """meet marry divorce resemble equal match join contact face border date kiss hug fight battle collide intersect
    adjoin accompany have be become mean cost weigh include contain comprise involve""".split()
)
SUBJECT = {word: form for word, form in SUBJECT_FORMS.items() if word != form} | {"whom": "who"}
ACTORS = {"noun.person": 18, "noun.group": 14, "noun.animal": 5}  # lexicographer files, lexnames(5WN)
SINGULAR_PRONOUNS, PLURAL_PRONOUNS = {"he", "she", "it"}, {"we", "they", "you"}
AGREEMENT = {"is": "are", "was": "were", "has": "have", "does": "do"}


def role_reversal(group: Group, *, level: int, rng: Random, english: English) -> Variant | str | None:  # noqa: ARG001
    """The hand-written edit where the data has one, else subject and object of the main verb exchanged.

    Both must be able to act: persons, groups, animals or names of such. Pronouns and the verb follow.
    """
    if group.variants:
        return written(group, "role_reversal", level=level)
    parse = english.parse(group.source)
    reason: str = "no verb with subject and object"
    for verb in range(len(parse)):
        ends = _arguments(parse, verb)
        if ends is None:
            continue
        subject, thing = ends
        if parse.lemmas[verb].lower() in SYMMETRIC:
            reason = "the verb says the same both ways round"
        elif not (_acts(english.lexicon, parse, subject) and _acts(english.lexicon, parse, thing)):
            reason = "subject and object cannot both act"
        elif (made := _exchange(parse, subject, thing, verb)) is not None:
            text = apply_edits(group.source, made)
            said = f"{parse.words[subject]} <-> {parse.words[thing]} of {parse.words[verb]}"
            return Variant(text, "role_reversal", level, made, "role_reversal", said)
        else:
            reason = "the verb cannot be made to agree"
    return reason


def roles_kept(group: Group, *, level: int, rng: Random, english: English) -> Variant | str | None:
    """What a role reversal stands against: the hand-written edit of the same words, else a reorder of the sentence."""
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
    if parse.pos[head] != "NOUN":
        return False
    senses = lexicon.senses(parse.lemmas[head].lower(), "n")
    return bool(senses) and senses[0].lexfile in ACTORS.values()


def _exchange(parse: Parse, subject: int, thing: int, verb: int) -> tuple[Edit, ...] | None:
    spans = [_limits(parse, head) for head in (subject, thing)]
    first, second = (parse.text[parse.starts[a] : parse.ends[b]] for a, b in spans)
    to_front = SUBJECT.get(second.lower(), second)
    to_back = OBJECT_FORMS.get(first.lower(), first)
    if spans[0][0] == 0 or parse.starts[spans[0][0]] == 0:
        to_front = to_front[:1].upper() + to_front[1:]
        to_back = to_back if _keeps_capital(parse, spans[0][0], first) else to_back[:1].lower() + to_back[1:]
    agreement = _agreement(parse, subject, thing, verb)
    if agreement is None:
        return None
    made = [
        Edit(parse.starts[spans[0][0]], parse.ends[spans[0][1]], to_front),
        Edit(parse.starts[spans[1][0]], parse.ends[spans[1][1]], to_back),
        *agreement,
    ]
    return tuple(sorted(made, key=lambda edit: edit.start))


def _keeps_capital(parse: Parse, at: int, text: str) -> bool:
    return parse.pos[at] == "PROPN" or bool(parse.entities[at]) or text == "I" or not parse.words[at].istitle()


def _limits(parse: Parse, head: int) -> tuple[int, int]:
    tokens = parse.subtree(head)
    return tokens[0], tokens[-1]


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
    """The edit that makes the finite verb agree with its new subject; None where that is not safe."""
    before, after = _person(parse, subject), _person(parse, thing)
    finite = next((i for i in (*parse.children[verb], verb) if parse.tags[i] in ("VBZ", "VBP", "VBD")), None)
    past = finite is not None and parse.tags[finite] == "VBD" and parse.words[finite].lower() not in ("was", "were")
    if past or before == after is not None or finite is None:
        return [] if past or before == after is not None or parse.child(verb, "aux") is not None else None
    table = AGREEMENT if before == "s" else {b: a for a, b in AGREEMENT.items()}
    word = parse.words[finite]
    if before and after and word.lower() in table:
        return [Edit(parse.starts[finite], parse.ends[finite], table[word.lower()])]
    return None
