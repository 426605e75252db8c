"""Make the passive of a plain active clause: "The court rejected the appeal" > "The appeal was rejected by the court".

A clause is refused if its passive would be ambiguous or unnatural.
"""

from __future__ import annotations

from dataclasses import dataclass

from encheck.generators.phrases import (
    FOCUS,
    NEGATIVE,
    OBJECT_FORMS,
    RECIPROCAL,
    SUBJECT_FORMS,
    Move,
    Span,
    capitalise_first_letter,
    contiguous_span,
    has_no_determiner,
    is_movable_time,
    is_noun_phrase,
    may_possessive_refer_to,
    noun_category,
    quantifier_order_matters,
    span_text,
    statement_root,
    text_inside_sentence,
)
from encheck.language.edits.inflection import inflect
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.types import Edit

# Verbs without a passive, with a passive of a different meaning, or of states without an agent.
NO_PASSIVE = frozenset(
    """abandon accompany adjoin await become befit begin believe belong border comprise concern contain cost date
    deserve do doubt elude enjoy enter equal escape exceed face fail feature feel fight fit follow get go hang hate
    have hear hold hug include intend interest involve join keep kiss know lack last leave let like look lose love
    marry match mean meet merit mind miss need number outlast outnumber outweigh own parallel possess precede prefer
    quit reach realise realize recall receive remain remember require resemble rise run say see seem shape share
    show span stand start stay
    suit survive take tell think total trail trend undergo understand value walk want weigh wish""".split()
)
LIGHT_VERBS = frozenset("bear break cast catch draw gain give lay make open pay play put raise set show".split())
# Verbs with an "of" complement: "cleared him of guilt".
VERBS_WITH_OF = frozenset(
    """absolve accuse acquit advise assure cheat clear convict convince cure deprive divest drain empty free inform
    notify persuade purge relieve remind rid rob strip suspect warn""".split()
)
MODALS = frozenset("will would can could may might must should shall".split())
MOVABLE_ADVERBS = frozenset(
    """again already briefly completely eventually finally formally immediately initially later now officially
    originally previously quickly rapidly recently severely slowly soon suddenly then today tonight twice
    yesterday""".split()
)
OPENERS = MOVABLE_ADVERBS | frozenset("however meanwhile afterwards nevertheless still".split())
TEMPORAL = frozenset("after before during since until despite throughout".split())
WHERE = frozenset(["in", "at"])
CLAUSES = frozenset("after although as because before since though until when while".split())
# Lexicographer's files: noun.artifact and location; noun.food, plant and substance.
PLACES, MASSES = frozenset({6, 15}), frozenset({13, 20, 27})
MARKS = frozenset('"“”‘`()[]{}\u2013\u2014;:?!/*…')  # \u2013 and \u2014 are dashes
MEASURES = frozenset("DATE TIME MONEY PERCENT QUANTITY CARDINAL ORDINAL".split())
LONGEST_SUBJECT, LONGEST_OBJECT, LONGEST_BEFORE_MORE, LONGEST_PHRASE = 8, 10, 5, 6  # tokens


@dataclass(frozen=True, slots=True)
class ActiveClause:
    """A main clause with subject, verb and object, in this order. `aux` is its only auxiliary, or None."""

    parse: Parse
    english: English
    verb: int
    subject: int
    thing: int
    aux: int | None
    doer: Span  # the whole subject
    done: Span  # the whole object

    @property
    def other_dependents(self) -> list[int]:
        """The other dependents of the verb."""
        core = {self.subject, self.thing, self.aux}
        return [i for i in self.parse.children[self.verb] if i not in core]


def find_active_clause(parse: Parse, english: English) -> ActiveClause | None:
    """Return the main clause if it is in the active and has an object, or None."""
    root = statement_root(parse)
    if root is None or parse.pos[root] != "VERB":
        return None
    subject, thing = parse.child(root, "nsubj"), parse.child(root, "obj")
    if subject is None or thing is None or parse.deps[subject] != "nsubj" or not subject < root < thing:
        return None
    doer, done = contiguous_span(parse, subject), contiguous_span(parse, thing)
    if doer is None or done is None:
        return None
    return ActiveClause(parse, english, root, subject, thing, parse.child(root, "aux"), doer, done)


