"""The spaCy pipeline for parsing: the bundled English one, or an installed one."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from configparser import ConfigParser
from configparser import Error as ConfigError
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.errors import LanguageError
from encheck.language.parse import Parse, of_doc, shared
from encheck.language.pipeline.universal import is_clear, universal
from encheck.store import file_sha256
from encheck.system.files import expand_home

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

ENCODERS = ("spacy.MaxoutWindowEncoder.", "spacy.MishWindowEncoder.")
EMBEDDINGS = ("spacy.MultiHashEmbed.",)
OF_THE_WORD_ALONE = frozenset(["NORM", "LOWER", "ORTH", "PREFIX", "SUFFIX", "SHAPE", "IS_SPACE"])
Section = Mapping[str, Any]


def reach_of(folder: Path) -> int | None:
    """The number of words on each side that this pipeline's tagger uses; None if unknown from its configuration.

    spaCy's window encoder uses `window_size` words on each side, `depth` times; hash embeddings use only the word. Any
    other network or tokenizer may use the whole text.
    """
    config = _config(folder / "config.cfg")
    # The tagger has its own encoder, not the pipeline's.
    name = (
        "tagger.model.tok2vec"
        if not _is(config.get("components.tagger.model.tok2vec", {}), "@architectures", ("spacy.Tok2VecListener.",))
        else "tok2vec.model"
    )
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


def _is(section: Section, kind: str, names: tuple[str, ...]) -> bool:
    return str(section.get(kind)).startswith(names)


def _config(path: Path) -> dict[str, Section]:
    """The sections of a spaCy configuration; empty if it cannot be read."""
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


BUNDLED = Path(__file__).parent / "english"
MAX_CHARACTERS = 100_000  # longer texts are not parsed and have no variants
NEEDED = ("tagger", "parser")
CONVERTED = "+ud1"  # marks in a fingerprint that labels were converted, with the version of the rules
SURROGATE = re.compile(r"[\ud800-\udfff]")
FileHash = Callable[[Path], str]


class Pipeline:
    """A pipeline by name: None for the bundled one, an installed package, or a folder.

    Raises LanguageError if it does not exist. Everything is read on demand.
    """

    def __init__(self, name: str | None = None, *, file_hash: FileHash = file_sha256) -> None:
        self.folder = BUNDLED if name is None else _folder(name)
        self._hash = file_hash

    @cached_property
    def meta(self) -> dict[str, Any]:
        """The content of its meta.json; LanguageError if it is missing."""
        try:
            result: dict[str, Any] = json.loads((self.folder / "meta.json").read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise LanguageError(
                f"{self.folder} is not a spaCy pipeline: cannot read its meta.json ({error})"
            ) from error
        return result

    @property
    def label(self) -> str:
        """Name and version from its meta.json."""
        return "{lang}_{name} {version}".format(**{"lang": "?", "name": "?", "version": "?"} | self.meta)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the pipeline's files, and whether parses are converted.

        spaCy is not imported, unless meta.json does not list the parser's labels.
        """
        digest = hashlib.sha256()
        for path in sorted(p for p in self.folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
            digest.update(f"{path.relative_to(self.folder).as_posix()} {self._hash(path)}\n".encode())
        name = f"{self.meta.get('lang')}_{self.meta.get('name')}-{digest.hexdigest()[:16]}"
        return name + CONVERTED if self.is_converted else name

    @cached_property
    def reach(self) -> int | None:
        """The number of words on each side that the tagger uses; None if it may use the whole text."""
        return reach_of(self.folder)

    @cached_property
    def is_converted(self) -> bool:
        """Whether its parser has ClearNLP labels, so its parses are converted to Universal Dependencies."""
        listed = self.meta.get("labels")
        labels = listed.get("parser") if isinstance(listed, dict) else None
        if isinstance(labels, list):
            return is_clear(map(str, labels))
        return is_clear(getattr(self._nlp.get_pipe("parser"), "labels", ()))

    @cached_property
    def _nlp(self) -> Language:
        import spacy
        from thinc.api import NumpyOps, get_current_ops, use_ops

        # numpy's matrix products are twice as fast as spaCy's default
        on_cpu = type(get_current_ops()) is NumpyOps
        try:
            with use_ops("numpy", use_blis=False) if on_cpu else nullcontext():
                nlp = spacy.load(self.folder)
        except Exception as error:
            raise LanguageError(f"the spaCy pipeline {self.folder} cannot be loaded: {error!r}") from error
        if lacking := [name for name in NEEDED if name not in nlp.pipe_names]:
            raise LanguageError(f"the spaCy pipeline {self.folder} has no {' and no '.join(lacking)}: {nlp.pipe_names}")
        return nlp

    def parse(self, texts: Iterable[str]) -> Iterator[Parse]:
        """The parse of each text, in order. A text longer than MAX_CHARACTERS has no tokens."""
        result = (of_doc(doc, text) for doc, text in self._run(texts, disable=()))
        yield from map(universal, result) if self.is_converted else result

    def tag(self, texts: Iterable[str]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Words and Penn tags of each text, by the tagger alone."""
        keep = {"tok2vec", "transformer", "tagger"}
        names = self._nlp.vocab.strings
        for doc, text in self._run(texts, disable=[n for n in self._nlp.pipe_names if n not in keep]):
            rows = doc.to_array(["IDX", "LENGTH", "TAG"]).tolist()  # one object per token would be slow
            yield shared([text[at : at + length] for at, length, _ in rows]), shared([names[tag] for _, _, tag in rows])

    def _run(self, texts: Iterable[str], *, disable: Iterable[str]) -> Iterator[tuple[Doc, str]]:
        # Replace characters without UTF-8 one for one; empty if the text is too long.
        given = [(SURROGATE.sub("\ufffd", text) if len(text) <= MAX_CHARACTERS else "", text) for text in texts]
        yield from self._nlp.pipe(given, as_tuples=True, disable=list(disable), batch_size=256)


def _folder(name: str) -> Path:
    """The folder of a pipeline: a path, or an installed package with its data, found without importing it."""
    if name.startswith((".", "/", "~")) or Path(name).is_dir():
        return expand_home(name)
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    for root in map(Path, (spec.submodule_search_locations or ()) if spec else ()):
        for meta in sorted(root.rglob("meta.json")):
            if (meta.parent / "config.cfg").exists():
                return meta.parent
    raise LanguageError(
        f"there is no spaCy pipeline {name!r} here, as a folder or an installed package. Download it where there is "
        f"a network (python -m spacy download {name}), or leave --spacy-model out"
    )
