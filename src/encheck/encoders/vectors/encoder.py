"""Static word vectors: GloVe, word2vec text and binary, fastText .vec; averaged, or weighted as SIF.

A text is the mean of its words' vectors; a word that the file lacks is left out, and a text of such words alone, or of
none, gets the mean of the file's first 1,000 words times 1e-3: near to nothing, and no zero.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.batching import slices
from encheck.encoders.local import LocalEncoder
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.protocol import Batch
from encheck.encoders.vectors.files import VectorFile
from encheck.errors import EncoderError
from encheck.system.imports import nltk_alone
from encheck.types import content_hash

if TYPE_CHECKING:
    from encheck.encoders.load import Device

Vectors = NDArray[np.float32]
COMMONEST_WORDS = 1_000
MIN_WORDS_TO_DOUBT = 8  # a pair of sentences has more words; a few odd texts have fewer
log = logging.getLogger("encheck")


class VectorsEncoder(LocalEncoder):
    """The mean of word vectors; `tokens: split` cuts at blanks alone, `words` as NLTK's Treebank tokenizer."""

    engine = "vectors-1"

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        self.file = VectorFile(source)
        self.options: Mapping[str, Any] = config.options
        self._known: dict[str, tuple[int, Vectors]] = {}
        self._asked: set[str] = set()

    def content(self) -> Mapping[str, Path]:
        """The one file."""
        return {"vectors": self.source}

    def how(self) -> list[str]:
        """The options."""
        return [f"{name} {value}" for name, value in sorted(self.options.items())]

    def about(self) -> dict[str, Any]:
        """With the weighting."""
        return {"pooling": self.options.get("weighting", "average")}

    def words(self, text: str) -> list[str]:
        """The words of a text as the file may know them: as they stand, or in lower case."""
        text = text.lower() if self.options.get("lowercase") else text
        return text.split() if self.options.get("tokens") == "split" else treebank_words(text)

    def learn(self, texts: Iterable[str]) -> list[list[str]]:
        """Read the vectors of the texts' words from the file; the words of each text that it knows."""
        found = [self.words(text) for text in texts]
        wanted = {w for words in found for w in words} | {w.lower() for words in found for w in words}
        if new := wanted - self._asked:
            self._known |= self.file.read(new)
            self._asked |= new
        return [[k for w in words if (k := self._key(w)) is not None] for words in found]

    def _key(self, word: str) -> str | None:
        """A word that the file has in lower case alone is taken so."""
        return next((w for w in (word, word.lower()) if w in self._known), None)

    def weight(self, word: str) -> float:  # noqa: ARG002
        """The weight of a word."""
        return 1.0

    @cached_property
    def _fallback(self) -> Vectors:
        common = [vector for _, vector in self.file.read(None, first=COMMONEST_WORDS).values()]
        return np.asarray(np.mean(common, axis=0) * 1e-3, np.float32)

    def vector(self, words: Sequence[str]) -> Vectors:
        """The weighted mean of the words' vectors; shape [d]."""
        if not words:
            return self._fallback
        total = sum(np.float64(self.weight(w)) * self._known[w][1] for w in words)
        return np.asarray(total / len(words), np.float32)

    def _refuse_strange(self, texts: list[str], known: list[list[str]]) -> None:
        """EncoderError if the file has had no word so far, and none of these: all texts would get one vector.

        A file that had one is not doubted for a strange text, which would be refused alone and encoded beside others.
        """
        words = set() if any(known) or self._known else {word for text in texts for word in self.words(text)}
        if len(words) >= MIN_WORDS_TO_DOUBT:
            raise EncoderError(
                f"{self.source} has none of the {len(words)} words of these texts, such as {min(words)!r}: the "
                "vocabulary does not match. Remedy: vectors of the texts' language"
            )

    def compute(self, texts: list[str], prompt: str) -> Iterator[Batch]:  # noqa: ARG002
        """The file is read once for all texts, then averaged."""
        known = self.learn(texts)
        self._refuse_strange(texts, known)
        if lost := sum(not words and bool(text.strip()) for words, text in zip(known, texts, strict=True)):
            log.warning("%s has no word of %d of %d texts", self.source.name, lost, len(texts))
        for positions in slices(len(texts), 1_024):
            yield positions, np.array([self.vector(known[i]) for i in positions], np.float32)


class SifEncoder(VectorsEncoder):
    """Smooth inverse frequency (Arora, Liang and Ma 2017): weights a / (a + p(word)), then the first `components`
    singular vectors of the run's own texts taken out. p comes from the rank in the file, by Zipf's law: the files
    are sorted by frequency.
    """

    engine = "vectors-sif-1"
    ready = True

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        self._corpus: tuple[str, ...] = ()
        self._common: NDArray[np.float64] | None = None

    def fit(self, texts: Sequence[str]) -> None:
        """Name the texts whose common components are taken out; they are found when the first text is encoded."""
        self._corpus, self._common = tuple(sorted(set(texts))), None

    def fingerprint(self) -> str:
        """With the texts that it was fitted on."""
        return f"{super().fingerprint()}:{content_hash(*self._corpus)}" if self._corpus else super().fingerprint()

    def weight(self, word: str) -> float:
        """a / (a + p), where p is 1 / (rank * the sum of 1 / rank)."""
        a = float(self.options.get("a", 1e-3))
        probability = 1 / ((self._known[word][0] + 1) * self._harmonic)
        return a / (a + probability)

    @cached_property
    def _harmonic(self) -> float:
        return float((1 / np.arange(1, self.file.count + 1)).sum())

    def compute(self, texts: list[str], prompt: str) -> Iterator[Batch]:
        """As the mean, less the components that the run's texts have in common."""
        common = self._components(prompt)
        for positions, vectors in super().compute(texts, prompt):
            less: Vectors = (vectors - vectors @ common.T @ common).astype(np.float32)
            yield positions, less

    def _components(self, prompt: str) -> NDArray[np.float64]:
        """Right singular vectors of the corpus; shape [components, d]."""
        count = int(self.options.get("components", 1)) if self._corpus else 0
        if self._common is None or not self._corpus:
            rows = [vectors for _, vectors in super().compute(list(self._corpus), prompt)] if count else []
            matrix = np.concatenate(rows).astype(np.float64) if rows else np.zeros((1, self.file.dimension))
            self._common = np.linalg.svd(matrix, full_matrices=False)[2][:count]
        return self._common


def open_vectors(
    source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]
) -> VectorsEncoder:
    """The encoder that `weighting` names."""
    kind = SifEncoder if config.options.get("weighting") == "sif" else VectorsEncoder
    return kind(source, config, device=device, file_hash=file_hash)


def treebank_words(text: str) -> list[str]:
    """Words and punctuation as NLTK's `word_tokenize` has them for a single sentence; no data files are needed.

    >>> treebank_words("It isn't so.")
    ['It', 'is', "n't", 'so', '.']
    """
    nltk_alone()
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return list(NLTKWordTokenizer().tokenize(text))
