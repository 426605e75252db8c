"""Models that generate a text from a text.

A causal language model continues a sentence. A pair of translation models translates it to another language and back.

Both decode greedily, so a model generates the same text on every machine with the same rounding. The store keeps the
texts under the fingerprint of the model's files. A batch has sentences of one length. A sentence that is longer than
the model's positions gets no text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from encheck.encoders.base import replace_half_surrogates
from encheck.encoders.batching import batch_equal_lengths, pick_devices
from encheck.encoders.checkpoints.pretrained import (
    check_folder,
    check_loaded_weights,
    checkpoint_files,
    quiet_transformers,
    record_loaded_models,
)
from encheck.encoders.load import HUB_ID, find_model_folder
from encheck.encoders.model_config import ModelConfig
from encheck.errors import EncoderError, UsageError
from encheck.store import Store, file_sha256, text_key
from encheck.system.files import expand_home, is_folder
from encheck.system.lock import Locks, no_locks
from encheck.types import content_hash

TOKENS_PER_BATCH = 1_024  # before anything is generated
UNLIMITED_TOKENS = 1_000_000
PAIRS = "Helsinki-NLP/opus-mt-{}-{}"


class TextGenerator:
    """A transformers model that turns texts into texts.

    `name` is a folder or a hub id. `auto_class` is the transformers class that loads the model. `settings` are
    arguments of its `generate`. `reserved` is the number of positions reserved for generated tokens.
    """

    kind: ClassVar[str]
    auto_class: ClassVar[str]
    settings: ClassVar[Mapping[str, Any]]
    padding: ClassVar[str] = "right"
    reserved: ClassVar[int] = 0

    def __init__(self, name: str, *, device: str = "auto", store: Store | None = None, locks: Locks = no_locks) -> None:
        hub = None if is_folder(expand_home(name)) else HUB_ID.fullmatch(name)
        entry = ModelConfig(label=name, name=hub[1] if hub else name, revision=hub[2] if hub else None)
        self.folder = find_model_folder(entry)
        check_folder(self.folder, marks=("config.json",))
        self.device, self.store, self._locks, self.name = device, store, locks, name
        self.written = 0

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the model's files and decoding settings."""
        file_hash = self.store.cached_file_hash if self.store else file_sha256
        content = [f"{name}={file_hash(path)}" for name, path in sorted(checkpoint_files(self.folder).items())]
        return f"{self.kind}:{content_hash(repr(sorted(self.settings.items())), *content)}"

    @property
    def devices(self) -> list[str]:
        """The device that the model computes on."""
        return pick_devices(self.device)[:1]

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """Return the generated text for each text. Texts that are already in the store are not generated again."""
        distinct = list(dict.fromkeys(texts))
        written = self._read_stored(distinct)
        if missing := [text for text in distinct if text not in written]:
            with self.hold_locks():
                written |= self._read_stored(missing)  # another run may have generated them meanwhile
                written |= self._generate([text for text in missing if text not in written])
        return [written[text] for text in texts]

    @contextmanager
    def hold_locks(self) -> Iterator[None]:
        """Hold the necessary locks while the model computes."""
        with ExitStack() as locks:
            for lock in self._locks(self):
                locks.enter_context(lock)
            yield

    @property
    def positions(self) -> int:
        """The number of the model's positions, in tokens."""
        return int(getattr(self.model.config, "max_position_embeddings", None) or UNLIMITED_TOKENS)

    def _read_stored(self, texts: Sequence[str]) -> dict[str, str]:
        if self.store is None:
            return {}
        keys = {text_key(text): text for text in texts}
        blobs = self.store.read_bytes_by_key("text", self.fingerprint, list(keys))
        return {keys[key]: blob.decode("utf-8") for key, blob in blobs.items()}

    def _generate(self, texts: Sequence[str]) -> dict[str, str]:
        """Return text -> generated text.

        The generated text is "" if the text has no tokens, or more than the model has positions.
        """
        import torch

        every: dict[str, str] = {}
        rows = [self.tokenizer(text, verbose=False)["input_ids"] for text in replace_half_surrogates(texts)]
        for positions in batch_equal_lengths(np.array([len(row) for row in rows], np.intp), TOKENS_PER_BATCH):
            written = {texts[i]: "" for i in positions}
            if fitting := [i for i in positions if 0 < len(rows[i]) <= self.positions - self.reserved]:
                batch = {"input_ids": [rows[i] for i in fitting]}
                padded = self.tokenizer.pad(batch, return_tensors="pt", padding_side=self.padding)
                with torch.inference_mode():
                    tokens = self.model.generate(
                        **padded.to(self.model.device), do_sample=False, num_beams=1, **self.settings
                    )
                decoded = self.tokenizer.batch_decode(self.new_tokens(tokens, padded), skip_special_tokens=True)
                written |= {texts[i]: self.clean_text(text) for i, text in zip(fitting, decoded, strict=True)}
            if self.store is not None:
                blobs = {text_key(text): made.encode("utf-8") for text, made in written.items()}
                self.store.store_bytes("text", self.fingerprint, blobs, name=self.name)
            every |= written
        self.written += len(every)
        return every

    def new_tokens(self, tokens: Any, _padded: Any) -> Any:
        """Return the generated tokens in the output of `generate`."""
        return tokens

    def clean_text(self, text: str) -> str:
        """Return the text as one line with single blanks."""
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
            with quiet_transformers(), record_loaded_models() as every:
                model = getattr(transformers, self.auto_class).from_pretrained(
                    str(self.folder), local_files_only=True, trust_remote_code=False
                )
                model = model.to(self.devices[0]).eval()
            for loaded, info in every:
                check_loaded_weights(self.folder, loaded, loaded, info, pooler=True)
            return model
        except EncoderError:
            raise
        except Exception as error:
            raise EncoderError(f"transformers cannot load {self.folder} as a text generator: {error}") from error


