"""People judge, blind, which of two answers is better."""
