"""Lock files: a generated set of variants, frozen, without a sentence of the data it was made from.

The first line says what made the set, and which generators it covers; each further line is one variant: the hash of
its source, by which generator and level, its edits, and the hash of its text. What an edit takes from elsewhere in the
sentence is kept as a span of it, not as text. `VariantLock.check` holds variants that are made again, from the user's
copy of the data, to the file.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from encheck.errors import LockError, UsageError
from encheck.system.documents import parsed, text_of
from encheck.system.files import is_special, whole
from encheck.system.json_schema import refuse_wrong
from encheck.types import Edit, Variant, apply_edits, content_hash

VERSION = 2
LOG = logging.getLogger("encheck")
MIN_SPAN_CHARACTERS = 4  # a shorter text is not worth a span
HEAD = {
    "type": "object",
    "required": ["language", "seed", "works"],
    "properties": {"language": {"type": "object"}, "seed": {"type": "integer"}, "works": {"type": "array"}},
}
LINE = {
    "type": "object",
    "required": ["source", "generator", "level", "edits", "variant"],
    "properties": {
        "source": {"type": "string"},
        "generator": {"type": "string"},
        "level": {"type": "integer"},
        "edits": {"type": "array", "items": {"type": "array"}},
        "variant": {"type": "string"},
    },
}
Piece = str | tuple[int, int] | tuple[int, int, str]
Key = tuple[str, str, int]  # hash of the source, generator, level


def pieces(source: str, text: str) -> list[Piece]:
    """The text of an edit, as spans of its source wherever it repeats it and as text where it says something new.

    A span is (start, end), or (start, end, first) where its first letter is another one.

    >>> pieces("On Monday the mill closed.", "the mill closed, on Monday quickly")
    [(10, 25), ', ', (0, 10, 'o'), 'quickly']
    """
    found: list[Piece] = []
    at = 0
    while at < len(text):
        start, size = _longest(source, text, at)
        if size >= MIN_SPAN_CHARACTERS:
            same = source[start] == text[at]
            found.append((start, start + size) if same else (start, start + size, text[at]))
            at += size
        else:
            literal = text[at]
            found[-1:] = [found[-1] + literal] if found and isinstance(found[-1], str) else [*found[-1:], literal]
            at += 1
    return found


def _longest(source: str, text: str, at: int) -> tuple[int, int]:
    """(start, size) of the longest stretch of the source that the text repeats at `at`, first letter in any case."""
    best = (0, 0)
    for start in range(len(source)):
        if source[start].lower() != text[at].lower():
            continue
        size = 1
        while start + size < len(source) and at + size < len(text) and source[start + size] == text[at + size]:
            size += 1
        best = max(best, (start, size), key=lambda found: found[1])
    return best


def joined(source: str, parts: Iterable[Any]) -> str:
    """The text that these pieces stand for.

    >>> joined("On Monday the mill closed.", [[10, 25], ", ", [0, 9, "o"], " quickly"])
    'the mill closed, on Monday quickly'
    """
    return "".join(part if isinstance(part, str) else _span(source, *part) for part in parts)


def _span(source: str, start: int, end: int, first: str = "") -> str:
    return first + source[start + len(first) : end]


def line_of(source: str, generator: str, variant: Variant) -> dict[str, Any]:
    """One line of a lock file."""
    return {
        "source": content_hash(source),
        "generator": generator,
        "level": variant.level,
        "edits": [[e.start, e.end, pieces(source, e.text)] for e in variant.edits],
        "variant": content_hash(variant.text),
    }


def write(
    path: Path,
    *,
    language: Mapping[str, Any],
    seed: int,
    works: Iterable[tuple[str, int]],
    lines: Iterable[Mapping[str, Any]],
) -> int:
    """Write a lock file of these (generator, level), its lines sorted and distinct; how many variants it holds.

    UsageError where the disk does not take it; an older file stays as it was.
    """
    with Frozen() as frozen:
        for line in lines:
            frozen.add(line)
        return frozen.write(path, language=language, seed=seed, works=works)


class Frozen:
    """The lines of a lock file to be, sorted and distinct, in a file of sqlite's own that goes when this is left.

    So memory does not grow with the number of variants.
    """

    def __init__(self) -> None:
        self._lines = sqlite3.connect("")  # on the disk, and without a name
        self._lines.execute("CREATE TABLE lines (line BLOB PRIMARY KEY) WITHOUT ROWID")

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Let go of the lines."""
        self._lines.close()

    def add(self, line: Mapping[str, Any]) -> None:
        """Keep a line, once; UsageError where the disk does not take it."""
        said = json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace")
        try:
            self._lines.execute("INSERT OR IGNORE INTO lines VALUES (?)", (said,))
        except sqlite3.OperationalError as error:
            raise UsageError(f"cannot keep what is to be locked on the disk: {error}") from error

    def __len__(self) -> int:
        """How many lines there are."""
        (found,) = self._lines.execute("SELECT count(*) FROM lines").fetchone()
        return int(found)

    def write(self, path: Path, *, language: Mapping[str, Any], seed: int, works: Iterable[tuple[str, int]]) -> int:
        """Write the file, as `write` says."""
        said = {"variants": len(self), "seed": seed, "language": dict(language), "works": sorted(works)}
        try:
            with whole(path) as file:
                file.write(json.dumps({"encheck_lock": VERSION, **said}).encode() + b"\n")
                file.writelines(line + b"\n" for (line,) in self._lines.execute("SELECT line FROM lines ORDER BY line"))
        except OSError as error:
            raise UsageError(f"cannot write --lock={path}: {error.strerror or error}") from error
        return len(self)