def _why_no_passive(clause: ActiveClause) -> str:
    """Return in a few words why this clause has no passive, or "" if it has one."""
    parse, verb, aux = clause.parse, clause.verb, clause.aux
    text, lemma = parse.text, parse.lemmas[verb].lower()
    is_inserted = any(mark in f" {text}" for mark in (" '", " -", "- ", "--"))
    if is_inserted or not text[:1].isalnum() or text.isupper() or not MARKS.isdisjoint(text):
        return "no plain statement"
    if not NEGATIVE.isdisjoint(parse.lowers):
        return "negated"
    if not FOCUS.isdisjoint(parse.lowers):
        return "a word that stresses another"
    if lemma in NO_PASSIVE:
        return "a verb that has no passive"
    if _has_unclear_verb_form(clause):
        return "an uncertain verb form"

    rest = ((0, clause.doer[0]), (clause.done[1], len(parse)))
    if (
        any(word.endswith(("self", "selves")) for word in parse.lowers)
        or may_possessive_refer_to(parse, clause.doer, clause.thing)
        or any(may_possessive_refer_to(parse, span, clause.subject) for span in (clause.done, *rest))
    ):
        return "one side refers to the other"
    if not RECIPROCAL.isdisjoint(parse.lowers):
        return "each side refers to the other"

    # Besides its arguments the verb may have a time, a connective at the front, and a separate clause.
    said_with = [i for i in clause.other_dependents if parse.bases[i] in ("obl", "advmod")]
    if not all(
        i in said_with or _is_connective_or_punctuation(clause, i) or _is_separate_clause(clause, i)
        for i in clause.other_dependents
    ):
        return "a clause or another complement of the verb"
    if not all(_modifies_only_verb(clause, i) for i in said_with):
        return "a phrase that could attach to the agent"

    between = [i for i in range(clause.doer[1], verb) if i != aux]
    is_parted = aux is not None and (aux < clause.doer[0] or any(i < aux for i in between))
    if is_parted or len(between) > 1 or any(parse.heads[i] != verb for i in between) or clause.done[0] != verb + 1:
        return "words between verb and object"
    if reason := _why_sides_cannot_be_exchanged(clause):
        return reason
    if quantifier_order_matters(parse, clause.doer, clause.done):
        return "quantifiers whose order matters"

    # General statements are about a kind: "Beavers build dams" is not "Dams are built by beavers".
    is_noun = parse.pos[clause.thing] == "NOUN"
    if parse.tags[verb] not in ("VBD", "VBN", "VBG") and is_noun and has_no_determiner(parse, clause.done):
        return "a statement about a kind"
    # Known information goes first: "I wrote a letter" is hardly "A letter was written by me".
    articles = {parse.lowers[i] for i in parse.children[clause.thing] if parse.bases[i] == "det"}
    is_new = is_noun and articles <= {"a", "an", "some"} and parse.child(clause.thing, "nmod:poss", "nmod") is None
    if parse.pos[clause.subject] == "PRON" and is_new:
        return "a pronoun that does something to what is new"

    has_more = any(i > clause.thing for i in clause.other_dependents if parse.bases[i] != "punct")
    longest = LONGEST_BEFORE_MORE if has_more else LONGEST_SUBJECT
    is_long = clause.doer[1] - clause.doer[0] > longest or clause.done[1] - clause.done[0] > LONGEST_OBJECT
    return "too long" if is_long else ""


def _why_sides_cannot_be_exchanged(clause: ActiveClause) -> str:
    """Return why subject and object cannot change places unchanged, or "" if they can."""
    parse, subject, thing, lemma = clause.parse, clause.subject, clause.thing, clause.parse.lemmas[clause.verb].lower()
    if parse.tags[subject] == "PRP":
        is_plain = parse.lowers[subject] in OBJECT_FORMS and clause.doer == (subject, subject + 1)
    else:
        is_phrase = is_noun_phrase(parse, subject, clause.doer, of=frozenset("of in at from for".split()))
        is_plain = is_phrase and not parse.entities[subject].endswith(("DATE", "TIME"))
    if not is_plain:
        return "a subject that is not a plain noun phrase"

    if parse.pos[thing] in ("NUM", "SYM") or parse.entities[thing].partition("-")[2] in MEASURES:
        return "an object that is an amount"
    if parse.tags[thing] == "PRP":
        is_plain = parse.lowers[thing] in SUBJECT_FORMS and clause.done == (thing, thing + 1)
    else:
        tags = [parse.tags[i] for i in range(*clause.done) if parse.heads[i] == thing]
        misplaced = tags[:1] == ["JJ"] and not {"DT", "CD", "PRP$"}.isdisjoint(tags)  # "shot dead three men"
        links = {"about", "against"} | (set() if lemma in VERBS_WITH_OF else {"of"})
        is_plain = not misplaced and is_noun_phrase(parse, thing, clause.done, of=frozenset(links))
    if not is_plain:
        return "an object that is not a plain noun phrase"

    # "Take place" is one expression; in "make sense" the noun carries the meaning of the verb.
    lexicon = clause.english.lexicon
    is_known = any(lexicon.senses(f"{lemma}_{noun}", "v") for noun in (parse.lowers[thing], parse.lemmas[thing]))
    if is_known or (lemma in LIGHT_VERBS and has_no_determiner(parse, clause.done)):
        return "verb and object are one expression"
    # Without article, a singular noun other than food, plant or substance is in a headline, or an action.
    for head in (subject, thing):
        is_owned = any(parse.deps[i] == "nmod:poss" for i in parse.children[head])
        bare = parse.tags[head] == "NN" and parse.child(head, "det", "nummod", "conj") is None and not is_owned
        if bare and noun_category(lexicon, parse, head) not in MASSES:
            return "a noun without its article"
    return ""


