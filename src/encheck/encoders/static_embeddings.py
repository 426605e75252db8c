"""Encoders without context: files of word vectors (GloVe, word2vec, fastText), averaged or weighted as SIF, and
model2vec.

A text's vector is the mean of the vectors of its words. Words that the file lacks are ignored. If it lacks all words of
a text, the text gets the mean of the file's first 1,000 words times 1e-3: almost zero, but not zero. Published files
hold two million words or more, so only the needed vectors stay in memory.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.base import LocalEncoder, replace_half_surrogates
from encheck.encoders.batching import slice_positions
from encheck.encoders.checkpoints.pretrained import check_folder, checkpoint_files
from encheck.encoders.files import COPY, CUT_OFF, WHOLE, check_tokens_per_character, require_file
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.protocol import Batch
from encheck.errors import EncoderError, ModelError
from encheck.system.imports import import_nltk
from encheck.types import Json, content_hash

Vectors = NDArray[np.float32]
Entry = tuple[int, bytes, "NDArray[np.float32] | bytes"]
MAX_WORD_BYTES = 4_096
COMMONEST_WORDS = 1_000
MIN_WORDS_TO_DOUBT = 8  # fewer strange words are no reason for an error
log = logging.getLogger("encheck")


class VectorFile:
    """Word vectors on disk.

    If the format is unknown or the file was cut off, a ModelError names the file.
    """

    def __init__(self, path: Path, *, option: str = "name") -> None:
        self.path = require_file(path, "the file of word vectors", f"Remedy: give its path: --model-arg {option}=PATH")
        with path.open("rb") as file:
            first = file.readline(1 << 20)
        self.header = len(fields := first.split()) == 2 and all(f.isdigit() for f in fields)
        if self.header:
            self._count, self.dimension = (int(f) for f in fields)
        else:
            self._count, self.dimension = 0, len(fields) - 1
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(len(first))
            second = file.readline(1 << 20).rstrip().split(b" ")  # fastText ends its lines with a blank
            file.seek(max(0, size - (1 << 16)))
            end = file.read().rstrip(b"\n").rpartition(b"\n")[2]
        # text has a word and `dimension` numbers in its next line; binary has a word and anything
        self.binary = self.header and (
            len(second) <= self.dimension or not all(map(_is_numeric, second[-self.dimension :]))
        )
        if not size:
            raise ModelError(f"{path} is empty: {CUT_OFF}")
        if self.dimension < 1 or not (self.header or all(map(_is_numeric, fields[-self.dimension :]))):
            raise ModelError(
                f"{path} begins with {first[:40]!r}, but should hold word vectors: a word and its numbers a line, "
                "or word2vec's binary format. Remedy: GloVe's .txt, fastText's .vec (not its .bin) or word2vec's .bin"
            )
        if self.binary and size < self._count * (4 * self.dimension + 2):
            raise ModelError(f"{path} says {self._count} x {self.dimension} vectors, but has {size} bytes: {CUT_OFF}")
        if not self.binary and (size < 1 << 16 or b" " in end):
            last = end.split()
            if len(last) <= self.dimension or not all(map(_is_numeric, last[-self.dimension :])):
                raise ModelError(f"{path} ends in the middle of a line ({end[:40]!r}): {CUT_OFF}")

    @cached_property
    def count(self) -> int:
        """The number of words in the file."""
        return self._count if self.header else sum(1 for _ in self._read_lines())

    def read(self, wanted: set[str] | None, *, first: int | None = None) -> dict[str, tuple[int, Vectors]]:
        """Return word -> (rank from 0, vector).

        The words are those in `wanted`, or the `first` words of the file. If a word occurs twice, its first vector
        counts.
        """
        keys = None if wanted is None else {w.encode("utf-8") for w in wanted}
        vectors: dict[str, tuple[int, Vectors]] = {}
        rank = -1
        for rank, word, numbers in self._read_binary_entries() if self.binary else self._read_text_entries():
            if first is not None and rank >= first:
                return vectors
            if keys is not None and word not in keys:
                continue
            if isinstance(numbers, bytes):
                try:
                    numbers = np.array(numbers.split(), np.float32)
                except ValueError as error:
                    raise EncoderError(
                        f"{self.path}: the vector of {word!r} is not a list of numbers: {error}. {COPY}"
                    ) from error
                if len(numbers) != self.dimension:
                    raise EncoderError(
                        f"{self.path}: {word!r} has {len(numbers)} numbers, but should have {self.dimension}. {COPY}"
                    )
            vectors.setdefault(word.decode("utf-8", "replace"), (rank, numbers))
        if self.header and rank + 1 != self._count:
            raise EncoderError(f"{self.path} says {self._count} words, but holds {rank + 1}: {CUT_OFF}")
        return vectors

    def _read_lines(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            if self.header:
                file.readline()
            yield from (line for line in file if line.strip())

    def _read_text_entries(self) -> Iterator[Entry]:
        """Yield the entries of a text file.

        Numbers stay text until they are needed. A word may contain blanks, as in GloVe 840B.
        """
        for rank, line in enumerate(self._read_lines()):
            line = line.rstrip()
            word, _, numbers = line.partition(b" ")
            if numbers.count(b" ") + 1 > self.dimension:
                parts = line.rsplit(b" ", self.dimension)
                word, numbers = parts[0], b" ".join(parts[1:])
            yield rank, word, numbers

    def _read_binary_entries(self) -> Iterator[Entry]:
        """Yield the entries of a binary file.

        A word ends at a blank. Some writers put a line break before the next word.
        """
        width = 4 * self.dimension
        with self.path.open("rb") as file:
            file.readline()
            for rank in range(self._count):
                word = bytearray()
                while (letter := file.read(1)) not in (b" ", b""):
                    word += letter
                    if len(word) > MAX_WORD_BYTES:
                        raise EncoderError(
                            f"{self.path} has a word of more than {MAX_WORD_BYTES} bytes: it is not a word2vec file. "
                            f"{COPY}"
                        )
                data = file.read(width)
                if len(data) != width:
                    raise EncoderError(f"{self.path} ends after {rank} of {self._count} words: {CUT_OFF}")
                yield rank, bytes(word).lstrip(b"\n"), np.frombuffer(data, "<f4")


def _is_numeric(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class VectorsEncoder(LocalEncoder):
    """Averages word vectors.

    With `tokens: split`, words are separated only at blanks. With `split_words`, they are separated as by NLTK's
    Treebank tokenizer.
    """

    engine = "vectors-1"
    libraries = ("nltk",)

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        self.file = VectorFile(source)
        self.options: Mapping[str, Any] = config.options
        self._known: dict[str, tuple[int, Vectors]] = {}
        self._asked: set[str] = set()

    def fingerprint_files(self) -> Mapping[str, Path]:
        """Return the file of vectors."""
        return {"vectors": self.source}

    def fingerprint_settings(self) -> list[str]:
        """Return the options."""
        return [f"{name} {value}" for name, value in sorted(self.options.items())]

    def about(self) -> dict[str, Json]:
        """Add the weighting."""
        return {"pooling": self.options.get("weighting", "average")}

    def split_words(self, text: str) -> list[str]:
        """Return the words of a text in the form in which the file may hold them: unchanged or in lower case."""
        text = text.lower() if self.options.get("lowercase") else text
        return text.split() if self.options.get("tokens") == "split" else split_like_treebank(text)

    def read_known_words(self, texts: Iterable[str]) -> list[list[str]]:
        """Read the vectors of the texts' words from the file. Return the known words of each text."""
        text_words = [self.split_words(text) for text in texts]
        wanted = {form for words in text_words for word in words for form in (word, word.lower())}
        if new := wanted - self._asked:
            self._known |= self.file.read(new)
            self._asked |= new
        known = self._known  # a word that the file has only in lower case
        return [
            [form for word in words if (form := word if word in known else word.lower()) in known]
            for words in text_words
        ]

    def word_weight(self, word: str) -> float:  # noqa: ARG002
        """Return the weight of a word."""
        return 1.0

    @cached_property
    def _unknown_words_vector(self) -> Vectors:
        common = [vector for _, vector in self.file.read(None, first=COMMONEST_WORDS).values()]
        return np.asarray(np.mean(common, axis=0) * 1e-3, np.float32)

    def average_words(self, words: Sequence[str]) -> Vectors:
        """Return the weighted mean of the words' vectors, shape [d]."""
        if not words:
            return self._unknown_words_vector
        total = sum(np.float64(self.word_weight(w)) * self._known[w][1] for w in words)
        return np.asarray(total / len(words), np.float32)

    def compute(self, texts: list[str], prompt: str) -> Iterator[Batch]:  # noqa: ARG002
        """Read the file once for all texts, then average the words of each text."""
        known = self.read_known_words(texts)  # once a word was found, unknown texts are no error
        strange = set() if self._known else {word for text in texts for word in self.split_words(text)}
        if len(strange) >= MIN_WORDS_TO_DOUBT:
            raise EncoderError(
                f"{self.source} has none of the {len(strange)} words of these texts, such as {min(strange)!r}: the "
                "vocabulary does not match. Remedy: vectors of the texts' language"
            )
        if lost := sum(not words and bool(text.strip()) for words, text in zip(known, texts, strict=True)):
            log.warning("%s has no word from %d of %d texts", self.source.name, lost, len(texts))
        for positions in slice_positions(len(texts), 1_024):
            yield positions, np.array([self.average_words(known[i]) for i in positions], np.float32)


