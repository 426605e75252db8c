"""What a gate says of the primary endpoint of a search with labels: how it is tested, and what stands beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def primary_rows(against: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows of primary endpoints; older results have none."""
    return [row for row in against["rows"] if row.get("budget") == "primary"]


def remedy(against: Mapping[str, Any]) -> str:
    """Which judgements or further queries would decide; empty if nothing is open, or no number of them would."""
    found = [
        f"{row['unjudged']:,} queries have a first answer that nobody judged: add judgements of these (unjudged.tsv)"
        for row in primary_rows(against)
        if row.get("unjudged")
    ]
    found += [row["remedy"]["says"] for row in primary_rows(against) if row.get("remedy")]
    return found[0] if found and against["outcome"] == "inconclusive" else ""


def lines(against: Mapping[str, Any]) -> Iterator[str]:
    """The figure that decides, the alpha that it and the others are tested with, and what is reported beside it."""
    rows, decides = primary_rows(against), against.get("purpose", "change") != "change"
    shares = {row["budget"]: row["alpha"] for row in reversed(against["rows"]) if row["gates"] and row.get("budget")}
    others = [
        f"{name} at {100 * alpha:g}% together" for name, alpha in shares.items() if name != "primary" and not decides
    ]
    for row in rows:
        first = "tested" if decides else "tested first"
        tested = f"{first}, at {100 * row['alpha']:.2g}%" if row["gates"] else "reported only"
        yield f"{row['row']}: the primary endpoint is {', '.join([row['endpoint'], tested, *others])}"
        if row["beside"]:
            beside = [_said(one, told=row["gates"]) for one in row["beside"]]
            yield f"{row['row']}, beside it and not tested: {'; '.join(beside)}"


def _said(one: Mapping[str, Any], *, told: bool) -> str:
    """Both figures, and the change where there are queries enough for one."""
    change = f", {one['change']:+.3f} [{one['low']:+.3f}, {one['high']:+.3f}]" if told else ""
    return f"{one['metric']} {one['baseline']:.3f} to {one['candidate']:.3f}{change}"
