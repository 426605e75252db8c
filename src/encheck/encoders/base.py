"""Define the base classes of adapters: a text encoder, a text encoder made of files, and a pair scorer.

encheck calls every adapter through `load_model`, `TextEncoder.batches` or `PairModel.score_pairs`. Each of them uses
`convert_library_errors`, which turns an error of a library into one that names the model. So an adapter need not catch
the errors of its libraries.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.batching import is_out_of_memory
from encheck.encoders.files import WHOLE, fingerprint_lines
from encheck.encoders.hub import commit_from_cache_path
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.protocol import Batch
from encheck.encoders.settings import describe_truncation
from encheck.errors import EncheckError, EncoderError
from encheck.types import Json, content_hash

log = logging.getLogger("encheck")
T = TypeVar("T")
PROBE = "The harbour lay quiet under the first snow of the year."
SAME_ROLE = {"document": ("passage", "corpus"), "passage": ("document", "corpus")}  # as sentence-transformers has them
Floats = NDArray[np.float64]
Pair = tuple[str, str]
PAIRS_AT_ONCE = 1_024


def is_failure_not_stop(error: BaseException) -> bool:
    """Return True if the error is a failure, and False if the user stopped the program or a generator ended.

    Libraries in Rust, such as tokenizers, can panic. pyo3's PanicException is not an Exception and cannot be imported.
    """
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


@contextmanager
def convert_library_errors(as_error: Callable[[BaseException], EncheckError]) -> Iterator[None]:
    """Convert a failure in the block to the error that `as_error` makes of it. Errors of encheck pass unchanged."""
    try:
        yield
    except EncheckError:
        raise
    except BaseException as error:
        if not is_failure_not_stop(error):
            raise
        raise as_error(error) from error


def describe_error(error: BaseException) -> str:
    """Return the type of the error and the first line of its message, cut to 300 characters."""
    return " ".join(f"{type(error).__name__}: {error}".strip().splitlines()[0].split())[:300]


def describe_failure(do: str, place: str, error: BaseException) -> str:
    """Return a message that says what the model at `place` could not do, why, and how to fix it."""
    if is_out_of_memory(error):
        return (
            f"{place} runs out of memory with a single text ({describe_error(error)}). Remedy: max_length, --dtype, or "
            f"--device"
        )
    return f"{place} cannot {do} ({describe_error(error)}). {WHOLE}"


class TextEncoder(ABC):
    """A text encoder whose adapter implements `compute`.

    `place` is the model's path or address, for messages. `tokenizer_file` is the tokenizer.json that splits its texts
    into tokens, or None. `is_normalised` is True if all vectors have length 1, and None if that is unknown.
    """

    place: str
    tokenizer_file: Path | None = None
    is_normalised: bool | None = None

    def __init__(self, config: ModelConfig) -> None:
        self.config = config
        self.similarity: str = config.similarity or "cosine"
        self.prompt: str = config.prompt or ""
        self.prompts: dict[str, str] = dict(config.prompts)
        self.truncated = 0

    @cached_property
    def devices(self) -> list[str]:
        """The devices that the model computes on. Empty for a remote model."""
        return ["cpu"]

    @cached_property
    def maximum_length(self) -> int | None:
        """The maximum number of tokens that the model reads from a text, or None if neither its files nor its entry
        state it.
        """
        return None

    @abstractmethod
    def compute(self, texts: list[str], prompt: str) -> Iterator[Batch]:
        """Yield (positions, vectors) for the texts. The texts contain no lone surrogates."""

    def about(self) -> dict[str, Json]:
        """Return the settings with which this run uses the model, for the report. They may differ from the requested
        ones.
        """
        return {"prompt": self.prompt} | ({"prompts": self.prompts} if self.prompts else {})

    def prompt_for(self, role: str | None) -> str:
        """Return the prompt that precedes texts in this role. If the role has none, return the model's only prompt."""
        return value_for_role(self.prompts, role, self.prompt)

    def compute_in_role(self, texts: list[str], role: str | None) -> Iterator[Batch]:
        """Yield (positions, vectors) like `compute`, with the prompt of the role."""
        return self.compute(texts, self.prompt_for(role))

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> NDArray[np.float32]:
        """Return the vectors of the texts in their order, shape [n, d], float32."""
        done = list(self.batches(texts, role=role))
        out = np.empty((len(texts), done[0][1].shape[1] if done else 0), np.float32)
        for positions, vectors in done:
            out[positions] = vectors
        return out

    def batches(self, texts: Sequence[str], *, role: str | None = None) -> Iterator[Batch]:
        """Yield (positions, vectors) batch by batch. If that fails, raise an EncoderError that names the model."""
        if not texts:
            return
        with convert_library_errors(
            lambda error: EncoderError(describe_failure("encode these texts", self.place, error))
        ):
            for positions, vectors in self.compute_in_role(replace_half_surrogates(texts), role):
                good = np.isfinite(vectors).all(axis=1)
                if not good.all():
                    dtype = getattr(self, "dtype", "float32")
                    narrow = "" if dtype == "float32" else f"; {dtype} may be too narrow: try --dtype=float32"
                    raise EncoderError(
                        f"{self.place} gives vectors with NaN or infinity, first for "
                        f"{texts[int(positions[~good][0])][:80]!r}. Remedy: take a checkpoint from before its training "
                        f"diverged{narrow}"
                    )
                dimension, width = self.config.truncate_dim, vectors.shape[1]
                if dimension and dimension > width:
                    raise EncoderError(
                        f"truncate_dim is {dimension}, but {self.place} gives vectors of {width} dimensions: there is "
                        f"nothing to cut. Remedy: truncate_dim of {width} or less"
                    )
                yield positions, vectors

    def count_truncated_texts(self, cut: int, total: int, limit: int) -> None:
        """Count the truncated texts. Warn if they are more than one in a hundred."""
        self.truncated += cut
        if cut > total / 100:
            log.warning(
                "%d of %d texts are longer than %d tokens, the maximum: the rest is truncated", cut, total, limit
            )


