"""The gate: from two runs to paired figures, and from these to a decision."""
