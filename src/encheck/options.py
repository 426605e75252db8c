"""What a run was asked for: the options, and [tool.encheck] of pyproject.toml."""

from __future__ import annotations

import fnmatch
import math
import os
import re
import shlex
import tempfile
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

from encheck.encoders.adapters import DTYPES
from encheck.errors import ConfigError, UsageError, unknown

WRITERS = ("continuation-model", "back-translate")
PATHS = ("model", "data", "store", "report-dir", "lock", "baseline", "save-baseline", "anchor", "twin", *WRITERS)
TAKE_PATHS = {f"--{prefix}{name}" for prefix in ("", "encheck-") for name in PATHS}
MODES = ("careful", "paper")
KEYS = {"thresholds": dict, "known_failures": dict, "store-limit-mb": int, "models": str}


class OptionGroup(Protocol):
    """The part of pytest's option group that is used here."""

    def addoption(self, *names: str, **attributes: Any) -> None:
        """As pytest's."""
        ...


def add_options(group: OptionGroup, *, prefix: str = "") -> None:
    """Add every option of encheck to a pytest option group, as `--{prefix}name`.

    The installed plugin uses the prefix `encheck-`; a clone's conftest.py and the `encheck` command none.
    """

    def add(name: str, **attributes: Any) -> None:
        group.addoption(f"--{prefix}{name}", dest=f"encheck_{name.replace('-', '_')}", **attributes)

    model = "model under test: a name in models.yaml, --model=./folder, or a hub id; repeatable (default: sbert)"
    data = "data: NAME or NAME:PATH, see `encheck data`; repeatable (default: probes)"
    add("model", action="append", metavar="MODEL", help=model)
    add("data", action="append", metavar="NAME[:PATH]", help=data)
    argument = "a field of models.yaml or an option of the adapter, for this run; repeatable"
    add("model-arg", action="append", metavar="[MODEL:]KEY=VALUE", help=argument)
    add("report-dir", metavar="DIR", help="where results and report go (default: reports/<run>)")
    add("epsilon", type=float, default=0.0, metavar="E", help="margin that criteria 3 and 4 ask for (default: 0)")
    cut = "a cut-off of yours: what share of each label has a similarity of T or more"
    add("threshold", type=float, metavar="T", help=cut)
    add(
        "sample",
        default="2000",
        metavar="N",
        help="clusters taken of each --data, `all` for everything (default: 2000); probes are always taken whole",
    )
    add("seed", type=int, default=0, metavar="N", help="seed of everything random (default: 0)")
    add(
        "median-scope",
        default="split",
        metavar="SCOPE",
        help="cut between obvious and non-obvious: median by split, by dataset, or a number (default: split)",
    )
    pipeline = "an installed spaCy pipeline, or a folder, that reads sentences in place of the bundled one"
    add("spacy-model", metavar="NAME", help=pipeline)
    words = "the words that variants are made with: embedded, nltk, or a folder of WordNet's files (default: embedded)"
    add("lexicon", default="embedded", metavar="NAME", help=words)
    mode = "how variants are made: with every care, or by the published recipe (default: careful)"
    add("generator-mode", choices=MODES, default="careful", help=mode)
    add("lock", metavar="FILE", help="hold variants to this file of `encheck variants --lock`: another one is an error")
    add("save-baseline", metavar="DIR", help="keep the model's item scores as a baseline in this folder")
    add("baseline", metavar="DIR", help="the gate: may the model take this one's place? exit code 0, 1 or 10")
    add("anchor", metavar="DIR", help="a second, fixed baseline: what is lost little by little shows against it")
    twin = "a checkpoint that differs from the baseline's only in seed: how far luck goes; repeatable"
    add("twin", action="append", metavar="MODEL", help=twin)
    undecided = "what an inconclusive gate counts as (default: neither, exit code 10)"
    add("inconclusive", choices=("pass", "block"), help=undecided)
    writes = "a causal language model that goes on with sentences: a folder or hub id (default: as written by hand)"
    add("continuation-model", metavar="NAME", help=writes)
    there = "rewrite sentences by way of this language with Marian models (de), or with two of yours (./en-de,./de-en)"
    add("back-translate", metavar="LANGUAGE", help=there)
    add(
        "device",
        default="auto",
        metavar="DEVICE",
        help="auto, cpu, cuda, cuda:1, mps, cuda:all, or several by comma (default: auto)",
    )
    add("dtype", choices=DTYPES, help="of the weights (default: what models.yaml says, else float32)")
    add("store", metavar="PATH", help="the embedding store (default: $ENCHECK_STORE or the user's cache folder)")
    add("no-store", action="store_true", help="keep no embeddings after the run")
    add("skip-bad-rows", action="store_true", help="leave malformed data rows out, and count them")


