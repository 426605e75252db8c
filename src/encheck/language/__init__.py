"""English, as far as generators need to know it."""
