"""Copies of MiniLM, changed in known ways: what the gate says of each, and whether the balanced score orders them.

    python lab/benchmarks/collection.py encode --folder build/collection --data DATA # resumes; 1 to 2 minutes a copy
    python lab/benchmarks/collection.py score --folder build/collection --data DATA
    python lab/benchmarks/collection.py verdicts --folder build/collection --data DATA [--share 100]

`collection_copies.py` has the copies and the right answers. DATA is a folder with the public files of SemEval-2016
(task 3), QQP, STS-B, MRPC and PAWS as they are distributed. Vectors are kept in the folder, and no text is encoded
twice.

The gate and the score see a part of the probes' gate items, by a hash of their cluster (`--share`, in percent). The
judgement was fixed before any score was computed. It is the mean of three figures:

- behaviour: the mean rate over three properties of fresh probes of which MiniLM has headroom;
- search: nDCG@10 of SemEval-2016's questions (task 3, subtask B), by their subjects;
- STS: Spearman's correlation on pairs of STS-B's dev part.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from collection_copies import COPIES, Copy, Floats, Place, half_of, parts_of_minilm, rows_of, unit
from numpy.typing import NDArray
from scipy.stats import kendalltau, spearmanr

from encheck.datasets.dataset import Dataset
from encheck.encoders.objects import wrap_model_object
from encheck.engine.checks import packaged_checks
from encheck.gating.balance import balanced_score, part_means, property_families, property_wins, shares_above_chance
from encheck.gating.decision import decide_by_rows
from encheck.gating.gate_rows import pool_rows
from encheck.gating.pairing import ModelScores, compare_cases, declaration_of, gating_metric
from encheck.metrics.health import ends_seen
from encheck.similarity import ROUNDING, vector_distance
from encheck.training import PlannedCases

SHARE = 28  # percent of the clusters, where a copy is not given the full gate
FEW = {"hard_negative", "role_reversal", "entity"}  # relations of the groups that are taken at the full share
DATA, FRESH, FRESH_SHARE = "probes", "probes:fresh=23", 25
LEFT_OUT = (  # passages are long; of the others a part is too few items to gate
    "dilution", "continuation", "binding", "comparative", "quantifier", "modality", "temporal", "swapchain",
)  # fmt: skip
JUDGED = ("number", "entity", "roles")  # of the fresh probes, those of which MiniLM has headroom
STS_PAIRS, DEPTH = 200, 10
DISCOUNTS = 1 / np.log2(np.arange(DEPTH) + 2)
THREAD = re.compile(
    r"<OrgQSubject>(.*?)</OrgQSubject>.*?RELQ_ID=\"(.*?)\".*?RELQ_RELEVANCE2ORGQ=\"(.*?)\".*?"
    r"<RelQSubject>(.*?)</RelQSubject>",
    re.DOTALL,
)
ITSELF = "MiniLM parts"
ALIKE, NEAR, CLOSE = 5, 0.05, 0.006  # decimals that two copies are told apart by; what is near MiniLM
FIGURES = ("behaviour", "search", "sts")
Texts = list[str]


class Vectors:
    """What a copy gives for texts, kept in a file; a text is encoded once.

    `steady` says whether 32 texts got the same vectors a second time, in other company.
    """

    def __init__(self, path: Path, made: Any) -> None:
        self.path, self._made, self.steady = path, made, True
        self._rows: dict[str, int] = {}
        self._known: Floats | None = None
        if path.exists():
            with np.load(path) as found:
                self._rows = {key: i for i, key in enumerate(found["keys"].tolist())}
                self._known, self.steady = found["vectors"], bool(found["steady"])

    def __call__(self, texts: Texts) -> Floats:
        """Vectors of these texts, shape [n, d]."""
        keys = [key_of(text) for text in texts]
        lacking = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._rows}
        if lacking:
            self._learn(lacking)
        assert self._known is not None
        return self._known[[self._rows[key] for key in keys]]

    def has(self, texts: Texts) -> bool:
        """Whether all of these are known."""
        return all(key_of(text) in self._rows for text in texts)

    def _learn(self, lacking: dict[str, str]) -> None:
        encode, texts = self._made(), list(lacking.values())
        found = encode(texts)
        if self._known is None:
            self.steady = _is_steady(found, encode, texts)
        self._rows |= {key: len(self._rows) + i for i, key in enumerate(lacking)}
        self._known = found if self._known is None else np.concatenate([self._known, found])
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_suffix(".partial.npz")
        np.savez(partial, keys=np.array(list(self._rows)), vectors=self._known, steady=self.steady)
        partial.replace(self.path)


def key_of(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _is_steady(found: Floats, encode: Any, texts: Texts) -> bool:
    """Whether a few texts get the same vectors in other company, from the last to the first."""
    first, second = (some.reshape(len(some), -1) for some in (found[:32], encode(texts[31::-1])[::-1]))
    return bool((vector_distance(first, second) <= ROUNDING).all())


@dataclass(frozen=True)
class Collection:
    """The folder of a collection, and the public data."""

    folder: Path
    data: Path

    def vectors(self, name: str, made: Any) -> Vectors:
        """What is kept of a copy, or made by this."""
        plain = "".join(letter if letter.isalnum() else "-" for letter in name)
        return Vectors(self.folder / "vectors" / f"{plain}.npz", made)

    def of(self, copy: Copy) -> Vectors:
        """What this copy gives."""
        return self.vectors(copy.name, lambda: copy.made(place(self)))


@cache
def place(collection: Collection) -> Place:
    """Where its copies are made."""
    return Place(collection.folder, collection.data, collection.vectors(ITSELF, parts_of_minilm))


def aside(dataset: Dataset) -> Dataset:
    """The dev items, by which the gate tells what MiniLM sees."""
    groups, pairs = (tuple(one for one in some if one.split == "dev") for some in (dataset.groups, dataset.pairs))
    return replace(dataset, groups=groups, pairs=pairs)


def part(dataset: Dataset, share: int) -> Dataset:
    """The gate items of a share of the clusters, in percent; of what the data have most of, half as many."""

    def chosen(one: Any) -> bool:
        at = int(hashlib.sha256(one.cluster.encode()).hexdigest(), 16) % 100
        relations = {variant.relation for variant in getattr(one, "variants", ())}
        halved = share < 100 and relations and not relations & FEW
        return one.split == "gate" and at < (share / 2 if halved else share)

    groups, pairs = (tuple(filter(chosen, some)) for some in (dataset.groups, dataset.pairs))
    universe = tuple(sorted({one.cluster for one in (*groups, *pairs)}))
    return replace(dataset, groups=groups, pairs=pairs, universe=universe)


def planned(
    data: str, share: int, properties: Sequence[str] | None = None, *, without: Sequence[str] = ()
) -> PlannedCases:
    """The checks that gate, and contracts, on a share of the data."""
    return PlannedCases(_checks(properties, without), data, lambda dataset: part(dataset, share))


def _checks(properties: Sequence[str] | None, without: Sequence[str]) -> list[Any]:
    return [
        check
        for check in packaged_checks()
        if (properties is None or check.property in properties)
        and check.property not in without
        and (check.claim.family == "contract" or not check.claim.declared.reported)
    ]


@cache
def gate_plan(share: int) -> PlannedCases:
    """What the gate and the score see."""
    return planned(DATA, share, without=() if share == 100 else LEFT_OUT)


@cache
def aside_of(collection: Collection, share: int) -> dict[str, Any]:
    """MiniLM's tables of the items that are tested nowhere, by case."""
    plan = PlannedCases(_checks(None, () if share == 100 else LEFT_OUT), DATA, aside)
    tables = plan.score_model(wrap_model_object(place(collection).base, "base")).tables
    return {case: table for case, table in tables.items() if table.kind != "pair"}


