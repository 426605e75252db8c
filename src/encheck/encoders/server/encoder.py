"""Encoders behind HTTP: OpenAI-compatible /v1/embeddings, and text-embeddings-inference's /embed.

Batches are halved where the server finds them too large, sent several at a time, and put together by their indices.
A probe sentence goes with every request: its vector says which model gave the others.
"""

from __future__ import annotations

import json
import logging
from abc import abstractmethod
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property, partial
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.batching import Ints, slices
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.protocol import Batch
from encheck.encoders.server.http import Client, Refused
from encheck.encoders.server.watch import ONE_MODEL, WRONG_SERVER, Watch, checked, widened
from encheck.encoders.server.wire import room
from encheck.encoders.text import PROBE, TextEncoder, coarse
from encheck.errors import EncheckError, EncoderError, ModelError
from encheck.types import content_hash

Vectors = NDArray[np.float32]
TOO_MUCH = {400, 413, 422}
log = logging.getLogger("encheck")


class RemoteEncoder(TextEncoder):
    """An encoder behind HTTP; `name` is the server's address."""

    largest: int = 32

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        options = config.options
        how = {k: options[k] for k in ("timeout", "retries") if k in options}
        self.client = Client(config.name.rstrip("/"), options.get("key_env", "OPENAI_API_KEY"), **how)
        self.concurrency = int(options.get("concurrency", 4))
        self._counting = Lock()
        self.watch = Watch(self.client.url, self.ask, self._probed)
        self._width: int | None = None
        if self.concurrency < 1 or options.get("batch", 1) < 1:
            raise ModelError(f"{config.label}: batch and concurrency should be at least 1")

    @property
    def place(self) -> str:
        """The address."""
        return self.client.url

    @property
    def devices(self) -> list[str]:
        """None here."""
        return []

    @property
    def batch(self) -> int:
        """Texts a request, at most."""
        return int(self.config.options.get("batch", self.largest))

    @abstractmethod
    def ask(self, texts: list[str], *, cut: bool = False) -> Vectors:
        """The vectors of one request, in the order of its texts; `cut` asks the server to cut a long one."""

    @abstractmethod
    def model_name(self) -> str:
        """What the server calls the model."""

    def room(self, texts: list[str]) -> int:
        """The bytes that the vectors of these texts can need, in the dimension that the server had at first."""
        return room(texts, self._width)

    @cached_property
    def _probe(self) -> str:
        """What a vector of the server's comes to."""
        return coarse(self._settle(self.watch.alone))

    def _probed(self) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._same_width(self._asked([PROBE])[0][1], [PROBE])[0]
        return vector

    def verify_fingerprint(self) -> None:
        """EncoderError if another model answers than at first; two that take turns are two answers in a row."""
        for _ in range(2):
            self.watch.alone()

    def fingerprint(self) -> str:
        """The model's name, a probe vector and the prompts: another model under the same address is another one."""
        prompts = [f"{role}: {text}" for role, text in sorted(self.prompts.items())]
        parts = [self.model_name(), self._probe, self.prompt, str(self.config.truncate_dim), *prompts]
        return f"{type(self).__name__}:{content_hash(*parts)}"

    def _settle(self, ask: Any) -> NDArray[np.float32]:
        """Before the run, what goes wrong is the user's to set right."""
        try:
            found: NDArray[np.float32] = ask()
        except EncoderError as error:
            raise ModelError(f"{self.config.label}: {error}") from error
        return found

    def about(self) -> dict[str, Any]:
        """With the model's name at the server."""
        return super().about() | {"model": self.model_name()}

    def compute(self, texts: list[str], prompt: str) -> Iterator[Batch]:
        """Several requests at a time; what comes back is handed on in order, slice by slice.

        EncoderError if the probe in an answer shows another model than at first.
        """
        prompted = [f"{prompt}{text}" for text in texts]
        before = self.truncated
        stop: Future[None] = Future()
        pool = ThreadPoolExecutor(self.concurrency, initializer=self.client.heed, initargs=(stop,))
        try:
            ask = partial(self._asked, watched=self.batch > 1)
            size = max(1, self.batch - 1)  # the probe is one of a request's texts
            asked = pool.map(lambda at: ask([prompted[i] for i in at], at), slices(len(texts), size))
            for found in asked:
                for positions, vectors in found:
                    yield positions, self._same_width(vectors, [texts[i] for i in positions])
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            stop.set_result(None)
            if not isinstance(error, GeneratorExit):  # which may come of the garbage collector, in a thread of the pool
                pool.shutdown()
            raise
        pool.shutdown()
        if (cut := self.truncated - before) > len(texts) / 100:
            log.warning("%d of %d texts are longer than %s accepts: the rest is truncated", cut, len(texts), self.place)

    def _same_width(self, vectors: Vectors, texts: list[str]) -> Vectors:
        if self._width not in (None, vectors.shape[1]):
            raise widened(self.place, self._width or 0, vectors.shape[1])
        found = checked(vectors, texts, self.place)
        self._width = found.shape[1]
        return found

    def _asked(self, texts: list[str], positions: Ints | None = None, *, watched: bool = False) -> list[Batch]:
        """Batches of these texts: halves where the server finds them too many or too long together.

        The probe goes with each that is `watched`, but not with a text that the server takes alone only.
        """
        positions = np.arange(len(texts)) if positions is None else positions
        try:
            return [(positions, self.watch.beside(texts) if watched else self.ask(texts))]
        except Refused as refused:
            if refused.status not in TOO_MUCH:
                remedy = f"Remedy: check the address, the model and the key in {self.client.key_env}"
                raise EncoderError(
                    f"{self.place}{self.client.through} refuses the request: {refused}. {remedy}"
                ) from None
            if len(texts) == 1 and not watched:
                return [(positions, self._cut(texts[0], refused))]
        if len(texts) == 1:
            return self._asked(texts, positions)
        middle, ask = len(texts) // 2, partial(self._asked, watched=watched)
        return ask(texts[:middle], positions[:middle]) + ask(texts[middle:], positions[middle:])

    def _cut(self, text: str, refused: Refused) -> Vectors:
        """A text that is too long for the server, cut by it or here until it fits; it is counted.

        It is cut to powers of two, so that what is left does not depend on how much followed.
        """
        said = refused
        while len(text) > 40:
            try:
                vectors = self.ask([text], cut=True)
            except Refused as again:
                said, text = again, text[: 1 << (len(text) - 1).bit_length() - 1]
            else:
                with self._counting:
                    self.truncated += 1
                return vectors
        raise EncoderError(f"{self.place} refuses the text {text!r}: {said}. {WRONG_SERVER}") from None


