"""Doc2Vec (gensim): a trained file, or trained on the run's own texts as the paper does.

gensim draws random numbers while it infers a vector, from a start that depends on the process. Here its generator is
seeded for each text and the start is a checksum, so a text has one vector.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from encheck.encoders.base import LocalEncoder
from encheck.encoders.batching import slice_positions
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.protocol import Batch
from encheck.encoders.static_embeddings import MIN_WORDS_TO_DOUBT, split_like_treebank
from encheck.errors import EncoderError
from encheck.types import Json, content_hash
from encheck_papers.doc2vec.files import read_model

if TYPE_CHECKING:
    from encheck.encoders.model_config import Device

PAPER = {"size": 100, "window": 5, "min_count": 1, "epochs": 20, "seed": 0}  # Daunting Dilemma, appendix A


class Doc2VecEncoder(LocalEncoder):
    """A file that gensim saved."""

    engine = "doc2vec-1"
    libraries = ("gensim", "nltk")

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        self.options: Mapping[str, Any] = PAPER | dict(config.options)
        self._model: Any = read_model(source) if config.name else None
        self._fits = False  # whether it knew a word yet

    def fingerprint_files(self) -> Mapping[str, Path]:
        """The file, and the arrays that gensim saves in separate files for a large model."""
        beside = self.source.parent.glob(f"{self.source.name}.*.npy")
        return {"model": self.source} | {p.name.removeprefix(self.source.name): p for p in beside}

    def fingerprint_settings(self) -> list[str]:
        """The options."""
        return [f"{name} {value}" for name, value in sorted(self.options.items())]

    def about(self) -> dict[str, Json]:
        """The file, for the report."""
        return {"trained": self.source.name}

    def model(self, texts: list[str]) -> Any:
        """gensim's model; EncoderError if it has no word of these texts or of earlier ones."""
        words = {word for text in texts for word in _words(text)}
        self._fits = self._fits or not words.isdisjoint(self._model.wv.key_to_index)
        if len(words) >= MIN_WORDS_TO_DOUBT and not self._fits:
            raise EncoderError(
                f"{self.source} has none of the {len(words)} words of these texts, such as {min(words)!r}: the "
                "vocabulary does not match. Remedy: a model of texts of this language, in lower case"
            )
        return self._model

    def compute(self, texts: list[str], prompt: str) -> Iterator[Batch]:  # noqa: ARG002
        """One text after the other."""
        model = self.model(texts)
        with _same_start_everywhere():
            for positions in slice_positions(len(texts), 256):
                yield positions, np.array([self._infer(model, texts[i]) for i in positions], np.float32)

    def _infer(self, model: Any, text: str) -> Any:
        model.random.seed(self.options["seed"])
        return model.infer_vector(_words(text) or ["\x00"], epochs=self.options.get("infer_epochs"))


class TrainedDoc2Vec(Doc2VecEncoder):
    """Without a file, a model of the run's texts: 100 dimensions, window 5, minimum count 1, 20 epochs."""

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        self._corpus: tuple[str, ...] = ()

    def fingerprint_files(self) -> Mapping[str, Path]:
        """No file."""
        return {}

    def fingerprint_settings(self) -> list[str]:
        """Adds the texts that it was trained on."""
        return [*super().fingerprint_settings(), content_hash(*self._corpus)]

    def about(self) -> dict[str, Json]:
        """The training settings, for the report."""
        return {"trained": f"on the run's {len(self._corpus)} texts", **self.options}

    def fit(self, texts: Sequence[str]) -> None:
        """Name the texts to train on; training waits for the first text to encode."""
        self._corpus, self._model = tuple(sorted(set(texts))), None
        self.__dict__.pop("_fingerprint", None)

    def model(self, texts: list[str]) -> Any:
        """gensim's model of the run's texts, or without any of these."""
        return self._model or self._train(self._corpus or texts)

    def _train(self, texts: Sequence[str]) -> Any:
        from gensim.models.doc2vec import Doc2Vec, TaggedDocument

        documents = [TaggedDocument(_words(text), [i]) for i, text in enumerate(texts)]
        if sum(len(d.words) for d in documents) == 0:
            raise EncoderError("Doc2Vec has no word to learn from: the run's texts hold none")
        how = {k: v for k, v in self.options.items() if k in ("window", "min_count", "epochs", "seed")}
        self._model = Doc2Vec(documents, vector_size=self.options["size"], workers=1, hashfxn=_checksum, **how)
        return self._model


def open_doc2vec(
    source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]
) -> Doc2VecEncoder:
    """The encoder of a file or, without a name, an encoder trained on the run's own texts."""
    kind = Doc2VecEncoder if config.name else TrainedDoc2Vec
    return kind(source, config, device=device, file_hash=file_hash)


def _words(text: str) -> list[str]:
    return split_like_treebank(text.lower())


def _checksum(text: str) -> int:
    return zlib.crc32(text.encode("utf-8"))


@contextmanager
def _same_start_everywhere() -> Iterator[None]:
    """gensim starts from Python's `hash` of the text, which differs between processes; this starts from a checksum."""
    from gensim.models import doc2vec

    theirs = doc2vec.pseudorandom_weak_vector
    doc2vec.pseudorandom_weak_vector = partial(theirs, hashfxn=_checksum)
    try:
        yield
    finally:
        doc2vec.pseudorandom_weak_vector = theirs
