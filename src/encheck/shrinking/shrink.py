"""Shrink a failure: find the shortest, plainest form of a triplet that a model still gets wrong.

The method is delta debugging (Zeller and Hildebrandt 2002), as in hypothesis's shrinker. Each pass removes the longest
part without which the failure remains, and passes repeat until nothing changes. All candidates of a pass are scored at
once. The parse of a sentence decides which parts can be removed. Candidates that would be parsed differently are
dropped.

Each change of the source is also made in the near and far texts. Finally, plainer words replace others: a common
synonym replaces a rare word, and a given name replaces a full name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from encheck.datasets.dataset import Dataset
from encheck.errors import NothingToMeasure
from encheck.generators.synonym import find_slots
from encheck.ids import ItemId
from encheck.items.builders import Builder
from encheck.items.variants import VariantMaker
from encheck.language.edits.replace import choose_article, correct_articles, replace_words
from encheck.language.edits.substitutes import POS_OF_TAG
from encheck.language.english import English, MissingParses
from encheck.language.name_tables import FEMALE, MALE
from encheck.language.parse import Parse
from encheck.scoring.crossed import Crossed
from encheck.scoring.triplets import Triplet
from encheck.shrinking.units import (
    AMOUNT,
    RemovableUnit,
    find_removable_units,
    find_unit_with_same_content,
    find_units_with_same_head,
    has_balanced_punctuation,
    has_finite_verb,
)
from encheck.types import Edit, Group, apply_edits

WORD = re.compile(r"[^\W_][\w'’.-]*[^\W_]|\w|[^\w\s]")
SIDES = ("source", "near", "far")
NOISE = "other_meaning"  # of ids: the near text has noise, the far one a different meaning


def make_removal_edits(parse: Parse, unit: RemovableUnit) -> tuple[Edit, ...]:
    """Return the edits that remove a unit from its text.

    They also remove one blank next to it, and adapt an article before it to the word that now follows.
    """
    first, last, text = unit.first, unit.last, parse.text
    if first:
        start, end = parse.ends[first - 1], parse.ends[last]
    else:
        start, end = 0, parse.starts[last + 1] if last + 1 < len(parse) else len(text)
    gone = Edit(start, end, "")
    if first and parse.lowers[first - 1] in ("a", "an") and last + 1 < len(parse):
        wanted = choose_article(parse.words[last + 1])
        if wanted != parse.lowers[first - 1]:
            old = parse.words[first - 1]
            new = wanted.capitalize() if old[0].isupper() else wanted
            return (Edit(parse.starts[first - 1], parse.ends[first - 1], new), gone)
    return (gone,)


def edit_all_texts(triplet: Triplet, change: Sequence[Edit]) -> Triplet | None:
    """Return the triplet after making these edits in all three texts, or None if they touch one of its own edits.

    The edits' offsets refer to the source. A text that begins with a capital still does afterwards.
    """
    source = _capitalise_like(apply_edits(triplet.source, tuple(change)), triplet.source)
    sides = [_shift_edits(edits, change) for edits in (triplet.near_edits, triplet.far_edits)]
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
    edited = replace(triplet, source=source, near=near, far=far, near_edits=near_edits, far_edits=far_edits)
    fits = all(keeps_ends_and_a_or_an(getattr(triplet, side), getattr(edited, side)) for side in SIDES)
    return edited if fits and len({source, near, far}) == len({triplet.source, triplet.near, triplet.far}) else None


def _capitalise_like(text: str, before: str) -> str | None:
    """Return the text, with a capital if the previous text began with one, or None if the text is empty."""
    if not text.strip():
        return None
    return text[0].upper() + text[1:] if before[0].isupper() else text


def _shift_edits(edits: Sequence[Edit], change: Sequence[Edit]) -> tuple[Edit, ...] | None:
    """Return a text's own edits at their offsets after `change` to the source, or None if an edit touches a change."""
    shifted = []
    for edit in edits:
        if any(_edits_touch(edit, other) for other in change):
            return None
        by = sum(len(other.text) - (other.end - other.start) for other in change if other.end <= edit.start)
        shifted.append(Edit(edit.start + by, edit.end + by, edit.text))
    return tuple(shifted)


