"""Spans of a text's words, for models that pool over spans: their source, and the selection.

A `SpanSource` gives the positions of a text's words, and the words of each predicate with an argument: from parses
(`ParsedSpans`), or from a file of frames (`BroughtFrames`). `chosen` selects these spans or, for comparison, different
ones with the same number and lengths.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from encheck.errors import DataError
from encheck.language.english import English
from encheck.store import file_sha256
from encheck.system.documents import parse_json, read_text
from encheck_papers.frames import Argument, Frame, arguments_of, frames_of, spans_of

KINDS = ("predicate-argument", "continuous", "random", "all", "words")
AT_ONCE = 2_000  # texts whose parses are in memory together
OUTSIDE, BEGINS, GOES_ON = "O", "B-", "I-"
REMEDY = (
    'Remedy: a line a text, {"sentence": TEXT, "tokens": its words as they stand in it, "frames": a list of labels '
    "(B-V, I-V, B-ARG0 ... O), one a token, for each predicate}"
)
Membership = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Structure:
    """A text's words, as characters from `starts` to `ends`, its spans (positions of words), and its arguments."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    spans: tuple[tuple[int, ...], ...]
    arguments: tuple[Argument, ...] = ()

    @classmethod
    def of(cls, starts: tuple[int, ...], ends: tuple[int, ...], frames: Sequence[Frame]) -> Self:
        """The structure from the words and frames of a text."""
        spans = tuple(map(tuple, spans_of(frames, length=len(starts))))
        return cls(starts, ends, spans, arguments_of(frames))

    def __len__(self) -> int:
        return len(self.starts)


class SpanSource(Protocol):
    """A source of spans; its `fingerprint` changes if its spans of any text may change."""

    kind: str

    @property
    def fingerprint(self) -> str:
        """A fingerprint that changes if the spans of a text may change."""
        ...

    def structures(self, texts: Sequence[str]) -> Mapping[str, Structure]:
        """The structure of each of these texts."""
        ...


class ParsedSpans:
    """Predicates and arguments from dependencies; parses in the store of `english` are reused."""

    kind = "parse"

    def __init__(self, english: English) -> None:
        self.english = english

    @property
    def fingerprint(self) -> str:
        """The pipeline's fingerprint."""
        return self.english.pipeline.fingerprint

    def structures(self, texts: Sequence[str]) -> dict[str, Structure]:
        """The structure of each text; LanguageError if the pipeline cannot be loaded."""
        found: dict[str, Structure] = {}
        wanted = list(dict.fromkeys(texts))
        for start in range(0, len(wanted), AT_ONCE):
            some = wanted[start : start + AT_ONCE]
            self.english.parse_all(some)
            parses = {text: self.english.stored_parse(text) for text in some}
            found |= {text: Structure.of(p.starts, p.ends, list(frames_of(p))) for text, p in parses.items()}
            self.english.clear_memory()
        return found


