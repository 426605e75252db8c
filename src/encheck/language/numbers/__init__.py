"""Numbers in English text: their values, and the notations that they can have."""
