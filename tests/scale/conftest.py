"""Labelled pairs in some Parquet files, and a Ray cluster of this machine."""

import os
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

ROWS, FILES, ROW_GROUP = 300, 3, 25


@pytest.fixture
def in_files(tmp_path):
    """A folder of 300 pairs in three files, 12 shards of 25 rows."""
    folder = tmp_path / "data"
    folder.mkdir()
    for file in range(FILES):
        numbers = range(file * 100, file * 100 + 100)
        table = pyarrow.table(
            {
                "first": [f"The price of ticket {n} rose by {n % 7} pounds." for n in numbers],
                "second": [f"Ticket {n} got dearer by {n % 5} pounds." for n in numbers],
                "label": [n % 2 for n in numbers],
            }
        )
        parquet.write_table(table, folder / f"part-{file}.parquet", row_group_size=ROW_GROUP)
    return folder


@pytest.fixture(scope="module")
def ray_here():
    """Ray, which finds the work of these tests in its workers; its cluster ends with the module."""
    ray = pytest.importorskip("ray", reason="needs Ray: pip install 'encheck[ray]'")
    with pytest.MonkeyPatch.context() as patch:
        here = str(Path(__file__).parent)
        patch.setenv("PYTHONPATH", os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])]))
        yield ray
        ray.shutdown()
