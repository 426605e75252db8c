"""Write the outputs of a run: first results.json and items.parquet, then everything that derives from them."""
