"""Blind sheets, answers that are never lost, and agreement as an independent implementation has it."""

import csv
import shutil
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats import inter_rater
from typer.testing import CliRunner

from encheck.annotation.agreement import fleiss_kappa, kappa, permutation_test, table_of
from encheck.annotation.choosing import cells_of, draw, variants_of
from encheck.annotation.labelling import label
from encheck.annotation.sheets import Line, annotator_sheet, ratings, read_sheet, write_sheet
from encheck.cli import app
from encheck.datasets.labelled import from_rows
from encheck.datasets.reader import Row
from encheck.errors import DataError, UsageError
from encheck.items.variants import Maker, Writers
from encheck.statistics.bootstrap import Resampler
from encheck.types import content_hash

WORDS = "goat river lamp kettle tram oak clock ship baker roof".split()
ANSWER = st.sampled_from(["0", "1", "?"])


def pairs(count=120, *, labels=(0, 1)):
    rng = np.random.default_rng(0)
    rows = []
    for i in range(count):
        first = [*rng.choice(WORDS, 6), str(i)]
        second = [*first[: int(rng.integers(1, 7))], *rng.choice(WORDS, 3)]
        rows.append(Row(" ".join(first), " ".join(second), labels[i % len(labels)], "test" if i % 4 else "train"))
    return from_rows("own", rows)


@pytest.fixture
def sheet(tmp_path):
    write_sheet(tmp_path / "sheet.csv", draw(pairs().pairs, n=4, seed=0))
    return tmp_path / "sheet.csv"


# the sheet


def test_a_sheet_has_equally_many_pairs_of_each_difficulty_while_they_last():
    data = pairs()
    cells = cells_of(data.pairs)
    assert set(cells.values()) == {"Po", "Pn", "No", "Nn"}
    counts = Counter(cells[line.item] for line in draw(data.pairs, n=40, seed=0))
    assert set(counts.values()) == {10}
    everything = draw(data.pairs, n=1000, seed=0)
    assert Counter(cells[line.item] for line in everything) == Counter(cells.values())


@pytest.mark.quick
def test_a_sheet_is_in_random_order_that_the_seed_decides():
    data = pairs()
    assert draw(data.pairs, n=40, seed=1) == draw(data.pairs, n=40, seed=1) != draw(data.pairs, n=40, seed=2)
    cells = cells_of(data.pairs)
    first_half = Counter(cells[line.item] for line in draw(data.pairs, n=40, seed=1)[:20])
    assert len(first_half) == 4


def test_a_sheet_is_drawn_of_one_split_and_of_unlabelled_pairs_too():
    data = pairs()
    of_test = {content_hash(p.id) for p in data.pairs if p.split == "test"}
    assert {line.item for line in draw(data.pairs, n=20, seed=0, split="test")} <= of_test
    assert len(draw(pairs(labels=(None,)).pairs, n=20, seed=0)) == 20
    with pytest.raises(UsageError, match="unknown split 'tst'; did you mean 'test'"):
        draw(data.pairs, n=20, seed=0, split="tst")


def test_a_sheet_tells_neither_label_nor_difficulty_nor_how_a_pair_was_made(sheet):
    with sheet.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["item", "first", "second", "same", "seconds"]
    assert all(len(row["item"]) == 16 and not row["same"] and not row["seconds"] for row in rows)


