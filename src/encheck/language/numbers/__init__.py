"""Numbers in English text: what they are worth, how they are written, and how else they can be."""
