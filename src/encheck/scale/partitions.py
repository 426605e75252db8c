"""Numbers of a shard as one Parquet file, with what else is known of it in the file's footer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.errors import DataError
from encheck.scale import storage
from encheck.scale.shards import Done, Shard

ABOUT = b"encheck"
Numbers = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of one work, one a shard: a folder, on a disk or in an object store."""

    url: str

    def path(self, shard: Shard) -> str:
        """The file of a shard."""
        return storage.join(self.url, f"{shard.number:06d}.parquet")

    def write(
        self,
        shard: Shard,
        columns: Mapping[str, Numbers],
        *,
        counts: Mapping[str, int],
        seconds: float,
        notes: Sequence[str] = (),
    ) -> Done:
        """Write the file of a shard, whole or not at all; DataError where the place cannot be written."""
        import pyarrow
        import pyarrow.parquet

        about = {"counts": dict(counts), "seconds": round(seconds, 3), "notes": list(notes)}
        table = pyarrow.table({name: pyarrow.array(values) for name, values in columns.items()})
        sink = pyarrow.BufferOutputStream()
        table = table.replace_schema_metadata({ABOUT: json.dumps(about)})
        pyarrow.parquet.write_table(table, sink, compression="zstd")
        storage.write_whole(self.path(shard), sink.getvalue().to_pybytes())
        return Done(shard, self.path(shard), dict(counts), seconds, tuple(notes))

    def found(self, shard: Shard) -> Done | None:
        """What the footer of a shard's file says; None where there is no such file, or a damaged one."""
        import pyarrow
        import pyarrow.parquet

        path = self.path(shard)
        if not storage.exists(path):
            return None
        try:
            with storage.told(path), storage.reading(path) as source:
                about = json.loads(pyarrow.parquet.read_schema(source).metadata[ABOUT])
            return Done(shard, path, about["counts"], about["seconds"], tuple(about["notes"]))
        except (DataError, ValueError, TypeError, KeyError):
            return None  # it is written again

    def column(self, shard: Shard, name: str) -> Numbers | None:
        """A column of a shard's file, shape [rows]; None where it has none of that name."""
        return self.columns(shard, [name]).get(name)

    def columns(self, shard: Shard, names: Sequence[str]) -> dict[str, Numbers]:
        """Those of the columns that a shard's file has; DataError where it cannot be read."""
        import pyarrow.parquet

        path = self.path(shard)
        with storage.told(path), storage.reading(path) as source, pyarrow.parquet.ParquetFile(source) as file:
            there = [name for name in names if name in file.schema_arrow.names]
            table = file.read(columns=there)
        return {name: np.asarray(table.column(name)) for name in there}