class _Valued:
    """Notes which options take a value."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def addoption(self, *names: str, **attributes: Any) -> None:
        if attributes.get("action") != "store_true":
            self.names.update(names)


def valued_options() -> set[str]:
    """The short options that take a value."""
    group = _Valued()
    add_options(group)
    return group.names


@dataclass(frozen=True)
class Settings:
    """The options of a run, checked."""

    models: tuple[str, ...] = ("sbert",)
    model_args: tuple[str, ...] = ()
    data: tuple[str, ...] = ("probes",)
    epsilon: float = 0.0
    sample: int | None = 2_000
    seed: int = 0
    median_scope: str | float = "split"
    spacy_model: str | None = None
    lexicon: str = "embedded"
    generator_mode: str = "careful"
    lock: Path | None = None
    continuation_model: str | None = None
    back_translate: str | None = None
    save_baseline: Path | None = None
    baseline: Path | None = None
    anchor: Path | None = None
    twins: tuple[str, ...] = ()
    inconclusive: str | None = None
    device: str = "auto"
    dtype: str | None = None
    store: Path | None = None
    skip_bad_rows: bool = False
    report_dir: Path | None = None
    root: Path = field(default_factory=Path.cwd)
    project: Mapping[str, Any] = field(default_factory=dict)

    @property
    def models_file(self) -> Path:
        """The user's own models.yaml."""
        return self.root / str(self.project.get("models", "models.yaml"))


def from_options(option: Any, *, root: Path, store: str | None = None) -> Settings:
    """Settings from pytest's parsed options; UsageError says what is wrong with one.

    `store` goes before `--store`: the temporary one of a run without a store.
    """
    store = store or option.encheck_store
    if not -2 <= option.encheck_epsilon <= 2:
        raise UsageError(f"--epsilon is {option.encheck_epsilon}, but a margin of cosines lies between -2 and 2")
    cut_of(option.encheck_threshold)
    return Settings(
        models=models_of(option),
        model_args=tuple(option.encheck_model_arg or ()),
        data=tuple(dict.fromkeys(option.encheck_data or ["probes"])),
        epsilon=option.encheck_epsilon,
        sample=sample_of(option.encheck_sample),
        seed=seed_of(option.encheck_seed),
        median_scope=scope_of(option.encheck_median_scope),
        spacy_model=option.encheck_spacy_model,
        lexicon=option.encheck_lexicon,
        generator_mode=option.encheck_generator_mode,
        lock=_path(option.encheck_lock),
        continuation_model=option.encheck_continuation_model,
        back_translate=option.encheck_back_translate,
        save_baseline=_path(option.encheck_save_baseline),
        baseline=_path(option.encheck_baseline),
        anchor=_path(option.encheck_anchor),
        twins=tuple(option.encheck_twin or ()),
        inconclusive=option.encheck_inconclusive,
        device=option.encheck_device,
        dtype=option.encheck_dtype,
        store=None if store is None else Path(store).expanduser(),
        skip_bad_rows=option.encheck_skip_bad_rows,
        report_dir=Path(option.encheck_report_dir) if option.encheck_report_dir else None,
        root=root,
        project=project_table(root / "pyproject.toml"),
    )


def models_of(option: Any) -> tuple[str, ...]:
    """The models of a run, then the twins that say how far luck goes."""
    return tuple(dict.fromkeys((*(option.encheck_model or ["sbert"]), *(option.encheck_twin or ()))))


