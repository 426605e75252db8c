"""A softmax head over the vectors u and v of two texts, trained with its encoder and saved with it.

    head = PairHead(model.get_embedding_dimension(), features=("|u-v|", "u*v"))
    trainer = PairHeadTrainer(model=model, train_dataset=pairs, loss=PairHeadLoss(model, head), args=arguments)
    trainer.train()
    model.save("./mine")  # with mine/pair_head/: `encheck run --model=./mine` decides by it

SBERT reads (u, v, |u-v|) (Reimers and Gurevych 2019). "Predicate-Argument Based Bi-Encoder for Paraphrase
Identification" reads (|u-v|, u*v), where the order of the two texts cannot matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from encheck.errors import UsageError
from encheck.system.files import write_text, write_whole
from encheck_papers.pair_head import (
    CONFIG,
    FOLDER,
    SBERT,
    WEIGHTS,
    checked_features,
    config_text,
    part_of,
    read_head,
)

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer
    from torch import Tensor
    from torch.nn import Module

    Trainer = SentenceTransformerTrainer
else:
    Module = Trainer = object  # the final classes have torch's, which takes seconds to import

NAMES = ("PairHead", "PairHeadLoss", "PairHeadTrainer")
LEAST_CLASSES = 2


class _PairHead(Module):
    """What `PairHead` adds to torch's Module."""

    def __init__(self, dimension: int, *, classes: int = 2, features: Sequence[str] = SBERT) -> None:
        from torch.nn import Linear

        super().__init__()
        for name, found, least in (("dimension", dimension, 1), ("classes", classes, LEAST_CLASSES)):
            if not isinstance(found, int) or found < least:
                raise UsageError(f"{name} is {found!r}, but should be a whole number of at least {least}")
        self.dimension, self.classes, self.features = dimension, classes, checked_features(features)
        self.linear = Linear(len(self.features) * dimension, classes)

    @property
    def symmetric(self) -> bool:
        """Whether the order of the two texts cannot matter: the head reads neither u nor v alone."""
        return not {"u", "v"} & set(self.features)

    def forward(self, u: Tensor, v: Tensor) -> Tensor:
        """Logits of each pair, shape [pairs, classes]; u and v have shape [pairs, dimension].

        UsageError for vectors of the wrong shape.
        """
        import torch

        if u.shape != v.shape or u.ndim != 2 or u.shape[1] != self.dimension:
            raise UsageError(
                f"u has shape {tuple(u.shape)} and v {tuple(v.shape)}, but both should be [pairs, {self.dimension}]"
            )
        read = torch.cat([part_of(u, v, name) for name in self.features], dim=1)
        logits: Tensor = self.linear(read.to(self.linear.weight.dtype))
        return logits

    def count_parameters(self, *, biases: bool = False) -> int:
        """The number of weights in the head, by default without biases, as in Table 3 of the paper above.

        There, (|u-v|, u*v) with 1,536 instead of 768 dimensions and the 768 weights of the attention over spans make
        3,840 parameters more than in SBERT.
        """
        return self.linear.weight.numel() + (self.linear.bias.numel() if biases else 0)

    def save(self, folder: str | Path) -> None:
        """Write `pair_head/` into a checkpoint's folder: the weights, then the config that completes them."""
        from safetensors.torch import save

        to = Path(folder) / FOLDER
        to.mkdir(parents=True, exist_ok=True)
        tensors = {n: p.detach().float().cpu().contiguous() for n, p in self.linear.named_parameters()}
        (to / CONFIG).unlink(missing_ok=True)  # no head until the end, so none is a mix of two
        with write_whole(to / WEIGHTS) as file:
            file.write(save(tensors))
        write_text(to / CONFIG, config_text(dimension=self.dimension, classes=self.classes, features=self.features))

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """The head of a checkpoint's folder; ModelError if it is half-written, or its weights do not fit."""
        found = read_head(Path(folder))
        made = cls(found.dimension, classes=found.classes, features=found.features)
        made.take(folder)
        return made

    def take(self, folder: str | Path) -> None:
        """Load the weights of a checkpoint's head; ModelError if it is broken, UsageError if the head differs."""
        import torch

        found = read_head(Path(folder))
        theirs, mine = ((one.dimension, one.classes, one.features) for one in (found, self))
        if theirs != mine:
            raise UsageError(f"{Path(folder) / FOLDER} is a head of {theirs}, but should be one of {mine}")
        with torch.no_grad():
            self.linear.weight.copy_(torch.from_numpy(found.weight))
            self.linear.bias.copy_(torch.from_numpy(found.bias))