def value_for_role(by_role: Mapping[str, T], role: str | None, otherwise: T) -> T:
    """Return the mapping's value for this role or a synonym of it, or `otherwise` if it has none.

    >>> value_for_role({"passage": "passage: "}, "document", ""), value_for_role({"passage": "passage: "}, "query", "")
    ('passage: ', '')
    """
    names = () if role is None else (role, *SAME_ROLE.get(role, ()))
    return next((by_role[name] for name in names if name in by_role), otherwise)


def rounded_vector_hash(vector: NDArray[np.float32]) -> str:
    """Return a hash of a vector, shape [d], rounded to sixteen steps.

    Different models get different hashes, and rounding noise does not change the hash.

    >>> v = np.arange(8, dtype=np.float32)
    >>> [rounded_vector_hash(v) == rounded_vector_hash(w) for w in (v * 1.000001, v * np.float32(1e25), v[::-1])]
    [True, True, False]
    """
    directions = np.random.default_rng(0).standard_normal((16, len(vector)))
    wide = vector.astype(np.float64)
    length = max(float(np.linalg.norm(wide)), 1e-60)
    steps = np.round(directions @ wide / length / 0.1).astype(int)
    return content_hash(str(len(vector)), *map(str, steps))


def replace_half_surrogates(texts: Sequence[str]) -> list[str]:
    """Return the texts with U+FFFD in place of each lone surrogate, which no tokenizer accepts. Warn if there are any.

    >>> replace_half_surrogates(["fine"])
    ['fine']
    """
    fixed = [t if t.isascii() else t.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for t in texts]
    if changed := sum(a != b for a, b in zip(texts, fixed, strict=True)):
        log.warning("%d of %d texts hold half of a surrogate pair: it is read as U+FFFD", changed, len(texts))
    return fixed


