"""The analysis of English text that generators need."""
