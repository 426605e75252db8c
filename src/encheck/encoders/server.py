"""Encode through HTTP: OpenAI-compatible /v1/embeddings, and text-embeddings-inference's /embed.

Several requests run at a time. If the server finds a batch too large, the batch is halved.

During a run, a server may replace its model, or two versions may answer at one address. To notice this, encheck adds a
probe sentence to each request with more than one text, and sends the probe alone before it stores any result. The
probe's vector shows which model computed the other vectors. A server that ignores its texts returns one vector for all
of them, which the first answers show.
"""

from __future__ import annotations

import json
import logging
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from threading import Event, Lock
from typing import Any, ClassVar
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.base import PROBE, SAME_ROLE, TextEncoder, rounded_vector_hash, value_for_role
from encheck.encoders.batching import Ints, slice_positions
from encheck.encoders.http_client import Client, RequestRefused, max_response_bytes
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.protocol import Batch, check_vectors
from encheck.errors import EncheckError, EncoderError, ModelError, unknown_name_message
from encheck.similarity import ROUNDING, vector_distance
from encheck.types import Json, content_hash

Vectors = NDArray[np.float32]
SAME = 1e-6  # of a vector's length: the largest distance of two equal vectors
EQUAL_VECTORS_LIMIT = (
    3  # different texts, including the probe, with the same vector: a model that reads its texts differs
)
OTHER = 0.25  # neither rounding nor the other texts of a request move a vector this far
TURNS = 4  # answers from one of two alternating models, then as many from the other: a chance of 1 in 256
WRONG_SERVER = "Remedy: name an embedding model, and the adapter (openai, tei) that the server speaks"
ONE_MODEL = "Remedy: one model under this address for a whole run; then run again"
log = logging.getLogger("encheck")
DEFAULT = "default"
EXAMPLE = "--model-arg 'fields={default: {input_type: passage}, query: {input_type: query}}'"
ROLES = (DEFAULT, "query", "document", *SAME_ROLE["document"])


class ProbeWatch:
    """Recognises a server's model by its first vector of the probe, for one form of request.

    `request` sends a request. `alone` requests only the probe, with this watch, and returns its vector.
    """

    def __init__(self, place: str, request: Callable[..., Vectors], alone: Callable[[ProbeWatch], Vectors]) -> None:
        self.place, self._request, self._alone = place, request, alone
        self._known: Vectors | None = None
        self._tolerance = ROUNDING
        self._first: Vectors | None = None
        self._alike: set[str] | None = set()  # texts with the first vector; None after a different one
        self._meeting, self._wondering = Lock(), Lock()

    def request_vectors(self, texts: list[str], *, cut: bool = False) -> Vectors:
        """Return the vectors of one request, shape [n, d].

        Raise EncoderError if the probe and all texts so far got the same vector.
        """
        vectors = self._request(texts, cut=cut)
        with self._meeting:
            if self._first is None and len(vectors):
                self._first = vectors[0]
            if self._alike is not None and self._first is not None:
                self._alike = self._alike | set(texts) if _all_equal(vectors, self._first) else None
            alike = self._alike or set()
        if PROBE in alike and len(alike) >= EQUAL_VECTORS_LIMIT:
            raise constant_vectors_error(self.place, alike)
        return vectors

    def request_probe(self) -> Vectors:
        """Request the probe alone and return its vector, shape [d]. Raise EncoderError if the vector has changed."""
        vector = self._alone(self)
        self._refuse_changed_probe(vector, self._tolerance)
        return vector

    def request_with_probe(self, texts: list[str]) -> Vectors:
        """Return the vectors of a request that also contains the probe.

        Raise EncoderError if the probe shows a different model.
        """
        vectors = self.request_vectors([*texts, PROBE])
        seen = check_server_vectors(vectors[-1:], [PROBE], self.place)[0]
        if (
            self._distance_from_first_probe(seen) > ROUNDING
            and len({*texts, PROBE}) >= EQUAL_VECTORS_LIMIT
            and _all_equal(vectors, seen)
        ):
            raise constant_vectors_error(self.place, {*texts, PROBE})  # one vector per request
        self._refuse_changed_probe(seen, OTHER)
        if self._distance_from_first_probe(seen) > self._tolerance:
            # Two models that are near each other, or one whose vectors depend on the other texts of a request? The
            # latter repeats the probe's first vector for the probe alone, and the present one for this request.
            with self._wondering:
                if (drift := self._distance_from_first_probe(seen)) <= self._tolerance:  # another request has warned
                    return vectors[:-1]
                for _ in range(TURNS):
                    self.request_probe()
                for _ in range(TURNS):
                    if float(vector_distance(self.request_vectors([*texts, PROBE])[-1:], seen[None])[0]) > ROUNDING:
                        self._refuse_changed_probe(seen, self._tolerance)
                self._tolerance = OTHER
                log.warning(
                    "%s: the vector of a text depends on the other texts of its request (that of a probe sentence has "
                    "a cosine of %.3f with its vector alone): if a very similar model replaced it, encheck would not "
                    "notice",
                    *(self.place, 1 - drift),
                )
        return vectors[:-1]

    def _distance_from_first_probe(self, vector: Vectors) -> float:
        """Return the distance between this probe vector and the first one, or 0 for the first."""
        with self._meeting:
            if self._known is None:
                self._known = vector
        if len(vector) != len(self._known):
            raise other_dimension_error(self.place, len(self._known), len(vector))
        return float(vector_distance(self._known[None], vector[None])[0])

    def _refuse_changed_probe(self, vector: Vectors, tolerance: float) -> None:
        if (drift := self._distance_from_first_probe(vector)) > tolerance:
            raise EncoderError(
                f"{self.place} answers with another model than at the start of the run: the vector of a probe sentence "
                f"lies {100 * np.sqrt(2 * drift):.0f}% of its length away from the first. The model was changed during "
                f"the run, or two versions stand behind one address. {ONE_MODEL}. Where a text's vector depends on the "
                "other texts of a request: --model-arg batch=1 --model-arg concurrency=1"
            )


