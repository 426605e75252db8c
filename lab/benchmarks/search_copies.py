"""What the gate says of real copies of MiniLM on the labelled questions of the help centre: rounded and damaged ones.

    python lab/benchmarks/search_copies.py [--folder build/search-copies] [--pairs mrpc:MRPC --checks "number"]

bf16, another pooling, and the last two of six layers left out; what each gate says is printed. With `--pairs` it is on
the paraphrases of a data set, the first of each pair a query and the second its document.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from damage import cls_pooling, load, minilm
from help_center import make

from encheck.datasets.load import load as load_data

LAYERS = 4


def without_two_layers(folder: Path) -> None:
    """Leave out the last two layers."""
    model: Any = load(folder)
    transformer = model[0].auto_model
    transformer.encoder.layer = transformer.encoder.layer[:LAYERS]
    transformer.config.num_hidden_layers = LAYERS
    model.save(str(folder))


COPIES: dict[str, tuple[Callable[[Path], None] | None, tuple[str, ...]]] = {
    "bf16": (None, ("--dtype=bfloat16",)),
    "cls pooling": (cls_pooling, ()),
    "two layers dropped": (without_two_layers, ()),
}


def copy(folder: Path, name: str) -> Path:
    """A copy of MiniLM, changed as its name says."""
    place = folder / name.replace(" ", "-")
    shutil.copytree(minilm(), place, dirs_exist_ok=True)
    if change := COPIES[name][0]:
        change(place)
    return place


def write_pairs(spec: str, labels: Path) -> None:
    """Write the paraphrases of a data set as a search."""
    rows = [(pair.first, pair.second) for pair in load_data(spec, sample=None).pairs if pair.label == 1]
    labels.write_text("".join(f"{json.dumps({'query': one, 'document': two})}\n" for one, two in rows), "utf-8")


def encheck(command: str, folder: Path, selected: Sequence[str], *args: str) -> list[str]:
    """What a command prints of the selected checks."""
    shared = (*selected, f"--data=retrieval:{folder / 'labels.jsonl'}", f"--store={folder / 'store.sqlite'}")
    typed = [sys.executable, "-m", "encheck", command, *shared, f"--report-dir={folder / 'report'}", *args]
    return subprocess.run(typed, capture_output=True, text=True, check=False).stdout.splitlines()


def said(lines: list[str]) -> list[str]:
    """What was said of the gate."""
    start = next(i for i, line in enumerate(lines) if line.startswith("gate against"))
    return lines[start:]


def gates(
    folder: Path,
    *,
    pairs: str | None = None,
    sample: str = "all",
    checks: str = "",
    only: Sequence[str] = tuple(COPIES),
) -> Iterator[tuple[str, list[str]]]:
    """(copy, what its gate says), one after the other."""
    folder.mkdir(parents=True, exist_ok=True)
    if pairs:
        write_pairs(pairs, folder / "labels.jsonl")
    else:
        make(folder / "help-center", folder / "log.txt", folder / "labels.jsonl")
    selected = (*(("-m", checks) if checks else ()), f"--sample={sample}")
    encheck("run", folder, selected, f"--model={minilm()}", f"--save-baseline={folder / 'base'}")
    for name in only:
        how = COPIES[name][1]
        yield name, said(encheck("gate", folder, selected, str(copy(folder, name)), str(folder / "base"), *how))


def main() -> None:
    """Gate each copy."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path("build/search-copies"))
    parser.add_argument("--pairs", help="a data set whose paraphrases are searched")
    parser.add_argument("--checks", default="", help="which, as -m takes them: such a gate never passes")
    parser.add_argument("--sample", default="all", help="clusters of its queries")
    parser.add_argument("--only", nargs="+", choices=COPIES, default=tuple(COPIES))
    asked = parser.parse_args()
    found_by = gates(
        asked.folder.resolve(), pairs=asked.pairs, sample=asked.sample, checks=asked.checks, only=asked.only
    )
    for name, found in found_by:
        print(f"\n{name}:\n", *found, sep="\n", flush=True)


if __name__ == "__main__":
    main()