def _edits_touch(edit: Edit, other: Edit) -> bool:
    """Return whether the two edits overlap, or `edit` inserts text at the edge of `other`.

    Inserting next to a removal is allowed unless the removal is at the start of the text.
    """
    if edit.start < other.end and other.start < edit.end:
        return True
    changes = other.text or other.start == 0
    return bool(edit.start == edit.end and changes and other.start <= edit.start <= other.end)


def edit_each_text(triplet: Triplet, changes: Sequence[Sequence[Edit]]) -> Triplet | None:
    """Return the triplet after making separate edits in each text (source, near, far), or None if the result is
    unsound.

    Each edit's offsets refer to its own text. The triplet's own edits are recomputed by comparing the new texts.
    """
    before = [getattr(triplet, side) for side in SIDES]
    after = [_capitalise_like(apply_edits(text, tuple(some)), text) for text, some in zip(before, changes, strict=True)]
    if any(text is None or not keeps_ends_and_a_or_an(old, text) for text, old in zip(after, before, strict=True)):
        return None
    source, near, far = (text or "" for text in after)
    if len(set(after)) < len(set(before)):
        return None
    near_edits, far_edits = find_edits_or_replace_all(source, near), find_edits_or_replace_all(source, far)
    return replace(triplet, source=source, near=near, far=far, near_edits=near_edits, far_edits=far_edits)


def replaces_same_words(item: Triplet, shrunk: Triplet) -> bool:
    """Return whether both items replace the same words of their source. The replacements may differ.

    Near texts with noise, such as typos, may replace different words, because noise means the same anywhere.
    """
    known = item.id.parts_or_none
    is_noise = known is not None and known.relation == NOISE
    return (
        is_noise or _replaced_words(item.source, item.near_edits) == _replaced_words(shrunk.source, shrunk.near_edits)
    ) and (_replaced_words(item.source, item.far_edits) == _replaced_words(shrunk.source, shrunk.far_edits))


def _replaced_words(source: str, edits: Sequence[Edit]) -> list[str]:
    """Return the words that edits replace. Articles are left out, because they depend on the word that follows."""
    words = [source[edit.start : edit.end].lower() for edit in edits]
    return [word for word in words if word not in ("a", "an")]


def offset_in_variant(offset: int, edits: Sequence[Edit]) -> int:
    """Return where an offset in the source is in the edited text. No edit may cover the offset."""
    return offset + sum(len(e.text) - (e.end - e.start) for e in edits if e.end <= offset)


def keeps_ends_and_a_or_an(before: str, after: str) -> bool:
    """Return whether a text begins and ends as before, and has no more wrong articles than before."""
    if not after or before[0].isupper() != after[0].isupper() or before[-1] != after[-1]:
        return False
    return "  " not in after.replace("  ", " " if "  " in before else "  ") and _count_wrong_articles(
        after
    ) <= _count_wrong_articles(before)


def _count_wrong_articles(text: str) -> int:
    return len(correct_articles(WORD.findall(text)))


def keeps_parse(before: Parse, after: Parse, removed: Sequence[Edit], own_edits: Sequence[Edit] = ()) -> bool:
    """Return whether the remaining words of a text keep their tags and their dependencies.

    `removed` are the edits of the source. `own_edits` are the edits that turn the source into this text.
    """
    here = [
        (offset_in_variant(e.start, own_edits), offset_in_variant(e.end - 1, own_edits) + 1, e.text) for e in removed
    ]
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
    return new + 1 == len(after) and all(
        _keeps_token(before, after, i, place) for i in place if place[i] not in replaced
    )


def _keeps_token(before: Parse, after: Parse, at: int, place: Mapping[int, int]) -> bool:
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


def find_edits_or_replace_all(source: str, text: str) -> tuple[Edit, ...]:
    """Return the edits between two texts, or an edit that replaces the whole source if comparing words gives none."""
    return find_edits(source, text) or (Edit(0, len(source), text),)


