"""sentence-transformers checkpoints that pool over spans, and the sources of spans.

sentence-transformers imports a module from a different package only with `trust_remote_code`, which would let a
checkpoint run any code. Here the one module of this package is loaded by its class, and all others as usual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.encoders.checkpoints.folders import SPAN_POOLING
from encheck.encoders.checkpoints.sentence_transformers import (
    SentenceTransformerEncoder,
    load_from_modules,
    module_classes_and_folders,
)
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.protocol import Batch
from encheck.errors import ModelError
from encheck.language.english import English
from encheck.language.pipeline.pipeline import Pipeline
from encheck.store import Store
from encheck.system.files import expand_home
from encheck.types import Json
from encheck_papers import span_pooling
from encheck_papers.span_pooling import SpanSettings, read_settings
from encheck_papers.spans import BroughtFrames, ParsedSpans, SpanSource

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from encheck.encoders.model_config import Device

PARSE = "parse"


@dataclass(frozen=True)
class Spans:
    """The span pooling of a checkpoint, and the source of spans in this run."""

    settings: SpanSettings
    source: SpanSource
    english: English

    def prepare(self, models: Iterable[SentenceTransformer], texts: Sequence[str]) -> None:
        """Find the spans of all texts in one batch, by the process that holds the store."""
        modules: Iterator[Any] = (module for model in models for module in model)
        first = next((module for module in modules if hasattr(module, "prepare")), None)
        if first is not None:  # copies of a model share the cache
            first.prepare(texts)

    def about(self) -> str:
        """For the report."""
        if isinstance(self.source, BroughtFrames):
            return f"{self.settings.spans}, frames of {self.source.path.name}"
        return f"{self.settings.spans}, parsed by {self.english.pipeline.label}"


def settings_of(source: Path) -> SpanSettings | None:
    """The settings of a checkpoint's span pooling; None if it has none, ModelError for a broken one."""
    folders = [folder for kind, folder in module_classes_and_folders(source) if kind == SPAN_POOLING]
    if len(folders) > 1:
        raise ModelError(f"{source / 'modules.json'} has {len(folders)} span poolings, but should have one")
    return read_settings(source / folders[0]) if folders else None


def spans_of(source: Path, options: Mapping[str, Any], *, file_hash: Callable[[Path], str]) -> Spans | None:
    """The spans of a checkpoint with the entry's options; None if it has no span pooling.

    `frames` is a file, or "parse"; `missing` says how to treat texts that the file lacks. ModelError if they do not fit
    the checkpoint, DataError for a broken file.
    """
    settings = settings_of(source)
    frames, missing = options.get("frames"), options.get("missing", "refuse")
    if settings is None:
        if given := sorted({"frames", "missing"} & set(options)):
            raise ModelError(f"{given[0]} belongs to a pooling over spans, and {source} has none")
        return None
    english = English(Pipeline(file_hash=file_hash))
    parsed = ParsedSpans(english)
    if frames is None and settings.trained_on == "frames":
        raise ModelError(
            f"{source} was trained on frames from a file. Remedy: name one with the frames of your texts: --model-arg "
            f"frames=FILE, or have spans read off the parse, which are others: --model-arg frames={PARSE}"
        )
    if frames in (None, PARSE):
        return Spans(settings, parsed, english)
    otherwise = parsed if missing == PARSE else None
    return Spans(settings, BroughtFrames(expand_home(str(frames)), otherwise=otherwise, file_hash=file_hash), english)


def load_spanned(source: Path, *, spans: SpanSource | None = None, **named: Any) -> SentenceTransformer:
    """The model of a checked folder with a span pooling; `spans` is their source, by default parses in the default
    store.

    `named` goes to `load_from_modules`.
    """
    model = load_from_modules(source, own={SPAN_POOLING: span_pooling.SpanPooling}, **named)
    for module in model if spans is not None else ():
        if isinstance(module, span_pooling.SpanPooling):
            module.source = spans
    return model


class SpanEncoder(SentenceTransformerEncoder):
    """A checkpoint with or without a pooling over spans; `spans` is None without."""

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        self.spans = spans_of(source, config.options, file_hash=file_hash)

    def fingerprint_settings(self) -> list[str]:
        """Adds the source of its spans."""
        return [*super().fingerprint_settings(), *([f"spans {self.spans.source.fingerprint}"] if self.spans else ())]

    def about(self) -> dict[str, Json]:
        """Adds its spans."""
        return super().about() | ({"spans": self.spans.about()} if self.spans else {})

    def keep_parses_in(self, store: Store) -> None:
        """Keep the parses for its spans in this store; does nothing for a model without spans."""
        if self.spans:
            self.spans.english.store = store

    def load_folder(self, **named: Any) -> SentenceTransformer:
        """The model, with the source of its spans set."""
        return (
            load_spanned(self.source, spans=self.spans.source, **named) if self.spans else super().load_folder(**named)
        )

    def computes_from_tokens(self, prompt: str) -> bool:
        """False with spans, which are found in texts."""
        return not self.spans and super().computes_from_tokens(prompt)

    def compute(self, texts: list[str], prompt: str, task: str | None = None) -> Iterator[Batch]:
        """Compute as without spans, after finding the spans of all texts in one batch."""
        if self.spans:
            self.spans.prepare(self.models, texts)
        yield from super().compute(texts, prompt, task)
