"""A hub id is taken apart, and a model that is not in the cache is fetched at the revision that was asked for."""

import pytest

from encheck.encoders.config import known_models
from encheck.encoders.load import config_for


@pytest.mark.parametrize(
    ("given", "name", "revision"),
    [
        ("intfloat/e5-small-v2", "intfloat/e5-small-v2", None),
        ("intfloat/e5-small-v2@dca8b1a9", "intfloat/e5-small-v2", "dca8b1a9"),
        ("owner/name@refs/pr/3", "owner/name", "refs/pr/3"),
    ],
)
def test_a_hub_id_can_name_its_revision(given, name, revision):
    config = config_for(given, known_models())
    assert (config.name, config.revision) == (name, revision)


def test_the_default_model_is_pinned():
    assert len(known_models()["sbert"].revision) == 40
