"""Gating."""
