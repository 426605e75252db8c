"""Hold the probe set to what its datasheet says: artefacts, near-duplicates, power. Prints the datasheet's figures.

    python recipes/check_probes.py artefacts
    python recipes/check_probes.py duplicates --texts DIR_OF_PUBLIC_SETS
    python recipes/check_probes.py power

`duplicates` looks for shared runs of eight words, and for near-duplicates by the default encoder among the twenty texts
nearest by TF-IDF.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from encheck.datasets.probes import embedded
from encheck.generators.phenomenon import PHENOMENA
from encheck.similarity import jaccard
from encheck.types import Group

CONTRASTS = {name: ((f"{name}_kept", 1), (name, 1)) for name in PHENOMENA} | {
    "antonym": (("synonym", 1), ("antonym", 1))
}
SUFFIXES = {".txt", ".tsv", ".csv", ".pos", ".neg", ".data", ".xml", ".conllu", ".toks"}
RUN = 8
NEAR = 20


def edits(groups: tuple[Group, ...]) -> Iterator[tuple[str, Group, str, int]]:
    """(phenomenon, group, text, 1 for kept or 0 for changed) of every contrast."""
    for group in groups:
        for name, (kept, changed) in CONTRASTS.items():
            first, second = group.variant(*kept), group.variant(*changed)
            if first and second:
                yield name, group, first.text, 1
                yield name, group, second.text, 0


def overlap_auc(rows: list[tuple[str, Group, str, int]]) -> float:
    """P(a kept edit shares more words with its sentence than a changed one), ties counting half."""
    from sklearn.metrics import roc_auc_score

    overlap = jaccard([g.source for _, g, _, _ in rows], [text for _, _, text, _ in rows])
    return float(roc_auc_score([kept for *_, kept in rows], overlap))


def variant_only_accuracy(rows: list[tuple[str, Group, str, int]], *, characters: bool) -> float:
    """Balanced accuracy of a classifier that sees the variant alone: words and pairs of words, or runs of characters.

    Logistic regression, five folds of whole groups.
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.model_selection import GroupKFold, cross_val_predict

    words = {"ngram_range": (1, 2), "token_pattern": r"\S+"}
    how = {"analyzer": "char_wb", "ngram_range": (2, 5), "min_df": 2} if characters else words
    vectors = CountVectorizer(binary=True, **how).fit_transform([text for _, _, text, _ in rows])
    kept = np.array([k for *_, k in rows])
    folds = GroupKFold(5).split(vectors, kept, [g.id for _, g, _, _ in rows])
    said = cross_val_predict(LogisticRegression(C=0.1, max_iter=500), vectors, kept, cv=list(folds))
    return float(balanced_accuracy_score(kept, said))


def positions(groups: tuple[Group, ...]) -> Counter[str]:
    """In which third of its sentence the first changed edit of each contrast starts."""
    thirds: Counter[str] = Counter()
    for group in groups:
        for _, changed in CONTRASTS.values():
            if variant := group.variant(*changed):
                at = variant.edits[0].start / max(len(group.source), 1)
                thirds["first" if at < 1 / 3 else "second" if at < 2 / 3 else "last"] += 1
    return thirds


def artefacts() -> None:
    groups = embedded().groups
    rows = list(edits(groups))
    for name in ("all", *CONTRASTS):
        some = [row for row in rows if name in ("all", row[0])]
        figures = [overlap_auc(some), *(variant_only_accuracy(some, characters=c) for c in (False, True))]
        print(f"{name:15} {len(some) // 2:5} contrasts, overlap AUC {figures[0]:.3f}, variant alone: "
              f"words {figures[1]:.3f}, characters {figures[2]:.3f}")  # fmt: skip
    print("changed edits begin in the", dict(positions(groups)), "third of their sentence")


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

    from encheck.encoders.load import Device, config_for, load
    from encheck.encoders.models_file import known_models

    groups = embedded().groups
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
    model = load(config_for("sbert", known_models()), device=Device("cpu"))
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("artefacts", "duplicates", "power"))
    parser.add_argument("--texts", type=Path, help="folder of public data sets")
    parser.add_argument("--report", type=Path, help="folder of a run on the probes")
    args = parser.parse_args()
    if args.what == "artefacts":
        artefacts()
    elif args.what == "duplicates":
        duplicates(args.texts)
    else:
        power(args.report)


if __name__ == "__main__":
    main()
