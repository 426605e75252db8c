"""Models that score pairs: cross-encoders and surface scorers. A model that understands meaning should beat the latter.

A cross-encoder reads both texts in one pass, and its head scores whether they are paraphrases. Its folder is one of
sentence-transformers' CrossEncoder or of AutoModelForSequenceClassification. A head with one output is a regression,
squashed if the checkpoint says so. If it has two or more outputs, the score is the probability of the class that means
"the same". `encheck.surface` has the formulas of the surface scorers. They count document frequencies in the run's own
texts.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.base import Floats, Pair, PairModel
from encheck.encoders.batching import (
    TOKENS_PER_BATCH,
    Ints,
    batch_equal_lengths,
    pick_devices,
    run_on_replicas,
    select_rows,
)
from encheck.encoders.checkpoints.folders import inferred_module_folders
from encheck.encoders.checkpoints.pretrained import (
    LIBRARIES,
    check_folder,
    check_loaded_weights,
    check_max_length,
    check_padding_token,
    checkpoint_files,
    count_positions,
    limit_model_size,
    quiet_transformers,
)
from encheck.encoders.checkpoints.trust import list_named_modules
from encheck.encoders.files import COPY, WHOLE, check_tokens_per_character, read_json_value, read_model_json
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.settings import UNLIMITED
from encheck.errors import EncoderError, ModelError
from encheck.surface import SURFACE, WEIGHTED, Frequencies
from encheck.types import Json, content_hash

POSITIVE_CLASS_NAMES = (
    *("paraphrase", "is_paraphrase", "duplicate", "is_duplicate", "equivalent", "same", "entailment"),
    *("yes", "true", "positive"),
)
OLDEST = "sbert_ce_default_activation_function"  # as until sentence-transformers 4
WITHOUT = "Remedy: remove it, to get the scores without it"
STATED = {
    "torch.nn.Sigmoid": "sigmoid", "torch.nn.modules.activation.Sigmoid": "sigmoid", "torch.nn.Identity": "identity",
    "torch.nn.modules.linear.Identity": "identity", "torch.nn.modules.Identity": "identity",
}  # fmt: skip


class CrossEncoderScorer(PairModel):
    """A checkpoint that AutoModelForSequenceClassification loads.

    The option `positive` names the class that means "the same".
    """

    engine = "cross-encoder-1"
    libraries = LIBRARIES

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        check_folder(source, marks=("config.json",))
        check_max_length(source, config.max_length)
        self.settings: Mapping[str, Any] = read_model_json(source / "config.json", dict)
        named = read_json_value(source / "config.json", "id2label", dict) or {}
        if wrong := [key for key in named if not (key.isascii() and key.isdecimal() and len(key) < 10)]:
            raise ModelError(
                f"{source / 'config.json'}: id2label has {wrong[0][:80]!r}, but should have the numbers of classes. "
                f"{COPY}"
            )
        # in order; transformers' default is two
        self.classes = [str(named[key]) for key in sorted(named, key=int)] or ["LABEL_0", "LABEL_1"]
        self.positive = index_of_positive_class(self.classes, config, source)
        self.activation: str = config.options.get("activation") or _find_activation(
            self.settings, source, len(self.classes)
        )
        self.positions = count_positions(source)  # the number of its positions; None if not stated
        for module in () if inferred_module_folders(source) else list_named_modules(source):
            if module.kind.rpartition(".")[2] != "Transformer":
                raise ModelError(
                    f"{module.file}: {module.key} is {module.kind!r}, but the scores here are those of the "
                    "transformer's head alone. Remedy: a checkpoint without that module"
                )
        file = source / "config_sentence_transformers.json"
        stored = read_model_json(file, dict)
        prompts, default = stored.get("prompts"), stored.get("default_prompt_name")
        if isinstance(prompts, dict) and prompts.get(str(default)):
            raise ModelError(f"{file}: default_prompt_name is {default!r}, but pairs get no prompt here. {WITHOUT}")
        if (in_fp32 := stored.get("keep_in_fp32_modules")) and self.dtype != "float32":
            raise ModelError(
                f"{file}: keep_in_fp32_modules is {in_fp32!r}, but dtype {self.dtype}. Remedy: dtype float32"
            )

    def fingerprint_files(self) -> Mapping[str, Path]:
        """Return every file of the folder that determines scores."""
        return checkpoint_files(self.source)

    def fingerprint_settings(self) -> list[str]:
        """Return maximum length, dtype, class and activation."""
        return [str(self.config.max_length), self.dtype, str(self.positive), self.activation]

    @property
    def dtype(self) -> str:
        """The precision of the weights."""
        return self.device.dtype or self.config.dtype or "float32"

    @property
    def decision(self) -> float | None:
        """The lowest score at which the trained head predicts "the same", by its argmax.

        None if the head grades pairs or has other classes.
        """
        return 0.5 if len(self.classes) == 2 or (len(self.classes) == 1 and self.activation == "sigmoid") else None

    def about(self) -> dict[str, Json]:
        """Add the meaning of the score."""
        named, several = self.classes[self.positive], len(self.classes) > 1
        return super().about() | {"head": f"probability of {named}" if several else f"one number, {self.activation}"}

    @cached_property
    def tokenizer(self) -> Any:
        """The checkpoint's tokenizer. Raise EncoderError if it cannot be loaded."""
        from transformers import AutoTokenizer

        try:
            loaded = AutoTokenizer.from_pretrained(str(self.source), local_files_only=True, trust_remote_code=False)
        except Exception as error:
            raise EncoderError(f"transformers cannot load the tokenizer of {self.source}: {error}. {WHOLE}") from error
        check_padding_token(self.source, loaded)
        check_tokens_per_character(self.source, loaded)
        return loaded

    @cached_property
    def devices(self) -> list[str]:
        """The device that it computes on."""
        return pick_devices(self.device.name)[:1]

    @cached_property
    def model(self) -> Any:
        """The loaded model in evaluation mode. Raise EncoderError if a weight is missing."""
        import torch
        import transformers

        gc.freeze()
        try:
            with quiet_transformers(), limit_model_size(self.source):
                model, info = transformers.AutoModelForSequenceClassification.from_pretrained(
                    str(self.source), dtype=getattr(torch, self.dtype), local_files_only=True, output_loading_info=True,
                    trust_remote_code=False,
                )  # fmt: skip
        except EncoderError:
            raise
        except Exception as error:
            raise EncoderError(f"transformers cannot load {self.source} as a cross-encoder: {error}") from error
        remedy = "Remedy: a checkpoint with its classification head"
        check_loaded_weights(self.source, model, model, info, pooler=True, remedy=remedy)
        return model.to(self.devices[0]).eval()

    def compute(self, pairs: Sequence[Pair]) -> Floats:
        """Score batches of pairs with the same length, starting with the longest."""
        import torch

        limits = (self.config.max_length or self.tokenizer.model_max_length, self.positions or UNLIMITED, UNLIMITED)
        first, second = ([*side] for side in zip(*pairs, strict=True))
        features = dict(self.tokenizer(first, second, truncation=True, max_length=int(min(limits))))
        lengths = np.array([len(ids) for ids in features["input_ids"]])
        budget = TOKENS_PER_BATCH.get(self.model.device.type, TOKENS_PER_BATCH["cpu"])

        def run(model: Any, positions: Ints) -> NDArray[np.float32]:
            padded = self.tokenizer.pad(select_rows(features, positions), return_tensors="pt").to(model.device)
            with torch.inference_mode():
                logits = model(**padded).logits.float()
                if len(self.classes) > 1:
                    made = torch.softmax(logits, dim=1)[:, self.positive]
                else:
                    made = logits[:, 0] if self.activation == "identity" else torch.sigmoid(logits[:, 0])
            batch: NDArray[np.float32] = made.cpu().numpy()
            return batch

        scores = np.empty(len(pairs))
        for positions, batch in run_on_replicas([self.model], batch_equal_lengths(lengths, budget), run):
            scores[positions] = batch
        return scores


