"""Load sentence-transformers checkpoints from a folder, the hub's cache, or a package that contains one.

To compute little padding, texts are sorted by token count and packed into batches by a token budget. Every text is
tokenized once.
"""

from __future__ import annotations

import copy
import gc
import logging
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.base import SAME_ROLE, LocalEncoder, value_for_role
from encheck.encoders.batching import (
    TOKENS_PER_BATCH,
    Ints,
    batch_equal_lengths,
    pick_devices,
    run_on_replicas,
    select_rows,
    slice_positions,
)
from encheck.encoders.checkpoints.folders import (
    PAIR_HEAD_FOLDER,
    check_inferred_modules,
    inferred_module_folders,
    list_modules,
    model_files,
    pooling_config_path,
    read_stored_pooling,
)
from encheck.encoders.checkpoints.pretrained import (
    LIBRARIES,
    check_embedding_rows,
    check_folder,
    check_loaded_weights,
    check_max_length,
    checkpoint_files,
    count_truncated,
    limit_model_size,
    quiet_transformers,
    record_loaded_models,
)
from encheck.encoders.checkpoints.transformers import check_adapter_weights
from encheck.encoders.checkpoints.trust import refuse_ignored_settings, refuse_other_model_type
from encheck.encoders.files import WHOLE, check_tokens_per_character, read_json_number, read_json_value, read_model_json
from encheck.encoders.load import PAIR_HEAD, detect_adapter
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.protocol import Batch
from encheck.encoders.settings import UNLIMITED
from encheck.errors import EncoderError, ModelError, unknown_name_message
from encheck.similarity import SIMILARITIES
from encheck.types import Json

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


log = logging.getLogger("encheck")


