"""Which words can stand in a place at all: verbs with that frame, nouns of persons, adjectives of that kind of noun.

Frequency, length and tag make a word comparable; they do not make "He told that it rained" English. So the words of a
control come from these lists alone, which were written for this project.
"""

from __future__ import annotations

from collections.abc import Mapping

from encheck.generators.moving import OBJECT_FORMS, first_file
from encheck.language.edits.places import POS_OF_TAG
from encheck.language.lexicon.protocol import Lexicon
from encheck.language.parse import Parse

NONE: frozenset[str] = frozenset()
PERSON, GROUP, ARTIFACT = 18, 14, 6  # lexicographer's files, lexnames(5WN)
IDEAS = frozenset({4, 9, 10, 11})  # noun.act, cognition, communication, event
ACTING = frozenset({PERSON, GROUP})
PEOPLE = frozenset(
    """actor artist baker banker builder captain carpenter chef child clerk coach colleague cook cousin customer
    dancer dentist designer doctor driver editor engineer farmer firefighter fisherman friend gardener girl guest
    hunter journalist judge lawyer leader librarian maid manager mechanic merchant minister musician neighbor
    neighbour nurse officer painter pilot player plumber poet president prince professor pupil reporter sailor
    scientist secretary servant singer soldier student surgeon tailor teacher tourist trader traveler visitor waiter
    worker writer""".split()
)
STATES = frozenset("assume believe doubt fear forget guess hope imagine know suspect understand".split())
CLAUSE_VERBS = STATES | frozenset("discover find hear learn notice realise realize remember".split())
SAYING = frozenset("say state add write claim announce report note argue declare explain believe think insist".split())
QUOTING_VERBS = frozenset("admit complain joke shout swear warn whisper".split())
INTENDING = frozenset("hope offer plan prepare promise refuse threaten".split())
INFINITIVE_VERBS = INTENDING | frozenset(
    "agree begin choose decide expect fail hate love manage need start tend want".split()
)
STATIVE = frozenset("include contain have mean involve remain comprise use cost need lack own resemble".split())
VERBS: Mapping[str, frozenset[str]] = {  # by what is done to
    "artifact": frozenset(
        """borrow bring buy carry check choose clean describe design draw find forget hide keep lose mention move need
        notice order paint photograph praise recommend remember rent repair return see sell show steal test touch want
        watch""".split()
    ),
    "idea": frozenset(
        """announce consider copy criticise criticize defend describe discuss explain forget ignore mention notice
        praise prepare present promise propose publish question recall recommend remember review study understand
        watch welcome""".split()
    ),
    "person": frozenset(
        """call criticise criticize defend describe find follow forget help hire ignore invite know mention miss notice
        photograph praise protect recognise recognize remember see support thank visit watch""".split()
    ),
}
OF_ALL = frozenset("different famous new old strange".split())
ADJECTIVES: Mapping[str, frozenset[str]] = {  # by what is described
    "person": OF_ALL
    | frozenset(
        """angry beautiful brave busy clever clumsy foreign friendly funny happy honest hungry lazy local lonely lucky
        nervous polite poor proud quiet rich sad shy strong tall thin tired tough wise young""".split()
    ),
    "artifact": OF_ALL | frozenset("beautiful big cheap dirty expensive large local modern small special ugly".split()),
    "idea": frozenset("interesting new recent similar special strange unusual".split()),
}
# What can be said of a thing and what one does with it, and of the deed alone.
TOUGH = frozenset(
    "boring dangerous difficult easy exciting fun hard impossible interesting nice pleasant safe simple tough".split()
)
EASY = TOUGH | frozenset(
    "common convenient cruel important necessary normal possible rare strange unusual useful usual wise wrong".split()
)
WILLING = frozenset(
    """able unable willing unwilling ready eager reluctant likely unlikely due free afraid happy glad sorry sure welcome
    proud careful certain bound keen quick slow anxious sad""".split()
)
# Adjectives that say how many, which one, where or when.
COUNTING = frozenset(
    """many numerous several multiple few additional extra further different various same similar main primary major
    minor early late final last first next previous prior current present former front back upper lower right left whole
    total entire full internal external permanent temporary senior junior own long short high low large big small huge
    tiny extraordinary ordinary identical broad narrow complete key crucial maximum minimum top chief head""".split()
)
PLAIN_ADVERBS = frozenset("not n't n’t also never often now then finally still recently today yesterday".split())
FINITE = frozenset("VBD VBZ VBP MD".split())
ARGUMENTS = frozenset("nsubj obj obl nmod".split())
LOOSE = frozenset("in on at during after before since until".split())
PLAIN_BELOW = frozenset("nsubj obj nsubj:pass aux aux:pass punct cc mark".split())
PREDICATE = frozenset("nsubj cop punct aux cc mark".split())


def allowed(lexicon: Lexicon, parse: Parse, at: int) -> frozenset[str]:
    """The lemmas that can stand in this place; none where that is in doubt."""
    part = POS_OF_TAG[parse.tags[at]]
    if part == "v":
        return _verbs(lexicon, parse, at)
    if part == "a":
        return _adjectives(lexicon, parse, at)
    is_person = part == "n" and parse.bases[at] in ARGUMENTS and _sort(lexicon, parse, at) == "person"
    return PEOPLE if is_person and _is_free(parse, at) else NONE


