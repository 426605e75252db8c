"""Items of the downstream tasks: texts with classes, in the order in which SentEval's toolkit makes its folds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from encheck.datasets.dataset import Dataset
from encheck.datasets.senteval import TASKS
from encheck.errors import NothingToMeasure
from encheck.items.variants import Maker
from encheck.scoring.classified import Classified
from encheck.scoring.item import Items
from encheck.scoring.splits import TEST
from encheck.statistics.regression import fewest_for_folds

DEVELOPMENT = "validation"
Builder = Callable[[Dataset, int | str, Maker], Items]


def classified(dataset: Dataset, level: int | str, _maker: Maker) -> Items:
    """The texts of the task that the level names: of its test part, with the others to learn from, else all in folds.

    NothingToMeasure where the data lack the task, and where a sample leaves a class too small for the folds.
    """
    if level not in dataset.tasks:
        raise NothingToMeasure(
            f"{dataset.name} has no task {level}: see --data=senteval:PATH ({', '.join(TASKS)})",
            needs="" if dataset.tasks else "SentEval's downstream tasks",
        )
    texts = sorted(dataset.tasks[str(level)], key=_place)
    measured = tuple(one for one in texts if not one.split or one.split in TEST)
    others = tuple(one for one in texts if one.split and one.split not in TEST)
    is_nested = not others
    if any(one.split == DEVELOPMENT for one in others):
        _refuse_one_class(dataset.name, str(level), [one for one in others if one.split != DEVELOPMENT])
    else:
        _refuse_few(dataset.name, str(level), measured if is_nested else others, nested=is_nested)
    return Items(measured, tuning=others)


def _place(one: Classified) -> tuple[int, int, str]:
    """Shorter texts first, then by class, as the toolkit sorts them: which folds there are hangs on it."""
    return len(one.first.split()), len(one.second.split()), one.label


def _refuse_one_class(name: str, task: str, texts: Sequence[Classified]) -> None:
    if len(labels := {one.label for one in texts}) < 2:
        found = f"texts of the class {', '.join(labels)} alone" if labels else "no text"
        raise NothingToMeasure(f"{task} of {name} has {found} to learn from: take a larger --sample")


def _refuse_few(name: str, task: str, texts: Sequence[Classified], *, nested: bool) -> None:
    counts, fewest = Counter(one.label for one in texts), fewest_for_folds(nested=nested)
    label, count = min(counts.items(), key=lambda one: one[1])
    if count < fewest or len(counts) < 2:
        raise NothingToMeasure(
            f"{task} of {name} has {count} texts of the class {label}, but its folds need {fewest} of each of at least "
            "two classes: take a larger --sample"
        )
