"""The first step of a gate against an index in use: check that its vectors come from one model and match their texts.

The old model may no longer exist, so this module checks two things. First, which vectors are already the new model's:
if only some are, the index is a mix. Second, for an index of an unavailable model: the similarity of two stored vectors
should correlate with the new model's similarity of their texts. If a batch was shifted by one row, it correlates with
the texts one row before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.settings import count_model_tokens
from encheck.encoders.stored_index import StoredIndex
from encheck.gating.advice import row_numbers_in_words
from encheck.gating.old_index import IndexFaults
from encheck.indexes.audit import IndexAudit, cause_counts_text, compare_index, fault_counts_text
from encheck.indexes.rows import SAME_LENGTH
from encheck.indexes.sources import FreshVectors
from encheck.scoring.vector_search import unit_vectors
from encheck.similarity import ROUNDING, cosine

Vectors = NDArray[np.float32]
Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
ROWS_AT_ONCE = 1_000
FEWEST_RIGHT = 5  # minimum rows of the new model in a mix
FEWEST_ROWS = 50  # rows whose similarities are compared
FEWEST_SHIFTED, FEWEST_STRANGE = 5, 8  # rows in a run
RELATED, STRANGE = 0.3, 0.3  # the median row's minimum correlation, and the maximum part of it for a strange row
BY_LENGTH = 0.98  # share of pairs (a row that differs, one that does not) in which the former has the longer text
OTHER_LENGTH = 0.1  # relative
APART = 10  # in a mix, different vectors are this many times farther than equal ones


def find_index_faults(index: StoredIndex, fresh: FreshVectors, documents: Mapping[str, Vectors]) -> IndexFaults | None:
    """Return the faults in the vectors of these documents, or None without faults.

    `documents` are the new model's vectors by text. If the new model differs from the old one only on long texts, the
    length limit was changed, which is not a fault.
    """
    names = index.find_row_numbers(documents, are_hashes=False, roles=("document", ""))
    texts = sorted(names, key=lambda text: names[text])
    if not texts:
        return None
    numbers = np.array([names[text] for text in texts], np.intp)
    stored, vectors = (
        index.vectors_of_rows(numbers, index.dimension),
        np.array([documents[text] for text in texts], np.float32),
    )
    near = cosine(stored, vectors) >= 1 - ROUNDING if stored.shape == vectors.shape else np.zeros(len(texts), bool)
    if near.sum() >= FEWEST_RIGHT:
        lengths = np.array(count_model_tokens(fresh.source, texts, role="document") or [len(text) for text in texts])
        sizes, new_sizes = (np.linalg.norm(some[near].astype(np.float64), axis=1) for some in (stored, vectors))
        # Only one of the two models normalises its vectors, for instance: then lengths tell no row from the others.
        have_other_lengths = abs(float(np.median(sizes / new_sizes)) - 1) > SAME_LENGTH
        similarity = "cosine" if have_other_lengths else "dot"
        mixed = _mixed_models(compare_index(index, fresh, numbers=numbers, similarity=similarity), numbers, lengths)
        found = mixed or _zero_vectors(numbers, stored)
        return found or (_odd_lengths(numbers, stored) if have_other_lengths else None)
    return (
        _zero_vectors(numbers, stored) or _mismatched_texts(numbers, stored, vectors) or _odd_lengths(numbers, stored)
    )


def _zero_vectors(numbers: Ints, stored: Vectors) -> IndexFaults | None:
    zero = numbers[~stored.any(axis=1)]
    said = f"{len(zero):,} of {len(numbers):,} stored vectors are zero"
    return IndexFaults(said, tuple(zero.tolist())) if len(zero) else None


def _mixed_models(one: IndexAudit, numbers: Ints, lengths: Ints) -> IndexFaults | None:
    """Return the rows that are not the new model's.

    Return None if all rows or none are the new model's, or if text length explains the difference.
    """
    right, others = one.count("right"), [row for row in one.faults if row.kind != "no text"]
    misplaced = one.count("another text")
    if not others or right + misplaced == 0:
        return None
    if not misplaced and not one.count("zero"):
        faults = np.isin(numbers, [row.number for row in others])
        longer = lengths[faults][:, None] > lengths[~faults][None, :]
        if longer.mean() >= BY_LENGTH:  # a length limit was changed
            return None
        # Rows that differ have to be much farther than equal ones, in direction or length, or the model was only tuned.
        distances = [1 - row.cosine for row in one.faults if row.kind in ("unexplained", "shortened") and row.cosine]
        ratios = [abs(row.length - 1) for row in one.faults if row.kind == "not normalised" and row.length]
        is_turned = bool(distances) and float(np.quantile(distances, 0.1)) >= APART * one.noise
        if not is_turned and not (ratios and float(np.median(ratios)) >= OTHER_LENGTH):
            return None
    parts = [
        *fault_counts_text(Counter({count.kind: count.rows for count in one.counts})),
        *cause_counts_text(one.groups),
    ]
    said = ", ".join(parts)
    return IndexFaults(
        f"{right:,} of {one.compared:,} stored vectors are the new model's, {len(others):,} are not: {said}",
        tuple(row.number for row in others),
    )


def _mismatched_texts(numbers: Ints, stored: Vectors, fresh: Vectors) -> IndexFaults | None:
    """Return the rows whose similarities to other rows correlate with those of a different text, or of no text."""
    shifted: dict[int, Ints] = {}
    strange: list[int] = []
    n = len(numbers)
    for some in np.array_split(np.arange(n), -(-n // ROWS_AT_ONCE)) if n >= FEWEST_ROWS else ():
        old, new = _similarity_profiles(stored[some]), _similarity_profiles(fresh[some])
        # If most rows are shifted by one, so are most of the rows that they are compared with.
        turned = {shift: np.roll(new, -shift, axis=(0, 1)) for shift in (0, -1, 1)}
        usual_shift = max(turned, key=lambda shift: float(np.median((old * turned[shift]).sum(axis=1))))
        likeness = old @ turned[usual_shift].T
        fit, shift_of_row = np.diag(likeness).copy(), np.full(len(some), usual_shift)
        for shift, rows in _shifted_rows(likeness):
            fit[rows], shift_of_row[rows] = likeness[rows, (rows + shift) % len(some)], usual_shift + shift
        if (usual := float(np.median(fit))) < RELATED:
            continue
        for shift in np.unique(shift_of_row[shift_of_row != 0]).tolist():
            for run in _runs_of_chosen(shift_of_row == shift, FEWEST_SHIFTED):
                shifted[shift] = np.concatenate([shifted.get(shift, np.zeros(0, np.intp)), numbers[some][run]])
        odd = (fit <= STRANGE * usual) & (shift_of_row == 0)
        strange += [int(number) for run in _runs_of_chosen(odd, FEWEST_STRANGE) for number in numbers[some][run]]
    if shifted:
        rows = np.sort(np.concatenate(list(shifted.values())))
        said = " and ".join(
            f"rows {row_numbers_in_words(some.tolist())} fit the texts "
            f"{abs(shift):,} {'before' if shift < 0 else 'after'} them"
            for shift, some in shifted.items()
        )
        return IndexFaults(f"{len(rows):,} of {n:,} stored vectors belong to other texts: {said}", tuple(rows.tolist()))
    if strange:
        return IndexFaults(
            f"{len(strange):,} of {n:,} stored vectors do not fit the others: their similarities do not correlate "
            f"with those of their texts (rows {row_numbers_in_words(strange)}); another model's, or of other texts",
            tuple(strange),
        )
    return None


def _odd_lengths(numbers: Ints, stored: Vectors) -> IndexFaults | None:
    """Return the rows whose length differs, in an index where most rows have one length."""
    sizes = np.linalg.norm(stored.astype(np.float64), axis=1)
    usual = float(np.median(sizes))
    same = np.abs(sizes - usual) <= 0.001 * usual
    other = np.flatnonzero(np.abs(sizes - usual) > 0.01 * usual)
    if same.mean() <= 0.5 or not len(other):
        return None
    return IndexFaults(
        f"{len(other):,} of {len(numbers):,} stored vectors have another length than most ({usual:.3g}): this matters "
        "where the index uses inner products",
        tuple(numbers[other].tolist()),
    )


def _similarity_profiles(vectors: Vectors) -> Floats:
    """Return each row's similarities to the other rows, less their mean, normalised to length 1; shape [n, n]."""
    directions = unit_vectors(vectors).astype(np.float64)
    alike = directions @ directions.T
    count = len(alike)
    np.fill_diagonal(alike, 0)
    of_rows = alike.sum(axis=1) / (count - 1)
    alike += of_rows.mean() - of_rows[:, None] - of_rows[None, :]
    np.fill_diagonal(alike, 0)
    return np.asarray(alike / np.maximum(np.linalg.norm(alike, axis=1, keepdims=True), 1e-12), np.float64)


def _shifted_rows(likeness: Floats) -> Iterator[tuple[int, Ints]]:
    """Yield (shift, rows) for runs of rows that fit the text `shift` rows after them, the first after the last, better
    than their own.
    """
    rows = np.arange(len(likeness))
    best = likeness.argmax(axis=1) - rows
    shifts = {int(best[run[0]]) for run in _equal_runs(best) if best[run[0]] and len(run) >= FEWEST_SHIFTED}
    for shift in sorted(shifts, key=abs):
        better = likeness[rows, (rows + shift) % len(rows)] > np.diag(likeness)
        if runs := list(_runs_of_chosen(better, FEWEST_SHIFTED)):
            yield shift, np.concatenate(runs)


def _equal_runs(values: Ints) -> list[Ints]:
    """Return the positions of each run of equal values."""
    return np.split(np.arange(len(values)), np.flatnonzero(np.diff(values)) + 1)


def _runs_of_chosen(chosen: NDArray[np.bool_], fewest: int) -> Iterator[Ints]:
    """Yield the positions of each run of at least `fewest` chosen rows."""
    yield from (run for run in _equal_runs(chosen.astype(np.intp)) if chosen[run[0]] and len(run) >= fewest)
