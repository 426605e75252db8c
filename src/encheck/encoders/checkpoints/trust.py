"""Check what a checkpoint's JSON would import, where its paths point, and which settings a loader would ignore.

encheck trusts no prefix of a name. It lists classes of sentence-transformers, activations of torch and a module of
papers/. Any other name counts as the checkpoint's own code.
"""

from __future__ import annotations

import ast
import importlib.util
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from encheck.encoders.checkpoints.folders import (
    OLDER_POOLING_KEYS,
    REFERENCING_FILES,
    SPAN_POOLING,
    inferred_module_folders,
    list_modules,
    model_files,
    referenced_paths,
)
from encheck.encoders.files import COPY, read_model_json
from encheck.errors import ModelError

BASE = {"Dense": "dense", "Normalize": "normalize", "Router": "router", "Asym": "router", "Transformer": "transformer"}
DENSE = {
    "BoW": "bow", "CLIPModel": "clip_model", "CNN": "cnn", "Dropout": "dropout", "LayerNorm": "layer_norm",
    "LSTM": "lstm", "Normalize": "normalize", "Pooling": "pooling", "StaticEmbedding": "static_embedding",
    "WeightedLayerPooling": "weighted_layer_pooling", "WordEmbeddings": "word_embeddings",
    "WordWeights": "word_weights",
}  # fmt: skip
SPARSE = {
    "MLMTransformer": "mlm_transformer", "SparseAutoEncoder": "sparse_auto_encoder",
    "SparseStaticEmbedding": "sparse_static_embedding", "SpladePooling": "splade_pooling",
}  # fmt: skip
MULTIPLE = {"HierarchicalTokenPooling": "token_pooling", "MultiVectorMask": "multi_vector_mask"}
WORDS = {
    "PhraseTokenizer": "phrase", "TransformersTokenizerWrapper": "word", "WhitespaceTokenizer": "whitespace",
}  # fmt: skip
TOKENIZERS = frozenset({
    *(f"sentence_transformers.models.tokenizer.{name}" for name in ("PhraseTokenizer", "WhitespaceTokenizer")),
    *(f"sentence_transformers.models.tokenizer.{name}.{name}" for name in ("PhraseTokenizer", "WhitespaceTokenizer")),
    "sentence_transformers.models.tokenizer.WordTokenizer.TransformersTokenizerWrapper",
    *(f"sentence_transformers.sentence_transformer.modules.tokenizer.{file}.{name}" for name, file in WORDS.items()),
    *(f"sentence_transformers.sentence_transformer.modules.tokenizer.{name}" for name in WORDS if name[0] != "T"),
})  # fmt: skip
# Those of torch that need no argument, because Dense does not save any.
NONLINEAR = (
    *("CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid"),
    *("LogSoftmax", "Mish", "PReLU", "ReLU", "ReLU6", "RReLU", "SELU", "Sigmoid", "SiLU", "Softmax", "Softmax2d"),
    *("Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink"),
)
ACTIVATIONS = frozenset({
    *(f"torch.nn.{name}" for name in (*NONLINEAR, "Identity")),
    *(f"torch.nn.modules.activation.{name}" for name in NONLINEAR),
    *("torch.nn.modules.linear.Identity", "torch.nn.modules.Identity"),
})  # fmt: skip
# Arguments that a Transformer module may pass to from_pretrained. Others choose code, files, or how weights are read.
PLAIN = ("trust_remote_code",)  # sentence-transformers leaves it out
ARGUMENTS: Mapping[str, frozenset[str]] = {
    "model": frozenset({
        *PLAIN, "add_pooling_layer", "attn_implementation", "device_map", "dtype", "is_causal", "low_cpu_mem_usage",
        "output_attentions", "output_hidden_states", "torch_dtype", "use_cache",
    }),
    "tokenizer": frozenset({
        *PLAIN, "add_bos_token", "add_eos_token", "add_prefix_space", "add_special_tokens", "bos_token",
        "clean_up_tokenization_spaces", "cls_token", "do_lower_case", "eos_token", "fix_mistral_regex", "legacy",
        "lowercase", "mask_token", "max_length", "max_pixels", "min_pixels", "model_max_length", "pad_token",
        "padding", "padding_side", "sep_token", "strip_accents", "tokenize_chinese_chars", "truncation",
        "truncation_side", "unk_token", "use_fast",
    }),
    "config": frozenset({
        *PLAIN, "attention_dropout", "attn_implementation", "hidden_dropout_prob", "is_causal", "is_decoder",
        "max_position_embeddings", "output_attentions", "output_hidden_states", "use_cache", "use_pooler",
    }),
}  # fmt: skip
GROUPS = {
    "model_args": "model", "model_kwargs": "model", "tokenizer_args": "tokenizer", "processor_kwargs": "tokenizer",
    "tokenizer_kwargs": "tokenizer", "config_args": "config", "config_kwargs": "config",
}  # fmt: skip
MOVED_SPAN_POOLING = "encheck.training.SpanPooling"  # as papers/ had it before it was a package of its own
TRUST = "If you trust it: trust_remote_code: true in models.yaml, or --model-arg trust_remote_code=true"
PATTERNS = ("modules", "modules_to_save", "pattern", "parameters", "rank_pattern", "alpha_pattern")  # ends of keys
SIZES = (
    "r",
    "init_r",
    "target_r",
    "num_virtual_tokens",
    "num_layers",
    "token_dim",
    "encoder_hidden_size",
    "n_frequency",
)
MAX_RANK = 10_000  # and no more than an adapter's weights have bytes
MAX_MATCH_STEPS = 1_000_000  # of one pattern and one name
LONGEST_NAME = 100  # characters of a module's name
PLAIN_PATTERN = re.compile(
    r"(?:(?:[\w.-]|\\[.\-_dw]|\[[\w.^-]*\])(?:[*+?]\??)?|\((?:\?:)?|\)(?![*+?{])|[|^$])*"
)  # no quantifier after a group
OWN = ": without that, transformers' own class of this type is loaded"
REMEDY = "Remedy: leave it out, if the model was trained without it"
ADAPTER_FOR_MODEL_TYPE = {
    "CrossEncoder": "adapter=cross-encoder scores its pairs",
    "SparseEncoder": "adapter=transformers pools its states with the pooling you choose",
    "MultiVectorEncoder": "adapter=transformers pools its states with the pooling you choose",
}
DENSE_SETTINGS = (
    *("activation_function", "bias", "in_features", "module_input_name", "module_output_name", "out_features"),
    "use_residual",
)
PROCESSING = frozenset({"audio", "chat_template", "common", "image", "text", "video"})
MODALITIES = frozenset({"audio", "image", "message", "text", "video"})


