"""What a paper takes from a comparison: the LaTeX table, its references, the tidy table, CITATION.cff."""

import csv
import importlib
import io
import json
import pkgutil
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from test_compare import write_run
from test_matrix import run
from typer.testing import CliRunner

import encheck.checks
from encheck.claims import claim_of
from encheck.cli import app
from encheck.comparing.comparison import compare
from encheck.comparing.exports import (
    bibliography_entries,
    bibtex,
    encheck_entry,
    entries_of_source,
    escape_latex,
    latex_table,
    sources_of_line,
    tidy_rows,
)
from encheck.datasets.load import known_data_sets

ROOT = Path(__file__).parents[2]
HOSTILE = r"50%_a&b $x$ #1 {y} \input{z} ~^<>[1]"


def sources():
    """What every check of encheck and every data set declares."""
    modules = [
        importlib.import_module(f"encheck.checks.{m.name}") for m in pkgutil.iter_modules(encheck.checks.__path__)
    ]
    claims = [found for module in modules for value in vars(module).values() if (found := claim_of(value))]
    yield from (claim.declared.source for claim in claims)
    yield from (module.CITATION for module in known_data_sets().values() if hasattr(module, "CITATION"))


def is_balanced(tex):
    """Whether every brace that is none of the text closes one that is open."""
    depth = 0
    for sign in re.findall(r"(?<!\\)[{}]", tex):
        depth += 1 if sign == "{" else -1
        if depth < 0:
            return False
    return depth == 0


@pytest.fixture
def three(tmp_path):
    return compare([run(tmp_path / name, wins) for name, wins in (("old", 50), ("bad", 20), ("new", 48))])


def test_every_declared_source_has_an_entry():
    unknown = [
        source for source in set(sources()) if source and any("source-" in one.key for one in entries_of_source(source))
    ]
    assert unknown == []


@pytest.mark.parametrize("entry", bibliography_entries().values(), ids=lambda one: one.key)
def test_an_entry_is_whole(entry):
    assert is_balanced(entry.text)
    fields = re.findall(r"^  (\w+) = \{.+\},?$", entry.text, re.MULTILINE)
    assert {"title", "year", "author"} <= set(fields)
    assert "declared" not in fields
    assert entry.text.count("\n") == len(fields) + 1
    assert {"url", "doi"} & set(fields)
    assert entry.key.endswith(re.search(r"year = \{(\d{4})\}", entry.text)[1])


