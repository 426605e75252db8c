"""The quick tests touch every package."""

import re
from pathlib import Path

from quick import IN_PART, WHOLE

HERE = Path(__file__).resolve()
PACKAGES = next(folder / "src/encheck" for folder in HERE.parents if (folder / "src/encheck").is_dir())
TESTS = next(folder for folder in HERE.parents if folder.name == "tests")


def test_every_package_is_imported_by_a_quick_test():
    sources = [p for p in TESTS.rglob("test_*.py") if p.stem.removeprefix("test_") in WHOLE | IN_PART]
    imported = {name for path in sources for name in re.findall(r"encheck\.(\w+)", path.read_text("utf-8"))}
    assert {path.parent.name for path in PACKAGES.glob("*/__init__.py")} <= imported
    assert len(sources) == len(WHOLE | IN_PART)