def _class_names_until_5_3(package: str, names: Mapping[str, str]) -> Iterator[str]:
    """Yield package.Name and package.Name.Name: until sentence-transformers 5.3, the file has the class's name."""
    for name in names:
        yield from (f"{package}.{name}", f"{package}.{name}.{name}")


def _class_names_since_5_4(package: str, names: Mapping[str, str]) -> Iterator[str]:
    """Yield package.Name and package.file.Name: since 5.4, the file has a name of its own."""
    for name, file in names.items():
        yield from (f"{package}.{name}", f"{package}.{file}.{name}")


MODULES = frozenset({
    *_class_names_until_5_3("sentence_transformers.models", BASE | DENSE),
    *_class_names_until_5_3("sentence_transformers.sparse_encoder.models", SPARSE),
    *_class_names_since_5_4("sentence_transformers.base.modules", {k: file for k, file in BASE.items() if k != "Asym"}),
    *_class_names_since_5_4("sentence_transformers.sentence_transformer.modules", DENSE),
    *(f"sentence_transformers.sentence_transformer.modules.{name}" for name in BASE),
    *_class_names_since_5_4("sentence_transformers.sparse_encoder.modules", SPARSE),
    *_class_names_since_5_4("sentence_transformers.multi_vector_encoder.modules", MULTIPLE),
    *_class_names_since_5_4("sentence_transformers.cross_encoder.modules", {"LogitScore": "logit_score"}),
    SPAN_POOLING,
})  # fmt: skip


