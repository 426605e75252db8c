"""Check model files (JSON, weights, calls in a pickle) before any code in them can run, and hash the weights."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import pickletools
import string
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from encheck.errors import EncoderError, ModelError
from encheck.store import file_sha256
from encheck.system.documents import parse_json, read_text
from encheck.system.files import is_file, is_folder
from encheck.types import content_hash

COPY = "Remedy: copy it again"
CUT_OFF = f"is the copy truncated, or a git-lfs pointer? {COPY}"
WHOLE = "Remedy: use a complete checkpoint, whose files belong together"
OTHER_VOCABULARY = "the vocabulary does not match. Remedy: copy the tokenizer that the model was trained with"
MAX_PICKLED_VALUES = 10_000_000  # in the pickle of a torch file
MAX_GROWTH = 100  # characters that a normalizer may make from one
MAX_BYTES_PER_CHARACTER = 100  # of a replacement in a table of characters; Unicode's longest has 33
MAX_ADDED_TOKENS = 100  # tokens added around each text
MAX_TOKENS_PER_CHARACTER = 8  # a character of Unicode has at most 4 bytes
TRIAL = [
    "The harbour lay quiet under the first snow.",
    *(" ".join(string.printable[i : i + 10]) for i in range(0, 100, 10)),
]
FAULTS = (ValueError, OSError, EOFError, RuntimeError, MemoryError, zlib.error, zipfile.BadZipFile)  # zip's are many
HARMLESS = ("torch._utils._rebuild_", "torch.storage.", "torch.FloatStorage", "torch.HalfStorage", "torch.LongStorage")
HARMLESS_NAMES = {
    *("collections.OrderedDict", "torch.BFloat16Storage", "torch.IntStorage", "torch.DoubleStorage"),
    *("torch.Size", "torch.BoolStorage", "torch.ByteStorage", "torch.ShortStorage", "torch.CharStorage"),
    *("torch.float32", "torch.float16", "torch.bfloat16", "torch.device", "torch.serialization._get_layout"),
    *("torch.nn.parameter.Parameter", "argparse.Namespace", "_codecs.encode"),
}
SAFE = ".safetensors"
OTHERS = (".bin", ".pt", ".onnx")
SEPARATE_WEIGHTS = "weights/"  # how the names of an ONNX model's external data begin
POSITIONS = "I64"
HEADER_BYTES = 8  # that state the header's length
LARGEST_HEADER = 100_000_000  # safetensors' own limit
WORDS = ("vocab.txt", "vocab.json", "merges.txt", "tokenizer.json", "sentencepiece.bpe.model", "spiece.model")
CachedHash = Callable[[Path, Callable[[Path], str]], str]


def require_file(path: Path, what: str, remedy: str) -> Path:
    """Return the path of a file. If it is missing or a folder, raise a ModelError with the remedy."""
    if not is_file(path):
        kind = "is a folder, but should be a file" if is_folder(path) else "does not exist"
        raise ModelError(f"{what} {path} {kind}. {remedy}")
    return path


def refuse_device_or_pipe(path: Path) -> Path:
    """Return the path. Raise ModelError for a device, a pipe or a link to one, because reading it might never end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise ModelError(f"{path} is a device or a pipe, but should be a file. {COPY}")
    return path


def fingerprint_lines(content: Mapping[str, Path], file_hash: Callable[[Path], str]) -> list[str]:
    """Return a line with name and hash for each of these files, in the order of their names."""
    try:
        return [f"{name}={file_hash(path)}" for name, path in sorted(content.items())]
    except OSError as error:
        raise ModelError(f"cannot read the model: {error}") from error


def read_model_json(path: Path, kind: type[Any] = object) -> Any:
    """Return the content of a JSON file, or an empty value of this kind if there is no file."""
    if not path.exists():
        return kind()
    refuse_device_or_pipe(path)
    try:
        content = parse_json(read_text(path), infinite=True)
    except (ValueError, OSError) as error:
        raise ModelError(f"{path} is not JSON: {error}. {COPY}") from error
    if not isinstance(content, kind):
        raise ModelError(
            f"{path} should hold a {'mapping' if kind is dict else 'list'}, but holds a {type(content).__name__}"
        )
    return content


def read_json_value(path: Path, key: str, kind: type[Any]) -> Any:
    """Return the value under a key of a JSON file, or None if it is missing. Raise ModelError for a value of another
    kind.
    """
    value = read_model_json(path, dict).get(key)
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        wanted = {dict: "a mapping", list: "a list", int: "a whole number", str: "text"}[kind]
        raise ModelError(f"{path}: {key} is {str(value)[:80]!r}, but should be {wanted}. {COPY}")
    return value


