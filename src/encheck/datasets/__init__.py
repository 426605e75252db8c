"""Data sets: one file each. A file is a data set when it has a LICENCE; its name is what `--data` takes.

LICENCE = "..."                      shown by `encheck data` and in the report
FILES = "..."                        what the path should hold, in a few words
def read(path, bad): yield Row(...)  labelled pairs, as the file gives them
"""