def index_of_positive_class(classes: Sequence[str], config: ModelConfig, source: Path) -> int:
    """Return the index of the class that means "the same". Raise ModelError if it cannot be determined."""
    wanted_name = config.options.get("positive")
    wanted = [str(wanted_name).lower()] if wanted_name is not None else list(POSITIVE_CLASS_NAMES)
    lowered = [name.lower() for name in classes]
    index = next((lowered.index(name) for name in wanted if name in lowered), None)
    if index is None and str(wanted_name).isdigit() and int(str(wanted_name)) < len(classes):
        return int(str(wanted_name))
    if index is None and wanted_name is None and len(classes) < 3:
        return len(classes) - 1
    if index is None:
        raise ModelError(
            f"{source} has the classes {', '.join(classes)}, and {wanted_name or 'one that surely means the same'} is "
            f"not among them. Remedy: options.positive of models.yaml, or --model-arg positive={classes[-1]}"
        )
    return index


def _find_activation(settings: Mapping[str, Any], source: Path, classes: int) -> str:
    """Return the activation of a head with one output.

    It is the one that sentence-transformers names, or else none for a regression. A head with several classes has none.
    Raise ModelError for an unknown activation.
    """
    file, config = source / "config_sentence_transformers.json", source / "config.json"
    statements = (
        (file, "activation_fn", read_model_json(file, dict).get("activation_fn")),
        (config, "activation_fn", (read_json_value(config, "sentence_transformers", dict) or {}).get("activation_fn")),
        (config, OLDEST, settings.get(OLDEST)),
    )
    for where, key, stated in statements:
        if stated and str(stated) in STATED:
            return STATED[str(stated)]
        if stated and classes == 1:
            raise ModelError(
                f"{where}: {key} is {stated!r}, but only torch's Sigmoid and Identity are known here. "
                "Remedy: --model-arg activation=sigmoid, or identity, whichever gives the scores you want"
            )
    return "identity" if settings.get("problem_type") == "regression" else "sigmoid"


class LexicalScorer(PairModel):
    """Scores pairs by the surface features that they share. `weighting` is in SHARED or WEIGHTED."""

    engine = "lexical-1"

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        self.weighting: str = config.options.get("weighting", "jaccard")
        self.ready = self.weighting in SURFACE  # it does not learn from texts
        self.learns = not self.ready
        self._corpus = ""
        self._frequencies = Frequencies.of(())

    def fit(self, texts: Sequence[str]) -> None:
        """Count the document frequencies in these texts."""
        if self.weighting in WEIGHTED:
            self._corpus = content_hash(*sorted(set(texts))) if texts else ""
            self._frequencies = Frequencies.of(texts)
            self.forget_fingerprint()

    def fingerprint_settings(self) -> list[str]:
        """Return the weighting, and the texts in which frequencies were counted."""
        return [self.weighting, *filter(None, [self._corpus])]

    def compute(self, pairs: Sequence[Pair]) -> Floats:
        """Return score each pair on its own."""
        first, second = map(list, zip(*pairs, strict=True))
        if self.weighting in SURFACE:
            return SURFACE[self.weighting](first, second)
        return WEIGHTED[self.weighting](first, second, self._frequencies)
