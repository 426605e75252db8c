"""Mean and standard error over seeds, as numpy and scipy have them."""

import shutil

import numpy as np
import pytest
import scipy.stats
from test_reporting import results, row
from typer.testing import CliRunner

from encheck.cli import app
from encheck.comparing.seeds import over_seeds
from encheck.reporting.results import read_results, write_results

VALUES = (0.61, 0.64, 0.58)


@pytest.fixture
def folders(tmp_path):
    made = []
    for i, value in enumerate(VALUES):
        folder = tmp_path / f"seed-{i}"
        folder.mkdir()
        shown = row(id=f"c/m-d-1/shown{i}", metric="shown", floor=None, aim=None, verdict=None)
        found = results(row(value=value), shown)
        found["models"][0]["fingerprint"] = f"f{i}"
        write_results(folder, found)
        made.append(folder)
    return made


def test_mean_and_error_agree_with_scipy(folders):
    (found,) = over_seeds(folders)
    assert found.mean == pytest.approx(np.mean(VALUES))
    assert found.error == pytest.approx(scipy.stats.sem(VALUES))
    assert (found.least, found.greatest, found.k) == (0.58, 0.64, 3)


def test_the_command_prints_them(folders):
    done = CliRunner().invoke(app, ["compare", "--across-seeds", *map(str, folders)])
    assert done.exit_code == 0, done.output
    assert "0.6100 \u00b1 0.0173" in done.output


def test_one_model_has_no_spread(folders):
    done = CliRunner().invoke(app, ["compare", "--across-seeds", str(folders[0])])
    assert done.exit_code == 4
    assert "give those of several seeds" in done.output


def test_a_model_counts_once(folders):
    again = shutil.copytree(folders[0], folders[0].with_name("again"))
    done = CliRunner().invoke(app, ["compare", "--across-seeds", *map(str, (folders[0], again, folders[1]))])
    assert done.exit_code == 4
    assert f"m of {again} is m of {folders[0]} again" in done.output


def test_other_data_of_the_same_name_are_refused(folders):
    found = read_results(folders[1])
    found["data"][0]["fingerprint"] = "g"
    write_results(folders[1], found)
    done = CliRunner().invoke(app, ["compare", "--across-seeds", *map(str, folders)])
    assert done.exit_code == 4
    assert f"d is one data set in {folders[0]} and another in {folders[1]} (fingerprints f and g)" in done.output
