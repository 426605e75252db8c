"""What a run was asked for: the options, and [tool.encheck] of pyproject.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from encheck.errors import ConfigError, UsageError, unknown

TAKE_PATHS = {f"--{prefix}{name}" for prefix in ("", "encheck-") for name in ("model", "data", "store", "report-dir")}
DTYPES = ("float32", "bfloat16", "float16")
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
    add("report-dir", metavar="DIR", help="where results and report go (default: reports/<run>)")
    add("epsilon", type=float, default=0.0, metavar="E", help="margin that criteria 3 and 4 ask for (default: 0)")
    cut = "a cut-off of yours: what share of each label has a similarity of T or more"
    add("threshold", type=float, metavar="T", help=cut)
    add(
        "sample",
        default="2000",
        metavar="N",
        help="clusters taken of each --data, `all` for everything (default: 2000)",
    )
    add("seed", type=int, default=0, metavar="N", help="seed of everything random (default: 0)")
    add(
        "median-scope",
        default="split",
        metavar="SCOPE",
        help="cut between obvious and non-obvious: median by split, by dataset, or a number (default: split)",
    )
    add("device", default="auto", metavar="DEVICE", help="auto, cpu, cuda, cuda:1, mps (default: auto)")
    add("dtype", choices=DTYPES, help="of the weights (default: what models.yaml says, else float32)")
    add("store", metavar="PATH", help="the embedding store (default: $ENCHECK_STORE or the user's cache folder)")
    add("no-store", action="store_true", help="keep no embeddings after the run")
    add("skip-bad-rows", action="store_true", help="leave malformed data rows out, and count them")


@dataclass(frozen=True)
class Settings:
    """The options of a run, checked."""

    models: tuple[str, ...] = ("sbert",)
    data: tuple[str, ...] = ("probes",)
    epsilon: float = 0.0
    sample: int | None = 2_000
    seed: int = 0
    median_scope: str | float = "split"
    device: str = "auto"
    dtype: str | None = None
    store: Path | None = None
    skip_bad_rows: bool = False
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
    return Settings(
        models=tuple(dict.fromkeys(option.encheck_model or ["sbert"])),
        data=tuple(dict.fromkeys(option.encheck_data or ["probes"])),
        epsilon=option.encheck_epsilon,
        sample=_sample(option.encheck_sample),
        seed=option.encheck_seed,
        median_scope=scope_of(option.encheck_median_scope),
        device=option.encheck_device,
        dtype=option.encheck_dtype,
        store=None if store is None else Path(store).expanduser(),
        skip_bad_rows=option.encheck_skip_bad_rows,
        root=root,
        project=project_table(root / "pyproject.toml"),
    )


def _sample(text: str) -> int | None:
    if text == "all":
        return None
    if not text.isdigit() or int(text) == 0:
        raise UsageError(f"--sample is {text!r}, but should be a number of clusters, or all")
    return int(text)


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
    return dict(table)