class SifEncoder(VectorsEncoder):
    """Weights words by smooth inverse frequency (Arora, Liang and Ma 2017).

    The weight of a word is a / (a + p(word)). Files are sorted by frequency, so p follows from the word's rank by
    Zipf's law. Then the first `components` singular vectors of the run's own texts are removed from each vector.
    """

    engine = "vectors-sif-1"
    ready = True

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        self._corpus: tuple[str, ...] = ()
        self._common: NDArray[np.float64] | None = None

    def fit(self, texts: Sequence[str]) -> None:
        """Store the texts whose common components are to be removed.

        The components are computed when the first text is encoded.
        """
        self._corpus, self._common = tuple(sorted(set(replace_half_surrogates(texts)))), None

    def fingerprint(self) -> str:
        """Return a fingerprint that includes the texts on which the encoder was fitted."""
        return f"{super().fingerprint()}:{content_hash(*self._corpus)}" if self._corpus else super().fingerprint()

    def word_weight(self, word: str) -> float:
        """Return a / (a + p), where p is 1 / (rank * the sum of 1 / rank)."""
        a = float(self.options.get("a", 1e-3))
        probability = 1 / ((self._known[word][0] + 1) * self._harmonic_number)
        return a / (a + probability)

    @cached_property
    def _harmonic_number(self) -> float:
        return float((1 / np.arange(1, self.file.count + 1)).sum())

    def compute(self, texts: list[str], prompt: str) -> Iterator[Batch]:
        """Average as VectorsEncoder does, then remove the components that the run's texts have in common."""
        count = int(self.options.get("components", 1)) if self._corpus else 0
        if self._common is None or not self._corpus:
            rows = [vectors for _, vectors in super().compute(list(self._corpus), prompt)] if count else []
            matrix = np.concatenate(rows).astype(np.float64) if rows else np.zeros((1, self.file.dimension))
            self._common = np.linalg.svd(matrix, full_matrices=False)[2][:count]  # [components, d]
        common = self._common
        for positions, vectors in super().compute(texts, prompt):
            less: Vectors = (vectors - vectors @ common.T @ common).astype(np.float32)
            yield positions, less


