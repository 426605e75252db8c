"""Pooling over spans of words, a module of sentence-transformers: [mean of the tokens ; weighted sum of the spans].

As in "Predicate-Argument Based Bi-Encoder for Paraphrase Identification" (section 3), a span's vector h_i is the mean
of its tokens' vectors, and its weight is the softmax of W h_i over the spans. The paper's bias b is left out, since it
cancels. The spans of a text are found when it is tokenised (`SpanPooling.on_model_ready`), and `forward` gets them as
marks of its tokens. Where each word is a span, a graph network (`rgcn`) may change the words' vectors before they are
summed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.checkpoints.folders import SPAN_POOLING
from encheck.encoders.checkpoints.transformers import mean_over_tokens
from encheck.encoders.files import COPY, check_weights_file, read_model_json
from encheck.errors import ModelError, UsageError, unknown_name_message
from encheck.language.english import English
from encheck.store import Store, default_store_path
from encheck.system.files import write_text, write_whole
from encheck_papers.rgcn import ROLES, convolved, edges_of, relational_layers
from encheck_papers.spans import KINDS, Cache, Membership, ParsedSpans, SpanSource, Structure, chosen

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor
    from torch.nn import Module
else:
    Module = object  # the final class has torch's, which takes seconds to import

CONFIG, WEIGHTS = "config.json", "model.safetensors"
FORMAT = 1
MARKS, EDGES = "span_tokens", "span_edges"
SUMS, VECTORS, SOURCES = ("attention", "mean"), ("mean", "ends"), ("parse", "frames")
MOST_DIMENSIONS, LONGEST, MOST_LAYERS = 1_000_000, 512, 16
SELF_EXPLAIN = ("first", "last", "difference", "product")
Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class SpanSettings:
    """The settings of a pooling over spans, as in its config.json. UsageError for an invalid value.

    `spans` are those of `chosen`; the vector of a span is the `mean` of its tokens' vectors, or computed from its
    `ends` (Self-Explain); `weights` are learned (`attention`) or equal (`mean`); without `sentence_mean` only the spans
    are used. `longest` applies to `all` spans, `seed` to drawn spans; `trained_on` names the source of the spans
    (parse, frames). `graph_layers` applies to `words`: the number of graph network layers over their vectors.
    """

    dimension: int
    spans: str = "predicate-argument"
    vectors: str = "mean"
    weights: str = "attention"
    sentence_mean: bool = True
    longest: int = 10
    seed: int = 0
    graph_layers: int = 0
    trained_on: str = "parse"

    def __post_init__(self) -> None:
        named = (("spans", KINDS), ("vectors", VECTORS), ("weights", SUMS), ("trained_on", SOURCES))
        for name, known in named:
            if (found := getattr(self, name)) not in known:
                raise UsageError(f"{name}: {unknown_name_message('value', str(found), known)}")
        counts = (("dimension", 1, MOST_DIMENSIONS), ("longest", 1, LONGEST), ("seed", 0, 2**63),
                  ("graph_layers", 0, MOST_LAYERS))  # fmt: skip
        for name, least, most in counts:
            found = getattr(self, name)
            if not isinstance(found, int) or isinstance(found, bool) or not least <= found <= most:
                raise UsageError(f"{name} is {found!r}, but should be a whole number from {least} to {most:,}")
        if not isinstance(self.sentence_mean, bool):
            raise UsageError(f"sentence_mean is {self.sentence_mean!r}, but should be true or false")
        if self.graph_layers and self.spans != "words":
            raise UsageError(f"graph_layers is {self.graph_layers}, but only spans of words have a graph network")


def read_settings(folder: Path) -> SpanSettings:
    """The settings in the config.json of a pooling; ModelError if it is missing or invalid."""
    path = folder / CONFIG
    if not path.is_file():
        raise ModelError(f"{path} does not exist: the span pooling of this checkpoint is half-written. {COPY}")
    found = dict(read_model_json(path, dict))
    if (version := found.pop("format", None)) != FORMAT:
        raise ModelError(f"{path}: format is {version!r}, but only {FORMAT} is known. Remedy: a newer encheck")
    try:
        return SpanSettings(**found)
    except (UsageError, TypeError) as error:
        raise ModelError(f"{path}: {error}. {COPY}") from error


def marks_of(
    structure: Structure, spans: Membership, offsets: Ints, usable: Membership, there: Membership
) -> Membership:
    """Which tokens each span has, shape [spans, tokens]; the row of a span without tokens is empty.

    `spans` says which words each span has, `offsets` [tokens, 2] the characters of each token, `usable` which tokens
    are text, `there` which are not padding. A token belongs to every word that it overlaps. If no span has a token, a
    single span has all text tokens or, if there are none, all tokens but padding.
    """
    starts, ends = np.array(structure.starts, int)[:, None], np.array(structure.ends, int)[:, None]
    words = (offsets[:, 0] < ends) & (starts < offsets[:, 1]) & usable
    found: Membership = spans @ words
    return found if found.any() else (usable if usable.any() else there)[None]


class _SpanPooling(Module):
    """What `SpanPooling` adds to sentence-transformers' Module."""

    def __init__(self, dimension: int, *, source: SpanSource | None = None, **settings: Any) -> None:
        from torch.nn import Linear, ModuleDict

        super().__init__()
        if source is not None:
            settings["trained_on"] = source.kind
        self.settings = SpanSettings(dimension=dimension, **settings)
        self._cache = None if source is None else Cache(source)
        if self.settings.weights == "attention":
            self.attention = Linear(dimension, 1, bias=False)
        if self.settings.vectors == "ends":
            self.ends = ModuleDict({name: Linear(dimension, dimension) for name in SELF_EXPLAIN})
        if layers := self.settings.graph_layers:
            self.graph = relational_layers(dimension, roles=ROLES[self.settings.trained_on], count=layers)

    @property
    def source(self) -> SpanSource:
        """The source of spans; ModelError if the training used frames, and none are given."""
        if self._cache is None:
            if self.settings.trained_on == "frames":
                raise ModelError(
                    "this span pooling was trained on frames from a file, and none is given. Remedy: name it: "
                    "--model-arg frames=FILE, or have spans read off the parse: --model-arg frames=parse"
                )
            self._cache = Cache(ParsedSpans(English(store=Store(default_store_path()))))
        return self._cache.source

    @source.setter
    def source(self, source: SpanSource) -> None:
        self._cache = Cache(source)

    def prepare(self, texts: Sequence[str]) -> None:
        """Load the spans of these texts into memory in one batch, which is faster than one training batch at a time."""
        self.structures(texts)

    def structures(self, texts: Sequence[str]) -> list[Structure]:
        """The structure of each text."""
        source = self.source
        assert self._cache is not None
        assert source is self._cache.source
        return self._cache(texts)

    def on_model_ready(self, model: SentenceTransformer) -> None:
        """Make `model.preprocess` mark the tokens of every span."""
        if not getattr(model.tokenizer, "is_fast", False):
            raise ModelError(
                "span pooling needs a tokenizer that says where each token stands. Remedy: a fast one (tokenizer.json)"
            )
        model.preprocess = partial(_preprocess, model, self)  # type: ignore[method-assign]

    def mark(self, texts: Sequence[str], offsets: Ints, special: Membership, there: Membership) -> Membership:
        """Which tokens each span of each text has, shape [texts, spans, tokens], with zeros for missing spans.

        `offsets` has shape [texts, tokens, 2], `special` [texts, tokens], and `there`, which is false for padding.
        """
        how = {"kind": self.settings.spans, "seed": self.settings.seed, "longest": self.settings.longest}
        usable = ~special & (offsets[:, :, 1] > offsets[:, :, 0]) & (offsets[:, :, 0] >= 0)
        found = [
            marks_of(structure, chosen(structure, text, **how), *tokens)  # type: ignore[arg-type]
            for text, structure, *tokens in zip(texts, self.structures(texts), offsets, usable, there, strict=True)
        ]
        return _padded(found, (max(map(len, found)), offsets.shape[1]), 0)

    def edges(self, texts: Sequence[str], marks: Membership) -> NDArray[np.int64]:
        """The edges of each text's graph, shape [texts, edges, 3], padded with -1."""
        roles = ROLES[self.settings.trained_on]
        found = [
            edges_of(structure.arguments, roles=roles, words=set(np.flatnonzero(some.any(axis=1)).tolist()))
            for structure, some in zip(self.structures(texts), marks, strict=True)
        ]
        return _padded(found, (max(map(len, found)), 3), -1)

    def forward(self, features: dict[str, Any], **_: object) -> dict[str, Any]:
        """Adds `sentence_embedding`, shape [n, 2d] ([n, d] without the sentence's mean), to the features."""
        import torch

        if MARKS not in features:
            raise UsageError(
                "no spans reached the pooling. Remedy: make the model with the pooling in it, "
                "SentenceTransformer(modules=[transformer, pooling]) or with_span_pooling(model)"
            )
        states = features["token_embeddings"].float()
        parts = [self.pooled(states, features[MARKS], features.get(EDGES))[1]]
        if self.settings.sentence_mean:
            parts.insert(0, mean_over_tokens(states, features["attention_mask"]))
        features["sentence_embedding"] = torch.cat(parts, dim=-1)
        return features

    def pooled(self, states: Tensor, marks: Tensor, edges: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The weight of each span [n, s], and the weighted sum of their vectors [n, d].

        The input is the vectors of tokens [n, t, d], the marks of spans [n, s, t] and the edges of a graph network [n,
        e, 3].
        """
        there = (marks > 0).any(dim=2)
        vectors = self._means(states, marks) if self.settings.vectors == "mean" else self._of_ends(states, marks)
        if edges is not None:
            vectors = convolved(self.graph, vectors, there, edges)
        weights = self._weights(vectors, there)
        return weights, (weights.unsqueeze(-1) * vectors).sum(dim=1)

    def _means(self, states: Tensor, marks: Tensor) -> Tensor:
        inside = marks.to(states.dtype)
        return inside @ states / inside.sum(dim=2, keepdim=True).clamp(min=1)

    def _of_ends(self, states: Tensor, marks: Tensor) -> Tensor:
        """As in Self-Explain: tanh(W1 h_i + W2 h_j + W3 h_i - W3 h_j + W4 h_i * W4 h_j) of first and last token."""
        import torch

        first = marks.to(torch.uint8).argmax(dim=2)
        last = marks.shape[2] - 1 - marks.to(torch.uint8).flip(2).argmax(dim=2)
        layers: dict[str, Any] = dict(self.ends.items())
        linear = torch.nn.functional.linear
        made = {n: linear(states, layer.weight.float(), layer.bias.float()) for n, layer in layers.items()}
        parts = {
            end: {name: made[name].gather(1, at.unsqueeze(-1).expand(-1, -1, states.shape[2])) for name in made}
            for end, at in (("first", first), ("last", last))
        }
        a, b = parts["first"], parts["last"]
        added = a["first"] + b["last"] + a["difference"] - b["difference"] + a["product"] * b["product"]
        return torch.tanh(added)

    def _weights(self, vectors: Tensor, there: Tensor) -> Tensor:
        if self.settings.weights == "mean":
            equal: Tensor = there / there.sum(dim=1, keepdim=True).clamp(min=1)
            return equal.to(vectors.dtype)
        scores = (vectors @ self.attention.weight.to(vectors.dtype).T).squeeze(-1)
        return scores.masked_fill(~there, float("-inf")).softmax(dim=1)

    def count_parameters(self) -> int:
        """The number of weights that it adds to the encoder: `dimension` with attention over means (768 in Table 3)."""
        return sum(one.numel() for one in self.parameters())

    def get_embedding_dimension(self) -> int:
        """The dimension of the sentence's vector."""
        return self.settings.dimension * (2 if self.settings.sentence_mean else 1)

    def get_config_dict(self) -> dict[str, Any]:
        """The settings for config.json."""
        return {"format": FORMAT, **asdict(self.settings)}

    def save(self, output_path: str, *_: Any, **__: Any) -> None:
        """Write the weights, then the config.json that completes the pooling."""
        from safetensors.torch import save

        to = Path(output_path)
        (to / CONFIG).unlink(missing_ok=True)
        if state := {name: one.detach().float().cpu().contiguous() for name, one in self.state_dict().items()}:
            with write_whole(to / WEIGHTS) as file:
                file.write(save(state))
        write_text(to / CONFIG, json.dumps(self.get_config_dict(), indent=1) + "\n")

    @classmethod
    def load(cls, model_name_or_path: str, subfolder: str = "", **_: Any) -> Self:
        """The pooling of a checkpoint's folder; ModelError if it is half-written, or its weights do not fit."""
        folder = Path(model_name_or_path) / subfolder
        made = cls(**asdict(read_settings(folder)))
        made._take(folder / WEIGHTS)
        return made

    def _take(self, path: Path) -> None:
        import torch
        from safetensors.torch import load_file

        mine = self.state_dict()
        if mine and not path.is_file():
            raise ModelError(f"{path} does not exist: the span pooling of this checkpoint is half-written. {COPY}")
        theirs: Mapping[str, Tensor] = {}
        if mine:
            check_weights_file(path)
            theirs = load_file(path)
        shapes, found = ({name: tuple(one.shape) for name, one in state.items()} for state in (mine, theirs))
        if shapes != found or not all(bool(torch.isfinite(one).all()) for one in theirs.values()):
            raise ModelError(f"{path} holds {found}, but should hold finite weights of the shapes {shapes}. {COPY}")
        self.load_state_dict(theirs)


def _padded(arrays: Sequence[NDArray[Any]], shape: tuple[int, int], value: int) -> NDArray[Any]:
    """Two-dimensional arrays stacked into one of three dimensions, padded with this value."""
    out = np.full((len(arrays), *shape), value, arrays[0].dtype)
    for rows, some in zip(out, arrays, strict=True):
        rows[: len(some)] = some
    return out


def _preprocess(
    model: SentenceTransformer, pooling: _SpanPooling, inputs: Sequence[Any], prompt: str | None = None, **named: Any
) -> dict[str, Any]:
    """The result of the model's own `preprocess`, and the marks of spans."""
    import torch

    if strange := next((one for one in inputs if not isinstance(one, str)), None):
        raise UsageError(f"span pooling reads texts, but was given {str(strange)[:80]!r}")
    asked = dict(named.pop("processing_kwargs", None) or {})
    wanted = {"return_offsets_mapping": True, "return_special_tokens_mask": True}
    asked["text"] = {**asked.get("text", {}), **wanted}
    features = type(model).preprocess(model, inputs, prompt=prompt, processing_kwargs=asked, **named)
    if not features:
        return features
    offsets, special = features.pop("offset_mapping").numpy(), features.pop("special_tokens_mask").numpy()
    there = features["attention_mask"].numpy().astype(bool)
    marks = pooling.mark(list(inputs), offsets - len(prompt or ""), special.astype(bool), there)
    features[MARKS] = torch.from_numpy(marks)
    if pooling.settings.graph_layers:
        features[EDGES] = torch.from_numpy(pooling.edges(inputs, marks))
    return features


@cache
def _class() -> type[_SpanPooling]:
    from sentence_transformers.base.modules import Module as Base

    class SpanPooling(_SpanPooling, Base):  # type: ignore[misc] # ours take fewer arguments by name
        """Pooling over spans of words, after a Transformer.

        `dimension` is that of the tokens' vectors; the other settings are those of `SpanSettings`. `source` says where
        spans come from, by default parses. UsageError for an invalid setting.
        """

        __qualname__ = "SpanPooling"
        __module__ = SPAN_POOLING.rpartition(".")[0]  # where checkpoints and pickle find it

    return SpanPooling


def __getattr__(name: str) -> Any:
    """`SpanPooling`, made on first use, since its base class imports torch."""
    if name != "SpanPooling":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _class()


def __dir__() -> Iterator[str]:
    yield from (*globals(), "SpanPooling")
