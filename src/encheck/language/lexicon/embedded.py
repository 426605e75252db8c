"""The lexicon that comes with the package: arrays in an .npz file, made by lab/recipes/build_lexicon.py.

A *row* is a word in a synset. Rows stand synset by synset; the arrays say for each row which word it is, which of that
word's senses this is, and how often it was tagged so. Everything else is found from there.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from encheck.language.lexicon.frequencies import Frequencies, TreebankCounts
from encheck.language.lexicon.morphy import base_forms
from encheck.language.lexicon.packed import Packed
from encheck.language.lexicon.protocol import MARKERS, PARTS, Antonym, Pos, Sense
from encheck.system.memory import without_collection

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
    @without_collection()
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
