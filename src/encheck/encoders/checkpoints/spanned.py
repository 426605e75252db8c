"""sentence-transformers checkpoints that are loaded module by module: whose pooling is over spans, or that have lost
their modules.json; and where spans come from.

sentence-transformers imports a module of another package only with `trust_remote_code`, which would let a checkpoint
run any code. Here the one module that is encheck's own is loaded by its class, and everything else as it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.encoders.checkpoints.folders import listed_modules
from encheck.encoders.checkpoints.known import SPAN_POOLING
from encheck.encoders.checkpoints.span_pooling import SpanSettings, read_settings
from encheck.encoders.files import read_json
from encheck.errors import ModelError
from encheck.language.english import English
from encheck.language.pipeline.load import Pipeline
from encheck.language.spans import BroughtFrames, ParsedSpans, SpanSource
from encheck.system.paths import typed

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

PARSE = "parse"


@dataclass(frozen=True)
class Spans:
    """The span pooling of a checkpoint, and where the spans of texts come from here."""

    settings: SpanSettings
    source: SpanSource
    english: English

    def prepare(self, models: Iterable[SentenceTransformer], texts: Sequence[str]) -> None:
        """Find the spans of all texts in one batch, by the process that holds the store."""
        modules: Iterator[Any] = (module for model in models for module in model)
        first = next((module for module in modules if hasattr(module, "prepare")), None)
        if first is not None:  # copies of a model share what is known of texts
            first.prepare(texts)

    def about(self) -> str:
        """For the report."""
        if isinstance(self.source, BroughtFrames):
            return f"{self.settings.spans}, frames of {self.source.path.name}"
        return f"{self.settings.spans}, parsed by {self.english.pipeline.label}"


def module_folders(source: Path) -> list[tuple[str, str]]:
    """The class and the folder of each module at the top of a checkpoint."""
    listed = [one for one in listed_modules(source) if isinstance(one, dict)]
    return [(str(one.get("type")), str(one.get("path") or "")) for one in listed]


def settings_of(source: Path) -> SpanSettings | None:
    """What the span pooling of a checkpoint does; None if it has none, ModelError for a broken one."""
    folders = [folder for kind, folder in module_folders(source) if kind == SPAN_POOLING]
    if len(folders) > 1:
        raise ModelError(f"{source / 'modules.json'} has {len(folders)} span poolings, but should have one")
    return read_settings(source / folders[0]) if folders else None


def spans_of(source: Path, options: Mapping[str, Any], *, file_hash: Callable[[Path], str]) -> Spans | None:
    """The spans of a checkpoint with the entry's options; None if it has no span pooling.

    `frames` is a file, or "parse"; `missing` says what is done with texts that the file lacks. ModelError where they do
    not fit the checkpoint, DataError for a broken file.
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
    return Spans(settings, BroughtFrames(typed(str(frames)), otherwise=otherwise, file_hash=file_hash), english)


def load_modules(
    source: Path,
    *,
    spans: SpanSource | None = None,
    trust_remote_code: bool = False,
    model_kwargs: Mapping[str, Any] | None = None,
    **named: Any,
) -> SentenceTransformer:
    """The model of a checkpoint that sentence-transformers does not load whole: one with a span pooling, or without
    modules.json. `spans` says where spans come from, `named` goes to SentenceTransformer. The folder should have been
    checked (`check_folder`).
    """
    from sentence_transformers import SentenceTransformer

    how = {"trust_remote_code": trust_remote_code, "model_kwargs": dict(model_kwargs or {})}
    modules = []
    for kind, folder in module_folders(source):
        made = _class_of(kind, source, trust_remote_code).load(
            str(source), subfolder=folder, local_files_only=True, backend="torch", **how
        )
        if kind == SPAN_POOLING and spans is not None:
            made.source = spans
        modules.append(made)
    stored = read_json(source / "config_sentence_transformers.json", dict)
    kept = ("prompts", "default_prompt_name", "similarity_fn_name", "truncate_dim")
    given = {name: stored[name] for name in kept if stored.get(name) is not None}
    return SentenceTransformer(modules=modules, **{**given, **{k: v for k, v in named.items() if v is not None}})


def _class_of(kind: str, source: Path, trusted: bool) -> Any:
    from sentence_transformers.util import import_module_class

    if kind == SPAN_POOLING:
        from encheck.encoders.checkpoints import span_pooling

        return span_pooling.SpanPooling
    return import_module_class(kind, str(source), trust_remote_code=trusted, local_files_only=True)
