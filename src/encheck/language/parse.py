"""A parsed text, column by column."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from sys import intern
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from spacy.tokens import Doc

RELATIONS = (
    "acl advcl amod aux aux:pass case ccomp compound compound:prt cop csubj det expl fixed flat goeswith iobj mark"
    " nmod nsubj nsubj:pass nummod obj obl parataxis xcomp advmod"
).split()  # the relations that `Parse.dependent_relations` distinguishes


def relation_bits(*deps: str) -> int:
    """Return the bits of these relations in `Parse.dependent_relations`. Raise ValueError for a relation
    without a bit.
    """
    return sum(1 << RELATIONS.index(dep) for dep in set(deps))


class _Relation(NamedTuple):
    base: str  # without the subtype
    bits: int  # its own, and that of the base


class _Relations(dict[str, _Relation]):
    def __missing__(self, dep: str) -> _Relation:
        base = intern(dep.partition(":")[0])
        self[dep] = _Relation(base, relation_bits(*{dep, base}.intersection(RELATIONS)))
        return self[dep]


RELATION = _Relations()


ITEM, COLUMN = "\x1f", "\x1e"
MAX_SHARED_NUMBER = 1_000  # most texts are shorter, in characters
_BITS: dict[int, int] = {}  # one object per number, shared by all parses: there are few


@dataclass(frozen=True, slots=True)
class Parse:
    """One text, token by token. Every column has one entry per token.

    `starts` and `ends` are offsets in characters; `tags` are Penn Treebank tags, `pos` and `deps` those of Universal
    Dependencies; `heads` are positions of tokens (its own for a root); `entities` are "B-PER", "I-PER" ... or "".

    Everything else is derived: the tokens in the text's spelling (`words`), tokens and lemmas in lower case, the set of
    these tokens (`lower_words`), relations without subtypes (`bases`), the positions of each token's dependents, in
    order (`children`), and their relations as bits (`dependent_relations`). `replaceable_tokens` caches the results of
    `edits.places`. ValueError if a head is not a position.
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
    words: tuple[str, ...] = field(init=False, repr=False, compare=False)
    lowers: tuple[str, ...] = field(init=False, repr=False, compare=False)
    lower_lemmas: tuple[str, ...] = field(init=False, repr=False, compare=False)
    lower_words: frozenset[str] = field(init=False, repr=False, compare=False)
    bases: tuple[str, ...] = field(init=False, repr=False, compare=False)
    children: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)
    dependent_relations: tuple[int, ...] = field(init=False, repr=False, compare=False)
    replaceable_tokens: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.heads and not 0 <= min(self.heads) <= max(self.heads) < len(self.tags):
            raise ValueError(f"heads {self.heads} are no positions among {len(self.tags)} tokens")
        words = intern_strings([self.text[a:b] for a, b in zip(self.starts, self.ends, strict=True)])
        lowers = intern_strings(map(str.lower, words))
        children: list[list[int]] = [[] for _ in self.tags]
        below = [0] * len(self.tags)
        for i, (head, dep) in enumerate(zip(self.heads, self.deps, strict=True)):
            if head != i:
                children[head].append(i)
                below[head] |= RELATION[dep].bits
        columns = {
            "words": words,
            "lowers": lowers,
            "lower_lemmas": intern_strings(map(str.lower, self.lemmas)),
            "lower_words": frozenset(lowers),
            "bases": tuple([RELATION[dep].base for dep in self.deps]),
            "children": tuple(map(tuple, children)),
            "dependent_relations": tuple([_BITS.setdefault(bits, bits) for bits in below]),
        }
        for name, column in columns.items():
            object.__setattr__(self, name, column)
        object.__setattr__(self, "replaceable_tokens", None)

    def __len__(self) -> int:
        return len(self.tags)

    def child(self, at: int, *deps: str) -> int | None:
        """Return the first dependent of `at` by one of these relations (obl includes obl:tmod)."""
        bases = self.bases
        for i in self.children[at]:
            if bases[i] in deps:
                return i
        return None

    def subtree(self, at: int) -> tuple[int, ...]:
        """Return the positions of `at` and all its descendants, in order."""
        tokens, left = [], [at]
        while left:
            here = left.pop()
            tokens.append(here)
            left += self.children[here]
        return tuple(sorted(tokens))


def parse_from_spacy(doc: Doc, text: str) -> Parse:
    """Make a parse from the output of a spaCy pipeline."""
    tokens = list(doc)
    starts = tuple(t.idx for t in tokens)
    return Parse(
        text=text,
        starts=starts,
        ends=tuple(t.idx + len(t) for t in tokens),
        tags=intern_strings(t.tag_ for t in tokens),
        pos=intern_strings(t.pos_ for t in tokens),
        lemmas=intern_strings((t.lemma_ or t.lower_).replace(ITEM, " ").replace(COLUMN, " ") for t in tokens),
        heads=tuple(t.head.i for t in tokens),
        deps=intern_strings(t.dep_ for t in tokens),
        entities=intern_strings(f"{t.ent_iob_}-{t.ent_type_}" if t.ent_type_ else "" for t in tokens),
    )


def intern_strings(column: Iterable[str]) -> tuple[str, ...]:
    """Return the column with one shared object for equal strings of all parses, which saves memory and time."""
    return tuple(map(intern, column))


def pack_parse(parse: Parse) -> bytes:
    """Return the parse without its text, for the store."""
    numbers = (parse.starts, parse.ends, parse.heads)
    columns = [ITEM.join(map(str, column)) for column in numbers]
    columns += [ITEM.join(column) for column in (parse.tags, parse.pos, parse.lemmas, parse.deps, parse.entities)]
    return zlib.compress(COLUMN.join(columns).encode("utf-8", "surrogatepass"), 1)


class _Numbers(dict[str, int]):
    """Parse written numbers: small ones are looked up, which is faster, and shared."""

    def __missing__(self, written: str) -> int:
        number = int(written)
        if number < MAX_SHARED_NUMBER:
            self[written] = number
        return number


_NUMBERS = _Numbers()


def unpack_parse(text: str, packed: bytes) -> Parse:
    """Unpack the parse of `text`. Raise ValueError for invalid data."""
    try:
        columns = zlib.decompress(packed).decode("utf-8", "surrogatepass").split(COLUMN)
        starts, ends, heads, tags, pos, lemmas, deps, entities = (c.split(ITEM) for c in columns)
    except (zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"is no packed parse ({error})") from error
    if not columns[0]:
        return Parse(text, (), (), (), (), (), (), (), ())
    number = _NUMBERS.__getitem__
    return Parse(
        text, tuple(map(number, starts)), tuple(map(number, ends)), intern_strings(tags), intern_strings(pos),
        intern_strings(lemmas),
        tuple(map(number, heads)), intern_strings(deps), intern_strings(entities),
    )  # fmt: skip


def first_word_of_sentence(parse: Parse, at: int) -> int:
    """Return the first word of the sentence of `at`, whose capital letter is not informative."""
    here = at
    while here > 0 and not (parse.words[here - 1] in ".?!:\"'“‘``" or parse.words[here - 1].isspace()):
        here -= 1
    return here