def read_json_number(path: Path, key: str) -> float | None:
    """Return the number under a key of a JSON file, or None if it is missing.

    Raise ModelError if the value is not a number.
    """
    number = read_model_json(path, dict).get(key)
    if number is None:
        return None
    if not isinstance(number, int | float) or isinstance(number, bool) or number != number:
        raise ModelError(f"{path}: {key} is {str(number)[:80]!r}, but should be a number. {COPY}")
    return number


def check_weights_file(path: Path) -> None:
    """Raise ModelError if a weights file was cut off or would run code. No tensors are read."""
    from safetensors import SafetensorError, safe_open

    try:
        if path.stat().st_size == 0:
            raise ModelError(f"{path} is empty: {CUT_OFF}")
        if path.suffix == ".safetensors":
            with safe_open(path, framework="numpy"):
                pass
    except (OSError, SafetensorError) as error:
        raise ModelError(f"{path} cannot be read ({error}): {CUT_OFF}") from error
    if path.suffix != ".safetensors":
        check_torch_pickle(path)


def check_torch_pickle(path: Path) -> None:
    """Raise ModelError if the pickle of a torch file names anything but tensors and plain values.

    The pickle is not run. This check gives its message early; loading the file later still uses `weights_only`.
    torch.save stores the members of an archive uncompressed, one after the other, so the check also refuses an archive
    that unpacks to more bytes than the file has.
    """
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                members = archive.infolist()
                packed = next((member for member in members if member.compress_type != zipfile.ZIP_STORED), None)
                if packed or sum(member.file_size for member in members) > path.stat().st_size:
                    how = f"{packed.filename} is compressed" if packed else "its members overlap"
                    raise ModelError(
                        f"{path} unpacks to more bytes than it has ({how}), but torch.save compresses nothing: it is "
                        "not loaded. Remedy: load it only if you trust it, and save the weights as safetensors"
                    )
                pickles = [name for name in archive.namelist() if name.endswith("data.pkl")]
                if not pickles:
                    raise ModelError(f"{path} is a zip file without data.pkl: torch.save did not write it. {COPY}")
                _refuse_pickled_calls(path, io.BytesIO(archive.read(pickles[0])))
        else:
            with path.open("rb") as file:
                for _ in range(5):  # the older format: magic number, protocol, system, object, keys of the storages
                    _refuse_pickled_calls(path, file)
    except FAULTS as error:
        raise ModelError(f"{path} is not a file of weights written by torch.save ({error}): {CUT_OFF}") from error


def _refuse_pickled_calls(path: Path, file: Any) -> None:
    """Raise ModelError if a pickle refers, by GLOBAL or STACK_GLOBAL, to anything but tensors and plain values.

    Raise ValueError if it has too many values. A value counts at each occurrence, because hashing tuples nested in
    tuples takes that many steps.
    """
    texts: list[str] = []
    sizes: list[int | None] = []  # of the values on the stack; None is a mark
    memo: dict[int, int] = {}
    for operation, argument, _ in pickletools.genops(file):
        _track_value_sizes(operation, argument, sizes, memo)
        name = ""
        if operation.name in ("GLOBAL", "INST"):
            name = str(argument).replace(" ", ".")
        elif operation.name == "STACK_GLOBAL":
            name = ".".join(texts[-2:]) if len(texts) > 1 else "something hidden"
        elif isinstance(argument, str):
            texts.append(argument)
        elif operation.name in ("BINGET", "GET", "LONG_BINGET"):
            texts.append("?")  # a name built from the memo is never harmless
        if name and name not in HARMLESS_NAMES and not name.startswith(HARMLESS):
            raise ModelError(
                f"{path} is a pickle that would call {name}: it is not loaded. "
                "Remedy: save the weights alone, as safetensors or with torch.save(model.state_dict())"
            )


def _track_value_sizes(operation: Any, argument: Any, sizes: list[int | None], memo: dict[int, int]) -> None:
    """Apply a pickle operation to a stack that holds the values' sizes instead of the values."""
    name, before = operation.name, list(operation.stack_before)
    if name in ("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"):
        memo[len(memo) if name == "MEMOIZE" else argument] = (sizes[-1] if sizes else None) or 1
        return
    if name in ("GET", "BINGET", "LONG_BINGET"):
        sizes.append(memo.get(argument, 1))
        return
    taken: list[int | None] = []
    if pickletools.markobject in before:
        at = max((i for i, size in enumerate(sizes) if size is None), default=0)
        taken, before = sizes[at:], before[: before.index(pickletools.markobject)]
        del sizes[at:]
    at = max(0, len(sizes) - len(before))
    total = 1 + sum(size or 0 for size in (*taken, *sizes[at:]))
    del sizes[at:]
    sizes += [None if name == "MARK" else total for _ in operation.stack_after]
    if total > MAX_PICKLED_VALUES:
        raise ValueError(f"its values expand to more than {MAX_PICKLED_VALUES:,} with their repetitions")


