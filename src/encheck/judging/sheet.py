"""The page for judging answers in a browser, and the answer file that it saves.

judging.html is one file that needs no network. Its answers are JSON: `judging`, which says of which plan they are, and
`answers`, from the hash of a query to "1", "2", "equal" or "neither".
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

from encheck.errors import UsageError
from encheck.gating.judged import Answer, Asked
from encheck.gating.judgements import Judgements, keep, read
from encheck.judging.judging import Judging
from encheck.reporting.answers import SHEET
from encheck.reporting.results import into
from encheck.system.documents import json_of
from encheck.system.files import write_text
from encheck.system.terminal import LINES, visible

SAID = ("1", "2", "equal", "neither")


def write_sheet(judging: Judging) -> tuple[Path, int]:
    """Write judging.html with what is still to be asked; where it is, and how many queries it asks."""
    known = read(judging.qrels)
    planned = judging.pool.order[: judging.pool.looks[-1]]
    asked = [q for q in planned if known.answer(q) is None]
    path = judging.folder / SHEET
    with into(judging.folder):
        write_text(path, _page(judging, asked, done=len(planned) - len(asked)))
    return path, len(asked)


def _page(judging: Judging, asked: list[Asked], *, done: int) -> str:
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
        questions=[(q.query, judging.question(q)) for q in asked],
        looks=" ".join(str(n - done) for n in judging.pool.looks if n > done),
        done=done,
    )


def _visible(value: Any) -> Any:
    return visible(value, keep=LINES) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _read(name: str) -> str:
    return resources.files("encheck.judging").joinpath(name).read_text("utf-8")


def take(judging: Judging, path: Path) -> Judgements:
    """Keep the answers of a file that the page saved; UsageError names what is wrong, and then none is kept."""
    try:
        found = json_of(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if not isinstance(found, dict) or not isinstance(found.get("answers"), dict) or "judging" not in found:
        raise UsageError(f"{path} is not a file of answers: the page saves one with the keys `judging` and `answers`")
    if found["judging"] != judging.pool.fingerprint:
        raise UsageError(f"{path} answers the questions of another report than {judging.folder}")
    return keep(judging.qrels, list(_said(judging, path, found["answers"])))


def _said(judging: Judging, path: Path, answers: dict[str, Any]) -> Iterator[tuple[Asked, Answer]]:
    known = {q.query: q for q in judging.pool.order}
    for query, said in answers.items():
        if query not in known:
            raise UsageError(f"{path} answers query {query!r}, which {judging.folder} does not ask")
        if said not in SAID:
            raise UsageError(f"{path}: the answer to query {query!r} is {said!r}, but should be {', '.join(SAID)}")
        yield known[query], judging.question(known[query]).answer(said, seed=judging.pool.seed)