def _stored_prompts(source: Path, stored: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the prompts of a checkpoint. Raise ModelError if its default is not among them, or a prompt is not
    text.
    """
    file, default = source / "config_sentence_transformers.json", stored.get("default_prompt_name")
    prompts = stored.get("prompts") or {}
    if not isinstance(prompts, dict) or not all(isinstance(text, str | None) for text in prompts.values()):
        raise ModelError(f"{file}: prompts is {prompts!r}, but should be a mapping of names to texts")
    if default is not None and str(default) not in {*prompts, "query", "document"}:  # these two always exist
        raise ModelError(f"{file}: default_prompt_name: {unknown_name_message('prompt', str(default), prompts)}")
    return prompts


def module_classes_and_folders(source: Path) -> list[tuple[str, str]]:
    """Return the class and the folder of each module at the top of a checkpoint."""
    listed = [module for module in list_modules(source) if isinstance(module, dict)]
    return [(str(module.get("type")), str(module.get("path") or "")) for module in listed]


def load_from_modules(
    source: Path,
    *,
    own: Mapping[str, Any] | None = None,
    trust_remote_code: bool = False,
    model_kwargs: Mapping[str, Any] | None = None,
    **named: Any,
) -> SentenceTransformer:
    """Return the model of a checkpoint that sentence-transformers cannot load by itself.

    That is a checkpoint without modules.json, or one with a module whose class is in `own`, by name. `named` goes to
    SentenceTransformer. Check the folder first (`check_folder`).
    """
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.util import import_module_class

    how = {"trust_remote_code": trust_remote_code, "model_kwargs": dict(model_kwargs or {})}
    modules = []
    for kind, folder in module_classes_and_folders(source):
        module_class: Any = (own or {}).get(kind) or import_module_class(
            kind, str(source), trust_remote_code=trust_remote_code, local_files_only=True
        )
        modules.append(module_class.load(str(source), subfolder=folder, local_files_only=True, backend="torch", **how))
    stored = read_model_json(source / "config_sentence_transformers.json", dict)
    names = ("prompts", "default_prompt_name", "similarity_fn_name", "truncate_dim")
    stored_settings = {name: stored[name] for name in names if stored.get(name) is not None}
    return SentenceTransformer(
        modules=modules, **{**stored_settings, **{k: v for k, v in named.items() if v is not None}}
    )


def open_checkpoint(
    source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]
) -> SentenceTransformerEncoder:
    """Return the encoder of a folder.

    Raise ModelError if the encoder would ignore the checkpoint's head or its pooling over spans.
    """
    if (source / PAIR_HEAD_FOLDER).exists() or detect_adapter(source)[0] == PAIR_HEAD:
        raise ModelError(
            f"{source} has a head over pairs, or a pooling over spans. Remedy: --model-arg adapter={PAIR_HEAD}, or "
            f"adapter: {PAIR_HEAD} in its entry"
        )
    return SentenceTransformerEncoder(source, config, device=device, file_hash=file_hash)


class SentenceTransformerEncoder(LocalEncoder):
    """A checkpoint that sentence-transformers loads. torch is imported only when `encode` is called."""

    engine = "sentence-transformers-1"
    libraries = LIBRARIES

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        numbered = inferred_module_folders(source)
        marks = ("config.json", "adapter_config.json") if numbered else ("modules.json", "config.json")
        check_folder(source, trusted=config.trust_remote_code, marks=marks)
        check_inferred_modules(source)
        refuse_other_model_type(source)
        if not config.trust_remote_code:
            refuse_ignored_settings(source)
        self.bases = self._adapter_bases()
        check_max_length(source, config.max_length)
        stored = read_model_json(source / "config_sentence_transformers.json", dict)
        self.similarity = config.similarity or stored.get("similarity_fn_name") or "cosine"
        if str(self.similarity) not in SIMILARITIES:
            raise ModelError(f"{source}: {unknown_name_message('similarity', str(self.similarity), SIMILARITIES)}")
        prompts = _stored_prompts(source, stored)
        default = prompts.get(str(stored.get("default_prompt_name"))) if config.prompt is None else None
        self.prompt = default or config.prompt or ""
        self.prompts = {name: text for name, text in prompts.items() if text} | self.prompts
        if default:  # a role without a prompt has none, not the default
            self.prompts |= {role: value_for_role(self.prompts, role, "") for role in ("query", "document")}
        self.pooling = read_stored_pooling(source)
        if config.pooling and self.pooling and config.pooling != self.pooling:
            raise ModelError(
                f"{source} pools by {self.pooling}, but pooling is {config.pooling}. Remedy: leave pooling out, or "
                f"let encheck pool: --model-arg adapter=transformers --model-arg pooling={config.pooling}"
            )
        if numbered:
            log.warning(
                "%s: pooled by %s, as %s says; without modules.json, its modules are those that its folders name: %s",
                config.label, self.pooling, pooling_config_path(source).relative_to(source), ", ".join(numbered),
            )  # fmt: skip
        self.output_dimension: int | None = config.truncate_dim or stored.get("truncate_dim")
        listed = module_classes_and_folders(source)
        kind, folder = listed[0] if listed else ("", "")
        self._first_folder = source / folder if kind.endswith(".Transformer") else None  # the tokenizing module
        file = (self._first_folder or source) / "tokenizer.json"
        self.tokenizer_file = file if file.is_file() else None
        self.is_normalised = any(kind.endswith(".Normalize") for kind, _ in listed)
        self.has_routes = any(kind.endswith((".Router", ".Asym")) for kind, _ in listed)

    def compute_in_role(self, texts: list[str], role: str | None) -> Iterator[Batch]:
        """Yield (positions, vectors) like `compute`, with the prompt and the route of the role.

        A router without a route for the role uses its default route.
        """
        routers: list[Any] = [module for module in self.model if hasattr(module, "route_mappings")]
        tasks = {
            task for router in routers for task in (*router.sub_modules, *(key[0] for key in router.route_mappings))
        }
        task = next((one for one in (role, *SAME_ROLE.get(role or "", ())) if one in tasks), None)
        return self.compute(texts, self.prompt_for(role), task)

    def _adapter_bases(self) -> Mapping[str, Path]:
        """Return adapter folder -> folder of its base model, for each PEFT adapter.

        A base is a path relative to the working directory, or else an id on the hub, as when it is loaded. Raise
        ModelError if the base does not exist.
        """
        from encheck.encoders.load import find_model_folder

        bases = {}
        for file in (p for p in model_files(self.source) if p.name == "adapter_config.json"):
            named = str(read_model_json(file, dict).get("base_model_name_or_path") or "")
            if not named:
                raise ModelError(f"{file} names no base model: base_model_name_or_path should be a path or a hub id")
            base = Path(named)
            try:
                base = base if base.is_dir() else find_model_folder(ModelConfig(self.config.label, name=named))
            except ModelError as error:
                raise ModelError(
                    f"the base of {file.parent}: {error}. Or write its location into {file}: base_model_name_or_path"
                ) from error
            check_folder(base, trusted=self.config.trust_remote_code, marks=("config.json",), tokenizer=False)
            bases[file.parent.relative_to(self.source).as_posix()] = base
        return bases

    def fingerprint_files(self) -> Mapping[str, Path]:
        """Return every file of the folder and of an adapter's base model that determines vectors."""
        code = self.config.trust_remote_code
        bases = {f"{at}/base:{n}": p for at, b in self.bases.items() for n, p in checkpoint_files(b, code=code).items()}
        return {**checkpoint_files(self.source, code=code), **bases}

    def fingerprint_settings(self) -> list[str]:
        """Return maximum length, dtype and dimension."""
        cut = [f"truncate_dim {self.config.truncate_dim}"] * bool(self.config.truncate_dim)
        return [str(self.config.max_length), self.dtype, *cut]

    def about(self) -> dict[str, Json]:
        """Add the pooling, and the dimension to which vectors are truncated."""
        bases = ", ".join(base.name for base in self.bases.values())
        details = {"pooling": self.pooling, "truncate_dim": self.output_dimension, "base": bases}
        return super().about() | {name: value for name, value in details.items() if value}

    @cached_property
    def maximum_length(self) -> int | None:
        """The value in the entry, or else max_seq_length, or else the limit of tokenizer and positions."""
        if self.config.max_length or self._first_folder is None:
            return self.config.max_length
        for file in sorted(self._first_folder.glob("sentence_*_config.json")):
            if stated := read_json_value(file, "max_seq_length", int):
                return int(stated)
        tokens = read_json_number(self._first_folder / "tokenizer_config.json", "model_max_length")
        positions = read_json_value(self._first_folder / "config.json", "max_position_embeddings", int)
        limit = min(tokens or UNLIMITED, positions if positions and positions > 0 else UNLIMITED)
        return int(limit) if limit < UNLIMITED else None

    @cached_property
    def devices(self) -> list[str]:
        """The devices that the model computes on."""
        return pick_devices(self.device.name)

    @cached_property
    def model(self) -> SentenceTransformer:
        """The loaded model, in evaluation mode on its first device."""
        return self.models[0]

    @cached_property
    def models(self) -> list[SentenceTransformer]:
        """The loaded model, one copy per device."""
        first, *others = self.devices
        model = self._load(first)
        return [model, *(copy.deepcopy(model).to(device) for device in others)]

    def _load(self, device: str) -> SentenceTransformer:
        import torch

        gc.freeze()  # each full collection would walk a million imported objects again
        try:
            with (
                quiet_transformers(),
                record_loaded_models() as every,
                limit_model_size(self.source, *self.bases.values()),
            ):
                model = self.load_folder(
                    device=device, trust_remote_code=self.config.trust_remote_code,
                    model_kwargs={"dtype": getattr(torch, self.dtype)}, truncate_dim=self.config.truncate_dim,
                )  # fmt: skip
            if self.config.max_length:
                model.max_seq_length = self.config.max_length
        except EncoderError:
            raise
        except Exception as error:
            raise EncoderError(f"sentence-transformers cannot load {self.source}: {error}. {WHOLE}") from error
        for loaded, info in every:
            remedy = f"{WHOLE}, or trust_remote_code if it brings its own code"
            check_adapter_weights(self.source, self.bases, loaded)
            check_loaded_weights(self.source, loaded, loaded, info, pooler=False, remedy=remedy)
        first: Any = model[0]
        whole = getattr(first, "auto_model", None)
        table: Any = getattr(first, "embedding", None) if whole is None else whole.get_input_embeddings()
        if hasattr(table, "weight") and hasattr(model.tokenizer, "get_vocab"):  # some have no such table
            check_embedding_rows(self.source, model.tokenizer, table.weight.shape[0])
            check_tokens_per_character(self.source, model.tokenizer)
        return model.eval()

    def load_folder(self, **named: Any) -> SentenceTransformer:
        """Return the folder's model, loaded with these arguments of SentenceTransformer."""
        if inferred_module_folders(self.source):
            return load_from_modules(self.source, **named)
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(self.source), local_files_only=True, **named)

    def computes_from_tokens(self, prompt: str) -> bool:
        """Return whether the modules compute the vector from the tokens alone.

        They do not with a router or a chat template, or if the pooling leaves the prompt out.
        """
        first = self.model[0]
        tokens = type(first).__name__ == "Transformer" and "message" not in getattr(first, "modality_config", {})
        leaves_out = prompt and not all(getattr(module, "include_prompt", True) for module in self.model)
        return tokens and not leaves_out and not self.has_routes and not getattr(first, "processing_kwargs", {})

    def compute(self, texts: list[str], prompt: str, task: str | None = None) -> Iterator[Batch]:
        """Encode batches of texts with the same length. Start with the longest, so that a lack of memory shows at once.

        If other steps affect a vector, sentence-transformers' own method is used. `task` chooses a router's route.
        """
        import torch

        if not self.computes_from_tokens(prompt):

            def encode(model: SentenceTransformer, positions: Ints) -> NDArray[np.float32]:
                some = [texts[i] for i in positions]
                vectors: NDArray[np.float32] = model.encode(some, prompt=prompt, task=task, show_progress_bar=False)
                return vectors

            yield from run_on_replicas(self.models, slice_positions(len(texts), 512), encode)
            return

        tokenizer, limit, dimension = self.model.tokenizer, self.model.max_seq_length, self.model.truncate_dim
        encoded = tokenizer(
            [f"{prompt}{text}" for text in texts],
            truncation=limit is not None, max_length=limit, return_overflowing_tokens=False,
        )  # fmt: skip
        if limit:
            self.count_truncated_texts(count_truncated(encoded, limit), len(texts), limit)
        features = dict(encoded)

        def run(model: SentenceTransformer, positions: Ints) -> NDArray[np.float32]:
            padded = tokenizer.pad(select_rows(features, positions), return_tensors="pt").to(model.device)
            with torch.inference_mode():
                vectors = model(dict(padded))["sentence_embedding"]
            rows: NDArray[np.float32] = vectors[:, :dimension].float().cpu().numpy()
            return rows

        lengths = np.array([len(ids) for ids in features["input_ids"]])
        budget = TOKENS_PER_BATCH.get(self.model.device.type, TOKENS_PER_BATCH["cpu"])
        yield from run_on_replicas(self.models, batch_equal_lengths(lengths, budget), run)
