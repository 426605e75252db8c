"""Generators: pure functions that turn a group into a variant. One file a property.

A generator takes a group, a level and a `random.Random`, and gives a `Variant`, or None where this sentence has
none; it raises `NothingToMeasure` where the data set cannot have any.

    def shouting(group, *, level, rng):
        return Variant(group.source.upper(), relation="shouting", generator="shouting")
"""
