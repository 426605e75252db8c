"""Trees with ClearNLP's labels, as spaCy's English models give them, made Universal Dependencies."""

import shutil
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encheck.generators.antonym import antonym
from encheck.generators.synonym import synonym
from encheck.language.english import English
from encheck.language.parse import Parse, parse_from_spacy
from encheck.language.pipeline.pipeline import CONVERTED, Pipeline, convert_to_universal, has_clearnlp_labels
from encheck.store import Store
from encheck.types import Group

# word/tag/part of speech/lemma head relation, as ClearNLP has them; then head relation as UD has them. Heads count from
# 1, 0 is a root. The lemma is left out where it is the word.
SENTENCES = {
    "object, time, full stop": """
        He/PRP/PRON/he      2 nsubj     2 nsubj
        raised/VBD/VERB/raise 0 ROOT    0 ROOT
        prices/NNS/NOUN/price 2 dobj    2 obj
        last/JJ/ADJ         5 amod      5 amod
        year/NN/NOUN        2 npadvmod  2 obl:unmarked
        ./././.             2 punct     2 punct
    """,
    "two objects": """
        She/PRP/PRON/she    2 nsubj     2 nsubj
        gave/VBD/VERB/give  0 ROOT      0 ROOT
        her/PRP$/PRON       4 poss      4 nmod:poss
        son/NN/NOUN         2 dative    2 iobj
        a/DT/DET            6 det       6 det
        book/NN/NOUN        2 dobj      2 obj
    """,
    "an object and a preposition": """
        She/PRP/PRON/she    2 nsubj     2 nsubj
        gave/VBD/VERB/give  0 ROOT      0 ROOT
        books/NNS/NOUN/book 2 dobj      2 obj
        to/IN/ADP           2 dative    6 case
        the/DT/DET          6 det       6 det
        boy/NN/NOUN         4 pobj      2 obl
        from/IN/ADP         6 prep      8 case
        Rome/NNP/PROPN      7 pobj      6 nmod
    """,
    "passive with its doer": """
        The/DT/DET          2 det       2 det
        house/NN/NOUN       5 nsubjpass 5 nsubj:pass
        was/VBD/AUX/be      5 auxpass   5 aux:pass
        not/RB/PART         5 neg       5 advmod
        built/VBN/VERB/build 0 ROOT     0 ROOT
        by/IN/ADP           5 agent     8 case
        the/DT/DET          8 det       8 det
        king/NN/NOUN        6 pobj      5 obl:agent
    """,
    "particle": """
        They/PRP/PRON/they  2 nsubj     2 nsubj
        picked/VBD/VERB/pick 0 ROOT     0 ROOT
        up/RP/ADP           2 prt       2 compound:prt
        all/PDT/DET         6 predet    6 det:predet
        the/DT/DET          6 det       6 det
        stones/NNS/NOUN/stone 2 dobj    2 obj
    """,
    "adjective after be, clause before it, another behind": """
        If/IN/SCONJ         3 mark      3 mark
        he/PRP/PRON         3 nsubj     3 nsubj
        sleeps/VBZ/VERB/sleep 6 advcl   7 advcl
        he/PRP/PRON         6 nsubj     7 nsubj
        will/MD/AUX         6 aux       7 aux
        be/VB/AUX           0 ROOT      7 cop
        fit/JJ/ADJ          6 acomp     0 ROOT
        and/CC/CCONJ        6 cc        10 cc
        she/PRP/PRON        10 nsubj    10 nsubj
        works/VBZ/VERB/work 6 conj      7 conj
        ./././.             6 punct     7 punct
    """,
    "noun after be, in a clause that a verb governs": """
        I/PRP/PRON          2 nsubj     2 nsubj
        know/VBP/VERB       0 ROOT      0 ROOT
        that/IN/SCONJ       5 mark      7 mark
        Ann/NNP/PROPN       5 nsubj     7 nsubj
        is/VBZ/AUX/be       2 ccomp     7 cop
        a/DT/DET            7 det       7 det
        doctor/NN/NOUN      5 attr      2 ccomp
        in/IN/ADP           5 prep      9 case
        Rome/NNP/PROPN      8 pobj      7 obl
    """,
    "there is, relative clause": """
        There/EX/PRON/there 2 expl      2 expl
        is/VBZ/VERB/be      0 ROOT      0 ROOT
        a/DT/DET            4 det       4 det
        man/NN/NOUN         2 attr      2 nsubj
        who/WP/PRON         6 nsubj     6 nsubj
        seems/VBZ/VERB/seem 4 relcl     4 acl:relcl
        sad/JJ/ADJ          6 acomp     6 xcomp
    """,
    "two prepositions in one": """
        She/PRP/PRON/she    2 nsubj     2 nsubj
        ran/VBD/VERB/run    0 ROOT      0 ROOT
        out/IN/ADP          2 prep      6 case
        of/IN/ADP           3 prep      6 case
        the/DT/DET          6 det       6 det
        house/NN/NOUN       4 pobj      2 obl
        because/IN/SCONJ    2 prep      9 case
        of/IN/ADP           7 pcomp     7 fixed
        fire/NN/NOUN        7 pobj      2 obl
    """,
    "from one to the other": """
        We/PRP/PRON/we      2 nsubj     2 nsubj
        went/VBD/VERB/go    0 ROOT      0 ROOT
        from/IN/ADP         2 prep      4 case
        Rome/NNP/PROPN      3 pobj      2 obl
        to/IN/ADP           3 prep      6 case
        Paris/NNP/PROPN     5 pobj      2 obl
    """,
    "prepositions before clauses": """
        After/IN/ADP        4 prep      2 mark
        leaving/VBG/VERB/leave 1 pcomp  4 advcl
        he/PRP/PRON         4 nsubj     4 nsubj
        spoke/VBD/VERB/speak 0 ROOT     0 ROOT
        of/IN/ADP           4 prep      7 case
        his/PRP$/PRON       7 poss      7 nmod:poss
        hope/NN/NOUN        5 pobj      4 obl
        of/IN/ADP           7 prep      10 mark
        being/VBG/AUX/be    8 pcomp     10 cop
        free/JJ/ADJ         9 acomp     7 acl
    """,
    "three parts, two places": """
        Cats/NNS/NOUN/cat   7 nsubj     7 nsubj
        ,/,/PUNCT           1 punct     3 punct
        dogs/NNS/NOUN/dog   1 conj      1 conj
        ,/,/PUNCT           3 punct     6 punct
        and/CC/CCONJ        3 cc        6 cc
        cows/NNS/NOUN/cow   3 conj      1 conj
        live/VBP/VERB       0 ROOT      0 ROOT
        in/IN/ADP           7 prep      9 case
        houses/NNS/NOUN/house 8 pobj    7 obl
        and/CC/CCONJ        8 cc        12 cc
        on/IN/ADP           8 conj      12 case
        farms/NNS/NOUN/farm 11 pobj     9 conj
    """,
    "a clause without a finite verb, one with to": """
        She/PRP/PRON/she    2 nsubj     2 nsubj
        saw/VBD/VERB/see    0 ROOT      0 ROOT
        him/PRP/PRON        4 nsubj     2 obj
        try/VB/VERB         2 ccomp     2 xcomp
        to/TO/PART          6 aux       6 mark
        leave/VB/VERB       4 xcomp     4 xcomp
    """,
    "a clause with a finite verb, a preposition without a noun": """
        She/PRP/PRON/she    2 nsubj     2 nsubj
        says/VBZ/VERB/say   0 ROOT      0 ROOT
        he/PRP/PRON         4 nsubj     4 nsubj
        asked/VBD/VERB/ask  2 ccomp     2 ccomp
        what/WP/PRON        8 pobj      7 obl
        we/PRP/PRON         7 nsubj     7 nsubj
        look/VBP/VERB       4 ccomp     4 ccomp
        at/IN/ADP           7 prep      5 case
    """,
}


