"""Pytest's side of a run: collection, cases, locks, xdist, and the end of a run."""