class OpenAiEncoder(RemoteEncoder):
    """OpenAI's API and what speaks it: vLLM, Ollama, LiteLLM, llama.cpp, LocalAI and others."""

    largest = 256

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        if not config.options.get("model"):
            raise ModelError(f"{config.label}: name the model for the server: --model-arg model=NAME")

    def model_name(self) -> str:
        """As the entry says it."""
        return str(self.config.options["model"])

    def ask(self, texts: list[str], *, cut: bool = False) -> Vectors:  # noqa: ARG002 - it has no word for cutting
        """POST /v1/embeddings."""
        body: dict[str, Any] = {"model": self.model_name(), "input": texts, "encoding_format": "float"}
        if self.config.truncate_dim:
            body["dimensions"] = self.config.truncate_dim
        path = "/embeddings" if self.client.url.endswith("/v1") else "/v1/embeddings"
        answer = self.client.post(path, body, most=self.room(texts))
        rows = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(rows, list) or not all(isinstance(r, dict) and "embedding" in r for r in rows):
            error = answer.get("error") if isinstance(answer, dict) else None
            told = self.client.hidden(json.dumps(error, ensure_ascii=False))[:300]
            why = f"it says {told}." if error else "does it speak OpenAI's API?"
            raise EncoderError(f"{self.place}{path} answers without `data` of embeddings: {why} {WRONG_SERVER}")
        return _by_index(rows, len(texts), self.place)


class TeiEncoder(RemoteEncoder):
    """Hugging Face's text-embeddings-inference. Its limit of texts a request is asked of it."""

    @cached_property
    def _info(self) -> dict[str, Any]:
        return self._ask_info()

    def _ask_info(self) -> dict[str, Any]:
        try:
            found = self.client.get("/info")
        except EncheckError as error:
            raise ModelError(
                f"{self.config.label}: {self.place}/info: {error}. Is it text-embeddings-inference?"
            ) from None
        except Refused as refused:
            raise ModelError(
                f"{self.config.label}: {self.place}/info: {refused}. Is it text-embeddings-inference? {WRONG_SERVER}"
            ) from None
        if not isinstance(found, dict):
            raise ModelError(
                f"{self.config.label}: {self.place}/info is not a mapping. Is it text-embeddings-inference? "
                f"{WRONG_SERVER}"
            )
        return found

    @property
    def batch(self) -> int:
        """Texts a request: as the entry says, else as the server does."""
        return int(self.config.options.get("batch") or self._info.get("max_client_batch_size") or self.largest)

    def model_name(self) -> str:
        """As the server says it, with its revision."""
        return _name_in(self._info)

    def verify_fingerprint(self) -> None:
        """The name that the server gives, too, should be that of before."""
        super().verify_fingerprint()
        try:
            now = _name_in(self._ask_info())
        except ModelError as error:
            raise EncoderError(str(error)) from error
        if now != self.model_name():
            raise EncoderError(
                f"{self.place} answers with another model than at the start of the run: it was {self.model_name()}, "
                f"and is {now}. {ONE_MODEL}"
            )

    def ask(self, texts: list[str], *, cut: bool = False) -> Vectors:
        """POST /embed; a text that is too long is refused first, so that it can be counted."""
        body = {"inputs": texts, "truncate": cut, "normalize": False}
        rows = self.client.post("/embed", body, most=self.room(texts))
        if not isinstance(rows, list) or len(rows) != len(texts):
            raise EncoderError(
                f"{self.place}/embed does not answer with a list of {len(texts)} vectors. {WRONG_SERVER}"
            )
        return _rows(rows, self.place)


def _name_in(info: dict[str, Any]) -> str:
    return f"{info.get('model_id')}@{info.get('model_sha')}"


def _by_index(rows: list[dict[str, Any]], count: int, place: str) -> Vectors:
    """The embeddings in the order of their indices, each of which must come once."""
    indices = [row.get("index", i) for i, row in enumerate(rows)]
    if sorted(indices, key=str) != sorted(range(count), key=str):
        raise EncoderError(
            f"{place} answers {count} texts with the indices {indices[:8]}: each should come once. {WRONG_SERVER}"
        )
    return _rows(
        [row["embedding"] for _, row in sorted(zip(indices, rows, strict=True), key=lambda p: int(p[0]))], place
    )


def _rows(rows: list[Any], place: str) -> Vectors:
    try:
        found = np.array(rows, np.float32)
    except (TypeError, ValueError):
        found = np.zeros(0, np.float32)
    if found.ndim != 2:
        lengths = sorted({len(r) for r in rows if isinstance(r, list)})
        raise EncoderError(f"{place} answers vectors of different dimensions, {lengths}, or none. {WRONG_SERVER}")
    return found
