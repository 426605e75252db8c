"""Which written variants checks read: each builder makes items of a group that notes what it is asked for.

So what is known is what the checks do, those of the user too, and no list of relations has to be kept beside them.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from encheck.claims import Claim
from encheck.datasets.dataset import Dataset
from encheck.datasets.probes import PAIRED
from encheck.errors import DataError
from encheck.generators.base import Generator, Outcome
from encheck.items.variants import Maker
from encheck.language.english import Waiting
from encheck.statistics.draws import Draws
from encheck.types import Group, Passage, Variant

REMEDY = "Rename it, leave it out, or run a check of your own that reads it"


@dataclass
class _Asked:
    """What a builder asked a group for; `for_all` where it went through the relations of all variants itself."""

    variants: set[tuple[str, int]] = field(default_factory=set)
    for_all: bool = False


def refuse_unread(
    dataset: Dataset, claims: Iterable[Claim], others: Callable[[], Iterable[Claim]] = tuple[Claim, ...]
) -> None:
    """DataError for written variants that no check reads, neither by `claims` nor, where these do not, by `others`.

    Data of an edition that ships are not looked at.
    """
    if dataset.version:
        return
    whole = (group for group in dataset.groups if not group.side)
    written = Counter((v.relation, v.level) for group in whole for v in group.variants if v.relation not in PAIRED)
    read = set[tuple[str, int]]()
    for some in (claims, None):
        found = variants_read(others() if some is None else some)
        if found is None:
            return
        read |= found
        unread = {key: n for key, n in written.items() if key not in read}
        if not unread:
            return
    (relation, level), count = min(unread.items())
    known = sorted({*PAIRED, *(name for name, _ in read)})
    levels = sorted(at for name, at in read if name == relation)
    if levels:
        said = f"level {level}, but checks read {', '.join(map(str, levels))}"
    else:
        (near,) = difflib.get_close_matches(relation, known, n=1, cutoff=0.0)
        said = f"the nearest one that is read is {near!r}. There are: {', '.join(known)}"
    more = f" (and {len(unread) - 1} more such relations or levels)" if len(unread) > 1 else ""
    raise DataError(
        f"{dataset.name}: no check reads the relation {relation!r} at level {level}, which {count} variants have{more}"
        f"; {said}. {REMEDY}"
    )


def variants_read(claims: Iterable[Claim]) -> set[tuple[str, int]] | None:
    """The (relation, level) of written variants that these claims read; None where one reads whatever there is."""
    asked = _Asked()
    for builder, level in dict.fromkeys((claim.items, level) for claim in claims for level in claim.levels):
        for has_all in (False, True):  # some ask for one variant only where another is there, or is not
            with suppress(Exception, Waiting):  # it has what it wants of one group, or the group is too little for it
                builder(_data_of(asked, has_all=has_all), level, _Reader())
    return None if asked.for_all else asked.variants


class _Reader(Maker):
    """Runs generators on the noting group; what reads no written variant fails for want of a parse."""

    def variants(self, groups: Sequence[Group], generator: Generator, *, level: int = 1) -> list[Outcome]:
        found = list[Outcome]()
        for group in groups:
            made: Outcome | None = None
            with suppress(Exception, Waiting):
                made = generator(group, level=level, rng=Draws(0, "", group.source), english=self.english)
            found.append(made or "nothing")
        return found


def _data_of(asked: _Asked, *, has_all: bool) -> Dataset:
    """Data of one group that notes which variants it is asked for, and has all of them or none."""

    class Some(Variant):
        """A variant; whoever looks at its relation goes through all variants."""

        def __getattribute__(self, name: str) -> Any:
            asked.for_all |= name == "relation"
            return object.__getattribute__(self, name)

    class Noting(Group):
        def variant(self, relation: str, level: int = 1) -> Variant | None:
            asked.variants.add((relation, level))
            return Variant(f"{relation} {level}.", relation, level) if has_all else None

    passage = Passage(tuple(f"Sentence {i}." for i in range(7)), 0)
    group = Noting("one", "One text.", "Another text.", "one", (Some("Some.", ""),), "on it goes", "", passage)
    return Dataset("data", (), (group,), "", 1)
