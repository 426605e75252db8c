"""Convert the text of an option to the value of its setting; UsageError says what is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from encheck.errors import UsageError, unknown

MODES = ("careful", "paper")
ENGINES = ("local", "ray")
INDEX_SIZES = ("nprobe", "nlist")  # as Faiss calls them: lists that a query looks into, and all of them


def each_once(*default: str) -> Callable[[Sequence[str] | None], tuple[str, ...]]:
    """What was given, each once and in order; else the default."""

    def parse(given: Sequence[str] | None) -> tuple[str, ...]:
        return tuple(dict.fromkeys(given or default))

    return parse


def all_given(given: Sequence[str] | None) -> tuple[str, ...]:
    """Everything that was given, in order."""
    return tuple(given or ())


def path_of(text: str | None) -> Path | None:
    """A path, `~` being the user's home."""
    return None if text is None else Path(text).expanduser()


def mode_of(text: str) -> str:
    """A generator mode; UsageError for anything else."""
    if text not in MODES:
        raise UsageError(unknown("generator mode", text, MODES))
    return text


def epsilon_of(epsilon: float) -> float:
    """A margin of cosines; UsageError for what no two cosines differ by."""
    if not -2 <= epsilon <= 2:
        raise UsageError(f"--epsilon is {epsilon}, but a margin of cosines lies between -2 and 2")
    return epsilon


def sample_of(text: str) -> int | None:
    """A number of clusters, None for `all`; UsageError for anything else."""
    if text == "all":
        return None
    if not (text.isascii() and text.isdecimal()) or len(text) > 18 or int(text) == 0:
        raise UsageError(f"--sample is {text!r}, but should be a number of clusters, or all")
    return int(text)


def engine_of(text: str | None) -> str | None:
    """What measures shards: local or ray, each also with a number of workers; UsageError for anything else.

    >>> engine_of("local:2")
    'local:2'
    """
    kind, colon, count = (text or "").partition(":")
    is_count = count.isascii() and count.isdecimal() and len(count) < 4 and int(count) > 0
    if text is None or (kind in ENGINES and (is_count or not colon)):
        return text
    raise UsageError(
        f"--engine is {text!r}, but should be {' or '.join(ENGINES)}, or one of them with a number of workers: local:4"
    )


def seed_of(seed: int) -> int:
    """The seed; UsageError for a negative one."""
    if seed < 0:
        raise UsageError(f"--seed is {seed}, but should be 0 or more")
    return seed


def words_of(count: int) -> int:
    """How many words a passage may have; UsageError for fewer than 10."""
    if count < 10:
        raise UsageError(f"--passage-words is {count}, but should be 10 or more")
    return count


def search_index_of(text: str) -> str:
    """`exact`, or `faiss` with its sizes: `faiss:nprobe=64,nlist=1000`; UsageError for anything else.

    >>> search_index_of("faiss:nprobe=64"), index_sizes("faiss:nprobe=64")
    ('faiss:nprobe=64', {'nprobe': 64})
    """
    index_sizes(text)
    return text


def index_sizes(text: str) -> dict[str, int] | None:
    """The sizes that --search-index names, in lists; None where searches are exact; UsageError for anything else."""
    if text == "exact":
        return None
    kind, colon, rest = text.partition(":")
    pairs = [part.partition("=")[::2] for part in rest.split(",")] if colon else []
    named = {name: int(number) for name, number in pairs if name in INDEX_SIZES and _is_count(number)}
    if kind != "faiss" or len(named) < len(pairs):
        raise UsageError(
            f"--search-index is {text!r}, but should be exact, faiss, or faiss with numbers of lists: "
            "faiss:nprobe=64,nlist=1000"
        )
    return named


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10 and int(text) > 0


def threshold_of(threshold: float | None) -> float | None:
    """The user's own threshold; UsageError if it is no finite number."""
    if threshold is not None and not math.isfinite(threshold):
        raise UsageError(f"--threshold is {threshold}, but should be a number to compare scores with")
    return threshold


def scope_of(text: str) -> str | float:
    """`split`, `dataset` or a divergence from 0 to 1; UsageError for anything else.

    >>> scope_of("0.3")
    0.3
    """
    try:
        cut = text if text in ("split", "dataset") else float(text)
    except ValueError:
        cut = -1.0
    if isinstance(cut, float) and not 0 <= cut <= 1:
        raise UsageError(f"--median-scope is {text!r}, but should be split, dataset, or a divergence from 0 to 1")
    return cut
