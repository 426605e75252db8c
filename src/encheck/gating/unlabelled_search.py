"""Searches without labels: how many answers changed, and how people judge the changed ones.

A query's recall@k changes only if the set of its first k answers changes, and by no more than 1. So the mean over
queries changes by no more than the share of queries whose set changed. nDCG@10 also depends on the order.

A query with the same first answer under both models is no loss. So the loss of recall@1 over all queries is the share
of queries whose first answer differs, times their mean judgement: +1 (the old answer is better), -1 (the new one) or 0
(equal, or neither is right). The share is known from all queries. The mean is estimated from the judged queries, which
come in random order.

*Block*: the loss is certain (H0: the loss is 0 or less), and the estimate is `least` or more. At a loss of 0 this is a
sign test of the decisive answers. *Pass*: a loss of delta is ruled out (H0: it is delta or more), and the estimate is
below `least`, which is half of delta if another model is gated, and delta if one was changed. So a candidate cannot
meet both conditions. Both are score tests of a difference of paired proportions, ties included (Tango 1998, Stat. Med.
17). Two corrections make the statistic smaller: the design effect of clusters (Rao and Scott 1992, Biometrics 48) and
the uncertainty of the share. Student's t has one degree of freedom less than the effective number of clusters. The log
can name the clusters. If it does not, they are the queries with the same first answer before, and those with the same
first answer now (two-way: Cameron, Gelbach and Miller 2011, JBES 29), since a lost right document is lost for every
query that asks for it.

Looks are fixed before the first answer: after 20, 40, 80 ... answers and at the end. A Pocock-like spending function
(Lan and DeMets 1983) divides the error rate of a 95% interval between them. So each of the two errors, blocking a
candidate without a loss and passing one with a loss of delta, happens in at most 2.5% of cases (2.5% / K for the best
of K candidates). The interval is a repeated one (Jennison and Turnbull 1989, JRSS B 51), valid at every look.

Judgements are kept as qrels for the next candidate, in LOG.qrels next to the query log. The file is tab-separated like
BEIR's: `query-id`, `corpus-id`, `score` and `against`, the document that `corpus-id` was compared with. A pair has two
rows. The score is 1 for the better document, 1 for both if they are equally good, and 0 for both if neither answers the
query. All ids are hashes of the texts, so a changed text counts as unjudged.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from math import ceil, inf
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.errors import UsageError
from encheck.gating.types import TOLERANCE, ChangedShare, JudgementSummary, Outcome, UnjudgedSearch
from encheck.metrics.search import DELTA
from encheck.scoring.documents import STORED_ANSWERS, Answers
from encheck.scoring.frame import CaseScores
from encheck.statistics.hypothesis_tests import critical_values_of_looks, t_cdf, tango_variance
from encheck.statistics.sharing import korn_graubard_interval
from encheck.system import files
from encheck.system.documents import read_text
from encheck.types import content_hash

Bools = NDArray[np.bool_]
ALPHA = 0.05  # both error rates together
DECISIVE = 0.5  # expected share of decisive judgements
LIKELY = 0.84  # normal quantile of 80%: the power to pass a candidate without a loss
FINAL = 2.3  # approximately the last of Pocock's bounds
MOST_QUERIES = 10**7


@dataclass(frozen=True)
class AnswerChanges:
    """The queries that have a different first answer, different first ten answers, or a different order of the ten."""

    first: Bools
    ten: Bools
    order: Bools

    @classmethod
    def of(cls, before: Sequence[Answers], after: Sequence[Answers]) -> AnswerChanges:
        """Return the changes between two models' answers to the same queries, in the same order."""
        pairs = [
            (old.first[:STORED_ANSWERS], new.first[:STORED_ANSWERS]) for old, new in zip(before, after, strict=True)
        ]
        first = np.array([old[:1] != new[:1] for old, new in pairs], bool)
        ten = np.array([{*old} != {*new} for old, new in pairs], bool)
        return cls(first, ten, np.array([old != new for old, new in pairs], bool))


def is_unlabelled_log(table: CaseScores) -> bool:
    """Return whether the table has queries of a log, without labels."""
    return bool(table.weights)


