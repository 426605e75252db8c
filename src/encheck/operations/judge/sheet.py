"""The page for judging answers in a browser, and the answer file that it saves.

judging.html is one file that needs no network. Its answers are JSON: `judging`, which says of which plan they are, and
`answers`, from the hash of a query to "1", "2", "equal" or "neither"; after `again/`, of a pair that is shown again.
"""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from pathlib import Path
from typing import Any

from encheck.errors import UsageError
from encheck.gating.judged import Answer, Asked
from encheck.gating.judgements import Judgements, keep, read
from encheck.operations.judge.judging import Judging, Question
from encheck.reporting.answers import SHEET
from encheck.reporting.results import into
from encheck.system.documents import read_json
from encheck.system.files import write_text
from encheck.system.terminal import LINES, visible

SAID = ("1", "2", "equal", "neither")
AGAIN = "again/"


def write_sheet(judging: Judging) -> tuple[Path, int]:
    """Write judging.html with what is still to be asked; where it is, and how many pairs it shows."""
    known, again = read(judging.qrels), judging.repeats()
    due = {after: q for q, after in judging.pool.repeats if q.query not in again}
    asked: list[Question] = []
    looks: list[int] = []
    done = 0
    for count, q in enumerate(judging.planned, start=1):
        if known.answer(q) is None:
            asked.append(judging.question(q))
        else:
            done += 1
        if asked and count in due:
            asked.append(judging.question(due[count], again=True))
        if asked and count in judging.pool.looks:
            looks.append(len(asked))
    path = judging.folder / SHEET
    with into(judging.folder):
        write_text(path, _page(judging, asked, looks, done=done))
    return path, len(asked)


def _page(judging: Judging, asked: list[Question], looks: list[int], *, done: int) -> str:
    """The page; every text in it is escaped, and nothing but its own script may run."""
    import jinja2

    script = _read("sheet.js")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode()
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        finalize=_visible,
    )  # fmt: skip
    return environment.get_template("sheet.html").render(
        policy=f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; base-uri 'none'",
        script=script,
        plan=judging.pool.fingerprint,
        questions=[(f"{AGAIN * one.again}{one.asked.query}", one) for one in asked],
        looks=" ".join(map(str, looks)),
        done=done,
    )


def _visible(value: Any) -> Any:
    return visible(value, keep=LINES) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _read(name: str) -> str:
    return resources.files("encheck.operations.judge").joinpath(name).read_text("utf-8")


def take(judging: Judging, path: Path) -> Judgements:
    """Keep the answers of a file that the page saved; UsageError names what is wrong, and then none is kept."""
    try:
        found = read_json(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if not isinstance(found, dict) or not isinstance(found.get("answers"), dict) or "judging" not in found:
        raise UsageError(f"{path} is not a file of answers: the page saves one with the keys `judging` and `answers`")
    if found["judging"] != judging.pool.fingerprint:
        raise UsageError(f"{path} answers the questions of another report than {judging.folder}")
    known = {q.query: q for q in judging.pool.order}
    repeated = {q.query for q, _ in judging.pool.repeats}
    again, kept = judging.repeats(), list[tuple[Asked, Answer]]()
    for name, said in found["answers"].items():
        query = name.removeprefix(AGAIN)
        if query not in (known if query == name else repeated):
            raise UsageError(f"{path} answers query {name!r}, which {judging.folder} does not ask")
        if said not in SAID:
            raise UsageError(f"{path}: the answer to query {name!r} is {said!r}, but should be {', '.join(SAID)}")
        answer = judging.question(known[query], again=query != name).answer(said)
        if query == name:
            kept.append((known[query], answer))
        else:
            again[query] = answer
    judgements = keep(judging.qrels, kept)
    if again:
        judging.keep_repeats(again)
    return judgements
