"""Models under test: the protocol, the names in models.yaml, and one file per adapter."""
