"""Judges a gate on the help centre of `help_center.py` as somebody would who knows the article of each query.

Run: python lab/benchmarks/judge_help_center.py REPORT. An example in docs/tasks/search.md is of it.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import help_center

from encheck.gating.unlabelled_search import read_judgements
from encheck.operations.judge.judging import Judging, ask_people, gate_with_judgements, open_judging
from encheck.reporting.gate.words import gate_headlines


def articles() -> dict[str, str]:
    """Query -> the name of the article that answers it."""
    rng, found = random.Random(0), {}
    pairs = [(thing, act) for thing in help_center.THINGS for act in help_center.ACTS]
    for number, (thing, act) in enumerate(pairs, 1):
        help_center.article(rng, act, thing)  # so that the queries are the same
        name = f"{number:02d}-{act}-{thing.replace(' ', '-')}.md"
        found |= dict.fromkeys(help_center.asked(rng, act, thing), name)
    return found


def key_for(judging: Judging, right: dict[str, str]) -> str:
    """The key that is pressed for the next query."""
    question = judging.next_pair(read_judgements(judging.qrels), judging.read_repeats())
    assert question
    one = judging.disagreements[question.asked.item]
    sides = [one.after, one.before] if question.is_swapped else [one.before, one.after]
    first, second = (side.id.partition("#")[0] == right[one.query] for side in sides)
    return ("=" if first else "0") if first == second else "1" if first else "2"


def main() -> None:
    """Judge the report that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path)
    judging, right = open_judging(parser.parse_args().report), articles()
    keys: list[str] = []

    def press(_: str) -> str:
        keys.append(key_for(judging, right))
        return keys[-1]

    judged = ask_people(judging, ask=press, show=str)
    print(f"{len(keys)} answers; {judged.said}; {judged.why}")
    print(*gate_headlines(gate_with_judgements(judging, judged)), sep="\n")


if __name__ == "__main__":
    main()
