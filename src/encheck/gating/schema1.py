"""What runs and baselines of schema 1 do not say: the declaration of their checks, by the names these had.

The only place where names of checks stand; nothing that declares itself is looked up here.
"""

from __future__ import annotations

from dataclasses import replace

from encheck.claims import CONTRACT
from encheck.types import Declaration

FAMILIES = {
    "meaning kept": ("paraphrase", "synonym", "nonobvious", "sts"),
    "order": ("jumble", "roles", "role_reversal", "swapchain"),
    "retrieval": ("retrieval",),
    "invariance": ("invariance", "symmetry"),
    "health": ("health",),
    CONTRACT: (CONTRACT,),
}
CRITERIA = {"paraphrase": 1, "synonym": 2, "antonym": 3, "jumble": 4}
_KNOWN = {
    "nonobvious": Declaration(
        metric="auc_n", reported="an AUC rises with damage", part="test", pictures=("divergence",)
    ),
    "sts": Declaration(metric="spearman", reported="a correlation has no figure an item", part="test"),
    "contract": Declaration(metric="contract_kept", reported="it holds, or it blocks"),
    "retrieval": Declaration(metric="recall_at_1", gates="recall_at_1"),
    "health": Declaration(metric="recall_at_1", gates="recall_at_1"),
    "swapchain": Declaration(
        metric="r_precision", gates="r_precision", part="test", pictures=("profile",), step="swaps"
    ),
    "continuation": Declaration(
        metric="r_precision", gates="r_precision", part="test", pictures=("profile",), step="five words more, each time"
    ),
}  # fmt: skip
_HEALTH = {
    "random_pairs_are_apart": "room",
    "random_pairs_are_alike_in_distance": "steadiness",
    "no_sentence_is_near_to_all": "evenness",
}
RENAMED = {"spread": "steadiness", "hubs": "evenness"}  # rows of the gate


def declaration(check: str, claim: str) -> Declaration:
    """What a check declared that had this marker and name."""
    found = _KNOWN.get(check, Declaration())
    if check == "health" and claim in _HEALTH:
        found = Declaration(metric=_HEALTH[claim], gates=_HEALTH[claim])
    if claim == "end_of_a_long_text_is_seen":
        found = replace(found, metric="ends_seen")
    family = next((name for name, checks in FAMILIES.items() if check in checks), "meaning changed")
    return replace(found, property=check, family=family, criterion=CRITERIA.get(check, 0))


def row_named(capability: str) -> str:
    """What a row of the gate is called now.

    >>> row_named("health/probes/1/hubs")
    'health/probes/1/evenness'
    """
    stem, _, last = capability.rpartition("/")
    return f"{stem}/{RENAMED[last]}" if last in RENAMED else capability
