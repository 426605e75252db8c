"""Read and write the files in a run's folder: results.json and items.parquet."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from encheck.errors import UsageError
from encheck.options.settings import RunSettings
from encheck.run_file import SCHEMA_VERSION, RunFile
from encheck.scoring.frame import COLUMNS, OPTIONAL, RunItems, item_schema
from encheck.scoring.item import ItemRow
from encheck.system import files, imports
from encheck.system.documents import parquet_table, read_json
from encheck.system.files import write_text
from encheck.system.typed_files import as_json, read_typed

if TYPE_CHECKING:
    from pyarrow import Table

RESULTS, ITEMS = "results.json", "items.parquet"
PACKAGES = (
    "encheck", "pytest", "numpy", "scipy", "scikit-learn", "torch", "transformers", "tokenizers",
    "sentence-transformers", "spacy", "nltk", "babel", "bm25s", "rapidfuzz", "py3langid", "pyarrow",
)  # fmt: skip
NEVER_EMPTY = ("case", "item", "cluster", "source", "near_score", "kind")


def versions(settings: RunSettings, adapters: Iterable[str]) -> dict[str, str]:
    """Return the versions of encheck's dependencies, and of the packages that took part, without importing them.

    Those packages provide the checks or the data of these settings, or one of these adapters.
    """
    found = dict(imports.installed_versions(PACKAGES))
    data = [spec.partition(":")[0].partition("@")[0] for spec in settings.data]
    for group, names in (
        (imports.CHECKS, settings.check_packages),
        (imports.DATA, data),
        (imports.ADAPTERS, adapters),
    ):
        found |= imports.versions_of(group, names)
    return found


def environment() -> dict[str, str]:
    """Return versions of everything except the packages that figures depend on.

    They are encheck's own code, Python, the platform, and torch's threads. From a checkout, encheck's code is named by
    its commit, although the checkout may have changes. Otherwise it is named by a hash of the installed files, because
    the checkout that they came from may have changed since.
    """
    found = {"encheck": _code_version(), "python": platform.python_version(), "platform": platform.platform()}
    torch = sys.modules.get("torch")
    return found | ({"threads": str(torch.get_num_threads())} if torch else {})


@cache
def _code_version() -> str:
    installed = metadata.distribution("encheck")
    origin = json.loads(installed.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        git = [
            "git",
            "--no-optional-locks",  # a run that is killed leaves no lock in the repository
            "-C",
            url2pathname(urlsplit(origin["url"]).path),
            "describe",
            "--always",
            "--abbrev=40",
            "--dirty",
        ]
        with suppress(OSError, subprocess.SubprocessError):
            ran = subprocess.run(git, capture_output=True, text=True, check=True, timeout=10)  # noqa: S603
            said = ran.stdout.strip()
            return f"commit {said.replace('-dirty', ' with changes')}"
    return f"sha256 of its files {sha256((installed.read_text('RECORD') or '').encode()).hexdigest()}"


def refuse_over(
    path: Path | None, kinds: Sequence[str], *, option: str = "--out", reads: Iterable[str | Path | None] = ()
) -> None:
    """Raise UsageError if writing to `path` would replace a file of another kind: a page may replace a page, but not
    data.

    Also raise it if `path` is a file that the command `reads`: a path, or a path with a prefix as in vectors:FILE.
    """
    if not path or not path.is_file() or files.is_special(path):
        return
    if kinds and path.suffix.lower() not in kinds:
        said = f"exists, and its name does not end in {' or '.join(kinds)}"
        raise UsageError(f"{option}={path} {said}: name another file")
    for one in filter(None, map(str, reads)):
        if any(files.is_file(name) and path.samefile(name) for name in (one, one.partition(":")[2])):
            raise UsageError(f"{option}={path} would overwrite what this command reads: name another file")


def write_named(path: Path, text: str) -> None:
    """Write a file that the user named, as `write_text` does. Raise UsageError if it cannot be written."""
    with writable_folder(path.parent):
        if path.is_dir():
            raise UsageError(f"cannot write {path}: it is a folder. Remedy: name a file in it")
        try:
            write_text(path, text)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {files.describe_os_error(error, folder=path.parent)}") from error


@contextmanager
def writable_folder(folder: Path) -> Iterator[None]:
    """Create the folder if it is missing, then run the block that writes into it. Raise UsageError if writing fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        said = files.describe_os_error(error, folder=folder)
        raise UsageError(f"cannot write into {folder}, which should be a writable folder: {said}") from error


