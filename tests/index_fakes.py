"""Encoders for an index in use: words in 24 dimensions, the same turned, cut, noised, lengthened, and a stranger."""

import os
import tempfile
from pathlib import Path

import numpy as np

from encheck.encoders.fake import random_direction
from encheck.similarity import words

DIMENSION = 24


def turned(dimension=DIMENSION):
    return np.linalg.qr(np.random.default_rng(1).standard_normal((dimension, dimension)))[0].astype(np.float32)


class Words:
    """Directions of words, summed and bent, so that no linear map makes them of counts."""

    similarity = "cosine"
    salt = ""

    def fingerprint(self):
        return f"{type(self).__name__}"

    def encode(self, texts, *, role=None):
        rows = [np.sum([random_direction(self.salt + w, DIMENSION) for w in words(t) or [t]], axis=0) for t in texts]
        return np.tanh(3 * np.array(rows, np.float32).reshape(-1, DIMENSION))


class Turned(Words):
    def encode(self, texts, *, role=None):
        return super().encode(texts) @ turned()


class Short(Words):
    def encode(self, texts, *, role=None):
        return super().encode(texts)[:, :12]


class Noised(Words):
    """As a model that was rounded."""

    noise = 0.01

    def encode(self, texts, *, role=None):
        noise = [random_direction("noise" + text, DIMENSION) for text in texts]
        return super().encode(texts) + np.float32(self.noise) * np.array(noise).reshape(-1, DIMENSION)


class Rounded(Noised):
    noise = 0.15


class Stranger(Words):
    salt = "strange"


class Longer(Words):
    def encode(self, texts, *, role=None):
        return 3 * super().encode(texts)


class LongerByDot(Longer):
    similarity = "dot"


class WordsByDot(Words):
    similarity = "dot"


class Near(Words):
    """In a space that is near, and not the same: x + 0.9 x G, G random and fixed."""

    def encode(self, texts, *, role=None):
        x = super().encode(texts)
        g = np.random.default_rng(1).standard_normal((DIMENSION, DIMENSION)).astype(np.float32) / np.sqrt(DIMENSION)
        return x + np.float32(0.9) * x @ g


class Prompted(Words):
    """Has a word before each document."""

    def prompt_for(self, role):
        return "ashane " if role == "document" else ""

    def encode(self, texts, *, role=None):
        return super().encode([f"{self.prompt_for(role)}{text}" for text in texts])


class Reads15(Words):
    """Reads 15 tokens of a text, of a tokenizer that makes one of each word."""

    maximum_length = 15

    @property
    def tokenizer_file(self):
        from tokenizers import Tokenizer, models, pre_tokenizers

        made = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
        made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        path = Path(tempfile.gettempdir(), f"encheck-tests-{os.getuid()}-words", "tokenizer.json")
        path.parent.mkdir(exist_ok=True)
        made.save(str(path))
        return path

    def encode(self, texts, *, role=None):
        return super().encode([" ".join(text.split()[: self.maximum_length]) for text in texts])


class Reads30(Reads15):
    maximum_length = 30
