"""An installed package adds an adapter, a data set, a command and checks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import encheck
from encheck.cli import main
from encheck.datasets.load import known_data_sets
from encheck.datasets.load import load as load_data
from encheck.encoders.hub import describe_pin
from encheck.encoders.load import load_model, locate_weights
from encheck.encoders.model_config import Device
from encheck.encoders.models_file import ModelConfig, apply_model_args, known_models, read_models
from encheck.engine.checks import checks_of_packages
from encheck.engine.results import read_run
from encheck.errors import ConfigError, DataError, ModelError, UsageError
from encheck.options import Project, Settings
from encheck.system import imports

MODULES = {
    "model": """
import numpy as np


class Letters:
    similarity = "cosine"

    def __init__(self, letters="abcdefghijklmnopqrstuvwxyz"):
        self.letters = letters

    def fingerprint(self):
        return f"letters {self.letters}"

    def encode(self, texts, *, role=None):
        return np.array([[t.lower().count(c) for c in self.letters] for t in texts], np.float32)
""",
    "data": """
from encheck.datasets.reader import find_split_files, make_pair_rows, read_tab_rows

LICENCE, FILES = "CC0", "headlines.tsv"


def read(path, bad):
    for file, split in find_split_files(path, {"headlines.tsv": ""}, data_set="headlines"):
        rows = ((n, (f[1], f[2], f[0], None)) for n, f in read_tab_rows(file, columns=3, bad=bad))
        yield from make_pair_rows(file, rows, split=split, bad=bad)
