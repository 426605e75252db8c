"""Decide whether two models are the same model in use. A re-index is decided by the same rule, so the answers agree.

If the models differ, the causes are searched: changes are undone one after the other until the vectors agree. A cause
is named if undoing it, perhaps with others, gives all vectors of the other model, or if twins among the texts show it.
Causes inside the model (pooling, layers, precision) can be undone only if torch computes it in this process.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.protocol import PartialEncoder
from encheck.encoders.settings import TextRole, differing_tokenizer_parts
from encheck.errors import EncoderError
from encheck.gating import reindex
from encheck.gating.reindex import MIN_TEXTS, SAME_LENGTH, SAME_VECTOR, SameOutcome, VectorSample, project_vectors
from encheck.operations.same.changes import (
    AFTER_POOLING,
    EMPTY,
    LONG,
    MOST_LAYERS,
    BuiltInText,
    CauseName,
    ModelChange,
    TorchModel,
    Vectors,
    built_in_texts,
    encode_changed,
    known_prompts,
    pairs_of_twin_texts,
    set_temporarily,
)
from encheck.operations.same.sides import Kind, ModelAnswers, agreeing_rows
from encheck.reporting.decisions import NextStep, VerdictBanner
from encheck.reporting.html.page import render_template
from encheck.reporting.results import write_named
from encheck.reporting.text import table
from encheck.running.model_under_test import ModelUnderTest
from encheck.similarity import ROUNDING, cosine
from encheck.types import content_hash

Bools = NDArray[np.bool_]
TRIED_KINDS = (
    "plain",
    "short",
    "number",
    "language",
    "code",
    "case",
    "accents",
)  # kinds of the short texts to try a change on
TEXTS_PER_KIND, LONG_TRIED = 2, 3  # texts of each kind, and long texts
MAX_REMAINING_GAP = 0.9  # a useful change leaves at most this share of the distance
COMMON_LIMITS = (32, 64, 128, 256, 384, 512)
LONGER = 0.95  # share of (changed, unchanged) text pairs whose changed one is longer, if a maximum length changed
MIN_UNCHANGED = 8  # texts that have to stay if a tokenizer changed
MIN_LENGTH_STEPS = 2  # steps between long twins by which a maximum length has to differ if prompts differ too
STEP = 0.01  # tolerance, in units of the step to which weights were rounded
SAME_VECTOR_DISTANCE = 1e-6  # cosine distance: nearer twins have the same vector
TWINS = ("case", "accents", "composed", "blanks")
TEXT_CHANGES: Mapping[str, Callable[[str], str]] = {
    "capitals as small letters": str.lower,
    "letters without their accents": lambda text: "".join(
        one for one in unicodedata.normalize("NFD", text) if not unicodedata.combining(one)
    ),
    "blanks and line breaks alike": lambda text: " ".join(text.split()),
}
DTYPES = ("bfloat16", "float16")


@dataclass(frozen=True)
class ChangeCause:
    """A cause in one word, and a sentence that describes the difference."""

    name: CauseName | Literal[""]
    says: str


def find_causes(a: ModelAnswers, b: ModelAnswers, role: TextRole) -> tuple[list[ChangeCause], str]:
    """Return the causes that together explain why vectors in this role differ.

    If no causes explain the difference, return none and a sentence with what is known.
    """
    texts, old, new = common_vectors(a, b, role)
    sides = ((a, b, old, new, ("A", "B")), (b, a, new, old, ("B", "A")))
    alone = [_ChangeSearch(x, y, role, texts, target, names).explain_by_weights([]) for x, y, _, target, names in sides]
    if weights := next((one for one in sorted(filter(None, alone), key=lambda one: not one.name)), None):
        return ([weights], "") if weights.name else ([], weights.says)  # there is nothing else to look for
    undone = []
    for x, y, own, target, names in sides:
        search = _ChangeSearch(x, y, role, texts, target, names)
        changes, made = search.find_changes(own)
        made = made if made.shape == target.shape else own
        chosen = [ChangeCause(change.cause, change.says) for change in changes]
        if made.shape == target.shape:
            left = ~agreeing_rows(target, made, x.kind, by_cosine=True)
            if not left.any():
                return [*chosen, *_length_cause(made, target, left, names)], ""
            undone.append((search, changes, chosen, made, target, left, names))
    hint = ""
    for search, changes, chosen, made, target, left, names in undone:
        if shown := _causes_shown_by_twins(
            texts, made, target, left, names, has_prompt="prompt" in {one.name for one in chosen}
        ):
            return [*chosen, *shown, *_length_cause(made, target, left, names)], ""
        if weights := search.explain_by_weights(changes):
            if weights.name:
                return [*chosen, weights], ""
            hint = weights.says
    return [], hint


def common_vectors(a: ModelAnswers, b: ModelAnswers, role: TextRole) -> tuple[list[BuiltInText], Vectors, Vectors]:
    """Return the texts that both models encoded, and both models' vectors in a role: shape [n, d] each."""
    names = {one.text for one in b.texts}
    some = [one for one in a.texts if one.text in names]
    both = []
    for side in (a, b):
        rows = {one.text: i for i, one in enumerate(side.texts)}
        both.append(side.sample.roles[role].vectors[[rows[one.text] for one in some]])
    return some, both[0], both[1]


