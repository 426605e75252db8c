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

import encheck.datasets
from encheck.datasets.load import load
from encheck.types import keeps_meaning

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("build_probes", ROOT / "lab" / "recipes" / "build_probes.py")
build = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(build)

DRAFT = {
    "sentence": "The gardener slowly watered seven young trees behind the old library.",
    "paraphrase": "Behind the old library, seven young trees were slowly given water by the gardener.",
    "rewrite": "A person who looks after plants gave saplings a long drink in back of that ancient reading room.",
    "hard_negative": "watered > felled ; slowly > quickly",
    "synonym": ["slowly > gradually", "old > ancient", "young > little"],
    "antonym": "slowly > quickly",
    "control": "slowly > kindly",
    "reorder": "Behind the old library the gardener slowly watered seven young trees.",
    "negation": {
        "kept": "slowly > indeed slowly",
        "changed": "slowly > never slowly",
        "control": "slowly > secretly slowly",
    },
    "number": {"kept": "seven > 7", "changed": "seven > 9", "control": "seven > thirsty"},
    "role_reversal": {
        "kept": "Seven young trees behind the old library were slowly watered by the gardener.",
        "changed": "The gardener was slowly watered by seven young trees behind the old library.",
        "control": "The gardener was slowly surrounded by seven young trees behind the old library.",
    },
    "continuation": " ".join(["while two boys with a ladder took the last ripe pears from the branches"] * 2),
    "context": [f"There was a bench by wall number {n}." for n in range(7)],
    "place": 3,
}
GOOD = build.realised(DRAFT)
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
    assert problems(**{field: None}) == [f"missing {[field]}, unknown [], not {{kept, changed, control}}: []"]


def test_an_unknown_field_is_named():
    assert problems(shouting="LOUD.") == ["missing [], unknown ['shouting'], not {kept, changed, control}: []"]


@pytest.mark.parametrize("name", build.PHENOMENA)
@pytest.mark.parametrize("value", ["", "seven > 7", {}, {"kept": "a", "changed": "b"}, {**GOOD["number"], "more": "c"}])
def test_a_phenomenon_that_is_no_triple_is_named(name, value):
    assert problems(**{name: value}) == [f"missing [], unknown [], not {{kept, changed, control}}: {[name]}"]


SOURCE, FIRST = GOOD["sentence"], GOOD["synonym"][0]


def triple(name, **sides):
    """The triple of the good draft with other sides, given as texts or as edits."""
    return {name: {**GOOD[name], **{side: build.realise(SOURCE, text) for side, text in sides.items()}}}


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
        (
            triple("number", changed="seven > ninety nine"),
            "number: the three texts have {'kept': 11, 'changed': 12, 'c",
        ),
        (triple("number", kept="seven > six plus one"), "number: the three texts have {'kept': 13, 'changed': 11, 'c"),
        (triple("number", control="seven young > thirsty"), "'control': 10} words, want the same number"),
        (triple("number", changed="library > museum"), "number: changed edits another place than kept does"),
        (triple("number", control="library > museum"), "number: control edits another place than kept does"),
        (triple("number", kept=SOURCE), "number_kept equals the sentence"),
        (triple("number", changed="seven > 7"), "the same text stands twice"),
        (triple("number", changed=SOURCE[:-1] + "?"), "number: end it as the sentence ends"),
        (triple("number", kept=""), "number_kept: end it as the sentence ends"),
        (
            triple("number", changed=SOURCE.replace("seven", " nine")),
            "number: end it as the sentence ends, single blanks",
        ),
        (
            triple("role_reversal", changed="Cows sang " * 6 + "aloud."),
            "role_reversal: Jaccard 0.83 kept, 0.00 changed",
        ),
        ({"rewrite": GOOD["reorder"].replace("slowly ", "")}, "rewrite Jaccard 0.90, wants <= 0.35; shared ['behind'"),
        ({"hard_negative": "Two cows sang."}, "hard_negative Jaccard 0.00, wants >= 0.60"),
        ({"paraphrase": GOOD["reorder"] + "."}, "paraphrase Jaccard 1.00: hardly a paraphrase"),
        ({"reorder": "Two cows sang."}, "reorder Jaccard 0.00, wants >= 0.70: move words"),
        (
            triple("negation", changed="slowly > very slowly"),
            "negation: 0 negators in the sentence, {'kept': 0, 'changed': 0",
        ),
        (
            triple("negation", changed="slowly > never not"),
            "negation: 0 negators in the sentence, {'kept': 0, 'changed': 2",
        ),
        (
            triple("negation", kept="slowly > hardly fast"),
            "negation: 0 negators in the sentence, {'kept': 1, 'changed': 1",
        ),
        ({"place": None}, "context and place come together"),
        ({"context": None}, "context and place come together"),
        ({"context": ["Alone."]}, "context has 1 sentences at place 3, wants 7 and a place from 0 to 7"),
        ({"place": 8}, "context has 7 sentences at place 8, wants 7 and a place from 0 to 7"),
        ({"place": -1}, "context has 7 sentences at place -1, wants 7 and a place from 0 to 7"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value[:40],
)
def test_a_bad_draft_is_told_what_is_wrong(fields, problem):
    assert problem in "\n".join(problems(**fields))


