"""Labelled pairs in some Parquet files, and a Ray cluster of this machine."""

import os
import random
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

FILES, ROWS, ROW_GROUP = 3, 100, 25


@pytest.fixture
def in_files(tmp_path):
    """A folder of 300 pairs of random words in three files, 12 shards of 25 rows."""
    folder, rng = tmp_path / "data", random.Random(5)
    folder.mkdir()
    words = ["".join(rng.choices("abcdefghij", k=5)) for _ in range(300)]
    for file in range(FILES):
        first = [rng.sample(words, 7) for _ in range(ROWS)]
        second = [
            [w if rng.random() < (0.7 if i % 2 else 0.4) else rng.choice(words) for w in first[i]] for i in range(ROWS)
        ]
        columns = {"first": [*map(" ".join, first)], "second": [*map(" ".join, second)]}
        table = pyarrow.table(columns | {"label": [i % 2 for i in range(ROWS)]})
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
