"""Which words of a sentence may change, into what, in which form."""
