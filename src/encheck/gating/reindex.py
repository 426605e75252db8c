"""Decide whether an index of one model's vectors has to be rebuilt for another model. Gates and `encheck same` use
this.

A gate passes a model that behaves as well. With a rotation, a prompt, a different maximum length or a new head, a model
can behave as well although stored vectors no longer match its vectors. So both models' vectors of the same texts, short
and long, are compared in each role, together with the settings in their files. The answer is "no" for all documents
only in two cases: the maximum lengths are equal and longer texts were compared too, or the documents are known and none
is longer than the compared texts.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.settings import (
    EncodingSettings,
    TextRole,
    describe_setting_differences,
    differing_tokenizer_parts,
)
from encheck.similarity import ROUNDING, cosine
from encheck.system.typed_files import Count, Positive, writes_properties

Vectors = NDArray[np.float32]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Unit = Literal["tokens", "words"]
SameOutcome = Literal["same", "same for use", "another", "cannot tell"]
STORED_ROLES = ("document", "")  # roles of the vectors in an index
KEPT_DIMENSIONS = 384  # a baseline keeps this many random projections of a wider vector
MIN_TEXTS = 8  # texts needed to tell whether models are related, and that short texts agree
INT8_MAX = 127  # the largest int8
MIN_MORE_TRUNCATED = 0.01  # share of the user's documents: that many more cut ones are not due to rounding
SAME_LENGTH = 0.01  # relative; rounding changes a length by less
SAME_VECTOR = 1e-5  # relative; batch size changes a fp32 vector by less, a different precision by more
RELATED = 0.3  # damaged copies of MiniLM have 0.61 or more, rotated ones 0.01 or less (lab/notebook/gate.md)


@dataclass(frozen=True, slots=True)
class TextLength:
    """The length of a text: words, and tokens before cutting, prompt included; None without a tokenizer."""

    words: int
    tokens: int | None


@dataclass(frozen=True)
class RoleVectors:
    """Vectors [n, d] of texts in one role, with the hashes of the texts as keys."""

    keys: tuple[str, ...]
    vectors: Vectors

    def vectors_of(self, keys: Sequence[str]) -> Vectors:
        """Return the vectors with these keys, shape [n, d]."""
        at = {key: i for i, key in enumerate(self.keys)}
        return self.vectors[[at[key] for key in keys]]


@dataclass(frozen=True, slots=True)
class PackedVectors:
    """Vectors of a role. `texts` has the number of each vector's text.

    A vector is its scale times integers from -127 to 127. `vectors` has the integers of all vectors (int8, in base64).
    """

    texts: tuple[Count, ...]
    scales: tuple[float, ...]
    vectors: str


@dataclass(frozen=True, slots=True)
class PackedAs:
    """A reference to an earlier packed role with the same vectors."""

    as_: TextRole


@dataclass(frozen=True, slots=True)
class PackedSample:
    """A `VectorSample` in a file.

    `dimension` is the dimension of the model's vectors. If they are wider than 384, the file has 384 random projections
    instead. `texts` has the hash of each text, its number of words, and its number of tokens if they can be counted.
    """

    similarity: str
    dimension: Positive
    settings: EncodingSettings
    fingerprint: str
    texts: tuple[tuple[str, Count, Count | None], ...]
    roles: Mapping[TextRole, PackedVectors | PackedAs]


@dataclass(frozen=True)
class VectorSample:
    """The sample by which two models are compared: vectors of some texts by role, and the settings that make them.

    `dimension` is the dimension of the model's vectors, even if the sample has projections. `lengths` has the length of
    each text as a document, by the text's hash. `fingerprint` identifies everything that makes the vectors; it is ""
    for a model that others can change.
    """

    settings: EncodingSettings
    similarity: str
    dimension: int
    lengths: Mapping[str, TextLength]
    roles: Mapping[TextRole, RoleVectors]
    fingerprint: str = ""

    def pack(self) -> PackedSample:
        """Return the sample in the form that a file stores."""
        numbers = {key: i for i, key in enumerate(self.lengths)}
        roles: dict[TextRole, PackedVectors | PackedAs] = {}
        for role, one in self.roles.items():
            same = next(
                (other for other in roles
                 if self.roles[other].keys == one.keys and np.array_equal(self.roles[other].vectors, one.vectors)), None
            )  # fmt: skip
            if same is not None:
                roles[role] = PackedAs(same)
                continue
            vectors = project_vectors(one.vectors)
            scales = np.abs(vectors).max(axis=1, initial=0).astype(float) / INT8_MAX
            whole = np.rint(vectors / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
            roles[role] = PackedVectors(
                tuple(numbers[key] for key in one.keys),
                tuple(float(f"{scale:.7g}") for scale in scales.tolist()),
                base64.b64encode(whole.tobytes()).decode(),
            )
        texts = tuple((key, length.words, length.tokens) for key, length in self.lengths.items())
        return PackedSample(self.similarity, self.dimension, self.settings, self.fingerprint, texts, roles)

    @classmethod
    def unpack(cls, packed: PackedSample) -> Self:
        """Return the sample in `packed`.

        Raise ValueError or LookupError if a role does not have one vector per text.
        """
        lengths = {key: TextLength(words, tokens) for key, words, tokens in packed.texts}
        keys, width = list(lengths), min(packed.dimension, KEPT_DIMENSIONS)
        roles: dict[TextRole, RoleVectors] = {}
        for role, kept in packed.roles.items():
            if isinstance(kept, PackedAs):
                roles[role] = roles[kept.as_]
                continue
            try:
                whole = np.frombuffer(base64.b64decode(kept.vectors, validate=True), np.int8)
            except binascii.Error as error:
                raise ValueError(f"the vectors of the role {role!r} are not base64") from error
            if not len(kept.texts) == len(kept.scales) == len(whole) / width:
                raise ValueError(
                    f"the role {role!r} has {len(whole)} numbers and {len(kept.scales)} scales, but should have "
                    f"{width} and one for each of its {len(kept.texts)} texts"
                )
            with np.errstate(over="ignore"):
                scales = np.array(kept.scales, np.float32)[:, None]
            vectors = whole.reshape(-1, width).astype(np.float32) * scales
            roles[role] = RoleVectors(tuple(keys[i] for i in kept.texts), vectors)
        return cls(packed.settings, packed.similarity, packed.dimension, lengths, roles, packed.fingerprint)


def project_vectors(vectors: Vectors) -> Vectors:
    """Return the vectors, projected to at most `KEPT_DIMENSIONS` dimensions.

    Distances are preserved to within a few percent (Achlioptas 2003).
    """
    if vectors.shape[1] <= KEPT_DIMENSIONS:
        return vectors
    found: Vectors = vectors @ _random_signs(vectors.shape[1])
    return found


@lru_cache(maxsize=2)
def _random_signs(dimension: int) -> Vectors:
    """Return random signs, the same on every machine and NumPy version; shape [dimension, KEPT_DIMENSIONS]."""
    count = dimension * KEPT_DIMENSIONS
    bits = np.frombuffer(hashlib.shake_256(b"encheck projection").digest(-(-count // 8)), np.uint8)
    signs = np.unpackbits(bits)[:count].astype(np.float32) * 2 - 1
    return signs.reshape(dimension, KEPT_DIMENSIONS) / np.float32(np.sqrt(KEPT_DIMENSIONS))


@dataclass(frozen=True)
class DocumentLengths:
    """The length distribution of the user's documents: counts by tokens, or by words without a tokenizer."""

    unit: Unit
    counts: Mapping[int, int]

    @classmethod
    def of(cls, lengths: Sequence[TextLength]) -> Self:
        """Return the distribution of these lengths."""
        unit: Unit = "tokens" if all(one.tokens is not None for one in lengths) else "words"
        values, counts = np.unique([getattr(one, unit) for one in lengths], return_counts=True)
        return cls(unit, dict(zip(values.tolist(), counts.tolist(), strict=True)))

    @property
    def total(self) -> int:
        """The number of documents."""
        return sum(self.counts.values())

    def count_longer_documents(self, limit: int, unit: Unit) -> int | None:
        """Return how many documents are longer than `limit`.

        Return None if that is unknown: a document of few words can have many tokens.
        """
        if unit == self.unit:
            return sum(count for length, count in self.counts.items() if length > limit)
        return None


