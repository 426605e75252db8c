"""The recipe that compares two recordings of what encheck computes."""

import importlib.util
import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("record_behaviour", ROOT / "lab" / "recipes" / "record_behaviour.py")
recipe = importlib.util.module_from_spec(SPEC)
sys.modules["record_behaviour"] = recipe
SPEC.loader.exec_module(recipe)

CHECKS = [{"id": "a", "value": 0.5, "lexical": {"low": 0.1, "high": 0.2}}, {"id": "b", "value": 1, "lexical": None}]
ITEMS = [{"case": "a", "item": str(i), "near": i / 7, "far": None, "source": f"text {i}"} for i in range(5)]


def recording(folder, *, checks=CHECKS, items=ITEMS, said="usage: old", exits=None):
    (folder / "runs/probes").mkdir(parents=True)
    (folder / "texts").mkdir()
    (folder / "exits.json").write_text(json.dumps(exits or {"probes": 0}))
    (folder / "record.json").write_text(json.dumps({"seconds": folder.name}))
    (folder / "runs/probes/results.json").write_text(json.dumps({"checks": checks}))
    pyarrow.parquet.write_table(pa.Table.from_pylist(items), folder / "runs/probes/items.parquet")
    (folder / "texts/help.txt").write_text(f"{said}\n")


@pytest.fixture
def compare(tmp_path, monkeypatch, capsys):
    def run(*options, **changes):
        recording(tmp_path / "old")
        recording(tmp_path / "new", **changes)
        command = ["record_behaviour.py", "compare", str(tmp_path / "old"), str(tmp_path / "new"), *options]
        monkeypatch.setattr("sys.argv", command)
        code = recipe.main()
        return code, capsys.readouterr().out

    return run


def changed(rows, place, **values):
    return [row | values if i == place else row for i, row in enumerate(rows)]


def test_two_recordings_alike_differ_in_nothing(compare):
    code, said = compare("--texts", "--order")
    assert code == 0
    assert said == "4 files compared; differences: nothing; 0 of them count\n"


def test_a_changed_value_is_named_by_its_path(compare):
    code, said = compare(checks=changed(CHECKS, 0, value=0.6))
    assert code == 1
    assert "changed runs/probes/results.json: checks[a].value: 0.5 -> 0.6" in said


@pytest.mark.parametrize(("value", "code"), [(0.5 + 1e-12, 0), (0.5 + 1e-6, 1)])
def test_floats_have_a_tolerance(compare, value, code):
    assert compare(checks=changed(CHECKS, 0, value=value))[0] == code


@pytest.mark.parametrize("value", [True, "1", 2])
def test_all_else_is_exact(compare, value):
    assert compare(checks=changed(CHECKS, 1, value=value))[0] == 1


def test_a_missing_branch_is_one_line(compare):
    code, said = compare(checks=CHECKS[1:])
    assert code == 1
    assert 'missing runs/probes/results.json: checks[a]: was "(4 values)"' in said
    assert "1 missing; 1 of them count" in said


def test_a_renamed_key_is_no_difference_once_told(compare):
    renamed = [{"overlap" if k == "lexical" else k: v for k, v in c.items()} for c in CHECKS]
    assert compare("--renamed=checks.*.lexical=checks.*.overlap", checks=renamed)[0] == 0


def test_a_rewritten_name_is_no_difference_once_told(compare):
    items = [row | {"case": "a/1"} for row in ITEMS]
    assert (
        compare("--rewrite=^a$=a/1", "--rewrite=^\\[a\\]$=[a/1]", items=items, checks=changed(CHECKS, 0, id="a/1"))[0]
        == 0
    )


def test_order_is_told_apart_from_change(compare):
    code, said = compare(items=ITEMS[::-1], checks=CHECKS[::-1])
    assert code == 0
    assert "order   runs/probes/items.parquet: items, place 0" in said
    assert "order   runs/probes/results.json: checks, place 0" in said


def test_order_counts_where_asked(compare):
    assert compare("--order", items=ITEMS[::-1])[0] == 1


def test_items_are_compared_row_by_row(compare):
    code, said = compare(items=changed(ITEMS, 2, near=0.9, source="other"))
    assert code == 1
    assert 'items.source, row a 2: "text 2" -> "other"' in said
    assert "items.near, row a 2: 0.285" in said


def test_a_lost_row_and_a_new_column_are_told(compare):
    _, said = compare(items=[row | {"more": 1} for row in ITEMS[1:]])
    assert "missing runs/probes/items.parquet: row a 0" in said
    assert 'added   runs/probes/items.parquet: items.more: is "int64"' in said


def test_an_expected_difference_can_be_allowed(compare):
    code, said = compare("--allow=items.source", items=changed(ITEMS, 2, source="other"))
    assert code == 0
    assert "1 allowed" in said


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--texts",), 1)])
def test_texts_count_only_where_asked(compare, options, code):
    found, said = compare(*options, said="usage: new")
    assert found == code
    assert "-usage: old\n+usage: new\n" in said


def test_an_exit_code_counts(compare):
    assert compare(exits={"probes": 1})[0] == 1


def test_times_and_paths_are_taken_out():
    assert recipe.timeless("== 50 passed in 14.19s ==\n  5%|#  | 3/9\n") == "= 50 passed in N s =\n"


def test_what_only_a_cold_store_says_is_taken_out():
    said = "kept\nencoding with sbert: 12 of 90 texts, about 3 s left\n| roles | 12 | 0.31 | 1.20 |"
    assert recipe.timeless(said) == "kept\n| roles | 12 | N | N |"
