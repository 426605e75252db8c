"""Comparing."""
