"""Loading by name; ids, clusters, samples and reference pairs of labelled pairs."""

import itertools
import re
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encheck.datasets.clusters import assign_clusters, hash_shared_sentences, sample_clusters
from encheck.datasets.dataset import dataset_from_rows
from encheck.datasets.load import known_data_sets, load
from encheck.datasets.reader import PairRow
from encheck.errors import DataError, NothingToMeasure
from encheck.items.builders import labelled_pairs
from encheck.items.variants import VariantMaker
from encheck.language.words import content_words
from encheck.types import content_hash

WORDS = "kettle lantern harbour violin meadow copper tunnel the of was".split()
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
rows = st.tuples(sentences, sentences, st.integers(0, 1)).map(lambda fields: PairRow(*fields))


def kettle(count):
    return [PairRow(f"Kettle {n} sings.", f"Kettle {n} whistles.", n % 2) for n in range(count)]


@pytest.mark.parametrize(("name", "near"), [("mrcp", "mrpc"), ("probs", "probes"), ("Paws", "paws")])
def test_an_unknown_name_gives_the_nearest_and_lists_the_others(name, near):
    with pytest.raises(DataError) as caught:
        load(f"{name}:x.csv")
    assert f"unknown data set {name!r}; did you mean {near!r}?" in str(caught.value)
    assert str(caught.value).endswith(", ".join(sorted(known_data_sets())))


@pytest.mark.parametrize("spec", ["mrpc", "mrpc:", "qqp", "pairs"])
def test_a_name_without_its_path_says_what_the_path_holds(spec):
    name = spec.rstrip(":")
    with pytest.raises(DataError) as caught:
        load(spec)
    assert str(caught.value).startswith(f"data set {name!r} needs a path: --data {name}:PATH, where PATH holds ")
    assert known_data_sets()[name].FILES in str(caught.value)


def test_a_cluster_that_is_no_text_is_refused():
    with pytest.raises(DataError, match="the cluster of a row is 7, but should be text"):
        assign_clusters([PairRow("a", "b", 1, cluster=7)])


