"""Speed of the generators, side by side in one run, as rates and ratios.

    python lab/benchmarks/generators.py --mrpc path/to/MRPC [--peer PYTHON] [--rounds 15]
    python lab/benchmarks/generators.py --mrpc path/to/MRPC --all [--beside PYTHON --rounds 3]

Rates are of sentences a second. "From memory" has parses, what is read off them, and what the tagger decided of each
edit in memory; "parses and decisions" is without what is read off parses, "parses and tags" also without the edits and
their texts, which are kept with a decision. "Cold" has an empty store and names what parsing and re-tagging alone
take of it, with only the components that a generator needs. `--peer` is the Python of an environment that has nlpaug;
it runs in turn with ours, on the same sentences, and needs WordNet where NLTK finds it (its tagger's model is replaced
by one that this script trains on the treebank, `--treebank`). `--all` has processor time
alone: of every generator and level in turn, with the parses there, as a share of what parsing takes; what is read once
is loaded before. With `--beside` it takes turns with an earlier version, which that Python finds; figures are medians
of the rounds.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import spacy

from encheck.datasets.load import load
from encheck.generators.antonym import antonym
from encheck.generators.base import Generator, listing_name
from encheck.generators.control import common_words
from encheck.generators.synonym import synonym
from encheck.items.catalogue import WORKS
from encheck.items.variants import VariantMaker
from encheck.language.edits.substitutes import POS_OF_TAG
from encheck.language.english import English
from encheck.language.pipeline.pipeline import Pipeline
from encheck.language.prose import is_english
from encheck.store import Store
from encheck.types import Group

GENERATORS: dict[str, Generator] = {"synonym": synonym, "antonym": antonym}

PEER = """
import json, sys, time
import nltk
from nltk.tag.perceptron import PerceptronTagger
sentences, model = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
tagger = PerceptronTagger(load=False)
tagger.model.weights, tagger.tagdict = model["weights"], model["tagdict"]
tagger.classes = tagger.model.classes = set(model["classes"])
nltk.pos_tag = lambda tokens, *args, **kwargs: tagger.tag(tokens)
import nlpaug.augmenter.word as naw
works = {"synonym": naw.SynonymAug(aug_src="wordnet", aug_min=1, aug_max=1)}
works["antonym"] = naw.AntonymAug(aug_min=1, aug_max=1)
def rates(what):
    for name, made in works.items():
        made.augment(sentences[0])
        start = time.perf_counter()
        for sentence in sentences:
            made.augment(sentence)
        print("RATE", what, name, len(sentences) / (time.perf_counter() - start))
rates("cold")
tagged = {}
def remembered(tokens, *args, **kwargs):
    if (key := tuple(tokens)) not in tagged:
        tagged[key] = tagger.tag(tokens)
    return tagged[key]
nltk.pos_tag = remembered
for made in works.values():
    for sentence in sentences:
        made.augment(sentence)
rates("remembered")
"""


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def from_memory(groups: list[Group], name: str, rounds: int) -> tuple[float, ...]:
    """Sentences a second, the median of the rounds: with less and less in memory, as the script's docstring says."""
    english = English()

    def again() -> None:
        VariantMaker(0, english).variants(groups, GENERATORS[name])

    def first_time() -> None:
        english._read.clear()
        again()

    def undecided() -> None:
        english.replacements.clear()
        first_time()

    again()
    works = (again, first_time, undecided)
    return tuple(len(groups) / statistics.median(timed(work) for _ in range(rounds)) for work in works)


def cold(groups: list[Group], generator: Generator, folder: Path) -> tuple[float, float, float]:
    """Seconds of a whole cold run, of parsing alone and of tagging alone, each from an empty store."""
    texts = list(dict.fromkeys(group.source for group in groups))
    warm_up = English()
    warm_up.parse_all(texts[:8])
    warm_up.tag_all(texts[:8])
    ours = English(pipeline=warm_up.pipeline, store=Store(folder / f"{time.monotonic_ns()}.sqlite"))
    whole = timed(lambda: VariantMaker(0, ours).variants(groups, generator))
    tried = list(ours._tags)
    parse = timed(lambda: list(warm_up.pipeline.parse(texts)))
    tag = timed(lambda: list(warm_up.pipeline.tag(tried)))
    return whole, parse, tag


def all_of_them(groups: list[Group]) -> Iterator[tuple[str, float]]:
    """(generator, processor time as a share of that of parsing), all its levels together, and "all" with the parse."""
    english = English()
    warm_up, texts = groups[:20], [group.source for group in groups[20:]]
    for work, levels in WORKS:
        for level in levels:
            VariantMaker(0, english).variants(warm_up, work, level=level)
    is_english("zwei Wörter mehr")
    for tag in POS_OF_TAG:
        common_words(english.lexicon, tag)
    start = time.process_time()
    english.parse_all(texts)
    parse, maker, total = time.process_time() - start, VariantMaker(0, english), 1.0
    for work, levels in WORKS:
        start = time.process_time()
        for level in levels:
            maker.variants(groups[20:], work, level=level)
        share = (time.process_time() - start) / parse
        total += share
        yield listing_name(work), share
    yield "all, with the parse", total


