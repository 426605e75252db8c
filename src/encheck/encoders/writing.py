"""Models that write a text for a text.

A causal language model goes on with a sentence; a pair of translation models goes there and back.

Both write greedily, so that the same model gives the same text on every machine that rounds alike; what they wrote is
kept in the store, by the fingerprint of their files. A batch has sentences of one length; nothing is written for one
that the model has no room for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from encheck.encoders.base import replace_half_surrogates
from encheck.encoders.batching import batches_of_one_length, pick_devices
from encheck.encoders.checkpoints.pretrained import (
    check_folder,
    check_loaded,
    files_of,
    quiet_transformers,
    record_loading,
)
from encheck.encoders.load import HUB_ID, folder_of
from encheck.encoders.model_config import ModelConfig
from encheck.errors import EncoderError, UsageError
from encheck.store import Store, file_sha256, text_key
from encheck.system.files import expand_home, is_folder
from encheck.system.lock import Locks, no_locks
from encheck.types import content_hash

TOKENS_PER_BATCH = 1_024  # before anything is written
UNLIMITED_TOKENS = 1_000_000
PAIRS = "Helsinki-NLP/opus-mt-{}-{}"


class Writer:
    """A model of transformers that turns texts into texts; `name` is a folder or a hub id.

    `auto_class` is the class of transformers that loads it, `settings` are arguments of its `generate`, and `reserved`
    positions are left for what is written after a text.
    """

    kind: ClassVar[str]
    auto_class: ClassVar[str]
    settings: ClassVar[Mapping[str, Any]]
    padding: ClassVar[str] = "right"
    reserved: ClassVar[int] = 0

    def __init__(self, name: str, *, device: str = "auto", store: Store | None = None, locks: Locks = no_locks) -> None:
        hub = None if is_folder(expand_home(name)) else HUB_ID.fullmatch(name)
        entry = ModelConfig(label=name, name=hub[1] if hub else name, revision=hub[2] if hub else None)
        self.folder = folder_of(entry)
        check_folder(self.folder, marks=("config.json",))
        self.device, self.store, self._locks, self.name = device, store, locks, name
        self.written = 0

    @cached_property
    def fingerprint(self) -> str:
        """From the content of its files and how it writes."""
        file_hash = self.store.file_hash if self.store else file_sha256
        content = [f"{name}={file_hash(path)}" for name, path in sorted(files_of(self.folder).items())]
        return f"{self.kind}:{content_hash(repr(sorted(self.settings.items())), *content)}"

    @property
    def devices(self) -> list[str]:
        """The one that it computes on."""
        return pick_devices(self.device)[:1]

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """What it writes for each text, from the store where it is there."""
        distinct = list(dict.fromkeys(texts))
        written = self._stored(distinct)
        if missing := [text for text in distinct if text not in written]:
            with ExitStack() as locks:
                for lock in self._locks(self):
                    locks.enter_context(lock)
                written |= self._stored(missing)  # another run may have written them meanwhile
                written |= self._write([text for text in missing if text not in written])
        return [written[text] for text in texts]

    def _stored(self, texts: Sequence[str]) -> dict[str, str]:
        if self.store is None:
            return {}
        keys = {text_key(text): text for text in texts}
        blobs = self.store.blobs("text", self.fingerprint, list(keys))
        return {keys[key]: blob.decode("utf-8") for key, blob in blobs.items()}

    def _write(self, texts: Sequence[str]) -> dict[str, str]:
        """What is written for each text; nothing if it has no token, or more than there is room for."""
        import torch

        every: dict[str, str] = {}
        rows = [self.tokenizer(text, verbose=False)["input_ids"] for text in replace_half_surrogates(texts)]
        for positions in batches_of_one_length(np.array([len(row) for row in rows], np.intp), TOKENS_PER_BATCH):
            written = {texts[i]: "" for i in positions}
            room = int(getattr(self.model.config, "max_position_embeddings", None) or UNLIMITED_TOKENS) - self.reserved
            if fitting := [i for i in positions if 0 < len(rows[i]) <= room]:
                batch = {"input_ids": [rows[i] for i in fitting]}
                padded = self.tokenizer.pad(batch, return_tensors="pt", padding_side=self.padding)
                with torch.inference_mode():
                    tokens = self.model.generate(
                        **padded.to(self.model.device), do_sample=False, num_beams=1, **self.settings
                    )
                decoded = self.tokenizer.batch_decode(self.new_tokens(tokens, padded), skip_special_tokens=True)
                written |= {texts[i]: self.cleaned(text) for i, text in zip(fitting, decoded, strict=True)}
            if self.store is not None:
                blobs = {text_key(text): made.encode("utf-8") for text, made in written.items()}
                self.store.put_blobs("text", self.fingerprint, blobs, name=self.name)
            every |= written
        self.written += len(every)
        return every

    def new_tokens(self, tokens: Any, _padded: Any) -> Any:
        """The tokens that were written, of what `generate` gave."""
        return tokens

    def cleaned(self, text: str) -> str:
        """The text as it is used: one line, single blanks."""
        return " ".join(text.split())

    @cached_property
    def tokenizer(self) -> Any:
        """The checkpoint's tokenizer."""
        from transformers import AutoTokenizer

        tokenizer: Any = AutoTokenizer.from_pretrained(str(self.folder), local_files_only=True, trust_remote_code=False)
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        return tokenizer

    @cached_property
    def model(self) -> Any:
        """The loaded model in evaluation mode."""
        import transformers

        try:
            with quiet_transformers(), record_loading() as every:
                model = getattr(transformers, self.auto_class).from_pretrained(
                    str(self.folder), local_files_only=True, trust_remote_code=False
                )
                model = model.to(self.devices[0]).eval()
            for loaded, info in every:
                check_loaded(self.folder, loaded, loaded, info, pooler=True)
            return model
        except EncoderError:
            raise
        except Exception as error:
            raise EncoderError(f"transformers cannot load {self.folder} to write with: {error}") from error


class Continuer(Writer):
    """A causal language model: the words that it writes after a text (Peng et al. 2023: GPT-2).

    Greedy, no three tokens twice: GPT-2 would go in circles. The first paragraph alone is used.
    """

    kind, auto_class, padding, reserved = "continuation", "AutoModelForCausalLM", "left", 64
    settings: ClassVar[Mapping[str, Any]] = {"max_new_tokens": reserved, "no_repeat_ngram_size": 3}

    def new_tokens(self, tokens: Any, padded: Any) -> Any:
        """What stands after the prompt."""
        return tokens[:, padded["input_ids"].shape[1] :]

    def cleaned(self, text: str) -> str:
        """The first paragraph alone."""
        return " ".join(text.lstrip().partition("\n")[0].split())


class Translator(Writer):
    """A translation model (Marian, or another sequence-to-sequence model): the text in the other language.

    Greedy; as many tokens as a sentence has at most.
    """

    kind, auto_class = "translation", "AutoModelForSeq2SeqLM"
    settings: ClassVar[Mapping[str, Any]] = {"max_new_tokens": 256}


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
