"""Comparisons of models and seeds across runs, and scores of other systems' predictions."""