def check_server_vectors(vectors: Vectors, texts: list[str], place: str) -> Vectors:
    """Return the vectors. If they are invalid, raise an EncoderError that names the server."""
    try:
        return check_vectors(vectors, texts)
    except EncoderError as error:
        raise EncoderError(f"{place}: {error}. {WRONG_SERVER}") from error


def _all_equal(vectors: Vectors, vector: Vectors) -> bool:
    """Return whether all rows [n, d] equal this vector [d].

    Return False for zero vectors, which are rejected elsewhere.
    """
    length = float(np.linalg.norm(vector))
    if vectors.shape[1] != len(vector) or not 0 < length < np.inf:
        return False
    return float(np.abs(vectors - vector).max()) <= SAME * length


def constant_vectors_error(place: str, texts: Iterable[str]) -> EncoderError:
    """Return the error for a server that returns one vector for different texts."""
    some = ", ".join(repr(text[:60]) for text in sorted(texts)[:EQUAL_VECTORS_LIMIT])
    return EncoderError(
        f"{place} returns the same vector for different texts, so it ignores its input: {some}. {WRONG_SERVER}; and "
        "check that no prompt exceeds the server's input limit"
    )


def other_dimension_error(place: str, before: int, now: int) -> EncoderError:
    """Return the error for a server that changes the dimension of its vectors."""
    return EncoderError(
        f"{place} gave vectors of {before} dimensions before, and now of {now}: another model answers under this "
        f"address. {ONE_MODEL}"
    )


