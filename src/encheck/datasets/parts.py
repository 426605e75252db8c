"""What data sets call the part that is measured, and the one that thresholds are chosen on."""

VALIDATION = frozenset({"validation", "dev"})
TEST = frozenset({"test", "gate"})  # dev and gate are the probes' own
