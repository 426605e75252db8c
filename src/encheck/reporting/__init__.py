"""Outputs of a run: results.json and items.parquet first, and everything else derived from them."""
