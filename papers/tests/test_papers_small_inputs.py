"""Small files of the papers' encoders that ask for much time or memory are refused in one error that names the file."""

import re

import pytest
import tiny_papers
from test_small_inputs import deflated, laughing, used

from encheck.errors import EncheckError


def expanded(own):
    """A tensor of a billion numbers that are all one."""
    import torch

    path = next(own.glob("infersent*.pkl"))
    state = torch.load(path, weights_only=True)
    state["enc_lstm.weight_ih_l0"] = torch.zeros(1).expand(24, 10**8)
    torch.save(state, path)


HARMS = {
    "a deflated member": ("laser2", deflated, "laser2.pt unpacks to more bytes than it has"),
    "a tensor that repeats a number": ("infersent", expanded, r"tensor of shape \(24, 100000000\) of fewer"),
    "tuples of tuples": ("laser2", laughing, "laser2.pt is not a file of weights .*expand to more than 10,000,000"),
}


@pytest.mark.parametrize(("name", "harm", "expected"), HARMS.values(), ids=HARMS)
def test_a_small_file_that_asks_for_much_is_refused(name, harm, expected, tmp_path):
    entry = tiny_papers.BUILDERS[name](tmp_path)
    harm(tmp_path)
    with pytest.raises(EncheckError, match=rf"{re.escape(str(tmp_path))}.*{expected}"):
        used(entry)
