"""Silver documents: plain text, split into words and sentences, with the teacher's labels; and word vectors from it."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from pipeline_data import Sentence
from pipeline_teacher import Teacher, by_length, decoded, scored

if TYPE_CHECKING:
    from spacy.vectors import Vectors

Read = tuple[int, list[str], np.ndarray[Any, Any], Sentence | None]
INHERITED: list[Teacher] = []
ENDS = {".", "?", "!", "...", "?!", "!!"}
WORD_TYPES = 10_000
WORD_WIDTH = 48


def raw_sentences(texts: Iterable[str]) -> Iterator[Sentence]:
    """Words of spaCy's English tokenizer; a sentence ends at its mark before a capital letter. No labels yet."""
    import spacy

    tokenizer = spacy.blank("en").tokenizer
    for number, text in enumerate(texts):
        tokens = [t for t in tokenizer(text) if not t.is_space]
        words, spaces = [t.text for t in tokens], [bool(t.whitespace_) for t in tokens]
        start = 0
        for end in range(1, len(words) + 1):
            if end == len(words) or (words[end - 1] in ENDS and words[end][0].isupper()):
                yield unlabelled(str(number), words[start:end], spaces[start:end])
                start = end


def unlabelled(document: str, words: list[str], spaces: list[bool]) -> Sentence:
    return Sentence("", document, words, spaces, [], [], [], [], [], [], None)


class TypeMeans:
    """Mean of the teacher's word states for each lower-case form."""

    def __init__(self) -> None:
        self.sums: dict[str, Any] = defaultdict(float)
        self.counts: Counter[str] = Counter()

    def add(self, words: Sequence[str], states: np.ndarray[Any, Any]) -> None:
        """States (n, width) of n words."""
        for word, state in zip(words, states, strict=False):
            self.sums[word.lower()] += state
            self.counts[word.lower()] += 1

    def save(self, path: Path) -> None:
        """The commonest forms, addresses apart, with their means reduced to their principal axes, of mean length 1."""
        known = [word for word, count in self.counts.most_common() if count > 1 and "@" not in word]
        common = known[:WORD_TYPES]
        means = np.stack([self.sums[word] / self.counts[word] for word in common])
        weights = np.sqrt([self.counts[word] for word in common])[:, None]
        centred = means - (means * weights).sum(0) / weights.sum()
        _, axes = np.linalg.eigh((centred * weights).T @ centred)
        reduced = centred @ axes[:, ::-1][:, :WORD_WIDTH]
        reduced /= np.linalg.norm(reduced, axis=1).mean()
        np.savez(path, words=np.array(common), vectors=reduced.astype(np.float32))


def write_silver(teacher: Teacher, gold: Sequence[Sentence], plain: Sequence[Sentence], work: Path) -> None:
    """`silver.jsonl`, one labelled sentence a line in the texts' order, and `vectors.npz` from all of them."""
    means, labelled = TypeMeans(), {}
    batches = list(by_length([*plain, *gold], words=1500))
    with get_context("fork").Pool(os.cpu_count(), initializer=inherit, initargs=(teacher,)) as pool:
        for number, rows in enumerate(pool.imap(read_batch, batches)):
            for at, words, states, found in rows:
                means.add(words, states)
                if at < len(plain) and found:
                    labelled[at] = found
            if number % 100 == 0:
                print(f"batch {number} of {len(batches)}: {len(labelled)} sentences", flush=True)
    write_sentences((labelled[at] for at in sorted(labelled)), work / "silver.jsonl")
    means.save(work / "vectors.npz")


def inherit(teacher: Teacher) -> None:
    """A forked worker keeps the teacher, and uses one core."""
    torch.set_num_threads(1)
    INHERITED.append(teacher)


def read_batch(batch: list[tuple[int, Sentence]]) -> list[Read]:
    """For each sentence its number, words, word states (n, width) and the labelled sentence, if that is a tree."""
    teacher = INHERITED[0]
    return [
        (at, sentence.words, states[: len(sentence.words)], decoded(teacher.labels, sentence, told))
        for at, sentence, states, told in scored(teacher, batch)
    ]


def write_sentences(sentences: Iterable[Sentence], path: Path) -> None:
    """One sentence a line."""
    path.write_text("".join(json.dumps(asdict(s), ensure_ascii=False) + "\n" for s in sentences), "utf-8")


def read_silver(path: Path) -> list[list[Sentence]]:
    """The sentences of `write_silver`, those of one text together."""
    texts: dict[str, list[Sentence]] = defaultdict(list)
    for line in path.read_text("utf-8").split("\n"):
        if line:
            sentence = Sentence(**json.loads(line))
            texts[sentence.document].append(sentence)
    return list(texts.values())


def read_vectors(path: Path) -> Vectors:
    """spaCy's vector table, looked up by lower-case form."""
    from spacy.strings import StringStore
    from spacy.vectors import Vectors

    with np.load(path, allow_pickle=False) as saved:
        words, data = saved["words"].tolist(), saved["vectors"]
    return Vectors(strings=StringStore(words), data=data, keys=words, attr="LOWER", name="teacher")
