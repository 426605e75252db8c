"""Plainer words: a common word for a rare one that means the same, a given name for a whole name."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from encheck.generators.synonym import find_slots
from encheck.language.edits.replace import put
from encheck.language.edits.substitutes import POS_OF_TAG
from encheck.language.english import English
from encheck.language.name_tables import FEMALE, MALE
from encheck.language.parse import Parse
from encheck.types import Edit

MORE_COMMON = 0.3  # Zipf
ALIKE = 0.75  # share of letters: two spellings of one word
PLAIN = {"m": "Tom", "f": "Anna"}


def replacements(english: English, parse: Parse) -> Iterator[tuple[Edit, ...]]:
    """What can be put in place of a rare word or a name, one at a time; raises Waiting for tags that are not known."""
    yield from _names(parse)
    yield from _owners(parse)
    slots = find_slots(english, parse, "s")
    for slot in slots if not isinstance(slots, str) else ():
        tag = parse.tags[slot.at]
        old = english.lexicon.frequency(parse.lower_lemmas[slot.at], POS_OF_TAG[tag])
        for word, substitute in slot.choices:
            common = english.lexicon.frequency(substitute.lemma, slot.pos) >= old + MORE_COMMON
            spelt = SequenceMatcher(None, word, parse.words[slot.at]).ratio() > ALIKE
            if common and not spelt and (change := put(english, parse, {slot.at: word})) is not None:
                yield change[0]
                break


def _names(parse: Parse) -> Iterator[tuple[Edit, ...]]:
    """A plain given name for a person's whole name, where no word of it stands elsewhere."""
    for at in range(len(parse)):
        if parse.entities[at] != "B-PER" or not (gender := _gender(parse.words[at])):
            continue
        last = at
        while last + 1 < len(parse) and parse.entities[last + 1] == "I-PER":
            last += 1
        name, plain = parse.lowers[at : last + 1], PLAIN[gender]
        once = all(parse.lowers.count(word) == 1 for word in name)
        titled = at > 0 and parse.pos[at - 1] == "PROPN"
        initial = any(not word.isalpha() for word in name)
        of_a_thing = any(
            parse.bases[i] == "compound" and parse.pos[parse.heads[i]] == "NOUN" for i in range(at, last + 1)
        )
        if once and not titled and not initial and not of_a_thing and plain.lower() not in parse.lower_words:
            yield (Edit(parse.starts[at], parse.ends[last], plain),)


def _owners(parse: Parse) -> Iterator[tuple[Edit, ...]]:
    """An article for an owner: "the engineers" for "Bob Hart's engineers"."""
    for at in range(len(parse)):
        mark = parse.child(at, "case")
        tree = parse.subtree(at)
        whole = tree[-1] - tree[0] + 1 == len(tree) and tree[-1] == mark
        named = parse.tags[parse.heads[at]].startswith("NNP") or parse.entities[parse.heads[at]]
        if parse.deps[at] == "nmod:poss" and not named and whole and parse.lowers[tree[-1]] in ("'s", "’s", "'", "’"):
            start, end = parse.starts[tree[0]], parse.ends[tree[-1]]
            yield (Edit(start, end, "The" if start == 0 and parse.text[0].isupper() else "the"),)


def _gender(name: str) -> str:
    return "" if name in MALE and name in FEMALE else "m" if name in MALE else "f" if name in FEMALE else ""