def _is_free(parse: Parse, at: int) -> bool:
    """Nothing tells which kind of person it is, or who: no compound, "of" or adjective, no name or comma behind."""
    if at + 1 < len(parse):
        named = parse.pos[at + 1] in ("PROPN", "NOUN") or bool(parse.entities[at + 1])
        if named or parse.words[at + 1] == ",":
            return False
    below = {parse.deps[i] for i in parse.children[at]}
    return below.isdisjoint({"compound", "nmod", "nmod:poss", "amod", "acl", "acl:relcl", "appos", "conj"})


def _sort(lexicon: Lexicon, parse: Parse, at: int) -> str:
    """What a noun names: a person, an artifact or an idea; nothing if it names anything else."""
    if parse.pos[at] == "PRON":
        return "person" if parse.lowers[at] in {*OBJECT_FORMS, *OBJECT_FORMS.values()} - {"it"} else ""
    if parse.entities[at].endswith("PER"):
        return "person"
    kind = first_file(lexicon, parse, at)
    if kind in IDEAS:
        return "idea"
    return {PERSON: "person", ARTIFACT: "artifact"}.get(-1 if kind is None else kind, "")


def _verbs(lexicon: Lexicon, parse: Parse, at: int) -> frozenset[str]:
    """Verbs that take what this verb takes, where somebody does it."""
    below = {parse.bases[i] for i in parse.children[at]}
    if "nsubj" not in below or not _acts(lexicon, parse, at) or not below.isdisjoint(("compound", "iobj", "expl")):
        return NONE
    if not below.isdisjoint(("ccomp", "parataxis", "xcomp", "advcl")) or parse.bases[at] == "parataxis":
        return _verbs_with_clause(parse, at, below)
    thing = parse.child(at, "obj")
    if thing is None or parse.child(thing, "conj") is not None or not _takes_no_more(parse, at):
        return NONE
    if parse.lower_lemmas[at] in STATIVE:
        return NONE
    return VERBS.get(_sort(lexicon, parse, thing), NONE)


def _verbs_with_clause(parse: Parse, at: int, below: set[str]) -> frozenset[str]:
    if "obj" in below or "advcl" in below:
        return NONE
    clause = parse.child(at, "ccomp")
    if "parataxis" in below or parse.bases[at] == "parataxis" or (clause is not None and clause < at):
        return QUOTING_VERBS if parse.lower_lemmas[at] in SAYING else NONE
    if clause is not None and "xcomp" not in below:
        finite = any(parse.tags[i] in FINITE for i in (clause, *parse.children[clause]))
        plain = finite and parse.words[at + 1 : at + 2] not in ((",",), (":",), ('"',), ("``",))
        return NONE if not plain else CLAUSE_VERBS if parse.tags[at] == "VBD" else STATES
    infinitive = parse.child(at, "xcomp")
    to = infinitive is not None and parse.tags[infinitive] == "VB" and parse.lowers[at + 1 : at + 2] == ("to",)
    return NONE if not to else INTENDING if parse.tags[at] == "VBG" else INFINITIVE_VERBS


def _acts(lexicon: Lexicon, parse: Parse, verb: int) -> bool:
    """Whether the subject is somebody: a person, a group, a name of either."""
    subject = parse.child(verb, "nsubj")
    if subject is None or parse.deps[subject] != "nsubj":
        return False
    if parse.pos[subject] == "PRON":
        return parse.lowers[subject] in {*OBJECT_FORMS, "you"}
    if parse.entities[subject]:
        return parse.entities[subject][2:] in ("PER", "ORG")
    return first_file(lexicon, parse, subject) in ACTING


def _takes_no_more(parse: Parse, verb: int) -> bool:
    """Nothing but subject, object, and when or where."""
    for i in parse.children[verb]:
        if parse.deps[i] in PLAIN_BELOW or parse.lowers[i] in PLAIN_ADVERBS:
            continue
        case = parse.child(i, "case")
        timed = parse.entities[i].endswith(("DATE", "TIME"))
        if parse.bases[i] != "obl" or not (timed or (case is not None and parse.lowers[case] in LOOSE)):
            return False
    return True


def _adjectives(lexicon: Lexicon, parse: Parse, at: int) -> frozenset[str]:
    """Adjectives that describe this sort of noun; before an infinitive those that judge it."""
    if parse.tags[at] != "JJ" or parse.lower_lemmas[at] in COUNTING:
        return NONE
    if parse.bases[at] == "amod" and parse.heads[at] > at and not parse.children[at]:
        return ADJECTIVES.get(_sort(lexicon, parse, parse.heads[at]), NONE)
    subject = parse.child(at, "nsubj", "expl")
    if parse.child(at, "cop") is None or subject is None:
        return NONE
    if parse.lowers[at + 1 : at + 2] == ("to",) and parse.tags[at + 2 : at + 3] == ("VB",):
        deed = parse.lowers[subject] == "it"
        return NONE if parse.lower_lemmas[at] in WILLING else EASY if deed else TOUGH
    sort = "" if parse.lowers[subject] == "they" else _sort(lexicon, parse, subject)
    plain = sort in ("person", "artifact") and {parse.bases[i] for i in parse.children[at]} <= PREDICATE
    return ADJECTIVES[sort] if plain else NONE
