"""`encheck judge`: people say which of two models answers better."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from encheck.cli.shared import app, say, tell, told
from encheck.errors import UsageError

if TYPE_CHECKING:
    from encheck.gating.gate import Gate


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

    It stops as soon as the answers decide the gate, and keeps them for the next candidate. Up to five pairs are shown a
    second time, to tell how far you agree with yourself. Only first answers are decided; nDCG@10 stays open.

    Exit code: 0 pass, 1 block, 4 wrong usage or bad input, 10 not decided.

    Examples:

        encheck judge reports/x

        encheck judge reports/x --page

        encheck judge reports/x --answers answers.json
    """
    from encheck.gating.judgements import read
    from encheck.operations.judge.judging import ask_people, opened, verdict
    from encheck.operations.judge.sheet import take, write_sheet

    with told():
        if page and answers:
            raise UsageError("--page writes a page and --answers reads what it saved: use only one of them")
        judging = opened(folder, qrels=qrels)
        if answers:
            judged = judging.judged(take(judging, answers))
        elif page:
            judged = judging.judged(read(judging.qrels))
            path, count = write_sheet(judging)
            tell(f"{path}: {count:,} pairs; then: {judging.command} --answers answers.json")
        else:
            judged = ask_people(judging, ask=_ask, show=tell)
        agreement = judging.agreement(read(judging.qrels))
    gate = verdict(judging, judged)
    _tell(gate, agreement)
    raise typer.Exit(gate.exit_code)


def _ask(keys: str) -> str:
    """What is typed; the end of the input and Ctrl-C quit, since every answer is kept."""
    try:
        return str(typer.prompt(keys, default="", show_default=False))
    except typer.Abort:
        return "q"


def _tell(gate: Gate, agreement: str) -> None:
    from encheck.reporting import lost
    from encheck.reporting.gate import words

    (against,) = gate.against
    (search,) = against.searches
    say(["", *against.reasons])
    say(lost.lines(search))
    say(filter(None, [agreement]))
    say(words.headline(gate))
