"""`encheck gate`: may one encoder replace another?"""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from encheck.cli.shared import (
    MORE,
    CommonOptions,
    app,
    as_option,
    print_lines,
    print_message,
    report_errors,
    shows_options,
)
from encheck.errors import STOPPED, EncheckError, NothingToCompare, UsageError
from encheck.system.files import expand_home

if TYPE_CHECKING:
    from encheck.engine.gate import FinishedGate

# A gate measures all items of two models, so it never stops after a first look, and it has no aims.
_NOT_OF_A_GATE = (
    "models", "quick", "full", "strict", "looks_first", "engine", "address", "shards_dir", "save_baseline",
    "seed_replicates", "data", "queries", "report_dir", "threshold",
)  # fmt: skip
_GATE = "Gate"
_MORE = f"{MORE}gate"
UNWRITTEN, NOTHING = 3, 5  # exit codes

New = Annotated[str, typer.Argument(metavar="NEW", help="New model: a name, a directory or a hub id.")]
Old = Annotated[
    str,
    typer.Argument(metavar="OLD", help="Model in use, baseline, run or vectors:FILE."),
]
Checks = Annotated[str | None, typer.Option("-m", metavar="PROPERTIES", help="Select properties: 'antonym or number'.")]
Names = Annotated[str | None, typer.Option("-k", metavar="NAMES", help="Only checks with these words in their names.")]
OwnChecks = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=_MORE,
        help="Python file with your own checks, to include in the gate. Repeatable.",
    ),
]
Anchor = Annotated[
    str | None,
    typer.Option(
        metavar="DIR", rich_help_panel=_MORE,
        help="A second baseline, kept for many releases, so that many small losses cannot add up unnoticed.",
    ),
]  # fmt: skip
Twins = Annotated[list[str] | None, as_option("seed_replicates", rich_help_panel=_MORE)]
For = Annotated[
    str | None,
    typer.Option(
        "--for", metavar="PURPOSE", rich_help_panel=_GATE,
        help="NEW is a `change` of OLD, or another model for `search`, `pairs` or `similarity`. (default: from the "
        "data)",
    ),
]  # fmt: skip
Margin = Annotated[
    float | None,
    typer.Option(
        metavar="POINTS", rich_help_panel=_GATE,
        help="Loss to rule out for another model. (default: 4; 2 for graded pairs)",
    ),
]  # fmt: skip
Protect = Annotated[
    list[str] | None,
    typer.Option(metavar="PROPERTY", rich_help_panel=_GATE, help="Behaviour that NEW may not lose. Repeatable."),
]
Accept = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", rich_help_panel=_GATE, help="Watched behaviour whose loss you accept. Repeatable."),
]
Tried = Annotated[
    int, typer.Option(metavar="K", rich_help_panel=_MORE, help="Number of candidates NEW was chosen from.")
]
MaxFalseAccepts = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        rich_help_panel=_MORE,
        help="For pairs: share of false accepts that a threshold may have. (default: 0.05)",
    ),
]
Primary = Annotated[
    str | None,
    typer.Option(
        metavar="METRIC", rich_help_panel=_MORE,
        help="Rank metric that decides for a search with labels: ndcg@10, recall@1, recall@10, recall@100, mrr@10 or "
        "map. (default: recall@1 if each query has one right document, else ndcg@10)",
    ),
]  # fmt: skip
Thresholds = Annotated[
    list[float] | None,
    typer.Option(
        metavar="T",
        rich_help_panel=_GATE,
        help="Threshold in use: show what it accepts now and what to set instead. Repeatable.",
    ),
]
Inconclusive = Annotated[
    str | None,
    typer.Option(
        metavar="pass|block", rich_help_panel=_GATE,
        help="Outcome of an inconclusive gate. (default: neither: exit code 10)",
    ),
]  # fmt: skip
Save = Annotated[
    str | None,
    typer.Option(metavar="DIR", rich_help_panel=_GATE, help="If NEW passes, save its baseline here."),
]
JUnit = Annotated[str | None, typer.Option("--junitxml", metavar="FILE", help="Write the gate's result as JUnit XML.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print only the verdict.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Show every gate row and every figure.")]


