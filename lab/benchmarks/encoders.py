"""Texts a second of every adapter, beside sentence-transformers' own `encode`, and its share of the matrix rate.

    python lab/benchmarks/encoders.py [--texts 512] [--device cpu] [--dtype float32] [--only onnx,laser2]
    python lab/benchmarks/encoders.py --device cuda --dtype bfloat16 --texts 4096 --only sentence-transformers

The second asks a GPU how much faster the default model is than sentence-transformers has it (fp32, 32 texts at a
time); the aim is 1.5.

The default model (all-MiniLM-L6-v2) is run by every adapter that can take it; InferSent, LASER2, word vectors and
Doc2Vec get random weights of the published sizes. The matrix rate is measured here, in the same dtype, on matrices of
1,024 x 1,024 (8,192 x 8,192 on a GPU). A model of w weights does 2 w operations a token; the share is those over the
time, over the rate.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from encheck.encoders.batching import pick_devices
from encheck.encoders.load import find_model_folder, load_model
from encheck.encoders.model_config import Device
from encheck.encoders.models_file import ModelConfig, known_models

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path[:0] = [str(Path(__file__).resolve().parents[2] / folder) for folder in ("tests", "papers/tests")]
Row = tuple[str, float, float, str]
THEIRS = "(their own encode)"


def probe_texts(count: int) -> list[str]:
    """Sentences of the embedded probes, as many as are asked for, all distinct."""
    from encheck.datasets.load import load as load_data

    found = [t for g in load_data("probes").groups for t in (g.source, *(v.text for v in g.variants))]
    return list(dict.fromkeys(found))[:count]


def matrix_rate(device: str, dtype: str) -> float:
    """Operations a second of torch's matrix product, the best of five."""
    import torch

    size = 8_192 if device.startswith("cuda") else 1_024
    a = torch.rand(size, size, device=device, dtype=getattr(torch, dtype))

    def once() -> float:
        start = time.perf_counter()
        for _ in range(20):
            b = a @ a
        float(b[0, 0])  # waits for the device
        return 20 * 2 * size**3 / (time.perf_counter() - start)

    return max(once() for _ in range(5))


def rate(encode: Callable[[list[str]], object], texts: list[str], rounds: int) -> float:
    """Texts a second, the best round of some after a warm-up."""
    encode(texts[:32])
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        encode(texts)
        times.append(time.perf_counter() - start)
    return len(texts) / min(times)


def minilm(folder: Path) -> Iterator[tuple[str, ModelConfig, str]]:
    """The default model by every adapter that can run it: (name, entry, what bounds it)."""
    whole = str(find_model_folder(known_models()["sbert"]))
    yield "sentence-transformers", ModelConfig("m", name=whole), "matrix rate"
    yield "transformers", ModelConfig("m", name=whole, adapter="transformers", max_length=256), "matrix rate"
    made = exported(Path(whole), folder)
    yield "onnx", ModelConfig("m", name=made, adapter="onnx", max_length=256), "matrix rate"
    yield "openvino", ModelConfig("m", name=made, adapter="openvino", max_length=256), "matrix rate"