def truncation_faults(old: EncodingSettings, new: EncodingSettings, documents: DocumentLengths | None) -> list[str]:
    """Return a message if the new model cuts many more of the user's documents than the old one.

    The list is empty if it does not, or if that is unknown.
    """
    if documents is None or new.maximum_length is None:
        return []
    limits = old.maximum_length, new.maximum_length
    before, now = (0 if limit is None else documents.count_longer_documents(limit, "tokens") for limit in limits)
    if before is None or now is None or now - before < MIN_MORE_TRUNCATED * documents.total:
        return []
    was, share = (f"{100 * count / documents.total:.1f}%" for count in (before, now))
    return [
        f"the new model truncates {share} of your documents, those with over {new.maximum_length:,} tokens; the old "
        f"one truncates {was}. A search cannot find the end of a truncated text"
    ]


@writes_properties("says")
@dataclass(frozen=True)
class Reindex:
    """The answer to whether an index of the old model's vectors has to be rebuilt.

    `needed` is None if unknown; `answer` is the answer in words. `up_to` is the length, in `unit`, up to which vectors
    stay valid; None if none do, or all do. `longer` counts the user's documents beyond `up_to`, or beyond the smaller
    of two maximum lengths; None if the documents are unknown. `median` and `lowest` are cosines between the two models'
    vectors of a text, as stored in an index, over `texts` texts. `related` is true if the models belong to one family:
    dimensions are equal, and vectors point the same way once the mean is removed. A rotated copy counts as unrelated.
    `related` is None if there are too few texts. `same_model` is true if no vector changed and nothing else differs.
    `queries_moved` is true if queries are encoded differently. `only_by_cosine` is true if vectors point the same way
    but have other lengths. `longer_moved` is true if texts beyond `up_to` are cut at another length.
    """

    needed: bool | None
    answer: str
    why: str
    texts: int = 0
    dimensions: tuple[int, int] | None = None
    median: float | None = None
    lowest: float | None = None
    related: bool | None = None
    up_to: int | None = None
    unit: Unit = "tokens"
    longer: int | None = None
    same_model: bool = False
    queries_moved: bool = False
    only_by_cosine: bool = False
    longer_moved: bool = False

    @property
    def outcome_in_use(self) -> SameOutcome:
        """The outcome of `encheck same`: whether both are the same model in use, for any text.

        >>> unknown_reindex("no text").outcome_in_use, Reindex(False, "no", "", queries_moved=True).outcome_in_use
        ('cannot tell', 'another')
        """
        if self.needed or self.only_by_cosine or self.longer_moved or self.queries_moved:
            return "another"
        if self.needed is None and self.up_to is None:
            return "cannot tell"
        return "same" if self.same_model else "same for use"

    @property
    def says(self) -> str:
        """The answer in one line.

        >>> Reindex(True, "yes", "vectors of 384 dimensions before, of 768 now").says
        're-index: yes (vectors of 384 dimensions before, of 768 now)'
        """
        return f"re-index: {self.answer} ({self.why})"


