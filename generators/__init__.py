"""Generators: pure functions that turn a group into a variant. One file a property, which declares all of it.

A generator takes a group, a level, a `random.Random` and the language resources (`english`: parses, tags, lexicon), and
gives a `Variant`, or says in a few words why this sentence has none; sentences are counted by these words.

    def shouting(group, *, level, rng, english):
        return Variant(group.source.upper(), relation="shouting", generator="shouting")
"""
