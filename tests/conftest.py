"""What pytest does for the tool's own tests; their fixtures stand in fixtures.py."""

import sys
from pathlib import Path

import bytecode  # first: what follows is compiled once
import pytest
import quick
from fixtures import *  # noqa: F403
from fixtures import keep_out_of_garbage

assert bytecode
pytest_plugins = ["pytester"]
sys.path.extend(str(path) for path in sorted(Path(__file__).parent.iterdir()) if path.is_dir())  # tests share items


def pytest_ignore_collect(collection_path, config):
    """What has no quick test is not even imported for them."""
    is_other = collection_path.name.startswith("test_") and not quick.is_named(collection_path.stem)
    return True if config.option.markexpr == "quick" and is_other else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.stem.removeprefix("test_") in quick.WHOLE:
            item.add_marker("quick")


def pytest_collection_finish():
    keep_out_of_garbage()
