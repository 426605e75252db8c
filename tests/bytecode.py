"""Compiled modules are kept for the tests' processes, where the environment forbids it, in build/pycache.

There are a hundred processes. Each would compile all that it imports anew, which takes seconds.
"""

import os
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "build" / "pycache"

if sys.dont_write_bytecode:
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(FOLDER)
    os.environ |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(FOLDER)}
