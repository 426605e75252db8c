"""Words around a predicate that do not fit its negation, or its negation removed.

A denial is read with all that is said beside it: "We did not have our dinner here. The food was faultless" is
grammatical, and nobody would write it. A parser sees no discourse, so a predicate is left alone wherever another clause
goes on from it, gives its reason, or takes it for granted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from encheck.language.parse import Parse
from encheck.language.predicates import CLAUSES, FINITE, INSIDE, MAIN, NOT, SUBJECTS, Predicate

ENDING = frozenset([".", "!", "?", "..", "...", "…", ";"])
DASHES = frozenset([":", "--", "–", "—", "-"])
LINKS = frozenset(  # what ties a statement to another one, or takes it for granted
    """but yet though although however nevertheless nonetheless still because since as so therefore thus hence thereby
    despite notwithstanding except excluding besides apart regardless unless until till while whereas whilst instead
    rather otherwise again then afterwards meanwhile even too also only just thanks due owing already anyway plus
    unlike yes no sure hopefully unfortunately fortunately sadly luckily thankfully happily surprisingly""".split()
)
HOLDING = frozenset(  # who says, thinks or shows something may as well say that it is not so
    """say tell add announce report note write claim state explain argue warn think believe know show suggest conclude
    insist remark comment predict estimate hear find indicate mean confirm declare reveal feel agree hold concede
    admit acknowledge assume learn""".split()
)
LASTING = frozenset(  # what is begun, kept up or left off is taken for granted
    """remain keep continue stay manage try wait happen occur stop cease finish end return turn prove""".split()
)
STRETCHED = re.compile(r"([a-z])\1\1|[:;]-?[)D(]|<3", re.IGNORECASE)
TURNS = re.compile(r"\bat (?:best|worst|last)\b|\b(?:up|down)-?side\b|other hand|contrary|^here\b", re.IGNORECASE)
FIGURES = re.compile(r", (?:up|down|or|compared|versus) \S*\d|^(?:up|as many) ", re.IGNORECASE)
NEGATIVE_FORM = re.compile(
    r"un(?!i|der|cle|til)\w{3,}|\w{3,}less|impossible|incorrect|inaccurate|wrong|false|bad|worse|worst"
)
DENYING = NOT | frozenset("no never nothing nobody none nor neither hardly nowhere".split())
RULES = frozenset(["shall", "must"])  # a rule turned round is odd, and "must not" forbids
DUTIES = frozenset("should must would may might".split())
UNREAL = frozenset("would could should might 'd ’d".split())
FIRST_PERSON = frozenset("i we".split())
SENTENCES = "other sentences belong with the statement"
CLAUSE = "another clause belongs with the statement"
LINK = "a word ties the statement to another one"


def clash(one: Predicate) -> str:
    """Why the text would not go with the denial of a predicate, or without it; "" where nothing speaks against it."""
    return next((reason for reason, holds in CLASHES if holds(one)), "")


def has_more_sentences(parse: Parse) -> bool:
    """Whether a text is more than one sentence."""
    roots = sum(head == i and parse.pos[i] not in ("PUNCT", "SPACE", "SYM") for i, head in enumerate(parse.heads))
    last = max((i for i, word in enumerate(parse.words) if word[0].isalnum()), default=-1)
    ended = any(parse.words[i] in ENDING for i in range(last))
    return roots > 1 or ended or any(_is_dash(parse, i) for i in range(1, last - 1))


def _is_dash(parse: Parse, at: int) -> bool:
    """A colon or a dash, with a blank behind it."""
    return parse.words[at] in DASHES and parse.starts[at + 1] > parse.ends[at]


def _ties(one: Predicate) -> bool:
    """A word or a phrase that links, anywhere, or another denial."""
    parse = one.parse
    for i, word in enumerate(parse.lowers):
        if word in LINKS and parse.pos[i] not in ("VERB", "NOUN", "PROPN", "ADJ") and not _is_plain_as(parse, i):
            return True
    denied = any(word in DENYING for i, word in enumerate(parse.lowers) if i != one.negation)
    return denied or TURNS.search(parse.text) is not None


def _is_plain_as(parse: Parse, at: int) -> bool:
    return parse.lowers[at] in ("as", "such", "like", "due", "since") and parse.bases[at] == "case"


def _hangs_elsewhere(one: Predicate) -> bool:
    """A clause of which more is said than that somebody says it, or that goes on from another one."""
    parse, at = one.parse, one.head
    above = parse.heads[at]
    if one.clause == MAIN:
        return 0 < _link(parse, at) < at
    if parse.heads[above] != above or any(parse.lowers[i] in NOT for i in parse.children[above]):
        return True
    if one.clause == CLAUSES["ccomp"]:
        return parse.lower_lemmas[above] not in HOLDING or parse.child(above, *SUBJECTS) is None
    return True


def _link(parse: Parse, at: int) -> int:
    """The conjunction before a clause; -1 where there is none."""
    found = parse.child(at, "cc")
    return -1 if found is None else found


def _has_clause_beside(one: Predicate) -> bool:
    parse = one.parse
    around = {one.head, *_above(parse, one.head)}
    subject = set(parse.subtree(one.subject)) if one.subject is not None else set()
    return any(
        not _goes_with(one, head) for head in _finite_clauses(parse) if head not in around and head not in subject
    )


def _above(parse: Parse, at: int) -> Iterator[int]:
    while parse.heads[at] != at:
        at = parse.heads[at]
        yield at


def _finite_clauses(parse: Parse) -> Iterator[int]:
    """The heads of the finite clauses of a text."""
    for i, tag in enumerate(parse.tags):
        if tag in FINITE or tag == "MD":
            yield parse.heads[i] if parse.bases[i] in ("aux", "cop") else i


def _goes_with(one: Predicate, head: int) -> bool:
    """Whether a clause is part of what is denied, or says on which condition it holds."""
    parse, relation = one.parse, one.parse.deps[head]
    if relation == "acl:relcl":
        return not _is_added(parse, head) and one.head in _above(parse, head)
    if relation in ("ccomp", "acl", "xcomp"):
        return one.head in _above(parse, head)
    if relation == "parataxis" and parse.lower_lemmas[head] in HOLDING:
        return FIRST_PERSON.isdisjoint(parse.lowers[i] for i in parse.children[head])
    marks = {parse.lowers[i] for i in parse.children[head] if parse.bases[i] == "mark"}
    return relation == "advcl" and marks == {"if"} and UNREAL.isdisjoint(parse.lowers)


def _is_added(parse: Parse, head: int) -> bool:
    """Whether a relative clause stands behind a comma or a dash: it adds a statement, and does not say which one."""
    first = parse.subtree(head)[0]
    return any(parse.pos[i] == "PUNCT" for i in (first, first - 1) if i >= 0)


def _has_result(one: Predicate) -> bool:
    """What is said behind a comma of what happens or is so: ", killing four", ", concerned that", ", up 16 cents"."""
    parse, at = one.parse, one.head
    behind = (i for i in range(at + 1, len(parse)) if parse.words[i - 1] == ",")
    if any(parse.tags[i] == "VBG" for i in behind) or FIGURES.search(parse.text):
        return True
    return any(
        i > at and _is_added(parse, i) and (parse.bases[i] == "advcl" or parse.tags[i] in ("VBG", "VBN", "JJ"))
        for i in parse.children[at]
    )


def _is_condition_of_itself(one: Predicate) -> bool:
    """A main clause with a question word before its subject, or a clause for one: the parser may be mistaken."""
    before = range(one.subject if one.subject is not None else one.head)
    if one.subject is not None and one.parse.bases[one.subject] == "csubj":
        return True
    return any(one.parse.tags[i] in ("WRB", "WP", "WDT") for i in before)


def _is_lasting(one: Predicate) -> bool:
    parse, at = one.parse, one.head
    if parse.lower_lemmas[at] in LASTING or parse.pos[at] in ("NUM", "AUX") or one.operator in RULES:
        return True
    if parse.pos[at] in ("ADJ", "NOUN", "VERB") and NEGATIVE_FORM.fullmatch(parse.lowers[at]):
        return True
    if parse.lower_lemmas[at] in HOLDING and one.finite == at:  # "study finds"
        return parse.child(at, "obj", "ccomp", "xcomp") is None
    return one.finite != at and any(parse.bases[i] == "nummod" for i in parse.children[at])


def _is_felt(one: Predicate) -> bool:
    """What is shouted or smiled: "soooo", ":)", "oh"."""
    return "UH" in one.parse.tags or STRETCHED.search(one.parse.text) is not None


def _is_told(one: Predicate) -> bool:
    """What writers say that they did: that they did not is another story."""
    parse = one.parse
    if one.subject is None or parse.lowers[one.subject] not in FIRST_PERSON or one.negation is not None:
        return False
    return parse.tags[one.finite] == "VBD" or one.operator in ("have", "had")


def _holds_inside(one: Predicate) -> bool:
    """Of a denial taken back: a duty, and words that stand in denials alone."""
    if one.negation is None:
        return False
    words = set(one.parse.lowers)
    return one.operator in DUTIES or not INSIDE.isdisjoint(words)


CLASHES: tuple[tuple[str, Callable[[Predicate], bool]], ...] = (
    (SENTENCES, lambda one: has_more_sentences(one.parse)),
    (CLAUSE, _hangs_elsewhere),
    (CLAUSE, _has_clause_beside),
    (CLAUSE, _has_result),
    (CLAUSE, _is_condition_of_itself),
    (LINK, _ties),
    ("an expression that is not usually negated", _is_lasting),
    ("feelings that are not usually negated", _is_felt),
    ("what a writer says about themselves", _is_told),
    ("a word that only fits a negation", _holds_inside),
)