def test_the_table_has_intervals_and_signs(three):
    found = latex_table(three)
    assert r"33$^{\downarrow}$ {\scriptsize {[}10, 90{]}; $p<.001$}" in found
    assert r"80$^{\approx}$" in found
    assert r"83 {\scriptsize" in found
    assert r"\cite" not in found
    assert is_balanced(found)
    rows = [line for line in found.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
    assert {line.count("&") for line in rows} == {5}


def test_every_pair_and_the_picture_have_the_names_that_are_given(tmp_path):
    runs = [run(tmp_path / name, wins) for name, wins in (("old", 50), ("bad", 20), ("new", 48))]
    drawn = tmp_path / "forest.svg"
    asked = ["--format=latex", "--pairs=all", "--names=bad=A 100% model", f"--figure={drawn}"]
    done = CliRunner().invoke(app, ["compare", *map(str, runs), *asked, f"--out={tmp_path / 't.tex'}"])
    assert done.exit_code == 0, done.output
    found = (tmp_path / "t.tex").read_text()
    assert r"opposites & A 100\% model minus old & -50.0$^{\downarrow}$ & {[}" in found
    assert [found.count(f" & {pair} & ") for pair in ("new minus old", r"new minus A 100\% model")] == [1, 1]
    assert "seed 0" in found
    assert is_balanced(found)
    assert "A 100% model" in drawn.read_text()
    refused = CliRunner().invoke(app, ["compare", *map(str, runs), "--format=latex", "--names=none=x"])
    assert "with a NAME among: old, bad, new" in " ".join(refused.output.split())


def test_a_table_of_many_models_is_scaled(tmp_path):
    found = latex_table(compare([run(tmp_path / f"m{n}", 40) for n in range(5)]))
    assert r"\begin{table*}" in found
    assert r"\resizebox{\textwidth}{!}{%" in found
    assert is_balanced(found)


def test_no_name_is_a_command(tmp_path):
    runs = [write_run(tmp_path / n, [0.9] * 40, model=model) for n, model in (("a", HOSTILE), ("b", "plain"))]
    found = latex_table(compare(runs))
    assert r"\input" not in found
    assert escape_latex(HOSTILE) in found
    assert is_balanced(found)
    assert "$x$" not in found


def test_models_without_a_source_have_their_labels_and_the_caption_names_the_part_measured(tmp_path):
    runs = [run(tmp_path / name, 40) for name in ("tf-idf", "jaccard", "old")]
    for folder, clusters in zip(runs, (10, 10, 0), strict=True):
        found = json.loads((folder / "results.json").read_text())
        found["models"][0] |= {"name": "lexical", "adapter": "lexical"}
        if clusters:
            found["first_look"] = {"texts": 90, "of_texts": 900, "clusters": clusters, "of_clusters": 2_207}
        (folder / "results.json").write_text(json.dumps(found))
    found = compare(runs)
    tex = latex_table(found, cite=True)
    (heads,) = re.findall(r"Chance & (.*) ", tex)
    assert re.findall(r"([\w-]+)~\\cite", heads) == ["tf-idf", "jaccard", "old"]
    assert len(set(re.findall(r"model-\w+", heads))) == 3
    assert "Measured in part: a first look at 10 of 2,207 clusters (tf-idf, jaccard). " in tex
    assert "Measured in part: a first look at 10 of 2,207 clusters. " in latex_table(compare(runs[:2]))
    assert "Measured in part" not in latex_table(replace(found, models=found.models[2:], matrix=()))


def test_a_table_cites_check_data_and_generator_once(tmp_path):
    items = [f"mrpc/{i:016x}/jumble/1/jumble/0" for i in range(40)]
    runs = [write_run(tmp_path / n, [0.9] * 40, model=n, items=items) for n in "ab"]
    for folder in runs:
        path = folder / "results.json"
        path.write_text(path.read_text().replace('"d"', '"mrpc"').replace("-d-1", "-mrpc-1"))
    import pyarrow
    import pyarrow.parquet as parquet

    for folder in runs:
        found = parquet.read_table(folder / "items.parquet")
        cases = pyarrow.array([case.as_py().replace("-d-1", "-mrpc-1") for case in found["case"]])
        parquet.write_table(found.set_column(0, "case", cases), folder / "items.parquet")
    found = compare(runs)
    ((line),) = found.matrix
    assert {one.key for one in sources_of_line(found, line)} >= {"dolan2005", "mahajan2023"}
    tex, bib = latex_table(found, cite=True), bibtex(found)
    cited = {key for keys in re.findall(r"\\cite\{([^}]*)\}", tex) for key in keys.split(",")}
    assert cited == set(re.findall(r"^@\w+\{([^,]+),", bib, re.MULTILINE))
    assert bib.count("@misc{mahajan2023,") == 1


def test_a_source_of_ones_own_is_cited_in_its_words():
    (found,) = entries_of_source("Our memo 7, 100% ours")
    assert r"title = {{Our memo 7, 100\% ours}}" in found.text


def test_the_tidy_table_has_a_row_a_figure(three):
    found = [*tidy_rows(three)]
    bad = next(one for one in found if one.model == "bad")
    assert (bad.reference, bad.n, bad.clusters, bad.compared) == ("old", 400, 380, "worse")
    assert (bad.value, bad.difference) == (20 / 60, pytest.approx(-0.5))


def test_the_command_writes_tables(tmp_path):
    runs = [str(run(tmp_path / name, wins)) for name, wins in (("old", 50), ("bad", 20))]
    for form, name in (("latex", "t.tex"), ("csv", "t.csv")):
        cite = ["--cite"] if form == "latex" else []
        done = CliRunner().invoke(app, ["compare", *runs, "--format", form, "--out", str(tmp_path / name), *cite])
        assert done.exit_code == 0, done.output
    assert (tmp_path / "t.tex").read_text().startswith("% made by encheck compare; needs \\usepackage{booktabs}")
    assert "@misc{encheck," in (tmp_path / "t.bib").read_text()
    assert len([*csv.DictReader(io.StringIO((tmp_path / "t.csv").read_text()))]) == 2


def test_the_citation_file_is_that_of_this_version():
    """Valid by cffconvert when it was written; what the format requires, and what has to agree."""
    found = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(found)
    pyproject = (ROOT / "pyproject.toml").read_text("utf-8")
    assert f'\nversion = "{found["version"]}"' in pyproject
    assert found["title"] in encheck_entry().text
    assert found["authors"][0]["name"] in encheck_entry().text
