"""Does RISE help because it weighs the right pairs? Human pairs with a known share of machine-made ones, six arms.

    python papers/recipes/rise_control.py --model sbert --data DATA --seeds 5 --out OUT

--data holds stsbenchmark and mrpc as distributed. papers/docs/training.md states the design, and the one comparison
that decides: rise against permuted, Spearman on the test part of the STS benchmark, sources stsb, paired by seed.

--out gets a folder for each source and seed: pool.json (figures of the discriminator and of the weights), logits.npz
(in the pool's order), and a file an arm. What is there is not run again; with other settings a run is refused. The
report is printed from the files; `--report` prints it and runs nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import pearsonr, spearmanr
from training_options import above_zero, count, make_folder, share_of

from encheck.datasets.clusters import order_clusters_by_hash
from encheck.datasets.load import load
from encheck.encoders.checkpoints.pretrained import quiet_transformers
from encheck.errors import EncheckError, UsageError
from encheck.generators.jumble import choose_exchanges
from encheck.language.lexicon.load import load_lexicon
from encheck.metrics import thresholds
from encheck.reporting.text import table
from encheck.scoring.pairs import SentencePair
from encheck.statistics.hypothesis_tests import t_cdf, t_quantile
from encheck.statistics.sharing import Sharing
from encheck.system.documents import parse_json, read_text
from encheck.system.files import write_text
from encheck.types import apply_edits, content_hash
from encheck_papers.cross_fitting import Logits, Sentences, cross_fitted
from encheck_papers.dino_pairs import smoothed
from encheck_papers.discriminator import Discriminator
from encheck_papers.fit import folder_to_train
from encheck_papers.published_recipe import stop_words, substituted, synonyms_of
from encheck_papers.reweighted_loss import reweighted_rows
from encheck_papers.reweighting import (
    effective_sample_size,
    human_probability,
    kept_by_filter,
    permuted,
    random_weights,
    uniform,
)

Floats = NDArray[np.float64]
Figures = Mapping[str, float]
Edit = Callable[[str, str, Random], str]  # a text, another text of the pool, a random generator -> a text
ARMS = ("rise", "permuted", "uniform", "none", "filter", "random")
SOURCES = {"stsb": "stsb:{}/stsbenchmark", "mrpc": "mrpc:{}/mrpc"}
TEMPERATURE = {"stsb": 0.5, "mrpc": 0.7}  # the paper's
MEASURED = ("stsb_spearman", "stsb_pearson", "mrpc_accuracy", "mrpc_f1")
PRIMARY = ("stsb", "rise", "permuted", "stsb_spearman")
SYNONYMS, EXCHANGES, DROPPED = 3, 3, 3


def with_synonyms(text: str, _other: str, rng: Random) -> str:
    """Up to three words, each replaced by any word that WordNet relates to it: the published recipe, all senses."""
    related = synonyms_of(load_lexicon())
    return substituted(text, words=SYNONYMS, rng=rng, related=related, stop=stop_words()[1]).text


def jumbled(text: str, _other: str, rng: Random) -> str:
    """As many as three disjoint pairs of words exchanged."""
    edits = next((found for n in range(EXCHANGES, 0, -1) if (found := choose_exchanges(text, pairs=n, rng=rng))), ())
    return apply_edits(text, edits)


def with_words_dropped(text: str, _other: str, rng: Random) -> str:
    """One word in three left out."""
    words = text.split()
    gone = set(rng.sample(range(len(words)), len(words) // DROPPED))
    return " ".join(word for i, word in enumerate(words) if i not in gone)


def spliced(text: str, other: str, _rng: Random) -> str:
    """The first half of the text, then the second half of another one."""
    own, others = text.split(), other.split()
    return " ".join([*own[: (len(own) + 1) // 2], *others[len(others) // 2 :]])


KINDS: Mapping[str, Edit] = {
    "synonym": with_synonyms, "jumble": jumbled, "drop": with_words_dropped, "splice": spliced,
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """What the figures hang on."""

    model: str
    pairs: int
    share: float
    epochs: int
    learning_rate: float
    batch_size: int
    discriminator_epochs: int
    discriminator_rate: float
    stsb_pairs: int | None
    mrpc_pairs: int | None
    data: str = ""  # the fingerprint of both sources


@dataclass(frozen=True)
class Pooled:
    """A pair of the pool: its label in [0, 1], its cluster, the kind of its fold, and whether a machine made it."""

    first: str
    second: str
    label: float
    cluster: str
    kind: str
    is_machine: bool


def label_of(pair: SentencePair) -> float:
    """The score out of 5, or the smoothed label."""
    return pair.score / 5 if pair.score is not None else smoothed(float(pair.label or 0))


def pool_of(train: Sequence[SentencePair], count: int, share: float, seed: int) -> list[Pooled]:
    """`count` pairs of whole clusters; of each kind's clusters this share of pairs is machine-made, by that kind.

    Kinds are dealt out to clusters, so that leaving out a kind leaves out the sentences it was made from.
    """
    order = {name: i for i, name in enumerate(order_clusters_by_hash((p.cluster for p in train), seed=seed))}
    chosen = sorted(train, key=lambda p: order[p.cluster])[:count]
    kinds = [list(KINDS)[order[p.cluster] % len(KINDS)] for p in chosen]
    rng = Random(f"{seed}/pool")
    made = {i: text for kind in KINDS for i, text in _made(chosen, kinds, kind, share, rng)}
    return [
        Pooled(p.first, made.get(i, p.second), label_of(p), p.cluster, kinds[i], i in made)
        for i, p in enumerate(chosen)
    ]


def _made(
    pairs: Sequence[SentencePair], kinds: Sequence[str], kind: str, share: float, rng: Random
) -> Iterator[tuple[int, str]]:
    """Places and machine-made second texts of a kind, where the edit changes something."""
    places = [i for i, own in enumerate(kinds) if own == kind]
    wanted = round(share * len(places))
    for i in rng.sample(places, len(places)):
        if not wanted:
            return
        text = KINDS[kind](pairs[i].second, pairs[rng.choice(places)].second, rng)
        if text.split() not in ([], pairs[i].second.split()):
            wanted -= 1
            yield i, text


@dataclass(frozen=True)
class Data:
    """Training pairs by source, without sentences of the evaluated parts; these parts; a fingerprint of the files."""

    train: Mapping[str, list[SentencePair]]
    parts: Mapping[tuple[str, str], list[SentencePair]]
    fingerprint: str = ""


def read(root: str, most: Mapping[str, int | None]) -> Data:
    """Both sources; of each measured part the first `most` pairs.

    MRPC and the STS benchmark share sentences: those of a measured part train nothing.
    """
    loaded = {name: load(spec.format(root), sample=None, whole=True) for name, spec in SOURCES.items()}
    sets = {name: one.pairs for name, one in loaded.items()}
    parts = {
        (name, split): [p for p in pairs if p.split == split][: most[name]]
        for name, pairs in sets.items()
        for split in ("validation", "test")
    }
    measured = {text for pairs in sets.values() for p in pairs if p.split != "train" for text in plain(p)}
    train = {name: [p for p in pairs if p.split == "train" and not plain(p) & measured] for name, pairs in sets.items()}
    return Data(train, parts, content_hash(*(one.fingerprint for one in loaded.values())))


def plain(pair: SentencePair) -> set[str]:
    """Letters and digits of both sentences: the two corpora print the same sentence with other blanks and quotes."""
    return {"".join(filter(str.isalnum, text.lower())) for text in (pair.first, pair.second)}


def logits_of(pool: Sequence[Pooled], settings: Settings, seed: int) -> tuple[Floats, Logits]:
    """Logits of each pair's second text in the pool's order, and by class; none by a discriminator of its kind."""
    is_machine = np.array([p.is_machine for p in pool])
    every = Sentences(tuple(p.second for p in pool), tuple(p.cluster for p in pool))
    folds = {p.cluster: list(KINDS).index(p.kind) for p in pool}
    discriminator = Discriminator(
        str(folder_to_train(settings.model)), epochs=settings.discriminator_epochs,
        learning_rate=settings.discriminator_rate, batch_size=16, seed=seed,
    )  # fmt: skip
    found = cross_fitted(every.part(~is_machine), every.part(is_machine), discriminator.fit, folds=folds)
    logits = np.zeros((len(pool), 2))
    logits[~is_machine], logits[is_machine] = found.human, found.machine
    return logits, found


def about(pool: Sequence[Pooled], logits: Floats, found: Logits, weights: Floats, model: str) -> dict[str, Any]:
    """What the pool, the discriminator and the weights are like, by kind: nothing of the arms."""
    cosines, labels = cosines_of(loaded(model), pool), np.array([p.label for p in pool])
    kinds = {}
    for kind in KINDS:
        own, human = (np.array([p.kind == kind and p.is_machine == made for p in pool]) for made in (True, False))
        kinds[kind] = {
            "pairs": int(own.sum()),
            "auc": Logits(logits[human], logits[own], 1).auc,
            "mean_weight": float(weights[own].mean()),
            "label_agreement": float(spearmanr(cosines[own], labels[own]).statistic),
        }
    human = np.array([not p.is_machine for p in pool])
    return {
        "pairs": len(pool), "machine": int((~human).sum()), "auc": found.auc, "mean_weight": float(weights.mean()),
        "human_mean_weight": float(weights[human].mean()), "effective": effective_sample_size(weights),
        "human_label_agreement": float(spearmanr(cosines[human], labels[human]).statistic), "kinds": kinds,
    }  # fmt: skip


def arm_of(arm: str, weights: Floats, seed: int) -> tuple[NDArray[np.intp], Floats]:
    """Places of the pairs that an arm trains on, and their weights."""
    everything = np.arange(len(weights))
    if arm == "filter":
        kept = kept_by_filter(weights)
        return kept, np.ones(len(kept))
    given = {
        "rise": lambda: weights,
        "permuted": lambda: permuted(weights, seed=seed),
        "uniform": lambda: uniform(weights),
        "none": lambda: np.ones(len(weights)),
        "random": lambda: random_weights(len(weights), seed=seed),
    }
    return everything, given[arm]()


def loaded(model: str) -> Any:
    from sentence_transformers import SentenceTransformer

    with quiet_transformers():
        return SentenceTransformer(str(folder_to_train(model)))


def trained(pool: Sequence[Pooled], weights: Floats, settings: Settings, seed: int) -> Any:
    """The model after training with the authors' loss; the last checkpoint, since no development part is asked."""
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from transformers import PrinterCallback, set_seed

    from encheck_papers import ReweightedCosineLoss

    set_seed(seed)
    model = loaded(settings.model)
    first, second, labels = ([getattr(p, name) for p in pool] for name in ("first", "second", "label"))
    rows = Dataset.from_dict(reweighted_rows(first, second, labels, weights))
    steps = settings.epochs * -(-len(pool) // settings.batch_size)
    with tempfile.TemporaryDirectory() as scratch:
        args = SentenceTransformerTrainingArguments(
            output_dir=scratch, num_train_epochs=settings.epochs, per_device_train_batch_size=settings.batch_size,
            learning_rate=settings.learning_rate, warmup_steps=int(0.1 * steps), seed=seed, report_to=[],
            disable_tqdm=True, save_strategy="no", logging_strategy="no", dataloader_pin_memory=False,
        )  # fmt: skip
        trainer = SentenceTransformerTrainer(
            model=model, args=args, train_dataset=rows, loss=ReweightedCosineLoss(model)
        )
        trainer.remove_callback(PrinterCallback)
        with quiet_transformers():
            trainer.train()
    return model


def cosines_of(model: Any, pairs: Sequence[Pooled] | Sequence[SentencePair]) -> Floats:
    texts = list(dict.fromkeys(text for p in pairs for text in (p.first, p.second)))
    vectors = model.encode(texts, show_progress_bar=False, normalize_embeddings=True, batch_size=64)
    at = {text: i for i, text in enumerate(texts)}
    sides = (vectors[[at[getattr(p, side)] for p in pairs]] for side in ("first", "second"))
    return np.einsum("ij,ij->i", *sides).astype(float)


def measured(model: Any, data: Data) -> dict[str, float]:
    """The paper's figures on both test parts; thresholds of MRPC's validation part, chosen as the authors do."""
    graded = data.parts["stsb", "test"]
    cosines, gold = cosines_of(model, graded), [p.score for p in graded]
    found = {"stsb_spearman": spearmanr(cosines, gold).statistic, "stsb_pearson": pearsonr(cosines, gold).statistic}
    dev, test = (
        (cosines_of(model, pairs), np.array([p.label for p in pairs], np.int8))
        for pairs in (data.parts["mrpc", "validation"], data.parts["mrpc", "test"])
    )
    for name, objective in (("accuracy", thresholds.accuracy_objective), ("f1", thresholds.f1_objective)):
        predicted = test[0] > thresholds.rise_threshold(*dev, objective=objective)
        hits, alarms = float((predicted & (test[1] == 1)).sum()), float((predicted & (test[1] == 0)).sum())
        positives = float((test[1] == 1).sum())
        found[f"mrpc_{name}"] = float(objective(np.array(hits), np.array(alarms), positives, len(test[1]) - positives))
    return {name: float(value) for name, value in found.items()}


def run_seed(source: str, seed: int, data: Data, settings: Settings, out: Path, arms: Sequence[str]) -> None:
    """The arms that are not there yet."""
    place = out / source / f"seed{seed}"
    place.mkdir(parents=True, exist_ok=True)
    pool = pool_of(data.train[source], settings.pairs, settings.share, seed)
    weights = weights_of(source, seed, pool, settings, place)
    for arm in arms:
        if (file := place / f"{arm}.json").exists():
            continue
        start = time.process_time(), time.perf_counter()
        chosen, given = arm_of(arm, weights, seed)
        model = trained([pool[i] for i in chosen], given, settings, seed)
        trained_in = time.process_time() - start[0]
        figures = measured(model, data) | {
            "pairs": len(chosen), "mean_weight": float(given.mean()), "effective": effective_sample_size(given),
            "train_cpu_seconds": trained_in, "seconds": time.perf_counter() - start[1],
            "cpu_seconds": time.process_time() - start[0],
        }  # fmt: skip
        write_text(file, json.dumps(figures, indent=1) + "\n")
        print(f"{source} seed {seed} {arm}: STS-B Spearman {figures['stsb_spearman']:.4f}", flush=True)


def weights_of(source: str, seed: int, pool: Sequence[Pooled], settings: Settings, place: Path) -> Floats:
    """RISE's weights of the pool, from the file where they are there."""
    of = content_hash(*(text for p in pool for text in (p.first, p.second)))
    if (file := place / "pool.json").exists():
        if read_json(file)["pool"] != of:
            raise UsageError(f"{place} has weights of another pool, made by another version: name another folder")
        logits = np.load(place / "logits.npz")["logits"]
        return human_probability(logits, temperature=TEMPERATURE[source])
    start = time.process_time(), time.perf_counter()
    logits, found = logits_of(pool, settings, seed)
    seconds = {"seconds": time.perf_counter() - start[1], "cpu_seconds": time.process_time() - start[0]}
    weights = human_probability(logits, temperature=TEMPERATURE[source])
    np.savez(place / "logits.npz", logits=logits)
    told = {"pool": of} | about(pool, logits, found, weights, settings.model) | seconds
    write_text(file, json.dumps(told, indent=1) + "\n")
    return weights


def read_json(file: Path) -> Any:
    """What an earlier call wrote; UsageError if the file was cut off."""
    try:
        return parse_json(read_text(file))
    except (ValueError, OSError) as error:
        raise UsageError(f"{file} is not JSON: {error}. Remedy: remove it, and let the recipe make it again") from error


def paired(differences: Floats) -> tuple[float, float, float, float]:
    """Mean of the differences by seed, its 95% interval by Student's t, and the two-sided p."""
    n = len(differences)
    found = Sharing.of(np.arange(n)).estimate_errors(differences)
    error, degrees_of_freedom = float(found.error[0]), found.degrees_of_freedom
    mean, reach = float(differences.mean()), float(t_quantile(0.975, degrees_of_freedom)) * error
    p = 2 * float(t_cdf(-abs(mean) / error, degrees_of_freedom)) if error else float(mean == 0)
    return mean, mean - reach, mean + reach, p


def by_seed(one: Mapping[int, Figures], two: Mapping[int, Figures], figure: str) -> Floats:
    """A figure of one arm minus that of another, x 100, of the seeds that both have."""
    return np.array([100 * (one[seed][figure] - two[seed][figure]) for seed in sorted(one.keys() & two.keys())])


def report(out: Path) -> Iterator[str]:
    """Tables of what is there, then the one comparison that decides."""
    found = {
        (source, arm): {int(f.parent.name.removeprefix("seed")): read_json(f)
                        for f in sorted(out.glob(f"{source}/seed*/{arm}.json"))}
        for source in SOURCES for arm in ARMS
    }  # fmt: skip
    for source in SOURCES:
        yield from _pools(source, [read_json(f) for f in sorted(out.glob(f"{source}/seed*/pool.json"))])
        arms = {arm: found[source, arm] for arm in ARMS if found[source, arm]}
        yield from _arms(source, arms)
        yield from _differences(source, arms)
    source, arm, other, figure = PRIMARY
    one, two = found[source, arm], found[source, other]
    differences = by_seed(one, two, figure)
    if len(differences) < 2:
        lacks = f"needs two seeds of {arm} and {other} on {source}; there are {len(differences)}."
        yield f"The comparison that decides {lacks}"
        return
    mean, low, high, p = paired(differences)
    yield (
        f"\n{arm} minus {other}, source {source}, {figure} x 100, {len(differences)} paired seeds: {mean:+.2f} "
        f"(95% interval {low:+.2f} to {high:+.2f}, p = {p:.2g})"
    )


def _pools(source: str, pools: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The discriminator on kinds that it had not seen, by kind: means over seeds."""
    if not pools:
        return
    yield f"\nSource {source}: {pools[0]['machine']} of {pools[0]['pairs']} pairs machine-made; seeds: {len(pools)}\n"
    rows = [("kind", "pairs", "AUC, unseen", "mean weight", "label agreement")]
    for kind in KINDS:
        means = {k: np.mean([p["kinds"][kind][k] for p in pools]) for k in pools[0]["kinds"][kind]}
        rows.append((kind, f"{means['pairs']:.0f}", *(f"{means[k]:.3f}" for k in [*means][1:])))
    human = [f"{np.mean([p[k] for p in pools]):.3f}" for k in ("human_mean_weight", "human_label_agreement")]
    rows.append(("(human)", f"{pools[0]['pairs'] - pools[0]['machine']}", "", *human))
    yield from table(rows)
    yield f"effective sample size of RISE's weights: {np.mean([p['effective'] for p in pools]):.0f}"


def _arms(source: str, found: Mapping[str, Mapping[int, Figures]]) -> Iterator[str]:
    rows = [("arm", "seeds", "mean weight", "effective", *MEASURED)]
    for arm, seeds in found.items():
        every = list(seeds.values())
        size = (f"{np.mean([s['mean_weight'] for s in every]):.3f}", f"{np.mean([s['effective'] for s in every]):.0f}")
        rows.append((arm, str(len(every)), *size, *(_mean([100 * s[name] for s in every]) for name in MEASURED)))
    if found:
        yield f"\nSource {source}, x 100, mean and standard error over seeds\n"
        yield from table(rows)


def _differences(source: str, found: Mapping[str, Mapping[int, Figures]]) -> Iterator[str]:
    rise, rows = found.get("rise", {}), [("rise minus", "paired seeds", *MEASURED)]
    for arm, other in found.items():
        if arm != "rise" and (n := len(rise.keys() & other.keys())) > 1:
            means = (paired(by_seed(rise, other, name))[:3] for name in MEASURED)
            rows.append((arm, str(n), *(f"{mean:+.2f} [{low:+.2f}, {high:+.2f}]" for mean, low, high in means)))
    if rows[1:]:
        yield f"\nSource {source}, x 100, mean and 95% interval of the differences by seed\n"
        yield from table(rows)


def _mean(values: Sequence[float]) -> str:
    error = f" \u00b1 {np.std(values, ddof=1) / len(values) ** 0.5:.2f}" if len(values) > 1 else ""
    return f"{np.mean(values):.2f}{error}"


def held(out: Path, settings: Settings) -> None:
    """Keep the settings beside the results; UsageError if those there are others."""
    file, own = out / "settings.json", asdict(settings)
    if file.exists() and (before := read_json(file)) != own:
        other = ", ".join(f"{name} {before.get(name)!r}" for name in own if before.get(name) != own[name])
        raise UsageError(f"{out} holds results of other settings ({other}): name another folder")
    write_text(file, json.dumps(own, indent=1) + "\n")


def main() -> None:
    """Run what is missing, then report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--model", default="sbert", help="the encoder to begin with: a name, a folder, a hub id (%(default)s)")
    add("--data", help="folder that holds stsbenchmark and mrpc")
    add("--seeds", type=count, default=5, help="seeds 0, 1, ... (%(default)s)")
    add("--out", type=Path, required=True, help="folder of the results")
    add("--sources", nargs="+", choices=SOURCES, default=["stsb"], help="where human pairs come from (stsb)")
    add("--arms", nargs="+", choices=ARMS, default=list(ARMS), help="of each seed (all)")
    add("--pairs", type=count, default=1_000, help="human pairs of a pool (%(default)s)")
    add("--share", type=share_of, default=0.5, help="of these, with a second sentence that is edited (%(default)s)")
    add("--epochs", type=count, default=2, help="of each arm (%(default)s)")
    add("--learning-rate", type=above_zero, default=5e-5, help="of each arm (%(default)s)")
    add("--batch-size", type=count, default=32, help="pairs a step (%(default)s)")
    add("--discriminator-epochs", type=count, default=3, help="of the discriminator (%(default)s)")
    add("--discriminator-rate", type=above_zero, default=5e-5, help="its learning rate (%(default)s)")
    for name, most in (("stsb", None), ("mrpc", 500)):
        add(
            f"--{name}-pairs",
            type=count,
            default=most,
            help=f"of each measured part, the first so many ({most or 'all'})",
        )
    add("--report", action="store_true", help="print the tables of --out and run nothing")
    args = parser.parse_args()
    if not args.report:
        if args.data is None:
            parser.error("the following arguments are required: --data")
        folder_to_train(args.model)
        data = read(args.data, {"stsb": args.stsb_pairs, "mrpc": args.mrpc_pairs})
        given = {name: getattr(args, name) for name in Settings.__dataclass_fields__}
        settings = Settings(**given | {"data": data.fingerprint})
        make_folder(args.out)
        held(args.out, settings)
        for source in args.sources:
            for seed in range(args.seeds):
                run_seed(source, seed, data, settings, args.out, args.arms)
    elif not any(args.out.glob("*/seed*/*.json")):
        raise UsageError(f"--report: {args.out} holds no results. Remedy: name the --out of a run")
    print("\n".join(report(args.out)))


if __name__ == "__main__":
    try:
        main()
    except EncheckError as error:
        sys.exit(f"{Path(__file__).name}: {error}")
