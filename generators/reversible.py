"""Whether subject and object of a verb can be exchanged so that the other one does it, and nothing else is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from encheck.generators.moving import EXISTENTIAL, FOCUS, NEGATIVE, UNIVERSAL, Span, case_of, span_of
from encheck.language.parse import Parse

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
