"""Replace a name by a different name, or write the same name in a second notation, in any English text.

For "Helen Marsh", "H. Marsh" is the same person and "Laura Doyle" a different one. The other name comes from the same
data if they contain one of its kind, and otherwise from a list. A mirror has the other name in the notation that the
changed text does not use. So the edit that keeps the text changes the mirror, and vice versa (docs/method/probes.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from encheck.generators.number import ENDED, OPENING, similarity_in_context
from encheck.generators.phenomenon import Edits, Phenomenon, Side, SideEdit
from encheck.language.english import English
from encheck.language.name_tables import FEMALE, GENDERED, OTHERS, PEOPLE, SURNAMES, TITLES
from encheck.language.names import Name, NamedThing, find_names, leaders_by_surname, list_known_things
from encheck.language.parse import Parse
from encheck.statistics.draws import Draws
from encheck.types import Edit, content_hash

COIN = (1, -1, -1)  # which text the surface should favour: most notations favour the kept one anyway
MAX_CANDIDATES = 8  # number of other names from which the surface decides
ABBREVIATED = re.compile(r"(?:\b[A-Z][a-z]{0,3}|\.[A-Z]|\bvs|\betc)\.\s*$")
POSSESSIVE = re.compile(r"\s?['’]s\b")
MISTER = frozenset(["Mr.", "Mrs.", "Ms."])  # show the gender, so that any surname can follow them
COMMON_NAME_WORDS = frozenset(
    ["the", "state", "city", "republic", *(word.lower() for pair in TITLES.items() for word in pair)]
)
MAX_NAMES_PER_KIND = 200  # names of a data set, of each kind
WHY: Mapping[Side, str] = {
    "changed": "another",
    "kept": "the same",
    "control": "another statement of the same place",
    "mirror": "another, in the other notation",
}


@dataclass(frozen=True, eq=False)
class Inventory:
    """The things that a data set names, grouped by kind."""

    by_kind: Mapping[str, tuple[NamedThing, ...]]

    def things_of_kinds(self, *kinds: str) -> tuple[NamedThing, ...]:
        """Return the things of these kinds."""
        return tuple(thing for kind in kinds for thing in self.by_kind.get(kind, ()))


NO_INVENTORY = Inventory({})


class NameChange(NamedTuple):
    """The name to replace, a different name, and the notation of the different name in the changed text."""

    name: Name
    thing: NamedThing
    notation: int


def collect_inventory(english: English, texts: Sequence[str]) -> Inventory:
    """Return the things that these texts name, at most `MAX_NAMES_PER_KIND` per kind.

    Their order depends only on their names.
    """
    found = (english.derive(_find_names, text) for text in texts)
    mentioned = {name.thing for names_of_text in found if not isinstance(names_of_text, str) for name in names_of_text}
    ranked = sorted(mentioned, key=lambda thing: content_hash(*thing.forms))
    kinds = sorted({thing.kind for thing in ranked})
    return Inventory(
        {kind: tuple([thing for thing in ranked if thing.kind == kind][:MAX_NAMES_PER_KIND]) for kind in kinds}
    )


def _find_names(_english: English, parse: Parse) -> tuple[Name, ...] | str:
    return find_names(parse)


def entity_edits(parse: Parse, english: English, rng: Draws) -> Edits | str:
    """Return edits that name a different thing, and edits that write the same name in a second notation.

    The thing is a person, place or organisation. Notations are "H. Marsh" or "the city of Oslo". The mirror has the
    other name in the notation that the changed text does not use. The control puts a different statement in place of
    the name: "someone else", "another city".
    """
    source, found, known = parse.text, english.derive(_find_names, parse.text), english.inventory or NO_INVENTORY
    if isinstance(found, str):
        return found
    ranks = rng.random_ranks(len(found))
    plans = (
        _choose_name_change(found[at], parse, known, rng) for at in sorted(range(len(found)), key=ranks.__getitem__)
    )
    plan = next(filter(None, plans), None)
    if plan is None:
        return "no other name of its kind"

    name, thing = plan.name, plan.thing
    made: dict[Side, list[Edit]] = {
        "kept": [_name_edit(source, one.start, one.end, name.other) for one in name.spans if one.role == "whole"]
    }
    sides: tuple[tuple[Side, int], ...] = (("changed", plan.notation), ("mirror", 1 - plan.notation))
    for side, notation in sides:
        made[side] = [_name_edit(source, one.start, one.end, thing.write(one.role, notation)) for one in name.spans]
    if name.control is not None:
        kind = "person" if thing.kind in ("titled", "surname") else thing.kind
        made["control"] = [_name_edit(source, name.control.start, name.control.end, OTHERS[kind])]
    return {
        (side, 1): SideEdit(tuple(some), f"{thing.kind}: {name.own} > {some[0].text}: {WHY[side]}")
        for side, some in made.items()
        if some
    }


def _choose_name_change(name: Name, parse: Parse, known: Inventory, rng: Draws) -> NameChange | None:
    """Return a different name and its notation.

    A coin decides whether the surface favours the kept or the changed text.
    """
    replacements: list[NamedThing] = []  # from the data or else from the lists, without what the text also names
    for inventory in (known, LISTED):
        replacements = replacements or [
            one for one in _things_of_same_kind(name.thing, inventory, parse) if _is_different_thing(name, one, parse)
        ]
    others = [one for one in replacements if _forms_fit_possessive(parse.text, name, *one.forms)]
    if not others or not _forms_fit_possessive(parse.text, name, name.other):
        return None
    favoured = rng.choice(COIN)
    ranked = sorted(others, key=lambda one: content_hash(str(rng.run_seed), parse.text, *one.forms))[:MAX_CANDIDATES]
    # Also the same given name with the other surname, which the surface favours more.
    own = name.thing
    for other in list(ranked) if own.kind == "person" else ():
        whole, initials = (f"{form.removesuffix(own.last)}{other.last}" for form in own.forms)
        ranked.append(NamedThing("person", (whole, initials), own.gender, own.given, other.last))
    plans = [NameChange(name, one, notation) for one in ranked for notation in (0, 1)]
    # How much the surface favours the kept text over the changed one.
    around = len(parse.text)
    of_kept = similarity_in_context(name.own, name.other, around)
    favours = {
        plan: of_kept - similarity_in_context(name.own, plan.thing.forms[plan.notation], around) for plan in plans
    }
    wanted = [plan for plan in plans if favours[plan] * favoured > 0]
    return wanted[0] if wanted else min(plans, key=lambda plan: abs(favours[plan]))


def _forms_fit_possessive(text: str, name: Name, *forms: str) -> bool:
    """Return whether no form that ends in *s* would come before the *'s* of the name."""
    is_possessive = any(POSSESSIVE.match(text, spot.end) for spot in name.spans)
    return not is_possessive or not any(form.endswith("s") for form in forms)


