"""The results of a run, as Python values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.errors import UsageError
from encheck.reporting.formats import items_with_outcomes
from encheck.reporting.text import table
from encheck.run_file import Result, RunFile
from encheck.scoring.frame import RunItems

if TYPE_CHECKING:
    from pyarrow import Table

HEADING = ("property", "check", "model", "data", "level", "figure", "verdict")


@dataclass(frozen=True, slots=True, repr=False)
class Results:
    """The results of a run.

    `raw` is all of results.json; `items.table` has the rows of items.parquet, as a `pyarrow.Table`.

    >>> from encheck import run
    >>> found = run("bag-of-words", checks="number", no_store=True)
    >>> found.exit_code, len(found.judged), found.judged[0].property
    (0, 3, 'number')
    >>> found.to_arrow().num_rows > found.failures().num_rows > 0
    True
    """

    raw: RunFile
    items: RunItems

    @property
    def rows(self) -> tuple[Result, ...]:
        """The rows, sorted by id."""
        return self.raw.checks

    @property
    def exit_code(self) -> int:
        """The exit code of `encheck run`.

        0: passed. 1: a check failed or the gate blocks. 5: nothing was measured. 10: the gate could not decide.
        """
        return self.raw.run.exit_status

    def __repr__(self) -> str:
        """Return the numbers of verdicts, and a table of the checks that measured something."""
        return "\n".join([self._summary_line, *table([HEADING, *map(_row_cells, self._measured_rows)])])

    def _repr_html_(self) -> str:
        """Return the same summary for a notebook."""
        head, *rows = [
            "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
            for cells, tag in [(HEADING, "th"), *((_row_cells(row), "td") for row in self._measured_rows)]
        ]
        return f"<p>{escape(self._summary_line)}</p><table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"

    @property
    def _summary_line(self) -> str:
        counts = Counter(str(row.verdict).replace("_", " ") for row in self.judged)
        said = ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "nothing measured"
        models = ", ".join(model.label for model in self.raw.models)
        return f"{models}: {said}" if models else said

    @property
    def _measured_rows(self) -> list[Result]:
        return sorted((row for row in self.judged if row.verdict != "skipped"), key=lambda row: row.property)

    def to_arrow(self) -> Table:
        """Return the items as a `pyarrow.Table` with one row per item of a check. Do not train on them.

        Its columns include model, property, check, data, level, item, cluster, split, both texts with their scores
        (the model's own similarities), and `won`: 1 for a win, 0 for a loss, 0.5 for a tie, null if an item does not
        compare two scores.
        """
        return items_with_outcomes(self.raw, self.items)

    def to_frame(self) -> Any:
        """Return the items as a pandas DataFrame. Do not train on them. Raise UsageError if pandas is not installed."""
        try:
            return self.to_arrow().to_pandas()
        except ImportError as error:
            raise UsageError("to_frame() needs pandas. Remedy: pip install pandas, or use to_arrow()") from error

    def failures(self) -> Table:
        """Return the lost and tied items, as a `pyarrow.Table`. Do not train on them.

        The items are sorted by how far the far text scored above the near text on the model's own scale, the worst
        first.
        """
        import pyarrow.compute as pc

        found = self.to_arrow()
        lost = found.filter(pc.less(found["won"], 1))
        return lost.take(pc.sort_indices(pc.subtract(lost["near_score"], lost["far_score"])))

    def page(self, path: str | Path) -> Path:
        """Write the report page of the run to this file, and return its path. Raise UsageError if that fails."""
        from encheck.reporting.html import page
        from encheck.reporting.results import write_named

        write_named(Path(path), page.render_run(self.raw, self.items, folder=Path(path).parent))
        return Path(path)

    @property
    def judged(self) -> tuple[Result, ...]:
        """The rows that have a verdict."""
        return tuple(row for row in self.rows if row.verdict)

    @property
    def notes(self) -> tuple[str, ...]:
        """The run's warnings about models, data and files."""
        return self.raw.run.notes


def _row_cells(row: Result) -> tuple[str, ...]:
    """Return the cells of a row, in the columns of `HEADING`."""
    ends = "" if row.low is None or row.high is None else f"[{row.low:.3f}, {row.high:.3f}]"
    figure = "" if row.value is None else f"{row.value:.3f} {ends}".rstrip()
    return row.property, row.check, row.model, row.data, row.level, figure, str(row.verdict).replace("_", " ")


def read_run(folder: Path) -> Results:
    """Read the results in a run's folder. Raise UsageError if it is not a run or is damaged."""
    from encheck.reporting.results import read_items, read_results

    return Results(read_results(folder), read_items(folder))
