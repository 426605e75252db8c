"""Train SBERT with pooling over predicate-argument spans, and its ablations: Tables 2, 4 and 6, Figure 2 of the paper.

    python papers/recipes/train_spans.py --data mrpc@glue:DATA/mrpc --data pit2015:DATA/pit2015 --seeds 5 --out RUNS
    python papers/recipes/train_spans.py --data mrpc@glue:DATA/mrpc --pooling pas --pooling mean --share 0.1 \\
        --share 0.3 --share 0.6 --share 1 --out RUNS
    python papers/recipes/papers.py 002 --runs RUNS

"Predicate-Argument Based Bi-Encoder for Paraphrase Identification". The head reads (|u-v|, u*v). The poolings:

    pas                 [mean of the tokens ; weighted sum of the spans]: PAS+SBERT
    pas-without-mean    the spans alone: PAS only
    pas-simple-average  the spans alone, all of one weight: PAS only, simple average
    continuous, random  spans alone, as many and as long, of words in a row or of any words
    all                 spans alone: all up to --longest words in a row, made of their ends as in Self-Explain
    mean                SBERT: what `train_head.py --features "|u-v|,u*v"` trains, in the same folder
    rgcn                [mean of the tokens ; mean of the words after a graph network]: SBERT-RGCN. It needs
                        torch_geometric (pip install ./papers[rgcn]), and is trained if it is asked for

Each training has a folder RUNS/DATA/POOLING-SEED (POOLING-30%-SEED for a share of the training pairs) with
results.json, the checkpoint, and papers.json, which papers.py reads. Finished trainings are skipped, so an
interrupted call can be made again.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import train_head
from training_options import add_options, choices_of, count, set_threads, share_of

from encheck.datasets.load import load
from encheck.errors import EncheckError, UsageError
from encheck.language.english import English
from encheck.store import Store, default_store_path
from encheck.system.files import write_text
from encheck_papers.fit import BiEncoder, Choices, encoder_to_train, fit_once
from encheck_papers.parts import Parts, parts_of
from encheck_papers.spans import BroughtFrames, ParsedSpans, SpanSource

FEATURES = ("|u-v|", "u*v")
ALONE = {"sentence_mean": False}
RGCN = {"spans": "words", "weights": "mean", "graph_layers": 2}
COLUMNS = {
    "mrpc": "MSRP", "pit2015": "PIT-2015", "paws": "PAWS-Wiki", "paws-qqp": "PAWS-QQP", "twitter-url": "Twitter-URL",
    "qqp": "QQP",
}  # fmt: skip
IN_TABLE_6 = ("MSRP", "PAWS-QQP", "PIT-2015")
PAPERS = "papers.json"
Results = Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """A pooling: its settings (None: SBERT's mean), its rows by table, and the one in Figure 2."""

    settings: Mapping[str, Any] | None
    rows: Mapping[str, str]
    figure_2: str = ""


KINDS = {
    "pas": Kind({}, {"T2": "PAS+SBERT", "T4": "PAS+SBERT"}, "PAS+SBERT"),
    "mean": Kind(None, {}, "SBERT"),  # papers.py takes the tables' rows of SBERT from train_head's results
    "pas-without-mean": Kind(ALONE, {"T4": "PAS only", "T6": "PAS"}),
    "pas-simple-average": Kind({**ALONE, "weights": "mean"}, {"T4": "PAS only, simple average"}),
    "continuous": Kind({**ALONE, "spans": "continuous"}, {"T6": "continuous spans"}),
    "random": Kind({**ALONE, "spans": "random"}, {"T6": "random spans"}),
    "all": Kind({**ALONE, "spans": "all", "vectors": "ends"}, {"T6": "Self-Explain"}),
    "rgcn": Kind(RGCN, {"T2": "SBERT-RGCN", "S3": "SBERT-RGCN"}),
}
USUAL = tuple(name for name in KINDS if name != "rgcn")  # that one needs a package more


@dataclass(frozen=True)
class Training:
    """One training: which pairs, pooling, share of the training pairs and choices; spans come from `source`.

    The pairs are `whole` unless so many of them were drawn beforehand, which is no share of Figure 2.
    """

    parts: Parts
    pooling: str
    model: str
    share: float
    longest: int
    choices: Choices
    source: SpanSource
    whole: bool = True

    @property
    def folder(self) -> str:
        """Where it goes, below the folder of all trainings."""
        plain_head = self.pooling == "mean" and self.share == 1
        name = train_head.slug(FEATURES) if plain_head else self.pooling
        share = "" if self.share == 1 else f"-{self.share:.0%}"
        return f"{self.parts.name.replace('/', '-')}/{name}{share}-{self.choices.seed}"

    @property
    def sampled(self) -> Parts:
        """The parts, with this share of the training pairs."""
        count = max(1, round(self.share * len(self.parts.train)))
        return self.parts.sampled(count, seed=self.choices.seed)

    @property
    def settings(self) -> dict[str, Any]:
        """What results.json says of it; for SBERT's mean what train_head says of its own."""
        told = {"model": self.model, "features": list(FEATURES), "max_length": train_head.MAX_LENGTH}
        if self.pooling == "mean":
            return told if self.share == 1 else {**told, "pooling": "mean", "share": self.share}
        spans = {"longest": self.longest} if self.pooling == "all" else {}
        return {**told, "pooling": self.pooling, "share": self.share, "spans": self.source.fingerprint, **spans}

    def make(self) -> BiEncoder:
        """The model with its head, with first weights by the seed."""
        from encheck_papers import PairHead, with_span_pooling

        encoder = encoder_to_train(self.model, max_length=train_head.MAX_LENGTH)
        settings = KINDS[self.pooling].settings
        if settings is not None:
            encoder = with_span_pooling(
                encoder, source=self.source, seed=self.choices.seed, longest=self.longest, **settings
            )
            pairs = (*self.sampled.train, *self.parts.dev, *self.parts.test)
            encoder[1].prepare([text for pair in pairs for text in (pair.first, pair.second)])
        return BiEncoder(encoder, PairHead(encoder.get_embedding_dimension(), features=FEATURES))

    def values(self, results: Results) -> list[dict[str, Any]]:
        """Its figures under the names of the paper's rows and columns."""
        name = self.parts.name.partition("@")[0]
        column, kind, test = COLUMNS.get(name, self.parts.name), KINDS[self.pooling], results["test"]
        rows = [(table, row) for table, row in kind.rows.items() if table != "T6" or column in IN_TABLE_6]
        if self.share < 1:
            rows = []
        if kind.figure_2 and self.whole:
            rows.append(("F2", f"{kind.figure_2}, {self.share:.0%}"))
        values = {"S3": 100 * test["flips"]}  # section 3 is on the order of the sentences
        return [
            {"paper": "002", "table": table, "row": row, "column": column,
             "value": values.get(table, 100 * test["f1"]), "n": test["n"]}
            for table, row in rows
        ]  # fmt: skip


def train_one(one: Training, out: Path, *, keep_model: bool = True, command: str = "") -> Results:
    """One training, or its results where it is finished; papers.json is written in any case."""
    folder = out / one.folder
    found = fit_once(folder, one.make, one.sampled, choices=one.choices, settings=one.settings, keep_model=keep_model)
    told = {
        "seed": one.choices.seed, "model": one.model, "command": command, "papers": one.values(found),
        "trained_on": found["parts"]["train"],
    }  # fmt: skip
    write_text(folder / PAPERS, json.dumps(told, indent=1) + "\n")
    return found


def table(results: Mapping[tuple[str, str, float], Sequence[Results]]) -> str:
    """A row each data set, pooling and share: mean and standard error of F1 over the seeds, CPU seconds."""
    rows = ["| data | pooling | share | seeds | F1 | CPU s a seed |", "| --- | --- | --- | --- | --- | --- |"]
    for (data, pooling, share), runs in results.items():
        f1 = train_head.mean_and_error([100 * one["test"]["f1"] for one in runs])
        seconds = sum(one["training"]["cpu_seconds"] for one in runs) / len(runs)
        rows.append(f"| {data} | {pooling} | {share:.0%} | {len(runs)} | {f1} | {seconds:.0f} |")
    return "\n".join(rows)


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", action="append", required=True, help="labelled pairs, NAME:PATH or NAME@SPLIT:PATH; repeatable")
    add("--pooling", action="append", choices=KINDS, help="repeatable (default: all but rgcn)")
    add("--share", action="append", type=share_of, help="of the training pairs; repeatable (default: 1)")
    add("--model", default="sbert", help="the encoder to begin with: a name, a folder, a hub id (default: sbert)")
    add("--frames", type=Path, help="a file of frames in place of the parse (papers/docs/training.md says its format)")
    add("--missing", choices=("refuse", "parse"), default="refuse", help="texts without frames in that file")
    add("--longest", type=count, default=10, help="words of a span, for --pooling all (default: 10)")
    add("--no-model", action="store_true", help="keep the figures alone, and no checkpoint")
    add_options(parser, pairs="train on so many pairs, drawn by the seed (default: all)")
    return parser.parse_args(argv)


def span_source(told: argparse.Namespace) -> SpanSource:
    """Where spans come from; UsageError for a broken file, or --missing without one."""
    parsed = ParsedSpans(English(store=Store(default_store_path())))
    if told.frames is None:
        if told.missing != "refuse":
            raise UsageError("--missing is for --frames=FILE")
        return parsed
    return BroughtFrames(told.frames, otherwise=parsed if told.missing == "parse" else None)


def trainings(told: argparse.Namespace, source: SpanSource) -> Sequence[Training]:
    """All that was asked for, by data set, seed, pooling and share: what is compared is trained side by side."""
    found = []
    poolings, shares = (list(dict.fromkeys(asked)) for asked in (told.pooling or USUAL, told.share or [1.0]))
    for spec in dict.fromkeys(told.data):
        parts = parts_of(load(spec, sample=None, whole=True))
        for seed in range(told.seeds):
            some = parts.sampled(told.pairs, seed=seed) if told.pairs else parts
            choices = choices_of(told, seed=seed)
            found += [
                Training(some, pooling, told.model, share, told.longest, choices, source, whole=not told.pairs)
                for pooling in poolings
                for share in shares
            ]
    return found


def said(argv: Sequence[str], out: Path) -> str:
    """The command without the folders of this machine, as it is recorded.

    >>> said(["--data", "mrpc:/home/ann/mrpc", "--seeds", "5", "--out", "runs"], Path("runs"))
    'python papers/recipes/train_spans.py --data mrpc:DIR/mrpc --seeds 5 --out RUNS'
    >>> said(["--data=mrpc@glue:/ann/mrpc/", "--frames", "/ann/frames.jsonl", "--out=/ann/runs/"], Path("/ann/runs"))
    'python papers/recipes/train_spans.py --data mrpc@glue:DIR/mrpc/ --frames DIR/frames.jsonl --out RUNS'
    """
    words = [word for one in argv for word in (one.split("=", 1) if one.startswith("--") else [one])]
    named = ["RUNS" if Path(one) == out else re.sub(r"(:|^)[^:]*/(?=[^/])", r"\1DIR/", one) for one in words]
    return shlex.join(["python", "papers/recipes/train_spans.py", *named])


def main(argv: Sequence[str] | None = None, *, say: Callable[[str], None] = print) -> list[Results]:
    """Train what is not finished; print each result and the table."""
    told = arguments(argv)
    set_threads(told)
    command = said(sys.argv[1:] if argv is None else argv, told.out)
    found: dict[tuple[str, str, float], list[Results]] = {}
    for one in trainings(told, span_source(told)):
        result = train_one(one, told.out, keep_model=not told.no_model, command=command)
        found.setdefault((one.parts.name, one.pooling, one.share), []).append(result)
        say(f"{told.out / one.folder}: F1 {result['test']['f1']:.4f}, {result['training']['seconds']:.0f} s")
    say("\n" + table(found))
    return [one for runs in found.values() for one in runs]


if __name__ == "__main__":
    try:
        main()
    except EncheckError as error:
        sys.exit(f"{Path(__file__).name}: {error}")
