"""PAWS-QQP (Zhang et al. 2019), as written by the script that its authors distribute for the Quora questions.

Under Python 3 that script writes each sentence as the text of a bytes literal, b'...' or b"...", which is decoded as
UTF-8. Under Python 2 it writes the sentence itself, which is used unchanged.

The data have no validation part, so all of dev_and_test.tsv is measured. `paws-qqp@paws-wiki` uses PAWS-Wiki's dev.tsv
for validation ("Predicate-Argument Based Bi-Encoder ...", Table 1). `paws-qqp@halves` uses a random half of
dev_and_test.tsv, drawn label by label (RISE, Table 8). The seed is the paper's, 42, but the pairs may differ from the
paper's.
"""

from __future__ import annotations

import ast
import random
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

from encheck.datasets import paws
from encheck.datasets.reader import (
    BadRows,
    Expected,
    PairRow,
    SplitReaders,
    binary_label_or_none,
    find_split_files,
    make_checked_rows,
    read_tab_rows,
    yield_and_check_counts,
)
from encheck.errors import DataError

LICENCE = "Quora terms of service; the labels free, acknowledge Google LLC as the source"
CITATION = "Zhang, Baldridge and He 2019: PAWS: Paraphrase Adversaries from Word Scrambling. NAACL"
NEGATIVES = "made hard by hand and by machine: words swapped, or questions translated there and back"
FILES = "train.tsv and / or dev_and_test.tsv of PAWS-QQP (paws-qqp@paws-wiki: with PAWS-Wiki's dev.tsv)"
EXPECTED: Expected = {"train.tsv": (11_988, {}), "dev_and_test.tsv": (677, {})}
SPLITS = {"train.tsv": "train", "dev_and_test.tsv": "test"}
SEED = 42
LITERAL = re.compile(r"""b'(?:[^'\\]|\\.)*'|b"(?:[^"\\]|\\.)*\"""")
HEADER = ("id", "sentence1", "sentence2", "label")


def read(path: Path, bad: BadRows) -> Iterator[PairRow]:
    """Yield the pairs in file order. Columns: id, sentence1, sentence2, label; tabs, no quoting except the bytes
    literals.
    """
    for file, split in find_split_files(path, SPLITS, data_set="paws-qqp"):

        def make_row(fields: list[str], split: str = split) -> PairRow:
            label = binary_label_or_none(fields[3])
            if label is None:
                raise ValueError(f"the label is {fields[3]!r:.60}, but should be 0 or 1")
            return PairRow(decode_bytes_literal(fields[1]), decode_bytes_literal(fields[2]), label, split)

        numbered = read_tab_rows(file, columns=4, header=HEADER, bad=bad)
        yield from yield_and_check_counts(file, make_checked_rows(file, numbered, make_row, bad=bad), EXPECTED, bad)


def read_with_paws_wiki(path: Path, bad: BadRows) -> Iterator[PairRow]:
    """Yield the same pairs, with PAWS-Wiki's dev.tsv as the validation part. The folder must hold that file."""
    files = sorted(path.rglob("dev.tsv")) if path.is_dir() else []
    if len(files) != 1:
        raise DataError(
            f"paws-qqp@paws-wiki: {path} should hold PAWS-Wiki's dev.tsv once, but holds it {len(files)} times"
        )
    yield from read(path, bad)
    yield from paws.read(files[0], bad)


def read_in_halves(path: Path, bad: BadRows) -> Iterator[PairRow]:
    """Yield the same pairs, with half of dev_and_test.tsv, drawn label by label, as the validation part."""
    rows, rng = list(read(path, bad)), random.Random(SEED)  # noqa: S311 - no secret
    validation: set[int] = set()
    for label in (0, 1):
        of_label = [i for i, row in enumerate(rows) if (row.split, row.label) == ("test", label)]
        validation |= set(rng.sample(of_label, len(of_label) // 2))
    return (row._replace(split="validation") if i in validation else row for i, row in enumerate(rows))


READINGS: SplitReaders = {"paws-wiki": read_with_paws_wiki, "halves": read_in_halves}


def decode_bytes_literal(field: str) -> str:
    r"""Return the sentence in a bytes literal. Raise ValueError if the literal is malformed or not UTF-8.

    >>> decode_bytes_literal(r"b'Is a caf\xc3\xa9 \"it\" ?'"), decode_bytes_literal("Is it ?")
    ('Is a café "it" ?', 'Is it ?')
    """
    text = field.strip()
    if not text.startswith(("b'", 'b"')):
        return text
    try:
        if not LITERAL.fullmatch(text):
            raise ValueError("its quotes do not match")
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # an escape unknown to Python
            return bytes.decode(ast.literal_eval(text))
    except (ValueError, SyntaxError) as error:
        raise ValueError(f"{text:.60} is not a bytes literal with UTF-8 text ({error})") from error
