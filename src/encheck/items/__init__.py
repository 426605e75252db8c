"""Builders, which make the items of a check from a data set and generators: the argument of `@claim(items=...)`."""

from encheck.items.builders import (
    OwnProperty,
    against_paraphrase,
    against_random_pairs,
    both_orders,
    classified,
    contrast,
    contrast_of_noise,
    crossed,
    edited,
    graded_pairs,
    in_passages,
    labelled_pairs,
)
from encheck.items.chains import continuation_chains, swap_chains
from encheck.items.searches import (
    contrasts,
    cut,
    headings,
    logged_queries,
    queries,
    random_pairs,
    ranked_queries,
    repeated,
    titles,
)

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