def refuse_empty(option: Any) -> None:
    """UsageError where an option was given without a value: an unset variable must not switch off what it asks for."""
    for dest, value in vars(option).items():
        texts = value if isinstance(value, list) else [value]
        if dest.startswith("encheck_") and any(isinstance(text, str) and not text.strip() for text in texts):
            name = dest.removeprefix("encheck_").replace("_", "-")
            raise UsageError(f"the value of --{name} is empty (a variable that is not set?): give one, or no --{name}")


def refuse_contradictions(option: Any) -> None:
    """UsageError where a gate has several models, a twin is the candidate, or what belongs to a gate stands alone."""
    models = tuple(dict.fromkeys(option.encheck_model or ["sbert"]))
    named = [*models]
    for twin in option.encheck_twin or ():
        if twin in named:
            raise UsageError(
                f"--twin={twin} is named twice, or is the model under test: a twin is a checkpoint of its own, "
                "trained with another seed"
            )
        named.append(twin)
    for name in ("baseline", "save_baseline"):
        if getattr(option, f"encheck_{name}") and len(models) > 1:
            option_name, listed = f"--{name.replace('_', '-')}", ", ".join(models)
            raise UsageError(f"{option_name} is for one model, but there are {len(models)}: {listed}")
    if option.encheck_anchor and not option.encheck_baseline:
        raise UsageError("--anchor is a second baseline: name the first one with --baseline=DIR")
    if option.encheck_inconclusive and not option.encheck_baseline:
        raise UsageError("--inconclusive says what an undecided gate counts as: name what to weigh with --baseline=DIR")
    if option.encheck_twin and not (option.encheck_baseline or option.encheck_save_baseline):
        raise UsageError("--twin says how far luck goes, for a gate: give --baseline=DIR or --save-baseline=DIR")


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text).expanduser()


def refuse_place(report_dir: str) -> None:
    """UsageError where no results can be written to this folder: found out before the work."""
    try:
        try_place(Path(report_dir))
    except OSError as error:
        raise UsageError(
            f"no results can be written to --report-dir={report_dir}: {error.strerror or error}. Name a folder that "
            "can be made or written to"
        ) from error


def try_place(folder: Path) -> None:
    """OSError where nothing can be written to this folder, or where it is to be made; nothing is left there."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    with tempfile.TemporaryDirectory(dir=there, prefix=".encheck-"):
        pass


def arguments_for(label: str, given: Sequence[str]) -> dict[str, str]:
    """What --model-arg says for one model: KEY=VALUE is for all of them, MODEL:KEY=VALUE for that one.

    >>> arguments_for("sbert", ["prompt=query: ", "gte:pooling=cls"])
    {'prompt': 'query: '}
    """
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        model, _, key = name.rpartition(":")
        if not equals or not key.isidentifier():
            raise UsageError(f"--model-arg is {text!r}, but should be KEY=VALUE or MODEL:KEY=VALUE")
        if model in ("", label):
            found[key] = value
    return found


def model_options(label: str, spec: str, given: Sequence[str]) -> str:
    """What names a model on a command line once more, with what --model-arg says for it.

    >>> model_options("ckpt", "./a b", ["pooling=cls", "gte:dtype=fp16"])
    "--model='./a b' --model-arg=pooling=cls"
    """
    args = [f"{key}={value}" for key, value in arguments_for(label, given).items()]
    return " ".join([f"--model={shlex.quote(spec)}", *(f"--model-arg={shlex.quote(arg)}" for arg in args)])


def mode_of(text: str) -> str:
    """A generator mode; UsageError for anything else."""
    if text not in MODES:
        raise UsageError(unknown("generator mode", text, MODES))
    return text


def sample_of(text: str) -> int | None:
    """A number of clusters, None for `all`; UsageError for anything else."""
    if text == "all":
        return None
    if not (text.isascii() and text.isdecimal()) or int(text) == 0:
        raise UsageError(f"--sample is {text!r}, but should be a number of clusters, or all")
    return int(text)


def seed_of(seed: int) -> int:
    """The seed; UsageError for a negative one."""
    if seed < 0:
        raise UsageError(f"--seed is {seed}, but should be 0 or more")
    return seed


def cut_of(threshold: float | None) -> float | None:
    """The user's own cut-off; UsageError where it is no finite number."""
    if threshold is not None and not math.isfinite(threshold):
        raise UsageError(f"--threshold is {threshold}, but should be a number to compare scores with")
    return threshold


