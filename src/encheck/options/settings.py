"""The settings of a run. Each field that an option fills declares that option: this is the one table of options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from encheck.encoders.adapters import DTYPES
from encheck.errors import ConfigError, unknown
from encheck.options.option import Option, option
from encheck.options.project import project_table
from encheck.options.values import (
    MODES,
    all_given,
    each_once,
    engine_of,
    epsilon_of,
    path_of,
    sample_of,
    scope_of,
    search_index_of,
    seed_of,
    threshold_of,
    words_of,
)
from encheck.system import entry_points

Setting = bool | int | float | str | tuple[str, ...] | None  # as results.json has it


@dataclass(frozen=True)
class Settings:
    """The options of a run, checked.

    `models` are the models under test, then the seed replicates. `project` is [tool.encheck] of the
    pyproject.toml in `root`.
    """

    # fmt: off
    models: tuple[str, ...] = option(
        "model", group="what", metavar="MODEL", repeatable=True, takes_path=True, kept=True,
        parse=each_once("sbert"), usual="sbert",
        help="Model to test: a name that `encheck models` lists, a directory or file (./checkpoint), or a hub id "
        "(owner/name). Repeatable. For a checkpoint that you do not trust, use `encheck run`, not plain pytest: after "
        "a space instead of =, pytest reads DIR/pytest.ini and runs DIR/conftest.py, and no plugin can prevent it.",
    )
    model_args: tuple[str, ...] = option(
        "model-arg", group="what", metavar="[MODEL:]KEY=VALUE", repeatable=True, kept=True, parse=all_given,
        help="Set a field of models.yaml, or an option of the adapter, for this run only. Repeatable.",
    )
    data: tuple[str, ...] = option(
        "data", group="what", metavar="NAME[@SPLIT][:PATH]", repeatable=True, takes_path=True, kept=True,
        parse=each_once("probes"), usual="probes",
        help="Data to test on: NAME, NAME:PATH, or NAME@SPLIT:PATH for a paper's own split. `encheck data` lists the "
        "names. Repeatable.",
    )
    own_property: str | None = option(
        "property", group="what", metavar="NAME",
        help="The property that --data=triplets:FILE or --data=contrast:FILE tests, if the file has no column "
        "`property`. It becomes a row of its own.",
    )
    sample: int | None = option(
        "sample", group="what", metavar="N", kept=True, parse=sample_of, default="2000",
        help="Number of clusters to sample from the measured part of each data set, and as many from its validation "
            "part; or `all`. Probes are always taken whole.",
    )
    quick: bool = option(
        "quick", group="what", is_flag=True, kept=True, default=False,
        help="Stop after the first look: the profile from at most 2,500 texts.",
    )
    full: bool = option(
        "full", group="what", is_flag=True, default=False,
        help="Do not stop after the first look, however long the rest takes and whatever it costs.",
    )
    looks_first: bool = option(
        "look-first", group="what", is_flag=True, default=False, hidden=True,
        help="Show a first look, and stop after it where the rest takes over 5 minutes or costs money.",
    )
    seed: int = option(
        "seed", group="what", metavar="N", kept=True, convert=int, parse=seed_of, default=0,
        help="Random seed of the whole run.",
    )
    queries: Path | None = option(
        "queries", group="what", metavar="FILE", takes_path=True, kept=True, parse=path_of,
        help="Query log for documents without labels (--data=FOLDER): one query per line (.txt), or a table with the "
            "column `query` and optionally `count` and `cluster`. Repeated queries weigh more.",
    )
    passage_words: int = option(
        "passage-words", group="what", metavar="N", kept=True, convert=int, parse=words_of, default=150,
        help="Split documents without labels at headings, then into passages of at most N words.",
    )
    near_duplicates: str = option(
        "near-duplicates", group="what", choices=("differ", "same"), kept=True, default="differ",
        help="In a search without labels: whether an answer that shares 80% of its words with another answer counts "
            "as different or the same.",
    )
    threshold: float | None = option(
        "threshold", group="what", metavar="T", convert=float, parse=threshold_of,
        help="Similarity from which on you say yes: report how many pairs of each label score T or more.",
    )
    strict: bool = option(
        "strict", group="what", is_flag=True, kept=True, default=False, is_pytests=True,
        help="Also fail checks that are below their aim. By default, only those below their floor fail.",
    )
    skip_bad_rows: bool = option(
        "skip-bad-rows", group="what", is_flag=True, kept=True, default=False,
        help="Skip malformed data rows and report how many were skipped.",
    )

    save_baseline: Path | None = option(
        "save-baseline", group="baseline", metavar="DIR", takes_path=True, parse=path_of,
        help="Save the model's item scores as a baseline in this directory, for `encheck gate NEW DIR`.",
    )
    seed_replicates: tuple[str, ...] = option(
        "twin", group="baseline", metavar="MODEL", repeatable=True, takes_path=True,
        parse=all_given,
        help="Another training seed of the baseline, used to estimate seed-to-seed variance. Repeat it for three or "
            "more models.",
    )

    device: str = option(
        "device", group="machine", metavar="DEVICE", kept=True, default="auto",
        help="Device to run on: auto, cpu, cuda, cuda:1, mps, cuda:all, or several separated by commas.",
    )
    dtype: str | None = option(
        "dtype", group="machine", choices=DTYPES, kept=True, usual="what models.yaml says, else float32",
        help="Precision of the model's weights.",
    )
    store: Path | None = option(
        "store", group="machine", metavar="PATH", takes_path=True, parse=path_of,
        usual="$ENCHECK_STORE or the user's cache directory",
        help="File that caches embeddings between runs.",
    )
    store_dtype: Literal["float32", "float16"] = option(
        "store-dtype", group="machine", choices=("float32", "float16"), kept=True, default="float32",
        help="Precision of the stored vectors. With float16 the store takes half the space, and all checks see vectors "
            "rounded to 16 bits.",
    )
    no_store: bool = option(
        "no-store", group="machine", is_flag=True, default=False,
        help="Do not keep embeddings after the run.",
    )
    engine: str | None = option(
        "engine", group="machine", metavar="ENGINE", kept=True, parse=engine_of,
        usual="local for a Parquet file of over 200,000 pairs with --sample=all, else none",
        help="Measure all labelled pairs of --data=pairs:PLACE shard by shard, where PLACE is a Parquet file, a folder "
        "of them or a URL: `local` in this process, `local:N` in N processes, `ray` on a Ray cluster, `ray:N` by N of "
        "its workers at most.",
    )
    address: str | None = option(
        "address", group="machine", metavar="ADDRESS", usual="a cluster of this machine alone",
        help="With --engine=ray, the Ray cluster to join: `auto` for the one of this machine, or host:port.",
    )
    shards_dir: str | None = option(
        "shards-dir", group="machine", metavar="DIR", takes_path=True, usual="beside the store",
        help="Directory or URL for the numbers of finished shards, from which a run that was cut off goes on.",
    )

    search_index: str = option(
        "search-index", group="machine", metavar="INDEX", kept=True, parse=search_index_of, default="exact",
        help="How queries search documents: `exact`, or approximately with `faiss`, for millions of documents. "
            "`faiss:nprobe=128` looks into more of the index. What the index misses is measured and reported.",
    )

    report_dir: Path | None = option(
        "report-dir", group="output", metavar="DIR", takes_path=True, usual="reports/<run>",
        parse=lambda text: Path(text) if text else None,
        help="Directory for the results and the report.",
    )

    epsilon: float = option(
        "epsilon", group="research", metavar="E", kept=True, convert=float, parse=epsilon_of, default=0.0, usual="0",
        help="Margin by which a paraphrase has to be nearer in criteria 3 and 4 of Mahajan et al. 2023 (antonym, "
        "jumble).",
    )
    median_scope: str | float = option(
        "median-scope", group="research", metavar="SCOPE", kept=True, parse=scope_of, default="split",
        help="Boundary between obvious and non-obvious pairs: the median word divergence of each `split`, of the "
            "whole `dataset`, or a number from 0 to 1.",
    )
    generator_mode: str = option(
        "generator-mode", group="research", choices=MODES, kept=True, default="careful",
        help="How variants are made: with all of encheck's conditions, or by the published recipe.",
    )
    experimental: bool = option(
        "experimental", group="research", is_flag=True, kept=True, default=False,
        help="On all data but the probes, also make the edits that blind readers (language models) did not find good "
        "enough, or have not read.",
    )
    lexicon: str = option(
        "lexicon", group="research", metavar="NAME", kept=True, default="embedded",
        help="Lexicon that variants are made with: embedded, nltk, or a directory with WordNet's files.",
    )
    spacy_model: str | None = option(
        "spacy-model", group="research", metavar="NAME", kept=True, usual="the bundled pipeline",
        help="spaCy pipeline that parses sentences: the name of an installed one, or its directory.",
    )
    continuation_model: str | None = option(
        "continuation-model", group="research", metavar="NAME", takes_path=True, usual="those of the probes",
        help="Causal language model that writes continuations: a directory or hub id.",
    )
    back_translate: str | None = option(
        "back-translate", group="research", metavar="LANGUAGE", takes_path=True,
        help="Rewrite sentences by back-translation: through a language, with Marian models (de), or with two models "
            "of your own (./en-de,./de-en).",
    )
    # fmt: on

    root: Path = field(default_factory=Path.cwd)
    project: Mapping[str, Any] = field(default_factory=dict)

    @property
    def models_file(self) -> Path:
        """The user's own models.yaml."""
        return self.root / str(self.project.get("models", "models.yaml"))

    @property
    def check_packages(self) -> tuple[str, ...]:
        """The packages whose checks take part beside encheck's: those of `check-packages`, else all that are installed.

        ConfigError for one that is not installed.
        """
        installed = entry_points.entry_points_of(entry_points.CHECKS)
        named = self.project.get("check-packages", installed)
        if strange := [name for name in named if name not in installed]:
            said = unknown("package of checks", strange[0], installed)
            raise ConfigError(f"[tool.encheck] of pyproject.toml: check-packages: {said}. Remedy: install it")
        return tuple(sorted({*named}))


