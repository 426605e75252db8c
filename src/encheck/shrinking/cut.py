"""Shortens or simplifies a triplet's source, and makes the same change in its near and far texts.

Plainer words are a common synonym for a rare word, and a given name for a full name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from encheck.generators.synonym import find_slots
from encheck.language.edits.articles import article, articles
from encheck.language.edits.replace import put
from encheck.language.edits.substitutes import POS_OF_TAG
from encheck.language.english import English
from encheck.language.name_tables import FEMALE, MALE
from encheck.language.parse import Parse
from encheck.scoring.triplets import Triplet
from encheck.shrinking.units import RemovableUnit
from encheck.types import Edit, apply_edits

WORD = re.compile(r"[^\W_][\w'’.-]*[^\W_]|\w|[^\w\s]")
SIDES = ("source", "near", "far")
NOISE = "other_meaning"  # of ids: the near text has noise, the far one a different meaning


def removal_edits(parse: Parse, unit: RemovableUnit) -> tuple[Edit, ...]:
    """The edits that remove a unit from its text: a blank is also removed, and the article before it is adapted to the
    next word.
    """
    first, last, text = unit.first, unit.last, parse.text
    if first:
        start, end = parse.ends[first - 1], parse.ends[last]
    else:
        start, end = 0, parse.starts[last + 1] if last + 1 < len(parse) else len(text)
    gone = Edit(start, end, "")
    if first and parse.lowers[first - 1] in ("a", "an") and last + 1 < len(parse):
        wanted = article(parse.words[last + 1])
        if wanted != parse.lowers[first - 1]:
            old = parse.words[first - 1]
            new = wanted.capitalize() if old[0].isupper() else wanted
            return (Edit(parse.starts[first - 1], parse.ends[first - 1], new), gone)
    return (gone,)


def edit_all_texts(triplet: Triplet, change: Sequence[Edit]) -> Triplet | None:
    """The triplet with these edits made in all three texts; None if they touch one of its own edits.

    Offsets are the source's. The first letter stays a capital, in each text.
    """
    source = _opened(apply_edits(triplet.source, tuple(change)), triplet.source)
    sides = [_shifted_edits(edits, change) for edits in (triplet.near_edits, triplet.far_edits)]
    if source is None or any(edits is None for edits in sides):
        return None
    near_edits, far_edits = (
        tuple(
            replace(e, text=e.text[:1].upper() + e.text[1:]) if e.start == 0 and triplet.source[:1].isupper() else e
            for e in edits or ()
        )
        for edits in sides
    )
    near, far = apply_edits(source, near_edits), apply_edits(source, far_edits)
    made = replace(triplet, source=source, near=near, far=far, near_edits=near_edits, far_edits=far_edits)
    fits = all(is_mended(getattr(triplet, side), getattr(made, side)) for side in SIDES)
    return made if fits and len({source, near, far}) == len({triplet.source, triplet.near, triplet.far}) else None


def _opened(text: str, before: str) -> str | None:
    """The text with a capital if the previous text began with one; None if it is empty."""
    if not text.strip():
        return None
    return text[0].upper() + text[1:] if before[0].isupper() else text


def _shifted_edits(edits: Sequence[Edit], change: Sequence[Edit]) -> tuple[Edit, ...] | None:
    """A text's own edits at their new offsets after the source is changed; None if the two touch."""
    found = []
    for edit in edits:
        if any(_touch(edit, other) for other in change):
            return None
        by = sum(len(other.text) - (other.end - other.start) for other in change if other.end <= edit.start)
        found.append(Edit(edit.start + by, edit.end + by, edit.text))
    return tuple(found)


def _touch(edit: Edit, other: Edit) -> bool:
    """Whether two edits overlap, whether the first inserts text where the second changes it, or whether it then begins
    the text.
    """
    if edit.start < other.end and other.start < edit.end:
        return True
    changes = other.text or other.start == 0
    return bool(edit.start == edit.end and changes and other.start <= edit.start <= other.end)


def edit_each_text(triplet: Triplet, changes: Sequence[Sequence[Edit]]) -> Triplet | None:
    """The triplet with separate edits made in each text (source, near, far); None if they do not fit.

    Offsets are those of each text. The triplet's own edits are found again by comparison.
    """
    before = [getattr(triplet, side) for side in SIDES]
    after = [_opened(apply_edits(text, tuple(some)), text) for text, some in zip(before, changes, strict=True)]
    if any(text is None or not is_mended(old, text) for text, old in zip(after, before, strict=True)):
        return None
    source, near, far = (text or "" for text in after)
    if len(set(after)) < len(set(before)):
        return None
    near_edits, far_edits = edits_or_all(source, near), edits_or_all(source, far)
    return replace(triplet, source=source, near=near, far=far, near_edits=near_edits, far_edits=far_edits)


def gives_up_the_same(item: Triplet, made: Triplet) -> bool:
    """Whether the same words are replaced in both items; the replacements may differ.

    Noise, such as typos, may be in different words, because its meaning is the same anywhere.
    """
    known = item.id.parts_or_none
    is_noise = known is not None and known.relation == NOISE
    return (is_noise or _given_up(item.source, item.near_edits) == _given_up(made.source, made.near_edits)) and (
        _given_up(item.source, item.far_edits) == _given_up(made.source, made.far_edits)
    )


def _given_up(source: str, edits: Sequence[Edit]) -> list[str]:
    """The words that edits replace, except for articles, which depend on their words."""
    words = [source[edit.start : edit.end].lower() for edit in edits]
    return [word for word in words if word not in ("a", "an")]