class _PairHeadLoss(Module):
    """What `PairHeadLoss` adds to torch's Module."""

    def __init__(
        self, model: SentenceTransformer, head: _PairHead, *, class_weights: Sequence[float] | None = None
    ) -> None:
        import torch

        super().__init__()
        _refuse_other_dimension(model, head)
        weights = None if class_weights is None else torch.tensor(list(class_weights), dtype=torch.float32)
        if weights is not None and (len(weights) != head.classes or not bool((weights > 0).all())):
            raise UsageError(f"class_weights is {class_weights!r}, but should be {head.classes} numbers above 0")
        self.model, self.head = model, head.to(model.device)
        self.entropy = torch.nn.CrossEntropyLoss(weight=weights)
        keep_head(model, head)

    def forward(self, sentence_features: Iterable[dict[str, Tensor]], labels: Tensor) -> Tensor:
        """Mean cross-entropy of the batch; from two columns of texts, and the number of each pair's class."""
        columns = list(sentence_features)
        if len(columns) != 2:
            raise UsageError(f"the data have {len(columns)} columns of text, but a pair has 2")
        u, v = (self.model(column)["sentence_embedding"] for column in columns)
        loss: Tensor = self.entropy(self.head(u, v).float(), labels.view(-1).long())
        return loss

    def get_config_dict(self) -> dict[str, Any]:
        """The entry in the model card."""
        return {"features": list(self.head.features), "classes": self.head.classes}


def _refuse_other_dimension(model: SentenceTransformer, head: _PairHead) -> None:
    found = model.get_embedding_dimension()
    if found is not None and found != head.dimension:
        raise UsageError(f"the head is for vectors of {head.dimension} dimensions, but the model gives {found}")


def keep_head(model: SentenceTransformer, head: _PairHead) -> None:
    """Make `model.save`, and so a trainer's checkpoints, also write the head into the same folder."""
    plain = model.save if not isinstance(model.save, partial) else model.save.args[0]
    model.save = partial(_save_both, plain, head)  # type: ignore[method-assign]


def _save_both(plain: Callable[..., None], head: _PairHead, path: str, *args: Any, **named: Any) -> None:
    plain(path, *args, **named)
    head.save(path)


class _PairHeadTrainer(Trainer):
    """What `PairHeadTrainer` adds to sentence-transformers' trainer."""

    def _load_from_checkpoint(self, checkpoint_path: str) -> None:  # type: ignore[override] # as sentence-transformers
        head: _PairHead | None = getattr(self.loss, "head", None)
        if head is None:
            raise UsageError("PairHeadTrainer needs loss=PairHeadLoss(model, head)")
        read_head(Path(checkpoint_path))  # a broken one is refused before the encoder is replaced
        super()._load_from_checkpoint(checkpoint_path)
        head.take(checkpoint_path)


@cache
def _classes() -> Mapping[str, type]:
    import torch
    from sentence_transformers import SentenceTransformerTrainer

    class PairHead(_PairHead, torch.nn.Module):
        """A softmax classifier over parts of two vectors: `features` are some of u, v, |u-v| and u*v, in input order.

        `dimension` is that of the vectors. In a head with two classes, the second means "the same". ModelError for an
        unknown part, UsageError for any other wrong value.
        """

        __qualname__ = "PairHead"  # where pickle finds it: see __getattr__ of this module

    class PairHeadLoss(_PairHeadLoss, torch.nn.Module):
        """Cross-entropy of a head over the vectors of two texts, for sentence-transformers' trainer.

        The head's weights are trained with the model's, and every later save of the model includes the head
        (`pair_head/`). `class_weights`, one per class, can give rare classes more weight. UsageError if the head has
        the wrong dimension for the vectors.

        A trainer that loads its best checkpoint at the end, or resumes from one, has to be a `PairHeadTrainer`:
        sentence-transformers' own trainer loads only the encoder.
        """

        __qualname__ = "PairHeadLoss"

    class PairHeadTrainer(_PairHeadTrainer, SentenceTransformerTrainer):
        """sentence-transformers' trainer, which also loads a checkpoint's head when it loads its encoder."""

        __qualname__ = "PairHeadTrainer"

    return {one.__name__: one for one in (PairHead, PairHeadLoss, PairHeadTrainer)}


def __getattr__(name: str) -> Any:
    """The three classes, made on first use, since their base classes import torch."""
    if name not in NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _classes()[name]


def __dir__() -> Iterator[str]:
    yield from (*globals(), *NAMES)