def largest_token_id(tokenizer: Path) -> int:
    """Return the largest token id that a text can produce with this tokenizer.json, or -1 if there is no such file.

    Ids of special tokens do not count, because no text produces them. They may lie beyond the last row, as the image
    token does in text models of Gemma 3.
    """
    content = read_model_json(tokenizer, dict)
    model = content.get("model")
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    listed = content.get("added_tokens")
    added = (
        [t for t in listed if isinstance(t, dict) and isinstance(t.get("id"), int)] if isinstance(listed, list) else []
    )
    special = {t["id"] for t in added if t.get("special")}
    ids = {t["id"] for t in added}
    if isinstance(vocabulary, dict):
        ids |= {i for i in vocabulary.values() if isinstance(i, int)}
    elif isinstance(vocabulary, list):
        ids |= set(range(len(vocabulary)))
    return max(ids - special, default=-1)


def check_tokenizer_rules(tokenizer: Path) -> None:
    """Raise ModelError if the rules of a tokenizer.json turn a short text into a long one.

    `check_tokens_per_character` finds the cases that the rules do not show, by testing the loaded tokenizer.
    """
    content = read_model_json(tokenizer, dict)
    growth, most = 1.0, ""
    for rule in _tokenizer_steps(content.get("normalizer")):
        if rule.get("type") == "Precompiled" and (longest := _longest_replacement(rule)) > MAX_BYTES_PER_CHARACTER:
            growth, most = growth * longest, "precompiled_charsmap"
        elif rule.get("type") in ("Replace", "Prepend") and (factor := _growth_factor(rule)) > 1:
            growth, most = (
                growth * factor,
                f"{rule['type']} with {str(rule.get('content', rule.get('prepend')))[:40]!r}",
            )
    if growth > MAX_GROWTH:
        raise ModelError(
            f"{tokenizer}: its normalizer can make more than {MAX_GROWTH} characters of one (last by {most}), which "
            f"is the limit. {COPY}"
        )
    template = content.get("post_processor")
    for rule in _tokenizer_steps(template):
        if (
            count := max((len(rule[k]) for k in ("single", "pair") if isinstance(rule.get(k), list)), default=0)
        ) > MAX_ADDED_TOKENS:
            raise ModelError(
                f"{tokenizer}: post_processor adds {count:,} tokens to each text, but {MAX_ADDED_TOKENS} is the limit. "
                f"{COPY}"
            )


def _tokenizer_steps(part: object) -> Iterator[Mapping[str, Any]]:
    """Yield the steps of a normalizer or post-processor in their order, including those inside sequences."""
    waiting = [part]
    while waiting:
        rule = waiting.pop()
        if isinstance(rule, dict):
            yield rule
            inner = [rule[key] for key in ("normalizers", "processors") if isinstance(rule.get(key), list)]
            waiting += [step for steps in inner for step in reversed(steps)]


def _growth_factor(rule: Mapping[str, Any]) -> float:
    """Return how many characters a rule can make from one character, by replacing a pattern or by prepending text.

    >>> _growth_factor({"type": "Replace", "pattern": {"String": " "}, "content": "abc"})
    3.0
    >>> _growth_factor({"type": "Replace", "pattern": {"Regex": "x*"}, "content": "a"})  # also where nothing is
    2.0
    """
    if rule.get("type") == "Prepend":
        return float(max(1, len(str(rule.get("prepend"))) - 1))
    pattern = rule.get("pattern")
    kind, text = next(iter(pattern.items()), ("", "")) if isinstance(pattern, dict) else ("", "")
    content = len(str(rule.get("content")))
    if kind == "String":
        return max(1.0, content / max(1, len(str(text))))
    matches_nothing = any(mark in str(text) for mark in ("*", "?", "{0", "{,", "|", "^", "$", "\\b", "\\B", "\\G"))
    return float(1 + content if matches_nothing else max(1, content))


def _longest_replacement(rule: Mapping[str, Any]) -> int:
    """Return the length, in bytes, of the longest replacement for one character in SentencePiece's table."""
    try:
        table = base64.b64decode(str(rule.get("precompiled_charsmap") or ""))
    except ValueError:  # refused when it is loaded
        return 0
    return max(map(len, table[4 + int.from_bytes(table[:4], "little") :].split(b"\0")), default=0)


