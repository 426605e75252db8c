"""Static word vectors as a sentence encoder."""
