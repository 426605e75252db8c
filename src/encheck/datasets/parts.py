"""Names of the measured part of a data set, and of the part that thresholds are chosen on."""

VALIDATION = frozenset({"validation", "dev"})
TEST = frozenset({"test", "gate"})  # dev and gate are the probes' own