def count_changed_answers(
    before: CaseScores, after: CaseScores, *, delta: float = DELTA, least: float | None = None, alpha: float = ALPHA
) -> UnjudgedSearch:
    """Return how many answers changed from one model to the other. Both tables have the same queries in the same order.

    A loss of `delta` has to be ruled out, and a loss of `least` (default: `delta`) blocks. `alpha` is the error rate of
    the interval and of both decisions. If no answer changed and all scores agree within the noise of batch sizes, both
    tables count as the same checkpoint.
    """
    change = AnswerChanges.of(*([Answers.parse(text) for text in table.answers] for table in (before, after)))
    same = not change.order.any() and bool(np.allclose(before.near, after.near, rtol=0, atol=TOLERANCE))
    weights = np.array(after.weights, np.float64)
    shares = tuple(
        estimate_changed_share(figure, what, which, weights, after.clusters, level=1 - alpha)
        for figure, what, which in (
            ("recall@1", "the first answer changes", change.first),
            ("recall@10", "the first ten are other documents", change.ten),
            ("nDCG@10", "the first ten change in order or content", change.order),
        )
    )
    if same:
        shares = tuple(replace(one, low=0.0, high=0.0) for one in shares)
    counts = len(after.items), int(weights.sum()), len(set(after.clusters))
    return UnjudgedSearch(
        str(after.gate_row), *counts, delta, shares, same, least=delta if least is None else least, alpha=alpha
    )


def estimate_changed_share(
    figure: str,
    what: str,
    changed: Bools,
    weights: NDArray[np.float64],
    clusters: Sequence[str],
    *,
    level: float = 1 - ALPHA,
) -> ChangedShare:
    """Return the share of queries that changed, weighted by frequency, with Clopper and Pearson's interval.

    The interval uses the effective number of queries, which is the smaller of two estimates. One assumes that all
    queries of a cluster change together (Kish 1965, section 11.7). The other uses the spread of the clusters' own
    shares.
    """
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1]
    sizes = np.bincount(codes, weights=weights)
    own = np.bincount(codes, weights=weights * changed)
    total = float(sizes.sum())
    value = float(own.sum()) / total
    worth = total**2 / float((sizes**2).sum())
    spread = float(((own - value * sizes) ** 2).sum()) / total**2
    if spread > 0:
        worth = min(worth, value * (1 - value) / spread)
    low, high = (float(end) for end in korn_graubard_interval(value, worth, inf, level=level))
    return ChangedShare(figure, what, value, low, high, int(changed.sum()), worth)


def judgements_needed(changed: float, worth: float, delta: float) -> float:
    """Return how many judgements an equal model needs to pass in 80% of cases, if half of them are decisive.

    `changed` is the share of queries with a different first answer, among `worth` effective queries. The result is
    infinite if these are too few: the uncertainty of the share alone is then as large as a loss of `delta`.

    >>> round(judgements_needed(0.142, 3000, 0.02)), judgements_needed(0.1, 30, 0.04)
    (254, inf)
    """
    p = max(changed, delta)
    unknown = (delta / p) ** 2 * p * (1 - p) / worth
    spare = (delta / (FINAL + LIKELY)) ** 2 - unknown
    return changed**2 * max(DECISIVE, min(1.0, delta / p)) / spare if spare > 0 else inf


def additional_queries_needed(search: UnjudgedSearch, *, judged: bool) -> int:
    """Return how many more queries of the log decide for an equal model, if the same share of them changes.

    With `judged`, people judge the changed ones. Without it, the changed share has to be below delta. If no number of
    queries achieves that, return `MOST_QUERIES`.
    """
    one = search.shares[0]
    total = bisect_left(
        range(MOST_QUERIES), True, lo=1,
        key=lambda count: judgements_needed(one.value, count, search.delta) <= one.value * count if judged
        else float(korn_graubard_interval(one.value, count, inf, level=1 - search.alpha)[1]) < search.delta,
    )  # fmt: skip
    return max(1, ceil((total - one.worth) * search.queries / one.worth))


