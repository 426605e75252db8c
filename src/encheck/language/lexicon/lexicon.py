"""The interface of a lexicon, and the packaged lexicon: arrays in an .npz file, made by lab/recipes/build_lexicon.py.

A lexicon gives senses, synonyms and antonyms of a word, and the possible lemmas of a form.

A *row* of the file is a word in a synset. Rows are grouped by synset; for each row the arrays have the word, the number
of its sense, and how often it was tagged with it. Everything else is derived. Integers are stored by byte planes, texts
as bytes; nothing in the file is executed.
"""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Literal, TypedDict, cast, get_args
from zipfile import BadZipFile
from zlib import error as ZlibError  # noqa: N812 - a class

import numpy as np
from numpy.typing import NDArray

from encheck.errors import DataError
from encheck.system.memory import without_collection

Pos = Literal["n", "v", "a", "r"]


PARTS: tuple[Pos, ...] = get_args(Pos)


Marker = Literal["", "a", "p", "ip"]


MARKERS: tuple[Marker, ...] = get_args(Marker)


OPEN_CLASSES = frozenset({"NOUN", "VERB", "ADJ", "ADV"})


@dataclass(frozen=True, slots=True)
class Sense:
    """One sense of a lemma.

    `id` is the first word of the synset, its part of speech and the number of this sense among that word's, as in
    "dog.n.01"; `lemmas` are all words of the synset in WordNet's order, including the lemma. `count` says how often the
    *lemma* was tagged with this sense. `marker` is the position of an adjective: "a" only before its noun, "p" only as
    a predicate, "ip" only right after its noun. `frames` are the numbers of a verb's sentence frames
    (https://wordnet.princeton.edu/documentation/wninput5wn), `lexfile` that of the lexicographer's file, a coarse
    topic. `satellite` marks an adjective whose antonym, if any, is that of a similar head adjective.
    """

    id: str
    lemmas: tuple[str, ...]
    count: int
    marker: Marker = ""
    frames: tuple[int, ...] = ()
    lexfile: int = 0
    satellite: bool = False


@dataclass(frozen=True, slots=True)
class Antonym:
    """An antonym in its sense. `direct` is False if only the heads of the two adjectives are antonyms."""

    lemma: str
    sense: str
    direct: bool = True


def zipf_frequency(count: int, words: float) -> float:
    """The logarithm (base 10) of a word's frequency per 1e9 words, with half an occurrence added.

    So an unseen word has the lowest value for the size of the corpus. Scale: van Heuven et al. 2014,
    https://doi.org/10.1080/17470218.2013.850521.

    >>> round(zipf_frequency(99, 1_000_000), 2), round(zipf_frequency(0, 1_000_000), 2)
    (5.0, 2.7)
    """
    return math.log10((count + 0.5) / words) + 9


class TreebankCounts:
    """Counts of a treebank of `words` words: of forms by tag, and of WordNet's lemmas by part of speech.

    The texts have one line per word: `light ADJ 12 NOUN 20`.

    >>> counts = TreebankCounts("light ADJ 12 NOUN 20\\nlights NOUN 3", "light a 12 n 23", words=1000)
    >>> counts.form_count("Light"), counts.form_count("light", "ADJ"), counts.lemma_count("light", "n")
    (32, 12, 23)
    """

    def __init__(self, forms: str, lemmas: str, *, words: int) -> None:
        self.words = words
        rows = ([line.split(" ") for line in text.split("\n")] for text in (forms, lemmas))
        self.forms, self._lemmas = (
            {row[0]: dict(zip(row[1::2], map(int, row[2::2]), strict=True)) for row in lines} for lines in rows
        )

    def lemma_count(self, lemma: str, pos: str) -> int:
        """Return the count of the lemma."""
        return self._lemmas.get(lemma.lower(), {}).get(pos, 0)

    def form_count(self, word: str, upos: str | None = None) -> int:
        """Return the count of the form, with this universal tag or any."""
        counts = self.forms.get(word.lower(), {})
        return sum(counts.values()) if upos is None else counts.get(upos, 0)

    def estimate_running_words(self, tagged: int) -> float:
        """Return the running text behind the treebank and so many words tagged by WordNet, in words.

        WordNet tagged only open classes, so its share is estimated from the treebank.
        """
        of_open_classes = sum(n for of in self.forms.values() for tag, n in of.items() if tag in OPEN_CLASSES)
        return self.words + tagged / (of_open_classes / self.words)