@given(st.lists(st.tuples(st.text(min_size=1), ANSWER | st.just("")), min_size=1, max_size=5))
def test_a_sheet_reads_as_it_was_written(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("sheet") / "s.csv"
    clean = [(text.replace("\0", " ").encode("utf-8", "replace").decode(), same) for text, same in texts]
    lines = [Line(str(i), text, text[::-1], same, 1.25 if same else 0.0) for i, (text, same) in enumerate(clean)]
    write_sheet(path, lines)
    assert read_sheet(path) == lines


@pytest.mark.long
def test_harmless_variants_of_ones_own_data_count_as_the_same_and_a_jumble_does_not():
    said = "The old mill doesn't grind the wheat."
    own = from_rows("own", [Row(said, "The mill of old leaves the wheat whole.", 1)])
    maker = Maker(writers=Writers(translations=lambda texts: ["The old mill is not grinding any wheat."] * len(texts)))
    same = {pair.id.split("/")[2]: pair.label for pair in variants_of(own, maker)}
    harmless = ("casing", "spacing", "contraction", "back_translation")
    assert [same[name] for name in (*harmless, "jumble")] == [1, 1, 1, 1, 0]


def test_a_new_sheet_takes_the_place_of_no_other(sheet):
    with pytest.raises(UsageError, match="is there already and may hold answers"):
        write_sheet(sheet, [], new=True)


BAD = {
    "another file": ("first,second\na,b\n", ":1: no column item, same, seconds"),
    "an answer that is none": ("item,first,second,same,seconds\nx,a,b,yes,1\n", ":2: same is 'yes'"),
    "a time that is none": ("item,first,second,same,seconds\nx,a,b,1,-4\n", ":2: seconds is '-4'"),
    "a field too many": ("item,first,second,same,seconds\nx,a,b,c,1,1\n", "header has 5. Fix the row: a sheet keeps"),
    "an item twice": ("item,first,second,same,seconds\nx,a,b,1,1\nx,a,b,1,1\n", "lists an item twice"),
    "no row": ("item,first,second,same,seconds\n", "has no rows"),
}


@pytest.mark.parametrize(("text", "problem"), BAD.values(), ids=BAD.keys())
def test_a_sheet_that_is_none_is_refused(tmp_path, text, problem):
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(DataError, match=problem):
        read_sheet(tmp_path / "s.csv")


# labelling


def answer(path, lines, answers, *, took=2.0):
    """Answer with these keys, each after `took` seconds; what was shown, and how many are left."""
    shown, now, keys = [], [0.0], iter(answers)

    def ask(_):
        now[0] += took
        return next(keys)

    return shown, label(path, lines, ask=ask, show=shown.append, clock=lambda: now[0])


@pytest.mark.quick
def test_every_answer_is_saved_with_its_seconds(sheet):
    own, lines = annotator_sheet(sheet, "ann")
    shown, left = answer(own, lines, ["s", "D", "?", "same"])
    assert left == 0
    assert [(line.same, line.seconds) for line in read_sheet(own)] == [("1", 2), ("0", 2), ("?", 2), ("1", 2)]
    assert lines[2].first in shown[2]
    assert not any(line.same for line in read_sheet(sheet))


def test_undo_takes_an_answer_back_and_its_time_counts_on(sheet):
    own, lines = annotator_sheet(sheet, "ann")
    shown, left = answer(own, lines, ["u", "s", "s", "u", "d", "q"])
    assert left == 2
    assert "there is nothing to undo" in shown
    assert [(line.same, line.seconds) for line in read_sheet(own)[:3]] == [("1", 2), ("0", 4), ("", 0)]


def test_what_is_no_answer_is_asked_again(sheet):
    own, lines = annotator_sheet(sheet, "ann")
    shown, left = answer(own, lines, ["x", "", "s", "q"])
    assert left == 3
    assert "'x' is not an answer" in shown


def test_labelling_goes_on_where_it_was_left(sheet):
    answer(*annotator_sheet(sheet, "ann"), ["s", "q"])
    own, lines = annotator_sheet(sheet, "ann")
    shown, left = answer(own, lines, ["d", "d", "d"])
    assert left == 0
    assert shown[0].startswith("\n2 of 4")


def test_answers_to_another_sheet_and_names_that_are_paths_are_refused(sheet, tmp_path):
    answer(*annotator_sheet(sheet, "ann"), ["s", "q"])
    write_sheet(sheet, draw(pairs().pairs, n=4, seed=5))
    with pytest.raises(DataError, match="belongs to another sheet"):
        annotator_sheet(sheet, "ann")
    with pytest.raises(UsageError, match="becomes part of a file name"):
        annotator_sheet(sheet, "../ann")


# agreement

# Fleiss 1971, as reprinted with 14 raters and 5 categories; kappa 0.210
TEXTBOOK = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


@pytest.mark.quick
def test_fleiss_kappa_is_the_textbooks():
    assert fleiss_kappa(np.array(TEXTBOOK, float)) == pytest.approx(0.210, abs=5e-4)


@given(st.integers(2, 6).flatmap(lambda k: st.lists(st.lists(ANSWER, min_size=k, max_size=k), min_size=2, max_size=30)))
def test_fleiss_kappa_is_statsmodels(answers):
    table = table_of(answers)
    ours = fleiss_kappa(table)
    if table.shape[1] == 1:
        assert np.isnan(ours)
    else:
        assert ours == pytest.approx(inter_rater.fleiss_kappa(table, method="fleiss"))


def test_kappa_lies_in_its_interval_and_is_1_where_all_agree():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 60)
    noisy = table_of([[str(t ^ int(rng.random() < 0.2)) for _ in range(3)] for t in truth])
    found = kappa(noisy, Resampler([str(i) for i in range(60)]))
    assert found.low < found.value < found.high < 1
    assert fleiss_kappa(table_of([[str(t)] * 3 for t in truth])) == 1


def test_the_permutation_test_finds_a_difference_and_none_where_there_is_none():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 80)
    clear = table_of([[str(t)] * 3 if i < 40 else [*map(str, rng.integers(0, 2, 3))] for i, t in enumerate(truth)])
    group = np.arange(80) < 40
    difference, p = permutation_test(clear, group)
    assert difference == pytest.approx(fleiss_kappa(clear[:40]) - fleiss_kappa(clear[40:]))
    assert p < 0.01
    assert permutation_test(clear, rng.permutation(group))[1] > 0.05


