"""An upgrade in words and tables, from upgrade.json; the terminal and the page say the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from encheck.datasets.collection import said_of_own
from encheck.deciding.score_ranges import PERCENTILES
from encheck.reporting.text import table
from encheck.statistics.figures import Figure

Raw = Mapping[str, Any]
Rows = list[tuple[str, ...]]
PATH_OF_GATE = "its report"


def lines(raw: Raw) -> Iterator[str]:
    """The upgrade on the terminal; the last line is the outcome."""
    data, judged = raw["data"], ", with labels" if raw["data"]["judged"] else ""
    yield (
        f"{raw['new']['label']} in place of {raw['old']['label']}, on {data['name']}: {data['queries']:,} different "
        f"queries{judged}, {data['documents']:,} documents"
    )
    for title, said in sections(raw):
        yield ""
        yield title
        yield from (f"  {line}" for line in said)
    yield ""
    yield from ("for the ticket:", *(f"  [ ] {step}" for step in raw["checklist"]))
    yield ""
    yield headline(raw)


def headline(raw: Raw) -> str:
    """The outcome with the first reason, and what becomes of the index."""
    told = [f"UPGRADE: {raw['outcome'].upper()}", *raw["reasons"][:1], _capital(raw["space"]["says"])]
    return ". ".join(told)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def sections(raw: Raw) -> Iterator[tuple[str, list[str]]]:
    """(title, lines) of the gate, the search, the thresholds, the index and the costs."""
    yield "gate", list(raw["gate"]["lines"])
    yield "search", list(search(raw))
    yield "thresholds", [one["says"] for one in raw["thresholds"]] or ["none was named: --threshold T"]
    yield "scores", list(table(scores(raw)))
    known = [*table(routes(raw)), *adapter(raw)] if raw["space"]["routes"] else []
    yield "index", [raw["space"]["says"], *known]
    yield "costs", list(table(costs(raw)))


def search(raw: Raw) -> Iterator[str]:
    """What changes for the people who ask."""
    found = raw["search"]
    if raw["index_faults"]:
        yield f"not compared: {raw['index_faults']['says']}"
        return
    if found is None:
        yield f"not known: {raw['old']['label']} has no vectors of the queries"
        return
    yield from table(moved(raw))
    if own := said_of_own(raw["data"]["name"], raw["data"]["own_documents"], raw["data"]["queries"]):
        yield own
    if found["better"]:
        yield from _better(found["better"])
    tied = found["tied"]
    yield (
        f"equal scores in {tied[0]:,} and {tied[1]:,} lists of ten: such documents stand in the order of their ids, "
        "the last first"
    )


def moved(raw: Raw) -> Rows:
    """Shares and overlaps, beside the old model in other batches."""
    found, control = raw["search"]["moved"], raw["search"]["control"]
    heads = {"first": "the first answer changes", "overlap": "of ten answers stay", "rbo": "rank-biased overlap"}
    rows: Rows = [("", raw["new"]["label"], f"{raw['old']['label']} in other batches")]
    for name, words in heads.items():
        beside = share(control[name]) if control else "not encoded again: stored vectors"
        rows.append((words, share(found[name]), beside))
    return rows


def _better(found: Raw) -> Iterator[str]:
    more = f", {found['unjudged']:,} not judged" if found["unjudged"] else ""
    yield (
        f"first answers, by {found['source']}: {found['better']:,} better, {found['worse']:,} worse, "
        f"{found['other']:,} changed otherwise{more}"
    )
    for name, one in found["figures"].items():
        change = one["change"]
        ends = f"{100 * change['value']:+.1f} points [{100 * change['low']:+.1f}, {100 * change['high']:+.1f}]"
        yield f"{name}: {100 * one['before']:.1f}% to {100 * one['after']:.1f}% ({ends})"


def routes(raw: Raw) -> Rows:
    """How new queries did on the old index, of the new model and of the controls, against an index of their own."""
    every = {raw["new"]["label"]: raw["space"]["routes"], **raw["space"]["controls"]}
    metrics = [figure["metric"] for some in every.values() for one in some for figure in one["figures"]]
    heads = list(dict.fromkeys(metrics))
    rows: Rows = [("new queries, old index", *heads, "of its own ten", "queries")]
    for name, some in every.items():
        for one in some:
            figures = {figure["metric"]: figure for figure in one["figures"]}
            cells = (_figure(figures.get(metric)) for metric in heads)
            rows.append((f"{name}, {one['name']}", *cells, share(one["top10"]), f"{one['queries']:,}"))
    return rows


def _figure(figure: Raw | None) -> str:
    return figure["says"].removeprefix(f"{figure['metric']} ") if figure else "-"


def adapter(raw: Raw) -> Iterator[str]:
    """The adapter, how its queries do, and how it is applied."""
    one = raw["adapter"]
    if not one:
        return
    yield (
        f"{one['file']}: {one['kind']}{', ' + one['how'] if one['how'] else ''}, fitted on {one['fitted_on']:,} texts: "
        f"{one['says']}"
    )
    yield from apply(raw)


def apply(raw: Raw) -> list[str]:
    """Python that applies the adapter to queries of the new model, before they search the old index."""
    one = raw["adapter"]
    unit = ["q = q / numpy.linalg.norm(q, axis=1, keepdims=True)"] if one["unit"] else []
    return [
        f'a = numpy.load("{one["file"]}", allow_pickle=False)  # q: new vectors of queries, shape [n, new]',
        *unit,
        'q = q @ a["matrix"] + a["offset"]  # shape [n, old]',
    ]


def scores(raw: Raw) -> Rows:
    """Percentiles of both models' scores."""
    rows: Rows = [("scores", *(f"{one}%" for one in PERCENTILES))]
    for side in ("old", "new"):
        if found := raw["scores"][side]:
            for name, words in (("first", "first answers"), ("random", "random pairs")):
                rows.append((f"{raw[side]['label']}, {words}", *(f"{one:.3f}" for one in found[name])))
    return rows


def costs(raw: Raw) -> Rows:
    """What each model costs, side by side."""
    both = [raw["costs"][side] for side in ("old", "new")]
    speeds = [one["speed"] for one in both]
    return [
        ("", raw["old"]["label"], raw["new"]["label"]),
        ("dimension", *(f"{one['dimension']:,}" for one in both)),
        ("GB a million vectors (fp32)", *(f"{one['bytes_per_million'] / 1e9:.2f}" for one in both)),
        ("documents a second", *(f"{one['texts_a_second']:,.0f}" if one else "-" for one in speeds)),
        ("one query, median / 95%", *(f"{one['p50']:.1f} / {one['p95']:.1f} ms" if one else "-" for one in speeds)),
        ("tokens a document", *(_number(one["tokens_per_document"]) for one in both)),
        ("before queries", *(_prompt(one["prompts"]["query"]) for one in both)),
        ("before documents", *(_prompt(one["prompts"]["document"]) for one in both)),
        ("compares by", *(one["similarity"] for one in both)),
        ("licence", *(one["licence"] or "not stated" for one in both)),
    ]


def share(found: Raw) -> str:
    """A share with its interval, in percent."""
    if found["value"] is None:
        return "-"
    ends = [found[name] if found[name] is not None else float("nan") for name in ("value", "low", "high")]
    return Figure(*ends).says


def _number(value: float | None) -> str:
    return "not known" if value is None else f"{value:.1f}"


def _prompt(text: str | None) -> str:
    return "not known" if text is None else repr(text) if text else "nothing"
