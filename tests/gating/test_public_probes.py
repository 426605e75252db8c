"""The embedded probes are public: who knows them by heart passes on them and is caught on other texts."""

import pytest
from gate_fakes import given
from measuring import Vectors, measured
from recorded import run_file

from encheck.datasets.load import load
from encheck.encoders.fake import Oracle
from encheck.gating.baseline import model_tables, read_baseline, save_baseline
from encheck.gating.comparison import gate_against_baseline
from encheck.items import crossed

CASE = "number_is_seen_in_both_directions"
SEED = 11


def tables(encoder, items):
    scores = measured(items, Vectors(encoder))
    return {f"{CASE}/m-d-1": scores.to_item_frame(f"{CASE}/m-d-1", items)}


def gate(folder, items):
    """What becomes of the cheat, against a model that has the ability."""
    claim = {"family": "meaning changed", "metric": "both_directions", "gates": "directions_mean"}
    said = run_file(given(tested="number", check=CASE) | {"claims": {CASE: claim}})
    cheats = Oracle()  # it has the embedded probes by heart; a random direction elsewhere
    before = tables(Oracle(fresh=SEED), items)
    save_baseline(folder, said, model_tables(said, before, "m"), model="m")
    return gate_against_baseline(read_baseline(folder), said, tables(cheats, items), model="m").decision


@pytest.mark.parametrize(("data", "outcome"), [("probes", "pass"), (f"probes:fresh={SEED}", "block")])
def test_a_model_that_knows_the_public_probes_by_heart_passes_on_them_and_is_blocked_on_fresh_ones(
    tmp_path, data, outcome
):
    items = crossed("number")(load(data, sample=None), 1, None).included
    found = gate(tmp_path / "base", items)
    assert found.outcome == outcome, found.reasons