def rows_of(sentence):
    for line in sentence.strip().splitlines():
        token, *figures = line.split()
        word, tag, pos, *lemma = ["."] * 2 + ["PUNCT"] if token == "./././." else token.split("/")
        yield (word, tag, pos, lemma[0] if lemma else word.lower()), figures


def columns_of(sentence):
    """Words, tags, parts of speech, lemmas, then heads and relations of both kinds."""
    words, figures = zip(*rows_of(sentence), strict=True)
    before, deps, after, wanted = zip(*figures, strict=True)
    heads = [[i if head == "0" else int(head) - 1 for i, head in enumerate(column)] for column in (before, after)]
    return (*map(list, zip(*words, strict=True)), heads[0], list(deps), heads[1], list(wanted))


def doc_of(vocab, sentence):
    from spacy.tokens import Doc

    words, tags, pos, lemmas, heads, deps, _, _ = columns_of(sentence)
    return Doc(vocab, words=words, tags=tags, pos=pos, lemmas=lemmas, heads=heads, deps=deps)


@pytest.mark.parametrize("name", SENTENCES)
def test_a_sentence_has_the_tree_of_universal_dependencies(name):
    from spacy.vocab import Vocab

    doc = doc_of(Vocab(), SENTENCES[name])
    *_, heads, deps = columns_of(SENTENCES[name])
    before = parse_from_spacy(doc, doc.text)
    made = convert_to_universal(before)
    words = before.words
    assert [(w, words[h], d) for w, h, d in zip(words, made.heads, made.deps, strict=True)] == [
        (w, words[h], d) for w, h, d in zip(words, heads, deps, strict=True)
    ]
    assert list(made.heads) == heads
    assert replace(made, heads=before.heads, deps=before.deps) == before


