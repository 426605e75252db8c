"""Finite predicates of a parsed text that a *not* can deny, or whose *not* can be removed.

Relations are those of Universal Dependencies. A predicate is refused, with a reason, if a *not* would make the text
ungrammatical or ambiguous, or leave it true ("Some are late" and "Some are not late").

A denial must also fit its context: "We did not have our dinner here. The food was faultless" is grammatical but
unnatural. A parser does not see discourse, so `why_denial_clashes` refuses a predicate if another clause continues it,
gives its reason, or presupposes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from encheck.language.edits.inflection import inflect
from encheck.language.parse import Parse

NOT_FINITE, NO_SUBJECT, QUESTION = "no finite predicate", "no subject before the predicate", "a question"
NO_IDIOM = "an expression that is not usually negated"
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
CLITICS = frozenset("'s ’s 're ’re 'm ’m".split())  # forms that *not* follows without *do*
MODALS = frozenset("will would can could should must shall".split())
OPERATORS = frozenset("is are was were am has have had do does did".split()) | MODALS
FIRST = "i"
PRONOUNS = frozenset(["who", "which", "that"])
ENDS = frozenset([".", "!", "?", ")", '"', "”", "''"])

NEGATIVE = frozenset(
    """no nobody nothing none neither nor never hardly scarcely barely rarely seldom nowhere no-one noone few without
    little""".split()
)
OPEN = frozenset(  # what is true of some can be false of others
    """some many most several half any either neither few more less fewer somebody someone something anybody anyone
    anything enough another one both each certain various numerous dozens hundreds thousands millions lots
    plenty""".split()
)
DEFINITE = frozenset("the this that these those".split())
UNIVERSAL = frozenset("all every everyone everybody everything".split())
OPEN_SUBJECT = OPEN | NEGATIVE | UNIVERSAL | {"only", "even", "just", "or", "not", "what", "such"}
OUTSIDE = frozenset(  # words that stay outside a negation
    """some someone something somebody somewhere sometimes already also still just only even almost nearly rather
    pretty quite fairly both perhaps maybe probably possibly presumably apparently reportedly allegedly supposedly
    likely unlikely surely certainly definitely indeed actually obviously clearly truly simply merely mainly mostly
    instead yet finally eventually ever bit unfortunately fortunately hopefully frankly basically literally
    though however therefore thus hence anyway otherwise too least mere nor neither
    either""".split()
)
UNSURE = frozenset(
    "perhaps maybe probably possibly presumably apparently only just even not some sometimes often".split()
)
INSIDE = frozenset(  # words that occur only inside a negation, or change with it
    """any anyone anything anybody anywhere ever yet either anymore much many long far until till but because since
    necessarily exactly really even only just merely simply nor neither so such instead rather unless without always
    all every everyone everybody everything both too also quite very particularly especially entirely completely
    fully alone other else though although first again nearly whether if one single again
    immediately some sometimes often""".split()
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
    """A finite predicate: its head token, its finite token, the clause's subject if any, and a "not".

    `base` is the plain form of a full verb that takes *do* in a denial, and "" if the finite token is an operator.
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


def find_deniable_predicates(parse: Parse) -> tuple[Predicate, ...] | str:
    """Return the predicates that can be denied or whose negation can be removed, in order, or why there are none."""
    reasons: list[str] = []
    deniable = []
    for at in range(len(parse)):
        clause = MAIN if parse.heads[at] == at else CLAUSES.get(parse.bases[at])
        if clause is None or parse.pos[at] in ("PUNCT", "SPACE"):
            continue
        predicate = _make_predicate(parse, at, clause)
        reason = predicate if isinstance(predicate, str) else _why_not_denied(predicate)
        if reason:
            reasons.append(reason)
        elif isinstance(predicate, Predicate):
            deniable.append(predicate)
    return tuple(deniable) or next((r for r in reasons if r != NOT_FINITE), NOT_FINITE)


