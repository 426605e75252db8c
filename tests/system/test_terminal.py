"""Whatever an input holds, no control character, bidi mark or lone surrogate reaches a terminal as it is."""

import ast
import json
import os
import re
import sys
import threading
import xml.etree.ElementTree as ET
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

import encheck
from encheck.cli import app, main
from encheck.system.terminal import escape_controls

BIDI = "\u202e\u2066\u2069\u200e\u200f\u061c"
BAD = f"\x1b]0;t\x07\x1b[2J\x9b1A\x08{BIDI}"  # a title, a cleared screen, C1, backspaces, text turned round
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
JSON_BAD = json.dumps(BAD + "\ud800")
PAIRS = "first,second,label\n" + "".join(f"a {i},an {i},{i % 2}\n" for i in range(20))


@pytest.fixture
def said(tmp_path, monkeypatch):
    """What the command prints; a run is of one check and a model that needs no files."""
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_text(PAIRS)

    def said(*args):
        ended = CliRunner().invoke(app, list(args))
        assert ended.exception is None or isinstance(ended.exception, SystemExit), ended.exception
        return ended.output

    return said


def quick(*args, model="jaccard"):
    return ("run", "-q", "-k", "twice", "--data=pairs:own.csv", f"--model={model}", *args)


def csv_header():
    Path("own.csv").write_text(f"first,{BAD}\na,b\n", "utf-8")


def csv_cell():
    Path("own.csv").write_text(f"first,second,label\na,b,{BAD}\n", "utf-8")


def jsonl():
    Path("own.jsonl").write_text(f'{{"first": "a", "second": "b", "label": {JSON_BAD}}}\n')


def models_yaml(text):
    return lambda: Path("models.yaml").write_text(text, "utf-8")


def project(text):
    return lambda: Path("pyproject.toml").write_text(text, "utf-8")


def results(**changed):
    def write():
        Path("r").mkdir()
        Path("r/results.json").write_text(json.dumps({"schema_version": 2, **changed}))

    return write


def baseline():
    Path("b").mkdir()
    Path("b/baseline.json").write_text(json.dumps({"encheck_baseline": BAD, "versions": {"encheck": BAD}}))


def checkpoint():
    Path("c").mkdir()
    Path("c/modules.json").write_text(json.dumps([{"idx": 0, "name": BAD, "path": BAD, "type": BAD}]))


def qrels():
    Path("own.csv").write_text(PAIRS)
    Path("p.txt").write_text(f"q{BAD} c 0 0.5 true\nq{BAD} c 0 0.5 true\n", "utf-8")


def nothing():
    pass


TOML_BAD = "".join(f"\\U{ord(c):08x}" for c in BAD)
PATHS = {
    "a header": (csv_header, quick()),
    "a header, shown": (csv_header, ("data", "pairs:own.csv")),
    "a cell": (csv_cell, ("data", "pairs:own.csv")),
    "a value of JSON": (jsonl, ("data", "pairs:own.jsonl")),
    "the name of data": (nothing, ("data", f"pairs:{BAD}.csv")),
    "the name of a file": (nothing, ("data", os.fsdecode(b"pairs:\xff\x1b.csv"))),
    "a name of models.yaml": (models_yaml(f"{json.dumps(BAD)}: {{name: x}}"), ("models",)),
    "a description": (models_yaml(f"m: {{name: x, description: {json.dumps(BAD)}}}"), ("models",)),
    "a field of models.yaml": (models_yaml(f"m: {{{json.dumps(BAD)}: y}}"), ("models",)),
    "an anchor of models.yaml": (models_yaml("m: *\u202e\n"), ("models",)),
    "a key of the project": (project(f'[tool.encheck]\n"{TOML_BAD}" = 1\n'), ("models",)),
    "a value of the project": (project(f'[tool.encheck.thresholds]\nx = "{TOML_BAD}"\n'), ("models",)),
    "a version of results": (results(schema_version=BAD), ("export", "r")),
    "a baseline": (baseline, ("gate", "bag-of-words", "./b", "--data=pairs:own.csv")),
    "a checkpoint": (checkpoint, quick(model="./c")),
    "a run of SemEval": (qrels, ("run", "--data=pairs:own.csv", "--predictions=p.txt")),
    "a name of a model": (nothing, quick(model=BAD)),
    "a path of a model": (nothing, quick(model=f"./{BAD}")),
    "an argument of a model": (nothing, quick(f"--model-arg={BAD}=1")),
    "a sample": (nothing, quick(f"--sample={BAD}")),
    "a lexicon": (nothing, quick(f"--lexicon={BAD}")),
    "a device": (nothing, quick(f"--device={BAD}")),
    "a run that is not there": (nothing, ("export", BAD)),
    "a format": (results(run={}, models=[], data=[], checks=[]), ("export", "r", f"--to={BAD}")),
    "a store that is not there": (nothing, ("store", "--store", BAD)),
    "a pruned store": (nothing, ("store", "prune", "--store", BAD)),
}


