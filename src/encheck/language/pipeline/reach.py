"""How far around a word a tagger looks: what lies further away cannot change the word's tag."""

from __future__ import annotations

import json
from collections.abc import Mapping
from configparser import ConfigParser
from configparser import Error as ConfigError
from pathlib import Path
from typing import Any

ENCODERS = ("spacy.MaxoutWindowEncoder.", "spacy.MishWindowEncoder.")
EMBEDDINGS = ("spacy.MultiHashEmbed.",)
OF_THE_WORD_ALONE = frozenset(["NORM", "LOWER", "ORTH", "PREFIX", "SUFFIX", "SHAPE", "IS_SPACE"])
Section = Mapping[str, Any]


def reach_of(folder: Path) -> int | None:
    """How many words on each side the tagger of this pipeline looks at; None if its configuration does not tell.

    A window encoder of spaCy's looks at `window_size` words on each side, `depth` times over; hashes of a word's forms
    look at the word alone. Any other network, or another tokenizer, may look at the whole text.
    """
    config = _config(folder / "config.cfg")
    name = "tagger.model.tok2vec" if _is_own(config) else "tok2vec.model"
    embed, encode = (config.get(f"components.{name}.{part}", {}) for part in ("embed", "encode"))
    known = (
        _is(config.get("nlp.tokenizer", {}), "@tokenizers", ("spacy.Tokenizer.",))
        and _is(config.get("components.tagger.model", {}), "@architectures", ("spacy.Tagger.",))
        and _is(embed, "@architectures", EMBEDDINGS)
        and _is(encode, "@architectures", ENCODERS)
        and OF_THE_WORD_ALONE.issuperset(embed.get("attrs") or ("?",))
    )
    size, depth = encode.get("window_size"), encode.get("depth")
    return size * depth if known and isinstance(size, int) and isinstance(depth, int) else None


def _is_own(config: Mapping[str, Section]) -> bool:
    """Whether the tagger has an encoder of its own, and does not listen to the pipeline's."""
    return not _is(config.get("components.tagger.model.tok2vec", {}), "@architectures", ("spacy.Tok2VecListener.",))


def _is(section: Section, kind: str, names: tuple[str, ...]) -> bool:
    return str(section.get(kind)).startswith(names)


def _config(path: Path) -> dict[str, Section]:
    """The sections of a spaCy configuration; nothing if it cannot be read."""
    parser = ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(path.read_text("utf-8"))
    except (OSError, ValueError, ConfigError):
        return {}
    return {name: {key: _value(text) for key, text in parser[name].items()} for name in parser.sections()}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
