"""Doc2Vec as gensim saves it."""
