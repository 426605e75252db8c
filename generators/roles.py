"""Exchange who does what to whom, or state the same roles in a different construction, in any English text.

"The nurse called the surgeon" is kept by "The surgeon was called by the nurse" and by "It was the nurse who called the
surgeon". It is changed by the same three constructions with nurse and surgeon exchanged.
"""

from __future__ import annotations

import re
from random import Random
from typing import NamedTuple

from encheck.generators.base import listed_generator
from encheck.generators.passive import make_passive
from encheck.generators.phenomenon import Phenomenon, Rephrasings, edits_from_rephrasings
from encheck.generators.phrases import (
    EXISTENTIAL,
    FOCUS,
    NEGATIVE,
    OBJECT_FORMS,
    SUBJECT_FORMS,
    UNIVERSAL,
    capitalise_first_letter,
    contiguous_span,
    names_an_agent,
    noun_category,
    preposition_of,
    span_text,
    statement_root,
    text_inside_sentence,
)
from encheck.generators.reorder import reorder
from encheck.language.edits.conditions import strip_subtype
from encheck.language.edits.inflection import match_case
from encheck.language.english import English
from encheck.language.lexicon.lexicon import Lexicon
from encheck.language.parse import Parse, first_word_of_sentence
from encheck.language.prose import why_not_edited
from encheck.statistics.draws import Draws
from encheck.types import Edit, Group, Variant, apply_edits

# Actions of any actor on any other.
BETWEEN_ACTORS = frozenset(
    """abandon abuse accuse address admire admonish advise aid alert amuse annoy answer applaud approach assassinate
    assault assist assure astonish attack avoid beat befriend believe betray bite blackmail blame block bother bribe
    bully bump call calm catch challenge charm chase cheat cheer comfort compliment condemn confront congratulate
    console consult contradict copy criticise criticize curse deceive defeat defend defy despise detain disappoint
    distract distrust doubt encourage endorse envy escape escort evade flatter flee follow fool forgive frighten
    fool grab greet guard hail harass hate heckle help hire hit hunt hurt ignore imitate impress infuriate
    insult interrupt interview intimidate introduce invite ambush jail kick kidnap kill knock know lecture lick like
    lead love miss mistrust mock mourn murder nudge obey offend outrun outsmart overtake oust pass pat persuade
    phone pity poison praise press protect provoke pull punch punish push question reassure rebuke recognise
    recognize recommend refute remember rescue resent respect ridicule rob save scare scold see serve shadow shoot
    shove slap slight sniff snub spot stab stalk startle stop strangle strike sue summon supervise support surprise
    surround suspect tackle target taunt tease telephone thank threaten tickle torment torture touch trail trap trick
    trip trust upset visit warn watch welcome worry worship wound wrestle""".split()
)
# Actions of certain actors on others: only for two names or pronouns, for which either order is possible.
BETWEEN_NAMES = (
    frozenset(
        """appoint arrest back beat coach consult crown cast defeat divorce dismiss edit elect employ fire follow hire
    inherit inspire marry mentor nominate outscore overthrow portray promote recruit replace sack school sign succeed
    teach train treat tutor upstage""".split()
    )
    | BETWEEN_ACTORS
)

SAYING = frozenset("say claim report allege believe tell suggest state add write announce confirm".split())
# Prepositions of phrases that apply to both: when, where, for what.
CIRCUMSTANCE = frozenset(
    "in on at near during before after around outside inside through across along into onto off past down".split()
)
REASON = frozenset("for of over about".split())
BLAMING = frozenset(
    """accuse admire blame condemn congratulate criticise criticize insult mock praise rebuke scold suspect tease thank
    warn""".split()
)
SURE_ADVERBS = frozenset(
    """again already angrily briefly eventually finally immediately initially later nearly now often once openly
    originally previously publicly quickly quietly really recently repeatedly soon strongly suddenly then today
    twice warmly yesterday""".split()
)
# States without activity, and persons defined by the verb's action.
PASSIVE_PEOPLE = frozenset(
    """dead wounded injured unconscious sleeping unborn victim corpse suspect hostage baby infant passenger
    prisoner patient prey newborn toddler embryo deceased detainee inmate bystander captive""".split()
)
VAGUE = frozenset("one ones other others somebody someone anybody anyone everybody everyone nobody thing".split())
PARTS = frozenset(["det", "amod", "compound", "flat", "nummod", "case", "punct", "nmod"])
COLLECTIVE = frozenset("police congress parliament nasa mankind".split())
ARTICLES = frozenset("a an the my your his her its our their this that".split())
DO = frozenset(["do", "does", "did"])
NONE = "no verb with subject and object"
QUOTES = frozenset('" “ ” '.split())
LONGEST = 7  # tokens of either side