@cache
def fresh_plan() -> PlannedCases:
    """The fresh probes of the judgement."""
    return planned(FRESH, FRESH_SHARE, JUDGED)


def texts_of(plan: PlannedCases) -> Texts:
    """Every text that a plan needs, as it asks for them."""
    seen: dict[str, None] = {}

    def note(texts: Texts) -> Floats:
        seen.update(dict.fromkeys(texts))
        return np.stack([np.random.default_rng(len(seen) + i).standard_normal(4) for i in range(len(texts))])

    plan.score_model(wrap_model_object(note, "note"))
    return list(seen)


# What is judged.


@dataclass(frozen=True)
class Search:
    """Queries, documents, and which documents are right for which query, shape [queries, documents]."""

    queries: Texts
    documents: Texts
    right: NDArray[np.bool_]


@cache
def search_of(data: Path) -> Search:
    """Subjects of SemEval-2016's questions (task 3, subtask B, dev and test); those that people found related."""
    folder = data / "semeval2016_task3"
    gold = (
        folder / "SemEval2016_task3_submissions_and_scores/_gold/SemEval2016-Task3-CQA-QL-test.xml.subtaskB.relevancy"
    )
    known = {row[1]: row[4] == "true" for row in rows_of(gold)}
    found: dict[str, set[str]] = {}
    documents: dict[str, None] = {}
    for file in ("v3.2/dev/SemEval2016-Task3-CQA-QL-dev.xml",
                 "SemEval2016_task3_test_input/English/SemEval2016-Task3-CQA-QL-test-input.xml"):  # fmt: skip
        text = (folder / file).read_text("utf-8")
        for query, name, relevance, document in THREAD.findall(text):
            documents[document] = None
            right = found.setdefault(query, set())
            if relevance in ("PerfectMatch", "Relevant") or known.get(name):
                right.add(document)
    asked = [query for query, right in found.items() if right]
    return Search(asked, list(documents), np.array([[one in found[query] for one in documents] for query in asked]))


