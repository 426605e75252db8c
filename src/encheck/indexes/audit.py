"""Audit a stored index: compare fresh vectors with stored ones, text by text, and explain the differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isnan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.stored_index import IndexRow, StoredIndex, describe_loose_matches
from encheck.errors import UsageError
from encheck.indexes.rows import (
    KINDS,
    SAME_LENGTH,
    Beginning,
    RowGroup,
    RowKind,
    StoredAndFresh,
    classify_rows,
    compare_rows,
    explain_group,
    find_beginnings,
    finite_blocks,
    make_group,
    nearest_equal,
    nearest_equal_in_blocks,
    rows_to_search,
    split_into_groups,
)
from encheck.indexes.sources import FreshVectors
from encheck.similarity import ROUNDING, cosine, words
from encheck.statistics.bootstrap import Figure
from encheck.statistics.hypothesis_tests import clopper_pearson_interval, share_upper_bound, units_needed
from encheck.system.terminal import Progress

Vectors = NDArray[np.float32]
Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
AuditOutcome = Literal["all are", "some are not", "cannot tell"]
ExitCode = Literal[0, 1, 10]
EXIT_CODES: dict[AuditOutcome, ExitCode] = {"all are": 0, "some are not": 1, "cannot tell": 10}
MAX_UNSEEN_SHARE = 0.05  # a sample without faults must show that at most this share of all rows is wrong
MIN_SHIFTED, SHIFTED_SHARE = 5, 0.1  # rows with the same distance to their vector's text; of all in another's place
ENCODED_AGAIN = 64  # texts encoded twice, to check whether their vectors are the same


@dataclass(frozen=True, slots=True)
class AuditedRow:
    """A row whose vector is not this model's vector of its text: its number in the file, its id, and its fault.

    `cosine` is the cosine with the row's own fresh vector, None if there is none; `length` is the ratio of their
    lengths. `text_of` is the id of the row whose text has this row's vector, and `text_at` that row's number.
    `stored_at` is the id of the row that has this row's own vector. `beginning` is the part of the text that was
    encoded.
    """

    number: int
    id: str
    kind: RowKind
    cosine: float | None = None
    length: float | None = None
    text_of: str | None = None
    text_at: int | None = None
    stored_at: str | None = None
    beginning: Beginning | None = None


@dataclass(frozen=True)
class Placement:
    """The text to which a row's vector belongs, and the row that has the row's own vector, as in `AuditedRow`."""

    text_of: str | None
    text_at: int | None
    stored_at: str | None = None


@dataclass(frozen=True)
class KindCount:
    """The number of rows of a kind."""

    kind: RowKind
    rows: int


@dataclass(frozen=True)
class IndexAudit:
    """The result of auditing a stored index, which `encheck index --json FILE` writes.

    `exit_code` is 0 if all vectors are this model's, 1 if some are not, 10 if that cannot be determined. `dimension` is
    the dimension of the fresh vectors.

    `counts` has the kinds of the `compared` rows among the `rows` of the file. `whole_file` has those of all rows, for
    faults that show without a text (zero, not finite, another dimension). `wrong` is the share of compared rows that
    are not this model's, with Clopper and Pearson's 95% interval for all rows if they were `sampled`, and `at_most` is
    its one-sided 95% upper bound; both are None if all rows were compared. `noise` is the 90th percentile of the
    distances (1 - cosine) of right rows to the fresh vectors, 0 if no row is right. `faults` lists each row that is not
    this model's, `groups` the rows with other faults by their possible cause.
    """

    encheck_index_audit: Literal[1] = field(default=1, kw_only=True)
    exit_code: ExitCode
    model: str
    file: str
    dimension: int
    rows: int
    compared: int
    sampled: bool
    outcome: AuditOutcome
    reason: str
    counts: tuple[KindCount, ...]
    whole_file: tuple[KindCount, ...]
    wrong: Figure | None
    at_most: float | None
    noise: float
    faults: tuple[AuditedRow, ...]
    groups: tuple[RowGroup, ...]
    notes: tuple[str, ...]

    def count(self, kind: RowKind) -> int:
        """Return how many compared rows are of this kind."""
        return next((one.rows for one in self.counts if one.kind == kind), 0)


def compare_index(
    index: StoredIndex,
    fresh: FreshVectors,
    *,
    numbers: Ints | None = None,
    sample: int | None = None,
    seed: int = 0,
    similarity: str = "dot",
    progress: Progress | None = None,
) -> IndexAudit:
    """Compare rows of an index with fresh vectors of their texts.

    Compare the rows with the given numbers; with None, all rows or a random sample. `similarity` is the index's
    similarity function: with cosine, lengths do not count. Raise UsageError if nothing can be compared, or if a sampled
    row has no fresh vector.
    """
    if fresh.is_model and index.named_by == "hash":
        raise UsageError(
            f"{index.source} has hashes and no texts, which {fresh.label} cannot encode. Remedy: add the column text, "
            "or name fresh vectors by the same hashes: vectors:FILE2"
        )
    chosen = np.arange(index.count) if numbers is None else numbers
    _ = index.notes  # first, to refuse a file without any of these texts
    missing = 0
    is_drawn = sample is not None and sample < len(chosen)
    if isinstance(fresh.source, StoredIndex) and not is_drawn and numbers is None:
        chosen = index.shared_row_numbers(fresh.source)
        missing = index.count - len(chosen)
    if is_drawn:
        chosen = np.sort(np.random.default_rng(seed).choice(chosen, sample, replace=False))
    rows = index.rows(chosen)
    named = np.array([row.name is not None for row in rows], bool)
    chosen, rows, without_text = chosen[named], [row for row in rows if row.name is not None], [
        AuditedRow(int(number), row.id, "no text") for number, row in zip(chosen, rows, strict=True) if row.name is None
    ]  # fmt: skip
    if not rows and not missing:
        raise UsageError(f"{index.source}: none of the {len(without_text):,} rows has a text. Remedy: add their texts")
    are_hashes = index.named_by == "hash"
    vectors, known = fresh.vectors(
        [row.name or "" for row in rows], [row.role for row in rows], are_hashes=are_hashes, progress=progress
    )
    if not known.any():
        raise UsageError(
            f"{fresh.label} has no vector for any of the {missing + len(rows):,} texts of {index.source} to "
            "compare. Remedy: fresh vectors of the same texts"
        )
    if is_drawn and not known.all():
        raise UsageError(
            f"{fresh.label} has no vectors for {(~known).sum():,} of the {len(rows):,} sampled rows. Remedy: "
            "leave --sample out, to compare every row with a vector, and choose these at random"
        )
    if index.holds_integers and index.dimension * 8 == vectors.shape[1]:
        raise UsageError(
            f"{index.source} has {index.dimension} whole numbers per vector, an eighth of the {vectors.shape[1]} of "
            f"{fresh.label}: packed bits, which cannot be compared with numbers. Remedy: fresh vectors that were "
            f"packed in the same way: encheck index vectors:FRESH vectors:{index.source}"
        )
    rows = [row for row, is_known in zip(rows, known, strict=True) if is_known]
    work = _RowsAudit(index, fresh, chosen[known], rows, vectors[known], seed, similarity)
    missing += int((~known).sum())
    return work.compare(without_text, partial=missing, sampled=is_drawn or missing > 0, of_all=numbers is None)


@dataclass
class _RowsAudit:
    """The rows to compare: their ascending numbers, and their fresh vectors [n, d]."""

    index: StoredIndex
    fresh: FreshVectors
    numbers: Ints
    rows: Sequence[IndexRow]
    vectors: Vectors
    seed: int
    similarity: str

    def compare(self, without_text: Sequence[AuditedRow], *, partial: int, sampled: bool, of_all: bool) -> IndexAudit:
        dimension = self.vectors.shape[1]
        stored, lengths, others, broken = self._read_stored(dimension)
        one = compare_rows(stored, self.vectors, integers=self.index.holds_integers)
        kinds = classify_rows(one, lengths, lengths_count=self.similarity != "cosine")
        faults = {
            place: AuditedRow(
                int(self.numbers[place]), self.rows[place].id, kind,
                None if isnan(one.distance[place]) else float(1 - one.distance[place]),
                float(one.ratio[place]) if np.isfinite(one.ratio[place]) else None,
            )
            for place, kind in enumerate(kinds)
        }  # fmt: skip
        for place, where in self._find_misplaced(one, kinds, whole=not sampled and of_all).items():
            faults[place] = replace(faults[place], kind="another text", **vars(where))
        unexplained = [place for place, row in faults.items() if row.kind == "unexplained"]
        notes = list(self.index.notes)
        if isinstance(self.fresh.source, StoredIndex):
            notes += self.fresh.source.notes
            if loose := len(self.fresh.source.loosely_matched_names):
                notes.append(describe_loose_matches(loose))
        if self.index.named_by == "text":
            notes += self._mark_shortened(one, unexplained, faults)
        if not self.fresh.is_model and unexplained:
            notes.append(
                "shortened and earlier texts can be found only as far as the fresh vectors have such texts: name the "
                "model itself to look for them"
            )
        groups = (*self._explain_groups(one, faults), *self._group_by_dimension(faults, others))
        if self.index.holds_integers and one.calibrated:
            notes.append("the stored vectors are integers: they were rescaled to the fresh vectors")
        if partial:
            notes.append(
                f"{partial:,} rows have no fresh vector and were not compared: the interval is valid only if those "
                "with one were chosen at random"
            )
        broken = broken if of_all else {}
        counts = Counter(row.kind for row in (*faults.values(), *without_text))
        n = len(faults)
        wrong = n - counts["right"]
        share = Figure(wrong / n, *clopper_pearson_interval(wrong, n)) if sampled else None
        at_most = share_upper_bound(wrong, n) if sampled else None
        again = 0.0  # the largest distance between the model's vectors of one text in two batches
        doubtful = [place for place, row in faults.items() if row.kind in ("unexplained", "another text")]
        if self.fresh.is_model and doubtful:
            some = [self.rows[at] for at in doubtful[-ENCODED_AGAIN:][::-1]]
            repeated, _ = self.fresh.vectors([row.name or "" for row in some], [row.role for row in some])
            pairs = zip(repeated, self.vectors[doubtful[-ENCODED_AGAIN:][::-1]], strict=True)
            again = float(max(_distance(*pair) for pair in pairs))
        outcome, reason = _outcome_and_reason(
            self.fresh.label, counts, len(broken), one, again=again, share=share, at_most=at_most, groups=groups
        )  # fmt: skip

        def count_kinds(some: Mapping[RowKind, int]) -> tuple[KindCount, ...]:
            return tuple(KindCount(kind, some[kind]) for kind in KINDS if some[kind])

        right = one.distance[[place for place, row in faults.items() if row.kind == "right"]]
        # Every row that is not this model's, including rows with a broken vector that were not compared.
        compared_rows = {row.number: row for row in (*faults.values(), *without_text)}
        elsewhere = np.array(sorted(broken.keys() - compared_rows.keys()), np.intp)
        named = zip(elsewhere.tolist(), self.index.rows(elsewhere), strict=True) if len(elsewhere) else ()
        listed = {number: AuditedRow(number, row.id, broken[number]) for number, row in named}
        listed |= {number: row for number, row in compared_rows.items() if row.kind != "right"}
        return IndexAudit(
            EXIT_CODES[outcome], self.fresh.label, self.index.source.name, dimension, self.index.count, n, sampled,
            outcome, reason, count_kinds(counts), count_kinds(Counter(broken.values())), share, at_most,
            max(float(np.quantile(right, 0.9)), 0.0) if len(right) else 0.0,
            tuple(listed[number] for number in sorted(listed)), groups,
            (*notes, *_shift_notes(faults), *_length_note(faults)),
        )  # fmt: skip

    def _read_stored(self, dimension: int) -> tuple[Vectors, Ints, dict[int, Vectors], dict[int, RowKind]]:
        """Return the rows' stored vectors, their lengths, vectors of a different length, and the faults of all rows."""
        stored = np.full((len(self.numbers), dimension), np.nan, np.float32)
        lengths, others, broken = np.zeros(len(self.numbers), np.intp), dict[int, Vectors](), dict[int, RowKind]()
        for block in self.index.blocks(dimension):
            first, last = np.searchsorted(self.numbers, [block.start, block.start + len(block.vectors)])
            places = self.numbers[first:last] - block.start
            stored[first:last], lengths[first:last] = block.vectors[places], block.lengths[places]
            others |= {
                first + at: block.others[place] for at, place in enumerate(places.tolist()) if place in block.others
            }
            with np.errstate(over="ignore", invalid="ignore"):
                sums = np.abs(block.vectors).sum(axis=1, dtype=np.float64)
            for place in np.flatnonzero(~np.isfinite(sums) | (sums == 0) | (block.lengths != dimension)).tolist():
                is_other = block.lengths[place] not in (0, dimension)
                kind: RowKind = "another dimension" if is_other else "zero" if sums[place] == 0 else "not finite"
                broken[block.start + place] = kind
        return stored, lengths, others, broken

    def _by_role(self, places: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
        """Yield the places of each role that occurs."""
        for role in sorted({self.rows[place].role for place in places}):
            yield role, [place for place in places if self.rows[place].role == role]

    def _mark_shortened(
        self, one: StoredAndFresh, unexplained: Sequence[int], faults: dict[int, AuditedRow]
    ) -> Iterator[str]:
        """Mark the rows whose vector is that of a shortened text. Yield a note about rows that were not searched."""
        searched = 0
        for role, places in self._by_role(unexplained):
            found = find_beginnings(
                [self.rows[at].name or "" for at in places], one.vectors[places], one.distance[places],
                partial(self.fresh.vectors_in_role, role), tolerance=one.tolerance,
                seed=self.seed,
            )  # fmt: skip
            searched += found.searched
            for at, beginning in found.found.items():
                faults[places[at]] = replace(faults[places[at]], kind="shortened", beginning=beginning)
        if searched < len(unexplained):
            yield f"{len(unexplained) - searched:,} rows were not checked for a shortened text"

    def _find_misplaced(self, one: StoredAndFresh, kinds: list[RowKind], *, whole: bool) -> dict[int, Placement]:
        """Return the rows with a different text's vector, by place."""
        places = rows_to_search(one, kinds)
        if not len(places):
            return {}

        def carries(place: int, distance: float) -> bool:
            """Return whether a vector at this distance belongs to the other text, and is not merely near it."""
            own = one.distance[place]
            return distance <= one.tolerance and (own > one.tolerance or distance < own / 10)

        match = nearest_equal(one.vectors[places], self.vectors, but=places, tolerance=one.tolerance)
        found = {
            place: Placement(self.rows[row].id, int(self.numbers[row]))
            for place, row, distance in zip(places.tolist(), match.row.tolist(), match.distance.tolist(), strict=True)
            if row >= 0 and carries(place, distance)
        }
        left = [place for place in places.tolist() if place not in found and kinds[place] == "unexplained"]
        if not whole and left and not self.index.holds_integers:  # their scale is fitted only to the compared rows
            found |= self._find_among_all(one, np.array(left, np.intp), carries)
        return found

    def _find_among_all(
        self, one: StoredAndFresh, places: Ints, carries: Callable[[int, float], bool]
    ) -> dict[int, Placement]:
        """Return the same for rows whose vector matches no compared text, by a search of all stored vectors.

        Three rows may have the text: a row with the same vector, the row at the opposite offset from the row that has
        this row's own vector, and the row at the offset at which other rows' texts lie. The fresh vectors of their
        texts decide. Without these, only the place of the row's own vector is known.
        """
        own = self.numbers[places]
        wanted = np.concatenate([one.vectors[places], self.vectors[places]])
        blocks = finite_blocks(self.index.blocks(self.vectors.shape[1]))
        match = nearest_equal_in_blocks(wanted, blocks, but=np.tile(own, 2), tolerance=one.tolerance)
        copies, homes = np.split(match.row, 2)
        mirrored = np.where(homes >= 0, 2 * own - homes, -1)
        known = self._rows_with_vectors(np.concatenate([copies, homes, mirrored]))

        def text_at(place: int, numbers: Sequence[int]) -> int | None:
            vectors = {number: known[number][1] for number in numbers if number in known}
            near = (n for n, v in vectors.items() if v is not None and carries(place, _distance(one.vectors[place], v)))
            return next(near, None)

        texts = {
            place: text_at(place, (copy, mirror))
            for place, copy, mirror in zip(places.tolist(), copies.tolist(), mirrored.tolist(), strict=True)
        }
        shifts = Counter(at - int(self.numbers[place]) for place, at in texts.items() if at is not None)
        usual = np.array([shift for shift, _ in shifts.most_common(3)], np.intp)
        left = [place for place, at in texts.items() if at is None]
        known |= self._rows_with_vectors((self.numbers[left][:, None] + usual).ravel())
        texts |= {place: text_at(place, (self.numbers[place] + usual).tolist()) for place in left}
        found: dict[int, Placement] = {}
        for place, home in zip(places.tolist(), homes.tolist(), strict=True):
            at, stored_at = texts[place], self._row_with_own_vector(place, home, known, one.tolerance)
            if at is not None or stored_at is not None:
                found[place] = Placement(known[at][0].id if at is not None else None, at, stored_at)
        return found

    def _rows_with_vectors(self, numbers: Ints) -> dict[int, tuple[IndexRow, Vectors | None]]:
        """Return those rows with these numbers that exist and have a text, each with its fresh vector (None if
        unknown).
        """
        numbers = np.unique(numbers[(numbers >= 0) & (numbers < self.index.count)]).astype(np.intp)
        if not len(numbers):
            return {}
        rows = {at: row for at, row in zip(numbers.tolist(), self.index.rows(numbers), strict=True) if row.name}
        vectors, known = self.fresh.vectors(
            [row.name or "" for row in rows.values()], [row.role for row in rows.values()],
            are_hashes=self.index.named_by == "hash",
        )  # fmt: skip
        return {
            at: (row, vector if is_known else None)
            for (at, row), vector, is_known in zip(rows.items(), vectors, known, strict=True)
        }

    def _row_with_own_vector(
        self, place: int, home: int, known: Mapping[int, tuple[IndexRow, Vectors | None]], tolerance: float
    ) -> str | None:
        """Return the id of the row that has this row's own vector.

        Return None if that row's text has the same vector anyway.
        """
        if home not in known:
            return None
        row, vector = known[home]
        if vector is None:
            is_twin = words(row.name or "") == words(self.rows[place].name or "")
        else:
            is_twin = _distance(self.vectors[place], vector) <= tolerance
        return None if is_twin else row.id

    def _explain_groups(self, one: StoredAndFresh, faults: Mapping[int, AuditedRow]) -> tuple[RowGroup, ...]:
        """Return the rows without these faults, in groups that each have a possible cause."""
        open_places = np.array([place for place, row in faults.items() if row.kind == "unexplained"], np.intp)
        right = np.array([place for place, row in faults.items() if row.kind == "right"], np.intp)
        can_ask = self.fresh.is_model and self.index.named_by == "text"
        groups = []
        for role, some in self._by_role(open_places.tolist()):
            for places in split_into_groups(np.array(some, np.intp), right):
                made = explain_group(
                    self.numbers[places], one.vectors[places], self.vectors[places],
                    [self.rows[at].name or "" for at in places] if can_ask else None,
                    partial(self.fresh.vectors_in_role, role) if can_ask else None,
                    seed=self.seed,
                )  # fmt: skip
                groups.append(self._explain_by_other_role(made, one, places))
        return tuple(groups)

    def _explain_by_other_role(self, group: RowGroup, one: StoredAndFresh, places: Ints) -> RowGroup:
        """Return the group. Its cause becomes "another prompt" if most vectors are this model's in a different role."""
        prompt_for = getattr(self.fresh.source, "prompt_for", None)
        if prompt_for is None:
            return group
        own = self.rows[places[0]].role or self.fresh.role
        for role in [role for role in ("query", "document") if role != own]:
            texts = [self.rows[at].name or "" for at in places]
            vectors, _ = self.fresh.vectors(texts, [role] * len(texts))
            pairs = zip(places, vectors, strict=True)
            near = sum(_distance(one.vectors[at], vector) <= one.tolerance for at, vector in pairs)
            if near > len(places) / 2:
                return make_group(
                    "another prompt", group.rows,
                    f"{near} of {len(places)} are this model's vectors in the role {role}, after {prompt_for(role)!r}",
                )  # fmt: skip
        return group

    def _group_by_dimension(
        self, faults: Mapping[int, AuditedRow], others: Mapping[int, Vectors]
    ) -> Iterator[RowGroup]:
        """Yield the rows of each other dimension: this model's, truncated, or a different model's."""
        sizes = sorted({len(vector) for place, vector in others.items() if faults[place].kind == "another dimension"})
        for size in sizes:
            places = [place for place, vector in others.items() if len(vector) == size]
            shared = min(size, self.vectors.shape[1])
            cut = np.array([others[place][:shared] for place in places], np.float32)
            with np.errstate(invalid="ignore"):
                same = int((1 - cosine(cut, self.vectors[places][:, :shared]) <= ROUNDING).sum())
            numbers = tuple(int(self.numbers[place]) for place in places)
            said = f"they have {size} dimensions, and the fresh vectors {self.vectors.shape[1]}"
            if same == len(places):
                said += f"; the first {shared} are the same"
            yield make_group("truncated" if same == len(places) else "another model", numbers, said)


def _outcome_and_reason(
    label: str, counts: Counter[RowKind], broken: int, one: StoredAndFresh, *, again: float, share: Figure | None,
    at_most: float | None, groups: Sequence[RowGroup],
) -> tuple[AuditOutcome, str]:  # fmt: skip
    """Return the outcome and its reason. Unreliable data take precedence over counts."""
    without_text = counts["no text"]
    n = sum(counts.values()) - without_text
    if again > one.tolerance:
        return "cannot tell", (
            f"{label} gives a text different vectors: they differ by up to {again:.3g} (1 - cosine), and "
            f"{one.tolerance:g} is allowed. Remedy: use evaluation mode, and serve one model under this name"
        )
    if not one.calibrated:
        return "cannot tell", (
            "the stored vectors are integers that cannot be rescaled to the fresh ones: fewer than half "
            "are this model's, or they are not rounded numbers. Remedy: name the vectors before they were quantised"
        )
    if counts["right"] < n or broken:
        said = f"{counts['right']:,} of {n:,} stored vectors are {label}'s"
        if parts := [*fault_counts_text(counts), *cause_counts_text(groups)]:
            said += f"; {', '.join(parts)}"
        if share:
            said += f"; {share.says} of all rows are not {label}'s"
        if share and broken:
            said += f"; in the whole file {broken:,} are zero, not finite or of another dimension"
        return "some are not", said
    if at_most is not None and at_most > MAX_UNSEEN_SHARE:
        return "cannot tell", (
            f"nothing is wrong in {n:,} rows, but up to {at_most:.1%} of all may be (95%). Remedy: compare "
            f"{units_needed(0, MAX_UNSEEN_SHARE)} rows or more"
        )
    if without_text:
        return "cannot tell", f"{without_text:,} rows have no text to encode; the {n:,} others are {label}'s"
    if at_most is not None:
        return "all are", (
            f"nothing is wrong in the {n:,} rows that were compared; at most {at_most:.2%} of all rows are not "
            f"{label}'s (95%)"
        )
    return "all are", f"all {n:,} stored vectors are {label}'s"


def fault_counts_text(counts: Mapping[RowKind, int]) -> Iterator[str]:
    """Yield the number of rows with each known fault, in words."""
    yield from (f"{counts[kind]:,} {said}" for kind, said in FAULT_WORDS.items() if counts.get(kind))


def cause_counts_text(groups: Sequence[RowGroup]) -> Iterator[str]:
    """Yield the number of rows that may have each cause, in words."""
    causes: Counter[str] = Counter()
    for group in groups:
        causes[group.says] += len(group.rows)
    yield from (f"{rows:,} are {cause}" for cause, rows in causes.items())


FAULT_WORDS: dict[RowKind, str] = {
    "another text": "belong to other texts",
    "shortened": "are of a shortened text",
    "zero": "are zero",
    "not normalised": "have the right direction and another length",
    "not finite": "are missing or not finite",
}


def _shift_notes(faults: Mapping[int, AuditedRow]) -> Iterator[str]:
    """Yield a note for each shift: rows that have the vectors of texts a fixed number of rows before or after."""
    rows = [row for row in faults.values() if row.text_at is not None]
    shifts = Counter(row.text_at - row.number for row in rows if row.text_at is not None)
    for shift, count in shifts.most_common(3):
        if count >= max(MIN_SHIFTED, SHIFTED_SHARE * len(rows)):  # in shuffled rows, distances repeat by chance
            where = "before" if shift < 0 else "after"
            yield f"{count:,} rows have the vector of the text {abs(shift):,} {where} them: a batch was shifted"


def _length_note(faults: Mapping[int, AuditedRow]) -> Iterator[str]:
    """Yield a note on the lengths of vectors whose direction is right."""
    ratios = [row.length for row in faults.values() if row.kind == "not normalised" and row.length]
    if not ratios:
        return
    low, high = min(ratios), max(ratios)
    times = f"{low:.3g} times" if high - low <= SAME_LENGTH * high else f"{low:.3g} to {high:.3g} times"
    yield (
        f"{len(ratios):,} vectors have {times} the length of the fresh ones: this changes the results of an index "
        "that uses inner products, but not of one that uses cosine (--similarity cosine)"
    )


def _distance(first: Vectors, second: Vectors) -> float:
    return float(1 - cosine(first[None, :], second[None, :])[0])
