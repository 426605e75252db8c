"""Shrink the items of a run: choose triplets, score shorter texts with the model, and make the edits again."""

from __future__ import annotations

from encheck.claims import Claim
from encheck.engine.checks import shipped_checks
from encheck.ids import ItemId
from encheck.items.variants import VariantMaker
from encheck.language.english import English
from encheck.reporting.failures import Shrink
from encheck.running.service import EncoderService
from encheck.scoring.item import ItemRow
from encheck.scoring.scores import KINDS
from encheck.scoring.triplets import Triplet
from encheck.shrinking.shrink import ShrinkResult, make_triplet_remaker, shrink_item


def row_shrinker(service: EncoderService, *, english: English, seed: int) -> Shrink:
    """Return a function that shrinks a row of items.parquet for this model. `seed` is the seed of the row's run.

    Raise UsageError for a model that cannot encode new texts.
    """
    ask, maker = service.taking_any_text().score_pairs, VariantMaker(seed, english)

    def one(row: ItemRow) -> ShrinkResult | str:
        if not row.kind.shrinks or row.source_is_second:
            shrunk = " and ".join(name for name, one in KINDS.items() if one.shrinks)
            return f"items of the kind {row.kind.name} are not shrunk, only {shrunk} items"
        assert row.near.text is not None
        assert row.far.text is not None
        triplet = Triplet(
            ItemId(row.item), row.source, row.near.text, row.far.text, row.cluster, row.near.edits, row.far.edits,
            row.split, row.near.why, row.far.why,
        )  # fmt: skip
        claim = find_shipped_claim(row.case.partition("/")[0])
        level = None if claim is None else level_of_case(row.case, claim)
        remake = None if claim is None or level is None else make_triplet_remaker(claim.items, level=level, maker=maker)
        return shrink_item(triplet, ask, english, remake=remake)

    return one


def find_shipped_claim(check: str) -> Claim | None:
    """Return the claim of the packaged check with this name, as ids of cases have it; None if it is unknown."""
    return next((claim for function, claim in shipped_checks() if function.__name__ == f"test_{check}"), None)


def level_of_case(case: str, claim: Claim) -> int | str | None:
    """Return the claim's level of a case, from the end of the case's name.

    The level in an item's id is the generator's level, which may differ: all kinds of noise have level 1.
    """
    ends = sorted((level for level in claim.levels if case.endswith(f"-{level}")), key=lambda level: -len(str(level)))
    return next(iter(ends), None)
