"""The five examples of CONTRIBUTING.md work as they stand: each is one file."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def example(heading, language="python"):
    section = GUIDE.split(f"\n## {heading}\n")[1].partition("\n## ")[0]
    return re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)[1]


def add_examples(source):
    (source / "checks/test_shouting.py").write_text(example("A check"))
    (source / "generators/shouting.py").write_text(example("A generator"))
    (source / "generators/direction.py").write_text(example("A phenomenon"))
    (source / "src/encheck/datasets/headlines.py").write_text(example("A data set"))


def test_the_examples_pass_the_linter(tmp_path):
    places = {
        "A check": "checks/test_x.py",
        "A generator": "generators/x.py",
        "A phenomenon": "generators/y.py",
        "A data set": "src/encheck/datasets/x.py",
    }
    for heading, place in places.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(example(heading))
    for command in (["check"], ["format", "--check"]):
        asked = [sys.executable, "-m", "ruff", *command, "--config", str(ROOT / "pyproject.toml"), "--no-cache", "."]
        done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder to import from: the packages with the examples in them, laid out as a wheel has them."""
    source, site = (tmp_path_factory.mktemp(name) for name in ("source", "site"))
    for name in ("checks", "generators", "src"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    add_examples(source)
    shutil.copytree(source / "src/encheck", site / "encheck")
    for name in ("checks", "generators"):
        shutil.copytree(source / name, site / "encheck" / name)
    return site


@pytest.fixture
def encheck(site, tmp_path):
    def encheck(*args):
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(site), str(tmp_path)])}
        command = [sys.executable, "-m", "encheck", *args]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    return encheck


@pytest.mark.long
def test_the_check_and_the_generator_have_teeth(encheck, some_probes):
    strict = ("run", "-m", "shouting", "--model=random", "--strict", "-q", "--data", some_probes)
    assert encheck(*strict).returncode == 1
    passed = encheck("run", "-m", "shouting", "--model=bag-of-words", "-v", "--data", some_probes)
    assert passed.returncode == 0, passed.stdout
    assert "shouting is nearer than antonym" in passed.stdout


def test_the_generator_and_the_phenomenon_are_listed_by_their_names(encheck, tmp_path):
    (tmp_path / "own.txt").write_text("The old shop is in the north of the town.\nThe shop is closed on Monday.\n")
    done = encheck("data", "variants", "--data=texts:own.txt", "--generator=shouting", "--generator=direction")
    assert "THE SHOP IS CLOSED ON MONDAY." in done.stdout
    assert re.search(r"\+south(ern part)?\+", done.stdout), done.stdout + done.stderr
    assert "no direction" in done.stdout


def test_the_data_set_is_there_and_names_the_line_of_a_bad_row(encheck, tmp_path):
    (tmp_path / "headlines.tsv").write_text("1\tRain stops play\tPlay stopped by rain\n0\tRain stops play\tSun wins\n")
    assert "0: 1, 1: 1" in encheck("data", "headlines:headlines.tsv").stdout
    (tmp_path / "headlines.tsv").write_text("1\tRain stops play\n")
    refused = encheck("data", "headlines:headlines.tsv")
    assert refused.returncode == 4
    assert "headlines.tsv:1: 2 tab-separated fields, but should be 3" in refused.stderr


def test_the_encoder_runs_by_its_name(encheck, tmp_path, contrasts_alone):
    (tmp_path / "my_package").mkdir()
    (tmp_path / "my_package/letters.py").write_text(example("An encoder"))
    (tmp_path / "models.yaml").write_text(example("An encoder", "yaml"))
    done = encheck("run", "--model=letters", "-q", "--data", contrasts_alone)
    assert "letters on " in done.stdout
    assert done.returncode in (0, 1)
