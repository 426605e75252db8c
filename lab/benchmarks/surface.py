"""How often a scorer that goes by the surface alone is called one that sees meaning: the real figures and verdicts.

    python lab/benchmarks/surface.py [--runs 200] [--items 300] [--of groups]

Sentences of words in a row are edited without any meaning: a word is exchanged, put in, or moved, or two change places.
Of each triplet one edit has more such changes than the other. In a share of the triplets that is the one which should
be far (the surface favours the kept text), in the others the one which should be near. With equal magnitudes it is
always 2 changes against 1; with unequal ones one side has 6 against 1. A crossed group has a triplet of each sort.

A scorer says its similarity, with normal noise of so many standard deviations of its differences at equal magnitudes.
It is called meaningful where the real figure's interval lies above one half. By construction none is: at most 2.5%
should be, as the interval has two sides. Items are independent, a cluster each.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.language.lexicon.load import load_lexicon
from encheck.metrics import adjusted_rate, directions_mean
from encheck.metrics.pairs import margin_wins
from encheck.scoring.scores import CrossedScores, MarginScores, Scale
from encheck.scoring.text_scorers import SurfaceScorer
from encheck.scoring.triplets import (
    EDIT_DISTANCE_COLUMN,
    Triplet,
    TripletScores,
    nearer_by_edit_distance,
    surface_differences,
)
from encheck.statistics.bootstrap import Resampler
from encheck.surface import SHARED, WEIGHTED, Frequencies
from encheck.types import Estimate, FloorAndAim
from encheck.verdict import decide_verdict

Floats = NDArray[np.float64]
Draw = Callable[..., Any]
SCORERS = (*SHARED, *WEIGHTED)
POOL, VOCABULARY = 600, 400
CHANCE, TRIES = 0.5, 20


@dataclass(frozen=True)
class Setting:
    """One simulated situation: how many changes the larger edit has on either side, the share of triplets whose surface
    favours the kept text, and the noise."""

    kept: int = 2
    changed: int = 2
    share: float = 0.5
    noise: float = 0.0

    @property
    def name(self) -> str:
        """How the table has it."""
        sizes = (
            "equal" if self.kept == self.changed else "kept larger" if self.kept > self.changed else "changed larger"
        )
        return f"{sizes}, {self.share:.0%} favour kept, noise {self.noise:g}"


SIZES = ((2, 2), (2, 6), (6, 2))
SHARES, NOISES = (0.2, 0.5, 0.8), (0.0, 0.5, 2.0)
SETTINGS = tuple(Setting(*size, share, noise) for size, share, noise in itertools.product(SIZES, SHARES, NOISES))


@cache
def vocabulary() -> tuple[str, ...]:
    """Nouns of the lexicon, drawn at random, the most frequent of them first."""
    nouns = [noun for noun in load_lexicon().lemmas("n") if noun.isalpha()]
    some = [nouns[i] for i in np.random.default_rng(0).choice(len(nouns), 5 * VOCABULARY, replace=False)]
    return tuple(sorted(some, key=lambda noun: -load_lexicon().word_frequency(noun))[:VOCABULARY])


def word(rng: np.random.Generator) -> str:
    """A word, the first ones more often: Zipf's law."""
    shares = 1 / np.arange(1, VOCABULARY + 1)
    return vocabulary()[rng.choice(VOCABULARY, p=shares / shares.sum())]


def changed(tokens: Sequence[str], times: int, rng: np.random.Generator) -> list[str]:
    """The tokens with so many changes made at random."""
    found = list(tokens)
    for _ in range(times):
        at, other = rng.integers(len(found), size=2)
        match rng.integers(4):
            case 0:
                found[at] = word(rng)
            case 1:
                found.insert(at, word(rng))
            case 2:
                found.insert(at, found.pop(other))
            case _:
                found[at], found[other] = found[other], found[at]
    return found


