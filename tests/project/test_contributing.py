"""The five examples of CONTRIBUTING.md work as they stand: each is one file."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

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


COMMANDS = """
import json, sys
from typer.testing import CliRunner
from encheck.cli import app

done = [CliRunner().invoke(app, command) for command in json.loads(sys.argv[1])]
print(json.dumps([{"code": one.exit_code, "out": one.stdout, "err": one.stderr} for one in done]))
"""


def encheck(site, folder, *commands):
    """How each command ended, in one process."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(site), str(folder)])}
    python = [sys.executable, "-c", COMMANDS, json.dumps(commands)]
    done = subprocess.run(python, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [SimpleNamespace(**one) for one in json.loads(done.stdout)]


@pytest.mark.long
def test_the_check_and_the_generator_have_teeth(site, tmp_path, some_probes):
    asked = ("run", "-m", "shouting", "--data", some_probes)
    failed, passed = encheck(
        site, tmp_path, (*asked, "--model=random", "--strict", "-q"), (*asked, "--model=bag-of-words", "-v")
    )
    assert (failed.code, passed.code) == (1, 0), passed.out
    assert "shouting is nearer than antonym" in passed.out


def test_generators_data_set_and_encoder_are_there_by_their_names(site, tmp_path, contrasts_alone):
    (tmp_path / "own.txt").write_text("The old shop is in the north of the town.\nThe shop is closed on Monday.\n")
    (tmp_path / "headlines.tsv").write_text("1\tRain stops play\tPlay stopped by rain\n0\tRain stops play\tSun wins\n")
    (tmp_path / "bad_headlines.tsv").write_text("1\tRain stops play\n")
    (tmp_path / "my_package").mkdir()
    (tmp_path / "my_package/letters.py").write_text(example("An encoder"))
    (tmp_path / "models.yaml").write_text(example("An encoder", "yaml"))
    variants, data, refused, run = encheck(
        site,
        tmp_path,
        ("data", "variants", "--data=texts:own.txt", "--generator=shouting", "--generator=direction"),
        ("data", "headlines:headlines.tsv"),
        ("data", "headlines:bad_headlines.tsv"),
        ("run", "--model=letters", "-q", "--data", contrasts_alone),
    )
    assert "THE SHOP IS CLOSED ON MONDAY." in variants.out
    assert re.search(r"\+south(ern part)?\+", variants.out), variants.out + variants.err
    assert "no direction" in variants.out
    assert "0: 1, 1: 1" in data.out
    assert refused.code == 4
    assert "headlines.tsv:1: 2 tab-separated fields, but should be 3" in refused.err
    assert "letters on " in run.out
    assert run.code in (0, 1)
