"""Names of persons, places and organisations in a text, and how else they can be written."""
