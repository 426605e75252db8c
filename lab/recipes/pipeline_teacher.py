"""The teacher: MiniLM with heads for tags, lemmas, entities and a biaffine parser (Dozat and Manning 2017)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from pipeline_data import Sentence, repaired
from torch import Tensor, nn

Array = np.ndarray[Any, Any]
IGNORED = -100
FIELDS = ("tag", "word", "lemma", "entity")
CASES = ("lower", "title", "upper", "letter", "digit", "mark", "mixed")


def case_of(word: str) -> int:
    """What the uncased model cannot see.

    >>> [CASES[case_of(word)] for word in ("it", "Rome", "NATO", "A", "1990s", ",", "iPod")]
    ['lower', 'title', 'upper', 'letter', 'digit', 'mark', 'mixed']
    """
    if not any(c.isalnum() for c in word):
        return 5
    if any(c.isdigit() for c in word):
        return 4
    if word.isupper():
        return 2 if len(word) > 1 else 3
    return 0 if word.islower() else 1 if word.istitle() else 6


def lemma_rule(word: str, lemma: str) -> str:
    """How a lemma is got: whether the form is lowered, how many letters fall off the end, what is put there.

    >>> lemma_rule("Cities", "city"), lemma_rule("was", "be"), lemma_rule("Rome", "Rome")
    ('l 3 y', '- 3 be', '- 0 ')
    """
    low = "-" if lemma != lemma.lower() or word == word.lower() else "l"
    base = word.lower() if low == "l" else word
    same = next((n for n, (a, b) in enumerate(zip(base, lemma, strict=False)) if a != b), min(len(base), len(lemma)))
    return f"{low} {len(base) - same} {lemma[same:]}"


def apply_rule(word: str, rule: str) -> str:
    """The lemma that a rule makes of a word.

    >>> apply_rule("Parties", "l 3 y")
    'party'
    """
    low, off, ending = rule.split(" ", 2)
    base = word.lower() if low == "l" else word
    return (base[: len(base) - int(off)] if int(off) <= len(base) else "") + ending or base


@dataclass(frozen=True, slots=True)
class Labels:
    """What each head can say, by number."""

    tag: list[str]
    word: list[str]
    lemma: list[str]
    entity: list[str]
    dep: list[str]

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> Labels:
        """All labels of the sentences; a lemma rule must be met twice."""
        rules = Counter(lemma_rule(w, lm) for s in sentences for w, lm in zip(s.words, s.lemmas, strict=True))
        return cls(
            tag=sorted({t for s in sentences for t in s.tags}),
            word=sorted({f"{p} {m}" for s in sentences for p, m in zip(s.pos, s.morphs, strict=True)}),
            lemma=sorted(rule for rule, count in rules.items() if count > 1),
            entity=sorted({e for s in sentences for e in s.entities or []}),
            dep=sorted({d for s in sentences for d in s.deps}),
        )

    def numbers(self, sentence: Sentence) -> dict[str, list[int]]:
        """The sentence's labels as numbers, `IGNORED` where unknown."""
        rules = [lemma_rule(w, lm) for w, lm in zip(sentence.words, sentence.lemmas, strict=True)]
        words = [f"{p} {m}" for p, m in zip(sentence.pos, sentence.morphs, strict=True)]
        entities = sentence.entities or ["?"] * len(words)
        told = {"tag": sentence.tags, "word": words, "lemma": rules, "entity": entities, "dep": sentence.deps}
        places = {name: {label: at for at, label in enumerate(known)} for name, known in asdict(self).items()}
        return {name: [places[name].get(label, IGNORED) for label in labels] for name, labels in told.items()}


class Biaffine(nn.Module):
    """Scores of word i with head j: `outputs` numbers for each pair."""

    def __init__(self, inputs: int, width: int, outputs: int) -> None:
        super().__init__()
        self.dependent = nn.Sequential(nn.Dropout(0.2), nn.Linear(inputs, width), nn.GELU(), nn.Dropout(0.2))
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(inputs, width), nn.GELU(), nn.Dropout(0.2))
        self.weight = nn.Parameter(torch.randn(outputs, width + 1, width + 1) * 0.01)

    def forward(self, words: Tensor) -> Tensor:
        """(batch, n, inputs) -> (batch, outputs, n, n)."""
        ones = torch.ones_like(words[..., :1])
        dependent = torch.cat([self.dependent(words), ones], -1)
        head = torch.cat([self.head(words), ones], -1)
        return torch.einsum("bid,odh,bjh->boij", dependent, self.weight, head)


