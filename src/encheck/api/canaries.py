"""`canary_save` and `canary_check`: whether the model is still the one of an index, before a service starts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.api.loading import as_option

if TYPE_CHECKING:
    from encheck.deciding.canary import Source
    from encheck.deciding.canary_rule import Answer
    from encheck.encoders.protocol import Encoder, PairScorer

    Named = str | Path | Encoder | PairScorer | Callable[[list[str]], Any]


def canary_save(
    model: Named, file: str | Path, *, role: str | None = None, device: str = "auto", **arguments: Any
) -> None:
    """Write what a model gives 200 fixed texts, and its own noise, to a file. The model is called five times.

    Args:
        model: what `load_model` takes or returns, "vectors:FILE", or a function from a list of texts to vectors [n, d].
        file: the canary.
        role: query or document, where the model has prompts for them and the index was made with one.
        device: of a model that is named: auto, cpu, cuda, ...
        arguments: of a model that is named, as `load_model` takes them.

    Raises:
        ModelError, EncoderError: the model is not there, or fails.
        UsageError: the file cannot be written.
    """
    from encheck.deciding.canary import save

    save(_source(model, device, arguments), Path(file).expanduser(), role=role)


def canary_check(model: Named, file: str | Path, *, device: str = "auto", **arguments: Any) -> Answer:
    """Call a model afresh and say whether it is the one of a canary.

    Args:
        model, device, arguments: as for `canary_save`.
        file: what `canary_save` wrote.

    Returns:
        The answer: `outcome` is "same", "another" or "cannot tell"; `cause` names what was changed where that can be
        told (prompt, truncation, dimension, ...), `reason` says it in a sentence; `exit_code` is 0, 1 or 10.

    Raises:
        ModelError, EncoderError: the model is not there, or fails: a server that is down, NaN.
        UsageError: the canary is missing, damaged, or of a newer encheck.
    """
    from encheck.deciding.canary import check

    return check(_source(model, device, arguments), Path(file).expanduser())[1]


def _source(model: Named, device: str, arguments: dict[str, Any]) -> Source:
    from encheck.deciding.canary import given, named
    from encheck.options import Settings, project_table

    if not isinstance(model, str | Path):
        return given(model)
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in arguments.items()}
    asked = tuple(f"{key}={value}" for key, value in texts.items())
    project = project_table(Path("pyproject.toml"))
    return named(Settings(models=(as_option(model),), model_args=asked, device=device, project=project))