@pytest.mark.parametrize(("prepare", "args"), PATHS.values(), ids=PATHS.keys())
def test_no_message_steers_the_terminal(said, prepare, args, capsys, caplog):
    prepare()
    printed = said(*args) + "".join(capsys.readouterr())
    assert "Traceback" not in printed
    assert "\u241b" in printed or "\\x1b" in printed.lower() or "\ufffd" in printed or "\\u202e" in printed, printed
    assert not FORBIDDEN.search(printed), printed


class Rude(BaseHTTPRequestHandler):
    def do_POST(self):
        self.send_response(400)
        self.end_headers()
        self.wfile.write(f"no {BAD}".encode())

    def log_message(self, *args):
        pass


def test_what_a_server_says_does_not_steer_the_terminal(said, capfd):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Rude)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    Path("models.yaml").write_text(
        f"rude: {{name: 'http://127.0.0.1:{server.server_port}', adapter: openai, options: {{model: m, retries: 0}}}}"
    )
    printed = said(*quick("--no-store", model="rude")) + "".join(capfd.readouterr())
    server.shutdown()
    server.server_close()
    assert "\u241b]0;t" in printed
    assert not FORBIDDEN.search(printed)


PLUGIN = f"""
import logging, warnings, pytest

@pytest.fixture(autouse=True)
def noisy():
    logging.getLogger("encheck").warning("a log of %s", {BAD!r})
    print({BAD!r})
    raise AssertionError({BAD!r})
"""


def test_what_a_check_that_fails_says_prints_and_logs_is_visible_everywhere(said, monkeypatch):
    Path("noisy.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(".")
    asked = ("-v", "-p", "noisy", "--junitxml=j.xml", "--report-dir=r")
    printed = said(*quick(*asked))
    assert "1 error" in printed
    assert "a log of \u241b]0;t" in printed
    junit = ET.parse("j.xml").getroot()
    written = [printed, *junit.itertext(), *(v for e in junit.iter() for v in e.attrib.values())]
    written += [Path("r", name).read_text("utf-8") for name in ("summary.md", "report.html")]
    assert [text for text in written if FORBIDDEN.search(text)] == []
    assert any("]0;t" in text for text in junit.itertext())


def test_the_command_itself_is_guarded_with_what_libraries_and_argparse_print(tmp_path, monkeypatch):
    path = tmp_path / "terminal"
    with path.open("w", encoding="ascii") as terminal:
        for name in ("stdout", "stderr"):
            monkeypatch.setattr(sys, name, terminal)
            monkeypatch.setattr(sys, f"__{name}__", terminal)
        for args in (["nonsense" + BAD], ["run", "-q", f"--nonsense{BAD}"], ["compare", f"--{BAD}"]):
            with pytest.raises(SystemExit):
                main(args)
        sys.stdout.write(f"\x1b[31mred\x1b[0m \ud800{BAD}\r\n")
        sys.stdout.flush()
    printed = path.read_text("ascii")
    assert printed.count("\\u241b]0;t") + printed.count("\\x1b]0;t") >= 4
    assert "\x1b[31mred\x1b[0m" in printed
    assert not FORBIDDEN.search(
        escape_controls(printed).replace("\x1b[31m", "").replace("\x1b[0m", "").replace("\r", "")
    )


def test_a_name_that_is_no_utf8_can_be_written_into_every_report(said):
    Path(os.fsdecode(b"own\xff.csv")).write_text(PAIRS)
    printed = said("run", "-k", "twice", os.fsdecode(b"--data=pairs:own\xff.csv"), "--model=jaccard", "--report-dir=r")
    run = Path("r")
    assert "PASSED: no check fails" in printed
    assert not FORBIDDEN.search(printed)
    assert json.loads((run / "results.json").read_text("utf-8"))["run"]["settings"]["data"] == ["pairs:own\udcff.csv"]
    for name in ("summary.md", "report.html"):
        assert not FORBIDDEN.search((run / name).read_text("utf-8")), name
    assert "Traceback" not in said("export", str(run)) + said("export", str(run), "--to=csv")


def test_only_the_places_that_make_text_visible_write_to_a_terminal():
    """What prints elsewhere would pass them by."""
    allowed = {"cli/shared.py": {"echo"}, "plugin/process.py": {"write_line"}}
    allowed |= {"system/terminal.py": {"print"}}
    writing = {"print", "echo", "secho", "write_line", "write_sep"}
    source = Path(encheck.__file__).parent
    found = {}
    for path in source.rglob("*.py"):
        text = path.read_text("utf-8")
        if not any(name in text for name in writing):
            continue  # parsing takes longer
        calls = [n.func for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call)]
        names = {getattr(call, "attr", getattr(call, "id", "")) for call in calls}
        if some := names & writing:
            found[str(path.relative_to(source))] = some
    assert found == allowed