class _ChangeSearch:
    """Changes model `x`, step by step, until it gives the vectors of model `y`."""

    def __init__(
        self,
        x: ModelAnswers,
        y: ModelAnswers,
        role: TextRole,
        texts: Sequence[BuiltInText],
        target: Vectors,
        names: tuple[str, str],
    ) -> None:
        self.x, self.y, self.role, self.texts, self.target, self.names = (
            x,
            y,
            x.role or role,
            texts,
            target,
            names,
        )
        self.torch = TorchModel.of(x.model) if x.model is not None else None
        self.other = TorchModel.of(y.model) if y.model is not None else None

    def find_changes(self, own: Vectors) -> tuple[list[ModelChange], Vectors]:
        """Return the changes that bring x nearest to y, and the vectors of all texts under these changes.

        `own` has the vectors of x without changes.
        """
        if self.x.model is None or len(self.texts) == 0:
            return [], own
        if own.shape == self.target.shape and agreeing_rows(self.target, own, self.x.kind, by_cosine=True).all():
            return [], own
        rows = self._choose_tried_texts(own)
        chosen: list[ModelChange] = []
        gap, is_done = (1.0, False) if own.shape != self.target.shape else self._distance_to_target(own[rows], rows)
        while (
            not is_done
            and (best := self._best_next_change(chosen, rows)) is not None
            and best[0] <= MAX_REMAINING_GAP * gap
        ):
            gap, is_done, change = best
            chosen.append(change)
        for change in chosen if is_done and len(chosen) > 1 else ():  # drop unnecessary changes
            rest = [one for one in chosen if one is not change]
            if (made := self._encode_changed(rest, rows)) is not None and self._distance_to_target(made, rows)[1]:
                chosen = rest
        if not chosen:
            return [], own
        made = self._encode_changed(chosen, np.arange(len(self.texts)))
        return (chosen, made) if made is not None else ([], own)

    def _best_next_change(
        self, chosen: Sequence[ModelChange], rows: NDArray[np.intp]
    ) -> tuple[float, bool, ModelChange] | None:
        """Return the first change with which all rows agree, or else the change that brings them nearest to y.

        Return None if no change is left.
        """
        best: tuple[float, bool, ModelChange] | None = None
        for change in self._candidate_changes():
            if change.cause in {one.cause for one in chosen}:
                continue
            if (made := self._encode_changed([*chosen, change], rows)) is not None:
                gap, is_done = self._distance_to_target(made, rows)
                if is_done or best is None or gap < best[0]:
                    best = (gap, is_done, change)
                if is_done:
                    break
        return best

    def _choose_tried_texts(self, own: Vectors) -> NDArray[np.intp]:
        """Return the texts on which to try changes: short ones of many kinds, and long ones that differ, if any."""
        kinds = np.array([one.kind for one in self.texts])
        short = [i for kind in TRIED_KINDS for i in np.flatnonzero(kinds == kind)[:TEXTS_PER_KIND].tolist()]
        short = short or list(range(min(len(self.texts), TEXTS_PER_KIND * len(TRIED_KINDS))))
        long = np.flatnonzero(np.isin(kinds, LONG))
        if own.shape == self.target.shape:
            moved = ~agreeing_rows(self.target, own, self.x.kind, by_cosine=True)
            others = [
                i for i in np.flatnonzero(moved).tolist() if i not in {*short, *long.tolist()} and kinds[i] != EMPTY
            ]
            short += others[:TEXTS_PER_KIND]
            long = long[moved[long]] if moved[long].any() else long
        by_length = sorted(long.tolist(), key=lambda i: len(self.texts[i].text))
        spread = np.linspace(0, len(by_length) - 1, LONG_TRIED if by_length else 0).astype(int).tolist()
        return np.array([*short, *(by_length[i] for i in spread)], np.intp)

    def _encode_changed(self, changes: Sequence[ModelChange], rows: NDArray[np.intp]) -> Vectors | None:
        """Return the vectors of x under these changes, or None if x cannot be changed in this way."""
        assert self.x.model is not None
        try:
            made = encode_changed(self.x.model, [self.texts[i].text for i in rows], self.role, changes)
            return project_vectors(made) if self.y.model is None else made
        except EncoderError:
            return None

    def _distance_to_target(self, made: Vectors, rows: NDArray[np.intp]) -> tuple[float, bool]:
        """Return the distance of these rows from the rows of y (1 for unrelated models), and whether all rows agree."""
        target = self.target[rows]
        if made.shape != target.shape:
            return 1.0, False
        if self.x.kind == "pair":
            apart = np.abs(made - target)[:, 0] / max(float(self.target.std()), 1e-12)
            return float(np.minimum(apart, 1).mean()), bool((apart <= np.sqrt(2 * ROUNDING)).all())
        apart = np.sqrt(np.clip(1 - np.nan_to_num(cosine(made, target)), 0, 1))
        return float(apart.mean()), bool(agreeing_rows(target, made, "vector", by_cosine=True).all())

    def _candidate_changes(self) -> Iterator[ModelChange]:
        """Yield possible changes of x, starting with the likeliest: those in the models' settings, then common ones."""
        x, y = self.names
        own, theirs = (side.sample.settings.prompts.get("" if side.role else self.role) for side in (self.x, self.y))
        said = f" in the role {self.role}" if self.role else ""
        for prompt in dict.fromkeys([*([theirs] if theirs is not None else []), "", *known_prompts()]):
            if prompt != (own or ""):
                first, second = (repr(one) if one else "nothing" for one in (prompt, own))
                yield ModelChange("prompt", f"{y} puts {first} before each text{said}, {x} {second}", prompt=prompt)
        for what, before in TEXT_CHANGES.items():
            yield ModelChange("tokenizer", f"{y} reads {what}, {x} does not", before=before)
        width = self.y.sample.dimension
        if self.x.kind == "pair":
            said = f"{y} puts a sigmoid over its scores, {x} does not"
            yield ModelChange(
                "normalisation", said, after=lambda v: np.asarray(1 / (1 + np.exp(-np.clip(v, -80, 80))), np.float32)
            )
        elif width < self.x.sample.dimension:
            said = f"{y}'s vectors are the first {width} numbers of {x}'s"
            yield ModelChange("dimension", said, after=lambda vectors: vectors[:, :width])
        elif (
            self.y.model is not None
            and np.median([len(np.unique(row)) for row in self.target[:MIN_UNCHANGED]]) <= 2 < width
        ):
            said = f"{y} stores each number in one bit, {x} does not"
            yield ModelChange("precision", said, after=lambda v: np.sign(v).astype(np.float32))
        if self.torch is not None:
            yield from self._torch_changes(self.torch, x, y)

    def _torch_changes(self, model: TorchModel, x: str, y: str) -> Iterator[ModelChange]:
        own, theirs = (side.sample.settings for side in (self.x, self.y))
        other = self.other
        limit, wanted = model.limit, (other.limit if other else theirs.maximum_length)
        for tokens in [wanted] if wanted else COMMON_LIMITS:
            if tokens != limit:
                said = f"{y} reads {tokens} tokens of a text, {x} {limit or 'all'}"
                yield ModelChange("truncation", said, within=partial(model.limit_length, tokens))
        pooling = other.poolings[0] if other and other.poolings else theirs.pooling
        for name in sorted(model.poolings[1:], key=lambda name: name != pooling):
            said = f"{y} pools by {name}, {x} by {model.poolings[0]}"
            yield ModelChange("pooling", said, within=partial(model.pool_by, name))
        if other is not None and (held := model.use_tokenizer_of(other)) is not None:
            parts = differing_tokenizer_parts(own, theirs)
            cause: CauseName = "template" if {*parts} == {"post_processor"} else "tokenizer"
            which = f" ({', '.join(parts)})" if parts else ""
            said = f"the tokenizers differ{which}: with {y}'s tokenizer, {x} gives {y}'s vectors"
            yield ModelChange(cause, said, within=lambda: model.use_tokenizer_of(other) or held)
        yield from self._layer_changes(model, x, y)
        if self.x.dtype in (None, "float32"):
            for dtype in [self.y.dtype] if self.y.dtype in DTYPES else DTYPES:
                said = f"{y} computes in {dtype}, {x} in {self.x.dtype or 'float32'}"
                yield ModelChange("precision", said, within=partial(model.compute_in, dtype))

    def _layer_changes(self, model: TorchModel, x: str, y: str) -> Iterator[ModelChange]:
        for i, module in enumerate(model.modules if model.modules is not None else ()):
            if (kind := type(module).__name__) not in AFTER_POOLING:
                import torch

                said = f"{y} is {x} without its module {i} ({kind})"
                yield ModelChange(
                    "missing layer", said, within=partial(set_temporarily, model.modules, str(i), torch.nn.Identity())
                )
        count = len(model.stack[2])
        missing = count - len(self.other.stack[2]) if self.other else 1
        if missing > 0:
            for first in range(min(count, MOST_LAYERS) - missing + 1):
                which = f"layer {first + 1}" if missing == 1 else f"layers {first + 1} to {first + missing}"
                said = f"{y} is {x} without {which} of {count}"
                yield ModelChange("missing layer", said, within=partial(model.remove_layers, first, missing))

    def explain_by_weights(self, changes: Sequence[ModelChange]) -> ChangeCause | None:
        """Return the cause if only the weights differ: y with the weights of x agrees with x under these changes.

        The cause says whether the weights were rounded or are different. Return None if that cannot be tested, or if
        the models do not agree.
        """
        if self.torch is None or self.other is None or self.y.model is None:
            return None
        states = [one.root.state_dict() for one in (self.torch, self.other)]
        if not all(hasattr(value, "cpu") for state in states for value in state.values()):
            return None  # torch packs the weights of layers that it quantised
        ours, theirs = ({name: value.cpu() for name, value in state.items()} for state in states)
        if {name: value.shape for name, value in ours.items()} != {name: value.shape for name, value in theirs.items()}:
            return None
        rows = np.arange(min(len(self.texts), 2 * MIN_UNCHANGED))
        some = [self.texts[i].text for i in rows.tolist()]
        try:
            change = ModelChange("", "", within=partial(self.other.use_weights_of, self.torch))
            made, swapped = self._encode_changed(changes, rows), encode_changed(self.y.model, some, self.role, [change])
        except EncoderError:
            return None
        if made is None or made.shape != swapped.shape or not agreeing_rows(made, swapped, self.x.kind).all():
            return None
        x, y = self.names
        differing = [name for name, value in ours.items() if not bool((value == theirs[name]).all())]
        if not differing:
            return None
        matrices = [name for name in differing if ours[name].ndim > 1]
        bits = {_weight_rounding(ours[name].float().numpy(), theirs[name].float().numpy()) for name in matrices}
        if bits and "" not in bits:
            return ChangeCause("precision", f"{y}'s weights are {x}'s, rounded to {' or '.join(sorted(bits))}")
        return ChangeCause(
            "", f"only the weights differ, in {len(differing)} of {len(ours)} arrays: another training or version"
        )


