"""Encoders for upgrades: words in 24 dimensions, the same turned, cut, noised, lengthened, and a stranger."""

import numpy as np

from encheck.encoders.fake import direction
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
        rows = [np.sum([direction(self.salt + w, DIMENSION) for w in words(t) or [t]], axis=0) for t in texts]
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
        noise = [direction("noise" + text, DIMENSION) for text in texts]
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
