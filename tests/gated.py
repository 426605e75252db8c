"""`encheck gate` in this process, as tests of pytest's runs see a run."""

import sys

import pytest
from typer.testing import CliRunner

from encheck.cli import app


class Gated:
    """How a gate ended: `ret` is its exit code, `outlines` what it printed."""

    def __init__(self, done):
        self.ret = done.exit_code
        self.outlines = done.stdout.splitlines()
        self.stdout, self.stderr = pytest.LineMatcher(self.outlines), pytest.LineMatcher(done.stderr.splitlines())


def gate(new, old, *args, forgets=()):
    """Gate a model; what the modules `forgets` of models have counted is forgotten."""
    for name in forgets:
        sys.modules.pop(name, None)
    done = CliRunner().invoke(app, ["gate", *map(str, args), "--", new, str(old)], env={"COLUMNS": "200"})
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Gated(done)


def or_gate(run, model, args, *, forgets=()):
    """`run()`, unless these arguments of pytest name a baseline: then the gate that they ask for."""
    (old, *_), rest = [*_values(args), None], [arg for arg in args if not arg.startswith("--encheck-baseline=")]
    if old is None:
        return run()
    return gate(model, old, *(arg.replace("--encheck-", "--") for arg in rest), forgets=forgets)


def _values(args):
    return [arg.partition("=")[2] for arg in args if arg.startswith("--encheck-baseline=")]
