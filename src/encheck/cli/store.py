"""`encheck store`: list and delete stored embeddings."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from encheck.cli.shared import StorePath, app, print_message, print_table, project, report_errors
from encheck.errors import UsageError

store_app = typer.Typer(invoke_without_command=True, help="List or delete what the embedding store holds.")
app.add_typer(store_app, name="store")


@store_app.callback()
def store(context: typer.Context, path: StorePath = None) -> None:
    """List the models whose embeddings are stored."""
    from encheck.options import Settings
    from encheck.running.resources import open_named_store
    from encheck.store import default_store_path

    context.obj = path
    if context.invoked_subcommand:
        return
    where = path or default_store_path()
    if not where.exists():
        print_message(f"{where}: empty")
        return
    with report_errors():
        opened = open_named_store(Settings(store=where, project=project()))
        rows = [("model", "kind", "fingerprint", "rows", "MB")]
        rows += [(s.name, s.kind, s.fingerprint, str(s.rows), f"{s.bytes / 1e6:.1f}") for s in opened.list_models()]
        print_message(f"{where}: {opened.bytes_on_disk() / 1e6:.1f} MB of at most {opened.limit / 1e6:.0f} MB")
    print_table(rows)


@store_app.command()
def prune(
    context: typer.Context,
    limit_mb: Annotated[
        float, typer.Option(help="Delete the least recently used models until the store has at most this size.")
    ] = 0,
    fingerprint: Annotated[str | None, typer.Option(help="Delete only the model with this fingerprint.")] = None,
    path: StorePath = None,
) -> None:
    """Delete stored embeddings. Without options: all of them."""
    from encheck.store import Store, default_store_path

    path = path or context.obj
    where = path or default_store_path()
    if not path and not where.exists():
        print_message(f"{where}: empty")
        return
    with report_errors():
        if not 0 <= limit_mb < math.inf:
            raise UsageError(f"--limit-mb is {limit_mb}, but should be a number of megabytes, 0 or more")
        if not where.exists():
            raise UsageError(f"the store {where} does not exist. Remedy: name one that exists: --store=PATH")
        opened = Store(where)
        if fingerprint:
            if fingerprint not in {stored.fingerprint for stored in opened.list_models()}:
                raise UsageError(
                    f"{where} has no embeddings with the fingerprint {fingerprint!r}. `encheck store` lists what it "
                    f"holds"
                )
            opened.delete_model(fingerprint)
            opened.compact()
        else:
            for gone in opened.delete_least_recently_used(limit=int(limit_mb * 1e6)):
                print_message(f"deleted {gone.rows} rows of {gone.name}")
        print_message(f"{opened.path}: {opened.bytes_on_disk() / 1e6:.1f} MB")
