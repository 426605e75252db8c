"""The texts on which the vectors of two models are compared, and how long the user's documents are."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import cast

from encheck.datasets.dataset import Dataset
from encheck.encoders.protocol import Encoder, PartialEncoder, VerifiedModel
from encheck.encoders.settings import ROLES, EncodingSettings, count_tokens
from encheck.gating.fixed_texts import FIXED_TEXTS, LONG_WORDS, long_text
from encheck.gating.reindex import FEWEST, KEPT_DIMENSIONS, TextLength, VectorSample
from encheck.running.roles import Role
from encheck.running.subject import Subject
from encheck.types import content_hash

MOST_BYTES = 20 * 1024  # of all vectors that a baseline keeps, a number being a byte
LONGEST_WORDS = 700  # of a long text; of longer documents, the first length that is no less than theirs
LONGEST_STORED = 8  # texts of a file of vectors that are compared as its longest
PROBES = "probes"

RoleTexts = dict[str, list[str]]  # by `ROLES`


def texts_to_compare(subject: Subject, others: Sequence[VectorSample], documents: Sequence[str]) -> RoleTexts:
    """The texts to encode in each role; none of a scorer of pairs.

    The fixed texts, short and long, then those of the run that the `others` have besides. A role is left out where it
    changes nothing. Of a model that has some vectors only, texts of the run that it has: some short ones, and its
    longest.
    """
    model = subject.model
    if not isinstance(model, Encoder):
        return {}
    run: RoleTexts = {role: list(subject.roles[cast(Role, role)].rows) for role in ROLES if role in subject.roles}
    run[""] = list(subject.rows)
    if isinstance(model, PartialEncoder):
        return {role: some for role, texts in run.items() if (some := _some_of(model, role, texts))}
    settings = EncodingSettings.of(model)
    roles = [role for role in ROLES if not role or _counts(model, settings, role)]
    words = max(LONGEST_WORDS, *(len(text.split()) for text in documents)) if documents else LONGEST_WORDS
    long = [long_text(count) for count in LONG_WORDS[: 1 + sum(count < words for count in LONG_WORDS)]]
    width = min(subject.dimension or KEPT_DIMENSIONS, KEPT_DIMENSIONS)
    short = list(FIXED_TEXTS[: max(FEWEST, MOST_BYTES // (len(roles) * width) - len(long))])
    wanted: RoleTexts = {role: [*short, *long] for role in roles}
    fixed = set(map(content_hash, (*FIXED_TEXTS, *map(long_text, LONG_WORDS))))
    for role in ROLES:
        there = {key for other in others if role in other.roles for key in other.roles[role].keys} - fixed
        if there and (found := [text for text in run.get(role, ()) if content_hash(text) in there]):
            wanted[role] = [*wanted.get(role, ()), *found]
    return wanted


def _some_of(model: PartialEncoder, role: str, texts: Sequence[str]) -> list[str]:
    lacking = set(model.lacks(texts, role=role or None))
    there = sorted((text for text in texts if text not in lacking), key=content_hash)
    longest = sorted(there, key=lambda text: -len(text.split()))[:LONGEST_STORED]
    return list(dict.fromkeys([*there[: len(FIXED_TEXTS)], *longest]))


def _counts(model: Encoder, settings: EncodingSettings, role: str) -> bool:
    """Whether a text can have another vector in this role than without one."""
    if settings.prompts:
        return settings.has_prompt(role)
    try:
        takes = inspect.signature(model.encode).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(one.name == "role" or one.kind is one.VAR_KEYWORD for one in takes)


def stable_fingerprint(subject: Subject) -> str:
    """What names all that makes the vectors; "" of a model behind an address, which others can change."""
    return "" if isinstance(subject.model, VerifiedModel) else subject.fingerprint


def lengths_of(model: object, texts: Sequence[str], *, role: str = "document") -> list[TextLength]:
    """Words and tokens of each text."""
    tokens: Sequence[int | None] = count_tokens(model, texts, role=role) or [None] * len(texts)
    return [TextLength(len(text.split()), count) for text, count in zip(texts, tokens, strict=True)]


def documents_of(subject: Subject, data: Iterable[Dataset]) -> list[str]:
    """The user's texts of a run, as far as they lie in memory: what is searched, else all; none of the probes."""
    if "document" in subject.roles:
        return list(subject.roles["document"].rows)
    found: dict[str, None] = {}
    for one in data:
        if one.name.split("-")[0].split("@")[0] != PROBES:
            found |= dict.fromkeys(one.collection.searched.texts if one.collection else ())
            found |= dict.fromkeys(group.source for group in one.groups)
            found |= dict.fromkeys(text for pair in one.pairs for text in (pair.first, pair.second))
    return list(found)
