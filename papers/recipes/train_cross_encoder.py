"""Train a cross-encoder on labelled pairs of several data sets: the paraphrase models of Peng, Weir and Weeds 2023.

    python papers/recipes/train_cross_encoder.py --data qqp:DATA/qqp --data paws-qqp:DATA/paws_qqp \\
        --data paws:DATA/paws_wiki --dev qqp --model bert --seeds 5 --out DIR
    encheck run -m "continuation or swapchain" --model=bert-paraphrase --model-arg name=DIR/best \\
        --data=paws:DATA/paws_wiki --continuation-model gpt2

The training parts of all data sets are trained on together, and the development part of `--dev` (the first data set)
chooses the checkpoint (section 3.2: QQP's; 3 epochs, batches of 16, rate 2e-5, warm-up over 10% of the steps). The test
part of each is measured by argmax: accuracy and F1 of the positive class are Table 2, and the share of predictions that
change when the sentences are exchanged is reported beside them. DIR/seed-0, DIR/seed-1, ... are the trainings. Finished
ones are skipped, so an interrupted call can be made again. DIR/best leads to the one with the best F1 on the
development part.

Other data sets train in the same way, one alone too: --data mrpc:DATA/mrpc. You bring the weights to begin with:
a name in models.yaml (bert, roberta), a folder of transformers, or an id on the hub.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from training_options import add_options, choices_of, set_threads

from encheck.datasets.load import load
from encheck.errors import EncheckError, UsageError
from encheck_papers.fit import CrossEncoder, fit_once
from encheck_papers.parts import Parts, joined, parts_of

EPOCHS = 3
MAX_LENGTH = 128
BEST = "best"
Results = Mapping[str, Any]


def table(runs: Sequence[Results]) -> str:
    """A row each seed and data set: Table 2, and flips."""
    columns = ("seed", "data", "pairs", "accuracy", "F1", "flips")
    rows = [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    for run in runs:
        for name, found in run["also"].items():
            shares = " | ".join(f"{100 * found[key]:.2f}" for key in ("accuracy", "f1", "flips"))
            rows.append(f"| {run['settings']['seed']} | {name} | {found['n']:,} | {shares} |")
    return "\n".join(rows)


def folder_of(seed: int) -> str:
    """The name of a training's folder, which is the model's name in reports."""
    return f"seed-{seed}"


def link_best(out: Path, runs: Sequence[Results]) -> Path:
    """Point DIR/best at the training whose F1 on the development part is highest; the first of equal ones."""
    best = max(runs, key=lambda run: run["dev"]["f1"])
    link = out / BEST
    link.unlink(missing_ok=True)
    link.symlink_to(folder_of(best["settings"]["seed"]), target_is_directory=True)
    return link


def training_parts(data: Sequence[str], *, dev: str | None, pairs: int | None) -> tuple[Parts, dict[str, Parts]]:
    """The parts of all data sets together, and of each by its name."""
    each = [parts_of(load(spec, sample=None, whole=True)) for spec in data]
    named = {one.name: one for one in each}
    if len(named) < len(each):
        raise UsageError(f"--data names {', '.join(one.name for one in each)}: each data set should be there once")
    whole = joined(each, dev=dev)
    return (whole.sampled(pairs, seed=0) if pairs else whole), named


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", action="append", required=True, help="labelled pairs, NAME:PATH; repeatable")
    add("--dev", help="the data set whose development part chooses the checkpoint (default: the first)")
    add("--model", required=True, help="the weights to begin with: a name (bert), a folder of transformers, a hub id")
    add_options(parser, pairs="train on so many pairs of all (default: all)", epochs=EPOCHS)
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> list[Results]:
    """Train what is not finished; print the table and the best one."""
    told = arguments(argv)
    set_threads(told)
    parts, named = training_parts(told.data, dev=told.dev, pairs=told.pairs)
    runs = []
    for seed in range(told.seeds):
        run = fit_once(
            told.out / folder_of(seed), partial(CrossEncoder.of, told.model, max_length=MAX_LENGTH), parts,
            choices=choices_of(told, seed=seed),
            settings={"model": told.model, "max_length": MAX_LENGTH}, also={n: one.test for n, one in named.items()},
        )  # fmt: skip
        runs.append(run)
        print(f"{told.out / folder_of(seed)}: development F1 {run['dev']['f1']:.4f}", flush=True)
    print(f"\n{table(runs)}\n\nbest: {link_best(told.out, runs).resolve()}")
    return runs


if __name__ == "__main__":
    try:
        main()
    except EncheckError as error:
        sys.exit(f"{Path(__file__).name}: {error}")
