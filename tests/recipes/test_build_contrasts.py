"""Crossed groups from lines: what a line says, and what it becomes."""

import json
import sys
from pathlib import Path

import pytest

from encheck.datasets import probes
from encheck.datasets.reader import BadRows

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab" / "recipes"))
import build_contrasts as build

LINE = "product # The pump weighs [1.5 kg|1,500 g|2.5 kg|2,500 g|very little] without its battery."


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


def test_a_line_is_a_group_of_two_sources(tmp_path):
    (line,) = lines(tmp_path, LINE)
    assert (line.phenomenon, line.register) == ("number", "product")
    (group,) = read_back(tmp_path, build.compiled(line, Tags()))
    sentences = {group.source, group.variant("number_mirror").text}
    assert sentences == {f"The pump weighs {n} kg without its battery." for n in ("1.5", "2.5")}
    heavy = "2.5" in group.source
    assert ("2,500" in group.variant("number_kept").text) is heavy
    assert ("1,500" in group.variant("number").text) is heavy
    assert group.is_contrast


def test_which_of_the_two_sentences_is_the_source_depends_on_the_line(tmp_path):
    found = lines(tmp_path, *(LINE.replace("pump", f"pump {i}") for i in range(40)))
    heavy = sum("2.5" in build.sources(line)[0] for line in found)
    assert 8 <= heavy <= 32


def test_every_second_line_has_its_control(tmp_path):
    found = lines(tmp_path, *(LINE.replace("pump", f"pump {i}") for i in range(60)))
    with_control = sum(len(build.compiled(line, Tags())["variants"]) == 4 for line in found)
    assert 15 <= with_control <= 45


def test_an_antonym_keeps_with_its_synonym(tmp_path):
    (line,) = lines(tmp_path, "work # Sales [rose|climbed|fell|dropped|mattered] in May.", name="antonym.txt")
    relations = {relation for relation, _ in build.sources(line)[1]}
    assert relations == {"synonym", "antonym", "antonym_mirror", "control"}


@pytest.mark.parametrize("body", ["no bracket", "[a|b]", "[a|b|c|d|e] and [a|b]", "[a|b|c|d|e|f]"])
def test_a_line_of_another_shape_is_refused_by_its_place(tmp_path, body):
    with pytest.raises(ValueError, match=r"number_a.txt:3: brackets of"):
        lines(tmp_path, f"work # {body}")


def test_a_line_may_have_a_frame_and_a_construction(tmp_path):
    framed, plain = lines(tmp_path, LINE.replace("product", "product | weight of a pump | unit"), LINE)
    (group,) = read_back(tmp_path, build.compiled(framed, None))
    assert (group.cluster, group.construction) == ("weight of a pump", "unit")
    assert group.source == build.compiled(plain, Tags())["sentence"]
    with pytest.raises(ValueError, match=r"number_a.txt:4 has no frame: give --treebank"):
        build.compiled(plain, None)


@pytest.mark.parametrize("head", ["work | frame", "work | | passive", "work | frame | passive | more", ""])
def test_a_line_of_another_head_is_refused_by_its_place(tmp_path, head):
    with pytest.raises(ValueError, match=r"number_a.txt:3: .* is neither a register nor"):
        lines(tmp_path, f"{head} # [a|b|c|d|e]")


def groups_of(tmp_path, phenomenon, start, stop):
    written = (LINE.replace("pump", f"{phenomenon} {i}").replace("#", "| a | b #") for i in range(start, stop))
    path = tmp_path / f"{phenomenon}_{start}.txt"
    path.write_text("\n".join(written), "utf-8")
    return path.rename(tmp_path / f"{phenomenon}_a.txt")


def built(tmp_path, *arguments):
    out = tmp_path / "out.jsonl"
    assert build.main([*map(str, arguments), "--out", str(out)]) == 0
    return list(probes.groups(out, BadRows()))


def test_lines_replace_the_groups_of_their_phenomenon_alone(tmp_path):
    base = tmp_path / "base.jsonl"
    base.touch()
    built(tmp_path, groups_of(tmp_path, "number", 0, 30), groups_of(tmp_path, "entity", 0, 30), "--base", base)
    (tmp_path / "out.jsonl").rename(base)
    groups = [json.loads(line) for line in base.read_text("utf-8").splitlines()]
    mixed = next(g for g in groups if "quick" not in g and "number" in g["variants"][1]["relation"])
    edit = {"start": 0, "end": len(mixed["sentence"]), "text": "It is light."}
    mixed["variants"].append(mixed["variants"][0] | {"relation": "paraphrase", "text": "It is light.", "edits": [edit]})
    base.write_text("".join(json.dumps(g) + "\n" for g in groups), "utf-8")
    before = {g.id: g for g in probes.groups(base, BadRows())}
    assert sum(g.is_quick for g in before.values()) == 2 * build.QUICK_LINES
    lines = groups_of(tmp_path, "number", 100, 130)
    after = {g.id: g for g in built(tmp_path, lines, "--base", base, "--replace")}
    old, new = before.keys() & after.keys(), after.keys() - before.keys()
    assert len(new) == 30
    assert sum(after[name].is_quick for name in new) == build.QUICK_LINES
    assert {name for name, g in before.items() if g.variant("entity")} | {mixed["id"]} == old
    assert all(after[name] == before[name] for name in old)
    assert build.main([str(lines), "--base", str(base), "--out", str(base)]) == 0
    assert build.main([str(lines), "--base", str(base)]) == 1  # its texts stand there already
