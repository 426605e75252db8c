"""A comparison on the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from encheck.comparing.comparison import Comparison
from encheck.comparing.runs import Difference, flips_count
from encheck.metrics import named
from encheck.reporting import contamination
from encheck.reporting.text import table
from encheck.reporting.view import sentence
from encheck.verdict import MIN_CLUSTERS


def lines(found: Comparison) -> Iterator[str]:
    """The comparison on the terminal: a table for each further model."""
    for name, differences in found.differences.items():
        if not differences:
            continue
        yield f"{name} less {found.first.name}, on the same items"
        names = (found.first.name, name)
        head = (
            "check",
            "level",
            "data",
            "figure",
            *names,
            "surface",
            "difference [95% CI]",
            "lost",
            "gained",
            "n (clusters)",
        )
        yield from table([head, *(_cells(d, found.surface_of(d)) for d in differences)])
        clear = [d for d in differences if d.is_clear]
        better = sum(d.difference > 0 for d in clear)
        counts = f"{better} higher, {len(clear) - better} lower"
        yield f"{len(clear)} of {len(differences)} differ beyond their interval: {counts}"
        if small := sum(d.is_small for d in differences):
            yield f"{small} of {len(differences)} rest on fewer than {MIN_CLUSTERS} clusters: too few to tell"
        yield ""
    yield from contamination.lines(contamination.as_dicts(found.contamination))
    if found.whole:
        yield "figures of whole sets, each with its own interval: not paired, since no item has a part in them"
        heads = ("check", "level", "data", "figure", *(m.name for m in found.models))
        yield from table([heads, *map(tuple, found.whole)])


def _cells(d: Difference, surface: str) -> tuple[str, ...]:
    change = f"{d.difference:+.3f} [{d.low:+.3f}, {d.high:+.3f}]"
    flips = [str(len(f)) if flips_count(d) else "-" for f in (d.lost, d.gained)]
    values = (f"{d.before:.3f}", f"{d.after:.3f}", surface, change)
    return (sentence(d.check), d.level, d.data, named(d.figure).label, *values, *flips, f"{d.n} ({d.clusters})")