class TransitiveVerb(NamedTuple):
    """A verb in a parse, with its subject and its object."""

    parse: Parse
    subject: int
    thing: int
    verb: int

    @property
    def other_dependents(self) -> tuple[int, ...]:
        """The other dependents of the verb."""
        return tuple(i for i in self.parse.children[self.verb] if i not in (self.subject, self.thing))


def _why_not_exchanged(clause: TransitiveVerb) -> str:
    """Return in a few words why subject and object cannot be exchanged, or "" if they can."""
    parse, verb, ends = clause.parse, clause.verb, (clause.subject, clause.thing)
    are_names = all(parse.pos[i] == "PRON" or parse.entities[i].endswith("PER") for i in ends)
    if parse.lower_lemmas[verb] not in (BETWEEN_NAMES if are_names else BETWEEN_ACTORS):
        return "a verb that may not relate two actors"
    head = parse.heads[verb]
    is_reported = parse.bases[verb] in ("ccomp", "parataxis") and parse.lower_lemmas[head] in SAYING
    is_quoted = parse.bases[verb] == "ccomp" and parse.starts[head] > parse.starts[verb]
    if not (head == verb or is_reported or is_quoted):
        return "neither the main clause nor what somebody says"
    # A certain finite form, or the participle of a caption: "A dog chasing a cat."
    auxiliaries = [i for i in clause.other_dependents if parse.bases[i] == "aux"]
    if parse.tags[verb] in ("VBD", "VBZ", "VBP"):
        is_finite = all(parse.tags[i] in ("VBD", "VBZ", "VBP", "MD") for i in auxiliaries)
    else:
        is_finite = any(parse.tags[i] in ("VBZ", "VBP", "VBD", "MD") for i in auxiliaries) and all(
            i >= clause.subject or parse.lowers[i] in DO for i in auxiliaries
        )
    is_caption = parse.tags[verb] == "VBG" and not auxiliaries and head == verb
    if not is_finite and not is_caption:
        return "no finite form of the verb"
    # In a negated clause, the exchange need not change the meaning.
    below = {parse.lowers[j] for i in clause.other_dependents for j in (i, *parse.children[i])}
    if not below.isdisjoint(NEGATIVE | FOCUS):
        return "negated"
    if not all(_applies_to_both_sides(clause, i) for i in clause.other_dependents):
        return "more is said about one of the two"

    # The reference of a possessive, a reflexive, another pronoun or a repeated name would change.
    has_pronoun = any(parse.pos[i] == "PRON" for i in ends)
    for i, tag in enumerate(parse.tags):
        is_speaker = parse.lower_lemmas[parse.heads[i]] in SAYING and parse.bases[i] == "nsubj" and not has_pronoun
        is_another = tag == "PRP" and i not in ends and not is_speaker
        if is_another or tag in ("PRP$", "WP$", "WP", "WDT") or parse.lowers[i].endswith(("self", "selves")):
            return "one side refers to the other"
    nouns = [parse.lowers[i] for end in ends for i in parse.subtree(end) if parse.pos[i] in ("NOUN", "PROPN")]
    if any(parse.lowers.count(word) > 1 for word in nouns):
        return "one side refers to the other"
    if "POS" in parse.tags:
        return "somebody's somebody"
    return "" if all(_is_plain_phrase(parse, end) for end in ends) else "a side that is not a plain phrase"


