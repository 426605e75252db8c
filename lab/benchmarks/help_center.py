"""Makes a help centre of 60 Markdown articles of an imaginary shop, and a log of 592 queries, 500 of them different.

Run: python lab/benchmarks/help_center.py FOLDER LOG [--labels FILE]. docs/tasks/search.md has gates on it.
FILE says which article each of 540 questions is about (JSON lines: query, document, act), for `--data=retrieval:FILE`.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

THINGS = (
    "invoice", "password", "delivery", "subscription", "refund", "gift card", "address", "account", "discount code",
    "parcel", "payment card", "newsletter", "loyalty points", "warranty", "size chart",
)  # fmt: skip
ACTS = {
    "change": ("Open Settings and choose {0}. Press Edit, enter the new details, then Save.", "alter update edit"),
    "cancel": (
        "Open your orders, pick the {0} and press Cancel. It works until the warehouse has packed the box.",
        "stop call off end",
    ),
    "find": (
        "You find your {0} under My account. A copy was sent to you by mail on the day of purchase.",
        "where is locate see",
    ),
    "report": (
        "If something is wrong with your {0}, write to the support desk with a photo. We answer within two days.",
        "complain broken wrong missing",
    ),
}
PLACES = ("Norway", "Spain", "Japan", "Chile")
QUERIES, REPEATED = 500, 31


def article(rng: random.Random, act: str, thing: str) -> str:
    """One article, with two sections under headings of their own."""
    body = ACTS[act][0].format(thing)
    return (
        f"# How to {act} your {thing}\n\nThis article is for customers in {rng.choice(PLACES)}. {body}\n\n"
        f"## What it costs to {act} the {thing}\n\nTo {act} the {thing} is free in the first "
        f"{rng.randint(2, 30)} days; later it costs {rng.randint(1, 9)} euros.\n\n"
        f"## If your {thing} does not {act}\n\nSign out, wait {rng.randint(2, 50)} minutes, and try once more to {act} "
        "it. Else call us.\n"
    )


def asked(rng: random.Random, act: str, thing: str) -> list[str]:
    """What people ask of it."""
    return [
        f"how do i {rng.choice(ACTS[act][1].split())} my {thing}", f"{thing} {act} not working",
        f"does it cost money to {act} {thing}", f"{act} {thing}", f"can i {act} a {thing} online",
        f"who helps with {act} {thing}", f"why can i not {act} the {thing}", f"{thing} help {act} steps",
        f"need to {act} {thing} today",
    ]  # fmt: skip


def make(folder: Path, log: Path, labels: Path | None = None) -> None:
    """Write the articles into the folder, the log and the labels; the same on every machine."""
    rng = random.Random(0)
    folder.mkdir(parents=True, exist_ok=True)
    labelled = []
    for number, (thing, act) in enumerate(((thing, act) for thing in THINGS for act in ACTS), 1):
        name = f"{number:02d}-{act}-{thing.replace(' ', '-')}.md"
        (folder / name).write_text(text := article(rng, act, thing), "utf-8")
        labelled += [{"query": query, "document": text, "act": act} for query in asked(rng, act, thing)]
    if labels:
        labels.write_text("".join(f"{json.dumps(row)}\n" for row in labelled), "utf-8")
    queries = [row["query"] for row in labelled]
    rng.shuffle(queries)
    often = [
        query for i, query in enumerate(queries[:QUERIES]) for _ in range(rng.randint(1, 6) if i < REPEATED else 1)
    ]
    rng.shuffle(often)
    log.write_text("\n".join(often) + "\n", "utf-8")


def main() -> None:
    """Make them where the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("log", type=Path)
    parser.add_argument("--labels", type=Path)
    asked_for = parser.parse_args()
    make(asked_for.folder, asked_for.log, asked_for.labels)


if __name__ == "__main__":
    main()
