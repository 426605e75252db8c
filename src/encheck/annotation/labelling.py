"""One person labels the pairs of a sheet."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from encheck.annotation.sheets import ANSWERS, Line, write_sheet
from encheck.system.terminal import visible

KEYS = "[s]ame  [d]ifferent  [?] unsure  [u]ndo  [q]uit"
Clock = Callable[[], float]


def label(
    path: Path,
    lines: Sequence[Line],
    *,
    ask: Callable[[str], str],
    show: Callable[[str], object],
    clock: Clock = time.perf_counter,
) -> int:
    """Show each pair that has no answer, `ask` for one, and save after every answer; the number left at the end.

    Undo takes the last answer back; its seconds count on.
    """
    done = list(lines)
    while (at := _next(done)) is not None:
        show(f"\n{at + 1} of {len(done)}\n  1  {visible(done[at].first)}\n  2  {visible(done[at].second)}")
        start = clock()
        answer = ask(KEYS).strip().lower()[:1]
        if answer == "q":
            break
        if answer in ANSWERS:
            done[at] = replace(done[at], same=ANSWERS[answer], seconds=done[at].seconds + clock() - start)
        elif answer == "u" and at:
            done[at - 1] = replace(done[at - 1], same="")
        else:
            show("there is nothing to undo" if answer == "u" else f"{answer!r} is not an answer")
            continue
        write_sheet(path, done)
    return sum(not line.same for line in done)


def _next(lines: Sequence[Line]) -> int | None:
    return next((i for i, line in enumerate(lines) if not line.same), None)
