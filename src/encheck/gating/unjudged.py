"""Searches without labels: how many answers changed, and what people say of those that did.

recall@k of a query changes only where the set of its first k answers does, and by no more than 1; so the mean over
queries moves by no more than the share of queries whose set changed. nDCG@10 also hangs on their order.

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

Judgements are kept as qrels for the next candidate: LOG.qrels beside the query log. The file is tab-separated, as
BEIR's: `query-id`, `corpus-id`, `score` and `against`, the document beside which the one of `corpus-id` was judged. A
pair has two rows. The score is 1 for the better document, for both where they are equally good, and 0 for both where
neither answers the query. All ids are hashes of the texts: where a text is another, nobody has judged it.
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
from encheck.gating.types import TOLERANCE, ChangedShare, Judged, Outcome, UnjudgedSearch
from encheck.metrics.search import DELTA
from encheck.scoring.documents import KEPT, Answers
from encheck.scoring.frame import CaseScores
from encheck.statistics.hypothesis_tests import look_bounds, t_cdf, tango_variance
from encheck.statistics.sharing import korn_graubard
from encheck.system import files
from encheck.system.documents import read_text
from encheck.types import content_hash

Bools = NDArray[np.bool_]
ALPHA = 0.05  # of both errors together
DECISIVE = 0.5  # share of decisive judgements that a plan expects
LIKELY = 0.84  # normal quantile of 80%: how often a candidate that lost nothing passes
FINAL = 2.3  # about the last of Pocock's bounds
MOST_QUERIES = 10**7


@dataclass(frozen=True)
class AnswerChanges:
    """Which queries have another first answer, other answers among the first ten, or these in another order."""

    first: Bools
    ten: Bools
    order: Bools

    @classmethod
    def of(cls, before: Sequence[Answers], after: Sequence[Answers]) -> AnswerChanges:
        """Of the answers of two models to the same queries, in the same order."""
        pairs = [(old.first[:KEPT], new.first[:KEPT]) for old, new in zip(before, after, strict=True)]
        first = np.array([old[:1] != new[:1] for old, new in pairs], bool)
        ten = np.array([{*old} != {*new} for old, new in pairs], bool)
        return cls(first, ten, np.array([old != new for old, new in pairs], bool))


def is_unjudged(table: CaseScores) -> bool:
    """Whether the table is of queries of a log, of which nobody said what is right."""
    return bool(table.weights)


def changed_answers(
    before: CaseScores, after: CaseScores, *, delta: float = DELTA, least: float | None = None, alpha: float = ALPHA
) -> UnjudgedSearch:
    """How many answers changed from one model to the other; both tables have the same queries in the same order.

    A loss of `delta` has to be ruled out, and one of `least`, `delta` if None, blocks; `alpha` is the error of the
    interval and of both decisions.
    Where no answer changed and all scores agree within the noise of batch sizes, the checkpoint is the same.
    """
    change = AnswerChanges.of(*([Answers.of(text) for text in table.answers] for table in (before, after)))
    same = not change.order.any() and bool(np.allclose(before.near, after.near, rtol=0, atol=TOLERANCE))
    weights = np.array(after.weights, np.float64)
    shares = tuple(
        share_of_queries(figure, what, which, weights, after.clusters, level=1 - alpha)
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


def share_of_queries(
    figure: str,
    what: str,
    changed: Bools,
    weights: NDArray[np.float64],
    clusters: Sequence[str],
    *,
    level: float = 1 - ALPHA,
) -> ChangedShare:
    """The share of queries that changed, by how often they were asked, with Clopper and Pearson's interval.

    The interval is that of as many queries as the clusters are worth: no more than clusters of their weights would be
    if all queries of one changed together (Kish 1965, section 11.7), nor than the spread of the clusters' own shares
    says.
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
    low, high = (float(end) for end in korn_graubard(value, worth, inf, level=level))
    return ChangedShare(figure, what, value, low, high, int(changed.sum()), worth)


def judgements_needed(changed: float, worth: float, delta: float) -> float:
    """How many judgements an equal model takes to pass in 80% of cases, where half of them are decisive.

    `changed` is the share of queries with another first answer, of `worth` queries. Infinite where these are too few:
    what is not known of the share alone is then as much as a loss of `delta`.

    >>> round(judgements_needed(0.142, 3000, 0.02)), judgements_needed(0.1, 30, 0.04)
    (254, inf)
    """
    p = max(changed, delta)
    unknown = (delta / p) ** 2 * p * (1 - p) / worth
    spare = (delta / (FINAL + LIKELY)) ** 2 - unknown
    return changed**2 * max(DECISIVE, min(1.0, delta / p)) / spare if spare > 0 else inf


def more_queries(found: UnjudgedSearch, *, judged: bool) -> int:
    """How many more queries of the log decide for an equal model, where as many of them change as so far.

    With `judged`, people judge those that change; else the share that changed has to be below delta, and it is
    `MOST_QUERIES` where no number makes it so.
    """
    one = found.shares[0]
    total = bisect_left(
        range(MOST_QUERIES), True, lo=1,
        key=lambda count: judgements_needed(one.value, count, found.delta) <= one.value * count if judged
        else float(korn_graubard(one.value, count, inf, level=1 - found.alpha)[1]) < found.delta,
    )  # fmt: skip
    return max(1, ceil((total - one.worth) * found.queries / one.worth))