def advise_on_open_search(search: UnjudgedSearch, command: str) -> str:
    """Return the fastest way to decide an open search: judge with `command`, or add queries. Empty if decided."""
    if search.passes or search.blocks:
        return ""
    one = search.shares[0]
    unchanged = additional_queries_needed(search, judged=False)
    if not one.queries:
        return f"{unchanged:,} more queries of the log decide, if none of their first answers changes either"
    left = search.judged.left if search.judged else one.queries
    more = additional_queries_needed(search, judged=True)
    is_enough = judgements_needed(one.value, one.worth, search.delta) <= one.queries
    if unchanged < (left if is_enough else more):
        return f"{unchanged:,} more queries of the log decide, if their first answers change as rarely"
    if not left or not command:
        return f"about {more:,} more queries of the log decide, with judgements of those that change"
    if search.judged and search.judged.answered:
        return f"at most {left:,} more judgements decide: {command}"
    which = "1 query" if one.queries == 1 else f"{one.queries:,} queries"
    these = f"these {left:,}" if left == one.queries else f"at most {left:,} of them"
    too = "" if is_enough else f" (if the models are about equal, it takes {more:,} more queries of the log too)"
    return f"for {which} another document comes first: judge {these}{too}: {command}"


Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Judgement = Literal["before", "after", "equal", "neither"]
LOSS: Mapping[Judgement, int] = {"before": 1, "after": -1, "equal": 0, "neither": 0}
FIRST_LOOK, LAST_STEP = 20, 1.4  # the last look is at least that factor after the one before
LOST_SHOWN = 3
REPEATS = 5  # pairs that are shown twice
JudgedPair = tuple[str, str, str]  # the query, then both documents, sorted


def judged_pair_in_fixed_order(query: str, one: str, other: str) -> JudgedPair:
    """Return a query with two answers, in a form that does not depend on which model gave which answer."""
    first, second = sorted((one, other))
    return query, first, second


@dataclass(frozen=True, slots=True)
class JudgingQuery:
    """A query of the log and its first answers under the baseline and the candidate.

    `query`, `before` and `after` are hashes of texts, so that they mean the same in every run.
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
    def pair(self) -> JudgedPair:
        """The query with both answers."""
        return judged_pair_in_fixed_order(self.query, self.before, self.after)

    def is_swapped(self, seed: int, *, again: bool = False) -> bool:
        """Return whether the candidate's answer is shown first.

        The order is random. It is drawn anew if the pair is shown `again`.
        """
        key = content_hash(f"{'again' if again else 'side'}/{seed}", *self.pair)
        return (int(key, 16) % 2 == 1) == (self.before < self.after)


@dataclass(frozen=True)
class JudgingPool:
    """All queries of a log. Those whose answers differ are judged in a random order, drawn with `seed`.

    The order depends on the queries alone, so another candidate starts with the same queries and can reuse judgements.
    A loss of `delta` has to be ruled out, and a loss of `least` blocks. `alpha` is the error rate of both decisions
    together.
    """

    queries: tuple[JudgingQuery, ...]
    seed: int = 0
    delta: float = DELTA
    least: float = DELTA
    alpha: float = ALPHA

    @cached_property
    def order(self) -> tuple[JudgingQuery, ...]:
        """The queries to be judged, in order."""
        differ = [q for q in self.queries if q.differs]
        return tuple(sorted(differ, key=lambda q: content_hash(str(self.seed), q.query)))

    @cached_property
    def share(self) -> ChangedShare:
        """The share of all queries that have to be judged, with its interval."""
        changed = np.array([q.differs for q in self.queries], bool)
        weights = np.array([q.weight for q in self.queries], np.float64)
        clusters = [q.cluster for q in self.queries]
        return estimate_changed_share(
            "recall@1", "the first answer changes", changed, weights, clusters, level=1 - self.alpha
        )

    @cached_property
    def looks(self) -> tuple[int, ...]:
        """The numbers of answers after which a decision is possible."""
        return plan_looks(self.share, np.array([q.weight for q in self.order], np.float64), delta=self.delta)

    @property
    def repeats(self) -> tuple[tuple[JudgingQuery, int], ...]:
        """The queries that are shown twice before the first look, each with the number of answers before the repeat."""
        first = self.looks[0] if self.looks else 0
        count, step = min(REPEATS, first // 2), max(1, first // (2 * REPEATS))
        return tuple((self.order[k * step], first - (count - 1 - k) * step) for k in range(count))

    @cached_property
    def sample(self) -> JudgingSample:
        """The pool's queries in order, in the form that the test needs."""
        ways = [[q.cluster for q in self.order]]
        if len({q.cluster for q in self.queries}) == len(self.queries):  # the log names no clusters
            ways = [[q.before for q in self.order], [q.after for q in self.order]]
        weights = np.array([q.weight for q in self.order], np.float64)
        return JudgingSample(
            self.share.value,
            self.share.worth,
            weights,
            tuple(np.unique(np.asarray(names, str), return_inverse=True)[1].astype(np.intp) for names in ways),
        )

    @property
    def fingerprint(self) -> str:
        """A hash of all queries, answers, weights and clusters, and of the seed."""
        digest = hashlib.sha256(str((self.seed, self.delta, self.least, self.alpha)).encode())
        for q in self.queries:
            digest.update(repr((q.query, q.before, q.after, q.weight, q.cluster)).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]