def _make_predicate(parse: Parse, at: int, clause: str) -> Predicate | str:
    """Return the predicate with its head at `at`, if that is a finite clause with a subject before it."""
    operators = [i for i in parse.children[at] if parse.bases[i] in ("aux", "cop") and i < at]
    finite = operators[0] if operators else at
    if parse.tags[finite] not in FINITE and (not operators or parse.tags[finite] != "MD"):
        return NOT_FINITE

    owner, subject = at, parse.child(at, *SUBJECTS)
    while subject is None and parse.bases[owner] == "conj" and parse.heads[owner] != owner:
        owner = parse.heads[owner]  # a coordinated clause may share its subject
        subject = parse.child(owner, *SUBJECTS)
    if subject is None or subject > finite:
        return NO_SUBJECT
    if clause == RELATIVE and parse.lowers[subject] not in PRONOUNS:
        return "a relative clause without a pronoun"

    negations = [i for i in parse.children[at] if parse.lowers[i] in NOT]
    if negations and negations != [finite + 1]:
        return "a 'not' that negates something else"
    negation = negations[0] if negations else None

    base = ""
    if finite == at and parse.lower_lemmas[at] != "be":
        if negation is not None:
            return "a full verb with 'not'"
        base = parse.lower_lemmas[at]
    elif finite != at and parse.lowers[finite] in ("do", "does", "did"):
        if negation is None:
            return "an emphatic 'do'"
        if at != negation + 1 or parse.tags[at] != "VB":
            return "words between auxiliary and verb"
        base = parse.lowers[at]
    return Predicate(parse, at, finite, subject, negation, base, clause)


def subject_agreement(predicate: Predicate) -> str:
    """Return the subject's agreement: "first" (I), "singular", "plural", or "" if unclear."""
    parse, at = predicate.parse, predicate.subject
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


def _why_not_denied(predicate: Predicate) -> str:
    """Return why the predicate cannot be denied, or its negation not removed; "" if that is possible."""
    parse, at, finite, negation, subject = (
        predicate.parse,
        predicate.head,
        predicate.finite,
        predicate.negation,
        predicate.subject,
    )
    assert subject is not None
    root = at
    while parse.heads[root] != root:
        root = parse.heads[root]
    if any(parse.words[i] == "?" for i in parse.subtree(root)):
        return QUESTION
    if not parse.words[finite].islower() or not parse.words[at][:1].isalnum():
        return "a predicate in capital letters"
    if _has_doubtful_form(predicate):
        return "an uncertain verb form"
    if _shares_subject(predicate):
        return "two predicates share a subject or an auxiliary"

    # For some subjects, a statement and its denial are both true.
    inside = (
        subject,
        *(i for i in parse.children[subject] if i < subject or parse.bases[i] in ("det", "advmod", "cc")),
    )
    is_time = parse.entities[subject].endswith(("DATE", "TIME"))
    is_definite = any(parse.lowers[i] in DEFINITE or parse.deps[i] == "nmod:poss" for i in inside)
    is_amount = any(parse.tags[i] == "CD" for i in inside) or (
        parse.lowers[subject] in ("couple", "handful", "number") and "of" in parse.lowers[subject + 1 : subject + 2]
    )
    if (
        is_time
        or (is_amount and not is_definite)  # "50% of the users", "three people", not "the three boys"
        or parse.pos[subject] == "ADJ"
        or not OPEN_SUBJECT.isdisjoint(parse.lowers[i] for i in inside)
    ):
        return "a subject for which both can be true"

    clause = list(_tokens_of_clause(predicate))
    words = {parse.lowers[i] for i in clause if i not in (at, negation)}
    if not NEGATIVE.isdisjoint(words) or any(parse.lowers[i] in NOT and i != negation for i in clause):
        return "a negative word in the clause"
    if negation is not None:
        has_scope = not INSIDE.isdisjoint(words)
    else:  # words before the subject are outside a negation; "too" before an adjective is not "also"
        first = parse.subtree(subject)[0]
        behind = {
            parse.lowers[i]
            for i in clause
            if i > first
            and i != at
            and not (parse.lowers[i] == "too" and parse.pos[i + 1 : i + 2] in (("ADJ",), ("ADV",)))
        }
        is_linked = ("as", "well") in pairwise(parse.lowers)
        has_scope = is_linked or not OUTSIDE.isdisjoint(behind) or not UNSURE.isdisjoint(words)
    if has_scope:
        return "a word that only fits outside or only inside a negation"

    below = parse.children[at]
    more = (i for i in below if parse.bases[i] in ("advcl", "obl", "conj", "advmod"))
    links = (j for i in more for j in parse.children[i] if parse.bases[j] in ("mark", "case", "cc"))
    has_choice = any(parse.lowers[i] in CHOICE and parse.bases[i] == "cc" for i in below)
    if has_choice or any(parse.lowers[j] in CAUSES | CHOICE for j in links):
        return "a cause or limit belongs to the predicate"
    if _is_fronted(predicate):
        return "a question word or adverb before the predicate"

    # A change would separate a word from its operator, not or verb.
    after = (finite if negation is None else negation) + 1
    if negation is None and parse.text[parse.ends[finite] :].lstrip()[:1] in ("'", "’"):  # "can 't"
        is_modified = True
    elif finite == at and predicate.base:
        is_modified = at > 0 and parse.tags[at - 1] in ("RB", "RBR")
    else:
        is_modified = after < len(parse) and parse.lowers[after] in TIED
    if is_modified:
        return "a word modifies the auxiliary or the verb"

    lemma = parse.lower_lemmas[at]
    if negation is not None:
        is_idiom = lemma in POLAR or parse.lowers[finite] in ("ai", "need", "dare", "may", "might", "must")
    else:
        is_quoting = lemma in SAYING and parse.lowers[at + 1 :][:1] in ((",",), (":",))
        is_idiom = (
            is_quoting
            or lemma in NO_DENIAL
            or (parse.bases[at] == "parataxis" and lemma in SAYING)
            or (predicate.base == "do" and parse.child(at, "obj") is None)
        )
    return NO_IDIOM if is_idiom else ""


