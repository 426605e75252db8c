"""Thresholds and stored indexes."""
