"""sentence-transformers checkpoints: a folder, the hub's cache, or a package that carries one.

Encoding sorts by tokens and packs batches by a token budget, so that little is computed on padding, and every text
is tokenised once.
"""

from __future__ import annotations

import gc
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.base import Batch
from encheck.encoders.config import ModelConfig
from encheck.errors import EncoderError, ModelError, unknown
from encheck.similarity import SIMILARITIES
from encheck.types import content_hash

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from encheck.encoders.load import Device

ENGINE = "st-1"  # part of the fingerprint: raise it when the vectors of this adapter change
IGNORED = {"README.md", "LICENSE", "data_config.json"}
CONTENT = {".json", ".safetensors", ".bin", ".txt", ".model"}
PARSED = ("modules.json", "*config.json", "*config_*.json", "tokenizer*.json", "*tokens*.json")  # names they all use
TOKENS_PER_BATCH = {"cpu": 1_536, "mps": 16_384, "cuda": 65_536}
log = logging.getLogger("encheck")


class SentenceTransformerEncoder:
    """A checkpoint that sentence-transformers loads. Nothing of torch is imported before `encode`."""

    def __init__(self, folder: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        self.folder, self.config, self.device, self._file_hash = folder, config, device, file_hash
        check_folder(folder)
        stored = _read_json(folder / "config_sentence_transformers.json", dict)
        self.similarity: str = config.similarity or stored.get("similarity_fn_name") or "cosine"
        if self.similarity not in SIMILARITIES:
            raise ModelError(f"{folder}: {unknown('similarity', str(self.similarity), SIMILARITIES)}")
        default = (stored.get("prompts") or {}).get(stored.get("default_prompt_name"))
        self.prompt: str = (default if config.prompt is None else config.prompt) or ""
        self.truncated = 0

    @cached_property
    def _fingerprint(self) -> str:
        found = (p for p in self.folder.rglob("*") if p.suffix in CONTENT and p.name not in IGNORED)
        files = sorted(p for p in found if p.is_file())
        try:
            content = [f"{p.relative_to(self.folder).as_posix()}={self._file_hash(p)}" for p in files]
        except OSError as error:
            raise ModelError(f"cannot read the model: {error}") from error
        how = [ENGINE, self.prompt, str(self.config.max_length), self._dtype]
        return f"sentence-transformers:{content_hash(*how, *content)}"

    @property
    def _dtype(self) -> str:
        return self.device.dtype or self.config.dtype or "float32"

    def fingerprint(self) -> str:
        """From the content of the files and how they are used; a copied folder has the same one."""
        return self._fingerprint

    @cached_property
    def model(self) -> SentenceTransformer:
        """The loaded model, in evaluation mode on its device."""
        import torch
        import transformers
        from sentence_transformers import SentenceTransformer

        gc.freeze()  # a million imported objects live to the end: each full collection would walk them again
        transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            model = SentenceTransformer(
                str(self.folder),
                device=pick_device(self.device.name),
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs={"dtype": getattr(torch, self._dtype)},
            )
            if self.config.max_length:
                model.max_seq_length = self.config.max_length
        except Exception as error:
            raise EncoderError(f"sentence-transformers cannot load {self.folder}: {error}") from error
        return model.eval()

    @property
    def _is_plain(self) -> bool:
        """Whether a vector is what the modules make of the tokens: no chat template, no prompt left out, no cut."""
        first = self.model[0]
        tokens = type(first).__name__ == "Transformer" and "message" not in getattr(first, "modality_config", {})
        leaves_out = self.prompt and not all(getattr(module, "include_prompt", True) for module in self.model)
        return tokens and not leaves_out and not self.model.truncate_dim and not getattr(first, "processing_kwargs", {})

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> NDArray[np.float32]:
        """Vectors of the texts, shape [n, d], fp32, in their order."""
        done = list(self.batches(texts, role=role))
        out = np.empty((len(texts), done[0][1].shape[1] if done else 0), np.float32)
        for positions, vectors in done:
            out[positions] = vectors
        return out

    def batches(self, texts: Sequence[str], *, role: str | None = None) -> Iterator[Batch]:  # noqa: ARG002
        """(positions, vectors) batch by batch, longest texts first, so that too little memory shows at once."""
        if texts:
            yield from self._by_tokens(texts) if self._is_plain else self._by_slices(texts)

    def _by_slices(self, texts: Sequence[str], *, size: int = 512) -> Iterator[Batch]:
        """As sentence-transformers itself encodes."""
        for start in range(0, len(texts), size):
            some = list(texts[start : start + size])
            vectors = self.model.encode(some, prompt=self.prompt, show_progress_bar=False, convert_to_numpy=True)
            yield np.arange(start, start + len(some)), vectors

    def _by_tokens(self, texts: Sequence[str]) -> Iterator[Batch]:
        """As sentence-transformers does, sorted by tokens and packed by a budget."""
        import torch

        features = self._tokenise([f"{self.prompt}{text}" for text in texts])
        lengths = np.array([len(ids) for ids in features["input_ids"]])
        budget = TOKENS_PER_BATCH.get(self.model.device.type, TOKENS_PER_BATCH["cpu"])
        for positions in pack(lengths, budget):
            batch = {name: [column[i] for i in positions] for name, column in features.items()}
            padded = self.model.tokenizer.pad(batch, return_tensors="pt").to(self.model.device)
            with torch.inference_mode():
                vectors = self.model(dict(padded))["sentence_embedding"]
            yield positions, vectors.float().cpu().numpy()

    def _tokenise(self, texts: list[str]) -> dict[str, list[list[int]]]:
        """Token ids of every text, cut at the maximum length; `truncated` counts the texts that were cut."""
        limit = self.model.max_seq_length
        encoded = self.model.tokenizer(
            texts, truncation=limit is not None, max_length=limit, return_overflowing_tokens=False
        )
        full = sum(len(ids) >= limit for ids in encoded["input_ids"]) if limit else 0
        if full > len(texts) / 100:
            log.warning(
                "%d of %d texts reach the maximum length of %d tokens: what follows is cut", full, len(texts), limit
            )
        self.truncated += full
        return dict(encoded)


def pack(lengths: NDArray[np.intp], budget: int) -> Iterator[NDArray[np.intp]]:
    """Positions in batches of about `budget` tokens with padding, longest first; ties keep their order.

    >>> [b.tolist() for b in pack(np.array([3, 9, 3, 4]), 9)]
    [[1], [3, 0], [2]]
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        size = max(1, budget // max(1, int(lengths[order[start]])))
        yield order[start : start + size]
        start += size


def pick_device(name: str) -> str:
    """The device to compute on: auto takes cuda, then mps, then cpu; CUDA_VISIBLE_DEVICES holds as ever."""
    import torch

    if name != "auto":
        return name
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def check_folder(folder: Path) -> None:
    """ModelError unless the folder looks like a whole checkpoint whose code is sentence-transformers' own."""
    try:
        names = {p.name for p in folder.iterdir()}
    except OSError as error:
        raise ModelError(f"cannot read the model: {error}") from error
    if not names & {"modules.json", "config.json"}:
        held = ", ".join(sorted(names)[:8]) or "nothing"
        raise ModelError(f"{folder} is no checkpoint: it has neither modules.json nor config.json. It holds: {held}")
    for path in sorted({p for pattern in PARSED for p in folder.rglob(pattern)}):
        _read_json(path)
    for module in _read_json(folder / "modules.json", list):
        kind = module.get("type") if isinstance(module, dict) else module
        if not str(kind).startswith("sentence_transformers."):
            raise ModelError(f"{folder}/modules.json names code of its own ({kind}), which is not run")
    weights = [p for p in folder.rglob("*") if p.suffix in {".safetensors", ".bin"} and p.name != "training_args.bin"]
    if not weights:
        raise ModelError(f"{folder} has no weights: a checkpoint holds model.safetensors (or pytorch_model.bin)")
    for path in weights:
        _check_weights(path)


def _check_weights(path: Path) -> None:
    """ModelError where a file of weights was cut off; no tensor is read."""
    from safetensors import SafetensorError, safe_open

    try:
        if path.stat().st_size == 0:
            raise ModelError(f"{path} is empty: was the copy cut off?")
        if path.suffix == ".safetensors":
            with safe_open(path, framework="numpy"):
                pass
    except (OSError, SafetensorError) as error:
        raise ModelError(
            f"{path} cannot be read ({error}): was the copy cut off, or is it a git-lfs pointer?"
        ) from error


def _read_json(path: Path, kind: type[Any] = object) -> Any:
    """What a JSON file holds, of this kind; an empty one where there is no file."""
    if not path.exists():
        return kind()
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError, OSError) as error:
        raise ModelError(f"{path} is not JSON: {error}") from error
    if not isinstance(found, kind):
        raise ModelError(
            f"{path} should hold a {'mapping' if kind is dict else 'list'}, but holds a {type(found).__name__}"
        )
    return found
