"""Data sets: one file each. A file is a data set when it has a LICENCE; its name is what `--data` takes.

`DATA_SETS` names several in one file. `LICENCE` is shown by `encheck data` and in the report, `FILES` says in a few
words what the path should hold, and `read(path, bad)` yields a `PairRow` for each labelled pair, as files give them.
"""
