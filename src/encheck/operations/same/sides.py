"""One side of the comparison: a model's vectors or scores of the texts, computed now or read from a file.

The model is always called; stored embeddings are not used, since they are what the model gave before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.batching import allow_mixed_lengths
from encheck.encoders.protocol import Encoder, FittedModel, Model, PartialEncoder
from encheck.encoders.settings import ROLES, EncodingSettings, TextRole
from encheck.errors import EncheckError, EncoderError, UsageError
from encheck.gating.reindex import MIN_TEXTS, PackedSample, RoleVectors, VectorSample, are_same_for_use
from encheck.operations.same.changes import (
    EDITION,
    EMPTY,
    BuiltInText,
    built_in_texts,
    built_in_texts_hash,
    encode_changed,
)
from encheck.reporting.results import write_named
from encheck.reporting.view import full_name
from encheck.running.model_under_test import ModelUnderTest, Role
from encheck.running.service import count_lengths, stable_fingerprint
from encheck.similarity import ROUNDING
from encheck.system.documents import read_json
from encheck.system.typed_files import Positive, as_json, read_typed
from encheck.types import content_hash

Vectors = NDArray[np.float32]
Bools = NDArray[np.bool_]
Kind = Literal["vector", "pair"]
VERSION = 1
MOST_BYTES = 40 * 10**6
BATCHED = 10  # texts that are encoded alone and in one batch
LONGEST_BATCHED = 700  # their maximum number of characters
REMEDY = "Remedy: save the right model again: encheck same MODEL --save FILE.json"


@dataclass(frozen=True, eq=False)
class ModelAnswers:
    """A model's vectors of the texts, by role, in `sample`. A reranker has scores of shape [n, 1] instead.

    `role` is the requested role, if any. `unstable` is true if a text encoded alone gets a different vector each time.
    `padded` is true if a text's vector depends on the other texts in its batch. `model` is None for a saved file.
    """

    label: str
    kind: Kind
    role: Role | None
    dtype: str | None
    sample: VectorSample
    texts: tuple[BuiltInText, ...]
    padded: bool = False
    unstable: bool = False
    model: Model | None = None
    full_name: str = ""


@dataclass(frozen=True, slots=True)
class SavedOn:
    """The day (UTC) and the encheck version on which a file was saved."""

    on: str
    by: str


@dataclass(frozen=True, slots=True)
class TextEdition:
    """The edition and the hash of encheck's fixed texts."""

    edition: Positive
    hash: str


@dataclass(frozen=True, slots=True)
class SavedModel:
    """The model. `kind` is "pair" for a reranker, for which the file has each text's score with its partner, not its
    vector.

    `role` is the requested role, null for all roles. `dtype` is the precision of the weights, if known. `padded` is
    true if a text's vector depends on the other texts in its batch.
    """

    label: str
    kind: Kind
    role: Role | None
    dtype: str | None
    padded: bool


@dataclass(frozen=True, slots=True)
class SavedSide:
    """The file that `encheck same MODEL --save FILE` writes: a model's vectors or scores of encheck's 200 texts."""

    encheck_same: Literal[1] = field(default=1, kw_only=True)
    made: SavedOn
    texts: TextEdition
    model: SavedModel
    vectors: PackedSample


def agreeing_rows(old: Vectors, new: Vectors, kind: Kind, *, by_cosine: bool = False) -> Bools:
    """Return which rows are the same for use; shape [n].

    Vectors agree by the re-index rule, scores if they differ by at most 4.5% of their spread. The spread is the
    standard deviation of `old`, which should have all scores. At the cosine where the re-index rule stops, a vector has
    moved by 4.5% of its length.
    """
    if kind == "vector":
        return are_same_for_use(old, new, by_cosine=by_cosine)
    stays: Bools = np.abs(old - new)[:, 0] <= np.sqrt(2 * ROUNDING) * max(float(old.std()), 1e-12)
    return stays


def model_kind(model: Model) -> Kind:
    """Return whether the model gives vectors or scores pairs."""
    return "vector" if isinstance(model, Encoder) else "pair"


def encode_side(subject: ModelUnderTest, texts: Sequence[BuiltInText], *, role: Role | None = None) -> ModelAnswers:
    """Call a model on the texts. The model may refuse empty texts. Raise EncoderError if it fails."""
    model = subject.model
    try:
        if isinstance(model, FittedModel):
            model.fit([one.text for one in texts])
        kind = model_kind(model)
        known = []
        for one in texts:
            if isinstance(model, PartialEncoder) and model.texts_without_vector([one.text], role=role):
                continue
            if one.kind == EMPTY:  # some servers refuse empty texts
                try:
                    encode_changed(model, [one.text], role or "")
                except EncoderError:
                    continue
            known.append(one)
        every = [one.text for one in known]
        padded, unstable, alone = _test_batching(model, every, role or "", kind)
        settings = EncodingSettings.of(model)
        if role and settings.prompts:
            settings = replace(settings, prompts={"": settings.prompts[role]})
        roles = [role] if role else ["", *_distinct_roles(model, settings, every)]
        vectors = {one: np.concatenate([encode_changed(model, [text], one) for text in every]) if alone else
                   encode_changed(model, every, one) for one in roles}  # fmt: skip
        lengths = dict(zip(map(content_hash, every), count_lengths(model, every), strict=True))
    except EncoderError as error:
        raise EncoderError(f"{subject.label}: {error}") from error
    kept = {one: RoleVectors(tuple(lengths), found) for one, found in vectors.items()}
    named: dict[TextRole, RoleVectors] = {"": kept[role]} if role else {one: kept.get(one, kept[""]) for one in ROLES}
    dtype = getattr(model, "dtype", None)
    sample = VectorSample(
        settings, getattr(model, "similarity", ""), kept[roles[0]].vectors.shape[1], lengths,
        named if kind == "vector" else {"": kept[roles[0]]}, stable_fingerprint(subject),
    )  # fmt: skip
    said = dtype if isinstance(dtype, str) else None
    name = full_name(subject.config, subject.label)
    return ModelAnswers(subject.label, kind, role, said, sample, tuple(known), padded, unstable, model, name)


