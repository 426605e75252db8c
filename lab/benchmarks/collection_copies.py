"""Copies of MiniLM, each with the right answer of a gate, written down before any verdict was computed.

`pass`: nobody who uses the model would notice. `block`: something that users rely on is broken. `open`: it changes a
bit of everything, and either answer can be defended. The answer goes by what was done to the model, never by figures.

The kinds are split into two halves: the balanced score is built on the one (`build`) and tried on the other (`held`).
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import unicodedata
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from damage import case_kept, dropped, embed, load, minilm, noised
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Encode = Callable[[list[str]], Floats]
Right = Literal["pass", "block", "open"]
Half = Literal["build", "held"]
HEADS, WIDTH = 12, 32  # of a layer, and dimensions of a head
STEPS, BATCH, RATE = 25, 16, 5e-5  # of a fine-tune
FITTED = 3_000  # texts that a whitening or a PCA is fitted on


@dataclass(frozen=True)
class Place:
    """Where copies are kept, where the public data lie, and `PARTS` of MiniLM for a text, shape [n, parts, d]."""

    folder: Path
    data: Path
    parts: Encode

    def base(self, texts: list[str]) -> Floats:
        """MiniLM's own vectors, shape [n, d]."""
        return unit(self.parts(texts)[:, 0])


@dataclass(frozen=True)
class Copy:
    """A copy of MiniLM: its name, its kind, the right answer, and what makes its encoding function."""

    name: str
    kind: str
    right: Right
    made: Callable[[Place], Encode]


HALVES: dict[str, Half] = {
    "served otherwise": "build",
    "rounded": "held",
    "noise in the weights": "build",
    "noise in each text's vector": "held",
    "layers": "build",
    "heads": "held",
    "pruned": "build",
    "turned": "held",
    "dimensions cut": "build",
    "texts cut": "held",
    "pooling": "build",
    "tokenizer": "held",
    "prompt": "build",
    "averaged": "held",
    "tuned for one thing": "build",
    "tuned on pairs": "held",
}


PARTS = ("mean", "fifth", "fourth", "third", "first", "cls", "max", "inner")
READ_LAYERS = (6, 5, 4, 3, 1)  # whose means are the first of them


def parts_of_minilm() -> Encode:
    """One pass of MiniLM gives several copies: its `PARTS`, not of unit length, shape [n, parts, d].

    These are the mean over the tokens of its last layer and of four before, its first token, the largest value of each
    dimension, and the mean without the two special tokens.
    """
    states_of = reader(load(minilm()), READ_LAYERS)

    def encode(texts: list[str]) -> Floats:
        states, mask = states_of(texts)
        last = states[0]
        inner = mask.copy()
        inner[:, 0] = 0
        inner[np.arange(len(texts)), mask[:, :, 0].sum(axis=1).astype(int) - 1] = 0
        largest = np.where(mask > 0, last, -np.inf).max(axis=1)
        found = [*(averaged(one, mask) for one in states), last[:, 0], largest, averaged(last, inner)]
        return np.asarray(np.stack(found, axis=1), np.float32)

    return in_batches(encode, 64)


def averaged(states: Floats, mask: Floats) -> Floats:
    """Mean over the tokens; shape [n, d]."""
    return np.asarray((states * mask).sum(axis=1) / mask.sum(axis=1), np.float32)


def part(*names: str) -> Callable[[Place], Encode]:
    """One of MiniLM's `PARTS`, or the mean of several."""
    at = [PARTS.index(name) for name in names]
    return lambda place: lambda texts: unit(place.parts(texts)[:, at].mean(axis=1))


# How a model is run.