def what_decides(found: UnjudgedSearch, command: str) -> str:
    """What decides an open search soonest: judgements, by `command`, or more queries; empty where it is decided."""
    if found.passes or found.blocks:
        return ""
    one = found.shares[0]
    unchanged = more_queries(found, judged=False)
    if not one.queries:
        return f"{unchanged:,} more queries of the log decide, if none of their first answers changes either"
    left = found.judged.left if found.judged else one.queries
    more = more_queries(found, judged=True)
    is_enough = judgements_needed(one.value, one.worth, found.delta) <= one.queries
    if unchanged < (left if is_enough else more):
        return f"{unchanged:,} more queries of the log decide, if their first answers change as rarely"
    if not left or not command:
        return f"about {more:,} more queries of the log decide, with judgements of those that change"
    if found.judged and found.judged.answered:
        return f"at most {left:,} more judgements decide: {command}"
    which = "1 query has" if one.queries == 1 else f"{one.queries:,} queries have"
    these = f"these {left:,}" if left == one.queries else f"at most {left:,} of them"
    too = "" if is_enough else f" (if the models are about equal, it takes {more:,} more queries of the log too)"
    return f"{which} another first answer: judge {these}{too}: {command}"


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
class ComparedQuery:
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

    queries: tuple[ComparedQuery, ...]
    seed: int = 0
    delta: float = DELTA
    least: float = DELTA
    alpha: float = ALPHA

    @cached_property
    def order(self) -> tuple[ComparedQuery, ...]:
        """The queries to be judged, in their order."""
        differ = [q for q in self.queries if q.differs]
        return tuple(sorted(differ, key=lambda q: content_hash(str(self.seed), q.query)))

    @cached_property
    def share(self) -> ChangedShare:
        """The share of queries that are in the pool, as `share` of a search without labels."""
        changed = np.array([q.differs for q in self.queries], bool)
        weights = np.array([q.weight for q in self.queries], np.float64)
        clusters = [q.cluster for q in self.queries]
        return share_of_queries(
            "recall@1", "the first answer changes", changed, weights, clusters, level=1 - self.alpha
        )

    @cached_property
    def looks(self) -> tuple[int, ...]:
        """The numbers of answers after which a decision may fall."""
        return looks(self.share, np.array([q.weight for q in self.order], np.float64), delta=self.delta)

    @property
    def repeats(self) -> tuple[tuple[ComparedQuery, int], ...]:
        """The queries that are shown again before the first look, each with the number of answers after which."""
        first = self.looks[0] if self.looks else 0
        count, step = min(REPEATS, first // 2), max(1, first // (2 * REPEATS))
        return tuple((self.order[k * step], first - (count - 1 - k) * step) for k in range(count))

    @cached_property
    def sample(self) -> Sample:
        """What the test needs to know of the queries in their order."""
        ways = [[q.cluster for q in self.order]]
        if len({q.cluster for q in self.queries}) == len(self.queries):  # the log names none
            ways = [[q.before for q in self.order], [q.after for q in self.order]]
        weights = np.array([q.weight for q in self.order], np.float64)
        return Sample(
            self.share.value,
            self.share.worth,
            weights,
            tuple(np.unique(np.asarray(names, str), return_inverse=True)[1].astype(np.intp) for names in ways),
        )

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


def looks(pool: ChangedShare, weights: Floats, *, delta: float) -> tuple[int, ...]:
    """After how many answers to look: the last is the number by which a candidate that lost nothing passes in 80% of
    cases, where half of the answers are decisive; at most all of them.

    >>> looks(ChangedShare("", "", 0.142, 0.13, 0.155, 426, 3000.0), np.ones(426), delta=0.02)
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


def judge_pool(pool: Pool, answers: Mapping[str, Answer], *, baseline: str) -> Judged:
    """What the answers, by item, decide: at the first look that decides, else at the last that they reach."""
    found = [answers.get(q.item) for q in pool.order]
    answered = next((i for i, one in enumerate(found) if one is None), len(found))
    plan = pool.looks
    losses = np.array([LOSS[one] for one in found[:answered] if one], np.float64)
    outcome, reached = decide_at_looks(pool.sample, plan, losses, delta=pool.delta, least=pool.least, alpha=pool.alpha)
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


def decide_at_looks(
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
    return look_bounds(tuple(n / plan[-1] for n in plan), alpha=alpha) if plan else ()


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
    """(design effect, at least 1; degrees of freedom) of the weighted mean whose residuals these are.

    The degrees of freedom are those of as many clusters of the same weight as these are worth, less one.
    """
    part = weights * residuals
    alone = float((part**2).sum())
    ways = [codes[: len(part)] for codes in sample.clusters]
    sizes = [np.bincount(codes, weights) for codes in ways]
    free = max(1.0, min(float(size.sum() ** 2 / (size**2).sum()) for size in sizes) - 1)
    if not alone:
        return 1.0, free
    sums = [_squares(codes, part) for codes in ways]
    if len(ways) == 2:  # the sum of both, less what they have in common
        both = ways[0] * (1 + int(ways[1].max())) + ways[1]
        sums.append(sum(sums) - _squares(np.unique(both, return_inverse=True)[1], part))
    return max(1.0, max(sums) / alone), free


def _squares(codes: Codes, part: Floats) -> float:
    """The sum of squares of the clusters' sums, with the correction for few clusters (CR1)."""
    sums = np.bincount(codes, part)
    clusters = int((np.bincount(codes) > 0).sum())
    return float((sums**2).sum()) * clusters / max(clusters - 1, 1)


def _interval(sample: Sample, plan: tuple[int, ...], losses: Floats, alpha: float) -> tuple[float, float]:
    """The losses that the tests at this look do not rule out, by bisection; a gain is a loss of the other model."""
    bound = _bounds(plan, alpha)[plan.index(len(losses))]
    low, high = np.array([-1.0, -1.0]), np.array([1.0, 1.0])
    for _ in range(30):
        middle = (low + high) / 2
        gains = -statistic(sample, -losses, -np.minimum(middle, 0))
        z = np.where(middle >= 0, statistic(sample, losses, np.maximum(middle, 0)), gains)
        above = z > np.array([bound, -bound])
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    found = (low + high) / 2
    return float(found[0]), float(found[1])


COLUMNS = ("query-id", "corpus-id", "score", "against")
ENDING = ".qrels"
SCORES: Mapping[Answer, tuple[int, int]] = {"before": (1, 0), "after": (0, 1), "equal": (1, 1), "neither": (0, 0)}
ANSWERS = {scores: answer for answer, scores in SCORES.items()}


def judgements_path(log: Path) -> Path:
    """Where the judgements of a log of queries are kept.

    >>> judgements_path(Path("logs/march.txt")).name
    'march.txt.qrels'
    """
    return log.with_name(log.name + ENDING)


@dataclass(frozen=True)
class Judgements:
    """The score of both documents of each pair, in the order in which people judged them."""

    scores: Mapping[Pair, tuple[int, int]]

    def answer(self, asked: ComparedQuery) -> Answer | None:
        """What was said of a query's two answers; None if nobody judged them."""
        found = self.scores.get(asked.pair)
        return found and ANSWERS[found if asked.before < asked.after else found[::-1]]

    def answers(self, asked: Iterable[ComparedQuery]) -> dict[str, Answer]:
        """What is known of these queries, by item."""
        found = {q.item: self.answer(q) for q in asked}
        return {item: answer for item, answer in found.items() if answer}

    def with_answer(self, asked: ComparedQuery, answer: Answer | None) -> Judgements:
        """The same with this answer last, in the place of an earlier one; None takes that back."""
        rest = {pair: scores for pair, scores in self.scores.items() if pair != asked.pair}
        if answer:
            scores = SCORES[answer]
            rest[asked.pair] = scores if asked.before < asked.after else scores[::-1]
        return Judgements(rest)


def save_answers(path: Path, said: Iterable[tuple[ComparedQuery, Answer | None]]) -> Judgements:
    """Put answers into the file, the others of which stay; UsageError if it cannot be read or written."""
    try:
        with files.lock_folder(path.parent):
            found = read_judgements(path)
            for asked, answer in said:
                found = found.with_answer(asked, answer)
            rows = [COLUMNS]
            for (query, one, other), (first, second) in found.scores.items():
                rows += [(query, one, str(first), other), (query, other, str(second), one)]
            files.write_text(path, "".join("\t".join(row) + "\n" for row in rows))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}. Name another file with --qrels FILE") from error
    return found


