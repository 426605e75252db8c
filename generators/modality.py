"""Replace a modal verb, or express the same modality in other words, in any English text.

"Visitors must sign" is kept by "visitors have to sign" and changed by "visitors may sign". "The shop will close" is
kept by "the shop is going to close" and changed by "the shop might close".
"""

from __future__ import annotations

import re
from typing import NamedTuple

from encheck.generators.phenomenon import Phenomenon, Rephrasings, edits_from_rephrasings, replace_tokens
from encheck.generators.phrases import names_an_agent
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.language.predicates import MAIN, Predicate, subject_agreement
from encheck.statistics.draws import Draws

TRIGGER = re.compile(r"\b(?:must|may|might|will|should|can)\b", re.IGNORECASE)
NONE = "no modal verb that can be exchanged"
SUBJECTS = ("nsubj", "csubj")
BOUND = frozenset(  # fits only one modality, or changes the meaning of a modal verb
    """not n't n’t no never nobody nothing none neither nor hardly barely unless if whether or possibly perhaps maybe
    probably likely certainly definitely surely necessarily well please hope wish let would could otherwise even only
    ever any
    however when before until once whenever as who that which what""".split()
)
INVOLUNTARY_VERBS = frozenset(  # verbs of involuntary events, or with a special use of "can"
    """see hear feel smell taste imagine understand tell afford stand help wait believe remember think guess say bet
    assume suppose admit agree note find hope wish want like love know mean seem appear need have be matter vary
    last contain include cost happen occur cause result lead expect get do die""".split()
)
STATES = frozenset("be have include contain mean know own belong need want like exist depend".split())
AMOUNTS = frozenset("bulk majority minority number group rest half lot team staff couple pair range series".split())
PERMITTED_SUBJECTS = frozenset(["you", "i", "we"])


class Modal(NamedTuple):
    """Synonyms of a modal verb, words of a different modality, and a control.

    In these texts, {be} and {have} agree with the subject.
    """

    kept: tuple[str, ...]
    changed: tuple[str, ...]
    control: str
    why: str
    is_of_actors: bool = False


MODALS = {
    "must": Modal(("{have} to", "{be} required to"), ("may", "{be} allowed to"), "will", "a duty", True),
    "should": Modal(("ought to",), ("{do} not have to", "need not"), "will", "advice", True),
    "can": Modal(("{be} able to",), ("must", "{have} to"), "will", "an ability", True),
    "will": Modal(("{be} going to",), ("may", "might"), "should", "the future"),
    "may": Modal(("might",), ("will", "{be} going to"), "should", "a possibility"),
    "might": Modal(("may",), ("will", "{be} going to"), "should", "a possibility"),
}
FORMS = {"first": ("am", "have", "do"), "singular": ("is", "has", "does"), "plural": ("are", "have", "do")}
PRONOUN_AGREEMENT = {"i": "first", "he": "singular", "she": "singular", "it": "singular"}
PRONOUN_AGREEMENT |= dict.fromkeys(("we", "they", "you"), "plural")


def modality_rephrasings(parse: Parse, english: English, rng: Draws) -> Rephrasings | str:  # noqa: ARG001 - a reading has all three
    """Return the rephrasings of a sentence's only modal verb, which stands between its subject and its verb."""
    result = [i for i, tag in enumerate(parse.tags) if tag == "MD"]
    if len(result) != 1 or parse.lowers[result[0]] not in MODALS:
        return "two modal verbs" if len(result) > 1 else NONE
    at = result[0]
    verb, subject, modal = parse.heads[at], parse.child(parse.heads[at], *SUBJECTS), MODALS[parse.lowers[at]]
    if subject is None or not subject < at or parse.tags[at + 1 : at + 2] != ("VB",) or not parse.words[at].islower():
        return "a modal verb that is not between subject and verb"
    if not BOUND.isdisjoint(parse.lowers):
        return "a word that fits only one of the two modalities"
    if parse.bases[verb] in ("advcl", "acl", "csubj"):
        return "a modal verb of a clause that depends on another"
    if not _has_meaning_of_synonyms(parse, english, modal, verb, at, subject):
        return NONE
    agreement = PRONOUN_AGREEMENT.get(parse.lowers[subject]) or subject_agreement(
        Predicate(parse, verb, at, subject, None, "", MAIN)
    )
    if agreement not in FORMS or parse.lower_lemmas[subject] in AMOUNTS:
        return "an uncertain plural"
    forms = dict(zip(("be", "have", "do"), FORMS[agreement], strict=True))

    def replace_with(words: str) -> str:
        return replace_tokens(parse, (at, at + 1, words.format_map(forms)))

    return Rephrasings(
        [replace_with(one) for one in modal.kept],
        [replace_with(one) for one in modal.changed],
        modal.why,
        replace_with(modal.control),
    )


def _has_meaning_of_synonyms(parse: Parse, english: English, modal: Modal, verb: int, at: int, subject: int) -> bool:
    """Return whether the modal verb means the same as its synonyms here.

    Duties and abilities need persons who act.
    """
    if modal.is_of_actors:
        return (
            verb == at + 1
            and parse.lower_lemmas[verb] not in INVOLUNTARY_VERBS
            and names_an_agent(english, parse, subject)
        )
    if modal.why == "a possibility":  # "you may" can be a permission
        return (
            verb == at + 1
            and parse.lower_lemmas[verb] not in STATES
            and parse.lowers[subject] not in PERMITTED_SUBJECTS
        )
    return parse.lower_lemmas[verb] != "go"


MODALITY = Phenomenon(
    "modality",
    edits_from_rephrasings(modality_rephrasings),
    "other modalities",
    trigger=TRIGGER,
    without=NONE,
    in_probes=True,
)
