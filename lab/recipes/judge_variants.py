"""Draw variants for judges who don't know where they come from, and report what the judges said.

    python lab/recipes/judge_variants.py draw --data mrpc:DIR qqp:DIR --out DIR [--peer PYTHON --treebank DIR]
    python lab/recipes/judge_variants.py report --out DIR --judge A.txt B.txt --table TABLE.csv [--data ...]
    python lab/recipes/judge_variants.py rates --table lab/notebook/generators.csv [--data ...] [--together]
    python lab/recipes/judge_variants.py triples --generator number --data texts:FILE mrpc:DIR --out DIR [--level 1]
    python lab/recipes/judge_variants.py triples --generator synonym --level 2 --data texts:FILE mrpc:DIR --out DIR
    python lab/recipes/judge_variants.py failures --items reports/RUN/items.parquet --check CHECK --out DIR
    python lab/recipes/judge_variants.py read-triples --out DIR --judge A.txt B.txt
    python lab/recipes/judge_variants.py coverage --generator number --data texts:FILE mrpc:DIR [--sentences 300]

`draw` takes 300 sentences of each set by seed (`--sentences`), makes a synonym edit and an antonym edit of each with
encheck, and with nlpaug where `--peer` names a Python that has it (lab/benchmarks/generators.py says how; `--beside`
for a share of the sentences), mixes all and writes batches: a number, the sentence, the variant. A judge writes a line
an item: the number; s (same meaning), o (opposite, or the clause turned round) or d (different otherwise); and x where
the variant is no good English. `report` writes a table of ids, words and judgements, without sentences, and prints what
`rates` prints of one: rates, coverage and Cohen's kappa, by set or together. With the data sets it counts, of encheck's
edits, those alone that are still made, and says how many of today's edits were judged.

`triples` draws sentences of which a phenomenon's generator makes a kept edit and a changed edit (`--sentences` of each
set), and writes batches: a number, the sentence (0), and these texts, with a control where there is one, in random
order (1, 2, 3). A judge writes a line an item: the number, and for each text a letter (s, o or d as above), with an x
behind it where the text is no good English: "17 s dx d". Of `--generator typo` the kept text has noise of one of its
kinds, drawn by seed, and there is no control: an x says of it that a reader cannot tell what is meant. `--generator
keyboard` and the like have one kind alone. synonym (of `--level` words), antonym, control, reorder and role_reversal
have one text a sentence. `failures` draws the same sheets from the items of a run instead: of each of the checks whose
name begins with CHECK, `--sentences` items that the model gets wrong, and as many others that the surface scorer gets
wrong that is right most often. `read-triples` prints how many triples are right, all relations and their
English confirmed, by each judge and by both, with Wilson's interval: by set, by side, of kept and changed edit, and
together; and the triples that are not.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import random
import re
import subprocess
import sys
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from encheck.datasets.load import load
from encheck.generators.antonym import antonym
from encheck.generators.base import Generator, Outcome, beside
from encheck.generators.control import control
from encheck.generators.phenomenon import all_phenomena, phenomenon_generator
from encheck.generators.reorder import reorder
from encheck.generators.roles import role_reversal
from encheck.generators.synonym import synonym
from encheck.generators.typo import NOISE, other_meaning
from encheck.items.variants import VariantMaker
from encheck.language.english import English
from encheck.language.predicates import NO_SUBJECT, NOT_FINITE, QUESTION
from encheck.language.prose import NO_SENTENCE, NOT_ENGLISH
from encheck.statistics.draws import Draws
from encheck.surface import SHARED, SURFACE
from encheck.types import Group, Variant, content_hash

SEED, BATCH = 20_240, 150
HOLDS = re.compile(
    r"(?<!\w)[$€£]?\d[\d.,]*(?!\w)|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen"
    r"|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred"
    r"|thousand|million|billion|dozen)\b",
    re.IGNORECASE,
)
SIDES = ("kept", "changed", "control")
NO_STATEMENT = (NOT_FINITE, NO_SUBJECT, QUESTION, NO_SENTENCE, NOT_ENGLISH)
NAMED = {"PER", "LOC", "ORG"}
WANTED = {"synonym": "s", "antonym": "o"}
PEER = """
import json, random, sys
import numpy, nltk
from nltk.tag.perceptron import PerceptronTagger
sentences, model = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
tagger = PerceptronTagger(load=False)
tagger.model.weights, tagger.tagdict = model["weights"], model["tagdict"]
tagger.classes = tagger.model.classes = set(model["classes"])
nltk.pos_tag = lambda tokens, *args, **kwargs: tagger.tag(tokens)
import nlpaug.augmenter.word as naw
random.seed(0); numpy.random.seed(0)
works = {"synonym": naw.SynonymAug(aug_src="wordnet", aug_min=1, aug_max=1)}
works["antonym"] = naw.AntonymAug(aug_min=1, aug_max=1)
out = {name: [(made.augment(s) or [s])[0] for s in sentences] for name, made in works.items()}
print(json.dumps(out))
"""


def sentences(specs: list[str], count: int, seed: int = SEED) -> dict[str, list[str]]:
    """For each set, `count` first sentences of its pairs, drawn by seed from the sorted distinct ones."""
    found = {}
    for name, spec in ((spec.partition(":")[0], spec) for spec in specs):
        data = load(spec, sample=None)
        texts = sorted({pair.first for pair in data.pairs})
        found[name] = random.Random(f"{seed}/{name}").sample(texts, count)
    return found


def ours(texts: list[str]) -> Iterator[dict[str, Any]]:
    maker = VariantMaker(0, English(experimental=True))
    groups = [Group(content_hash(t), t, t, "c") for t in texts]
    for generator in (synonym, antonym):
        for text, made in zip(texts, maker.variants(groups, generator), strict=True):
            if isinstance(made, Variant):
                words = [f"{text[e.start : e.end]} > {e.text}" for e in made.edits]
                yield {
                    "by": "encheck",
                    "kind": generator.__name__,
                    "source": text,
                    "variant": made.text,
                    "words": words,
                }


def theirs(texts: list[str], python: str, treebank: Path, folder: Path) -> Iterator[dict[str, Any]]:
    sys.path.insert(0, str(Path(__file__).parent))
    from build_probes import _train, spans

    (folder / "sentences.json").write_text(json.dumps(texts), "utf-8")
    (folder / "tagger.json").write_text(json.dumps(_train(treebank)), "utf-8")
    command = [python, "-c", PEER, str(folder / "sentences.json"), str(folder / "tagger.json")]
    made = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
    for kind, variants in made.items():
        for text, variant in zip(texts, variants, strict=True):
            if " ".join(variant.split()) != " ".join(text.split()):
                words = [f"{text[a:b]} > {new}" for a, b, new in spans(text, variant)]
                yield {"by": "nlpaug", "kind": kind, "source": text, "variant": variant, "words": words}


def draw(args: argparse.Namespace) -> None:
    args.out.mkdir(parents=True, exist_ok=True)
    items = []
    for name, texts in sentences(args.data, args.sentences, args.seed).items():
        beside = texts[: round(len(texts) * args.beside)]
        made = [*ours(texts), *(theirs(beside, args.peer, args.treebank, args.out) if args.peer else ())]
        items += [{"set": name, **item} for item in made]
    random.Random(SEED).shuffle(items)
    (args.out / "key.json").write_text(json.dumps(items, ensure_ascii=False), "utf-8")
    for start in range(0, len(items), BATCH):
        lines = [
            f"{i}\n1 {item['source']}\n2 {item['variant']}\n"
            for i, item in enumerate(items[start : start + BATCH], start)
        ]
        (args.out / f"batch-{start // BATCH + 1:02d}.txt").write_text("".join(lines), "utf-8")
    print(len(items), "variants in", -(-len(items) // BATCH), "batches")


def control_of_any(group: Group, *, level: int, rng: Draws, english: English) -> Outcome | None:
    """A control at the place of the antonym, else of the synonym."""
    first = beside(antonym, control)(group, level=level, rng=rng, english=english)
    return (
        first if isinstance(first, Variant) else beside(synonym, control)(group, level=level, rng=rng, english=english)
    )


ALONE: dict[str, tuple[str, Generator]] = {  # generators of one text, each with its side
    "synonym": ("kept", synonym),
    "antonym": ("turned", antonym),
    "control": ("control", control_of_any),
    "reorder": ("kept", reorder),
    "role_reversal": ("changed", role_reversal),
}


Sides = dict[str, tuple[Generator, int]]  # side -> its generator and level


def kinds_of(args: argparse.Namespace) -> list[Sides]:
    """The sides that a triple is of; of noise, those of each kind: a triple has one of them."""
    if args.generator in ALONE:
        side, generator = ALONE[args.generator]
        return [{side: (generator, args.level)}]
    if args.generator not in ("typo", *NOISE):
        return [
            {
                side: (phenomenon_generator(args.generator, side), args.level if side == "changed" else 1)
                for side in SIDES
            }
        ]
    kinds = NOISE.values() if args.generator == "typo" else [NOISE[args.generator]]
    return [{"kept": (kind, 1), "changed": (beside(kind, other_meaning), 1)} for kind in kinds]


def made_sides(maker: VariantMaker, groups: list[Group], args: argparse.Namespace) -> Iterator[dict[str, Variant]]:
    """For each group the sides of one kind, drawn by seed; a control may be missing, none where another side is."""
    made = [
        {side: maker.variants(groups, generator, level=level) for side, (generator, level) in sides.items()}
        for sides in kinds_of(args)
    ]
    for i, group in enumerate(groups):
        each = ({side: found[i] for side, found in kind.items() if isinstance(found[i], Variant)} for kind in made)
        whole = [its for its, kind in zip(each, made, strict=True) if kind.keys() - {"control"} <= its.keys()]
        yield random.Random(f"{args.seed}/{group.source}").choice(whole) if whole else {}


def drawn_triples(spec: str, args: argparse.Namespace) -> list[dict[str, Any]]:
    """As many sentences of a set as are wanted that have a kept and a changed edit, drawn by seed, each with its texts.

    The control is there where one is made: sentences without it count too, and no sample is drawn by it.
    """
    groups = sorted(load(spec, sample=None).groups, key=lambda group: group.source)
    distinct = list({group.source: group for group in groups if not group.variants}.values())
    random.Random(f"{args.seed}/{spec.partition(':')[0]}").shuffle(distinct)
    maker, found = VariantMaker(0, English(experimental=args.generator not in ("typo", *NOISE))), []
    for start in range(0, len(distinct), 10 * BATCH):
        some = distinct[start : start + 10 * BATCH]
        for group, made in zip(some, made_sides(maker, some, args), strict=True):
            if made:
                sides = {side: (one.text, one.certificate) for side, one in made.items()}
                found.append({"set": spec, "source": group.source, "sides": sides})
        if len(found) >= args.sentences:
            break
    return found[: args.sentences]


def triples(args: argparse.Namespace) -> None:
    write_sheets([item for spec in args.data for item in drawn_triples(spec, args)], args)
    print("of", args.generator)


def failures(args: argparse.Namespace) -> None:
    """Sheets of items that a model, and the best surface scorer, get wrong."""
    table = pq.read_table(args.items).to_pandas()
    table = table[table["case"].str.startswith(args.check)].dropna(subset=["near", "far"])
    table = table.drop_duplicates(["source", "near", "far"]).sample(frac=1, random_state=args.seed)
    if table.empty:
        raise SystemExit(f"{args.items} should have items of a check whose name begins with {args.check!r}")
    source, near, far = (table[side].tolist() for side in ("source", "near", "far"))
    gains = {name: SURFACE[name](source, near) - SURFACE[name](source, far) for name in SHARED}
    best = max(gains, key=lambda name: (gains[name] > 0).mean())
    wrong = {"model": table["near_score"] <= table["far_score"], best: gains[best] <= 0}
    items, drawn = [], set()
    for name, failed in wrong.items():
        rows = [row for row in table[failed].to_dict("records") if row["source"] not in drawn]
        rows = list({row["source"]: row for row in rows}.values())[: args.sentences]
        drawn |= {row["source"] for row in rows}
        items += [_as_triple(name, row) for row in rows]
        print(f"{name}: wrong in {failed.mean():.1%} of {len(table)} items, {len(rows)} drawn")
    write_sheets(items, args)


def _as_triple(name: str, row: dict[str, Any]) -> dict[str, Any]:
    sides = {"kept": (row["near"], row["near_why"]), "changed": (row["far"], row["far_why"])}
    return {"set": name, "source": row["source"], "sides": sides}


def write_sheets(items: list[dict[str, Any]], args: argparse.Namespace) -> None:
    args.out.mkdir(parents=True, exist_ok=True)
    rng = random.Random(args.seed)
    rng.shuffle(items)
    for item in items:
        item["order"] = rng.sample(list(item["sides"]), len(item["sides"]))
    (args.out / "key.json").write_text(json.dumps(items, ensure_ascii=False), "utf-8")
    for start in range(0, len(items), BATCH // 3):
        with (args.out / f"triples-{start // (BATCH // 3) + 1:02d}.txt").open("w", encoding="utf-8") as file:
            for i, item in enumerate(items[start : start + BATCH // 3], start):
                texts = [item["source"], *(item["sides"][side][0] for side in item["order"])]
                file.write("\n".join([str(i), *(f"{n} {text}" for n, text in enumerate(texts)), ""]))
    print(len(items), "items")


def said_of_triples(path: Path) -> dict[int, list[str]]:
    """Number -> what was said of each text, in the order of the sheet."""
    rows = (line.split() for line in path.read_text("utf-8").splitlines() if line.strip())
    return {int(row[0]): row[1:] for row in rows}


def _is_right(order: list[str], answers: list[str], sides: Container[str] | None = None) -> bool:
    """Whether these texts of an item, or all, are said to have their relation, in good English."""
    wanted = {"kept": "s", "changed": "do", "control": "do", "turned": "o"}
    if len(answers) != len(order):
        raise SystemExit(f"{answers} should be an answer for each of {len(order)} texts")
    read = [(side, one) for side, one in zip(order, answers, strict=True) if sides is None or side in sides]
    return all("x" not in one and one[0] in wanted[side] for side, one in read)


def wilson(right: int, count: int) -> tuple[float, float]:
    """The 95% interval of a share (Wilson 1927)."""
    z, share = 1.96, right / count
    middle, spread = (
        share + z * z / (2 * count),
        z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)),
    )
    return (middle - spread) / (1 + z * z / count), (middle + spread) / (1 + z * z / count)


def read_triples(args: argparse.Namespace) -> None:
    items = json.loads((args.out / "key.json").read_text("utf-8"))
    judges = [said_of_triples(path) for path in args.judge]
    good = [[_is_right(item["order"], judge[i]) for judge in judges] for i, item in enumerate(items)]
    print("| set | items | right by A | right by B | by both | 95% interval |\n" + "| --- " * 6 + "|")
    for name in (*dict.fromkeys(item["set"] for item in items), "all"):
        some = [one for one, item in zip(good, items, strict=True) if name in ("all", item["set"])]
        right = [sum(one[0] for one in some), sum(one[1] for one in some), sum(map(all, some))]
        shares = " | ".join(f"{n / len(some):.1%}" for n in right)
        low, high = wilson(right[2], len(some))
        print(f"| {name.partition(':')[0]} | {len(some)} | {shares} | {low:.1%} to {high:.1%} |")
    _print_sides(items, judges)
    for i, (item, one) in enumerate(zip(items, good, strict=True)):
        if not all(one):
            answers = "; ".join(" ".join(judge[i]) for judge in judges)
            print(f"\n{i} {item['order']} {answers}\n  {item['source']}")
            print("\n".join(f"  {side}: {text} [{why}]" for side, (text, why) in item["sides"].items()))


def _trigger(generator: str) -> re.Pattern[str]:
    """What a sentence has to hold for a generator to look at it: any word, where its phenomenon names none."""
    return all_phenomena()[generator].trigger if generator in all_phenomena() else re.compile("")


def _print_sides(items: list[dict[str, Any]], judges: list[dict[int, list[str]]]) -> None:
    """How many are right by side, and of kept and changed edit together."""
    print("\n| sides | texts | right by A | right by B | by both | 95% interval |\n" + "| --- " * 6 + "|")
    for sides in (("kept",), ("changed",), ("turned",), ("control",), ("kept", "changed")):
        some = [i for i, item in enumerate(items) if set(sides) <= set(item["order"])]
        good = [[_is_right(items[i]["order"], judge[i], sides) for judge in judges] for i in some]
        if good:
            right = [sum(one[0] for one in good), sum(one[1] for one in good), sum(map(all, good))]
            shares = " | ".join(f"{n / len(some):.1%}" for n in right)
            low, high = wilson(right[2], len(some))
            print(f"| {' and '.join(sides)} | {len(some)} | {shares} | {low:.1%} to {high:.1%} |")


def shares_of_kinds(spec: str, groups: list[Group], maker: VariantMaker) -> None:
    """The share of sentences with a triple of each kind of noise, and of any."""
    pairs = (
        (maker.variants(groups, kind), maker.variants(groups, beside(kind, other_meaning))) for kind in NOISE.values()
    )
    whole = [[isinstance(a, Variant) and isinstance(b, Variant) for a, b in zip(*pair, strict=True)] for pair in pairs]
    shares = [sum(kind) / len(groups) for kind in (*whole, list(map(any, zip(*whole, strict=True))))]
    print(f"| {spec.partition(':')[0]} | {len(groups)} | " + " | ".join(f"{share:.0%}" for share in shares) + " |")


def coverage(args: argparse.Namespace) -> None:
    """Of `--sentences` sentences that hold what the generator edits, the share of which each side is made.

    They are drawn by seed. Numbers are found by a pattern, and words that a generator's `TRIGGER` names by that. Of
    those drawn for negation the statements count: what has a finite predicate with its subject before it, and is no
    question. Of those drawn for entity what the pipeline finds a person, place or organisation in counts.
    """
    wanted = kinds_of(args)[0]
    holds = HOLDS if args.generator == "number" else _trigger(args.generator)
    columns = (*NOISE, "any") if args.generator == "typo" else tuple(wanted)
    print("| set | sentences | " + " | ".join(columns) + " |\n" + "| --- " * (2 + len(columns)) + "|")
    for spec in args.data:
        data = load(spec, sample=None)
        texts = sorted({pair.first for pair in data.pairs} or {group.source for group in data.groups})
        holding = [text for text in texts if holds.search(text)]
        some = random.Random(args.seed).sample(holding, min(args.sentences, len(holding)))
        groups = [Group(content_hash(t), t, t, "c") for t in some]
        maker = VariantMaker(0, English(experimental=args.generator not in ("typo", *NOISE)))
        if args.generator == "typo":
            shares_of_kinds(spec, groups, maker)
            continue
        made = [maker.variants(groups, generator, level=level) for generator, level in wanted.values()]
        if args.generator == "negation":
            stated = [i for i, one in enumerate(made[0]) if one not in NO_STATEMENT]
            some, made = [some[i] for i in stated], [[side[i] for i in stated] for side in made]
        if args.generator == "entity":
            named = [
                i for i, text in enumerate(some) if NAMED & {e[2:] for e in maker.english.stored_parse(text).entities}
            ]
            some, made = [some[i] for i in named], [[side[i] for i in named] for side in made]
        shares = (f"{sum(isinstance(one, Variant) for one in side) / len(some):.0%}" for side in made)
        print(f"| {spec.partition(':')[0]} | {len(some)} | " + " | ".join(shares) + " |")


def said(path: Path) -> dict[int, tuple[str, bool]]:
    """Number -> (meaning, whether it is good English)."""
    rows = (line.split() for line in path.read_text("utf-8").splitlines() if line.strip())
    return {int(row[0]): (row[1], "x" not in row[2:]) for row in rows}


def cohens_kappa(pairs: list[tuple[bool, bool]]) -> float:
    agree = sum(a == b for a, b in pairs) / len(pairs)
    first, second = (sum(side) / len(pairs) for side in zip(*pairs, strict=True))
    chance = first * second + (1 - first) * (1 - second)
    return (agree - chance) / (1 - chance) if chance < 1 else 1.0


def made_now(args: argparse.Namespace) -> dict[tuple[str, str, str], str]:
    """(set, edit, hash of the sentence) -> words, of what encheck makes today."""
    drawn = sentences(args.data, args.sentences, args.seed)
    found = ((name, item) for name, texts in drawn.items() for item in ours(texts))
    return {(name, item["kind"], content_hash(item["source"])): "; ".join(item["words"]) for name, item in found}


def report(args: argparse.Namespace) -> None:
    items = json.loads((args.out / "key.json").read_text("utf-8"))
    judges = [said(path) for path in args.judge]
    with args.table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        columns = [f"{judge}_{what}" for judge in "AB" for what in ("meaning", "english")]
        writer.writerow(["set", "sentence", "by", "edit", "words", *columns])
        for i, item in enumerate(items):
            verdicts = [w for judge in judges for w in (judge[i][0], "good" if judge[i][1] else "bad")]
            row = [item["set"], content_hash(item["source"]), item["by"], item["kind"], "; ".join(item["words"])]
            writer.writerow([*row, *verdicts])
    rates(args)


def _right(row: dict[str, str]) -> tuple[bool, bool]:
    """Whether each judge finds it good English with the meaning that its edit claims."""
    first, second = ((row[f"{j}_meaning"], row[f"{j}_english"]) == (WANTED[row["edit"]], "good") for j in "AB")
    return first, second


def rates(args: argparse.Namespace) -> None:
    with args.table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    now = made_now(args) if args.data else None
    sets = ["all"] if args.together else list(dict.fromkeys(row["set"] for row in rows))
    print("| set | by | edit | sentences with one | edits | right by A | right by B | by both | kappa |")
    print("| --- " * 9 + "|")
    for name in sets:
        for by, kind in (("encheck", "synonym"), ("nlpaug", "synonym"), ("encheck", "antonym"), ("nlpaug", "antonym")):
            some = [r for r in rows if name in ("all", r["set"]) and (r["by"], r["edit"]) == (by, kind)]
            count = len(some)
            if now is not None and by == "encheck":
                some = [r for r in some if now.get((r["set"], kind, r["sentence"])) == r["words"]]
                count = sum(key[1] == kind and name in ("all", key[0]) for key in now)
                print(f"{name} {kind}: {len(some)} of {count} edits made now were judged", file=sys.stderr)
            if some:
                good = [_right(row) for row in some]
                right = [sum(g[0] for g in good), sum(g[1] for g in good), sum(map(all, good))]
                shares = " | ".join(f"{n / len(good):.1%}" for n in right)
                share = "" if args.together or now is None else f"{count / args.sentences:.1%}"
                print(f"| {name} | {by} | {kind} | {share} | {len(good)} | {shares} | {cohens_kappa(good):.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    works = {"draw": draw, "report": report, "rates": rates, "triples": triples, "read-triples": read_triples,
             "coverage": coverage, "failures": failures}  # fmt: skip
    parser.add_argument("what", choices=works)
    parser.add_argument("--data", nargs="+", default=[], help="sets as NAME:PATH")
    parser.add_argument("--sentences", type=int, default=300, help="so many of each set")
    parser.add_argument("--seed", type=int, default=SEED, help="of the draw")
    parser.add_argument("--out", type=Path, help="folder of the batches")
    parser.add_argument("--items", type=Path, help="items.parquet of a run, for failures")
    parser.add_argument("--check", default="", help="how the names of the checks begin whose failures are drawn")
    parser.add_argument("--peer", help="a Python that has nlpaug")
    parser.add_argument("--beside", type=float, default=1.0, help="share of the sentences that the peer edits too")
    parser.add_argument("--treebank", type=Path)
    parser.add_argument("--judge", type=Path, nargs=2)
    parser.add_argument("--table", type=Path, default=Path("lab/notebook/generators.csv"))
    parser.add_argument(
        "--generator", default="number", help="a phenomenon, or synonym, antonym, control, reorder, role_reversal"
    )
    parser.add_argument(
        "--level", type=int, default=1, help="of the changed edit of triples, or how many words of a synonym edit"
    )
    parser.add_argument("--together", action="store_true", help="rates over all sets")
    args = parser.parse_args()
    if args.out is None and args.what not in ("rates", "coverage"):
        parser.error(f"{args.what} needs --out")
    works[args.what](args)


if __name__ == "__main__":
    main()
