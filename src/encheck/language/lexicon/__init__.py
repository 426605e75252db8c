"""Senses, synonyms, antonyms, frequencies of words."""
