"""Doc2Vec, read without gensim's pickles."""
