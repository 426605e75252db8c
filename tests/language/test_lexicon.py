"""The embedded lexicon: the same words, senses and relations as NLTK reads them from WordNet's files."""

import importlib.util
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encheck.errors import DataError, UsageError
from encheck.language.lexicon.lexicon import (
    PARTS,
    Antonym,
    ArrayFile,
    EmbeddedLexicon,
    join_byte_planes,
    split_into_byte_planes,
    zipf_frequency,
)
from encheck.language.lexicon.load import load_lexicon, load_nltk_wordnet

ROOT = Path(__file__).resolve().parents[2]
LANGUAGE = ROOT / "src" / "encheck" / "language" / "lexicon"
WORDNET = Path(os.environ.get("WNSEARCHDIR", "/usr/share/wordnet"))


@pytest.fixture(scope="module")
def ours():
    return load_lexicon()


@pytest.fixture(scope="module")
def theirs():
    """NLTK's reader over WordNet 3.0's own files, wherever Debian's wordnet-base or WNSEARCHDIR puts them."""
    if not (WORDNET / "data.noun").is_file():
        pytest.skip(f"needs WordNet 3.0's files in {WORDNET} (Debian: apt-get install wordnet-base)")
    reader = load_lexicon(str(WORDNET))
    if reader.release != "WordNet 3.0":
        pytest.skip(f"{WORDNET} holds {reader.release}, and the embedded lexicon is made of 3.0")
    read_at_once(reader._wordnet)
    return reader


def read_at_once(reader):
    """Let NLTK find in memory what it seeks in its files, sense by sense: the same lines, in a quarter of the time."""
    for pos, name in {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}.items():
        reader._data_file_map[pos] = io.StringIO((WORDNET / f"data.{name}").read_text("ascii"))
    lines = (WORDNET / "cntlist.rev").read_text("ascii").splitlines()
    counts = {key: int(count) for key, _, count in map(str.split, lines)}
    reader.lemma_count = lambda lemma: counts.get(lemma._key, 0)


