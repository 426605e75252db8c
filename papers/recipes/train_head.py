"""Train SBERT with a head over (u, v), for each data set, combination of parts and seed: Table 5 of the paper.

    python papers/recipes/train_head.py --data mrpc:DATA/mrpc --data pit2015:DATA/pit2015 --features "u,v,|u-v|" \\
        --features "|u-v|" --features "|u-v|,u*v" --seeds 5 --model sbert --out DIR

"Predicate-Argument Based Bi-Encoder for Paraphrase Identification", section 4.2 and Table 5. Each training has a folder
DIR/DATA/PARTS-SEED with results.json and the checkpoint, which `encheck run --model=FOLDER` loads. Finished trainings
are skipped, so an interrupted call can be made again. At the end it prints a table: mean F1 of the positive class and
its standard error over the seeds, and the share of predictions that change when the sentences are exchanged.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from training_options import add_options, choices_of, set_threads

from encheck.datasets.load import load
from encheck.errors import EncheckError
from encheck_papers.fit import BiEncoder, Choices, encoder_to_train, fit_once
from encheck_papers.pair_head import SBERT, checked_features
from encheck_papers.parts import Parts, parts_of

SLUGS = {"u": "u", "v": "v", "|u-v|": "diff", "u*v": "mult"}
MAX_LENGTH = 128
Results = Mapping[str, Any]


def slug(features: Sequence[str]) -> str:
    """A folder's name for a combination of parts.

    >>> slug(("u", "v", "|u-v|"))
    'u+v+diff'
    """
    return "+".join(SLUGS[part] for part in features)


def train_one(
    parts: Parts, *, model: str, features: Sequence[str], choices: Choices, folder: Path, keep_model: bool = True
) -> Results:
    """One training, or its results where it is finished."""
    from encheck_papers import PairHead

    def make() -> BiEncoder:
        encoder = encoder_to_train(model, max_length=MAX_LENGTH)
        return BiEncoder(encoder, PairHead(encoder.get_embedding_dimension(), features=features))

    settings = {"model": model, "features": list(features), "max_length": MAX_LENGTH}
    return fit_once(folder, make, parts, choices=choices, settings=settings, keep_model=keep_model)


def table(results: Iterable[Results]) -> str:
    """A row each data set and combination: mean and standard error of F1 over the seeds, flips, CPU seconds."""
    groups: dict[tuple[str, str], list[Results]] = {}
    for one in results:
        groups.setdefault((one["settings"]["data"], ", ".join(one["settings"]["features"])), []).append(one)
    rows = [
        "| data | parts | seeds | F1 | accuracy | flips | CPU s a seed |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for (data, features), runs in groups.items():
        f1, accuracy, flips = ([100 * one["test"][key] for one in runs] for key in ("f1", "accuracy", "flips"))
        seconds = statistics.mean(one["training"]["cpu_seconds"] for one in runs)
        escaped = features.replace("|", "\\|")
        rows.append(
            f"| {data} | ({escaped}) | {len(runs)} | {mean_and_error(f1)} | {mean_and_error(accuracy)} "
            f"| {statistics.mean(flips):.2f} | {seconds:.0f} |"
        )
    return "\n".join(rows)


def mean_and_error(values: Sequence[float]) -> str:
    """Mean and standard error of percentages; the mean alone of one.

    >>> mean_and_error([80.0, 82.0]), mean_and_error([80.0])
    ('81.00 ± 1.00', '80.00')
    """
    mean = f"{statistics.mean(values):.2f}"
    return f"{mean} ± {statistics.stdev(values) / len(values) ** 0.5:.2f}" if len(values) > 1 else mean


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", action="append", required=True, help="labelled pairs, NAME:PATH or NAME@SPLIT:PATH; repeatable")
    add("--features", action="append", help='what the head reads, "|u-v|,u*v"; repeatable (default: "u,v,|u-v|")')
    add("--model", default="sbert", help="the encoder to begin with: a name, a folder, a hub id (default: sbert)")
    add("--no-model", action="store_true", help="keep results.json alone, and no checkpoint")
    add_options(parser, pairs="train on so many pairs, drawn by the seed (default: all)")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> list[Results]:
    """Train what is not finished; print each result and the table."""
    told = arguments(argv)
    set_threads(told)
    asked = told.features or [",".join(SBERT)]
    combinations = dict.fromkeys(tuple(checked_features([p.strip() for p in one.split(",")])) for one in asked)
    found: list[Results] = []
    for spec in dict.fromkeys(told.data):
        whole = parts_of(load(spec, sample=None, whole=True))
        for features in combinations:
            for seed in range(told.seeds):
                parts = whole.sampled(told.pairs, seed=seed) if told.pairs else whole
                folder = told.out / parts.name.replace("/", "-") / f"{slug(features)}-{seed}"
                one = train_one(
                    parts, model=told.model, features=features, choices=choices_of(told, seed=seed), folder=folder,
                    keep_model=not told.no_model,
                )  # fmt: skip
                found.append(one)
                print(f"{folder}: F1 {one['test']['f1']:.4f}, flips {one['test']['flips']:.4f}", flush=True)
    print("\n" + table(found))
    return found


if __name__ == "__main__":
    try:
        main()
    except EncheckError as error:
        sys.exit(f"{Path(__file__).name}: {error}")
