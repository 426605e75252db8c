"""Attack encheck: kills, failing disks, mutated files, hostile models, nasty servers, odd commands.

    python scripts/attack [NAME ...] [--size default|full] [--seed N] [--jobs 2]

NAME is a family (kills, disks, mutations, models, servers, commands) or one attack of it (mutations.lexicons). Each try
is made from its seed: what failed is printed with the command that does it again. With --seed, one try runs in this
process and its traceback is shown.

It stands with the scripts and not with the tests: pytest should not collect it, it takes too long for every commit, and
it runs each attack in a process of its own. The tests' builders, faults and server are shared, and their small versions
of these attacks run in CI.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent))
import worker
from attacks import ATTACKS, FAMILIES, load_all, seeds_of
from tries import Tally, run_all


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 1 where a try failed."""
    asked = arguments(argv)
    load_all()
    if asked.worker is not None:
        return worker.serve(ATTACKS[asked.names[0]], asked.seeds, asked.worker)
    chosen = [ATTACKS[name] for name in ATTACKS if is_chosen(name, asked.names)]
    if not chosen:
        sys.exit(f"there is no attack {' '.join(asked.names)}; there are: {', '.join([*FAMILIES, *ATTACKS])}")
    if asked.seed is not None:
        return worker.once(chosen, asked.seed)
    begun = time.monotonic()
    with TemporaryDirectory(prefix="encheck-attack-") as shared, ThreadPoolExecutor(asked.jobs) as pool:
        os.environ[worker.SHARED] = shared
        tallies = list(pool.map(lambda made: told(run_all(made, seeds_of(made, asked.size))), chosen))
    print("\n".join(table(tallies)))
    print(f"\nsize {asked.size}, {time.monotonic() - begun:.0f} s with {asked.jobs} jobs")
    print("\n".join(failures(tallies)))
    return int(any(tally.failed for tally in tallies))


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """What is asked for; --worker and --seeds are this program's own."""
    parser = argparse.ArgumentParser(prog="scripts/attack", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="a family or one attack; default: all")
    parser.add_argument("--size", choices=("default", "full"), default="default")
    parser.add_argument("--seed", type=int, help="only this try, in this process")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="attacks at a time")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--seeds", type=int, nargs="*", default=[], help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def is_chosen(name: str, names: Sequence[str]) -> bool:
    """Whether an attack, or its family, was named; all are where none was."""
    return not names or name in names or name.partition(".")[0] in names


def told(tally: Tally) -> Tally:
    """Say on stderr that an attack is over."""
    print(f"{tally.name}: {tally.survived} of {tally.tries} survived, {tally.seconds:.0f} s", file=sys.stderr)
    return tally


def table(tallies: Sequence[Tally]) -> list[str]:
    """One line an attack, one a family, one for all."""
    rows = []
    for family in dict.fromkeys(tally.name.partition(".")[0] for tally in tallies):
        own = [tally for tally in tallies if tally.name.partition(".")[0] == family]
        rows += [*own, sum_of(family, own)]
    rows.append(sum_of("all", tallies))
    width = max(len(tally.name) for tally in rows)
    head = f"{'attack':<{width}}  {'tries':>6}  {'survived':>8}  {'failed':>6}"
    return [head, *(f"{t.name:<{width}}  {t.tries:>6}  {t.survived:>8}  {len(t.failed):>6}" for t in rows)]


def sum_of(name: str, tallies: Sequence[Tally]) -> Tally:
    """The tallies as one."""
    failed = {f"{t.name} --seed {seed}": why for t in tallies for seed, why in t.failed.items()}
    return Tally(name, sum(t.tries for t in tallies), failed, sum(t.seconds for t in tallies))


def failures(tallies: Sequence[Tally]) -> list[str]:
    """What failed, each with the command that does it again."""
    return [
        f"python scripts/attack {tally.name} --seed {seed}\n    {why}"
        for tally in tallies
        for seed, why in sorted(tally.failed.items())
    ]


if __name__ == "__main__":
    sys.exit(main())