def exported(source: Path, folder: Path) -> str:
    """The default model as a bare .onnx with its tokenizer.json."""
    import torch
    from transformers import AutoModel

    class Plain(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bert = AutoModel.from_pretrained(source, attn_implementation="eager")

        def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
            return self.bert(ids, mask, types).last_hidden_state

    model = Plain().eval()
    names = ["input_ids", "attention_mask", "token_type_ids"]
    one = torch.ones(2, 5, dtype=torch.long)
    axes = {name: {0: "n", 1: "t"} for name in [*names, "last_hidden_state"]}
    (folder / "onnx").mkdir()
    how = {"input_names": names, "output_names": ["last_hidden_state"], "dynamic_axes": axes, "dynamo": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, (one, one, torch.zeros_like(one)), str(folder / "onnx" / "model.onnx"), **how)
    shutil.copy(source / "tokenizer.json", folder / "onnx")
    return str(folder / "onnx")


def random_ones(folder: Path, texts: list[str]) -> Iterator[tuple[str, ModelConfig, str]]:
    """Random weights of the published sizes; word vectors for 20,000 words."""
    import torch

    words = sorted({w for t in texts for w in t.replace(".", " . ").replace(",", " , ").split()})
    vocabulary = [*words, "<s>", "</s>", *(f"filler{i}" for i in range(20_000))]
    rng = np.random.default_rng(0)
    with (folder / "glove.txt").open("w") as file:
        for word in vocabulary:
            file.write(f"{word} {' '.join(f'{x:.4f}' for x in rng.standard_normal(300))}\n")
    yield "vectors", ModelConfig("m", name=str(folder / "glove.txt"), adapter="vectors"), "Python, reading the file"
    yield "doc2vec", ModelConfig("m", adapter="doc2vec"), "Python, inference"
    lstm = torch.nn.LSTM(300, 2_048, 1, bidirectional=True)
    torch.save({f"enc_lstm.{n}": w for n, w in lstm.state_dict().items()}, folder / "infersent1.pkl")
    options = {"vectors": str(folder / "glove.txt")}
    yield (
        "infersent",
        ModelConfig("m", name=str(folder / "infersent1.pkl"), adapter="infersent", options=options),
        "LSTM",
    )
    import tiny_models
    import tiny_papers  # the SentencePiece model of the tests

    pieces = tiny_papers.sentencepiece(folder)
    dictionary = {p: i for i, p in enumerate(["<s>", "<pad>", "</s>", "<unk>", *pieces])}
    lstm = torch.nn.LSTM(320, 512, 5, bidirectional=True)
    model = {f"lstm.{n}": w for n, w in lstm.state_dict().items()}
    model["embed_tokens.weight"] = torch.randn(len(dictionary), 320)
    torch.save({"params": {}, "model": model, "dictionary": dictionary}, folder / "laser2.pt")
    yield "laser2", ModelConfig("m", name=str(folder / "laser2.pt"), adapter="laser"), "LSTM"
    yield "model2vec", tiny_models.model2vec(folder), "tokenizer, Python"
    yield "savedmodel", tiny_models.savedmodel(folder), "TensorFlow's dispatch (tiny graph)"


def operations(name: str, model: object, texts: list[str]) -> float:
    """Operations that the matrices of a model need for these texts; 0 where it has none to speak of."""
    if name in ("sentence-transformers", "transformers", "onnx", "openvino", "http"):
        from tokenizers import Tokenizer

        tokens = Tokenizer.from_file(str(find_model_folder(known_models()["sbert"]) / "tokenizer.json")).encode_batch(
            texts
        )
        return 2 * 10_645_632 * sum(sum(t.attention_mask) for t in tokens)  # weights of six layers of 384
    if name == "infersent":
        return 2 * sum(w.numel() for w in model._lstm.parameters()) * sum(len(model.words(t)) for t in texts)  # type: ignore[attr-defined]
    if name == "laser2":
        lstm = 2 * 4 * 512 * (320 + 512 + 4 * (1_024 + 512))
        return 2 * lstm * sum(len(model._pieces(t)) + 1 for t in texts)  # type: ignore[attr-defined]
    return 0.0


def measured(args: argparse.Namespace, folder: Path) -> Iterator[Row]:
    """A row for each adapter."""
    texts, device = probe_texts(args.texts), Device(args.device, args.dtype)
    place = pick_devices(args.device)[0]
    whole = matrix_rate(place, args.dtype)
    print(f"{len(texts)} texts; matrix rate {whole / 1e9:.0f} GFLOP/s in {args.dtype} on {place}\n")
    print(f"{'adapter':22}{'texts/s':>10}{'of the matrix rate':>20}  bound")
    wanted = set(args.only.split(",")) if args.only else None
    for name, config, bound in [*minilm(folder), *random_ones(folder, texts)]:
        if wanted is None or name in wanted:
            model = load_model(config, device=device)
            speed = rate(model.encode, texts, args.rounds)  # type: ignore[attr-defined]
            yield name, speed, operations(name, model, texts) * speed / len(texts) / whole, bound
    if wanted is None or "http" in wanted:
        yield from served(device, texts, args.rounds, whole)
    yield from theirs(args, texts, whole)


def served(device: Device, texts: list[str], rounds: int, whole: float) -> Iterator[Row]:
    """The default model behind OpenAI's API on loopback, in this very process."""
    from embedding_server import serving

    local = load_model(known_models()["sbert"], device=device)
    with serving(local.encode, largest=256, longest=10_000) as (address, _):  # type: ignore[attr-defined]
        model = load_model(ModelConfig("m", name=address, adapter="openai", options={"model": "m"}), device=device)
        speed = rate(model.encode, texts, rounds)  # type: ignore[attr-defined]
    yield "http", speed, operations("http", model, texts) * speed / len(texts) / whole, "the server, JSON"


def theirs(args: argparse.Namespace, texts: list[str], whole: float) -> Iterator[Row]:
    """sentence-transformers' own `encode`, as it is by default."""
    from sentence_transformers import SentenceTransformer

    device = None if args.device == "auto" else args.device
    model = SentenceTransformer(str(find_model_folder(known_models()["sbert"])), device=device)
    speed = rate(lambda some: model.encode(some, show_progress_bar=False), texts, args.rounds)
    share = operations("sentence-transformers", model, texts) * speed / len(texts) / whole
    yield THEIRS, speed, share, "padding, matrix rate"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    speeds: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, speed, share, bound in measured(args, Path(folder)):
            speeds[name] = speed
            print(f"{name:22}{speed:>10,.0f}{f'{share:.0%}' if share else '-':>20}  {bound}", flush=True)
    if "sentence-transformers" in speeds:
        ratio = speeds["sentence-transformers"] / speeds[THEIRS]
        print(f"\nencheck's encoding of the default model / sentence-transformers' own: {ratio:.2f}")


if __name__ == "__main__":
    main()
