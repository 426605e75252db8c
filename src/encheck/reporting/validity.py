"""How often the items that a generator made are right, in words: the ceiling of rates on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from encheck.gating.types import Z
from encheck.generators.phenomenon import title_of
from encheck.statistics.bounds import wilson
from encheck.statistics.figures import Figure

Row = Mapping[str, Any]


def lines(results: Mapping[str, Any]) -> Iterator[str]:
    """A line for each generator whose items the run measured on."""
    yield from said([row for row in results["checks"] if row["verdict"] != "skipped"])


def said(rows: Sequence[Row]) -> list[str]:
    """The same of some rows, each generator once."""
    found = {row["validity"]["generator"]: row["validity"] for row in rows if row.get("validity")}
    return [_says(one) for _, one in sorted(found.items())]


def _says(one: Row) -> str:
    start = f"generated items ({title_of(one['generator'])})"
    if not one["read"]:
        return f"{start}: nobody has checked them yet, so the share that is right is unknown"
    share = one["right"] / one["read"]
    figure = Figure(share, *wilson(share, one["read"], z=Z))
    return f"{start}: blind readers found {figure.says} of {one['read']} right, which is a ceiling for rates on them"
