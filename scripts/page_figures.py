"""Whether the figures that pages state are those that the commands beside them give.

    python scripts/page_figures.py DATA                            # all pages; DATA holds the corpora as distributed
    python scripts/page_figures.py DATA --page docs/nonobvious.md
    python scripts/page_figures.py                                 # only what is compared with records

scripts/page_figures.yaml has the commands and the sentences, each figure in braces: {RUN METRIC}, with @LEVEL, .PART
(n, surface.NAME, params.NAME) or CHECK/ before the metric where needed, and a form: % for percent, [] for a value with
its interval. @* is the mean over all levels, RUN+RUN the rows of two runs. {FOLDER KEY} is a figure of a recorded
results.json, the mean of several where FOLDER is a pattern. `reports` has commands that print tables of a page,
`comparisons` commands that compare by themselves. Prints what differs by more than rounding, and exits with 1 then.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_suffix(".yaml")
RECORDS = ROOT / "papers/recipes/published"
FIGURE = re.compile(r"\{(?P<source>\S+) (?P<of>[^{} ]+)(?: (?P<form>%?(?:\[\])?))?\}")
METRIC = re.compile(r"(?:(?P<check>\w+)/)?(?P<metric>\w+)(?:@(?P<level>[^.]+))?(?:\.(?P<part>.+))?")
NUMBER = r"(-?\d[\d,]*(?:\.\d+)?)"
SLACK = 0.1  # of the last digit, beyond rounding: processors sum in other orders
Rows = Sequence[Mapping[str, Any]]
Values = tuple[float, ...]


@dataclass(frozen=True)
class Stated:
    """A figure of a sentence: where it comes from, and the numbers that the page has: value, or value and interval."""

    source: str
    of: str
    form: str
    numbers: tuple[str, ...]

    def differs(self, values: Values) -> bool:
        """Whether any number is not the value, rounded as it is."""
        scale = 100 if "%" in self.form else 1
        for number, value in zip(self.numbers, values, strict=True):
            unit = 10.0 ** -len(number.partition(".")[2])
            if abs(float(number.replace(",", "")) - scale * value) > (0.5 + SLACK) * unit:
                return True
        return False


def pages() -> Mapping[str, Any]:
    """The list: `runs`, `pages`, `reports` and `comparisons`."""
    found: Mapping[str, Any] = yaml.safe_load(LIST.read_text("utf-8"))
    return found


def stated(text: str, sentence: str) -> list[Stated]:
    """The figures of a sentence as a page has them; LookupError unless the page has it once.

    >>> stated("It gets 0.35 here.", "gets {mrpc auc_n} here")
    [Stated(source='mrpc', of='auc_n', form='', numbers=('0.35',))]
    """
    figures, pattern, end = [*FIGURE.finditer(sentence)], "", 0
    for figure in figures:
        value = rf"{NUMBER} \[{NUMBER}, {NUMBER}\]" if "[]" in (figure["form"] or "") else NUMBER
        pattern += re.escape(sentence[end : figure.start()]) + value
        end = figure.end()
    places = [*re.finditer(pattern + re.escape(sentence[end:]), " ".join(text.split()))]
    if len(places) != 1:
        raise LookupError(f"{sentence}: it is there {len(places)} times")
    numbers = iter(places[0].groups())
    return [
        Stated(
            one["source"],
            one["of"],
            form := one["form"] or "",
            tuple(next(numbers) for _ in range(1 + 2 * ("[]" in form))),
        )
        for one in figures
    ]


def measured(rows: Rows, of: str, form: str) -> Values:
    """The figure of a run that METRIC names, with the ends of its interval where the form asks for them."""
    named = METRIC.fullmatch(of)
    if named is None:
        raise LookupError(f"{of!r} is no figure")
    wanted = {name: named[name] for name in ("check", "metric", "level") if named[name] and named[name] != "*"}
    found = [
        row for row in rows if row["value"] is not None and all(row[key] == value for key, value in wanted.items())
    ]
    if not found or (len(found) > 1 and named["level"] != "*"):
        raise LookupError(f"{of} is the figure of {len(found)} rows")
    parts = ["value", "low", "high"] if "[]" in form else [named["part"] or "value"]
    return tuple(fmean(_part(row, part) for row in found) for part in parts)


def _part(row: Mapping[str, Any], part: str) -> float:
    group, _, name = part.partition(".")
    found = row[group][name] if name else row[group]
    return float(found["value"] if isinstance(found, Mapping) else found)


def recorded(folder: str, key: str) -> Values:
    """The figure of results.json in a folder of `RECORDS`, `key` being its path; the mean over a pattern's folders."""
    files = sorted(RECORDS.glob(f"{folder}/results.json"))
    if not files:
        raise LookupError(f"{RECORDS} has no {folder}")
    found = []
    for file in files:
        value = json.loads(file.read_text("utf-8"))
        for name in key.split("."):
            value = value[name]
        found.append(float(value))
    return (fmean(found),)


