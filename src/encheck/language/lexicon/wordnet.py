"""NLTK's WordNet, live: for those who want the exact resource of a paper, or another release."""

from __future__ import annotations

import hashlib
import io
import warnings
from functools import cached_property
from pathlib import Path
from typing import Any

from encheck.errors import DataError
from encheck.language.lexicon.embedded import EmbeddedLexicon
from encheck.language.lexicon.frequencies import Frequencies
from encheck.language.lexicon.morphy import base_forms
from encheck.language.lexicon.protocol import MARKERS, Antonym, Pos, Sense
from encheck.system.imports import import_nltk

HASHED = ("index.noun", "index.verb", "index.adj", "index.adv", "data.noun", "data.verb", "data.adj", "data.adv")
LEXICOGRAPHER_FILES = 45


def corpus() -> Any:
    """The reader of nltk.corpus.wordnet; DataError if nltk_data doesn't hold it."""
    import_nltk()
    from nltk.corpus import wordnet

    try:
        wordnet.ensure_loaded()
    except LookupError as error:
        raise DataError(
            "--lexicon nltk needs NLTK's WordNet, which is in no nltk_data folder here: `python -m nltk.downloader"
            " wordnet` fetches it (or set NLTK_DATA to a folder that has corpora/wordnet); the embedded lexicon needs"
            " nothing"
        ) from error
    return wordnet


