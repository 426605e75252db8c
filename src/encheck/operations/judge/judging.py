"""Blind judging of which of two models answers a query better, until a gate's search is decided.

The plan (the looks, the seed, and the queries) is written to judging.json in the folder before the first answer. Each
answer is saved at once in the qrels next to the query log (`encheck.gating.unlabelled_search`). A few pairs are shown
twice, with sides drawn again. The repeated judgements go into repeats.json and decide nothing; they only show how
consistent the judgements are.

judging.html is one file that needs no network. Its answers are JSON: `judging`, which identifies the plan, and
`answers`, from the hash of a query to "1", "2", "equal" or "neither"; keys `again/...` are repeated pairs."""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from math import ceil
from pathlib import Path
from typing import Any

from encheck.errors import UsageError
from encheck.gating.advice import partial_gate_reason
from encheck.gating.types import EXIT_CODES, Gate, JudgementSummary, Outcome, UnjudgedSearch
from encheck.gating.unlabelled_search import (
    LOSS,
    REPEATS,
    Judgement,
    Judgements,
    JudgingPool,
    JudgingQuery,
    advise_on_open_search,
    decide_by_judgements,
    read_judgements,
    save_answers,
)
from encheck.reporting.answers import AGAIN, PLAN, SHEET, Disagreement, read_compared_queries, read_disagreements
from encheck.reporting.results import read_results, writable_folder
from encheck.system.documents import read_json
from encheck.system.files import write_text
from encheck.system.terminal import LINES, make_visible

KEYS = "[1] [2] is better  [=] equally good  [0] neither  [u]ndo  [q]uit"
KEY_ANSWERS = {"1": "1", "2": "2", "=": "equal", "e": "equal", "0": "neither", "n": "neither"}
VERSION = 2
MIN_AGREEMENT = 0.8  # share of repeated pairs: with less agreement, judgements are unreliable
MAKE_GATE_REMEDY = "Make one with: encheck gate NEW OLD --data FOLDER --queries FILE"


@dataclass(frozen=True)
class ShownPair:
    """A query with two answers as people see them: `first` above `second`. `again` is true for a repeated pair."""

    asked: JudgingQuery
    query: str
    first: str
    second: str
    is_swapped: bool
    again: bool = False

    def parse_answer(self, said: str) -> Judgement:
        """Return the judgement about baseline and candidate for the answer "1", "2", "equal" or "neither"."""
        if said in ("equal", "neither"):
            return said  # type: ignore[return-value]
        return "after" if (said == "2") != self.is_swapped else "before"


