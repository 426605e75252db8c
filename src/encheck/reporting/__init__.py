"""What becomes of a run: results.json and the per-item file first, everything else derived from them."""