""",
    "command": '''
from encheck.errors import UsageError


def count(text: str, fails: bool = False):
    """Count the letters of TEXT."""
    if fails:
        raise UsageError("no letters")
    print(len(text), "letters")
''',
    "checks/__init__": "",
    "checks/test_loudness": '''
"""Loud text means what quiet text means."""

from encheck import claim
from encheck.items import labelled_pairs
from encheck.metrics import similarity_gap


@claim(labelled_pairs, property="loudness", metric=similarity_gap.calibrated, aim=0.1)
def test_loud_is_nearer_than_other(judge):
    """Loud text is nearer than another text."""
    judge()
''',
}
POINTS = {
    "adapters": {"letters": "acme.model:Letters"},
    "data": {"headlines": "acme.data"},
    "commands": {"letter-count": "acme.command:count"},
    "checks": {"loud": "acme.checks"},
}


HEADLINES = "".join(f"{i % 2}\tkettle{i} sings{i}\tkettle{i * (i % 2)} whistles{i}\n" for i in range(40))


def install(site, points, modules=MODULES, *, package="acme-encheck", version="1.2"):
    """As pip leaves a package: its modules, and its metadata beside them."""
    for name, text in modules.items():
        file = site / "acme" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    info = site / f"{package.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\nSummary: Letters as vectors\n"
    )
    lines = [
        f"[encheck.{group}]\n" + "".join(f"{k} = {v}\n" for k, v in these.items()) for group, these in points.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))


def forget():
    imports._installed.cache_clear()
    known_data_sets.cache_clear()
    checks_of_packages.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "acme"]:
        del sys.modules[name]


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of installed packages; the working folder is another one."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setenv("ENCHECK_STORE", str(tmp_path / "store.sqlite"))
    forget()
    yield tmp_path / "site"
    forget()


def command(*args):
    with pytest.raises(SystemExit) as ended:
        main(args)
    return ended.value.code or 0


def test_a_package_adds_one_of_each_and_is_imported_when_it_is_asked_for(site, capsys):
    install(site, POINTS)
    Path("headlines.tsv").write_text(HEADLINES)
    assert command("--help") == 0
    assert command("data") == command("models") == 0
    listed = capsys.readouterr().out
    assert listed.count("acme-encheck 1.2") == 3
    assert "From the package acme-encheck 1.2: Letters as vectors." in listed
    assert known_models()["letters"].adapter == "letters"
    assert "acme" not in sys.modules

    assert command("letter-count", "abc") == 0
    assert command("letter-count", "--help") == 0
    out = capsys.readouterr().out
    assert "3 letters" in out
    assert "Count the letters of TEXT." in out
    assert command("letter-count", "abc", "--fails") == 4
    assert capsys.readouterr().err == "encheck: no letters\n"
    assert command("data", "headlines:.") == 0
    assert "CC0" in capsys.readouterr().out
    assert {name for name in sys.modules if name.startswith("acme.")} == {"acme.command", "acme.data"}

    Path("models.yaml").write_text("vowels: {adapter: letters, options: {letters: aeiou}}\n")
    found = encheck.run(["letters", "vowels"], data="headlines:.", checks="contract")
    assert [model.adapter for model in found.raw.models] == ["letters", "letters"]
    assert found.raw.run.versions["acme-encheck"] == "1.2"


def test_checks_of_a_package_run_and_gate_beside_those_of_encheck(site):
    install(site, POINTS)
    Path("headlines.tsv").write_text(HEADLINES)
    plain = {"data": "headlines:.", "checks": "symmetry"}
    how = plain | {"checks": "loudness or symmetry"}
    found = encheck.run("bag-of-words", save_baseline="with", **how)
    assert {row.property for row in found.rows} == {"loudness", "symmetry"}
    assert found.raw.run.settings.check_packages == ("loud",)
    assert found.raw.run.versions["acme-encheck"] == "1.2"
    both = encheck.gate("letters", "with", purpose="change", **how)
    assert {"loudness/headlines/1"} <= {row.name for row in both.rows}

    Path("pyproject.toml").write_text("[tool.encheck]\ncheck-packages = []\n")
    with pytest.raises(UsageError, match="unknown property 'loudness'"):
        encheck.run("bag-of-words", **how)
    without = encheck.gate("oracle", "with", purpose="change", **plain)
    assert without.outcome != "pass"
    assert "only the baseline was run with checks of the package loud" in without.partial.why
    encheck.run("bag-of-words", save_baseline="without", **plain)
    Path("pyproject.toml").unlink()
    again = encheck.gate("oracle", "without", purpose="change", **plain)
    assert "only the candidate was run with checks of the package loud" in again.partial.why
    assert json.loads(Path("without/baseline.json").read_text())["settings"]["check_packages"] == []


def test_encheck_run_and_pytest_take_checks_of_a_package(site):
    install(site, POINTS)
    Path("headlines.tsv").write_text(HEADLINES)
    env = {**os.environ, "PYTHONPATH": str(site)}

    def ran(*args):
        return subprocess.run([sys.executable, "-m", *args], env=env, capture_output=True, text=True, check=False)

    asked = ("--data=headlines:.", "--report-dir=out", "--no-store")
    one = ran("encheck", "run", "-m", "loudness", "--model=letters", *asked)
    assert (one.returncode, one.stderr) == (1, "")  # letters tell nothing apart
    assert {row.property for row in read_run(Path("out")).rows} == {"loudness"}
    assert "paraphrase" in read_run(Path("out")).raw.selection.left_out
    two = ran("pytest", "--markers")
    assert "@pytest.mark.loudness: Loud text means what quiet text means" in two.stdout


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ({"adapters": {"onnx": "acme:x"}}, "the name 'onnx' in encheck.adapters, which encheck itself has"),
        ({"adapters": {"sbert": "acme:x"}}, "the name 'sbert' in encheck.adapters, which encheck itself has"),
        ({"data": {"mrpc": "acme"}}, "the name 'mrpc' in encheck.data, which encheck itself has"),
        ({"adapters": {"a:b": "acme:x"}}, "the name 'a:b' in encheck.adapters, but a name has only letters"),
    ],
)
def test_a_name_that_is_taken_is_refused(site, points, said):
    install(site, points, {})
    with pytest.raises(UsageError) as caught:
        encheck.run("random", data="probes")
    assert str(caught.value).startswith(f"the package acme-encheck 1.2 declares {said}")


def test_a_command_that_is_taken_is_refused(site, capsys):
    install(site, {"commands": {"gate": "acme.command:count"}})
    assert command("--help") == 4
    assert capsys.readouterr().err.startswith("encheck: the package acme-encheck 1.2 declares the name 'gate'")


def test_two_packages_cannot_have_one_name(site):
    install(site, {"data": {"headlines": "acme.data"}})
    install(site, {"data": {"headlines": "acme.data"}}, package="other")
    with pytest.raises(UsageError, match=r"package other 1.2 declares .* which the package acme-encheck 1.2 has"):
        known_data_sets()


def test_a_package_that_cannot_be_imported_is_named(site, capsys):
    broken = "raise SystemExit('no licence')"
    install(site, POINTS, {"model": broken, "data": "import nowhere", "command": "", "checks": "1 / 0"})
    for run, said in (
        (lambda: encheck.run("letters", checks="contract"), "acme.checks: ZeroDivisionError: division by zero"),
        (lambda: load_data("headlines:x.tsv"), "acme.data: ModuleNotFoundError: No module named 'nowhere'"),
        (lambda: encheck.load_model("letters"), "acme.model:Letters: SystemExit: no licence"),
    ):
        with pytest.raises(UsageError) as caught:
            run()
        assert str(caught.value).startswith(f"the package acme-encheck 1.2 cannot be imported: {said}")
    assert command("letter-count") == 4
    assert command("run", "--model=random") == 4
    said = capsys.readouterr().err
    assert "acme.command:count: AttributeError" in said
    assert "acme.checks: ZeroDivisionError" in said


def test_a_reader_that_fails_is_one_message_that_names_the_package(site, capsys):
    broken = "LICENCE, FILES = 'CC0', 'x.tsv'\ndef read(path, bad):\n    yield 1 / 0"
    install(site, POINTS, MODULES | {"data": broken})
    for args in (("data", "headlines:x.tsv"), ("run", "--model=random", "--data=headlines:x.tsv", "-m", "contract")):
        assert command(*args) == 4
        said = capsys.readouterr().err
        assert "the package acme-encheck 1.2 cannot read these data: acme.data: ZeroDivisionError: division" in said
        assert "Traceback" not in said


@pytest.mark.parametrize(
    ("holds", "says"),
    [
        ("LICENCE = 'CC0'\nread = print", "no FILES, which says what PATH should hold"),
        ("LICENCE, FILES = 'CC0', 'x.tsv'", "no read(), groups(), collection(), contrasts() or texts()"),
        ("FILES, read = 'x.tsv', print", "no LICENCE"),
    ],
)
def test_half_a_data_set_says_what_it_lacks(site, holds, says):
    install(site, POINTS, {"data": holds})
    with pytest.raises(DataError) as caught:
        load_data("headlines:x.tsv")
    assert str(caught.value) == f"data set 'headlines': the package acme-encheck 1.2 has {says}"


def test_checks_whose_names_are_taken_or_missing_are_refused(site):
    check = MODULES["checks/test_loudness"].replace("loud_is_nearer_than_other", "antonym_is_farther_than_paraphrase")
    install(site, POINTS, {"checks/test_antonym": check})
    with pytest.raises(
        UsageError, match="and encheck itself both have the check test_antonym_is_farther_than_paraphrase"
    ):
        checks_of_packages(("loud",))
    forget()
    (site / "acme/checks/test_antonym.py").write_text("")
    with pytest.raises(UsageError, match=r"acme-encheck 1.2: acme.checks has no check"):
        checks_of_packages(("loud",))
    assert Settings(project=Project(check_packages=("loud",))).chosen_packages == ("loud",)
    with pytest.raises(ConfigError, match="unknown package of checks"):
        _ = Settings(project=Project(check_packages=("quiet",))).chosen_packages


def test_an_adapter_of_a_package_takes_options_alone(site):
    install(site, POINTS)
    file = Path("models.yaml")
    file.write_text("a: {adapter: letters, pooling: mean}\n")
    with pytest.raises(ConfigError, match="adapter 'letters' does not support pooling: pass it in options"):
        read_models(file)
    file.write_text("a: {adapter: leters}\n")
    with pytest.raises(ConfigError, match=r"unknown adapter 'leters'; did you mean 'letters'.*install the package"):
        read_models(file)


RECORD = """
from encheck.encoders.adapters import Adapter
from acme.model import Letters

