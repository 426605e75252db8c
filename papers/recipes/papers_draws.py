"""Balanced draws of labelled pairs, as paper 003 takes them (Mahajan et al. 2023, section 6 and appendix A.2)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from encheck.datasets.dataset import Dataset
from encheck.scoring.pairs import SentencePair
from encheck.types import content_hash


class Draw(NamedTuple):
    """Two files for `--data pairs:FILE`, with equally many pairs of each label, and the same paraphrases in both.

    Label 0 are the data's own other pairs in `labelled`, pairs of unrelated sentences in `unrelated`.
    """

    labelled: Path
    unrelated: Path


def balanced_draw(data: Dataset, a_label: int, folder: Path, *, seed: int = 0) -> Draw:
    """Draw `a_label` pairs of each label, or as many as the rarer label has, and write both set-ups into the folder.

    Pairs are chosen by the hash of their id with the seed. Unrelated sentences are of the draw, from different clusters
    and without a shared content word, since the data name no topics. The authors draw without a seed.
    """
    by_label = {label: [pair for pair in data.pairs if pair.label == label] for label in (1, 0)}
    size = min(a_label, *map(len, by_label.values()))
    drawn = {
        label: sorted(pairs, key=lambda pair: content_hash(str(seed), pair.id))[:size]
        for label, pairs in by_label.items()
    }
    of_draw = replace(data, pairs=(*drawn[1], *drawn[0]), groups=(), collection=None)
    unrelated = of_draw.draw_random_pairs(seed=seed, purpose="unrelated", count=size)

    found = Draw(folder / "labelled.jsonl", folder / "unrelated.jsonl")
    _write(found.labelled, of_draw.pairs)
    _write(found.unrelated, (*drawn[1], *unrelated))
    return found


def _write(path: Path, pairs: Iterable[SentencePair]) -> None:
    rows = ({"first": p.first, "second": p.second, "label": p.label, "cluster": p.cluster} for p in pairs)
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), "utf-8")