class Teacher(nn.Module):
    """MiniLM over word pieces, a letter-case embedding, the mean of each word's pieces, and the heads."""

    def __init__(self, model: Path, labels: Labels) -> None:
        from tokenizers import Tokenizer
        from transformers import BertModel

        super().__init__()
        self.labels = labels
        self.pieces = Tokenizer.from_file(str(model / "tokenizer.json"))
        self.pieces.no_padding()
        self.pieces.no_truncation()
        self.bert = BertModel.from_pretrained(model, add_pooling_layer=False)
        width = self.bert.config.hidden_size
        self.bert.embeddings.word_embeddings.weight.requires_grad_(False)
        self.case = nn.Embedding(len(CASES), width)
        nn.init.normal_(self.case.weight, std=0.01)
        self.mix = nn.Parameter(torch.zeros(self.bert.config.num_hidden_layers + 1))
        self.dropout = nn.Dropout(0.2)
        self.heads = nn.ModuleDict({name: nn.Linear(width, len(getattr(labels, name))) for name in FIELDS})
        self.arcs = Biaffine(width, 256, 1)
        self.rels = Biaffine(width, 96, len(labels.dep))

    def states(self, batch: Sequence[Sequence[str]]) -> tuple[Tensor, Tensor]:
        """Word states (batch, n, width) and which of them are words (batch, n)."""
        ids, cases, owner = zip(*map(self.piece_ids, batch), strict=True)
        longest, words = max(map(len, ids)), max(map(len, batch))
        mask = torch.tensor([[1.0] * len(row) + [0.0] * (longest - len(row)) for row in ids])
        inputs = self.bert.embeddings.word_embeddings(padded(ids, longest)) + self.case(padded(cases, longest))
        layers = self.bert(inputs_embeds=inputs, attention_mask=mask, output_hidden_states=True).hidden_states
        mixed = torch.einsum("l,lbnd->bnd", self.mix.softmax(0), torch.stack(layers))
        places = padded(owner, longest, fill=words)
        sums = torch.zeros(len(batch), words + 1, mixed.shape[-1], dtype=mixed.dtype)
        sums = sums.scatter_add(1, places[..., None].expand_as(mixed), mixed)[:, :words]
        counts = torch.zeros(len(batch), words + 1).scatter_add(1, places, mask)[:, :words]
        return sums / counts.clamp(min=1)[..., None], counts > 0

    def piece_ids(self, words: Sequence[str]) -> tuple[list[int], list[int], list[int]]:
        """Piece ids with [CLS] and [SEP], each piece's case class, the number of its word (the end's for both)."""
        found = [self.pieces.encode(word, add_special_tokens=False).ids[:8] or [100] for word in words]
        ids = [101, *(i for word in found for i in word), 102][:510]
        cases = [5, *(case_of(w) for w, piece in zip(words, found, strict=True) for _ in piece), 5][:510]
        owner = [len(words), *(n for n, piece in enumerate(found) for _ in piece), len(words)][:510]
        return ids, cases, owner

    def forward(self, batch: Sequence[Sequence[str]]) -> tuple[Tensor, dict[str, Tensor]]:
        """States, and scores: each head's (batch, n, labels), arcs (batch, n, n), relations (batch, labels, n, n)."""
        plain, known = self.states(batch)
        states = self.dropout(plain)
        told = {name: head(states) for name, head in self.heads.items()}
        arcs = self.arcs(states)[:, 0].masked_fill(~known[:, None, :], -1e4)
        return plain, told | {"arcs": arcs, "rels": self.rels(states)}


def padded(rows: Iterable[Sequence[int]], length: int, *, fill: int = 0) -> Tensor:
    return torch.tensor([[*row, *[fill] * (length - len(row))] for row in rows])


def loss_of(teacher: Teacher, batch: Sequence[Sentence]) -> Tensor:
    """Sum of the mean cross-entropies; of relations, those at gold heads."""
    numbers = [teacher.labels.numbers(s) for s in batch]
    longest = max(len(s.words) for s in batch)
    _, told = teacher([s.words for s in batch])
    losses = [
        nn.functional.cross_entropy(
            told[name].flatten(0, 1).float(), padded((n[name] for n in numbers), longest, fill=IGNORED).flatten(),
            ignore_index=IGNORED, reduction="sum",
        )
        for name in FIELDS
    ]  # fmt: skip
    heads = padded((s.heads for s in batch), longest, fill=IGNORED)
    deps = padded((n["dep"] for n in numbers), longest, fill=IGNORED)
    losses.append(
        nn.functional.cross_entropy(
            told["arcs"].flatten(0, 1).float(), heads.flatten(), ignore_index=IGNORED, reduction="sum"
        )
    )
    at = heads.clamp(min=0)[:, None, :, None].expand(-1, told["rels"].shape[1], -1, 1)
    rels = told["rels"].gather(3, at)[..., 0].transpose(1, 2)
    losses.append(
        nn.functional.cross_entropy(rels.flatten(0, 1).float(), deps.flatten(), ignore_index=IGNORED, reduction="sum")
    )
    return torch.stack(losses).sum() / sum(len(s.words) for s in batch)