@dataclass(frozen=True)
class JudgingSample:
    """The queries of a pool in order: `weights` and, for each way to cluster them, `clusters`, of shape [m].

    `share` is the pool's share of all queries, estimated from `worth` effective ones.
    """

    share: float
    worth: float
    weights: Floats
    clusters: tuple[Codes, ...]


def plan_looks(pool: ChangedShare, weights: Floats, *, delta: float) -> tuple[int, ...]:
    """Return the numbers of answers after which to look.

    With the last look, a candidate without a loss passes in 80% of cases if half of the answers are decisive. No look
    needs more answers than the pool has queries.

    >>> plan_looks(ChangedShare("", "", 0.142, 0.13, 0.155, 426, 3000.0), np.ones(426), delta=0.02)
    (20, 40, 80, 160, 254)
    """
    m = len(weights)
    if not m:
        return ()
    even = weights.sum() ** 2 / (m * float((weights**2).sum()))  # 1 for equal weights
    wanted = judgements_needed(pool.value, pool.worth, delta) / even
    most = min(m, max(FIRST_LOOK, ceil(min(wanted, m))))
    steps = takewhile(lambda n: n * LAST_STEP <= most, (FIRST_LOOK * 2**k for k in range(64)))
    return (*steps, most)


def decide_by_judgements(pool: JudgingPool, answers: Mapping[str, Judgement], *, baseline: str) -> JudgementSummary:
    """Return the decision from the answers (by item) at the first look that decides, or else at the last one."""
    found = [answers.get(q.item) for q in pool.order]
    answered = next((i for i, one in enumerate(found) if one is None), len(found))
    plan = pool.looks
    losses = np.array([LOSS[one] for one in found[:answered] if one], np.float64)
    outcome, reached = decide_at_looks(pool.sample, plan, losses, delta=pool.delta, least=pool.least, alpha=pool.alpha)
    low, high = _repeated_interval(pool.sample, plan, losses[:reached], pool.alpha) if reached else (None, None)
    seen = found[:reached]
    worse = [q.item for q, one in zip(pool.order, seen, strict=False) if one == "before"]
    open_ = found[: plan[-1]].count(None) if plan and outcome == "inconclusive" else 0
    return JudgementSummary(
        outcome, baseline, pool.share.figure, pool.delta, plan, reached, answered, open_,
        old=seen.count("before"), new=seen.count("after"), equal=seen.count("equal"), neither=seen.count("neither"),
        loss=estimate_loss(pool.sample, losses[:reached]) if reached else None, low=low, high=high,
        lost=tuple(worse[:LOST_SHOWN]), least=pool.least, queries=len(pool.queries), changed=len(pool.order),
        better=found.count("after"), worse=found.count("before"), tied=found.count("equal") + found.count("neither"),
    )  # fmt: skip