@cache
def sts_pairs(data: Path) -> tuple[Texts, Texts, list[float]]:
    rows = rows_of(data / "stsbenchmark/sts-dev.csv")
    some = rows[:: len(rows) // STS_PAIRS][:STS_PAIRS]
    return [r[5] for r in some], [r[6] for r in some], [float(r[4]) for r in some]


def judged_texts(data: Path) -> Texts:
    search, (first, second, _) = search_of(data), sts_pairs(data)
    return [*search.queries, *search.documents, *first, *second]


@dataclass(frozen=True)
class Judgement:
    """What is known of a copy besides: a rate, nDCG@10, and a correlation."""

    behaviour: float
    search: float
    sts: float

    @property
    def mean(self) -> float:
        """Of the three."""
        return (self.behaviour + self.search + self.sts) / 3


def judge(vectors: Vectors, data: Path) -> Judgement:
    """What the private items, the search and the people of STS-B say of a copy."""
    side = fresh_plan().score_model(wrap_model_object(vectors, "copy"))
    rates = {name: one.rate for name, one in property_wins(side.tables, side.scales).items()}
    behaviour = float(np.mean(list(rates.values())))
    return Judgement(behaviour, ndcg(vectors, search_of(data)), correlation(vectors, *sts_pairs(data)))


def ndcg(vectors: Vectors, search: Search) -> float:
    """nDCG@10, each right document worth the same."""
    scores = unit(vectors(search.queries)) @ unit(vectors(search.documents)).T
    first = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH]
    gained = np.take_along_axis(search.right, first, axis=1) @ DISCOUNTS
    ideal = np.cumsum(DISCOUNTS)[np.minimum(search.right.sum(axis=1), DEPTH) - 1]
    return float((gained / ideal).mean())


def correlation(vectors: Vectors, first: Texts, second: Texts, scores: list[float]) -> float:
    """Spearman's, of the cosines and people's scores."""
    cosines = (unit(vectors(first)) * unit(vectors(second))).sum(axis=1)
    return float(spearmanr(cosines, scores).statistic)


# Encoding.


