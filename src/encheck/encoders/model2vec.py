"""model2vec checkpoints: a vector for each token of a tokenizer, averaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.batching import slices
from encheck.encoders.checkpoints.pretrained import check_folder, files_of
from encheck.encoders.files import WHOLE, check_growth, must_exist
from encheck.encoders.local import LocalEncoder
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.protocol import Batch
from encheck.errors import EncoderError

if TYPE_CHECKING:
    from encheck.encoders.load import Device


class Model2VecEncoder(LocalEncoder):
    """A folder with model.safetensors, tokenizer.json and config.json, as model2vec saves it."""

    engine = "model2vec-1"

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        check_folder(source, marks=("config.json",))
        must_exist(source / "tokenizer.json", "the tokenizer", "Remedy: use a complete checkpoint")

    def content(self) -> Mapping[str, Path]:
        """Every file of the folder that makes vectors."""
        return files_of(self.source)

    def how(self) -> list[str]:
        """Maximum length and dimension."""
        return [str(self.config.max_length), str(self.config.truncate_dim)]

    @property
    def maximum_length(self) -> int | None:
        """As the entry says."""
        return self.config.max_length

    @property
    def tokenizer_file(self) -> Path:
        """In the folder."""
        return self.source / "tokenizer.json"

    @cached_property
    def model(self) -> Any:
        """The loaded model."""
        from model2vec import StaticModel

        try:
            model = StaticModel.from_pretrained(self.source, dimensionality=self.config.truncate_dim)
        except Exception as error:
            raise EncoderError(f"model2vec cannot load {self.source}: {str(error).rstrip('.')}. {WHOLE}") from error
        check_growth(self.source, model.tokenizer)
        return model

    def compute(self, texts: list[str], prompt: str) -> Iterator[Batch]:
        """In slices; nothing is padded."""
        limit = self.config.max_length or self.model.max_length
        prompted = [f"{prompt}{text}" for text in texts]
        if limit:
            room = limit * self.model.median_token_length  # model2vec cuts letters first, then tokens
            tokens = self.model.tokenizer.encode_batch_fast(prompted, add_special_tokens=False)
            full = sum(len(t.ids) > limit or len(p) > room for t, p in zip(tokens, prompted, strict=True))
            self.note_cut(full, len(texts), limit)
        for positions in slices(len(texts), 1_024):
            some = [prompted[i] for i in positions]
            vectors = self.model.encode(some, max_length=limit, use_multiprocessing=False)
            found: NDArray[np.float32] = np.asarray(vectors, np.float32)
            yield positions, found
