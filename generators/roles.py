"""Who does what to whom swapped, and the same roles in another construction: of any English text.

"The nurse called the surgeon" is kept by "The surgeon was called by the nurse" and by "It was the nurse who called the
surgeon", and changed by the same three constructions with the two exchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from encheck.generators.base import listed, written
from encheck.generators.passive import passive
from encheck.generators.phenomenon import Phenomenon, Ways, choice_of
from encheck.generators.phrases import (
    EXISTENTIAL,
    FOCUS,
    NEGATIVE,
    OBJECT_FORMS,
    SUBJECT_FORMS,
    UNIVERSAL,
    Span,
    can_act,
    capital,
    case_of,
    first_file,
    inside_sentence,
    root_of,
    span_of,
    text_of,
)
from encheck.generators.reorder import reorder
from encheck.language.edits.conditions import base_of
from encheck.language.edits.inflection import in_case_of
from encheck.language.english import English
from encheck.language.lexicon.protocol import Lexicon
from encheck.language.parse import Parse, first_word
from encheck.language.prose import why_left
from encheck.statistics.draws import Draws
from encheck.types import Edit, Group, Variant, apply_edits

# What one actor does to another, whoever they are.
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
# What only some do to some: said of two names or pronouns, of whom nothing speaks against the other order.
BETWEEN_NAMES = (
    frozenset(
        """appoint arrest back beat coach consult crown cast defeat divorce dismiss edit elect employ fire follow hire
    inherit inspire marry mentor nominate outscore overthrow portray promote recruit replace sack school sign succeed
    teach train treat tutor upstage""".split()
    )
    | BETWEEN_ACTORS
)

SAYING = frozenset("say claim report allege believe tell suggest state add write announce confirm".split())
# Prepositions of what may be said of both: when, where, for what.
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
# States in which nobody does much, and who is what the verb makes of them.
PASSIVE_PEOPLE = frozenset(
    """dead wounded injured unconscious sleeping unborn victim corpse suspect hostage baby infant passenger
    prisoner patient prey newborn toddler embryo deceased detainee inmate bystander captive""".split()
)
VAGUE = frozenset("one ones other others somebody someone anybody anyone everybody everyone nobody thing".split())
PARTS = frozenset(["det", "amod", "compound", "flat", "nummod", "case", "punct", "nmod"])
COLLECTIVE = frozenset("police congress parliament nasa mankind".split())
ARTICLES = frozenset("a an the my your his her its our their this that".split())
DO = frozenset(["do", "does", "did"])
QUOTES = frozenset('" “ ” '.split())
LONGEST = 7  # tokens of either side


class Roles(NamedTuple):
    """A verb with subject and object in a parse."""

    parse: Parse
    subject: int
    thing: int
    verb: int

    @property
    def ends(self) -> tuple[int, int]:
        """Subject and object."""
        return self.subject, self.thing

    @property
    def others(self) -> tuple[int, ...]:
        """What else hangs on the verb."""
        return tuple(i for i in self.parse.children[self.verb] if i not in self.ends)


def why_not_reversed(parse: Parse, subject: int, thing: int, verb: int) -> str:
    """Why the two are not exchanged, in a few words; empty if nothing speaks against it."""
    roles = Roles(parse, subject, thing, verb)
    return next((reason for reason, holds in REFUSALS if holds(roles)), "")


def _is_no_verb_between_actors(roles: Roles) -> bool:
    parse = roles.parse
    names = all(parse.pos[i] == "PRON" or parse.entities[i].endswith("PER") for i in roles.ends)
    return parse.lower_lemmas[roles.verb] not in (BETWEEN_NAMES if names else BETWEEN_ACTORS)


def _is_no_clause_of_its_own(roles: Roles) -> bool:
    """Neither the main clause nor what somebody is said to say."""
    parse, verb = roles.parse, roles.verb
    head = parse.heads[verb]
    said = parse.bases[verb] in ("ccomp", "parataxis") and parse.lower_lemmas[head] in SAYING
    quoted = parse.bases[verb] == "ccomp" and parse.starts[head] > parse.starts[verb]
    return not (head == verb or said or quoted)


def _has_no_finite_form(roles: Roles) -> bool:
    """A headline, an infinitive, a bare participle, a form that may be one."""
    parse, verb = roles.parse, roles.verb
    below = [i for i in roles.others if parse.bases[i] == "aux"]
    if parse.tags[verb] == "VBG" and not below and parse.heads[verb] == verb:
        return False  # a caption: "A dog chasing a cat."
    if parse.tags[verb] in ("VBD", "VBZ", "VBP"):
        return any(parse.tags[i] not in ("VBD", "VBZ", "VBP", "MD") for i in below)
    finite = any(parse.tags[i] in ("VBZ", "VBP", "VBD", "MD") for i in below)
    return not finite or any(i < roles.subject and parse.lowers[i] not in DO for i in below)


def _says_more(roles: Roles) -> bool:
    """A second predicate, a complement, or a circumstance that may be said of one of the two."""
    return not all(_is_said_of_both(roles, i) for i in roles.others)


def _is_said_of_both(roles: Roles, at: int) -> bool:
    parse, base, word = roles.parse, roles.parse.bases[at], roles.parse.lowers[at]
    if base in ("cc", "conj") and _is_behind_quotation(roles, at):
        return True
    if base in ("aux", "punct", "discourse") or (base in ("mark", "cc") and at < roles.subject):
        return base != "mark" or word == "that"
    if base == "advmod":
        return word in SURE_ADVERBS and not parse.children[at]
    if base != "obl":
        return False
    span = span_of(parse, at)
    return span is not None and _is_circumstance(roles, at, span)


def _is_behind_quotation(roles: Roles, at: int) -> bool:
    """Whether a quotation ends between the verb and this token: what follows is said of who quotes."""
    between = roles.parse.words[roles.thing + 1 : at]
    return sum(word in QUOTES for word in between) % 2 == 1


def _is_circumstance(roles: Roles, at: int, span: Span) -> bool:
    """A time or place, or what somebody is praised or blamed for, without a person in it."""
    parse, case = roles.parse, case_of(roles.parse, at)
    if parse.entities[at].endswith(("DATE", "TIME")) and case in ("", *CIRCUMSTANCE):
        return True
    wanted = CIRCUMSTANCE | (REASON if parse.lower_lemmas[roles.verb] in BLAMING else frozenset())
    people = any(parse.tags[i] in ("PRP", "PRP$", "WP") or parse.entities[i].endswith("PER") for i in range(*span))
    verbs = any(parse.pos[i] == "VERB" for i in range(*span))
    return case in wanted and not people and not verbs


def _points_back(roles: Roles) -> bool:
    """A possessive or reflexive anywhere, another pronoun, or a name that stands twice: who is meant would change."""
    parse = roles.parse
    for i, tag in enumerate(parse.tags):
        if tag in ("PRP$", "WP$", "WP", "WDT") or parse.lowers[i].endswith(("self", "selves")):
            return True
        if tag == "PRP" and i not in roles.ends and not _is_speaker(parse, i, roles):
            return True
    said = [parse.lowers[i] for end in roles.ends for i in parse.subtree(end) if parse.pos[i] in ("NOUN", "PROPN")]
    return any(parse.lowers.count(word) > 1 for word in said)


def _is_speaker(parse: Parse, at: int, roles: Roles) -> bool:
    """Who says it: "she said" beside two that are no "she"."""
    people = [i for i in roles.ends if parse.pos[i] == "PRON"]
    return parse.lower_lemmas[parse.heads[at]] in SAYING and parse.bases[at] == "nsubj" and not people


def _is_owned(roles: Roles) -> bool:
    return any(roles.parse.tags[i] == "POS" for i in range(len(roles.parse)))


def _is_no_plain_phrase(roles: Roles) -> bool:
    return not all(_is_plain(roles.parse, end) for end in roles.ends)


def _is_plain(parse: Parse, end: int) -> bool:
    """A pronoun, a name, or a noun with its article, of which nobody asks which or how many."""
    tokens = parse.subtree(end)
    if parse.pos[end] == "PRON":
        return len(tokens) == 1
    inside = [i for i in tokens if i != end]
    if len(tokens) > LONGEST or not all(parse.bases[i] in PARTS for i in inside):
        return False
    if {parse.lowers[i] for i in tokens} & (PASSIVE_PEOPLE | NEGATIVE | UNIVERSAL | EXISTENTIAL | VAGUE):
        return False
    if any(parse.bases[i] == "nmod" and case_of(parse, i) not in ("of", "from", "in") for i in inside):
        return False
    numbered = any(parse.pos[i] in ("NUM", "SYM") or parse.entities[i].endswith(("DATE", "TIME")) for i in tokens)
    bare = parse.tags[end] == "NN" and not parse.entities[end] and not _has_article(parse, end)
    bare = bare and not _is_headline(parse)
    return not bare and not (numbered and parse.pos[end] != "NOUN")


def _is_headline(parse: Parse) -> bool:
    """No article anywhere and no full stop."""
    return ARTICLES.isdisjoint(parse.lowers) and parse.words[-1] not in (".", "!", "?") and parse.words[0].istitle()


def _has_article(parse: Parse, end: int) -> bool:
    return parse.child(end, "det") is not None or parse.lowers[end] in COLLECTIVE


def _is_denied(roles: Roles) -> bool:
    """A negative word or "only" beside the verb: who does not do it need not be who has it done to him."""
    parse = roles.parse
    below = {parse.lowers[j] for i in roles.others for j in (i, *parse.children[i])}
    return not below.isdisjoint(NEGATIVE | FOCUS)


REFUSALS: tuple[tuple[str, Callable[[Roles], bool]], ...] = (
    ("a verb that may not relate two actors", _is_no_verb_between_actors),
    ("neither the main clause nor what somebody says", _is_no_clause_of_its_own),
    ("no finite form of the verb", _has_no_finite_form),
    ("negated", _is_denied),
    ("more is said about one of the two", _says_more),
    ("one side refers to the other", _points_back),
    ("somebody's somebody", _is_owned),
    ("a side that is not a plain phrase", _is_no_plain_phrase),
)


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


TRIGGER = re.compile(r"\w")
NONE = "no verb with subject and object"
NO_PASSIVE = "no passive of the sentence, or of its swapped form"
OTHER = frozenset({4, 5, 13})  # lexicographer's files: noun.act, animal and food
MOST = 4  # senses


def read(parse: Parse, english: English, rng: Draws) -> Ways | str:
    """The main clause in the active, in the passive and as a cleft, as it is and with the two exchanged."""
    told = passive(parse, english)
    if not isinstance(told, tuple):
        return NO_PASSIVE if told else NONE
    exchanged = role_reversal(Group("", parse.text, parse.text, ""), level=1, rng=rng, english=english)
    if not isinstance(exchanged, Variant):
        return str(exchanged or NONE)
    if not _are_persons(parse, english):
        return "subject and object cannot both act as people do"
    other = english.parse(exchanged.text)
    turned = passive(other, english)
    if (
        not isinstance(turned, tuple)
        or root_of(other) is None
        or other.lower_lemmas[root_of(other) or 0] not in told[0]
    ):
        return NO_PASSIVE
    kept = [apply_edits(parse.text, told[1]), *_cleft(parse, english)]
    changed = [exchanged.text, apply_edits(other.text, turned[1]), *_cleft(other, english)]
    return Ways(kept, changed, exchanged.certificate)


def _are_persons(parse: Parse, english: English) -> bool:
    """Whether subject and object are persons, groups of them or organisations; an animal acts in another way."""
    root = root_of(parse)
    ends = [] if root is None else [parse.child(root, one) for one in ("nsubj", "obj")]
    return all(i is not None and can_act(english, parse, i) and not _is_other(parse, english, i) for i in ends)


def _is_other(parse: Parse, english: English, at: int) -> bool:
    """Whether a noun is an animal, a dish or a deed as well: "shrimp", "tackle"."""
    senses = english.lexicon.senses(parse.lower_lemmas[at], "n") if parse.pos[at] == "NOUN" else ()
    return not OTHER.isdisjoint(sense.lexfile for sense in senses[:MOST])


def _cleft(parse: Parse, english: English) -> list[str]:
    """ "It was the nurse who called the surgeon", where a noun phrase at the head of the text is the subject."""
    root = root_of(parse)
    subject = None if root is None else parse.child(root, "nsubj")
    span = None if subject is None else span_of(parse, subject)
    if root is None or subject is None or span is None or span[0] != 0 or parse.pos[subject] == "PRON":
        return []
    front, finite = inside_sentence(parse, span, english.lexicon), _finite(parse, root)
    if front is None or not finite or span[1] != finite[0]:
        return []
    be = "was" if finite[1] == "VBD" else "is"
    return [f"It {be} {front} {_pronoun(parse, english, subject)} {parse.text[parse.starts[span[1]] :]}"]


def _finite(parse: Parse, root: int) -> tuple[int, str] | None:
    """Where the finite verb stands, and its tag."""
    parts = (*(i for i in parse.children[root] if parse.bases[i] == "aux"), root)
    return next(((i, parse.tags[i]) for i in parts if parse.tags[i] in ("VBD", "VBZ", "VBP")), None)


def _pronoun(parse: Parse, english: English, subject: int) -> str:
    is_person = parse.entities[subject].endswith(("PER", "PERSON")) or (
        not parse.entities[subject] and first_file(english.lexicon, parse, subject) == PERSON
    )
    return "who" if is_person else "that"


ROLE_REVERSAL = Phenomenon(
    "role_reversal", choice_of(read), "swapped roles", trigger=TRIGGER, without=NONE,
    in_probes=True, sides=("changed", "kept", "mirror"), listed_as="role_exchange",
)  # fmt: skip