def read_judgements(path: Path) -> Judgements:
    """The judgements of a file, none where there is no file; UsageError names the line of what is wrong."""
    try:
        lines = read_text(path).splitlines()
    except FileNotFoundError:
        return Judgements({})
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if not lines or tuple(lines[0].split("\t")) != COLUMNS:
        raise UsageError(f"{path}:1: should have the columns {', '.join(COLUMNS)}, with tabs between them")
    rows: dict[Pair, dict[str, int]] = {}
    for number, line in enumerate(lines[1:], 2):
        fields = line.split("\t")
        if len(fields) != len(COLUMNS) or fields[1] == fields[3]:
            raise UsageError(f"{path}:{number}: should be two different documents of a query: {', '.join(COLUMNS)}")
        query, document, score, against = fields
        if score not in ("0", "1"):
            raise UsageError(f"{path}:{number}: the score is {score!r}, but should be 0 or 1")
        rows.setdefault(pair_of(query, document, against), {})[document] = int(score)
    if alone := next((pair for pair, found in rows.items() if len(found) < 2), None):
        raise UsageError(f"{path}: query {alone[0]} has one row for documents {alone[1]} and {alone[2]}, but needs two")
    return Judgements({pair: (found[pair[1]], found[pair[2]]) for pair, found in rows.items()})