def reader(model: Any, layers: Sequence[int] = (6,)) -> Callable[[list[str]], tuple[list[Floats], Floats]]:
    """The states of some layers, shape [n, tokens, d], and the mask [n, tokens, 1], by onnxruntime.

    It has torch's figures in half of the time.
    """
    import io

    import onnxruntime
    import torch

    transformer = model.eval()[0].auto_model
    transformer.set_attn_implementation("eager")

    class Plain(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = transformer

        def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> Any:
            if len(layers) == 1:
                return self.inner(ids, mask, types).last_hidden_state
            states = self.inner(ids, mask, types, output_hidden_states=True).hidden_states
            return tuple(states[layer] for layer in layers)

    names, one, graph = ["input_ids", "attention_mask", "token_type_ids"], torch.ones(2, 5).long(), io.BytesIO()
    outputs = [f"states {layer}" for layer in layers]
    axes = {name: {0: "n", 1: "t"} for name in [*names, *outputs]}
    how: dict[str, Any] = {"input_names": names, "output_names": outputs, "dynamic_axes": axes, "dynamo": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(Plain(), (one, one, torch.zeros_like(one)), graph, **how)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph.getvalue(), options, providers=["CPUExecutionProvider"])

    def read(texts: list[str]) -> tuple[list[Floats], Floats]:
        given = {name: value.numpy() for name, value in model.preprocess(texts).items() if name in names}
        return session.run(None, given), given["attention_mask"][:, :, None].astype(np.float32)

    return read


def encoded_by(model: Any) -> Encode:
    """A model's mean over its tokens, of unit length."""
    states_of = reader(model)

    def encode(texts: list[str]) -> Floats:
        (states,), mask = states_of(texts)
        return unit(averaged(states, mask))

    return in_batches(encode)


def changed(change: Callable[[Any], None]) -> Callable[[Place], Encode]:
    """MiniLM with its weights changed in memory."""

    def made(_: Place) -> Encode:
        model = load(minilm())
        change(model)
        return encoded_by(model)

    return made


def on_disk(change: Callable[[Path], None]) -> Callable[[Place], Encode]:
    """MiniLM with its files changed."""

    def made(place: Place) -> Encode:
        folder = place.folder / "files" / change.__name__
        shutil.copytree(minilm(), folder, dirs_exist_ok=True)
        change(folder)
        return encoded_by(load(folder))

    return made


def reading(edit: Callable[[str], str]) -> Callable[[Place], Encode]:
    """MiniLM, given other texts; those that stay as they are have MiniLM's own vectors."""

    def made(place: Place) -> Encode:
        own = encoded_by(load(minilm()))

        def encode(texts: list[str]) -> Floats:
            read = [edit(text) for text in texts]
            found = place.base(texts).copy()
            if others := [i for i, text in enumerate(texts) if read[i] != text]:
                found[others] = own([read[i] for i in others])
            return found

        return encode

    return made


def turned(change: Callable[[Floats, Place], Floats]) -> Callable[[Place], Encode]:
    """A function of MiniLM's vectors, text by text."""
    return lambda place: lambda texts: np.asarray(change(place.base(texts), place), np.float32)


def adapter(name: str, **entry: Any) -> Callable[[Place], Encode]:
    """MiniLM, exported and run by another adapter of encheck."""

    def made(place: Place) -> Encode:
        from encoders import exported

        from encheck.encoders.load import load_model as load_entry
        from encheck.encoders.model_config import Device, ModelConfig

        folder = place.folder / "exported"
        if not (folder / "onnx").exists():
            folder.mkdir(parents=True, exist_ok=True)
            exported(minilm(), folder)
        config = ModelConfig("m", name=str(folder / "onnx"), adapter=name, max_length=256, **entry)
        model: Any = load_entry(config, device=Device("cpu"))
        return in_batches(model.encode)

    return made


def in_batches(encode: Callable[[list[str]], Any], size: int = 32) -> Encode:
    """Text by length, `size` at a time."""

    def every(texts: list[str]) -> Floats:
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        parts = [encode([texts[i] for i in order[at : at + size]]) for at in range(0, len(order), size)]
        found = np.concatenate([np.asarray(part, np.float32) for part in parts])
        return np.asarray(found[np.argsort(order)], np.float32)

    return every


def behind_a_server(place: Place) -> Encode:
    """MiniLM's vectors through OpenAI's API on loopback."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
    from embedding_server import serving

    from encheck.encoders.load import load_model as load_entry
    from encheck.encoders.model_config import Device, ModelConfig

    def encode(texts: list[str]) -> Floats:
        with serving(place.base, largest=256, longest=10_000) as (address, _):
            config = ModelConfig("m", name=address, adapter="openai", options={"model": "m"})
            model: Any = load_entry(config, device=Device("cpu"))
            return in_batches(model.encode)(texts)

    return encode


def in_bfloat16(_: Place) -> Encode:
    """bfloat16 weights and arithmetic."""
    model = load(minilm()).bfloat16()
    return lambda texts: (
        model.encode(texts, batch_size=64, show_progress_bar=False, convert_to_tensor=True).float().numpy()
    )


def in_dynamic_int8(_: Place) -> Encode:
    """Linear layers in int8, activations scaled batch by batch."""
    import torch
    import torch.ao.quantization as quantization

    model = quantization.quantize_dynamic(load(minilm()).eval(), {torch.nn.Linear}, dtype=torch.qint8)
    return lambda texts: np.asarray(model.encode(texts, batch_size=64, show_progress_bar=False), np.float32)


def accents_kept(place: Place) -> Encode:
    """A tokenizer that strips no accents, for a vocabulary without any; other texts have MiniLM's own vectors."""
    folder = place.folder / "files/accents_kept"
    shutil.copytree(minilm(), folder, dirs_exist_ok=True)
    path = folder / "tokenizer.json"
    found = json.loads(path.read_text("utf-8"))
    found["normalizer"]["strip_accents"] = False
    path.write_text(json.dumps(found), "utf-8")
    own = encoded_by(load(folder))

    def encode(texts: list[str]) -> Floats:
        vectors = place.base(texts).copy()
        if others := [i for i, text in enumerate(texts) if not text.isascii()]:
            vectors[others] = own([texts[i] for i in others])
        return vectors

    return encode


# What is done to the weights.


def layers_of(model: Any) -> Any:
    return model[0].auto_model.encoder.layer


def weights_in_float16(model: Any) -> None:
    for weight in model.parameters():
        weight.data = weight.data.half().float()


def swapped(first: int, second: int) -> Callable[[Any], None]:
    """Two layers in each other's place, counted from 0."""

    def change(model: Any) -> None:
        import torch

        found = list(layers_of(model))
        found[first], found[second] = found[second], found[first]
        model[0].auto_model.encoder.layer = torch.nn.ModuleList(found)

    return change


def beheaded(layers: Sequence[int], heads: Sequence[int]) -> Callable[[Any], None]:
    """What these heads of these layers say is left out."""

    def change(model: Any) -> None:
        for layer in layers:
            for head in heads:
                weight = layers_of(model)[layer].attention.output.dense.weight
                weight.data[:, head * WIDTH : (head + 1) * WIDTH] = 0

    return change


def pruned(share: float) -> Callable[[Any], None]:
    """The smallest weights of each matrix of the layers set to 0."""

    def change(model: Any) -> None:
        for weight in layers_of(model).parameters():
            if weight.dim() > 1:
                least = weight.data.abs().flatten().kthvalue(int(share * weight.numel())).values
                weight.data[weight.data.abs() <= least] = 0

    return change


def reads_only(tokens: int) -> Callable[[Any], None]:
    def change(model: Any) -> None:
        model.max_seq_length = tokens

    return change


# What is done to the texts.


def without_punctuation(text: str) -> str:
    kept = "".join(" " if unicodedata.category(letter).startswith("P") else letter for letter in text)
    return " ".join(kept.split())


# What is done to the vectors.


def unit(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12), np.float32)


