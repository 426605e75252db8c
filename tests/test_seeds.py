"""Mean and standard error over seeds, as numpy and scipy have them."""

import numpy as np
import pytest
import scipy.stats
from test_reporting import results, row
from typer.testing import CliRunner

from encheck.cli import app
from encheck.reporting.results import write_results
from encheck.reporting.seeds import over_seeds

VALUES = (0.61, 0.64, 0.58)


@pytest.fixture
def folders(tmp_path):
    made = []
    for i, value in enumerate(VALUES):
        folder = tmp_path / f"seed-{i}"
        folder.mkdir()
        shown = row(id=f"c/m-d-1/shown{i}", metric="shown", threshold=None, verdict=None)
        write_results(folder, results(row(value=value), shown))
        made.append(folder)
    return made


def test_mean_and_error_agree_with_scipy(folders):
    (found,) = over_seeds(folders)
    assert found.mean == pytest.approx(np.mean(VALUES))
    assert found.error == pytest.approx(scipy.stats.sem(VALUES))
    assert (found.least, found.greatest, found.k) == (0.58, 0.64, 3)


def test_the_command_prints_them(folders):
    done = CliRunner().invoke(app, ["seeds", *map(str, folders)])
    assert done.exit_code == 0, done.output
    assert "0.6100 \u00b1 0.0173" in done.output


def test_one_model_has_no_spread(folders):
    done = CliRunner().invoke(app, ["seeds", str(folders[0])])
    assert done.exit_code == 4
    assert "give those of several seeds" in done.output
