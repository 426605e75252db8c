"""The lexicon that comes with the package: arrays in an .npz file, made by lab/recipes/build_lexicon.py.

A *row* is a word in a synset. Rows stand synset by synset; the arrays say for each row which word it is, which of that
word's senses this is, and how often it was tagged so. Everything else is found from there. Whole numbers lie by their
bytes, texts as bytes; nothing in the file is executed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Iterator, KeysView, Sequence
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any
from zipfile import BadZipFile
from zlib import error as ZlibError  # noqa: N812 - a class

import numpy as np
from numpy.typing import NDArray

from encheck.errors import DataError
from encheck.language.lexicon.protocol import MARKERS, PARTS, Antonym, Pos, Sense, base_forms
from encheck.system.garbage import uncollected

Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]
BROKEN = (OSError, ValueError, LookupError, EOFError, NotImplementedError, BadZipFile, ZlibError)


def planes(values: Sequence[int] | Ints) -> Bytes:
    """Whole numbers as an array (bytes, n), lowest byte first: compresses far better than the bytes side by side.

    >>> planes([3, 70000]).shape
    (3, 2)
    >>> whole(planes([3, 70000])).tolist()
    [3, 70000]
    """
    numbers = np.ascontiguousarray(values, "<u4")
    used = max(1, (int(numbers.max(initial=0)).bit_length() + 7) // 8)
    return np.ascontiguousarray(numbers.view(np.uint8).reshape(-1, 4).T[:used])


def whole(array: Bytes) -> Ints:
    """The numbers that `planes` laid out."""
    numbers = np.zeros(array.shape[1], np.int32)
    for i, plane in enumerate(array):
        numbers |= plane.astype(np.int32) << (8 * i)
    return numbers


def packed_text(text: str) -> Bytes:
    """A text as an array of its UTF-8 bytes."""
    return np.frombuffer(text.encode("utf-8"), np.uint8)


class Packed:
    """The arrays of one file, each read when it is asked for. DataError if the file is missing or something else."""

    def __init__(self, file: Path) -> None:
        self._path = file
        try:
            self._file = np.load(file, allow_pickle=False)
        except BROKEN as error:
            raise self._broken(error) from error

    def _broken(self, error: Exception) -> DataError:
        return DataError(f"{self._path} is not a lexicon file ({error}); lab/recipes/build_lexicon.py makes one")

    def _array(self, name: str) -> Bytes:
        try:
            array: Bytes = self._file[name]
        except BROKEN as error:
            raise self._broken(error) from error
        return array

    def bytes(self, name: str) -> Bytes:
        """An array of small numbers."""
        return self._array(name)

    def whole(self, name: str) -> Ints:
        """An array of whole numbers."""
        return whole(self._array(name))

    def text(self, name: str) -> str:
        """A text."""
        return self.bytes(name).tobytes().decode("utf-8")


OPEN_CLASSES = frozenset({"NOUN", "VERB", "ADJ", "ADV"})


def zipf(count: int, words: float) -> float:
    """The logarithm (base 10) of how often a word is met in 1e9 words; half an occurrence is added.

    So a word that was never met stands at the floor that the size of the corpus sets. Scale: van Heuven et al. 2014,
    https://doi.org/10.1080/17470218.2013.850521.

    >>> round(zipf(99, 1_000_000), 2), round(zipf(0, 1_000_000), 2)
    (5.0, 2.7)
    """
    return math.log10((count + 0.5) / words) + 9


class TreebankCounts:
    """How often a treebank of `words` words has a form with a tag, and a lemma of WordNet's with a part of speech.

    The texts have a line a word: `light ADJ 12 NOUN 20`.

    >>> counts = TreebankCounts("light ADJ 12 NOUN 20\\nlights NOUN 3", "light a 12 n 23", words=1000)
    >>> counts.form("Light"), counts.form("light", "ADJ"), counts.lemma("light", "n")
    (32, 12, 23)
    """

    def __init__(self, forms: str, lemmas: str, *, words: int) -> None:
        self.words = words
        self._forms, self._lemmas = _counts(forms), _counts(lemmas)

    @cached_property
    def open_share(self) -> float:
        """The share of nouns, verbs, adjectives and adverbs among the words."""
        return sum(n for of in self._forms.values() for tag, n in of.items() if tag in OPEN_CLASSES) / self.words

    @property
    def forms(self) -> KeysView[str]:
        """The forms that occur, in lower case."""
        return self._forms.keys()

    def lemma(self, lemma: str, pos: str) -> int:
        """How often the lemma occurs."""
        return self._lemmas.get(lemma.lower(), {}).get(pos, 0)

    def form(self, word: str, upos: str | None = None) -> int:
        """How often the form occurs, with this universal tag or with any."""
        found = self._forms.get(word.lower(), {})
        return sum(found.values()) if upos is None else found.get(upos, 0)


def _counts(text: str) -> dict[str, dict[str, int]]:
    rows = (line.split(" ") for line in text.split("\n"))
    return {row[0]: dict(zip(row[1::2], map(int, row[2::2]), strict=True)) for row in rows}


class Frequencies:
    """Zipf frequencies from the treebank's counts and WordNet's `tagged` words together.

    WordNet tagged open classes only: it stands for as much running text as holds so many of them in the treebank.
    """

    def __init__(self, treebank: TreebankCounts, *, tagged: int) -> None:
        self.treebank = treebank
        self.words = treebank.words + tagged / treebank.open_share

    def lemma(self, count: int) -> float:
        """Of a lemma with this count in both together."""
        return zipf(count, self.words)

    def word(self, word: str) -> float:
        """Of a form, in the treebank alone."""
        return zipf(self.treebank.form(word), self.treebank.words)


KINDS = (*PARTS, "s")


class EmbeddedLexicon:
    """`Lexicon` over the packaged file, or over another that the recipe made; words are indexed when it is opened."""

    def __init__(self, file: Path) -> None:
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
        self._index()
        self._senses: dict[tuple[str, Pos], tuple[Sense, ...]] = {}
        self._antonyms: dict[tuple[str, Pos, str, bool], tuple[Antonym, ...]] = {}
        self._frequency: dict[tuple[str, Pos], float] = {}

    @staticmethod
    @cache
    @uncollected()
    def opened() -> EmbeddedLexicon:
        """The packaged one, opened once a process."""
        return EmbeddedLexicon(Path(str(resources.files("encheck.language.lexicon") / "lexicon.npz")))

    def _index(self) -> None:
        """Sort the rows by part of speech, word (whatever its case) and sense; a word's rows then lie together."""
        lowered = self._packed.text("names").lower().split("\n")
        group = np.cumsum(self._packed.bytes("lowered_anew"), dtype=np.int32) - 1
        self._groups = dict(zip(lowered, group.tolist(), strict=True))
        parts = np.array([PARTS.index(_pos(chr(c))) if chr(c) in KINDS else 0 for c in range(128)], np.int32)
        part = parts[self._packed.bytes("kinds")][self._synset_of]
        keys = part * len(self._groups) + group[self._members]
        self._order = np.lexsort((self._ranks, keys)).astype(np.int32)
        self._keys = keys[self._order]

    def _rows(self, lemma: str, pos: Pos) -> list[int]:
        """The rows of a lemma in sense order, both of a synset that has it in two cases."""
        group = self._groups.get(lemma.lower())
        if group is None:
            return []
        key = PARTS.index(pos) * len(self._groups) + group
        low, high = self._keys.searchsorted(
            np.array((key, key + 1), np.int32)
        )  # of the keys' own type: else they are cast
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
        found = self._senses.get((lemma, pos))
        if found is None:
            first: dict[int, int] = {}
            for row in self._rows(lemma, pos):
                first.setdefault(int(self._synset_of[row]), row)
            found = self._senses[lemma, pos] = tuple(map(self._sense, first.values()))
        return found

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
        """The number of the synset with this id; -1 where there is none."""
        lemma, _, rest = sense.rpartition(".")[0].rpartition(".")
        rows = self._rows(lemma, _pos(rest)) if rest in KINDS else []
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
        halves = {name: np.split(self._packed.whole(name), 2) for name in ("similar", "hypernyms", "instances")}
        return {name: _grouped(np.cumsum(steps), targets) for name, (steps, targets) in halves.items()}

    def antonyms(self, lemma: str, pos: Pos, sense: Sense, *, indirect: bool = False) -> tuple[Antonym, ...]:
        """What opposes the lemma in this sense; with `indirect`, after it what opposes the heads of a satellite."""
        key = lemma, pos, sense.id, indirect
        found = self._antonyms.get(key)
        if found is None:
            found = self._antonyms[key] = tuple(dict.fromkeys(self._opposites(*key)))
        return found

    def _opposites(self, lemma: str, pos: Pos, sense: str, indirect: bool) -> Iterator[Antonym]:
        synset = self._synset(sense)
        for row in self._rows(lemma, pos):
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
        """The ids of the next wider senses of a noun or verb, sorted."""
        return self._linked("hypernyms", sense)

    def instance_of(self, sense: str) -> tuple[str, ...]:
        """The ids of the classes of a noun that names one thing (a river, a person), sorted."""
        return self._linked("instances", sense)

    def _linked(self, name: str, sense: str) -> tuple[str, ...]:
        return tuple(sorted(map(self._id, self._links[name].get(self._synset(sense), []))))

    @cached_property
    def _exceptions(self) -> dict[tuple[str, str], tuple[str, ...]]:
        rows = (line.split(" ") for line in self._packed.text("exceptions").split("\n"))
        return {(pos, form): tuple(bases) for pos, form, *bases in rows}

    def irregular(self, form: str, pos: Pos) -> tuple[str, ...]:
        """The base forms of a form in WordNet's list of irregular forms, whether they are lemmas or not."""
        return self._exceptions.get((pos, form.lower()), ())

    def base_forms(self, form: str, pos: Pos) -> tuple[str, ...]:
        """The lemmas that a form may belong to, by WordNet's list of irregular forms and its rules."""
        return base_forms(form.lower(), pos, self.irregular(form, pos), lambda lemma: bool(self._rows(lemma, pos)))

    @cached_property
    def treebank(self) -> TreebankCounts:
        """The counts of the treebank, which other lexicons share."""
        return TreebankCounts(
            self._packed.text("forms"), self._packed.text("lemmas"), words=self._meta["treebank_words"]
        )

    @cached_property
    def _frequencies(self) -> Frequencies:
        return Frequencies(self.treebank, tagged=self._meta["tagged"])

    def count(self, lemma: str, pos: Pos) -> int:
        """How often the lemma was seen: WordNet's tags and the treebank's words together."""
        return sum(s.count for s in self.senses(lemma, pos)) + self.treebank.lemma(lemma, pos)

    def frequency(self, lemma: str, pos: Pos) -> float:
        """How common the lemma is on the Zipf scale."""
        found = self._frequency.get((lemma, pos))
        if found is None:
            found = self._frequency[lemma, pos] = self._frequencies.lemma(self.count(lemma, pos))
        return found

    def word_count(self, word: str, upos: str | None = None) -> int:
        """How often the treebank has the word in this form, with this universal tag or with any."""
        return self.treebank.form(word, upos)

    def word_frequency(self, word: str) -> float:
        """How common the word in this form is on the Zipf scale, in the treebank alone."""
        return self._frequencies.word(word)


def _pos(kind: str) -> Pos:
    return "a" if kind == "s" else kind  # type: ignore[return-value]


def _grouped(sources: Any, targets: Any) -> dict[int, list[int]]:
    found: defaultdict[int, list[int]] = defaultdict(list)
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        found[source].append(target)
    return dict(found)
