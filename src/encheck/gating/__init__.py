"""The gate: from two runs to a decision."""
