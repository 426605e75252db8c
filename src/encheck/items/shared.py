"""From a search with labels to contrasts: queries and their right documents that say the same number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from encheck.datasets.collection import MOST_SEARCHED_TEXTS, Collection, CollectionQuery
from encheck.datasets.dataset import Dataset
from encheck.datasets.splitting import split
from encheck.generators.shared_number import NAME, NONE, Shared, shared_number
from encheck.ids import ItemId
from encheck.items.builders import collect
from encheck.items.variants import Maker
from encheck.language.numbers.mentions import MAYBE
from encheck.scoring.contrasts import Contrast
from encheck.scoring.item import Items
from encheck.types import content_hash

WORDS = 150  # of a document: the passage that says the number, where it is longer
PASSAGES = 4  # of the right documents of a query, that hold a number: the first ones


def shared_numbers(dataset: Dataset, found: Collection, maker: Maker) -> Items:
    """Each query and its right document against both with another number; at most `MOST` queries, by their hash.

    NothingToMeasure where no query says a number of its document.
    """
    asked = sorted(found.queries, key=lambda q: content_hash(q.text))[:MOST_SEARCHED_TEXTS]
    places = [(q, _passages(found, q) if MAYBE.search(q.text) else []) for q in asked]
    if maker.english.mode != "paper":
        maker.english.parse_all(text for q, some in places if some for text in (q.text, *some))
    return collect(dataset, (_contrast(dataset.name, q, some, maker) for q, some in places))


def _passages(found: Collection, query: CollectionQuery) -> list[str]:
    """The passages of its right documents that hold a number, best documents first."""
    best = sorted(query.right, key=lambda name: (-query.right[name], name))
    texts = (text for name in best for text in split(found.documents[name], words=WORDS) if MAYBE.search(text))
    return [text for _, text in zip(range(PASSAGES), texts, strict=False)]


def _contrast(name: str, query: CollectionQuery, passages: Sequence[str], maker: Maker) -> Contrast | str:
    if maker.english.mode == "paper":
        return "the published recipe has no numbers"
    made = list(_made(query, passages, maker))
    both = next((one for one in made if isinstance(one, Shared)), None)
    if both is None:
        return str(made[0]) if made else NONE
    item = ItemId.of(name, content_hash(*both.queries, *both.documents), "contrast", 1, NAME)
    return Contrast(item, both.queries, both.documents, query.cluster)


def _made(query: CollectionQuery, passages: Sequence[str], maker: Maker) -> Iterator[Shared | str]:
    english = maker.english
    for text in passages:
        yield shared_number(english.parse(query.text), english.parse(text), seed=maker.seed)
