"""The values of --model-arg for one model of a run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from encheck.errors import UsageError


def arguments_for(label: str, given: Sequence[str]) -> dict[str, str]:
    """What --model-arg says for one model: KEY=VALUE is for all of them, MODEL:KEY=VALUE for that one.

    >>> arguments_for("sbert", ["prompt=query: ", "gte:pooling=cls"])
    {'prompt': 'query: '}
    """
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        model, _, key = name.rpartition(":")
        if not equals or not key.isidentifier():
            raise UsageError(f"--model-arg is {text!r}, but should be KEY=VALUE or MODEL:KEY=VALUE")
        if model in ("", label):
            found[key] = value
    return found


def model_options(label: str, spec: str, given: Sequence[str]) -> str:
    """What names a model on a command line once more, with what --model-arg says for it.

    >>> model_options("ckpt", "./a b", ["pooling=cls", "gte:dtype=fp16"])
    "--model='./a b' --model-arg=pooling=cls"
    """
    args = (f"--model-arg={shlex.quote(arg)}" for arg in _arguments(label, given))
    return " ".join([f"--model={shlex.quote(spec)}", *args])


def gate_options(label: str, given: Sequence[str]) -> str:
    """What --model-arg says for one model of a gate, where an argument without a label would be for both.

    A blank before each.

    >>> gate_options("ckpt", ["prompt=query: ", "gte:dtype=fp16"])
    " --model-arg='ckpt:prompt=query: '"
    """
    return "".join(f" --model-arg={shlex.quote(f'{label}:{arg}')}" for arg in _arguments(label, given))


def _arguments(label: str, given: Sequence[str]) -> list[str]:
    return [f"{key}={value}" for key, value in arguments_for(label, given).items()]
