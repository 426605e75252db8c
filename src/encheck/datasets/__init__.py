"""Data sets, one file each. A module with a LICENCE is a data set; its name is the value for `--data`.

`DATA_SETS` names several in one file. `LICENCE` is shown by `encheck data` and in the report, `FILES` describes what
the path should hold, and `read(path, bad)` yields a `PairRow` for each labelled pair, as in the files.
"""