class BroughtFrames:
    """Spans of the frames in a file (see `read_frames`); texts that the file lacks are looked up in `otherwise`.

    DataError for a broken file and, without `otherwise`, for a text that it lacks.
    """

    kind = "frames"

    def __init__(
        self,
        path: str | Path,
        *,
        otherwise: SpanSource | None = None,
        file_hash: Callable[[Path], str] = file_sha256,
    ) -> None:
        self.path, self.otherwise, self._hash = Path(path), otherwise, file_hash
        self._known = read_frames(self.path)

    @property
    def fingerprint(self) -> str:
        """A fingerprint of the file, and of the source for texts that it lacks."""
        return "-".join([f"frames {self._hash(self.path)}", *([self.otherwise.fingerprint] if self.otherwise else [])])

    def structures(self, texts: Sequence[str]) -> dict[str, Structure]:
        """The structure of each text."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing and self.otherwise is None:
            raise DataError(
                f"{self.path} has no frames for {len(missing)} of {len(set(texts))} texts, first for "
                f"{missing[0][:80]!r}. Remedy: frames of these texts too, or have them parsed: missing=parse "
                "(--model-arg missing=parse in a run, --missing parse in papers/recipes/train_spans.py)"
            )
        made = self.otherwise.structures(missing) if missing and self.otherwise else {}
        return {text: self._known[text] if text in self._known else made[text] for text in texts}


def read_frames(path: Path) -> dict[str, Structure]:
    """The structures in a JSONL file of sentences with tokens and frames; DataError names the invalid line."""
    found: dict[str, Structure] = {}
    try:
        lines = read_text(path).split("\n")  # other line ends may occur within a sentence
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read the frames {path}: {error}") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                text, structure = _of_line(line)
                if found.setdefault(text, structure) != structure:
                    raise ValueError(f"the sentence {text[:80]!r} stands above with other frames")
            except ValueError as error:
                raise DataError(f"{path}:{number}: {error}. {REMEDY}") from error
    if not found:
        raise DataError(f"{path} holds no frames. {REMEDY}")
    return found


def _of_line(line: str) -> tuple[str, Structure]:
    row = parse_json(line)
    if not isinstance(row, dict) or not isinstance(text := row.get("sentence"), str):
        raise ValueError("holds no sentence")
    tokens, frames = _texts(row.get("tokens"), "tokens"), row.get("frames")
    if not isinstance(frames, list):
        raise ValueError(f"frames is {str(frames)[:80]!r}, but should be a list")
    starts = _places(text, tokens)
    checked = [_checked(frame, n, tokens) for n, frame in enumerate(frames, 1)]
    ends = tuple(at + len(token) for at, token in zip(starts, tokens, strict=True))
    return text, Structure.of(starts, ends, checked)


def _texts(found: Any, name: str) -> list[str]:
    if not isinstance(found, list) or not found or not all(isinstance(one, str) and one for one in found):
        raise ValueError(f"{name} is {str(found)[:80]!r}, but should be a list of texts")
    return found


def _places(text: str, tokens: Sequence[str]) -> tuple[int, ...]:
    """Where each token begins; ValueError unless the tokens, with blanks between them, are the text."""
    starts, at = [], 0
    for number, token in enumerate(tokens, 1):
        at += len(text[at:]) - len(text[at:].lstrip())
        if not text.startswith(token, at):
            raise ValueError(f"token {number} is {token[:40]!r}, but the sentence goes on with {text[at : at + 40]!r}")
        starts.append(at)
        at += len(token)
    if rest := text[at:].strip():
        raise ValueError(f"the tokens end before {rest[:40]!r}, which the sentence goes on with")
    return tuple(starts)


def _checked(frame: Any, number: int, tokens: Sequence[str]) -> Frame:
    """A frame; ValueError unless it has one label per token and, if it has arguments, a predicate."""
    labels = _texts(frame, f"frame {number}")
    if len(labels) != len(tokens):
        raise ValueError(f"frame {number} has {len(labels)} labels for {len(tokens)} tokens")
    strange = [one for one in labels if one != OUTSIDE and (not one.startswith((BEGINS, GOES_ON)) or len(one) < 3)]
    if strange:
        raise ValueError(f"frame {number} has the label {strange[0]!r}, but labels are O, B-... and I-...")
    if set(labels) != {OUTSIDE} and not {"B-V", "I-V"} & set(labels):
        raise ValueError(f"frame {number} has arguments, but no predicate (B-V)")
    return labels


def chosen(structure: Structure, text: str, *, kind: str, seed: int, longest: int) -> Membership:
    """Which words each span has, shape [spans, words].

    `predicate-argument` spans are those of the structure. `continuous` and `random` spans have the same number and
    lengths; they consist of consecutive words and of any words, drawn by the text and `seed`. `all` has every span of 1
    to `longest` consecutive words, as in Self-Explain (Sun et al. 2020). `words` has a span for each word.
    """
    if kind in ("all", "words"):
        return _windows(len(structure), longest if kind == "all" else 1)
    found = np.zeros((len(structure.spans), len(structure)), bool)
    drawn = _generator(text, seed)
    for row, span in zip(found, structure.spans, strict=True):
        row[_positions(span, len(structure), kind, drawn)] = True
    return found


def _generator(text: str, seed: int) -> np.random.Generator:
    digest = hashlib.blake2b(f"{seed}:{text}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(digest))


def _positions(span: Sequence[int], length: int, kind: str, drawn: np.random.Generator) -> Any:
    if kind == "continuous":
        start = int(drawn.integers(length - len(span) + 1))
        return slice(start, start + len(span))
    if kind == "random":
        return drawn.choice(length, len(span), replace=False)
    return list(span)


def _windows(length: int, longest: int) -> Membership:
    places = [(a, a + n) for n in range(1, min(longest, length) + 1) for a in range(length - n + 1)]
    found = np.zeros((len(places), length), bool)
    for row, (start, end) in zip(found, places, strict=True):
        row[start:end] = True
    return found


class Cache:
    """A cache of structures from a source, since each epoch needs the same texts again."""

    def __init__(self, source: SpanSource, *, most: int = 200_000) -> None:
        self.source, self.most = source, most
        self._kept: dict[str, Structure] = {}

    def __call__(self, texts: Sequence[str]) -> list[Structure]:
        """The structure of each text."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._kept]
        if missing and len(self._kept) + len(missing) > self.most:
            self._kept.clear()
            missing = list(dict.fromkeys(texts))
        if missing:
            self._kept |= self.source.structures(missing)
        return [self._kept[text] for text in texts]

    def __deepcopy__(self, _memo: object) -> Self:
        """Itself, so that copies of a model share the cache."""
        return self

    def __reduce__(self) -> Any:
        """None: a store cannot be passed to a different process, which finds the spans again."""
        return (_nothing, ())


def _nothing() -> None:
    """The cache in a different process."""
