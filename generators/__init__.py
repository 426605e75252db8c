"""Generators: pure functions that turn a group into a variant. One file per property, with its whole declaration.

A generator takes a group, a level, a `random.Random` and the language resources (`english`: parses, tags, lexicon). It
returns a `Variant`, or a few words that explain why this sentence has none; these reasons are counted.

    def shouting(group, *, level, rng, english):
        return Variant(group.source.upper(), relation="shouting", generator="shouting")
"""
