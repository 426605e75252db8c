"""Whether two models, or a model and a saved file, are the same model in use, and if not, what was changed."""
