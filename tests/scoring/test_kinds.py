"""A kind of item in one file of a package goes from a data file to a page and through a gate."""

import json
import shutil
from pathlib import Path

import encheck
from encheck.encoders.fake import BagOfWords
from encheck.reporting.results import read_items

ENTRY_POINT = "[encheck.kinds]\nordered = ordered_kind:ORDERED\n"
THINGS = tuple(f"thing{number}" for number in range(240))


def test_a_kind_of_a_package_goes_from_a_file_to_a_page_and_through_a_gate(tmp_path, monkeypatch):
    kind = Path(shutil.copy(Path(__file__).with_name("ordered_kind.py"), tmp_path))
    (tmp_path / "ordered-1.dist-info").mkdir()
    (tmp_path / "ordered-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: ordered\nVersion: 1\n")
    (tmp_path / "ordered-1.dist-info/entry_points.txt").write_text(ENTRY_POINT)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    lines = [[f"a small red {one}", f"a small red {one} here", f"a {one}", "no word"] for one in THINGS]
    Path("orders.jsonl").write_text("\n".join(map(json.dumps, lines)))
    Path("own.txt").write_text("\n".join(f"The {one}." for one in THINGS))

    decided = encheck.gate(
        shuffled, BagOfWords(), data="texts:own.txt", own_checks=[kind],
        checks="order_of_texts or undeclared_kind", report_dir="report", no_store=True,
    )  # fmt: skip

    rows = {row.check: row for row in decided.results.raw.checks}
    frame = read_items(Path("report"))["texts_stand_in_their_order/shuffled-texts-1"]
    assert (frame.kind.name, len(frame)) == ("ordered", len(THINGS))
    assert (frame.near.texts[0], frame.far.texts[0]) == ("a small red thing0 here", "no word")
    assert rows["texts_stand_in_their_order"].value == 0.0
    assert "entry points encheck.kinds" in rows["kind_is_declared"].reason
    row = next(one for one in decided.rows if one.name.startswith("order_of_texts"))
    assert (row.name, row.baseline, row.candidate, row.outcome) == (
        "order_of_texts/texts/1",
        1.0,
        0.0,
        "block",
    )
    assert "order_of_texts" in Path("report/report.html").read_text("utf-8")


def shuffled(texts):
    """Vectors by which a text without a common word is the nearest."""
    is_far = [text.startswith(("a small red", "no word")) and "here" not in text for text in texts]
    return [[float(one), float(not one)] for one in is_far]
