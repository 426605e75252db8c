"""What the pipeline is trained from: treebank with entities as spaCy documents, and plain text for silver labels."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

LABELS = {"PER", "LOC", "ORG"}
BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of the treebank; `heads` count from 0, a root is its own head; `entities` None where unknown."""

    text: str
    document: str
    words: list[str]
    spaces: list[bool]
    tags: list[str]
    pos: list[str]
    morphs: list[str]
    lemmas: list[str]
    heads: list[int]
    deps: list[str]
    entities: list[str] | None


def read_treebank(folder: Path, split: str, *, entities: Path | None = None) -> list[Sentence]:
    """Sentences of UD English EWT in file order, with UNER's entities where the sentence has them."""
    named = dict(read_entities(entities, split)) if entities else {}
    blocks = (folder / f"en_ewt-ud-{split}.conllu").read_text("utf-8").split("\n\n")
    document, found = "", []
    for block in filter(str.strip, blocks):
        sentence = parse_block(block, document)
        document = sentence.document
        iob = named.get("".join(sentence.words))
        found.append(replace(sentence, entities=iob and repaired(at_starts(iob, sentence.words))))
    return found


def at_starts(iob: list[str], words: list[str]) -> list[str]:
    """The tag of each word's first character, whatever the words were when the tags were given."""
    return [iob[end - len(word)] for word, end in zip(words, accumulate(map(len, words)), strict=True)]


def parse_block(block: str, document: str) -> Sentence:
    """One block of CoNLL-U; the words of a multiword range take its SpaceAfter, empty nodes are left out."""
    comments = dict(line[2:].split(" = ", 1) for line in block.split("\n") if line.startswith("# ") and " = " in line)
    rows = [line.split("\t") for line in block.split("\n") if line and not line.startswith("#")]
    joined: dict[int, bool] = {}
    for row in rows:
        if "-" in row[0]:
            first, last = map(int, row[0].split("-"))
            joined |= dict.fromkeys(range(first, last), False) | {last: "SpaceAfter=No" not in row[9]}
    rows = [row for row in rows if row[0].isdigit()]
    heads = [int(row[6]) - 1 if row[6] != "0" else at for at, row in enumerate(rows)]
    return Sentence(
        text=comments["text"],
        document=comments.get("newdoc id", document),
        words=[row[1] for row in rows],
        spaces=[joined.get(int(row[0]), "SpaceAfter=No" not in row[9]) for row in rows],
        tags=[row[4] for row in rows],
        pos=[row[3] for row in rows],
        morphs=[row[5] if row[5] != "_" else "" for row in rows],
        lemmas=[row[2] if row[2] != "_" or row[1] == "_" else row[1] for row in rows],
        heads=heads,
        deps=["ROOT" if row[7] == "root" else row[7] for row in rows],
        entities=None,
    )


def read_entities(folder: Path, split: str) -> Iterator[tuple[str, list[str]]]:
    """UNER's sentences: their characters without blanks, and the IOB2 tag of each."""
    for block in (folder / f"en_ewt-ud-{split}.iob2").read_text("utf-8").split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if line and not line.startswith("#")]
        if rows:
            tags = ((row[2], "I" + row[2][1:] if row[2] != "O" else "O", len(row[1])) for row in rows)
            yield "".join(row[1] for row in rows), [t for tag, rest, n in tags for t in (tag, *[rest] * (n - 1))]


def repaired(tags: Iterable[str]) -> list[str]:
    """IOB2 with known labels only; an I- that continues nothing begins an entity.

    >>> repaired(["B-OTH", "I-LOC", "I-LOC", "B-O", "B-PER", "I-ORG"])
    ['O', 'B-LOC', 'I-LOC', 'O', 'B-PER', 'B-ORG']
    """
    found: list[str] = []
    for tag in tags:
        label = tag[2:]
        if label not in LABELS:
            found.append("O")
        elif tag[0] == "I" and found and found[-1][2:] == label:
            found.append(tag)
        else:
            found.append(f"B-{label}")
    return found


def as_doc(vocab: Vocab, sentences: list[Sentence]) -> Doc:
    """One document with gold tokens and everything that is known about them."""
    from spacy.tokens import Doc

    def joined(name: str) -> list[str]:
        return [value for s in sentences for value in getattr(s, name)]

    offsets = [sum(len(s.words) for s in sentences[:at]) for at in range(len(sentences))]
    known = all(s.entities is not None for s in sentences)
    return Doc(
        vocab,
        words=joined("words"),
        spaces=[*joined("spaces")[:-1], False],
        tags=joined("tags"),
        pos=joined("pos"),
        morphs=joined("morphs"),
        lemmas=joined("lemmas"),
        heads=[head + start for s, start in zip(sentences, offsets, strict=True) for head in s.heads],
        deps=joined("deps"),
        ents=joined("entities") if known else None,
    )


def grouped(sentences: list[Sentence], rng: Random, *, longest: int = 3) -> Iterator[list[Sentence]]:
    """Runs of one to `longest` sentences of the same document, as people write: half of them one sentence."""
    start = 0
    while start < len(sentences):
        size = rng.choice([1, 1, *range(2, longest + 1)])
        run = [s for s in sentences[start : start + size] if s.document == sentences[start].document]
        run = [s for s in run if (s.entities is None) == (run[0].entities is None)]
        yield run
        start += len(run)


def plain_texts(folder: Path) -> list[str]:
    """Distinct texts of the public data sets, in a fixed order; no test file is read, and labels are not used."""
    found: dict[str, None] = {}
    for text in every_text(folder):
        tidy = BLANKS.sub(" ", text).strip()
        if 3 <= tidy.count(" ") + 1 <= 60:
            found.setdefault(tidy)
    return list(found)


def every_text(folder: Path) -> Iterator[str]:
    """MRPC, PAWS-Wiki (one side: the other holds the same words), QQP, STS benchmark, reviews, forum, tweets."""
    yield from columns(folder / "mrpc/msr_paraphrase_train.txt", 3, 4)
    yield from columns(folder / "paws_wiki/final/dev.tsv", 1)
    yield from columns(folder / "qqp/Quora_question_pair_partition/dev.tsv", 1, 2)
    with (folder / "qqp/train_sample.csv").open(encoding="utf-8", newline="") as file:
        yield from (row[side] for row in csv.reader(file) for side in (4, 5))
    yield from columns(folder / "stsbenchmark/sts-train.csv", 5, 6)
    for name in ("CR/custrev.pos", "CR/custrev.neg", "SUBJ/subj.objective", "MR/rt-polarity.pos", "MR/rt-polarity.neg"):
        yield from columns(folder / "senteval" / name, 0)
    for path in sorted((folder / "semeval2016_task3/v3.2/dev").glob("*.xml")):
        for body in re.findall(r"<(?:RelQBody|RelCText)>([^<]*)<", path.read_text("utf-8")):
            yield from re.split(r"(?<=[.?!])\s+(?=[A-Z])", body.replace("&amp;", "&").replace("&quot;", '"'))
    yield from sorted(set(columns(folder / "twitter_url/train/a.toks", 0)))


def columns(path: Path, *numbers: int) -> Iterator[str]:
    """Fields of a tab-separated file; brackets of the Penn treebank are undone."""
    for line in path.read_text("utf-8-sig", errors="replace").split("\n"):
        fields = line.rstrip("\r").split("\t")
        for number in numbers:
            if number < len(fields):
                yield fields[number].replace("-LRB-", "(").replace("-RRB-", ")").replace("\\/", "/")
