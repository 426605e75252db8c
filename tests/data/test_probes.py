"""The embedded probes hold to their schema and to the rules of the instrument."""

import hashlib
import importlib.util
import json
from collections import Counter
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from encheck.datasets.load import load
from encheck.errors import DataError
from encheck.types import keeps_meaning

ROOT = Path(__file__).resolve().parents[2]
PROBES = Path(str(resources.files("encheck.datasets") / "probes.jsonl"))
SCHEMA = json.loads(PROBES.with_name("probes.schema.json").read_text("utf-8"))
LINES = PROBES.read_bytes().decode("utf-8").removesuffix("\n").split("\n")
GROUPS = [json.loads(line) for line in LINES]
CONTRASTS = (
    "negation", "number", "role_reversal", "temporal", "quantifier", "modality", "entity", "binding", "comparative",
)  # fmt: skip
VARIANTS = [(group, variant) for group in GROUPS for variant in group["variants"]]
BASE = [g for g in GROUPS if any(v["relation"] == "paraphrase" for v in g["variants"])]


@pytest.fixture(scope="module")
def build():
    """The recipe that compiled them: words, jaccard and replaced are the rules' own."""
    spec = importlib.util.spec_from_file_location("build_probes", ROOT / "lab" / "recipes" / "build_probes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def offenders(relation, holds):
    """Ids of the groups that have such a variant (or several) and break the rule."""
    return [g["id"] for g, v in VARIANTS if v["relation"] == relation and not holds(g["sentence"], v)]


def slot(group, relation, build):
    text = next(v["text"] for v in group["variants"] if v["relation"] == relation and v["level"] == 1)
    return set(build.replaced(group["sentence"], text))


def test_the_schema_is_one_and_has_a_version():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert (SCHEMA["$id"], SCHEMA["$comment"]) == ("encheck-probes-4", "schema version 4")


def test_every_line_follows_the_schema():
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert [error.message for group in GROUPS for error in validator.iter_errors(group)] == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("id",), ""),
        (("split",), "test"),
        (("rotation",), 5),
        (("canary",), ""),
        (("passage", "place"), 8),
        (("passage", "context"), ["Alone."]),
        (("extra",), 1),
        (("variants",), []),
        (("variants", 0, "relation"), "shouting"),
        (("variants", 0, "level"), 0),
        (("variants", 0, "meaning"), "maybe"),
        (("variants", 0, "note"), "x"),
        (("variants", 0, "edits"), []),
        (("variants", 0, "edits", 0, "start"), -1),
        (("variants", 0, "edits", 0, "text"), None),
    ],
)
def test_the_schema_refuses_what_is_none_of_it(path, value):
    group = json.loads(next(line for line in LINES if '"passage"' in line))
    *way, last = path
    inner = group
    for step in way:
        inner = inner[step]
    inner[last] = value
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(group)


def test_lines_are_sorted_unix_lines_and_their_ids_distinct():
    assert sorted(LINES) == LINES
    assert PROBES.read_bytes().endswith(b"}\n")
    assert b"\r" not in PROBES.read_bytes()
    assert len({group["id"] for group in GROUPS}) == len(GROUPS)


def test_ids_follow_from_the_sentence_and_splits_from_it_or_its_frame():
    for group in GROUPS:
        name = hashlib.sha256(group["sentence"].encode()).hexdigest()[:8]
        assert group["id"] == f"{group['domain']}-{name}"
        drawn = group["skeleton" if "construction" in group else "sentence"]
        digest = hashlib.sha256(drawn.encode()).hexdigest()
        assert group["split"] == ("gate" if int(digest[8:16], 16) % 6 else "dev")
        assert group["rotation"] == (int(digest[16:24], 16) % 5 if group["split"] == "gate" else None)


def test_every_group_carries_the_one_canary(build):
    assert {group["canary"] for group in GROUPS} == {build.CANARY}


def test_passages_are_eight_different_sentences():
    passages = [(g, g["passage"]) for g in GROUPS if "passage" in g]
    assert len(passages) >= 150
    assert [g["id"] for g, p in passages if len({g["sentence"], *p["context"]}) != 8] == []
    assert {p["place"] for _, p in passages} <= set(range(8))