def are_same_for_use(old: Vectors, new: Vectors, *, by_cosine: bool = False) -> Bools:
    """Return which of the vectors [n, d] differ by no more than rounding, batches and precision explain; shape [n].

    Two vectors agree if their cosine is 0.999 or more and, unless the index compares by cosine, their lengths differ by
    at most 1%.
    """
    stays = _cosines(old, new) >= 1 - ROUNDING
    return stays if by_cosine else stays & (np.abs(_length_ratios(old, new) - 1) <= SAME_LENGTH)


def unknown_reindex(why: str) -> Reindex:
    """Return the result for models that cannot be compared."""
    return Reindex(None, "cannot tell", why)


def reindex_for_other_dimension(sizes: tuple[int, int]) -> Reindex:
    """Return the result for two models with different vector dimensions."""
    why = f"vectors of {sizes[0]} dimensions before, of {sizes[1]} now"
    return Reindex(True, "yes", why, dimensions=sizes, related=False)


def compare_samples(old: VectorSample, new: VectorSample, *, documents: DocumentLengths | None = None) -> Reindex:
    """Compare two models on the texts that both encoded. `documents` are the user's documents' lengths, if known."""
    sizes = (old.dimension, new.dimension)
    if sizes[0] != sizes[1]:
        return reindex_for_other_dimension(sizes)
    pairs = [_RoleComparison.of(old, new, role) for role in old.roles if role in new.roles]
    pairs = [pair for pair in pairs if pair.keys]
    if not any(pair.role in STORED_ROLES for pair in pairs):
        return Reindex(None, "cannot tell", "no text has a vector of both models in the same role", dimensions=sizes)
    evidence = _Evidence(old, new, pairs)
    answer = (
        _reindex_if_vectors_differ(evidence) or _reindex_if_unknown(evidence) or _reindex_by_length(evidence, documents)
    )
    worst, limit = evidence.worst, evidence.limit
    longer = documents.count_longer_documents(limit, "tokens") if documents and limit is not None else answer.longer
    same_model = evidence.is_unchanged and not evidence.differences and old.similarity == new.similarity
    return replace(
        answer, longer=longer, texts=len(evidence.keys), dimensions=sizes, median=float(np.median(worst.cosines)),
        lowest=evidence.lowest, related=worst.related, same_model=same_model, queries_moved=evidence.queries_moved,
    )  # fmt: skip


