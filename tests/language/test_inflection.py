"""Inflection: attested forms only, in the case of the word that is replaced; a and an."""

import importlib.util
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encheck.language.edits.inflection import (
    PARTS_OF_SPEECH,
    count_syllables,
    inflect,
    inflect_by_rule,
    inflect_like,
    list_possible_forms,
    load_inflections,
    match_case,
    split_clitic,
)
from encheck.language.edits.replace import choose_article, correct_articles
from encheck.language.lexicon.load import load_lexicon

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("lemma", "tag", "form"),
    [
        ("seek", "VBD", "sought"), ("choose", "VBN", "chosen"), ("forbid", "VBD", "forbade"), ("go", "VBD", "went"),
        ("stop", "VBG", "stopping"), ("travel", "VBD", "traveled"), ("occur", "VBD", "occurred"),
        ("visit", "VBD", "visited"), ("panic", "VBG", "panicking"), ("die", "VBG", "dying"), ("agree", "VBD", "agreed"),
        ("make", "VBG", "making"), ("study", "VBZ", "studies"), ("go", "VBZ", "goes"), ("run", "VBN", "run"),
        ("cost", "VBD", "cost"), ("overeat", "VBD", "overate"), ("show", "VBN", "shown"), ("enrol", "VBD", "enrolled"),
        ("program", "VBG", "programming"), ("buy", "VB", "buy"), ("buy", "VBP", "buy"), ("burn", "VBN", "burned"),
        ("child", "NNS", "children"), ("person", "NNS", "people"), ("knife", "NNS", "knives"), ("bus", "NNS", "buses"),
        ("fireman", "NNS", "firemen"), ("bacterium", "NNS", "bacteria"), ("photo", "NNS", "photos"),
        ("stomach", "NNS", "stomachs"), ("gallery", "NNS", "galleries"), ("sheep", "NNS", "sheep"),
        ("dog", "NN", "dog"), ("good", "JJR", "better"), ("big", "JJS", "biggest"), ("happy", "JJR", "happier"),
        ("free", "JJR", "freer"), ("simple", "JJR", "simpler"), ("fast", "RBR", "faster"), ("well", "RBS", "best"),
    ],
)  # fmt: skip
def test_a_lemma_takes_the_form_of_its_tag(lemma, tag, form):
    assert inflect(lemma, tag) == form


@pytest.mark.parametrize(
    ("lemma", "tag"),
    [
        ("interesting", "JJR"), ("fun", "JJR"), ("wrong", "JJR"), ("dead", "JJS"), ("quickly", "RBR"),
        ("stupid", "JJR"), ("information", "NNS"), ("equipment", "NNS"), ("furniture", "NNS"), ("happiness", "NNS"),
        ("lie", "VBD"), ("better", "JJR"), ("better", "JJ"), ("pants", "NN"), ("arms", "NN"), ("men", "NN"),
        ("be", "VBZ"), ("have", "VBD"), ("do", "VBG"), ("will", "VBD"), ("can", "VBD"),
        ("give_up", "VBD"), ("ice_cream", "NN"), ("mother-in-law", "NNS"), ("zqx", "NNS"), ("dog", "JJ"),
        ("dog", "NNP"), ("dog", "UH"), ("", "NN"), ("Paris", "NNS"),
    ],
)  # fmt: skip
def test_what_is_in_doubt_is_refused(lemma, tag):
    assert inflect_like(lemma, tag, like="word") is None


@pytest.mark.parametrize(
    ("lemma", "tag", "like", "written"),
    [
        ("seek", "VBD", "wanted", "sought"), ("seek", "VBD", "Wanted", "Sought"), ("seek", "VBD", "WANTED", "SOUGHT"),
        ("seek", "VBD", "wAnted", None), ("mate", "NN", "friend's", "mate's"), ("mate", "NNS", "friends'", "mates'"),
        ("child", "NNS", "kids’", "children’s"), ("child", "NNS", "KIDS'", "CHILDREN'S"),
        ("seek", "VB", "didn't", None), ("seek", "VBD", "3rd", None), ("christian", "JJ", "pious", "christian"),
    ],
)  # fmt: skip
def test_the_case_of_letters_and_the_clitic_are_kept(lemma, tag, like, written):
    assert inflect_like(lemma, tag, like=like) == written


