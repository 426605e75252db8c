"""What the contamination row says of MiniLM fine-tuned on the written probes, and of a copy that never saw them.

    python lab/benchmarks/contamination.py --folder build/contamination

The control has 5% of noise in its weights. MiniLM itself is the older model. Models that lie in the folder are used
again. `--tune-on probes:fresh=2` fine-tunes on other data.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from typing import Any

from damage import embed, load, minilm, noised

MEASURED = "probes:fresh=1"
CHECKS = "roles or temporal or binding or comparative or number or negation or entity"
SCALE = 20.0  # of the cosines in the loss
Triple = tuple[str, str, str]


def triples(spec: str) -> list[Triple]:
    """Sentence, text that keeps its meaning, text that changes it; of each contrast that the data have."""
    from encheck import load_data

    found: set[Triple] = set()
    for group in load_data(spec).groups:
        kept = {(v.relation, v.level): v.text for v in group.variants}
        for v in group.variants:
            if text := kept.get((f"{v.relation}_kept", v.level)):
                found.add((group.source, text, v.text))
    return sorted(found)


def tuned(folder: Path, spec: str, *, steps: int, size: int = 32, rate: float = 5e-5, seed: int = 0) -> Path:
    """MiniLM fine-tuned on the triples of these data: what keeps the meaning is near, what changes it is far."""
    import torch

    out = folder / f"tuned-on-{spec.replace(':', '-')}"
    if out.exists():
        return out
    known, rng = triples(spec), random.Random(seed)
    torch.manual_seed(seed)
    model = load(minilm()).train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate)
    for _ in range(steps):
        loss = contrastive(model, rng.sample(known, size))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.eval().save(str(out))
    return out


def contrastive(model: Any, some: list[Triple]) -> Any:
    """Cross entropy of each sentence's own kept text among all kept and changed texts of the batch."""
    import torch

    sources, kept, changed = (embed(model, list(texts)) for texts in zip(*some, strict=True))
    cosines = sources @ torch.cat([kept, changed]).T
    return torch.nn.functional.cross_entropy(SCALE * cosines, torch.arange(len(some)))


def noisy(folder: Path) -> Path:
    """MiniLM with noise of 5% of each weight matrix's standard deviation."""
    out = folder / "noised"
    if not out.exists():
        model = load(minilm())
        noised(0.05)(model)
        model.save(str(out))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="for models and the store")
    parser.add_argument("--tune-on", default="probes", metavar="DATA")
    parser.add_argument("--steps", type=int, default=300, help="of 32 contrasts each")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    models = [tuned(folder, options.tune_on, steps=options.steps), noisy(folder)]
    print(f"fine-tuned in {time.perf_counter() - began:.0f} s", flush=True)
    report(models, folder)


def report(models: list[Path], folder: Path) -> None:
    """The rows of one run, and the figures behind them."""
    from encheck import run
    from encheck.gating.contamination import contamination_lines

    store = folder / "store.sqlite"
    found = run(["sbert", *models], data=["probes", MEASURED], checks=CHECKS, store=store)
    print(*contamination_lines(found.raw.contamination), sep="\n")


if __name__ == "__main__":
    main()