LABELS = """ROOT acl acomp advcl advmod agent amod appos attr aux auxpass case cc ccomp compound conj csubj csubjpass
dative dep det dobj expl intj mark meta neg nmod npadvmod nsubj nsubjpass nummod oprd parataxis pcomp pobj poss preconj
predet prep prt punct quantmod relcl xcomp""".split()
TOKENS = [
    ("was", "VBD", "AUX", "be"), ("of", "IN", "ADP", "of"), ("because", "IN", "SCONJ", "because"),
    ("he", "PRP", "PRON", "he"), ("runs", "VBZ", "VERB", "run"), ("go", "VB", "VERB", "go"), (",", ",", "PUNCT", ","),
    ("and", "CC", "CCONJ", "and"), ("to", "TO", "PART", "to"), ("There", "EX", "PRON", "there"),
    ("out", "RP", "ADP", "out"), ("red", "JJ", "ADJ", "red"), ("such", "JJ", "ADJ", "such"), ("as", "IN", "ADP", "as"),
]  # fmt: skip


def parse_of(tokens, heads, deps):
    words, tags, pos, lemmas = zip(*tokens, strict=True) if tokens else ((), (), (), ())
    text = " ".join(words)
    ends = [len(" ".join(words[: i + 1])) for i in range(len(words))]
    starts = [end - len(word) for end, word in zip(ends, words, strict=True)]
    empty = ("",) * len(words)
    return Parse(text, tuple(starts), tuple(ends), tags, pos, lemmas, tuple(heads), tuple(deps), empty)


@st.composite
def forests(draw):
    """Any words under any labels: in a random order, each hangs on itself or on one before it."""
    tokens = draw(st.lists(st.sampled_from(TOKENS), max_size=14))
    order = draw(st.permutations(range(len(tokens))))
    heads = [0] * len(tokens)
    for n, at in enumerate(order):
        heads[at] = order[draw(st.integers(0, n))]
    return parse_of(tokens, heads, draw(st.lists(st.sampled_from(LABELS), min_size=len(heads), max_size=len(heads))))


@given(forests())
def test_any_forest_stays_a_forest_with_as_many_roots(parse):
    made = convert_to_universal(parse)
    assert len(made) == len(parse) == len(made.heads) == len(made.deps)
    roots = {i for i, head in enumerate(made.heads) if head == i}
    assert len(roots) == sum(head == i for i, head in enumerate(parse.heads))
    assert sorted(i for root in roots for i in made.subtree(root)) == list(range(len(made)))


def test_what_is_no_forest_stays_as_it_is():
    parse = parse_of([("he", "PRP", "PRON", "he")] * 3, (1, 2, 1), ["prep", "pobj", "dobj"])
    assert convert_to_universal(parse) is parse


@pytest.mark.parametrize("heads", [(7, 1, 1), (-1, 1, 1)])
def test_a_head_that_is_no_position_is_an_error(heads):
    with pytest.raises(ValueError, match="are no positions among 3 tokens"):
        parse_of([("he", "PRP", "PRON", "he")] * 3, heads, ["prep", "pobj", "dobj"])


def test_words_without_labels_stay_as_they_are():
    parse = parse_of(TOKENS, range(len(TOKENS)), [""] * len(TOKENS))
    assert convert_to_universal(parse) == parse


# a pipeline of the user's

INCREASED = """
    He/PRP/PRON/he          2 nsubj  2 nsubj
    increased/VBD/VERB/increase 0 ROOT 0 ROOT
    prices/NNS/NOUN/price   2 dobj   2 obj
    ./././.                 2 punct  2 punct
"""
ROSE = """
    Rents/NNS/NOUN/rent     2 nsubj  2 nsubj
    increased/VBD/VERB/increase 0 ROOT 0 ROOT
    ./././.                 2 punct  2 punct
"""
PICKED = """
    He/PRP/PRON/he          2 nsubj  2 nsubj
    picked/VBD/VERB/pick    0 ROOT   0 ROOT
    stones/NNS/NOUN/stone   2 dobj   2 obj
    up/RP/ADP               2 prt    2 prt
    ./././.                 2 punct  2 punct
"""
POSSIBLE = """
    That/DT/PRON/that       2 nsubj  3 nsubj
    is/VBZ/AUX/be           0 ROOT   3 cop
    possible/JJ/ADJ         2 acomp  0 ROOT
    ./././.                 2 punct  3 punct
"""
KNOWN = {" ".join(columns_of(s)[0]): columns_of(s)[:6] for s in (INCREASED, ROSE, PICKED, POSSIBLE)}


