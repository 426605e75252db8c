"""Infer what was changed from how vectors moved: signs that only one kind of change has. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from encheck.deciding.canary_moved import Bools, Floats, Moved, apart, unit
from encheck.deciding.canary_texts import LONG, texts, twins

NEAR = 0.01  # of a vector's length: what is said to be the same vector, given that something else was changed
SEEN = 1e-4  # twins that lie farther apart are told apart
LONGER = 0.95  # of pairs of a text that moved and one that stayed
STAYED = 8  # texts of 200 that have to stay where they were
UNEVEN = 0.25  # spread of the turns, as a share of their mean
SHORT_FIRST, LONG_FIRST = -0.55, 0.4  # rank correlation of the turns with the lengths of the texts
PRECISION = 0.05  # a lower precision turns the median text by less
# Noise of a lower precision: so many times what it was, at least so much, and this part of how far texts turned.
NOISIER, AUDIBLE, PART = 50, 2e-5, 0.05
RELATED = 0.2  # cosine of a text's vectors then and now, once what all texts share is taken away
TWINS = ("case", "accents", "composed", "blanks")
SMALL = (
    "more than batching explains, and less than another model would move them. Other hardware, a lower precision or "
    "a very light fine-tune can move vectors this far"
)


@dataclass(frozen=True, slots=True)
class Cause:
    """What was changed, in a word, and the sentence that says so; no word where it is no more than a guess."""

    name: str
    reason: str


def of_dimension(then: Floats, now: Floats) -> Cause:
    """Vectors of another dimension: the first numbers of what was, other axes, or another model."""
    before, after = then.shape[1], now.shape[1]
    said, common = f"vectors have {after} numbers now, and had {before}", min(before, after)
    chosen = np.isfinite(then).all(axis=1) & np.isfinite(now).all(axis=1)
    first, second = (unit(side[chosen][:, :common]) for side in (then, now))
    if np.median(apart(first, second)) < NEAR:
        which = "the first of those" if after < before else "those, and more"
        return Cause("dimension", f"{said}: they are {which} of the same model")
    return Cause("dimension", f"{said}: another model, or its vectors in other axes")


def find(moved: Moved, *, told: bool) -> Cause:
    """What was changed: the first sign that is there. Where the answer is not `told`, what it can be."""
    if not told:
        return Cause("", f"{_how_far(moved)}: {SMALL}")
    return next((found for sign in SIGNS if (found := sign(moved))), _left(moved))


def _how_far(moved: Moved) -> str:
    drift = moved.drift[~moved.quiet]
    beyond = f"{len(drift)} of {len(moved.drift)} vectors moved beyond the model's own noise"
    return f"{beyond}, the median one by {np.median(drift):.2g} of its length" if len(drift) else beyond


def _turns(moved: Moved) -> Cause | None:
    if not moved.turning:
        return None
    return Cause("turns", f"{_how_far(moved)}: some calls are answered by the canary's model, and some by another")


def _normalisation(moved: Moved) -> Cause | None:
    """Directions stayed and lengths did not."""
    chosen = moved.there
    if np.quantile(moved.direction[chosen], 0.9) > NEAR:
        return None
    ratio = np.linalg.norm(moved.now[chosen], axis=1) / np.linalg.norm(moved.then[chosen], axis=1)
    if abs(float(np.median(ratio)) - 1) < 2 * NEAR and ratio.std() < 2 * NEAR:
        return None
    return Cause("normalisation", f"vectors point in the same directions, but their lengths changed: {_lengths(moved)}")


def _lengths(moved: Moved) -> str:
    then, now = (np.linalg.norm(side[moved.there], axis=1) for side in (moved.then, moved.now))
    kinds = {True: "normalised", False: "not normalised"}
    was, is_now = bool(np.ptp(then) < NEAR * then.mean()), bool(np.ptp(now) < NEAR * now.mean())
    if was != is_now:
        return f"they were {kinds[was]}, and are now {kinds[is_now]}"
    return f"{np.median(now / then):.3g} times the old ones"


def _input(moved: Moved) -> Cause | None:
    """Some texts moved and others stayed: what the model reads of a text was changed, and not the model."""
    stayed, left = moved.quiet & moved.there, moved.loud & moved.there
    if stayed.sum() < STAYED:
        return None
    if _is_cut(moved, stayed, left):
        ends = _ends(moved)
        said = "long texts moved and short ones stayed"
        if not ends:
            return Cause("", f"{said}: perhaps the maximum length was changed")
        return Cause("truncation", f"{said}: the maximum length was changed{ends}")
    names = [kind for kind in TWINS if _alike(moved.then, kind) != _alike(moved.now, kind)]
    said = f"{left.sum()} texts moved and {stayed.sum()} stayed where they were"
    what = "the tokenizer, or how texts are prepared for it, was changed"
    if not names:
        return Cause("", f"{said}: perhaps {what}")
    shown = f"texts that differ only in {' or '.join(names)} are now told apart differently"
    return Cause("tokenizer", f"{said}: {what}; {shown}")


def _is_cut(moved: Moved, stayed: Bools, left: Bools) -> bool:
    """Whether what moved is longer than what stayed, or another length is seen and plain texts stayed."""
    kinds, size = np.array([one.kind for one in texts()]), np.array([len(one.text) for one in texts()])
    plain = np.array([one.text.isascii() for one in texts()])  # letters that a tokenizer does not know are one token
    pairs = size[left & plain][:, None] > size[stayed & plain]
    longer = pairs.size > 0 and pairs.mean() > LONGER
    alone = np.isin(kinds[left], LONG).mean() > 0.9
    return bool(longer or alone or (_seen(moved.then) != _seen(moved.now) and stayed[kinds == "plain"].all()))


def _seen(vectors: Floats) -> int:
    """How many words two texts may share from the start and still be told apart by what follows; 0 where none are."""
    told = [int(one.shows.split()[0]) for row, other, one in twins("long") if _differ(vectors, row, other)]
    return max(told, default=0)


def _differ(vectors: Floats, row: int, other: int) -> bool:
    return bool(apart(vectors[[row]], vectors[[other]])[0] > SEEN)


def _alike(vectors: Floats, kind: str) -> list[bool]:
    """Whether the twins of this kind have one vector."""
    return [not _differ(vectors, row, other) for row, other, _ in twins(kind)]


def _ends(moved: Moved) -> str:
    before, after = _seen(moved.then), _seen(moved.now)
    if before == after:
        return ""
    return f": the model told texts apart by what follows their first {before} words, and now {after}"


def _known_prompt(moved: Moved) -> Cause | None:
    """A text has now the vector that it had with a prompt written before it, or the other way round."""
    pairs: dict[str, list[tuple[int, int]]] = {}
    for row, other, one in twins("prompt"):
        pairs.setdefault(one.shows, []).append((row, other))
    for prompt, rows in pairs.items():
        with_it, without = (list(side) for side in zip(*rows, strict=True))
        if _meet(moved.then[with_it], moved.now[without], moved.then[without]):
            return Cause("prompt", f"each text is now encoded with {prompt!r} before it, and was not")
        if _meet(moved.now[with_it], moved.then[without], moved.now[without]):
            return Cause("prompt", f"each text was encoded with {prompt!r} before it, and no longer is")
    return None


def _meet(prompted: Floats, found: Floats, plain: Floats) -> bool:
    """Whether what was found is what the prompted texts have, and not what the plain ones have."""
    return bool((apart(prompted, found) < NEAR).all() and (apart(plain, found) > NEAR).all())


def _steps(moved: Moved) -> Cause | None:
    """A vector has far fewer different numbers than it had."""
    then, now = (np.median([len(np.unique(row)) for row in side[moved.there]]) for side in (moved.then, moved.calls[0]))
    if now > 0.85 * then or now > 256:
        return None
    said = f"some {now:.0f} different numbers each, where they had {then:.0f}"
    return Cause("dtype", f"vectors come in coarse steps: {said}")


def _axes(moved: Moved) -> Cause | None:
    """All angles between vectors stayed, and the vectors did not."""
    before, after = (unit(side[moved.there]) @ unit(side[moved.there]).T for side in (moved.then, moved.now))
    if moved.typical < PRECISION or np.abs(before - after).max() > NEAR:
        return None
    said = "vectors moved and the angles between them did not"
    return Cause("axes", f"{said}: the same model with its numbers turned or reordered")


def _prompt(moved: Moved) -> Cause | None:
    """Short texts turned far, and the longer the less: something was added to each, or taken away."""
    if moved.spread < UNEVEN or moved.by_length > SHORT_FIRST or moved.typical < PRECISION:
        return None
    return Cause("", f"{_how_far(moved)}, short texts the farthest: perhaps a prompt was added, dropped or changed")


def _stranger(moved: Moved) -> Cause | None:
    """Vectors have nothing to do with those that were saved, once what all of them have in common is taken away."""
    then, now = (unit(side[moved.there]) for side in (moved.then, moved.now))
    own = np.einsum("ij,ij->i", unit(then - then.mean(axis=0)), unit(now - now.mean(axis=0)))
    if np.median(own) > RELATED:
        return None
    return Cause("model", f"{_how_far(moved)}: the vectors are unrelated to the old ones: another model")


def _pooling(moved: Moved) -> Cause | None:
    """Long texts turned farther than short ones."""
    if moved.by_length < LONG_FIRST or moved.typical < PRECISION:
        return None
    return Cause("", f"{_how_far(moved)}, long texts the farthest: perhaps the pooling was changed")


def _weights(moved: Moved) -> Cause | None:
    """All texts moved, and far."""
    if moved.typical < PRECISION:
        return None
    said = f"{_how_far(moved)}, all kinds of texts alike"
    return Cause("", f"{said}: perhaps other weights, such as a fine-tune or another version")


def _noisier(moved: Moved) -> Cause | None:
    """A text has another vector in each batch, and had one: the arithmetic was changed."""
    if len(moved.calls) < 2:
        return None
    between = apart(moved.calls[0], moved.calls[1])
    then, now = (float(np.nanquantile(side, 0.95)) for side in (moved.noise, between))
    if now < max(NOISIER * then, AUDIBLE, PART * moved.typical):
        return None
    said = f"in other batches a text has a vector that lies {now:.1g} of its length away, where it was {then:.1g}"
    return Cause("dtype", f"{_how_far(moved)}, and {said}: it computes in a lower precision (float16, bfloat16, int8)")


def _left(moved: Moved) -> Cause:
    """What is left: all texts moved a little. Rounded weights and a few steps of training do the same."""
    said = f"{_how_far(moved)}, all kinds of texts alike"
    return Cause("", f"{said}: weights in a lower precision, or a light fine-tune")


SIGNS: tuple[Callable[[Moved], Cause | None], ...] = (
    _turns, _normalisation, _input, _known_prompt, _steps, _axes, _noisier, _prompt, _stranger, _pooling, _weights,
)  # fmt: skip
