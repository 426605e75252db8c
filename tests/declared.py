"""What checks declare, by property or by name, for rows and tables that tests make by hand."""

from dataclasses import asdict

from encheck.engine.checks import packaged_checks
from encheck.types import Declaration

DECLARED = {
    "nonobvious": Declaration(
        "nonobvious", "meaning kept", metric="auc_n", reported="an AUC rises with damage", part="test"
    ),
    "sts": Declaration(
        "sts", "meaning kept", metric="spearman", reported="it decides with --for similarity", part="test"
    ),
    "contract": Declaration("contract", "contract", metric="contract_kept", reported="it holds, or it blocks"),
    "retrieval": Declaration("retrieval", "retrieval", metric="recall_at_1", gates="recall_at_1"),
    "swapchain": Declaration("swapchain", "order", metric="r_precision", gates="r_precision", part="test"),
    "random_pairs_are_apart": Declaration("health", "health", metric="room", gates="room"),
    "random_pairs_are_alike_in_distance": Declaration("health", "health", metric="steadiness", gates="steadiness"),
}


def claim_of(name):
    """The claim of a check that comes with encheck."""
    return next(one.claim for one in packaged_checks() if one.name == name)


def claims(*rows):
    """What results.json says of the checks of these rows."""
    return {row.check: asdict(DECLARED[row.property]) for row in rows if row.property in DECLARED}
