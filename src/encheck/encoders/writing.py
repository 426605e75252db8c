"""Models that write a text for a text.

A causal language model goes on with a sentence; a pair of translation models goes there and back.

Both write greedily, so that the same model gives the same text on every machine that rounds alike; what they wrote is
kept in the store, by the fingerprint of their files. A batch has sentences of one length; nothing is written for one
that the model has no room for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from encheck.encoders.base import whole
from encheck.encoders.batching import pack, pick_devices
from encheck.encoders.checkpoints.pretrained import check_folder, check_loaded, files_of, loading_info, quiet
from encheck.encoders.load import HUB_ID, folder_of
from encheck.encoders.model_config import ModelConfig
from encheck.errors import EncoderError, UsageError
from encheck.store import Store, text_key
from encheck.system.files import is_folder, typed
from encheck.system.lock import Locks, no_locks
from encheck.types import content_hash

TOKENS_PER_BATCH = 1_024  # before anything is written
UNLIMITED_TOKENS = 1_000_000
PAIRS = "Helsinki-NLP/opus-mt-{}-{}"


class Writer(ABC):
    """A model of transformers that turns texts into texts; `name` is a folder or a hub id."""

    kind: str

    def __init__(self, name: str, *, device: str = "auto", store: Store | None = None, locks: Locks = no_locks) -> None:
        self.folder = folder_of(_config(name))
        check_folder(self.folder, marks=("config.json",))
        self.device, self.store, self._locks, self.name = device, store, locks, name
        self.written = 0

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """How it writes: arguments of transformers' `generate`."""

    @abstractmethod
    def load(self) -> Any:
        """The model on the CPU."""

    @cached_property
    def fingerprint(self) -> str:
        """From the content of its files and how it writes."""
        hashed = self.store.file_hash if self.store else _plain_hash
        content = [f"{name}={hashed(path)}" for name, path in sorted(files_of(self.folder).items())]
        return f"{self.kind}:{content_hash(repr(sorted(self.settings.items())), *content)}"

    @property
    def devices(self) -> list[str]:
        """The one that it computes on."""
        return pick_devices(self.device)[:1]

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold what must be held while it computes."""
        with ExitStack() as held:
            for lock in self._locks(self):
                held.enter_context(lock)
            yield

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """What it writes for each text, from the store where it is there."""
        wanted = list(dict.fromkeys(texts))
        found = self._stored(wanted)
        if missing := [text for text in wanted if text not in found]:
            with self.locked():
                found |= self._stored(missing)
                found |= self._made([text for text in missing if text not in found])
        return [found[text] for text in texts]

    def _stored(self, texts: Sequence[str]) -> dict[str, str]:
        if self.store is None:
            return {}
        keys = {text_key(text): text for text in texts}
        blobs = self.store.blobs("text", self.fingerprint, list(keys))
        return {keys[key]: blob.decode("utf-8") for key, blob in blobs.items()}

    def _made(self, texts: Sequence[str]) -> dict[str, str]:
        made: dict[str, str] = {}
        rows = [self.tokenizer(text, verbose=False)["input_ids"] for text in whole(texts)]
        for positions in pack(np.array([len(row) for row in rows], np.intp), TOKENS_PER_BATCH):
            written = self._written([rows[i] for i in positions])
            made |= (batch := dict(zip([texts[i] for i in positions], written, strict=True)))
            if self.store is not None:
                blobs = {text_key(text): written.encode("utf-8") for text, written in batch.items()}
                self.store.put_blobs("text", self.fingerprint, blobs, name=self.name)
        self.written += len(made)
        return made

    def _written(self, rows: list[list[int]]) -> list[str]:
        """What is written for each row of tokens; nothing if there are none, or more than there is room for."""
        fits = [0 < len(row) <= self.positions - self.kept_free for row in rows]
        found = iter(self._write([row for row, fit in zip(rows, fits, strict=True) if fit]) if any(fits) else ())
        return [next(found) if fit else "" for fit in fits]

    def _write(self, rows: list[list[int]]) -> list[str]:
        import torch

        padded = self.tokenizer.pad({"input_ids": rows}, return_tensors="pt", padding_side=self.padding)
        with torch.inference_mode():
            made = self.model.generate(**padded.to(self.model.device), do_sample=False, num_beams=1, **self.settings)
        decoded = self.tokenizer.batch_decode(self.new_tokens(made, padded), skip_special_tokens=True)
        return [self.cleaned(text) for text in decoded]

    padding = "right"
    kept_free = 0  # positions for what is written after the text

    @property
    def positions(self) -> int:
        """How many tokens the model has room for."""
        return int(getattr(self.model.config, "max_position_embeddings", None) or UNLIMITED_TOKENS)

    def new_tokens(self, made: Any, _padded: Any) -> Any:
        """The tokens that were written, of what `generate` gave."""
        return made

    def cleaned(self, text: str) -> str:
        """The text as it is used: one line, single blanks."""
        return " ".join(text.split())

    @cached_property
    def tokenizer(self) -> Any:
        """The checkpoint's tokenizer."""
        from transformers import AutoTokenizer

        found: Any = AutoTokenizer.from_pretrained(str(self.folder), local_files_only=True, trust_remote_code=False)
        if found.pad_token is None:
            found.pad_token = found.eos_token
        return found

    @cached_property
    def model(self) -> Any:
        """The loaded model in evaluation mode."""
        try:
            with quiet(), loading_info() as every:
                model = self.load().to(self.devices[0]).eval()
            for loaded, told in every:
                check_loaded(self.folder, loaded, loaded, told, pooler=True)
            return model
        except EncoderError:
            raise
        except Exception as error:
            raise EncoderError(f"transformers cannot load {self.folder} to write with: {error}") from error


