"""Work for tests of engines, importable in the processes of workers: word overlap, and ways to fail."""

import json
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from encheck.errors import DataError, EncoderError
from encheck.scale import storage
from encheck.scale.shards import ShardResult, read_shard_table
from encheck.similarity import jaccard


@dataclass(frozen=True)
class Overlap:
    """The sum of word overlaps of a shard as a JSON file; `trouble` names a shard at which something happens."""

    folder: str
    trouble: int = -1
    kind: str = ""
    pause: float = 0.0

    @property
    def key(self):
        return "overlap"

    def path(self, shard):
        return storage.join(self.folder, f"{shard.number}.json")

    def stored_result(self, shard):
        return self._read(shard) if storage.exists(self.path(shard)) else None

    def _read(self, shard):
        return ShardResult(shard, self.path(shard), json.loads(storage.read_whole(self.path(shard))))

    def make_shard_function(self):
        _happen(self, "begin")
        return self._do

    def _do(self, shard):
        time.sleep(self.pause)
        _log(self.folder, shard)
        if shard.number == self.trouble:
            _happen(self, "shard")
        table = read_shard_table(shard)
        overlap = jaccard(table["first"].to_pylist(), table["second"].to_pylist())
        counts = {"rows": table.num_rows, "overlap": round(float(overlap.sum()) * 1000)}
        storage.write_whole(self.path(shard), json.dumps(counts).encode())
        return ShardResult(shard, self.path(shard), counts, 0.1, ("seen",))


def _log(folder, shard):
    """Note that a process began a shard, where the folder is on a disk."""
    if path := storage.local_path(folder):
        path.mkdir(parents=True, exist_ok=True)
        with (path / "begun.log").open("a") as file:
            file.write(f"{shard.number} {os.getpid()}\n")


def begun(folder):
    """(shard, process) of all that was begun."""
    lines = (Path(folder) / "begun.log").read_text().splitlines()
    return [tuple(map(int, line.split())) for line in lines]


def _happen(work, when):
    folder = storage.local_path(work.folder)
    kind = work.kind
    if kind == f"{when} dies once" and not (folder / "died").exists():
        (folder / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == f"{when} runs out of memory once" and not (folder / "died").exists():
        (folder / "died").touch()
        raise MemoryError
    if kind == f"{when} dies always":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == f"{when} fails":
        raise EncoderError("the model gives no numbers")
    if kind == f"{when} is wrong":
        raise DataError("b.parquet:3: the label is 7")
    if kind == f"{when} crashes":
        raise KeyError("vocab")
