"""A run without pytest: its models and data, encoding, and scores."""