def write_results(folder: Path, results: RunFile) -> None:
    """Write results.json."""
    write_text(folder / RESULTS, as_json(results))


def write_items(folder: Path, items: RunItems) -> None:
    """Write the items of all cases to one Parquet file, sorted by case and item."""
    import pyarrow.parquet

    with files.write_whole(folder / ITEMS) as file:
        pyarrow.parquet.write_table(items.sorted_by_case(), file, compression="zstd")


def read_results(folder: Path) -> RunFile:
    """Return the content of a run's results.json. Raise UsageError if it is missing, damaged or has another schema."""
    path = folder / RESULTS
    try:
        results = read_json(path)
    except FileNotFoundError as error:
        raise UsageError(f"{folder} is not a run: it has no {RESULTS}") from error
    except (ValueError, OSError) as error:
        raise UsageError(f"{path} cannot be read, it may be half-written: {error}. Run again") from error
    found = results.get("schema_version") if isinstance(results, dict) else None
    if found != SCHEMA_VERSION:
        which = "a newer encheck wrote it" if isinstance(found, int) and found > SCHEMA_VERSION else "run again"
        raise UsageError(f"{path} has schema version {found}, but this encheck reads {SCHEMA_VERSION}: {which}")
    try:
        return read_typed(RunFile, results)
    except ValueError as error:
        raise UsageError(f"{path} is not valid: {error}. Run again") from error


def read_items(folder: Path) -> RunItems:
    """Return the items in a run's items.parquet, or none if the file is missing. Raise UsageError if it is damaged."""
    import pyarrow

    path, schema = folder / ITEMS, item_schema()
    if not path.exists():
        return RunItems(schema.empty_table())
    table = _read_item_columns(path, COLUMNS, also=OPTIONAL)
    for name in OPTIONAL:
        if name not in table.column_names:
            table = table.append_column(name, pyarrow.nulls(len(table), schema.field(name).type))
    return RunItems(table.select(schema.names))


def read_splits(folder: Path) -> dict[str, set[str]]:
    """Return the splits of each case's items, or an empty dict without items.parquet. Raise UsageError if it is
    damaged.
    """
    path = folder / ITEMS
    if not path.exists():
        return {}
    pairs = _read_item_columns(path, ("case", "split")).group_by(["case", "split"]).aggregate([])
    found: dict[str, set[str]] = {}
    for case, split in zip(pairs["case"].to_pylist(), pairs["split"].to_pylist(), strict=True):
        found.setdefault(case, set()).add(split or "")
    return found


def find_item(folder: Path, item: str) -> list[ItemRow]:
    """Return the rows of items.parquet whose item id starts with `item`."""
    import pyarrow.compute

    if not (folder / ITEMS).exists():
        raise UsageError(f"{folder} has no {ITEMS}: the run measured nothing, or stopped early")
    table = read_items(folder).table
    found = RunItems(table.filter(pyarrow.compute.starts_with(table["item"], item)))
    return [frame.row(i) for frame in found.values() for i in range(len(frame))]


def _read_item_columns(path: Path, columns: Sequence[str], *, also: Sequence[str] = ()) -> Table:
    """Return these columns of an items.parquet, after checking their types. Raise UsageError if the file is damaged."""
    import pyarrow

    types = item_schema()
    try:
        table = parquet_table(path, columns=columns, also=also)
        for name in table.column_names:
            table = table.set_column(table.column_names.index(name), name, table[name].cast(types.field(name).type))
        for name in {*NEVER_EMPTY}.intersection(table.column_names):
            if table[name].null_count:
                raise ValueError(f"the column {name!r} has an empty field")
        table.validate(full=True)
    except (ValueError, OSError, pyarrow.ArrowException) as error:
        raise UsageError(f"{path} cannot be read: {str(error).splitlines()[0]}. Run again") from error
    return table


def newest_run(root: Path) -> Path:
    """Return the folder of the newest run below `root`."""
    runs = sorted(root.glob(f"*/{RESULTS}"), key=lambda p: p.stat().st_mtime)
    if not runs:
        raise UsageError(f"there is no run under {root}: make one with `encheck run`, or name its folder")
    return runs[-1].parent
