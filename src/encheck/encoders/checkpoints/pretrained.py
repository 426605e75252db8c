"""Check checkpoint folders of transformers and sentence-transformers before anything is loaded."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from encheck.encoders.checkpoints.folders import check_vocabulary, list_files_recursively, model_files
from encheck.encoders.checkpoints.trust import refuse_code, refuse_outside_paths
from encheck.encoders.files import COPY, OTHER_VOCABULARY, WHOLE, check_weights_file, read_json_number, read_model_json
from encheck.errors import EncoderError, ModelError

LIBRARIES = ("torch", "transformers", "tokenizers", "sentence-transformers", "peft")  # that compute a checkpoint
IGNORED = {"README.md", "LICENSE", "data_config.json"}
OTHERS = {"onnx", "openvino", ".git", ".cache"}  # the same model for a different engine, and remains of downloads
SUFFIXES = (".safetensors", ".bin", ".pt")
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
DEPTHS = ("layers", "n_layer")  # keys of config.json end so that say how many layers are built
MAX_LAYERS = 1_000  # each is built before it is known whether its weights exist
MAX_LABELS = 100_000  # transformers makes a name for each when it reads the configuration
MAX_MODULES = 200_000  # parts of a model; those of mixtures of experts have some ten thousand
ALLOWED_EXTRA_NUMBERS = 10_000_000  # numbers in parts that a file may lack, such as a pooler
POSITIONS_FROM_TWO = {
    "roberta",
    "xlm-roberta",
    "camembert",
    "mpnet",
    "xlm-roberta-xl",
    "longformer",
}  # positions begin at 2
NUMBERS = re.compile(r"\.\d+")
log = logging.getLogger("encheck")
LEARNED_POSITIONS = POSITIONS_FROM_TWO | {
    "bert",
    "distilbert",
    "albert",
    "electra",
    "ernie",
    "nystromformer",
    "deberta",
    "gpt2",
    "opt",
}


def checkpoint_files(folder: Path, *, code: bool = False) -> Mapping[str, Path]:
    """Return path inside the folder -> file, for the files of a checkpoint that determine its vectors.

    If the checkpoint's own code is allowed to run, return all files, because that code may read any of them.
    """
    every = list_files_recursively(folder) if code else model_files(folder)
    kinds, others = (CONTENT | {".py"}, OTHERS) if code else (CONTENT, set())
    files = {p.relative_to(folder): p for p in every if p.suffix in kinds and p.name not in IGNORED and p.is_file()}
    return {n.as_posix(): p for n, p in files.items() if n.parts[0] not in others}


def check_folder(
    folder: Path,
    *,
    trusted: bool = False,
    marks: tuple[str, ...] = ("modules.json", "config.json"),
    tokenizer: bool = True,
) -> None:
    """Raise ModelError unless the folder looks like a complete checkpoint without forbidden code.

    A checkpoint that is used only for its weights needs no `tokenizer`.
    """
    try:
        names = {p.name for p in folder.iterdir()}
    except OSError as error:
        raise ModelError(f"cannot read the model: {error}") from error
    if not names & set(marks):
        listing = ", ".join(sorted(names)[:8]) or "nothing"
        raise ModelError(
            f"{folder} is not a checkpoint: it has neither {' nor '.join(marks)}. It holds: {listing}. Remedy: name "
            "the folder that holds them, or say what it is: --model-arg adapter=NAME"
        )
    files = model_files(folder)
    for path in (p for p in files if any(map(p.match, PARSED))):  # JSON, whose numbers are those that a model can have
        values = read_model_json(path)
        if path.name == "tokenizer_config.json":
            read_json_number(path, "model_max_length")
        if path.name == "config.json" and isinstance(values, dict):
            for key, value in _nested_items(values):
                most = MAX_LABELS if key == "num_labels" else MAX_LAYERS
                if key.endswith((*DEPTHS, "num_labels")) and isinstance(value, int) and value > most:
                    raise ModelError(f"{path}: {key} is more than {most:,}, which is the limit. {COPY}")
    refuse_outside_paths(folder)
    if not trusted:
        refuse_code(folder)

    weights = [p for p in files if any(map(p.match, WEIGHTS))]
    if not weights:
        raise ModelError(
            f"{folder} has no weights: a checkpoint holds model.safetensors (or pytorch_model.bin). {COPY}, whole"
        )
    safe = {p.parent for p in weights if p.suffix == ".safetensors"}  # preferred over pickles
    for path in weights:
        if path.suffix == ".safetensors" or path.parent not in safe:
            check_weights_file(path)
    # without a vocabulary transformers would make up one in which every word is unknown
    if tokenizer and not any(path.match(name) for path in files for name in TOKENIZERS):
        raise ModelError(
            f"{folder} has no tokenizer: a checkpoint holds tokenizer.json, or the vocabulary of an older one. "
            "Remedy: copy the tokenizer that the model was trained with"
        )
    check_vocabulary(folder)


def _nested_items(mapping: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in mapping.items():
        yield key, value
        if isinstance(value, dict):
            yield from _nested_items(value)


def check_loaded_weights(
    folder: Path, part: Any, model: Any, info: Mapping[str, Any], *, pooler: bool, remedy: str = WHOLE
) -> None:
    """Raise EncoderError if the folder lacks a weight that affects the vectors and would be initialised at random.

    `part` is the part of `model` that computes vectors, and `pooler` says whether that includes its pooler. `info` is
    the loading info of transformers. Weights of layers beyond the configured number are ignored, with a warning.
    """
    named, computing = dict(model.named_parameters()), {id(p) for p in part.parameters()}
    missing = [n for n in info["missing_keys"] if n not in named or id(named[n]) in computing]
    if missing := sorted(n for n in missing if pooler or "pooler" not in n.split(".")):
        raise EncoderError(
            f"{folder} lacks {len(missing)} of the model's weights, first {missing[0]}: they would be initialised at "
            f"random. {remedy}"
        )
    shapes = {NUMBERS.sub(".#", name) for name in named}
    if extra := sorted(n for n in info["unexpected_keys"] if NUMBERS.sub(".#", n) in shapes):
        log.warning(
            "%s has %d weights of layers that its config.json does not count, first %s: they are left out",
            folder, len(extra), extra[0],
        )  # fmt: skip


@contextmanager
def record_loaded_models() -> Iterator[list[tuple[Any, Mapping[str, Any]]]]:
    """Record the models that other code loads with transformers inside the block, each with its loading info.

    The log of transformers is no substitute: it has colours on a terminal and can be silenced.
    """
    from transformers import PreTrainedModel

    loaded: list[tuple[Any, Mapping[str, Any]]] = []
    kind: Any = PreTrainedModel
    original = kind.__dict__["from_pretrained"]

    def load_and_record(cls: Any, /, *args: Any, output_loading_info: bool = False, **named: Any) -> Any:
        model, info = original.__func__(cls, *args, output_loading_info=True, **named)
        loaded.append((model, info))
        return (model, info) if output_loading_info else model

    kind.from_pretrained = classmethod(load_and_record)
    try:
        yield loaded
    finally:
        kind.from_pretrained = original


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Suppress transformers' progress bar and its table of missing or unused weights: see `check_loaded_weights`."""
    from transformers.utils import logging

    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