def _applies_to_both_sides(clause: TransitiveVerb, at: int) -> bool:
    """Return whether the verb's dependent applies to subject and object alike.

    A second predicate, a complement, or a circumstance may apply to only one of them.
    """
    parse, base, word = clause.parse, clause.parse.bases[at], clause.parse.lowers[at]
    # Words after a quotation describe the speaker.
    if base in ("cc", "conj") and sum(word in QUOTES for word in parse.words[clause.thing + 1 : at]) % 2 == 1:
        return True
    if base in ("aux", "punct", "discourse") or (base in ("mark", "cc") and at < clause.subject):
        return base != "mark" or word == "that"
    if base == "advmod":
        return word in SURE_ADVERBS and not parse.children[at]
    span = contiguous_span(parse, at)
    if base != "obl" or span is None:
        return False

    # A time or place, or the reason of praise or blame, without a person in it.
    case = preposition_of(parse, at)
    if parse.entities[at].endswith(("DATE", "TIME")) and case in ("", *CIRCUMSTANCE):
        return True
    cases = CIRCUMSTANCE | (REASON if parse.lower_lemmas[clause.verb] in BLAMING else frozenset())
    people = any(parse.tags[i] in ("PRP", "PRP$", "WP") or parse.entities[i].endswith("PER") for i in range(*span))
    verbs = any(parse.pos[i] == "VERB" for i in range(*span))
    return case in cases and not people and not verbs


def _is_plain_phrase(parse: Parse, end: int) -> bool:
    """Return whether this is a pronoun, a name, or a noun with an article that makes clear which or how many
    are meant.
    """
    tokens = parse.subtree(end)
    if parse.pos[end] == "PRON":
        return len(tokens) == 1
    inside = [i for i in tokens if i != end]
    if len(tokens) > LONGEST or not all(parse.bases[i] in PARTS for i in inside):
        return False
    if {parse.lowers[i] for i in tokens} & (PASSIVE_PEOPLE | NEGATIVE | UNIVERSAL | EXISTENTIAL | VAGUE):
        return False
    if any(parse.bases[i] == "nmod" and preposition_of(parse, i) not in ("of", "from", "in") for i in inside):
        return False
    numbered = any(parse.pos[i] in ("NUM", "SYM") or parse.entities[i].endswith(("DATE", "TIME")) for i in tokens)
    has_article = parse.child(end, "det") is not None or parse.lowers[end] in COLLECTIVE
    # A headline has no article anywhere and no full stop.
    has_no_articles = ARTICLES.isdisjoint(parse.lowers)
    is_headline = has_no_articles and parse.words[-1] not in (".", "!", "?") and parse.words[0].istitle()
    is_bare = parse.tags[end] == "NN" and not parse.entities[end] and not has_article and not is_headline
    return not is_bare and not (numbered and parse.pos[end] != "NOUN")


# Symmetric verbs: "A met B".
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


@listed_generator(1)
def role_reversal(group: Group, *, level: int, rng: Random, english: English) -> Variant | str | None:  # noqa: ARG001
    """Return the written edit if the data has one. Otherwise exchange subject and object of the main verb.

    Both must be able to act: persons, groups, animals or their names. Pronouns and the verb are adapted.
    """
    if group.variants:
        return group.variant("role_reversal", level)
    if left := why_not_edited(group.source):
        return left
    parse, lexicon = english.stored_parse(group.source), english.lexicon
    reason = NONE
    for verb in range(len(parse)):
        ends = _subject_and_object(parse, verb)
        if ends is None:
            continue
        subject, thing = ends
        if parse.lower_lemmas[verb] in SYMMETRIC:
            reason = "the verb means the same in both directions"
        elif not (_can_act(lexicon, parse, subject) and _can_act(lexicon, parse, thing)):
            reason = "subject and object cannot both act"
        elif parse.lower_lemmas[subject] == parse.lower_lemmas[thing]:
            reason = "subject and object are the same word"
        elif not (reason := _why_not_exchanged(TransitiveVerb(parse, subject, thing, verb))):
            edits = _exchange_subject_and_object(lexicon, parse, subject, thing, verb)
            if not isinstance(edits, str):
                text = apply_edits(group.source, edits)
                said = f"{parse.words[subject]} <-> {parse.words[thing]} of {parse.words[verb]}"
                return Variant(text, "role_reversal", level, edits, "role_reversal", said)
            reason = edits
    return reason


@listed_generator(1)
def roles_kept(group: Group, *, level: int, rng: Random, english: English) -> Variant | str | None:
    """Return the counterpart of a role reversal.

    This is the written edit of the same words if the data has one, and otherwise a reorder of the sentence.
    """
    if group.variants:
        return group.variant("role_reversal_kept", level)
    return reorder(group, level=level, rng=rng, english=english)


