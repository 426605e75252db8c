"""Are two models, or a model and a saved file, one model in use? And if not, what was changed."""
