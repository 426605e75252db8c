"""Out of memory, simulated, in the encoders of the papers."""

import pytest
import tiny_papers
from test_adapters_memory import *  # noqa: F403
from test_adapters_memory import TEXTS

from encheck.encoders.load import load_model
from encheck.encoders.model_config import Device

SAID = {
    "infersent": "DefaultCPUAllocator: can't allocate memory",
    "laser2": "std::bad_alloc",
    "laser3": "[enforce fail] could not allocate",
}


@pytest.fixture(params=SAID)
def model(request, tmp_path):
    opened = load_model(tiny_papers.ENCODERS[request.param](tmp_path), device=Device("cpu"))
    opened.encode(TEXTS[:1])  # loads it
    return opened, SAID[request.param]
