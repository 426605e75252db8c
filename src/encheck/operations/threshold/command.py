"""`encheck threshold`: at which threshold may a model be used?"""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import Annotated

import typer

from encheck.cli.shared import (
    DataSpec,
    ModelArgs,
    SkipBadRows,
    StorePath,
    app,
    as_option,
    print_lines,
    print_message,
    report_errors,
)

MaxFalseAccepts = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE", help="Highest acceptable rate of false accepts: 0.01 is 1%. Default: 0.01 without --baseline."
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        metavar="OLD@THRESHOLD",
        help="Model in use with its threshold, to match in NEW. OLD is a model or vectors:FILE.",
    ),
]
Same = Annotated[
    str,
    typer.Option(
        metavar="hits|recall|false-accepts", help="Rate that the new threshold should share with the old one."
    ),
]
Own = Annotated[float | None, typer.Option("--threshold", metavar="T", help="Also show this threshold.")]
Positives = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Share of pairs that are positive in production; precision and hits need it."),
]
Verify = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL|module:function",
        help="Verifier of accepted pairs: a model such as a cross-encoder, or function (texts_a, texts_b) -> scores.",
    ),
]
Clusters = Annotated[str, typer.Option(metavar="N", help="Number of clusters to sample, or all.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the intervals and the sample.")]
Place = Annotated[Path, typer.Option(metavar="DIR", help="Directory for threshold.html and threshold.json.")]


@app.command()
def threshold(
    model: Annotated[
        str, typer.Argument(metavar="NEW", help="Model, as for --model of `encheck run`, or vectors:FILE.")
    ],
    data: DataSpec,
    max_false_accepts: MaxFalseAccepts = None,
    baseline: Baseline = None,
    same: Same = "hits",
    own: Own = None,
    positives: Positives = None,
    verify: Verify = None,
    sample: Clusters = "all",
    seed: Seed = 0,
    report_dir: Place = Path("reports/threshold"),
    skip_bad_rows: SkipBadRows = False,
    model_arg: ModelArgs = None,
    store: StorePath = None,
    device: Annotated[str, as_option("device")] = "auto",
    dtype: Annotated[str | None, as_option("dtype")] = None,
) -> None:
    """Find the lowest similarity threshold that keeps false accepts within a budget, with 95% confidence.

    The data are pairs with the columns first, second, label (may be missing) and cluster; other columns become slices.

    Exit code: 0 such a threshold exists, 1 it does not exist, 4 wrong usage or bad input, 10 cannot tell (more negative
    pairs are needed).

    Examples:

        encheck threshold sbert --data pairs:cache.csv

        encheck threshold sbert --data pairs:cache.csv --verify ./my-cross-encoder

        encheck threshold ./new --baseline vectors:old.parquet@0.82 --data pairs:cache.csv --max-false-accepts 0.01
    """
    from encheck.operations.threshold.api import threshold as decide
    from encheck.operations.threshold.report import PAGE, threshold_lines
    from encheck.options import parse_sample
    from encheck.reporting.terminal import WIDTH
    from encheck.system.terminal import Progress

    with report_errors():
        found = decide(
            model, data, max_false_accepts=max_false_accepts, baseline=baseline, same=same, own=own,
            positives=positives, verify=verify, sample=parse_sample(sample), seed=seed, skip_bad_rows=skip_bad_rows,
            model_arg=model_arg or (), store=store, device=device, dtype=dtype, report_dir=report_dir,
            progress=Progress(),
        )  # fmt: skip
    for line in threshold_lines(found):
        print_lines(wrap(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) or [""])
    print_message(f"page: {report_dir / PAGE}")
    raise typer.Exit(found.exit_code)
