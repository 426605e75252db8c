"""A gate in words, as table rows, and as stored in results.json."""
