"""The command `encheck index`: check whether the vectors of a stored index come from this model and these texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from encheck.cli.shared import ModelArgs, app, as_option, print_lines, project, report_errors


@app.command()
def index(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="Model, as for --model of `encheck run`, or fresh vectors:FILE2."),
    ],
    stored: Annotated[str, typer.Argument(metavar="vectors:FILE", help="The stored index.")],
    texts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Texts of the index by id or by row: columns id and text, or one line per row (.txt)."
        ),
    ] = None,
    sample: Annotated[int | None, typer.Option(metavar="N", help="Compare N random rows. Default: all rows.")] = None,
    seed: Annotated[int, as_option("seed")] = 0,
    role: Annotated[
        str, typer.Option(metavar="query|document", help="Role of rows without one, for models with prompts.")
    ] = "document",
    similarity: Annotated[
        str,
        typer.Option(
            metavar="cosine|dot|euclidean|manhattan",
            help="Similarity of the index. With cosine, the lengths of vectors do not count.",
        ),
    ] = "dot",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write every row that is not MODEL's to this CSV file.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write JSON to this file.")
    ] = None,
    model_arg: ModelArgs = None,
    device: Annotated[str, as_option("device")] = "auto",
    dtype: Annotated[str | None, as_option("dtype")] = None,
) -> None:
    """Compare the vectors of a stored index with fresh ones, text by text, and report which rows are wrong, and how.

    It reads exports of stores: Parquet, JSON, JSON Lines, CSV, .npy; pgvector, Qdrant, Chroma, LanceDB.

    It finds vectors of another model, of another text, of a shortened or an earlier text, and zero vectors, and those
    of another length. With fresh vectors in a file, no model is loaded.

    Exit code: 0 all are MODEL's, 1 some are not, 4 wrong usage or bad input, 10 cannot tell.

    Examples:

        encheck index sbert vectors:index.parquet --out wrong.csv

        encheck index vectors:fresh.parquet vectors:index.parquet --sample 1000 --json audit.json
    """
    from encheck.indexes.audit import compare_index
    from encheck.indexes.sources import open_fresh_vectors, open_index, refuse_options
    from encheck.operations.index.api import audit_lines, write_rows
    from encheck.options import Settings
    from encheck.reporting.results import refuse_over, write_named
    from encheck.system.terminal import Progress
    from encheck.system.typed_files import as_json

    with report_errors():
        refuse_options(sample, similarity, seed)
        refuse_over(out, [".csv"], reads=[model, stored, texts])
        refuse_over(json_file, [".json"], option="--json", reads=[model, stored, texts])
        settings = Settings(
            models=(model,), model_args=tuple(model_arg or ()), device=device, dtype=dtype, project=project()
        )
        audited = compare_index(
            open_index(stored, texts=texts), open_fresh_vectors(settings, role=role, texts=texts), sample=sample,
            seed=seed, similarity=similarity, progress=Progress(),
        )  # fmt: skip
        print_lines(audit_lines(audited))
        if out:
            write_rows(out, audited)
        if json_file:
            write_named(json_file, as_json(audited))
    raise typer.Exit(audited.exit_code)