def find_edits(source: str, text: str) -> tuple[Edit, ...]:
    """Return the edits that turn the source into the text, as replacements of words.

    >>> find_edits("The fast car won.", "The slow car won.")
    (Edit(start=4, end=8, text='slow'),)
    """
    here, there = list(WORD.finditer(source)), list(WORD.finditer(text))
    codes = SequenceMatcher(None, [w[0] for w in here], [w[0] for w in there], autojunk=False).get_opcodes()
    edits_of_words = []
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
            edits_of_words.append(Edit(start, end, text[first:last]))
    edits = tuple(edits_of_words)
    return edits if apply_edits(source, edits) == text else ()


MIN_FREQUENCY_GAIN = 0.3  # Zipf
MAX_SPELLING_SIMILARITY = 0.75  # share of letters: two spellings of one word
PLAIN_GIVEN_NAMES = {"m": "Tom", "f": "Anna"}


def propose_plainer_words(english: English, parse: Parse) -> Iterator[tuple[Edit, ...]]:
    """Yield edits that each replace a rare word or a name with a plainer one. Raise MissingParses for words without
    tags.
    """
    yield from _propose_plain_names(parse)
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
        old = english.lexicon.lemma_frequency(parse.lower_lemmas[slot.at], POS_OF_TAG[tag])
        for word, substitute in slot.choices:
            common = english.lexicon.lemma_frequency(substitute.lemma, slot.pos) >= old + MIN_FREQUENCY_GAIN
            spelt = SequenceMatcher(None, word, parse.words[slot.at]).ratio() > MAX_SPELLING_SIMILARITY
            if common and not spelt and (change := replace_words(english, parse, {slot.at: word})) is not None:
                yield change[0]
                break


def _propose_plain_names(parse: Parse) -> Iterator[tuple[Edit, ...]]:
    """Yield edits that replace a full name with a plain given name. No word of the full name may occur elsewhere."""
    for at in range(len(parse)):
        word = parse.words[at]
        if parse.entities[at] != "B-PER" or (word in MALE) == (word in FEMALE):
            continue
        last = at
        while last + 1 < len(parse) and parse.entities[last + 1] == "I-PER":
            last += 1
        name, plain = parse.lowers[at : last + 1], PLAIN_GIVEN_NAMES["m" if word in MALE else "f"]
        once = all(parse.lowers.count(word) == 1 for word in name)
        titled = at > 0 and parse.pos[at - 1] == "PROPN"
        initial = any(not word.isalpha() for word in name)
        of_a_thing = any(
            parse.bases[i] == "compound" and parse.pos[parse.heads[i]] == "NOUN" for i in range(at, last + 1)
        )
        if once and not titled and not initial and not of_a_thing and plain.lower() not in parse.lower_words:
            yield (Edit(parse.starts[at], parse.ends[last], plain),)


MAX_SCORED_PAIRS = 600  # maximum scored pairs per item
MIN_MARGIN_SHARE = 0.5  # part of the margin that must remain
MAX_PASSES = 24
MAX_TAGGING_ROUNDS = 50
WRITTEN = "crossed"  # generator of ids: both sides written by hand, with a different source
NO_ENGLISH = ("jumble", "swap")  # whose texts are not parsed
NO_PART = "the sentence has no part that can be removed"
BOUND = "the parts that the sentence could lose cannot be removed from the near or the far text"
OTHERWISE = "the rest would be parsed differently, or its edits cannot be made on it"
LESS = "removing any part would shrink the model's error to less than half of its margin"
ScorePairs = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
Edits = tuple[Edit, ...]
MakeTriplets = Callable[
    [Triplet, Sequence[str]], list[Triplet | None]
]  # a triplet of each source by the item's generators


@dataclass(frozen=True, slots=True)
class ItemForm:
    """A form of an item, and its sim(source, near) - sim(source, far) under the model."""

    item: Triplet
    margin: float

    @property
    def words(self) -> int:
        """How many words its three texts have together."""
        return sum(len(getattr(self.item, side).split()) for side in SIDES)