@pytest.mark.parametrize("length", [5, 31])
def test_a_sentence_of_another_length_is_refused(length):
    assert f"sentence has {length} words, wants 6 to 30" in problems(sentence=" ".join(["goat"] * length) + ".")


def test_a_negative_sentence_loses_its_negator():
    group = {"sentence": "The goat did not sleep.", "negation": {"kept": "The goat never slept."}}
    group["negation"] |= {"changed": "The goat did sleep.", "control": "The goat did sing."}
    assert list(build._relations(group)) == []
    group["negation"]["kept"], group["negation"]["changed"] = group["negation"]["changed"], group["negation"]["kept"]
    assert list(build._relations(group)) == [
        "negation: 1 negators in the sentence, {'kept': 0, 'changed': 1, 'control': 0}; "
        "wants as many in kept, one off in changed"
    ]


@pytest.mark.parametrize("place", [0, 7])
def test_a_sentence_may_stand_anywhere_in_its_passage(place):
    assert problems(place=place) == []


def test_edits_stand_for_whole_texts():
    assert GOOD["hard_negative"] == "The gardener quickly felled seven young trees behind the old library."
    assert GOOD["synonym"] == [
        "The gardener gradually watered seven young trees behind the old library.",
        "The gardener gradually watered seven young trees behind the ancient library.",
        "The gardener gradually watered seven little trees behind the ancient library.",
    ]
    assert GOOD["number"]["kept"] == "The gardener slowly watered 7 young trees behind the old library."
    kept_as_they_are = (
        "sentence",
        "paraphrase",
        "rewrite",
        "reorder",
        "role_reversal",
        "continuation",
        "context",
        "place",
    )
    assert {name: GOOD[name] for name in kept_as_they_are} == {name: DRAFT[name] for name in kept_as_they_are}
    assert set(GOOD) == set(DRAFT)


def test_whole_texts_are_taken_as_they_are():
    assert build.realised(GOOD) == GOOD


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("cow > goat", "'cow' occurs 0 times as a word"),
        ("garden > yard", "'garden' occurs 0 times as a word"),
        ("Slowly > fast", "'Slowly' occurs 0 times as a word"),
        ("a > b", "'a' occurs 0 times as a word"),
        ("old > aged ; cow > goat", "'cow' occurs 0 times as a word"),
        ("the > a", "'the' occurs 2 times as a word"),
        ("the old > an old ; old library > barn", "overlap"),
        ("old library > barn ; the old > an old", "overlap"),
        ("old > aged ; old > ancient", "overlap"),
    ],
)
def test_edits_that_do_not_fit_are_refused(value, problem):
    with pytest.raises(ValueError, match=problem):
        build.realise("The gardener saw the old library by the barn.", value)


def test_edits_may_touch_and_come_in_any_order():
    assert build.realise("An old goat sleeps.", "sleeps > wakes ; An old > A young") == "A young goat wakes."
    assert build.realise("An old goat sleeps.", "old > shy ; goat > cow") == "An shy cow sleeps."


def test_null_takes_a_field_away():
    group = build.realised({**DRAFT, "number": None, "reorder": None})
    assert set(DRAFT) - set(group) == {"number", "reorder"}
    assert list(build.problems(group, Reference())) == []


def test_role_is_short_for_role_reversal():
    draft = {**DRAFT, "role": DRAFT["role_reversal"]}
    del draft["role_reversal"]
    assert build.realised(draft) == GOOD


def test_what_several_files_say_of_a_sentence_is_put_together(tmp_path):
    first, second, third = (tmp_path / name for name in ("garden.yaml", "garden.new.yaml", "daily.yaml"))
    first.write_text(yaml.safe_dump([DRAFT]), "utf-8")
    changes = {"sentence": SOURCE, "number": None, "antonym": "slowly > hastily"}
    second.write_text(yaml.safe_dump([changes]), "utf-8")
    third.write_text("", "utf-8")
    assert list(build.gather([first, second, third])) == [("garden", {**DRAFT, **changes})]
    third.write_text(yaml.safe_dump([DRAFT]), "utf-8")
    assert [domain for domain, _ in build.gather([first, second, third])] == ["garden", "daily"]


def test_a_control_much_rarer_than_the_antonym_is_refused():
    assert problems(Reference(rare=["kindly"])) == [
        "control 'kindly' is less frequent than antonym 'quickly' by 3.00 powers of ten, wants at most 1.0"
    ]


