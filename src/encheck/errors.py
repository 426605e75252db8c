"""Every exception that encheck raises.

EncheckError
├── UsageError          the user's input is wrong or incomplete: exit code 4
│   ├── BaselineError   the path is not a baseline, or it is broken or does not fit the items or kind of model
│   │   └── NothingToCompare   nothing was measured for the old model of a gate: exit code 5
│   ├── ConfigError     models.yaml or [tool.encheck] is wrong, with file and line
│   ├── DataError       a data file is wrong, with file and line
│   ├── LanguageError   a spaCy pipeline or a lexicon is missing or invalid
│   └── ModelError      a model is missing, is not a model, or may not be loaded
├── CheckError          a check's own generator or builder is wrong: that check ends in `error`
├── EncoderError        the model failed while it encoded: the checks of that model end in `error`
├── StoreError          the embedding store cannot be used
│   └── UnusableStoreError   the store can be neither read nor written: a run continues without it
├── NothingToMeasure    the data have no item for this check: the check is skipped
├── CheckFailedError    a figure failed: ends the check (also an AssertionError)
├── KnownFailureError   a figure failed in a way that is known for this model: ends the check
├── NotPosted           the CI job may not comment, or belongs to no pull request
└── raised and caught in the same module: Busy, RequestRefused, HostRefusal, TextError, DamagedError

A wrong argument of a function may also be a TypeError, as in Python itself.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

STOPPED = 130  # exit code after Ctrl-C or SIGTERM
NOT_IN_FIRST_LOOK = "not measured in a first look"  # the message of a check that the first look left out
NEEDS = "needs "  # a skipped check's message begins with this if it names what the data lack


class EncheckError(Exception):
    """Base class of encheck's exceptions."""


class UsageError(EncheckError):
    """The user's input is wrong or incomplete."""


class BaselineError(UsageError):
    """The path is not a baseline, or the baseline is broken, has other items, or is of a different kind of model."""


class NothingToCompare(BaselineError):  # noqa: N818 - a fact about the data, not a fault
    """Nothing was measured for the old model of a gate."""


class ConfigError(UsageError):
    """models.yaml or [tool.encheck] is wrong."""


class DataError(UsageError):
    """A data file is wrong."""


class LanguageError(UsageError):
    """A spaCy pipeline or a lexicon is missing or invalid."""


class ModelError(UsageError):
    """A model is missing, is not a model, or may not be loaded."""


class CheckError(EncheckError):
    """A check's own generator or builder is wrong."""


class EncoderError(EncheckError):
    """The model failed while encoding."""


class StoreError(EncheckError):
    """The embedding store cannot be used."""


class UnusableStoreError(StoreError):
    """The store can be neither read nor written: the run continues without it."""


class NothingToMeasure(EncheckError):  # noqa: N818 - a fact about the data, not a fault
    """The data have no item for this check. `needs` names what the data lack, or is empty.

    >>> str(NothingToMeasure("own has no label", needs="labelled pairs"))
    'needs labelled pairs: own has no label'
    """

    def __init__(self, said: str, *, needs: str = "") -> None:
        super().__init__(f"{NEEDS}{needs}: {said}" if needs else said)


def missing_need(reason: str) -> str:
    """Return what the data of a skipped check lack, according to `reason`; empty for other reasons.

    >>> missing_need("needs labelled pairs: own has no label"), missing_need("own has no text")
    ('labelled pairs', '')
    """
    return reason.removeprefix(NEEDS).partition(": ")[0] if reason.startswith(NEEDS) else ""


def unknown_name_message(kind: str, name: str, known: Iterable[str]) -> str:
    """Return a message that `name` is unknown, with the nearest match and the list of known names.

    >>> unknown_name_message("model", "sbrt", ["sbert", "jaccard"])
    "unknown model 'sbrt'; did you mean 'sbert'? Available: jaccard, sbert"
    """
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    return f"unknown {kind} {name!r}{hint} Available: {', '.join(names)}"


def no_pair_message(split: str | None, splits: Iterable[str]) -> str:
    """Return a message that the data have no pair in this split, with the splits that exist; "" means no split.

    >>> no_pair_message("test", [""])
    "no split 'test': the data name no splits; leave --split out"
    """
    if split is None:
        return "the data have no pair"
    if known := set(splits) - {""}:
        return unknown_name_message("split", split, known)
    return f"no split {split!r}: the data name no splits; leave --split out"
