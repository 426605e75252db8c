"""Files that gensim's Doc2Vec saved, read without running anything that they name."""

from __future__ import annotations

import os
import pickle
import pickletools
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from encheck.encoders.files import CUT_OFF, require_file
from encheck.errors import ModelError

SAVED = "Remedy: the file that gensim's save() wrote"
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


def read_model(path: Path) -> Any:
    """gensim's model, by a reader that makes only gensim's and numpy's own objects; ModelError for anything else."""
    require_file(path, "the Doc2Vec model", SAVED)
    try:
        with path.open("rb") as file:
            _refuse_empty_places(file, path.stat().st_size)
            file.seek(0)
            model: Any = _Reader(file, encoding="latin1").load()
        named = os.fspath(path)
        model._load_specials(named, None, False, lambda *parts: ".".join([named, *parts]))
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    except Exception as error:
        raise ModelError(f"{path} is not a Doc2Vec model saved by gensim ({error!r}): {CUT_OFF}") from error
    if type(model).__name__ != "Doc2Vec":
        raise ModelError(f"{path} holds a {type(model).__name__}, but should hold gensim's Doc2Vec. {SAVED}")
    try:
        _check_arrays(path, model)
    except (AttributeError, TypeError, ValueError) as error:
        raise ModelError(f"{path} is not a complete Doc2Vec model ({error!r}): {CUT_OFF}") from error
    return model


def _check_arrays(path: Path, model: Any) -> None:
    """ModelError if arrays do not fit the vocabulary, or are not numeric, since gensim's loops would crash on them."""
    words, width = model.wv.key_to_index, int(model.vector_size)
    named = {"wv.vectors": model.wv.vectors, "syn1": getattr(model, "syn1", None)}
    named["syn1neg"] = getattr(model, "syn1neg", None)
    for name, array in named.items():
        if array is None:
            continue
        widths = (width, getattr(model, "layer1_size", width))
        if array.ndim != 2 or len(array) <= max(words.values(), default=0) or array.shape[1] not in widths:
            raise ModelError(
                f"{path}: {name} has the shape {array.shape}, but there are {len(words)} words of {width} dimensions: "
                f"the vocabulary does not match. {SAVED}, with what it put beside"
            )
        if not np.isfinite(array).all():
            raise ModelError(
                f"{path}: {name} holds NaN or infinity. Remedy: take a model from before its training diverged"
            )


def _refuse_empty_places(file: BinaryIO, size: int) -> None:
    """ModelError if the pickle numbers an object higher than the file has bytes.

    CPython's reader makes a list with twice as many places, whatever the size of the file.
    """
    for operation, argument, _ in pickletools.genops(file):
        if operation.name in ("PUT", "BINPUT", "LONG_BINPUT") and int(argument or 0) > max(size, 255):
            raise ModelError(f"the file numbers an object {argument}, but has {size} bytes: {CUT_OFF}")


class _Reader(pickle.Unpickler):
    """Makes what `PLAIN` names and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if f"{module}.{name}" not in PLAIN:
            raise ModelError(
                f"the file is a pickle that would call {module}.{name}: it is not loaded. Remedy: one that gensim saved"
            )
        return super().find_class(module, name)
