"""Baselines as version 2 had them, every item with its id, hashes, split and label; made here to be read."""

import hashlib
import json

import pyarrow
import pyarrow.parquet

WORDS_OF_1 = {"check": "claim", "property": "check"}


def write_old(folder, results, tables, *, model):
    """Write tables of a run as `--save-baseline` did; scores in single precision."""
    strings = {"item": "items", "texts": "texts", "cluster": "clusters", "split": "splits", "label": "labels"}
    columns = {"case": [t.case for t in tables.values() for _ in t.items]}
    columns |= {name: [one for t in tables.values() for one in getattr(t, of)] for name, of in strings.items()}
    for name in ("near", "far"):
        values = [one for t in tables.values() for one in getattr(t, name).tolist()]
        columns[name] = pyarrow.array([None if one != one else one for one in values], pyarrow.float32())
    columns["label"] = pyarrow.array(columns["label"], pyarrow.int8())
    folder.mkdir()
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / "items.parquet", compression="zstd")
    names = ("case", "check", "property", "data", "level", "kind")
    seal(folder, {
        "encheck_baseline": 2, "versions": results["run"]["versions"], "settings": {"seed": 0},
        "model": next(m for m in results["models"] if m["label"] == model),
        "data": [{**data, "calibration": data["calibration"].get(model)} for data in results["data"]],
        "cases": [{n: getattr(t, n) for n in names} | {"items": len(t.items)} for t in tables.values()],
        "checks": results["checks"], "claims": {}, "seed_noise": None,
    })  # fmt: skip


def in_words_of_1(folder):
    """Give a summary of version 2 the words of version 1."""
    found = json.loads((folder / "baseline.json").read_text("utf-8"))
    said = {name: [_renamed(row) for row in found[name]] for name in ("cases", "checks")}
    for row in said["checks"]:
        row |= {"threshold": row.pop("aim"), "capability": row["check"]}
        del row["floor"], row["floor_of"]
    seal(folder, {**found, **said, "encheck_baseline": 1})


def _renamed(row):
    return {WORDS_OF_1.get(name, name): value for name, value in row.items()}


def seal(folder, summary):
    """Write the summary with the hash of the items file and its own checksum."""
    items = hashlib.sha256((folder / "items.parquet").read_bytes()).hexdigest()
    said = {name: value for name, value in summary.items() if name != "checksum"} | {"items_sha256": items}
    canonical = json.dumps(said, sort_keys=True, ensure_ascii=True)
    sealed = {**said, "checksum": hashlib.sha256(canonical.encode()).hexdigest()}
    (folder / "baseline.json").write_text(json.dumps(sealed, separators=(",", ":")) + "\n", "utf-8")
