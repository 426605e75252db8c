"""List the adapters that `adapter:` in models.yaml can name, with their requirements, fields and options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from encheck.system import imports

Source = Literal["hub", "path", "optional", "url"]
DTYPES = ("float32", "bfloat16", "float16")
POOLINGS = ("cls", "mean", "max", "last", "first-last-avg", "layers")
PINNING_FIELDS = ("revision", "package", "sha256")
ENCODING_FIELDS = ("prompt", "prompts", "similarity", "truncate_dim")
TORCH_FIELDS = ("max_length", "dtype")
# The adapters of papers/, a separate package: models.yaml has entries for them, and encheck recognises their files.
PAPER_ADAPTERS = frozenset({"alignment", "bertscore", "doc2vec", "infersent", "laser", "pair-head"})


@dataclass(frozen=True, slots=True)
class Adapter:
    """One adapter. A package can offer such a record under the entry point `encheck.adapters`.

    `path` is module:factory. `what` completes the sentence "loaded as a ...". `modules` are the packages that must be
    importable, and `install` is what to pass to pip to get them. `source` says what the entry's `name` holds. `takes`
    lists the fields of an entry that the adapter supports. `options` maps each of the adapter's own options to a type
    or to its allowed values. encheck calls the factory with the source, the entry, `device` and `file_hash`. If the
    source is a `url`, it passes only the entry.
    """

    path: str
    what: str
    takes: tuple[str, ...]
    modules: tuple[str, ...] = ()
    install: str = ""
    source: Source = "path"
    options: Mapping[str, type | tuple[str, ...]] = field(default_factory=dict)


ENCODERS = "encheck.encoders"
ADAPTERS: Mapping[str, Adapter] = {
    "sentence-transformers": Adapter(
        f"{ENCODERS}.checkpoints.sentence_transformers:open_checkpoint",
        "sentence-transformers checkpoint",
        (*PINNING_FIELDS, *ENCODING_FIELDS, *TORCH_FIELDS, "pooling", "trust_remote_code"),
        source="hub",
    ),
    "transformers": Adapter(
        f"{ENCODERS}.checkpoints.transformers:TransformersEncoder",
        "transformers checkpoint",
        (*PINNING_FIELDS, *ENCODING_FIELDS, *TORCH_FIELDS, "pooling", "trust_remote_code"),
        source="hub",
        options={"layers": list, "head": ("mlp",)},
    ),
    "peft": Adapter(
        f"{ENCODERS}.checkpoints.transformers:PeftEncoder",
        "PEFT adapter",
        ("revision", *ENCODING_FIELDS, *TORCH_FIELDS, "pooling"),
        ("peft",),
        "encheck[peft]",
        source="hub",
        options={"base": str, "layers": list, "head": ("mlp",)},
    ),
    "onnx": Adapter(
        f"{ENCODERS}.onnx:OnnxEncoder",
        "bare ONNX model",
        ("sha256", *ENCODING_FIELDS, "max_length", "pooling"),
        ("onnxruntime", "tokenizers"),
        "encheck[onnx]",
        options={"output": str},
    ),
    "openvino": Adapter(
        f"{ENCODERS}.onnx:OpenVinoEncoder",
        "bare ONNX model, run by OpenVINO",
        ("sha256", *ENCODING_FIELDS, "max_length", "pooling"),
        ("openvino", "tokenizers"),
        "encheck[openvino]",
        options={"output": str},
    ),
    "vectors": Adapter(
        f"{ENCODERS}.static_embeddings:open_word_vectors",
        "file of word vectors",
        ("sha256", "similarity"),
        options={
            "weighting": ("average", "sif"),
            "a": float,
            "components": int,
            "tokens": ("words", "split"),
            "lowercase": bool,
        },
    ),
    "stored-vectors": Adapter(
        f"{ENCODERS}.stored_index:StoredVectors",
        "file of texts with their vectors",
        ("sha256", "similarity"),
        options={"texts": str},
    ),
    "model2vec": Adapter(
        f"{ENCODERS}.static_embeddings:Model2VecEncoder",
        "model2vec checkpoint",
        (*PINNING_FIELDS, *ENCODING_FIELDS, "max_length"),
        ("model2vec",),
        "encheck[model2vec]",
        source="hub",
    ),
    "savedmodel": Adapter(
        f"{ENCODERS}.savedmodel:SavedModelEncoder",
        "TensorFlow SavedModel",
        ("sha256", "similarity", "trust_remote_code"),
        ("tensorflow",),
        "encheck[tensorflow]",
        options={"signature": str, "output": str},
    ),
    "cross-encoder": Adapter(
        f"{ENCODERS}.pair_scorers:CrossEncoderScorer",
        "cross-encoder",
        (*PINNING_FIELDS, *TORCH_FIELDS),
        source="hub",
        options={"direction": ("forward", "both"), "positive": str, "activation": ("sigmoid", "identity")},
    ),
    "lexical": Adapter(
        f"{ENCODERS}.pair_scorers:LexicalScorer",
        "surface scorer, which needs no understanding",
        (),
        source="optional",
        options={"weighting": ("jaccard", "edit-distance", "bigrams", "trigrams", "tf-idf", "bm25")},
    ),
    "openai": Adapter(
        f"{ENCODERS}.server:OpenAiEncoder",
        "server that speaks OpenAI's /v1/embeddings",
        ENCODING_FIELDS,
        source="url",
        options={
            "model": str, "key_env": str, "batch": int, "concurrency": int, "timeout": float, "retries": int,
            "fields": dict,
        },
    ),
    "tei": Adapter(
        f"{ENCODERS}.server:TeiEncoder",
        "text-embeddings-inference server",
        ("prompt", "prompts", "similarity"),
        source="url",
        options={
            "key_env": str, "batch": int, "concurrency": int, "timeout": float, "retries": int, "fields": dict,
        },
    ),
}  # fmt: skip


def find_adapter(name: str) -> Adapter | None:
    """Return the adapter record with this name, from encheck or an installed package, or None for a class or an unknown
    name.
    """
    if name in ADAPTERS:
        return ADAPTERS[name]
    point = imports.entry_points_of(imports.ADAPTERS).get(name)
    offered = imports.load_entry_point(point) if point else None
    return offered if isinstance(offered, Adapter) else None