def open_word_vectors(
    source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]
) -> VectorsEncoder:
    """Return the encoder that the option `weighting` names."""
    kind = SifEncoder if config.options.get("weighting") == "sif" else VectorsEncoder
    return kind(source, config, device=device, file_hash=file_hash)


def split_like_treebank(text: str) -> list[str]:
    """Return words and punctuation, split as NLTK's `word_tokenize` splits a single sentence. No data files are needed.

    >>> split_like_treebank("It isn't so.")
    ['It', 'is', "n't", 'so', '.']
    """
    import_nltk()
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return list(NLTKWordTokenizer().tokenize(text))


class Model2VecEncoder(LocalEncoder):
    """A folder with model.safetensors, tokenizer.json and config.json, as model2vec writes it."""

    engine = "model2vec-1"
    libraries = ("model2vec", "tokenizers")

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        check_folder(source, marks=("config.json",))
        self.tokenizer_file = require_file(
            source / "tokenizer.json", "the tokenizer", "Remedy: use a complete checkpoint"
        )
        self.maximum_length = config.max_length

    def fingerprint_files(self) -> Mapping[str, Path]:
        """Return every file of the folder that determines vectors."""
        return checkpoint_files(self.source)

    def fingerprint_settings(self) -> list[str]:
        """Return maximum length and dimension."""
        return [str(self.config.max_length), str(self.config.truncate_dim)]

    @cached_property
    def model(self) -> Any:
        """The loaded model."""
        from model2vec import StaticModel

        try:
            model = StaticModel.from_pretrained(self.source, dimensionality=self.config.truncate_dim)
        except Exception as error:
            raise EncoderError(f"model2vec cannot load {self.source}: {str(error).rstrip('.')}. {WHOLE}") from error
        check_tokens_per_character(self.source, model.tokenizer)
        return model

    def compute(self, texts: list[str], prompt: str) -> Iterator[Batch]:
        """Encode the texts in slices, without padding."""
        limit = self.config.max_length or self.model.max_length
        prompted = [f"{prompt}{text}" for text in texts]
        if limit:
            room = limit * self.model.median_token_length  # model2vec cuts letters first, then tokens
            tokens = self.model.tokenizer.encode_batch_fast(prompted, add_special_tokens=False)
            full = sum(len(t.ids) > limit or len(p) > room for t, p in zip(tokens, prompted, strict=True))
            self.count_truncated_texts(full, len(texts), limit)
        for positions in slice_positions(len(texts), 1_024):
            some = [prompted[i] for i in positions]
            vectors = self.model.encode(some, max_length=limit, use_multiprocessing=False)
            rows_of_batch: NDArray[np.float32] = np.asarray(vectors, np.float32)
            yield positions, rows_of_batch
