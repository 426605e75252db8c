"""Checkpoints of transformers, sentence-transformers, PEFT: trust, loading, pooling."""
