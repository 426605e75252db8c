"""Have a causal language model write second texts for yours, and make training pairs of them (DINO).

    python papers/recipes/dino.py --model gpt2-xl --data texts:FILE --out DIR

DIR/written.jsonl holds what was written; a run that was cut off goes on where it was. DIR/pairs.jsonl holds the pairs:
first, second, score (the smoothed label), and the cluster of the first text. `--data pairs:DIR/pairs.jsonl` reads them.
No figure of DINO is published here: it takes a model like gpt2-xl. papers/docs/training.md has the details.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from training_options import count, make_folder

from encheck.datasets.load import load
from encheck.errors import EncheckError
from encheck.types import content_hash
from encheck_papers.dino import Writer
from encheck_papers.dino_file import read_written
from encheck_papers.dino_pairs import SyntheticPair, training_pairs

DEFAULT = Writer("")


def as_row(pair: SyntheticPair) -> str:
    row = {"first": pair.first, "second": pair.second, "score": pair.label, "cluster": content_hash(pair.first)}
    return json.dumps(row, ensure_ascii=False)


def main() -> None:
    """Write, then make pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a causal language model of transformers: a name or a folder")
    parser.add_argument("--data", required=True, help="texts:FILE, or any other data; each group's text is taken")
    add = parser.add_argument
    add("--out", type=Path, required=True, help="folder of what was written, and of the pairs")
    add("--seed", type=int, default=DEFAULT.seed, help="of what is drawn (%(default)s)")
    add("--copies", type=count, default=DEFAULT.copies, help="second texts of each text and label (%(default)s)")
    add("--tokens", type=count, default=DEFAULT.tokens, help="of a second text, at most (%(default)s)")
    add("--batch-size", type=count, default=DEFAULT.batch_size, help="prompts at a time (%(default)s)")
    add("--device", help="cpu, cuda, ... (default: cuda where there is one)")
    args = parser.parse_args()
    make_folder(args.out)
    texts = [group.source for group in load(args.data, sample=None).groups]
    writer = Writer(
        args.model, copies=args.copies, tokens=args.tokens, seed=args.seed, batch_size=args.batch_size,
        device=args.device,
    )  # fmt: skip
    new = writer.write(texts, args.out / "written.jsonl")
    written = read_written(args.out / "written.jsonl")
    pairs = training_pairs(written, seed=args.seed)
    (args.out / "pairs.jsonl").write_text("".join(f"{as_row(pair)}\n" for pair in pairs), "utf-8")
    lost = sum(one.unfinished for one in written)
    print(f"{new} new prompts; {len(written)} in all, {lost} texts without an end; {len(pairs)} pairs")


if __name__ == "__main__":
    try:
        main()
    except EncheckError as error:
        sys.exit(f"{Path(__file__).name}: {error}")
