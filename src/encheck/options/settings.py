"""The settings of a run. A field that an option sets also declares the option, so this is the only table of options."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from encheck.encoders.adapters import DTYPES
from encheck.errors import ConfigError, UsageError, unknown_name_message
from encheck.options.project import Project, project_table
from encheck.system import imports
from encheck.system.files import expand_home
from encheck.system.typed_files import FilePath

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Group = Literal["what", "baseline", "machine", "output", "research"]
GROUPS: dict[Group, str] = {
    "what": "What to test",
    "baseline": "Baseline",
    "machine": "Machine",
    "output": "Output",
    "research": "Research",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option of a run.

    `name` has no dashes. `convert` turns one text into a value (argparse's `type`). `parse` turns all given values into
    the setting, and raises UsageError for invalid values. `default` is the argument of `parse` if no value was given;
    `usual` describes it in the help. `is_common` is true if --help shows the option, and not only --help-all.
    `is_pytests` is true if pytest has an option of that name, from which the short option is read.
    """

    name: str
    group: Group
    help: str
    metavar: str = ""
    convert: Callable[[str], Any] = str
    parse: Callable[[Any], Any] = field(default=lambda given: given)
    default: Any = None
    usual: str = ""
    choices: tuple[str, ...] = ()
    is_flag: bool = False
    repeatable: bool = False
    takes_path: bool = False
    is_common: bool = False
    hidden: bool = False
    is_pytests: bool = False

    @property
    def dest(self) -> str:
        """The name under which pytest keeps the value: `config.option.<dest>`."""
        return f"encheck_{self.name.replace('-', '_')}"

    @property
    def default_text(self) -> str:
        """The default in words; empty if the help does not mention it."""
        return self.usual or ("" if self.default is None or self.is_flag else str(self.default))

    @property
    def text(self) -> str:
        """The help text with the default."""
        return f"{self.help} (default: {self.default_text})" if self.default_text else self.help


def option(name: str, **attributes: Any) -> Any:
    """Return a dataclass field that this option sets. The attributes are those of `Option`."""
    made = Option(name=name, **attributes)
    return field(default=made.parse(made.default), metadata={"option": made})


CAREFUL = "careful"
ENGINES = ("local", "ray")
INDEX_SIZES = ("nprobe", "nlist")  # Faiss's names: lists that a query searches, and all lists


def distinct_or_default(*default: str) -> Callable[[Sequence[str] | None], tuple[str, ...]]:
    """Return a parser that returns the given values without duplicates, in order, or the default if none were given."""

    def parse(given: Sequence[str] | None) -> tuple[str, ...]:
        return tuple(dict.fromkeys(given or default))

    return parse


def all_values(given: Sequence[str] | None) -> tuple[str, ...]:
    """Return all given values, in order."""
    return tuple(given or ())


def parse_path(text: str | None) -> Path | None:
    """Return a path, with `~` expanded."""
    return None if text is None else expand_home(text)


def parse_generator_mode(text: str) -> str:
    """Return a generator mode: "careful" or an installed recipe. Raise UsageError for anything else."""
    if text == CAREFUL:
        return text
    modes = (CAREFUL, *imports.entry_points_of(imports.GENERATORS, ours=(CAREFUL,)))
    if text not in modes:
        remedy = ". The published recipe comes with pip install ./papers (in a clone of encheck)" * (text == "paper")
        raise UsageError(f"{unknown_name_message('generator mode', text, modes)}{remedy}")
    return text


def parse_epsilon(epsilon: float) -> float:
    """Return a margin of cosines. Raise UsageError unless it is between -2 and 2."""
    if not -2 <= epsilon <= 2:
        raise UsageError(f"--epsilon is {epsilon}, but a margin of cosines lies between -2 and 2")
    return epsilon


