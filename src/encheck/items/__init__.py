"""Builders, which make the items of a check from a data set and generators: the argument of `@claim(items=...)`."""

from encheck.items.builders import (
    OwnProperty,
    against_paraphrase,
    classified_texts,
    contrast,
    crossed,
    edited_pairs,
    graded_pairs,
    labelled_pairs,
    noise_contrasts,
    pairs_in_both_orders,
    paraphrases_and_random_pairs,
    passage_triplets,
)
from encheck.items.chains import continuation_chains, swap_chains
from encheck.items.searches import (
    contrasts,
    heading_queries,
    logged_queries,
    queries,
    random_pairs,
    ranked_queries,
    repeated_texts,
    shortened_texts,
    title_queries,
)

__all__ = [
    "OwnProperty",
    "against_paraphrase",
    "classified_texts",
    "continuation_chains",
    "contrast",
    "contrasts",
    "crossed",
    "edited_pairs",
    "graded_pairs",
    "heading_queries",
    "labelled_pairs",
    "logged_queries",
    "noise_contrasts",
    "pairs_in_both_orders",
    "paraphrases_and_random_pairs",
    "passage_triplets",
    "queries",
    "random_pairs",
    "ranked_queries",
    "repeated_texts",
    "shortened_texts",
    "swap_chains",
    "title_queries",
]