@app.command(cls=CommonOptions)
@partial(shows_options, but=_NOT_OF_A_GATE, common=False)
def gate(
    new: New,
    old: Old,
    data: Annotated[list[str] | None, as_option("data")] = None,
    queries: Annotated[str | None, as_option("queries")] = None,
    m: Checks = None,
    k: Names = None,
    own_checks: OwnChecks = None,
    report_dir: Annotated[str | None, as_option("report_dir")] = None,
    junitxml: JUnit = None,
    verbose: Verbose = False,
    quiet: Quiet = False,
    anchor: Anchor = None,
    twin: Twins = None,
    purpose: For = None,
    margin: Margin = None,
    protect: Protect = None,
    accept: Accept = None,
    tried: Tried = 1,
    max_false_accepts: MaxFalseAccepts = None,
    primary: Primary = None,
    threshold: Thresholds = None,
    inconclusive: Inconclusive = None,
    save_baseline: Save = None,
    **options: Any,
) -> None:
    """Decide whether the model NEW may replace the model OLD, and show what must change with it.

    If NEW is OLD after a change, it may lose no behaviour. If it is another model, its purpose decides (--for): it
    must find as much, accept as many of your pairs at the threshold, or rank your graded pairs as well. With only some
    of the checks (-m, -k) the gate is partial: it can block but never pass.

    Exit code: 0 pass, 1 block, 4 wrong usage or bad input, 5 nothing was measured, 10 not decided.

    Examples:

        encheck gate ./candidate sbert
        encheck gate ./candidate reports/baselines/sbert
        encheck gate ./other-model sbert --data retrieval:./my-search
        encheck gate ./other-model sbert --for pairs --data pairs:mine.csv
        encheck gate ./new vectors:old.parquet --data ./docs --queries log.txt
    """
    from encheck.engine.gate import run_gate
    from encheck.reporting.results import refuse_over

    given = {**options, "queries": queries}
    how = {name.replace("-", "_"): value for name, value in given.items() if value is not None}
    with report_errors():
        for name, value in (
            ("NEW", new), ("OLD", old), ("-m", m), ("-k", k), ("--anchor", anchor), ("--junitxml", junitxml),
            ("--save-baseline", save_baseline), ("--report-dir", report_dir), *(("--twin", one) for one in twin or ()),
        ):  # fmt: skip
            if value is not None and not value.strip():  # an unset variable must not silently switch an option off
                raise UsageError(f"the value of {name} is empty (an unset variable?): give a value, or leave it out")
        refuse_over(Path(junitxml) if junitxml else None, (".xml",), option="--junitxml")
        try:
            decided = run_gate(
                new, old, data=data or ["probes"], checks=m, names=k, own_checks=own_checks or (), purpose=purpose,
                margin=margin, protect=protect or (), accept=accept or (), tried=tried,
                max_false_accepts=max_false_accepts, primary=primary, threshold=threshold or (),
                anchor=anchor, twins=twin or (), inconclusive=inconclusive, save_baseline=save_baseline,
                report_dir=report_dir, options=how, command=shlex.join(["encheck", *sys.argv[1:]]), quiet=quiet,
            )  # fmt: skip
            code = _report_gate(decided, junitxml, verbose=verbose, quiet=quiet)
        except NothingToCompare as nothing:
            print_message(f"encheck: {nothing}", err=True)
            print_message(f"GATE: NO VERDICT (exit code {NOTHING})")
            raise typer.Exit(NOTHING) from None
        except KeyboardInterrupt:
            print_message(
                "encheck: interrupted. The report is missing or incomplete; run again: the store has what was encoded",
                err=True,
            )
            raise typer.Exit(STOPPED) from None
    raise typer.Exit(code)


def _report_gate(decided: FinishedGate, junitxml: str | None, *, verbose: bool, quiet: bool) -> int:
    """Write the report, print the decision with the verdict last, and return the exit code."""
    from encheck.engine.folder import GATE
    from encheck.reporting.gate.words import gate_headlines
    from encheck.reporting.junit import write_junit
    from encheck.reporting.terminal import run_gate_lines as told_gate
    from encheck.reporting.terminal import run_lines

    code: int = decided.end.status
    if verbose and not quiet:
        print_lines(run_lines(decided.raw, decided.items, verbose=True))
    elif decided.end.gate and not quiet:
        print_lines(told_gate(decided.raw, verbose=False))
    for problem in decided.end.problems:
        print_message(problem)
    try:
        if decided.place:
            decided.write(decided.place)
            for name in () if quiet else ("report.html", *([GATE] if decided.end.gate else [])):
                print_message(f"{name.partition('.')[0]}: {decided.place / name}")
    except EncheckError as error:
        print_message(f"encheck: {error}", err=True)
        code = code or UNWRITTEN
    try:
        if junitxml:
            write_junit(expand_home(junitxml), decided.raw)
    except EncheckError as error:
        print_message(f"encheck: {error}", err=True)
        code = code or UNWRITTEN
    if decided.end.gate:
        print_lines(gate_headlines(decided.end.gate))
    else:
        print_message(f"GATE: NO VERDICT (exit code {code or NOTHING})")
    return code if decided.end.gate else code or NOTHING