@pytest.fixture(scope="module")
def build():
    spec = importlib.util.spec_from_file_location("build_lexicon", ROOT / "lab" / "recipes" / "build_lexicon.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["build_lexicon"] = module
    spec.loader.exec_module(module)
    return module


ALL_OR_A_TENTH = pytest.mark.parametrize(
    "step", [pytest.param(1, marks=pytest.mark.long), 10], ids=["all", "every-tenth"]
)


NOUNS_LONG = pytest.mark.parametrize("pos", [pytest.param("n", marks=pytest.mark.long), "v", "a", "r"])


def first_sense(source, lemma, pos):
    return source.senses(lemma, pos)[0]


@NOUNS_LONG
def test_every_lemma_is_there_and_no_other(ours, theirs, pos):
    assert ours.lemmas(pos) == theirs.lemmas(pos)


@ALL_OR_A_TENTH
@pytest.mark.parametrize("pos", PARTS)
def test_every_sense_has_the_synonyms_order_counts_and_frames_of_nltk(ours, theirs, pos, step):
    different = [w for w in theirs.lemmas(pos)[::step] if ours.senses(w, pos) != theirs.senses(w, pos)]
    assert different == []


@pytest.mark.parametrize("pos", PARTS)
def test_the_counts_that_were_read_at_once_are_those_that_nltk_looks_up(theirs, pos):
    reader = theirs._wordnet
    some = [each for lemma in theirs.lemmas(pos)[::50] for each in reader.lemmas(lemma, pos)]
    assert [each.count() for each in some] == [type(reader).lemma_count(reader, each) for each in some]


@ALL_OR_A_TENTH
@pytest.mark.parametrize("pos", PARTS)
def test_every_antonym_direct_or_by_the_head_is_that_of_nltk(ours, theirs, pos, step):
    asked = found = 0
    for lemma in theirs.lemmas(pos)[::step]:
        for sense in theirs.senses(lemma, pos):
            expected = theirs.antonyms(lemma, pos, sense, indirect=True)
            assert set(ours.antonyms(lemma, pos, sense, indirect=True)) == set(expected), (lemma, sense.id)
            direct = tuple(a for a in expected if a.direct)
            assert ours.antonyms(lemma, pos, sense) == direct, (lemma, sense.id)
            asked, found = asked + 1, found + len(direct)
    every = {"n": (146312, 2152), "v": (25047, 1093), "a": (30002, 4024), "r": (5580, 710)}[pos]
    assert (asked, found) == every if step == 1 else min(asked, found) > 0


@NOUNS_LONG
def test_every_link_between_senses_is_that_of_nltk(ours, theirs, pos):
    for sense in {s.id for lemma in theirs.lemmas(pos)[::7] for s in theirs.senses(lemma, pos)}:
        for relation in ("members", "similar", "hypernyms"):
            assert getattr(ours, relation)(sense) == getattr(theirs, relation)(sense), (relation, sense)


def test_base_forms_are_those_of_nltk(ours, theirs):
    forms = [(f, pos) for pos in PARTS for f in theirs._wordnet._exception_map[pos]]
    forms += [(f, pos) for pos in PARTS for f in ours.treebank.forms]
    for form, pos in forms:
        assert list(ours.base_forms(form, pos)) == theirs._wordnet._morphy(form, pos), (form, pos)


def test_counts_and_frequencies_agree_over_both(ours, theirs):
    for lemma, pos in [("dog", "n"), ("find", "v"), ("good", "a"), ("well", "r"), ("zymurgy", "n")]:
        assert ours.lemma_count(lemma, pos) == theirs.lemma_count(lemma, pos)
        assert ours.lemma_frequency(lemma, pos) == theirs.lemma_frequency(lemma, pos)


@pytest.mark.long
def test_the_recipe_makes_the_packaged_file_again(build, theirs, shared_data, tmp_path):
    build.build(WORDNET, shared_data / "ud_english_ewt", tmp_path)
    made, packaged = np.load(tmp_path / "lexicon.npz"), np.load(LANGUAGE / "lexicon.npz")
    assert sorted(made.files) == sorted(packaged.files)
    assert all(np.array_equal(made[name], packaged[name]) for name in made.files)
    notice = LANGUAGE / "WORDNET-LICENCE.txt"
    assert (tmp_path / "WORDNET-LICENCE.txt").read_text("utf-8") == notice.read_text("utf-8")


def test_the_notice_of_the_licence_names_the_release_and_its_owner():
    notice = (LANGUAGE / "WORDNET-LICENCE.txt").read_text("utf-8")
    assert "WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved." in notice
    assert "Permission to use, copy, modify and distribute" in notice
    assert "CC BY-SA 4.0" in notice


def test_no_gloss_nor_example_is_in_the_file():
    texts = [a.tobytes() for a in np.load(LANGUAGE / "lexicon.npz").values() if a.dtype == np.uint8]
    assert not any(b"a domesticated animal" in t or b"member of the genus Canis" in t for t in texts)


def test_the_file_is_small_and_opens_without_pickle():
    assert (LANGUAGE / "lexicon.npz").stat().st_size < 2_000_000
    arrays = np.load(LANGUAGE / "lexicon.npz", allow_pickle=False)
    assert {arrays[name].dtype.name for name in arrays.files} == {"uint8"}


def test_senses_come_in_order_with_their_synonyms(ours):
    assert [s.id for s in ours.senses("big", "a")][:2] == ["large.a.01", "big.s.02"]
    assert first_sense(ours, "big", "a").lemmas == ("large", "big")
    assert first_sense(ours, "BIG", "a").count > ours.senses("big", "a")[1].count


def test_a_satellite_has_the_antonyms_of_its_head_marked_as_indirect(ours):
    huge = first_sense(ours, "huge", "a")
    assert huge.satellite
    assert ours.antonyms("huge", "a", huge) == ()
    assert Antonym("small", "small.a.01", direct=False) in ours.antonyms("huge", "a", huge, indirect=True)


def test_where_an_adjective_may_stand_and_what_a_verb_takes_is_known(ours):
    assert first_sense(ours, "asleep", "a").marker == "p"
    assert 8 in first_sense(ours, "buy", "v").frames  # Somebody ----s something
    assert 8 not in first_sense(ours, "sleep", "v").frames


def test_common_words_are_more_frequent_than_rare_ones(ours):
    assert (
        ours.lemma_frequency("say", "v") > ours.lemma_frequency("utter", "v") > ours.lemma_frequency("asseverate", "v")
    )
    assert ours.word_frequency("the") > ours.word_frequency("dogs") > ours.word_frequency("zymurgies")
    assert ours.word_count("Light", "NOUN") + ours.word_count("light", "ADJ") <= ours.word_count("light")


def test_the_floor_of_frequency_is_that_of_half_an_occurrence(ours):
    assert ours.lemma_frequency("zymurgy", "n") == pytest.approx(zipf_frequency(0, ours.words))
    assert 2.5 < ours.lemma_frequency("zymurgy", "n") < 3.1


@given(st.text(max_size=30), st.sampled_from(PARTS))
def test_any_text_may_be_looked_up(text, pos):
    ours = load_lexicon()
    senses = ours.senses(text, pos)
    assert all(text.lower() in {m.lower() for m in s.lemmas} for s in senses)
    ours.base_forms(text, pos)
    assert ours.lemma_frequency(text, pos) > 0
    assert ours.words_of_sense(text) == () or text.count(".") >= 2


@given(st.lists(st.integers(0, 2**31 - 1)))
def test_numbers_come_back_from_their_planes(numbers):
    assert join_byte_planes(split_into_byte_planes(numbers)).tolist() == numbers


def test_lookups_do_not_depend_on_the_hash_seed():
    code = (
        "from encheck.language.lexicon.load import load_lexicon; x = load_lexicon(); s = x.senses('good', 'a')[0];"
        "print(x.senses('run', 'v'), x.antonyms('good', 'a', s, indirect=True), x.words_of_sense('car.n.01'))"
    )
    outs = {
        subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": s}, capture_output=True).stdout
        for s in ("1", "2")
    }
    assert len(outs) == 1
    assert b"automobile" in outs.pop()


def test_the_fingerprint_names_the_release_and_the_content(ours):
    assert ours.fingerprint().startswith("embedded WordNet 3.0 ")
    assert len(ours.fingerprint().rsplit(" ", 1)[1]) == 16


def test_nltk_of_another_release_says_so(shared_data, monkeypatch):
    live = load_lexicon(str(shared_data / "nltk_data" / "corpora" / "wordnet"))
    assert live.fingerprint().startswith("nltk WordNet 3.1 ")
    assert live.antonyms("hot", "a", first_sense(live, "hot", "a"))[0].lemma == "cold"


def test_without_nltk_data_the_error_says_what_to_do(monkeypatch):
    import nltk
    from nltk.corpus.util import LazyCorpusLoader

    monkeypatch.setattr(nltk.data, "path", [])
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    monkeypatch.setattr("nltk.corpus.wordnet", LazyCorpusLoader("wordnet", WordNetCorpusReader, None))
    with pytest.raises(DataError, match=r"nltk.downloader wordnet"):
        load_nltk_wordnet()


def test_an_unknown_lexicon_and_a_folder_without_wordnet_are_refused(tmp_path):
    with pytest.raises(UsageError, match="did you mean 'nltk'"):
        load_lexicon("nltkk")
    with pytest.raises(DataError, match=r"index.noun is missing"):
        load_lexicon(str(tmp_path))
    with pytest.raises(DataError, match="no folder"):
        load_lexicon(str(tmp_path / "nowhere"))


def test_an_array_of_a_lexicon_that_is_damaged_is_refused_with_the_file(tmp_path):
    file = tmp_path / "lexicon.npz"
    np.savez(file, meta=np.arange(1_000))
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(DataError, match=r"lexicon.npz is not a lexicon file \(Bad CRC-32"):
        ArrayFile(file).integers("meta")
    with pytest.raises(DataError, match=r"lexicon.npz is not a lexicon file"):
        ArrayFile(file).small_integers("nothing")


def test_a_file_that_is_no_lexicon_is_refused(tmp_path):
    file = tmp_path / "lexicon.npz"
    file.write_bytes(b"\x80\x04K\x01.")
    with pytest.raises(DataError, match="is not a lexicon file"):
        EmbeddedLexicon(file)
