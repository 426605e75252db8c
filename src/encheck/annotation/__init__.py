"""Annotation."""
