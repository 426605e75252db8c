"""The names that a checkpoint's configuration may import by: sentence-transformers' classes, torch's activations, and
a module of papers/.

No prefix is trusted: a name that is in none of these lists is code of the checkpoint's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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


LATER = (  # modules that stand after the first, in a folder of their own
    *("CNN", "Dense", "Dropout", "LSTM", "LayerNorm", "Normalize", "Pooling", "SpanPooling", "WeightedLayerPooling"),
    "WordWeights",
)
SPAN_POOLING = "encheck_papers.SpanPooling"  # of papers/, where checkpoints find it
HEAD = "pair_head"  # the folder of a head over pairs


def _older(package: str, names: Mapping[str, str]) -> Iterator[str]:
    """A file of the class's name, as until sentence-transformers 5.3: package.Name and package.Name.Name."""
    for name in names:
        yield from (f"{package}.{name}", f"{package}.{name}.{name}")


def _newer(package: str, names: Mapping[str, str]) -> Iterator[str]:
    """A file of another name, as since 5.4: package.Name and package.file.Name."""
    for name, file in names.items():
        yield from (f"{package}.{name}", f"{package}.{file}.{name}")


MODULES = frozenset({
    *_older("sentence_transformers.models", BASE | DENSE),
    *_older("sentence_transformers.sparse_encoder.models", SPARSE),
    *_newer("sentence_transformers.base.modules", {name: file for name, file in BASE.items() if name != "Asym"}),
    *_newer("sentence_transformers.sentence_transformer.modules", DENSE),
    *(f"sentence_transformers.sentence_transformer.modules.{name}" for name in BASE),
    *_newer("sentence_transformers.sparse_encoder.modules", SPARSE),
    *_newer("sentence_transformers.multi_vector_encoder.modules", MULTIPLE),
    *_newer("sentence_transformers.cross_encoder.modules", {"LogitScore": "logit_score"}),
    SPAN_POOLING,
})  # fmt: skip

TOKENIZERS = frozenset({
    *(f"sentence_transformers.models.tokenizer.{name}" for name in ("PhraseTokenizer", "WhitespaceTokenizer")),
    *(f"sentence_transformers.models.tokenizer.{name}.{name}" for name in ("PhraseTokenizer", "WhitespaceTokenizer")),
    "sentence_transformers.models.tokenizer.WordTokenizer.TransformersTokenizerWrapper",
    *(f"sentence_transformers.sentence_transformer.modules.tokenizer.{file}.{name}" for name, file in WORDS.items()),
    *(f"sentence_transformers.sentence_transformer.modules.tokenizer.{name}" for name in WORDS if name[0] != "T"),
})  # fmt: skip

# Those of torch that need no argument; Dense saves none.
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

# What a Transformer module may hand on to from_pretrained. Others choose code, files, or how weights are read.
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