class ContinuationGenerator(TextGenerator):
    """A causal language model that continues a text (Peng et al. 2023 use GPT-2).

    It decodes greedily and never repeats three tokens, because GPT-2 would otherwise loop. Only the first paragraph is
    used.
    """

    kind, auto_class, padding, reserved = "continuation", "AutoModelForCausalLM", "left", 64
    settings: ClassVar[Mapping[str, Any]] = {"max_new_tokens": reserved, "no_repeat_ngram_size": 3}

    def new_tokens(self, tokens: Any, padded: Any) -> Any:
        """Return the tokens after the prompt."""
        return tokens[:, padded["input_ids"].shape[1] :]

    def clean_text(self, text: str) -> str:
        """Return only the first paragraph."""
        return " ".join(text.lstrip().partition("\n")[0].split())


class Translator(TextGenerator):
    """A translation model (Marian or another sequence-to-sequence model) for one direction.

    It decodes greedily and generates at most as many tokens as a sentence can have.
    """

    kind, auto_class = "translation", "AutoModelForSeq2SeqLM"
    settings: ClassVar[Mapping[str, Any]] = {"max_new_tokens": 256}


class BackTranslator:
    """Translates into another language with `there`, and back with `back`."""

    def __init__(self, there: TextGenerator, back: TextGenerator) -> None:
        self.there, self.back = there, back

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """Return the back-translation of each text."""
        return self.back(self.there(texts))


def make_back_translator(spec: str, **options: Any) -> BackTranslator:
    """Return the translators that `--back-translate` names.

    The value is a language (for the Marian models to it and back), or two models separated by a comma. Raise UsageError
    for any other value.
    """
    there, comma, back = spec.partition(",")
    if not comma and spec.isalpha():
        there, back = PAIRS.format("en", spec), PAIRS.format(spec, "en")
    if not (there and back):
        raise UsageError(f"--back-translate is {spec!r}, but should be a language (de), or two models: ./en-de,./de-en")
    return BackTranslator(Translator(there, **options), Translator(back, **options))
