"""Lock files freeze variants without holding a sentence of the data."""

import json
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encheck.errors import LockError, UsageError
from encheck.generators.continuation import continuation
from encheck.generators.jumble import jumble
from encheck.generators.phenomenon import phenomenon
from encheck.items.lock import Frozen, VariantLock, joined, line_of, pieces, rebuilt, refuse_place, write
from encheck.items.variants import Maker
from encheck.language.english import English
from encheck.types import Edit, Group, Variant, content_hash

SENTENCES = ["The plumber mends the leaking tap slowly.", "Seven goats crossed the narrow bridge at noon."]
GROUPS = [Group(f"g{i}", text, text, f"c{i}") for i, text in enumerate(SENTENCES)]
LANGUAGE = {"pipeline": "en_test 1", "lexicon": "x", "mode": "careful"}


@pytest.fixture
def locked(tmp_path):
    made = Maker(0).variants(GROUPS, jumble, level=2)
    lines = [line_of(g.source, "jumble", v) for g, v in zip(GROUPS, made, strict=True)]
    write(tmp_path / "v.lock", language=LANGUAGE, seed=0, works=[("jumble", 2)], lines=lines)
    return tmp_path / "v.lock"


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_pieces_of_a_text_give_the_text(source, text):
    assert joined(source, json.loads(json.dumps(pieces(source, text)))) == text


@given(st.integers(0, 20), st.integers(5, 20))
def test_what_the_sentence_holds_is_kept_as_a_span(start, size):
    source = SENTENCES[1]
    part = source[start : start + size]
    assert all(not isinstance(piece, str) for piece in pieces(source, part))


def test_a_lock_file_holds_no_word_of_the_data_that_was_moved(locked):
    text = locked.read_text("utf-8")
    assert not [word for s in SENTENCES for word in s.strip(".").split() if len(word) > 3 and word in text]


def test_a_locked_variant_is_rebuilt_from_the_users_copy(locked):
    lock = VariantLock.read(locked)
    made = Maker(0).variants(GROUPS, jumble, level=2)
    for group, variant in zip(GROUPS, made, strict=True):
        assert rebuilt(group.source, lock.lines[content_hash(group.source), "jumble", 2]) == variant.text


def test_a_sentence_that_is_another_cannot_be_rebuilt(locked):
    line = next(iter(VariantLock.read(locked).lines.values()))
    with pytest.raises(LockError, match="does not belong to this sentence"):
        rebuilt(SENTENCES[0] + " And more was said of it.", line)


def test_a_lock_file_that_was_cut_off_says_so_and_blames_no_variant(locked):
    lines = locked.read_text("utf-8").splitlines(keepends=True)
    locked.write_text("".join(lines[:-1]), "utf-8")
    with pytest.raises(LockError, match=r"v\.lock is truncated: it has 1 of 2 variants"):
        VariantLock.read(locked)


def test_the_same_variants_pass_the_lock(locked):
    maker = Maker(0, lock=VariantLock.read(locked))
    assert len(maker.variants(GROUPS, jumble, level=2)) == 2


def test_another_variant_is_an_error_that_says_how_many_and_what_changed(locked):
    with pytest.raises(LockError, match="jumble 2: of 2 sentences, 2 have another variant") as error:
        Maker(1, English(lexicon_name="embedded"), VariantLock.read(locked)).variants(GROUPS, jumble, level=2)
    assert "pipeline was 'en_test 1' and is" in str(error.value)


def test_another_seed_is_named_where_the_language_is_the_same(tmp_path):
    language = English(lexicon_name="embedded").describe()
    made = Maker(0).variants(GROUPS, jumble, level=2)
    lines = [line_of(g.source, "jumble", v) for g, v in zip(GROUPS, made, strict=True)]
    write(tmp_path / "v.lock", language=language, seed=0, works=[("jumble", 2)], lines=lines)
    with pytest.raises(LockError, match=r"v\.lock\. seed was 0 and is 1\. Make the lock again"):
        Maker(1, English(lexicon_name="embedded"), VariantLock.read(tmp_path / "v.lock")).variants(
            GROUPS, jumble, level=2
        )


@pytest.mark.parametrize("end", ["\u2028", "\u2029", "\x85"])
def test_a_lock_file_is_read_back_whatever_ends_a_line_inside_an_edit(tmp_path, end):
    line = line_of("one two", "own", Variant(f"one{end}two", "own", 1, (Edit(3, 4, end),)))
    assert write(tmp_path / "v.lock", language=LANGUAGE, seed=0, works=[("own", 1)], lines=[line]) == 1
    assert (
        rebuilt("one two", VariantLock.read(tmp_path / "v.lock").lines[content_hash("one two"), "own", 1])
        == f"one{end}two"
    )


