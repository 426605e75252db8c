"""`encheck gate`: may one encoder replace another?"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import typer

from encheck.cli.checks import run_checks
from encheck.cli.handing_on import HandsOn
from encheck.cli.shared import app, tell, told
from encheck.cli.table import shows_options
from encheck.errors import UsageError
from encheck.options import OPTIONS
from encheck.running.labels import labels

USAGE = "encheck gate NEW --baseline OLD"
# A gate needs all items, so it stops after no first look, and it has no aims.
_NOT_OF_A_GATE = ("quick", "full", "strict")
# What the run of OLD is not asked for.
FOR_NEW = ("save_baseline", "anchor", "seed_replicates", "primary", "inconclusive", "report_dir")


@app.command(cls=HandsOn, options_metavar="NEW --baseline OLD [OPTIONS]")
@partial(shows_options, but=["models", *_NOT_OF_A_GATE])
def gate(context: typer.Context, **_shown: object) -> None:
    """Decide whether the model NEW may replace the model OLD, on the same items.

    OLD is the directory of a baseline, or a model, which is then run first. It may also be vectors:FILE, stored vectors
    of the old model: checks whose texts are in the file are compared. Options that are not listed here go to pytest.

    Exit code: 0 pass, 1 block, 4 wrong usage or bad input, 5 nothing was measured, 10 inconclusive.

    Examples:

        encheck gate ./candidate --baseline reports/baselines/sbert

        encheck gate ./candidate --baseline sbert -m "antonym or retrieval"

        encheck gate ./candidate --baseline vectors:old.parquet --data ./help-center --queries log.txt
    """
    with told():
        new, old, others = _asked(context.args)
        code = _weigh(new, old, [*others, *_only_weighed(others)])
    raise typer.Exit(code)


def _asked(args: Sequence[str]) -> tuple[str, str, list[str]]:
    """NEW, OLD and the other arguments."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--baseline")
    parser.add_argument("--model")
    try:
        known, others = parser.parse_known_args(list(args))
    except argparse.ArgumentError as error:
        raise UsageError(f"{error}. Write: {USAGE}") from error
    if known.model is not None:
        raise UsageError(f"--model is not an option of the gate. Write: {USAGE}")
    if not others or not others[0].strip() or others[0].startswith("-"):
        raise UsageError(f"name the new model first. Write: {USAGE}")
    if not (known.baseline or "").strip():
        raise UsageError(f"name the model to replace with --baseline. Write: {USAGE}")
    return others[0], known.baseline, others[1:]


def _only_weighed(args: Sequence[str]) -> list[str]:
    """What leaves out the checks that the gate only reports, unless somebody said which checks to run."""
    chosen = any(arg.startswith(("-m", "-k", "--markexpr", "--keyword")) for arg in args)
    return [] if chosen else ["--weighed-only"]


def _weigh(new: str, old: str, others: Sequence[str]) -> int:
    """The exit code of the gate; OLD is run first where it is a model. A dry run is of both models at once."""
    if _is_baseline(Path(old)):
        return run_checks([f"--model={new}", f"--baseline={old}", *others])
    if (Path(old) / "results.json").exists():
        raise UsageError(
            f"--baseline={old} is the directory of a run, not of a baseline. Remedy: encheck run --save-baseline=DIR"
        )
    if f"--{OPTIONS['dry_run'].name}" in others:
        return run_checks([f"--model={new}", f"--model={old}", *_for_old(others)])
    with tempfile.TemporaryDirectory(prefix="encheck-") as folder:
        kept = Path(folder, "baselines", *labels([old]))
        tell(f"encheck gate: first {old}, then {new}", err=True)
        mine, theirs = _for_model(new, old, others), _for_model(old, new, _for_old(others))
        code = run_checks([f"--model={old}", f"--save-baseline={kept}", f"--report-dir={folder}/report", *theirs])
        if not _is_baseline(kept):
            tell(f"encheck: {old} could not be measured, so there is nothing to compare with {new} against", err=True)
            return code or 1
        return run_checks([f"--model={new}", f"--baseline={kept}", *mine])


def _is_baseline(folder: Path) -> bool:
    from encheck.gating.baseline import SUMMARY

    return (folder / SUMMARY).exists()


def _for_old(args: Sequence[str]) -> list[str]:
    """The arguments without those that are about the new model alone."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for option in (OPTIONS[name] for name in FOR_NEW):
        parser.add_argument(*(f"--{name}" for name in option.names), action="append")
    return parser.parse_known_args(list(args))[1]


def _for_model(model: str, other: str, args: Sequence[str]) -> list[str]:
    """The arguments without each --model-arg=MODEL:KEY=VALUE that is about the other model."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--model-arg", action="append", default=[])
    known, rest = parser.parse_known_args(list(args))
    given = {text: text.partition("=")[0].rpartition(":")[0] for text in known.model_arg}
    (mine,), (theirs,) = labels([model]), labels([other])
    kept = [text for text, named in given.items() if named != theirs or named == mine]
    return [*(f"--model-arg={text}" for text in kept), *rest]
