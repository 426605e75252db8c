"""The recipe that compiles the probes: edits, word-for-word changes, and what it says of a bad draft."""

import importlib.util
import itertools
import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from encheck.datasets import base

ROOT = Path(__file__).resolve().parents[1]
SPEC = importlib.util.spec_from_file_location("build_probes", ROOT / "recipes" / "build_probes.py")
build = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(build)

GOOD = {
    "sentence": "The gardener slowly watered seven young trees behind the old library.",
    "paraphrase": "Behind the old library, seven young trees were slowly given water by the gardener.",
    "rewrite": "A person who looks after plants gave saplings a long drink in back of that ancient reading room.",
    "hard_negative": "The gardener quickly felled seven young trees behind the old library.",
    "synonym": [
        "The gardener gradually watered seven young trees behind the old library.",
        "The gardener gradually watered seven young trees behind the ancient library.",
    ],
    "antonym": "The gardener quickly watered seven young trees behind the old library.",
    "control": "The gardener kindly watered seven young trees behind the old library.",
    "reorder": "Behind the old library the gardener slowly watered seven young trees.",
    "negation": "The gardener never slowly watered seven young trees behind the old library.",
    "number": "The gardener slowly watered nine young trees behind the old library.",
    "continuation": " ".join(["while two boys with a ladder took the last ripe pears from the branches"] * 2),
}
TAGS = {"gardener": "NN", "trees": "NNS", "library": "NN", "slowly": "RB", "kindly": "RB", "quickly": "RB"}


class Reference:
    """Tags by a word list, and a frequency for each word: what a tagger and a corpus would give."""

    def __init__(self, rare=()):
        self.rare = rare

    def tags(self, text):
        return [TAGS.get(token, "X") for token, _, _ in build.tokens(text)]

    def zipf(self, word):
        return 1.0 if word in self.rare else 4.0

    def skeleton(self, text):
        return " ".join(self.tags(text))


def problems(reference=None, **fields):
    """What is said of the good draft with other fields."""
    return list(build.problems({**GOOD, **fields}, reference or Reference()))


some_words = st.lists(st.sampled_from(["goat", "Goat", "don't", "a", " ", "  ", ", ", "-", ".", "\n"])).map("".join)


@given(st.one_of(some_words, st.text()), st.one_of(some_words, st.text()))
def test_spans_applied_to_the_source_give_the_variant(source, variant):
    edits = build.spans(source, variant)
    assert build.apply(source, edits) == variant
    assert bool(edits) == (source != variant)


@given(st.one_of(some_words, st.text()), st.one_of(some_words, st.text()))
def test_spans_are_in_order_and_do_not_touch(source, variant):
    edits = build.spans(source, variant)
    assert all(0 <= start <= end <= len(source) for start, end, _ in edits)
    assert all(before[1] < after[0] for before, after in itertools.pairwise(edits))


def test_spans_are_whole_words_and_neighbours_are_one():
    assert build.spans("An old goat sleeps.", "An older goat sleeps.") == [(3, 6, "older")]
    assert build.spans("An old goat sleeps.", "A young goat sleeps.") == [(0, 6, "A young")]


@given(some_words)
def test_a_text_changes_nothing_of_itself(text):
    assert build.spans(text, text) == []
    assert build.replaced(text, text) == {}


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("An old dog sleeps.", {2: ("goat", "dog")}),
        ("A young goat sleeps.", {1: ("old", "young")}),
        ("An old dog wakes.", {2: ("goat", "dog"), 3: ("sleeps", "wakes")}),
        ("An old goat sleeps!", {4: (".", "!")}),
        ("The old goat sleeps.", {0: ("An", "The")}),
        ("An old goat sleeps now.", None),
        ("An old goat.", None),
    ],
)
def test_word_for_word_edits_are_told_from_others(variant, expected):
    assert build.replaced("An old goat sleeps.", variant) == expected


def test_a_word_keeps_its_hyphen_and_its_apostrophe():
    assert build.words("Don't touch the well-known goat's 3.5 kg bell!") == (
        ["don't", "touch", "the", "well-known", "goat's", "3.5", "kg", "bell"]
    )


def test_a_good_draft_has_no_problem():
    assert problems() == []


@pytest.mark.parametrize("field", build.REQUIRED)
def test_a_missing_field_is_named(field):
    assert problems(**{field: None}) == [f"missing {[field]}, unknown []"]


def test_an_unknown_field_and_an_empty_optional_one_are_named():
    assert problems(shouting="LOUD.", number="") == ["missing ['number'], unknown ['shouting']"]


