"""Audit a stored index: check whether its vectors come from this model and these texts; report in words and as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from encheck.api import as_option
from encheck.gating.advice import row_numbers_in_words
from encheck.indexes.audit import AuditedRow, IndexAudit, compare_index
from encheck.reporting.results import write_named
from encheck.reporting.text import one_line, table
from encheck.system.files import expand_home
from encheck.system.terminal import safe_cell

if TYPE_CHECKING:
    from encheck.encoders.protocol import Encoder
    from encheck.system.terminal import Progress

    Named = str | Path | Encoder | Callable[[list[str]], Any]


def audit_index(
    model: Named,
    index: str | Path,
    *,
    texts: str | Path | None = None,
    sample: int | None = None,
    seed: int = 0,
    role: Literal["query", "document"] = "document",
    similarity: Literal["cosine", "dot", "euclidean", "manhattan"] = "dot",
    device: str = "auto",
    progress: Progress | None = None,
    **arguments: Any,
) -> IndexAudit:
    """Compare the vectors of a stored index with fresh ones, text by text (docs/tasks/index-audit.md).

    Args:
        model: what `load_model` takes or returns, a function from a list of texts to vectors [n, d], or
            "vectors:FILE" with fresh vectors of the same texts; then no model is loaded.
        index: "vectors:FILE": a store's export with texts (or hashes) and vectors, optionally ids and roles.
        texts: a file with the texts of the index by id or by row: columns id and text, or one text per line (.txt).
        sample: compare this many random rows. Default: all rows.
        seed: seed of the sample.
        role: the role of rows that have none, for models with prompts.
        similarity: the similarity function of the index. With "cosine" the lengths of vectors do not count.
        device: for a model that is given by name: auto, cpu, cuda, ...
        progress: where to show progress. Default: nowhere.
        arguments: for a model that is given by name, as in `load_model`.

    Returns:
        The audit: counts by kind, the rows whose vectors do not come from this model and their texts, groups of such
        rows with a possible cause, and for a sample the estimated share of all rows with its interval. `exit_code` is 0
        (all vectors are this model's), 1 (some are not) or 10 (cannot tell).

    Raises:
        UsageError: nothing can be compared, because no text is known, an id is repeated, or a file is broken. See the
            subclasses.
        EncoderError: the model failed.

    >>> import tempfile
    >>> from encheck import load_model
    >>> encoder, parts = load_model("bag-of-words"), [f"To fix part {i} call us." for i in range(40)]
    >>> vectors = encoder.encode(parts)[::-1].tolist()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     index = Path(folder, "index.json")
    ...     _ = index.write_text(json.dumps([{"text": t, "vector": v} for t, v in zip(parts, vectors, strict=True)]))
    ...     audit_index(encoder, index).outcome
    'some are not'
    """
    from encheck.indexes.sources import fresh_vectors_of, open_fresh_vectors, open_index, refuse_options
    from encheck.options import Settings, project_table

    refuse_options(sample, similarity, seed)
    texts_file = expand_home(texts) if texts else None
    stored = open_index(index, texts=texts_file)
    if isinstance(model, str | Path):
        given_arguments = {
            key: value if isinstance(value, str) else json.dumps(value) for key, value in arguments.items()
        }
        asked = tuple(f"{key}={value}" for key, value in given_arguments.items())
        project = project_table(Path("pyproject.toml"))
        settings = Settings(models=(as_option(model),), model_args=asked, device=device, project=project)
        fresh = open_fresh_vectors(settings, role=role, texts=texts_file)
    else:
        fresh = fresh_vectors_of(model, role=role)
    return compare_index(stored, fresh, sample=sample, seed=seed, similarity=similarity, progress=progress)


FIRST = 5  # rows of a kind that the terminal names
MOST_ID = 40
COLUMNS = (
    "row", "id", "kind", "cosine", "length", "text_of", "stored_at", "words", "characters", "cause"
)  # fmt: skip


def audit_lines(audit: IndexAudit) -> Iterator[str]:
    """Yield the terminal output; its last line is the outcome."""
    yield f"{audit.file}: {audit.rows:,} rows, {audit.compared:,} compared with {audit.model}"
    lines = [("", "rows", "the first of them")]
    for count in audit.counts:
        rows = [row for row in audit.faults if row.kind == count.kind]
        more = f", and {len(rows) - FIRST:,} more" if len(rows) > FIRST else ""
        lines.append((count.kind, f"{count.rows:,}", ", ".join(map(_row_name, rows[:FIRST])) + more))
    yield from table(lines)
    for group in audit.groups:
        yield f"  rows {row_numbers_in_words(group.rows)}: {group.says} ({group.evidence})"
    yield from (f"  {note}" for note in audit.notes)
    yield f"INDEX: {audit.outcome.upper()}. {audit.reason}"


def _row_name(row: AuditedRow) -> str:
    name = one_line(row.id, MOST_ID)
    if row.text_of is not None:
        return f"{name} (has the vector of {one_line(row.text_of, MOST_ID)})"
    if row.stored_at is not None:
        return f"{name} (its own is at {one_line(row.stored_at, MOST_ID)})"
    if row.beginning is not None:
        return f"{name} (its first {row.beginning.words} words)"
    if row.kind == "not normalised" and row.length is not None:
        return f"{name} ({row.length:.3g} times)"
    return name if row.cosine is None else f"{name} ({row.cosine:.2f})"


def write_rows(path: Path, audit: IndexAudit) -> None:
    """Write every row that is not this model's as CSV. Raise UsageError if the file cannot be written."""
    causes = {row: group.cause for group in audit.groups for row in group.rows}
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in audit.faults:
        part = (row.beginning.words, row.beginning.characters) if row.beginning else (None, None)
        cells = (row.number, row.id, row.kind, row.cosine, row.length, row.text_of, row.stored_at, *part)
        writer.writerow([safe_cell(cell) for cell in (*cells, causes.get(row.number))])
    write_named(path, out.getvalue())