@dataclass(frozen=True, slots=True)
class ShrinkResult:
    """The original item as `whole`, its `least` shrunk form, and its `shortest` form.

    If nothing could be removed, both forms are `whole`, and `why` gives the reason ("" otherwise). `scored` counts the
    pairs that were scored. `is_cut_short` says whether the budget ran out.
    """

    whole: ItemForm
    least: ItemForm
    shortest: ItemForm
    scored: int
    is_cut_short: bool = False
    why: str = ""

    @property
    def removed_share(self) -> float:
        """The share of the item's words that was removed."""
        return 1 - self.shortest.words / self.whole.words


def shrink_item(
    item: Triplet,
    score: ScorePairs,
    english: English,
    *,
    remake: MakeTriplets | None = None,
    budget: int = MAX_SCORED_PAIRS,
) -> ShrinkResult | str:
    """Shrink a failure to its shortest, plainest form whose margin is still at least half as bad, or explain why none
    exists.

    `remake` makes the edits of generated texts again in a shorter source. Without `remake`, or if both texts were
    written by hand, the same part is removed from all three texts, and only where no edit is. The result is
    deterministic.
    """
    item = add_edits_of_crossed_item(item)
    if why := why_not_shrinkable(item, remake):
        return why
    return _FormSearch(item, score, english, remake if item.near_why or item.far_why else None, budget).run()


def add_edits_of_crossed_item(item: Triplet) -> Triplet:
    """Return the item. If it is a hand-written part of a crossed group, add its edits, found by comparing its texts."""
    known = item.id.parts_or_none if isinstance(item.id, ItemId) else None
    if known is None or known.generator != WRITTEN or item.near_edits or item.far_edits:
        return item
    near, far = (find_edits_or_replace_all(item.source, text) for text in (item.near, item.far))
    return replace(item, near_edits=near, far_edits=far)


def why_not_shrinkable(item: Triplet, remake: MakeTriplets | None) -> str:
    """Return why this item cannot be shrunk, or "" if it can."""
    if any(part in item.id for name in NO_ENGLISH for part in (f"/{name}/", f"/{name}+")):
        return "its words are jumbled on purpose, so the parts of its texts cannot be matched"
    if any(not edits and not why for edits, why in ((item.near_edits, item.near_why), (item.far_edits, item.far_why))):
        return "the parts of its texts cannot be matched: a text has no edits"
    if item.near_why or item.far_why:
        return "" if remake else "its edits cannot be repeated here"
    return ""


