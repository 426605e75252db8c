"""Hold the probe set to what its datasheet says: sizes, artefacts, duplicates, power. Prints its figures.

    python lab/recipes/check_probes.py sizes
    python lab/recipes/check_probes.py surface
    python lab/recipes/check_probes.py rivals
    python lab/recipes/check_probes.py learned [--refits 200] [--products] [--write]
    python lab/recipes/check_probes.py forced-choice
    python lab/recipes/check_probes.py duplicates --texts DIR_OF_PUBLIC_SETS
    python lab/recipes/check_probes.py power --report DIR
    python lab/recipes/check_probes.py mix --report DIR

`duplicates` looks for shared runs of eight words, and for near-duplicates by the default encoder among the twenty texts
nearest by TF-IDF. No other part loads an encoder.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent))
import learned_rival

from encheck.datasets.probes import embedded, relation_keeping_meaning
from encheck.generators.phenomenon import all_phenomena
from encheck.surface import SHARED, SURFACE, UNBALANCED_SCORERS, Frequencies, tf_idf
from encheck.types import Group

NAMES = (*(name for name, one in all_phenomena().items() if one.in_probes), "antonym")
LEARNED = Path(__file__).resolve().parents[1] / "learned_rival.json"
SYNONYM = "synonym / control"  # no phenomenon: of the same word a synonym and another word
TIE, BY_CHANCE = 1e-9, 0.25  # in both directions
SUFFIXES = {".txt", ".tsv", ".csv", ".pos", ".neg", ".data", ".xml", ".conllu", ".toks"}
RUN = 8
NEAR = 20
WORDS = {"ngram_range": (1, 2), "token_pattern": r"\S+"}
CHARACTERS = {"analyzer": "char_wb", "ngram_range": (2, 5), "min_df": 2}
STRENGTHS = (0.1, 1.0, 10.0)  # C of the logistic regression
REPEATS = 3
NOISE = 1e-6  # of the arithmetic: a margin that is no larger is a tie


@dataclass(frozen=True)
class Contrast:
    """A kept and a changed text of one source; `construction` is empty where the group has none."""

    phenomenon: str
    group: str
    cluster: str
    split: str
    source: str
    kept: str
    changed: str
    construction: str = ""


def contrasts(groups: Sequence[Group]) -> Iterator[Contrast]:
    """Every contrast, of each side of a crossed group one; and each synonym against the control."""
    sides = {name: (relation_keeping_meaning(name), name) for name in NAMES} | {SYNONYM: ("synonym", "control")}
    for group in groups:
        for name, (near, far) in sides.items():
            kept, changed = group.variant(near), group.variant(far)
            if kept and changed:
                yield Contrast(
                    name, group.id.partition("~")[0], group.cluster, group.split, group.source, kept.text,
                    changed.text, group.construction,
                )  # fmt: skip


def of_phenomena(found: Sequence[Contrast], *more: str) -> dict[str, list[Contrast]]:
    """Those of each phenomenon, and of what else is named."""
    return {name: [c for c in found if c.phenomenon == name] for name in (*NAMES, *more)}


def texts_of(some: Sequence[Contrast]) -> tuple[list[str], list[str], list[str]]:
    """Their sources, kept and changed texts."""
    return [c.source for c in some], [c.kept for c in some], [c.changed for c in some]


def differences(some: Sequence[Contrast], scorer: str) -> NDArray[np.float64]:
    """How much nearer the kept text is to its source than the changed one, by a surface scorer; shape [n].

    tf-idf counts these texts.
    """
    sources, kept, changed = texts_of(some)
    score = SURFACE.get(scorer) or partial(tf_idf, frequencies=Frequencies.of([*sources, *kept, *changed]))
    return score(sources, kept) - score(sources, changed)


@dataclass(frozen=True)
class Outcome:
    """Contrasts that a scorer wins and loses, and the shares of groups of two that it wins twice and loses twice.

    A tie is half a win and half a loss there.
    """

    wins: int
    losses: int
    both: float
    neither: float

    @classmethod
    def of(cls, some: Sequence[Contrast], scorer: str) -> Outcome:
        """What this scorer gets of these contrasts."""
        found = differences(some, scorer)
        worths = (1 + np.where(np.abs(found) <= TIE, 0, np.sign(found))) / 2
        groups: dict[str, list[float]] = defaultdict(list)
        for contrast, worth in zip(some, worths.tolist(), strict=True):
            groups[contrast.group].append(worth)
        pairs = np.array([both for both in groups.values() if len(both) == 2] or [(np.nan, np.nan)])
        both, neither = (float(sides.prod(axis=1).mean()) for sides in (pairs, 1 - pairs))
        return cls(int((worths == 1).sum()), int((worths == 0).sum()), both, neither)

    @property
    def is_balanced(self) -> bool:
        """Whether it tells nothing: as many wins as losses, and no more than chance in both directions, or against."""
        return self.wins == self.losses and max(self.both, self.neither) <= BY_CHANCE


def telling(some: Sequence[Contrast]) -> dict[str, Outcome]:
    """The fixed rivals by which these contrasts can be told apart without their meaning; none where they are balanced.

    This is a property of the set and no estimate: contrasts are balanced where they can be paired so that kept and
    changed change places and what the rival reads stays.
    """
    found = {scorer: Outcome.of(some, scorer) for scorer in (*SURFACE, "tf-idf")}
    return {scorer: outcome for scorer, outcome in found.items() if not outcome.is_balanced}


def won(some: Sequence[Contrast], scorer: str) -> float:
    """Share of contrasts that a surface scorer wins; a tie is one half."""
    outcome = Outcome.of(some, scorer)
    return 0.5 + (outcome.wins - outcome.losses) / (2 * len(some))


def sizes(found: Sequence[Contrast]) -> None:
    print("| phenomenon | groups | contrasts | clusters | contrasts of the gate | clusters of the gate |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, some in of_phenomena(found).items():
        gate = [c for c in some if c.split == "gate"]
        counts = (len({c.group for c in some}), len(some), len({c.cluster for c in some}))
        print(f"| {name} | {' | '.join(map(str, (*counts, len(gate), len({c.cluster for c in gate}))))} |")


def surface(found: Sequence[Contrast]) -> None:
    print(f"| phenomenon | {' | '.join(SHARED)} |")
    print(f"| --- |{' --- |' * len(SHARED)}")
    for name, some in of_phenomena(found).items():
        shares = " | ".join(f"{won(some, scorer):.3f}" for scorer in SHARED)
        print(f"| {name} | {shares} |")


def rivals(found: Sequence[Contrast]) -> None:
    print(f"| phenomenon | {' | '.join(UNBALANCED_SCORERS)} |")
    print(f"| --- |{' --- |' * len(UNBALANCED_SCORERS)}")
    for name, some in of_phenomena(found, SYNONYM).items():
        shares = [(won(some, scorer), Outcome.of(some, scorer).both) for scorer in UNBALANCED_SCORERS]
        print(f"| {name} | {' | '.join(f'{one:.2f} / {both:.2f}' for one, both in shares)} |".replace(" / nan", ""))


@dataclass(frozen=True)
class LearnedShare:
    """The share of contrasts that the rival that learns wins, and `both`, the share of groups that it wins twice.

    `by_chance` is the 95th percentile of the share that it wins when there is nothing to learn.
    """

    share: float
    by_chance: float
    both: float


def learned(some: Sequence[Contrast], *, by: Literal["cluster", "construction"], refits: int) -> LearnedShare:
    """What the rival that learns is right about in the clusters or constructions that it was not fitted to.

    Under 240 groups the figures are noise, and decide nothing.
    """
    folds, groups = [getattr(c, by) for c in some], [c.group for c in some]
    apart = learned_rival.differences(*texts_of(some))
    right = learned_rival.right(apart, folds)
    of_groups = [right[np.array(groups) == group] for group in dict.fromkeys(groups)]
    both = float(np.mean([two.prod() for two in of_groups if len(two) == 2]))
    chance = learned_rival.null(apart, folds, groups, refits=refits)
    return LearnedShare(*(round(float(x), 3) for x in (right.mean(), np.quantile(chance, 0.95), both)))


def learned_of_all(found: Sequence[Contrast], *, refits: int, with_products: bool, write: bool) -> None:
    """Print the figures of the rival that learns, of other clusters and of other constructions; write them if asked."""
    head = [
        "phenomenon",
        "groups",
        "other clusters",
        "by chance",
        "other constructions",
        "by chance",
        "both directions",
    ]
    head += ["order x words"] * with_products
    print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}")
    figures = {}
    for name, some in of_phenomena(found, SYNONYM).items():
        clusters = learned(some, by="cluster", refits=refits)
        constructions = learned(some, by="construction", refits=refits) if some[0].construction else None
        groups = len({c.group for c in some})
        figures[name] = {
            "groups": groups,
            "clusters": asdict(clusters),
            "constructions": asdict(constructions) if constructions else None,
        }
        cells = [f"{name} | {groups} | {clusters.share:.3f} | {clusters.by_chance:.3f}"]
        it = constructions
        cells.append(f"{it.share:.3f} | {it.by_chance:.3f} | {it.both:.3f}" if it else "- | - | -")
        if with_products:
            apart = learned_rival.products(*texts_of(some))
            cells.append(f"{learned_rival.right(apart, [c.cluster for c in some]).mean():.3f}")
        print(f"| {' | '.join(cells)} |", flush=True)
    if write:
        probes = embedded()
        command = "python lab/recipes/check_probes.py learned --write"
        known = {"command": command, "version": probes.version, "fingerprint": probes.fingerprint, "figures": figures}
        LEARNED.write_text(json.dumps(known, indent=1) + "\n", "utf-8")


def right_by_variants(
    some: Sequence[Contrast], *, characters: bool, strength: float = 1.0, seed: int = 0, trees: bool = False
) -> NDArray[np.float64]:
    """Whether a classifier that sees the two variants without their source says which is kept; shape [n], 0 to 1.

    Logistic regression of the difference of their TF-IDF vectors without an intercept, five folds of whole groups; with
    `trees` gradient boosting over 50 of its principal directions.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.model_selection import GroupKFold

    names = sorted({c.group for c in some})
    order = dict(zip(names, np.random.default_rng(seed).permutation(len(names)), strict=True))
    groups = np.array([order[c.group] for c in some])
    said = np.zeros(len(some))
    texts = np.array([(c.kept, c.changed) for c in some], object)
    for train, test in GroupKFold(5, shuffle=True, random_state=seed).split(texts, groups=groups):
        vectorizer = TfidfVectorizer(sublinear_tf=True, **(CHARACTERS if characters else WORDS))
        vectorizer.fit(texts[train].ravel())
        known, new = (_apart(vectorizer, texts[part]) for part in (train, test))
        margin = (_trees(known) if trees else _logistic(known, strength))(new)
        said[test] = (margin > NOISE) + 0.5 * (np.abs(margin) <= NOISE)
    return said