def test_more_and_most_stand_in_for_a_comparative_that_is_not_there():
    assert inflect_like("interesting", "JJR", like="Duller", periphrasis=True) == "More interesting"
    assert inflect_like("quickly", "RBS", like="soonest", periphrasis=True) == "most quickly"
    assert inflect_like("big", "JJR", like="smaller", periphrasis=True) == "bigger"
    assert inflect_like("better", "JJR", like="worse", periphrasis=True) is None


@given(st.text(max_size=20), st.sampled_from(sorted(PARTS_OF_SPEECH)), st.text(max_size=20), st.booleans())
def test_any_text_may_be_asked(lemma, tag, like, periphrasis):
    form = inflect_like(lemma, tag, like=like, periphrasis=periphrasis)
    assert form is None or load_lexicon().senses(lemma, PARTS_OF_SPEECH[tag])


@pytest.mark.parametrize("tag", ["VBD", "VBN", "VBG", "VBZ"])
def test_every_form_of_a_verb_leads_back_to_its_lemma(tag):
    """WordNet's own detachment rules, and the spellings that it lists word by word: doubling, -ied, -ying, -ck-."""
    forms = [(lemma, form) for lemma in load_lexicon().lemmas("v") if (form := inflect(lemma, tag)) is not None]
    lost = [f for lemma, f in forms if lemma not in (*load_lexicon().base_forms(f, "v"), *unspelled(f))]
    assert len(forms) > 8000
    assert set(lost) <= KNOWN_BY_NO_RULE, lost


def unspelled(form: str) -> set[str]:
    stem = re.sub(r"(?:e[ds]|ing|s)$", "", form)
    return {stem[:-1], stem + "e", stem + "te", re.sub("i$", "y", stem), re.sub("y$", "ie", stem)}


KNOWN_BY_NO_RULE = set("foreswore foresworn misdid misdone overate overeaten proven rebound resold".split())


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=12), st.text(max_size=12))
def test_case_is_copied_or_refused(form, like):
    written = match_case(form, like) if form else None
    assert written is None or written.casefold() == form.casefold() or written.upper() == form.upper()


@given(st.text(max_size=20))
def test_a_word_is_its_host_and_its_clitic(word):
    assert "".join(split_clitic(word)) == word


def test_every_form_of_the_table_is_one_word_in_letters():
    forms = [form for row in load_inflections().values() for form in row.values()]
    assert len(forms) > 8000
    assert all(form == "-" or (form.isalpha() and form.islower()) for form in forms)


def test_the_treebank_agrees_with_the_forms(shared_data):
    """Its train part was a witness, the other two were not."""
    right, wrong = Counter(), []
    for split in ("dev", "test"):
        for (lemma, tag), forms in treebank(shared_data / "ud_english_ewt" / f"en_ewt-ud-{split}.conllu").items():
            form = inflect(lemma, tag)
            if form is not None:
                right[form.lower() in forms] += 1
                wrong += [] if form.lower() in forms else [(lemma, tag, form, dict(forms))]
    assert right[True] > 6500
    assert right[False] / right.total() < 0.005, wrong


def treebank(file):
    found = defaultdict(Counter)
    for line in file.read_text("utf-8").splitlines():
        f = line.split("\t")
        plain = len(f) == 10 and f[1].isalpha() and not any(m in f[5] for m in ("Typo", "Abbr", "Foreign", "Style"))
        if plain and f[4] in PARTS_OF_SPEECH and f[3] in ("NOUN", "VERB", "ADJ", "ADV"):
            found[f[2], f[4]][f[1].lower()] += 1
    return found


