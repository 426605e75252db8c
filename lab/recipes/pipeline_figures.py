"""How good a spaCy pipeline is on the treebank: on gold tokens and on raw text, in percent."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

Span = tuple[int, int]
Entity = tuple[int, int, int, str]


def bare(doc: Doc) -> Doc:
    """The same words without annotation."""
    from spacy.tokens import Doc

    return Doc(doc.vocab, words=[t.text for t in doc], spaces=[bool(t.whitespace_) for t in doc])


def figures(nlp: Language, gold: Sequence[Doc]) -> dict[str, float]:
    """On gold tokens, punctuation included: accuracies, UAS, LAS, F1 of exact entities by label."""
    found = list(nlp.pipe([bare(d) for d in gold], batch_size=64))
    pairs = [(f, g) for fd, gd in zip(found, gold, strict=True) for f, g in zip(fd, gd, strict=True)]
    right = {
        "XPOS": sum(f.tag_ == g.tag_ for f, g in pairs),
        "UPOS": sum(f.pos_ == g.pos_ for f, g in pairs),
        "features": sum(str(f.morph) == str(g.morph) for f, g in pairs),
        "lemma": sum(f.lemma_ == g.lemma_ for f, g in pairs),
        "UAS": sum(f.head.i == g.head.i for f, g in pairs),
        "LAS": sum(f.head.i == g.head.i and f.dep_ == g.dep_ for f, g in pairs),
    }
    without = [(f, g) for f, g in pairs if g.pos_ != "PUNCT"]
    bare_las = sum(f.head.i == g.head.i and f.dep_ == g.dep_ for f, g in without)
    bare_uas = sum(f.head.i == g.head.i for f, g in without)
    told = {name: 100 * count / len(pairs) for name, count in right.items()}
    told |= {"UAS, no punctuation": 100 * bare_uas / len(without), "LAS, no punctuation": 100 * bare_las / len(without)}
    return told | entity_figures(found, gold)


def entity_figures(found: Sequence[Doc], gold: Sequence[Doc]) -> dict[str, float]:
    """Exact-span F1 of all labels that the gold documents hold, and of each."""
    true = set(entities(gold))
    labels = sorted({label for *_, label in true})
    told = {e for e in entities(found) if e[3] in labels}
    each = {name: f1({e for e in told if e[3] == name}, {e for e in true if e[3] == name}) for name in labels}
    return {"entities": f1(told, true)} | each


def entities(docs: Sequence[Doc]) -> Iterator[Entity]:
    """Document, first and last character and label of each entity."""
    return ((number, e.start_char, e.end_char, e.label_) for number, doc in enumerate(docs) for e in doc.ents)


def f1(told: set[Entity], true: set[Entity]) -> float:
    return 200 * len(told & true) / max(1, len(told) + len(true))


def raw_figures(nlp: Language, gold: Sequence[Doc]) -> dict[str, float]:
    """From plain text, F1 as in the CoNLL 2018 shared task: a word counts where its characters are the gold word's."""
    found = list(nlp.pipe([d.text for d in gold], batch_size=16))
    right = dict.fromkeys(("words", "sentences", "XPOS", "UPOS", "lemma", "UAS", "LAS"), 0)
    sentences = words = 0
    for f, g in zip(found, gold, strict=True):
        told, true = ({characters(t): t for t in d if not t.is_space} for d in (f, g))
        both = [(told[span], true[span]) for span in told.keys() & true.keys()]
        words += len(told) + len(true)
        sentences += len(list(f.sents)) + len(list(g.sents))
        right["words"] += len(both)
        right["sentences"] += len({edges(s) for s in f.sents} & {edges(s) for s in g.sents})
        right["XPOS"] += sum(a.tag_ == b.tag_ for a, b in both)
        right["UPOS"] += sum(a.pos_ == b.pos_ for a, b in both)
        right["lemma"] += sum(a.lemma_ == b.lemma_ for a, b in both)
        hits = [(a, b) for a, b in both if characters(a.head) == characters(b.head)]
        right["UAS"] += len(hits)
        right["LAS"] += sum(a.dep_ == b.dep_ for a, b in hits)
    told = {name: 200 * n / (sentences if name == "sentences" else words) for name, n in right.items()}
    return told | entity_figures(found, gold)


def characters(token: Token) -> Span:
    return token.idx, token.idx + len(token)


def edges(sentence: Sequence[Token]) -> Span:
    """First and last character, blanks apart."""
    inside = [t for t in sentence if not t.is_space] or list(sentence)
    return inside[0].idx, characters(inside[-1])[1]


def megabytes(folder: Path) -> float:
    """Size of all files, in decimal megabytes."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def words_per_second(nlp: Language, texts: Sequence[str]) -> float:
    """Throughput from plain text in words a second of processor time; the first hundred texts warm up."""
    list(nlp.pipe(texts[:100]))
    start = time.process_time()
    words = sum(map(len, nlp.pipe(texts, batch_size=128)))
    return words / (time.process_time() - start)
