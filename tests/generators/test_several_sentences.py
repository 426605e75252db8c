"""A passage of several sentences: all sides edit one place of one sentence, and the others stay as they are."""

import pytest

from encheck.generators.negation import SIDES as NEGATION
from encheck.generators.number import SIDES as NUMBER
from encheck.items.variants import Maker
from encheck.language.english import English
from encheck.types import Group, Variant

ENGLISH = English(experimental=True)
SENTENCES = (
    "The shop sells 40 kinds of bread.",
    "We paid 12 euros for lunch.",
    "The baker closed the oven at 7:30 in the evening.",
    "Many people come on foot.",
)
TEXT = " ".join(SENTENCES)
SEEDS = range(6)


def edited(text):
    """Which sentences are no longer there."""
    return [i for i, sentence in enumerate(SENTENCES) if sentence not in text]


@pytest.mark.parametrize("sides", [NUMBER, NEGATION], ids=["number", "negation"])
def test_an_edit_of_a_passage_is_in_one_sentence_of_it(sides):
    seen = set()
    for seed in SEEDS:
        maker = Maker(seed, ENGLISH)
        made = [maker.variants([Group("g", TEXT, TEXT, "c")], generator)[0] for generator in sides.values()]
        texts = [one.text for one in made if isinstance(one, Variant)]
        assert len(texts) >= 3
        (places,) = {tuple(edited(text)) for text in texts}
        assert len(places) == 1
        seen.update(places)
    assert len(seen) > 1  # not always the first one
