"""The passive of a plain active clause: "The court rejected the appeal" > "The appeal was rejected by the court"."""

from __future__ import annotations

from encheck.generators.clause import Clause, clause_of, refusal
from encheck.generators.moving import OBJECT_FORMS, SUBJECT_FORMS, Move, capital, inside_sentence, text_of
from encheck.language.edits.inflection import inflected
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.types import Edit

# Singular nouns whose "of" may bring a plural verb.
AMOUNTS = frozenset(
    """array bit bunch couple dozen fraction group half handful host lot majority minority number pair part percent
    plenty portion quarter range rest series set share third total variety""".split()
)
# Nouns in -s of which the tag does not say whether their verb is a plural.
UNSURE = frozenset("news politics economics physics series species means headquarters data".split())
NUMBERS = {"me": "i", "him": "s", "her": "s", "it": "s", "us": "p", "them": "p", "you": "p"}
AGREEING = {
    "s": {"have": "has", "are": "is", "were": "was"},
    "p": {"has": "have", "is": "are", "was": "were"},
    "i": {"has": "have", "is": "am", "are": "am", "were": "was"},
}
BEFORE_PARTICIPLE = {"VB": "be", "VBN": "been", "VBG": "being"}
DOUBTFUL = "an uncertain capital letter or plural"


def passive(parse: Parse, english: English) -> Move | str | None:
    """The edits that make a passive of the main clause, or why it has none; None if there is no such clause."""
    clause = clause_of(parse, english)
    if clause is None:
        return None
    if reason := refusal(clause):
        return reason
    made = _edits(clause)
    return DOUBTFUL if made is None else (f"passive of {parse.words[clause.verb]}", made)


def _edits(clause: Clause) -> tuple[Edit, ...] | None:
    """Object to the front, the verb in the passive, the subject behind "by"; None if a form is in doubt."""
    parse, verb, aux = clause.parse, clause.verb, clause.aux
    number, front, back = _number(parse, clause.thing), _front(clause), _back(clause)
    if number is None or front is None or back is None:
        return None
    group, made = _participle(clause), []
    if aux is not None:
        form = AGREEING[number].get(parse.lowers[aux], parse.words[aux])
        group = f"{BEFORE_PARTICIPLE[parse.tags[verb]]} {group}"
        made = [Edit(parse.starts[aux], parse.ends[aux], form)]
    elif verb > clause.doer[1]:  # "the court finally rejected"
        front = f"{front} {_be(parse.tags[verb], number)}"
    else:
        group = f"{_be(parse.tags[verb], number)} {group}"
    return (
        Edit(parse.starts[clause.doer[0]], parse.ends[clause.doer[1] - 1], front),
        *(edit for edit in made if edit.text != parse.text[edit.start : edit.end]),
        Edit(parse.starts[verb], parse.ends[verb], group),
        Edit(parse.starts[clause.done[0]], parse.ends[clause.done[1] - 1], f"by {back}"),
    )


def _participle(clause: Clause) -> str:
    return inflected(clause.parse.lemmas[clause.verb].lower(), "VBN") or ""


def _be(tag: str, number: str) -> str:
    word = "was" if tag == "VBD" else "is"
    return AGREEING[number].get(word, word)


def _number(parse: Parse, head: int) -> str | None:
    """The form of "be" that this noun phrase asks for: i, s (third person singular), p; None if that is in doubt."""
    word, tag = parse.lowers[head], parse.tags[head]
    if tag == "PRP":
        return NUMBERS.get(word)
    if parse.child(head, "conj") is not None:
        return "p"
    if parse.lemmas[head].lower() in AMOUNTS or word in UNSURE:
        return None
    if tag in ("NN", "NNP"):
        return None if word.endswith("s") and not word.endswith(("ss", "us", "is")) else "s"
    return "p" if tag == "NNS" else None


def _front(clause: Clause) -> str | None:
    """The object as the new subject; None if it cannot take the capital of the sentence."""
    text = text_of(clause.parse, clause.done)
    text = SUBJECT_FORMS.get(text.lower(), text)
    if clause.doer[0] > 0 or clause.parse.text[0].islower():
        return text
    first = clause.parse.words[clause.done[0]]
    return capital(text) if first.islower() or not first[0].islower() else None


def _back(clause: Clause) -> str | None:
    """The subject as it stands behind "by"; None if its capital is in doubt."""
    text = text_of(clause.parse, clause.doer)
    if text.lower() in OBJECT_FORMS:
        return OBJECT_FORMS[text.lower()]
    return text if clause.doer[0] > 0 else inside_sentence(clause.parse, clause.doer, clause.english.lexicon)
