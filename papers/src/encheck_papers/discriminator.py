"""A discriminator of machine-written sentences: RISE's first stage (COLING 2022, section 3).

`encheck_papers.cross_fitting` uses it to score texts that it was not trained on.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.checkpoints.pretrained import quiet_transformers
from encheck.errors import ModelError, UsageError
from encheck.scoring.splits import assign_folds
from encheck.system.files import Scratch
from encheck_papers.cross_fitting import Scorer, Sentences
from encheck_papers.reweighting import HUMAN

Floats = NDArray[np.float64]
Labelled = list[tuple[str, int]]  # texts with their class
DEV_FOLDS = 10  # one of them is the development part
T = TypeVar("T")


def truncated(human: Sequence[T], machine: Sequence[T], *, seed: int | None = None) -> tuple[list[T], list[T]]:
    """Both classes cut to the size of the smaller class: drawn by seed, or the first entries, as the authors do.

    >>> truncated(["a", "b", "c"], ["d"])
    (['a'], ['d'])
    """
    count = min(len(human), len(machine))
    return _drawn(human, count, seed), _drawn(machine, count, seed)


def _drawn(texts: Sequence[T], count: int, seed: int | None) -> list[T]:
    if seed is None:
        return list(texts[:count])
    chosen = np.random.default_rng(seed).permutation(len(texts))[:count]
    return [texts[i] for i in sorted(chosen.tolist())]


@dataclass(frozen=True)
class Discriminator:
    """A sequence classifier of transformers with two classes, on any backbone that AutoModelForSequenceClassification
    loads: a name or a folder, also of sentence-transformers. The numbers are the paper's.

    The checkpoint with the lowest loss on the development part is kept; that part is a tenth of the clusters, which are
    not trained on. With `shuffle`, the texts left out to make both classes equal in size are random; the authors keep
    the first ones. `device` is "cpu", or None for a GPU if there is one. Training needs accelerate.

    The authors' code leaves evaluation mode on after the first epoch, so dropout is off from then on. Here it stays on.
    """

    backbone: str
    _: KW_ONLY
    epochs: int = 5
    learning_rate: float = 1e-5
    batch_size: int = 32
    max_length: int = 128
    warmup: float = 0.1
    shuffle: bool = True
    seed: int = 0
    device: str | None = None

    def fit(self, human: Sentences, machine: Sentences) -> Scorer:
        """Train on both classes, truncated to one size.

        ModelError for a backbone that cannot be loaded; UsageError for too few clusters, and without accelerate.
        """
        if importlib.util.find_spec("accelerate") is None:
            raise UsageError("training a discriminator needs accelerate: pip install 'sentence-transformers[train]'")
        tokenizer, model = self._loaded()
        learn, dev = self._parts(human, machine)
        best = self._trained(tokenizer, model, learn, dev)
        return lambda texts: self._logits(best, tokenizer, texts)

    def _parts(self, human: Sentences, machine: Sentences) -> tuple[Labelled, Labelled]:
        """Texts with their class, for training and for development; each part has equally many of both classes."""
        names = [*human.clusters, *machine.clusters]
        is_dev = assign_folds(names, folds=DEV_FOLDS) == 0
        split = len(human.texts)
        parts = []
        for chosen in (~is_dev, is_dev):
            sides = human.part(chosen[:split]).texts, machine.part(chosen[split:]).texts
            both = truncated(*sides, seed=self.seed if self.shuffle else None)
            parts.append([(text, label) for label, side in zip((HUMAN, 1 - HUMAN), both, strict=True) for text in side])
        if not all(parts):
            raise UsageError(
                f"a discriminator learns from {len(parts[0])} sentences and is chosen by {len(parts[1])}, but needs "
                "some for both: give more clusters, each class in most of them"
            )
        return parts[0], parts[1]

    def _loaded(self) -> tuple[Any, Any]:
        """Tokenizer, and the backbone under a new head; the model's own code does not run."""
        from transformers import AutoModelForSequenceClassification, AutoTokenizer, set_seed

        set_seed(self.seed)
        try:
            with quiet_transformers():  # no warning about weights that the new head lacks
                tokenizer = AutoTokenizer.from_pretrained(self.backbone)
                model = AutoModelForSequenceClassification.from_pretrained(
                    self.backbone, num_labels=2, ignore_mismatched_sizes=True
                )
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(f"the discriminator's backbone {self.backbone!r} cannot be loaded: {error}") from error
        if tokenizer.pad_token_id is None:
            raise ModelError(
                f"the tokenizer of {self.backbone!r} has no pad token, but sentences are padded in batches"
            )
        model.config.pad_token_id = tokenizer.pad_token_id
        return tokenizer, model

    def _trained(self, tokenizer: Any, model: Any, learn: Labelled, dev: Labelled) -> Any:
        """The checkpoint with the lowest loss on the development part, in evaluation mode."""
        from transformers import DataCollatorWithPadding, PrinterCallback, Trainer

        with Scratch() as folder, quiet_transformers():
            trainer = Trainer(
                model=model,
                args=self._arguments(Path(folder), len(learn)),
                train_dataset=self._rows(tokenizer, learn),
                eval_dataset=self._rows(tokenizer, dev),
                data_collator=DataCollatorWithPadding(tokenizer),
            )
            trainer.remove_callback(PrinterCallback)
            trainer.train()
        return trainer.model.eval()  # type: ignore[union-attr]

    def _arguments(self, folder: Path, rows: int) -> Any:
        from transformers import TrainingArguments

        steps = self.epochs * -(-rows // self.batch_size)
        return TrainingArguments(
            output_dir=str(folder), num_train_epochs=self.epochs, learning_rate=self.learning_rate,
            per_device_train_batch_size=self.batch_size, per_device_eval_batch_size=self.batch_size,
            warmup_steps=int(self.warmup * steps), seed=self.seed, eval_strategy="epoch", save_strategy="epoch",
            save_total_limit=1, save_only_model=True, load_best_model_at_end=True, metric_for_best_model="eval_loss",
            greater_is_better=False, use_cpu=self.device == "cpu", report_to=[], disable_tqdm=True,
            logging_strategy="no", dataloader_pin_memory=False,
        )  # fmt: skip

    def _rows(self, tokenizer: Any, texts: Labelled) -> list[dict[str, Any]]:
        coded = self._coded(tokenizer, [text for text, _ in texts])
        return [{**row, "labels": label} for row, (_, label) in zip(coded, texts, strict=True)]

    def _coded(self, tokenizer: Any, texts: Sequence[str]) -> list[dict[str, Any]]:
        coded = tokenizer(list(texts), truncation=True, max_length=self.max_length)
        return [{name: column[i] for name, column in coded.items()} for i in range(len(texts))]

    def _logits(self, model: Any, tokenizer: Any, texts: Sequence[str]) -> Floats:
        """Logits of the texts, in batches of similar length."""
        import torch

        if not texts:
            return np.zeros((0, 2))
        coded, found = self._coded(tokenizer, texts), np.zeros((len(texts), 2))
        order = sorted(range(len(texts)), key=lambda i: len(coded[i]["input_ids"]))
        for start in range(0, len(order), self.batch_size):
            some = order[start : start + self.batch_size]
            batch = tokenizer.pad([coded[i] for i in some], return_tensors="pt").to(model.device)
            with torch.inference_mode():
                found[some] = model(**batch).logits.float().cpu().numpy()
        return found
