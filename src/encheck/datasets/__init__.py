"""The data sets, one per file. A module with a LICENCE is a data set, and its name is the value for `--data`.

A module with `DATA_SETS` holds several data sets. `encheck data` and the report show `LICENCE`. `FILES` describes what
the path should hold. `read(path, bad)` yields a `PairRow` for each labelled pair, in file order.
"""
