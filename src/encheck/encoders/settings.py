"""Read a model's encoding settings from its files, and find the texts that it truncates, without loading it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self

from encheck.encoders.files import read_model_json
from encheck.system.typed_files import Positive
from encheck.types import Json, content_hash

UNLIMITED = 1_000_000  # tokenizers write a number as large as this where they have no limit
TOKENIZER = "tokenizer.json"
STATED = (("sentence_bert_config.json", "max_seq_length"), ("tokenizer_config.json", "model_max_length"))
TextRole = Literal["", "query", "document"]
ROLES: tuple[TextRole, ...] = ("", "query", "document")  # "" is a text without a role
TOKENIZER_PARTS = ("normalizer", "pre_tokenizer", "model", "post_processor", "added_tokens")  # truncation is a limit
TOKENIZER_OPTIONS = ("do_lower_case", "strip_accents", "tokenize_chinese_chars", "add_prefix_space", "truncation_side")


def describe_truncation(folder: Path, texts: Sequence[str], *, max_length: int | None = None) -> str:
    """Return a message that says how many texts the model truncates, and which setting limits their length.

    `max_length` is the value in the model's entry, which overrides the files. Return "" if no text is truncated, if no
    limit is stated, or if there is no tokenizer to count with.
    """
    limits = []
    for file, name in STATED:
        content = read_model_json(folder / file)
        limit = content.get(name) if isinstance(content, dict) else None
        if isinstance(limit, int) and 0 < limit < UNLIMITED:
            limits.append((limit, name))
    if max_length:
        limits = [(max_length, "max_length")]
    if not limits:
        return ""
    limit, name = min(limits, key=lambda pair: pair[0])
    count = sum(tokens > limit for tokens in count_tokens_in_folder(folder, texts))
    return f"{count} of {len(texts)} texts are longer than {limit} tokens: {name} is {limit}" if count else ""


def count_tokens_in_folder(folder: Path, texts: Sequence[str]) -> list[int]:
    """Return the token count of each text without truncation, or [] if the library cannot read a tokenizer there."""
    from tokenizers import Tokenizer

    if not (folder / TOKENIZER).is_file():
        return []
    try:
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    except Exception:  # the library raises nothing narrower, and a missing explanation is not an error
        return []
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return [len(encoding.ids) for encoding in tokenizer.encode_batch(list(texts))]


@dataclass(frozen=True)
class EncodingSettings:
    """The settings other than weights that determine a vector. A setting that the model does not state is None or
    empty.

    `maximum_length` is in tokens and includes those that the tokenizer adds. `prompts` maps each of `ROLES` to its
    prompt, after the name of its route through a Router. `tokenizer` maps the name of each part of the tokenizer to its
    hash or value.
    """

    maximum_length: Positive | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    pooling: str | None = None
    normalised: bool | None = None
    tokenizer: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, model: object) -> Self:
        """Return the settings of a model under test."""
        prompt_for = getattr(model, "prompt_for", None)
        prompts: dict[str, str] = {role: prompt_for(role or None) for role in ROLES} if prompt_for else {}
        if getattr(model, "has_routes", False):
            prompts = {role: f"[{role}] {prompt}" if role else prompt for role, prompt in prompts.items()}
        about: Mapping[str, Json] = getattr(model, "about", dict)()
        pooling = about.get("pooling")
        file: Path | None = getattr(model, "tokenizer_file", None)
        tokenizer: dict[str, str] = {}
        if file:
            whole, beside = read_model_json(file), read_model_json(file.with_name("tokenizer_config.json"))
            for name in TOKENIZER_PARTS:
                if isinstance(whole, dict) and name in whole:
                    tokenizer[name] = content_hash(json.dumps(whole[name], sort_keys=True))
            for name in TOKENIZER_OPTIONS:
                if isinstance(beside, dict) and beside.get(name) is not None:
                    tokenizer[name] = json.dumps(beside[name])
        return cls(
            getattr(model, "maximum_length", None),
            prompts,
            pooling if isinstance(pooling, str) else None,
            getattr(model, "is_normalised", None),
            tokenizer,
        )

    def has_prompt(self, role: str) -> bool:
        """Return whether the prompt of this role differs from the prompt of texts without a role."""
        return self.prompts.get(role, "") != self.prompts.get("", "")


def describe_setting_differences(old: EncodingSettings, new: EncodingSettings) -> Iterator[str]:
    """Yield a phrase for each setting that both models state with different values. Tokenizers come last."""
    if None not in (old.maximum_length, new.maximum_length) and old.maximum_length != new.maximum_length:
        yield f"the maximum length was {old.maximum_length} tokens and is {new.maximum_length}"
    for role, name in zip(ROLES, ("texts without a role", "queries", "documents"), strict=True):
        before, now = old.prompts.get(role), new.prompts.get(role)
        if before is not None and now is not None and before != now:
            yield f"{name} get {now!r}, before {before!r}" if before else f"{name} get {now!r}"
        elif before is None and now:
            yield f"{name} get {now!r}; their previous prompt is not known"
    if old.pooling and new.pooling and old.pooling != new.pooling:
        yield f"the pooling was {old.pooling} and is {new.pooling}"
    if None not in (old.normalised, new.normalised) and old.normalised != new.normalised:
        yield f"vectors are {'' if new.normalised else 'no longer '}normalised"
    if parts := differing_tokenizer_parts(old, new):
        yield f"the tokenizers differ ({', '.join(parts)})"


def differing_tokenizer_parts(old: EncodingSettings, new: EncodingSettings) -> list[str]:
    """Return the parts of the tokenizer that both models name and in which they differ."""
    return sorted(name for name, value in old.tokenizer.items() if new.tokenizer.get(name, value) != value)


def count_model_tokens(model: object, texts: Sequence[str], *, role: str = "") -> list[int]:
    """Return the token count of each text in this role, with the prompt and without truncation.

    Return [] if the model has no tokenizer.json.
    """
    file: Path | None = getattr(model, "tokenizer_file", None)
    if file is None:
        return []
    prompt_for = getattr(model, "prompt_for", None)
    prompt = prompt_for(role or None) if prompt_for else ""
    return count_tokens_in_folder(file.parent, [f"{prompt}{text}" for text in texts])