def encode(collection: Collection, share: int, only: Sequence[str]) -> None:
    """Have every copy's vectors."""
    texts = list(dict.fromkeys([*texts_of(gate_plan(share)), *texts_of(fresh_plan()), *judged_texts(collection.data)]))
    print(f"{len(texts):,} texts", flush=True)
    place(collection).parts(texts)
    named = {copy.name: copy for copy in COPIES}
    for copy in (named[name] for name in only or named):
        began = time.process_time()
        try:
            vectors = collection.of(copy)
            vectors(texts)
            print(f"{copy.name}: {time.process_time() - began:.0f} CPU s; steady: {vectors.steady}", flush=True)
        except ImportError as error:
            print(f"{copy.name}: left out: {error}", flush=True)


# What the gate and the score say.


@dataclass(frozen=True)
class Seen:
    """A copy as the gate sees it, what else is known of it, and whether it broke a contract."""

    side: ModelScores
    judgement: Judgement
    contracts: tuple[str, ...]

    @property
    def score(self) -> float:
        """The balanced score, whatever the gate says."""
        found = balanced_score(
            shares_above_chance(self.side.tables, self.side.scales), property_families(self.side.tables)
        )
        return float("nan") if found is None else found


def seen(vectors: Any, collection: Collection, share: int) -> Seen:
    """Of a copy whose vectors are there."""
    side = gate_plan(share).score_model(wrap_model_object(vectors, "copy"))
    broken = [] if getattr(vectors, "steady", True) else ["not the same answer twice"]
    for table in side.tables.values():
        if table.kind == "pair" and table.check.startswith("end_of_a_long_text"):
            ends = ends_seen.item_values(table, side.scales[table.data])
            broken += [f"the end of {int((ends == 0).sum())} of {len(ends)} long texts is not seen"] * bool(
                (ends == 0).any()
            )
    return Seen(side, judge(vectors, collection.data), tuple(broken))


def all_seen(collection: Collection, share: int) -> tuple[Seen, dict[Copy, Seen]]:
    """MiniLM, and every copy of which all vectors are there."""
    texts = [*texts_of(gate_plan(share)), *texts_of(fresh_plan()), *judged_texts(collection.data)]
    there = {copy: vectors for copy in COPIES if (vectors := collection.of(copy)).has(texts)}
    base = seen(place(collection).base, collection, share)
    return base, {copy: seen(vectors, collection, share) for copy, vectors in there.items()}


def from_chance(one: Seen, _: Seen) -> float:
    """The balanced score."""
    return one.score


def win_rates_alone(one: Seen, _: Seen) -> float:
    """What the balanced score was."""
    rates = {name: wins.rate for name, wins in property_wins(one.side.tables, one.side.scales).items()}
    return balanced_score(rates, property_families(one.side.tables)) or 0.0


def with_the_space(one: Seen, _: Seen) -> float:
    """From chance, with room, spread and neighbours of random pairs as a fourth part."""
    scale = one.side.scales[DATA]
    space = []
    for table in one.side.tables.values():
        metric, _why = gating_metric(table)
        if metric and declaration_of(table).family == "health":
            mean = float(np.nanmean(metric.item_values(table, scale)))
            space.append(1 + mean if metric.name == "steadiness" else mean)
    side = one.side
    found = [
        *part_means(shares_above_chance(side.tables, side.scales), property_families(side.tables)).values(),
        float(np.mean(space)),
    ]
    return float(np.prod(found) ** (1 / len(found)))


def in_deltas(one: Seen, base: Seen) -> float:
    """The mean change of the families' rows that are evidence, in deltas; a row gains one delta at most."""
    families: dict[str, list[float]] = {}
    for row in decide_by_rows(pool_rows(compare_cases(base.side, one.side)[0])).rows:
        if row.evidence and not row.part_of:
            families.setdefault(row.family, []).append(min(row.change / row.delta, 1.0))
    return float(np.mean([np.mean(some) for some in families.values()]))


FORMULAS: dict[str, Callable[[Seen, Seen], float]] = {
    "win rates, as before": win_rates_alone,
    "1: from chance": from_chance,
    "2: from chance, with room and spread": with_the_space,
    "3: changes in deltas": in_deltas,
}


