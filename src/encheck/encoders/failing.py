"""Turn a library's error while it reads or runs a model into an encheck error that names the model.

Every adapter is entered through one of three places: `load`, `TextEncoder.batches` and `PairModel.score_pairs`. Each
has its block `named`, so that no adapter has to know all that the libraries below it can raise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from encheck.encoders.batching import out_of_memory
from encheck.encoders.files import WHOLE
from encheck.errors import EncheckError


def is_failure(error: BaseException) -> bool:
    """Whether something went wrong; not where somebody stops the program, or a generator ends.

    A library in Rust, such as tokenizers, panics: pyo3's PanicException is no Exception, and cannot be imported.
    """
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


@contextmanager
def named(as_error: Callable[[BaseException], EncheckError]) -> Iterator[None]:
    """Raise what `as_error` makes of a failure in the block; an error of encheck's own passes."""
    try:
        yield
    except EncheckError:
        raise
    except BaseException as error:
        if not is_failure(error):
            raise
        raise as_error(error) from error


def in_a_line(error: BaseException) -> str:
    """The kind of error and the first line of what it says, cut to 300 characters."""
    return " ".join(f"{type(error).__name__}: {error}".strip().splitlines()[0].split())[:300]


def cannot(do: str, place: str, error: BaseException) -> str:
    """That the model at this place cannot do something, why, and what to do about it."""
    if out_of_memory(error):
        return (
            f"{place} runs out of memory with a single text ({in_a_line(error)}). Remedy: max_length, --dtype, or "
            f"--device"
        )
    return f"{place} cannot {do} ({in_a_line(error)}). {WHOLE}"
