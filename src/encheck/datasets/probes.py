"""The embedded probes: groups of sentences and their variants, written for this project.

Each line of JSON holds a group, in the schema of probes.schema.json. `probes:FILE` reads a file of your own in the same
schema. `probes:fresh=SEED` generates groups (`encheck.datasets.fresh_probes`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from encheck.datasets.dataset import Dataset
from encheck.datasets.fresh_probes import diff_words, generate_fresh_groups
from encheck.datasets.reader import BadRows, check_text, read_json_rows
from encheck.errors import DataError, unknown_name_message
from encheck.ids import ItemId
from encheck.scoring.pairs import SentencePair
from encheck.types import Edit, Group, Passage, Variant, apply_edits, content_hash, keeps_meaning

MIRROR = "_mirror"
KEPT_OF = {"antonym": "synonym"}  # for other phenomena, the name with "_kept"
CONTROL_OF = {"antonym": "control"}
LICENCE = "Apache-2.0 (written for encheck)"
NEGATIVES = "written to be hard"
FILES = "a .jsonl file in the schema of the embedded probes"
FRESH = "fresh="
PARAPHRASES = ("paraphrase", "rewrite")
PAIRED = (*PARAPHRASES, "hard_negative")  # the relations used for labelled pairs
TEXTS = ("id", "domain", "split", "skeleton", "sentence")
VERSION = "4.1.0"
DISTANCE = {"control": 0.6, "antonym": 1.5}
PASSAGE_LENGTHS = (3, 8)  # sentences
MIRRORED = "/mirrored/"  # separates group and phenomenon in the name of the second sentence's meaning


def expand_mirror_groups(group: Group) -> Iterator[Group]:
    """Yield the group, and a mirrored group for each of its other sentences."""
    yield group
    for mirror in group.variants:
        if mirror.relation.endswith(MIRROR):
            yield _make_mirror_group(group, mirror.relation.removesuffix(MIRROR), mirror.text)


def relation_keeping_meaning(phenomenon: str) -> str:
    """Return the relation of a phenomenon's edit that keeps the meaning.

    >>> relation_keeping_meaning("number"), relation_keeping_meaning("antonym")
    ('number_kept', 'synonym')
    """
    return KEPT_OF.get(phenomenon, f"{phenomenon}_kept")


def relation_of_control(phenomenon: str) -> str:
    """Return the relation of a phenomenon's control."""
    return CONTROL_OF.get(phenomenon, f"{phenomenon}_control")


def _make_mirror_group(group: Group, name: str, source: str) -> Group:
    """Return the group as seen from its second sentence: what changes the first one's meaning keeps the second's."""
    kept, changed, control = (
        group.variant(r) for r in (relation_keeping_meaning(name), name, relation_of_control(name))
    )
    variants: list[Variant] = []
    if kept and changed:
        variants = [
            replace(kept, text=changed.text, edits=diff_words(source, changed.text), certificate=changed.certificate),
            replace(changed, text=kept.text, edits=diff_words(source, kept.text), certificate=kept.certificate),
        ]
        variants += [replace(control, edits=diff_words(source, control.text))] if control else []
    side = f"mirror-{name}"
    return replace(
        group, id=f"{group.id}~{side}", source=source, paraphrase=source, variants=tuple(variants), continuation=None,
        passage=None, side=side,
    )  # fmt: skip


@cache
def embedded() -> Dataset:
    """Return the probes that come with encheck."""
    return replace(dataset_from_groups(list(_embedded_groups())), version=VERSION)


@cache
def _embedded_groups() -> tuple[Group, ...]:
    return tuple(groups(_embedded_file(), BadRows()))


def _embedded_file() -> Path:
    return Path(str(resources.files("encheck.datasets") / "probes.jsonl"))


@cache
def sentence_domains(version: str) -> Mapping[str, str]:
    """Return the domain or register of each sentence of the embedded probes, or an empty mapping for a different
    version.
    """
    if version != VERSION:
        return {}
    return {entry["sentence"]: entry["domain"] for _, entry in read_json_rows(_embedded_file(), BadRows())}


def from_seed(path: str) -> Dataset | None:
    """Return fresh probes if the path is `fresh=SEED`, or None for a file. Raise DataError for an invalid seed."""
    if not path.startswith(FRESH):
        return None
    return dataset_from_groups(list(generate_fresh_groups(parse_seed(path.removeprefix(FRESH)))))


def parse_seed(text: str) -> int:
    """Return the seed of fresh probes, a whole number of 0 or more without leading zeros. Raise DataError for other
    texts.
    """
    if not (text.isascii() and text.isdecimal() and str(int(text)) == text):
        raise DataError(
            f"probes:{FRESH}{text}: the seed is {text!r}, but should be a whole number, 0 or more, without a leading "
            f"zero: --data probes:{FRESH}1. A file of that name is --data probes:./{FRESH}{text}"
        )
    return int(text)


def groups(path: Path, bad: BadRows) -> Iterator[Group]:
    """Yield the groups in a probe file, embedded or the user's own. DataError names the line of a fault."""
    seen: set[str] = set()
    for number, entry in read_json_rows(path, bad):
        try:
            group = _parse_group(entry, seen)
        except ValueError as error:
            bad(path, number, str(error))
        except (KeyError, TypeError, AttributeError) as error:
            bad(path, number, f"does not match probes.schema.json ({error!r})")
        else:
            seen.add(group.id)
            yield group


