"""Random numbers for a generator on one sentence."""

from __future__ import annotations

from hashlib import shake_128
from random import Random
from struct import unpack
from typing import TYPE_CHECKING, Any

from encheck.types import content_hash

if TYPE_CHECKING:
    Base = Random
else:
    Base = object  # a subclass of Random would be seeded at once, which takes time


class Draws(Base):
    """A `random.Random` for one seed, generator and sentence. It is seeded at the first draw, since most sentences need
    none.
    """

    __slots__ = ("_rng", "_seed")

    def __init__(self, seed: int, generator: str, source: str) -> None:
        self._seed = (seed, generator, source)
        self._rng: Random | None = None

    @property
    def run_seed(self) -> int:
        """The seed of the run, which is the same for all sentences."""
        return self._seed[0]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self._rng is None:
            seed, generator, source = self._seed
            self._rng = Random(f"{seed}/{generator}/{content_hash(source)}")  # noqa: S311 - no secret
        return getattr(self._rng, name)

    def random_ranks(self, count: int) -> tuple[int, ...]:
        """Return a random 32-bit number for each of `count` places, which does not depend on `count`."""
        seed = "{}/{}/{}".format(*self._seed).encode("utf-8", "surrogatepass")
        return unpack(f">{count}I", shake_128(seed).digest(4 * count))