def check_tokens_per_character(folder: Path, tokenizer: Any) -> None:
    """Raise EncoderError if a loaded tokenizer splits a short text into far more tokens than it has characters.

    The tokenizer can be one of transformers or of tokenizers.
    """
    if hasattr(tokenizer, "encode_batch"):
        truncation = tokenizer.truncation
        tokenizer.no_truncation()
        rows = [encoding.ids for encoding in tokenizer.encode_batch(TRIAL, add_special_tokens=False)]
        if truncation:
            tokenizer.enable_truncation(**truncation)
    else:
        rows = tokenizer(TRIAL, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
    for text, ids in zip(TRIAL, rows, strict=True):
        if len(ids) > MAX_TOKENS_PER_CHARACTER * len(text) + MAX_ADDED_TOKENS:
            raise EncoderError(
                f"the tokenizer of {folder} makes {len(ids):,} tokens of the {len(text)} characters {text!r}: long "
                f"texts would fill the memory. {COPY}"
            )


def hash_weights(model: object, file_hash: CachedHash) -> str | None:
    """Return a hash of the weights of a model made of files, or None for other models.

    The model is not loaded. For safetensors the tensors are hashed, so saving them again does not change the hash. For
    other files the bytes are hashed.
    """
    content: Callable[[], Mapping[str, Path]] | None = getattr(model, "fingerprint_files", None)
    if content is None:
        return None
    files = [
        path for name, path in sorted(content().items())
        if path.suffix in (SAFE, *OTHERS) or name.startswith(SEPARATE_WEIGHTS)
    ]  # fmt: skip
    safe = [path for path in files if path.suffix == SAFE]
    try:
        digests = [file_hash(path, tensors_sha256 if safe else file_sha256) for path in safe or files]
    except OSError as error:
        raise ModelError(f"cannot read the model: {error}") from error
    return content_hash(*sorted(digests)) if digests else None


def hash_architecture(model: object, file_hash: CachedHash) -> str | None:
    """Return a hash of tensor shapes and vocabulary, which checkpoints trained with different seeds have in common.

    Return None for a model without safetensors. The model is not loaded.
    """
    content: Callable[[], Mapping[str, Path]] | None = getattr(model, "fingerprint_files", None)
    files = sorted(content().items()) if content else []
    safe = [path for _, path in files if path.suffix == SAFE]
    words = [(path.name, path) for _, path in files if path.name in WORDS]
    try:
        shapes = [file_hash(path, shapes_sha256) for path in safe]
        vocabularies = [f"{name}={file_hash(path, vocabulary_sha256)}" for name, path in words]
    except OSError as error:
        raise ModelError(f"cannot read the model: {error}") from error
    return content_hash(*sorted(shapes), *sorted(vocabularies)) if shapes else None


def shapes_sha256(path: Path) -> str:
    """Return the SHA-256, in hex, of the tensor names and shapes in a safetensors file. For other files, hash the
    bytes.
    """
    try:
        shapes = [[name, shape] for name, kind, shape, _, _ in _read_tensor_offsets(path)[1] if kind != POSITIONS]
    except ValueError:
        return file_sha256(path)
    return hashlib.sha256(json.dumps(shapes).encode()).hexdigest()


def vocabulary_sha256(path: Path) -> str:
    """Return the SHA-256 of a vocabulary, in hex.

    For tokenizer.json, padding and truncation are left out, because training changes them.
    """
    if path.name != "tokenizer.json":
        return file_sha256(path)
    try:
        content = json.loads(path.read_bytes())
        lasting = {name: content[name] for name in sorted(content) if name not in ("padding", "truncation")}
    except (ValueError, TypeError):
        return file_sha256(path)
    return hashlib.sha256(json.dumps(lasting, sort_keys=True).encode()).hexdigest()


def tensors_sha256(path: Path) -> str:
    """Return the SHA-256, in hex, of the tensor names, types, shapes and bytes in a safetensors file.

    For other files, hash the bytes. The hash ignores metadata and the order in the file. It also ignores int64 tensors:
    they hold positions, not weights, and only some versions of transformers save them.
    """
    try:
        start_of_bytes, tensors = _read_tensor_offsets(path)
    except ValueError:
        return file_sha256(path)
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for name, kind, shape, start, end in tensors:
            if kind != POSITIONS:
                file.seek(start_of_bytes + start)
                digest.update(json.dumps([name, kind, shape, end - start]).encode())
                digest.update(file.read(max(end - start, 0)))
    return digest.hexdigest()


def _read_tensor_offsets(path: Path) -> tuple[int, list[tuple[str, str, list[int], int, int]]]:
    """Return where the tensor bytes of a safetensors file start, and (name, type, shape, start, end) of each tensor.

    The tensors are sorted by name. Raise ValueError for a file in another format.
    """
    with path.open("rb") as file:
        size = int.from_bytes(file.read(HEADER_BYTES), "little")
        if size > min(LARGEST_HEADER, path.stat().st_size):
            raise ValueError(f"{path} has no safetensors header")
        try:
            header = json.loads(file.read(size))
            named = [(name, header[name]) for name in sorted(header) if name != "__metadata__"]
            tensors = [
                (name, entry["dtype"], entry["shape"], *map(int, entry["data_offsets"])) for name, entry in named
            ]
        except (LookupError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} has no safetensors header: {error}") from error
    return HEADER_BYTES + size, tensors