class _FormSearch:
    def __init__(
        self, item: Triplet, score: ScorePairs, english: English, remake: MakeTriplets | None, budget: int
    ) -> None:
        self.item, self.english, self.remake, self.budget = item, english, remake, budget
        self._score, self.scored, self.is_cut_short, self.why = score, 0, False, ""

    def run(self) -> ShrinkResult | str:
        (whole,) = self._score_forms([self.item])
        if whole.margin > 0:
            return f"the model gets it right, by {whole.margin:.4f}"
        self.limit = MIN_MARGIN_SHARE * whole.margin
        here, least = whole, whole
        for find in (self._propose_shorter, self._propose_plainer):
            for _ in range(MAX_PASSES):
                good = [form for form in self._score_forms(find(here.item)) if form.margin <= self.limit]
                if not good:
                    break
                if least is whole:
                    least = max(good, key=lambda form: form.words)
                here = min(good, key=lambda form: form.words)  # the first of the shortest
        return ShrinkResult(whole, least, here, self.scored, self.is_cut_short, self.why if here is whole else "")

    def _score_forms(self, items: Sequence[Triplet]) -> list[ItemForm]:
        """Return these items with their margins, after scoring all at once. Items beyond the budget are left out."""
        left = max(self.budget - self.scored, 0) // 2
        self.is_cut_short |= left < len(items)
        some = items[:left]
        pairs = [pair for item in some for pair in item.pairs_to_score]
        values = list(self._score(pairs)) if pairs else []
        self.scored += len(pairs)
        return [
            ItemForm(item, round(float(near) - float(far), 6))
            for item, near, far in zip(some, values[::2], values[1::2], strict=True)
        ]

    def _parses(self, item: Triplet) -> tuple[Parse, ...]:
        self.english.parse_all(getattr(item, side) for side in SIDES)
        return tuple(self.english.stored_parse(getattr(item, side)) for side in SIDES)

    def _propose_shorter(self, item: Triplet) -> list[Triplet]:
        """Return the forms of the item that lack one of its units."""
        parses = self._parses(item)
        known = _find_common_units(self.english, parses, item) if self.remake is None else None
        edits = (*item.near_edits, *item.far_edits)
        counts = any(AMOUNT.search(f"{item.source[e.start : e.end]} {e.text}") for e in edits)
        there = [unit for unit in find_removable_units(self.english, parses[0]) if unit.kind != "number" or not counts]
        removals = [make_removal_edits(parses[0], unit) for unit in there]
        in_all = [c for c in removals if known is None or _span_of_removal(c) in known]
        forms = self._apply_changes(item, parses, in_all)
        if known is not None:
            forms += self._remove_units_elsewhere(
                item,
                parses,
                [
                    unit
                    for unit, change in zip(there, removals, strict=True)
                    if _span_of_removal(change) not in known or edit_all_texts(item, change) is None
                ],
            )
        self.why = self.why or (LESS if forms else OTHERWISE if in_all else BOUND if there else NO_PART)
        return forms

    def _remove_units_elsewhere(
        self, item: Triplet, parses: tuple[Parse, ...], units: Sequence[RemovableUnit]
    ) -> list[Triplet]:
        """Return forms that lack one of these units, if the near or far text has it elsewhere or in other words."""
        edited = []
        for unit in units:
            near = find_unit_with_same_content(self.english, parses[0], unit, parses[1], is_worded_alike=False)
            far = find_unit_with_same_content(self.english, parses[0], unit, parses[2], is_worded_alike=True)
            if near and far:
                changes = [make_removal_edits(parse, one) for parse, one in zip(parses, (unit, near, far), strict=True)]
                if (form := edit_each_text(item, changes)) is not None:
                    edited.append((changes, form))
        self.english.parse_all(getattr(form, side) for _, form in edited for side in SIDES)
        return [
            form for changes, form in edited
            if self._keeps_verbs_and_brackets(parses, after := self._parses(form))
            and all(keeps_parse(a, b, change) for a, b, change in zip(parses, after, changes, strict=True))
        ]  # fmt: skip

    def _propose_plainer(self, item: Triplet) -> list[Triplet]:
        """Return forms in which one rare word or name is replaced in all three texts."""
        parses = self._parses(item)
        replacements: list[Edits] = []
        for _ in range(MAX_TAGGING_ROUNDS):  # until the tags that it needs are known
            try:
                replacements = list(propose_plainer_words(self.english, parses[0]))
                break
            except MissingParses:
                self.english.parse_and_tag_missing()
        return self._apply_changes(
            item, parses, [change for change in replacements if _replaced_words_occur_once(item, change)]
        )

    def _apply_changes(self, item: Triplet, parses: tuple[Parse, ...], changes: Sequence[Edits]) -> list[Triplet]:
        """Return the item after each of these changes, without the results that would be parsed differently."""
        if self.remake is None:
            tried = [(change, edit_all_texts(item, change)) for change in changes]
        else:
            plain = [
                edit_all_texts(replace(item, near=item.source, far=item.source, near_edits=(), far_edits=()), change)
                for change in changes
            ]
            texts = [one.source for one in plain if one]
            again = dict(zip(texts, self.remake(item, texts), strict=True))
            tried = [(c, again.get(one.source) if one else None) for c, one in zip(changes, plain, strict=True)]
            tried = [(c, shrunk) for c, shrunk in tried if shrunk and replaces_same_words(item, shrunk)]
        there = [(change, shrunk) for change, shrunk in tried if shrunk is not None]
        self.english.parse_all(getattr(shrunk, side) for _, shrunk in there for side in SIDES)
        return [shrunk for change, shrunk in there if self._keeps_parses(item, shrunk, parses, change)]

    def _keeps_parses(self, item: Triplet, shrunk: Triplet, parses: tuple[Parse, ...], change: Edits) -> bool:
        after = self._parses(shrunk)
        if not self._keeps_verbs_and_brackets(parses, after):
            return False
        own: tuple[Edits, ...] = ((), item.near_edits, item.far_edits)
        sides = range(3) if self.remake is None else range(1)
        return all(keeps_parse(parses[i], after[i], change, own[i]) for i in sides)

    @staticmethod
    def _keeps_verbs_and_brackets(before: tuple[Parse, ...], after: tuple[Parse, ...]) -> bool:
        """Return whether each text that had a verb still has a finite one, and brackets and quotes come in pairs."""
        verbs = all(
            has_finite_verb(b) or not any(p in ("VERB", "AUX") for p in a.pos)
            for a, b in zip(before, after, strict=True)
        )
        return verbs and all(map(has_balanced_punctuation, after))