def test_the_permutation_tests_p_is_uniform_where_the_groups_are_alike():
    rng = np.random.default_rng(1)
    group = np.arange(40) < 20
    drawn = [permutation_test(table_of(rng.integers(0, 2, (40, 3)).astype(str).tolist()), group)[1] for _ in range(60)]
    assert 0.3 < np.mean(drawn) < 0.7
    assert np.mean(np.array(drawn) < 0.05) < 0.2


def test_items_that_somebody_left_open_are_out_and_other_sheets_refused(sheet, tmp_path):
    for name, keys in (("ann", "sds"), ("bob", "ss")):
        answer(*annotator_sheet(sheet, name), [*keys, "q"])
    files = [tmp_path / "sheet-ann.csv", tmp_path / "sheet-bob.csv"]
    assert [[line.same for line in answers] for _, answers in ratings(files)] == [["1", "1"], ["0", "1"]]
    with pytest.raises(UsageError, match="two or more people"):
        list(ratings(files[:1]))
    write_sheet(files[1], draw(pairs().pairs, n=5, seed=9))
    with pytest.raises(DataError, match="differ in"):
        list(ratings(files))


# the commands


@pytest.fixture
def encheck(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with (tmp_path / "own.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows([("first", "second", "label"), *((p.first, p.second, p.label) for p in pairs().pairs)])
    return lambda *args, said=None: CliRunner().invoke(app, ["data", "annotate", *args], input=said)


def test_three_people_label_a_sheet_and_their_agreement_is_reported(encheck, tmp_path):
    assert "40 pairs" in encheck("sheet", "--data", "pairs:own.csv", "--n", "40").output
    rng = np.random.default_rng(0)
    for name in ("ann", "bob", "cy"):
        keys = "\n".join(rng.choice(["s", "d"], 40)) + "\n"
        outcome = encheck("label", "sheet.csv", "--name", name, said=keys)
        assert outcome.exit_code == 0, outcome.output
        assert f"sheet-{name}.csv: 40 of 40 answered" in outcome.output
    sheets = [f"sheet-{name}.csv" for name in ("ann", "bob", "cy")]
    said = encheck("agreement", *sheets, "--data", "pairs:own.csv").output
    rows = {line.split()[0]: line.split() for line in said.splitlines() if line.startswith("  ")}
    answers = [[line.same for line in found] for _, found in ratings([tmp_path / name for name in sheets])]
    expected = inter_rater.fleiss_kappa(inter_rater.aggregate_raters(np.array(answers, int))[0])
    assert float(rows["all"][2]) == pytest.approx(expected, abs=0.0051)
    assert [rows[cell][1] for cell in ("Po", "Pn", "No", "Nn", "obvious", "non-obvious", "all")] == [
        *["10"] * 4, "20", "20", "40",
    ]  # fmt: skip
    assert "kappa of obvious - kappa of non-obvious" in said


def test_a_sheet_may_be_left_and_taken_up_again(encheck):
    encheck("sheet", "--data", "pairs:own.csv", "--n", "4")
    assert "1 of 4 answered" in encheck("label", "sheet.csv", "--name", "ann", said="s\nq\n").output
    encheck("label", "sheet.csv", "--name", "ann", said="s\n")  # the terminal was closed
    assert "4 of 4 answered" in encheck("label", "sheet.csv", "--name", "ann", said="s\nd\n").output


def test_the_next_command_quotes_the_name_of_the_sheet(encheck):
    said = encheck("sheet", "--data", "pairs:own.csv", "--out", "my sheet.csv").output
    assert "next: encheck data annotate label 'my sheet.csv' --name YOU" in said


def test_what_is_wrong_is_one_line_and_exit_4(encheck):
    encheck("sheet", "--data", "pairs:own.csv", "--n", "4")
    assert encheck("sheet", "--data", "pairs:own.csv").exit_code == 4
    outcome = encheck("label", "nowhere.csv", "--name", "ann")
    assert (outcome.exit_code, len(outcome.output.strip().splitlines())) == (4, 1)
    for name in ("ann", "bob"):
        encheck("label", "sheet.csv", "--name", name, said="q\n")
    shutil.copy("sheet.csv", "copy.csv")
    nobody = encheck("agreement", "sheet.csv", "copy.csv", "--data", "pairs:own.csv")
    assert "no pair has been answered by everybody" in nobody.output
    twice = encheck("agreement", "sheet.csv", "./sheet.csv", "--data", "pairs:own.csv")
    assert (twice.exit_code, "one of the sheets is given twice" in twice.output) == (4, True)