def folder(path: Path) -> Any:
    """A reader of WordNet's files in a folder, as Debian's wordnet-base installs them in /usr/share/wordnet.

    NLTK (3.10 and later) reads from the folders of nltk.data.path only: the user has named this one, so it joins them.
    """
    nltk = import_nltk()
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class Reader(WordNetCorpusReader):  # type: ignore[misc]
        def open(self, file: str) -> Any:
            """A file of the folder; the names of topics, which Debian leaves out, are numbered."""
            if file == "lexnames" and not (path / file).is_file():
                return io.StringIO("".join(f"{i:02d}\t{i:02d}\t0\n" for i in range(LEXICOGRAPHER_FILES)))
            return super().open(file)

        def map_wn(self, version: str = "wordnet") -> None:
            """No map to the WordNet of nltk_data, which need not be there: it serves other languages only."""

    missing = [name for name in (*HASHED, "noun.exc", "cntlist.rev") if not (path / name).is_file()]
    if missing:
        raise DataError(f"{path} holds no WordNet database: {missing[0]} is missing (of {len(missing)} files)")
    if str(path) not in nltk.data.path:
        nltk.data.path.append(str(path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has no other languages
        return Reader(str(path), None)


class NltkLexicon:
    """`Lexicon` over a reader of NLTK's; the treebank's counts are the packaged ones."""

    def __init__(self, wordnet: Any) -> None:
        self._wordnet = wordnet
        self.release = f"WordNet {wordnet.get_version()}"
        self._senses: dict[tuple[str, Pos], tuple[Sense, ...]] = {}
        self._synsets: dict[str, Any] = {}
        self._ids: dict[tuple[str, int], str] = {}

    def fingerprint(self) -> str:
        """Release, a hash of the files, and NLTK's version."""
        digest = hashlib.sha256()
        for name in HASHED:
            with self._wordnet.open(name) as file:
                digest.update(file.read().encode("utf-8"))
        return f"nltk {self.release} {digest.hexdigest()[:16]} (NLTK {import_nltk().__version__})"

    def lemmas(self, pos: Pos) -> tuple[str, ...]:
        """All lemmas of a part of speech in lower case, sorted."""
        return tuple(sorted(set(self._wordnet.all_lemma_names(pos))))

    def _of(self, lemma: str, pos: Pos) -> list[Any]:
        """NLTK's lemmas in sense order; both of a synset that has it in two cases."""
        found: list[Any] = self._wordnet.lemmas(lemma, pos)
        return found

    def senses(self, lemma: str, pos: Pos) -> tuple[Sense, ...]:
        """The senses of a lemma, the most frequent first."""
        found = self._senses.get((lemma, pos))
        if found is None:
            first: dict[int, Any] = {}
            for each in self._of(lemma, pos):
                first.setdefault(each.synset().offset(), each)
            found = self._senses[lemma, pos] = tuple(map(self._sense, first.values()))
        return found

    def _sense(self, lemma: Any) -> Sense:
        synset = lemma.synset()
        marker = (lemma.syntactic_marker() or "").strip("()")
        return Sense(
            self._id(synset),
            tuple(synset.lemma_names()),
            lemma.count(),
            MARKERS[MARKERS.index(marker)],
            tuple(sorted(set(lemma.frame_ids()))),
            lemma._lexname_index,
            synset.pos() == "s",
        )

    def _id(self, synset: Any) -> str:
        """By WordNet's own number of the sense; NLTK 3.10 and later numbers satellites among themselves."""
        name, kind = synset.lemma_names()[0].lower(), synset.pos()
        known = self._ids.get((kind, synset.offset()))
        if known is not None:
            return known
        others = dict.fromkeys(each.synset().offset() for each in self._of(name, _pos(kind)))
        made = f"{name}.{kind}.{list(others).index(synset.offset()) + 1:02d}"
        self._synsets[made], self._ids[kind, synset.offset()] = synset, made
        return made

    def _synset(self, sense: str) -> Any | None:
        """The synset with this id."""
        if sense not in self._synsets and sense.count(".") >= 2:
            lemma, kind, _ = sense.rsplit(".", 2)
            if kind in ("n", "v", "a", "r", "s"):
                self.senses(lemma, _pos(kind))
        return self._synsets.get(sense)

    def antonyms(self, lemma: str, pos: Pos, sense: Sense, *, indirect: bool = False) -> tuple[Antonym, ...]:
        """What opposes the lemma in this sense; with `indirect`, after it what opposes the heads of a satellite."""
        synset = self._synset(sense.id)
        own = [] if synset is None else [each for each in self._of(lemma, pos) if each.synset() == synset]
        found = [self._antonym(o, direct=True) for each in own for o in each.antonyms()]
        if indirect and synset is not None and synset.pos() == "s":
            heads = [each for head in synset.similar_tos() for each in head.lemmas()]
            found += [self._antonym(o, direct=False) for each in heads for o in each.antonyms()]
        return tuple(dict.fromkeys(found))

    def _antonym(self, lemma: Any, *, direct: bool) -> Antonym:
        return Antonym(lemma.name(), self._id(lemma.synset()), direct)

    def members(self, sense: str) -> tuple[str, ...]:
        """The words of the synset with this id."""
        synset = self._synset(sense)
        return () if synset is None else tuple(synset.lemma_names())

    def similar(self, sense: str) -> tuple[str, ...]:
        """The ids of the heads of a satellite adjective, sorted."""
        return self._linked(sense, "similar_tos") if ".s." in sense else ()

    def hypernyms(self, sense: str) -> tuple[str, ...]:
        """The ids of the next wider senses of a noun or verb, sorted."""
        return self._linked(sense, "hypernyms")

    def instance_of(self, sense: str) -> tuple[str, ...]:
        """The ids of the classes of a noun that names one thing (a river, a person), sorted."""
        return self._linked(sense, "instance_hypernyms")

    def _linked(self, sense: str, relation: str) -> tuple[str, ...]:
        synset = self._synset(sense)
        return () if synset is None else tuple(sorted(self._id(other) for other in getattr(synset, relation)()))

    def irregular(self, form: str, pos: Pos) -> tuple[str, ...]:
        """The base forms of a form in WordNet's list of irregular forms, whether they are lemmas or not."""
        return tuple(self._wordnet._exception_map[pos].get(form.lower(), ()))

    def base_forms(self, form: str, pos: Pos) -> tuple[str, ...]:
        """The lemmas that a form may belong to, by WordNet's list of irregular forms and its rules."""
        return base_forms(form.lower(), pos, self.irregular(form, pos), lambda lemma: bool(self._of(lemma, pos)))

    @cached_property
    def _frequencies(self) -> Frequencies:
        with self._wordnet.open("cntlist.rev") as file:
            tagged = sum(int(line.split()[2]) for line in file)
        return Frequencies(EmbeddedLexicon.opened().treebank, tagged=tagged)

    def count(self, lemma: str, pos: Pos) -> int:
        """How often the lemma was seen: WordNet's tags and the treebank's words together."""
        return sum(s.count for s in self.senses(lemma, pos)) + self._frequencies.treebank.lemma(lemma, pos)

    def frequency(self, lemma: str, pos: Pos) -> float:
        """How common the lemma is on the Zipf scale."""
        return self._frequencies.lemma(self.count(lemma, pos))

    def word_count(self, word: str, upos: str | None = None) -> int:
        """How often the treebank has the word in this form, with this universal tag or with any."""
        return self._frequencies.treebank.form(word, upos)

    def word_frequency(self, word: str) -> float:
        """How common the word in this form is on the Zipf scale, in the treebank alone."""
        return self._frequencies.word(word)


def _pos(kind: str) -> Pos:
    return "a" if kind == "s" else kind  # type: ignore[return-value]
