"""Train a classifier of pairs, choose its checkpoint by the development part, measure the test part.

    parts = parts_of(load_data("mrpc:PATH"))
    model = encoder_to_train("sbert")
    learner = BiEncoder(model, PairHead(model.get_embedding_dimension(), features=("|u-v|", "u*v")))
    fitted = learner.fit(parts, choices=Choices(epochs=4, seed=1))
    learner.measured(parts.test)

`fit_once` does this in a separate folder, for recipes with many trainings. `CrossEncoder` is trained in the same way.

The protocol is that of "Predicate-Argument Based Bi-Encoder for Paraphrase Identification", section 4.2: cross-entropy,
batches of 16, linear warm-up over 10% of the steps, four epochs with two evaluations each, patience 5. The paper does
not state how it chooses the checkpoint; here it is the F1 of the positive class on the development part.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.adapters import find_adapter
from encheck.encoders.checkpoints.pretrained import check_folder
from encheck.encoders.load import find_model_folder, find_or_make_model_config
from encheck.encoders.models_file import known_models
from encheck.errors import ModelError, UsageError
from encheck.scoring.pairs import SentencePair
from encheck.system.files import Scratch
from encheck_papers.parts import Parts
from encheck_papers.runs import CHECKPOINT, finished, write_results, writing

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from encheck_papers.head import _PairHead

METRIC = "f1"
Said = NDArray[np.bool_]


@dataclass(frozen=True)
class Choices:
    """The training settings: by default those of the paper, with the first of its learning rates (2e-5, 3e-5, 5e-5).

    `head_rate` is the learning rate of the randomly initialised weights (the head and a pooling over spans); None means
    the common rate, as in the paper. With `bf16` the trainer multiplies in bfloat16, both in steps and to choose the
    checkpoint; weights, optimiser and later measurements stay in fp32.
    """

    epochs: float = 4
    batch: int = 16
    rate: float = 2e-5
    warmup: float = 0.1
    evaluations: int = 2
    patience: int = 5
    seed: int = 0
    bf16: bool = False
    head_rate: float | None = None

    def __post_init__(self) -> None:
        """UsageError for invalid numbers."""
        for name in ("epochs", "batch", "rate", "evaluations", "patience"):
            if getattr(self, name) <= 0:
                raise UsageError(f"{name} is {getattr(self, name)}, but should be above 0")
        if self.head_rate is not None and self.head_rate <= 0:
            raise UsageError(f"head_rate is {self.head_rate}, but should be above 0")
        if not 0 <= self.warmup < 1:
            raise UsageError(f"warmup is {self.warmup}, but should be a share of the steps, from 0 to below 1")

    @property
    def settings(self) -> dict[str, Any]:
        """The settings for results.json; a None is left out, so that older results still match."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Figures:
    """Figures of a classifier's argmax on labelled pairs: shares from 0 to 1, and counts.

    `f1` is that of the positive class, 0 without a true positive. `flips` is the share of predictions that change when
    the two texts are exchanged; None if not measured.
    """

    f1: float
    accuracy: float
    flips: float | None
    n: int
    positives: int
    predicted: int

    @classmethod
    def of(cls, labels: Sequence[int | None], said: Said, turned: Said | None) -> Figures:
        """The figures from labels and predictions, shape [n], and from the predictions in the other order."""
        truth = np.array(labels) == 1
        hits = int((said & truth).sum())
        f1 = 2 * hits / (int(said.sum()) + int(truth.sum())) if hits else 0.0
        flips = None if turned is None else float((said != turned).mean())
        return cls(f1, float((said == truth).mean()), flips, len(truth), int(truth.sum()), int(said.sum()))


@dataclass(frozen=True)
class Fitted:
    """A summary of a training: epochs and steps that ran, the best step and its F1 on the development part, wall-clock
    and processor seconds.
    """

    epochs: float
    steps: int
    best_step: int
    dev_f1: float
    seconds: float
    cpu_seconds: float


