"""Triples for blind readers: drawn whether or not there is a control, and read side by side."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "lab" / "recipes"))
import judge_variants


def test_a_side_is_read_by_itself():
    order, answers = ["control", "kept", "changed"], ["dx", "s", "o"]
    assert not judge_variants._is_right(order, answers)
    assert judge_variants._is_right(order, answers, ("kept", "changed"))
    assert not judge_variants._is_right(["kept", "changed"], ["s", "s"])


def test_an_answer_is_asked_for_each_text():
    with pytest.raises(SystemExit, match="an answer for each of 2 texts"):
        judge_variants._is_right(["kept", "changed"], ["s"])


def test_a_sentence_without_a_control_is_drawn_too(tmp_path):
    lines = ["They sold 12 cars in May.", "It fell to 27.13 in May.", "The cat sat on the mat."]
    (tmp_path / "own.txt").write_text("\n".join(lines), "utf-8")
    args = judge_variants.argparse.Namespace(seed=1, sentences=9, generator="number", level=1)
    found = judge_variants.drawn_triples(f"texts:{tmp_path / 'own.txt'}", args)
    assert {item["source"]: set(item["sides"]) for item in found} == {
        lines[0]: {"kept", "changed", "control"},
        lines[1]: {"kept", "changed"},
    }
