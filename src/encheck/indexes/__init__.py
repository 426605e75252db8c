"""Compares stored vectors with a model: which are the model's, which are wrong, and which text each belongs to."""
