"""Build the site into build/site, without a network; a link or an anchor that leads nowhere is an error.

python scripts/build_site.py [--out build/site]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from sphinx.cmd.build import build_main

ROOT = Path(__file__).resolve().parents[1]
FIRST = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=docs/README.html">
<title>encheck</title>
<a href="docs/README.html">Documentation of encheck</a>
</html>
"""


def build(out: Path) -> int:
    """Build every page anew, since a page that is kept is not warned of again; Sphinx' exit code."""
    with tempfile.TemporaryDirectory() as kept:
        strict = ["--fail-on-warning", "--fresh-env", "--quiet", "--doctree-dir", kept]
        code = build_main(["-b", "html", *strict, "-c", str(ROOT / "scripts/site"), str(ROOT), str(out)])
    if not code:
        (out / "index.html").write_text(FIRST, "utf-8")
    return code


def main() -> int:
    """Build where the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "build/site")
    return build(parser.parse_args().out)


if __name__ == "__main__":
    sys.exit(main())