def _parse_group(entry: dict[str, Any], seen: set[str]) -> Group:
    if missing := {*TEXTS, "variants"} - set(entry):
        raise ValueError(f"lacks {', '.join(sorted(missing))}")
    _refuse_unknown_fields(entry, _schema_fields()[0])
    texts = {name: check_text(name, entry[name]) for name in TEXTS}
    if texts["id"] in seen:
        raise ValueError(f"the id {texts['id']!r} appears twice")
    source = texts["sentence"]
    variants = tuple(_parse_variant(source, v) for v in entry["variants"])
    if len({(v.relation, v.level) for v in variants}) < len(variants):
        raise ValueError("has two variants with the same relation and level")
    paraphrase = next((v.text for v in variants if v.relation == "paraphrase"), source)
    if not variants:
        raise ValueError("has no variant")
    continuation, construction = (
        check_text(name, entry[name]) if name in entry else None for name in ("continuation", "construction")
    )
    return Group(
        texts["id"], source, paraphrase, texts["skeleton"], variants, continuation, texts["split"],
        _parse_passage(entry), is_quick=entry.get("quick") is True, construction=construction or "",
    )  # fmt: skip


@cache
def _schema_fields() -> tuple[frozenset[str], frozenset[str]]:
    """Return the fields that the schema allows in a line and in a variant."""
    schema = json.loads((resources.files("encheck.datasets") / "probes.schema.json").read_text("utf-8"))
    return frozenset(schema["properties"]), frozenset(schema["$defs"]["variant"]["properties"])


def _refuse_unknown_fields(entry: Mapping[str, Any], known_fields: frozenset[str]) -> None:
    """Raise ValueError if the entry has an unknown field."""
    if unread := next((name for name in entry if name not in known_fields), None):
        raise ValueError(unknown_name_message("field", unread, known_fields))


def _parse_passage(entry: dict[str, Any]) -> Passage | None:
    if "passage" not in entry:
        return None
    context = tuple(check_text("context", text) for text in entry["passage"]["context"])
    place = entry["passage"]["place"]
    if not isinstance(place, int) or not 0 <= place <= len(context):
        raise ValueError(f"the position of the passage is {place!r}, but should be from 0 to {len(context)}")
    return Passage(context, place)


def _parse_variant(source: str, entry: dict[str, Any]) -> Variant:
    if missing := {"relation", "level", "text", "edits"} - set(entry):
        raise ValueError(f"a variant lacks {', '.join(sorted(missing))}")
    _refuse_unknown_fields(entry, _schema_fields()[1])
    relation, level = check_text("relation", entry["relation"]), entry["level"]
    name = f"{relation} {level}"
    if not isinstance(level, int):
        raise ValueError(f"the level of {relation} is {level!r}, but should be a whole number")
    text = check_text(name, entry["text"])
    edits = tuple(Edit(e["start"], e["end"], e["text"]) for e in entry["edits"])
    if apply_edits(source, edits) != text:
        raise ValueError(f"the edits of {name} do not give its text")
    return Variant(text, relation, level, edits)


def dataset_from_groups(groups: list[Group]) -> Dataset:
    """Make a data set of the groups and their pairs: the sentence with paraphrase and rewrite (1), with hard negative
    (0).

    Each side of a crossed group becomes a group of its own.
    """
    pairs = tuple(pair for group in groups for pair in _make_labelled_pairs(group))
    universe = tuple(sorted({g.cluster for g in groups}))
    written = Counter(f"{v.relation} {v.level}" for g in groups for v in g.variants)
    apart = tuple(side for group in groups for side in expand_mirror_groups(group))
    return Dataset(
        "probes", pairs, apart, LICENCE, len(groups), written=dict(sorted(written.items())), universe=universe
    )


def _make_labelled_pairs(group: Group) -> Iterator[SentencePair]:
    for variant in group.variants:
        if variant.relation in PAIRED:
            name = ItemId.of("probes", content_hash(group.source, variant.text), variant.relation, 1, "written", 0)
            label = int(variant.relation in PARAPHRASES)
            yield SentencePair(name, group.source, variant.text, label, group.cluster, group.split, variant.edits)


def iterate_text_meanings(seed: int | None = None) -> Iterator[tuple[str, tuple[str, float]]]:
    """Yield (text, (meaning, distance from it)) for the oracle, for the embedded texts and this seed's fresh texts."""
    for group in (*_embedded_groups(), *(generate_fresh_groups(seed) if seed is not None else ())):
        yield group.source, (group.id, 0.0)
        yield from _in_passages(group, group.source, 0.0)
        for v in group.variants:
            if (stem := v.relation.removesuffix("_mirror")) != v.relation or group.variant(f"{stem}_mirror"):
                yield v.text, (f"{group.id}{MIRRORED}{stem}", 0.0)  # the meaning of a mirrored group's second sentence
                continue
            distance = 0.0 if keeps_meaning(v.relation) else DISTANCE.get(v.relation, 1.0)
            yield v.text, (group.id, distance)
            yield from _in_passages(group, v.text, distance)


def _in_passages(group: Group, text: str, distance: float) -> Iterator[tuple[str, tuple[str, float]]]:
    for sentences in PASSAGE_LENGTHS if group.passage else ():
        assert group.passage is not None
        yield group.passage.around(text, sentences=sentences), (f"{group.id}/{sentences}", distance)
