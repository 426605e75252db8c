"""What four real models, and a learned rule of surface features, get on the embedded probes.

`lab/peers.py` measures peers.json, `lab/recipes/check_probes.py learned --write` learned_rival.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from encheck.options.settings import select_settings
from encheck.run_file import Result, RunFile
from encheck.system.documents import read_json
from encheck.system.typed_files import Count, read_typed


@dataclass(frozen=True, slots=True)
class PeerSettings:
    """The settings that change a figure: peers are shown only next to figures with the same settings."""

    epsilon: float
    median_scope: str | float
    near_duplicates: str
    generator_mode: str
    lexicon: str
    experimental: bool
    passage_words: int


@dataclass(frozen=True, slots=True)
class PeerFigure:
    """One figure of every peer, by its name in `Peers.models`, on the same `n` items."""

    n: Count
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Peers:
    """The results of full runs of several models on one edition of the probes; `command` made the file.

    `models` explains the name of each. `figures` is by `figure_key`.
    """

    command: str
    version: str
    fingerprint: str
    settings: PeerSettings
    models: Mapping[str, str]
    figures: Mapping[str, PeerFigure]

    def beside(self, row: Result) -> Mapping[str, float]:
        """Each peer's figure of the same check, level and metric; empty if there is none."""
        found = self.figures.get(figure_key(row))
        return found.values if found else {}


@dataclass(frozen=True, slots=True)
class LearnedShare:
    """The share of contrasts that the learned rule wins, with the 95th percentile of what it wins where there is
    nothing to learn; `both` is the share of groups that it wins in both directions.
    """

    share: float
    by_chance: float
    both: float


@dataclass(frozen=True, slots=True)
class LearnedFigures:
    """The rule's figures on the groups of a phenomenon, in clusters and in constructions that it was not fitted to."""

    groups: Count
    clusters: LearnedShare
    constructions: LearnedShare | None


@dataclass(frozen=True, slots=True)
class LearnedRival:
    """The learned rule's figures by phenomenon, on one edition of the probes; `command` made the file."""

    command: str
    version: str
    fingerprint: str
    figures: Mapping[str, LearnedFigures]

    def beside(self, phenomenon: str) -> LearnedShare | None:
        """Its figures in other constructions if they are above those by chance, else None."""
        known = self.figures.get(phenomenon)
        one = known.constructions if known else None
        return one if one and one.share > one.by_chance else None


def figure_key(row: Result) -> str:
    """Check, level and metric of a figure."""
    return f"{row.check}/{row.level}/{row.metric}"


@cache
def shipped() -> Peers:
    """The peers that come with encheck."""
    return read_typed(Peers, read_json(Path(str(resources.files("encheck.reporting") / "peers.json"))))


@cache
def learned_rival() -> LearnedRival:
    """The learned rule's figures that come with encheck."""
    return read_typed(LearnedRival, read_json(Path(str(resources.files("encheck.reporting") / "learned_rival.json"))))


def peers_on(results: RunFile, data: str) -> Peers | None:
    """The peers, if this data set is their edition of the probes and the settings match, else None."""
    known, settings = shipped(), results.run.settings
    here = {("probes", one.version, one.fingerprint) for one in results.data if one.name == data == "probes"}
    has_settings = known.settings == select_settings(PeerSettings, settings)
    return known if has_settings and ("probes", known.version, known.fingerprint) in here else None