def refuse_outside_paths(folder: Path) -> None:
    """Raise ModelError if modules.json, a router or a reference to a weights file points outside the folder."""
    for file in (p for p in model_files(folder) if any(map(p.match, REFERENCING_FILES))):
        for named in referenced_paths(file):
            if named.is_absolute() or ".." in named.parts:
                raise ModelError(f"{file} points outside its folder ({named}), which is not followed. {COPY}")
            # weights in parts, unless one file also holds them
            is_index = (
                file.name.endswith(".safetensors.index.json") and not (file.parent / "model.safetensors").exists()
            )
            if is_index and not (file.parent / named).is_file():
                raise ModelError(f"{file} names {named}, which does not exist: was it left out? {COPY}")


class NamedModule(NamedTuple):
    """A module that modules.json or a router names: the naming file and its key, the module's class and its folder."""

    file: Path
    key: str
    kind: str
    folder: Path


def list_named_modules(folder: Path) -> Iterator[NamedModule]:
    """Yield every module named at any depth of a checkpoint.

    Routers from before 5.0 are in a config.json. Without modules.json, yield the modules that the names of the folders
    indicate.
    """
    if inferred_module_folders(folder):
        for module in list_modules(folder):
            yield NamedModule(folder, "type", module["type"], folder / module["path"])
    for file in model_files(folder):
        if file.name == "modules.json":
            for module in read_model_json(file, list):
                content = module if isinstance(module, dict) else {"type": module}
                yield NamedModule(file, "type", str(content.get("type")), file.parent / str(content.get("path") or ""))
        elif file.name in ("router_config.json", "config.json"):
            content = read_model_json(file)
            types = content.get("types") if isinstance(content, dict) else None
            for name, kind in (types if isinstance(types, dict) else {}).items():
                yield NamedModule(file, f"types.{name}", str(kind), file.parent / name)


def read_module_config(module: NamedModule) -> tuple[Path, Mapping[str, Any]]:
    """Return the path and content of a module's config.json. The content is empty if it has none."""
    file = module.folder / "config.json"
    values = read_model_json(file)
    return file, values if isinstance(values, dict) else {}


def refuse_code(folder: Path) -> None:
    """Raise ModelError if a configuration would run code from outside sentence-transformers, torch and transformers."""
    for file, key, named in _unknown_code_names(folder):
        if named == MOVED_SPAN_POOLING:
            raise ModelError(
                f"{file}: {key} is {named}, whose new name is {SPAN_POOLING}. Remedy: write that instead, and pip "
                "install ./papers (in a clone of encheck)"
            )
        own = ""
        if key == "auto_map":  # does transformers have a class of this type? Checked without importing it
            values = read_model_json(file)
            kind = str(values.get("model_type") if isinstance(values, dict) else None).replace("-", "_")
            spec = importlib.util.find_spec("transformers")
            roots = (spec.submodule_search_locations or []) if spec else []
            own = OWN if any((Path(root) / "models" / kind).is_dir() for root in roots) else ""
        raise ModelError(
            f"{file} names its own code ({named}), which is not run. {TRUST}. It is named under {key}{own}"
        )

    for module in (m for m in list_named_modules(folder) if m.kind.endswith(".Dense")):
        file, values = read_module_config(module)
        named = values.get("activation_function", "torch.nn.Tanh")  # the library's own default
        if not isinstance(named, str) or named not in ACTIVATIONS:
            raise ModelError(
                f"{file}: activation_function is {named!r}, which is not in torch.nn: it is not run, and a "
                f"substitute would give other vectors. {TRUST}"
            )

    # a Transformer module's arguments can choose code, files, or how weights are read
    for file in (p for p in model_files(folder) if p.match("sentence_*_config.json")):
        values = read_model_json(file, dict)
        for group in GROUPS:
            handed = values.get(group)
            for key in sorted(set(handed if isinstance(handed, dict) else ()) - ARGUMENTS[GROUPS[group]]):
                raise ModelError(
                    f"{file}: {group} has {key} {handed[key]!r}, which is not passed on: it can choose code, files, "
                    f"or how weights are read. Remedy: leave it out. {TRUST}"
                )
        for key in ("tokenizer_name_or_path", "processor_name", "path"):
            if values.get(key):
                raise ModelError(
                    f"{file} points elsewhere ({key} is {values[key]!r}), which is not followed. "
                    "Remedy: leave it out, with the tokenizer in the folder"
                )
    for file in (p for p in model_files(folder) if p.name == "adapter_config.json"):
        refuse_costly_adapter_config(file)


