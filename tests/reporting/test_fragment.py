"""What pytest-html gets: figures, curve and worst items, escaped."""

import subprocess
import sys

import pytest
from test_reporting import Tags, items, row

from encheck.reporting.html.fragment import check_fragment


def test_the_fragment_holds_figures_curve_and_the_most_wrong_items_as_text():
    case = next(iter(items(9).values()))
    found = check_fragment([row()], case)
    assert "0.61 [0.55, 0.66]" in found
    assert found.count("<polyline") == 2
    assert "d/0000/antonym" in found
    assert "d/0003/antonym" not in found
    assert "<script>" not in found
    assert not {"script", "b"} & {tag for tag, _ in Tags(found).found}


@pytest.mark.long
def test_pytest_html_gets_the_figures_of_every_check(tmp_path):
    out = tmp_path / "theirs.html"
    args = ["-m", "encheck", "run", "-m", "contract", "--model=oracle", f"--html={out}", "--self-contained-html", "-q"]
    done = subprocess.run([sys.executable, *args], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "contract kept" in out.read_text("utf-8")
