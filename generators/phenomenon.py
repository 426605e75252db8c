"""Phenomena: a kept edit, a changed edit, a control and a mirror from one analysis of a sentence, and the list of all
phenomena.

Each `Phenomenon` is declared in its own file. An analysis may give several whole sentences with the same meaning and
several with a different meaning. Then `edits_from_rephrasings` chooses a kept text, a changed text and a mirror from
them. The mirror has the meaning of the changed text in other words (docs/method/probes.md). If possible, a coin decides
which text the edit distance favours, and the mirror favours the other one.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from itertools import product
from typing import Literal, NamedTuple, TypeVar

from encheck import generators as package
from encheck.generators.base import EXPERIMENTAL_OPTION, NEEDS_OWN_TEXT, NEEDS_PROBES, NamedGenerator, Outcome, Survey
from encheck.generators.phrases import capitalise_first_letter, statement_root
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.language.prose import why_not_edited
from encheck.scoring.triplets import nearer_by_edit_distance
from encheck.statistics.draws import Draws
from encheck.types import Edit, Group, MissingNeed, Validity, Variant, apply_edits

Side = Literal["kept", "changed", "control", "mirror"]
SIDES: tuple[Side, ...] = ("changed", "kept", "control", "mirror")
MIRRORED: tuple[Side, ...] = ("kept", "changed", "mirror")
WHY: Mapping[Side, str] = {
    "changed": "something else",
    "kept": "the same",
    "control": "another statement of the same place",
    "mirror": "what the changed text says, in other words",
}
SEVERAL = "no plain statement of one sentence"
NO_MIRROR = "no second way to say it"
NO_CONTROL = "no other statement for this place"
SURFACE_SIDES = (1, -1)
TokenChange = tuple[int, int, str]  # first token, one past the last, and the replacement


class SideEdit(NamedTuple):
    """The edits that make one text from a sentence, and their description: the certificate of the variant."""

    edits: tuple[Edit, ...]
    certificate: str


Edits = Mapping[tuple[Side, int], SideEdit | str]  # by side and level, if there are any; or why there are none


@dataclass(frozen=True, eq=False)
class Phenomenon:
    """A change of meaning with a kept text and a control: how to make them from English text, and their validity.

    It is declared once, in its own file. Checks use `generators`. `encheck data variants` lists `generators_from_text`.
    """

    name: str
    edits: Callable[[Parse, English, Draws], Edits | str]  # edits of a sentence, or the reason why it has none
    title: str  # a description of the changed text, for reports: "other numbers"
    trigger: re.Pattern[str] = re.compile("")  # a text without it is not parsed
    without: str = ""  # the reason where a text has none
    levels: tuple[int, ...] = (1,)  # levels of the changed text; the others are listed at the first
    sides: tuple[Side, ...] = SIDES  # listed sides
    experimental: tuple[Side, ...] = SIDES  # sides that blind readers rejected, or have not read
    readers: Mapping[Side, tuple[int, int]] = field(default_factory=dict)  # triples right, and read, by both of two
    in_probes: bool = False  # the probes have written edits of it
    listed_as: str = ""  # if a different generator has the name in listings
    survey: Survey | None = None

    def relation(self, side: Side) -> str:
        """Return the relation of a side's text to its sentence, such as "number" or "number_kept"."""
        return self.name if side == "changed" else f"{self.name}_{side}"

    @cached_property
    def generators_from_text(self) -> Mapping[Side, NamedGenerator]:
        """The generator of each side for any English text. Each has its name in the listing."""
        called = {side: self.relation(side).replace(self.name, self.listed_as or self.name) for side in SIDES}
        levels = {side: self.levels if side == "changed" else (1,) for side in self.sides}
        return {
            side: NamedGenerator(partial(self._make, side), name, levels=levels.get(side, ()), survey=self.survey)
            for side, name in called.items()
        }

    @cached_property
    def generators(self) -> Mapping[Side, NamedGenerator]:
        """The generators for checks.

        Each uses the written text of its side if the data have one, and otherwise makes a text.
        """
        return {
            side: NamedGenerator(
                partial(self._written_or_made, side), self.relation(side), label=made.name, survey=self.survey,
                is_written=True, is_experimental=side in self.experimental,
            )
            for side, made in self.generators_from_text.items()
        }  # fmt: skip

    def _make(self, side: Side, group: Group, *, level: int, rng: Draws, english: English) -> Outcome | None:
        relation = self.relation(side)
        if group.variants:
            return group.variant(relation, level)
        if english.recipe is not None:
            return f"the published recipe has no {self.name}"
        if not self.trigger.search(group.source):
            return self.without
        result = english.derive(
            _edit_finder(self, rng.run_seed, english.inventory if self.survey else None), group.source
        )
        if isinstance(result, str):
            return result
        own_level = level if len(self.levels) > 1 else 1
        edit = result.get((side, own_level), NO_CONTROL if side == "control" else NO_MIRROR)
        if isinstance(edit, str):
            return edit
        text = apply_edits(group.source, edit.edits)
        return Variant(text, relation, level, edit.edits, self.name, edit.certificate)

    def _written_or_made(self, side: Side, group: Group, *, level: int, rng: Draws, english: English) -> Outcome | None:
        relation, is_experimental = self.relation(side), side in self.experimental
        if not group.variants and (english.experimental or not is_experimental):
            return self._make(side, group, level=level, rng=rng, english=english)
        if result := group.variant(relation, level):
            return result
        if is_experimental and not group.variants and len(self.experimental) < len(SIDES):
            return MissingNeed(f"{relation} is made with {EXPERIMENTAL_OPTION} only", needs=EXPERIMENTAL_OPTION)
        plain: Mapping[Side, str] = {
            "changed": f"text with {self.title}", "kept": "other text with the same meaning",
            "control": "control text", "mirror": "second sentence",
        }  # fmt: skip
        what = plain[side]
        if self.in_probes:
            return MissingNeed(f"no {what} was written for this sentence", needs=NEEDS_PROBES)
        return MissingNeed(f"no {what} in these data", needs=NEEDS_OWN_TEXT)


