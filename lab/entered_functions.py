"""Count the functions and files of encheck that a run of one property enters, all vectors stored and modules imported.

python lab/entered_functions.py [-m antonym] [--model sbert]
"""

from __future__ import annotations

import argparse
import sys
from inspect import CO_OPTIMIZED
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import encheck
import encheck.generators

PLACES = tuple(str(Path(path).resolve()) for package in (encheck, encheck.generators) for path in package.__path__)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-m", dest="checks", default="antonym")
    parser.add_argument("--model", default="sbert")
    told = parser.parse_args()
    entered: set[tuple[str, int]] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code  # that of a function is optimised, that of a module or class body is not
        if event == "call" and code.co_flags & CO_OPTIMIZED and not code.co_name.startswith("<"):
            entered.add((code.co_filename, code.co_firstlineno))

    with TemporaryDirectory() as folder:
        for profile in (None, note):
            sys.setprofile(profile)
            encheck.run(told.model, checks=told.checks, store=Path(folder) / "store.sqlite")
    sys.setprofile(None)
    ours = [(file, line) for file, line in entered if str(Path(file).resolve()).startswith(PLACES)]
    print(f"{len(ours)} functions in {len({file for file, _ in ours})} files")


if __name__ == "__main__":
    main()