@dataclass(frozen=True)
class _RoleComparison:
    """Both models' vectors of the same texts in one role.

    It has their cosines [n] and ratios of lengths [n], which vectors stay valid [n], and whether no vector changed.
    """

    role: TextRole
    keys: tuple[str, ...]
    cosines: Floats
    ratios: Floats
    stays: Bools
    stays_by_cosine: Bools
    is_unchanged: bool
    related: bool | None

    @classmethod
    def of(cls, old: VectorSample, new: VectorSample, role: TextRole) -> Self:
        there = set(new.roles[role].keys)
        keys = tuple(key for key in old.roles[role].keys if key in there)
        before, after = (one.roles[role].vectors_of(keys) for one in (old, new))
        stays, by_cosine = (are_same_for_use(before, after, by_cosine=directions) for directions in (False, True))
        # unchanged except for the effect of the batch size, also for vectors kept in int8
        largest, now = (np.abs(one).max(axis=1, initial=0).astype(float) for one in (before, after))
        apart = np.abs(before.astype(float) - after).mean(axis=1)
        is_unchanged = (np.abs(largest - now) <= SAME_VECTOR * largest).all() and (
            apart <= 10 * SAME_VECTOR * largest
        ).all()
        related = None  # with too few texts
        if len(before) >= MIN_TEXTS:
            directions = _cosines(before - before.mean(axis=0), after - after.mean(axis=0))
            related = bool(np.median(directions) >= RELATED)
        return cls(
            role,
            keys,
            _cosines(before, after),
            _length_ratios(before, after),
            stays,
            by_cosine,
            bool(is_unchanged),
            related,
        )


