"""The search: greedy passes until nothing changes, with all candidates of a pass scored at once.

The method is delta debugging (Zeller and Hildebrandt 2002), as in hypothesis's shrinker: first remove the longest part
without which the failure remains. The parse decides what can be removed, and candidates whose parse changes are
discarded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from encheck.datasets.dataset import Dataset
from encheck.errors import NothingToMeasure
from encheck.ids import ItemId
from encheck.items.builders import Builder
from encheck.items.variants import VariantMaker
from encheck.language.english import English, Waiting
from encheck.language.parse import Parse
from encheck.scoring.crossed import Crossed
from encheck.scoring.triplets import Triplet
from encheck.shrinking.cut import (
    SIDES,
    edit_all_texts,
    edit_each_text,
    edits_or_all,
    gives_up_the_same,
    offset_in_variant,
    plainer_words,
    reads_alike,
    removal_edits,
)
from encheck.shrinking.units import (
    AMOUNT,
    RemovableUnit,
    has_verb,
    is_whole,
    removable_units,
    same_content,
    units_that_hang_alike,
)
from encheck.types import Edit, Group

BUDGET = 600  # maximum scored pairs per item
SHARE = 0.5  # part of the margin that must remain
PASSES = 24
ROUNDS = 50
WRITTEN = "crossed"  # generator of ids: both sides written by hand, with a different source
NO_ENGLISH = ("jumble", "swap")  # whose texts are not parsed
NO_PART = "the sentence has no part that can be removed"
BOUND = "the parts that the sentence could lose cannot be removed from the near or the far text"
OTHERWISE = "the rest would be parsed differently, or its edits cannot be made on it"
LESS = "without any of its parts the model errs by less than half of the margin"
ScorePairs = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
Edits = tuple[Edit, ...]
MakeTriplets = Callable[
    [Triplet, Sequence[str]], list[Triplet | None]
]  # a triplet of each source by the item's generators


@dataclass(frozen=True, slots=True)
class ItemForm:
    """A form of an item, and sim(source, near) - sim(source, far) under the model."""

    item: Triplet
    margin: float

    @property
    def words(self) -> int:
        """The number of words in its three texts together."""
        return sum(len(getattr(self.item, side).split()) for side in SIDES)


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The original item, its least shrunk form and its shortest; both are `whole` if nothing could be removed.

    `scored` counts the scored pairs. `is_cut_short` says that the budget was used up. `why` explains why nothing could
    be removed; empty if something was.
    """

    whole: ItemForm
    least: ItemForm
    shortest: ItemForm
    scored: int
    is_cut_short: bool = False
    why: str = ""

    @property
    def gone(self) -> float:
        """The share of its words that could be removed."""
        return 1 - self.shortest.words / self.whole.words


def shrink(
    item: Triplet, score: ScorePairs, english: English, *, remake: MakeTriplets | None = None, budget: int = BUDGET
) -> Shrunk | str:
    """The shortest, plainest form of a failure that still errs by half its margin; or a reason why it has none.

    `remake` repeats the edits of generated texts. Without it, or if both texts were written by hand, the same part is
    removed from all three texts, and only outside all edits. The same item and model give the same form.
    """
    item = with_edits(item)
    if why := refusal(item, remake):
        return why
    return _FormSearch(item, score, english, remake if item.near_why or item.far_why else None, budget).run()


def with_edits(item: Triplet) -> Triplet:
    """The item; a side of a crossed group, which was written by hand, gets its edits by comparison."""
    known = item.id.parts_or_none if isinstance(item.id, ItemId) else None
    if known is None or known.generator != WRITTEN or item.near_edits or item.far_edits:
        return item
    near, far = (edits_or_all(item.source, text) for text in (item.near, item.far))
    return replace(item, near_edits=near, far_edits=far)


def refusal(item: Triplet, remake: MakeTriplets | None) -> str:
    """The reason why this item cannot be shrunk; empty if it can."""
    if any(part in item.id for name in NO_ENGLISH for part in (f"/{name}/", f"/{name}+")):
        return "its words are jumbled on purpose, so the parts of its texts cannot be matched"
    if any(not edits and not why for edits, why in ((item.near_edits, item.near_why), (item.far_edits, item.far_why))):
        return "the parts of its texts cannot be matched: a text has no edits"
    if item.near_why or item.far_why:
        return "" if remake else "its edits cannot be made again here"
    return ""


