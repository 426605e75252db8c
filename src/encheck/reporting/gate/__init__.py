"""Describe a gate in words and table rows, and store it in results.json."""