@dataclass(frozen=True)
class _Evidence:
    """The evidence from both models' vectors of the same texts, and from their settings."""

    old: VectorSample
    new: VectorSample
    pairs: Sequence[_RoleComparison]

    @property
    def stored_roles(self) -> list[_RoleComparison]:
        """The comparisons in the roles that texts of an index can have."""
        return [pair for pair in self.pairs if pair.role in STORED_ROLES]

    @cached_property
    def keys(self) -> set[str]:
        """The hashes of the texts that can be in an index."""
        return {key for pair in self.stored_roles for key in pair.keys}

    @property
    def text_count_in_words(self) -> str:
        """The number of texts in words."""
        return f"over {len(self.keys):,} texts" if len(self.keys) != 1 else "over 1 text"

    @property
    def worst(self) -> _RoleComparison:
        """The stored role whose vectors differ most."""
        return min(self.stored_roles, key=lambda pair: float(np.median(pair.cosines)))

    @property
    def lowest(self) -> float:
        """The lowest cosine of a stored text."""
        return min(float(pair.cosines.min()) for pair in self.stored_roles)

    @property
    def is_unchanged(self) -> bool:
        """Whether no vector changed, in any role."""
        return all(pair.is_unchanged for pair in self.pairs)

    @property
    def differences(self) -> list[str]:
        """The settings in which the models' files differ."""
        return list(describe_setting_differences(self.old.settings, self.new.settings))

    @property
    def queries_moved(self) -> bool:
        """Whether queries are encoded differently, apart from queries that one of the models cuts."""
        moved = (key for pair in self.pairs if pair.role == "query" for key in self._changed_texts(pair))
        return any(self.limit is None or (self.token_count(key) or 0) <= self.limit for key in moved)

    def _changed_texts(self, pair: _RoleComparison) -> list[str]:
        """Return the texts whose vectors changed, by the similarity that the models use."""
        by_cosine = self.old.similarity == self.new.similarity == "cosine"
        return [pair.keys[i] for i in np.flatnonzero(~(pair.stays_by_cosine if by_cosine else pair.stays))]

    @cached_property
    def changed_keys(self) -> set[str]:
        """The texts whose stored vectors are no longer valid."""
        return {key for pair in self.stored_roles for key in self._changed_texts(pair)}

    @property
    def limit(self) -> int | None:
        """The smaller maximum length, if both are known and differ."""
        old, new = self.old.settings.maximum_length, self.new.settings.maximum_length
        return min(old, new) if old is not None and new is not None and old != new else None

    def token_count(self, key: str) -> int | None:
        """Return the number of tokens of a text, the larger of both models' counts, or None if neither counts."""
        counts = [one.lengths[key].tokens for one in (self.old, self.new)]
        return max((count for count in counts if count is not None), default=None)

    def word_count(self, key: str) -> int:
        """Return the number of words of a text."""
        return self.new.lengths[key].words

    @property
    def longest_text_length(self) -> tuple[int, Unit] | None:
        """The length of the longest compared text; None if that length is irrelevant.

        It is irrelevant for identical models, and if texts beyond a maximum length that both models share were
        compared.
        """
        if self.is_unchanged and self.old.fingerprint and self.old.fingerprint == self.new.fingerprint:
            return None
        counts = [self.token_count(key) for key in self.keys]
        limits = {self.old.settings.maximum_length, self.new.settings.maximum_length}
        if None in counts:
            return max(map(self.word_count, self.keys)), "words"
        most = max(count for count in counts if count is not None)
        (limit, *others) = limits
        return None if limit is not None and not others and most > limit else (most, "tokens")