def _distinct_roles(model: Model, settings: EncodingSettings, every: Sequence[str]) -> list[str]:
    """Return the roles in which a text gets a different vector than without a role."""
    if not isinstance(model, Encoder):
        return []
    if settings.prompts:
        return [role for role in ROLES if role and settings.has_prompt(role)]
    found, some = [], list(every[:MIN_TEXTS])
    plain = encode_changed(model, some)
    for role in ("query", "document"):
        try:
            given = encode_changed(model, some, role)
        except EncoderError:  # a user's own model may have no roles
            continue
        if not are_same_for_use(plain, given).all():
            found.append(role)
    return found


def _test_batching(model: Model, every: Sequence[str], role: str, kind: Kind) -> tuple[bool, bool, bool]:
    """Return whether a vector depends on the batch, whether it changes each time, and whether texts need batches of
    one.

    Texts need batches of one if they otherwise do not get the vectors that they have alone.
    """
    if isinstance(model, PartialEncoder):
        return False, False, False
    by_length = sorted((text for text in every if text.strip() and len(text) < LONGEST_BATCHED), key=len)
    some = [by_length[i] for i in np.linspace(0, len(by_length) - 1, BATCHED).astype(int)] if by_length else []
    if not some:
        return False, False, False
    alone = np.concatenate([encode_changed(model, [text], role) for text in some])
    with allow_mixed_lengths():
        together = encode_changed(model, some, role)
    if alone.shape != together.shape:
        raise EncoderError("its vectors have another dimension in each call: several models answer")
    if agreeing_rows(alone, together, kind).all():
        return False, False, False
    again = np.concatenate([encode_changed(model, [text], role) for text in some])
    if not agreeing_rows(alone, again, kind).all():
        return False, True, False
    return True, False, not agreeing_rows(alone, encode_changed(model, some, role), kind).all()


def save_side(path: Path, side: ModelAnswers) -> None:
    """Write the answers of a model as JSON (`SavedSide`).

    Raise UsageError if the file cannot be written or there is nothing to save.
    """
    if side.unstable:
        raise EncheckError(
            f"{side.label} gives the same text a different vector each time: several models answer, or the output is "
            "random. Remedy: serve one model, in evaluation mode"
        )
    if {one.text for one in side.texts} - {one.text for one in built_in_texts()}:
        raise UsageError(f"{side.label} lacks encheck's built-in texts, so it cannot be saved")
    kept = SavedSide(
        made=SavedOn(datetime.now(UTC).date().isoformat(), version("encheck")),
        texts=TextEdition(EDITION, built_in_texts_hash()),
        model=SavedModel(side.label, side.kind, side.role, side.dtype, side.padded),
        vectors=side.sample.pack(),
    )
    write_named(path, as_json(kept))


def read_side(path: Path) -> ModelAnswers:
    """Return the answers in a saved file. Raise UsageError if it is missing, damaged, newer, or for other texts."""
    try:
        found = read_json(path, max_bytes=MOST_BYTES)
    except FileNotFoundError as error:
        raise UsageError(f"{path}: this file does not exist. {REMEDY}") from error
    except (ValueError, OSError) as error:
        raise UsageError(f"{path} cannot be read: {error}. {REMEDY}") from error
    made_by = found.get("encheck_same") if isinstance(found, Mapping) else None
    if not isinstance(made_by, int) or isinstance(made_by, bool):
        raise UsageError(f"{path} is not a file of `encheck same`: it lacks `encheck_same`. {REMEDY}")
    if made_by > VERSION:
        raise UsageError(
            f"{path} was written by a newer encheck (version {made_by}); this one reads version {VERSION}. Remedy: "
            "install the newer encheck"
        )
    try:
        saved = read_typed(SavedSide, found)
        if saved.texts.hash != built_in_texts_hash():
            raise ValueError(f"its texts are other than those of edition {EDITION}")
        sample, model = VectorSample.unpack(saved.vectors), saved.model
        by_key = {content_hash(one.text): one for one in built_in_texts()}
        some = tuple(by_key[key] for key in sample.lengths)
        if not sample.roles or any(one.keys != tuple(sample.lengths) for one in sample.roles.values()):
            raise ValueError("a role lacks vectors of some texts")
        if any(not np.isfinite(one.vectors).all() for one in sample.roles.values()):
            raise ValueError("vectors are not finite")
        label = f"{model.label} as saved on {saved.made.on}"
        return ModelAnswers(label, model.kind, model.role, model.dtype, sample, some, model.padded, full_name=label)
    except (ValueError, LookupError) as error:
        raise UsageError(f"{path} is damaged: {error}. {REMEDY}") from error
