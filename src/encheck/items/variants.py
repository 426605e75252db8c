"""Make variants in batches, each variant once, and find the written variants that checks read.

To find what a check reads, its builder makes the items of a group that records which variants the builder requests.
This also works for the user's checks, without a separate list of relations.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from encheck.claims import Claim
from encheck.datasets.dataset import Dataset
from encheck.datasets.probes import PAIRED
from encheck.errors import CheckError, DataError, EncheckError
from encheck.generators.base import Generator, Outcome, Texts, as_named_generator, listing_name
from encheck.generators.phenomenon import relation_title
from encheck.language.english import English, MissingParses
from encheck.statistics.draws import Draws
from encheck.system.memory import without_collection
from encheck.types import Group, Passage, PublishedVariant, Variant, apply_edits

CHUNK = 1_000
REASONS = 50  # most distinct reasons of a generator; a text per sentence is not a reason
ROUNDS = 50


@dataclass(frozen=True)
class WritingModels:
    """The language and translation models that write texts for generators, if a run names any."""

    continuations: Texts | None = None
    surprisal: Callable[[Sequence[str]], Iterable[float]] | None = None
    translations: Texts | None = None


@dataclass(frozen=True)
class VariantMaker:
    """Makes variants for one seed with the language resources of a run, and caches them.

    `wholes` maps the id of a group to all groups of its data set, for data of which only a part is used. Names are
    taken from all groups.
    """

    seed: int = 0
    english: English = field(default_factory=English)
    writers: WritingModels = WritingModels()
    _made: dict[tuple[Generator, int], dict[tuple[str, str], Outcome]] = field(default_factory=dict)
    _surveyed: dict[tuple[str, ...], Any] = field(default_factory=dict)
    wholes: Mapping[str, Sequence[Group]] = field(default_factory=dict)

    def variants(self, groups: Sequence[Group], generator: Generator, *, level: int = 1) -> list[Outcome]:
        """Return the variant of each group, or the reason why the group has none."""
        self.collect_names(groups, generator)
        known = self._made.setdefault((generator, level), {})
        keys = [(group.id, group.source) for group in groups]
        missing = {key: group for key, group in zip(keys, groups, strict=True) if key not in known}
        made = self._run_in_chunks(list(missing.values()), generator, level)
        known.update(zip(missing, made, strict=True))
        return [known[key] for key in keys]

    def stream_variants(
        self, groups: Iterable[Group], generator: Generator, *, level: int = 1
    ) -> Iterator[tuple[Group, Outcome]]:
        """Yield (group, variant or reason) for one group after the other. Results are not cached, to save memory."""
        rest, is_first = iter(groups), True
        while chunk := list(islice(rest, CHUNK)):
            if is_first:
                self.collect_names(chunk, generator)
            is_first = False
            yield from zip(chunk, self._run_in_chunks(chunk, generator, level), strict=True)
            self.english.clear_memory()

    def make_uncached(self, groups: Sequence[Group], generator: Generator, *, level: int = 1) -> list[Outcome]:
        """Return what `variants` returns, without caching, for groups that are used only once. Call `collect_names`
        first.
        """
        return self._run_in_chunks(groups, generator, level)

    def collect_names(self, groups: Sequence[Group], generator: Generator) -> None:
        """Collect the names in the first of these texts, except edited texts, if the generator uses such names."""
        declared = as_named_generator(generator)
        is_on_trial = declared.is_experimental and not self.english.experimental
        if declared.survey is None or is_on_trial or self.english.recipe is not None:
            return
        whole = self.wholes.get(groups[0].id, groups) if groups else groups
        texts = tuple(group.source for group in islice((g for g in whole if not g.variants), CHUNK))
        if texts not in self._surveyed:
            self.english.parse_all(texts)
            self._surveyed[texts] = declared.survey(self.english, texts)
        self.english.inventory = self._surveyed[texts]

    def _run_in_chunks(self, groups: Sequence[Group], generator: Generator, level: int) -> list[Outcome]:
        """Run the generator on all groups, in chunks to save memory."""
        if not hasattr(generator, "__name__"):
            raise CheckError(f"the generator {generator!r} has no __name__, which is its name and its seed: set one")
        outcomes: list[Outcome] = []
        for start in range(0, len(groups), CHUNK):
            outcomes += self._run_generator(groups[start : start + CHUNK], generator, level)
            self.english.clear_full_memory()
        reasons = list(dict.fromkeys(found for found in outcomes if isinstance(found, str)))
        if len(reasons) > REASONS:
            raise CheckError(
                f"{_generator_in_words(generator)} gave {len(reasons)} different reasons why there is no variant, the "
                f"first {reasons[0]!r}: return a new sentence as a Variant, and reasons in a few fixed words"
            )
        return outcomes

    def _run_generator(self, groups: Sequence[Group], generator: Generator, level: int) -> list[Outcome]:
        """Run the generator on these groups. Groups that wait for parses or tags run again after the batch."""
        made: dict[int, Outcome] = {}
        waiting = list(range(len(groups)))
        for _ in range(ROUNDS):
            still = []
            with without_collection():
                for i in waiting:
                    try:
                        made[i] = make_variant(groups[i], generator, level=level, seed=self.seed, english=self.english)
                    except MissingParses:
                        still.append(i)
            if not still:
                return [made[i] for i in range(len(groups))]
            self.english.parse_and_tag_missing()
            waiting = still
        raise CheckError(f"{generator.__name__} still waits after {ROUNDS} rounds, first for {groups[still[0]].id}")


def make_variant(group: Group, generator: Generator, *, level: int, seed: int, english: English) -> Outcome:
    """Return a variant, or the reason why there is none.

    The random numbers depend only on the seed, the generator, the sentence, and names that are taken from the data
    (`VariantMaker.collect_names`). A variant that equals its sentence becomes a reason, unless it is from a published
    recipe, which counts it. If the generator raises an exception, or returns anything but a variant or a reason, raise
    CheckError with the generator and the sentence.
    """
    if group.is_contrast and not (
        as_named_generator(generator).is_written or any(v.relation == generator.__name__ for v in group.variants)
    ):
        return "this sentence has written contrasts and no paraphrase, so nothing else is made from it"
    rng = Draws(seed, generator.__name__, group.source)
    try:
        found = generator(group, level=level, rng=rng, english=english)
    except EncheckError:
        raise
    except Exception as error:
        raise CheckError(
            f"{_generator_in_words(generator)} raised {error!r} for the sentence {group.source!r}"
        ) from error
    if isinstance(found, str):
        return found
    if found is None:
        return f"no {relation_title(generator.__name__)}" + (f" of {level} words" if level > 1 else "")
    if problem := _variant_fault(found, group.source):
        raise CheckError(f"{_generator_in_words(generator)} {problem}, for the sentence {group.source!r}")
    if found.text == group.source and not isinstance(found, PublishedVariant):
        return f"{generator.__name__.replace('_', ' ')} equals its source"
    return found


def _variant_fault(outcome: object, source: str) -> str:
    """Return what is wrong with a generator's result; empty if it is valid."""
    if not isinstance(outcome, Variant) or not isinstance(outcome.text, str):
        return f"gave {outcome!r}, but should give a Variant, or in a few words the reason why there is none"
    if not outcome.text.strip():
        return "gave a Variant without text"
    if outcome.edits and (text := apply_edits(source, outcome.edits)) != outcome.text:
        return f"gave a Variant with the text {outcome.text!r}, but its edits give {text!r}"
    return ""


