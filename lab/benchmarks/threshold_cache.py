r"""Makes the log of an imaginary shop's semantic cache, and the vectors of the model that it ran on.

    python lab/benchmarks/threshold_cache.py FOLDER
    encheck threshold sbert --baseline vectors:FOLDER/old.parquet@0.82 --data pairs:FOLDER/cache.csv \
      --max-false-accepts 0.01

cache.csv has 2,400 pairs of a question and the cached question that came nearest: 600 mean the same, 1,200 do not, 600
were never looked at. old.parquet has the vectors of MiniLM with CLS pooling, which stands for an API that is gone.
"""

from __future__ import annotations

import argparse
import csv
import random
from pathlib import Path

from encheck import load_model

MATERIALS = (
    "oak", "steel", "cotton", "glass", "bamboo", "leather", "wool", "marble", "plastic", "copper", "linen", "pine",
    "ceramic", "rubber", "silk", "brass", "walnut", "paper", "stone", "cork",
)  # fmt: skip
THINGS = (
    "desk", "lamp", "shelf", "jacket", "bottle", "chair", "rug", "clock", "basket", "mirror", "table", "bag", "vase",
    "curtain", "cushion", "ladder", "cabinet", "tray", "bench", "frame", "pan", "blanket", "stool", "box", "hat",
    "umbrella", "plate", "rack", "mat", "scarf",
)  # fmt: skip
ASKED = {
    "return": ("How do I send back the {0}?", "I want to return my {0}", "what is the way to return a {0}"),
    "delivery": ("When will my {0} arrive?", "how long does delivery of the {0} take", "where is the {0} I ordered"),
    "broken": ("My {0} came broken", "the {0} was damaged when I opened the box", "what if my {0} is faulty"),
    "stock": ("Is the {0} in stock?", "can I still buy the {0}", "do you have the {0} available"),
    "care": ("How do I clean the {0}?", "what is the best way to wash a {0}", "cleaning instructions for the {0}"),
    "price": ("Is the {0} cheaper than {1} euros?", "does the {0} cost less than {1} euros"),
}
LABELLED = {"1": 600, "0": 1_200, "": 600}
CHANNELS = ("app", "web", "phone")


def asked(rng: random.Random, act: str, thing: str, number: int) -> str:
    """One way to ask it."""
    return rng.choice(ASKED[act]).format(thing, number)


def pair(rng: random.Random, product: str, *, same: bool) -> tuple[str, str]:
    """A question about a product and the cached one: of the same meaning, or of another product, act or number."""
    act, number = rng.choice([*ASKED]), rng.randrange(20, 90)
    first = asked(rng, act, product, number)
    if same:
        ways = [way.format(product, number) for way in ASKED[act]]
        return first, rng.choice([way for way in ways if way != first])
    way = rng.random()
    if way < 0.02:
        return asked(rng, "price", product, number), asked(rng, "price", product, number + rng.randrange(1, 9))
    if way < 0.05:
        return first, asked(rng, rng.choice([one for one in ASKED if one != act]), product, number)
    other = f"{rng.choice(MATERIALS)} {rng.choice(THINGS)}"
    return first, asked(rng, rng.choice([*ASKED]), other if other != product else f"{other} set", number)


def rows(seed: int = 0) -> list[dict[str, str]]:
    """The log, a row a pair; the same on every machine."""
    rng = random.Random(seed)
    products = [f"{material} {thing}" for material in MATERIALS for thing in THINGS]
    found = []
    for label, count in LABELLED.items():
        for k in range(count):
            product = products[k % len(products)]
            same = label == "1" or (not label and rng.random() < 1 / 3)
            first, second = pair(rng, product, same=same)
            found.append({"first": first, "second": second, "label": label, "cluster": product,
                          "channel": rng.choice(CHANNELS)})  # fmt: skip
    rng.shuffle(found)
    return found


def main() -> None:
    """Write both files."""
    import pyarrow
    import pyarrow.parquet

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    found = rows()
    with (folder / "cache.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*found[0]])
        writer.writeheader()
        writer.writerows(found)
    texts = sorted({row[side] for row in found for side in ("first", "second")})
    vectors = load_model("sbert", adapter="transformers", pooling="cls").encode(texts)
    table = pyarrow.table({"text": texts, "vector": vectors.tolist()})
    pyarrow.parquet.write_table(table, folder / "old.parquet")
    print(f"{len(found):,} pairs of {len(texts):,} texts in {folder}")


if __name__ == "__main__":
    main()
