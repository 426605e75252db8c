"""Find the shortest pair or triplet that a model still gets wrong."""