def fine_tune(
    teacher: Teacher,
    train: Sequence[Sentence],
    *,
    epochs: int,
    seed: int,
    log: Callable[[str], object],
) -> None:
    """AdamW with warm-up and linear decay, 2e-4 for MiniLM and 1e-3 for what is new; batches of about 600 words."""
    body = [p for p in teacher.bert.parameters() if p.requires_grad]
    known = {id(p) for p in teacher.bert.parameters()}
    new = [p for p in teacher.parameters() if id(p) not in known]
    optimizer = torch.optim.AdamW([{"params": body, "lr": 2e-4}, {"params": new, "lr": 1e-3}], weight_decay=0.01)
    rng = Random(seed)
    schedule = [b for _ in range(epochs) for b in shuffled(train, words=600, rng=rng)]
    rates = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda n: min(1.0, (n + 1) / 150) * max(0.0, 1 - n / len(schedule))
    )
    teacher.train()
    for step, batch in enumerate(schedule):
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = loss_of(teacher, batch)
        loss.backward()
        nn.utils.clip_grad_norm_(teacher.parameters(), 1.0)
        optimizer.step()
        rates.step()
        if step % 50 == 0:
            log(f"step {step} of {len(schedule)}: loss {loss.item():.3f}")


def shuffled(sentences: Sequence[Sentence], *, words: int, rng: Random) -> Iterator[list[Sentence]]:
    """Batches of sentences of like length in random order."""
    order = sorted(sentences, key=lambda s: (len(s.words) + rng.random() * 3, rng.random()))
    cuts, room = [0], words
    for at, sentence in enumerate(order):
        if room < len(sentence.words) and at > cuts[-1]:
            cuts, room = [*cuts, at], words
        room -= len(sentence.words)
    batches = [order[a:b] for a, b in pairwise([*cuts, len(order)])]
    rng.shuffle(batches)
    yield from batches


def by_length(sentences: Sequence[Sentence], *, words: int) -> Iterator[list[tuple[int, Sentence]]]:
    """Numbered sentences in batches of like length, `words` at most after padding."""
    batch: list[tuple[int, Sentence]] = []
    for at in sorted(range(len(sentences)), key=lambda i: len(sentences[i].words)):
        if batch and (len(batch) + 1) * len(sentences[at].words) > words:
            yield batch
            batch = []
        batch.append((at, sentences[at]))
    if batch:
        yield batch


@torch.inference_mode()
def scored(
    teacher: Teacher, batch: list[tuple[int, Sentence]]
) -> Iterator[tuple[int, Sentence, Array, dict[str, Array]]]:
    """Each sentence's number, itself, its word states (n, width) and the heads' scores."""
    teacher.eval()
    with torch.autocast("cpu", torch.bfloat16):
        states, told = teacher([sentence.words for _, sentence in batch])
    arrays = {name: t.float().numpy() for name, t in told.items()}
    for row, (at, sentence) in enumerate(batch):
        yield at, sentence, states[row].float().numpy(), {name: a[row] for name, a in arrays.items()}


def annotate(teacher: Teacher, sentences: Sequence[Sentence]) -> dict[int, Sentence]:
    """The sentences with the teacher's labels, by number; one whose best heads are no tree is left out."""
    found = {}
    for batch in by_length(sentences, words=1500):
        for at, sentence, _, told in scored(teacher, batch):
            if labelled := decoded(teacher.labels, sentence, told):
                found[at] = labelled
    return found


def decoded(labels: Labels, sentence: Sentence, told: dict[str, Any]) -> Sentence | None:
    """The sentence with the best labels; None where the best heads have a cycle."""
    n = len(sentence.words)
    heads = tree(told["arcs"][:n, :n])
    if heads is None:
        return None
    best = {name: [getattr(labels, name)[k] for k in told[name][:n].argmax(-1)] for name in FIELDS}
    rels = told["rels"][:, np.arange(n), heads]
    root = labels.dep.index("ROOT")
    rels[root, heads != np.arange(n)] = -np.inf
    deps = [labels.dep[k] if heads[i] != i else "ROOT" for i, k in enumerate(rels.argmax(0))]
    return replace(
        sentence,
        tags=best["tag"],
        pos=[w.split(" ", 1)[0] for w in best["word"]],
        morphs=[w.split(" ", 1)[1] for w in best["word"]],
        lemmas=[apply_rule(w, rule) for w, rule in zip(sentence.words, best["lemma"], strict=True)],
        heads=heads.tolist(),
        deps=deps,
        entities=repaired(best["entity"]),
    )


def tree(scores: Array) -> Array | None:
    """The best head of each word, with one root (its own head); None where that is no tree.

    >>> tree(np.array([[1.0, 5.0], [0.0, 3.0]])).tolist()
    [1, 1]
    """
    n = len(scores)
    own = scores.diagonal()
    others = scores.copy()
    np.fill_diagonal(others, -np.inf)
    root = int((own - (others.max(1) if n > 1 else 0)).argmax())
    heads = others.argmax(1) if n > 1 else np.zeros(1, int)
    heads[root] = root
    reached = heads.copy()
    for _ in range(max(1, n.bit_length())):
        reached = reached[reached]
    return heads if (reached == root).all() else None