def test_no_sentence_stands_twice():
    assert len({group["sentence"] for group in GROUPS}) == len(GROUPS)


def test_sentences_are_neither_fragments_nor_paragraphs(build):
    assert [g["id"] for g in BASE if not 6 <= len(build.words(g["sentence"])) <= 30] == []
    assert [g["id"] for g in GROUPS if not 2 <= len(build.words(g["sentence"])) <= 40] == []


def test_continuations_have_twenty_words_or_more(build):
    assert [g["id"] for g in GROUPS if len(build.words(g.get("continuation", "w " * 20))) < 20] == []
    assert sum("continuation" in g for g in BASE) >= 480


def test_every_group_has_what_the_criteria_need():
    needed = {"paraphrase", "rewrite", "hard_negative", "synonym", "antonym"}
    assert [g["id"] for g in BASE if not needed <= {v["relation"] for v in g["variants"]}] == []


def test_a_relation_and_level_stands_once_in_a_group():
    for group in GROUPS:
        assert set(Counter((v["relation"], v["level"]) for v in group["variants"]).values()) == {1}


def test_no_text_equals_its_sentence_or_another_variant():
    for group in GROUPS:
        texts = [group["sentence"], *(v["text"] for v in group["variants"])]
        assert len(set(texts)) == len(texts), group["id"]


def test_edits_reproduce_the_texts(build):
    for group, variant in VARIANTS:
        edits = [(e["start"], e["end"], e["text"]) for e in variant["edits"]]
        assert build.apply(group["sentence"], edits) == variant["text"]
        assert edits == sorted(edits)


def test_a_relation_keeps_or_changes_the_meaning_throughout():
    assert {v["relation"] for _, v in VARIANTS} == {
        *("paraphrase", "rewrite", "synonym", "reorder", "hard_negative", "antonym", "control", "antonym_mirror"),
        *(name + side for name in CONTRASTS for side in ("_kept", "", "_control")),
        *(f"{name}_mirror" for name in CONTRASTS),
    }
    wrong = [(g["id"], v["relation"]) for g, v in VARIANTS if (v["meaning"] == "kept") != keeps_meaning(v["relation"])]
    assert wrong == []


def test_a_rewrite_shares_few_words(build):
    assert offenders("rewrite", lambda source, v: build.jaccard(source, v["text"]) <= 0.35) == []


def test_a_hard_negative_shares_most_words(build):
    assert offenders("hard_negative", lambda source, v: build.jaccard(source, v["text"]) >= 0.6) == []


def test_a_synonym_edit_of_level_n_changes_n_words(build):
    assert offenders("synonym", lambda source, v: len(build.replaced(source, v["text"]) or ()) == v["level"]) == []


def test_antonym_and_control_change_the_one_word_of_the_first_synonym(build):
    for group in BASE:
        there = {v["relation"] for v in group["variants"]}
        slots = [slot(group, relation, build) for relation in ("synonym", "antonym", "control") if relation in there]
        assert all(found == slots[0] for found in slots), group["id"]
        assert len(slots[0]) == 1, group["id"]


def test_words_that_move_are_mostly_the_same_words(build):
    assert offenders("reorder", lambda source, v: build.jaccard(source, v["text"]) >= 0.7) == []


def test_the_embedded_data_set_holds_every_group_and_pair():
    data = load("probes")
    assert (data.rows, sum(not g.side for g in data.groups)) == (len(GROUPS), len(GROUPS))
    assert data.labels == {"0": len(BASE), "1": 2 * len(BASE)}
    assert data.version == "4.1.0"
    assert data.written == Counter(f"{v['relation']} {v['level']}" for _, v in VARIANTS)
    assert len({p.id for p in data.pairs}) == len(data.pairs)


def test_probes_have_one_edition():
    with pytest.raises(DataError, match="'probes' has only one split"):
        load("probes@2")


def test_probes_have_the_name_that_they_are_given():
    assert load("probes", label="mine").name == "mine"


def test_no_text_stands_twice():
    texts = Counter(t for g in GROUPS for t in (g["sentence"], *(v["text"] for v in g["variants"])))
    assert [text for text, n in texts.items() if n > 1] == []