def _has_unclear_verb_form(clause: ActiveClause) -> bool:
    """Return whether the verb has no clear finite form, a doubtful lemma, or no participle."""
    parse, verb, aux, subject = clause.parse, clause.verb, clause.aux, clause.subject
    word, tag, lemma = parse.lowers[verb], parse.tags[verb], parse.lemmas[verb].lower()
    if not parse.words[verb].islower() or inflect(lemma, tag) != word or inflect(lemma, "VBN") is None:
        return True
    if aux is None:
        is_noun = parse.tags[subject] in ("NN", "NNP") and parse.child(subject, "conj") is None
        is_past = tag == "VBD" and (parse.lowers[subject] in ("he", "she") or is_noun)  # "she put"
        same = tag in ("VBD", "VBP") and inflect(lemma, "VBD") == lemma and not is_past
        return tag not in ("VBD", "VBZ", "VBP") or same
    modal = parse.lowers[aux] in MODALS and tag == "VB"
    perfect = parse.lowers[aux] in ("has", "have", "had") and tag == "VBN"
    ongoing = parse.lowers[aux] in ("is", "are", "was", "were") and tag == "VBG"
    return not (modal or perfect or ongoing)


def _is_connective_or_punctuation(clause: ActiveClause, at: int) -> bool:
    """Return whether this is a connective or comma at the front, a comma before a separate clause, or the full stop."""
    parse = clause.parse
    if parse.bases[at] == "cc":
        return at == 0 and parse.lowers[at] in ("and", "but")
    ends = at >= clause.done[1] and parse.words[at] == "."
    own = any(at + 1 == parse.subtree(i)[0] for i in clause.other_dependents if _is_separate_clause(clause, i))
    return parse.bases[at] == "punct" and (ends or (parse.words[at] == "," and (at == clause.doer[0] - 1 or own)))


def _is_separate_clause(clause: ActiveClause, at: int) -> bool:
    """Return whether this is a finite clause after the object, with a conjunction, a subject, and no pronouns.

    A pronoun could refer to the subject or the object of the main clause.
    """
    parse, mark, span = clause.parse, clause.parse.child(at, "mark"), contiguous_span(clause.parse, at)
    subject = parse.child(at, "nsubj")
    if parse.bases[at] != "advcl" or mark is None or subject is None or span is None or at < clause.done[1]:
        return False
    finite = any(parse.tags[i] in ("VBD", "VBZ", "VBP", "MD") for i in (at, *parse.children[at]))
    pronouns = any(parse.tags[i] in ("PRP", "PRP$") for i in range(*span))
    return finite and not pronouns and parse.lowers[mark] in CLAUSES and mark in (span[0], span[0] + 1)


def _modifies_only_verb(clause: ActiveClause, at: int) -> bool:
    """Return whether an adverb or phrase describes only the verb.

    It must not describe the agent, and must not attach to the agent after "by".
    """
    parse, span = clause.parse, contiguous_span(clause.parse, at)
    if span is None or parse.lowers[at] == "tomorrow":  # about the future, after a past: "set a hearing tomorrow"
        return False
    if clause.doer[1] <= at < clause.verb or span == (at, at + 1):
        return parse.lowers[at] in (OPENERS if at < clause.doer[0] else MOVABLE_ADVERBS) or parse.entities[at].endswith(
            "DATE"
        )
    if is_movable_time(parse, at, span):
        return True

    opening = parse.lowers[span[0]]
    takes_no_phrase = {parse.tags[i] for i in range(*clause.doer)} in ({"PRP"}, {"NNP"})  # a pronoun or bare name
    opens = opening in TEMPORAL or (takes_no_phrase and opening in WHERE)
    is_short = opens and parse.bases[at] == "obl" and span[1] - span[0] <= LONGEST_PHRASE
    if not is_short or not is_noun_phrase(parse, at, span, of=frozenset(["of"])):
        return False
    if opening in TEMPORAL:
        return True
    if parse.entities[at]:
        return parse.entities[at].partition("-")[2] in ("LOC", "GPE", "FAC")
    return noun_category(clause.english.lexicon, parse, at) in PLACES


