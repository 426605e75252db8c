"""What a baseline keeps of a case: small, the same bytes again, and the same verdict as of the whole."""

from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from gate_fakes import CASE, frame, results, scores

from encheck.errors import BaselineError
from encheck.gating.baseline import (
    STEPS,
    BaselineSummary,
    SavedScores,
    model_tables,
    read_baseline,
    round_scores,
    save_baseline,
    write_baseline,
)
from encheck.gating.comparison import gate_against_baseline
from encheck.gating.types import TOLERANCE
from encheck.system.typed_files import as_values, schema_of

SHIPPED = Path(__file__).resolve().parents[2] / "reports/baselines/sbert"
MOST = 250_000  # bytes of the baseline of a default run
FILES = ("baseline.json", "items.parquet")
NAME = f"{CASE}/m-d-1"


def case_of(near, far, **more):
    return {NAME: frame(near, far, **more)}


def table_of(**more):
    (table,) = model_tables(results(), case_of(*scores(), **more), "m").values()
    return table


def test_the_baseline_that_ships_is_small_and_the_same_bytes_again(tmp_path):
    assert sum((SHIPPED / name).stat().st_size for name in FILES) < MOST
    found = read_baseline(SHIPPED)
    for name in ("one", "two"):
        write_baseline(tmp_path / name, found.summary, found.cases)
    one, two = ([(tmp_path / folder / name).read_bytes() for name in FILES] for folder in ("one", "two"))
    assert one == two
    assert sum(map(len, one)) < MOST
    again = read_baseline(tmp_path / "one")
    write_baseline(tmp_path / "three", again.summary, again.cases)
    assert [(tmp_path / "three" / name).read_bytes() for name in FILES] == one
    jsonschema.validate(as_values(again.summary), schema_of(BaselineSummary), cls=jsonschema.Draft202012Validator)


def test_rounding_is_ten_times_below_the_tolerance_of_equal_scores():
    assert 10 * 0.5 / STEPS <= TOLERANCE
    exact = np.random.default_rng(0).uniform(-3, 3, 10_000)
    assert 10 * np.abs(round_scores(exact) - exact).max() <= TOLERANCE


def test_scores_are_those_of_the_item_in_whatever_order_a_run_has_them():
    table = table_of()
    order = np.random.default_rng(0).permutation(len(table.items))
    found = SavedScores.of(table).align_to(table.select(order))
    np.testing.assert_array_equal(found.near, table.near[order])
    np.testing.assert_array_equal(found.far, table.far[order])


def spoilt(**fields):
    """The items of a run, of which the last has something otherwise."""
    some = frame(*scores())
    return {NAME: replace(some, **{name: (*getattr(some, name)[:-1], value) for name, value in fields.items()})}


@pytest.mark.parametrize(
    ("now", "says"),
    [
        (spoilt(sources="another text"), "Of .*, some of its 400 items have other texts"),
        (spoilt(ids="d/another"), "at least 1 of its 400 items are not in this run, and at least 1 are new"),
        (case_of(*scores(390)), "at least 10 of its 400 items are not in this run, and at least 0 are new"),
        ({NAME: replace(frame(*scores()), labels=(None,) * 399 + (1,))}, "in other splits, or with other labels"),
        (spoilt(splits="gate"), "in other splits, or with other labels"),
    ],
)
def test_other_items_are_refused(tmp_path, now, says):
    save_baseline(tmp_path / "base", results(), model_tables(results(), case_of(*scores()), "m"), model="m")
    with pytest.raises(BaselineError, match=says):
        gate_against_baseline(read_baseline(tmp_path / "base"), results(), now, model="m")


def test_clusters_are_those_of_the_run(tmp_path):
    save_baseline(tmp_path / "base", results(), model_tables(results(), case_of(*scores()), "m"), model="m")
    now = case_of(*scores(), clusters=[i // 10 for i in range(400)])
    (row,) = gate_against_baseline(read_baseline(tmp_path / "base"), results(), now, model="m").decision.rows
    assert (row.n, row.clusters) == (400, 40)