class Lexicon(ABC):
    """The methods of every lexicon. An unknown word or sense has no senses and no relations."""

    release: str

    def __init__(self) -> None:
        self._frequency: dict[tuple[str, Pos], float] = {}

    @property
    @abstractmethod
    def treebank(self) -> TreebankCounts:
        """A treebank's counts of words and lemmas."""

    @property
    @abstractmethod
    def words(self) -> float:
        """The number of words of running text behind its counts, the treebank's and WordNet's together."""

    @abstractmethod
    def fingerprint(self) -> str:
        """Return the lexicon's release and a hash of its files, for the record."""

    @abstractmethod
    def lemmas(self, pos: Pos) -> tuple[str, ...]:
        """Return all lemmas of a part of speech in lower case, sorted."""

    @abstractmethod
    def _senses_of_lemma(self, lemma: str, pos: Pos) -> Sequence[Any]:
        """Return the lemma in each of its senses, in order."""

    @abstractmethod
    def senses(self, lemma: str, pos: Pos) -> tuple[Sense, ...]:
        """Return the senses of a lemma, the most frequent first; no inflected form is looked up, case is ignored."""

    @abstractmethod
    def antonyms(self, lemma: str, pos: Pos, sense: Sense, *, indirect: bool = False) -> tuple[Antonym, ...]:
        """Return the antonyms of the lemma in this sense; with `indirect`, followed by those of a satellite's heads."""

    @abstractmethod
    def words_of_sense(self, sense: str) -> tuple[str, ...]:
        """Return the words of the synset with this id."""

    @abstractmethod
    def heads_of_satellite(self, sense: str) -> tuple[str, ...]:
        """Return the ids of the heads of a satellite adjective, sorted."""

    @abstractmethod
    def hypernyms(self, sense: str) -> tuple[str, ...]:
        """Return the ids of the hypernyms of a noun or verb, sorted."""

    @abstractmethod
    def bases_of_irregular_form(self, form: str, pos: Pos) -> tuple[str, ...]:
        """Return the base forms of an irregular form in WordNet's list, even if they are not lemmas."""

    def base_forms(self, form: str, pos: Pos) -> tuple[str, ...]:
        """Return the possible lemmas of a form, by WordNet's list of irregular forms and its rules.

        Endings are used only without an irregular form (https://wordnet.princeton.edu/documentation/morphy7wn, for
        single words, as NLTK implements it).
        """
        lower = form.lower()
        regular = (lower.removesuffix(old) + new for old, new in ENDINGS[pos] if lower.endswith(old))
        candidates = dict.fromkeys((lower, *(self.bases_of_irregular_form(form, pos) or regular)))
        return tuple(lemma for lemma in candidates if self._senses_of_lemma(lemma, pos))

    def lemma_count(self, lemma: str, pos: Pos) -> int:
        """Return the count of the lemma in WordNet's tags and the treebank together."""
        return sum(s.count for s in self.senses(lemma, pos)) + self.treebank.lemma_count(lemma, pos)

    def lemma_frequency(self, lemma: str, pos: Pos) -> float:
        """Return the frequency of the lemma on the Zipf scale."""
        known = self._frequency.get((lemma, pos))
        if known is None:
            known = self._frequency[lemma, pos] = zipf_frequency(self.lemma_count(lemma, pos), self.words)
        return known

    def word_count(self, word: str, upos: str | None = None) -> int:
        """Return the treebank's count of this form, with this universal tag or any; case is ignored."""
        return self.treebank.form_count(word, upos)

    def word_frequency(self, word: str) -> float:
        """Return the frequency of this form on the Zipf scale, in the treebank only."""
        return zipf_frequency(self.treebank.form_count(word), self.treebank.words)


def part_of_speech(kind: str) -> Pos:
    """Return the part of speech of a kind of synset: satellite adjectives ("s") are adjectives."""
    return "a" if kind == "s" else cast("Pos", kind)


ENDINGS: dict[Pos, tuple[tuple[str, str], ...]] = {
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}


Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]
BROKEN = (OSError, ValueError, LookupError, EOFError, NotImplementedError, BadZipFile, ZlibError)


