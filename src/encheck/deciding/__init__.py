"""Thresholds, upgrades and canaries."""
