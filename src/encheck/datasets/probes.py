"""The embedded probes: groups of sentences written for this project, with their variants.

One JSON line a group (probes.schema.json says what it holds). `probes:FILE` reads a file of your own in the same
schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from encheck.datasets.base import Dataset
from encheck.datasets.reader import decoded
from encheck.errors import DataError
from encheck.types import Edit, Group, SentencePair, Variant, apply_edits, content_hash

LICENCE = "Apache-2.0 (written for encheck)"
FILES = "a .jsonl file in the schema of the embedded probes"
KEPT = ("paraphrase", "rewrite")
FIELDS = {"id", "domain", "split", "skeleton", "sentence", "continuation", "variants"}


@cache
def embedded() -> Dataset:
    """The probes that come with encheck."""
    path = Path(str(resources.files("encheck.datasets") / "probes.jsonl"))
    return dataset(list(groups(path)))


def from_path(path: Path) -> Dataset:
    """A probe file of the user's own, with all its variants."""
    return dataset(list(groups(path)))


def groups(path: Path) -> Iterator[Group]:
    """The groups of a probe file; DataError names the line of any defect."""
    for number, line in enumerate(decoded(path).splitlines(), 1):
        try:
            yield _group(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(f"{path}:{number}: {error!r}") from error


def _group(entry: dict[str, Any]) -> Group:
    if missing := FIELDS - set(entry):
        raise ValueError(f"lacks {', '.join(sorted(missing))}")
    source = entry["sentence"]
    variants = tuple(_variant(source, v) for v in entry["variants"])
    paraphrase = next((v.text for v in variants if v.relation == "paraphrase"), None)
    if paraphrase is None:
        raise ValueError("has no paraphrase")
    return Group(entry["id"], source, paraphrase, entry["skeleton"], variants, entry["continuation"], entry["split"])


def _variant(source: str, entry: dict[str, Any]) -> Variant:
    edits = tuple(Edit(e["start"], e["end"], e["text"]) for e in entry["edits"])
    if apply_edits(source, edits) != entry["text"]:
        raise ValueError(f"the edits of {entry['relation']} {entry['level']} do not give its text")
    return Variant(entry["text"], entry["relation"], entry["level"], edits)


def dataset(found: list[Group]) -> Dataset:
    """Pairs of the groups: sentence with paraphrase and rewrite (1), with its hard negative (0)."""
    pairs = tuple(pair for group in found for pair in _pairs(group))
    universe = tuple(sorted({g.cluster for g in found}))
    written = frozenset(v.relation for g in found for v in g.variants)
    return Dataset("probes", pairs, tuple(found), LICENCE, len(found), written=written, universe=universe)


def _pairs(group: Group) -> Iterator[SentencePair]:
    for variant in group.variants:
        if variant.relation in (*KEPT, "hard_negative"):
            name = f"probes/{content_hash(group.source, variant.text)}/{variant.relation}/1/written/0"
            label = int(variant.relation in KEPT)
            yield SentencePair(name, group.source, variant.text, label, group.cluster, group.split, variant.edits)


DISTANCE = {"control": 0.6, "antonym": 1.5}


def meanings() -> Iterator[tuple[str, tuple[str, float]]]:
    """(text, (meaning, distance from it)) of every embedded text: what the oracle fake knows."""
    kept = {"paraphrase", "rewrite", "synonym", "reorder"}
    for group in embedded().groups:
        yield group.source, (group.id, 0.0)
        for v in group.variants:
            yield v.text, (group.id, 0.0 if v.relation in kept else DISTANCE.get(v.relation, 1.0))
