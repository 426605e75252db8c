"""Tests of the papers' package, with the fixtures and the tiny models of encheck's own."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2] / "tests"
sys.path.extend(str(path) for path in (TESTS, TESTS / "encoders", TESTS / "items"))

from fixtures import *  # noqa: E402, F403

pytest_plugins = ["pytester"]