class _FormSearch:
    def __init__(
        self, item: Triplet, score: ScorePairs, english: English, remake: MakeTriplets | None, budget: int
    ) -> None:
        self.item, self.english, self.remake, self.budget = item, english, remake, budget
        self._score, self.scored, self.is_cut_short, self.why = score, 0, False, ""

    def run(self) -> Shrunk | str:
        (whole,) = self._forms([self.item])
        if whole.margin > 0:
            return f"the model gets it right, by {whole.margin:.4f}"
        self.limit = SHARE * whole.margin
        here, least = whole, whole
        for find in (self._shorter, self._plainer):
            for _ in range(PASSES):
                good = [form for form in self._forms(find(here.item)) if form.margin <= self.limit]
                if not good:
                    break
                if least is whole:
                    least = max(good, key=lambda form: form.words)
                here = min(good, key=lambda form: form.words)  # the first of the shortest
        return Shrunk(whole, least, here, self.scored, self.is_cut_short, self.why if here is whole else "")

    def _forms(self, items: Sequence[Triplet]) -> list[ItemForm]:
        """These items with their margins, all scored at once; empty if the budget is used up."""
        left = max(self.budget - self.scored, 0) // 2
        self.is_cut_short |= left < len(items)
        some = items[:left]
        pairs = [pair for item in some for pair in item.pairs]
        values = list(self._score(pairs)) if pairs else []
        self.scored += len(pairs)
        return [
            ItemForm(item, round(float(near) - float(far), 6))
            for item, near, far in zip(some, values[::2], values[1::2], strict=True)
        ]

    def _parses(self, item: Triplet) -> tuple[Parse, ...]:
        self.english.parse_all(getattr(item, side) for side in SIDES)
        return tuple(self.english.parse(getattr(item, side)) for side in SIDES)

    def _shorter(self, item: Triplet) -> list[Triplet]:
        """The item without each of its units."""
        parses = self._parses(item)
        known = _known(self.english, parses, item) if self.remake is None else None
        edits = (*item.near_edits, *item.far_edits)
        counts = any(AMOUNT.search(f"{item.source[e.start : e.end]} {e.text}") for e in edits)
        there = [unit for unit in removable_units(self.english, parses[0]) if unit.kind != "number" or not counts]
        found = [removal_edits(parses[0], unit) for unit in there]
        in_all = [c for c in found if known is None or _removed_span(c) in known]
        made = self._made(item, parses, in_all)
        if known is not None:
            made += self._elsewhere(
                item,
                parses,
                [
                    unit
                    for unit, change in zip(there, found, strict=True)
                    if _removed_span(change) not in known or edit_all_texts(item, change) is None
                ],
            )
        self.why = self.why or (LESS if made else OTHERWISE if in_all else BOUND if there else NO_PART)
        return made

    def _elsewhere(self, item: Triplet, parses: tuple[Parse, ...], found: Sequence[RemovableUnit]) -> list[Triplet]:
        """The item without each of these units, if the near or the far text has it elsewhere or in other words."""
        made = []
        for unit in found:
            near = same_content(self.english, parses[0], unit, parses[1], is_worded_alike=False)
            far = same_content(self.english, parses[0], unit, parses[2], is_worded_alike=True)
            if near and far:
                changes = [removal_edits(parse, one) for parse, one in zip(parses, (unit, near, far), strict=True)]
                if (form := edit_each_text(item, changes)) is not None:
                    made.append((changes, form))
        self.english.parse_all(getattr(form, side) for _, form in made for side in SIDES)
        return [
            form for changes, form in made
            if self._stands(parses, after := self._parses(form))
            and all(reads_alike(a, b, change) for a, b, change in zip(parses, after, changes, strict=True))
        ]  # fmt: skip

    def _plainer(self, item: Triplet) -> list[Triplet]:
        """The item with each of its rare words and names replaced, in all three texts."""
        parses = self._parses(item)
        found = _once_known(self.english, lambda: list(plainer_words(self.english, parses[0])))
        return self._made(item, parses, [change for change in found if _stands_alone(item, change)])

    def _made(self, item: Triplet, parses: tuple[Parse, ...], found: Sequence[Edits]) -> list[Triplet]:
        """The forms of the item with each of these changes that keep their parse."""
        if self.remake is None:
            tried = [(change, edit_all_texts(item, change)) for change in found]
        else:
            plain = [
                edit_all_texts(replace(item, near=item.source, far=item.source, near_edits=(), far_edits=()), change)
                for change in found
            ]
            texts = [one.source for one in plain if one]
            again = dict(zip(texts, self.remake(item, texts), strict=True))
            tried = [(c, again.get(one.source) if one else None) for c, one in zip(found, plain, strict=True)]
            tried = [(c, made) for c, made in tried if made and gives_up_the_same(item, made)]
        there = [(change, made) for change, made in tried if made is not None]
        self.english.parse_all(getattr(made, side) for _, made in there for side in SIDES)
        return [made for change, made in there if self._reads(item, made, parses, change)]

    def _reads(self, item: Triplet, made: Triplet, parses: tuple[Parse, ...], change: Edits) -> bool:
        after = self._parses(made)
        if not self._stands(parses, after):
            return False
        own: tuple[Edits, ...] = ((), item.near_edits, item.far_edits)
        sides = range(3) if self.remake is None else range(1)
        return all(reads_alike(parses[i], after[i], change, own[i]) for i in sides)

    @staticmethod
    def _stands(before: tuple[Parse, ...], after: tuple[Parse, ...]) -> bool:
        """Whether each text has a verb if it had one, and its brackets and quotes come in pairs."""
        verbs = all(
            has_verb(b) or not any(p in ("VERB", "AUX") for p in a.pos) for a, b in zip(before, after, strict=True)
        )
        return verbs and all(map(is_whole, after))