@contextmanager
def limit_model_size(*folders: Path) -> Iterator[None]:
    """Raise EncoderError if a model built in the block has far more numbers than its weight files have bytes.

    A model is built in the sizes that its configuration states, which takes memory before any weights are read. Each
    number is counted when torch registers it: once when it is built, once when it is read.
    """
    from torch.nn.modules import module as torch_modules

    weights = [path for folder in folders for path in list_files_recursively(folder) if path.suffix in SUFFIXES]
    room = ALLOWED_EXTRA_NUMBERS + 4 * sum(path.stat().st_size for path in weights)
    numbers = parts = 0

    def count_parameters(owner: Any, name: str, part: Any) -> None:
        nonlocal numbers, parts
        numbers, parts = numbers + (part.numel() if hasattr(part, "numel") else 0), parts + 1
        if numbers > room or parts > MAX_MODULES:
            what = f"{name} of {type(owner).__name__}"
            raise EncoderError(
                f"{folders[0]}: its configuration describes a model of more than {min(numbers, 10**15):,} numbers or "
                f"{MAX_MODULES:,} parts (at {what}), which its weights do not have. {WHOLE}"
            )

    hooks = (
        torch_modules.register_module_parameter_registration_hook(count_parameters),
        torch_modules.register_module_buffer_registration_hook(count_parameters),
        torch_modules.register_module_module_registration_hook(count_parameters),
    )
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def check_embedding_rows(folder: Path, tokenizer: Any, rows: int) -> None:
    """Raise EncoderError if text can produce a token without a row in the loaded model's embeddings."""
    special = {i for i, token in getattr(tokenizer, "added_tokens_decoder", {}).items() if token.special}
    largest = max(set(tokenizer.get_vocab().values()) - special, default=-1)
    if largest >= rows:
        raise EncoderError(
            f"the tokenizer of {folder} has token {largest}, but the model {rows} rows of embeddings: "
            f"{OTHER_VOCABULARY}"
        )


def check_padding_token(folder: Path, tokenizer: Any) -> None:
    """Raise EncoderError if there is no padding token. Texts of different lengths can only be encoded together with
    one.
    """
    if tokenizer.pad_token is None:
        raise EncoderError(f"{folder}/tokenizer_config.json names no padding token: it should have pad_token. {COPY}")


def count_truncated(encoded: Any, limit: int) -> int:
    """Return how many of these tokenized texts were truncated.

    Slow tokenizers do not report truncation, so their texts count if they reach the limit.
    """
    made = getattr(encoded, "encodings", None)
    return sum(bool(e.overflowing) for e in made) if made else sum(len(i) >= limit for i in encoded["input_ids"])


def count_positions(folder: Path) -> int | None:
    """Return the number of learned positions of a model, in tokens, or None if it has none."""
    config = read_model_json(folder / "config.json")
    kind = config.get("model_type") if isinstance(config, dict) else None
    if not isinstance(kind, str) or kind not in LEARNED_POSITIONS:
        return None
    if not isinstance(positions := config.get("max_position_embeddings"), int):
        return None
    return positions - 2 if kind in POSITIONS_FROM_TWO else positions


def check_max_length(folder: Path, max_length: int | None) -> None:
    """Raise ModelError if `max_length` exceeds the model's positions."""
    room = count_positions(folder)
    if max_length and room and max_length > room:
        raise ModelError(
            f"max_length is {max_length}, but {folder}/config.json has positions for {room} tokens. "
            f"Remedy: max_length of {room} or less"
        )