def test_a_compiled_draft_follows_the_schema():
    line = build.compile_group(GOOD, domain="garden", reference=Reference())
    schema = json.loads((Path(encheck.datasets.__file__).parent / "probes.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(line)
    assert line["id"].startswith("garden-")
    assert line["canary"] == build.CANARY
    assert line["passage"] == {"context": GOOD["context"], "place": 3}
    assert [(v["relation"], v["slot"]) for v in line["variants"] if "slot" in v] == [
        *((relation, "w") for relation in ("synonym", "antonym", "control")),
        *((name + side, name) for name in build.PHENOMENA if name in GOOD for side in ("_kept", "", "_control")),
    ]


def test_a_group_without_a_passage_has_none():
    group = build.realised({**DRAFT, "context": None, "place": None})
    assert "passage" not in build.compile_group(group, domain="garden", reference=Reference())


def test_relations_of_the_schema_keep_or_change_the_meaning_as_the_tool_says():
    relations = json.loads((Path(encheck.datasets.__file__).parent / "probes.schema.json").read_text("utf-8"))["$defs"][
        "variant"
    ]
    names = set(relations["properties"]["relation"]["enum"])
    crossed = {name for name in names if name.endswith("_mirror") or name.startswith(("binding", "comparative"))}
    written = names - crossed  # the tool writes no crossed groups
    assert {name for name in written if keeps_meaning(name)} == build.KEPT
    full = {**GOOD, **dict.fromkeys(build.PHENOMENA, GOOD["number"])}
    assert {relation for relation, _, _ in build.variants(full)} == written


def test_only_the_gate_part_rotates():
    lines = [
        build.compile_group({**GOOD, "sentence": f"{SOURCE[:-1]} {n}."}, domain="garden", reference=Reference())
        for n in range(60)
    ]
    assert {line["rotation"] for line in lines if line["split"] == "gate"} == set(range(build.ROTATIONS))
    assert {line["rotation"] for line in lines if line["split"] == "dev"} == {None}


def test_the_overview_counts_and_names_what_is_shared():
    line = build.compile_group(GOOD, domain="garden", reference=Reference())
    said = list(build.overview([line] * 3, balance=True))
    assert "synonym 3: 3" in said[0]
    assert said[1] == "negation triples with a negative source: 0; passages: 3"
    assert f"3 groups share the skeleton {line['skeleton']}" in said
    assert "3 sentences share 'the gardener slowly watered'" in said
    assert "number, kept:changed of lopsided words: 7 3:0, 9 0:3" in said
    assert not any("share" in text or "lopsided" in text for text in build.overview([line] * 2, balance=False))


@pytest.fixture
def drafts(tmp_path):
    """Arguments of the recipe: one draft, and what the tagger learnt kept from an earlier run."""
    (tmp_path / "garden.yaml").write_text(yaml.safe_dump([DRAFT]), "utf-8")
    learnt = {"weights": {}, "tagdict": TAGS | {"The": "DT"}, "classes": ["NN"], "counts": {"the": 9}}
    (tmp_path / "cache.json").write_text(json.dumps(learnt), "utf-8")
    named = {"treebank": tmp_path, "corpus": tmp_path, "cache": tmp_path / "cache.json", "out": tmp_path / "own.jsonl"}
    return [str(tmp_path / "garden.yaml"), *(f"--{name}={path}" for name, path in named.items())]


def test_drafts_become_a_probe_file_that_data_takes(drafts, tmp_path, capsys):
    assert build.main(drafts) == 0
    assert "1 groups hold, 0 do not" in capsys.readouterr().out
    (group,) = load(f"probes:{tmp_path / 'own.jsonl'}").groups
    assert (group.source, group.paraphrase) == (GOOD["sentence"], GOOD["paraphrase"])
    assert (group.passage.context, group.passage.place) == (tuple(GOOD["context"]), 3)
    assert [(v.relation, v.level, v.text) for v in group.variants if v.relation != "paraphrase"] == [
        variant for variant in build.variants(GOOD) if variant[0] != "paraphrase"
    ]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"number": {"kept": "eight > 8", "changed": "eight > 9"}}, "not {kept, changed, control}: ['number']"),
        ({"number": None}, "'seven' occurs 0 times as a word"),
        ({"number": 8}, "'int' object is not iterable"),
    ],
)
def test_one_bad_draft_keeps_the_file_from_being_written(drafts, tmp_path, capsys, fields, problem):
    other = {**DRAFT, "sentence": SOURCE.replace("seven", "eight"), **fields}
    if "occurs" in problem:
        other["antonym"] = "seven > eight"
    (tmp_path / "garden.yaml").write_text(yaml.safe_dump([DRAFT, other]), "utf-8")
    assert build.main(drafts) == 1
    out = capsys.readouterr().out
    assert "garden (The gardener slowly" in out
    assert problem in out
    assert "1 groups hold, 1 do not" in out
    assert not (tmp_path / "own.jsonl").exists()
