"""What `encheck data variants` prints: how many sentences have a variant, examples, and why the others have none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from encheck.items.catalogue import Listing
from encheck.reporting.text import marked, table

MAX_REASONS_SHOWN = 3


def lines(listings: Sequence[Listing], *, language: Mapping[str, Any], show: int) -> Iterator[str]:
    """The table of coverage, then `show` examples a generator."""
    yield "made with " + ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in language.items())
    rows = [("generator", "words", "sentences", "of", "coverage", "why the others have none")]
    for listing in listings:
        total = listing.count + listing.excluded.total()
        reasons = "; ".join(f"{reason} ({count})" for reason, count in listing.excluded.most_common(MAX_REASONS_SHOWN))
        others = listing.excluded.most_common()[MAX_REASONS_SHOWN:]
        if others:
            what = "other reason" if len(others) == 1 else "other reasons"
            reasons += f"; {len(others)} {what} ({sum(count for _, count in others)})"
        rows.append(
            (
                listing.generator,
                str(listing.level),
                str(listing.count),
                str(total),
                f"{listing.coverage:.1%}",
                reasons,
            )
        )
    yield from table(rows)
    for listing in listings if show else ():
        for group, variant in listing.made[:show]:
            yield f"{listing.generator} {listing.level}: {marked(group.source, variant.text, variant.edits)}"
            yield f"    {variant.certificate or variant.generator}"