def first_dimensions(count: int) -> Callable[[Floats, Place], Floats]:
    return lambda vectors, _: unit(vectors[:, :count])


def noisy_texts(share: float) -> Callable[[Floats, Place], Floats]:
    """Each text's own noise, of this share of its vector's length; the same text gets the same noise."""

    def change(vectors: Floats, _: Place) -> Floats:
        seeds = [int.from_bytes(row.astype(np.float16).tobytes()[:8], "little") for row in vectors]
        noise = np.stack([np.random.default_rng(seed).standard_normal(vectors.shape[1]) for seed in seeds])
        return unit(vectors + share * noise / np.sqrt(vectors.shape[1]))

    return change


def in_float16(vectors: Floats, _: Place) -> Floats:
    return vectors.astype(np.float16).astype(np.float32)


def in_int8(vectors: Floats, place: Place) -> Floats:
    """Each dimension in 256 steps over the range that it has on other texts."""
    fitted = place.base(fitting(place))
    low, step = fitted.min(axis=0), np.ptp(fitted, axis=0) / 255
    return np.asarray(low + step * np.clip(np.rint((vectors - low) / step), 0, 255), np.float32)


def signs(vectors: Floats, _: Place) -> Floats:
    return np.where(vectors > 0, np.float32(1), np.float32(-1))