LETTERS_OF = Adapter("acme.record:opened", "list of letters", ("sha256",), options={"least": int})
NEEDS_MORE = Adapter("acme.record:opened", "list of letters", (), modules=("nowhere",), install="acme-encheck[more]")


def opened(source, config, *, device, file_hash):
    assert device.name == "cpu" and file_hash(source)
    return Letters("".join(sorted(source.read_text()))[config.options.get("least", 0) :])
"""


def test_an_adapter_of_a_package_says_what_it_takes_as_one_of_enchecks_does(site):
    points = {"adapters": {"letters-of": "acme.record:LETTERS_OF", "needs-more": "acme.record:NEEDS_MORE"}}
    install(site, points, MODULES | {"record": RECORD})
    Path("cba.txt").write_text("cba")
    entry = ModelConfig("m", "letters-of", "cba.txt")
    assert load_model(apply_model_args(entry, {"least": "1"}), device=Device("cpu")).letters == "bc"
    assert locate_weights(entry) == (True, "cba.txt")
    assert describe_pin(entry) == "not pinned"
    for args, said in (
        ({"least": "x"}, "options.least is 'x', but should be a whole number"),
        ({"most": "1"}, "unknown field or option of letters-of 'most'"),
        ({"pooling": "mean"}, "'letters-of' does not support pooling. Supported fields: sha256"),
        ({"name": ""}, "model 'm' has no name: give a folder or a hub id"),
    ):
        with pytest.raises(ConfigError, match=said):
            apply_model_args(entry, args)
    with pytest.raises(ModelError, match=r"no-name has no name. Remedy: .* --model-arg name=PATH"):
        load_model(ModelConfig("no-name", "letters-of"), device=Device("cpu"))
    with pytest.raises(ModelError, match=r"not installed. Remedy: pip install 'acme-encheck\[more\]'"):
        load_model(ModelConfig("m", "needs-more", "cba.txt"), device=Device("cpu"))


def test_what_lies_in_the_working_folder_is_not_installed(site, monkeypatch):
    install(Path.cwd(), POINTS)
    monkeypatch.syspath_prepend(str(Path.cwd()))
    assert imports.entry_points_of(imports.DATA) == {}