@pytest.mark.parametrize(("name", "says"), [("none/v.lock", "does not exist"), (".", "is a directory")])
def test_a_place_where_no_lock_file_can_be_is_refused(tmp_path, name, says):
    with pytest.raises(UsageError, match=says):
        refuse_place(tmp_path / name)


def test_a_sentence_that_was_not_locked_is_an_error(locked):
    more = [*GROUPS, Group("g9", "Three barges came up the canal.", "x", "c9")]
    with pytest.raises(LockError, match="1 are not in the lock file"):
        Maker(0, lock=VariantLock.read(locked)).variants(more, jumble, level=2)


def test_edits_that_do_not_give_the_locked_variant_are_an_error(locked):
    head, *rows = locked.read_text("utf-8").splitlines()
    locked.write_text(
        "\n".join([head, *(row.replace('"edits": [[', '"edits": [[0, 0, ["x"]], [') for row in rows)]), "utf-8"
    )
    with pytest.raises(LockError, match="2 have edits in the lock file that do not give its variant"):
        Maker(0, lock=VariantLock.read(locked)).variants(GROUPS, jumble, level=2)


def test_a_generator_that_the_file_does_not_cover_is_not_held_to_it_and_that_is_said(locked, caplog):
    assert len(Maker(0, lock=VariantLock.read(locked)).variants(GROUPS, jumble, level=1)) == 2
    assert "v.lock does not cover jumble 1, so its variants are not checked" in caplog.text


def test_of_a_generator_without_a_variant_nothing_is_said(locked, caplog):
    made = Maker(0, lock=VariantLock.read(locked)).variants(GROUPS, continuation, level=5)
    assert all(isinstance(outcome, str) for outcome in made)
    assert not caplog.text


def test_variants_written_by_hand_are_not_held_to_a_lock(locked):
    from encheck.datasets.load import load

    groups = load("probes").groups[:3]
    assert len(Maker(0, lock=VariantLock.read(locked)).variants(groups, jumble)) == 3


def test_a_generator_of_what_was_written_by_hand_is_not_held_to_the_lock_of_its_namesake(tmp_path):
    made = [line_of(SENTENCES[1], "role_reversal", Maker(0).variants(GROUPS, jumble, level=1)[1])]
    write(tmp_path / "r.lock", language=LANGUAGE, seed=0, works=[("role_reversal", 1)], lines=made)
    written = phenomenon("role_reversal", "changed")
    outcomes = Maker(0, lock=VariantLock.read(tmp_path / "r.lock")).variants(GROUPS, written)
    assert outcomes == ["no role_reversal edit was written for this sentence"] * 2


@pytest.mark.parametrize("text", ["", "{}", "not json", '{"encheck_lock": 99, "seed": 0, "language": {}}', '["a"]'])
def test_a_file_that_is_no_lock_is_refused(tmp_path, text):
    (tmp_path / "bad.lock").write_text(text, "utf-8")
    with pytest.raises(LockError, match="lock"):
        VariantLock.read(tmp_path / "bad.lock")


def test_a_lock_file_is_the_same_whatever_the_order_it_was_made_in(tmp_path):
    lines = [{"source": "b"}, {"source": "a"}, {"source": "b"}]
    for name, order in (("1", lines), ("2", lines[::-1])):
        assert write(tmp_path / name, language=LANGUAGE, seed=0, works=[], lines=order) == 2
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    assert b"\r" not in (tmp_path / "1").read_bytes()


def test_lines_are_sorted_and_distinct_in_whatever_order_they_come(tmp_path):
    lines = [line_of(text, "own", Variant(f"{text}!", "own", 1)) for text in ("ä", "z", "\U0001f600", "a", "z")]
    paths = [tmp_path / name for name in ("one", "other")]
    for path, some in zip(paths, (lines, lines[::-1]), strict=True):
        assert write(path, language=LANGUAGE, seed=0, works=[("own", 1)], lines=some) == 4
    first, second = (path.read_text("utf-8") for path in paths)
    assert first == second
    _, *rows = first.splitlines()
    assert rows == sorted(rows)


def test_what_the_disk_does_not_take_is_said(monkeypatch):
    with Frozen() as frozen:
        monkeypatch.setattr(frozen, "_lines", sqlite3.connect(""))
        with pytest.raises(UsageError, match="cannot keep what is to be locked on the disk: no such table"):
            frozen.add({"source": "x"})