def scope_of(text: str) -> str | float:
    """`split`, `dataset` or a divergence from 0 to 1; UsageError for anything else.

    >>> scope_of("0.3")
    0.3
    """
    try:
        cut = text if text in ("split", "dataset") else float(text)
    except ValueError:
        cut = -1.0
    if isinstance(cut, float) and not 0 <= cut <= 1:
        raise UsageError(f"--median-scope is {text!r}, but should be split, dataset, or a divergence from 0 to 1")
    return cut


def project_table(path: Path) -> dict[str, Any]:
    """[tool.encheck] of a pyproject.toml, its keys and types checked; empty where there is none."""
    if not path.exists():
        return {}
    try:
        table = tomllib.loads(path.read_text("utf-8")).get("tool", {}).get("encheck", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is not TOML: {error}") from error
    for key, value in table.items():
        if key not in KEYS:
            raise ConfigError(f"{path}: [tool.encheck] {unknown('key', key, KEYS)}")
        if not isinstance(value, KEYS[key]):
            raise ConfigError(f"{path}: [tool.encheck] {key} is {value!r}, but should be of type {KEYS[key].__name__}")
    for key, value in table.get("thresholds", {}).items():
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            raise ConfigError(f"{path}: [tool.encheck.thresholds] {key} is {value!r}, but should be a number")
    for model, reasons in table.get("known_failures", {}).items():
        if not isinstance(reasons, dict) or not all(isinstance(reason, str) for reason in reasons.values()):
            raise ConfigError(
                f"{path}: [tool.encheck.known_failures] {model} is {reasons!r}, but should be a table of checks "
                "and reasons"
            )
    return dict(table)


def refuse_unknown_checks(
    tables: Mapping[str, Iterable[str]], offered: Mapping[str, Collection[str]], *, places: Sequence[Path]
) -> None:
    """ConfigError for a check that there is not: under a misspelt name, a threshold would decide nothing unseen.

    `tables` has the keys of thresholds and known failures by where they stand, `offered` the levels of each check that
    was collected. Others are known too: encheck's own, and what any Python file in or below `places` defines. The keys
    of known failures may be patterns, those of thresholds not.
    """
    known = {*offered, *_tests_in(resources.files("encheck.checks").iterdir())}
    named = [(where, *key.partition("/")[::2]) for where, keys in tables.items() for key in keys]
    thresholds = [(where, name, level) for where, name, level in named if not where.endswith("known_failures")]
    for where, name, level in thresholds:
        if re.search(r"[*?\[]", name) or (re.search(r"[*?\[/]", level) and level not in offered.get(name, ())):
            key = f"{name}/{level}" if level else name
            raise ConfigError(
                f"{where}: {key!r} would decide nothing: a threshold is for CHECK or CHECK/LEVEL, written out; "
                "patterns and names of data are for known_failures"
            )
    strange = [(where, name) for where, name, _ in named if not fnmatch.filter(known, name)]
    own = _tests_in(file for place in places for file in _python_files(place)) if strange else set()
    for where, name in strange:
        if not fnmatch.filter(own, name):
            raise ConfigError(f"{where}: {unknown('check', name, known)}")
    for where, name, level in thresholds:
        levels = offered.get(name, ())
        if levels and level and level not in levels:
            raise ConfigError(f"{where}: {unknown(f'level of {name}', level, levels)}")


def _tests_in(files: Iterable[Any]) -> set[str]:
    """The names of the tests that these Python files define, without `test_`."""
    texts = (file.read_text("utf-8", errors="replace") for file in files if file.name.endswith(".py"))
    return {name for text in texts for name in re.findall(r"^\s*def test_(\w+)", text, re.MULTILINE)}


def _python_files(place: Path) -> Iterator[Path]:
    """A Python file, or every one below a folder, but for what is hidden and for installed packages."""
    if place.is_file():
        yield place
    for folder, below, names in os.walk(place):
        below[:] = [
            name for name in below if not name.startswith(".") and name not in ("site-packages", "node_modules")
        ]
        yield from (Path(folder, name) for name in names if name.endswith(".py"))
