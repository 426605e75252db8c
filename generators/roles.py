"""Who does what to whom swapped, and the same roles in another construction: of any English text.

"The nurse called the surgeon" is kept by "The surgeon was called by the nurse" and by "It was the nurse who called the
surgeon", and changed by the same three constructions with the two exchanged.
"""

from __future__ import annotations

import re

from encheck.generators.moving import can_act, first_file, inside_sentence, root_of, span_of
from encheck.generators.role_reversal import role_reversal
from encheck.generators.sides import Phenomenon, Ways, choice_of
from encheck.generators.voice import passive
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.statistics.draws import Draws
from encheck.types import Group, Variant, apply_edits

TRIGGER = re.compile(r"\w")
NONE = "no verb with subject and object"
NO_PASSIVE = "no passive of the sentence, or of its swapped form"
PERSON, OTHER = 18, frozenset({4, 5, 13})  # lexicographer's files: noun.person; noun.act, animal and food
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
