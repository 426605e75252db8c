"""`probes:FILE`: a probe file of the user's own, and what is said of its broken lines."""

import json
from importlib import resources

import pytest

from encheck.datasets.load import load
from encheck.errors import DataError

WHOLE = (resources.files("encheck.datasets") / "probes.jsonl").read_text("utf-8").split("\n")
LINES = [line for line in WHOLE if '"continuation"' in line][:20]
GROUPS = [json.loads(line) for line in LINES]


def saved(tmp_path, *lines):
    path = tmp_path / "own.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def test_a_probe_file_of_the_users_own_is_read(tmp_path):
    data = load(f"probes:{saved(tmp_path, *LINES[:3])}", label="mine")
    assert data.name == "mine"
    assert [g.id for g in data.groups] == [g["id"] for g in GROUPS[:3]]
    assert set(data.groups) <= set(load("probes").groups)


def test_line_separators_inside_a_text_do_not_break_the_line(tmp_path):
    group = json.loads(LINES[0])
    group["continuation"] = "first\u2028second\x85third"
    data = load(f"probes:{saved(tmp_path, json.dumps(group, ensure_ascii=False), '')}")
    assert data.groups[0].continuation == group["continuation"]


def changed(**fields):
    """The first line with other fields; `variant` changes its first variant, None takes a field away."""
    group = json.loads(LINES[0])
    group["variants"][0].update(fields.pop("variant", {}))
    merged = {**group, **fields}
    return json.dumps({key: value for key, value in merged.items() if value is not None})


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"id": "a"', "is not JSON: "),
        ("[]", "is not a JSON object"),
        (changed(sentence=None), "lacks sentence"),
        (changed(id=7), "the id text is 7, but should be a string"),
        (changed(sentence=" "), "the sentence text is empty"),
        (changed(continuation="half \ud83d"), "the continuation text has half a character"),
        (changed(variants=[]), "has no variant"),
        (changed(variants=3), "does not match probes.schema.json"),
        (changed(variants=[{"relation": "paraphrase"}]), "a variant lacks edits, level, text"),
        (changed(variant={"text": "Another text."}), "the edits of paraphrase 1 do not give its text"),
        (changed(variant={"level": "1"}), "the level of paraphrase is '1', but should be a whole number"),
        (changed(variant={"edits": [{}]}), "does not match probes.schema.json (KeyError('start'))"),
        (changed(variants=json.loads(LINES[0])["variants"] * 2), "has two variants with the same relation and level"),
        (changed(continuaton="on it goes"), "unknown field 'continuaton'; did you mean 'continuation'?"),
        (changed(variant={"favours": "kept"}), "unknown field 'favours'"),
        (LINES[1], f"the id {GROUPS[1]['id']!r} appears twice"),
    ],
    ids=lambda value: value[:40],
)
def test_a_broken_line_is_named_and_can_be_skipped(tmp_path, line, problem):
    path = saved(tmp_path, LINES[1], line, LINES[2])
    with pytest.raises(DataError) as caught:
        load(f"probes:{path}")
    assert str(caught.value).startswith(f"{path}:2: {problem}")
    data = load(f"probes:{path}", skip_bad_rows=True)
    assert (len(data.groups), len(data.skipped)) == (2, 1)


def test_an_empty_probe_file_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"own.jsonl has no rows; expected a .jsonl file in the schema"):
        load(f"probes:{saved(tmp_path)}")


@pytest.fixture
def run_antonym(pytester):
    def run_antonym(path):
        asked = ["-m", "antonym", "--encheck-model=oracle", f"--encheck-data=probes:{path}"]
        places = [f"--encheck-report-dir={path.parent / 'report'}", "-p", "no:cacheprovider"]
        return pytester.runpytest("--pyargs", "encheck.checks.test_antonym", *asked, *places)

    return run_antonym


def test_a_run_takes_a_probe_file(run_antonym, tmp_path):
    run = run_antonym(saved(tmp_path, *LINES))
    assert run.ret == 0
    assert run.parseoutcomes()["passed"] > 0


def test_a_run_stops_at_a_broken_probe_file(run_antonym, tmp_path):
    run = run_antonym(saved(tmp_path, LINES[0], "{"))
    assert run.ret == 4
    assert f"{tmp_path / 'own.jsonl'}:2: is not JSON" in run.stdout.str() + run.stderr.str()
