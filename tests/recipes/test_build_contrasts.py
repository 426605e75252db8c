"""Crossed and mirrored groups from lines: what a line says, and what it becomes."""

import json
import sys
from pathlib import Path

import pytest

from encheck.datasets import probes
from encheck.datasets.reader import BadRows

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "recipes"))
import build_contrasts as build

MIRRORED = "product # The pump weighs [1.5 kg|1,500 g|2.5 kg|2,500 g|very little] without its battery."
CROSSED = (
    "work # [Ann saw Bob|it was Ann who saw Bob|it was Bob who saw Ann|"
    "Bob was seen by Ann|Ann was seen by Bob|Eve left]."
)


class Tags:
    def skeleton(self, text):
        return f"NN {len(text.split())}"


def lines(tmp_path, *written, name="number_a.txt"):
    path = tmp_path / name
    path.write_text("// a comment\n\n" + "\n".join(written) + "\n", "utf-8")
    return list(build.lines(path))


def read_back(tmp_path, *groups):
    path = tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps(g) + "\n" for g in groups), "utf-8")
    return list(probes.groups(path, BadRows()))


def test_a_mirrored_line_is_a_group_of_two_sources(tmp_path):
    (line,) = lines(tmp_path, MIRRORED)
    assert (line.phenomenon, line.register) == ("number", "product")
    (group,) = read_back(tmp_path, build.compiled(line, Tags()))
    sentences = {group.source, group.variant("number_mirror").text}
    assert sentences == {f"The pump weighs {n} kg without its battery." for n in ("1.5", "2.5")}
    heavy = "2.5" in group.source
    assert ("2,500" in group.variant("number_kept").text) is heavy
    assert ("1,500" in group.variant("number").text) is heavy
    assert group.is_contrast


def test_a_crossed_line_has_a_pair_of_each_favour(tmp_path):
    (line,) = lines(tmp_path, CROSSED, name="role_reversal.txt")
    (group,) = read_back(tmp_path, build.compiled(line, Tags()))
    assert group.source == "Ann saw Bob."
    assert group.variant("role_reversal_kept", favours="kept").text == "It was Ann who saw Bob."
    assert group.variant("role_reversal", favours="changed").text == "Ann was seen by Bob."


def test_which_of_the_two_sentences_is_the_source_depends_on_the_line(tmp_path):
    found = lines(tmp_path, *(MIRRORED.replace("pump", f"pump {i}") for i in range(40)))
    heavy = sum("2.5" in build.sources(line)[0] for line in found)
    assert 8 <= heavy <= 32


def test_every_second_line_has_its_control(tmp_path):
    found = lines(tmp_path, *(MIRRORED.replace("pump", f"pump {i}") for i in range(60)))
    with_control = sum(len(build.compiled(line, Tags())["variants"]) == 4 for line in found)
    assert 15 <= with_control <= 45


def test_an_antonym_keeps_with_its_synonym(tmp_path):
    (line,) = lines(tmp_path, "work # Sales [rose|climbed|fell|dropped|mattered] in May.", name="antonym.txt")
    relations = {relation for relation, _, _ in build.sources(line)[1]}
    assert relations == {"synonym", "antonym", "antonym_mirror", "control"}


@pytest.mark.parametrize("body", ["no bracket", "[a|b]", "[a|b|c|d|e] and [a|b]"])
def test_a_line_of_another_shape_is_refused_by_its_place(tmp_path, body):
    with pytest.raises(ValueError, match=r"number_a.txt:3: brackets of"):
        lines(tmp_path, f"work # {body}")


def test_the_quick_part_is_taken_from_the_edition_before(tmp_path):
    found = lines(tmp_path, *(MIRRORED.replace("pump", f"pump {i}") for i in range(40)))
    made = [(line, build.compiled(line, Tags())) for line in found]
    build.mark_quick([], made, None)
    first = {g["id"] for _, g in made if g.get("quick")}
    assert len(first) == build.QUICK_LINES
    before = tmp_path / "before.jsonl"
    before.write_text("".join(json.dumps(g) + "\n" for _, g in made), "utf-8")
    more = lines(tmp_path, *(MIRRORED.replace("pump", f"pump {i}") for i in range(80)))
    again = [(line, build.compiled(line, Tags())) for line in more]
    build.mark_quick([], again, before)
    assert {g["id"] for _, g in again if g.get("quick")} == first
