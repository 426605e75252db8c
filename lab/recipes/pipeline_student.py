"""The student: spaCy's own components on small convolutional networks, trained on gold and silver documents.

Tagger, morphologizer, lemmatiser and parser share one network; the entities have a narrower one of their own, so that
who does without them does without its cost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from pipeline_figures import bare

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.vectors import Vectors

SYNTAX = {"width": 128, "depth": 5, "NORM": 4000, "PREFIX": 700, "SUFFIX": 1300, "SHAPE": 400}
ENTITIES = {"width": 80, "depth": 4, "NORM": 1500, "PREFIX": 400, "SUFFIX": 600, "SHAPE": 400}
FORMS = ("NORM", "PREFIX", "SUFFIX", "SHAPE")
SHARED = {"@architectures": "spacy.Tok2VecListener.v1", "width": SYNTAX["width"], "upstream": "*"}


@dataclass(frozen=True, slots=True)
class Plan:
    """How long and how fast to learn: passes over the documents, with or without silver; highest rate; dropout."""

    epochs: float
    silver: bool = True
    rate: float = 0.002
    drop: float = 0.1
    words: int = 1000  # a batch
    seed: int = 0


PHASES = {
    "syntax": [Plan(epochs=2.5)],
    "entities": [Plan(epochs=4), Plan(epochs=6, silver=False, rate=0.001, drop=0.4, seed=1)],
}


def blank(vectors: Vectors, *, part: str) -> Language:
    """An untrained pipeline of one part: `syntax` or `entities`."""
    import spacy

    nlp = spacy.blank("en")
    nlp.vocab.vectors = vectors
    (add_syntax if part == "syntax" else add_entities)(nlp)
    return nlp


def add_syntax(nlp: Language) -> None:
    """The shared network and the four components that listen to it."""
    nlp.add_pipe("tok2vec", config={"model": tok2vec(SYNTAX)})
    tagger = {"@architectures": "spacy.Tagger.v2", "nO": None, "normalize": False, "tok2vec": SHARED}
    nlp.add_pipe("tagger", config={"model": tagger})
    nlp.add_pipe("morphologizer", config={"model": tagger, "extend": False, "overwrite": True})
    nlp.add_pipe("parser", config={"model": transitions("parser", 128, SHARED), "min_action_freq": 20})
    lemmas = {"model": tagger, "backoff": "orth", "min_tree_freq": 2, "top_k": 3, "overwrite": True}
    nlp.add_pipe("trainable_lemmatizer", name="lemmatizer", config=lemmas)


def add_entities(nlp: Language) -> None:
    """The entities with their own network."""
    nlp.add_pipe("ner", config={"model": transitions("ner", 64, tok2vec(ENTITIES))})


def tok2vec(sizes: Mapping[str, int]) -> dict[str, Any]:
    """Hashed features of a word's form and its static vector, mixed over windows of three, `depth` times."""
    embed = {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": sizes["width"],
        "attrs": list(FORMS),
        "rows": [sizes[name] for name in FORMS],
        "include_static_vectors": True,
    }
    encode = {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        "width": sizes["width"],
        "window_size": 1,
        "maxout_pieces": 3,
        "depth": sizes["depth"],
    }
    return {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode}


def transitions(kind: str, hidden: int, words: dict[str, Any]) -> dict[str, Any]:
    """A greedy transition system over the words' states."""
    return {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": kind,
        "extra_state_tokens": False,
        "hidden_width": hidden,
        "maxout_pieces": 2,
        "use_upper": True,
        "nO": None,
        "tok2vec": words,
    }


def train(
    nlp: Language,
    gold: list[Doc],
    silver: list[Doc],
    *,
    plan: Plan,
    check: Callable[[str, Language], object],
    save: Callable[[Language], object],
) -> None:
    """Adam with warm-up, linear decay and averaged weights; `check` and `save` see the averages, twenty times."""
    from spacy.training import Example
    from thinc.api import Adam

    optimizer = Adam(plan.rate, L2=0.01, grad_clip=1.0, use_averages=True, L2_is_weight_decay=True)
    total = plan.epochs * (sum(map(len, gold)) * gold_share(silver) + sum(map(len, silver)))
    seen, start, shown = 0, time.monotonic(), 0
    for step, batch in enumerate(batches(gold, silver, words=plan.words, rng=Random(plan.seed))):
        optimizer.learn_rate = plan.rate * min(1.0, (step + 1) / 300, 1.02 - seen / total)
        nlp.update([Example(bare(d), d) for d in batch], drop=plan.drop, sgd=optimizer)
        seen += sum(map(len, batch))
        if seen * 20 // total > shown or seen >= total:
            shown = seen * 20 // total
            with nlp.use_params(optimizer.averages):
                check(f"{seen / total:.0%} after {time.monotonic() - start:.0f} s", nlp)
                save(nlp)
        if seen >= total:
            break


def gold_share(silver: list[Doc]) -> int:
    """How often the gold documents come round in an epoch: twice beside silver."""
    return 2 if silver else 1


def batches(gold: list[Doc], silver: list[Doc], *, words: int, rng: Random) -> Iterator[list[Doc]]:
    """Batches without end: documents of an epoch in random order, cut where `words` are reached."""
    while True:
        epoch = gold * gold_share(silver) + silver
        rng.shuffle(epoch)
        batch: list[Doc] = []
        for doc in epoch:
            batch.append(doc)
            if sum(map(len, batch)) >= words:
                yield batch
                batch = []
