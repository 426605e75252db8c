"""A run in other people's formats."""