def refuse_costly_adapter_config(file: Path) -> None:
    """Raise ModelError if an adapter_config.json would cost too much time or memory.

    PEFT matches its regular expression with each module's name, so a costly expression is refused. So are sizes that
    exceed the adapter's weights.
    """
    room = max(MAX_RANK, sum(p.stat().st_size for p in file.parent.glob("adapter_model.*")))
    for key, value in read_model_json(file, dict).items():
        named = isinstance(value, dict) and key.endswith(PATTERNS)
        for text in (*_texts_in_json(value), *(value if named else ())) if key.endswith(PATTERNS) else ():
            if (cost := max_match_steps(text)) is None or cost > MAX_MATCH_STEPS:
                why = "could take very long" if cost else "has more than names, '.*', '(a|b)' and [a-z]"
                raise ModelError(
                    f"{file}: {key} has the regular expression {text[:80]!r}, which {why}: it was not tried. Remedy: "
                    "write the names of the modules there, as a list"
                )
        for number in value.values() if named else (value,):
            if key in (*SIZES, "rank_pattern") and isinstance(number, int) and number > room:
                raise ModelError(f"{file}: {key} has {number:,}, but its weights have {room:,} bytes. {COPY}")


def max_match_steps(pattern: str) -> int | None:
    r"""Return the approximate maximum number of steps for matching a pattern with a module's name.

    Return None if the pattern has anything but names, classes, quantifiers after these, and groups without a
    quantifier.

    >>> max_match_steps("query"), max_match_steps(r".*\.(q|v)_proj$"), max_match_steps("(a+)+$")
    (1, 202, None)
    >>> max_match_steps("(?:.|.)" * 30) > MAX_MATCH_STEPS
    True
    """
    if not PLAIN_PATTERN.fullmatch(pattern):
        return None
    steps, inside, open_groups = 1, re.sub(r"\\.|\[[^]]*\]", "x", pattern), [1]
    for mark in inside.replace("*?", "*").replace("+?", "+").replace("??", "?").replace("(?:", "("):
        if mark == "(":
            open_groups.append(1)
        elif mark == "|":
            open_groups[-1] += 1
        elif mark == ")" and len(open_groups) > 1:
            steps *= open_groups.pop()
        elif mark == "?":
            steps *= 2
    return (
        steps * math.prod(open_groups) * math.comb(LONGEST_NAME + inside.count("*") + inside.count("+"), LONGEST_NAME)
    )