@cache
def pool(near: int, far: int, size: int = POOL) -> tuple[Triplet, ...]:
    """Triplets with so many changes in the near and in the far text."""
    rng = np.random.default_rng([near, far])
    found = []
    for i in range(size):
        source = [word(rng) for _ in range(rng.integers(8, 18))]
        texts = (" ".join(some) for some in (source, changed(source, near, rng), changed(source, far, rng)))
        found.append(Triplet(f"{near}/{far}/{i}", *texts, cluster=""))  # type: ignore[arg-type]
    return tuple(found)


@cache
def sides_of(near: int, far: int, size: int = POOL, *, favours: int) -> NDArray[np.intp]:
    """Places of the triplets that can be a side of a crossed group: the edit distance favours one text."""
    return np.flatnonzero([nearer_by_edit_distance(t.source, t.near, t.far) == favours for t in pool(near, far, size)])


@cache
def margins(scorer: str, near: int, far: int, size: int = POOL) -> Floats:
    """How much nearer a scorer finds the near text of each triplet of a pool, shape [size]."""
    triplets = pool(near, far, size)
    sources = [t.source for t in triplets]
    score = similarity(scorer, size)
    return np.subtract(*(score(sources, [getattr(t, side) for t in triplets]) for side in ("near", "far")))


@cache
def similarity(scorer: str, size: int = POOL) -> Callable[[Sequence[str], Sequence[str]], Floats]:
    """A scorer's similarity of pairs; those that count documents have seen the pools of equal magnitudes."""
    texts = (text for t in (*pool(1, 2, size), *pool(2, 1, size)) for text in (t.source, t.near, t.far))
    return SurfaceScorer(scorer, Frequencies.of(texts) if scorer in WEIGHTED else None).score_pairs


def drawn(
    scorer: str, setting: Setting, rng: np.random.Generator, *, items: int, size: int = POOL, crossed: bool = False
) -> MarginScores:
    """Scores of triplets that were drawn from the pools of a setting; `crossed`: of those that a group may have."""
    favours = rng.random(items) < setting.share
    found, scored = [], np.zeros(items)
    for side, sizes in ((True, (1, setting.kept)), (False, (setting.changed, 1))):
        some = sides_of(*sizes, size, favours=1 if side else -1) if crossed else np.arange(size)
        places = rng.choice(some, int((favours == side).sum()))
        scored[favours == side] = margins(scorer, *sizes, size)[places]
        found.append(iter([pool(*sizes, size)[i] for i in places]))
    noise = setting.noise * margins(scorer, 1, 2, size).std() * rng.standard_normal(items)
    triplets = tuple(replace(next(found[0 if side else 1]), cluster=str(i)) for i, side in enumerate(favours))
    return MarginScores(scored + noise, np.zeros(items), resampler(items), Scale(0.0), items=triplets)


def drawn_groups(scorer: str, setting: Setting, rng: np.random.Generator, *, items: int) -> CrossedScores:
    """Scores of crossed groups: each has a triplet of either pool."""
    halves = [drawn(scorer, replace(setting, share=share), rng, items=items, crossed=True) for share in (1.0, 0.0)]
    by_turns = np.arange(2 * items).reshape(2, items).T.ravel()
    near, far = (np.concatenate([getattr(half, side) for half in halves])[by_turns] for side in ("near", "far"))
    both = [triplet for half in halves for triplet in half.items]
    twice = resampler(items).select(np.repeat(np.arange(items), 2))
    sides = TripletScores(near, far, twice, Scale(0.0), items=tuple(both[i] for i in by_turns))
    return CrossedScores(sides, resampler(items), Scale(0.0))


@cache
def resampler(items: int) -> Resampler:
    """A cluster an item."""
    return Resampler([str(i) for i in range(items)])


def is_called_meaningful(estimate: Estimate) -> bool:
    """Whether the whole interval is above one half, by the function that decides in a run."""
    verdict, _ = decide_verdict(estimate, FloorAndAim(aim=CHANCE))
    return verdict == "pass" and estimate.low > CHANCE


