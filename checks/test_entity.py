"""Another name is another thing; another name of the same thing is not (docs/probes.md).

Answering a question about one company with another's figures is the costliest kind of wrong answer, yet the two texts
share nearly all their words.
"""

from encheck import claim
from encheck.generators.phenomenon import phenomenon
from encheck.items import contrast, crossed
from encheck.metrics import adjusted_rate, both_directions, directions_mean, margin_rate, mean_margin
from encheck.metrics.crossed import figures


@claim(
    contrast(phenomenon("entity", "kept"), phenomenon("entity", "changed")),
    property="entity",
    tells="another name from another way to write the same name",
    capability="facts",
    metric=adjusted_rate.calibrated,
    gates=margin_rate,
    floor=0.5,
    aim=0.8,
    source="docs/probes.md",
    means="Questions about one company, person or place get answers about another more often.",
    headline=True,
)
def test_other_entity_is_farther_than_edit_that_keeps_the_meaning(scores, judge, report, epsilon):
    """Naming another thing moves the sentence farther than another name of the same thing."""
    report(margin_rate(scores, epsilon=epsilon), margin_rate(scores.calibrated, epsilon=epsilon))
    report(mean_margin(scores), mean_margin(scores.calibrated))
    judge(adjusted_rate(scores.calibrated, epsilon=epsilon))


@claim(
    contrast(phenomenon("entity", "kept"), phenomenon("entity", "control")),
    property="entity",
    tells="another way to write the same name from another statement",
    capability="facts",
    metric=margin_rate.calibrated,
    floor=0.5,
    aim=0.8,
    source="docs/probes.md",
    means="Texts that say something else more often rank above texts about the same entity.",
)
def test_other_statement_is_farther_than_edit_that_keeps_the_entity(scores, judge, report, epsilon):
    """A different statement in the same place is farther than another name of the same thing."""
    report(margin_rate(scores, epsilon=epsilon), mean_margin(scores), mean_margin(scores.calibrated))
    judge(margin_rate(scores.calibrated, epsilon=epsilon))


@claim(
    crossed("entity"),
    property="entity",
    tells="one name from another",
    capability="facts",
    metric=both_directions.calibrated,
    gates=directions_mean,
    floor=0.25,
    aim=0.8,
    source="docs/probes.md",
    means="Texts about two different companies, people or places are mixed up more often.",
)
def test_entity_is_seen_in_both_directions(scores, judge, report, epsilon):
    """Of two sentences that name different things, each is nearer to its own version under another name."""
    report(*figures(scores.calibrated, epsilon=epsilon))
    judge(both_directions(scores.calibrated, epsilon=epsilon))
