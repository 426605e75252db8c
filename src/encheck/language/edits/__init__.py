"""Edits of a sentence: replaceable words, their replacements, and the forms of these."""
