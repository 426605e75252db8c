"""What every published encoder fails, with the source that says so: known by default, never hidden."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

CRITERION_3 = "all five encoders of Mahajan et al. 2023 fail criterion 3 (section 6, Figures 1 and 2)"
CRITERION_4 = "all five encoders of Mahajan et al. 2023 fail criterion 4 (section 6, Figures 3 to 6)"
HARD_NEGATIVES = "no encoder of Mahajan et al. 2023 tells negatives of the same words apart (PAWS-Wiki, Table 3)"
LOOKALIKES = "word overlap still decides: all systems of Peinelt et al. 2019 lose on non-obvious pairs (Tables 6 to 8)"
RANDOM_WORD = "an antonym shares more contexts with a word than a random word does (Mrksic et al. 2016, NAACL)"
ORDER = f"word order decides here: {CRITERION_4}; argument roles are hard for others too (Zhu et al. 2018, ACL)"
QUANTIFIERS = "sentence embeddings hardly tell quantifiers and negations apart (Zhu et al. 2018, ACL)"
DILUTED = "half of these edits are of order, roles and quantifiers, which encoders tell apart badly in short texts too"

COPIES = "the encoders of Peng et al. 2023 put 28 to 49% of paraphrases above copies with words exchanged (Table 5)"
SWAPS = f"word order decides here: {CRITERION_4}"

DEFAULT: dict[str, str] = {
    "paraphrase_is_nearer_than_non_paraphrase/probes*/*": HARD_NEGATIVES,
    "paraphrase_is_nearer_than_non_paraphrase/paws*/*": HARD_NEGATIVES,
    "unlike_paraphrase_is_nearer_than_lookalike/probes*/*": LOOKALIKES,
    "unlike_paraphrase_is_nearer_than_lookalike/mrpc*/*": LOOKALIKES,
    "unlike_paraphrase_is_nearer_than_lookalike/paws*/*": LOOKALIKES,
    "antonym_is_farther_than_paraphrase": CRITERION_3,
    "antonym_is_farther_than_synonym_of_the_same_word": CRITERION_3,
    "antonym_is_farther_than_control": RANDOM_WORD,
    "jumble_is_farther_than_paraphrase": CRITERION_4,
    "jumble_is_farther_than_reorder/*/1": CRITERION_4,
    "role_reversal_is_farther_than_reorder": CRITERION_4,
    "exchange_of_roles_is_farther_than_edit_that_keeps_the_meaning": ORDER,
    "other_order_of_events_is_farther_than_edit_that_keeps_the_meaning": ORDER,
    "unrelated_word_is_farther_than_edit_that_keeps_the_order_of_events": ORDER,
    "other_quantifier_is_farther_than_edit_that_keeps_the_meaning": QUANTIFIERS,
    "changed_meaning_shows_in_a_passage": DILUTED,
    "paraphrase_ranks_above_its_swaps/*/pivot=a": SWAPS,
    "rewrite_ranks_above_swaps/*/pivot=a": SWAPS,
    "paraphrase_ranks_above_its_swaps/*/pivot=b": COPIES,
    "rewrite_ranks_above_swaps/*/pivot=b": COPIES,
}


def known_failure(claim: str, data: str, level: str, entries: Mapping[str, str] | None) -> str | None:
    """The reason why this failure is known, or None.

    `entries` are a model's own; a model without any has the default ones. Their keys are `claim`, or patterns of
    `claim/data/level`; the longest that matches wins.

    >>> known_failure("antonym_is_farther_than_paraphrase", "mrpc", "1", {"antonym_*/mrpc/*": "old"})
    'old'
    """
    table = DEFAULT if entries is None else entries
    name = f"{claim}/{data}/{level}"
    keys = [key for key in table if fnmatchcase(name, key if "/" in key else f"{key}/*")]
    return table[max(keys, key=len)] if keys else None