def _reindex_if_vectors_differ(evidence: _Evidence) -> Reindex | None:
    """Return the answer "yes" if stored vectors changed and a maximum length alone does not explain it, else None."""
    moved, limit, old, new = evidence.changed_keys, evidence.limit, evidence.old, evidence.new
    if not moved:
        return None
    is_beyond_limit = limit is not None and all((evidence.token_count(key) or 0) > limit for key in moved)
    if is_beyond_limit and not differing_tokenizer_parts(old.settings, new.settings):
        return None
    worst = evidence.worst
    if evidence.lowest >= 1 - ROUNDING:
        similarity = new.similarity if new.similarity != "cosine" else evidence.old.similarity
        what = f"{_length_change_text(evidence)}, and the model compares by {similarity}"
    else:
        role = " as documents" if worst.role == "document" and new.settings.has_prompt("document") else ""
        what = f"vectors differ: median cosine {np.median(worst.cosines):.3f}, lowest {evidence.lowest:.3f}, "
        what += f"{evidence.text_count_in_words}{role}"
        shortest = min(map(evidence.word_count, moved))
        if len(moved) < len(evidence.keys) and all(evidence.word_count(k) < shortest for k in evidence.keys - moved):
            what += f", but only of texts of {shortest:,} words or more"
        if worst.related is False:
            what += "; typical of unrelated models or a rotated copy"
    return Reindex(True, "yes", "; ".join([what, *evidence.differences]))


def _length_change_text(evidence: _Evidence) -> str:
    ratios = np.concatenate([pair.ratios for pair in evidence.stored_roles])
    low, middle, high = np.percentile(ratios, [0, 50, 100])
    times = f"{middle:.3g}" if high - low <= SAME_LENGTH * middle else f"{low:.3g} to {high:.3g}"
    return f"the same directions, but vectors {times} times as long, {evidence.text_count_in_words}"


def _reindex_if_unknown(evidence: _Evidence) -> Reindex | None:
    """Return the answer "cannot tell" if the compared texts agree but other texts, or an index, may not; else None."""
    old, new = evidence.old.settings, evidence.new.settings
    is_compared = any(pair.role == "document" for pair in evidence.pairs)
    if (old.has_prompt("document") or new.has_prompt("document")) and not is_compared:
        return unknown_reindex("documents get a prompt, but the models did not both encode a text as a document")
    if differing_tokenizer_parts(old, new):
        said = "; ".join(evidence.differences)
        return unknown_reindex(
            f"vectors are the same {evidence.text_count_in_words}, but {said}: vectors of other texts may differ"
        )
    lengths = (p.keys[i] for p in evidence.stored_roles for i in np.flatnonzero(np.abs(p.ratios - 1) > SAME_LENGTH))
    limit = evidence.limit  # if the limits differ, only texts that neither model cuts show whether lengths changed
    if any(limit is None or (evidence.token_count(key) or 0) <= limit for key in lengths):
        answer = "no, if your index compares by cosine; yes, if by inner product or distance"
        return Reindex(
            None, answer, "; ".join([_length_change_text(evidence), *evidence.differences]), only_by_cosine=True
        )
    return None


def _reindex_by_length(evidence: _Evidence, documents: DocumentLengths | None) -> Reindex:
    """Return the answer "no", up to the length that was compared or up to which both models read the same text."""
    limit, longest = evidence.limit, evidence.longest_text_length
    up_to, unit = longest or (None, "tokens")
    if limit is not None:
        up_to, unit = limit, "tokens"
    lowest = np.floor((evidence.lowest + 5e-7) * 1e5) / 1e5  # rounded down, except for differences below fp32
    why = f"the same vectors within rounding: lowest cosine {lowest:.5f}, {evidence.text_count_in_words}"
    if moved := evidence.changed_keys:
        both = (one for pair in evidence.stored_roles for one in zip(pair.keys, pair.cosines, strict=True))
        cosines = [value for key, value in both if key in moved]
        why = f"median cosine {np.median(cosines):.3f}, lowest {min(cosines):.3f}, over the longer texts"
    if limit is not None:
        lengths = evidence.new.settings.maximum_length, evidence.old.settings.maximum_length
        why = f"texts are cut at {lengths[0]:,} tokens now, at {lengths[1]:,} before; {why}"
    if evidence.queries_moved:
        why += "; stored vectors of queries are no longer valid"
    if up_to is None:
        return Reindex(False, "no", why)
    longer = documents.count_longer_documents(up_to, unit) if documents else None
    bound = Reindex(None, "", why, up_to=up_to, unit=unit, longer=longer, longer_moved=limit is not None)
    if documents is None or longer is None:
        then = "yes, for longer ones" if limit is not None else "longer ones were not compared"
        return replace(bound, answer=f"no, for texts of up to {up_to:,} {unit}; {then}")
    if not longer:
        most = f"the longest of {documents.total:,} documents has {max(documents.counts):,} {unit}"
        more = f", and vectors stay up to {up_to:,}" if limit is not None else ""
        return replace(bound, needed=False, answer="no", why=f"{why}; {most}{more}")
    count = f"{longer:,} of {documents.total:,} documents, which have more than {up_to:,} {unit}"
    if limit is not None:
        return replace(bound, needed=True, answer=f"yes, for {count}")
    return replace(bound, answer=f"cannot tell for {count}; no for the others")


