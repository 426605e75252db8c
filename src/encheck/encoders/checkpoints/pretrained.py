"""Checkpoint folders of transformers and sentence-transformers, checked before anything is loaded."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from encheck.encoders.checkpoints.folders import below, check_vocabulary, model_files
from encheck.encoders.checkpoints.trust import confine, refuse_code
from encheck.encoders.files import COPY, OTHER_VOCABULARY, check_weights, read_json
from encheck.errors import EncoderError, ModelError

IGNORED = {"README.md", "LICENSE", "data_config.json"}
OTHERS = {"onnx", "openvino", ".git", ".cache"}  # the same model for another engine, and what downloads leave
WEIGHTS = ("*.safetensors", "pytorch_model*.bin", "adapter_model.bin")
CONTENT = {".json", ".safetensors", ".bin", ".txt", ".model", ".bpe", ".tiktoken", ".jinja"}
PARSED = ("modules.json", "*config.json", "*config_*.json", "tokenizer*.json", "*tokens*.json")  # names they all use
TOKENIZERS = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "*.model",
    "sentencepiece.bpe.model",
    "vocab.bpe",
    "*.tiktoken",
)
FROM_TWO = {"roberta", "xlm-roberta", "camembert", "mpnet", "xlm-roberta-xl", "longformer"}  # positions begin at 2
LEARNED = FROM_TWO | {"bert", "distilbert", "albert", "electra", "ernie", "nystromformer", "deberta", "gpt2", "opt"}


def files_of(folder: Path, *, code: bool = False) -> Mapping[str, Path]:
    """The files of a checkpoint that make its vectors, by their path inside it; where its code is run, which may read
    any file, all of them with it.
    """
    every = below(folder) if code else model_files(folder)
    kinds, others = (CONTENT | {".py"}, OTHERS) if code else (CONTENT, set())
    found = {p.relative_to(folder): p for p in every if p.suffix in kinds and p.name not in IGNORED and p.is_file()}
    return {n.as_posix(): p for n, p in found.items() if n.parts[0] not in others}


def check_folder(
    folder: Path,
    *,
    trusted: bool = False,
    marks: tuple[str, ...] = ("modules.json", "config.json"),
    tokenizer: bool = True,
) -> None:
    """ModelError unless the folder looks like a whole checkpoint, and brings no code that was not allowed to run; one
    that lends nothing but its weights needs no `tokenizer`.
    """
    try:
        names = {p.name for p in folder.iterdir()}
    except OSError as error:
        raise ModelError(f"cannot read the model: {error}") from error
    if not names & set(marks):
        held = ", ".join(sorted(names)[:8]) or "nothing"
        raise ModelError(
            f"{folder} is no checkpoint: it has neither {' nor '.join(marks)}. It holds: {held}. Remedy: name the "
            "folder that holds them, or say what it is: --model-arg adapter=NAME"
        )
    for path in model_files(folder):
        if any(map(path.match, PARSED)):
            read_json(path)
    confine(folder)
    if not trusted:
        refuse_code(folder)
    check_all_weights(folder)
    if tokenizer:
        _check_tokenizer(folder)
    check_vocabulary(folder)


def check_all_weights(folder: Path) -> None:
    """ModelError where the folder has no weights, or some that are broken; safetensors go before pickles."""
    weights = [p for p in model_files(folder) if any(map(p.match, WEIGHTS))]
    if not weights:
        raise ModelError(
            f"{folder} has no weights: a checkpoint holds model.safetensors (or pytorch_model.bin). {COPY}, whole"
        )
    safe = {p.parent for p in weights if p.suffix == ".safetensors"}
    for path in weights:
        if path.suffix == ".safetensors" or path.parent not in safe:
            check_weights(path)


def _check_tokenizer(folder: Path) -> None:
    """ModelError without a vocabulary: transformers would make up one in which every word is unknown."""
    if not any(path.match(name) for path in model_files(folder) for name in TOKENIZERS):
        raise ModelError(
            f"{folder} has no tokenizer: a checkpoint holds tokenizer.json, or the vocabulary of an older one. "
            "Remedy: copy the tokenizer that the model was trained with"
        )


class Missing(logging.Handler):
    """While it is entered, takes from transformers' report which weights a checkpoint lacks."""

    LINE = re.compile(r"^(\S.*?) +\| MISSING", re.MULTILINE)

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.names: list[str] = []

    def __enter__(self) -> Missing:
        logging.getLogger("transformers").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("transformers").removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Take the names of one report."""
        self.names += self.LINE.findall(record.getMessage())

    def refuse(self, folder: Path) -> None:
        """EncoderError where a weight is missing; a pooler is not used by sentence-transformers' pooling."""
        missing = sorted(name for name in self.names if "pooler." not in name)
        if missing:
            raise EncoderError(
                f"{folder} lacks weights of the model, first {missing[0]}: they would be drawn at random. "
                "Remedy: a whole checkpoint, or, if it brings code of its own, trust_remote_code"
            )


def check_tokens(folder: Path, tokenizer: Any, rows: int) -> None:
    """EncoderError where text can become a token that the loaded model has no row of embeddings for."""
    special = {i for i, token in getattr(tokenizer, "added_tokens_decoder", {}).items() if token.special}
    largest = max(set(tokenizer.get_vocab().values()) - special, default=-1)
    if largest >= rows:
        raise EncoderError(
            f"the tokenizer of {folder} has token {largest}, but the model {rows} rows of embeddings: "
            f"{OTHER_VOCABULARY}"
        )


def cut_off(encoded: Any, limit: int) -> int:
    """How many of these texts, as a tokenizer gave them, lost their end; a slow tokenizer tells who is at the limit."""
    made = getattr(encoded, "encodings", None)
    return sum(bool(e.overflowing) for e in made) if made else sum(len(i) >= limit for i in encoded["input_ids"])


def positions_of(folder: Path) -> int | None:
    """How many tokens a model with learned positions has room for; None where it has others."""
    config = read_json(folder / "config.json")
    if not isinstance(config, dict) or config.get("model_type") not in LEARNED:
        return None
    if not isinstance(positions := config.get("max_position_embeddings"), int):
        return None
    return positions - 2 if config["model_type"] in FROM_TWO else positions


def check_length(folder: Path, max_length: int | None) -> None:
    """ModelError where more tokens are asked for than the model has positions."""
    room = positions_of(folder)
    if max_length and room and max_length > room:
        raise ModelError(
            f"max_length is {max_length}, but {folder}/config.json has positions for {room} tokens. "
            f"Remedy: max_length of {room} or less"
        )