OPTIONS: Mapping[str, Option] = {f.name: f.metadata["option"] for f in fields(Settings) if "option" in f.metadata}
"""The option of each setting, by the setting's name."""


def from_options(parsed: Any, *, root: Path, store: str | None = None) -> Settings:
    """Settings from pytest's parsed options; UsageError says what is wrong with one.

    `store` goes before `--store`: the temporary one of a run without a store.
    """
    given = {name: one.parse(getattr(parsed, one.dest)) for name, one in OPTIONS.items()}
    given |= {"models": models_of(parsed), "data": data_of(parsed), "store": path_of(store) or given["store"]}
    return Settings(**given, root=root, project=project_table(root / "pyproject.toml"))


def models_of(parsed: Any) -> tuple[str, ...]:
    """The models of a run, then the seed replicates."""
    named = (OPTIONS[name].parse(getattr(parsed, OPTIONS[name].dest)) for name in ("models", "seed_replicates"))
    return tuple(dict.fromkeys(model for models in named for model in models))


def data_of(parsed: Any) -> tuple[str, ...]:
    """The data of a run, with the property that --property names; UsageError where none of them may have one."""
    data, name = (OPTIONS[one].parse(getattr(parsed, OPTIONS[one].dest)) for one in ("data", "own_property"))
    if name is None:
        return tuple(data)
    from encheck.datasets.load import with_property

    return tuple(with_property(data, name))


def described(settings: Settings) -> dict[str, Setting]:
    """The settings that results.json shows and a baseline keeps."""
    kept = {name: getattr(settings, name) for name, one in OPTIONS.items() if one.kept}
    packages = {"check_packages": settings.check_packages} if settings.check_packages else {}
    return {name: _plain(value) for name, value in (kept | packages).items()}


def _plain(value: Any) -> Setting:
    """A setting as results.json has it."""
    plain: Setting = str(value) if isinstance(value, Path) else value
    return plain
