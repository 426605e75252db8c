"""The pictures of docs/start/first-run.md: the page of a run, and a row of it that was opened.

python lab/recipes/report_pictures.py RUN/report.html [--browser chromium]
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[2] / "docs"
WIDTH, MARGIN = 1280, 16  # pixels
OPENED = "who did what to whom"


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("page", type=Path, help="the page of a run on the embedded probes")
    parser.add_argument("--browser", default="chromium", help="path of chromium")
    parser.add_argument("--out", type=Path, default=DOCS, help="folder for the pictures")
    options = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which(options.browser), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.goto(options.page.resolve().as_uri())
        page.wait_for_selector("html[data-ready]")
        _until(page, ".property:has-text('swapped words')", options.out / "report.png")
        row = page.locator("details.property", has=page.locator("summary .name", has_text=OPENED))
        row.locator("summary").first.click()
        row.locator("svg.drawn").first.wait_for()
        row.locator(".example").nth(3).wait_for()
        _part(page, row, "details.check[open] .example >> nth=3", options.out / "report-check.png")
        browser.close()


def _until(page: Any, last: str, out: Path) -> None:
    """The page from its top to the end of an element."""
    page.screenshot(path=out, full_page=True, clip=_clip(0, _end(page.locator(last).last)))


def _part(page: Any, row: Any, last: str, out: Path) -> None:
    top = row.evaluate("e => e.getBoundingClientRect().top + scrollY")
    page.screenshot(path=out, full_page=True, clip=_clip(top, _end(row.locator(last))))


def _end(element: Any) -> float:
    """Where an element ends on the page, with a margin."""
    return float(element.evaluate("e => e.getBoundingClientRect().bottom + scrollY")) + MARGIN


def _clip(top: float, bottom: float) -> dict[str, float]:
    return {"x": 0, "y": top, "width": WIDTH, "height": bottom - top}


if __name__ == "__main__":
    main()