def offset_in_variant(offset: int, edits: Sequence[Edit]) -> int:
    """The offset in an edited text of an offset in its source that no edit covers."""
    return offset + sum(len(e.text) - (e.end - e.start) for e in edits if e.end <= offset)


def is_mended(before: str, after: str) -> bool:
    """Whether a text still has its beginning and end, and no article fits its word less well than before."""
    if not after or before[0].isupper() != after[0].isupper() or before[-1] != after[-1]:
        return False
    return "  " not in after.replace("  ", " " if "  " in before else "  ") and _misfits(after) <= _misfits(before)


def _misfits(text: str) -> int:
    return len(articles(WORD.findall(text)))


def reads_alike(before: Parse, after: Parse, gone: Sequence[Edit], own: Sequence[Edit] = ()) -> bool:
    """Whether the rest of a text keeps its parse: its tags, and its dependencies.

    `gone` are the edits of the source; `own` are those that make this text from the source.
    """
    here = [(offset_in_variant(e.start, own), offset_in_variant(e.end - 1, own) + 1, e.text) for e in gone]
    place: dict[int, int] = {}
    new, inside = -1, None
    for i in range(len(before)):
        over = next((e for e in here if e[0] <= before.starts[i] and before.ends[i] <= e[1]), None)
        if over is None or (over[2].strip() and over is not inside):
            new += 1
        if over is None or over[2].strip():
            place[i] = new
        inside = over
    replaced = {place[i] for i in place if any(a <= before.starts[i] and before.ends[i] <= b for a, b, _ in here)}
    return new + 1 == len(after) and all(_same(before, after, i, place) for i in place if place[i] not in replaced)


def _same(before: Parse, after: Parse, at: int, place: Mapping[int, int]) -> bool:
    new = place[at]
    if before.bases[at] == "punct" and after.bases[new] == "punct":
        return True
    if before.pos[at] != after.pos[new]:
        return False
    if before.heads[at] != at and before.heads[at] not in place:  # its head is gone: it is the root now
        return after.heads[new] == new
    return place[before.heads[at]] == after.heads[new] and (
        before.bases[at] == after.bases[new] or before.heads[at] == at
    )


def edits_or_all(source: str, text: str) -> tuple[Edit, ...]:
    """The edits between two texts; if they are not a few words, one that replaces the whole source."""
    return edits_between(source, text) or (Edit(0, len(source), text),)


def edits_between(source: str, text: str) -> tuple[Edit, ...]:
    """The words of a source that a text replaces, as edits.

    >>> edits_between("The fast car won.", "The slow car won.")
    (Edit(start=4, end=8, text='slow'),)
    """
    here, there = list(WORD.finditer(source)), list(WORD.finditer(text))
    codes = SequenceMatcher(None, [w[0] for w in here], [w[0] for w in there], autojunk=False).get_opcodes()
    found = []
    for code, a, b, c, d in codes:
        if code != "equal":
            start = here[a].start() if a < len(here) else len(source)
            end = here[b - 1].end() if b > a else start
            first = there[c].start() if c < len(there) else len(text)
            last = there[d - 1].end() if d > c else first
            if a == b:  # with the blank that belongs to the insertion
                last = there[d].start() if d < len(there) else len(text)
            elif c == d:
                end = here[b].start() if b < len(here) else len(source)
            found.append(Edit(start, end, text[first:last]))
    edits = tuple(found)
    return edits if apply_edits(source, edits) == text else ()


MORE_COMMON = 0.3  # Zipf
ALIKE = 0.75  # share of letters: two spellings of one word
PLAIN = {"m": "Tom", "f": "Anna"}


def plainer_words(english: English, parse: Parse) -> Iterator[tuple[Edit, ...]]:
    """Replacements for a rare word or a name, one at a time; raises Waiting for tags that are not known."""
    yield from _plain_names(parse)
    for at in range(len(parse)):
        mark = parse.child(at, "case")
        tree = parse.subtree(at)
        whole = tree[-1] - tree[0] + 1 == len(tree) and tree[-1] == mark
        named = parse.tags[parse.heads[at]].startswith("NNP") or parse.entities[parse.heads[at]]
        if parse.deps[at] == "nmod:poss" and not named and whole and parse.lowers[tree[-1]] in ("'s", "’s", "'", "’"):
            start, end = parse.starts[tree[0]], parse.ends[tree[-1]]
            yield (Edit(start, end, "The" if start == 0 and parse.text[0].isupper() else "the"),)
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


def _plain_names(parse: Parse) -> Iterator[tuple[Edit, ...]]:
    """A plain given name for a person's full name, if no word of it occurs elsewhere."""
    for at in range(len(parse)):
        word = parse.words[at]
        if parse.entities[at] != "B-PER" or (word in MALE) == (word in FEMALE):
            continue
        last = at
        while last + 1 < len(parse) and parse.entities[last + 1] == "I-PER":
            last += 1
        name, plain = parse.lowers[at : last + 1], PLAIN["m" if word in MALE else "f"]
        once = all(parse.lowers.count(word) == 1 for word in name)
        titled = at > 0 and parse.pos[at - 1] == "PROPN"
        initial = any(not word.isalpha() for word in name)
        of_a_thing = any(
            parse.bases[i] == "compound" and parse.pos[parse.heads[i]] == "NOUN" for i in range(at, last + 1)
        )
        if once and not titled and not initial and not of_a_thing and plain.lower() not in parse.lower_words:
            yield (Edit(parse.starts[at], parse.ends[last], plain),)