def _generator_in_words(generator: Generator) -> str:
    """Return the generator and its place in the code, for messages."""
    code = getattr(as_named_generator(generator).function, "__code__", None)
    where = f" of {code.co_filename}:{code.co_firstlineno}" if code else ""
    return f"the generator {listing_name(generator)}{where}"


UNREAD_REMEDY = "Rename it, leave it out, or run a check of your own that reads it"


@dataclass
class _RequestedVariants:
    """The variants that a builder requests. `for_all` is true if the builder goes through all variants itself."""

    variants: set[tuple[str, int]] = field(default_factory=set)
    for_all: bool = False


def refuse_unread_variants(
    dataset: Dataset, claims: Iterable[Claim], others: Callable[[], Iterable[Claim]] = tuple[Claim, ...]
) -> None:
    """Raise DataError for written variants that neither `claims` nor `others` read. `others` are tried second.

    Shipped editions are not checked.
    """
    if dataset.version:
        return
    whole = (group for group in dataset.groups if not group.side)
    written = Counter((v.relation, v.level) for group in whole for v in group.variants if v.relation not in PAIRED)
    read = set[tuple[str, int]]()
    for some in (claims, None):
        found = variants_read_by_claims(others() if some is None else some)
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
        said = f"the nearest one that is read is {near!r}. Available: {', '.join(known)}"
    more = f" (and {len(unread) - 1} more such relations or levels)" if len(unread) > 1 else ""
    raise DataError(
        f"{dataset.name}: no check reads the relation {relation!r} at level {level}, which {count} variants have{more}"
        f"; {said}. {UNREAD_REMEDY}"
    )


def variants_read_by_claims(claims: Iterable[Claim]) -> set[tuple[str, int]] | None:
    """Return the (relation, level) of the written variants that these claims read; None if a claim reads all."""
    asked = _RequestedVariants()
    for builder, level in dict.fromkeys((claim.items, level) for claim in claims for level in claim.levels):
        for has_all in (False, True):  # some ask for a variant only if another one exists, or does not
            with suppress(Exception, MissingParses):  # one group was enough, or it is too small for the builder
                builder(_recording_data(asked, has_all=has_all), level, _RecordingMaker())
    return None if asked.for_all else asked.variants


class _RecordingMaker(VariantMaker):
    """Runs generators on the recording group. A generator that reads no written variant fails without a parse."""

    def variants(self, groups: Sequence[Group], generator: Generator, *, level: int = 1) -> list[Outcome]:
        found = list[Outcome]()
        for group in groups:
            made: Outcome | None = None
            with suppress(Exception, MissingParses):
                made = generator(group, level=level, rng=Draws(0, "", group.source), english=self.english)
            found.append(made or "nothing")
        return found


def _recording_data(requested: _RequestedVariants, *, has_all: bool) -> Dataset:
    """Return a data set with one group that records which variants are requested. It has all variants or none."""

    class Some(Variant):
        """A variant that records that a builder goes through all variants, when its relation is read."""

        def __getattribute__(self, name: str) -> Any:
            requested.for_all |= name == "relation"
            return object.__getattribute__(self, name)

    class Noting(Group):
        def variant(self, relation: str, level: int = 1) -> Variant | None:
            requested.variants.add((relation, level))
            return Variant(f"{relation} {level}.", relation, level) if has_all else None

    passage = Passage(tuple(f"Sentence {i}." for i in range(7)), 0)
    group = Noting("one", "One text.", "Another text.", "one", (Some("Some.", ""),), "on it goes", "", passage)
    return Dataset("data", (), (group,), "", 1)
