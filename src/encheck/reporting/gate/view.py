"""A gate as its page shows it: the story, the steps, every row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from encheck.gating.types import GateAgainst
from encheck.reporting.gate import words
from encheck.reporting.gate.overview import Line, explanations, overview
from encheck.reporting.gate.rows import family_cells
from encheck.reporting.gate.steps import Step, commands, steps
from encheck.reporting.gate.story import NEW, Story, story
from encheck.run_file import RunFile


@dataclass(frozen=True)
class View:
    """The gate against one baseline.

    `stamp` is the verdict in a word, `changes` what has to change with the model, `verdicts` says what those of the
    lines mean, `notes` what there is to know beside it, `families` their cells, and `left_out` the cases that did not
    gate, with the reason.
    """

    baseline: str
    stamp: str
    story: Story
    changes: Sequence[str]
    steps: Sequence[Step]
    lines: Sequence[Line]
    verdicts: Sequence[str]
    families: Sequence[Sequence[str]]
    notes: Sequence[str]
    left_out: Mapping[str, str]


def views(results: RunFile) -> list[View]:
    """The gate of results.json against each of its baselines; none without a gate."""
    gate = results.gate
    if gate is None:
        return []
    models = [model.label for model in results.models]
    to_type = commands(results.run)
    candidate = models[0] if models else NEW
    return [view(one, candidate=candidate, next_steps=steps(one, candidate=candidate, to_type=to_type))
            for one in gate.against]  # fmt: skip


def view(against: GateAgainst, *, candidate: str, next_steps: Iterable[Step] = ()) -> View:
    """Against one baseline."""
    told = story(against, candidate=candidate)
    lines = overview(against)
    return View(
        against.baseline,
        words.word(against) + words.part(against),
        told,
        words.what_has_to_change(against),
        [step for step in next_steps if step.says],
        lines,
        explanations(lines),
        [family_cells(one) for one in against.families],
        _notes(against, told),
        against.reported_only,
    )


def _notes(against: GateAgainst, told: Story) -> list[str]:
    """What is said of the verdict that story and steps do not say."""
    said = {*against.reasons, *(f"to decide: {text}" for text in against.remedies)}
    return [
        *told.others,
        *filter(None, [words.widened(against)]),
        *(x for x in words.explained(against) if x not in said),
    ]
