"""Options that the recipes of trainings share, and what comes of them."""

from __future__ import annotations

import argparse
import math
import os
from dataclasses import fields
from pathlib import Path

from encheck.errors import UsageError
from encheck_papers.fit import Choices

HELP = {
    "rate": "learning rate (the paper tunes over 2e-5, 3e-5, 5e-5)",
    "head_rate": "learning rate of what starts at random: the head, a pooling over spans (default: that of the rest)",
    "epochs": "epochs of training",
    "batch": "pairs a step",
    "patience": "evaluations without a better one before it stops",
    "bf16": "multiply in bfloat16 in training steps: faster where the processor can",
}
NAMES = {field.name for field in fields(Choices)}


def add_options(parser: argparse.ArgumentParser, *, pairs: str, epochs: float = Choices.epochs) -> None:
    """Add what each training has: where it goes, its seeds and pairs (`pairs` is that option's help), its choices."""
    add = parser.add_argument
    add("--out", type=Path, required=True, help="folder of the trainings")
    add("--seeds", type=count, default=5, help="seeds 0, 1, ... (default: 5)")
    add("--pairs", type=count, help=pairs)
    for name, kind, usual in (("rate", above_zero, Choices.rate), ("epochs", above_zero, epochs),
                              ("batch", count, Choices.batch), ("patience", count, Choices.patience)):  # fmt: skip
        add(f"--{name}", type=kind, default=usual, help=f"{HELP[name]} (default: {usual:g})")
    add("--head-rate", type=above_zero, help=HELP["head_rate"])
    add("--bf16", action="store_true", help=HELP["bf16"])
    add("--threads", type=count, help="threads of torch (default: its own choice)")


def make_folder(out: Path) -> None:
    """Make the folder of --out; UsageError if that cannot be."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write into {out}: {error.strerror}. Remedy: another --out") from error


def count(text: str) -> int:
    """A whole number, 1 at least, of an option."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} should be a whole number, 1 at least")
    return int(text)


def above_zero(text: str) -> float:
    """A number above 0 of an option."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 < found < math.inf:
        raise argparse.ArgumentTypeError(f"{text} should be a number above 0")
    return found


def share_of(text: str) -> float:
    """A share of an option: above 0, 1 at most."""
    found = above_zero(text)
    if found > 1:
        raise argparse.ArgumentTypeError(f"{text} is no share: it should be above 0, and 1 at most")
    return found


def choices_of(told: argparse.Namespace, *, seed: int) -> Choices:
    """How to train with this seed."""
    return Choices(**{name: value for name, value in vars(told).items() if name in NAMES}, seed=seed)


def set_threads(told: argparse.Namespace) -> None:
    """Give torch its threads; those of tokenizers would take them away."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if told.threads:
        import torch

        torch.set_num_threads(told.threads)