def _unknown_code_names(folder: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield (file, key, name) of every unknown class or file that a loader would import or download to run."""
    yield from ((m.file, m.key, m.kind) for m in list_named_modules(folder) if m.kind not in MODULES)
    for file in (p for p in model_files(folder) if "config" in p.name and p.suffix == ".json"):
        content = read_model_json(file)
        if file.name == "wordembedding_config.json":
            named = str(content.get("tokenizer_class") if isinstance(content, dict) else content)
            yield from ((file, "tokenizer_class", named) for _ in range(named not in TOKENIZERS))
        pairs: list[tuple[str, Any]] = []
        waiting = [content]  # every (key, value) of the mappings in it, at any depth
        while waiting:
            part = waiting.pop()
            if isinstance(part, dict):
                pairs += part.items()
                waiting += part.values()
            elif isinstance(part, list):
                waiting += part
        for key, value in pairs:
            if key == "auto_map" and value:
                yield file, key, ", ".join(_texts_in_json(value)) or str(value)
            elif key.endswith("_implementation") and "/" in str(value):  # a kernel of the hub
                yield file, key, str(value)
            elif key == "megatron_config" and value:  # peft imports what megatron_core names
                yield file, "megatron_core", str(content.get("megatron_core") if isinstance(content, dict) else value)


def _texts_in_json(content: object) -> Iterator[str]:
    """Yield the texts in a JSON value, except keys."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict | list):
        for part in content.values() if isinstance(content, dict) else content:
            yield from _texts_in_json(part)


def refuse_other_model_type(folder: Path) -> None:
    """Raise ModelError if the checkpoint is of a different family.

    It would be pooled by the mean without a warning.
    """
    file = folder / "config_sentence_transformers.json"
    kind = read_model_json(file, dict).get("model_type") or "SentenceTransformer"
    if kind != "SentenceTransformer":
        other = ADAPTER_FOR_MODEL_TYPE.get(str(kind), "an adapter for what it is")
        raise ModelError(
            f"{file}: model_type is {kind!r}, but a sentence encoder's is SentenceTransformer: sentence-transformers "
            f"would replace its modules with others. Remedy: {other}"
        )


def refuse_ignored_settings(folder: Path) -> None:
    """Raise ModelError if a module has a setting that the library ignores, or replaces by its default, while
    loading.
    """
    for file, key, value in _ignored_settings(folder):
        raise ModelError(f"{file}: {key} is {value!r}, which sentence-transformers ignores. {REMEDY}")


def _ignored_settings(folder: Path) -> Iterator[tuple[Path, str, Any]]:
    for module in list_named_modules(folder):
        (file, values), kind = read_module_config(module), module.kind.rpartition(".")[2]
        if kind == "Dense":
            yield from ((file, key, values[key]) for key in sorted(set(values) - set(DENSE_SETTINGS)))
        elif kind == "Pooling":
            # two spellings that disagree, or the older one with every mode off, which becomes the mean
            older = {key: OLDER_POOLING_KEYS[key] for key in OLDER_POOLING_KEYS if key in values}
            on = [name for key, name in older.items() if values[key]]
            stated = values.get("pooling_mode", on)
            newer = sorted(map(str, stated if isinstance(stated, list) else [stated]))
            if older and (not on or newer != sorted(on)):
                yield file, next(iter(older)), values[next(iter(older))]
        elif kind in ("Router", "Asym"):
            official = module.folder / "router_config.json"
            file = official if official.exists() else file
            parameters = read_model_json(file, dict).get("parameters")
            routes = parameters.get("route_mappings") if isinstance(parameters, dict) else None
            for key, route in (routes if isinstance(routes, dict) else {}).items():
                try:
                    ast.literal_eval(key)
                except (ValueError, SyntaxError):  # a route under a key that cannot be read
                    yield file, f"route_mappings.{key}", route
        elif kind == "SparseStaticEmbedding" and values.get("path"):
            yield file, "path", values["path"]
    for file in (p for p in model_files(folder) if p.match("sentence_*_config.json")):
        transformer = read_model_json(file, dict)
        if isinstance(how := transformer.get("processing_kwargs"), dict):
            yield from ((file, f"processing_kwargs.{key}", how[key]) for key in sorted(set(how) - PROCESSING))
        if isinstance(how := transformer.get("modality_config"), dict):
            strange = sorted(key for key in how if not set(key.split("+")) <= MODALITIES)
            yield from ((file, f"modality_config.{key}", how[key]) for key in strange)
