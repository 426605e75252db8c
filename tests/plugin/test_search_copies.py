"""A gate on real copies of MiniLM and the labelled questions of a help centre."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab" / "benchmarks"))
from search_copies import gates


@pytest.mark.long
def test_a_rounded_copy_passes_and_damaged_ones_are_blocked_with_a_lost_query(tmp_path):
    found = dict(gates(tmp_path))
    assert {name: lines[0].rpartition(" ")[2] for name, lines in found.items()} == {
        "bf16": "PASSED",
        "cls pooling": "BLOCKED",
        "two layers dropped": "BLOCKED",
    }
    for name in ("cls pooling", "two layers dropped"):
        assert sum(line.startswith("  lost: ") for line in found[name]) == 1