def _has_doubtful_form(predicate: Predicate) -> bool:
    """Return whether this is probably a tagging error: the verb lacks the form, or the subject does not agree
    with it.
    """
    parse, at = predicate.parse, predicate.finite
    if not predicate.base:
        word = FULL.get(parse.lowers[at], parse.lowers[at])
        doubled = predicate.head != at and parse.tags[predicate.head] in FINITE  # "it is works well"
        return doubled or (word not in OPERATORS and word not in ("'s", "’s"))
    if predicate.negation is not None or predicate.finite != predicate.head:
        return False
    tag = parse.tags[at]
    if predicate.base in ("do", "have"):
        return parse.child(at, "obj", "xcomp") is None or parse.lowers[at] not in OPERATORS
    if inflect(predicate.base, tag) != parse.lowers[at] or inflect(predicate.base, "VB") != predicate.base:
        return True
    if tag == "VBD" and inflect(predicate.base, "VBN") == parse.lowers[at]:
        # A past form can be a participle after "was sold and", or in a headline without an object.
        if predicate.clause == CLAUSES["conj"] and parse.child(at, *SUBJECTS) is None:
            may_be_participle = parse.child(parse.heads[at], "aux", "cop") is not None
        else:
            may_be_participle = parse.words[-1] not in ENDS and parse.child(at, "obj", "ccomp", "xcomp") is None
        if may_be_participle:
            return True
    who = subject_agreement(predicate)
    return (tag == "VBP" and who not in ("first", "plural")) or (tag == "VBZ" and who in ("first", "plural"))


def _shares_subject(predicate: Predicate) -> bool:
    """Return whether a second predicate shares the subject, so the scope of a not would be unclear.

    Two adjectives or nouns after a form of *be* are one predicate.
    """
    parse = predicate.parse
    for i in parse.children[predicate.head]:
        if parse.bases[i] == "conj" and parse.child(i, *SUBJECTS) is None:
            is_part = parse.pos[i] in ("ADJ", "NOUN", "PROPN") and parse.child(i, "aux", "cop") is None
            if not (
                is_part and parse.lower_lemmas[predicate.finite] == "be" and parse.pos[predicate.head] == parse.pos[i]
            ):
                return True
    return False


def _tokens_of_clause(predicate: Predicate) -> Iterator[int]:
    """Yield the tokens of the clause, without its subject and subordinate clauses."""
    parse, left = predicate.parse, [predicate.head]
    while left:
        here = left.pop()
        yield here
        for i in parse.children[here]:
            if i == predicate.subject or parse.bases[i] in ("ccomp", "parataxis") or parse.deps[i] == "acl:relcl":
                continue
            if parse.bases[i] in ("conj", "advcl") and parse.child(i, *SUBJECTS) is not None:
                continue
            left.append(i)


