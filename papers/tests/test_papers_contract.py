"""What every adapter promises, for the encoders of the papers."""

import pytest
import tiny_papers
from test_adapters_contract import *  # noqa: F403


@pytest.fixture(scope="module", params=tiny_papers.ENCODERS)
def entry(request, tmp_path_factory):
    """The adapter's name here, and an entry of models.yaml for a tiny model of its kind."""
    return request.param, tiny_papers.ENCODERS[request.param](tmp_path_factory.mktemp(request.param))