@dataclass(frozen=True)
class Judging:
    """The folder of a gate: its `gate`, the `search` to judge, the queries to show, and the file with the answers."""

    folder: Path
    gate: Gate
    search: UnjudgedSearch
    pool: JudgingPool
    disagreements: Mapping[str, Disagreement]
    qrels: Path

    @property
    def command(self) -> str:
        """The command that continues judging. It names the judgements file unless this is the default."""
        kept = (
            "" if self.qrels == _default_qrels(self.folder, self.search) else f" --qrels={shlex.quote(str(self.qrels))}"
        )
        return f"encheck judge {shlex.quote(str(self.folder))}{kept}"

    @property
    def baseline(self) -> str:
        """The name of the model that is to be replaced."""
        return self.gate.against[0].baseline

    def draw_answer_order(self, query: JudgingQuery, *, again: bool = False) -> ShownPair:
        """Return the query with its answers in random order. A repeat gets an order of its own."""
        one = self.disagreements[query.item]
        texts, is_swapped = [one.before.text, one.after.text], query.is_swapped(self.pool.seed, again=again)
        first, second = texts[::-1] if is_swapped else texts
        return ShownPair(query, one.query, first, second, is_swapped, again)

    def summarise_judgements(self, known: Judgements) -> JudgementSummary:
        """Return the decision that follows from these judgements."""
        return decide_by_judgements(self.pool, known.answers_to(self.pool.order), baseline=self.baseline)

    @property
    def planned_queries(self) -> tuple[JudgingQuery, ...]:
        """Return all queries that people may be asked, in order."""
        return self.pool.order[: self.pool.looks[-1]]

    def next_pair(self, known: Judgements, again: Mapping[str, Judgement]) -> ShownPair | None:
        """Return the next pair to show, or None if all planned pairs are judged.

        `again` has the judgements of repeated pairs.
        """
        answered = self.summarise_judgements(known).answered
        due = next((q for q, after in self.pool.repeats if after <= answered and q.query not in again), None)
        if due:
            return self.draw_answer_order(due, again=True)
        return next((self.draw_answer_order(q) for q in self.planned_queries if known.answer_to(q) is None), None)

    def read_repeats(self) -> dict[str, Judgement]:
        """Return the judgements of repeated pairs, by query. Raise UsageError if the file cannot be read."""
        path = self.folder / AGAIN
        if not path.exists():
            return {}
        try:
            found = read_json(path)
        except (OSError, ValueError) as error:
            raise UsageError(f"{path} cannot be read: {error}. Remove it; it is not needed") from error
        if not isinstance(found, dict) or not all(isinstance(one, str) and one in LOSS for one in found.values()):
            raise UsageError(f"{path} should have one answer per query: {', '.join(LOSS)}. Remove it; it is not needed")
        return found

    def save_repeats(self, again: Mapping[str, Judgement]) -> None:
        """Write the judgements of repeated pairs."""
        with writable_folder(self.folder):
            write_text(self.folder / AGAIN, json.dumps(again, indent=1) + "\n")

    def agreement_text(self, known: Judgements) -> str:
        """Return how many repeated pairs were judged the same, with a warning if too few; empty without repeats."""
        again = self.read_repeats()
        pairs = [(known.answer_to(q), again[q.query]) for q, _ in self.pool.repeats if q.query in again]
        agreed = sum(first == second for first, second in pairs)
        if not pairs:
            return ""
        told = f"{len(pairs)} pairs were shown twice, and {agreed} were judged the same both times"
        if agreed >= MIN_AGREEMENT * len(pairs):
            return told
        return (
            f"WARNING: {told}. With fewer than {ceil(MIN_AGREEMENT * REPEATS)} of {REPEATS} these judgements are "
            "unreliable. Define what a better answer is, or have another person judge into another file (--qrels FILE)"
        )


def open_judging(folder: Path, *, qrels: Path | None = None) -> Judging:
    """Open a gate's folder, and fix its plan if it has none. Raise UsageError if there is nothing to judge.

    `qrels` is the judgements file; by default it is next to the query log.
    """
    results = read_results(folder)
    gate = results.gate
    if gate is None:
        raise UsageError(f"{folder} holds a run without a gate, so there is nothing to judge. {MAKE_GATE_REMEDY}")
    asked = read_compared_queries(folder)
    found = {one.item: one for one in read_disagreements(folder)}
    if len({one.data for one in found.values()}) > 1:
        raise UsageError(f"{folder} has answers on several data sets: judge one at a time. {MAKE_GATE_REMEDY}")
    if not found:
        raise UsageError(
            f"{folder}: both models have the same first answer to every query, so there is nothing to judge"
        )
    search = next((one for against in gate.against[:1] for one in against.searches), None)
    if search is None:
        raise UsageError(f"{folder}: results.json has no search without labels from a gate. {MAKE_GATE_REMEDY}")
    place = qrels or _default_qrels(folder, search)
    if not place.parent.is_dir():
        raise UsageError(
            f"the directory {place.parent}, which holds the judgements, does not exist. Run this where the gate was "
            f"run, or name a file with --qrels FILE"
        )
    seed = results.run.settings.seed
    pool = JudgingPool(asked, seed, search.delta, search.least, search.alpha)
    judging = Judging(folder, gate, search, pool, found, place)
    _write_plan(judging)
    return judging