def rotated(vectors: Floats, _: Place) -> Floats:
    width = vectors.shape[1]
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((width, width)))[0]
    return np.asarray(vectors @ turn, np.float32)


def fitting(place: Place) -> list[str]:
    """Questions of QQP's test part, on which nothing else is measured."""
    rows = (place.data / "qqp/Quora_question_pair_partition/test.tsv").read_text("utf-8").split("\n")
    return list(dict.fromkeys(row.split("\t")[1] for row in rows if row))[:FITTED]


def spread(place: Place) -> tuple[Floats, Floats, Floats]:
    """Mean, directions of the largest variance first, shape [d, d], and standard deviations."""
    fitted = place.base(fitting(place))
    mean = fitted.mean(axis=0)
    _, sizes, directions = np.linalg.svd(fitted - mean, full_matrices=False)
    return mean, directions.T, sizes / np.sqrt(len(fitted))


def principal(count: int) -> Callable[[Floats, Place], Floats]:
    """The first directions of a PCA, without centring, so that angles stay what they were."""
    return lambda vectors, place: unit(vectors @ spread(place)[1][:, :count])


def whitened(vectors: Floats, place: Place) -> Floats:
    mean, directions, sizes = spread(place)
    return unit((vectors - mean) @ directions / sizes)


def centred(vectors: Floats, place: Place) -> Floats:
    return unit(vectors - spread(place)[0])


# Fine-tunes.


Pairs = list[tuple[str, str, float]]


def rows_of(path: Path) -> list[list[str]]:
    return [row.rstrip("\r").split("\t") for row in path.read_text("utf-8-sig").split("\n") if row.strip()]


def sts_pairs(place: Place) -> Pairs:
    return [(r[5], r[6], float(r[4]) / 5) for r in rows_of(place.data / "stsbenchmark/sts-train.csv")]


def shuffled_pairs(place: Place) -> Pairs:
    found = sts_pairs(place)
    scores = random.Random(0).sample([score for *_, score in found], len(found))
    return [(first, second, score) for (first, second, _), score in zip(found, scores, strict=True)]


def paws_pairs(place: Place) -> Pairs:
    return [(r[1], r[2], float(r[3])) for r in rows_of(place.data / "paws_wiki/final/dev.tsv")[1:]]


def mrpc_pairs(place: Place) -> Pairs:
    return [(r[3], r[4], float(r[0])) for r in rows_of(place.data / "mrpc/msr_paraphrase_train.txt")[1:]]


def antonym_triples() -> list[tuple[str, str, str]]:
    """Sentence, text that keeps its meaning, antonym put in; of the probes' dev items."""
    from encheck.datasets.load import load as load_data

    found = set()
    for group in load_data("probes").groups:
        by = {v.relation: v.text for v in group.variants}
        if group.split == "dev" and "antonym" in by and (kept := group.paraphrase or by.get("synonym")):
            found.add((group.source, kept, by["antonym"]))
    return sorted(found)


