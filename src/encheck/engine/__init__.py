"""Evaluate models: plan, encode, measure, decide, record. No pytest, no arguments of a command line."""
