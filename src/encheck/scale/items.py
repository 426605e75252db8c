"""The scores of all pairs as Parquet files, a file a shard, for those who look beyond the worst."""

from __future__ import annotations

import io

import numpy as np

from encheck.datasets.columns import Columns
from encheck.running.shards import ShardScores
from encheck.scale import storage
from encheck.scale.columns import Parts


def write_items(folder: str, columns: Columns, survey: Parts, scores: ShardScores) -> None:
    """Write a file for each shard; where it lies and in which row of it, `file` and `row`, stand for the texts.

    `row` counts from 1, bad rows too. The other columns are called as in items.parquet; `cluster` is a hash of its
    name. DataError where the folder cannot be written.
    """
    import pyarrow
    import pyarrow.parquet

    end = 0
    for one in survey.done:
        size = one.counts["rows"]
        part, end = slice(end, end + size), end + size
        rows = survey.files.columns(one.shard, ["row"])["row"].astype(np.int64)
        labels, gold = columns.labels[part], columns.gold[part]
        hashes = columns.hashes[columns.clusters[part]]
        table = {
            "file": pyarrow.array([one.shard.url] * size).dictionary_encode(),
            "row": rows + one.shard.start + 1,
            "label": pyarrow.array(labels, mask=labels < 0),
            "gold": pyarrow.array(gold, mask=np.isnan(gold)),
            "cluster": [f"{number:016x}" for number in hashes.tolist()],
            "near_score": scores.forward[part],
            "near_overlap": columns.overlap[part],
            "divergence": columns.divergence[part],
        }
        if scores.backward is not None:
            table["far_score"] = scores.backward[part]
        buffer = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.table(table), buffer, compression="zstd")
        storage.write_whole(storage.join(folder, f"{one.shard.number:06d}.parquet"), buffer.getvalue())