# Singular nouns whose "of" may bring a plural verb.
AMOUNTS = frozenset(
    """array bit bunch couple dozen fraction group half handful host lot majority minority number pair part percent
    plenty portion quarter range rest series set share third total variety""".split()
)
# Nouns in -s whose tag does not show whether their verb is plural.
UNCLEAR_NUMBER = frozenset("news politics economics physics series species means headquarters data".split())
PRONOUN_AGREEMENT = {"me": "i", "him": "s", "her": "s", "it": "s", "us": "p", "them": "p", "you": "p"}
AGREEING = {
    "s": {"have": "has", "are": "is", "were": "was"},
    "p": {"has": "have", "is": "are", "was": "were"},
    "i": {"has": "have", "is": "am", "are": "am", "were": "was"},
}
BEFORE_PARTICIPLE = {"VB": "be", "VBN": "been", "VBG": "being"}
DOUBTFUL = "an uncertain capital letter or plural"


def make_passive(parse: Parse, english: English) -> Move | str | None:
    """Return the edits that make the main clause passive, or why it has no passive.

    Return None if there is no active main clause.
    """
    clause = find_active_clause(parse, english)
    if clause is None:
        return None
    if reason := _why_no_passive(clause):
        return reason
    made = _passive_edits(clause)
    return DOUBTFUL if made is None else (f"passive of {parse.words[clause.verb]}", made)


def _passive_edits(clause: ActiveClause) -> tuple[Edit, ...] | None:
    """Return the edits that put the object first, the verb in the passive, and the subject after "by".

    Return None if a form is in doubt.
    """
    parse, verb, aux = clause.parse, clause.verb, clause.aux
    number, front, doer = _be_agreement(parse, clause.thing), _object_as_subject(clause), span_text(parse, clause.doer)
    back: str | None = doer if clause.doer[0] > 0 else text_inside_sentence(parse, clause.doer, clause.english.lexicon)
    back = OBJECT_FORMS.get(doer.lower(), back)
    if number is None or front is None or back is None:  # a form or a capital letter is in doubt
        return None
    group, made = inflect(clause.parse.lemmas[clause.verb].lower(), "VBN") or "", []
    if aux is not None:
        form = AGREEING[number].get(parse.lowers[aux], parse.words[aux])
        group = f"{BEFORE_PARTICIPLE[parse.tags[verb]]} {group}"
        made = [Edit(parse.starts[aux], parse.ends[aux], form)]
    elif verb > clause.doer[1]:  # "the court finally rejected"
        front = f"{front} {_passive_auxiliary(parse.tags[verb], number)}"
    else:
        group = f"{_passive_auxiliary(parse.tags[verb], number)} {group}"
    return (
        Edit(parse.starts[clause.doer[0]], parse.ends[clause.doer[1] - 1], front),
        *(edit for edit in made if edit.text != parse.text[edit.start : edit.end]),
        Edit(parse.starts[verb], parse.ends[verb], group),
        Edit(parse.starts[clause.done[0]], parse.ends[clause.done[1] - 1], f"by {back}"),
    )


def _passive_auxiliary(tag: str, number: str) -> str:
    word = "was" if tag == "VBD" else "is"
    return AGREEING[number].get(word, word)


def _be_agreement(parse: Parse, head: int) -> str | None:
    """Return which form of "be" agrees with this noun phrase, or None if in doubt.

    The result is i ("am"), s (third person singular) or p (plural).
    """
    word, tag = parse.lowers[head], parse.tags[head]
    if tag == "PRP":
        return PRONOUN_AGREEMENT.get(word)
    if parse.child(head, "conj") is not None:
        return "p"
    if parse.lemmas[head].lower() in AMOUNTS or word in UNCLEAR_NUMBER:
        return None
    if tag in ("NN", "NNP"):
        return None if word.endswith("s") and not word.endswith(("ss", "us", "is")) else "s"
    return "p" if tag == "NNS" else None


def _object_as_subject(clause: ActiveClause) -> str | None:
    """Return the object as the new subject, or None if it cannot have the capital of a sentence start."""
    text = span_text(clause.parse, clause.done)
    text = SUBJECT_FORMS.get(text.lower(), text)
    if clause.doer[0] > 0 or clause.parse.text[0].islower():
        return text
    first = clause.parse.words[clause.done[0]]
    return capitalise_first_letter(text) if first.islower() or not first[0].islower() else None
