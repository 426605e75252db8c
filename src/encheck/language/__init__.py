"""English: words, and what else generation needs to know of the language."""
