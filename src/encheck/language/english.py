"""English resources for generators: parses, tags of candidate texts and the lexicon, from memory or the store.

Each text is parsed once, in batches. `English` stores parses next to the embeddings, by the pipeline's fingerprint. If
a parse is missing, `MissingParses` interrupts the generator. Its caller (`encheck.items.variants`) parses all missing
texts in one batch and runs the generator again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import Any, TypeVar

from encheck.language.edits.substitutes import Substitutes, hash_table
from encheck.language.lexicon.lexicon import Lexicon
from encheck.language.lexicon.load import load_lexicon
from encheck.language.parse import COLUMN, ITEM, Parse, intern_strings, pack_parse, unpack_parse
from encheck.language.pipeline.pipeline import Pipeline
from encheck.store import Kind, Store, text_key
from encheck.system.lock import Lock
from encheck.types import Edit, LanguageResources, Recipe

Tagged = tuple[tuple[str, ...], tuple[str, ...]]  # words and their tags
Replacement = tuple[tuple[Edit, ...], str]  # edits, and the text that they make
ParseFunction = Callable[["English", Parse], Any]
Read = TypeVar("Read")
MAX_PARSES_IN_MEMORY = 10_000  # in memory; a parse with its derived values takes 25 kB


class MissingParses(BaseException):
    """Raised if the parses or tags of some texts are not known yet. `English` has noted these texts.

    It is not an Exception, so an `except Exception` in a generator does not catch it.
    """


@dataclass
class English:
    """Language resources of a run; `recipe` replaces generators, `experimental` enables generators on trial."""

    pipeline: Pipeline = field(default_factory=Pipeline)
    lexicon_name: str = "embedded"
    recipe: Recipe | None = None
    experimental: bool = False
    store: Store | None = None
    lock: Lock = nullcontext
    replacements: dict[tuple[Any, ...], Replacement | None] = field(
        default_factory=dict
    )  # by text, and words put in it
    inventory: Any = None  # names in the data (see `encheck.items.variants`)
    parsed: int = 0
    tagged: int = 0
    _parses: dict[str, Parse] = field(default_factory=dict)
    _tags: dict[str, Tagged] = field(default_factory=dict)
    _read: dict[tuple[ParseFunction, str], Any] = field(default_factory=dict)
    _unparsed: dict[str, None] = field(default_factory=dict)
    _untagged: dict[str, None] = field(default_factory=dict)
    _has_parsed: bool = False

    @property
    def has_parsed(self) -> bool:
        """Whether a parse was requested."""
        return self._has_parsed

    @cached_property
    def lexicon(self) -> Lexicon:
        """The lexicon that --lexicon names."""
        return load_lexicon(self.lexicon_name)

    def stored_parse(self, text: str) -> Parse:
        """Return the parse of a text. If it is not known yet, note the text and raise MissingParses."""
        self._has_parsed = True
        result = self._parses.get(text)
        if result is None:
            self._unparsed[text] = None
            raise MissingParses
        return result

    @cached_property
    def substitutes(self) -> Substitutes:
        """The substitutes of words, by the table and the lexicon."""
        return Substitutes(self.lexicon)

    def parse_all(self, texts: Iterable[str]) -> None:
        """Load the parses of these texts into memory, from the store or by parsing in one batch."""
        wanted = [t for t in dict.fromkeys(texts) if t not in self._parses]

        def compute(missing: list[str]) -> dict[str, bytes]:
            result = dict(zip(missing, self.pipeline.parse(missing), strict=True))
            self._parses.update(result)
            self.parsed += len(result)
            return {text: pack_parse(parse) for text, parse in result.items()}

        for text, packed in self._load_or_compute("parse", wanted, compute).items():
            self._parses[text] = unpack_parse(text, packed)

    def derive(self, function: Callable[[English, Parse], Read], text: str) -> Read:
        """Return the function's result for the parse of a text, from memory if levels or seeds repeat the question."""
        key = (function, text)
        result: Read | None = self._read.get(key)
        if result is None:
            result = self._read[key] = function(self, self.stored_parse(text))
        return result

    def stored_tags(self, text: str) -> Tagged:
        """Return the words and tags of a text. If they are not known yet, note the text and raise MissingParses."""
        return self.stored_tags_of_texts([text])[0]

    def stored_tags_of_texts(self, texts: Sequence[str]) -> list[Tagged]:
        """Return the words and tags of each text. If any are unknown, note those texts and raise MissingParses."""
        if unknown := [text for text in texts if text not in self._tags]:
            self._untagged.update(dict.fromkeys(unknown))
            raise MissingParses
        return [self._tags[text] for text in texts]

    def parse_and_tag_missing(self) -> None:
        """Parse and tag the noted texts, in one batch each."""
        unparsed, self._unparsed = self._unparsed, {}
        untagged, self._untagged = self._untagged, {}
        self.parse_all(unparsed)
        self.tag_all(untagged)

    def tag_all(self, texts: Iterable[str]) -> None:
        """Load the tags of these texts into memory, from the store or by tagging in one batch."""
        wanted = [t for t in dict.fromkeys(texts) if t not in self._tags]

        def compute(missing: list[str]) -> dict[str, bytes]:
            result = dict(zip(missing, self.pipeline.tag(missing), strict=True))
            self._tags.update(result)
            self.tagged += len(result)
            return {
                text: COLUMN.join(map(ITEM.join, both)).encode("utf-8", "surrogatepass")
                for text, both in result.items()
            }

        if strange := [t for t in wanted if ITEM in t or COLUMN in t]:  # these signs separate stored values
            compute(strange)
            wanted = [t for t in wanted if t not in self._tags]
        for text, packed in self._load_or_compute("tags", wanted, compute).items():
            words, tags = (
                intern_strings(c.split(ITEM) if c else ())
                for c in packed.decode("utf-8", "surrogatepass").split(COLUMN)
            )
            self._tags[text] = (words, tags)

    def _load_or_compute(
        self, kind: Kind, texts: list[str], compute: Callable[[list[str]], dict[str, bytes]]
    ) -> dict[str, bytes]:
        """Return the stored values of these texts. Compute missing ones under the lock, and store them."""
        if not texts:
            return {}
        if self.store is None:
            compute(texts)
            return {}
        keys = {text: text_key(text) for text in texts}
        result = self._load_stored(kind, keys)
        if missing := [t for t in texts if t not in result]:
            with self.lock():
                result |= self._load_stored(kind, {t: keys[t] for t in missing})
                computed = compute([t for t in missing if t not in result])
                blobs = {keys[t]: packed for t, packed in computed.items()}
                self.store.store_bytes(kind, self.pipeline.fingerprint, blobs, name=self.pipeline.label)
        return result

    def _load_stored(self, kind: Kind, keys: dict[str, bytes]) -> dict[str, bytes]:
        assert self.store is not None
        blobs = self.store.read_bytes_by_key(kind, self.pipeline.fingerprint, list(keys.values()))
        return {text: blobs[key] for text, key in keys.items() if key in blobs}

    def clear_memory(self) -> None:
        """Forget all parses and tags in memory, so that a long stream needs little memory. The store is unchanged."""
        self._parses.clear()
        self._read.clear()
        self.replacements.clear()
        self._tags.clear()

    def clear_full_memory(self) -> None:
        """Forget parses and tags if many are in memory and all are in the store, from which they load quickly."""
        if self.store is not None and len(self._parses) > MAX_PARSES_IN_MEMORY:
            self.clear_memory()

    def describe(self) -> LanguageResources:
        """Return the resources that made the variants, for results."""
        recipe = self.recipe
        return LanguageResources(
            version("encheck"), self.pipeline.label, self.pipeline.fingerprint, self.lexicon.fingerprint(),
            recipe.name if recipe else "careful", self.experimental,
            substitutes="" if recipe else hash_table(), stop_words=recipe.describe_stop_words() if recipe else "",
        )  # fmt: skip
