"""`encheck upgrade`: one model for another on an index in use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from encheck.cli.shared import ModelArgs, SkipBadRows, StorePath, app, say, tell, told
from encheck.cli.table import as_option

Old = Annotated[str, typer.Option(metavar="OLD", help="Model in use, or vectors:FILE with its vectors.")]
Searched = Annotated[
    str, typer.Option(metavar="PATH", help="Documents without labels (a directory), or retrieval:PATH with labels.")
]
Thresholds = Annotated[
    list[float] | None, typer.Option(metavar="T", help="Threshold on scores that is in use. Repeatable.")
]
Checks = Annotated[
    str,
    typer.Option(
        "-m",
        metavar="CHECKS",
        help="Run only these behaviour checks, as with pytest's -m. With a part of them, the outcome is never 'ship'.",
    ),
]
Weighs = Annotated[bool, typer.Option(help="Run the gate, which measures the behaviour of both models on the probes.")]
Times = Annotated[bool, typer.Option(help="Measure the speed of both models.")]
Qrels = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="File of human judgements. Default: LOG.qrels, beside the query log."),
]
Place = Annotated[Path | None, typer.Option(help="Directory for the report. Default: reports/upgrade.")]


@app.command()
def upgrade(
    new: Annotated[str, typer.Argument(metavar="NEW", help="New model: a name, a directory or a hub id.")],
    baseline: Old,
    data: Searched,
    queries: Annotated[Path | None, as_option("queries")] = None,
    threshold: Thresholds = None,
    checks: Checks = "",
    gate: Weighs = True,
    timing: Times = True,
    qrels: Qrels = None,
    report_dir: Place = None,
    model_arg: ModelArgs = None,
    sample: Annotated[str, as_option("sample")] = "2000",
    seed: Annotated[int, as_option("seed")] = 0,
    device: Annotated[str, as_option("device")] = "auto",
    dtype: Annotated[str | None, as_option("dtype")] = None,
    passage_words: Annotated[int, as_option("passage_words")] = 150,
    skip_bad_rows: SkipBadRows = False,
    store: StorePath = None,
) -> None:
    """Decide whether NEW may replace OLD in a search, and what has to change with it.

    It compares behaviour and search as the gate does. It says whether you have to re-index, which answers change, how
    thresholds move, and what both models cost. The report is one page, with a checklist for a ticket.

    Exit code: 0 ship, perhaps with changes; 1 do not ship; 4 wrong usage or bad input; 10 cannot tell.

    Examples:

        encheck upgrade ./candidate --baseline sbert --data ./help-center --queries log.txt

        encheck upgrade ./candidate --baseline vectors:old.parquet --data retrieval:labels.jsonl --threshold 0.82
    """
    from encheck.api.upgrading import upgrade as upgraded
    from encheck.deciding.upgrade_text import lines
    from encheck.system.progress import Progress

    folder = report_dir or Path("reports/upgrade")
    with told():
        tell(f"encheck upgrade: {new} in place of {baseline}{', gate included' if gate else ''}", err=True)
        found = upgraded(
            new, baseline, data=data, queries=queries, threshold=tuple(threshold or ()), checks=checks, gate=gate,
            timing=timing, qrels=qrels, report_dir=folder, model_arg=model_arg, sample=sample, seed=str(seed),
            device=device, dtype=dtype, passage_words=str(passage_words), skip_bad_rows=skip_bad_rows, store=store,
            progress=Progress(),
        )  # fmt: skip
    say(lines(found.raw))
    tell(f"page: {folder / 'upgrade.html'}", err=True)
    raise typer.Exit(found.exit_code)
