"""Doc2Vec (gensim): a trained file, or trained on the run's own texts as the paper does.

gensim draws random numbers while it infers a vector, and starts from one that depends on the process. Here its
generator is set anew for every text and the start comes from a checksum, so that a text has one vector.
"""

from __future__ import annotations

import os
import pickle
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from encheck.encoders.base import Batch
from encheck.encoders.batching import slices
from encheck.encoders.config import ModelConfig
from encheck.encoders.local import LocalEncoder
from encheck.encoders.vectors import treebank_words
from encheck.errors import EncoderError, ModelError
from encheck.types import content_hash

if TYPE_CHECKING:
    from encheck.encoders.load import Device

PAPER = {"size": 100, "window": 5, "min_count": 1, "epochs": 20, "seed": 0}  # Daunting Dilemma, appendix A
PLAIN = {
    *("gensim.models.doc2vec.Doc2Vec", "gensim.models.keyedvectors.KeyedVectors", "gensim.models.doc2vec.Doctag"),
    *("gensim.models.keyedvectors.CompatVocab", "gensim.models.word2vec.Word2Vec", "collections.defaultdict"),
    *(
        "gensim.utils.call_on_class_only",
        "builtins.hash",
        "builtins.int",
        "builtins.set",
        "_codecs.encode",
        "numpy.ndarray",
        "numpy.dtype",
    ),
    *("numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct", "numpy._core.numeric._frombuffer"),
    *("numpy.core.multiarray.scalar", "numpy._core.multiarray.scalar", "numpy.random._mt19937.MT19937"),
    *("numpy.random._pickle.__randomstate_ctor", "numpy.random._pickle.__bit_generator_ctor"),
    *("gensim.models.doc2vec.Doc2VecVocab", "gensim.models.doc2vec.Doc2VecTrainables", "numpy.float32"),
}


class Doc2VecEncoder(LocalEncoder):
    """A file that gensim saved, or without one a model of the run's texts: 100 dimensions, window 5, 20 epochs."""

    engine = "doc2vec-1"

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        self.options: Mapping[str, Any] = PAPER | dict(config.options)
        self._corpus: tuple[str, ...] = ()
        self._model: Any = None
        if config.name and not source.is_file():
            raise ModelError(f"{source} is no file: a Doc2Vec model is the file that gensim's save() wrote")
        if config.name:
            self._model_of_file()

    def content(self) -> Mapping[str, Path]:
        """The file, and the arrays that gensim puts beside a large one."""
        if not self.config.name:
            return {}
        beside = self.source.parent.glob(f"{self.source.name}.*.npy")
        return {"model": self.source} | {p.name.removeprefix(self.source.name): p for p in beside}

    def how(self) -> list[str]:
        """The options, and the texts that it was trained on."""
        corpus = [] if self.config.name else [content_hash(*self._corpus)]
        return [f"{name} {value}" for name, value in sorted(self.options.items())] + corpus

    def about(self) -> dict[str, Any]:
        """With how it was trained."""
        if self.config.name:
            return {"trained": self.source.name}
        return {"trained": f"on the run's {len(self._corpus)} texts", **self.options}

    def fit(self, texts: Sequence[str]) -> None:
        """Name the texts to train on, where there is no file; training waits for the first text to encode."""
        if not self.config.name:
            self._corpus, self._model = tuple(sorted(set(texts))), None
            self.__dict__.pop("_fingerprint", None)

    def compute(self, texts: list[str], prompt: str) -> Iterator[Batch]:  # noqa: ARG002
        """One text after the other."""
        model = self._model or self._train(self._corpus or texts)
        with _same_start_everywhere():
            for positions in slices(len(texts), 256):
                yield positions, np.array([self._infer(model, texts[i]) for i in positions], np.float32)

    def _infer(self, model: Any, text: str) -> Any:
        model.random.seed(self.options["seed"])
        return model.infer_vector(_words(text) or ["\x00"], epochs=self.options.get("infer_epochs"))

    def _train(self, texts: Sequence[str]) -> Any:
        from gensim.models.doc2vec import Doc2Vec, TaggedDocument

        documents = [TaggedDocument(_words(text), [i]) for i, text in enumerate(texts)]
        if sum(len(d.words) for d in documents) == 0:
            raise EncoderError("Doc2Vec has no word to learn from: the run's texts hold none")
        how = {k: v for k, v in self.options.items() if k in ("window", "min_count", "epochs", "seed")}
        self._model = Doc2Vec(documents, vector_size=self.options["size"], workers=1, hashfxn=_checksum, **how)
        return self._model

    def _model_of_file(self) -> None:
        """Load with a reader that makes gensim's and numpy's own objects alone; ModelError for anything else."""
        try:
            with self.source.open("rb") as file:
                model: Any = _Reader(file, encoding="latin1").load()
            named = os.fspath(self.source)
            model._load_specials(named, None, False, lambda *parts: ".".join([named, *parts]))
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(
                f"{self.source} is no Doc2Vec model that gensim saved ({error!r}): was it cut off?"
            ) from error
        if type(model).__name__ != "Doc2Vec":
            raise ModelError(f"{self.source} holds a {type(model).__name__}, but should hold gensim's Doc2Vec")
        self._model = model


class _Reader(pickle.Unpickler):
    """Makes what `PLAIN` names and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if f"{module}.{name}" not in PLAIN:
            raise ModelError(f"the file is a pickle that would call {module}.{name}: it is not loaded")
        return super().find_class(module, name)


def _words(text: str) -> list[str]:
    return treebank_words(text.lower())


def _checksum(text: str) -> int:
    return zlib.crc32(text.encode("utf-8"))


@contextmanager
def _same_start_everywhere() -> Iterator[None]:
    """gensim starts from Python's `hash` of the text, which differs between processes; here from a checksum."""
    from gensim.models import doc2vec

    theirs = doc2vec.pseudorandom_weak_vector
    doc2vec.pseudorandom_weak_vector = partial(theirs, hashfxn=_checksum)
    try:
        yield
    finally:
        doc2vec.pseudorandom_weak_vector = theirs
