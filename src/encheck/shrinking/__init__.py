"""Finds the shortest pair or triplet on which a model still errs."""