class Learner(Protocol):
    """The interface that `fit_once` needs: `BiEncoder`, `CrossEncoder`, or a recipe's own class."""

    @property
    def head_parameters(self) -> int:
        """Weights of the head without its biases."""
        ...

    @property
    def starts_at_random(self) -> str:
        """A pattern for the names that untrained weights have in the loss."""
        ...

    def fit(self, parts: Parts, *, choices: Choices) -> Fitted:
        """Train on the training part and keep the best checkpoint on the development part."""
        ...

    def measured(self, pairs: Sequence[SentencePair], *, turned: bool = True) -> Figures:
        """Figures of its argmax on labelled pairs; `turned` also predicts the other order."""
        ...

    def save(self, folder: Path) -> None:
        """Write the checkpoint into a folder."""
        ...


def encoder_to_train(model: str | Path, *, max_length: int | None = 128) -> SentenceTransformer:
    """A sentence-transformers model by its name in models.yaml, folder or hub id, for training with a head.

    A plain transformers folder gets mean pooling. As in SBERT, vectors are not scaled to length 1, which would leave a
    head almost no information. ModelError if it is not a checkpoint, or has its own code.
    """
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize

    folder = folder_to_train(model)
    whole = SentenceTransformer(str(folder), local_files_only=True, trust_remote_code=False)
    kept = SentenceTransformer(modules=[m for m in whole if not isinstance(m, Normalize)], device=str(whole.device))
    if max_length is not None:
        kept.max_seq_length = min(max_length, kept.max_seq_length or max_length)
    return kept


def folder_to_train(model: str | Path) -> Path:
    """The folder of a checkpoint, checked before it is loaded; ModelError if the name stands for none."""
    config = find_or_make_model_config(str(model), known_models())
    if (adapter := find_adapter(config.adapter)) is None or adapter.source != "hub":
        raise ModelError(f"{model} is no checkpoint to train: its adapter is {config.adapter}. Remedy: name a folder")
    folder = find_model_folder(config)
    check_folder(folder)
    return folder


def seeded(seed: int) -> None:
    """Seed Python, numpy and torch. Call it before a head is made, so that its first weights depend on the seed."""
    from transformers import set_seed

    set_seed(seed)


@dataclass(frozen=True)
class BiEncoder:
    """An encoder with a head over its vectors of two texts; `fit` trains both."""

    model: SentenceTransformer
    head: _PairHead

    @property
    def head_parameters(self) -> int:
        """Weights of the head without its biases, as the paper counts them."""
        return self.head.count_parameters()

    @property
    def starts_at_random(self) -> str:
        """The head, and a pooling over spans."""
        from encheck_papers.span_pooling import SpanPooling

        pooled = (rf"|^model\.{i}\." for i, module in enumerate(self.model) if isinstance(module, SpanPooling))
        return r"^head\." + "".join(pooled)

    def fit(self, parts: Parts, *, choices: Choices) -> Fitted:
        """Train on the training part; afterwards, model and head are those of the best checkpoint.

        Checkpoints lie in a temporary folder. The trainer needs the packages `accelerate` and `datasets`.
        """
        from encheck_papers.head import __getattr__ as made

        loss = made("PairHeadLoss")(self.model, self.head)
        return _trained(made("PairHeadTrainer"), "SentenceTransformer", self, loss, parts, choices)

    def measured(self, pairs: Sequence[SentencePair], *, turned: bool = True) -> Figures:
        """Figures of the head's argmax on these pairs; each distinct text is encoded once. UsageError without pairs."""
        import torch

        _refuse_unmeasurable(pairs, self.head.classes)
        row = {text: i for i, text in enumerate(dict.fromkeys(t for p in pairs for t in (p.first, p.second)))}
        self.model.eval()
        with torch.inference_mode():
            vectors = self.model.encode(list(row), batch_size=64, convert_to_tensor=True, show_progress_bar=False)
            u, v = (vectors[[row[getattr(p, side)] for p in pairs]] for side in ("first", "second"))
            said, other = ((self.head(*both).argmax(dim=1) == 1).cpu().numpy() for both in ((u, v), (v, u)))
        return Figures.of([p.label for p in pairs], said, other if turned else None)

    def save(self, folder: Path) -> None:
        """Save the checkpoint with its head, for `encheck run --model`; call `fit` first."""
        self.model.save(str(folder), create_model_card=False)