def _cosines(old: Vectors, new: Vectors) -> Floats:
    """Return the cosine of each row; 1 if both vectors are zero, 0 if one is."""
    both = ~old.any(axis=1) & ~new.any(axis=1)
    return np.where(both, 1.0, np.nan_to_num(cosine(old, new)))


def _length_ratios(old: Vectors, new: Vectors) -> Floats:
    """Return the ratio of new to old vector lengths; 1 if one of them is zero."""
    before, after = (np.linalg.norm(one.astype(float), axis=1) for one in (old, new))
    known = (before > 0) & (after > 0)
    return np.where(known, after / np.where(known, before, 1), 1.0)


FIXED_TEXTS = (
    "The ferry leaves at half past six.",
    "How do I reset my password?",
    "Invoice 4417 was paid twice.",
    "The committee did not approve the budget.",
    "Bread",
    "A red kite circled above the quarry all afternoon.",
    "Which of the two routers needs a firmware update before it can join the mesh?",
    "She taught chemistry in Lisbon before she moved to Oslo.",
    "Store below 8 degrees and away from direct light.",
    "The bridge was closed because the river had risen by two metres overnight.",
    "My order has not arrived, and the tracking page shows nothing since Tuesday.",
    "Every tenant received a letter; nobody answered.",
    "def area(radius): return 3.14159 * radius ** 2",
    "Unlike the first edition, the second one has an index.",
    "He sold the boat to his neighbour for less than it had cost him.",
    "Can I cancel a booking without a fee?",
    "The patient may leave the ward once the fever has gone.",
    "Three of the nine samples were contaminated, so the experiment was repeated with fresh reagents in another lab.",
    "Tickets bought online are cheaper than those at the door.",
    "ERROR 503: upstream service unavailable",
    "The violinist refused to play the encore.",
    "Turn left after the church, then take the second street on the right.",
    "Rainfall in March was far below the average of the last thirty years.",
    "If the light blinks twice, the battery has to be replaced.",
    "Our office is closed on public holidays.",
    "The novel follows two brothers who inherit a lighthouse and cannot agree on what to do with it.",
    "No refunds are given after thirty days.",
    "Mix flour, salt and water, and let the dough rest for an hour.",
    "The minister denied that she had met the lobbyists.",
    "Cheap flights to Rome in October",
    "A contract that is not signed by both parties is not binding.",
    "Thanks, that solved it!",
)
LONG_WORDS = (15, 30, 45, 90, 180, 350, 700, 1_400, 2_800, 5_600, 11_200)  # a token has about three quarters of a word


def make_long_text(words: int) -> str:
    """Return the short texts joined and cut after this number of words. Each length starts at a different short text.

    >>> make_long_text(4), len(make_long_text(700).split())
    ('The minister denied that', 700)
    """
    start = 7 * words % len(FIXED_TEXTS)
    run = " ".join((*FIXED_TEXTS[start:], *FIXED_TEXTS[:start])).split()
    return " ".join((run * (words // len(run) + 1))[:words])