def split_into_byte_planes(values: Sequence[int] | Ints) -> Bytes:
    """Return integers as an array of shape [bytes, n], lowest byte first.

    This compresses far better than interleaved bytes.

    >>> split_into_byte_planes([3, 70000]).shape
    (3, 2)
    >>> join_byte_planes(split_into_byte_planes([3, 70000])).tolist()
    [3, 70000]
    """
    numbers = np.ascontiguousarray(values, "<u4")
    used = max(1, (int(numbers.max(initial=0)).bit_length() + 7) // 8)
    return np.ascontiguousarray(numbers.view(np.uint8).reshape(-1, 4).T[:used])


def join_byte_planes(array: Bytes) -> Ints:
    """Return the integers from `split_into_byte_planes`."""
    numbers = np.zeros(array.shape[1], np.int32)
    for i, plane in enumerate(array):
        numbers |= plane.astype(np.int32) << (8 * i)
    return numbers


def text_to_bytes(text: str) -> Bytes:
    """Return a text as an array of its UTF-8 bytes."""
    return np.frombuffer(text.encode("utf-8"), np.uint8)


class ArrayFile:
    """The arrays of one file, each read on demand. DataError if the file is missing or of the wrong kind."""

    def __init__(self, file: Path) -> None:
        self._path = file
        try:
            self._file = np.load(file, allow_pickle=False)
        except BROKEN as error:
            raise self._broken_file_error(error) from error

    def _broken_file_error(self, error: Exception) -> DataError:
        return DataError(f"{self._path} is not a lexicon file ({error}); lab/recipes/build_lexicon.py makes one")

    def small_integers(self, name: str) -> Bytes:
        """Return an array of small numbers."""
        try:
            array: Bytes = self._file[name]
        except BROKEN as error:
            raise self._broken_file_error(error) from error
        return array

    def integers(self, name: str) -> Ints:
        """Return an array of integers."""
        return join_byte_planes(self.small_integers(name))

    def text(self, name: str) -> str:
        """Return a text."""
        return self.small_integers(name).tobytes().decode("utf-8")


KINDS = (*PARTS, "s")


class _Meta(TypedDict):
    """What the lexicon's file says about itself. `framesets` are the sets of sentence frames that verbs refer to."""

    release: str
    framesets: list[list[int]]
    treebank_words: int
    tagged: int


class EmbeddedLexicon(Lexicon):
    """`Lexicon` over the packaged file, or a different one made by the recipe; words are indexed when it is opened."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file, self._arrays = file, ArrayFile(file)
        self._meta: _Meta = json.loads(self._arrays.text("meta"))
        self.release = self._meta["release"]
        self._names = self._arrays.text("names").split("\n")
        self._kinds = self._arrays.text("kinds")
        sizes = self._arrays.small_integers("sizes")
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        self._synset_of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        self._members, self._ranks = self._arrays.integers("members"), self._arrays.small_integers("ranks")
        self._counts = self._arrays.integers("counts")
        # Sort the rows by part of speech, word (ignoring case) and sense, so that a word's rows are consecutive.
        lowered = self._arrays.text("names").lower().split("\n")
        group = np.cumsum(self._arrays.small_integers("lowered_anew"), dtype=np.int32) - 1
        self._groups = dict(zip(lowered, group.tolist(), strict=True))
        parts = np.array([PARTS.index(part_of_speech(chr(c))) if chr(c) in KINDS else 0 for c in range(128)], np.int32)
        part = parts[self._arrays.small_integers("kinds")][self._synset_of]
        keys = part * len(self._groups) + group[self._members]
        self._order = np.lexsort((self._ranks, keys)).astype(np.int32)
        self._keys = keys[self._order]
        self._senses: dict[tuple[str, Pos], tuple[Sense, ...]] = {}
        self._antonyms: dict[tuple[str, Pos, str, bool], tuple[Antonym, ...]] = {}

    @staticmethod
    @cache
    @without_collection()
    def shared() -> EmbeddedLexicon:
        """Return the packaged lexicon, opened once per process."""
        return EmbeddedLexicon(Path(str(resources.files("encheck.language.lexicon") / "lexicon.npz")))

    def _senses_of_lemma(self, lemma: str, pos: Pos) -> list[int]:
        """Return the rows of a lemma in sense order, including both rows of a synset that has it in two cases."""
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
        """Return all lemmas of a part of speech in lower case, sorted."""
        names, start = list(self._groups), PARTS.index(pos) * len(self._groups)
        low, high = self._keys.searchsorted(np.array((start, start + len(names)), np.int32))
        return tuple(sorted(names[key - start] for key in np.unique(self._keys[low:high])))

    def senses(self, lemma: str, pos: Pos) -> tuple[Sense, ...]:
        """Return the senses of a lemma, the most frequent first."""
        result = self._senses.get((lemma, pos))
        if result is None:
            first: dict[int, int] = {}
            for row in self._senses_of_lemma(lemma, pos):
                first.setdefault(int(self._synset_of[row]), row)
            result = self._senses[lemma, pos] = tuple(map(self._make_sense, first.values()))
        return result

    def _make_sense(self, row: int) -> Sense:
        synset = int(self._synset_of[row])
        marks, frames, lexfiles = self._sense_columns
        return Sense(
            self._id_of_synset(synset),
            self._words_of_synset(synset),
            int(self._counts[row]),
            MARKERS[marks[row]],
            tuple(self._meta["framesets"][frames[row]]),
            int(lexfiles[synset]),
            self._kinds[synset] == "s",
        )

    def _id_of_synset(self, synset: int) -> str:
        row = self._starts[synset]
        return f"{self._names[self._members[row]].lower()}.{self._kinds[synset]}.{self._ranks[row] + 1:02d}"

    def _words_of_synset(self, synset: int) -> tuple[str, ...]:
        rows = slice(self._starts[synset], self._starts[synset + 1])
        return tuple(self._names[i] for i in self._members[rows])

    def _synset_of_sense(self, sense: str) -> int:
        """Return the number of the synset with this id; -1 if there is none."""
        lemma, _, rest = sense.rpartition(".")[0].rpartition(".")
        rows = self._senses_of_lemma(lemma, part_of_speech(rest)) if rest in KINDS else []
        return next((int(self._synset_of[r]) for r in rows if self._id_of_synset(int(self._synset_of[r])) == sense), -1)

    @cached_property
    def _sense_columns(self) -> tuple[Any, Any, Any]:
        """Markers and frames by row, and lexicographer files by synset."""
        small = self._arrays.small_integers
        return small("marks"), self._arrays.integers("frames"), small("lexfiles")

    @cached_property
    def _antonym_rows(self) -> dict[int, list[int]]:
        """The rows of antonyms, by row."""
        return _group_targets_by_source(*np.split(self._arrays.integers("antonyms"), 2))

    @cached_property
    def _linked_synsets(self) -> dict[str, dict[int, list[int]]]:
        """The linked synsets, by kind of link and synset."""
        halves = {name: np.split(self._arrays.integers(name), 2) for name in ("similar", "hypernyms")}
        return {name: _group_targets_by_source(np.cumsum(steps), targets) for name, (steps, targets) in halves.items()}

    def antonyms(self, lemma: str, pos: Pos, sense: Sense, *, indirect: bool = False) -> tuple[Antonym, ...]:
        """Return the antonyms of the lemma in this sense; with `indirect`, followed by those of a satellite's heads."""
        key = lemma, pos, sense.id, indirect
        result = self._antonyms.get(key)
        if result is None:
            synset = self._synset_of_sense(sense.id)
            rows = [(row, True) for row in self._senses_of_lemma(lemma, pos) if self._synset_of[row] == synset]
            for head in self._linked_synsets["similar"].get(synset, []) if indirect else []:
                rows += [(row, False) for row in range(self._starts[head], self._starts[head + 1])]
            antonyms = (
                Antonym(self._names[self._members[other]], self._id_of_synset(int(self._synset_of[other])), is_direct)
                for row, is_direct in rows
                for other in self._antonym_rows.get(row, [])
            )
            result = self._antonyms[key] = tuple(dict.fromkeys(antonyms))
        return result

    def words_of_sense(self, sense: str) -> tuple[str, ...]:
        """Return the words of the synset with this id."""
        synset = self._synset_of_sense(sense)
        return self._words_of_synset(synset) if synset >= 0 else ()

    def heads_of_satellite(self, sense: str) -> tuple[str, ...]:
        """Return the ids of the heads of a satellite adjective, sorted."""
        return self._linked_ids("similar", sense)

    def hypernyms(self, sense: str) -> tuple[str, ...]:
        """Return the ids of the hypernyms of a noun or verb, sorted."""
        return self._linked_ids("hypernyms", sense)

    def _linked_ids(self, name: str, sense: str) -> tuple[str, ...]:
        return tuple(sorted(map(self._id_of_synset, self._linked_synsets[name].get(self._synset_of_sense(sense), []))))

    @cached_property
    def _exceptions(self) -> dict[tuple[str, str], tuple[str, ...]]:
        rows = (line.split(" ") for line in self._arrays.text("exceptions").split("\n"))
        return {(pos, form): tuple(bases) for pos, form, *bases in rows}

    def bases_of_irregular_form(self, form: str, pos: Pos) -> tuple[str, ...]:
        """Return the base forms of an irregular form in WordNet's list, even if they are not lemmas."""
        return self._exceptions.get((pos, form.lower()), ())

    @cached_property
    def treebank(self) -> TreebankCounts:
        """The treebank's counts, which other lexicons also use."""
        return TreebankCounts(
            self._arrays.text("forms"), self._arrays.text("lemmas"), words=self._meta["treebank_words"]
        )

    @cached_property
    def words(self) -> float:
        """The number of words of running text behind its counts, the treebank's and WordNet's together."""
        return self.treebank.estimate_running_words(self._meta["tagged"])


def _group_targets_by_source(sources: Any, targets: Any) -> dict[int, list[int]]:
    result: defaultdict[int, list[int]] = defaultdict(list)
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        result[source].append(target)
    return dict(result)
