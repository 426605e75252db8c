"""`encheck store`: the embeddings that are kept."""

from __future__ import annotations

from typing import Annotated

import typer

from encheck.cli.shared import StorePath, app, print_table, project, told

store_app = typer.Typer(invoke_without_command=True, help="Look at the embedding store, and prune it.")
app.add_typer(store_app, name="store")


@store_app.callback()
def store(context: typer.Context, path: StorePath = None) -> None:
    """List the models whose embeddings are kept."""
    from encheck.session import open_store
    from encheck.settings import Settings
    from encheck.store import default_path

    if context.invoked_subcommand:
        return
    where = path or default_path()
    if not where.exists():
        typer.echo(f"{where}: nothing is kept yet")
        return
    with told():
        opened = open_store(Settings(store=where, project=project()))
        rows = [("model", "kind", "fingerprint", "rows", "MB")]
        rows += [(s.name, s.kind, s.fingerprint, str(s.rows), f"{s.bytes / 1e6:.1f}") for s in opened.contents()]
        typer.echo(f"{where}: {opened.size() / 1e6:.1f} MB of at most {opened.limit / 1e6:.0f} MB")
    print_table(rows)


@store_app.command()
def prune(
    limit_mb: Annotated[
        float, typer.Option(help="Forget models, the one used longest ago first, down to this size.")
    ] = 0,
    fingerprint: Annotated[str | None, typer.Option(help="Forget this model only.")] = None,
    path: StorePath = None,
) -> None:
    """Forget embeddings. Without options: all of them."""
    from encheck.store import Store, default_path

    with told():
        opened = Store(path or default_path())
        if fingerprint:
            opened.remove(fingerprint)
            opened.compact()
        else:
            for gone in opened.prune(limit=int(limit_mb * 1e6)):
                typer.echo(f"forgot {gone.rows} rows of {gone.name}")
        typer.echo(f"{opened.path}: {opened.size() / 1e6:.1f} MB")
