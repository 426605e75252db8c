"""A parsed text: what the generators know of it, column by column, and how it is kept."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc

ITEM, COLUMN = "\x1f", "\x1e"


@dataclass(frozen=True)
class Parse:
    """One text, token by token. Every column has one entry a token.

    `starts` and `ends` are offsets in characters; `tags` are Penn Treebank tags, `pos` and `deps` those of Universal
    Dependencies; `heads` are positions of tokens (its own for a root); `entities` are "B-PER", "I-PER" ... or "".
    """

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    tags: tuple[str, ...]
    pos: tuple[str, ...]
    lemmas: tuple[str, ...]
    heads: tuple[int, ...]
    deps: tuple[str, ...]
    entities: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.tags)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The tokens as they stand in the text."""
        return tuple(self.text[a:b] for a, b in zip(self.starts, self.ends, strict=True))

    @cached_property
    def lowers(self) -> tuple[str, ...]:
        """The tokens in lower case."""
        return tuple(word.lower() for word in self.words)

    @cached_property
    def bases(self) -> tuple[str, ...]:
        """The relations without their subtypes."""
        return tuple(dep.partition(":")[0] for dep in self.deps)

    @cached_property
    def lower_words(self) -> frozenset[str]:
        """The distinct tokens in lower case."""
        return frozenset(self.lowers)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the tokens that hang on each token, in order."""
        found: list[list[int]] = [[] for _ in self.tags]
        for i, head in enumerate(self.heads):
            if head != i:
                found[head].append(i)
        return tuple(map(tuple, found))

    def child(self, at: int, *deps: str) -> int | None:
        """The first token that hangs on `at` by one of these relations (obl stands for obl:tmod too)."""
        bases = self.bases
        for i in self.children[at]:
            if bases[i] in deps:
                return i
        return None

    def subtree(self, at: int) -> tuple[int, ...]:
        """The positions of `at` and of all that hangs on it, in order."""
        found, left = [], [at]
        while left:
            here = left.pop()
            found.append(here)
            left += self.children[here]
        return tuple(sorted(found))


def of_doc(doc: Doc, text: str) -> Parse:
    """The parse that a spaCy pipeline made of a text."""
    tokens = list(doc)
    starts = tuple(t.idx for t in tokens)
    return Parse(
        text=text,
        starts=starts,
        ends=tuple(t.idx + len(t) for t in tokens),
        tags=tuple(t.tag_ for t in tokens),
        pos=tuple(t.pos_ for t in tokens),
        lemmas=tuple(_plain(t.lemma_ or t.lower_) for t in tokens),
        heads=tuple(t.head.i for t in tokens),
        deps=tuple(t.dep_ for t in tokens),
        entities=tuple(f"{t.ent_iob_}-{t.ent_type_}" if t.ent_type_ else "" for t in tokens),
    )


def _plain(lemma: str) -> str:
    return lemma.replace(ITEM, " ").replace(COLUMN, " ")


def pack(parse: Parse) -> bytes:
    """The parse without its text, for the store."""
    numbers = (parse.starts, parse.ends, parse.heads)
    columns = [ITEM.join(map(str, column)) for column in numbers]
    columns += [ITEM.join(column) for column in (parse.tags, parse.pos, parse.lemmas, parse.deps, parse.entities)]
    return zlib.compress(COLUMN.join(columns).encode("utf-8", "surrogatepass"), 1)


def unpack(text: str, packed: bytes) -> Parse:
    """The parse of `text` that was packed; ValueError for anything else."""
    try:
        columns = zlib.decompress(packed).decode("utf-8", "surrogatepass").split(COLUMN)
        starts, ends, heads, tags, pos, lemmas, deps, entities = (c.split(ITEM) for c in columns)
    except (zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"is no packed parse ({error})") from error
    if not columns[0]:
        return Parse(text, (), (), (), (), (), (), (), ())
    return Parse(
        text, tuple(map(int, starts)), tuple(map(int, ends)), tuple(tags), tuple(pos), tuple(lemmas),
        tuple(map(int, heads)), tuple(deps), tuple(entities),
    )  # fmt: skip
