"""Predicates with their arguments: frames from a parse or from a file, and their spans.

A frame has one label per token, as in PropBank: B-V and I-V for the predicate, B-ARG0, I-ARG0 ... for its arguments, O
for the rest. In frames from a parse, the role of an argument is its dependency: B-nsubj. Chunks of C- and R- labels are
separate arguments. A span is a predicate with one of its arguments, in the order of the sentence ("Predicate-Argument
Based Bi-Encoder for Paraphrase Identification", section 3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from encheck.language.edits.conditions import strip_subtype
from encheck.language.parse import Parse

ARGUMENTS = frozenset("nsubj obj iobj obl dobj dative attr prep agent ccomp xcomp advcl advmod oprd".split())
Frame = Sequence[str]  # one label per token: B-V, I-V, B-ARG0 ... O
Spans = list[list[int]]


class Argument(NamedTuple):
    """An argument of a predicate: positions of the words of both, and the role."""

    predicate: tuple[int, ...]
    words: tuple[int, ...]
    role: str


def spans_of(frames: Sequence[Frame], *, length: int) -> Spans:
    """Token positions of every predicate with each of its arguments; of all tokens if there is no predicate.

    >>> spans_of([["B-ARG0", "B-V", "B-ARG1"]], length=3)
    [[0, 1], [1, 2]]
    """
    found = [span for frame in frames for span in _spans(frame)]
    return found or [list(range(length))]


def arguments_of(frames: Sequence[Frame]) -> tuple[Argument, ...]:
    """Every argument of every predicate.

    >>> arguments_of([["B-ARG0", "B-V", "B-ARG1"]])[1]
    Argument(predicate=(1,), words=(2,), role='ARG1')
    """
    found = []
    for frame in frames:
        predicate, arguments = _parts(frame)
        found += [Argument(tuple(predicate), tuple(words), role) for role, words in arguments]
    return tuple(found)


def _spans(frame: Frame) -> Iterator[list[int]]:
    predicate, arguments = _parts(frame)
    if predicate:
        yield from (sorted(predicate + words) for _, words in arguments)
        if not arguments:
            yield predicate


def _parts(frame: Frame) -> tuple[list[int], list[tuple[str, list[int]]]]:
    """The words of a frame's predicate, and role and words of each argument."""
    chunks: list[tuple[str, list[int]]] = []
    for i, label in enumerate(frame):
        kind, _, role = label.partition("-")
        if kind == "I" and chunks and chunks[-1][0] == role and chunks[-1][1][-1] == i - 1:
            chunks[-1][1].append(i)
        elif role:
            chunks.append((role, [i]))
    predicate = [i for role, tokens in chunks if role == "V" for i in tokens]
    return predicate, [chunk for chunk in chunks if chunk[0] != "V"]


def frames_of(parse: Parse) -> Iterator[Frame]:
    """A frame for every verb, and for every noun or adjective with a form of "be", from the parse."""
    for at in range(len(parse)):
        copula = parse.child(at, "cop")
        is_verb = parse.tags[at].startswith("VB") and strip_subtype(parse.deps[at]) not in ("aux", "auxpass", "cop")
        if not is_verb and copula is None:
            continue
        labels = ["O"] * len(parse)
        for i in parse.children[at]:
            if strip_subtype(parse.deps[i]) in ARGUMENTS:
                _put(labels, parse.subtree(i), strip_subtype(parse.deps[i]))
        _put(labels, [i for i in (copula, at, parse.child(at, "compound", "prt")) if i is not None], "V")
        yield labels


def _put(labels: list[str], tokens: Sequence[int], role: str) -> None:
    for n, i in enumerate(sorted(tokens)):
        labels[i] = f"{'I' if n and i - 1 in tokens else 'B'}-{role}"