SOURCE, FIRST = GOOD["sentence"], GOOD["synonym"][0]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"continuation": "too short"}, "continuation has 2 words, wants 20"),
        ({"synonym": [FIRST] * 4}, "synonym wants one to three texts"),
        ({"synonym": [FIRST, FIRST]}, "synonym 2 changes"),
        ({"synonym": [FIRST, SOURCE.replace("old", "aged").replace("young", "small")]}, "must keep the edits of"),
        ({"synonym": [""]}, "synonym: end it as the sentence ends"),
        ({"antonym": SOURCE}, "antonym equals the sentence"),
        ({"antonym": SOURCE.replace("old", "new")}, "antonym changes {9: ('old', 'new')}, wants exactly the word of"),
        ({"antonym": SOURCE.replace("slowly", "very quickly")}, "antonym changes None"),
        ({"control": GOOD["antonym"]}, "the same text stands twice"),
        ({"control": SOURCE.replace("slowly", "library")}, "control 'library' is tagged NN, the slot is RB"),
        ({"number": SOURCE.replace("seven", "ninety nine")}, "number changes None, wants exactly one number"),
        ({"number": SOURCE[:-1] + "?"}, "number: end it as the sentence ends"),
        ({"number": SOURCE.replace("seven", " nine")}, "number: end it as the sentence ends, single blanks"),
        ({"number": SOURCE.replace("seven", "sëven")}, "number: plain ASCII quotes and dashes only"),
        ({"rewrite": GOOD["reorder"].replace("slowly ", "")}, "rewrite Jaccard 0.90, wants <= 0.35; shared ['behind'"),
        ({"hard_negative": "Two cows sang."}, "hard_negative Jaccard 0.00, wants >= 0.60"),
        ({"paraphrase": GOOD["reorder"] + "."}, "paraphrase Jaccard 1.00: hardly a paraphrase"),
        ({"reorder": "Two cows sang."}, "reorder Jaccard 0.00, wants >= 0.70: move words"),
        ({"role_reversal": SOURCE.replace("old library", "old, library")}, "role_reversal does not move anything"),
        ({"negation": SOURCE.replace("slowly", "calmly")}, "negation adds or takes away exactly one negator"),
        ({"negation": "Nobody never" + SOURCE[3:]}, "negation adds or takes away exactly one negator"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value[:40],
)
def test_a_bad_draft_is_told_what_is_wrong(fields, problem):
    assert problem in "\n".join(problems(**fields))


@pytest.mark.parametrize("length", [5, 31])
def test_a_sentence_of_another_length_is_refused(length):
    assert f"sentence has {length} words, wants 6 to 30" in problems(sentence=" ".join(["goat"] * length) + ".")


def test_a_control_much_rarer_than_the_antonym_is_refused():
    assert problems(Reference(rare=["kindly"])) == [
        "control 'kindly' is less frequent than antonym 'quickly' by 3.00 powers of ten, wants at most 1.0"
    ]


def test_a_compiled_draft_follows_the_schema():
    line = build.compile_group(GOOD, domain="garden", reference=Reference())
    schema = json.loads((Path(base.__file__).parent / "probes.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(line)
    assert line["id"].startswith("garden-")
    assert [v["relation"] for v in line["variants"] if "slot" in v] == ["synonym", "antonym", "control"]


@pytest.fixture
def drafts(tmp_path):
    """Arguments of the recipe: one draft, and what the tagger learnt kept from an earlier run."""
    (tmp_path / "garden.yaml").write_text(yaml.safe_dump([GOOD]), "utf-8")
    learnt = {"weights": {}, "tagdict": TAGS | {"The": "DT"}, "classes": ["NN"], "counts": {"the": 9}}
    (tmp_path / "cache.json").write_text(json.dumps(learnt), "utf-8")
    named = {"treebank": tmp_path, "corpus": tmp_path, "cache": tmp_path / "cache.json", "out": tmp_path / "own.jsonl"}
    return [str(tmp_path / "garden.yaml"), *(f"--{name}={path}" for name, path in named.items())]


def test_drafts_become_a_probe_file_that_data_takes(drafts, tmp_path, capsys):
    assert build.main(drafts) == 0
    assert "1 groups hold, 0 do not" in capsys.readouterr().out
    (group,) = base.load(f"probes:{tmp_path / 'own.jsonl'}").groups
    assert (group.source, group.paraphrase) == (GOOD["sentence"], GOOD["paraphrase"])


def test_one_bad_draft_keeps_the_file_from_being_written(drafts, tmp_path, capsys):
    (tmp_path / "garden.yaml").write_text(yaml.safe_dump([GOOD, {**GOOD, "number": SOURCE}]), "utf-8")
    assert build.main(drafts) == 1
    assert "garden.yaml group 2 (The gardener slowly" in capsys.readouterr().out
    assert not (tmp_path / "own.jsonl").exists()
