"""A passage of several sentences: a number is edited in one of them, and the others stay as they are."""

from encheck.generators.negation import NEGATION
from encheck.generators.number import NUMBER
from encheck.items.variants import VariantMaker
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


def made(generator, seed):
    return VariantMaker(seed, ENGLISH).variants([Group("g", TEXT, TEXT, "c")], generator)[0]


def test_a_number_of_a_passage_is_edited_in_one_sentence_of_it():
    seen = set()
    for seed in SEEDS:
        texts = [
            one.text
            for one in (made(side, seed) for side in NUMBER.generators_from_text.values())
            if isinstance(one, Variant)
        ]
        assert len(texts) >= 3
        (places,) = {tuple(edited(text)) for text in texts}
        assert len(places) == 1
        seen.update(places)
    assert len(seen) > 1  # not always the first one


def test_a_statement_that_other_sentences_go_with_is_not_denied():
    assert {made(side, 0) for side in NEGATION.generators_from_text.values()} == {
        "other sentences belong with the statement"
    }
