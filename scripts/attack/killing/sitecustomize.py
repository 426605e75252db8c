"""Kills the process, and those of its group, at a step that it takes on the disk; Python imports this by its name.

A step is a file opened to be written, renamed or removed, or a folder made or removed, below ENCHECK_ATTACK_FOLDER.
ENCHECK_ATTACK_KILL_AT is the step; the number of steps that a process took is written to ENCHECK_ATTACK_STEPS.
Only the process that is started with these counts: its own children do not see them.
"""

import atexit
import os
import signal
import sys

FOLDER, KILL_AT, STEPS = (os.environ.pop(f"ENCHECK_ATTACK_{n}", "") for n in ("FOLDER", "KILL_AT", "STEPS"))
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "sqlite3.connect"}
_done = [0]


def _is_step(event, args):
    if event == "open":
        path, _, flags = args
        return isinstance(flags, int) and flags & WRITES and _is_inside(path)
    return event in CHANGES and _is_inside(args[0])


def _is_inside(path):
    if not isinstance(path, (str, bytes, os.PathLike)):
        return False
    return os.path.abspath(os.fsdecode(path)).startswith(FOLDER) and "__pycache__" not in os.fsdecode(path)  # noqa: PTH100 - no file is asked


def _count(event, args):
    if _is_step(event, args):
        _done[0] += 1
        if KILL_AT and _done[0] >= int(KILL_AT):
            os.killpg(os.getpgid(0), signal.SIGKILL)


def _tell():
    done = _done[0]  # before this file itself is opened
    with open(STEPS, "w") as file:  # noqa: PTH123 - pathlib costs every process
        file.write(str(done))


if FOLDER:
    sys.addaudithook(_count)
    if STEPS:
        atexit.register(_tell)
