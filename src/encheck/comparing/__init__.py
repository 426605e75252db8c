"""Runs side by side: models, seeds, and the predictions of others."""
