"""What is said of an item without a model: its edit's word, place and kind, and its sentence."""

import numpy as np
import pytest

from encheck.language.lexicon.load import load_lexicon
from encheck.language.parse import Parse
from encheck.scoring.features import LEXFILES, item_feature_columns
from encheck.scoring.item import ItemFrame, TextColumns, edits_json
from encheck.scoring.triplets import TRIPLET
from encheck.types import Edit

SLOWLY = "The old train slowly left/VBD/VERB/ROOT the big station ."


class Parses:
    """Parses of sentences whose words may say their tag, part of speech, relation and lemma."""

    lexicon = load_lexicon()

    def __init__(self, *written):
        self.by_text = {parse.text: parse for parse in map(parsed, written)}

    def stored_parse(self, text):
        return self.by_text[text]


def parsed(written):
    """Every word without a tag is a noun of the root, "." is punctuation."""
    usual = {".": "./PUNCT/punct", "?": "./PUNCT/punct", "slowly": "RB/ADV/advmod", "old": "JJ/ADJ/amod"}
    words = [word.split("/") for word in written.split()]
    words = [w if len(w) > 1 else [*w, *usual.get(w[0], "NN/NOUN/obj").split("/")] for w in words]
    text, ends = " ".join(w[0] for w in words), np.cumsum([len(w[0]) + 1 for w in words]) - 1
    root = next(i for i, w in enumerate(words) if w[3] == "ROOT")
    columns = [tuple(w[k] for w in words) for k in range(4)]
    lemmas = tuple({"left": "leave", "is": "be"}.get(w[0], w[0]) for w in words)
    starts = tuple(int(end) - len(w[0]) for end, w in zip(ends, words, strict=True))
    return Parse(
        text, starts, tuple(map(int, ends)), columns[1], columns[2], lemmas, (root,) * len(words), columns[3],
        ("",) * len(words),
    )  # fmt: skip


def of(written, changed=(), *, kept=(), why=None, slices=()):
    english = Parses(written)
    ((text, _),) = english.by_text.items()
    far = TextColumns(("far",), np.zeros(1), None, (edits_json(changed) if changed else None,), (why,))
    near = TextColumns(("near",), np.ones(1), None, (edits_json(kept) if kept else None,))
    case = "a_is_b/m-d-1"
    frame = ItemFrame(TRIPLET, case, ("i",), (text,), near, ("c",), ("",), far, slices=slices)
    return {name: column[0] for name, column in item_feature_columns(frame, english).items()}


def replacing(written, word, text):
    at = parsed(written).text.index(word)
    return (Edit(at, at + len(word), text),)


def test_an_edit_has_its_words_part_of_speech_relation_and_place():
    found = of(SLOWLY, replacing(SLOWLY, "slowly", "quickly"))
    assert found["part"] == "edits of an adverb"
    assert found["relation"] == "edits at the relation advmod"
    assert found["position"] == "edits in the first five words"
    assert found["kind"] == "changed text has one word for another"


@pytest.mark.parametrize(
    ("edits", "kind"),
    [
        ((Edit(4, 4, "very "),), "words put in"),
        ((Edit(4, 8, ""),), "words taken out"),
        ((Edit(4, 7, "very young"),), "one phrase for another"),
        ((Edit(0, 3, "A"), Edit(4, 7, "new")), "several edits"),
    ],
)
def test_the_kind_of_an_edit_is_its_shape_on_both_sides(edits, kind):
    found = of(SLOWLY, edits, kept=edits)
    assert (found["kind"], found["kept"]) == (f"changed text has {kind}", f"kept text has {kind}")


def test_nothing_is_replaced_where_words_are_put_in():
    found = of(SLOWLY, (Edit(4, 4, "very "),))
    assert (found["part"], found["relation"], found["class"]) == ("", "", "")


def test_classes_are_the_lexicographers_files():
    found = of(SLOWLY, replacing(SLOWLY, "train", "bus"))
    assert (found["verb"], found["class"]) == ("main verb verb.motion", "edits of noun.artifact")
    assert len(LEXFILES) == 45


@pytest.mark.parametrize(
    ("written", "form"),
    [
        (SLOWLY, "statements"),
        ("Leave/VB/VERB/ROOT the station .", "commands"),
        ("You/PRP/PRON/nsubj can/MD/AUX/aux leave/VB/VERB/ROOT .", "statements"),
        ("Has the train left/VBN/VERB/ROOT ?", "questions"),
    ],
)
def test_statements_commands_and_questions_are_told_apart(written, form):
    assert of(written)["form"] == form


@pytest.mark.parametrize(("words", "said"), [(8, "up to 8 words"), (9, "9 to 14 words"), (15, "15 words or more")])
def test_length_counts_words_and_no_punctuation(words, said):
    assert of(f"go/VBP/VERB/ROOT {'x ' * (words - 1)}.")["length"] == said


@pytest.mark.parametrize(
    ("word", "place"), [(5, "in the first five words"), (6, "in words 6 to 10"), (11, "after the tenth word")]
)
def test_the_place_is_counted_in_words(word, place):
    written = f"go/VBP/VERB/ROOT {' '.join(f'x{i}' for i in range(2, 13))}"
    assert of(written, replacing(written, f"x{word}", "y"))["position"] == f"edits {place}"


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ("percentage: 1% > 2%: another value", "certificate says 'percentage'"),
        ("exchanged: with > the; the > with", "certificate says 'exchanged'"),
        ("large (large, JJ) > small: table", ""),
        (None, ""),
    ],
)
def test_a_certificate_says_of_what_kind_the_edit_is(why, said):
    assert of(SLOWLY, why=why)["certificate"] == said


def test_an_item_without_edits_or_words_has_no_features_of_an_edit():
    assert of(SLOWLY)["position"] == ""
    assert of(SLOWLY, slices=("news",))["slice"] == "slice news"