def _apart(vectorizer, texts):
    """Vectors of the first texts less those of the second; fitted on other texts, whose words alone are known."""
    return vectorizer.transform(texts[:, 0]) - vectorizer.transform(texts[:, 1])


def _logistic(apart, strength: float):
    from scipy.sparse import vstack
    from sklearn.linear_model import LogisticRegression

    both, labels = vstack([apart, -apart]), np.repeat([1, 0], apart.shape[0])
    return LogisticRegression(C=strength, fit_intercept=False, max_iter=500).fit(both, labels).decision_function


def _trees(apart):
    from scipy.sparse import vstack
    from sklearn.decomposition import TruncatedSVD
    from sklearn.ensemble import HistGradientBoostingClassifier

    both, labels = vstack([apart, -apart]), np.repeat([1, 0], apart.shape[0])
    directions = TruncatedSVD(min(50, min(both.shape) - 1), random_state=0).fit(both)
    model = HistGradientBoostingClassifier(max_iter=80, random_state=0).fit(directions.transform(both), labels)

    def says(rows):
        forth, back = (model.predict_proba(directions.transform(part))[:, 1] for part in (rows, -rows))
        return forth - back

    return says


def upper(right: NDArray[np.float64], groups: Sequence[str], *, seed: int = 0) -> float:
    """Upper end of the 95% interval of the share that is right, over whole groups (2,000 draws)."""
    names, at = np.unique(groups, return_inverse=True)
    sums = np.column_stack([np.bincount(at, right), np.bincount(at)])
    draws = np.random.default_rng(seed).integers(len(names), size=(2_000, len(names)))
    total = sums[draws].sum(axis=1)
    return float(np.quantile(total[:, 0] / total[:, 1], 0.975))