class Annotator:
    """A tagger and parser by heart: a known sentence, or one that differs from it in a word, gets its annotation."""

    labels = ("ROOT", "dobj", "nsubj", "prt", "punct")

    def __call__(self, doc):
        words = [t.text for t in doc]
        for known, *said in KNOWN.values():
            if len(known) == len(words) and sum(a != b for a, b in zip(known, words, strict=True)) <= 1:
                for token, tag, pos, lemma, head, dep in zip(doc, *said, strict=True):
                    token.tag_, token.pos_, token.lemma_, token.head, token.dep_ = tag, pos, lemma, doc[head], dep
        return doc

    def to_disk(self, path, *, exclude=()):
        Path(path).mkdir(exist_ok=True)

    def from_disk(self, path, *, exclude=()):
        return self


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A pipeline with ClearNLP's labels, as spaCy writes one."""
    import spacy
    from spacy.language import Language

    Language.factory("annotator_of_tests", func=lambda nlp, name: Annotator())
    nlp = spacy.blank("en")
    nlp.add_pipe("annotator_of_tests", name="tagger")
    nlp.add_pipe("annotator_of_tests", name="parser")
    nlp.to_disk(folder := tmp_path_factory.mktemp("clear") / "model")
    return folder


def text_of(sentence):
    return " ".join(columns_of(sentence)[0]).replace(" .", ".")


def made(generator, text, folder, store=None):
    """The variant's text, or why there is none."""
    from encheck.language.english import MissingParses

    english = English(Pipeline(str(folder)), store=store)
    while True:
        try:
            found = generator(Group("g", text, text, "c"), level=1, rng=Random(0), english=english)
        except MissingParses:
            english.parse_and_tag_missing()
        else:
            return found if isinstance(found, str) else found.text


def test_a_verb_with_an_object_gets_no_synonym_that_has_none(folder, monkeypatch):
    assert made(synonym, text_of(ROSE), folder) == "Rents rose."
    assert made(synonym, text_of(INCREASED), folder) == "He raised prices."
    monkeypatch.setattr(Pipeline, "is_converted", False)
    assert made(synonym, text_of(INCREASED), folder) == "He rose prices."  # what was wrong


def test_a_verb_with_an_object_gets_the_antonym_of_one(folder):
    assert made(antonym, text_of(INCREASED), folder) == "He decreased prices."


def test_a_verb_with_a_particle_stays(folder):
    parse = next(iter(Pipeline(str(folder)).parse([text_of(PICKED)])))
    assert parse.deps[3] == "compound:prt"
    assert made(synonym, text_of(PICKED), folder) == "only words that must stay"


def test_a_copula_is_seen(folder):
    parse = next(iter(Pipeline(str(folder)).parse([text_of(POSSIBLE)])))
    assert parse.child(2, "cop") == 1
    assert made(antonym, text_of(POSSIBLE), folder) == "That is impossible."


def test_the_fingerprint_says_that_parses_are_converted_so_that_none_of_before_is_used(folder, tmp_path, monkeypatch):
    text, store = text_of(INCREASED), Store(tmp_path / "store.sqlite")
    with monkeypatch.context() as patch:
        patch.setattr(Pipeline, "is_converted", False)
        before = Pipeline(str(folder)).fingerprint
        assert made(synonym, text, folder, store) == "He rose prices."
    assert Pipeline(str(folder)).fingerprint == before + CONVERTED
    assert made(synonym, text, folder, store) == "He raised prices."


def test_the_fingerprint_leaves_out_what_no_parse_depends_on(folder, tmp_path):
    copied = shutil.copytree(folder, tmp_path / "model")
    (copied / "NOTICE.md").write_text("thanks")
    assert Pipeline(str(copied)).fingerprint == Pipeline(str(folder)).fingerprint
    (copied / "tokenizer").write_bytes(b"other rules")
    assert Pipeline(str(copied)).fingerprint != Pipeline(str(folder)).fingerprint


def test_labels_that_meta_does_not_list_are_those_of_the_parser(folder, monkeypatch):
    pipeline = Pipeline(str(folder))
    monkeypatch.setitem(pipeline.__dict__, "meta", {k: v for k, v in pipeline.meta.items() if k != "labels"})
    assert pipeline.is_converted


def test_the_bundled_pipeline_is_not_converted():
    pipeline = Pipeline()
    assert not pipeline.is_converted
    assert CONVERTED not in pipeline.fingerprint
    assert not has_clearnlp_labels(pipeline.meta["labels"]["parser"])
    assert "_nlp" not in pipeline.__dict__