@dataclass(frozen=True)
class CrossEncoder:
    """A model that reads both texts at once and has two classes."""

    model: Any

    @classmethod
    def of(cls, model: str | Path, *, max_length: int | None = 128) -> CrossEncoder:
        """Load the weights of a name in models.yaml, a folder or a hub id.

        Its head is random, unless the weights are those of a classifier with two classes, whose head is kept.
        """
        from sentence_transformers.cross_encoder import CrossEncoder as Model

        made = Model(
            str(folder_to_train(model)), num_labels=2, max_length=max_length, local_files_only=True,
            trust_remote_code=False, model_kwargs={"ignore_mismatched_sizes": True},
        )  # fmt: skip
        return cls(made)

    @property
    def head_parameters(self) -> int:
        """Weights of the head without its biases."""
        named = (p for n, p in self.model.named_parameters() if "classifier" in n and n.endswith("weight"))
        return sum(weights.numel() for weights in named)

    @property
    def starts_at_random(self) -> str:
        """The classifier."""
        return r"\.(pre_)?classifier\."

    def fit(self, parts: Parts, *, choices: Choices) -> Fitted:
        """Train on the training part; afterwards, the model is that of the best checkpoint."""
        from sentence_transformers.cross_encoder import CrossEncoderTrainer
        from sentence_transformers.cross_encoder.losses import CrossEntropyLoss

        loss = CrossEntropyLoss(self.model)
        return _trained(CrossEncoderTrainer, "CrossEncoder", self, loss, parts, choices)

    def measured(self, pairs: Sequence[SentencePair], *, turned: bool = True) -> Figures:
        """Figures of its argmax on these pairs and, with `turned`, in the other order."""
        _refuse_unmeasurable(pairs, self.model.num_labels)
        self.model.eval()
        there = [(p.first, p.second) for p in pairs]
        back = [(second, first) for first, second in there] if turned else []
        logits = np.asarray(self.model.predict([*there, *back], batch_size=64, show_progress_bar=False))
        said = logits.argmax(axis=1) == 1
        return Figures.of([p.label for p in pairs], said[: len(there)], said[len(there) :] if turned else None)

    def save(self, folder: Path) -> None:
        """Save the checkpoint, for the adapter `cross-encoder`."""
        self.model.save_pretrained(str(folder), create_model_card=False)


def _refuse_unmeasurable(pairs: Sequence[SentencePair], classes: int) -> None:
    if not pairs:
        raise UsageError("there is no pair to measure")
    if classes != 2:
        raise UsageError(f"the head has {classes} classes, but F1 is of two")


def fit_once(
    folder: Path,
    make: Callable[[], Learner],
    parts: Parts,
    *,
    choices: Choices,
    settings: Mapping[str, Any],
    keep_model: bool = True,
    also: Mapping[str, Sequence[SentencePair]] | None = None,
) -> Mapping[str, Any]:
    """One training as a finished folder: results.json, and the checkpoint with its head if `keep_model`.

    `make` is called after seeding. `also` names further pairs to measure. Results of a finished folder are read, not
    made again; UsageError if they have different `settings`, choices or pairs, if the checkpoint is wanted but was not
    kept, or if the folder is not writable.
    """
    settings = {**settings, "data": parts.name, "pairs": parts.fingerprint, **choices.settings}
    if found := finished(folder, settings, with_model=keep_model):
        return found
    with writing(folder) as unfinished:  # before anything takes time, to refuse an invalid folder early
        seeded(choices.seed)
        learner = make()
        fitted = learner.fit(parts, choices=choices)
        results = {
            "parts": {part: {"pairs": n, "from": parts.told.get(part, "")} for part, n in parts.sizes.items()},
            "head_parameters": learner.head_parameters, "training": asdict(fitted), CHECKPOINT: keep_model,
            **{name: asdict(learner.measured(pairs)) for name, pairs in (("dev", parts.dev), ("test", parts.test))},
            "also": {name: asdict(learner.measured(pairs)) for name, pairs in (also or {}).items()},
        }  # fmt: skip
        if keep_model:
            learner.save(unfinished)
        write_results(unfinished, settings, results)
    return {"settings": settings, **results}


