"""The marker `encheck_canary(model, file)`: a test runs only if the model is still the one of the canary."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from encheck.errors import EncheckError

if TYPE_CHECKING:
    from encheck.deciding.canary_rule import Answer

MARKER = "encheck_canary"
USAGE = '@pytest.mark.encheck_canary("MODEL", "FILE", cannot_tell="fail")'
DOUBTS = ("fail", "skip", "pass")
HELD: pytest.StashKey[dict[tuple[str, str], Answer | EncheckError]] = pytest.StashKey()


def register_marker(config: pytest.Config) -> None:
    """So that --strict-markers knows it."""
    config.addinivalue_line("markers", f"{MARKER}(model, file): fail unless the model is the one of this canary.")


def hold(item: pytest.Item) -> None:
    """Fail this test where a model that it is marked with is another than that of its canary.

    A model is called once a session and canary. `cannot_tell` says what happens where it cannot be told: fail, skip or
    pass.
    """
    for marker in item.iter_markers(MARKER):
        model, file, doubt = _asked(**_by_name(marker))
        answer = _held(item.config, model, file)
        if isinstance(answer, EncheckError):
            pytest.fail(f"encheck canary: {answer}", pytrace=False)
        said = f"encheck canary: {answer.outcome}: {model} and {file}: {answer.reason}"
        if answer.outcome == "another" or (answer.outcome == "cannot tell" and doubt == "fail"):
            pytest.fail(said, pytrace=False)
        if answer.outcome == "cannot tell" and doubt == "skip":
            pytest.skip(said)


def _by_name(marker: pytest.Mark) -> dict[str, Any]:
    return {**dict(zip(("model", "file", "cannot_tell"), marker.args, strict=False)), **marker.kwargs}


def _asked(model: Any = None, file: Any = None, cannot_tell: Any = "fail", **others: Any) -> tuple[str, str, str]:
    """What a marker says; the test fails where it says something else."""
    if not isinstance(model, str) or not isinstance(file, str | Path) or cannot_tell not in DOUBTS or others:
        pytest.fail(f"write {USAGE}; cannot_tell is one of {', '.join(DOUBTS)}", pytrace=False)
    return model, str(file), cannot_tell


def _held(config: pytest.Config, model: str, file: str) -> Answer | EncheckError:
    """The answer of one canary, the first time that it is asked for; paths count from pytest's root."""
    known = config.stash.setdefault(HELD, {})
    if (model, file) not in known:
        from encheck.deciding.canary import check, named
        from encheck.options import Settings, project_table

        asked = Settings(models=(model,), project=project_table(config.rootpath / "pyproject.toml"))
        try:
            known[model, file] = check(named(asked), config.rootpath / file)[1]
        except EncheckError as error:
            known[model, file] = error
    return known[model, file]
