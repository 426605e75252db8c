"""Decisions about a model, apart from runs and gates: one folder each, with its command. Nothing imports them."""