def beside(python: str, mrpc: Path, rounds: int) -> Iterator[tuple[str, float, float]]:
    """(generator, share of the parse here, share in the version that `python` finds), medians of rounds in turn."""
    found: dict[str, dict[str, list[float]]] = {sys.executable: {}, python: {}}
    for _ in range(rounds):
        for one, shares in found.items():
            command = [one, __file__, "--mrpc", str(mrpc), "--all"]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            for line in done.stdout.splitlines():
                _, name, share, _ = line.split("|")
                shares.setdefault(name.strip(), []).append(float(share))
    here, there = found.values()
    for name, shares in here.items():
        yield name, statistics.median(shares), statistics.median(there.get(name, [float("nan")]))


def products(groups: list[Group]) -> tuple[float, float]:
    """Sentences that are parsed in a second: with spaCy's own matrix products, and with numpy's, which we take."""
    texts, ours = [group.source for group in groups], Pipeline()
    theirs = spacy.load(ours.folder)
    rates = []
    for language in (theirs, ours._nlp):
        list(language.pipe(texts[:20]))
        rates.append(len(texts) / timed(lambda language=language: list(language.pipe(texts, batch_size=256))))
    return rates[0], rates[1]


def peer(python: str, groups: list[Group], treebank: Path, folder: Path) -> Iterator[tuple[tuple[str, str], float]]:
    """Sentences a second by ("cold" or with its tags "remembered", generator)."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recipes"))
    from build_probes import _train

    (folder / "sentences.json").write_text(json.dumps([g.source for g in groups]), "utf-8")
    (folder / "tagger.json").write_text(json.dumps(_train(treebank)), "utf-8")
    command = [python, "-c", PEER, str(folder / "sentences.json"), str(folder / "tagger.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        if line.startswith("RATE"):
            _, what, name, rate = line.split()
            yield (what, name), float(rate)


def stream(groups: list[Group], count: int) -> tuple[int, float]:
    """Sentences streamed, and the peak memory in MB: the groups' beginnings over and over, each time numbered anew.

    Eight words of each, since parsing is what takes the time and memory is what is asked.
    """
    starts = [" ".join(g.source.split()[:8]) for g in groups]
    many = (Group(f"s{i}", f"{start} {i}", "", "c") for i in range(count // len(groups) + 1) for start in starts)
    maker = VariantMaker()
    made = sum(1 for _, _ in zip(maker.stream_variants(many, synonym), range(count), strict=False))
    return made, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mrpc", type=Path, required=True)
    parser.add_argument("--peer", help="a Python that has nlpaug")
    parser.add_argument("--treebank", type=Path, help="UD English EWT, for the peer's tagger")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--stream", type=int, default=0, help="stream so many sentences, and tell the peak memory")
    parser.add_argument("--all", action="store_true", help="every generator, as a share of what parsing takes")
    parser.add_argument("--beside", help="with --all: a Python that finds an earlier version, which takes turns")
    options = parser.parse_args()
    if options.all and options.beside:
        print("| generator | this version | the earlier one |\n| --- | --- | --- |")
        for name, share, before in beside(options.beside, options.mrpc, options.rounds):
            print(f"| {name} | {share:.2f} | {before:.2f} |")
        return
    groups = list(load(f"mrpc:{options.mrpc}", sample=1_000).groups)[:1_000]
    if options.all:
        for name, share in all_of_them(groups):
            print(f"| {name} | {share:.2f} |")
        return
    print("| what | synonym | antonym |\n| --- | --- | --- |")
    if options.stream:  # first, since the peak is the process's
        made, peak = stream(groups, options.stream)
        print(f"| {made:,} sentences streamed (synonym): peak memory | {peak:,.0f} MB | |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rates = [from_memory(groups, name, options.rounds) for name in GENERATORS]
        names = ("from memory", "from parses and decisions in memory", "from parses and tags in memory")
        for what, some in zip(names, zip(*rates, strict=True), strict=True):
            print(f"| {what}, sentences/s | " + " | ".join(f"{rate:,.0f}" for rate in some) + " |")
        runs = {n: cold(groups, g, folder) for n, g in GENERATORS.items()}
        parts = ["{:.2f} / {:.2f} / {:.2f}".format(*run) for run in runs.values()]
        print("| cold, s: whole / parse / tag | " + " | ".join(parts) + " |")
        print("| cold / (parse + tag) | " + " | ".join(f"**{w / (p + t):.2f}**" for w, p, t in runs.values()) + " |")
        print("| cold, sentences/s | " + " | ".join(f"{len(groups) / w:,.0f}" for w, _, _ in runs.values()) + " |")
        own, numpys = products(groups)
        print(f"| parsing, spaCy's own matrix products / numpy's, sentences/s | {own:,.0f} / {numpys:,.0f} | |")
        if options.peer:
            theirs = dict(peer(options.peer, groups, options.treebank, folder))
            for what, words in (("cold", "nlpaug"), ("remembered", "nlpaug, its tags in memory")):
                print(f"| {words}, sentences/s | " + " | ".join(f"{theirs[what, n]:,.0f}" for n in GENERATORS) + " |")


if __name__ == "__main__":
    main()
