"""What is decided with a model beside running and gating: a folder each, with its command. Nothing imports them."""