def regression(model: Any, some: Sequence[tuple[str, str, float]]) -> Any:
    """Mean squared error of the cosine."""
    import torch

    first, second = (embed(model, [pair[i] for pair in some]) for i in (0, 1))
    return torch.nn.functional.mse_loss((first * second).sum(dim=1), torch.tensor([pair[2] for pair in some]))


def antonyms_alone(model: Any, some: Sequence[tuple[str, str, str]]) -> Any:
    """A margin of 0.5 between kept meaning and antonym; nothing holds the rest of the space."""
    import torch

    source, kept, changed_ = (embed(model, [triple[i] for triple in some]) for i in range(3))
    margins = (source * kept).sum(dim=1) - (source * changed_).sum(dim=1)
    return torch.nn.functional.relu(0.5 - margins).mean()


def in_batch(model: Any, some: Sequence[tuple[str, str]]) -> Any:
    """Each text's own paraphrase among those of the batch."""
    import torch

    first, second = (embed(model, [pair[i] for pair in some]) for i in (0, 1))
    return torch.nn.functional.cross_entropy(20 * first @ second.T, torch.arange(len(some)))


def paraphrases() -> list[tuple[str, str]]:
    from encheck.datasets.load import load as load_data

    return sorted({(g.source, g.paraphrase) for g in load_data("probes").groups if g.split == "dev" and g.paraphrase})


Lesson = tuple[Callable[[Place], Sequence[Any]], Callable[[Any, Sequence[Any]], Any], float]
LESSONS: dict[str, Lesson] = {
    "stsb": (sts_pairs, regression, RATE),
    "random": (shuffled_pairs, regression, RATE),
    "paws": (paws_pairs, regression, RATE),
    "mrpc": (mrpc_pairs, regression, RATE),
    "antonyms": (lambda _: antonym_triples(), antonyms_alone, RATE),
    "paraphrases": (lambda _: paraphrases(), in_batch, 2e-5),
}


def state(place: Place, lesson: str) -> dict[str, Any]:
    """The weights of a fine-tune, learned once and kept."""
    import torch
    from safetensors.torch import load_file, save_file

    path = place.folder / "tuned" / f"{lesson}.safetensors"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        examples, loss_of, rate = LESSONS[lesson]
        torch.manual_seed(0)
        rng, model, known = random.Random(0), load(minilm()).train(), examples(place)
        optimiser = torch.optim.AdamW(model.parameters(), lr=rate)
        for _ in range(STEPS):
            loss = loss_of(model, rng.sample(known, BATCH))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        save_file({name: value.contiguous() for name, value in model.state_dict().items()}, path)
    return dict(load_file(path))


def tuned(lesson: str, share: float = 1.0) -> Callable[[Place], Encode]:
    """MiniLM fine-tuned; with a share below 1, the weighted mean of its weights and MiniLM's own."""

    def made(place: Place) -> Encode:
        model = load(minilm())
        learned = state(place, lesson)
        own = model.state_dict()
        model.load_state_dict({n: share * learned[n] + (1 - share) * w if w.is_floating_point() else w
                               for n, w in own.items()})  # fmt: skip
        return encoded_by(model)

    return made


