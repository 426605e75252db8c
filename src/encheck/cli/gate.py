"""`encheck gate`: may one encoder replace another?"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import typer

from encheck.cli.checks import run_checks
from encheck.cli.handing_on import END, HandsOn, split_at_end_of_options
from encheck.cli.shared import app, tell, told
from encheck.cli.table import shows_options
from encheck.errors import UsageError
from encheck.options import OPTIONS
from encheck.running.labels import labels

USAGE, USAGE_DASH = "encheck gate NEW --baseline OLD", "encheck gate --baseline OLD -- -NEW"
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

    The gate weighs every check that the data allow. With a part of them (-m, -k) it is partial: it can block, and never
    passes.

    Exit code: 0 pass, 1 block, 4 wrong usage or bad input, 5 nothing was measured, 10 inconclusive or partial.

    Examples:

        encheck gate ./candidate --baseline reports/baselines/sbert

        encheck gate ./candidate --baseline sbert

        encheck gate ./candidate --baseline vectors:old.parquet --data ./help-center --queries log.txt

        encheck gate --baseline sbert -- -name-with-a-dash
    """
    with told():
        code = _weigh(_asked(context.args))
    raise typer.Exit(code)


@dataclass(frozen=True)
class _GateRequest:
    """Two models, the options for pytest, and names of tests, which stand behind `--`."""

    new: str
    old: str
    options: tuple[str, ...]
    tests: tuple[str, ...] = ()

    def arguments(self, *more: str, options: Sequence[str] | None = None) -> list[str]:
        """What pytest is given: `more`, the options, or others in their place, and the tests."""
        tests = [END, *self.tests] if self.tests else []
        return [*more, *(self.options if options is None else options), *tests]


def _asked(args: Sequence[str]) -> _GateRequest:
    """What is asked for; UsageError where a model is missing."""
    options, named = split_at_end_of_options(args)
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--baseline")
    parser.add_argument("--model")
    try:
        known, others = parser.parse_known_args(options)
    except argparse.ArgumentError as error:
        raise UsageError(f"{error}. Write: {USAGE}") from error
    if known.model is not None:
        raise UsageError(f"--model is not an option of the gate. Write: {USAGE}")
    if others and not others[0].startswith("-"):
        named, others = [others[0], *named], others[1:]
    elif others and not named:
        raise UsageError(f"name the new model first. Write: {USAGE}, or where its name begins with -: {USAGE_DASH}")
    if not named or not named[0].strip():
        raise UsageError(f"name the new model first. Write: {USAGE}")
    if not (known.baseline or "").strip():
        raise UsageError(f"name the model to replace with --baseline. Write: {USAGE}")
    return _GateRequest(named[0], known.baseline, (*others, *_only_weighed(others)), tuple(named[1:]))


def _only_weighed(args: Sequence[str]) -> list[str]:
    """What leaves out the checks that the gate only reports, unless somebody said which checks to run."""
    chosen = any(arg.startswith(("-m", "-k", "--markexpr", "--keyword")) for arg in args)
    return [] if chosen else ["--weighed-only"]


def _weigh(asked: _GateRequest) -> int:
    """The exit code of the gate; OLD is run first where it is a model."""
    new, old, options = f"--model={asked.new}", asked.old, asked.options
    if _is_baseline(Path(old)):
        return run_checks(asked.arguments(new, f"--baseline={old}"), is_gate=True)
    if (Path(old) / "results.json").exists():
        raise UsageError(
            f"--baseline={old} is the directory of a run, not of a baseline. Remedy: encheck run --save-baseline=DIR"
        )
    with tempfile.TemporaryDirectory(prefix="encheck-") as folder:
        kept = Path(folder, "baselines", *labels([old]))
        tell(f"encheck gate: first {old}, then {asked.new}", err=True)
        mine, theirs = _for_model(asked.new, old, options), _for_model(old, asked.new, _for_old(options))
        first = (f"--model={old}", f"--save-baseline={kept}", f"--report-dir={folder}/report")
        code = run_checks(asked.arguments(*first, options=theirs))
        if not _is_baseline(kept):
            tell(
                f"encheck: {old} could not be measured, so there is nothing to compare with {asked.new} against",
                err=True,
            )
            return code or 1
        return run_checks(asked.arguments(new, f"--baseline={kept}", options=mine), is_gate=True)


def _is_baseline(folder: Path) -> bool:
    from encheck.gating.baseline import SUMMARY

    return (folder / SUMMARY).exists()


def _for_old(args: Sequence[str]) -> list[str]:
    """The arguments without those that are about the new model alone."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for option in (OPTIONS[name] for name in FOR_NEW):
        parser.add_argument(f"--{option.name}", action="append")
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