class LocalEncoder(TextEncoder):
    """A text encoder made of files.

    `engine` is the name and version of its code. Raise the version when the vectors change. `libraries` are the
    packages that compute the vectors. The store keeps vectors by their versions.
    """

    engine: ClassVar[str]
    libraries: ClassVar[tuple[str, ...]] = ()

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(config)
        self.source, self.device, self._file_hash = source, device, file_hash
        self.place = str(source)

    @abstractmethod
    def fingerprint_files(self) -> Mapping[str, Path]:
        """Return the files that determine the vectors. Their names do not depend on where the files are."""

    def fingerprint_settings(self) -> list[str]:
        """Return the settings that change vectors, other than files and prompts: options, maximum length, dtype."""
        return []

    @property
    def dtype(self) -> str:
        """The precision of the weights; vectors are always fp32."""
        return self.device.dtype or self.config.dtype or "float32"

    @cached_property
    def _fingerprint(self) -> str:
        content = fingerprint_lines(self.fingerprint_files(), self._file_hash)
        roles = [f"{role}: {text}" for role, text in sorted(self.prompts.items())]
        parts = [self.engine, self.prompt, *self.fingerprint_settings(), *roles, *content]
        return f"{self.engine.rpartition('-')[0]}:{content_hash(*parts)}"

    def fingerprint(self) -> str:
        """Return a hash of the files' content and of the settings. A copied folder has the same fingerprint."""
        return self._fingerprint

    def describe_truncated_texts(self, texts: Sequence[str]) -> str:
        """Return a message that says how many of these texts the model truncates and which setting limits it.

        Return "" if it truncates none. This works even if the files state no limit, and does not load the model.
        """
        return describe_truncation(
            self.source, [f"{self.prompt}{text}" for text in texts], max_length=self.config.max_length
        )

    def about(self) -> dict[str, Json]:
        """Add the commit on the hub, and the model's own code that was allowed to run."""
        own = {"code": f"trust_remote_code: code that came with {self.source.name} was allowed to run"}
        commit = {"revision": commit_from_cache_path(self.source)} if commit_from_cache_path(self.source) else {}
        return super().about() | commit | (own if self.config.trust_remote_code else {})


class PairModel(ABC):
    """A pair scorer whose adapter implements `compute`.

    `engine` is the name and version of its code, and `libraries` are the packages that compute, as in LocalEncoder.
    """

    engine: ClassVar[str]
    libraries: ClassVar[tuple[str, ...]] = ()

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        self.source, self.config, self.device, self._file_hash = source, config, device, file_hash
        self.place = str(source) if source.name else self.engine.rpartition("-")[0]
        self.direction: str = config.options.get("direction", "forward")

    @cached_property
    def devices(self) -> list[str]:
        """The devices that it computes on."""
        return ["cpu"]

    @abstractmethod
    def compute(self, pairs: Sequence[Pair]) -> Floats:
        """Return the score of each pair, shape [n]. The pairs are distinct."""

    def fingerprint_files(self) -> Mapping[str, Path]:
        """Return the files that determine the scores. Their names do not depend on where the files are."""
        return {}

    def fingerprint_settings(self) -> list[str]:
        """Return the other settings that change scores."""
        return []

    @cached_property
    def _fingerprint(self) -> str:
        content = fingerprint_lines(self.fingerprint_files(), self._file_hash)
        parts = [self.engine, self.direction, *self.fingerprint_settings(), *content]
        return f"{self.engine.rpartition('-')[0]}:{content_hash(*parts)}"

    def fingerprint(self) -> str:
        """Return a hash of the files' content and of the settings. A copied folder has the same fingerprint."""
        return self._fingerprint

    def forget_fingerprint(self) -> None:
        """Forget the fingerprint, because something that it depends on has changed."""
        self.__dict__.pop("_fingerprint", None)

    def about(self) -> dict[str, Json]:
        """Return the settings with which this run uses the model, for the report."""
        commit, found = commit_from_cache_path(self.source), dict[str, Json](direction=self.direction)
        return found | ({"revision": commit} if commit else {})

    def score_pairs(self, first: Sequence[str], second: Sequence[str]) -> Floats:
        """Return the score of each pair, shape [n]. Larger is nearer. Equal pairs are computed once."""
        pairs = list(zip(replace_half_surrogates(first), replace_half_surrogates(second), strict=True))
        turned = [(b, a) for a, b in pairs] if self.direction == "both" else []
        distinct = list(dict.fromkeys([*pairs, *turned]))
        scores: dict[Pair, float] = {}
        for start in range(0, len(distinct), PAIRS_AT_ONCE):
            some = distinct[start : start + PAIRS_AT_ONCE]
            with convert_library_errors(
                lambda error: EncoderError(describe_failure("score these pairs", self.place, error))
            ):
                computed = self.compute(some)
            if not np.isfinite(computed).all():
                worst = some[int(np.flatnonzero(~np.isfinite(computed))[0])]
                raise EncoderError(
                    f"{self.source} gives scores that are NaN or infinite, first for {worst}. "
                    "Remedy: take a checkpoint from before its training diverged"
                )
            scores |= zip(some, computed, strict=True)
        there, back = (np.array([scores[pair] for pair in side], float) for side in (pairs, turned))
        return (there + back) / 2 if turned else there