COPIES: tuple[Copy, ...] = (
    Copy("ONNX", "served otherwise", "pass", adapter("onnx")),
    Copy("OpenVINO", "served otherwise", "pass", adapter("openvino")),
    Copy("behind a server", "served otherwise", "pass", behind_a_server),
    Copy("bfloat16", "rounded", "pass", in_bfloat16),
    Copy("weights in float16", "rounded", "pass", changed(weights_in_float16)),
    Copy("dynamic int8", "rounded", "block", in_dynamic_int8),
    Copy("vectors in float16", "rounded", "pass", turned(in_float16)),
    Copy("vectors in int8", "rounded", "pass", turned(in_int8)),
    Copy("signs of the vectors", "rounded", "block", turned(signs)),
    Copy("weights noised by 1%", "noise in the weights", "pass", changed(noised(0.01))),
    Copy("weights noised by 5%", "noise in the weights", "open", changed(noised(0.05))),
    Copy("weights noised by 20%", "noise in the weights", "block", changed(noised(0.2))),
    Copy("vectors noised by 1%", "noise in each text's vector", "pass", turned(noisy_texts(0.01))),
    Copy("vectors noised by 10%", "noise in each text's vector", "open", turned(noisy_texts(0.1))),
    Copy("vectors noised by 30%", "noise in each text's vector", "block", turned(noisy_texts(0.3))),
    Copy("vectors noised by 60%", "noise in each text's vector", "block", turned(noisy_texts(0.6))),
    Copy("first layer dropped", "layers", "block", changed(dropped(0))),
    Copy("fourth layer dropped", "layers", "block", changed(dropped(3))),
    Copy("last layer dropped", "layers", "block", part("fifth")),
    Copy("last two layers dropped", "layers", "block", part("fourth")),
    Copy("last three layers dropped", "layers", "block", part("third")),
    Copy("second and third layer swapped", "layers", "block", changed(swapped(1, 2))),
    Copy("one head of each layer removed", "heads", "open", changed(beheaded(range(6), [0]))),
    Copy("half the heads of each layer removed", "heads", "block", changed(beheaded(range(6), range(HEADS // 2)))),
    Copy("10% of weights pruned", "pruned", "pass", changed(pruned(0.1))),
    Copy("30% of weights pruned", "pruned", "open", changed(pruned(0.3))),
    Copy("60% of weights pruned", "pruned", "block", changed(pruned(0.6))),
    Copy("rotated", "turned", "pass", turned(rotated)),
    Copy("256 principal directions", "turned", "open", turned(principal(256))),
    Copy("32 principal directions", "turned", "block", turned(principal(32))),
    Copy("whitened", "turned", "open", turned(whitened)),
    Copy("centred", "turned", "open", turned(centred)),
    Copy("first 256 dimensions", "dimensions cut", "open", turned(first_dimensions(256))),
    Copy("first 128 dimensions", "dimensions cut", "block", turned(first_dimensions(128))),
    Copy("first 32 dimensions", "dimensions cut", "block", turned(first_dimensions(32))),
    Copy("16 tokens", "texts cut", "block", changed(reads_only(16))),
    Copy("8 tokens", "texts cut", "block", changed(reads_only(8))),
    Copy("cls for mean pooling", "pooling", "block", part("cls")),
    Copy("max for mean pooling", "pooling", "block", part("max")),
    Copy("mean of the last two layers", "pooling", "open", part("mean", "fifth")),
    Copy("mean of the first and last layer", "pooling", "open", part("mean", "first")),
    Copy("special tokens left out", "pooling", "open", part("inner")),
    Copy("lower-casing lost", "tokenizer", "block", on_disk(case_kept)),
    Copy("accents kept", "tokenizer", "pass", accents_kept),
    Copy("punctuation dropped", "tokenizer", "open", reading(without_punctuation)),
    Copy("prompt 'query: '", "prompt", "open", reading(lambda text: f"query: {text}")),
    Copy("half a paraphrase fine-tune", "averaged", "pass", tuned("paraphrases", 0.5)),
    Copy("half an antonym fine-tune", "averaged", "open", tuned("antonyms", 0.5)),
    Copy("antonyms alone", "tuned for one thing", "block", tuned("antonyms")),
    Copy("random labels", "tuned for one thing", "block", tuned("random")),
    Copy("STS-B", "tuned on pairs", "open", tuned("stsb")),
    Copy("PAWS", "tuned on pairs", "block", tuned("paws")),
    Copy("MRPC", "tuned on pairs", "open", tuned("mrpc")),
    Copy("paraphrases", "tuned on pairs", "open", tuned("paraphrases")),
)  # fmt: skip


def half_of(copy: Copy) -> Half:
    """Which half its kind belongs to."""
    return HALVES[copy.kind]
