"""Kept edit, changed edit, control and mirror of a phenomenon, from one reading of a sentence.

A reading gives the ways to say the same and the ways to say something else, each a whole sentence. Of these a kept
text, a changed text and a mirror are chosen: the mirror says what the changed text says, in other words
(docs/probes.md). A coin decides which text the edit distance favours, and the mirror pulls the other way, where there
is such a choice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

from encheck.generators.base import Generator, Outcome, listed, seeded_as
from encheck.generators.moving import capital, root_of
from encheck.generators.written import written
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.language.prose import why_left
from encheck.scoring.differences import favour
from encheck.statistics.draws import Draws
from encheck.types import Edit, Group, Variant, apply_edits

SIDES = ("changed", "kept", "control", "mirror")
WHY = {
    "changed": "something else",
    "kept": "the same",
    "control": "another statement of the same place",
    "mirror": "what the changed text says, in other words",
}
SEVERAL = "no plain statement of one sentence"
NO_MIRROR = "no second way to say it"
NO_CONTROL = "no other statement for this place"
COIN = (1, -1)
Change = tuple[int, int, str]  # first token, one past the last, and what stands there


class Ways(NamedTuple):
    """What a sentence can become: texts that say the same, texts that say something else, a control, and why."""

    kept: Sequence[str]
    changed: Sequence[str]
    why: str
    control: str = ""


Reading = Callable[[Parse, English, Draws], Ways | str]


class _Plan(NamedTuple):
    texts: dict[str, str]
    why: str


def sides(
    name: str, read: Reading, *, trigger: re.Pattern[str], without: str, called: str = ""
) -> dict[str, Generator]:
    """The generators of a phenomenon, by side; `without` is the reason where a text has no word of the `trigger`.

    They belong to the module that has `read`, for the listing, which calls them as the phenomenon is `called`.
    """

    @cache
    def planning(seed: int) -> Callable[[English, Parse], _Plan | str]:
        return lambda english, parse: _plan(parse, english, Draws(seed, name, parse.text), read)

    def made(side: str) -> Generator:
        relation = name if side == "changed" else f"{name}_{side}"

        def generate(group: Group, *, level: int, rng: Draws, english: English) -> Outcome | None:
            if group.variants:
                return written(group, relation, level=level)
            if english.mode == "paper":
                return f"the published recipe has no {name}"
            if not trigger.search(group.source):
                return without
            found = english.read(planning(rng.run_seed), group.source)
            return found if isinstance(found, str) else _variant(group.source, found, side, relation, level, name)

        generate.__name__ = relation.replace(name, called or name)
        generate.__module__ = read.__module__
        return listed(1)(seeded_as(name)(generate))

    return {side: made(side) for side in SIDES}


def _variant(source: str, plan: _Plan, side: str, relation: str, level: int, name: str) -> Variant | str:
    if side not in plan.texts:
        return NO_CONTROL if side == "control" else NO_MIRROR
    edit = edit_between(source, plan.texts[side])
    certificate = f"{plan.why}: {source[edit.start : edit.end]} > {edit.text}: {WHY[side]}"
    return Variant(apply_edits(source, (edit,)), relation, level, (edit,), name, certificate)


def _plan(parse: Parse, english: English, rng: Draws, read: Reading) -> _Plan | str:
    if why := why_left(parse.text):
        return why
    if root_of(parse) is None or parse.text.isupper():
        return SEVERAL
    found = read(parse, english, rng)
    if isinstance(found, str):
        return found
    texts = chosen(parse.text, found.kept, found.changed, rng)
    if isinstance(texts, str):
        return texts
    if found.control and found.control not in (parse.text, *texts.values()):
        texts["control"] = found.control
    return _Plan(texts, found.why)


def chosen(source: str, kept: Sequence[str], changed: Sequence[str], rng: Draws) -> dict[str, str] | str:
    """Kept text, changed text and, where there are two ways to say it, mirror; or the reason why there are none.

    Where no choice favours the sides as the coin has them, one that comes near.
    """
    kept, changed = ([text for text in dict.fromkeys(ways) if text != source] for ways in (kept, changed))
    if not kept or not changed:
        return NO_MIRROR
    favoured = rng.choice(COIN)
    found = list(_choices(source, kept, changed))
    best = min(abs(first - favoured) + abs(first + second) for first, second, _ in found)
    texts = rng.choice([texts for first, second, texts in found if abs(first - favoured) + abs(first + second) == best])
    return dict(zip(("kept", "changed", "mirror"), texts, strict=False))


def _choices(source: str, kept: Sequence[str], changed: Sequence[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Each choice of texts, with the side that the edit distance favours from the sentence and from the mirror."""
    for near, far in product(kept, changed):
        first = favour(source, near, far)
        mirrors = [text for text in changed if text != far]
        if not mirrors:
            yield first, 0, (near, far)
        for mirror in mirrors:
            yield first, favour(mirror, far, near), (near, far, mirror)


def edit_between(source: str, text: str) -> Edit:
    """The one edit of whole words that makes the text of the source.

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


def rewritten(parse: Parse, *changes: Change) -> str:
    """The text with other words in the place of some tokens; the first word keeps its capital.

    A change with no words takes the blank before it away.
    """
    text = parse.text
    for first, after, words in sorted(changes, reverse=True):
        start, end = parse.starts[first], parse.ends[after - 1] if after > first else parse.starts[first]
        if not words:
            start = len(text[:start].rstrip())
        if parse.words[first][:1].isupper() and (first == 0 or parse.words[first - 1] in ('"', "“", "``")):
            words = capital(words)
        text = text[:start] + words + text[end:]
    return text
