"""The model that a checkpoint was trained from, if its files name one and it is available locally."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from encheck.encoders.files import read_json
from encheck.encoders.load import config_for, where
from encheck.encoders.model_config import ModelConfig
from encheck.errors import ModelError
from encheck.system.documents import text_of

CARD, MOST_BYTES = "README.md", 10**6
KEYS = {"adapter_config.json": "base_model_name_or_path", "config.json": "_name_or_path"}
HEAD = re.compile(r"\A---\n(.*?)\n---", re.DOTALL)  # of a model card
BASE = re.compile(r"^base_model:[ \t]*(\S+)?[ \t]*(?:\n[ \t]*-[ \t]+(\S+))?", re.MULTILINE)


def parent_of(folder: Path, known: Mapping[str, ModelConfig]) -> tuple[str, ModelConfig, str] | None:
    """(label, entry, the file that names it) of the first parent that is at hand; None if none is."""
    for name, file in named(folder):
        for label, config in _at_hand(name, folder, known):
            return label, config, file
    return None


def named(folder: Path) -> Iterator[tuple[str, str]]:
    """(name, file) of each parent that a checkpoint's files name; nothing of files that cannot be read."""
    try:
        card = HEAD.match(text_of(folder / CARD, most=MOST_BYTES))
    except (OSError, ValueError):
        card = None
    if card and (found := BASE.search(card[1])) and (name := found[1] or found[2]):
        yield name.strip("\"'"), CARD
    for file, key in KEYS.items():
        try:
            value = read_json(folder / file, dict).get(key)
        except ModelError:
            continue
        if isinstance(value, str) and value:
            yield value, file


def _at_hand(name: str, folder: Path, known: Mapping[str, ModelConfig]) -> Iterator[tuple[str, ModelConfig]]:
    """A folder that is there, as written or beside the checkpoint's files, or an entry that needs no network."""
    for place in (Path(name), folder / name):
        if _is_other_folder(place, folder):
            try:
                yield place.resolve().name, config_for(str(place.resolve()), known)
            except ModelError:
                continue
    for label, config in known.items():
        if config.name and name in (config.name, config.name.rpartition("/")[2]) and where(config)[0]:
            yield label, config


def _is_other_folder(place: Path, folder: Path) -> bool:
    try:
        return (place / "config.json").is_file() and place.resolve() != folder.resolve()
    except OSError:
        return False