def parse_sample(text: str) -> int | None:
    """Return a number of clusters, or None for `all`. Raise UsageError for anything else."""
    if text == "all":
        return None
    if not (text.isascii() and text.isdecimal()) or len(text) > 18 or int(text) == 0:
        raise UsageError(f"--sample is {text!r}, but should be a number of clusters, or all")
    return int(text)


def parse_engine(text: str | None) -> str | None:
    """Return the engine of a run: local or ray, optionally with a number of workers. Raise UsageError for others.

    >>> parse_engine("local:2")
    'local:2'
    """
    kind, colon, count = (text or "").partition(":")
    is_count = count.isascii() and count.isdecimal() and len(count) < 4 and int(count) > 0
    if text is None or (kind in ENGINES and (is_count or not colon)):
        return text
    raise UsageError(
        f"--engine is {text!r}, but should be {' or '.join(ENGINES)}, or one of them with a number of workers: local:4"
    )


def parse_seed(seed: int) -> int:
    """Return the seed. Raise UsageError for a negative one."""
    if seed < 0:
        raise UsageError(f"--seed is {seed}, but should be 0 or more")
    return seed


def parse_passage_words(count: int) -> int:
    """Return the maximum number of words in a passage. Raise UsageError for fewer than 10."""
    if count < 10:
        raise UsageError(f"--passage-words is {count}, but should be 10 or more")
    return count


def parse_search_index(text: str) -> str:
    """Return `exact`, or `faiss` with its sizes: `faiss:nprobe=64,nlist=1000`. Raise UsageError for anything else.

    >>> parse_search_index("faiss:nprobe=64"), parse_index_sizes("faiss:nprobe=64")
    ('faiss:nprobe=64', {'nprobe': 64})
    """
    parse_index_sizes(text)
    return text


def parse_index_sizes(text: str) -> dict[str, int] | None:
    """Return the sizes in --search-index, or None if searches are exact. Raise UsageError for anything else."""
    if text == "exact":
        return None
    kind, colon, rest = text.partition(":")
    pairs = [part.partition("=")[::2] for part in rest.split(",")] if colon else []
    named = {
        name: int(number) for name, number in pairs
        if name in INDEX_SIZES and number.isascii() and number.isdecimal() and len(number) < 10 and int(number) > 0
    }  # fmt: skip
    if kind != "faiss" or len(named) < len(pairs):
        raise UsageError(
            f"--search-index is {text!r}, but should be exact, faiss, or faiss with numbers of lists: "
            "faiss:nprobe=64,nlist=1000"
        )
    return named


def parse_threshold(threshold: float | None) -> float | None:
    """Return the user's own threshold. Raise UsageError if it is not a finite number."""
    if threshold is not None and not math.isfinite(threshold):
        raise UsageError(f"--threshold is {threshold}, but should be a number to compare scores with")
    return threshold


def parse_median_scope(text: str) -> str | float:
    """Return `split`, `dataset` or a divergence from 0 to 1. Raise UsageError for anything else.

    >>> parse_median_scope("0.3")
    0.3
    """
    try:
        cut = text if text in ("split", "dataset") else float(text)
    except ValueError:
        cut = -1.0
    if isinstance(cut, float) and not 0 <= cut <= 1:
        raise UsageError(f"--median-scope is {text!r}, but should be split, dataset, or a divergence from 0 to 1")
    return cut


