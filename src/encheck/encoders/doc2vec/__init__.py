"""Doc2vec."""