def _things_of_same_kind(thing: NamedThing, inventory: Inventory, parse: Parse) -> Iterator[NamedThing]:
    """Yield the things of the same kind as `thing`. If it has a title, they have the same title."""
    if thing.kind not in ("titled", "surname"):
        yield from inventory.things_of_kinds(thing.kind)
        return
    is_gendered = thing.kind == "titled" and thing.given not in MISTER and bool(GENDERED & parse.lower_words)
    surnames = (
        SURNAMES if is_gendered else {one.last for one in inventory.things_of_kinds("person", "titled", "surname")}
    )
    for last in sorted(surnames):
        short = last if thing.kind == "surname" else f"{TITLES[thing.given]} {last}"
        titled = f"{thing.given} {last}"
        forms = (short, titled) if thing.kind == "surname" else (titled, short)
        yield NamedThing(thing.kind, forms, thing.gender, thing.given, last)


def _load_listed_things() -> Inventory:
    """Return the listed places, organisations, persons and leaders."""
    persons = []
    for name in PEOPLE:
        given, last = name.split()
        gender = "f" if given in FEMALE else "m"
        persons.append(NamedThing("person", (name, f"{given[0]}. {last}"), gender, given, last))
    by_kind: dict[str, tuple[NamedThing, ...]] = {}
    for thing in (*list_known_things(), *persons, *leaders_by_surname().values()):
        by_kind[thing.kind] = (*by_kind.get(thing.kind, ()), thing)
    return Inventory(by_kind)


LISTED = _load_listed_things()


def _is_different_thing(name: Name, one: NamedThing, parse: Parse) -> bool:
    """Return whether `one` is a different thing of the same gender, and the text contains none of its words."""
    thing = name.thing
    if one.forms == thing.forms or (one.last and one.given == one.last) or (thing.last and one.last == thing.last):
        return False
    if (
        thing.kind in ("person", "leader")
        and thing.gender != one.gender
        and (thing.gender or GENDERED & parse.lower_words)
    ):
        return False
    own = _words_in(*thing.forms, name.own, name.other)
    new = _identifying_words(one)
    return not (new & parse.lower_words) - own and (thing.kind == "country" or new.isdisjoint(own))


@lru_cache(maxsize=20_000)
def _words_in(*forms: str) -> frozenset[str]:
    return frozenset(word for form in forms for word in form.lower().split())


@lru_cache(maxsize=20_000)
def _identifying_words(thing: NamedThing) -> frozenset[str]:
    """Return the words of a name that identify a person or thing."""
    return frozenset(word for word in _words_in(*thing.forms) if len(word) > 3 and word not in COMMON_NAME_WORDS)


def _name_edit(source: str, start: int, end: int, text: str) -> Edit:
    """Return the edit, with the initial capital adapted.

    It also adapts a full stop that an abbreviation shares with its sentence.
    """
    if source[end - 1] == "." and not text.endswith(".") and ENDED.match(source, end):
        text += "."
    if text.endswith(".") and source[end : end + 1] == ".":
        text = text[:-1]
    begins = OPENING.search(source[:start]) and not ABBREVIATED.search(source[:start]) and not source[start].islower()
    return Edit(start, end, text[0].upper() + text[1:] if begins else text)


ENTITY = Phenomenon(
    "entity", entity_edits, "other names", experimental=("control",), survey=collect_inventory, in_probes=True,
    readers={"changed": (208, 221), "control": (101, 103)},
)  # fmt: skip
