"""`encheck cutoff`: at which cut-off may a model be used?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from encheck.cli.shared import DataSpec, ModelArgs, SkipBadRows, StorePath, app, say, tell, told
from encheck.cli.table import as_option

MaxFalseAccepts = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Budget of false accepts: 0.01 is 1%. Default: 0.01 without --baseline."),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        metavar="OLD@CUTOFF",
        help="The model in use and its cut-off; OLD is a model or vectors:FILE. Asks for the new cut-off that does the "
        "same.",
    ),
]
Same = Annotated[
    str, typer.Option(metavar="hits|recall|false-accepts", help="What the old and new cut-off have in common.")
]
Own = Annotated[
    float | None, typer.Option("--cutoff", "--threshold", metavar="T", help="A cut-off of yours, shown too.")
]
Positives = Annotated[
    float | None, typer.Option(metavar="SHARE", help="Share of positives in production, for precision and hits.")
]
UpperBound = Annotated[
    str, typer.Option(metavar="clopper-pearson|betting", help="Upper bound of the rate of false accepts.")
]
Clusters = Annotated[str, typer.Option(metavar="N", help="Number of clusters to take, or all.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the intervals and of what is drawn.")]
Place = Annotated[Path, typer.Option(metavar="DIR", help="Where cutoff.html and cutoff.json go.")]


@app.command()
def cutoff(
    model: Annotated[str, typer.Argument(metavar="NEW", help="A model, as --model takes it, or vectors:FILE.")],
    data: DataSpec,
    max_false_accepts: MaxFalseAccepts = None,
    baseline: Baseline = None,
    same: Same = "hits",
    own: Own = None,
    positives: Positives = None,
    bound: UpperBound = "clopper-pearson",
    sample: Clusters = "all",
    seed: Seed = 0,
    report_dir: Place = Path("reports/cutoff"),
    skip_bad_rows: SkipBadRows = False,
    model_arg: ModelArgs = None,
    store: StorePath = None,
    device: Annotated[str, as_option("device")] = "auto",
    dtype: Annotated[str | None, as_option("dtype")] = None,
) -> None:
    """Find the lowest cut-off that keeps a budget of false accepts with 95% confidence, and what it costs.

    The data are pairs: first, second, label (may be missing), cluster; further columns are slices.

    Exit code: 0 yes, 1 the promise cannot be kept, 4 usage or bad input, 10 cannot tell: more negatives are needed.

    Examples:

        encheck cutoff sbert --data pairs:cache.csv

        encheck cutoff ./new --baseline vectors:old.parquet@0.82 --data pairs:cache.csv --max-false-accepts 0.01
    """
    from encheck.api.cutoffs import cutoff as decide
    from encheck.deciding.cutoff_page import PAGE
    from encheck.deciding.cutoff_text import lines
    from encheck.options import sample_of
    from encheck.system.progress import Progress

    with told():
        found = decide(
            model, data, max_false_accepts=max_false_accepts, baseline=baseline, same=same, own=own,
            positives=positives, bound=bound, sample=sample_of(sample), seed=seed, skip_bad_rows=skip_bad_rows,
            model_arg=model_arg or (), store=store, device=device, dtype=dtype, report_dir=report_dir,
            progress=Progress(),
        )  # fmt: skip
    say(lines(found))
    tell(f"page: {report_dir / PAGE}")
    raise typer.Exit(found.exit_code)