def _weight_rounding(ours: NDArray[np.float32], theirs: NDArray[np.float32]) -> str:
    """Return the number of bits to which weights, shape [..., n], were rounded, in words; "" if not rounded."""
    apart = np.abs(ours - theirs)
    upper_half = (np.ascontiguousarray(theirs).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    with np.errstate(over="ignore"):
        for name, rounded in (("bfloat16", upper_half), ("float16", theirs.astype(np.float16))):
            if (rounded == theirs).all() and (apart <= np.abs(ours) / 128 + 1e-7).all():
                return name
    for bits in (8, 6, 5, 4):
        for axis in (-1, None):
            step = np.abs(theirs).max(axis=axis, keepdims=True) / (2 ** (bits - 1) - 1)
            counted = theirs / np.where(step > 0, step, 1)
            if (np.abs(counted - np.round(counted)) < STEP).all() and (apart <= (0.5 + STEP) * step + 1e-12).all():
                return f"{bits} bits"
    return ""


def _length_cause(made: Vectors, target: Vectors, left: Bools, names: tuple[str, str]) -> list[ChangeCause]:
    """Return how the lengths of the agreeing vectors differ; empty if they do not.

    If too few vectors agree, compare the lengths of all vectors, provided that those of one model have the same length.
    """
    if target.shape[1] == 1:
        return []
    stayed = ~left & made.any(axis=1) & target.any(axis=1)
    chosen = stayed if stayed.sum() >= MIN_UNCHANGED else made.any(axis=1) & target.any(axis=1)
    ours, theirs = (np.linalg.norm(one[chosen].astype(float), axis=1) for one in (made, target))
    (x, y), times = names, theirs / ours
    is_even = [np.ptp(some) <= SAME_LENGTH * some.mean() for some in (ours, theirs)]
    is_unit = [bool((np.abs(some - 1) <= SAME_LENGTH).all()) for some in (ours, theirs)]
    if (np.abs(times - 1) <= SAME_LENGTH).all() or not (stayed.sum() >= MIN_UNCHANGED or any(is_even)):
        return []
    said = f"{y}'s vectors are {np.median(times):.3g} times as long as {x}'s"
    if is_unit[0] != is_unit[1]:
        first, second = (x, y) if is_unit[0] else (y, x)
        said = f"{first} normalises vectors to length 1, {second} does not"
    return [ChangeCause("normalisation", said)]


def _causes_shown_by_twins(
    texts: Sequence[BuiltInText], x: Vectors, y: Vectors, left: Bools, names: tuple[str, str], *, has_prompt: bool
) -> list[ChangeCause]:
    """Return the causes that twins among the texts show for vectors that still differ (`left`, shape [n])."""
    if x.shape[1] == 1:
        return []
    long = [_distinguished_twins(texts, side, "long") for side in (x, y)]
    ends = [some[-1] if some else "0 words" for some in long]
    said = f"{names[0]} distinguishes long texts that differ only after their first {ends[0]}, {names[1]} {ends[1]}"
    if not has_prompt and (prompt := _prompt_shown_by_twins(texts, x, y, names)):
        return (
            [prompt, ChangeCause("truncation", said)]
            if abs(len(long[0]) - len(long[1])) >= MIN_LENGTH_STEPS
            else [prompt]
        )
    if (~left).sum() < MIN_UNCHANGED:
        return []
    plain = np.array([one.text.isascii() for one in texts])  # letters that a tokenizer lacks are one token
    size = np.array([len(one.text) for one in texts])
    longer = size[left & plain][:, None] > size[~left & plain]
    if len(long[0]) != len(long[1]) and longer.size and longer.mean() > LONGER:
        return [ChangeCause("truncation", said)]
    kinds = [kind for kind in TWINS if _distinguished_twins(texts, x, kind) != _distinguished_twins(texts, y, kind)]
    said = f"only one of {names[0]} and {names[1]} distinguishes texts that differ in {' or '.join(kinds)} alone"
    return [ChangeCause("tokenizer", said)] if kinds else []


def _prompt_shown_by_twins(
    texts: Sequence[BuiltInText], x: Vectors, y: Vectors, names: tuple[str, str]
) -> ChangeCause | None:
    """Return the cause "prompt" if one model's vector of a text is the other's vector of the text after a prompt."""
    for first, second, (has_not, has) in ((x, y, names), (y, x, names[::-1])):
        for prompt in known_prompts():
            rows = [(row, other) for row, other, one in pairs_of_twin_texts(texts, "prompt") if one.shows == prompt]
            with_it, without = ([pair[i] for pair in rows] for i in (0, 1))
            moves = rows and not agreeing_rows(first[with_it], first[without], "vector", by_cosine=True).any()
            if moves and agreeing_rows(first[with_it], second[without], "vector", by_cosine=True).all():
                return ChangeCause("prompt", f"{has} puts {prompt!r} before each text, {has_not} does not")
    return None


def _distinguished_twins(texts: Sequence[BuiltInText], vectors: Vectors, kind: str) -> list[str]:
    """Return the twins of this kind whose two texts have different vectors.

    For the kind "long", return what they show, otherwise their ids.
    """
    pairs = pairs_of_twin_texts(texts, kind)
    first, second = (vectors[list(rows)] for rows in ([p[0] for p in pairs], [p[1] for p in pairs]))
    alike = np.nan_to_num(cosine(first, second)) > 1 - SAME_VECTOR_DISTANCE
    return [
        one.shows if kind == "long" else one.id for (_, _, one), is_one in zip(pairs, alike, strict=True) if not is_one
    ]


ExitCode = Literal[0, 1, 10]
EXIT_CODES: dict[SameOutcome, ExitCode] = {"same": 0, "same for use": 0, "another": 1, "cannot tell": 10}


@dataclass(frozen=True, slots=True)
class TextFigure:
    """The similarity of the two vectors of a text: `figure` is their cosine, the lowest of all roles.

    For a reranker, `figure` is the difference of the pair's scores, as a share of the scores' spread. `moved` is true
    if the difference is more than rounding.
    """

    id: str
    kind: str
    text: str
    figure: float
    moved: bool


@dataclass(frozen=True)
class SameReport:
    """The comparison of A and B, named by their labels, as `encheck same A B --json FILE` writes it.

    `outcome` is "same", "same for use" (only rounding, batches and precision differ), "another" or "cannot tell".
    `exit_code` is 0 for the first two, then 1 and 10. `causes` can be "prompt", "pooling", "truncation",
    "normalisation", "precision", "padding", "missing layer", "tokenizer", "template" and "dimension": undoing them
    removes the difference. `causes` is empty if no known cause explains the difference. `reasons` describe each cause
    in a sentence. `full_names` are the names on the page. `kind` is "pair" for rerankers. `reindex` is a gate's answer
    for stored vectors, None for rerankers. `moved` counts the texts that changed by more than rounding. `texts` has a
    figure for each text; it is empty if dimensions differ.
    """

    encheck_same: Literal[1] = field(default=1, kw_only=True)
    outcome: SameOutcome
    exit_code: ExitCode
    causes: tuple[CauseName, ...]
    reasons: tuple[str, ...]
    a: str
    b: str
    full_names: tuple[str, str]
    kind: Kind
    reindex: str | None = None
    moved: int = 0
    texts: tuple[TextFigure, ...] = ()


def choose_texts(subjects: Sequence[ModelUnderTest], *, role: str | None = None) -> list[BuiltInText]:
    """Return the texts for the comparison: the 200 fixed texts.

    If a file of vectors lacks some of them, return the others or, if these are too few, up to 200 texts of that file.
    """
    some: Sequence[BuiltInText] = built_in_texts()
    for model in (subject.model for subject in subjects):
        if isinstance(model, PartialEncoder):
            lacks = {*model.texts_without_vector([one.text for one in some], role=role)}
            there = [one for one in some if one.text not in lacks]
            if len(there) < MIN_TEXTS:
                own = sorted(getattr(model, "texts_with_vector", ()), key=content_hash)[: len(built_in_texts())]
                there = [BuiltInText(f"text-{i:03}", "of the file", text) for i, text in enumerate(own, 1)]
            some = there
    return list(some)


def compare_sides(a: ModelAnswers, b: ModelAnswers) -> SameReport:
    """Decide whether these are the same model in use. Either both give vectors, or both score pairs."""
    names = (a.full_name, b.full_name)
    if unstable := [name for name, side in (("A", a), ("B", b)) if side.unstable]:
        said = "gives the same text a different vector each time: several models answer, or the output is random"
        reasons = [f"{name} {said}" for name in unstable]
        code = EXIT_CODES["cannot tell"]
        return SameReport("cannot tell", code, (), tuple(reasons), a.label, b.label, names, a.kind)
    if a.model is None or b.model is None:  # a file rounds vectors, and projects wide ones
        a, b = (replace(one, sample=VectorSample.unpack(one.sample.pack())) for one in (a, b))
    found = reindex.compare_samples(a.sample, b.sample) if a.kind == "vector" else None
    figures, is_set_alike = _text_figures(a, b), a.sample.settings == b.sample.settings
    if found and found.outcome_in_use.startswith("same") and len(figures) < MIN_TEXTS:
        found = reindex.unknown_reindex(f"both encoded {len(figures)} of the {MIN_TEXTS} texts that are needed")
    outcome: SameOutcome = "same for use"
    if found:
        outcome = found.outcome_in_use
    elif len(figures) < MIN_TEXTS:  # rerankers
        outcome = "cannot tell"
    elif any(one.moved for one in figures):
        outcome = "another"
    elif is_set_alike and all(one.figure <= 10 * SAME_VECTOR for one in figures):
        outcome = "same"
    known, reasons = _find_causes_in_all_roles(a, b) if outcome == "another" else ([], [])
    if outcome == "cannot tell" and found:
        reasons.append(found.why)
    if a.padded != b.padded:
        said = f"the vectors of {'A' if a.padded else 'B'} depend on the other texts in their batch"
        if outcome in ("same", "same for use"):
            outcome, said = "another", f"{said}; in batches of one length, as a gate makes them, both have the same"
        known.append(ChangeCause("padding", said))
    elif a.padded:
        reasons.append("the vectors of both depend on the other texts in their batch")
    if outcome.startswith("same"):
        reasons += _rounding_notes(a, b, figures)
    if outcome == "another" and not known:
        reasons.insert(0, "none of the known causes explains it")
    said_of = [f"{one.name}: {one.says}" for one in dict.fromkeys(known)]
    named = tuple(dict.fromkeys(one.name for one in known if one.name))
    return SameReport(
        outcome, EXIT_CODES[outcome], named, (*said_of, *reasons), a.label, b.label, names, a.kind,
        found.says if found else None, sum(one.moved for one in figures), figures,
    )  # fmt: skip


def _find_causes_in_all_roles(a: ModelAnswers, b: ModelAnswers) -> tuple[list[ChangeCause], list[str]]:
    """Return the causes over all roles, and what is known about roles that these causes do not explain."""
    known: list[ChangeCause] = []
    reasons: list[str] = []
    done: list[tuple[object, object]] = []
    for role in a.sample.roles:
        if role not in b.sample.roles:
            continue
        pair = (a.sample.roles[role], b.sample.roles[role])
        if any(pair[0] is one and pair[1] is other for one, other in done):
            continue
        done.append(pair)
        _, old, new = common_vectors(a, b, role)
        if old.shape == new.shape and agreeing_rows(old, new, a.kind).all():
            continue
        found, hint = find_causes(a, b, role)
        known += found
        if not found:
            reasons += [hint] if hint else []
            if len(done) > 1 or role:
                reasons.append(f"no known cause explains the vectors in the role {role or 'of plain texts'}")
    settings = [side.sample.settings.maximum_length for side in (a, b)]
    if not known and not reasons and None not in settings and settings[0] != settings[1]:
        known.append(ChangeCause("truncation", f"A reads {settings[0]:,} tokens of a text, B {settings[1]:,}"))
    return known, list(dict.fromkeys(reasons))


def _rounding_notes(a: ModelAnswers, b: ModelAnswers, figures: Sequence[TextFigure]) -> list[str]:
    """Return notes on how much the vectors of the same model in use differ, and on possible reasons."""
    said = []
    if figures and a.kind == "vector":
        lowest = np.floor((min(one.figure for one in figures) + 5e-7) * 1e5) / 1e5
        said.append(f"the lowest cosine of {len(figures)} texts is {lowest:.5f}")
    elif figures:
        largest = max(one.figure for one in figures)
        said.append(f"the scores of {len(figures)} pairs differ by up to {largest:.2g} of their spread")
    if a.dtype and b.dtype and a.dtype != b.dtype:
        said.append(f"A computes in {a.dtype}, B in {b.dtype}")
    if a.kind == "vector" and a.sample.similarity != b.sample.similarity:
        said.append(f"A compares by {a.sample.similarity}, B by {b.sample.similarity}")
    return said


def _text_figures(a: ModelAnswers, b: ModelAnswers) -> tuple[TextFigure, ...]:
    """Return the figures of all texts that both models encoded; empty if dimensions differ."""
    if a.sample.dimension != b.sample.dimension:
        return ()
    by_cosine = a.sample.similarity == b.sample.similarity == "cosine"
    some: Sequence[BuiltInText] = ()
    worst, moved = np.array([np.inf]), np.array([False])
    for role in a.sample.roles:
        if role in b.sample.roles:
            some, old, new = common_vectors(a, b, role)
            figures = np.where(~old.any(axis=1) & ~new.any(axis=1), 1, np.nan_to_num(cosine(old, new)))
            if a.kind == "pair":
                figures = np.abs(old - new)[:, 0] / max(float(old.std()), 1e-12)
            worst, moved = np.minimum(worst, figures), moved | ~agreeing_rows(old, new, a.kind, by_cosine=by_cosine)
    rows = zip(some, worst.tolist(), moved.tolist(), strict=True) if some else ()
    return tuple(TextFigure(one.id, one.kind, one.text, figure, is_moved) for one, figure, is_moved in rows)


HEADLINES: dict[SameOutcome, str] = {
    "same": "A and B are the same model",
    "same for use": "A and B are the same model for use: rounding differs",
    "another": "A and B are not the same model in use",
    "cannot tell": "cannot tell whether A and B are the same model",
}
HEADS = {
    "vector": ("texts", "number", "moved", "median cosine", "lowest"),
    "pair": ("pairs", "number", "moved", "median difference", "largest"),
}
KINDS = {
    "plain": "plain sentences",
    "short": "short texts",
    "long": "long texts",
    "near the limit": "texts near the maximum length",
    "number": "numbers and dates",
    "rare": "emoji and rare characters",
    "language": "other languages",
    "code": "code and markup",
    "empty": "empty texts",
    "case": "capitals",
    "accents": "accents",
    "composed": "accents in two Unicode forms",
    "blanks": "spaces and line breaks",
    "prompt": "texts with a prompt",
    "of the file": "texts of the file",
}
WORST = 20
TONES: dict[SameOutcome, str] = {"same": "good", "same for use": "good", "another": "bad", "cannot tell": "open"}
STEPS: dict[SameOutcome, str] = {
    "same": "Keep the vectors that you have.",
    "same for use": "Keep the vectors that you have.",
    "another": "Undo the change, or gate B against A and encode your documents again.",
    "cannot tell": "Compare on more texts, or use a model that gives the same answer each time.",
}


def same_headline(report: SameReport) -> str:
    """Return the answer in one sentence."""
    because = f" ({' and '.join(report.causes)})" if report.causes else ""
    return f"{HEADLINES[report.outcome]}{because}"


def same_lines(report: SameReport) -> Iterator[str]:
    """Yield the lines of the terminal output."""
    yield f"{report.outcome}: {same_headline(report)}. A: {report.a}, B: {report.b}"
    yield from (f"  {reason}" for reason in report.reasons)
    if report.reindex:
        yield f"  {report.reindex}"
    if report.moved:
        yield ""
        yield from (f"  {line}" for line in table([HEADS[report.kind], *_kind_rows(report)]))


def _kind_rows(report: SameReport) -> list[tuple[str, ...]]:
    """Return the table rows, one per kind of text, in the order of the texts."""
    lines: list[tuple[str, ...]] = []
    for kind in dict.fromkeys(one.kind for one in report.texts):
        some = [one for one in report.texts if one.kind == kind]
        figures = [one.figure for one in some]
        worst = min(figures) if report.kind == "vector" else max(figures)
        moved = sum(one.moved for one in some)
        lines.append((KINDS[kind], str(len(some)), str(moved), f"{np.median(figures):.3f}", f"{worst:.3f}"))
    return lines


def write_same_page(path: Path, report: SameReport) -> None:
    """Write the page: the answer, the kinds of texts, the largest changes. Raise UsageError if it cannot be written."""
    sign = 1 if report.kind == "vector" else -1
    worst = sorted((one for one in report.texts if one.moved), key=lambda one: sign * one.figure)[:WORST]
    headline = same_headline(report)
    stamp = "ANOTHER MODEL" if report.outcome == "another" else report.outcome.upper()
    verdict = VerdictBanner(
        TONES[report.outcome], stamp, headline[0].upper() + headline[1:],
        "".join(f"{reason[0].upper()}{reason[1:]}." for reason in report.reasons[:1]), NextStep(STEPS[report.outcome]),
    )  # fmt: skip
    made = render_template(
        "identity.html",
        found=report,
        verdict=verdict,
        head=HEADS[report.kind],
        lines=_kind_rows(report),
        worst=[(KINDS[one.kind], f"{one.figure:.3f}", one.text[:160]) for one in worst],
    )
    write_named(path, made)