class Continuer(Writer):
    """A causal language model: the words that it writes after a text (Peng et al. 2023: GPT-2)."""

    kind, padding, kept_free = "continuation", "left", 64

    @property
    def settings(self) -> dict[str, Any]:
        """Greedy, no three tokens twice: GPT-2 would go in circles."""
        return {"max_new_tokens": self.kept_free, "no_repeat_ngram_size": 3}

    def load(self) -> Any:
        """AutoModelForCausalLM."""
        from transformers import AutoModelForCausalLM

        return AutoModelForCausalLM.from_pretrained(str(self.folder), local_files_only=True, trust_remote_code=False)

    def new_tokens(self, made: Any, padded: Any) -> Any:
        """What stands after the prompt."""
        return made[:, padded["input_ids"].shape[1] :]

    def cleaned(self, text: str) -> str:
        """The first paragraph alone."""
        return " ".join(text.lstrip().partition("\n")[0].split())


class Translator(Writer):
    """A translation model (Marian, or another sequence-to-sequence model): the text in the other language."""

    kind = "translation"

    @property
    def settings(self) -> dict[str, Any]:
        """Greedy; as many tokens as a sentence has at most."""
        return {"max_new_tokens": 256}

    def load(self) -> Any:
        """AutoModelForSeq2SeqLM."""
        from transformers import AutoModelForSeq2SeqLM

        return AutoModelForSeq2SeqLM.from_pretrained(str(self.folder), local_files_only=True, trust_remote_code=False)


class BackTranslator:
    """Into another language and back: `there` and `back` are translators."""

    def __init__(self, there: Writer, back: Writer) -> None:
        self.there, self.back = there, back

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """What comes back of each text."""
        return self.back(self.there(texts))


def back_translator(spec: str, **options: Any) -> BackTranslator:
    """The translators that `--back-translate` names: a language (the Marian models to it and back), or two by comma.

    UsageError for anything else.
    """
    there, comma, back = spec.partition(",")
    if not comma and spec.isalpha():
        there, back = PAIRS.format("en", spec), PAIRS.format(spec, "en")
    if not (there and back):
        raise UsageError(f"--back-translate is {spec!r}, but should be a language (de), or two models: ./en-de,./de-en")
    return BackTranslator(Translator(there, **options), Translator(back, **options))


def _config(name: str) -> ModelConfig:
    hub = None if is_folder(typed(name)) else HUB_ID.fullmatch(name)
    return ModelConfig(label=name, name=hub[1] if hub else name, revision=hub[2] if hub else None)


def _plain_hash(path: Path) -> str:
    from encheck.store import file_sha256

    return file_sha256(path)