def decide_at_looks(
    sample: JudgingSample, plan: Sequence[int], losses: Floats, *, delta: float, least: float, alpha: float = ALPHA
) -> tuple[Outcome, int]:
    """Return the outcome and the look that decides, or else the last look reached.

    `losses` are +1, -1 or 0, in order.
    """
    reached = 0
    for n, bound in zip(plan, _look_bounds(tuple(plan), alpha), strict=True):
        if n > len(losses):
            break
        reached = n
        any_loss, too_much = loss_statistic(sample, losses[:n], np.array([0.0, delta]))
        loss = estimate_loss(sample, losses[:n])
        if any_loss >= bound and loss >= least:
            return "block", n
        if too_much <= -bound and loss < least:
            return "pass", n
    return "inconclusive", reached


def _look_bounds(plan: tuple[int, ...], alpha: float) -> tuple[float, ...]:
    return critical_values_of_looks(tuple(n / plan[-1] for n in plan), alpha=alpha) if plan else ()


def estimate_loss(sample: JudgingSample, losses: Floats) -> float:
    """Return the estimated loss over all queries, from these answers."""
    weights = sample.weights[: len(losses)]
    return sample.share * float(weights @ losses / weights.sum())


def loss_statistic(sample: JudgingSample, losses: Floats, theta: Floats) -> Floats:
    """Return z of H0: the loss over all queries is theta. It is positive if the loss is larger; same shape as `theta`.

    Let p be the share of queries in the pool, raised to theta if smaller, and m = theta / p. The variance of the loss
    is p^2 times that of the mean under a mean of m (Tango's, times the design effect), plus m^2 p (1 - p) / worth.
    """
    from scipy.special import ndtri

    weights = sample.weights[: len(losses)]
    n = weights.sum() ** 2 / float((weights**2).sum())
    mean = float(weights @ losses / weights.sum())
    up, down = (n * float(weights @ (losses == sign) / weights.sum()) for sign in (-1, 1))
    p = np.maximum(sample.share, theta)
    m = np.minimum(theta / p, 1.0)
    design, degrees_of_freedom = _design_effect(sample, losses - mean, weights)
    spread = p**2 * design * tango_variance(n, up, down, -m) + m**2 * p * (1 - p) / sample.worth
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.nan_to_num((sample.share * mean - theta) / np.sqrt(spread), nan=0.0)
    far = np.abs(t)
    found: Floats = -np.sign(t) * ndtri(t_cdf(-far, degrees_of_freedom))
    return found


def _design_effect(sample: JudgingSample, residuals: Floats, weights: Floats) -> tuple[float, float]:
    """Return the design effect (at least 1) and the degrees of freedom of the weighted mean with these residuals.

    The degrees of freedom are the effective number of clusters minus one.
    """
    part = weights * residuals
    alone = float((part**2).sum())
    ways = [codes[: len(part)] for codes in sample.clusters]
    sizes = [np.bincount(codes, weights) for codes in ways]
    degrees_of_freedom = max(1.0, min(float(size.sum() ** 2 / (size**2).sum()) for size in sizes) - 1)
    if not alone:
        return 1.0, degrees_of_freedom
    sums = [_cluster_sum_of_squares(codes, part) for codes in ways]
    if len(ways) == 2:  # the sum of both ways, minus their intersection
        both = ways[0] * (1 + int(ways[1].max())) + ways[1]
        sums.append(sum(sums) - _cluster_sum_of_squares(np.unique(both, return_inverse=True)[1], part))
    return max(1.0, max(sums) / alone), degrees_of_freedom


def _cluster_sum_of_squares(codes: Codes, part: Floats) -> float:
    """Return the sum of squares of the clusters' sums, with the correction for few clusters (CR1)."""
    sums = np.bincount(codes, part)
    clusters = int((np.bincount(codes) > 0).sum())
    return float((sums**2).sum()) * clusters / max(clusters - 1, 1)


