"""`encheck show ITEM --shrink`: the shortest form of an item on which a model still errs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from encheck.options import Settings
    from encheck.running.shrinking import Shrink


def shrinker(settings: Settings, run: Mapping[str, Any] | None = None) -> Shrink:
    """What shrinks a row of items.parquet for the settings' one model; `run` has the settings that made the row."""
    from encheck.running import shrinking
    from encheck.running.resources import resolve_english
    from encheck.running.service import EncoderService
    from encheck.system.progress import Progress

    settings = _as_run(settings, run or {})
    service = EncoderService.open(settings, progress=Progress())
    english = resolve_english(settings, service.store)
    return shrinking.shrinker(service, english=english, seed=settings.seed)


def _as_run(settings: Settings, run: Mapping[str, Any]) -> Settings:
    """The settings, with those of the run that decide what generators make."""
    names = ("seed", "generator_mode", "lexicon", "spacy_model", "experimental")
    return replace(settings, **{name: run[name] for name in names if run.get(name) is not None})


def run_settings(folder: Path) -> dict[str, Any]:
    """The settings of a run, out of its results.json; nothing where they are not there."""
    try:
        found = json.loads((folder / "results.json").read_text("utf-8"))["run"]["settings"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}