def _span_of_removal(change: Edits) -> tuple[int, int]:
    return change[-1].start, change[-1].end


def _find_common_units(english: English, parses: tuple[Parse, ...], item: Triplet) -> set[tuple[int, int]]:
    """Return the spans of the source that are units in all three texts, or that have the same head in all of them."""
    here = find_removable_units(english, parses[0])
    spans_by_side = []
    for parse, edits in zip(parses[1:], (item.near_edits, item.far_edits), strict=True):
        there = {_span_of_removal(make_removal_edits(parse, unit)) for unit in find_removable_units(english, parse)}
        spans = {_span_of_removal(make_removal_edits(parses[0], unit)) for unit in here}
        places = [
            (unit, _map_span_to_variant((parses[0].starts[unit.first], parses[0].ends[unit.last]), edits))
            for unit in here
        ]
        alike = {
            _span_of_removal(make_removal_edits(parses[0], unit))
            for unit in find_units_with_same_head(parse, places, parses[0])
        }
        spans_by_side.append({span for span in spans if _map_span_to_variant(span, edits) in there} | alike)
    return spans_by_side[0] & spans_by_side[1]


def _map_span_to_variant(span: tuple[int, int], edits: Sequence[Edit]) -> tuple[int, int]:
    """Return where a span of the source is in the edited text.

    The span ends with its last letter, so text that an edit inserts right after it is not part of it.
    """
    start, end = span
    return offset_in_variant(start, edits), offset_in_variant(end - 1, edits) + 1


def _replaced_words_occur_once(item: Triplet, change: Edits) -> bool:
    """Return whether each text has each replaced word once. Words of one or two letters may repeat."""
    for edit in change:
        word = item.source[edit.start : edit.end].lower()
        if any(getattr(item, side).lower().count(word) != 1 for side in SIDES) and len(word) > 2:
            return False
    return True


SEEDS = 8  # seeds: on a shorter source the generator draws differently


def make_triplet_remaker(
    build: Builder, *, level: int | str, maker: VariantMaker
) -> Callable[[Triplet, Sequence[str]], list[Triplet | None]]:
    """Return a function that makes an item's triplet again from other sources, with the check's own builder.

    Because the builder makes it, the new triplet is certified like the original. The function returns None for a source
    from which no triplet replaces the same words as the item. Generators choose words at random, so it tries several
    seeds.
    """

    def remake(item: Triplet, sources: Sequence[str]) -> list[Triplet | None]:
        triplets: dict[str, Triplet] = {}
        for at in range(SEEDS):
            left = [text for text in dict.fromkeys(sources) if text not in triplets]
            if not left:
                break
            groups = tuple(Group(str(i), text, text, item.cluster, split=item.split) for i, text in enumerate(left))
            data = Dataset(item.id.partition("/")[0], (), groups, "", len(groups))
            made: list[Triplet] = []
            with suppress(NothingToMeasure):
                # With its own cache, because the cached variants are those of the first seed.
                for one in build(data, level, replace(maker, seed=maker.seed + at, _made={})).included:
                    made += one.triplets if isinstance(one, Crossed) else [one] if isinstance(one, Triplet) else []
            triplets |= {one.source: replace(one, id=item.id) for one in made if replaces_same_words(item, one)}
        return [triplets.get(text) for text in sources]

    return remake
