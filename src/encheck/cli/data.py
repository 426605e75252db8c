"""`encheck data`: what a data set holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from encheck.cli.shared import SkipBadRows, app, print_table, say, tell, told
from encheck.cli.table import as_option
from encheck.errors import UsageError

SHOW = "show"


class DataCommands(typer.core.TyperGroup):
    """`encheck data NAME` shows a data set where NAME is no command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As typer's, with the command that may be left out."""
        is_named = bool(args) and args[0] in (*self.commands, "--help")
        return super().parse_args(ctx, args if is_named else [SHOW, *args])


data_app = typer.Typer(
    cls=DataCommands,
    subcommand_metavar="[NAME[:PATH]] | COMMAND",
    help="List the data sets that --data accepts, or show one: `encheck data mrpc:PATH`.",
)
app.add_typer(data_app, name="data")


@data_app.command(SHOW, hidden=True)
def show(
    spec: Annotated[str | None, typer.Argument(help="Data set to show: NAME or NAME:PATH.")] = None,
    skip_bad_rows: SkipBadRows = False,
    queries: Annotated[Path | None, as_option("queries")] = None,
    passage_words: Annotated[int, as_option("passage_words")] = 150,
    against: Annotated[
        str | None, typer.Option(metavar="NAME:PATH", help="Compare its text with the text of this data set.")
    ] = None,
    texts: Annotated[int, typer.Option(min=1, help="With --against: measure at most this many texts of each.")] = 2_000,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="With --against: also write JSON to this file.")
    ] = None,
) -> None:
    """List the data sets that --data accepts, or show one: rows, labels, splits, clusters, divergence, samples.

    With --against, compare its text with that of another data set at equal sizes: overlap within pairs, repetition,
    vocabulary and length.
    """
    from encheck.datasets.load import is_unlabelled, known_data_sets, load, load_in_columns
    from encheck.datasets.passages import PassageOptions
    from encheck.reporting.data import describe, describe_columns, rows_of
    from encheck.system.entry_points import package_of

    with told():
        if spec is None and (against or json_file):
            raise UsageError("--against compares two data sets: name the first one too (encheck data A --against B)")
        if json_file is not None and against is None:
            raise UsageError("--json requires --against")
        if spec is None:
            rows = [("name", "rows", "path should hold", "licence")]
            ours, packaged = known_data_sets().ours, known_data_sets().packaged
            rows += [(name, rows_of(module), module.FILES, module.LICENCE) for name, module in sorted(ours.items())]
            rows += [(name, "-", f"from the package {package_of(packaged[name])}", "-") for name in sorted(packaged)]
            print_table(rows)
            fetched = ", ".join(sorted(name for name, module in ours.items() if hasattr(module, "HUB")))
            tell(f"probes is embedded and needs no path. From the hub, as NAME:hub: {fetched}.")
            return
        if queries is not None and not is_unlabelled(spec, has_log=True):
            raise UsageError(f"--queries={queries} is for documents without labels, but {spec} is not")
        if against is not None:
            _compare(spec, against, texts, json_file, skip_bad_rows=skip_bad_rows)
            return
        if queries is None and (columns := load_in_columns(spec, skip_bad_rows=skip_bad_rows)):
            lines = describe_columns(columns)
        else:
            how = PassageOptions(queries, passage_words)
            lines = describe(load(spec, sample=None, skip_bad_rows=skip_bad_rows, passages=how))
    say(lines)


def _compare(spec: str, against: str, texts: int, json_file: Path | None, *, skip_bad_rows: bool) -> None:
    from encheck.api.shifting import text_shift
    from encheck.comparing.text_shift import lines
    from encheck.reporting.results import write_named

    found = text_shift(spec, against=against, texts=texts, skip_bad_rows=skip_bad_rows)
    if json_file is not None:
        write_named(json_file, json.dumps(found.as_dict(), indent=1) + "\n")
    say(lines(found))
