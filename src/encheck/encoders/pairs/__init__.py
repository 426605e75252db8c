"""Models that score pairs of texts."""
