"""`canary_save` and `canary_check`: check, before a service starts, that the model still matches its index."""

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
    """Save a model's output for 200 fixed texts, and its own noise, to a file. The texts are encoded five times.

    Args:
        model: what `load_model` takes or returns, "vectors:FILE", or a function from a list of texts to vectors [n, d].
        file: the canary file to write.
        role: "query" or "document", if the model has prompts for them and the index was made with one.
        device: for a model that is given by name: auto, cpu, cuda, ...
        arguments: for a model that is given by name, as in `load_model`.

    Raises:
        ModelError, EncoderError: the model cannot be loaded, or fails.
        UsageError: the file cannot be written.
    """
    from encheck.deciding.canary import save

    save(_source(model, device, arguments), Path(file).expanduser(), role=role)


def canary_check(model: Named, file: str | Path, *, device: str = "auto", **arguments: Any) -> Answer:
    """Encode the texts again, and say whether the model is still the one of a canary.

    Args:
        model, device, arguments: as for `canary_save`.
        file: the canary file that `canary_save` wrote.

    Returns:
        The answer. `outcome` is "same", "another" or "cannot tell". `cause` names what was changed, if that is known
        (prompt, truncation, dimension, ...), and `reason` says it in a sentence. `exit_code` is 0, 1 or 10.

    Raises:
        ModelError, EncoderError: the model cannot be loaded, or fails (a server that is down, NaN).
        UsageError: the canary is missing, damaged, or was written by a newer encheck.
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
