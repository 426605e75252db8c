"""A model beside those whose item scores ship: the same items, what is certain, and what is said of it."""

import json
from dataclasses import replace
from importlib import resources
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from gate_fakes import CASE, frame, results, scores
from recorded import run_file, schema
from scipy.stats import ttest_rel

from encheck.datasets.load import load
from encheck.gating.baseline import model_tables, read_baseline, save_baseline
from encheck.gating.comparison import baseline_scores, run_scores
from encheck.gating.reference import SHIPPED, property_differences, shipped_baselines_on_same_data
from encheck.reporting import reference
from encheck.run_file import Reference
from encheck.system.typed_files import as_values
from encheck.verdict import MIN_CLUSTERS

FOLDER = Path(str(resources.files("encheck.gating") / "shipped"))
MOST = 450_000  # bytes of all that ships


def side(near, far, **more):
    return run_scores(results(**more), {f"{CASE}/m-d-1": frame(near, far)}, "m")


def differences(before, now):
    return property_differences(results().checks, before, now)


def against(baseline, now):
    return differences(baseline_scores(baseline, now), now)


def said(before, now, *, role="reference", **more):
    found = differences(side(*before), side(*now))
    return Reference("ckpt", "sbert", role, more.pop("same_weights", False), found, **more)


def test_what_ships_is_small_and_of_the_probes_that_ship():
    files = [path for path in FOLDER.glob("*/*") if path.is_file()]
    assert {path.parent.name for path in files} == set(SHIPPED)
    assert sum(path.stat().st_size for path in files) < MOST
    probes = load("probes")
    data = {"name": "probes", "fingerprint": probes.fingerprint}
    for found in shipped_baselines_on_same_data(run_file({"data": [data], "checks": []})):
        (kept,) = found.summary.data
        assert (kept.version, kept.fingerprint) == (probes.version, probes.fingerprint), (
            "the references are of other probes. Remedy: python lab/recipes/reference.py"
        )
        assert sum(map(len, found.cases.values())) > 30_000
    assert not list(shipped_baselines_on_same_data(run_file({"data": [data | {"fingerprint": "x"}], "checks": []})))


def test_the_p_of_a_mean_is_that_of_the_paired_t_test():
    rng = np.random.default_rng(0)
    far, near = np.full(60, 0.5), rng.normal(0.6, 0.1, 60)
    now = near + rng.normal(0.02, 0.05, 60)
    row = replace(results().checks[0], metric="similarity_gap")
    (found,) = property_differences([row], side(near, far), side(now, far))
    assert found.p == pytest.approx(ttest_rel(near, now).pvalue, rel=1e-4)


def test_a_loss_is_certain_and_noise_is_not():
    (lost,) = differences(side(*scores()), side(*scores(lost=range(40))))
    assert (lost.said, lost.difference, lost.low < lost.difference < lost.high < 0) == ("worse", -0.1, True)
    (same,) = differences(side(*scores()), side(*scores(lost=[3])))
    assert (same.said, same.low < 0 < same.high) == ("cannot tell", True)


def test_what_is_certain_alone_is_not_among_others():
    """Twelve items of four hundred: p is about 0.02, which Holm's correction for four properties makes 0.08."""
    row, before, now = results().checks[0], side(*scores()), side(*scores(lost=range(6)))
    (alone,) = property_differences([row], before, now)
    among = property_differences([replace(row, property=name) for name in "abcd"], before, now)
    assert [alone.said, *{one.said for one in among}] == ["worse", "cannot tell"]
    assert {round(one.p / alone.p, 6) for one in among} == {4}


def test_a_p_needs_as_many_clusters_as_a_verdict():
    lost = [
        differences(side(*scores(n)), side(*scores(n, lost=range(9))))[0].p for n in (MIN_CLUSTERS - 1, MIN_CLUSTERS)
    ]
    assert lost[0] == 1
    assert lost[1] < 0.05


def test_certain_is_rarely_said_of_models_that_differ_by_chance():
    rng, false = np.random.default_rng(0), 0
    for _ in range(40):
        near, far = scores()
        turned = rng.uniform(size=len(near)) < 0.1
        sides = [np.where(turned & (rng.uniform(size=len(near)) < 0.5), -near, near) for _ in range(2)]
        (one,) = differences(*(side(some, far) for some in sides))
        false += one.said != "cannot tell"
    assert false <= 7  # 5% of 40, and four standard errors


def test_other_items_are_no_comparison(tmp_path):
    save_baseline(
        tmp_path / "base", results(), model_tables(results(), {f"{CASE}/m-d-1": frame(*scores(399))}, "m"), model="m"
    )
    assert not against(read_baseline(tmp_path / "base"), side(*scores()))
    save_baseline(
        tmp_path / "same", results(), model_tables(results(), {f"{CASE}/m-d-1": frame(*scores())}, "m"), model="m"
    )
    assert len(against(read_baseline(tmp_path / "same"), side(*scores()))) == 1


def test_every_report_says_the_change_and_whether_it_is_certain():
    one = said(scores(), scores(lost=range(40)))
    told = "\n".join(reference.reference_lines([one]))
    assert "ckpt against sbert, whose item scores ship with encheck, on the same items" in told
    assert "-10.0 [" in told
    assert "] worse" in " ".join(told.split())
    assert "| opposites | 400 | 90% | 80% | -10.0 [" in "\n".join(reference.reference_markdown([one]))
    jsonschema.validate([as_values(one)], schema()["properties"]["references"] | {"$defs": schema()["$defs"]})


def test_the_same_scores_and_the_same_weights_are_said_to_be():
    assert list(reference.reference_lines([said(scores(), scores())])) == ["all scores of ckpt are those of sbert", ""]
    same = said(scores(), scores(lost=range(40)), same_weights=True)
    assert next(reference.reference_lines([same])) == "the weights of ckpt are those of sbert"
    assert reference.sameness_note(said(scores(), scores(), same_weights=True)).endswith(", and so are all scores")


def test_a_surface_scorer_takes_one_line():
    up, down = said(scores(lost=range(40)), scores(), role="surface"), said(scores(), scores(), role="surface")
    assert reference.surface_summary(up).endswith("better, with certainty, in 1 of 1 properties")
    assert reference.surface_summary(down).endswith("in 0 of 1 properties; not in opposites (+0.0)")


@pytest.mark.parametrize(
    ("metadata", "order", "same"),
    [({"format": "pt"}, 1, True), ({}, -1, True), ({"positions": "1"}, 1, True), ({"value": "1"}, 1, False)],
)
def test_weights_are_the_same_however_they_were_saved(tmp_path, metadata, order, same):
    from safetensors.numpy import save_file

    from encheck.encoders.files import tensors_sha256

    tensors = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(4, np.float16)}
    save_file(tensors, tmp_path / "one.safetensors")
    other = dict(list(tensors.items())[::order])
    if "positions" in metadata:
        other["embeddings.position_ids"] = np.arange(9)
    if "value" in metadata:
        other["a"] = other["a"] + 1
    save_file(other, tmp_path / "two.safetensors", metadata=metadata)
    one, two = (tensors_sha256(tmp_path / f"{name}.safetensors") for name in ("one", "two"))
    assert (one == two) is same
    (tmp_path / "no.safetensors").write_bytes(json.dumps({"a": 1}).encode())
    assert len(tensors_sha256(tmp_path / "no.safetensors")) == 64
