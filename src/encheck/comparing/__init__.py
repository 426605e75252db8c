"""Compare models and seeds across runs, and score other systems' predictions."""
