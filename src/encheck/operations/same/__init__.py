"""Compare two models, or a model and a saved file: are they the same model in use, and if not, what was changed?"""