class RemoteEncoder(TextEncoder):
    """An encoder behind HTTP. The entry's `name` is the server's address.

    The option `fields` adds fields to requests. Those of `default` go with every text. Those of a role go with the
    texts of that role, and override the default.
    """

    largest: int = 32
    own_fields: ClassVar[Mapping[str, str]]  # the adapter's own fields, and how to set them

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        options = config.options
        how = {k: options[k] for k in ("timeout", "retries") if k in options}
        self.client = Client(config.name.rstrip("/"), options.get("key_env", "OPENAI_API_KEY"), **how)
        self.place, self.devices = self.client.url, []
        self.concurrency = int(options.get("concurrency", 4))
        self._counting = Lock()
        self._width: int | None = None
        self.fields: Mapping[str, Mapping[str, Any]] = options.get("fields") or {}
        self._check_fields()
        self._watches: dict[str, ProbeWatch] = {}  # by the fields of a request
        for role in (None, *self.fields):
            request = partial(self.request_vectors, fields=self.request_fields_for_role(role))
            self._watches.setdefault(
                self._fields_as_json(role),
                ProbeWatch(
                    *(self.client.url, request),
                    lambda own: self._check_dimension(self._request_or_halve([PROBE], own)[0][1], [PROBE])[0],
                ),
            )
        if self.concurrency < 1 or options.get("batch", 1) < 1:
            raise ModelError(f"{config.label}: batch and concurrency should be at least 1")

    def _check_fields(self) -> None:
        """Raise ModelError unless `fields` maps roles to fields that the server accepts and the adapter does not set
        itself.
        """
        where, example = f"{self.config.label}: options.fields", EXAMPLE
        if not isinstance(self.fields, Mapping):
            raise ModelError(f"{where} is {self.fields!r}, but should map roles to fields. Remedy: {example}")
        for role, fields in self.fields.items():
            if role not in ROLES:
                raise ModelError(f"{where}: {unknown_name_message('role', str(role), ROLES)}. Remedy: {example}")
            if not isinstance(fields, Mapping):
                raise ModelError(f"{where}.{role} is {fields!r}, but should map fields to values. Remedy: {example}")
            for name, value in fields.items():
                if how := self.own_fields.get(name):
                    raise ModelError(f"{where}.{role} sets {name}, which is encheck's own. Remedy: {how}")
                if not isinstance(name, str) or not _is_json_value(value):
                    raise ModelError(f"{where}.{role}: {name!r}: {value!r} is not JSON. Remedy: text has quotes")
                if self.client.hide_key(text := json.dumps(value)) != text:
                    raise ModelError(f"{where}.{role}.{name} holds the key in {self.client.key_env}: leave it out")
        if others := [name for name in self.fields if name in SAME_ROLE][1:]:
            raise ModelError(f"{where} names one role twice: {others[0]} means document. Remedy: leave one out")

    def request_fields_for_role(self, role: str | None) -> dict[str, Any]:
        """Return the additional fields of a request for texts in this role."""
        return {**self.fields.get(DEFAULT, {}), **value_for_role(self.fields, role, {})}

    def _fields_as_json(self, role: str | None) -> str:
        return json.dumps(self.request_fields_for_role(role), sort_keys=True)

    def prompt_for(self, role: str | None) -> str:
        """Return what a role adds to a text, for display and comparison: its prompt and the fields of its request."""
        fields = f"[{self._fields_as_json(role)[1:-1]}] " if self.request_fields_for_role(role) else ""
        return f"{fields}{super().prompt_for(role)}"

    @property
    def max_batch_size(self) -> int:
        """The maximum number of texts per request."""
        return int(self.config.options.get("batch", self.largest))

    @abstractmethod
    def request_vectors(self, texts: list[str], *, fields: Mapping[str, Any], cut: bool = False) -> Vectors:
        """Return the vectors of one request with these additional fields, in the order of its texts.

        With `cut`, the server truncates texts that are too long.
        """

    @abstractmethod
    def model_name(self) -> str:
        """Return the name that the server uses for the model."""

    @cached_property
    def _probe_hashes(self) -> list[str]:
        """A hash of the probe's vector for each form of request, with its length unless the similarity ignores it."""
        try:
            hashes = []
            for fields, watch in sorted(self._watches.items()):
                probe = watch.request_probe()
                length = "" if self.similarity == "cosine" else f" {np.linalg.norm(probe):.2g}"
                hashes.append(f"{fields} {rounded_vector_hash(probe)}{length}")
            return hashes
        except EncoderError as error:  # before the run, the user can fix errors
            raise ModelError(f"{self.config.label}: {error}") from error

    def verify_fingerprint(self) -> None:
        """Raise EncoderError if another model answers.

        Two answers in a row are checked, in case two models take turns.
        """
        for watch in self._watches.values():
            for _ in range(2):
                watch.request_probe()

    def fingerprint(self) -> str:
        """Return the model's name, a probe vector, and what each role adds to a text.

        The fingerprint changes with the model at the address.
        """
        added = [f"{role}: {text}" for role, text in sorted(self.prompts.items())]
        added += [f"{role}: {self._fields_as_json(role)}" for role in sorted(self.fields)]
        parts = [self.model_name(), *self._probe_hashes, self.prompt, str(self.config.truncate_dim), *added]
        return f"{type(self).__name__}:{content_hash(*parts)}"

    def about(self) -> dict[str, Json]:
        """Add the server's name for the model, and the additional fields of requests."""
        fields = {"fields": {role: dict(fields) for role, fields in self.fields.items()}} if self.fields else {}
        return super().about() | {"model": self.model_name()} | fields

    def compute_in_role(self, texts: list[str], role: str | None) -> Iterator[Batch]:
        """Yield (positions, vectors) like `compute`, with the prompt and the fields of the role."""
        return self.compute(texts, super().prompt_for(role), self._watches[self._fields_as_json(role)])

    def compute(self, texts: list[str], prompt: str, watch: ProbeWatch | None = None) -> Iterator[Batch]:
        """Send several requests at a time and yield the results in order, slice by slice.

        Raise EncoderError if the probe shows that the model changed, or if all texts get the same vector.
        """
        watch = watch or self._watches[self._fields_as_json(None)]
        prompted = [f"{prompt}{text}" for text in texts]
        before = self.truncated
        stop: Future[None] = Future()
        failed = Event()

        def request_slice(positions: Ints) -> list[Batch]:
            if failed.is_set():  # no more requests: they start in order, so the first error comes first
                return []
            try:
                some = [prompted[i] for i in positions]
                return self._request_or_halve(some, positions=positions, watch=watch, watched=self.max_batch_size > 1)
            except BaseException:
                failed.set()
                raise

        pool = ThreadPoolExecutor(self.concurrency, initializer=self.client.stop_requests_when, initargs=(stop,))
        try:
            size = max(1, self.max_batch_size - 1)  # the probe is one of a request's texts
            for batches in pool.map(request_slice, slice_positions(len(texts), size)):
                for positions, vectors in batches:
                    yield positions, self._check_dimension(vectors, [texts[i] for i in positions])
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            stop.set_result(None)
            if not isinstance(error, GeneratorExit):  # may be called by the garbage collector, in a thread of the pool
                pool.shutdown()
            raise
        pool.shutdown()
        if (cut := self.truncated - before) > len(texts) / 100:
            log.warning("%d of %d texts are longer than %s accepts: the rest is truncated", cut, len(texts), self.place)

    def _check_dimension(self, vectors: Vectors, texts: list[str]) -> Vectors:
        if self._width not in (None, vectors.shape[1]):
            raise other_dimension_error(self.place, self._width or 0, vectors.shape[1])
        checked = check_server_vectors(vectors, texts, self.place)
        if self.config.truncate_dim not in (None, checked.shape[1]):
            raise EncoderError(
                f"truncate_dim is {self.config.truncate_dim}, but {self.place} gives vectors of {checked.shape[1]} "
                "dimensions: it ignores the field `dimensions`. Remedy: leave truncate_dim out"
            )
        self._width = checked.shape[1]
        return checked

    def _request_or_halve(
        self, texts: list[str], watch: ProbeWatch, positions: Ints | None = None, *, watched: bool = False
    ) -> list[Batch]:
        """Return the batches of these texts. Halve a batch if the server finds it too large.

        Each `watched` batch contains the probe, unless its text is so long that the server accepts it only alone.
        """
        positions = np.arange(len(texts)) if positions is None else positions
        try:
            return [(positions, watch.request_with_probe(texts) if watched else watch.request_vectors(texts))]
        except RequestRefused as refused:
            if not refused.is_about_size:
                raise self._refusal_error(refused) from None
            if len(texts) == 1 and not watched:
                return [(positions, self._encode_truncated(texts[0], watch, refused))]
        if len(texts) == 1:
            return self._request_or_halve(texts, watch, positions)
        middle, request = len(texts) // 2, partial(self._request_or_halve, watch=watch, watched=watched)
        first = request(texts[:middle], positions=positions[:middle])
        return first + request(texts[middle:], positions=positions[middle:])

    def _refusal_error(self, refused: RequestRefused) -> EncoderError:
        """Return the error for a request that was refused for a reason other than the size of its texts."""
        check = f"check the address, the model and the key in {self.client.key_env}"
        if refused.status in (400, 422):
            check += (
                f", and any fields that the server requires: {EXAMPLE}. If it takes fewer texts: --model-arg batch=N"
            )
        return EncoderError(f"{self.place}{self.client.proxy_note} refuses the request: {refused}. Remedy: {check}")

    def _encode_truncated(self, text: str, watch: ProbeWatch, refused: RequestRefused) -> Vectors:
        """Encode a text that is too long for the server, and count it as truncated.

        Either the server truncates it, or this method does until the text fits. It tries powers of two, so that the
        remaining part does not depend on the text's length.
        """
        last = refused
        while len(text) > 40:
            try:
                vectors = watch.request_vectors([text], cut=True)
            except RequestRefused as again:
                if not again.is_about_size:
                    raise self._refusal_error(again) from None
                last, text = again, text[: 1 << (len(text) - 1).bit_length() - 1]
            else:
                with self._counting:
                    self.truncated += 1
                return vectors
        raise EncoderError(f"{self.place} refuses the text {text!r}: {last}. {WRONG_SERVER}") from None


