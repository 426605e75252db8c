"""Count the texts that a model truncates, from its tokenizer and settings alone; no model is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from encheck.encoders.files import read_json

UNLIMITED = 1_000_000  # tokenizers write a number as large as this where they have no limit
TOKENIZER = "tokenizer.json"
STATED = (("sentence_bert_config.json", "max_seq_length"), ("tokenizer_config.json", "model_max_length"))


def longer(folder: Path, texts: Sequence[str], *, asked: int | None = None) -> str:
    """How many of the texts are longer than the model reads, and which setting says so.

    `asked` is the `max_length` of the model's entry, which goes before what the files say. Empty if no text is
    longer, where nothing states a limit, and where there is no tokenizer to count by.
    """
    limits = list(_limits(folder, asked))
    if not limits or not (folder / TOKENIZER).is_file():
        return ""
    name, limit = limits[0] if asked else min(limits, key=lambda one: one[1])
    count = sum(tokens > limit for tokens in _lengths(folder / TOKENIZER, texts))
    return f"{count} of {len(texts)} texts are longer than {limit} tokens: {name} is {limit}" if count else ""


def _limits(folder: Path, asked: int | None) -> Iterator[tuple[str, int]]:
    if asked:
        yield "max_length", asked
    for file, name in STATED:
        found = read_json(folder / file)
        limit = found.get(name) if isinstance(found, dict) else None
        if isinstance(limit, int) and 0 < limit < UNLIMITED:
            yield name, limit


def token_counts(folder: Path, texts: Sequence[str]) -> list[int]:
    """Tokens of each text, whole; none where the folder has no tokenizer to count by."""
    file = folder / TOKENIZER
    return _lengths(file, texts) if file.is_file() else []


def _lengths(file: Path, texts: Sequence[str]) -> list[int]:
    """Tokens of each text, whole; none where the file is of no kind that the library reads."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception:  # the library raises nothing narrower, and a missing cause is no error
        return []
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return [len(one.ids) for one in tokenizer.encode_batch(list(texts))]
