"""Stored vectors against a model: whose they are, which are wrong, and of which text."""