@dataclass(frozen=True)
class RunSettings:
    """The settings in results.json, by which runs are compared. `models` include seed replicates.

    `check_packages` are the packages whose checks ran.
    """

    # fmt: off
    models: tuple[str, ...] = option(
        "model", group="what", metavar="MODEL", repeatable=True, takes_path=True, is_common=True,
        parse=distinct_or_default("sbert"), usual="sbert",
        help="Model to test: a name of `encheck models`, a path or a hub id (owner/name). Repeatable.",
    )
    model_args: tuple[str, ...] = option(
        "model-arg", group="what", metavar="KEY=VALUE", repeatable=True, is_common=True,
        parse=all_values,
        help="Set a field of models.yaml or an option of the adapter; MODEL:KEY=VALUE for one model only. Repeatable.",
    )
    data: tuple[str, ...] = option(
        "data", group="what", metavar="NAME[:PATH]", repeatable=True, takes_path=True,
        is_common=True, parse=distinct_or_default("probes"), usual="probes",
        help="Data to test on: a name of `encheck data`, or NAME@SPLIT. Repeatable.",
    )
    sample: int | None = option(
        "sample", group="what", metavar="N", is_common=True, parse=parse_sample, default="2000",
        help="Clusters to sample from each data set, or `all`. Probes are always taken whole.",
    )
    quick: bool = option(
        "quick", group="what", is_flag=True, is_common=True, default=False,
        help="Stop after the first look.",
    )
    seed: int = option(
        "seed", group="what", metavar="N", convert=int, parse=parse_seed, default=0,
        help="Random seed of the whole run.",
    )
    queries: FilePath | None = option(
        "queries", group="what", metavar="FILE", takes_path=True, is_common=True, parse=parse_path,
        help="Query log for unlabelled documents: .txt, or a table with column `query`.",
    )
    passage_words: int = option(
        "passage-words", group="what", metavar="N", convert=int, parse=parse_passage_words, default=150,
        help="Split documents without labels at headings, then into passages of at most N words.",
    )
    near_duplicates: str = option(
        "near-duplicates", group="what", choices=("differ", "same"), default="differ",
        help="In a search without labels: whether an answer that shares 80% of its words with another answer counts "
            "as different or the same.",
    )
    strict: bool = option(
        "strict", group="what", is_flag=True, is_common=True, default=False, is_pytests=True,
        help="Also fail checks that are below their aim, not only those below their floor.",
    )
    skip_bad_rows: bool = option(
        "skip-bad-rows", group="what", is_flag=True, default=False,
        help="Skip malformed data rows and report how many were skipped.",
    )
    device: str = option(
        "device", group="machine", metavar="DEVICE", is_common=True, default="auto",
        help="Device to run on: auto, cpu, cuda, cuda:1, mps, cuda:all, or several separated by commas.",
    )
    dtype: str | None = option(
        "dtype", group="machine", choices=DTYPES, usual="what models.yaml says, else float32",
        help="Precision of the model's weights.",
    )
    store_dtype: Literal["float32", "float16"] = option(
        "store-dtype", group="machine", choices=("float32", "float16"), default="float32",
        help="Precision of the stored vectors. With float16 the store takes half the space, and all checks see vectors "
            "rounded to 16 bits.",
    )
    engine: str | None = option(
        "engine", group="machine", metavar="ENGINE", parse=parse_engine,
        usual="local for a Parquet file of over 200,000 pairs with --sample=all, else none",
        help="Measure all labelled pairs of --data=pairs:PLACE shard by shard, where PLACE is a Parquet file, a folder "
        "of them or a URL: `local` in this process, `local:N` in N processes, `ray` on a Ray cluster, `ray:N` by N of "
        "its workers at most.",
    )
    search_index: str = option(
        "search-index", group="machine", metavar="INDEX", parse=parse_search_index, default="exact",
        help="How queries search documents: `exact`, or approximately with `faiss`, for millions of documents. "
            "`faiss:nprobe=128` searches more of the index. Documents that the index misses are measured and reported.",
    )
    epsilon: float = option(
        "epsilon", group="research", metavar="E", convert=float, parse=parse_epsilon, default=0.0, usual="0",
        help="Margin by which a paraphrase must be nearer in criteria 3 and 4 of Mahajan et al., 2023 (antonym, "
        "jumble).",
    )
    median_scope: str | float = option(
        "median-scope", group="research", metavar="SCOPE", parse=parse_median_scope, default="split",
        help="Boundary between obvious and non-obvious pairs: the median word divergence of each `split`, of the "
            "whole `dataset`, or a number from 0 to 1.",
    )
    generator_mode: str = option(
        "generator-mode", group="research", metavar="MODE", parse=parse_generator_mode, default=CAREFUL,
        help="How variants are made: `careful`, with all of encheck's conditions, or by a published recipe of an "
        "installed package (`paper`, of encheck-papers).",
    )
    experimental: bool = option(
        "experimental", group="research", is_flag=True, default=False,
        help="On all data but the probes, also make the edits that blind readers (language models) rejected or "
        "have not read.",
    )
    lexicon: str = option(
        "lexicon", group="research", metavar="NAME", default="embedded",
        help="Lexicon that variants are made with: embedded, nltk, or a directory with WordNet's files.",
    )
    spacy_model: str | None = option(
        "spacy-model", group="research", metavar="NAME", usual="the bundled pipeline",
        help="spaCy pipeline that parses sentences: the name of an installed one, or its directory.",
    )
    # fmt: on

    check_packages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings(RunSettings):
    """The options of a run, checked.

    `models` are the models under test, then the seed replicates. `project` is [tool.encheck] of the
    pyproject.toml in `root`.
    """

    # fmt: off
    own_property: str | None = option(
        "property", group="what", metavar="NAME",
        help="The property that --data=triplets:FILE or --data=contrast:FILE tests, if the file has no column "
        "`property`. It becomes a row of its own.",
    )
    full: bool = option(
        "full", group="what", is_flag=True, is_common=True, default=False,
        help="Do not stop after the first look.",
    )
    looks_first: bool = option(
        "look-first", group="what", is_flag=True, default=False, hidden=True,
        help="Show a first look, and stop after it if the rest takes over 5 minutes or costs money.",
    )
    threshold: float | None = option(
        "threshold", group="what", metavar="T", convert=float, parse=parse_threshold,
        help="Similarity from which you accept a pair: report how many pairs of each label score T or more.",
    )
    save_baseline: Path | None = option(
        "save-baseline", group="baseline", metavar="DIR", takes_path=True, is_common=True, parse=parse_path,
        help="Save the model's item scores as a baseline, for `encheck gate NEW DIR`.",
    )
    seed_replicates: tuple[str, ...] = option(
        "twin", group="baseline", metavar="MODEL", repeatable=True, takes_path=True,
        parse=all_values,
        help="Another training seed of the baseline, used to estimate seed-to-seed variance. Repeat it for three or "
            "more models.",
    )
    store: Path | None = option(
        "store", group="machine", metavar="PATH", takes_path=True, parse=parse_path,
        usual="$ENCHECK_STORE or the user's cache directory",
        help="File that caches embeddings between runs.",
    )
    no_store: bool = option(
        "no-store", group="machine", is_flag=True, default=False,
        help="Do not keep embeddings after the run.",
    )
    address: str | None = option(
        "address", group="machine", metavar="ADDRESS", usual="a cluster on this machine only",
        help="With --engine=ray, the Ray cluster to join: `auto` for the one of this machine, or host:port.",
    )
    shards_dir: str | None = option(
        "shards-dir", group="machine", metavar="DIR", takes_path=True, usual="beside the store",
        help="Directory or URL where finished shards are saved. An interrupted run resumes from them.",
    )
    report_dir: Path | None = option(
        "report-dir", group="output", metavar="DIR", takes_path=True, is_common=True, usual="reports/<run>",
        parse=parse_path,
        help="Directory for the results and the report.",
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
    project: Project = field(default_factory=Project)

    @property
    def models_file(self) -> Path:
        """The user's own models.yaml."""
        return self.root / self.project.models

    @property
    def chosen_packages(self) -> tuple[str, ...]:
        """The packages whose checks run with encheck's: those in `check-packages`, or else all that are installed.

        Raise ConfigError for a package that is not installed.
        """
        installed = imports.entry_points_of(imports.CHECKS)
        named = installed if self.project.check_packages is None else self.project.check_packages
        if strange := [name for name in named if name not in installed]:
            said = unknown_name_message("package of checks", strange[0], installed)
            raise ConfigError(f"[tool.encheck] of pyproject.toml: check-packages: {said}. Remedy: install it")
        return tuple(sorted({*named}))


OPTIONS: Mapping[str, Option] = {f.name: f.metadata["option"] for f in fields(Settings) if "option" in f.metadata}
"""The option of each setting, by the setting's name."""


def settings_from_options(parsed: Any, *, root: Path, store: str | None = None) -> Settings:
    """Return the settings from pytest's parsed options. Raise UsageError for an invalid option.

    `store` overrides `--store`, for the temporary store of a run without one.
    """
    given = {name: one.parse(getattr(parsed, one.dest)) for name, one in OPTIONS.items()}
    given |= {
        "models": chosen_models(parsed),
        "data": data_specs_with_property(parsed),
        "store": parse_path(store) or given["store"],
    }
    return Settings(**given, root=root, project=project_table(root / "pyproject.toml"))


def chosen_models(parsed: Any) -> tuple[str, ...]:
    """Return the models of a run, then the seed replicates."""
    named = (OPTIONS[name].parse(getattr(parsed, OPTIONS[name].dest)) for name in ("models", "seed_replicates"))
    return tuple(dict.fromkeys(model for models in named for model in models))


def data_specs_with_property(parsed: Any) -> tuple[str, ...]:
    """Return the data of a run, with the property from --property.

    Raise UsageError if no data can have a property.
    """
    data, name = (OPTIONS[one].parse(getattr(parsed, OPTIONS[one].dest)) for one in ("data", "own_property"))
    if name is None:
        return tuple(data)
    from encheck.datasets.load import add_property_to_specs

    return tuple(add_property_to_specs(data, name))


def settings_for_results(settings: Settings) -> RunSettings:
    """Return the settings that are written to results.json."""
    return replace(select_settings(RunSettings, settings), check_packages=settings.chosen_packages)


Chosen = TypeVar("Chosen", bound="DataclassInstance")


def select_settings(kind: type[Chosen], settings: RunSettings) -> Chosen:
    """Return a dataclass of the given kind, filled with the run's settings of the same names."""
    return kind(**{one.name: getattr(settings, one.name) for one in fields(kind)})


OptionValue = str | float | bool | Path | Sequence[str] | None  # the value of an option as a Python keyword


def settings_from_keywords(
    models: Sequence[str], data: Sequence[str], options: Mapping[str, OptionValue], *, root: Path | None = None
) -> Settings:
    """Return the settings of a run of these models on these data.

    `options` are named as on the command line, with underscores. None means the default; a sequence repeats an option.
    Raise UsageError for an unknown option or an invalid value.

    >>> settings_from_keywords(["sbert"], ["probes"], {"epsilon": 0.1, "sample": 500}).sample
    500
    """
    if "baseline" in options:
        raise UsageError("a baseline is for a gate, not for a run. Call encheck.gate(new, old)")
    known = {one.name.replace("-", "_"): one for one in OPTIONS.values()}
    for name in options:
        if name not in known:
            raise UsageError(unknown_name_message("option", name, known))
    given = {**options, "model": list(models), "data": list(data)}
    values: dict[str, object] = {}
    for name, one in known.items():  # the text of a command line
        value = given.get(name)
        if one.is_flag:
            values[one.dest] = bool(value)
        elif value is None:
            values[one.dest] = one.default
        else:
            texts = [str(part) for part in (value if isinstance(value, list | tuple) else [value])]
            if one.choices and (wrong := [text for text in texts if text not in one.choices]):
                raise UsageError(unknown_name_message(one.name, wrong[0], one.choices))
            try:
                converted = [one.convert(text) for text in texts]
            except ValueError as error:
                raise UsageError(f"{one.name} is {texts[0]!r}, but should be {one.metavar}: {error}") from error
            values[one.dest] = converted if one.repeatable else converted[-1]
    parsed = SimpleNamespace(**values)
    refuse_invalid_options(parsed)
    settings = settings_from_options(parsed, root=root or Path.cwd())
    replicates = [one for one in settings.seed_replicates if one not in models]
    return replace(settings, models=(*models, *replicates))  # a model may appear twice, used in two ways


def refuse_invalid_options(parsed: Any) -> None:
    """Raise UsageError for invalid values in `parsed`, and for options that contradict each other."""
    for one in OPTIONS.values():  # an unset variable must not silently switch an option off
        value = getattr(parsed, one.dest)
        texts = value if isinstance(value, list) else [value]
        if any(isinstance(text, str) and not text.strip() for text in texts):
            raise UsageError(
                f"the value of --{one.name} is empty (an unset variable?): give a value, or leave out --{one.name}"
            )
    for one in OPTIONS.values():
        one.parse(getattr(parsed, one.dest))
    models, replicates = OPTIONS["models"].parse(parsed.encheck_model), parsed.encheck_twin or ()
    saves = bool(parsed.encheck_save_baseline)
    for n, replicate in enumerate(replicates):
        if replicate in (*models, *replicates[:n]):
            raise UsageError(
                f"--twin={replicate} is named twice, or is the model under test: a seed replicate is a separate "
                f"checkpoint, trained with another seed"
            )
    if saves and len(models) > 1:
        raise UsageError(f"--save-baseline is for one model, but there are {len(models)}: {', '.join(models)}")
    if replicates and not saves:
        raise UsageError("--twin requires --save-baseline=DIR, or encheck gate NEW OLD --twin=MODEL")
    if parsed.encheck_quick and parsed.encheck_full:
        raise UsageError("--quick stops after the first look and --full does not: use only one of them")
    if parsed.encheck_quick and saves:
        raise UsageError("--quick stops after a first look, but --save-baseline needs all items: leave one out")
    if parsed.encheck_engine and saves:
        raise UsageError(
            "--engine does not save the score of every item, which --save-baseline needs: leave out --engine, "
            "and gate on --sample=N"
        )
    if parsed.encheck_address and not (parsed.encheck_engine or "").startswith("ray"):
        raise UsageError("--address requires --engine=ray")
    if parsed.encheck_quick and parsed.encheck_engine:
        raise UsageError("--quick stops after a first look, but --engine measures all pairs: give only one of them")


def options_as_markdown() -> str:
    """Return the options for docs/reference/commands.md: one Markdown list per group, the first sentence of each
    option.
    """
    lines: list[str] = []
    for group, title in GROUPS.items():
        lines += [f"### {title}", ""]
        for one in OPTIONS.values():
            if one.group == group and not one.hidden:
                value = "" if one.is_flag else f" {one.metavar or ' or '.join(one.choices)}"
                says = one.help.partition(". ")[0].rstrip(".")
                default = f" (default: {one.default_text})" if one.default_text else ""
                lines.append(f"- `--{one.name}{value}`: {says}{default}".replace("<", "&lt;"))
        lines.append("")
    return "\n".join(lines)


def refuse_unwritable_folder(report_dir: str) -> None:
    """Raise UsageError if no results can be written to this folder."""
    try:
        try_to_write(expand_home(report_dir))
    except OSError as error:
        raise UsageError(
            f"cannot write results to --report-dir={report_dir}: {error.strerror or error}. Name a folder that can "
            f"be created or written to"
        ) from error


def try_to_write(folder: Path) -> None:
    """Raise OSError if this folder, or the place where it will be made, is not writable. Leaves no file there."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    with tempfile.TemporaryFile(dir=there):  # has no name if the system supports that
        pass
