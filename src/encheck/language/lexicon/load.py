"""The lexicon: synonyms, antonyms and frequencies of words.

`lexicon()` opens the packaged one, built from WordNet 3.0 (docs/method/language.md); `lexicon("nltk")` uses NLTK's
WordNet, and `lexicon(PATH)` the WordNet files of a folder. All three give the same answers for the same release. Words
are written as in WordNet: in their own case, with `_` for a blank. Parts of speech are "n", "v", "a" and "r"; satellite
adjectives ("s") count as "a".
"""

from __future__ import annotations

import hashlib
import io
import warnings
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from encheck.errors import DataError, UsageError, unknown_name_message
from encheck.language.lexicon.lexicon import (
    MARKERS,
    Antonym,
    EmbeddedLexicon,
    Lexicon,
    Pos,
    Sense,
    TreebankCounts,
    part_of_speech,
)
from encheck.system.imports import import_nltk

HASHED = ("index.noun", "index.verb", "index.adj", "index.adv", "data.noun", "data.verb", "data.adj", "data.adv")
LEXICOGRAPHER_FILES = 45


def load_nltk_wordnet() -> Any:
    """Return the reader of nltk.corpus.wordnet. Raise DataError if nltk_data does not have it."""
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


def open_wordnet_folder(path: Path) -> Any:
    """Return a reader of WordNet's files in a folder, as Debian's wordnet-base installs them in /usr/share/wordnet.

    NLTK (3.10 and later) reads only from the folders of nltk.data.path, so this folder is added to them.
    """
    nltk = import_nltk()
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class Reader(WordNetCorpusReader):  # type: ignore[misc]
        def open(self, file: str) -> Any:
            """Return a file of the folder; numbers replace the names of topics, which Debian leaves out."""
            if file == "lexnames" and not (path / file).is_file():
                return io.StringIO("".join(f"{i:02d}\t{i:02d}\t0\n" for i in range(LEXICOGRAPHER_FILES)))
            return super().open(file)

        def map_wn(self, version: str = "wordnet") -> None:
            """Skip the map to the WordNet of nltk_data, which only other languages need."""

    missing = [name for name in (*HASHED, "noun.exc", "cntlist.rev") if not (path / name).is_file()]
    if missing:
        raise DataError(f"{path} holds no WordNet database: {missing[0]} is missing (of {len(missing)} files)")
    if str(path) not in nltk.data.path:
        nltk.data.path.append(str(path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NLTK's warning that it has no other languages
        return Reader(str(path), None)


class NltkLexicon(Lexicon):
    """`Lexicon` over an NLTK reader, with the packaged counts of the treebank."""

    def __init__(self, wordnet: Any) -> None:
        super().__init__()
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
        """Return all lemmas of a part of speech in lower case, sorted."""
        return tuple(sorted(set(self._wordnet.all_lemma_names(pos))))

    def _senses_of_lemma(self, lemma: str, pos: Pos) -> list[Any]:
        """NLTK's lemmas in sense order, including both of a synset that has the lemma in two cases."""
        result: list[Any] = self._wordnet.lemmas(lemma, pos)
        return result

    def senses(self, lemma: str, pos: Pos) -> tuple[Sense, ...]:
        """Return the senses of a lemma, the most frequent first."""
        result = self._senses.get((lemma, pos))
        if result is None:
            first: dict[int, Any] = {}
            for each in self._senses_of_lemma(lemma, pos):
                first.setdefault(each.synset().offset(), each)
            result = self._senses[lemma, pos] = tuple(map(self._make_sense, first.values()))
        return result

    def _make_sense(self, lemma: Any) -> Sense:
        synset = lemma.synset()
        marker = (lemma.syntactic_marker() or "").strip("()")
        return Sense(
            self._id_of_synset(synset),
            tuple(synset.lemma_names()),
            lemma.count(),
            MARKERS[MARKERS.index(marker)],
            tuple(sorted(set(lemma.frame_ids()))),
            lemma._lexname_index,
            synset.pos() == "s",
        )

    def _id_of_synset(self, synset: Any) -> str:
        """Return the id by WordNet's own number of the sense; NLTK 3.10 and later numbers satellites separately."""
        name, kind = synset.lemma_names()[0].lower(), synset.pos()
        known = self._ids.get((kind, synset.offset()))
        if known is not None:
            return known
        others = dict.fromkeys(each.synset().offset() for each in self._senses_of_lemma(name, part_of_speech(kind)))
        sense_id = f"{name}.{kind}.{list(others).index(synset.offset()) + 1:02d}"
        self._synsets[sense_id], self._ids[kind, synset.offset()] = synset, sense_id
        return sense_id

    def _synset_of_sense(self, sense: str) -> Any | None:
        """Return the synset with this id."""
        if sense not in self._synsets and sense.count(".") >= 2:
            lemma, kind, _ = sense.rsplit(".", 2)
            if kind in ("n", "v", "a", "r", "s"):
                self.senses(lemma, part_of_speech(kind))
        return self._synsets.get(sense)

    def antonyms(self, lemma: str, pos: Pos, sense: Sense, *, indirect: bool = False) -> tuple[Antonym, ...]:
        """Return the antonyms of the lemma in this sense; with `indirect`, followed by those of a satellite's heads."""
        synset = self._synset_of_sense(sense.id)
        own = [] if synset is None else [each for each in self._senses_of_lemma(lemma, pos) if each.synset() == synset]
        result = [self._make_antonym(o, direct=True) for each in own for o in each.antonyms()]
        if indirect and synset is not None and synset.pos() == "s":
            heads = [each for head in synset.similar_tos() for each in head.lemmas()]
            result += [self._make_antonym(o, direct=False) for each in heads for o in each.antonyms()]
        return tuple(dict.fromkeys(result))

    def _make_antonym(self, lemma: Any, *, direct: bool) -> Antonym:
        return Antonym(lemma.name(), self._id_of_synset(lemma.synset()), direct)

    def words_of_sense(self, sense: str) -> tuple[str, ...]:
        """Return the words of the synset with this id."""
        synset = self._synset_of_sense(sense)
        return () if synset is None else tuple(synset.lemma_names())

    def heads_of_satellite(self, sense: str) -> tuple[str, ...]:
        """Return the ids of the heads of a satellite adjective, sorted."""
        return self._linked_ids(sense, "similar_tos") if ".s." in sense else ()

    def hypernyms(self, sense: str) -> tuple[str, ...]:
        """Return the ids of the hypernyms of a noun or verb, sorted."""
        return self._linked_ids(sense, "hypernyms")

    def _linked_ids(self, sense: str, relation: str) -> tuple[str, ...]:
        synset = self._synset_of_sense(sense)
        return (
            () if synset is None else tuple(sorted(self._id_of_synset(other) for other in getattr(synset, relation)()))
        )

    def bases_of_irregular_form(self, form: str, pos: Pos) -> tuple[str, ...]:
        """Return the base forms of an irregular form in WordNet's list, even if they are not lemmas."""
        return tuple(self._wordnet._exception_map[pos].get(form.lower(), ()))

    @property
    def treebank(self) -> TreebankCounts:
        """The packaged counts."""
        return EmbeddedLexicon.shared().treebank

    @cached_property
    def words(self) -> float:
        """The number of words of running text behind its counts, the treebank's and WordNet's together."""
        with self._wordnet.open("cntlist.rev") as file:
            tagged = sum(int(line.split()[2]) for line in file)
        return self.treebank.estimate_running_words(tagged)


NAMES = ("embedded", "nltk")


@cache
def load_lexicon(name: str = "embedded") -> Lexicon:
    """Return the lexicon of this name: "embedded", "nltk", or the path of a folder with WordNet's files.

    Opened once per process. Raise UsageError for an unknown name. Raise DataError if the files are missing or not
    WordNet's.

    >>> [s.id for s in load_lexicon().senses("garden", "n")]
    ['garden.n.01', 'garden.n.02', 'garden.n.03']
    >>> [a.lemma for s in load_lexicon().senses("hot", "a")[:1] for a in load_lexicon().antonyms("hot", "a", s)]
    ['cold']
    """
    if name == "embedded":
        return EmbeddedLexicon.shared()
    if name == "nltk":
        return NltkLexicon(load_nltk_wordnet())
    if Path(name).is_dir():
        return NltkLexicon(open_wordnet_folder(Path(name)))
    if any(mark in name for mark in "/\\."):
        raise DataError(f"no folder {name!r}; a lexicon is one of {', '.join(NAMES)} or a folder with WordNet's files")
    raise UsageError(unknown_name_message("lexicon", name, NAMES))
