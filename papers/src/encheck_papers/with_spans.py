"""Make models that pool over spans of words from an encoder, and load them.

model = with_span_pooling(SentenceTransformer("sentence-transformers/all-MiniLM-L6-v2"))
head = PairHead(model.get_embedding_dimension(), features=("|u-v|", "u*v"))
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.encoders.checkpoints.pretrained import check_folder
from encheck.errors import ModelError
from encheck_papers import span_pooling
from encheck_papers.spanned import load_spanned, settings_of
from encheck_papers.spans import BroughtFrames, ParsedSpans, SpanSource

__all__ = ["BroughtFrames", "ParsedSpans", "load_with_spans", "with_span_pooling"]

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


def with_span_pooling(
    model: SentenceTransformer, *, source: SpanSource | None = None, **settings: Any
) -> SentenceTransformer:
    """The transformer of a model with a new pooling over spans in place of all later modules.

    `settings` are those of `SpanSettings` (spans, vectors, weights, sentence_mean, longest, seed, graph_layers).
    `source` says where spans come from: parses kept in the default store, or `BroughtFrames(FILE)`. The transformer is
    shared with `model`. ModelError if the model does not begin with token vectors, UsageError for an invalid setting.
    """
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer

    first = model[0]
    if not isinstance(first, Transformer):
        raise ModelError(f"the model begins with {type(first).__name__}, but span pooling follows a Transformer")
    pooling = span_pooling.SpanPooling(first.get_embedding_dimension(), source=source, **settings)
    return SentenceTransformer(
        modules=[first, pooling],
        device=str(model.device),
        prompts={name: text for name, text in model.prompts.items() if text},
        default_prompt_name=model.default_prompt_name,
        similarity_fn_name=model.similarity_fn_name,
    )


def load_with_spans(
    folder: str | Path, *, source: SpanSource | None = None, device: str | None = None
) -> SentenceTransformer:
    """A checkpoint with a span pooling as a SentenceTransformer, without `trust_remote_code`.

    ModelError if it has none, is half-written, or has its own code.
    """
    path = Path(folder)
    check_folder(path)
    if settings_of(path) is None:
        raise ModelError(f"{path} has no pooling over spans. Remedy: SentenceTransformer({str(path)!r})")
    return load_spanned(path, spans=source, device=device)


def __getattr__(name: str) -> Any:
    """`SpanPooling`, made on first use, since its base class imports torch."""
    if name != "SpanPooling":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return span_pooling.SpanPooling
