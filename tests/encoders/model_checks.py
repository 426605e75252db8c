"""What the tests of encheck's models and of the papers' ask alike."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from encheck.encoders.adapters import find_adapter
from encheck.encoders.load import detect_adapter, find_or_make_model_config, load_model
from encheck.encoders.model_config import Device
from encheck.encoders.models_file import apply_model_args, known_models
from encheck.encoders.protocol import FittedModel
from encheck.relations import pairs_drift, swap_drift
from encheck.strategies import hostile_texts, sentences

CPU = Device("cpu")
LENGTHS = [(3, 300), pytest.param(60, 20_000, marks=pytest.mark.long)]  # examples, characters of the longest


def check_detection(made, adapter, why):
    """A path is taken for this adapter, with this reason, and encodes."""
    assert detect_adapter(Path(made.name)) == (adapter, why)
    config = find_or_make_model_config(made.name, known_models())
    assert config.adapter == adapter
    assert config.description == f"loaded as a {find_adapter(adapter).what}: {why}"
    model = load_model(apply_model_args(config, dict(made.options)), device=CPU)
    assert np.isfinite(model.encode(["the dog"])).all()


def check_refusal(config, harm, kind, expected, *, named):
    """After this harm the model is refused with this error, which names a path."""
    harm(Path(config.name))
    with pytest.raises(kind, match=expected) as caught:
        load_model(config, device=CPU).encode(["the dog"])
    assert named in str(caught.value)


def check_half_surrogates(model):
    """Halves of surrogate pairs are read."""
    texts = ["the dog \ud800 sings", "a cat"]
    if isinstance(model, FittedModel):
        model.fit(texts)
    assert np.isfinite(model.score_pairs(texts, texts)).all()


def check_any_text(model, examples, longest, *, symmetric=False):
    """Scores are finite, and depend on no other pair; where `symmetric`, on no order either."""
    any_text = st.one_of(sentences(), hostile_texts(max_size=longest))

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.tuples(any_text, any_text), min_size=1, max_size=3))
    def hold(pairs):
        first, second = zip(*pairs, strict=True)
        assert np.isfinite(model.score_pairs(first, second)).all()
        assert pairs_drift(model, first, second) <= 1e-5
        if symmetric:
            assert swap_drift(model, first, second) <= 1e-5

    hold()
