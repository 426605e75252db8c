"""The packaged lexicon: arrays in an .npz file, made by lab/recipes/build_lexicon.py.

A *row* is a word in a synset. Rows are grouped by synset; for each row the arrays have the word, the number of its
sense, and how often it was tagged with it. Everything else is derived. Integers are stored by byte planes, texts as
bytes; nothing in the file is executed.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any
from zipfile import BadZipFile
from zlib import error as ZlibError  # noqa: N812 - a class

import numpy as np
from numpy.typing import NDArray

from encheck.errors import DataError
from encheck.language.lexicon.protocol import MARKERS, PARTS, Antonym, Lexicon, Pos, Sense, TreebankCounts, part_of
from encheck.system.memory import without_collection

Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]
BROKEN = (OSError, ValueError, LookupError, EOFError, NotImplementedError, BadZipFile, ZlibError)


def planes(values: Sequence[int] | Ints) -> Bytes:
    """Integers as an array (bytes, n), lowest byte first, which compresses far better than interleaved bytes.

    >>> planes([3, 70000]).shape
    (3, 2)
    >>> whole(planes([3, 70000])).tolist()
    [3, 70000]
    """
    numbers = np.ascontiguousarray(values, "<u4")
    used = max(1, (int(numbers.max(initial=0)).bit_length() + 7) // 8)
    return np.ascontiguousarray(numbers.view(np.uint8).reshape(-1, 4).T[:used])


def whole(array: Bytes) -> Ints:
    """The integers from `planes`."""
    numbers = np.zeros(array.shape[1], np.int32)
    for i, plane in enumerate(array):
        numbers |= plane.astype(np.int32) << (8 * i)
    return numbers


def packed_text(text: str) -> Bytes:
    """A text as an array of its UTF-8 bytes."""
    return np.frombuffer(text.encode("utf-8"), np.uint8)


class Packed:
    """The arrays of one file, each read on demand. DataError if the file is missing or of the wrong kind."""

    def __init__(self, file: Path) -> None:
        self._path = file
        try:
            self._file = np.load(file, allow_pickle=False)
        except BROKEN as error:
            raise self._broken(error) from error

    def _broken(self, error: Exception) -> DataError:
        return DataError(f"{self._path} is not a lexicon file ({error}); lab/recipes/build_lexicon.py makes one")

    def bytes(self, name: str) -> Bytes:
        """An array of small numbers."""
        try:
            array: Bytes = self._file[name]
        except BROKEN as error:
            raise self._broken(error) from error
        return array

    def whole(self, name: str) -> Ints:
        """An array of integers."""
        return whole(self.bytes(name))

    def text(self, name: str) -> str:
        """A text."""
        return self.bytes(name).tobytes().decode("utf-8")


KINDS = (*PARTS, "s")


class EmbeddedLexicon(Lexicon):
    """`Lexicon` over the packaged file, or a different one made by the recipe; words are indexed when it is opened."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file, self._packed = file, Packed(file)
        self._meta: dict[str, Any] = json.loads(self._packed.text("meta"))
        self.release: str = self._meta["release"]
        self._names = self._packed.text("names").split("\n")
        self._kinds = self._packed.text("kinds")
        sizes = self._packed.bytes("sizes")
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        self._synset_of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        self._members, self._ranks = self._packed.whole("members"), self._packed.bytes("ranks")
        self._counts = self._packed.whole("counts")
        # Sort the rows by part of speech, word (ignoring case) and sense, so that a word's rows are consecutive.
        lowered = self._packed.text("names").lower().split("\n")
        group = np.cumsum(self._packed.bytes("lowered_anew"), dtype=np.int32) - 1
        self._groups = dict(zip(lowered, group.tolist(), strict=True))
        parts = np.array([PARTS.index(part_of(chr(c))) if chr(c) in KINDS else 0 for c in range(128)], np.int32)
        part = parts[self._packed.bytes("kinds")][self._synset_of]
        keys = part * len(self._groups) + group[self._members]
        self._order = np.lexsort((self._ranks, keys)).astype(np.int32)
        self._keys = keys[self._order]
        self._senses: dict[tuple[str, Pos], tuple[Sense, ...]] = {}
        self._antonyms: dict[tuple[str, Pos, str, bool], tuple[Antonym, ...]] = {}

    @staticmethod
    @cache
    @without_collection()
    def opened() -> EmbeddedLexicon:
        """The packaged lexicon, opened once per process."""
        return EmbeddedLexicon(Path(str(resources.files("encheck.language.lexicon") / "lexicon.npz")))

    def _entries(self, lemma: str, pos: Pos) -> list[int]:
        """The rows of a lemma in sense order, including both rows of a synset that has it in two cases."""
        group = self._groups.get(lemma.lower())
        if group is None:
            return []
        key = PARTS.index(pos) * len(self._groups) + group
        bounds = np.array((key, key + 1), np.int32)  # of the keys' own type, to avoid a cast
        low, high = self._keys.searchsorted(bounds)
        rows: list[int] = self._order[low:high].tolist()
        return rows

    def fingerprint(self) -> str:
        """Release and a hash of the file."""
        return f"embedded {self.release} {hashlib.sha256(self._file.read_bytes()).hexdigest()[:16]}"

    def lemmas(self, pos: Pos) -> tuple[str, ...]:
        """All lemmas of a part of speech in lower case, sorted."""
        names, start = list(self._groups), PARTS.index(pos) * len(self._groups)
        low, high = self._keys.searchsorted(np.array((start, start + len(names)), np.int32))
        return tuple(sorted(names[key - start] for key in np.unique(self._keys[low:high])))

    def senses(self, lemma: str, pos: Pos) -> tuple[Sense, ...]:
        """The senses of a lemma, the most frequent first."""
        result = self._senses.get((lemma, pos))
        if result is None:
            first: dict[int, int] = {}
            for row in self._entries(lemma, pos):
                first.setdefault(int(self._synset_of[row]), row)
            result = self._senses[lemma, pos] = tuple(map(self._sense, first.values()))
        return result

    def _sense(self, row: int) -> Sense:
        synset = int(self._synset_of[row])
        return Sense(
            self._id(synset),
            self._words(synset),
            int(self._counts[row]),
            MARKERS[self._marks[row]],
            tuple(self._meta["framesets"][self._frames[row]]),
            int(self._lexfiles[synset]),
            self._kinds[synset] == "s",
        )

    def _id(self, synset: int) -> str:
        row = self._starts[synset]
        return f"{self._names[self._members[row]].lower()}.{self._kinds[synset]}.{self._ranks[row] + 1:02d}"

    def _words(self, synset: int) -> tuple[str, ...]:
        rows = slice(self._starts[synset], self._starts[synset + 1])
        return tuple(self._names[i] for i in self._members[rows])

    def _synset(self, sense: str) -> int:
        """The number of the synset with this id; -1 if there is none."""
        lemma, _, rest = sense.rpartition(".")[0].rpartition(".")
        rows = self._entries(lemma, part_of(rest)) if rest in KINDS else []
        return next((int(self._synset_of[r]) for r in rows if self._id(int(self._synset_of[r])) == sense), -1)

    @cached_property
    def _marks(self) -> Any:
        return self._packed.bytes("marks")

    @cached_property
    def _lexfiles(self) -> Any:
        return self._packed.bytes("lexfiles")

    @cached_property
    def _frames(self) -> Any:
        return self._packed.whole("frames")

    @cached_property
    def _opposed(self) -> dict[int, list[int]]:
        """Row -> rows."""
        return _grouped(*np.split(self._packed.whole("antonyms"), 2))

    @cached_property
    def _links(self) -> dict[str, dict[int, list[int]]]:
        """Kind of link -> synset -> synsets."""
        halves = {name: np.split(self._packed.whole(name), 2) for name in ("similar", "hypernyms")}
        return {name: _grouped(np.cumsum(steps), targets) for name, (steps, targets) in halves.items()}

    def antonyms(self, lemma: str, pos: Pos, sense: Sense, *, indirect: bool = False) -> tuple[Antonym, ...]:
        """The antonyms of the lemma in this sense; with `indirect`, followed by those of a satellite's heads."""
        key = lemma, pos, sense.id, indirect
        result = self._antonyms.get(key)
        if result is None:
            result = self._antonyms[key] = tuple(dict.fromkeys(self._opposites(*key)))
        return result

    def _opposites(self, lemma: str, pos: Pos, sense: str, indirect: bool) -> Iterator[Antonym]:
        synset = self._synset(sense)
        for row in self._entries(lemma, pos):
            if self._synset_of[row] == synset:
                yield from self._opposing(row, direct=True)
        for head in self._links["similar"].get(synset, []) if indirect else []:
            for row in range(self._starts[head], self._starts[head + 1]):
                yield from self._opposing(row, direct=False)

    def _opposing(self, row: int, *, direct: bool) -> Iterator[Antonym]:
        for other in self._opposed.get(row, []):
            yield Antonym(self._names[self._members[other]], self._id(int(self._synset_of[other])), direct)

    def members(self, sense: str) -> tuple[str, ...]:
        """The words of the synset with this id."""
        synset = self._synset(sense)
        return self._words(synset) if synset >= 0 else ()

    def similar(self, sense: str) -> tuple[str, ...]:
        """The ids of the heads of a satellite adjective, sorted."""
        return self._linked("similar", sense)

    def hypernyms(self, sense: str) -> tuple[str, ...]:
        """The ids of the hypernyms of a noun or verb, sorted."""
        return self._linked("hypernyms", sense)

    def _linked(self, name: str, sense: str) -> tuple[str, ...]:
        return tuple(sorted(map(self._id, self._links[name].get(self._synset(sense), []))))

    @cached_property
    def _exceptions(self) -> dict[tuple[str, str], tuple[str, ...]]:
        rows = (line.split(" ") for line in self._packed.text("exceptions").split("\n"))
        return {(pos, form): tuple(bases) for pos, form, *bases in rows}

    def irregular(self, form: str, pos: Pos) -> tuple[str, ...]:
        """The base forms of an irregular form in WordNet's list, even if they are not lemmas."""
        return self._exceptions.get((pos, form.lower()), ())

    @cached_property
    def treebank(self) -> TreebankCounts:
        """The treebank's counts, which other lexicons also use."""
        return TreebankCounts(
            self._packed.text("forms"), self._packed.text("lemmas"), words=self._meta["treebank_words"]
        )

    @cached_property
    def words(self) -> float:
        """The number of words of running text behind its counts, the treebank's and WordNet's together."""
        return self.treebank.words_with(self._meta["tagged"])


def _grouped(sources: Any, targets: Any) -> dict[int, list[int]]:
    result: defaultdict[int, list[int]] = defaultdict(list)
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        result[source].append(target)
    return dict(result)
