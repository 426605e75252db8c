"""An edit still shows inside a longer text (158 groups of the probes, docs/method/probes.md).

Documents are embedded in chunks. If one sentence of a chunk changes its meaning, the chunk's vector has to move.
Otherwise search cannot tell the corrected page from the wrong one.
"""

from encheck import claim
from encheck.items import passage_triplets
from encheck.metrics import margin_rate
from encheck.presets import MARGINS

EDITED = (  # the order counts: a hash of the sentence picks one of its edits
    "negation", "number", "role_reversal", "temporal", "quantifier", "modality", "entity", "binding", "comparative",
)  # fmt: skip


@claim(
    passage_triplets(EDITED),
    levels=(1, 3, 8),
    property="dilution",
    tells="a changed fact from a reworded one inside a passage",
    capability="context",
    metric=margin_rate.calibrated,
    show=(margin_rate, *MARGINS),
    aim=0.8,
    source="docs/method/probes.md",
    means="A corrected page looks like its old version more often, so search and deduplication miss the change.",
    headline=True,
)
def test_changed_meaning_shows_in_a_passage(judge):
    """In a passage of one, three or eight sentences, a rewording is nearer than a change of meaning."""
    judge()