def _removed_span(change: Edits) -> tuple[int, int]:
    return change[-1].start, change[-1].end


def _known(english: English, parses: tuple[Parse, ...], item: Triplet) -> set[tuple[int, int]]:
    """The spans of the source that are units in all three texts, or have the same head in them."""
    here = removable_units(english, parses[0])
    found = []
    for parse, edits in zip(parses[1:], (item.near_edits, item.far_edits), strict=True):
        there = {_removed_span(removal_edits(parse, unit)) for unit in removable_units(english, parse)}
        spans = {_removed_span(removal_edits(parses[0], unit)) for unit in here}
        places = [(unit, _mapped((parses[0].starts[unit.first], parses[0].ends[unit.last]), edits)) for unit in here]
        alike = {
            _removed_span(removal_edits(parses[0], unit)) for unit in units_that_hang_alike(parse, places, parses[0])
        }
        found.append({span for span in spans if _mapped(span, edits) in there} | alike)
    return found[0] & found[1]


def _mapped(span: tuple[int, int], edits: Sequence[Edit]) -> tuple[int, int]:
    """The span in an edited text. Its end is that of its last letter, which an edit right after it does not move."""
    start, end = span
    return offset_in_variant(start, edits), offset_in_variant(end - 1, edits) + 1


def _stands_alone(item: Triplet, change: Edits) -> bool:
    """Whether the replaced words occur once in each text."""
    for edit in change:
        word = item.source[edit.start : edit.end].lower()
        if any(getattr(item, side).lower().count(word) != 1 for side in SIDES) and len(word) > 2:
            return False
    return True


def _once_known(english: English, ask: Callable[[], list[Edits]]) -> list[Edits]:
    """The result of `ask`, once the tags that it needs are known."""
    for _ in range(ROUNDS):
        try:
            return ask()
        except Waiting:
            english.fetch()
    return []


SEEDS = 8  # seeds: on a shorter source the generator draws differently


def remaker(
    build: Builder, *, level: int | str, maker: VariantMaker
) -> Callable[[Triplet, Sequence[str]], list[Triplet | None]]:
    """A function that makes a check's items from other sentences with the check's own builder, so that their
    certificates hold.

    It returns None for a sentence without a triplet that replaces the same words as the item. A generator chooses words
    at random, so several seeds are tried.
    """

    def remake(item: Triplet, sources: Sequence[str]) -> list[Triplet | None]:
        found: dict[str, Triplet] = {}
        for at in range(SEEDS):
            left = [text for text in dict.fromkeys(sources) if text not in found]
            made = _built(build, item, left, level, replace(maker, seed=maker.seed + at)) if left else ()
            found |= {one.source: replace(one, id=item.id) for one in made if gives_up_the_same(item, one)}
        return [found.get(text) for text in sources]

    return remake


def _built(
    build: Builder, item: Triplet, sources: Sequence[str], level: int | str, maker: VariantMaker
) -> Iterator[Triplet]:
    groups = tuple(Group(str(i), text, text, item.cluster, split=item.split) for i, text in enumerate(sources))
    with suppress(NothingToMeasure):
        made = build(Dataset(item.id.partition("/")[0], (), groups, "", len(groups)), level, maker).included
        for one in made:
            yield from one.triplets if isinstance(one, Crossed) else [one] if isinstance(one, Triplet) else ()
