"""The page of a run: one file, no network."""