def agreement(base: Seen, found: dict[Copy, Seen]) -> Iterator[str]:
    """Kendall's tau between each formula and the judgement, on each half."""
    yield "| half | formula | tau | 95% interval | near MiniLM | search alone | STS alone |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for half in ("build", "held"):
        some = [one for copy, one in found.items() if half_of(copy) == half]
        means, *alone = (np.round([getattr(one.judgement, name) for one in some], ALIKE) for name in ("mean", *FIGURES))
        near = np.abs(means - base.judgement.mean) < NEAR
        for name, formula in FORMULAS.items():
            scores = np.round([formula(one, base) for one in some], ALIKE)
            low, high = bootstrapped(scores, means)
            figures = (tau(scores[near], means[near]), tau(scores, alone[1]), tau(scores, alone[2]))
            shown = " | ".join(f"{figure:.2f}" for figure in figures)
            yield f"| {half} | {name} | {tau(scores, means):.2f} | {low:.2f} to {high:.2f} | {shown} |"
        within = ", ".join(f"{one} and {other} {tau(alone[i], alone[j]):.2f}"
                           for i, one in enumerate(FIGURES) for j, other in enumerate(FIGURES) if i < j)  # fmt: skip
        close = int((np.abs(means - base.judgement.mean) < CLOSE).sum())
        yield f"{half}: {len(some)} copies, {near.sum()} near MiniLM, {close} within {CLOSE}; {within}"


def tau(first: Floats, second: Floats) -> float:
    return float(kendalltau(first, second).statistic)


def bootstrapped(scores: Floats, means: Floats) -> tuple[float, float]:
    """The 95% interval of tau, by copies drawn again."""
    rng = np.random.default_rng(0)
    drawn = [rng.integers(len(scores), size=len(scores)) for _ in range(2_000)]
    low, high = np.nanquantile([tau(scores[some], means[some]) for some in drawn], (0.025, 0.975))
    return float(low), float(high)


def verdicts(base: Seen, found: dict[Copy, Seen], aside: dict[str, Any]) -> Iterator[str]:
    """The gate's word on each copy, beside the right answer; `aside` tells what MiniLM sees."""
    yield "| copy | right | gate | weightiest reason | score | were it not blocked | judgement |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    counted: Counter[tuple[str, str]] = Counter()
    for copy, one in found.items():
        decision = decide_by_rows(
            pool_rows(compare_cases(base.side, one.side, held_out=aside)[0]), contracts=one.contracts
        )
        counted[copy.right, decision.outcome] += 1
        why = decision.reasons[0].partition(": a loss")[0] if decision.reasons else ""
        score = "-" if decision.outcome == "block" else f"{one.score:.3f}"
        mark = f"**{decision.outcome}**" if {copy.right, decision.outcome} == {"pass", "block"} else decision.outcome
        figures = (score, f"{one.score:.3f}", f"{one.judgement.mean:.3f}")
        yield f"| {' | '.join((copy.name, copy.right, mark, why.replace('/data', ''), *figures))} |"
    yield f"MiniLM itself: {base.score:.3f}, judged {base.judgement.mean:.3f}"
    for (right, outcome), count in sorted(counted.items()):
        yield f"right answer {right}: {outcome} {count}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("encode", "score", "verdicts"))
    parser.add_argument("--folder", type=Path, required=True, help="for vectors and fine-tunes; used again")
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data sets")
    parser.add_argument("--share", type=int, default=SHARE, help="percent of the probes' clusters")
    parser.add_argument("--only", nargs="*", default=[], metavar="COPY", help="encode these, in this order")
    options = parser.parse_args()
    collection = Collection(options.folder.resolve(), options.data.resolve())
    if options.what == "encode":
        encode(collection, options.share, options.only)
        return
    base, found = all_seen(collection, options.share)
    if options.what == "score":
        print(*agreement(base, found), sep="\n")
    else:
        print(*verdicts(base, found, aside_of(collection, options.share)), sep="\n")


if __name__ == "__main__":
    main()
