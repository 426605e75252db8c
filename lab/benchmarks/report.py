"""What a report of 50,000 items takes: seconds and peak memory to make it, its size, and when it can be used.

python lab/benchmarks/report.py [--items 50000] [--browser chromium]
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "reporting")]


def main() -> None:
    from test_report_browser import items
    from test_reporting import results, row

    from encheck.reporting.rebuild import rebuild_page
    from encheck.reporting.results import write_items, write_results
    from encheck.scoring.frame import RunItems, item_table

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument("--browser", help="path of chromium; with it the page is opened too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names = [f"claim_{j}" for j in range(10)]
        rows = [row(id=f"{n}/m-d-1/margin_rate", check=n, metric="margin_rate") for n in names]
        write_results(folder, results(*rows))
        write_items(
            folder,
            RunItems.from_tables(
                item_table(frame) for n in names for frame in items(n, options.items // len(names)).values()
            ),
        )
        start = time.process_time()  # another program on the machine does not count
        page = rebuild_page(folder, folder / "report.html")
        seconds, peak = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print("| what | figure | aim |\n| --- | --- | --- |")
        spent = f"{seconds:.1f} s of processor time, {peak:,.0f} MB"
        print(f"| making the page of {options.items:,} items | {spent} | 10 s, 1 GB |")
        print(f"| its size | {page.stat().st_size / 1e6:.2f} MB | 1 MB |")
        if options.browser:
            print(f"| until it can be used | {usable(page, options.browser):.1f} s | 2 s |")


def usable(page: Path, browser: str) -> float:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        tab = opened.new_page()
        start = time.perf_counter()
        tab.goto(page.as_uri())
        tab.wait_for_selector("html[data-ready]")
        seconds = time.perf_counter() - start
        opened.close()
    return seconds


if __name__ == "__main__":
    main()
