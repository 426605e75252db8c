"""What is said of a first look: the profile that a run begins with, and what is left of a run that stopped there."""

from __future__ import annotations

from collections.abc import Iterator

from encheck.reporting.profile import profile, weakest_first
from encheck.reporting.terminal import profiled
from encheck.reporting.view import matrix
from encheck.run_file import ModelRest, RunFile
from encheck.system.terminal import LINES, visible


def first_profile(results: RunFile) -> Iterator[str]:
    """The profile of each model and data set, with how little it comes from."""
    look = results.first_look
    assert look is not None
    for cell in matrix(results):
        name = f"{cell.model} on {cell.data}"
        yield visible(f"{name}, first look, from {look.texts:,} of about {look.of_texts:,} texts; it sharpens")
        found = weakest_first(profile(results, model=cell.model, data=cell.data))
        yield from (visible(line, keep=LINES) for line in profiled(found))


def rest_lines(results: RunFile) -> Iterator[str]:
    """Why the run stopped, what is left for each model, and last the command for it; nothing of another run."""
    rest = results.run.rest
    if not rest:
        return
    yield f"Stopped after the first look: {rest.why}."
    yield from map(_left, rest.models)
    if rest.command:
        yield rest.command


def _left(one: ModelRest) -> str:
    about = "" if one.is_counted else " of 4 characters"
    seconds = "time unknown" if one.seconds is None else duration(one.seconds)
    dollars = one.dollars
    price = "; price unknown: models.yaml gives none" if dollars is None else f"; ${dollars:,.2f}" if dollars else ""
    size = f"about {one.texts:,} texts, {one.tokens:,} tokens{about}"
    return f"The rest for {one.model}: {size}; {seconds}{price}"


def duration(seconds: float) -> str:
    """Seconds, or minutes, or hours.

    >>> duration(42.3), duration(400), duration(9000)
    ('42 s', '7 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"