def _trained(trainer: type, family: str, learner: Any, loss: Any, parts: Parts, choices: Choices) -> Fitted:
    """Run a trainer of sentence-transformers; `family` begins the name of its class of arguments."""
    import sentence_transformers
    from transformers import EarlyStoppingCallback

    if choices.head_rate and not any(re.search(learner.starts_at_random, name) for name, _ in loss.named_parameters()):
        raise UsageError("this model has no weights that are known to start at random. Remedy: no --head-rate")
    arguments = getattr(sentence_transformers, f"{family}TrainingArguments")
    evaluator = _evaluator()(lambda: learner.measured(parts.dev, turned=False))
    start, used = time.perf_counter(), time.process_time()
    with Scratch() as folder:
        run = trainer(
            model=learner.model, loss=loss, train_dataset=_rows(parts.train), evaluator=evaluator,
            args=arguments(output_dir=folder, **_settings(choices, len(parts.train), learner.starts_at_random)),
            callbacks=[EarlyStoppingCallback(choices.patience)],
        )  # fmt: skip
        run.train()
        run.accelerator.unwrap_model(learner.model, keep_fp32_wrapper=False)  # its forward pass is in fp32 again
        state = run.state
    best = int(str(state.best_model_checkpoint).rpartition("-")[2])
    passed, busy = time.perf_counter() - start, time.process_time() - used
    return Fitted(state.epoch, state.global_step, best, state.best_metric, passed, busy)


def _settings(choices: Choices, pairs: int, new: str) -> dict[str, Any]:
    """The trainer's arguments: evaluations at equal intervals, a checkpoint at each, the best checkpoint at the end.

    `new` is the name pattern of the weights with `head_rate`.
    """
    import torch

    epoch = ceil(pairs / choices.batch)
    every = max(1, min(round(epoch / choices.evaluations), int(epoch * choices.epochs)))
    return {
        "num_train_epochs": choices.epochs, "per_device_train_batch_size": choices.batch,
        "learning_rate": choices.rate, "learning_rate_mapping": {new: choices.head_rate} if choices.head_rate else {},
        "warmup_steps": choices.warmup, "lr_scheduler_type": "linear",
        "seed": choices.seed, "data_seed": choices.seed, "bf16": choices.bf16,
        "eval_strategy": "steps", "eval_steps": every,
        "save_strategy": "steps", "save_steps": every, "save_total_limit": 1, "save_only_model": True,
        "load_best_model_at_end": True, "metric_for_best_model": METRIC, "greater_is_better": True,
        "use_cpu": not torch.cuda.is_available(), "report_to": [], "disable_tqdm": True, "logging_steps": every,
    }  # fmt: skip


def _rows(pairs: Sequence[SentencePair]) -> Any:
    from datasets import Dataset

    columns = {"first": [p.first for p in pairs], "second": [p.second for p in pairs]}
    return Dataset.from_dict({**columns, "label": [int(p.label or 0) for p in pairs]})


@cache
def _evaluator() -> type:
    from sentence_transformers.base.evaluation import BaseEvaluator

    class DevFigures(BaseEvaluator):
        """F1 and accuracy of the model in training."""

        def __init__(self, score: Callable[[], Figures]) -> None:
            super().__init__()  # type: ignore[no-untyped-call]
            self.score, self.primary_metric = score, METRIC

        def __call__(self, *_: Any, **__: Any) -> dict[str, float]:
            found = self.score()
            return {METRIC: found.f1, "accuracy": found.accuracy}

    return DevFigures
