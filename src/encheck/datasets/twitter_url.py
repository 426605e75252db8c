"""Twitter-URL (Lan et al. 2017), as distributed, or as three parallel files of tokens.

Distributed files have sentence 1, sentence 2, votes such as (4,6), and a URL. At most 2 of 6 votes give label 0, and at
least 4 give label 1. Pairs with 3 votes are dropped. `score` is the number of votes, and the cluster is the URL. A few
rows have a fifth field: their URL is the last field. They are accepted if the third field has the votes.

`twitter-url@held-out` divides the training pairs into 37,976 for training and the last 4,224 for validation. These are
the sizes in "Predicate-Argument Based Bi-Encoder ..." (Table 1), but the paper does not say which pairs it held out.

Parallel files are a.toks, b.toks and sim.txt (0 or 1) in a folder called train or test. They have no votes and no URL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from encheck.datasets.hub import Hub
from encheck.datasets.reader import (
    BadRows,
    Expected,
    PairRow,
    SplitReaders,
    find_split_files,
    make_checked_rows,
    make_pair_rows,
    read_lines,
    read_tab_rows,
    yield_and_check_counts,
)
from encheck.errors import DataError

LICENCE = "CC BY-NC-SA 3.0, and Twitter's terms"
CITATION = "Lan, Qiu, He and Xu 2017: A Continuously Growing Dataset of Sentential Paraphrases. EMNLP"
FILES = "Twitter_URL_Corpus_train.txt and / or _test.txt, or folders of a.toks, b.toks and sim.txt"
SAMPLE = "Twitter_URL_Corpus_train_sample.txt"
HUB = Hub(
    "mteb/twitterurlcorpus-pairclassification",
    "8b6510b0b1fa4e4c4f879467980e9be563ec1cdf",
    first="sent1",
    second="sent2",
    label="labels",
    expected={"test": (51_534, {"1": 12_988, "0": 38_546})},
    listed=True,
)  # MTEB's selection, without votes and topics
EXPECTED: Expected = {
    "train/sim.txt": (42_200, {"1": 11_167, "0": 31_033}),
    SAMPLE: (92, {"1": 39, "0": 53}),
}
RAW = {"Twitter_URL_Corpus_train.txt": "train", "Twitter_URL_Corpus_test.txt": "test"}
PARALLEL = ("a.toks", "b.toks", "sim.txt")
HELD_OUT = 4_224
VOTES = re.compile(r"\(([0-6]), ?6\)")
SPLITS = {"train": "train", "dev": "validation", "test": "test"}


def read(path: Path, bad: BadRows) -> Iterator[PairRow]:
    """Yield the pairs in file order. If a folder holds several layouts, the distributed files take precedence."""
    for file, split in _find_files(path):
        rows = _read_parallel_files(file, bad) if file.name == "sim.txt" else _read_rows_with_votes(file, split, bad)
        name = f"{file.parent.name}/{file.name}" if file.name == "sim.txt" else file.name
        yield from yield_and_check_counts(file, rows, EXPECTED, bad, name=name)


def read_with_held_out_validation(path: Path, bad: BadRows) -> Iterator[PairRow]:
    """Yield the same pairs, with the last 4,224 training pairs as the validation part.

    Raise DataError if there are no more than 4,224.
    """
    rows = list(read(path, bad))
    training = [i for i, row in enumerate(rows) if row.split == "train"]
    if len(training) <= HELD_OUT:
        raise DataError(
            f"twitter-url@held-out: {path} has {len(training):,} training pairs, but {HELD_OUT:,} are held out"
        )
    validation = set(training[-HELD_OUT:])
    return (row._replace(split="validation") if i in validation else row for i, row in enumerate(rows))


READINGS: SplitReaders = {"held-out": read_with_held_out_validation}


def _find_files(path: Path) -> list[tuple[Path, str]]:
    has_raw = path.is_dir() and any(file for name in RAW for file in path.rglob(name))
    if path.is_dir() and not has_raw:
        folders = sorted({file.parent for name in PARALLEL for file in path.rglob(name)})
        if folders:
            return [(folder / "sim.txt", "") for folder in folders]
    if path.is_dir() and not has_raw and not any(path.rglob(SAMPLE)):
        raise DataError(f"twitter-url: {path} holds none of {FILES}")
    files = find_split_files(path, RAW | {SAMPLE: "train"}, data_set="twitter-url")
    return [entry for entry in files if entry[0].name != SAMPLE] or files


def _read_rows_with_votes(file: Path, split: str, bad: BadRows) -> Iterator[PairRow]:
    def make_row(fields: list[str]) -> PairRow:
        votes = parse_votes(fields[2])
        return PairRow(fields[0], fields[1], int(votes > 3), split, fields[-1].strip() or None, float(votes))

    rows = make_checked_rows(file, read_tab_rows(file, columns=(4, 5), bad=bad), make_row, bad=bad)
    return (row for row in rows if row.score != 3)


def parse_votes(field: str) -> int:
    """Return the number of paraphrase votes out of six. Raise ValueError for a field in a different form.

    >>> parse_votes("(4,6)")
    4
    """
    match = VOTES.fullmatch(field.strip())
    if not match:
        raise ValueError(f"the votes are {field!r:.60}, but should be like (4,6)")
    return int(match[1])


def _read_parallel_files(sim: Path, bad: BadRows) -> Iterator[PairRow]:
    files = [sim.with_name(name) for name in PARALLEL]
    columns = [read_lines(file) for file in files]
    if len({len(column) for column in columns}) > 1:
        lengths = ", ".join(f"{file.name} {len(column):,}" for file, column in zip(files, columns, strict=True))
        raise DataError(f"twitter-url: the files in {sim.parent} differ in lines ({lengths}): one of them is truncated")
    numbered = enumerate(((a, b, label, None) for a, b, label in zip(*columns, strict=True)), 1)
    return make_pair_rows(sim, numbered, split=SPLITS.get(sim.parent.name, ""), bad=bad)
