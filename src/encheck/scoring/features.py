"""Compute features of an item that do not depend on scores: the place and kind of its edit, the type of its sentence.

The value of a feature is a phrase for reports ("edits of an adverb"), or "".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from encheck.language.english import English
from encheck.language.lexicon.lexicon import Lexicon, Pos
from encheck.language.parse import Parse
from encheck.scoring.item import ItemFrame, parse_edits
from encheck.types import Edit

LEXFILES = (
    "adj.all adj.pert adv.all noun.Tops noun.act noun.animal noun.artifact noun.attribute noun.body noun.cognition "
    "noun.communication noun.event noun.feeling noun.food noun.group noun.location noun.motive noun.object noun.person "
    "noun.phenomenon noun.plant noun.possession noun.process noun.quantity noun.relation noun.shape noun.state "
    "noun.substance noun.time verb.body verb.change verb.cognition verb.communication verb.competition "
    "verb.consumption verb.contact verb.creation verb.emotion verb.motion verb.perception verb.possession verb.social "
    "verb.stative verb.weather adj.ppl"
).split()  # https://wordnet.princeton.edu/documentation/lexnames5wn, by number
PARTS = {
    "ADJ": "an adjective", "ADP": "a preposition", "ADV": "an adverb", "AUX": "an auxiliary", "CCONJ": "a conjunction",
    "DET": "a determiner", "NOUN": "a noun", "NUM": "a number", "PART": "a particle", "PRON": "a pronoun",
    "PROPN": "a name", "PUNCT": "punctuation", "SCONJ": "a conjunction", "VERB": "a verb",
}  # fmt: skip
NAMES = ("part", "class", "relation", "position", "kind", "kept", "certificate", "length", "verb", "form", "clauses")
_LEXICAL: Mapping[str, Pos] = {"NOUN": "n", "VERB": "v"}
_SUBORDINATE = frozenset({"advcl", "ccomp", "acl", "csubj"})
_HEAD = re.compile(r"[a-z][a-z ,-]{2,39}(?=:)")
_EARLY, _MIDDLE = 5, 10  # words
_SHORT, _MEDIUM = 8, 14


def item_feature_columns(frame: ItemFrame, english: English) -> dict[str, list[str]]:
    """Return the features of a frame's rows, one column each. `English.parse_all` has to parse the sources before."""
    count = len(frame)
    far = frame.far.edits if frame.far and frame.far.edits else (None,) * count
    why = frame.far.why if frame.far and frame.far.why else (None,) * count
    near = frame.near.edits or (None,) * count
    rows = zip(frame.sources, near, far, why, strict=True)
    found = [
        features_of_item(english.stored_parse(s), parse_edits(n), parse_edits(f), w or "", english.lexicon)
        for s, n, f, w in rows
    ]
    columns = {name: [one.get(name, "") for one in found] for name in NAMES}
    return columns | {"slice": [f"slice {s}" if s else "" for s in frame.slices] or [""] * count}


def features_of_item(
    parse: Parse, kept: Sequence[Edit], changed: Sequence[Edit], why: str, lexicon: Lexicon
) -> dict[str, str]:
    """Return the features of a source by name, from the edits that keep and that change its meaning.

    `why` is the certificate of the changed text.
    """
    found = _sentence_features(parse, lexicon)
    if kept:
        found["kept"] = f"kept text has {_edit_kind(parse.text, kept)}"
    if changed:
        found |= _edit_features(parse, changed, lexicon)
    if head := _HEAD.match(why):
        found["certificate"] = f"certificate says {head.group()!r}"
    return found


def _edit_features(parse: Parse, edits: Sequence[Edit], lexicon: Lexicon) -> dict[str, str]:
    """Return the features of the edit that changes the meaning.

    They are the part of speech, class and relation of its first word, and the place and kind of the edit.
    """
    found = {"kind": f"changed text has {_edit_kind(parse.text, edits)}"}
    at = next((i for i, end in enumerate(parse.ends) if end > edits[0].start), None)
    if at is None:
        return found
    before = _count_words(parse, at)
    later = "edits in words 6 to 10" if before < _MIDDLE else "edits after the tenth word"
    found["position"] = "edits in the first five words" if before < _EARLY else later
    if edits[0].start < edits[0].end:
        found["relation"] = f"edits at the relation {parse.bases[at]}"
        found["part"] = f"edits of {PARTS[parse.pos[at]]}" if parse.pos[at] in PARTS else ""
        found["class"] = _lexicographer_file("edits of", parse, at, lexicon)
    return found


def _sentence_features(parse: Parse, lexicon: Lexicon) -> dict[str, str]:
    root = next((i for i, head in enumerate(parse.heads) if head == i), None)
    if parse.text.rstrip().endswith("?"):
        form = "questions"
    elif root is not None and parse.tags[root] == "VB" and parse.child(root, "nsubj", "aux") is None:
        form = "commands"
    else:
        form = "statements"
    words, length = _count_words(parse, len(parse)), f"{_MEDIUM + 1} words or more"
    if words <= _MEDIUM:
        length = f"up to {_SHORT} words" if words <= _SHORT else f"{_SHORT + 1} to {_MEDIUM} words"
    has = _SUBORDINATE & set(parse.bases)
    found = {
        "length": length, "form": form,
        "clauses": "with a subordinate clause" if has else "without a subordinate clause",
    }  # fmt: skip
    if root is None:
        return found
    if parse.child(root, "cop") is not None:
        return found | {"verb": "main verb be"}
    return found | {"verb": _lexicographer_file("main verb", parse, root, lexicon) if parse.pos[root] == "VERB" else ""}


def _count_words(parse: Parse, until: int) -> int:
    """Return the number of words before this token, without punctuation."""
    return sum(pos not in ("PUNCT", "SYM", "SPACE") for pos in parse.pos[:until])


def _lexicographer_file(what: str, parse: Parse, at: int, lexicon: Lexicon) -> str:
    """Return WordNet's lexicographer file of the most frequent sense of a noun or verb."""
    pos = _LEXICAL.get(parse.pos[at])
    senses = lexicon.senses(parse.lower_lemmas[at], pos) if pos else ()
    return f"{what} {LEXFILES[senses[0].lexfile]}" if senses else ""


def _edit_kind(source: str, edits: Sequence[Edit]) -> str:
    """Return the kind of the edits, from their shape.

    >>> _edit_kind("a fast car", [Edit(2, 6, "slow")]), _edit_kind("a fast car", [Edit(2, 7, "")])
    ('one word for another', 'words taken out')
    """
    if len(edits) > 1:
        return "several edits"
    (edit,) = edits
    if edit.start == edit.end:
        return "words put in"
    if not edit.text:
        return "words taken out"
    single = len(source[edit.start : edit.end].split()) == len(edit.text.split()) == 1
    return "one word for another" if single else "one phrase for another"
