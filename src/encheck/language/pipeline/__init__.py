"""The spaCy pipeline for English: the bundled one, or an installed one."""
