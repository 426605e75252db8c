"""The gallery: pages of five models or more and of all of them side by side, with an index.

    python scripts/gallery.py [--size full] [--out build/gallery] [--work build/gallery-work] [--real build/real-models]

Runs stop after the first look, at most 2,500 texts of the probes; with `--size full` they take all. Models and runs are
kept in the work folder, and are not made again; pages are. Where lab/real_models.py has written its models, they take
the place of Doc2Vec, since a comparison holds ten models, and a second page has their search, speed and size.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from jinja2 import Environment, StrictUndefined

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "lab"), str(ROOT / "lab" / "benchmarks")]

STEPS = 30
TUNED_ON = "probes:fresh=1"  # other groups than those that a run measures
DIMENSIONS = 64
SIZES = {
    "quick": (("--quick",), "built-in English sentences, stopped after a first look at no more than 2,500 texts"),
    "full": ((), "built-in English sentences"),
}


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A model of the gallery: what `--model` takes, and what the index says of it."""

    name: str
    title: str
    text: str
    home: Path | None = None  # whose models.yaml has it, if not the work folder's


EXHIBITS = (
    Exhibit(
        "sbert",
        "MiniLM",
        "all-MiniLM-L6-v2 as it is published: the default model, and the reference of the comparison.",
    ),
    Exhibit(
        "minilm-tuned",
        "MiniLM, fine-tuned",
        f"{STEPS} steps on contrasts that were generated for it ({TUNED_ON}), none of which its page measures.",
    ),
    Exhibit("minilm-64", f"MiniLM, {DIMENSIONS} dimensions", f"The first {DIMENSIONS} of its 384 dimensions."),
    Exhibit("doc2vec", "Doc2Vec", "Trained on the texts of the run alone (Le and Mikolov 2014)."),
    Exhibit("jaccard", "Word overlap", "The share of the words that two texts have in common. It understands nothing."),
)

STAND_IN = "doc2vec"  # for a model that is weak and no fake, where no other is there
SEARCH = "retrieval"

INDEX = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>encheck: gallery</title>
<style>
:root { color-scheme: light dark; --line: #d0d7de; --soft: #57606a; --link: #0550ae; }
@media (prefers-color-scheme: dark) { :root { --line: #3d444d; --soft: #9da7b3; --link: #79b8ff; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 0 auto; padding: 1rem; }
a { color: var(--link); }
p { max-width: 46rem; }
ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 34rem), 1fr)); gap: 1rem; padding: 0; }
li { list-style: none; border: 1px solid var(--line); border-radius: 8px; padding: 1rem; }
h2 { font-size: 1.15rem; margin: 0; }
li p { margin: .25rem 0 .75rem; color: var(--soft); }
img { width: 100%; height: auto; display: block; }
footer { color: var(--soft); font-size: .9rem; }
</style>
</head>
<body>
<main>
<h1>What encheck says of {{ exhibits | length }} models</h1>
<p>Each card leads to the page of a run on the {{ extent }}. <a href="compare.html">Compare all of them</a>,
item by item{% if costs %}, or <a href="cost.html">by search, speed and size</a>{% endif %}.</p>
<ul>
{% for one in exhibits %}
<li>
<h2><a href="{{ one.name }}.html">{{ one.title }}</a></h2>
<p>{{ one.text }}</p>
<a href="{{ one.name }}.html"><img src="{{ one.name }}.svg" alt="Profile of {{ one.title }}: open its report"></a>
</li>
{% endfor %}
</ul>
</main>
<footer><p>encheck {{ version }}. Made by <code>make gallery SIZE={{ size }}</code>.</p></footer>
</body>
</html>
"""


def main() -> int:
    """Make what is missing of models and runs, then the pages."""
    from real_models import served

    given = arguments()
    begun = time.monotonic()
    work, home, out = given.work.resolve(), given.real.resolve(), given.out.resolve()
    lay_out_models(work)
    out.mkdir(parents=True, exist_ok=True)
    with served(home) as address:
        real = real_ones(home, is_served=bool(address))
        exhibits = [*(one for one in EXHIBITS if not (real and one.name == STAND_IN)), *real]
        runs = [measured(one, work, size=given.size) for one in exhibits]
        if real:
            how = ("--cost", "-m", SEARCH, "--out", str(out / "cost.html"))
            call("compare", "sbert", *(one.name for one in real), *how, folder=home)
    write_pages(exhibits, runs, out, size=given.size)
    print(f"{given.out}/index.html: {len(runs)} models in {time.monotonic() - begun:.0f} s")
    return 0


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=tuple(SIZES), default="quick")
    parser.add_argument("--out", type=Path, default=ROOT / "build/gallery")
    parser.add_argument("--work", type=Path, default=ROOT / "build/gallery-work")
    parser.add_argument("--real", type=Path, default=ROOT / "build/real-models")
    return parser.parse_args()


def real_ones(home: Path, *, is_served: bool) -> list[Exhibit]:
    """The models that lab/real_models.py wrote there; those that a server has to run where it runs."""
    file = home / "models.yaml"
    entries = yaml.safe_load(file.read_text("utf-8")) if file.exists() else {}
    return [
        Exhibit(name, name, f"{entry['description'].rstrip('.')}.", home)
        for name, entry in entries.items()
        if is_served or entry.get("adapter") != "openai"
    ]


def lay_out_models(work: Path) -> None:
    """The fine-tuned model, and the file of models that names it and the shortened one."""
    from contamination import tuned
    from damage import minilm

    work.mkdir(parents=True, exist_ok=True)
    place = tuned(work, TUNED_ON, steps=STEPS)
    models = {
        "minilm-tuned": {"name": str(place), "description": EXHIBITS[1].text},
        "minilm-64": {"name": str(minilm()), "truncate_dim": DIMENSIONS, "description": EXHIBITS[2].text},
    }
    (work / "models.yaml").write_text(yaml.safe_dump(models, sort_keys=False), "utf-8")


def measured(one: Exhibit, work: Path, *, size: str) -> Path:
    """The folder of the run of one model, made unless it is there."""
    place = work / size / one.name
    if not (place / "results.json").exists():
        call("run", "--model", one.name, f"--report-dir={place}", *SIZES[size][0], folder=one.home or work, fine=(0, 1))
    return place


def call(*words: str, folder: Path, fine: tuple[int, ...] = (0,)) -> None:
    """Run a command of encheck; SystemExit with its output where it leaves with another code than these."""
    command = [sys.executable, "-m", "encheck", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode not in fine:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")


def write_pages(exhibits: list[Exhibit], runs: list[Path], out: Path, *, size: str) -> None:
    """The reports, their cards, the comparison and the index."""
    for run in runs:
        call("export", str(run), f"--out={out / run.name}.html", folder=out)
        call("export", str(run), "--to=card", f"--out={out / run.name}.svg", folder=out)
    call("compare", *map(str, runs), "--reference", "sbert", "--out", str(out / "compare.html"), folder=out)
    (out / "index.html").write_text(index(exhibits, size=size), "utf-8")


def index(exhibits: Sequence[Exhibit], *, size: str) -> str:
    """The first page."""
    from encheck import __version__

    page = Environment(autoescape=True, trim_blocks=True, undefined=StrictUndefined).from_string(INDEX)
    costs = any(one.home for one in exhibits)
    return page.render(exhibits=exhibits, extent=SIZES[size][1], version=__version__, size=size, costs=costs)


if __name__ == "__main__":
    sys.exit(main())
