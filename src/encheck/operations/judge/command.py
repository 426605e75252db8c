"""The command `encheck judge`: people judge which of two models answers better."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from encheck.cli.shared import app, print_lines, print_message, report_errors
from encheck.errors import UsageError


@app.command("judge")
def judge_(
    folder: Annotated[Path, typer.Argument(metavar="REPORT", help="Report directory of the gate.")],
    page: Annotated[bool, typer.Option("--page", help="Write REPORT/judging.html, to judge in a browser.")] = False,
    answers: Annotated[Path | None, typer.Option(metavar="FILE", help="Read the answers that the page saved.")] = None,
    qrels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File of judgements. Default: LOG.qrels, beside the query log.")
    ] = None,
) -> None:
    """Decide a gate without labels: judge blind which of two answers is better, only where the models differ.

    Keys: 1 or 2 is better, = equally good, 0 neither answers the query, u undo, q quit and resume later.

    It stops as soon as the answers decide the gate, and keeps them for the next candidate. Up to five pairs are shown
    twice, to check whether your answers are consistent. Only first answers are decided; nDCG@10 stays open.

    Exit code: 0 pass, 1 block, 4 wrong usage or bad input, 10 not decided.

    Examples:

        encheck judge reports/x

        encheck judge reports/x --page

        encheck judge reports/x --answers answers.json
    """
    from encheck.gating.unlabelled_search import read_judgements
    from encheck.operations.judge.judging import (
        ask_people,
        gate_with_judgements,
        import_answers,
        open_judging,
        write_judging_page,
    )
    from encheck.reporting.gate import record, words

    with report_errors():
        if page and answers:
            raise UsageError("--page writes a page and --answers reads what it saved: use only one of them")
        judging = open_judging(folder, qrels=qrels)
        if answers:
            judged = judging.summarise_judgements(import_answers(judging, answers))
        elif page:
            judged = judging.summarise_judgements(read_judgements(judging.qrels))
            path, count = write_judging_page(judging)
            print_message(f"{path}: {count:,} pairs; then: {judging.command} --answers answers.json")
        else:
            judged = ask_people(judging, ask=_ask, show=print_message)
        agreement = judging.agreement_text(read_judgements(judging.qrels))
    gate = gate_with_judgements(judging, judged)
    (against,) = gate.against
    (search,) = against.searches
    print_lines(["", *against.reasons])
    print_lines(record.loss_lines(search))
    print_lines(filter(None, [agreement]))
    print_lines(words.gate_headlines(gate))
    raise typer.Exit(gate.exit_code)


def _ask(keys: str) -> str:
    """Return the typed key. The end of the input and Ctrl-C mean "quit", because every answer is already saved."""
    try:
        return str(typer.prompt(keys, default="", show_default=False))
    except typer.Abort:
        return "q"
