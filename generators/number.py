"""Another number in place of a number, and the same number in another notation: of any English text.

Of a number that can be written in two ways, the kept edit writes it in the other way, and the changed edit writes
another number in that way: both move as much of the notation. The second source, a mirror, has the other number in the
way of the text, so that what keeps the text changes the mirror and the other way round (docs/probes.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from encheck.generators.sides import Edits, Phenomenon, Side, SideEdit
from encheck.language.edits.articles import article
from encheck.language.english import English
from encheck.language.numbers.elsewhere import elsewhere
from encheck.language.numbers.mention import Form, Mention, Value
from encheck.language.numbers.mentions import mentions
from encheck.language.numbers.values import NEAR, SIZES
from encheck.language.parse import Parse
from encheck.statistics.draws import Draws
from encheck.surface import tokens
from encheck.types import Edit

OPENING = re.compile(r"(?:^|[.!?][\"'”’)]*\s)[\"'“‘(\s]*$")
ENDED = re.compile(
    r"[\"'”’)]*(?:$|\s+[\"'“‘(]*(?:The|It|He|She|They|We|I|You|But|And|In|On|At|A|An|This|That|His|Her)\b)"
)
LETTERS = 6  # of a word and the blank behind it
COIN = (1, -1, -1)  # which text the surface shall favour: most notations favour the kept one by themselves
Choice = tuple[Form, Value, float]


class Plan(NamedTuple):
    """The number that is edited, its other notation, and the other value of each size that has one."""

    mention: Mention
    form: Form
    values: dict[int, Value]


def edits(parse: Parse, english: English, rng: Draws) -> Edits | str:  # noqa: ARG001 - a phenomenon has all three
    """The same number in another notation; another one that is near (level 1), middle (2) or far (3), in both.

    The control is another statement beside the number: "12 people" > "12 women", "5 minutes" > "5 hours".
    """
    source, found = parse.text, mentions(parse)
    if isinstance(found, str):
        return found
    ranks = rng.ranks(len(found))
    plans = (_plan(found[at], rng, len(source)) for at in sorted(range(len(found)), key=ranks.__getitem__))
    plan = next(filter(None, plans), None)
    if plan is None:
        return "no other number that is near"

    one, form = plan.mention, plan.form
    made: dict[tuple[Side, int], SideEdit | str] = {}
    for level, size in SIZES.items():
        made["kept", level] = _side_edit(source, plan, form.write(one.value), "the same value")
        if level in plan.values:
            value, why = plan.values[level], f"another value, {size}"
            made["changed", level] = _side_edit(source, plan, form.write(value), why)
            made["mirror", level] = _side_edit(source, plan, one.own(value), f"{why}, same notation")
        else:
            made["changed", level] = made["mirror", level] = f"no other number that is {size}"
    if other := elsewhere(parse, one):
        start, end, word = other
        why = f"{one.kind}: {source[start:end]} > {word}: another statement of the same number"
        made |= dict.fromkeys((("control", level) for level in SIZES), SideEdit((Edit(start, end, word),), why))
    return made


def _plan(one: Mention, rng: Draws, context: int) -> Plan | None:
    """What is made of a number; None where no near value can be written in both notations.

    Surfaces favour the kept text or the changed one, as a coin has it where there is a choice: what goes by the surface
    shall win as often as it loses.
    """
    favoured = rng.choice(COIN)
    near = [(form, *found) for form in one.forms for found in _values(one, form, NEAR, context)]
    if not near:
        return None
    form, _, _ = _chosen(near, favoured, rng)
    values: dict[int, Value] = {}
    for size in SIZES:
        if found := [(form, *one_found) for one_found in _values(one, form, size, context)]:
            values[size] = _chosen(found, favoured, rng)[1]
    return Plan(one, form, values)


def _chosen(found: Sequence[Choice], favoured: int, rng: Draws) -> Choice:
    """One whose surface favours that side: the changed text as far as may be; else one that favours neither most."""
    there = [one for one in found if one[2] * favoured > 0]
    if not there:
        return min(found, key=lambda one: abs(one[2]))
    return rng.choice(there) if favoured > 0 else min(there, key=lambda one: one[2])


def _values(one: Mention, form: Form, size: int, context: int) -> list[tuple[Value, float]]:
    """(value, how much the surface favours the kept text) of those that both notations have, unlike the own ones."""
    kept, own = said_as(form.write, one.value), said_as(one.own, one.value)
    if kept is None or own is None or "".join(kept.split()) == "".join(own.split()):
        return []
    found = []
    of_kept = alike(own, kept, context)
    for value in one.beside(size):
        said, mirrored = said_as(form.write, value), said_as(one.own, value)
        if said and mirrored and said not in (kept, own) and mirrored not in (kept, own, said):
            found.append((value, of_kept - alike(own, said, context)))
    return found


def alike(own: str, other: str, context: int) -> float:
    """How alike two texts are that differ in these words alone: by words and by trigrams (see `encheck.surface`)."""
    return _shared(tokens(own), tokens(other), context / LETTERS) + _shared(_runs(own), _runs(other), context)


def _shared(first: Iterable[str], second: Iterable[str], around: float) -> float:
    """The share of what two texts have in common, with so much around it that they share."""
    one, other = set(first), set(second)
    return (around + len(one & other)) / (around + len(one | other))


def _runs(text: str) -> list[str]:
    return [f" {text} "[i : i + 3].lower() for i in range(len(text))]


def said_as(write: Callable[[Value], str], value: Value) -> str | None:
    """A value in a notation; None where it cannot be written so."""
    try:
        return write(value)
    except ValueError:
        return None


def _side_edit(source: str, plan: Plan, text: str, why: str) -> SideEdit:
    edits = edits_for(source, plan.mention, text)
    said = source[plan.mention.start : plan.mention.end]
    return SideEdit(edits, f"{plan.mention.kind}: {said} > {edits[-1].text}: {why}; notation: {plan.form.name}")


def edits_for(source: str, one: Mention, text: str) -> tuple[Edit, ...]:
    """The edit of a number, with a full stop that an abbreviation shared with its sentence, capital and article."""
    text = capital(source, one.start, text)
    if source[one.end - 1] == "." and not text.endswith(".") and ENDED.match(source, one.end):
        text += "."
    edits: tuple[Edit, ...] = (Edit(one.start, one.end, text),)
    found = re.search(r"\b(an?)\s+$", source[: one.start], re.IGNORECASE)
    if found and (wanted := article(text)) != found[1].lower():
        wanted = wanted.capitalize() if found[1][0].isupper() else wanted
        edits = (Edit(found.start(1), found.end(1), wanted), *edits)
    return edits


def capital(source: str, start: int, text: str) -> str:
    """The text with a capital letter where a sentence begins, unless its writer uses no capitals and no full stops."""
    begins = OPENING.search(source[:start]) is not None and not source[start].islower()
    uses_none = not any(sign.isupper() for sign in source) and source[-1] not in ".!?"
    return text[0].upper() + text[1:] if begins and not uses_none else text


NUMBER = Phenomenon(
    "number", edits, "other numbers", levels=tuple(SIZES), experimental=(), in_probes=True,
    readers={"changed": (252, 260), "control": (105, 106)},
)  # fmt: skip