def forced_choice(found: Sequence[Contrast]) -> None:
    print("| phenomenon | contrasts | best of TF-IDF and logistic regression | 95% upper bound | gradient boosting |")
    print("| --- | --- | --- | --- | --- |")
    for name, some in of_phenomena(found).items():
        groups = [c.group for c in some]
        settings = [(characters, strength) for characters in (False, True) for strength in STRENGTHS]
        tried = [
            np.mean([right_by_variants(some, characters=c, strength=s, seed=seed) for seed in range(REPEATS)], axis=0)
            for c, s in settings
        ]
        best = max(tried, key=lambda right: right.mean())
        other = right_by_variants(some, characters=True, trees=True).mean()
        print(f"| {name} | {len(some)} | {best.mean():.3f} | {upper(best, groups):.3f} | {other:.3f} |")


def public_texts(folder: Path) -> set[str]:
    """The text fields of every file of public data, whatever its format."""
    found: set[str] = set()
    files = (p for p in folder.rglob("*") if p.is_file() and (p.suffix in SUFFIXES or "senteval" in p.parts))
    for path in files:
        for line in path.read_text("utf-8", errors="replace").splitlines():
            found.update(field for field in line.split("\t") if field.count(" ") >= 3)
    return found


def words_of(text: str) -> list[str]:
    """Words as `build_probes` counts them: don't, 2.5 and twenty-one are one each."""
    return re.findall(r"[^\W_]\w*(?:[-'’.,]\w+)*", text.lower())


