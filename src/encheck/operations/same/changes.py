"""Temporary changes of a model: a different prompt, a different maximum length, a missing layer, and so on.

A cause is named if the changed model gives the other model's vectors. All changes in memory are reverted.
The 200 texts by which two models are compared are chosen for what breaks when an encoder is changed.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import resources
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.base import TextEncoder
from encheck.encoders.protocol import Encoder, Model, PairScorer, check_scores, checked_batches
from encheck.errors import EncheckError, EncoderError
from encheck.types import content_hash

EDITION = 1  # a shipped edition never changes
EMPTY = "empty"  # the kind of texts that a model may refuse
LONG = ("long", "near the limit")
PARTNER_OFFSET = 7  # a reranker scores each text with the text this many rows later


@dataclass(frozen=True, slots=True)
class BuiltInText:
    """A text of the comparison. `twin` names a text that has the same vector if the encoder ignores their difference.

    `shows` names the difference: "case", "accents", "composed", "blanks", "120 words" (shared words at the start), or
    the prompt that this text puts before its twin.
    """

    id: str
    kind: str
    text: str
    twin: str = ""
    shows: str = ""


@cache
def built_in_texts() -> tuple[BuiltInText, ...]:
    """Return the texts in their fixed order. `lab/recipes/build_identity_texts.py` wrote them."""
    written = (resources.files("encheck.operations.same") / "texts.json").read_text("utf-8")
    return tuple(BuiltInText(**row) for row in json.loads(written)["texts"])


@cache
def built_in_texts_hash() -> str:
    """Return the hash of the texts. Vectors can be compared only if it is the same."""
    return content_hash(*(one.text for one in built_in_texts()))


@cache
def known_prompts() -> tuple[str, ...]:
    """Return the prompts that some of the texts begin with."""
    return tuple(dict.fromkeys(one.shows for one in built_in_texts() if one.kind == "prompt"))


@cache
def text_partners() -> Mapping[str, str]:
    """Return the partner of each text: a reranker scores the two as a pair."""
    every = [one.text for one in built_in_texts()]
    return {text: every[(i + PARTNER_OFFSET) % len(every)] for i, text in enumerate(every)}


def pairs_of_twin_texts(texts: Sequence[BuiltInText], kind: str) -> list[tuple[int, int, BuiltInText]]:
    """Return (row of the text, row of its twin, the text) for the twins of one kind among these texts."""
    rows = {one.id: row for row, one in enumerate(texts)}
    return [(row, rows[one.twin], one) for row, one in enumerate(texts) if one.kind == kind and one.twin in rows]


Vectors = NDArray[np.float32]
CauseName = Literal[
    "prompt", "pooling", "truncation", "normalisation", "precision", "padding", "missing layer", "tokenizer",
    "template", "dimension",
]  # fmt: skip
MOST_LAYERS = 48
MODULE_POOLINGS = ("mean", "cls", "max", "lasttoken", "weightedmean", "mean_sqrt_len_tokens")
OWN_POOLINGS = ("mean", "cls", "max", "last", "first-last-avg")
AFTER_POOLING = ("Transformer", "Pooling", "Normalize", "Dropout")  # modules that are not layers


@dataclass(frozen=True)
class ModelChange:
    """A change of a model, with `says` to describe the difference from the other model.

    It is a prompt, a function of the text before encoding or of the vector after it, or a setting during the
    computation.
    """

    cause: CauseName | Literal[""]
    says: str
    prompt: str | None = None
    before: Callable[[str], str] | None = None
    after: Callable[[Vectors], Vectors] | None = None
    within: Callable[[], AbstractContextManager[None]] | None = None


def encode_changed(model: Model, texts: Sequence[str], role: str = "", changes: Sequence[ModelChange] = ()) -> Vectors:
    """Return the vectors of the texts under these changes, shape [n, d]. Any failure raises EncoderError.

    For a reranker, return the score of each text with its partner, shape [n, 1].
    """
    prompt, some = next((change.prompt for change in changes if change.prompt is not None), None), list(texts)
    for change in changes:
        some = [change.before(text) for text in some] if change.before else some
    with _without_length_warning(), ExitStack() as held:
        try:
            for within in (change.within for change in changes if change.within):
                held.enter_context(within())
            if prompt is not None and isinstance(model, TextEncoder):
                held.enter_context(set_temporarily(model, "prompt", prompt))
                held.enter_context(set_temporarily(model, "prompts", {}))
            elif prompt:
                some = [prompt + text for text in some]
            vectors = _encode_or_score(model, texts, some, role)
        except EncheckError:
            raise
        except Exception as error:
            said = f"it fails on {len(some)} texts, the first {some[0][:60]!r}: {error!r}"
            raise EncoderError(said) from error
    for after in (change.after for change in changes if change.after):
        vectors = after(vectors)
    return vectors


def _encode_or_score(model: Model, plain: Sequence[str], texts: Sequence[str], role: str) -> Vectors:
    """Return the model's vectors or scores.

    `plain` are the unchanged texts, with which a reranker looks up their partners.
    """
    if isinstance(model, Encoder):
        batches = list(checked_batches(model, texts, role=role or None))
        vectors = np.zeros((len(texts), batches[0][1].shape[1] if batches else 0), np.float32)
        for positions, found in batches:
            vectors[positions] = found
        return vectors
    if isinstance(model, PairScorer):
        pairs = [(text, text_partners().get(one, one)) for one, text in zip(plain, texts, strict=True)]
        scores = model.score_pairs(*map(list, zip(*pairs, strict=True)))
        return check_scores(scores, pairs)[:, None].astype(np.float32)
    raise EncoderError("it neither gives vectors nor scores pairs")


@contextmanager
def _without_length_warning() -> Iterator[None]:
    """Suppress the warning, repeated for every batch, that texts are longer than the model reads."""
    log = logging.getLogger("encheck")
    is_news: Callable[[logging.LogRecord], bool] = lambda record: "are longer than" not in str(record.msg)  # noqa: E731
    log.addFilter(is_news)
    try:
        yield
    finally:
        log.removeFilter(is_news)


@contextmanager
def set_temporarily(owner: Any, name: str, value: object) -> Iterator[None]:
    """Set an attribute, or replace a numbered module, temporarily."""
    is_number = name.isdigit()
    kept = owner[int(name)] if is_number else getattr(owner, name)
    try:
        owner.__setitem__(int(name), value) if is_number else setattr(owner, name, value)
        yield
    finally:
        owner.__setitem__(int(name), kept) if is_number else setattr(owner, name, kept)


@dataclass(frozen=True)
class TorchModel:
    """A model that torch computes in this process: `root` has all weights, `modules` are sentence-transformers'."""

    model: Any
    root: Any
    modules: Any = None

    @classmethod
    def of(cls, model: object) -> TorchModel | None:
        """Return the torch model, or None unless torch computes it on one device in this process."""
        from encheck.encoders.checkpoints.sentence_transformers import SentenceTransformerEncoder
        from encheck.encoders.checkpoints.transformers import TransformersEncoder
        from encheck.encoders.pair_scorers import CrossEncoderScorer

        if isinstance(model, CrossEncoderScorer):
            return cls(model, model.model)
        if isinstance(model, SentenceTransformerEncoder) and len(model.models) == 1:
            known = all(type(module).__module__.startswith("sentence_transformers.") for module in model.models[0])
            return cls(model, model.models[0], model.models[0]) if known else None
        if isinstance(model, TransformersEncoder) and len(model.models) == 1:
            return cls(model, model.models[0])
        return None

    @cached_property
    def stack(self) -> tuple[Any, str, list[Any]]:
        """The module with the layers, their attribute name in it, and the layers; empty without a stack of layers."""
        import torch

        stacks: list[tuple[Any, str, list[Any]]] = [
            (owner, name, [*child])
            for owner in self.root.modules()
            for name, child in owner.named_children()
            if isinstance(child, torch.nn.ModuleList) and len({type(one) for one in child}) == 1
        ]
        return max(stacks, key=lambda found: len(found[2]), default=(None, "", []))

    @property
    def tokenizer(self) -> Any:
        """The model's tokenizer."""
        return self.modules.tokenizer if self.modules is not None else self.model.tokenizer

    @property
    def poolings(self) -> list[str]:
        """The model's pooling mode, then the other possible modes; empty for a model that does not pool."""
        if (found := self._pooling_module) is not None:
            return list(dict.fromkeys([str(found[1].pooling_mode), *MODULE_POOLINGS]))
        is_pooled_here = self.modules is None and not getattr(self.model, "head", None)
        own = getattr(self.model, "pooling", None) if is_pooled_here else None
        return list(dict.fromkeys([own, *OWN_POOLINGS])) if own else []

    @property
    def _pooling_module(self) -> tuple[int, Any] | None:
        modules = enumerate(self.modules) if self.modules is not None else ()
        return next(((i, one) for i, one in modules if type(one).__name__ == "Pooling"), None)

    @property
    def limit(self) -> int | None:
        """The maximum number of tokens that the model reads."""
        found = self.modules.max_seq_length if self.modules is not None else getattr(self.model, "limit", None)
        limit: int | None = found or self.model.config.max_length
        return limit

    def pool_by(self, pooling: str) -> AbstractContextManager[None]:
        """Use a different pooling mode temporarily."""
        if (found := self._pooling_module) is not None:
            place, module = found
            size = getattr(module, "embedding_dimension", None) or module.word_embedding_dimension
            return set_temporarily(self.modules, str(place), type(module)(size, pooling).to(self.root.device))
        return set_temporarily(self.model, "pooling", pooling)

    def limit_length(self, tokens: int) -> AbstractContextManager[None]:
        """Cut texts at this many tokens temporarily. Raise EncoderError if the model has fewer positions."""
        first = self.root[0].auto_model if self.modules is not None else self.root
        if tokens > (getattr(first.config, "max_position_embeddings", None) or tokens):
            raise EncoderError(f"it has no room for {tokens} tokens")
        if self.modules is not None:
            return set_temporarily(self.modules, "max_seq_length", tokens)
        if hasattr(self.model, "_tokenizer"):
            return set_temporarily(self.tokenizer, "model_max_length", tokens)
        return set_temporarily(self.model, "config", replace(self.model.config, max_length=tokens))

    def remove_layers(self, first: int, count: int) -> AbstractContextManager[None]:
        """Remove `count` layers temporarily, starting with layer `first`."""
        import torch

        owner, name, layers = self.stack
        kept = [one for i, one in enumerate(layers) if not first <= i < first + count]
        return set_temporarily(owner, name, torch.nn.ModuleList(kept))

    def use_tokenizer_of(self, other: TorchModel) -> AbstractContextManager[None] | None:
        """Use another model's tokenizer temporarily. Return None if its vocabulary is too large for this model."""
        table = getattr(self.root, "get_input_embeddings", None) or self.root[0].auto_model.get_input_embeddings
        if len(other.tokenizer) > table().weight.shape[0]:
            return None
        if self.modules is not None:
            return set_temporarily(self.modules, "tokenizer", other.tokenizer)
        if hasattr(self.model, "_tokenizer"):
            return set_temporarily(self.model, "_tokenizer", other.tokenizer)
        return set_temporarily(getattr(self.model, "_given", self.model), "tokenizer", other.tokenizer)

    @contextmanager
    def compute_in(self, dtype: str) -> Iterator[None]:
        """Compute in a different precision temporarily."""
        import torch

        before = next(one.dtype for one in self.root.parameters() if one.is_floating_point())
        with self.use_weights_of():
            self.root.to(getattr(torch, dtype))
            try:
                yield
            finally:
                self.root.to(before)

    @contextmanager
    def use_weights_of(self, other: TorchModel | None = None) -> Iterator[None]:
        """Use another model's weights, which have the same names and shapes. All changes are reverted at the end."""
        kept = {name: value.clone() for name, value in self.root.state_dict().items()}
        try:
            if other is not None:
                self.root.load_state_dict(other.root.state_dict())
            yield
        finally:
            self.root.load_state_dict(kept)
