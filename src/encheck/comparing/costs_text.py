"""The cost comparison on the terminal and on a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from encheck.reporting.html.page import page
from encheck.reporting.html.payload import pack
from encheck.reporting.text import table
from encheck.statistics.figures import Figure

Raw = Mapping[str, Any]


def lines(raw: Raw) -> Iterator[str]:
    """The table, the front, and what cannot be told apart."""
    yield from table(rows(raw))
    yield ""
    yield from table(families(raw))
    yield ""
    yield from said(raw)


def rows(raw: Raw) -> list[tuple[str, ...]]:
    """A line a model, those on the front first."""
    head = (
        "model", "front", raw["figure"] or "quality", "behaviour", "texts/s", "query p50 / p95", "dimension",
        "GB a million", "index", "$ a million tokens",
    )  # fmt: skip
    ordered = sorted(raw["models"], key=lambda one: one["name"] not in raw["front"])
    return [head, *(_row(raw, one) for one in ordered)]


def _row(raw: Raw, one: Raw) -> tuple[str, ...]:
    is_timed = one["texts_a_second"] is not None
    return (
        one["name"],
        "yes" if one["name"] in raw["front"] else f"no: {raw['beaten'][one['name']]}",
        share(one["quality"]),
        share(one["behaviour"]),
        f"{one['texts_a_second']:,.0f}" if is_timed else "-",
        f"{one['p50']:.1f} / {one['p95']:.1f} ms" if is_timed else "-",
        str(one["dimension"]),
        f"{one['bytes_per_million'] / 1e9:.2f}",
        f"{one['index_bytes'] / 1e6:,.1f} MB" if raw["documents"] else "-",
        "-" if one["price"] is None else f"{one['price']:g}",
    )


def families(raw: Raw) -> list[tuple[str, ...]]:
    """Behaviour by family: how far its properties are above guessing, on the mean."""
    names = sorted({family for one in raw["models"] for family in one["families"]})
    cells = [(one["name"], *(share(one["families"].get(family)) for family in names)) for one in raw["models"]]
    return [("behaviour", *names), *cells]


def said(raw: Raw) -> Iterator[str]:
    """What could not be measured, and the front, in words."""
    yield from map(_lacking, (one for one in raw["models"] if one["stored"]))
    for name, by in raw["beaten"].items():
        yield f"{name} is not on the Pareto front: {by} is better in something and worse in nothing"
    for name, pairs in raw["inseparable"].items():
        if pairs:
            yield f"not separable in {name}: {', '.join(f'{one} and {other}' for one, other in pairs)}"
    if raw["at_chance"]:
        guessed = ", ".join(raw["at_chance"])
        yield f"no evidence of {guessed}: no model is shown to beat guessing, so no difference counts"
    yield f"FRONT: {', '.join(raw['front'])}"


def _lacking(one: Raw) -> str:
    known = "" if one["behaviour"] else "; it lacks texts of the checks, so its behaviour is unknown"
    return f"{one['name']} is a file of vectors: it has no speed{known}"


def share(found: Raw | None) -> str:
    """A share with its interval, in percent."""
    return "-" if found is None else Figure(found["value"], found["low"], found["high"]).says


def render(raw: Raw) -> str:
    """The page; every text in it is escaped by the template."""
    import sys

    payload = pack({"charts": {}, "cases": {}, "texts": []})
    return page("costs.html", payload, raw=raw, text=sys.modules[__name__])
