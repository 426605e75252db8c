"""Compare stored vectors with a model: which are the model's, which are wrong, and to which text each belongs."""
