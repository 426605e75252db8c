"""Queries whose first answers differ, judged by people: are the new model's answers worse, and by how much?

Where two models have the same first answer, neither loses. So the loss of recall@1 over all queries is the share of
queries whose first answer differs, times the mean over these of +1 (the old answer is better), -1 (the new one) and 0
(equal, or neither is right). The share is known from all queries; the mean from those that were judged, which come in
random order.

*Block*: the new model loses for certain (H0: the loss is 0 or less), and loses `least` or more by the estimate. At a
loss of 0 this is a sign test of the decisive answers. *Pass*: a loss of delta is ruled out (H0: it is delta or more),
and the estimate is below `least`: half of delta where another model is gated, delta where one was changed. So no
candidate can be both, and what is blocked looks as bad as what may not pass. Both are score tests of a difference
of paired proportions, ties included (Tango 1998, Stat. Med. 17), made smaller by the design effect of clusters (Rao and
Scott 1992, Biometrics 48) and by what is not known of the share; Student's t has as many degrees of freedom as clusters
of their weights are worth, less one. Clusters are those that the log names. Where it names none, they are the queries
with the same first answer before, and those with the same first answer now (two-way: Cameron, Gelbach and Miller 2011,
JBES 29), since a right article that is lost is lost for all who ask for it.

Looks are fixed before the first answer: after 20, 40, 80 ... answers and at the end. They share the error rate of a
95% interval by a Pocock-like spending function (Lan and DeMets 1983), so that each of the two errors, blocking what
lost nothing and passing what lost delta, happens in at most 2.5% of cases (2.5% / K of the best of K candidates). The
interval is the repeated one (Jennison and Turnbull 1989, JRSS B 51): it holds whenever one stops.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.gating.answers import ALPHA, DELTA, judgements_needed, share
from encheck.gating.types import Judged, Outcome, Share
from encheck.statistics.paired import t_cdf, tango_variance
from encheck.statistics.sequential import bounds
from encheck.types import content_hash

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Answer = Literal["before", "after", "equal", "neither"]
LOSS: Mapping[Answer, int] = {"before": 1, "after": -1, "equal": 0, "neither": 0}
FIRST_LOOK, LAST_STEP = 20, 1.4  # the last look but one leaves at least that factor to the last
LOST_SHOWN = 3
REPEATS = 5  # pairs that are shown again
Pair = tuple[str, str, str]  # the query, then both documents, sorted


def pair_of(query: str, one: str, other: str) -> Pair:
    """A query with two answers, whichever model gave which."""
    first, second = sorted((one, other))
    return query, first, second


@dataclass(frozen=True, slots=True)
class Asked:
    """A query of the log and its first answers under the baseline and the candidate.

    `query`, `before` and `after` are hashes of texts, so that they stand for the same in another run.
    """

    item: str
    weight: int
    cluster: str
    query: str
    before: str
    after: str

    @property
    def differs(self) -> bool:
        """Whether the two models answer differently."""
        return self.before != self.after

    @property
    def pair(self) -> Pair:
        """The query with both answers."""
        return pair_of(self.query, self.before, self.after)

    def is_swapped(self, seed: int, *, again: bool = False) -> bool:
        """Whether the candidate's answer is shown first: by chance, drawn anew where it is shown `again`."""
        key = content_hash(f"{'again' if again else 'side'}/{seed}", *self.pair)
        return (int(key, 16) % 2 == 1) == (self.before < self.after)