def run(command: str, data: Path) -> Rows:
    """The rows of a run's results.json; RuntimeError if it left none."""
    with tempfile.TemporaryDirectory() as folder:
        words = [word.replace("DATA", str(data)) for word in shlex.split(command)]
        words[:1] = [str(Path(sys.executable).with_name(words[0]))]
        done = subprocess.run([*words, "--report-dir", folder], cwd=ROOT, capture_output=True, text=True)
        file = Path(folder) / "results.json"
        if done.returncode not in (0, 1) or not file.exists():
            raise RuntimeError(f"{command}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        rows: Rows = json.loads(file.read_text("utf-8"))["checks"]
        return rows


def problems(name: str, sentences: Iterable[str], figure: Callable[[Stated], Values | None]) -> Iterator[str]:
    """What a page states otherwise than `figure` has it (None: it is not measured), a line each."""
    text = (ROOT / name).read_text("utf-8")
    for sentence in sentences:
        try:
            for one in stated(text, sentence):
                values = figure(one)
                if values is not None and one.differs(values):
                    has = ", ".join(f"{value:.5g}" for value in values)
                    yield f"{name}: {' '.join(one.numbers)}, but {one.source} {one.of} is {has}"
        except LookupError as error:
            yield f"{name}: {error}"


def unprinted_rows(name: str, command: str) -> Iterator[str]:
    """Rows of tables that a command prints and the page does not have."""
    words = [sys.executable, *shlex.split(command)[1:]]
    printed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rows = {*(ROOT / name).read_text("utf-8").splitlines()}
    yield from (
        f"{name}: lacks {line!r} of {command}" for line in printed.splitlines() if line[:1] == "|" and line not in rows
    )


def compared(name: str, command: str, data: Path) -> Iterator[str]:
    """What a command prints that fails where its page has other figures."""
    words = [sys.executable, *(word.replace("DATA", str(data)) for word in shlex.split(command)[1:])]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        yield f"{name}: {command}\n{done.stderr}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare what was asked for; 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, metavar="DATA")
    parser.add_argument("--page", action="append", metavar="PAGE", help="a page; repeatable (default: all of the list)")
    told, known = parser.parse_args(arguments), pages()
    runs: dict[str, Rows] = {}

    def figure(one: Stated) -> Values | None:
        names = one.source.split("+")
        if not {*names} <= known["runs"].keys():
            return recorded(one.source, one.of)
        if told.data is None:
            return None
        for name in names:
            if name not in runs:
                print(f"runs: {known['runs'][name]}", flush=True)
                runs[name] = run(known["runs"][name], told.data.resolve())
        return measured([row for name in names for row in runs[name]], one.of, one.form)

    found = []
    for name in dict.fromkeys([*known["pages"], *known["reports"], *known["comparisons"]]):
        if not told.page or name in told.page:
            found += problems(name, known["pages"].get(name, ()), figure)
            found += [line for command in known["reports"].get(name, ()) for line in unprinted_rows(name, command)]
            if told.data is not None:
                commands = known["comparisons"].get(name, ())
                found += [line for command in commands for line in compared(name, command, told.data.resolve())]
    print(*found or ["every figure is as stated"], sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