def _default_qrels(folder: Path, search: UnjudgedSearch) -> Path:
    """Return the default judgements file, next to the query log."""
    return Path(search.qrels or folder / "judgements.qrels")


def _write_plan(judging: Judging) -> None:
    """Write the plan before the first answer. Raise UsageError if the folder has another plan."""
    pool, path = judging.pool, judging.folder / PLAN
    plan = {
        "version": VERSION, "pool": pool.fingerprint, "seed": pool.seed, "alpha": pool.alpha, "looks": [*pool.looks],
        "repeats": [[q.query, after] for q, after in pool.repeats],
    }  # fmt: skip
    if not path.exists():
        with writable_folder(judging.folder):
            write_text(path, json.dumps(plan, indent=1) + "\n")
        return
    try:
        there = read_json(path)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path} cannot be read: {error}. Remove it to make the plan again; answers are kept"
        ) from error
    if there != plan:
        raise UsageError(
            f"{path} is the plan for other answers, or was edited: the plan is fixed before the first answer. Run "
            f"the gate again, into a new folder; answers are kept in {judging.qrels}"
        )


def ask_people(judging: Judging, *, ask: Callable[[str], str], show: Callable[[str], object]) -> JudgementSummary:
    """Show queries with both answers and `ask` which is better, until the answers decide or the user quits.

    Every answer is saved at once. Undo removes the last one.
    """
    known, again = read_judgements(judging.qrels), judging.read_repeats()
    pairs = {q.pair: q for q in judging.pool.order}
    if before := len(known.answers_to(judging.planned_queries)):
        show(f"{before:,} of these queries were judged before")
    most, last_repeat, has_asked = len(judging.planned_queries) + len(judging.pool.repeats), "", False
    while one := judging.next_pair(known, again):
        if not (judging.summarise_judgements(known).left or (has_asked and one.again)):
            break
        number = len(known.answers_to(judging.planned_queries)) + len(again) + 1
        lines = (
            f"\n{number:,} of at most {most:,}",
            _one_line(one.query),
            f"1  {_one_line(one.first)}",
            f"2  {_one_line(one.second)}",
        )
        show("\n  ".join(lines))
        said = ask(KEYS).strip().lower()[:1]
        if said == "q":
            break
        if said in KEY_ANSWERS and one.again:
            again, last_repeat, has_asked = (
                {**again, one.asked.query: one.parse_answer(KEY_ANSWERS[said])},
                one.asked.query,
                True,
            )
            judging.save_repeats(again)
        elif said in KEY_ANSWERS:
            known, last_repeat, has_asked = (
                save_answers(judging.qrels, [(one.asked, one.parse_answer(KEY_ANSWERS[said]))]),
                "",
                True,
            )
        elif said == "u" and last_repeat:
            again, last_repeat = {query: answer for query, answer in again.items() if query != last_repeat}, ""
            judging.save_repeats(again)
        elif said == "u" and (last := pairs.get(next(reversed(list(known.scores)), ("", "", "")))):
            known = save_answers(judging.qrels, [(last, None)])
        else:
            show("there is nothing to undo" if said == "u" else f"{said!r} is not an answer")
    return judging.summarise_judgements(known)


def _one_line(text: str) -> str:
    return make_visible(" ".join(text.split()))