def _repeated_interval(
    sample: JudgingSample, plan: tuple[int, ...], losses: Floats, alpha: float
) -> tuple[float, float]:
    """Return the interval of losses that this look does not rule out, by bisection.

    A gain is a loss of the other model.
    """
    bound = _look_bounds(plan, alpha)[plan.index(len(losses))]
    low, high = np.array([-1.0, -1.0]), np.array([1.0, 1.0])
    for _ in range(30):
        middle = (low + high) / 2
        gains = -loss_statistic(sample, -losses, -np.minimum(middle, 0))
        z = np.where(middle >= 0, loss_statistic(sample, losses, np.maximum(middle, 0)), gains)
        above = z > np.array([bound, -bound])
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    found = (low + high) / 2
    return float(found[0]), float(found[1])


COLUMNS = ("query-id", "corpus-id", "score", "against")
ENDING = ".qrels"
SCORES: Mapping[Judgement, tuple[int, int]] = {"before": (1, 0), "after": (0, 1), "equal": (1, 1), "neither": (0, 0)}
ANSWERS = {scores: answer for answer, scores in SCORES.items()}


def judgements_path(log: Path) -> Path:
    """Return the judgements file of a query log.

    >>> judgements_path(Path("logs/march.txt")).name
    'march.txt.qrels'
    """
    return log.with_name(log.name + ENDING)


@dataclass(frozen=True)
class Judgements:
    """The score of both documents of each pair, in the order in which people judged them."""

    scores: Mapping[JudgedPair, tuple[int, int]]

    def answer_to(self, query: JudgingQuery) -> Judgement | None:
        """Return the judgement of a query's two answers, or None if unjudged."""
        found = self.scores.get(query.pair)
        return found and ANSWERS[found if query.before < query.after else found[::-1]]

    def answers_to(self, queries: Iterable[JudgingQuery]) -> dict[str, Judgement]:
        """Return the judgements of these queries, by item."""
        found = {q.item: self.answer_to(q) for q in queries}
        return {item: answer for item, answer in found.items() if answer}


def save_answers(path: Path, said: Iterable[tuple[JudgingQuery, Judgement | None]]) -> Judgements:
    """Add or replace answers in the file, keeping all others. Raise UsageError if it cannot be read or written."""
    try:
        with files.lock_folder(path.parent):
            scores = dict(read_judgements(path).scores)
            for asked, answer in said:
                scores.pop(asked.pair, None)  # so that the answer is the last
                if answer:
                    scores[asked.pair] = SCORES[answer] if asked.before < asked.after else SCORES[answer][::-1]
            rows = [COLUMNS]
            for (query, one, other), (first, second) in scores.items():
                rows += [(query, one, str(first), other), (query, other, str(second), one)]
            files.write_text(path, "".join("\t".join(row) + "\n" for row in rows))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}. Name another file with --qrels FILE") from error
    return Judgements(scores)


def read_judgements(path: Path) -> Judgements:
    """Return the judgements in a file, empty if it does not exist. Raise UsageError for a faulty line."""
    try:
        lines = read_text(path).splitlines()
    except FileNotFoundError:
        return Judgements({})
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if not lines or tuple(lines[0].split("\t")) != COLUMNS:
        raise UsageError(f"{path}:1: should have the columns {', '.join(COLUMNS)}, with tabs between them")
    rows: dict[JudgedPair, dict[str, int]] = {}
    for number, line in enumerate(lines[1:], 2):
        fields = line.split("\t")
        if len(fields) != len(COLUMNS) or fields[1] == fields[3]:
            raise UsageError(f"{path}:{number}: should be two different documents of a query: {', '.join(COLUMNS)}")
        query, document, score, against = fields
        if score not in ("0", "1"):
            raise UsageError(f"{path}:{number}: the score is {score!r}, but should be 0 or 1")
        rows.setdefault(judged_pair_in_fixed_order(query, document, against), {})[document] = int(score)
    if alone := next((pair for pair, found in rows.items() if len(found) < 2), None):
        raise UsageError(f"{path}: query {alone[0]} has one row for documents {alone[1]} and {alone[2]}, but needs two")
    return Judgements({pair: (found[pair[1]], found[pair[2]]) for pair, found in rows.items()})