def rebuilt(source: str, line: Mapping[str, Any]) -> str:
    """The text of a locked variant, made from the user's copy of its source; LockError where that is another text."""
    edits = tuple(Edit(start, end, joined(source, parts)) for start, end, parts in line["edits"])
    text = apply_edits(source, edits)
    if content_hash(source) != line["source"] or content_hash(text) != line["variant"]:
        raise LockError(
            f"the locked {line['generator']} {line['source']} does not belong to this sentence: are the data different?"
        )
    return text


def _lines(path: Path) -> list[str]:
    """The lines of a lock file; texts may hold what else `splitlines` takes for the end of one."""
    return text_of(path).removesuffix("\n").split("\n")


def _refuse_line(number: int, row: object) -> None:
    try:
        refuse_wrong(row, LINE)
    except ValueError as error:
        raise ValueError(f"line {number}: {error}") from error


def refuse_place(path: Path) -> None:
    """UsageError where no lock file can be written: found out before the work."""
    state = ""
    if path.is_dir():
        state = " is a directory"
    elif not path.parent.is_dir():
        state = f": directory {path.parent} does not exist"
    elif not all(os.access(place, os.W_OK) for place in _written_to(path)):
        state = " cannot be written"
    if state:
        raise UsageError(f"--lock={path}{state}. Name a file in a directory that exists and can be written to")


def _written_to(path: Path) -> list[Path]:
    """What has to be writable: the file and its folder, where the new one is written beside; a device by itself."""
    return [path] if is_special(path) else [place for place in (path, path.resolve().parent) if place.exists()]


@dataclass
class VariantLock:
    """A lock file, read from disk. LockError if it is not one."""

    path: Path
    language: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    works: frozenset[tuple[str, int]] = frozenset()
    lines: dict[Key, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> VariantLock:
        """The lock file at `path`."""
        try:
            head, *rows = [parsed(line) for line in _lines(path)]
            if head["encheck_lock"] != VERSION:
                raise LockError(f"{path} is of lock version {head['encheck_lock']}, but this encheck reads {VERSION}")
            if len(rows) != head.get("variants", len(rows)):
                raise LockError(f"{path} is truncated: it has {len(rows)} of {head['variants']} variants; get it again")
            for number, row in enumerate(rows, 2):
                _refuse_line(number, row)
            lines = {(row["source"], row["generator"], row["level"]): row for row in rows}
            works = frozenset((generator, level) for generator, level in head["works"])
            refuse_wrong(head, HEAD)
            return cls(path, head["language"], head["seed"], works, lines)
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            why = str(error) if type(error) is ValueError else repr(error)
            raise LockError(f"{path} is not a lock file of `encheck data variants --lock` ({why})") from error

    def check(
        self,
        sources: Sequence[str],
        generator: str,
        level: int,
        made: Sequence[Variant | str],
        *,
        now: Mapping[str, Any],
    ) -> None:
        """LockError where one of the variants made is not the locked one, saying how many and what differs.

        `now` holds the seed and the language resources that they were made with.
        A generator that the file does not cover, such as one of the user's own, is not held to it; a warning says so.
        """
        if (generator, level) not in self.works:
            if any(isinstance(outcome, Variant) for outcome in made):
                said = "%s does not cover %s %d, so its variants are not checked"
                LOG.warning(said, self.path.name, generator, level)
            return
        differ: Counter[str] = Counter()
        first = ""
        for source, outcome in zip(sources, made, strict=True):
            kind = self._difference(source, generator, level, outcome)
            if kind:
                differ[kind] += 1
                first = first or content_hash(source)
        if differ:
            counts = ", ".join(f"{count} {kind}" for kind, count in differ.most_common())
            raise LockError(
                f"{generator} {level}: of {len(made)} sentences, {counts} (first: {first}), against {self.path}. "
                + "; ".join(self._changes(now))
                + ". Make the lock again with `encheck data variants --lock`, or go back to what made it"
            )

    def _difference(self, source: str, generator: str, level: int, outcome: Variant | str) -> str:
        locked = self.lines.get((content_hash(source), generator, level))
        if locked is None:
            return "" if isinstance(outcome, str) else "are not in the lock file"
        if isinstance(outcome, str):
            return "have no variant any more"
        try:
            return "" if rebuilt(source, locked) == outcome.text else "have another variant"
        except (LockError, ValueError, TypeError):
            return "have edits in the lock file that do not give its variant"

    def _changes(self, now: Mapping[str, Any]) -> Iterator[str]:
        then = {"seed": self.seed, **self.language}
        changed = [k for k in {**then, **now} if then.get(k) != now.get(k)]
        for key in changed:
            yield f"{key} was {then.get(key)!r} and is {now.get(key)!r}"
        if not changed:
            yield f"{', '.join(now)} match the lock file: the data, the sample or a generator has changed"
