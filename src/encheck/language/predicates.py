"""Finite predicates of a parsed text: what a statement denies where a *not* is put, and says where one is taken away.

Relations are those of Universal Dependencies. Refused, with a reason, is what a *not* would leave ungrammatical,
ambiguous or true ("Some are late" and "Some are not late").

A denial is read with all that is said beside it: "We did not have our dinner here. The food was faultless" is
grammatical, and nobody would write it. A parser sees no discourse, so `clash` refuses a predicate wherever another
clause goes on from it, gives its reason, or takes it for granted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from encheck.language.edits.inflection import inflected
from encheck.language.parse import Parse

NOT_FINITE, NO_SUBJECT, QUESTION = "no finite predicate", "no subject before the predicate", "a question"
FINITE = frozenset(["VBZ", "VBP", "VBD"])
SUBJECTS = ("nsubj", "csubj", "expl")
CLAUSES = {
    "conj": "coordinated clause",
    "ccomp": "complement clause",
    "parataxis": "clause beside it",
    "acl": "relative clause",
}
MAIN, RELATIVE = "main clause", CLAUSES["acl"]
NOT = frozenset(["not", "n't", "n’t"])
FULL = {"ca": "can", "wo": "will", "sha": "shall", "'ll": "will", "’ll": "will", "'re": "are", "’re": "are",
        "'m": "am", "’m": "am", "'ve": "have", "’ve": "have"}  # fmt: skip
CLITICS = frozenset("'s ’s 're ’re 'm ’m".split())  # those that *not* follows as they are
MODALS = frozenset("will would can could should must shall".split())
OPERATORS = frozenset("is are was were am has have had do does did".split()) | MODALS
FIRST = "i"
PRONOUNS = frozenset(["who", "which", "that"])
ENDS = frozenset([".", "!", "?", ")", '"', "”", "''"])

NEGATIVE = frozenset(
    """no nobody nothing none neither nor never hardly scarcely barely rarely seldom nowhere no-one noone few without
    little""".split()
)
OPEN = frozenset(  # what is true of some can be untrue of others
    """some many most several half any either neither few more less fewer somebody someone something anybody anyone
    anything enough another one both each""".split()
)
UNIVERSAL = frozenset("all every everyone everybody everything".split())
OUTSIDE = frozenset(  # what stays outside of a negation
    """some someone something somebody somewhere sometimes already also still just only even almost nearly rather
    pretty quite fairly both perhaps maybe probably possibly presumably apparently reportedly allegedly supposedly
    likely unlikely surely certainly definitely indeed actually obviously clearly truly simply merely mainly mostly
    instead yet finally eventually ever bit unfortunately fortunately hopefully frankly basically literally
    though however therefore thus hence anyway otherwise too least mere nor neither
    either""".split()
)
UNSURE = frozenset("perhaps maybe probably possibly presumably apparently only just even not".split())
INSIDE = frozenset(  # what stands inside of a negation alone, or changes with it
    """any anyone anything anybody anywhere ever yet either anymore much many long far until till but because since
    necessarily exactly really even only just merely simply nor neither so such instead rather unless without always
    all every everyone everybody everything both too also quite very particularly especially entirely completely
    fully alone other else though although first again nearly whether if one single again
    immediately""".split()
)
TIED = frozenset("about to going better rather so as that long nt n 't ’t t".split())  # belongs to what is before it
CAUSES = frozenset("because since so unless until lest than but due thanks".split())
CHOICE = frozenset(["or", "nor"])
POLAR = frozenset("help wait stand mind bother care budge hesitate matter seem".split())  # verbs that go with "not"
NO_DENIAL = frozenset(
    """use thank mean guess suppose welcome promise apologize apologise wonder wish hope congratulate bet swear beg
    reckon refuse fail deny doubt lack decline avoid prevent""".split()
)
WISHING = frozenset(["hope", "wish"])
INVERTING = frozenset("so neither nor such".split())  # "and so are they"
SAYING = frozenset(
    """say tell add announce report note write claim state explain ask argue warn reply think believe guess know
    show suggest conclude insist remark comment predict estimate hear quote quip recall continue""".split()
)


@dataclass(frozen=True, slots=True)
class Predicate:
    """A finite predicate: the token it hangs on, its finite token, the subject where the clause has one, a "not".

    `base` is the plain form of a full verb that takes *do* in a denial, and "" where the finite token is an operator.
    """

    parse: Parse
    head: int
    finite: int
    subject: int | None
    negation: int | None
    base: str
    clause: str

    @property
    def operator(self) -> str:
        """The operator in full, in lower case: "will" for "wo" and "'ll"; "" for a full verb, and for "'s"."""
        word = self.parse.lowers[self.finite]
        word = FULL.get(word, word)
        return word if word in OPERATORS and not (self.base and self.negation is None) else ""


def predicates(parse: Parse) -> tuple[Predicate, ...] | str:
    """The predicates that can be denied, or whose negation can be removed, in order; or why there are none."""
    reasons: list[str] = []
    found = []
    for at in range(len(parse)):
        clause = MAIN if parse.heads[at] == at else CLAUSES.get(parse.bases[at])
        if clause is None or parse.pos[at] in ("PUNCT", "SPACE"):
            continue
        one = _predicate(parse, at, clause)
        if isinstance(one, Predicate):
            reason = next((why for why, holds in REFUSALS if holds(one)), None)
            if reason is None:
                found.append(one)
                continue
            one = reason
        reasons.append(one)
    return tuple(found) or next((r for r in reasons if r != NOT_FINITE), NOT_FINITE)


def _predicate(parse: Parse, at: int, clause: str) -> Predicate | str:
    """What the token at `at` predicates, where it is the head of a finite clause with a subject before it."""
    operators = [i for i in parse.children[at] if parse.bases[i] in ("aux", "cop") and i < at]
    finite = operators[0] if operators else at
    if parse.tags[finite] not in FINITE and (not operators or parse.tags[finite] != "MD"):
        return NOT_FINITE
    subject = _subject(parse, at)
    if subject is None or subject > finite:
        return NO_SUBJECT
    if clause == RELATIVE and parse.lowers[subject] not in PRONOUNS:
        return "a relative clause without a pronoun"
    negations = [i for i in parse.children[at] if parse.lowers[i] in NOT]
    if negations and negations != [finite + 1]:
        return "a 'not' that negates something else"
    one = Predicate(parse, at, finite, subject, negations[0] if negations else None, "", clause)
    return _with_verb(one)


def _subject(parse: Parse, at: int) -> int | None:
    """The subject of a clause, its own or that of the clause it is coordinated with."""
    subject = parse.child(at, *SUBJECTS)
    while subject is None and parse.bases[at] == "conj" and parse.heads[at] != at:
        at = parse.heads[at]
        subject = parse.child(at, *SUBJECTS)
    return subject


def _with_verb(one: Predicate) -> Predicate | str:
    """The predicate with the plain form of its verb, where a denial takes *do*; or why it is left alone."""
    parse, at = one.parse, one.head
    if one.finite == at and parse.lower_lemmas[at] != "be":
        return "a full verb with 'not'" if one.negation is not None else replace(one, base=parse.lower_lemmas[at])
    if one.finite == at or parse.lowers[one.finite] not in ("do", "does", "did"):
        return one
    if one.negation is None:
        return "an emphatic 'do'"
    if at != one.negation + 1 or parse.tags[at] != "VB":
        return "words between auxiliary and verb"
    return replace(one, base=parse.lowers[at])


def number_of(one: Predicate) -> str:
    """How the subject agrees: "first" (I), "singular", "plural", or "" where that is in doubt."""
    parse, at = one.parse, one.subject
    if at is None:
        return ""
    word, tag = parse.lowers[at], parse.tags[at]
    if word == FIRST:
        return "first"
    if word in ("we", "they", "you", "these", "those") or tag in ("NNS", "NNPS"):
        return "plural"
    if any(parse.bases[i] == "conj" for i in parse.children[at]):
        return "plural" if any(parse.lowers[j] == "and" for i in parse.children[at] for j in parse.children[i]) else ""
    return "singular" if tag in ("NN", "NNP") or word in ("he", "she", "it", "this") else ""


def _is_question(one: Predicate) -> bool:
    root = one.head
    while one.parse.heads[root] != root:
        root = one.parse.heads[root]
    return any(one.parse.words[i] == "?" for i in one.parse.subtree(root))


def _is_written_large(one: Predicate) -> bool:
    return not one.parse.words[one.finite].islower() or not one.parse.words[one.head][:1].isalnum()


def _has_doubtful_form(one: Predicate) -> bool:
    """A form that the verb has not, or that the subject does not agree with: the tagger may have mistaken it."""
    parse, at = one.parse, one.finite
    if not one.base:
        word = FULL.get(parse.lowers[at], parse.lowers[at])
        doubled = one.head != at and parse.tags[one.head] in FINITE  # "it is works well"
        return doubled or (word not in OPERATORS and word not in ("'s", "’s"))
    if one.negation is not None or one.finite != one.head:
        return False
    tag = parse.tags[at]
    if one.base in ("do", "have"):
        return parse.child(at, "obj", "xcomp") is None or parse.lowers[at] not in OPERATORS
    if inflected(one.base, tag) != parse.lowers[at] or inflected(one.base, "VB") != one.base:
        return True
    if tag == "VBD" and inflected(one.base, "VBN") == parse.lowers[at] and _may_be_participle(one):
        return True
    who = number_of(one)
    return (tag == "VBP" and who not in ("first", "plural")) or (tag == "VBZ" and who in ("first", "plural"))


def _may_be_participle(one: Predicate) -> bool:
    """Where a past form could be a participle: behind "was sold and", or in a headline without an object."""
    parse, at = one.parse, one.head
    if one.clause == CLAUSES["conj"] and parse.child(at, *SUBJECTS) is None:
        return parse.child(parse.heads[at], "aux", "cop") is not None
    return parse.words[-1] not in ENDS and parse.child(at, "obj", "ccomp", "xcomp") is None


def _shares(one: Predicate) -> bool:
    """A second predicate without a subject of its own: the not would be said of both, or of one.

    Two adjectives or nouns behind a form of *be* are one predicate.
    """
    parse = one.parse
    for i in parse.children[one.head]:
        if parse.bases[i] == "conj" and parse.child(i, *SUBJECTS) is None:
            is_part = parse.pos[i] in ("ADJ", "NOUN", "PROPN") and parse.child(i, "aux", "cop") is None
            if not (is_part and parse.lower_lemmas[one.finite] == "be" and parse.pos[one.head] == parse.pos[i]):
                return True
    return False


def _below(one: Predicate) -> Iterator[int]:
    """The tokens of the clause without those of its clauses and of its subject."""
    parse, left = one.parse, [one.head]
    while left:
        here = left.pop()
        yield here
        for i in parse.children[here]:
            if i == one.subject or parse.bases[i] in ("ccomp", "parataxis") or parse.deps[i] == "acl:relcl":
                continue
            if parse.bases[i] in ("conj", "advcl") and parse.child(i, *SUBJECTS) is not None:
                continue
            left.append(i)


def _says(one: Predicate) -> set[str]:
    return {one.parse.lowers[i] for i in _below(one) if i not in (one.head, one.negation)}


def _is_scoped(one: Predicate) -> bool:
    """A word that a not would put elsewhere; what stands before the subject is outside of it anyhow."""
    parse, subject = one.parse, one.subject
    assert subject is not None
    if one.negation is not None:
        return not INSIDE.isdisjoint(_says(one))
    if ("as", "well") in pairwise(parse.lowers):
        return True
    first = parse.subtree(subject)[0]
    behind = {parse.lowers[i] for i in _below(one) if i > first and i != one.head and not _is_degree(parse, i)}
    return not OUTSIDE.isdisjoint(behind) or not UNSURE.isdisjoint(_says(one))


def _is_degree(parse: Parse, at: int) -> bool:
    """ "Too" before an adjective, not "too" for "also"."""
    return parse.lowers[at] == "too" and parse.pos[at + 1 : at + 2] in (("ADJ",), ("ADV",))


def _has_open_subject(one: Predicate) -> bool:
    """A subject of which the statement and its denial can both be true, or that is negative itself."""
    parse, at = one.parse, one.subject
    if at is None or parse.entities[at].endswith(("DATE", "TIME")) or parse.pos[at] == "ADJ":
        return True
    inside = (at, *(i for i in parse.children[at] if i < at or parse.bases[i] in ("det", "advmod", "cc")))
    words = {parse.lowers[i] for i in inside}
    return not words.isdisjoint(OPEN | NEGATIVE | UNIVERSAL | {"only", "even", "just", "or", "not", "what", "such"})


def _is_argued(one: Predicate) -> bool:
    """A cause, a limit, a contrast or another choice that is said with the predicate."""
    parse, below = one.parse, one.parse.children[one.head]
    if any(parse.lowers[i] in CHOICE and parse.bases[i] == "cc" for i in below):
        return True
    more = (i for i in below if parse.bases[i] in ("advcl", "obl", "conj", "advmod"))
    links = (j for i in more for j in parse.children[i] if parse.bases[j] in ("mark", "case", "cc"))
    return any(parse.lowers[j] in CAUSES | CHOICE for j in links)


def _is_fronted(one: Predicate) -> bool:
    """A question word or an adverb between subject and predicate, or what is said before who says it."""
    parse, subject = one.parse, one.subject
    assert subject is not None
    if any(first in INVERTING and then in OPERATORS for first, then in pairwise(parse.lowers)):
        return True
    if parse.lower_lemmas[parse.heads[one.head]] in WISHING:
        return True
    for i in parse.children[one.head]:
        if parse.tags[i] in ("WP", "WRB", "WDT", "WP$") and parse.deps[one.head] != "acl:relcl":
            return True
        if parse.bases[i] in ("ccomp", "parataxis") and i < one.finite:
            return True
        if parse.bases[i] == "mark" and parse.lowers[i] != "that":
            return True
        if subject < i < one.finite and parse.bases[i] in ("advmod", "aux", "discourse"):
            return True
    return parse.bases[one.head] == "acl" and parse.deps[one.head] != "acl:relcl"


def _has_adverb(one: Predicate) -> bool:
    """A word right behind the operator or the not, or before the verb, that a change would part from it."""
    parse, after = one.parse, (one.finite if one.negation is None else one.negation) + 1
    if one.negation is None and parse.text[parse.ends[one.finite] :].lstrip()[:1] in ("'", "’"):  # "can 't"
        return True
    if one.finite == one.head and one.base:
        return one.head > 0 and parse.tags[one.head - 1] in ("RB", "RBR")
    return after < len(parse) and parse.lowers[after] in TIED


def _is_idiom(one: Predicate) -> bool:
    parse, lemma = one.parse, one.parse.lower_lemmas[one.head]
    if one.negation is not None:
        return lemma in POLAR or parse.lowers[one.finite] in ("ai", "need", "dare", "may", "might", "must")
    quoted = lemma in SAYING and parse.lowers[one.head + 1 :][:1] in ((",",), (":",))
    if quoted or lemma in NO_DENIAL or (parse.bases[one.head] == "parataxis" and lemma in SAYING):
        return True
    return one.base == "do" and parse.child(one.head, "obj") is None


def _has_more_operators(one: Predicate) -> bool:
    """A negative word elsewhere in the clause, or a question behind it ("isn't it")."""
    return not NEGATIVE.isdisjoint(_says(one)) or any(
        one.parse.lowers[i] in NOT and i != one.negation for i in _below(one)
    )


REFUSALS: tuple[tuple[str, Callable[[Predicate], bool]], ...] = (
    (QUESTION, _is_question),
    ("a predicate in capital letters", _is_written_large),
    ("an uncertain verb form", _has_doubtful_form),
    ("two predicates share a subject or an auxiliary", _shares),
    ("a subject for which both can be true", _has_open_subject),
    ("a negative word in the clause", _has_more_operators),
    ("a word that only fits outside or only inside a negation", _is_scoped),
    ("a cause or limit belongs to the predicate", _is_argued),
    ("a question word or adverb before the predicate", _is_fronted),
    ("a word modifies the auxiliary or the verb", _has_adverb),
    ("an expression that is not usually negated", _is_idiom),
)


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
