"""From a data set and generators to the items of a check: what `@claim(items=...)` takes."""

from encheck.items.builders import (
    against_paraphrase,
    against_random_pairs,
    both_orders,
    contrast,
    contrast_of_noise,
    edited,
    graded_pairs,
    in_passages,
    labelled_pairs,
)
from encheck.items.chains import continuation_chains, swap_chains
from encheck.items.classified import classified
from encheck.items.crossed import crossed
from encheck.items.known import headings, titles
from encheck.items.own import OwnProperty
from encheck.items.searches import contrasts, cut, logged_queries, queries, random_pairs, ranked_queries, repeated

__all__ = [
    "OwnProperty",
    "against_paraphrase",
    "against_random_pairs",
    "both_orders",
    "classified",
    "continuation_chains",
    "contrast",
    "contrast_of_noise",
    "contrasts",
    "crossed",
    "cut",
    "edited",
    "graded_pairs",
    "headings",
    "in_passages",
    "labelled_pairs",
    "logged_queries",
    "queries",
    "random_pairs",
    "ranked_queries",
    "repeated",
    "swap_chains",
    "titles",
]
