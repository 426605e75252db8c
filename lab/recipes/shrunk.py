"""Shrink a seeded sample of a model's failures, print what is left, and write sheets for blind readers.

    python lab/recipes/shrunk.py --model sbert --n 250 --out DIR
    python lab/recipes/shrunk.py --model sbert --n 250 --out DIR --run reports/RUN --split dev
    python lab/recipes/shrunk.py --model sbert --n 250 --out DIR --skip 1181 --but SHEETS

Without `--run` the checks are run on the embedded probes first. Of the run's triplets and crossed groups that the
model gets wrong, `--n` are drawn by seed, one a source; left out are jumbled words, and checks whose near text changes
the meaning too. Printed are the words before and after (of the three texts together), seconds an item with a warm
model, how many could not be shrunk and why, and how many words stand outside all edits, which is the most that could
go. For readings of other failures `--skip` leaves out so many of the order that was drawn, and `--but` what is on
other sheets. `--n` shrunk ones, no others and no text twice, are written as sheets in the format of
`judge_variants.py`, whose `read-triples` reads the answers.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judge_variants import SEED, write_sheets

from encheck.cli.show import item_shrinker
from encheck.engine.run import run
from encheck.options import Settings
from encheck.reporting.results import find_item, read_results
from encheck.scoring.item import ItemRow
from encheck.scoring.triplets import Triplet
from encheck.shrinking.shrink import ShrinkResult

NOT_KEPT = ("antonym_is_farther_than_control", "jumble", "paraphrase_ranks", "rewrite_ranks")
LONG = 45  # words of three texts


def failures(folder: Path, split: str, seed: int) -> list[ItemRow]:
    """Rows of what the model gets wrong, one a source, in an order drawn by seed."""
    wrong = [
        row for row in find_item(folder, "")
        if row.kind.shrinks and row.near.score <= row.far.score and split in ("", row.split)
        and not row.case.startswith(NOT_KEPT)
    ]  # fmt: skip
    distinct = {row.source: row for row in sorted(wrong, key=lambda row: (row.source, row.case), reverse=True)}
    rows = [distinct[source] for source in sorted(distinct)]
    random.Random(seed).shuffle(rows)
    return rows


def shrunk(rows: list[ItemRow], args: argparse.Namespace) -> Iterator[tuple[ItemRow, ShrinkResult | str, float]]:
    """Each row with what became of it, and the seconds that it took; the model has been asked once before."""
    one = item_shrinker(Settings(models=(args.model,)), read_results(args.run).run.settings)
    one(rows[0])
    for row in rows:
        start = time.perf_counter()
        yield row, one(row), time.perf_counter() - start


def figures(found: list[tuple[ItemRow, ShrinkResult | str, float]]) -> Iterator[str]:
    """What is left of the words, by the length of the item; and how long it took."""
    done = [one for _, one, _ in found if isinstance(one, ShrinkResult)]
    reasons = Counter(one for _, one, _ in found if isinstance(one, str))
    yield f"{len(found)} failures; not tried: {dict(reasons) or 'none'}"
    parts = {"all": done, f"of {LONG} words or more": [one for one in done if one.whole.words >= LONG]}
    for name, some in parts.items():
        if some:
            before, after = (statistics.median(form.words for form in forms) for forms in _forms(some))
            gone = statistics.median(one.removed_share for one in some)
            any_gone = sum(one.removed_share > 0 for one in some)
            yield f"{name}: {len(some)} items, words in the median {before:g} before, {after:g} after, {gone:.0%} gone"
            yield f"  shrunk at all: {any_gone} ({any_gone / len(some):.0%})"
    if done:
        outside = [_outside(one.whole.item) for one in done]
        half = sum(share >= 0.5 for share in outside)
        yield f"words outside all edits: {statistics.median(outside):.0%} in the median; half or more in {half} items"
    for why, count in Counter(one.why for one in done if one.why).most_common():
        yield f"nothing can go, {why}: {count} ({count / len(done):.0%})"
    if some := [one.removed_share for one in done if one.removed_share > 0]:
        yield f"of those that were shrunk: {statistics.median(some):.0%} gone in the median"
    seconds = sorted(took for *_, took in found)
    late = seconds[math.ceil(0.95 * len(seconds)) - 1]
    yield f"seconds an item: median {statistics.median(seconds):.2f}, 95% {late:.2f}, longest {seconds[-1]:.2f}"


def _outside(item: Triplet) -> float:
    """The share of the words of a triplet's texts that no edit touches."""
    own = [*item.near_edits, *item.far_edits]
    words = [(m.start(), m.end()) for m in re.finditer(r"\S+", item.source)]
    kept = sum(not any(e.start < b and a < max(e.end, e.start + 1) for e in own) for a, b in words)
    return 3 * kept / sum(len(text.split()) for text in (item.source, item.near, item.far))


def _forms(some: list[ShrinkResult]) -> tuple[Iterator[Any], Iterator[Any]]:
    return (one.whole for one in some), (one.shortest for one in some)


def as_triple(row: ItemRow, found: ShrinkResult) -> dict[str, Any]:
    """The shortest form as the sheets take it."""
    item = found.shortest.item
    sides = {"kept": (item.near, item.near_why), "changed": (item.far, item.far_why)}
    return {"set": row.case.partition("/")[0], "source": item.source, "sides": sides}


def main() -> None:
    """Shrink, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="sbert")
    parser.add_argument("--n", type=int, default=250)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--run", type=Path)
    parser.add_argument("--split", default="")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--but", type=Path)
    args = parser.parse_args()
    if args.run is None:
        args.run = Path(tempfile.mkdtemp(prefix="shrunk-"))
        run(args.model, data="probes", report_dir=args.run, full=True)
    found, sheet = [], []
    known = {one["source"] for one in json.loads((args.but / "key.json").read_text("utf-8"))} if args.but else set()
    rows = failures(args.run, args.split, args.seed)[args.skip :]
    for row, one, took in shrunk(rows, args):
        found.append((row, one, took))
        if isinstance(one, ShrinkResult) and one.removed_share > 0 and one.shortest.item.source not in known:
            sheet.append(as_triple(row, one))
            known.add(one.shortest.item.source)
        if len(sheet) == args.n:
            break
    print("\n".join(figures(found[: args.n])))
    print("\n".join(["", "all that were tried:", *figures(found)]))
    write_sheets(sheet, args)


if __name__ == "__main__":
    main()