def _subject_and_object(parse: Parse, verb: int) -> tuple[int, int] | None:
    """Return subject and object of an active verb, or None.

    One is before the verb and one after it, and both are contiguous.
    """
    if parse.pos[verb] != "VERB":
        return None
    subject, thing = parse.child(verb, "nsubj"), parse.child(verb, "obj")
    if subject is None or thing is None or parse.deps[subject] != "nsubj" or not subject < verb < thing:
        return None
    if parse.tags[subject] in ("WP", "WDT") or parse.child(verb, "iobj", "ccomp", "xcomp") is not None:
        return None
    return (
        (subject, thing)
        if _is_contiguous_simple_phrase(parse, subject) and _is_contiguous_simple_phrase(parse, thing)
        else None
    )


def _is_contiguous_simple_phrase(parse: Parse, head: int) -> bool:
    """Return whether the phrase is contiguous and has no clause, and no possessive pronoun whose reference would
    change.
    """
    tokens = parse.subtree(head)
    clause = any(strip_subtype(parse.deps[i]) in ("acl", "advcl", "appos", "conj", "parataxis") for i in tokens)
    own = any(parse.tags[i] in ("PRP$", "WP$") or parse.lemmas[i].endswith("self") for i in tokens)
    return tokens[-1] - tokens[0] + 1 == len(tokens) and not clause and not own


def _can_act(lexicon: Lexicon, parse: Parse, head: int) -> bool:
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
        return FOOD not in files[:EATEN] and _is_hyponym(lexicon, senses[0].id, BEAST)
    return files[:1] == [PERSON] and _is_hyponym(lexicon, senses[0].id, HUMAN)


def _is_hyponym(lexicon: Lexicon, sense: str, wanted: str) -> bool:
    """Return whether a sense is a direct or indirect hyponym of another."""
    seen, left = set(), [sense]
    while left:
        here = left.pop()
        if here not in seen:
            seen.add(here)
            left += lexicon.hypernyms(here)
    return wanted in seen


def _exchange_subject_and_object(
    lexicon: Lexicon, parse: Parse, subject: int, thing: int, verb: int
) -> tuple[Edit, ...] | str:
    """Return the edits that exchange subject and object, or why that is not safe."""
    spans = [(tokens[0], tokens[-1] + 1) for tokens in (parse.subtree(subject), parse.subtree(thing))]
    first, second = (span_text(parse, span) for span in spans)
    to_front = SUBJECT.get(second.lower(), second)
    to_back: str | None = OBJECT_FORMS.get(first.lower(), first)
    if first[0].isupper():
        start = spans[0][0]
        if first_word_of_sentence(parse, start) == start:
            to_front = capitalise_first_letter(to_front)
            to_back = to_back if first.lower() in OBJECT_FORMS else text_inside_sentence(parse, spans[0], lexicon)
        elif first != "I" and parse.pos[start] != "PROPN" and not parse.entities[start]:
            to_back = None
    if to_back is None:
        return "an uncertain capital letter"
    agreement = _agreement_edits(parse, subject, thing, verb)
    if agreement is None:
        return "the verb cannot be made to agree"
    made = [
        Edit(parse.starts[spans[0][0]], parse.ends[spans[0][1] - 1], to_front),
        Edit(parse.starts[spans[1][0]], parse.ends[spans[1][1] - 1], to_back),
        *agreement,
    ]
    return tuple(sorted(made, key=lambda edit: edit.start))


def _agreement_class(parse: Parse, head: int) -> str | None:
    """Return the form of the verb for this subject: s (third person singular), p (any other), or None if in doubt."""
    word = parse.words[head].lower()
    word = SUBJECT.get(word, word).lower()
    if word == "i":
        return None
    if word in SINGULAR_PRONOUNS or parse.tags[head] in ("NN", "NNP"):
        return "s"
    return "p" if word in PLURAL_PRONOUNS or parse.tags[head] in ("NNS", "NNPS") else None


