"""Builds a tiny model for each adapter of the papers, in the format in which the real ones are published.

Each function makes the files in a folder and returns the entry of models.yaml that would name them.
"""

import dataclasses
import json
from argparse import Namespace

import tiny_models

from encheck.encoders.model_config import ModelConfig


def doc2vec(folder):
    from gensim.models.doc2vec import Doc2Vec, TaggedDocument

    documents = [TaggedDocument(text.split(), [i]) for i, text in enumerate(tiny_models.corpus())]
    model = Doc2Vec(documents, vector_size=8, min_count=1, epochs=5, workers=1, seed=1)
    model.save(str(folder / "tiny.doc2vec"))
    return ModelConfig("tiny", name=str(folder / "tiny.doc2vec"), adapter="doc2vec")


def infersent(folder, *, version=1):
    """enc_lstm.* alone, in the pickle format of torch before 1.6, as the authors published it."""
    import torch

    torch.manual_seed(0)
    lstm = torch.nn.LSTM(8, 6, 1, bidirectional=True)
    state = {f"enc_lstm.{name}": weight.detach() for name, weight in lstm.state_dict().items()}
    path = folder / f"infersent{version}.pkl"
    torch.save(state, path, _use_new_zipfile_serialization=False)
    return ModelConfig("tiny", name=str(path), adapter="infersent", options={"vectors": tiny_models.glove(folder).name})


def sentencepiece(folder):
    """A SentencePiece model of the tiny words, and its vocabulary as fairseq writes it: a piece and a count a line."""
    import sentencepiece as spm

    text = folder / "corpus.txt"
    text.write_text("\n".join(tiny_models.corpus() * 3) + "\n")
    named = folder / "laser"
    spm.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(named), vocab_size=40, minloglevel=2, hard_vocab_limit=False
    )
    named.with_suffix(".model").rename(folder / "laser.spm")
    pieces = [line.split("\t")[0] for line in named.with_suffix(".vocab").read_text("utf-8").splitlines()][3:]
    (folder / "laser.cvocab").write_text("".join(f"{piece} 1\n" for piece in pieces), "utf-8")
    return pieces


def laser2(folder):
    return lstm_file(folder / "laser2.pt", sentencepiece(folder))


def lstm_file(path, pieces):
    """LASER1's and LASER2's format: sizes, weights, and the dictionary."""
    import torch

    dictionary = {piece: i for i, piece in enumerate(["<s>", "<pad>", "</s>", "<unk>", *pieces])}
    sizes = {"num_embeddings": len(dictionary), "padding_idx": 1, "embed_dim": 5, "hidden_size": 4, "num_layers": 2}
    torch.manual_seed(0)
    lstm = torch.nn.LSTM(5, 4, 2, bidirectional=True)
    model = {"embed_tokens.weight": torch.randn(len(dictionary), 5)}
    model |= {f"lstm.{name}": weight.detach() for name, weight in lstm.state_dict().items()}
    params = sizes | {"bidirectional": True, "left_pad": False, "padding_value": 0.0}
    torch.save({"params": params, "model": model, "dictionary": dictionary}, path)
    return ModelConfig("tiny", name=str(path), adapter="laser")


def laser1(folder):
    """An encoder like LASER2's, with fastBPE's two files in place of SentencePiece's."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    words.train_from_iterator(
        (text.lower() for text in tiny_models.corpus()),
        trainers.BpeTrainer(vocab_size=60, end_of_word_suffix="</w>", show_progress=False),
    )
    merges = [" ".join(pair) for pair in json.loads(words.to_str())["model"]["merges"]]
    (folder / "93langs.fcodes").write_text("".join(f"{pair} 1\n" for pair in merges), "utf-8")
    known = sorted(words.get_vocab())
    pieces = [piece.removesuffix("</w>") if piece.endswith("</w>") else f"{piece}@@" for piece in known]
    (folder / "93langs.fvocab").write_text("".join(f"{piece} 1\n" for piece in pieces), "utf-8")
    return lstm_file(folder / "bilstm.93langs.pt", pieces)


def laser3(folder, *, first=True):
    """fairseq's names of a two-layer transformer; `first`: the norm stands before attention."""
    import torch

    pieces = sentencepiece(folder)
    torch.manual_seed(0)
    model = {
        "embed_tokens.weight": torch.randn(len(pieces) + 4, 8) * 0.3,
        "embed_positions._float_tensor": torch.ones(1),
    }
    for layer in range(2):
        name = f"layers.{layer}."
        for part, (rows, columns) in {
            **{f"self_attn.{p}_proj": (8, 8) for p in ("q", "k", "v", "out")}, "fc1": (12, 8), "fc2": (8, 12),
        }.items():  # fmt: skip
            model |= {f"{name}{part}.weight": torch.randn(rows, columns) * 0.4, f"{name}{part}.bias": torch.randn(rows)}
        for norm in ("self_attn_layer_norm", "final_layer_norm"):
            model |= {f"{name}{norm}.weight": torch.rand(8) + 0.5, f"{name}{norm}.bias": torch.randn(8)}
    if first:
        model |= {"layer_norm.weight": torch.rand(8) + 0.5, "layer_norm.bias": torch.randn(8)}
    told = Namespace(
        encoder_attention_heads=2, encoder_normalize_before=first, activation_fn="relu", sentemb_criterion="maxpool",
        prepend_bos=False, left_pad_source=False, no_scale_embedding=False,
    )  # fmt: skip
    torch.save({"model": model, "cfg": {"model": told}}, folder / "laser3-eng.v1.pt")
    return ModelConfig("tiny", name=str(folder / "laser3-eng.v1.pt"), adapter="laser")


def tokens(adapter):
    """An encoder whose tokens this adapter compares."""
    return lambda folder: dataclasses.replace(tiny_models.transformers(folder), adapter=adapter)


ENCODERS = {"doc2vec": doc2vec, "infersent": infersent, "laser2": laser2, "laser3": laser3}
BUILDERS = ENCODERS | {"bertscore": tokens("bertscore"), "alignment": tokens("alignment")}