def _is_fronted(predicate: Predicate) -> bool:
    """Return whether a question word or an adverb is between subject and predicate, or quoted words precede the
    speaker.
    """
    parse, subject = predicate.parse, predicate.subject
    assert subject is not None
    if any(first in INVERTING and then in OPERATORS for first, then in pairwise(parse.lowers)):
        return True
    if parse.lower_lemmas[parse.heads[predicate.head]] in WISHING:
        return True
    for i in parse.children[predicate.head]:
        if parse.tags[i] in ("WP", "WRB", "WDT", "WP$") and parse.deps[predicate.head] != "acl:relcl":
            return True
        if parse.bases[i] in ("ccomp", "parataxis") and i < predicate.finite:
            return True
        if parse.bases[i] == "mark" and parse.lowers[i] != "that":
            return True
        if subject < i < predicate.finite and parse.bases[i] in ("advmod", "aux", "discourse"):
            return True
    return parse.bases[predicate.head] == "acl" and parse.deps[predicate.head] != "acl:relcl"


ENDING = frozenset([".", "!", "?", "..", "...", "…", ";"])
DASHES = frozenset([":", "--", "–", "—", "-"])
LINKS = frozenset(  # words that link a statement to another one, or presuppose it
    """but yet though although however nevertheless nonetheless still because since as so therefore thus hence thereby
    despite notwithstanding except excluding besides apart regardless unless until till while whereas whilst instead
    rather otherwise again then afterwards meanwhile even too also only just thanks due owing already anyway plus
    unlike yes no sure hopefully unfortunately fortunately sadly luckily thankfully happily surprisingly""".split()
)
HOLDING = frozenset(  # verbs of saying, thinking or showing also fit the denial
    """say tell add announce report note write claim state explain argue warn think believe know show suggest conclude
    insist remark comment predict estimate hear find indicate mean confirm declare reveal feel agree hold concede
    admit acknowledge assume learn""".split()
)
LASTING = frozenset(  # verbs that presuppose the state that begins, continues or ends
    """remain keep continue stay manage try wait happen occur stop cease finish end return turn prove""".split()
)
STRETCHED = re.compile(r"([a-z])\1\1|[:;]-?[)D(]|<3", re.IGNORECASE)
TURNS = re.compile(r"\bat (?:best|worst|last)\b|\b(?:up|down)-?side\b|other hand|contrary|^here\b", re.IGNORECASE)
FIGURES = re.compile(r", (?:up|down|or|compared|versus) \S*\d|^(?:up|as many) ", re.IGNORECASE)
NEGATIVE_FORM = re.compile(
    r"un(?!i|der|cle|til)\w{3,}|\w{3,}less|impossible|incorrect|inaccurate|wrong|false|bad|worse|worst"
)
DENYING = NOT | frozenset("no never nothing nobody none nor neither hardly nowhere".split())
RULES = frozenset(["shall", "must"])  # the reverse of a rule is odd, and "must not" forbids
DUTIES = frozenset("should must would may might".split())
UNREAL = frozenset("would could should might 'd ’d".split())
FIRST_PERSON = frozenset("i we".split())
SENTENCES = "other sentences belong with the statement"
CLAUSE = "another clause belongs with the statement"
LINK = "a word ties the statement to another one"


def why_denial_clashes(predicate: Predicate) -> str:
    """Return why the rest of the text does not fit the denied predicate (or the predicate without its
    negation), or "".
    """
    parse, at, subject = predicate.parse, predicate.head, predicate.subject
    if has_several_statements(parse):
        return SENTENCES
    if _is_linked_to_clause(predicate):
        return CLAUSE
    # An addition after a comma: ", killing four", ", concerned that", ", up 16 cents".
    behind = (i for i in range(at + 1, len(parse)) if parse.words[i - 1] == ",")
    has_result = any(parse.tags[i] == "VBG" for i in behind) or FIGURES.search(parse.text)
    if has_result or any(
        i > at and _is_nonrestrictive(parse, i) and (parse.bases[i] == "advcl" or parse.tags[i] in ("VBG", "VBN", "JJ"))
        for i in parse.children[at]
    ):
        return CLAUSE
    # After a question word before the subject, or with a clause as subject, the parser may be wrong.
    before = range(subject if subject is not None else at)
    is_clausal = subject is not None and parse.bases[subject] == "csubj"
    if is_clausal or any(parse.tags[i] in ("WRB", "WP", "WDT") for i in before):
        return CLAUSE

    for i, word in enumerate(parse.lowers):
        is_preposition = word in ("as", "such", "like", "due", "since") and parse.bases[i] == "case"
        if word in LINKS and parse.pos[i] not in ("VERB", "NOUN", "PROPN", "ADJ") and not is_preposition:
            return LINK
    if any(word in DENYING for i, word in enumerate(parse.lowers) if i != predicate.negation) or TURNS.search(
        parse.text
    ):
        return LINK

    if _resists_denial(predicate):
        return NO_IDIOM
    if "UH" in parse.tags or STRETCHED.search(parse.text):  # "soooo", ":)", "oh"
        return "feelings that are not usually negated"
    # The denial of a writer's own action is unnatural.
    is_own = subject is not None and parse.lowers[subject] in FIRST_PERSON and predicate.negation is None
    if is_own and (parse.tags[predicate.finite] == "VBD" or predicate.operator in ("have", "had")):
        return "what a writer says about themselves"
    if predicate.negation is not None and (predicate.operator in DUTIES or not INSIDE.isdisjoint(parse.lowers)):
        return "a word that only fits a negation"
    return ""