def runs(text: str) -> set[tuple[str, ...]]:
    words = words_of(text)
    return set(zip(*(words[i:] for i in range(RUN)), strict=False))


def duplicates(folder: Path) -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    from encheck.encoders.load import find_or_make_model_config, load_model
    from encheck.encoders.model_config import Device
    from encheck.encoders.models_file import known_models

    groups = [g for g in embedded().groups if not g.side]
    texts = sorted(public_texts(folder))
    ours = [g.source for g in groups] + [v.text for g in groups for v in g.variants]
    known = {run for text in texts for run in runs(text)}
    shared = [text for text in ours if runs(text) & known]
    print(f"{len(texts)} public texts; {len(shared)} of {len(ours)} probe texts share a run of {RUN} words with one")
    for text in shared[:10]:
        print("   ", text)
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=1).fit([*texts, *ours])
    theirs, sources = vectorizer.transform(texts), [g.source for g in groups]
    near = vectorizer.transform(sources) @ theirs.T
    candidates = {i: near[i].toarray().ravel().argsort()[-NEAR:] for i in range(len(sources))}
    wanted = sorted({int(j) for found in candidates.values() for j in found})
    model = load_model(find_or_make_model_config("sbert", known_models()), device=Device("cpu"))
    first, second = model.encode(sources), model.encode([texts[j] for j in wanted])
    rows = {j: k for k, j in enumerate(wanted)}
    best = [(max(float(first[i] @ second[rows[int(j)]]), -1.0), int(j)) for i in candidates for j in candidates[i]]
    owner = [i for i in candidates for _ in candidates[i]]
    top = sorted(zip(best, owner, strict=True), reverse=True)
    close = {limit: len({i for (cosine, _), i in top if cosine >= limit}) for limit in (0.9, 0.8)}
    print(f"highest cosine of a probe sentence with a public text: {top[0][0][0]:.3f}; sentences at or above: {close}")
    for (cosine, j), i in top[:5]:
        print(f"    {cosine:.3f} probe {groups[i].id} / public text {j}")


