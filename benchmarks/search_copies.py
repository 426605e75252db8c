"""What the gate says of real copies of MiniLM on the labelled questions of the help centre: rounded and damaged ones.

    python benchmarks/search_copies.py [--folder build/search-copies]

bf16, another pooling, and the last two of six layers left out; what each gate says is printed.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from damage import cls_pooling, load, minilm
from help_center import make

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


def run(folder: Path, *args: str) -> list[str]:
    """What a run of the retrieval checks prints."""
    shared = ("-m", "retrieval", f"--data=retrieval:{folder / 'labels.jsonl'}", f"--store={folder / 'store.sqlite'}")
    command = [sys.executable, "-m", "encheck", "run", *shared, f"--report-dir={folder / 'report'}", *args]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()


def said(lines: list[str]) -> list[str]:
    """What was said of the gate."""
    start = next(i for i, line in enumerate(lines) if line.startswith("gate against"))
    return lines[start : lines.index("", start)]


def gates(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """(copy, what its gate says), one after the other."""
    folder.mkdir(parents=True, exist_ok=True)
    make(folder / "help-center", folder / "log.txt", folder / "labels.jsonl")
    run(folder, f"--model={minilm()}", f"--save-baseline={folder / 'base'}")
    for name, (_, how) in COPIES.items():
        yield name, said(run(folder, f"--model={copy(folder, name)}", f"--baseline={folder / 'base'}", *how))


def main() -> None:
    """Gate each copy."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path("build/search-copies"))
    for name, found in gates(parser.parse_args().folder.resolve()):
        print(f"\n{name}:\n", *found, sep="\n", flush=True)


if __name__ == "__main__":
    main()