def test_a_label_names_the_data_in_every_id(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("first,second,label\na,b,1\n", "utf-8")
    data = load(f"pairs:{path}", label="pairs-2")
    assert data.name == "pairs-2"
    assert data.pairs[0].id.startswith("pairs-2/")


def test_rows_that_are_left_out_are_counted_and_told_with_the_first_problem(tmp_path, caplog):
    (tmp_path / "own.csv").write_text("first,second,label\na cat,a dog,1\na,b,2\na hen,,0\n")
    load(f"pairs:{tmp_path}/own.csv", skip_bad_rows=True)
    assert "pairs: 2 malformed rows excluded; the first: " in caplog.text
    assert "own.csv:3: the label is '2', but should be 0 or 1" in caplog.text


def test_a_home_folder_is_expanded(tmp_path, monkeypatch):
    (tmp_path / "own.csv").write_text("first,second,label\na,b,1\n", "utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load("pairs:~/own.csv").rows == 1


@pytest.mark.parametrize("name", ["pairs", "mrpc", "probes"])
def test_a_path_that_no_file_system_takes_is_refused(name):
    with pytest.raises(DataError, match="xxx' cannot be read: File name too long"):
        load(f"{name}:{'x' * 400}", sample=None)


def test_the_positive_pairs_are_the_groups():
    data = dataset_from_rows("own", [PairRow("a b", "b c", 1, "test"), PairRow("d e", "e f", 0)])
    assert [(g.source, g.paraphrase, g.split) for g in data.groups] == [("a b", "b c", "test")]
    assert data.labels == {"0": 1, "1": 1}


def test_one_class_and_ten_rows_load_but_give_nothing_to_compare():
    data = dataset_from_rows("own", [row._replace(label=1) for row in kettle(10)])
    assert data.labels == {"1": 10}
    with pytest.raises(NothingToMeasure, match="own has 0 pairs of label 0, but both classes need two"):
        labelled_pairs(data, 1, VariantMaker())


def test_duplicate_rows_have_distinct_ids():
    data = dataset_from_rows("own", [PairRow("a", "b", 1)] * 3)
    assert len({p.id for p in data.pairs}) == 3
    assert len({g.id for g in data.groups}) == 3
    assert len(data.universe) == 1


@given(st.lists(rows, max_size=8), st.randoms())
def test_ids_do_not_depend_on_the_order_of_rows(found, rng):
    mixed = rng.sample(found, len(found))
    assert {p.id for p in dataset_from_rows("own", found).pairs} == {
        p.id for p in dataset_from_rows("own", mixed).pairs
    }


def test_an_id_follows_from_the_texts_and_the_name_alone():
    (one,) = dataset_from_rows("own", [PairRow("a", "b", 1)]).pairs
    (same,) = dataset_from_rows("own", [PairRow("a", "b", 0, "test", "topic")]).pairs
    (turned,) = dataset_from_rows("own", [PairRow("b", "a", 1)]).pairs
    assert one.id == same.id != turned.id


@pytest.mark.parametrize("other", [PairRow("a", "c", 1), PairRow("a", "b", 0)])
def test_the_fingerprint_changes_with_a_text_or_a_label(other):
    assert dataset_from_rows("own", [PairRow("a", "b", 1)]).fingerprint != dataset_from_rows("own", [other]).fingerprint


@given(st.lists(rows, max_size=8), st.randoms())
def test_clusters_do_not_depend_on_the_order_of_rows(found, rng):
    order = rng.sample(range(len(found)), len(found))
    assert assign_clusters([found[i] for i in order]) == [assign_clusters(found)[i] for i in order]


@given(st.lists(rows, max_size=8))
def test_pairs_that_share_a_sentence_share_a_cluster(found):
    clusters = assign_clusters(found)
    for row, cluster in zip(found, clusters, strict=True):
        shared = [c for r, c in zip(found, clusters, strict=True) if {r.first, r.second} & {row.first, row.second}]
        assert set(shared) == {cluster}


def test_a_chain_of_shared_sentences_is_one_cluster_and_others_are_apart():
    chain = [PairRow("a", "b", 1), PairRow("c", "d", 1), PairRow("b", "C", 0), PairRow("e", "f", 0)]
    clusters = assign_clusters(chain)
    assert clusters[0] == clusters[1] == clusters[2] != clusters[3]


def test_the_ends_of_a_chain_share_no_sentence_and_pairs_and_groups_say_what_they_share():
    chain = [PairRow("a", "b", 1), PairRow("B", "c", 1), PairRow("c", "d", 1, cluster="own"), PairRow("e", "f", 1)]
    first, middle, last, alone = hash_shared_sentences(chain)
    assert len({*first} & {*middle}) == len({*middle} & {*last}) == 1
    assert not {*first} & {*last}
    assert content_hash("own") in last
    assert alone == ()
    made = dataset_from_rows("own", chain)
    assert (
        [pair.shares for pair in made.pairs] == [group.shares for group in made.groups] == hash_shared_sentences(chain)
    )


def test_a_question_that_its_whole_cluster_has_is_no_second_thing():
    asked = [PairRow("q", f"c{i}", 1, cluster="Q1") for i in range(3)]
    assert hash_shared_sentences(asked) == [(), (), ()]
    *of_it, other = hash_shared_sentences([*asked, PairRow("c2", "z", 1, cluster="Q2")])
    assert of_it[:2] == [(), ()]
    assert {*of_it[2]} & {*other} == {content_hash("sentence", "c2")}


@given(st.lists(rows, max_size=8))
def test_pairs_that_share_something_are_of_one_cluster(found):
    clusters, shares = assign_clusters(found), hash_shared_sentences(found)
    for i, j in itertools.combinations(range(len(found)), 2):
        assert not {*shares[i]} & {*shares[j]} or clusters[i] == clusters[j]


def test_words_in_another_order_are_one_cluster():
    first, second = assign_clusters([PairRow("Ann pays Bob", "x", 1), PairRow("bob pays ann", "y", 1)])
    assert first == second


@given(st.lists(rows, max_size=8), st.data())
def test_clusters_that_the_data_name_win(found, data):
    topics = [data.draw(st.sampled_from(["north", "south", None])) for _ in found]
    clusters = assign_clusters([row._replace(cluster=topic) for row, topic in zip(found, topics, strict=True)])
    assert all(cluster == topic for cluster, topic in zip(clusters, topics, strict=True) if topic)


@given(st.sets(st.integers(0, 99)), st.sets(st.integers(100, 199)), st.integers(0, 20), st.integers(0, 3))
def test_clusters_added_later_displace_but_never_reshuffle(old, new, count, seed):
    before = sample_clusters(map(str, old), count, seed=seed)
    after = sample_clusters(map(str, old | new), count, seed=seed)
    assert len(after) == min(count, len(old | new))
    assert after & set(map(str, old)) <= before


def test_rows_added_later_bring_no_other_old_pair_into_the_sample():
    before = {p.id for p in dataset_from_rows("own", kettle(50), sample=20).pairs}
    old = {p.id for p in dataset_from_rows("own", kettle(50)).pairs}
    after = {p.id for p in dataset_from_rows("own", kettle(80), sample=20).pairs}
    assert after & old < before
    assert after - old


@given(st.lists(rows, min_size=1, max_size=12), st.integers(1, 4))
def test_a_sample_keeps_whole_clusters(found, count):
    whole, sample = dataset_from_rows("own", found), dataset_from_rows("own", found, sample=count)
    assert len(sample.universe) == min(count, len(whole.universe))
    assert [p for p in whole.pairs if p.cluster in sample.universe] == list(sample.pairs)
    assert sample.sampled == (len(sample.pairs) < len(found))


def test_another_seed_takes_another_sample():
    first, second = (dataset_from_rows("own", kettle(50), sample=10, seed=seed) for seed in (0, 1))
    assert first.universe != second.universe


@given(st.lists(rows, max_size=12), st.integers(0, 3))
def test_reference_pairs_share_no_content_word_and_no_cluster(found, seed):
    data = dataset_from_rows("own", found)
    cluster = {text: pair.cluster for pair in data.pairs for text in (pair.first, pair.second)}
    for pair in data.draw_random_pairs(seed=seed, count=20):
        assert pair.cluster == cluster[pair.first] != cluster[pair.second]
        assert not content_words(pair.first) & content_words(pair.second)


@given(st.lists(rows, max_size=12), st.randoms())
def test_reference_pairs_depend_on_the_sentences_and_the_seed_alone(found, rng):
    mixed = rng.sample(found, len(found))
    once, again = dataset_from_rows("own", found), dataset_from_rows("own", mixed)
    assert once.draw_random_pairs(seed=1, count=20) == again.draw_random_pairs(seed=1, count=20)


def numbered(count):
    return dataset_from_rows("own", [PairRow(f"kettle{n} sings{n}", f"pot{n}", 1) for n in range(count)])


def test_reference_pairs_are_as_many_as_asked_and_distinct():
    pairs = numbered(100).draw_random_pairs(seed=0, count=300)
    assert len({frozenset((p.first, p.second)) for p in pairs}) == len({p.id for p in pairs}) == len(pairs) == 300


def test_a_reference_pair_names_the_clusters_of_both_sentences_and_stands_there_one_way_round():
    data = numbered(8)
    cluster = {p.first: p.cluster for p in data.pairs}
    pairs = data.draw_random_pairs(seed=0, count=100)
    assert len(pairs) == 8 * 7 / 2
    assert [(p.cluster, p.second_cluster) for p in pairs] == [(cluster[p.first], cluster[p.second]) for p in pairs]


@pytest.mark.parametrize(("seed", "purpose"), [(1, "calibration"), (0, "random-negatives")])
def test_another_seed_or_purpose_gives_other_reference_pairs(seed, purpose):
    assert numbered(50).draw_random_pairs(seed=0, count=50) != numbered(50).draw_random_pairs(
        seed=seed, purpose=purpose, count=50
    )


@pytest.mark.parametrize(
    "found", [[], [PairRow("a kettle", "a pot", 1)], [PairRow("kettle", "b", 1), PairRow("kettle x", "c", 1)]]
)
def test_data_without_such_pairs_have_no_reference(found):
    assert dataset_from_rows("own", found).draw_random_pairs(seed=0) == ()


def test_a_sentence_of_two_topics_is_no_reference_for_itself():
    data = dataset_from_rows("own", [PairRow("Who is it?", "x", 1, "", topic) for topic in ("north", "south")])
    assert data.draw_random_pairs(seed=0) == ()


SCRIPT = """
from encheck.datasets.dataset import dataset_from_rows
from encheck.datasets.reader import PairRow
data = dataset_from_rows("own", [PairRow(f"kettle{n} sings{n}", f"pot{n}", n % 2) for n in range(60)], sample=30)
print(data.fingerprint, data.universe, [p.id for p in data.draw_random_pairs(seed=0, count=40)])
"""


def test_samples_and_reference_pairs_do_not_depend_on_the_hash_seed():
    outputs = {
        subprocess.run([sys.executable, "-c", SCRIPT], env={"PYTHONHASHSEED": seed}, capture_output=True).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert b"own/" in outputs.pop()


def test_function_words_and_split_off_endings_are_no_content():
    assert content_words("It was n't the captain 's ; they 'll go") == {"captain"}
    assert content_words("Don't and don’t") == frozenset()
    assert content_words("The Harbour, the harbour!") == {"harbour"}


def split_kettle(train, validation, test):
    counts = {"train": train, "validation": validation, "test": test}
    return [
        PairRow(f"Kettle {split} {n} sings.", f"Kettle {split} {n} whistles.", n % 2, split)
        for split, count in counts.items()
        for n in range(count)
    ]


def test_a_sample_is_drawn_from_the_part_that_is_measured_and_from_the_one_that_thresholds_come_from():
    data = dataset_from_rows("own", split_kettle(400, 60, 50), sample=30)
    assert Counter(p.split for p in data.pairs) == {"validation": 30, "test": 30}
    assert (data.sampled, data.rows) == (True, 510)
    assert Counter(p.split for p in dataset_from_rows("own", split_kettle(400, 60, 50)).pairs)["train"] == 400


def test_data_without_a_test_part_are_sampled_as_a_whole():
    data = dataset_from_rows("own", split_kettle(400, 60, 0), sample=100)
    found = Counter(p.split for p in data.pairs)
    assert found.total() == 100
    assert found["train"] > found["validation"] > 0


def test_a_cluster_that_lies_in_two_parts_is_sampled_in_each():
    shared = [
        PairRow("A kettle sings.", f"It sings {n}.", 1, split) for n, split in enumerate(("train", "test", "dev"))
    ]
    found = dataset_from_rows("own", [*shared, *split_kettle(5, 0, 0)], sample=1)
    assert [p.split for p in found.pairs] == ["test", "dev"]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("mrpc@gleu:x", "unknown split of mrpc 'gleu'; did you mean 'glue'"),
        ("qqp@glue:x", "'qqp' has only one split: --data qqp:PATH"),
        ("mrpc@glue:hub", "data on the hub have their own splits"),
    ],
)
def test_a_split_that_is_not_there_is_refused(spec, said):
    with pytest.raises(DataError, match=re.escape(said)):
        load(spec)


@pytest.mark.parametrize(
    ("kind", "columns", "row", "said"),
    [
        ("pairs", "first,second,lable,score", "a,b,1,2", "'lable'; did you mean 'label'?"),
        ("contrast", "q1,q2,doc1,doc2,clusters", "a,b,c,d,e", "'clusters'; did you mean 'cluster'?"),
        ("texts", "text,Split", "a,test", "'Split'; did you mean 'split'?"),
        ("retrieval", "query,document,relevence", "a,b,1", ""),
        ("retrieval", "query,document,labels", "a,b,1", "'labels'; did you mean 'label'?"),
    ],
)
def test_a_column_that_is_nearly_called_like_one_that_is_read_is_refused(tmp_path, kind, columns, row, said):
    (tmp_path / "own.csv").write_text(f"{columns}\n{row}\n", "utf-8")
    if said:
        with pytest.raises(DataError, match="unused column " + re.escape(said)):
            load(f"{kind}:{tmp_path}/own.csv")
    else:
        load(f"{kind}:{tmp_path}/own.csv")  # a letter is another one: it may be a word of its own, as store and score


def test_columns_that_nothing_reads_are_named(tmp_path, caplog):
    (tmp_path / "own.csv").write_text("first,second,label,shop,id\na,b,1,x,1\nc,d,0,y,2\n", "utf-8")
    load(f"pairs:{tmp_path}/own.csv")
    assert "own.csv: unused columns: id, shop" in caplog.text