def runs(
    figure: Callable[[Any], Estimate], scorer: str, setting: Setting, *, times: int, items: int, of: Draw = drawn
) -> Iterator[Estimate]:
    """The figure of one scorer in so many draws of a setting, of triplets or (`drawn_groups`) of crossed groups."""
    rng = np.random.default_rng([*scorer.encode(), *setting.name.encode()])
    return (figure(of(scorer, setting, rng, items=items)) for _ in range(times))


def detected(scores: CrossedScores) -> Estimate:
    """What says of crossed groups whether meaning is detected."""
    return adjusted_rate(scores.sides)


# What was tried beside it: the mean figure of each, which should be one half


def mean_of_strata(scores: MarginScores) -> float:
    """The mean of the rates where the surface favours the kept and the changed text."""
    wins, sides = margin_wins(scores.margins), np.sign(surface_differences(scores.items)[:, EDIT_DISTANCE_COLUMN])
    return float(np.mean([wins[sides == side].mean() for side in (1, -1)]))


def logistic_at_zero(scores: MarginScores) -> float:
    """Logistic regression of the win on the differences in units of their root mean square, ridge 1, read at zero."""
    from sklearn.linear_model import LogisticRegression

    found, wins = surface_differences(scores.items), margin_wins(scores.margins)
    x = found / np.maximum(np.sqrt((found**2).mean(axis=0)), 1e-9)
    twice, labels = np.concatenate([x, x]), np.repeat([1, 0], len(x))
    fitted = LogisticRegression(C=1.0).fit(twice, labels, sample_weight=np.concatenate([wins, 1 - wins]))
    return float(1 / (1 + np.exp(-fitted.intercept_[0])))


TRIED: dict[str, Callable[[MarginScores], float]] = {
    "share won": lambda scores: float(margin_wins(scores.margins).mean()),
    "mean of strata": mean_of_strata,
    "logistic": logistic_at_zero,
}


def of_triplets(*, times: int, items: int) -> Iterator[str]:
    """A row a setting: how often each scorer is called meaningful, and the mean figure of the edit distance."""
    yield f"| triplets | {' | '.join(SCORERS)} | adjusted | {' | '.join(TRIED)} |"
    yield "| --- " * (len(SCORERS) + len(TRIED) + 2) + "|"
    for setting in SETTINGS:
        found = {s: [*runs(adjusted_rate, s, setting, times=times, items=items)] for s in SCORERS}
        mean = float(np.nanmean([e.value for e in found["edit-distance"]]))
        rng = np.random.default_rng(1)
        tried = [drawn("edit-distance", setting, rng, items=items) for _ in range(TRIES)]
        means = [mean, *(float(np.mean([figure(scores) for scores in tried])) for figure in TRIED.values())]
        yield f"| {setting.name} | {' | '.join([*map(called, found.values()), *(f'{m:.2f}' for m in means)])} |"


def of_groups(*, times: int, items: int) -> Iterator[str]:
    """A row a setting: how often each scorer is called meaningful on crossed groups, and by their plain mean."""
    yield f"| crossed groups | {' | '.join(SCORERS)} | by the plain mean: {' | '.join(SCORERS)} |"
    yield "| --- " * (2 * len(SCORERS) + 1) + "|"
    for setting in (s for s in SETTINGS if s.share == CHANCE):
        found = [
            [*runs(figure, scorer, setting, times=times, items=items, of=drawn_groups)]
            for figure in (detected, directions_mean)
            for scorer in SCORERS
        ]
        yield f"| {setting.name.replace(', 50% favour kept', '')} | {' | '.join(map(called, found))} |"


def called(found: Sequence[Estimate]) -> str:
    """The share of estimates that are called meaningful, in per cent."""
    return f"{sum(map(is_called_meaningful, found)) / len(found):.1%}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--items", type=int, default=300)
    parser.add_argument("--of", choices=("triplets", "groups", "both"), default="both")
    args = parser.parse_args()
    size = {"times": args.runs, "items": args.items}
    tables = {"triplets": of_triplets, "groups": of_groups}
    for name, table in tables.items():
        for line in table(**size) if args.of in (name, "both") else ():
            print(line, flush=True)


if __name__ == "__main__":
    main()
