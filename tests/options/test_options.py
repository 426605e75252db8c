"""One table of options: an option that is added there is everywhere, and nothing else is edited."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import encheck
from encheck import short_options
from encheck.errors import UsageError
from encheck.options import GROUPS, OPTIONS, Settings, options_as_markdown, settings_for_results
from encheck.options.settings import parse_search_index
from encheck.system.typed_files import as_values

ROOT = Path(__file__).resolve().parents[2]
ADDED = """    colour: str = option(
        "colour", group="output", metavar="NAME", default="blue", help="Colour of the bikeshed.",
    )
"""
ASKED = """
from types import SimpleNamespace
from encheck.options import OPTIONS, Settings, options_as_markdown, refuse_invalid_options
from encheck.options import settings_for_results, settings_from_options
from pathlib import Path
parsed = SimpleNamespace(**{option.dest: option.default for option in OPTIONS.values()})
parsed.encheck_colour = "red"
refuse_invalid_options(parsed)
made = settings_from_options(parsed, root=Path("/nowhere"))
print(Settings().colour, made.colour, settings_for_results(made).colour)
print(next(line for line in options_as_markdown().splitlines() if "colour" in line))
"""


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """Run Python on a copy of encheck whose table has one option more."""
    copy = tmp_path_factory.mktemp("grown") / "encheck"
    shutil.copytree(Path(encheck.__file__).parent, copy)
    for name in ("checks", "generators"):
        (copy / name).symlink_to(ROOT / name)
    table = copy / "options/settings.py"
    text = table.read_text("utf-8")
    table.write_text(text.replace("    # fmt: off\n", f"    # fmt: off\n{ADDED}", 1), "utf-8")

    def grown(*args):
        paths = os.environ | {"PYTHONPATH": str(copy.parent), "COLUMNS": "200", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        done = subprocess.run([sys.executable, *args], cwd=copy.parent, env=paths, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return grown


def test_an_option_is_one_edit_for_pytest(grown):
    said = grown("-m", "pytest", "-p", "encheck.plugin", "-p", "encheck.short_options", "--help")
    assert "--encheck-colour=NAME" in said
    assert "--colour=NAME" in said
    assert "Colour of the bikeshed. (default: blue)" in said


def test_an_option_is_one_edit_for_the_command(grown):
    assert "--colour" not in grown("-m", "encheck", "run", "--help")
    said = grown("-m", "encheck", "run", "--help-all")
    assert "--colour" in said.partition("More: output")[2].partition("More: research")[0]


def test_an_option_is_one_edit_for_settings_baselines_and_docs(grown):
    settings, row = grown("-c", ASKED).splitlines()
    assert settings == "blue red red"
    assert row == "- `--colour NAME`: Colour of the bikeshed (default: blue)"


def test_the_page_of_commands_ends_with_the_options():
    page = (ROOT / "docs/reference/commands.md").read_text("utf-8")
    assert "**Checkpoints of others**: use `encheck run`" in page
    assert page.endswith(f"\n{options_as_markdown().rstrip()}\n"), "Remedy: python scripts/write_reference.py"


def test_no_two_options_have_one_name_or_one_place():
    names = [option.name for option in OPTIONS.values()]
    assert len(set(names)) == len(names)
    assert {option.group for option in OPTIONS.values()} == set(GROUPS)


def test_a_baseline_keeps_what_changes_the_scores():
    assert as_values(settings_for_results(Settings())) == {
        "models": ["sbert"], "model_args": [], "data": ["probes"], "sample": 2000, "seed": 0, "skip_bad_rows": False,
        "strict": False,
        "device": "auto", "dtype": None, "store_dtype": "float32", "epsilon": 0.0, "median_scope": "split",
        "generator_mode": "careful", "experimental": False,
        "lexicon": "embedded", "spacy_model": None, "queries": None, "passage_words": 150, "near_duplicates": "differ",
        "search_index": "exact", "engine": None,
        "quick": False, "check_packages": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("parsed", "is_strict"),
    [
        ({"override_ini": ["strict=true"]}, True),
        ({"override_ini": None, "strict": True}, True),
        ({"override_ini": None}, False),
        ({"override_ini": ["xfail_strict=true"]}, False),
    ],
)
def test_pytests_own_strict_is_encheck_s_too_where_options_are_short(parsed, is_strict):
    config = SimpleNamespace(option=SimpleNamespace(encheck_strict=False, **parsed))
    short_options.pytest_configure(config)
    assert config.option.encheck_strict is is_strict


@pytest.mark.parametrize(
    "text", ["hnsw", "faiss:", "faiss:nprobe", "faiss:nprobe=0", "faiss:m=3", "faiss,nprobe=3", ""]
)
def test_another_search_index_is_refused(text):
    with pytest.raises(UsageError, match=r"--search-index is .* faiss:nprobe=64,nlist=1000"):
        parse_search_index(text)
