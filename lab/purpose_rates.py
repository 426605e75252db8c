"""How often a gate for another model says yes and no, by the real decision function on simulated searches.

    python lab/purpose_rates.py --runs 1000
    python lab/purpose_rates.py --runs 1000 --file sharing.csv   # two columns: query,document
    python lab/purpose_rates.py --runs 1000 --pooled
    python lab/purpose_rates.py --runs 1000 --judged
    python lab/purpose_rates.py --runs 1000 --watched

Queries are lost and won at random, so that the discordance and the true change are what a cell says. With `--file` the
queries share documents as in the file, and queries of one document move together with probability .2.

With `--pooled` the labels name what OLD found: its first answer is judged, and of NEW's other first answers only those
that OLD lists, as a cell says. Beside the rule stands what it would say if all others were taken for wrong. With
`--judged` nothing is labelled, and people judge the first answers that differ until that decides; half of them are
ties. With `--watched` the search is the same, and negation has the items and frames of the probes.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from encheck.gating.purpose import MARGINS, Purpose, PurposeFigures, decide_for_purpose
from encheck.gating.types import PairedRow, UnjudgedSearch
from encheck.gating.unlabelled_search import (
    Judgement,
    JudgingPool,
    JudgingQuery,
    decide_by_judgements,
    estimate_changed_share,
)

Floats = NDArray[np.float64]
Things = NDArray[np.intp]
MARGIN = MARGINS["search"]
SIZES = (25, 60, 225, 500, 1_000)
DISCORDANCES = (0.1, 0.2)
CHANGES = (0.0, -0.03, -0.04, -0.08, 0.08)
TOGETHER = 0.2
POOLED = (1.0, 0.5, 0.0)  # shares of NEW's other first answers that are judged
NEGATIONS, FRAMES = 660, 61  # items and clusters of negation on the probes, in their gate part
OUTCOMES = ("pass", "inconclusive", "block")


def things_of(path: Path) -> Things:
    """What each query shares, shape [n, k]; -1 for none."""
    with path.open(encoding="utf-8") as file:
        rows = [(int(one), int(other)) for one, other in list(csv.reader(file))[1:]]
    of_query: dict[int, list[int]] = {}
    for query, document in rows:
        of_query.setdefault(query, []).append(document)
    width = max(map(len, of_query.values()))
    return np.array([some + [-1] * (width - len(some)) for _, some in sorted(of_query.items())], np.intp)


def moved(things: Things, discordance: float, change: float, rng: np.random.Generator) -> Floats:
    """-1, 0 or 1 of each query, of this mean and discordance."""
    n = len(things)
    own = rng.random(n)
    if things.shape[1] > 1:
        shared = rng.random(int(things.max()) + 1)
        own = np.where(rng.random(n) < TOGETHER, shared[things[:, 0]], own)
    lost, won = (discordance - change) / 2, (discordance + change) / 2
    return (own > 1 - won).astype(float) - (own < lost)


def endpoint(moves: Floats, things: Things) -> PairedRow:
    """recall@1 of a search whose queries moved so; before, it was 70%."""
    before = np.where(moves < 0, 1.0, np.where(moves > 0, 0.0, (np.arange(len(moves)) % 10 < 7).astype(float)))
    return PairedRow("retrieval/d/1", "retrieval", "rate", before, before + moves, things, budget="primary",
                  endpoint="recall@1")  # fmt: skip


def rates(things: Things, discordance: float, change: float, runs: int, *, best_of: int = 1) -> Counter[str]:
    """How often each outcome fell; of the best of several equal candidates where `best_of` is more than one."""
    rng, found = (
        np.random.default_rng([len(things), round(1e3 * discordance), round(1e3 * change) % 997, best_of]),
        Counter[str](),
    )
    for _ in range(runs):
        tried = [moved(things, discordance, change, rng) for _ in range(best_of)]
        best = max(tried, key=lambda one: float(one.mean()))
        one = decide_for_purpose(Purpose("search", tried=best_of), PurposeFigures([endpoint(best, things)], [], {}, []))
        found[one.outcome] += 1
    return found


def pooled(count: int, discordance: float, change: float, share_judged: float, runs: int) -> Counter[tuple[str, str]]:
    """How often each pair of outcomes fell: where what is not judged is wrong, and by the rule.

    A query whose answer is won or lost has another first answer, and as many others have one that is wrong too.
    """
    rng = np.random.default_rng([count, round(1e3 * discordance), round(1e3 * change) % 997, round(100 * share_judged)])
    things, found = np.arange(count)[:, None], Counter[tuple[str, str]]()
    for _ in range(runs):
        true = endpoint(moved(things, discordance, change, rng), things)
        both_wrong = (true.baseline + true.candidate == 0) & (rng.random(count) < discordance)
        differs = (true.baseline != true.candidate) | both_wrong
        unjudged = differs & (true.baseline + true.candidate < 2) & (rng.random(count) >= share_judged)
        seen = replace(true, candidate=np.where(unjudged, 0.0, true.candidate))
        if_right = replace(seen, candidate=np.where(unjudged, 1.0, true.candidate))
        taken = decide_for_purpose(Purpose("search"), PurposeFigures([seen], [], {}, []))
        ruled = decide_for_purpose(
            Purpose("search"), PurposeFigures([seen], [], {}, [], if_right={seen.name: if_right})
        )
        found[taken.outcome, ruled.outcome] += 1
    return found


def judged(count: int, discordance: float, change: float, runs: int) -> tuple[Counter[str], float]:
    """How often each outcome fell, and how many judgements that took on average; of 2 x `discordance` other answers."""
    rng = np.random.default_rng([count, round(1e3 * discordance), round(1e3 * change) % 997])
    things, found, asked = np.arange(count)[:, None], Counter[str](), 0
    says: dict[float, Judgement] = {-1.0: "before", 0.0: "equal", 1.0: "after"}
    for run in range(runs):
        moves = moved(things, discordance, change, rng)
        ties = (moves == 0) & (rng.random(count) < discordance / (1 - discordance))
        differs = (moves != 0) | ties
        queries = tuple(
            JudgingQuery(f"i{i}", 1, f"c{i}", f"q{i}", f"d{i}", f"e{i}" if differs[i] else f"d{i}")
            for i in range(count)
        )
        pool = JudgingPool(queries, run, MARGIN, MARGIN / 2)
        said = decide_by_judgements(
            pool, {f"i{i}": says[float(moves[i])] for i in np.flatnonzero(differs)}, baseline="old"
        )
        changed = estimate_changed_share("recall@1", "", differs, np.ones(count), [q.cluster for q in queries])
        log = UnjudgedSearch("retrieval/d/1", count, count, count, MARGIN, (changed,), judged=said, least=MARGIN / 2)
        found[decide_for_purpose(Purpose("search"), PurposeFigures([], [], {}, []), moved=[log]).outcome] += 1
        asked += said.asked
    return found, asked / runs


def watched(discordance: float, change: float, runs: int) -> Counter[str]:
    """How often each outcome fell for a search that is the same, where negation changed so."""
    rng = np.random.default_rng([round(1e3 * discordance), round(1e3 * change) % 997])
    frames = np.arange(NEGATIONS) * FRAMES // NEGATIONS
    things = np.column_stack([frames, np.full(NEGATIONS, -1)])
    same, found = endpoint(np.zeros(1_000), np.arange(1_000)[:, None]), Counter[str]()
    for _ in range(runs):
        negation = replace(endpoint(moved(things, discordance, change, rng), things), name="negation", endpoint="")
        found[
            decide_for_purpose(Purpose("search"), PurposeFigures([same], [], {"negation": negation}, [])).outcome
        ] += 1
    return found


def table_of_watched(runs: int) -> Iterator[str]:
    """How often a yes becomes the user's decision."""
    yield "| negation | at 20% discordance | at 40% |"
    yield "| --- " * 3 + "|"
    for change in (0.0, -0.05, -0.1, -0.15, -0.2):
        shares = (watched(one, change, runs)["inconclusive"] / runs for one in (0.2, 0.4))
        yield f"| {100 * change:+.0f} | {' | '.join(f'{share:.1%}' for share in shares)} |"