@cache
def _edit_finder(phenomenon: Phenomenon, seed: int, _inventory: object) -> Callable[[English, Parse], Edits | str]:
    """Return a function that finds a sentence's edits in its parse.

    The edits are the same for all sides and levels of a seed.
    """
    return lambda english, parse: phenomenon.edits(parse, english, Draws(seed, phenomenon.name, parse.text))


class Rephrasings(NamedTuple):
    """Texts with the meaning of a sentence, texts with a different meaning, a control, and why the meanings differ."""

    kept: Sequence[str]
    changed: Sequence[str]
    why: str
    control: str = ""


def edits_from_rephrasings(
    read: Callable[[Parse, English, Draws], Rephrasings | str],
) -> Callable[[Parse, English, Draws], Edits | str]:
    """Return a function that chooses a phenomenon's edits from the rephrasings that `read` returns."""

    def edits(parse: Parse, english: English, rng: Draws) -> Edits | str:
        source = parse.text
        if why := why_not_edited(source):
            return why
        if statement_root(parse) is None or source.isupper():
            return SEVERAL
        ways = read(parse, english, rng)
        if isinstance(ways, str):
            return ways
        texts = choose_side_texts(source, ways.kept, ways.changed, rng)
        if isinstance(texts, str):
            return texts
        if ways.control and ways.control not in (source, *texts.values()):
            texts["control"] = ways.control
        return label_edits_by_side(source, {side: edit_between(source, text) for side, text in texts.items()}, ways.why)

    return edits


def label_edits_by_side(source: str, edits: Mapping[Side, Edit], why: str, *, says: Mapping[Side, str] = WHY) -> Edits:
    """Return one edit per side, at level 1.

    Its certificate has the replaced words and the description in `says`.
    """
    return {
        (side, 1): SideEdit((edit,), f"{why}: {source[edit.start : edit.end]} > {edit.text}: {says[side]}")
        for side, edit in edits.items()
    }


def choose_side_texts(source: str, kept: Sequence[str], changed: Sequence[str], rng: Draws) -> dict[Side, str] | str:
    """Return a kept text, a changed text and, if there is a second wording, a mirror; or why there are none.

    If no choice favours the sides as the coin decides, take one that nearly does.
    """
    kept, changed = ([text for text in dict.fromkeys(ways) if text != source] for ways in (kept, changed))
    if not kept or not changed:
        return NO_MIRROR
    favoured = rng.choice(SURFACE_SIDES)
    # Each choice of texts, with the side that the edit distance favours for the sentence and for the mirror.
    result: list[tuple[int, int, tuple[str, ...]]] = []
    for near, far in product(kept, changed):
        first, mirrors = nearer_by_edit_distance(source, near, far), [text for text in changed if text != far]
        result += [(first, nearer_by_edit_distance(one, far, near), (near, far, one)) for one in mirrors]
        result += [] if mirrors else [(first, 0, (near, far))]
    best = min(abs(first - favoured) + abs(first + second) for first, second, _ in result)
    texts = rng.choice(
        [texts for first, second, texts in result if abs(first - favoured) + abs(first + second) == best]
    )
    return dict(zip(MIRRORED, texts, strict=False))


