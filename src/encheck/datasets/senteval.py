"""SentEval's data folders (Conneau and Kiela 2018), tokenised as SentEval distributes them.

`read` returns pairs: the folder STS with STS12-en-test to STS16-en-test. Their `split` is year and sub-set,
"STS12/MSRpar". `tasks` returns those of the tasks with classes that exist: MR, CR, MPQA, SUBJ, SST and TREC have single
sentences, and MRPC has pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from encheck.datasets import mrpc, sts
from encheck.datasets.dataset import ClassifiedText
from encheck.datasets.hub import Hubs
from encheck.datasets.reader import (
    BadRows,
    Expected,
    PairRow,
    check_published_counts,
    check_text,
    find_split_files,
    read_lines,
)
from encheck.errors import DataError

LICENCE = "as of each set; SentEval states none for MR, CR, MPQA, SUBJ, SST and TREC"
CITATION = "Conneau and Kiela 2018: SentEval: An Evaluation Toolkit for Universal Sentence Representations. LREC"
FILES = "one or more of SentEval's folders MR, CR, SUBJ, MPQA, SST, TREC, MRPC and STS"
YEARS = {year.name.upper(): year for year in sts.YEARS}
HUB = Hubs({year: module.HUB for year, module in YEARS.items()})
EXPECTED: Expected = {
    "rt-polarity.pos": (5_331, {"1": 5_331}),
    "rt-polarity.neg": (5_331, {"0": 5_331}),
    "custrev.pos": (2_407, {"1": 2_407}),
    "custrev.neg": (1_368, {"0": 1_368}),
    "mpqa.pos": (3_312, {"1": 3_312}),
    "mpqa.neg": (7_294, {"0": 7_294}),
    "subj.objective": (5_000, {"1": 5_000}),
    "subj.subjective": (5_000, {"0": 5_000}),
    "sentiment-train": (67_349, {"1": 37_569, "0": 29_780}),
    "sentiment-dev": (872, {"1": 444, "0": 428}),
    "sentiment-test": (1_821, {"1": 909, "0": 912}),
    "train_5500.label": (5_452, {"ABBR": 86, "DESC": 1_162, "ENTY": 1_250, "HUM": 1_223, "LOC": 835, "NUM": 896}),
    "TREC_10.label": (500, {"ABBR": 9, "DESC": 138, "ENTY": 94, "HUM": 65, "LOC": 81, "NUM": 113}),
}
OTHER_COPIES: Expected = {"custrev.pos": (2_406, {"1": 2_406}), "custrev.neg": (1_366, {"0": 1_366})}  # widespread too
BY_FILE = {  # one class per file, in SentEval's order; not divided into training and test
    "MR": {"rt-polarity.pos": "1", "rt-polarity.neg": "0"},
    "CR": {"custrev.pos": "1", "custrev.neg": "0"},
    "MPQA": {"mpqa.pos": "1", "mpqa.neg": "0"},
    "SUBJ": {"subj.objective": "1", "subj.subjective": "0"},
}
BY_LINE = {  # one class per line; file -> split
    "SST": {"sentiment-train": "train", "sentiment-dev": "validation", "sentiment-test": "test"},
    "TREC": {"train_5500.label": "train", "TREC_10.label": "test"},
}
FOLDERS = {"MR": "MR", "CR": "CR", "SUBJ": "SUBJ", "MPQA": "MPQA", "SST2": "SST", "TREC": "TREC"}  # of each task
PAIRS = "MRPC"
TASKS = (*FOLDERS, PAIRS)
TREC_CLASSES = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
TASK_FILES: Mapping[str, tuple[str, ...]] = {
    **{name: tuple((BY_FILE | BY_LINE)[folder]) for name, folder in FOLDERS.items()},
    PAIRS: tuple(mrpc.SPLITS),
}
NO_WORD = "."  # replaces an empty line, as in SentEval's own examples; CR and MPQA have some


def read(path: Path, bad: BadRows) -> Iterator[PairRow]:
    """Yield the pairs of those STS folders from 2012 to 2016 that exist, by year and sub-set."""
    folders_by_year = {year: sorted(path.rglob(f"{year}-en-test")) for year in YEARS}
    if not any(folders_by_year.values()):
        raise DataError(f"senteval: {path} has no folder STS1x-en-test and no file of {', '.join(TASKS)}")
    for year, folders in folders_by_year.items():
        if folders:
            yield from (row._replace(split=f"{year}/{row.split}") for row in YEARS[year].read(path, bad))


def has_pairs(path: Path) -> bool:
    """Return whether the folder has STS pairs."""
    return any(any(path.rglob(f"{year}-en-test")) for year in YEARS)


def tasks(path: Path, bad: BadRows) -> dict[str, list[ClassifiedText]]:
    """Return the tasks whose files are in the folder, by name, in the order of `TASKS`. MRPC's training part is the
    whole file.

    Before reading, raise DataError with the names of all missing files. Also raise DataError for a file without a
    sentence, or for a training or test part with a single class.
    """
    if not path.exists():
        raise DataError(f"senteval: {path} does not exist; expected {FILES}")
    files_by_task: dict[str, dict[str, Path | None]] = {}
    for task, names in TASK_FILES.items():
        matches = {name: sorted(path.rglob(name)) for name in names}
        if any(matches.values()):
            find_split_files(path, dict.fromkeys(names, ""), data_set="senteval")  # refuses a file found more than once
        files_by_task[task] = {name: next(iter(some), None) for name, some in matches.items()}
    there = {name: files for name, files in files_by_task.items() if any(files.values())}
    if missing := [f"{file} ({name})" for name, files in there.items() for file, at in files.items() if at is None]:
        raise DataError(f"senteval: {path} lacks {', '.join(missing)}")
    result = {}
    for name in there:
        if name == PAIRS:
            parts = {"validation": "train"}  # the toolkit holds out no rows
            rows = [
                ClassifiedText(row.first, str(row.label), parts.get(row.split, row.split), row.second)
                for row in mrpc.read(path, bad)
            ]
        else:
            files = (BY_FILE | BY_LINE)[FOLDERS[name]]
            rows = [
                text
                for file, fact in files.items()
                for text in _read_checked_sentences(next(path.rglob(file)), fact, bad)
            ]
        _require_classes(name, path, rows)
        result[name] = rows
    return result


def _require_classes(name: str, path: Path, rows: list[ClassifiedText]) -> None:
    """Raise DataError for a part without sentences, or with a single class."""
    wanted = dict.fromkeys(BY_LINE[FOLDERS[name]].values()) if FOLDERS.get(name) in BY_LINE else {}
    for split in wanted or dict.fromkeys(["train", "test"] if name == PAIRS else [""]):
        classes = {row.label for row in rows if row.split == split}
        part = f"{name}'s {split} part" if split else name
        if not classes:
            raise DataError(f"senteval: {part} in {path} has no sentences, but a classifier needs them")
        if len(classes) == 1 and split != "test":
            raise DataError(
                f"senteval: all sentences of {part} in {path} have the class {classes.pop()}, "
                "but a classifier needs two"
            )


def read_classification_folder(path: Path, *, bad: BadRows | None = None) -> list[ClassifiedText]:
    """Return the sentences of MR, CR, MPQA, SUBJ, SST or TREC in file order. The name of the folder decides which.

    Raise DataError if the folder is none of these or lacks a file. The error for a bad line names file and line, unless
    `bad` skips it. TREC's training file is Latin-1.
    """
    bad = bad or BadRows()
    for files in (*BY_FILE.values(), *BY_LINE.values()):
        paths = {name: next(iter(sorted(path.rglob(name))), None) for name in files}
        if missing := [name for name, file in paths.items() if file is None]:
            if len(missing) < len(files):
                raise DataError(f"senteval: {path} lacks {', '.join(missing)}")
            continue
        return [s for name, file in paths.items() if file for s in _read_checked_sentences(file, files[name], bad)]
    raise DataError(f"senteval: {path} should be one of the folders {', '.join(BY_FILE | BY_LINE)} of SentEval")


def _read_checked_sentences(file: Path, fact: str, bad: BadRows) -> list[ClassifiedText]:
    """Return the sentences of a file, and compare their number with the published one.

    `fact` is what the file's name says: the class for tasks in BY_FILE, the split for tasks in BY_LINE.
    """
    encoding = "utf-8-sig"
    if file.name == "train_5500.label":  # distributed in Latin-1, unless it has been converted
        try:
            file.read_bytes().decode("utf-8-sig")
        except (ValueError, OSError):  # reading reports the fault
            encoding = "latin-1"
    sentences = []
    for number, line in enumerate(read_lines(file, encoding=encoding), 1):
        try:
            sentences.append(_parse_sentence(file.name, line, fact))
        except ValueError as error:
            bad(file, number, str(error))
    is_other = OTHER_COPIES.get(file.name, (0, {}))[0] == len(sentences)
    counts = Counter(sentence.label for sentence in sentences)
    check_published_counts(file, counts, OTHER_COPIES if is_other else EXPECTED, bad)
    return sentences


def _parse_sentence(name: str, line: str, fact: str) -> ClassifiedText:
    if name.startswith("sentiment-"):
        text, _, label = line.rpartition("\t")
        return ClassifiedText(check_text("sentence's", text), _require_known_label(label.strip(), ("0", "1")), fact)
    if name.endswith(".label"):
        kind, _, text = line.partition(" ")
        return ClassifiedText(
            check_text("question's", text), _require_known_label(kind.partition(":")[0], TREC_CLASSES), fact
        )
    return ClassifiedText(line.strip() or NO_WORD, fact, "")


def _require_known_label(label: str, labels: tuple[str, ...]) -> str:
    if label not in labels:
        raise ValueError(f"the label is {label!r:.60}, but should be one of {', '.join(labels)}")
    return label