@dataclass(frozen=True)
class Pool:
    """All queries of a log, of which those whose answers differ are asked in an order that `seed` makes random.

    The order depends on the queries alone: another candidate asks for those first that this one asked for first.
    A loss of `delta` has to be ruled out, and one of `least` blocks; `alpha` is the error of both together.
    """

    queries: tuple[Asked, ...]
    seed: int = 0
    delta: float = DELTA
    least: float = DELTA
    alpha: float = ALPHA

    @cached_property
    def order(self) -> tuple[Asked, ...]:
        """The queries to be judged, in their order."""
        differ = [q for q in self.queries if q.differs]
        return tuple(sorted(differ, key=lambda q: content_hash(str(self.seed), q.query)))

    @cached_property
    def share(self) -> Share:
        """The share of queries that are in the pool, as `share` of a search without labels."""
        changed = np.array([q.differs for q in self.queries], bool)
        weights = np.array([q.weight for q in self.queries], np.float64)
        clusters = [q.cluster for q in self.queries]
        return share("recall@1", "the first answer changes", changed, weights, clusters, level=1 - self.alpha)

    @cached_property
    def names_clusters(self) -> bool:
        """Whether the log says which queries belong together."""
        return len({q.cluster for q in self.queries}) < len(self.queries)

    @cached_property
    def looks(self) -> tuple[int, ...]:
        """The numbers of answers after which a decision may fall."""
        return looks(self.share, np.array([q.weight for q in self.order], np.float64), delta=self.delta)

    @property
    def repeats(self) -> tuple[tuple[Asked, int], ...]:
        """The queries that are shown again before the first look, each with the number of answers after which."""
        first = self.looks[0] if self.looks else 0
        count, step = min(REPEATS, first // 2), max(1, first // (2 * REPEATS))
        return tuple((self.order[k * step], first - (count - 1 - k) * step) for k in range(count))

    @cached_property
    def sample(self) -> Sample:
        """What the test needs to know of the queries in their order."""
        ways = [[q.cluster for q in self.order]]
        if not self.names_clusters:
            ways = [[q.before for q in self.order], [q.after for q in self.order]]
        weights = np.array([q.weight for q in self.order], np.float64)
        return Sample(self.share.value, self.share.worth, weights, tuple(_codes(names) for names in ways))

    @property
    def fingerprint(self) -> str:
        """Changes with any query, answer, weight or cluster, and with the seed."""
        digest = hashlib.sha256(str((self.seed, self.delta, self.least, self.alpha)).encode())
        for q in self.queries:
            digest.update(repr((q.query, q.before, q.after, q.weight, q.cluster)).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Sample:
    """The queries of a pool in their order: `weights` and, for each way to cluster them, `clusters`, of shape [m].

    `share` of all queries is in the pool, known as if from `worth` independent ones.
    """

    share: float
    worth: float
    weights: Floats
    clusters: tuple[Codes, ...]


def _codes(names: Sequence[str]) -> Codes:
    found: Codes = np.unique(np.asarray(names, dtype=str), return_inverse=True)[1].astype(np.intp)
    return found


def looks(pool: Share, weights: Floats, *, delta: float) -> tuple[int, ...]:
    """After how many answers to look: the last is the number by which a candidate that lost nothing passes in 80% of
    cases, where half of the answers are decisive; at most all of them.

    >>> looks(Share("", "", 0.142, 0.13, 0.155, 426, 3000.0), np.ones(426), delta=0.02)
    (20, 40, 80, 160, 254)
    """
    m = len(weights)
    if not m:
        return ()
    even = weights.sum() ** 2 / (m * float((weights**2).sum()))  # 1 where all weigh the same
    wanted = judgements_needed(pool.value, pool.worth, delta) / even
    most = min(m, max(FIRST_LOOK, ceil(min(wanted, m))))
    steps = takewhile(lambda n: n * LAST_STEP <= most, (FIRST_LOOK * 2**k for k in range(64)))
    return (*steps, most)


def judge(pool: Pool, answers: Mapping[str, Answer], *, baseline: str) -> Judged:
    """What the answers, by item, decide: at the first look that decides, else at the last that they reach."""
    found = [answers.get(q.item) for q in pool.order]
    answered = next((i for i, one in enumerate(found) if one is None), len(found))
    plan = pool.looks
    losses = np.array([LOSS[one] for one in found[:answered] if one], np.float64)
    outcome, reached = decide(pool.sample, plan, losses, delta=pool.delta, least=pool.least, alpha=pool.alpha)
    low, high = _interval(pool.sample, plan, losses[:reached], pool.alpha) if reached else (None, None)
    seen = found[:reached]
    worse = [q.item for q, one in zip(pool.order, seen, strict=False) if one == "before"]
    open_ = found[: plan[-1]].count(None) if plan and outcome == "inconclusive" else 0
    return Judged(
        outcome, baseline, pool.share.figure, pool.delta, plan, reached, answered, open_,
        old=seen.count("before"), new=seen.count("after"), equal=seen.count("equal"), neither=seen.count("neither"),
        loss=loss_of(pool.sample, losses[:reached]) if reached else None, low=low, high=high,
        lost=tuple(worse[:LOST_SHOWN]), least=pool.least, queries=len(pool.queries), changed=len(pool.order),
        better=found.count("after"), worse=found.count("before"), tied=found.count("equal") + found.count("neither"),
    )  # fmt: skip


def decide(
    sample: Sample, plan: Sequence[int], losses: Floats, *, delta: float, least: float, alpha: float = ALPHA
) -> tuple[Outcome, int]:
    """The outcome, and the look at which it fell, or the last one reached; `losses` are +1, -1 or 0, in order."""
    reached = 0
    for n, bound in zip(plan, _bounds(tuple(plan), alpha), strict=True):
        if n > len(losses):
            break
        reached = n
        any_loss, too_much = statistic(sample, losses[:n], np.array([0.0, delta]))
        loss = loss_of(sample, losses[:n])
        if any_loss >= bound and loss >= least:
            return "block", n
        if too_much <= -bound and loss < least:
            return "pass", n
    return "inconclusive", reached


def _bounds(plan: tuple[int, ...], alpha: float) -> tuple[float, ...]:
    return bounds(tuple(n / plan[-1] for n in plan), alpha=alpha) if plan else ()


def loss_of(sample: Sample, losses: Floats) -> float:
    """The loss over all queries that these answers show."""
    weights = sample.weights[: len(losses)]
    return sample.share * float(weights @ losses / weights.sum())


def statistic(sample: Sample, losses: Floats, theta: Floats) -> Floats:
    """z of H0: the loss over all queries is theta; positive where it is larger. Shape as `theta`.

    With the share p of queries in the pool, taken as theta where it is smaller, and m = theta / p, the variance of the
    loss is p^2 times that of the mean under a mean of m (Tango's, times the design effect), plus m^2 p (1 - p) / worth.
    """
    from scipy.special import ndtri

    weights = sample.weights[: len(losses)]
    n = weights.sum() ** 2 / float((weights**2).sum())
    mean = float(weights @ losses / weights.sum())
    up, down = (n * float(weights @ (losses == sign) / weights.sum()) for sign in (-1, 1))
    p = np.maximum(sample.share, theta)
    m = np.minimum(theta / p, 1.0)
    design, free = _clustering(sample, losses - mean, weights)
    spread = p**2 * design * tango_variance(n, up, down, -m) + m**2 * p * (1 - p) / sample.worth
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.nan_to_num((sample.share * mean - theta) / np.sqrt(spread), nan=0.0)
    far = np.abs(t)
    found: Floats = -np.sign(t) * ndtri(t_cdf(-far, free))
    return found


def _clustering(sample: Sample, residuals: Floats, weights: Floats) -> tuple[float, float]:
    """(design effect, at least 1; degrees of freedom) of the weighted mean whose residuals these are."""
    part = weights * residuals
    alone = float((part**2).sum())
    ways = [codes[: len(part)] for codes in sample.clusters]
    free = max(1.0, min(_worth(codes, weights) for codes in ways) - 1)
    if not alone:
        return 1.0, free
    sums = [_squares(codes, part) for codes in ways]
    if len(ways) == 2:  # the sum of both, less what they have in common
        both = ways[0] * (1 + int(ways[1].max())) + ways[1]
        sums.append(sum(sums) - _squares(np.unique(both, return_inverse=True)[1], part))
    return max(1.0, max(sums) / alone), free


def _worth(codes: Codes, weights: Floats) -> float:
    """How many clusters of the same weight these are worth."""
    sizes = np.bincount(codes, weights)
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def _squares(codes: Codes, part: Floats) -> float:
    """The sum of squares of the clusters' sums, with the correction for few clusters (CR1)."""
    sums = np.bincount(codes, part)
    clusters = int((np.bincount(codes) > 0).sum())
    return float((sums**2).sum()) * clusters / max(clusters - 1, 1)


def _interval(sample: Sample, plan: tuple[int, ...], losses: Floats, alpha: float) -> tuple[float, float]:
    """The losses that the tests at this look do not rule out, by bisection."""
    bound = _bounds(plan, alpha)[plan.index(len(losses))]
    grid = np.array([-1.0, -1.0]), np.array([1.0, 1.0])
    low, high = grid
    for _ in range(30):
        middle = (low + high) / 2
        z = _both_signs(sample, losses, middle)
        above = z > np.array([bound, -bound])
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    found = (low + high) / 2
    return float(found[0]), float(found[1])


def _both_signs(sample: Sample, losses: Floats, theta: Floats) -> Floats:
    """`statistic` for gains too, which are losses of the other model."""
    gains = -statistic(sample, -losses, -np.minimum(theta, 0))
    found: Floats = np.where(theta >= 0, statistic(sample, losses, np.maximum(theta, 0)), gains)
    return found
