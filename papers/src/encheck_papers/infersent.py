"""InferSent (Conneau et al. 2017), versions 1 and 2: the published state dict and a file of word vectors.

A bidirectional LSTM over word vectors, then the maximum over time. In the published code, version 1 includes padding in
that maximum, so a vector depends on its batch. Here, neither version includes padding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.base import LocalEncoder
from encheck.encoders.batching import batch_equal_lengths, pick_devices, run_on_replicas
from encheck.encoders.files import check_weights_file, require_file
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.protocol import Batch
from encheck.encoders.static_embeddings import MIN_WORDS_TO_DOUBT, VectorFile, split_like_treebank
from encheck.errors import EncoderError, ModelError
from encheck.system.files import expand_home
from encheck.types import Json
from encheck_papers.recurrent import lstm_of, max_over_time, read_state

if TYPE_CHECKING:
    from encheck.encoders.model_config import Device

TRAINED_WITH = {1: "glove.840B.300d.txt", 2: "crawl-300d-2M.vec"}
ENDS = {1: ("<s>", "</s>"), 2: ("<p>", "</p>")}
WORDS_PER_BATCH = 4_096


class InferSentEncoder(LocalEncoder):
    """infersent1.pkl with GloVe, or infersent2.pkl with fastText: options `vectors` (a path) and `version` (1 or 2)."""

    engine = "infersent-1"
    libraries = ("torch", "nltk")

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        check_weights_file(require_file(source, "the state dict", "Remedy: say where it is: --model-arg name=PATH"))
        vectors = config.options.get("vectors")
        if not vectors:
            raise ModelError(
                f"{config.label}: InferSent needs word vectors. Remedy: --model-arg vectors=PATH (GloVe, fastText)"
            )
        self.file = VectorFile(expand_home(vectors), option="vectors")
        self.version = int(config.options.get("version", 1 if "1" in source.stem else 2))
        if self.version not in ENDS:
            raise ModelError(f"{config.label}: InferSent has versions 1 and 2, but version is {self.version}")
        self._known: dict[str, NDArray[np.float32]] = {}
        self._asked: set[str] = set()

    def fingerprint_files(self) -> Mapping[str, Path]:
        """The state dict and the word vectors."""
        return {"model": self.source, "vectors": self.file.path}

    def fingerprint_settings(self) -> list[str]:
        """The version."""
        return [str(self.version)]

    def about(self) -> dict[str, Json]:
        """The version and the word vectors, for the report."""
        return {"version": self.version, "vectors": self.file.path.name, "pooling": "max"}

    @cached_property
    def devices(self) -> list[str]:
        """The device that it computes on."""
        return pick_devices(self.device.name)[:1]

    @cached_property
    def _lstm(self) -> Any:
        state = read_state(self.source)
        lstm = lstm_of(state, "enc_lstm.", self.source)
        if lstm.input_size != self.file.dimension:
            raise EncoderError(
                f"{self.source} takes word vectors of {lstm.input_size} dimensions, but {self.file.path} has "
                f"{self.file.dimension}: {self._other}"
            )
        return lstm.to(self.devices[0])

    def words(self, text: str) -> list[str]:
        """Words between marks of begin and end, split as by the authors."""
        begin, end = ENDS[self.version]
        words = split_like_treebank(text)
        if self.version == 2:  # the authors say that this follows Moses
            words = " ".join(words).replace(" n't ", "n 't ").split()
        return [begin, *words, end]

    def compute(self, texts: list[str], prompt: str) -> Iterator[Batch]:  # noqa: ARG002
        """Encode texts sorted by number of words, the longest first."""
        lstm = self._lstm
        known = self._learn([self.words(text) for text in texts])
        lengths = np.array([len(words) for words in known])
        yield from run_on_replicas(
            [lstm],
            batch_equal_lengths(lengths, WORDS_PER_BATCH),
            lambda m, at: self._encode_batch(m, [known[i] for i in at]),
        )

    def _learn(self, found: list[list[str]]) -> list[list[str]]:
        wanted = {word for words in found for word in words}
        if new := wanted - self._asked:
            self._known |= {word: vector for word, (_, vector) in self.file.read(new).items()}
            self._asked |= new
        end = ENDS[self.version][1]
        if end not in self._known:
            raise EncoderError(f"{self.file.path} has no {end!r}: {self._other}")
        if len(wanted) >= MIN_WORDS_TO_DOUBT and not self._known.keys() - set(ENDS[self.version]):
            raise EncoderError(f"{self.file.path} has none of the {len(wanted)} words of these texts: {self._other}")
        return [[w for w in words if w in self._known] or [end] for words in found]

    @property
    def _other(self) -> str:
        vectors = TRAINED_WITH[self.version]
        return f"the vocabulary does not match. Remedy: the vectors that it was trained with ({vectors})"

    def _encode_batch(self, lstm: Any, rows: list[list[str]]) -> NDArray[np.float32]:
        import torch

        sequences = [torch.from_numpy(np.array([self._known[w] for w in words], np.float32)) for words in rows]
        return max_over_time(lstm, sequences)
