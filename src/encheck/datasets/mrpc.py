"""Microsoft Research Paraphrase Corpus (Dolan and Brockett 2005), as distributed.

The validation part is the last 500 training rows, here and everywhere in encheck.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from encheck.datasets.hub import Hub
from encheck.datasets.published import Expected, as_published
from encheck.datasets.reader import BadRows, Row, files_of, pair_rows, tab_rows

LICENCE = "Microsoft Shared Source License (comes with the corpus)"
CITATION = "Dolan and Brockett 2005: Automatically Constructing a Corpus of Sentential Paraphrases. IWP"
FILES = "msr_paraphrase_train.txt and / or msr_paraphrase_test.txt"
HUB = Hub(
    "nyu-mll/glue",
    "bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c",
    config="mrpc",
    label="label",
    expected={
        "train": (3_668, {"1": 2_474, "0": 1_194}),
        "validation": (408, {"1": 279, "0": 129}),
        "test": (1_725, {"1": 1_147, "0": 578}),
    },
)
EXPECTED: Expected = {
    "msr_paraphrase_train.txt": (4_076, {"1": 2_753, "0": 1_323}),
    "msr_paraphrase_test.txt": (1_725, {"1": 1_147, "0": 578}),
}
SPLITS = {"msr_paraphrase_train.txt": "train", "msr_paraphrase_test.txt": "test"}
HEADER = ("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String")
VALIDATION_ROWS = 500


def read(path: Path, bad: BadRows) -> Iterator[Row]:
    """Pairs in file order: Quality, #1 ID, #2 ID, #1 String, #2 String, tabs, no quoting."""
    for file, split in files_of(path, SPLITS, what="mrpc"):
        rows = ((n, (f[3], f[4], f[0], None)) for n, f in tab_rows(file, columns=5, header=HEADER, bad=bad))
        found = list(as_published(file.name, pair_rows(file, rows, split=split, bad=bad), EXPECTED))
        cut = max(0, len(found) - VALIDATION_ROWS) if split == "train" else len(found)
        yield from found[:cut]
        yield from (row._replace(split="validation") for row in found[cut:])