def gate_with_judgements(judging: Judging, judged: JudgementSummary) -> Gate:
    """Return the folder's gate, updated with these judgements."""
    gate, against = judging.gate, judging.gate.against[0]
    was, now = replace(judging.search, judged=None), replace(judging.search, judged=judged)
    # the gate's reasons against the candidate that judging does not change
    stays = [text for text in against.reasons if not text.startswith(f"{was.name}: {was.said}; ")]
    stays += [f"against {one.baseline}: {one.outcome}" for one in gate.against[1:] if one.outcome != "pass"]
    is_blocked = gate.outcome == "block" and bool(stays)
    own = [f"{now.name}: {now.says}"] if not now.passes else []
    outcome: Outcome
    if is_blocked or now.blocks:
        outcome, reasons = "block", [*(stays if is_blocked else ()), *(own if now.blocks else ())]
    else:
        outcome, reasons = ("inconclusive" if own or stays else "pass"), [*own, *stays]
    if gate.partial and outcome == "pass":
        outcome, reasons = "inconclusive", [partial_gate_reason(gate.partial.why)]
    command = judging.command if judged.left and not gate.partial else None
    search = replace(
        now, left=judged.left, judge=command, asks="" if gate.partial else advise_on_open_search(now, command or ""),
        lost_queries=tuple(judging.disagreements[item].changed for item in judged.lost) if now.blocks else (),
    )  # fmt: skip
    # an inconclusive gate keeps its exit code
    code = gate.exit_code if outcome == gate.outcome == "inconclusive" else EXIT_CODES[outcome]
    remedies = against.remedies if outcome == "inconclusive" else ()
    shown = replace(against, outcome=outcome, reasons=tuple(reasons), searches=(search,), remedies=remedies)
    return Gate(outcome, code, gate.partial, (shown,))


PAGE_ANSWERS = ("1", "2", "equal", "neither")
AGAIN_PREFIX = "again/"


def write_judging_page(judging: Judging) -> tuple[Path, int]:
    """Write judging.html with the remaining pairs, and return its path and the number of pairs."""
    known, again = read_judgements(judging.qrels), judging.read_repeats()
    due = {after: q for q, after in judging.pool.repeats if q.query not in again}
    asked: list[ShownPair] = []
    looks: list[int] = []
    done = 0
    for count, q in enumerate(judging.planned_queries, start=1):
        if known.answer_to(q) is None:
            asked.append(judging.draw_answer_order(q))
        else:
            done += 1
        if asked and count in due:
            asked.append(judging.draw_answer_order(due[count], again=True))
        if asked and count in judging.pool.looks:
            looks.append(len(asked))
    path = judging.folder / SHEET
    with writable_folder(judging.folder):
        import jinja2

        # every text of the page is escaped, and nothing but its own script may run
        script = _read_resource("sheet.js")
        digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode()
        environment = jinja2.Environment(
            loader=jinja2.FunctionLoader(_read_resource), autoescape=True, undefined=jinja2.StrictUndefined,
            trim_blocks=True, finalize=_visible_text,
        )  # fmt: skip
        page = environment.get_template("sheet.html").render(
            policy=f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; base-uri 'none'",
            script=script,
            plan=judging.pool.fingerprint,
            questions=[(f"{AGAIN * one.again}{one.asked.query}", one) for one in asked],
            looks=" ".join(map(str, looks)),
            done=done,
        )
        write_text(path, page)
    return path, len(asked)


def _visible_text(value: Any) -> Any:
    return make_visible(value, keep=LINES) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _read_resource(name: str) -> str:
    return resources.files("encheck.operations.judge").joinpath(name).read_text("utf-8")


def import_answers(judging: Judging, path: Path) -> Judgements:
    """Add the answers of a file that the page saved. Raise UsageError, and add no answer, if the file has a fault."""
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
    again, kept = judging.read_repeats(), list[tuple[JudgingQuery, Judgement]]()
    for name, said in found["answers"].items():
        query = name.removeprefix(AGAIN_PREFIX)
        if query not in (known if query == name else repeated):
            raise UsageError(f"{path} answers query {name!r}, which {judging.folder} does not ask")
        if said not in PAGE_ANSWERS:
            raise UsageError(
                f"{path}: the answer to query {name!r} is {said!r}, but should be {', '.join(PAGE_ANSWERS)}"
            )
        answer = judging.draw_answer_order(known[query], again=query != name).parse_answer(said)
        if query == name:
            kept.append((known[query], answer))
        else:
            again[query] = answer
    judgements = save_answers(judging.qrels, kept)
    if again:
        judging.save_repeats(again)
    return judgements
