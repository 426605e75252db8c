"""The pages that are written from the code say what it says, and the site's contents lead to every page."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import gallery
import write_reference

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def conf():
    spec = importlib.util.spec_from_file_location("site_conf", ROOT / "scripts/site/conf.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def declared():
    return {
        name.removeprefix("test_").replace("_", " "): claim.declared for name, claim, _ in write_reference._checks()
    }


@pytest.mark.parametrize("page", write_reference.PAGES)
def test_the_pages_are_what_the_code_declares(page):
    made = write_reference.PAGES[page]().rstrip() + "\n"
    assert (ROOT / "docs" / page).read_text("utf-8") == made, "run python scripts/write_reference.py"


def test_the_reference_has_a_schema_for_each_file_and_no_other():
    written = {f"reference/{path.name}" for path in (ROOT / "docs/reference").glob("*.json")}
    assert written == {page for page in write_reference.PAGES if page.endswith(".json")}


def test_every_check_has_one_line_with_its_metric_and_aim():
    text, of_checks = "\n".join(write_reference.check_list()), declared()
    lines = re.findall(r"^- (.+?)(?: \(.+?\))?: `(\w+)`, (aim \S+|no verdict)", text, re.MULTILINE)
    assert len(lines) == len(of_checks)
    assert {name: metric for name, metric, _ in lines} == {name: str(one.metric) for name, one in of_checks.items()}
    without = {name for name, one in of_checks.items() if one.aim is None}
    assert {name for name, _, aim in lines if aim == "no verdict"} == without


def test_every_property_has_a_section_that_says_what_its_files_are_about():
    text = "\n".join(write_reference.check_list())
    sections = dict(re.findall(r"^### (\w+).*\n\n(.+)$", text, re.MULTILINE))
    assert sections.keys() == {claim.property for _, claim, _ in write_reference._checks()}
    assert all(len(said.split()) > 4 for said in sections.values())


def test_every_command_has_a_section_with_its_own_options():
    text = "\n".join(write_reference.commands())
    gate = text.partition("### encheck gate\n")[2].partition("\n### ")[0]
    assert "- `--margin POINTS`: " in gate
    assert "- `--data" not in gate, "that is an option of a run"
    assert "- `--against NAME:PATH`: " in text


def test_the_contents_lead_to_every_page_once(conf):
    listed = [line for path in (ROOT / "docs").rglob("README.md") for line in listed_by(conf, path)]
    found = [path for folder in ("docs", "papers") for path in (ROOT / folder).rglob("*.md")]
    pages = {str(path.relative_to(ROOT).with_suffix("")) for path in found}
    assert pages | {"README", "CONTRIBUTING", "CHANGELOG", "SECURITY"} == {"docs/README", *listed}
    assert len(set(listed)) == len(listed)


def listed_by(conf, path):
    """The pages of the hidden tables of contents."""
    name = str(path.relative_to(ROOT).with_suffix(""))
    return re.findall(r"^(?:.* <)?/([\w/-]+)>?$", "".join(conf._contents(name, path.read_text("utf-8"))), re.MULTILINE)


def test_the_gallery_names_each_model_once_and_leads_to_its_page(tmp_path, monkeypatch):
    sys.path.insert(0, str(ROOT / "lab" / "benchmarks"))
    import contamination

    monkeypatch.setattr(contamination, "tuned", lambda folder, data, *, steps: folder / f"{data}-{steps}")
    gallery.lay_out_models(tmp_path)
    own = yaml.safe_load((tmp_path / "models.yaml").read_text("utf-8"))
    page = gallery.index(gallery.EXHIBITS, size="quick")
    assert set(own) < {one.name for one in gallery.EXHIBITS}
    for one in gallery.EXHIBITS:
        assert page.count(f'href="{one.name}.html"') == 2
        assert page.count(f'src="{one.name}.svg"') == 1


def test_the_gallery_shows_real_models_where_they_lie_and_those_of_a_server_where_it_runs(tmp_path):
    assert gallery.real_ones(tmp_path, is_served=True) == []
    entries = {"mine": {"description": "A model."}, "served": {"adapter": "openai", "description": "Another."}}
    (tmp_path / "models.yaml").write_text(yaml.safe_dump(entries), "utf-8")
    (one,) = gallery.real_ones(tmp_path, is_served=False)
    assert (one.name, one.text, one.home) == ("mine", "A model.", tmp_path)
    page = gallery.index([*gallery.EXHIBITS, *gallery.real_ones(tmp_path, is_served=True)], size="quick")
    assert "What encheck says of 7 models" in page
    assert '<a href="served.html">served</a>' in page
    assert '<a href="cost.html">' in page
    assert '<a href="cost.html">' not in gallery.index(gallery.EXHIBITS, size="quick")


def test_a_command_of_the_gallery_that_fails_ends_it(tmp_path):
    with pytest.raises(SystemExit, match="exit 4"):
        gallery.call("no-such-command", folder=tmp_path)
