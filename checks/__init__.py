"""The checks: one behavioural property a file, each test a claim about the encoder."""