def _agreement_edits(parse: Parse, subject: int, thing: int, verb: int) -> list[Edit] | None:
    """Return the edit that makes the finite verb agree with its new subject, or None if that is not safe."""
    before, after = _agreement_class(parse, subject), _agreement_class(parse, thing)
    finite = next((i for i in (*parse.children[verb], verb) if parse.tags[i] in ("VBZ", "VBP", "VBD")), None)
    past = finite is not None and parse.tags[finite] == "VBD" and parse.words[finite].lower() not in ("was", "were")
    if past or before == after is not None or finite is None:
        return [] if past or before == after is not None or parse.child(verb, "aux") is not None else None
    table = AGREEMENT if before == "s" else {b: a for a, b in AGREEMENT.items()}
    word = parse.words[finite]
    form = match_case(table.get(word.lower(), ""), word) if before and after and word.lower() in table else None
    return [Edit(parse.starts[finite], parse.ends[finite], form)] if form else None


TRIGGER = re.compile(r"\w")
NO_PASSIVE = "no passive of the sentence, or of its swapped form"
OTHER = frozenset({4, 5, 13})  # lexicographer's files: noun.act, animal and food
MOST = 4  # senses
NO_PERSONS = "subject and object cannot both act as people do"


def role_rephrasings(parse: Parse, english: English, rng: Draws) -> Rephrasings | str:
    """Return the main clause in the active, in the passive and as a cleft, unchanged and with the roles exchanged."""
    own_passive = make_passive(parse, english)
    if not isinstance(own_passive, tuple):
        return NO_PASSIVE if own_passive else NONE
    exchanged = role_reversal(Group("", parse.text, parse.text, ""), level=1, rng=rng, english=english)
    if not isinstance(exchanged, Variant):
        return str(exchanged or NONE)

    # Both are persons, groups of them or organisations; an animal acts differently.
    root = statement_root(parse)
    for dep in ("nsubj", "obj"):
        at = None if root is None else parse.child(root, dep)
        if root is not None and (at is None or not names_an_agent(english, parse, at)):
            return NO_PERSONS
        senses = (
            english.lexicon.senses(parse.lower_lemmas[at], "n") if at is not None and parse.pos[at] == "NOUN" else ()
        )
        if not OTHER.isdisjoint(sense.lexfile for sense in senses[:MOST]):  # "shrimp", "tackle"
            return NO_PERSONS

    other = english.stored_parse(exchanged.text)
    other_passive, other_root = make_passive(other, english), statement_root(other)
    if (
        not isinstance(other_passive, tuple)
        or other_root is None
        or other.lower_lemmas[other_root] not in own_passive[0]
    ):
        return NO_PASSIVE
    kept = [apply_edits(parse.text, own_passive[1]), *_cleft_sentences(parse, english)]
    changed = [exchanged.text, apply_edits(other.text, other_passive[1]), *_cleft_sentences(other, english)]
    return Rephrasings(kept, changed, exchanged.certificate)


def _cleft_sentences(parse: Parse, english: English) -> list[str]:
    """Return sentences such as "It was the nurse who called the surgeon".

    The subject must be a noun phrase at the beginning of the text.
    """
    root = statement_root(parse)
    subject = None if root is None else parse.child(root, "nsubj")
    span = None if subject is None else contiguous_span(parse, subject)
    if root is None or subject is None or span is None or span[0] != 0 or parse.pos[subject] == "PRON":
        return []
    front = text_inside_sentence(parse, span, english.lexicon)
    verbs = (*(i for i in parse.children[root] if parse.bases[i] == "aux"), root)
    finite = next((i for i in verbs if parse.tags[i] in ("VBD", "VBZ", "VBP")), None)
    if front is None or finite is None or span[1] != finite:
        return []
    kind = parse.entities[subject]
    is_person = kind.endswith(("PER", "PERSON")) if kind else noun_category(english.lexicon, parse, subject) == PERSON
    be, who = "was" if parse.tags[finite] == "VBD" else "is", "who" if is_person else "that"
    return [f"It {be} {front} {who} {parse.text[parse.starts[span[1]] :]}"]


ROLE_REVERSAL = Phenomenon(
    "role_reversal", edits_from_rephrasings(role_rephrasings), "swapped roles", trigger=TRIGGER, without=NONE,
    in_probes=True, sides=("changed", "kept", "mirror"), listed_as="role_exchange",
)  # fmt: skip
