"""The adapters that encheck finds by this package's entry points. Imports none."""

from __future__ import annotations

from encheck.encoders.adapters import ENCODING_FIELDS, PINNING_FIELDS, TORCH_FIELDS, Adapter

DOC2VEC = Adapter(
    "encheck_papers.doc2vec.encoder:open_doc2vec",
    "Doc2Vec model of gensim",
    ("sha256", "similarity"),
    source="optional",
    options={"size": int, "window": int, "min_count": int, "epochs": int, "seed": int, "infer_epochs": int},
)
INFERSENT = Adapter(
    "encheck_papers.infersent:InferSentEncoder",
    "InferSent state dict",
    ("sha256", "similarity"),
    options={"vectors": str, "version": int},
)
LASER = Adapter(
    "encheck_papers.laser.encoder:LaserEncoder",
    "LASER encoder",
    ("sha256", "similarity", "max_length"),
    options={"spm": str, "codes": str, "vocabulary": str},
)
BERTSCORE = Adapter(
    "encheck_papers.bertscore:BertScore",
    "encoder whose tokens are matched (BERTScore)",
    (*PINNING_FIELDS, "prompt", *TORCH_FIELDS),
    source="hub",
    options={"idf": str, "layer": int},
)
ALIGNMENT = Adapter(
    "encheck_papers.alignment:AlignmentScorer",
    "encoder whose predicate-argument spans are aligned",
    (*PINNING_FIELDS, "prompt", *TORCH_FIELDS),
    source="hub",
    options={"layer": int, "spacy_model": str, "matching": ("greedy", "one-to-one")},
)
PAIR_HEAD = Adapter(
    "encheck_papers.headed:open_checkpoint",
    "sentence-transformers checkpoint with a head over pairs or a pooling over spans",
    (*PINNING_FIELDS, *ENCODING_FIELDS, *TORCH_FIELDS, "pooling", "trust_remote_code"),
    source="hub",
    options={"head": str, "features": str, "positive": str, "frames": str, "missing": ("refuse", "parse")},
)