@pytest.mark.long
def test_the_recipe_makes_the_packaged_table_again(shared_data):
    pytest.importorskip("lemminflect")
    spec = importlib.util.spec_from_file_location(
        "build_inflections", ROOT / "lab" / "recipes" / "build_inflections.py"
    )
    build = importlib.util.module_from_spec(spec)
    sys.modules["build_inflections"] = build
    spec.loader.exec_module(build)
    judge = build.Judge(load_lexicon(), build.treebank(shared_data / "ud_english_ewt"))
    packaged = (ROOT / "src/encheck/language/edits/inflections.tsv").read_text("utf-8")
    assert "\n".join(build.lines(judge)) + "\n" == packaged
    assert ("atonal", "JJR", "atonaler") in judge.rejected


def test_rules_refuse_what_only_a_list_knows():
    assert [inflect_by_rule(w, "NNS") for w in ("potato", "wolf", "crisis", "fireman", "epoch")] == [None] * 5
    assert inflect_by_rule("admit", "VBD") is inflect_by_rule("visit", "VBD") is None
    assert [inflect_by_rule(w, "VBD") for w in ("stop", "play", "try", "bake", "look")] == [
        "stopped", "played", "tried", "baked", "looked",
    ]  # fmt: skip
    assert [inflect_by_rule(w, "VBG") for w in ("see", "dye", "tie", "fix")] == ["seeing", "dyeing", "tying", "fixing"]


@given(st.from_regex(r"[a-z]{2,12}", fullmatch=True), st.sampled_from(["NNS", "VBD", "VBG", "VBZ"]))
def test_what_a_rule_gives_is_among_what_patterns_give(lemma, tag):
    assert inflect_by_rule(lemma, tag) in (None, *list_possible_forms(lemma, tag))
    assert count_syllables(lemma) >= 1


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("hour honest heir honour umbrella unable unimportant uninvited urgent ugly apple egg idea old SUV", "an"),
        ("FBI MRI NBA HIV X-ray 8 80 8,000 11 18 18th 11,000 1800 1892 \"eighth LED F-16 NGO", "an"),
        ("hero historic university unique union unanimous European euro one once", "a"),
        ("one-off use usual Ukrainian uniform U-turn Utah ubiquitous", "a"),
        ("UN US U.S. UK NATO UNESCO BBC USB 10 1 100 110 1,100 1,800 180 7 dog 'yes\" year wheel ewe", "a"),
    ],
)  # fmt: skip
def test_the_article_follows_the_sound(words, wanted):
    heard = {word: choose_article(word) for word in words.split()}
    assert {word: a for word, a in heard.items() if a != wanted} == {}


def test_only_articles_before_changed_words_are_repaired():
    tokens = ["An", "dog", "saw", "a", "owl", "and", "a", "hour", "passed"]
    assert correct_articles(tokens) == {0: "A", 3: "an", 6: "an"}
    assert correct_articles(tokens, changed=[4]) == {3: "an"}
    assert correct_articles(["AN", "DOG"]) == {0: "A"}
    assert correct_articles(["A", "OLD", "HAT"]) == {0: "AN"}
    assert correct_articles(["A"]) == correct_articles([]) == {}


@given(st.lists(st.text(max_size=8) | st.sampled_from(["a", "an", "A", "An"]), max_size=8))
def test_repaired_articles_need_no_second_repair(tokens):
    repaired = list(tokens)
    for i, new in correct_articles(tokens).items():
        assert new.lower() in ("a", "an")
        repaired[i] = new
    assert {i for i in correct_articles(repaired) if tokens[i + 1].lower() not in ("a", "an")} == set()


def test_articles_agree_with_the_treebank(shared_data):
    right = Counter()
    for split in ("dev", "test"):
        before = ("", "")
        for line in (shared_data / "ud_english_ewt" / f"en_ewt-ud-{split}.conllu").read_text("utf-8").splitlines():
            fields = line.split("\t")
            if len(fields) == 10 and fields[0].isdigit():
                if before[0] in ("a", "an", "A", "An") and before[1] == "DT" and fields[1][0].isalnum():
                    right[choose_article(fields[1]) == before[0].lower()] += 1
                before = (fields[1], "" if "Typo" in fields[5] else fields[4])
    assert right[True] > 900
    assert right[False] / right.total() < 0.02
