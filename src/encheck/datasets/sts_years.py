"""What the STS tasks of 2012 to 2016 share: a folder with an input and a gold file for each sub-set, line by line.

As distributed and in SentEval's layout (tokenised, lower-cased) alike. Pairs whose gold line is blank were not judged
and are left out. `score` is from 0 to 5; the label is 1 from a score of 4, as in the STS benchmark, which is made from
these; `split` is the sub-set's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from encheck.datasets.published import LOG, Expected, as_published
from encheck.datasets.reader import BadRows, Row, graded, lines_of, made_rows
from encheck.errors import DataError

LEFT_OUT = {"ALL", "SMT"}  # 2012's gold of all sub-sets in one; 2013's SMT, whose text may not be passed on
Fields = tuple[list[str], str]


def read_year(path: Path, bad: BadRows, *, year: str, folders: tuple[str, ...], expected: Expected) -> Iterator[Row]:
    """Pairs of every sub-set of `year` ("sts12"), by name; `folders` are what its folder is called as distributed."""
    folder = _folder(path, year, folders)
    inputs = {_subset(file): file for file in sorted(folder.glob("STS*.input.*.txt"))}
    known = {name.removeprefix("STS.input.").removesuffix(".txt") for name in expected}
    _check_subsets(folder, inputs.keys() - LEFT_OUT, known, year)
    for subset, file in inputs.items():
        if subset not in LEFT_OUT:
            yield from as_published(f"STS.input.{subset}.txt", _scored(file, subset, bad), expected)


def _folder(path: Path, year: str, names: tuple[str, ...]) -> Path:
    if not path.is_dir():
        state = "is a file: the scores are in another one beside it" if path.exists() else "does not exist"
        raise DataError(f"{year}: {path} {state}; give the folder ({' or '.join(names)})")
    if any(path.glob("STS*.input.*.txt")):
        return path
    found = sorted(folder for name in names for folder in path.rglob(name) if folder.is_dir())
    if len(found) != 1:
        held = ", ".join(str(folder.relative_to(path)) for folder in found) or "neither of these"
        raise DataError(f"{year}: {path} should be or hold one folder {' or '.join(names)}, but holds {held}")
    return found[0]


def _subset(file: Path) -> str:
    """STS2016.input.headlines.txt -> headlines."""
    return file.name.partition(".input.")[2].removesuffix(".txt")


def _check_subsets(folder: Path, found: Iterable[str], known: set[str], year: str) -> None:
    strange, missing = sorted(set(found) - known), sorted(known - set(found))
    if strange or not set(found):
        names = ", ".join(strange) or "no sub-set at all"
        raise DataError(f"{year}: {folder} holds {names}, but {year} has {', '.join(sorted(known))}: another year's?")
    if missing:
        LOG.warning(
            "%s: %s lacks %s, so its means are not comparable with published ones", year, folder, ", ".join(missing)
        )


def _scored(file: Path, subset: str, bad: BadRows) -> Iterator[Row]:
    def make(fields: Fields) -> Row:
        texts, gold = fields
        if len(texts) not in (2, 4):
            raise ValueError(f"{len(texts)} tab-separated fields, but should be 2, or 4 in 2016")
        score = graded(gold, 0, 5)
        return Row(texts[0], texts[1], int(score >= 4), subset, score=score)

    return made_rows(file, _judged(file), make, bad=bad)


def _judged(file: Path) -> Iterator[tuple[int, Fields]]:
    gold = file.with_name(file.name.replace(".input.", ".gs."))
    texts, scores = lines_of(file), lines_of(gold)
    if len(texts) != len(scores):
        raise DataError(
            f"{gold} has {len(scores):,} lines, but {file.name} has {len(texts):,}: one is truncated, or is another "
            f"version"
        )
    for number, (text, score) in enumerate(zip(texts, scores, strict=True), 1):
        if score.strip():
            yield number, (text.split("\t"), score)
