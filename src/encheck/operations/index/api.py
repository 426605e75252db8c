"""`audit_index`: are the vectors of a stored index those of this model and of these texts?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from encheck.api.loading import as_option

if TYPE_CHECKING:
    from encheck.encoders.protocol import Encoder
    from encheck.indexes.audit import IndexAudit
    from encheck.system.progress import Progress

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
    """Compare the vectors of a stored index with fresh ones, text by text (docs/index-audit.md).

    Args:
        model: what `load_model` takes or returns, a function from a list of texts to vectors [n, d], or
            "vectors:FILE" with fresh vectors of the same texts: then no model is loaded.
        index: "vectors:FILE": a file as a store writes it, with texts (or hashes) and vectors, and perhaps id, role.
        texts: a file with the texts of the index by id, or by row: columns id and text, or a line a row (.txt).
        sample: compare so many rows, drawn at random from all. Default: all.
        seed: of the sample.
        role: the role of rows that name none, for models with prompts.
        similarity: what the index compares by. With "cosine" the lengths of vectors do not count.
        device: for a model that is given by name: auto, cpu, cuda, ...
        progress: where to show progress. Default: nowhere.
        arguments: for a model that is given by name, as in `load_model`.

    Returns:
        The audit: counts by kind, the rows that are not this model's, groups of them with a possible cause, and for a
        sample the share of all rows with its interval. `exit_code` is 0 (all are this model's), 1 (some are not) or 10
        (cannot tell).

    Raises:
        UsageError: nothing can be compared: no text is known, an id comes twice, a file is broken. Subclasses say what.
        EncoderError: the model failed.
    """
    from encheck.indexes.audit import audit
    from encheck.indexes.sources import given, index_of, named, refuse_wrong
    from encheck.options import Settings, project_table

    refuse_wrong(sample, similarity)
    texts_file = Path(texts).expanduser() if texts else None
    stored = index_of(index, texts=texts_file)
    if isinstance(model, str | Path):
        given_arguments = {
            key: value if isinstance(value, str) else json.dumps(value) for key, value in arguments.items()
        }
        asked = tuple(f"{key}={value}" for key, value in given_arguments.items())
        project = project_table(Path("pyproject.toml"))
        settings = Settings(models=(as_option(model),), model_args=asked, device=device, project=project)
        fresh = named(settings, role=role, texts=texts_file)
    else:
        fresh = given(model, role=role)
    return audit(stored, fresh, sample=sample, seed=seed, similarity=similarity, progress=progress)
