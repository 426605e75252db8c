"""What generators know of English: parses, tags of texts they try out, the lexicon; from memory or the store.

Texts are parsed in batches, and each text once: `English` keeps parses beside the embeddings, by the pipeline's
fingerprint. A generator that asks for what is not there yet is interrupted by `Waiting`; whoever runs it
(`encheck.items.variants`) has all that is waited for done in one batch, and runs it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import Any, TypeVar

from encheck.language.edits.substitutes import Substitutes, table_hash
from encheck.language.lexicon.load import lexicon
from encheck.language.lexicon.protocol import Lexicon
from encheck.language.parse import COLUMN, ITEM, Parse, pack, shared, unpack
from encheck.language.pipeline.load import Pipeline
from encheck.language.words import paper_stop_words
from encheck.store import Kind, Store, text_key
from encheck.system.lock import Lock
from encheck.types import Edit, LanguageResources

Tagged = tuple[tuple[str, ...], tuple[str, ...]]  # words and their tags
Replaced = tuple[tuple[Edit, ...], str]  # edits, and the text that they make
Reading = Callable[["English", Parse], Any]
Read = TypeVar("Read")
MOST_PARSES = 10_000  # in memory; a parse, and what is read off it, takes 25 kB


class Waiting(BaseException):
    """The parse or the tags of some texts are not known yet; they are noted.

    A request and no fault: an `except Exception` in a generator lets it pass.
    """


@dataclass
class English:
    """Language resources of a run; `mode` is careful or paper, `experimental` lets generators on trial make texts."""

    pipeline: Pipeline = field(default_factory=Pipeline)
    lexicon_name: str = "embedded"
    mode: str = "careful"
    experimental: bool = False
    store: Store | None = None
    lock: Lock = nullcontext
    decided: dict[tuple[Any, ...], Replaced | None] = field(default_factory=dict)  # by text, and words put in it
    inventory: Any = None  # what the data at hand name (see `encheck.items.variants`)
    parsed: int = 0
    tagged: int = 0
    _parses: dict[str, Parse] = field(default_factory=dict)
    _tags: dict[str, Tagged] = field(default_factory=dict)
    _read: dict[tuple[Reading, str], Any] = field(default_factory=dict)
    _unparsed: dict[str, None] = field(default_factory=dict)
    _untagged: dict[str, None] = field(default_factory=dict)
    _is_used: bool = False

    @property
    def is_used(self) -> bool:
        """Whether a parse was asked for."""
        return self._is_used

    @cached_property
    def lexicon(self) -> Lexicon:
        """The lexicon that --lexicon names."""
        return lexicon(self.lexicon_name)

    def parse(self, text: str) -> Parse:
        """The parse of a text; raises Waiting, once it is noted, where it is not known yet."""
        self._is_used = True
        result = self._parses.get(text)
        if result is None:
            self._unparsed[text] = None
            raise Waiting
        return result

    @cached_property
    def substitutes(self) -> Substitutes:
        """Which word can stand for which, by the table and the lexicon."""
        return Substitutes(self.lexicon)

    def parse_all(self, texts: Iterable[str]) -> None:
        """Have the parses of these texts in memory: from the store, or parsed in one batch."""
        wanted = [t for t in dict.fromkeys(texts) if t not in self._parses]

        def compute(missing: list[str]) -> dict[str, bytes]:
            result = dict(zip(missing, self.pipeline.parse(missing), strict=True))
            self._parses.update(result)
            self.parsed += len(result)
            return {text: pack(parse) for text, parse in result.items()}

        for text, packed in self._through_store("parse", wanted, compute).items():
            self._parses[text] = unpack(text, packed)

    def read(self, reading: Callable[[English, Parse], Read], text: str) -> Read:
        """What this function reads off the parse of a text, read once: levels and seeds of a generator ask again."""
        key = (reading, text)
        result: Read | None = self._read.get(key)
        if result is None:
            result = self._read[key] = reading(self, self.parse(text))
        return result

    def tags(self, text: str) -> Tagged:
        """Words and tags of a text; raises Waiting, once it is noted, where they are not known yet."""
        return self.tags_of([text])[0]

    def tags_of(self, texts: Sequence[str]) -> list[Tagged]:
        """Words and tags of each text; raises Waiting, once all of them are noted that are not known yet."""
        if unknown := [text for text in texts if text not in self._tags]:
            self._untagged.update(dict.fromkeys(unknown))
            raise Waiting
        return [self._tags[text] for text in texts]

    def fetch(self) -> None:
        """Parse and tag what generators wait for, in one batch each."""
        unparsed, self._unparsed = self._unparsed, {}
        untagged, self._untagged = self._untagged, {}
        self.parse_all(unparsed)
        self.tag_all(untagged)

    def tag_all(self, texts: Iterable[str]) -> None:
        """Have the tags of these texts in memory: from the store, or tagged in one batch."""
        wanted = [t for t in dict.fromkeys(texts) if t not in self._tags]

        def compute(missing: list[str]) -> dict[str, bytes]:
            result = dict(zip(missing, self.pipeline.tag(missing), strict=True))
            self._tags.update(result)
            self.tagged += len(result)
            return {text: _packed(both) for text, both in result.items()}

        if strange := [t for t in wanted if ITEM in t or COLUMN in t]:  # these signs divide what is stored
            compute(strange)
            wanted = [t for t in wanted if t not in self._tags]
        for text, packed in self._through_store("tags", wanted, compute).items():
            words, tags = (
                shared(c.split(ITEM) if c else ()) for c in packed.decode("utf-8", "surrogatepass").split(COLUMN)
            )
            self._tags[text] = (words, tags)

    def _through_store(
        self, kind: Kind, texts: list[str], compute: Callable[[list[str]], dict[str, bytes]]
    ) -> dict[str, bytes]:
        """What the store has of these texts; the others are computed under the lock and kept."""
        if not texts:
            return {}
        if self.store is None:
            compute(texts)
            return {}
        keys = {text: text_key(text) for text in texts}
        result = self._stored(kind, keys)
        if missing := [t for t in texts if t not in result]:
            with self.lock():
                result |= self._stored(kind, {t: keys[t] for t in missing})
                made = compute([t for t in missing if t not in result])
                blobs = {keys[t]: packed for t, packed in made.items()}
                self.store.put_blobs(kind, self.pipeline.fingerprint, blobs, name=self.pipeline.label)
        return result

    def _stored(self, kind: Kind, keys: dict[str, bytes]) -> dict[str, bytes]:
        assert self.store is not None
        blobs = self.store.blobs(kind, self.pipeline.fingerprint, list(keys.values()))
        return {text: blobs[key] for text, key in keys.items() if key in blobs}

    def forget(self) -> None:
        """Empty the memory, so that a long stream stays small; the store keeps what it has."""
        self._parses.clear()
        self._read.clear()
        self.decided.clear()
        self._tags.clear()

    def relieve(self) -> None:
        """Empty the memory where it holds many parses and the store has them: they are back sooner than made."""
        if self.store is not None and len(self._parses) > MOST_PARSES:
            self.forget()

    def describe(self) -> LanguageResources:
        """Which resources made the variants, for results."""
        is_paper = self.mode == "paper"
        return LanguageResources(
            version("encheck"), self.pipeline.label, self.pipeline.fingerprint, self.lexicon.fingerprint(), self.mode,
            self.experimental,
            substitutes="" if is_paper else table_hash(), stop_words=paper_stop_words()[0] if is_paper else "",
        )  # fmt: skip


def _packed(tagged: Tagged) -> bytes:
    return COLUMN.join(map(ITEM.join, tagged)).encode("utf-8", "surrogatepass")