class OpenAiEncoder(RemoteEncoder):
    """Uses OpenAI's API or a server with the same API, such as vLLM, Ollama, LiteLLM, llama.cpp or LocalAI."""

    largest = 256
    own_fields: ClassVar[Mapping[str, str]] = {
        "input": "leave it out: it holds the texts",
        "model": "--model-arg model=NAME",
        "encoding_format": "leave it out: only `float` is read",
        "dimensions": "--model-arg truncate_dim=N",
    }

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        if not config.options.get("model"):
            raise ModelError(f"{config.label}: name the model for the server: --model-arg model=NAME")

    def model_name(self) -> str:
        """Return the model's name in the entry."""
        return str(self.config.options["model"])

    def request_vectors(self, texts: list[str], *, fields: Mapping[str, Any], cut: bool = False) -> Vectors:  # noqa: ARG002 - it has no option to truncate
        """Send the texts to POST /v1/embeddings, or to the address itself if it ends in /embeddings."""
        body: dict[str, Any] = {**fields, "model": self.model_name(), "input": texts, "encoding_format": "float"}
        if self.config.truncate_dim:
            body["dimensions"] = self.config.truncate_dim
        endings = {"embeddings": "", "v1": "/embeddings"}
        path = endings.get(urlsplit(self.client.url).path.rpartition("/")[2], "/v1/embeddings")
        answer = self.client.request_json(path, body, max_bytes=max_response_bytes(texts, self._width))
        rows = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(rows, list) or not all(isinstance(r, dict) and "embedding" in r for r in rows):
            error = answer.get("error") if isinstance(answer, dict) else None
            message = self.client.hide_key(json.dumps(error, ensure_ascii=False))[:300]
            why = f"it says {message}." if error else "does it speak OpenAI's API?"
            raise EncoderError(f"{self.place}{path} answers without `data` of embeddings: {why} {WRONG_SERVER}")
        indices = [row.get("index", i) for i, row in enumerate(rows)]
        if sorted(indices, key=str) != sorted(range(len(texts)), key=str):
            raise EncoderError(
                f"{self.place} answers {len(texts)} texts with the indices {indices[:8]}: each should come once. "
                f"{WRONG_SERVER}"
            )
        ordered = sorted(zip(indices, rows, strict=True), key=lambda pair: int(pair[0]))
        return _vectors_from_rows([row["embedding"] for _, row in ordered], self.place)