def edit_between(source: str, text: str) -> Edit:
    """Return the single edit of whole words that turns the source into the text.

    >>> edit_between("All of us left.", "None of us left.")
    Edit(start=0, end=3, text='None')
    """
    start, most = 0, min(len(source), len(text))
    while start < most and source[start] == text[start]:
        start += 1
    while start and not (source[start - 1].isspace() or source[start - 1 : start] == "("):
        start -= 1
    behind, most = 0, min(len(source), len(text)) - start
    while behind < most and source[-1 - behind] == text[-1 - behind]:
        behind += 1
    while behind and source[-behind].isalnum():
        behind -= 1
    return Edit(start, len(source) - behind, text[start : len(text) - behind])


def replace_tokens(parse: Parse, *changes: TokenChange) -> str:
    """Return the text with some tokens replaced. The first word keeps its capital.

    An empty replacement also removes the blank before it.
    """
    text = parse.text
    for first, after, words in sorted(changes, reverse=True):
        start, end = parse.starts[first], parse.ends[after - 1] if after > first else parse.starts[first]
        if not words:
            start = len(text[:start].rstrip())
        if parse.words[first][:1].isupper() and (first == 0 or parse.words[first - 1] in ('"', "“", "``")):
            words = capitalise_first_letter(words)
        text = text[:start] + words + text[end:]
    return text


Declared = TypeVar("Declared", NamedGenerator, Phenomenon)


@cache
def all_generators() -> Mapping[str, NamedGenerator]:
    """Return the generators that work alone or at the place of another one, except those of phenomena."""
    return _load_declarations(NamedGenerator)


@cache
def all_phenomena() -> Mapping[str, Phenomenon]:
    """Return all phenomena, both those in the probes and those made from any English text."""
    return _load_declarations(Phenomenon)


def _load_declarations(kind: type[Declared]) -> dict[str, Declared]:
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    modules = [importlib.import_module(f"{package.__name__}.{name}") for name in names]
    result = {one.name: one for module in modules for one in vars(module).values() if isinstance(one, kind)}
    return dict(sorted(result.items()))


def phenomenon_generator(name: str, side: Side) -> NamedGenerator:
    """Return the generator of one side of a phenomenon. Raise ValueError for an unknown name.

    >>> from encheck.generators.phenomenon import phenomenon_generator
    >>> phenomenon_generator("number", "kept").name
    'number_kept'
    """
    if name not in all_phenomena():
        raise ValueError(f"{name!r} is not a phenomenon; there are {', '.join(all_phenomena())}")
    return all_phenomena()[name].generators[side]


def relation_validity(relation: str) -> Validity | None:
    """Return how many edits of this relation blind readers judged right. This limits any rate measured on them.

    A triple (a text with its kept and its changed edit, or with its control) is right if both readers confirm all its
    relations and its English (docs/method/generators.md). Return None for edits without a declared title.

    >>> from encheck.generators.phenomenon import relation_validity
    >>> relation_validity("number").right, relation_validity("temporal").rate, relation_validity("unheard-of")
    (252, None, None)
    """
    name = relation.removesuffix("_control")
    if one := all_phenomena().get(name):
        return Validity(relation, *one.readers.get("changed" if name == relation else "control", (0, 0)))
    generator = all_generators().get(relation)
    return Validity(relation, *generator.readers) if generator and generator.readers[1] else None


def relation_title(relation: str) -> str:
    """Return a description of the variants with this relation.

    >>> from encheck.generators.phenomenon import relation_title
    >>> relation_title("other_meaning"), relation_title("number_control"), relation_title("of_your_own")
    ('changes of meaning as small as a typing error', 'controls of other numbers', 'of your own')
    """
    name = relation.removesuffix("_control")
    declared = all_phenomena().get(name) or all_generators().get(name)
    title = (declared and declared.title) or name.replace("_", " ")
    return title if name == relation else f"controls of {title}"