def table_of_pooled(runs: int) -> Iterator[str]:
    """Wrong yes is one at a true loss of the margin or more, wrong no one where nothing was lost."""
    yield "| queries | true change | judged | others taken for wrong: yes / open / no | the rule: yes / open / no |"
    yield "| --- " * 5 + "|"
    for count in (225, 1_000):
        for change in (0.0, -0.04, -0.08, 0.08):
            for share_judged in POOLED:
                found = pooled(count, 0.1, change, share_judged, runs)
                cells = [
                    " / ".join(
                        f"{100 * sum(n for key, n in found.items() if key[at] == one) / runs:.1f}" for one in OUTCOMES
                    )
                    for at in (0, 1)
                ]
                yield f"| {count} | {100 * change:+.0f} | {share_judged:.0%} | {cells[0]} | {cells[1]} |"


def table_of_judged(runs: int) -> Iterator[str]:
    """How people's judgements decide."""
    yield "| queries | other first answers | true change | yes | cannot tell | no | judgements |"
    yield "| --- " * 7 + "|"
    for count in (60, 225, 500, 1_000):
        for discordance in (0.05, 0.1):
            for change in CHANGES:
                if abs(change) <= discordance:
                    found, asked = judged(count, discordance, change, runs)
                    shown = " | ".join(f"{100 * found[one] / runs:.1f}%" for one in OUTCOMES)
                    yield f"| {count} | {2 * discordance:.0%} | {100 * change:+.0f} | {shown} | {asked:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--file", type=Path, help="what queries share: query,document")
    parser.add_argument("--pooled", action="store_true", help="labels that were pooled from OLD's answers")
    parser.add_argument("--judged", action="store_true", help="a log of which people judge first answers")
    parser.add_argument("--watched", action="store_true", help="the same search, and a loss of negation")
    args = parser.parse_args()
    tables = {"pooled": table_of_pooled, "judged": table_of_judged, "watched": table_of_watched}
    if asked := [table for name, table in tables.items() if getattr(args, name)]:
        for line in asked[0](args.runs):
            print(line, flush=True)
        return
    shapes = [things_of(args.file)] if args.file else [np.arange(n)[:, None] for n in SIZES]
    print("| queries | discordance | true change | best of | yes | cannot tell | no |")
    print("| --- " * 7 + "|")
    for things in shapes:
        for discordance in DISCORDANCES:
            for change, best_of in [*((one, 1) for one in CHANGES), (-0.04, 5)]:
                if abs(change) <= discordance:
                    found = rates(things, discordance, change, args.runs, best_of=best_of)
                    yes, open_, no = (100 * found[name] / args.runs for name in ("pass", "inconclusive", "block"))
                    print(
                        f"| {len(things)} | {discordance:.0%} | {100 * change:+.0f} | {best_of} | {yes:.1f}% | "
                        f"{open_:.1f}% | {no:.1f}% |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