@dataclass(frozen=True)
class _TeiInfo:
    """What a server of text-embeddings-inference states about itself: the model's name@revision, and its limit."""

    model: str
    max_client_batch_size: int | None


class TeiEncoder(RemoteEncoder):
    """Uses a server of Hugging Face's text-embeddings-inference. The server states how many texts a request may
    have.
    """

    own_fields: ClassVar[Mapping[str, str]] = {
        "inputs": "leave it out: it holds the texts",
        "truncate": "leave it out: a text that is too long is cut and counted",
        "normalize": "leave it out: `similarity` says how vectors are compared",
    }

    @cached_property
    def _server_info(self) -> _TeiInfo:
        return self._request_info()

    def _request_info(self) -> _TeiInfo:
        try:
            info = self.client.request_json("/info")
        except RequestRefused as refused:
            raise ModelError(
                f"{self.config.label}: {self.place}/info: {refused}. Is it text-embeddings-inference? {WRONG_SERVER}"
            ) from None
        except EncheckError as error:
            raise ModelError(
                f"{self.config.label}: {self.place}/info: {error}. Is it text-embeddings-inference?"
            ) from None
        if not isinstance(info, dict):
            raise ModelError(
                f"{self.config.label}: {self.place}/info is not a mapping. Is it text-embeddings-inference? "
                f"{WRONG_SERVER}"
            )
        return _TeiInfo(f"{info.get('model_id')}@{info.get('model_sha')}", info.get("max_client_batch_size"))

    @property
    def max_batch_size(self) -> int:
        """The maximum number of texts per request, from the entry or else from the server."""
        return int(self.config.options.get("batch") or self._server_info.max_client_batch_size or self.largest)

    def model_name(self) -> str:
        """Return the name and revision that the server states."""
        return self._server_info.model

    def verify_fingerprint(self) -> None:
        """Raise EncoderError also if the server states another name for its model."""
        super().verify_fingerprint()
        try:
            now = self._request_info().model
        except ModelError as error:
            raise EncoderError(str(error)) from error
        if now != self.model_name():
            raise EncoderError(
                f"{self.place} answers with another model than at the start of the run: it was {self.model_name()}, "
                f"and is {now}. {ONE_MODEL}"
            )

    def request_vectors(self, texts: list[str], *, fields: Mapping[str, Any], cut: bool = False) -> Vectors:
        """Send the texts to POST /embed.

        At first, the server is asked to refuse a text that is too long, so that the text can be counted.
        """
        body = {**fields, "inputs": texts, "truncate": cut, "normalize": False}
        rows = self.client.request_json("/embed", body, max_bytes=max_response_bytes(texts, self._width))
        if not isinstance(rows, list) or len(rows) != len(texts):
            raise EncoderError(
                f"{self.place}/embed does not answer with a list of {len(texts)} vectors. {WRONG_SERVER}"
            )
        return _vectors_from_rows(rows, self.place)


def _is_json_value(value: Any) -> bool:
    """Return whether JSON can represent exactly this value.

    It cannot represent dates, NaN, numbers as keys, or lone surrogates.

    >>> _is_json_value({"a": [1, None]}), _is_json_value(float("nan")), _is_json_value({1: 2}), _is_json_value({1})
    (True, False, False, False)
    """
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False, ensure_ascii=False).encode()) == value)
    except (TypeError, ValueError, RecursionError):
        return False


def _vectors_from_rows(rows: list[Any], place: str) -> Vectors:
    try:
        vectors = np.array(rows, np.float32)
    except (TypeError, ValueError):
        vectors = np.zeros(0, np.float32)
    if vectors.ndim != 2:
        lengths = sorted({len(r) for r in rows if isinstance(r, list)})
        raise EncoderError(f"{place} answers vectors of different dimensions, {lengths}, or none. {WRONG_SERVER}")
    return vectors
