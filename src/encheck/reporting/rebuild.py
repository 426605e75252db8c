"""Reports made from runs that are over, whatever became of their files since."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from encheck.errors import UsageError
from encheck.reporting.html import page as html
from encheck.reporting.results import read_items, read_results, write_named


def rebuild(folder: Path, out: Path) -> Path:
    """Write the report of a run to `out`; UsageError where the results are not what encheck writes."""
    results, items = read_results(folder), read_items(folder)
    with as_written(folder):
        if not items:
            note = "items.parquet is missing: no items and no histograms here"
            results["run"]["notes"] = [*results["run"]["notes"], note]
        page = html.render(results, items, folder=folder)
    write_named(out, page)
    return out


@contextmanager
def as_written(*folders: Path) -> Iterator[None]:
    """What goes wrong here is the results' fault: they lack, or hold otherwise, what encheck writes."""
    import jinja2

    try:
        yield
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        RecursionError,
        jinja2.TemplateError,
    ) as error:
        raise UsageError(
            f"the results in {', '.join(map(str, folders))} are not as encheck writes them: {type(error).__name__}: "
            f"{error}. Run again, or hold them to results.schema.json"
        ) from error
