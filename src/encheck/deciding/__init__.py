"""Thresholds, upgrades and stored indexes."""