def power(report: Path) -> None:
    """Print, per claim of a run and on what a gate sees of it, how small a change can be seen.

    That is the mean margin or the win rate at which a two-sided test at 5% has a power of 80%, both models measured on
    the same items, with a correlation of .9 between their margins and 5% of the wins different.
    """
    import pyarrow.parquet

    from encheck.reporting.results import ITEMS, RESULTS

    results = json.loads((report / RESULTS).read_text("utf-8"))
    scale = {d["name"]: next(iter(d["calibration"].values())) for d in results["data"]}["probes"]
    width = scale["identity"] - scale["reference"]
    columns = pyarrow.parquet.read_table(report / ITEMS).to_pydict()
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    print("| claim | items | clusters | SD of calibrated margin | smallest visible change: mean | win rate |")
    print("| --- | --- | --- | --- | --- | --- |")
    for case in dict.fromkeys(columns["case"]):
        some = [r for r in rows if r["case"] == case and r["far"] is not None and r["split"] != "dev"]
        if some:
            margins = np.array([(r["near_score"] - r["far_score"]) / width for r in some])
            clusters, spread = len({r["cluster"] for r in some}), float(margins.std(ddof=1))
            seen = 2.8 * spread * np.sqrt(2 * (1 - 0.9)) / np.sqrt(clusters)
            rate = 2.8 * np.sqrt(0.05 / clusters)
            print(f"| {case} | {len(some)} | {clusters} | {spread:.3f} | {seen:.3f} | {rate:.3f} |")


def mix(report: Path) -> None:
    """Print the groups of each kind of construction, and in how many of them a model is right in both directions."""
    import pyarrow.parquet

    from encheck.metrics.pairs import margin_wins
    from encheck.reporting.results import ITEMS

    names = ["case", "item", "construction", "near_score", "far_score"]
    columns = pyarrow.parquet.read_table(report / ITEMS, columns=names).to_pydict()
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for case, item, construction, near, far in zip(*columns.values(), strict=True):
        if construction and ": " in construction and "_in_both_directions" in case:
            groups = found[case.partition("_")[0], construction.partition(": ")[0]]
            groups[item.rpartition("/")[0]].append(float(margin_wins(np.float64(near - far))))
    print("| phenomenon | kind | groups | right in both directions |\n| --- | --- | --- | --- |")
    for (name, kind), groups in sorted(found.items()):
        print(f"| {name} | {kind} | {len(groups)} | {np.mean([np.prod(sides) for sides in groups.values()]):.2f} |")


TABLES = {"sizes": sizes, "surface": surface, "rivals": rivals, "forced-choice": forced_choice}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=(*TABLES, "learned", "duplicates", "power", "mix"))
    parser.add_argument("--texts", type=Path, help="folder of public data sets")
    parser.add_argument("--report", type=Path, help="folder of a run on the probes")
    parser.add_argument("--refits", type=int, default=200, help="of the learned rival where nothing is to be learnt")
    parser.add_argument("--write", action="store_true", help="the learned rival's figures into lab/learned_rival.json")
    parser.add_argument("--products", action="store_true", help="also the order of words times the words of an edit")
    args = parser.parse_args()
    found = list(contrasts(embedded().groups))
    if args.what == "duplicates":
        duplicates(args.texts)
    elif args.what in ("power", "mix"):
        {"power": power, "mix": mix}[args.what](args.report)
    elif args.what == "learned":
        learned_of_all(found, refits=args.refits, with_products=args.products, write=args.write)
    else:
        TABLES[args.what](found)


if __name__ == "__main__":
    main()