def has_several_statements(parse: Parse) -> bool:
    """Return whether a text has more than one sentence."""
    roots = sum(head == i and parse.pos[i] not in ("PUNCT", "SPACE", "SYM") for i, head in enumerate(parse.heads))
    last = max((i for i, word in enumerate(parse.words) if word[0].isalnum()), default=-1)
    ended = any(parse.words[i] in ENDING for i in range(last))
    # A colon or a dash, followed by a blank.
    return (
        roots > 1
        or ended
        or any(parse.words[i] in DASHES and parse.starts[i + 1] > parse.ends[i] for i in range(1, last - 1))
    )


def _is_linked_to_clause(predicate: Predicate) -> bool:
    """Return whether another clause continues or precedes this one, or embeds it in more than a verb of saying."""
    parse, at = predicate.parse, predicate.head
    if predicate.clause == MAIN:
        link = parse.child(at, "cc")
        is_tied = link is not None and 0 < link < at
    else:
        above = parse.heads[at]
        is_tied = (
            parse.heads[above] != above
            or any(parse.lowers[i] in NOT for i in parse.children[above])
            or predicate.clause != CLAUSES["ccomp"]
            or parse.lower_lemmas[above] not in HOLDING
            or parse.child(above, *SUBJECTS) is None
        )
    if is_tied:
        return True
    own = {at, *_ancestors(parse, at), *(parse.subtree(predicate.subject) if predicate.subject is not None else ())}
    finite = (i for i, tag in enumerate(parse.tags) if tag in FINITE or tag == "MD")
    heads = (parse.heads[i] if parse.bases[i] in ("aux", "cop") else i for i in finite)
    return any(not _is_part_of_statement(predicate, head) for head in heads if head not in own)


def _ancestors(parse: Parse, at: int) -> Iterator[int]:
    while parse.heads[at] != at:
        at = parse.heads[at]
        yield at


def _is_part_of_statement(predicate: Predicate, head: int) -> bool:
    """Return whether a clause is part of the denied statement, or its condition."""
    parse, relation = predicate.parse, predicate.parse.deps[head]
    if relation == "acl:relcl":
        return not _is_nonrestrictive(parse, head) and predicate.head in _ancestors(parse, head)
    if relation in ("ccomp", "acl", "xcomp"):
        return predicate.head in _ancestors(parse, head)
    if relation == "parataxis" and parse.lower_lemmas[head] in HOLDING:
        return FIRST_PERSON.isdisjoint(parse.lowers[i] for i in parse.children[head])
    marks = {parse.lowers[i] for i in parse.children[head] if parse.bases[i] == "mark"}
    return relation == "advcl" and marks == {"if"} and UNREAL.isdisjoint(parse.lowers)


def _is_nonrestrictive(parse: Parse, head: int) -> bool:
    """Return whether a relative clause follows a comma or a dash, so it adds a statement and is not restrictive."""
    first = parse.subtree(head)[0]
    return any(parse.pos[i] == "PUNCT" for i in (first, first - 1) if i >= 0)


def _resists_denial(predicate: Predicate) -> bool:
    parse, at = predicate.parse, predicate.head
    if parse.lower_lemmas[at] in LASTING or parse.pos[at] in ("NUM", "AUX") or predicate.operator in RULES:
        return True
    if parse.pos[at] in ("ADJ", "NOUN", "VERB") and NEGATIVE_FORM.fullmatch(parse.lowers[at]):
        return True
    if parse.lower_lemmas[at] in HOLDING and predicate.finite == at:  # "study finds"
        return parse.child(at, "obj", "ccomp", "xcomp") is None
    return predicate.finite != at and any(parse.bases[i] == "nummod" for i in parse.children[at])
