"""What encheck says of an input, as a user sees it: through its commands, or as a run takes a model."""

from __future__ import annotations

import io
import unicodedata
from contextlib import redirect_stderr, redirect_stdout
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from attacks import Failed

CODES = {0, 1, 4, 5, 10}
HIDDEN = {"Cc", "Cf", "Cs"}
TEXTS = ["the dog sings", "a cat sleeps", "the red dog"]


def command(*args: object) -> tuple[int, str]:
    """The exit code of a command and what it printed; Failed where that holds what a terminal would obey."""
    from encheck.cli import app

    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        try:
            app(args=[str(arg) for arg in args])
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
    text = out.getvalue()
    if code not in CODES:
        raise Failed(f"exit code {code}: {text[-300:]}")
    if found := hidden_in(text):
        raise Failed(f"{found} reaches the terminal: {text[-300:]!r}")
    return code, text


def hidden_in(text: str) -> str:
    """What of a text nobody sees, or a terminal obeys, by its name."""
    found = (c for c in text if c not in "\n\t\u200d\u200c" and unicodedata.category(c) in HIDDEN)
    return next((f"U+{ord(c):04X}" for c in found), "")


def held(code: int, text: str, *names: object) -> str:
    """The text of a command; Failed where it refuses something and names none of these files."""
    if code == 4 and not any(str(name) in text for name in names):
        raise Failed(f"the message names no file: {text[-300:]}")
    return text


def scores_of(entry: Any, folder: Path) -> tuple[str, Any, Any]:
    """The fingerprint of a model, its vectors or scores of the texts, and the store that a run of it leaves."""
    from encheck.encoders.load import load_model
    from encheck.encoders.model_config import Device
    from encheck.items.variants import VariantMaker
    from encheck.running.model_under_test import ModelUnderTest
    from encheck.running.scoring_session import ScoringSession
    from encheck.store import Store
    from encheck.system.terminal import Progress

    store = Store(folder / "store.sqlite")
    try:
        model = load_model(entry, device=Device("cpu"))
        subject = ModelUnderTest("tiny", entry, model)
        before = subject.fingerprint
        bench = ScoringSession({"tiny": subject}, {}, store, maker=VariantMaker())
        bench.encode({"tiny": [*pairwise(TEXTS)]}, progress=Progress(quiet=True))
        if subject.error:
            raise subject.error
        found = subject.state.vectors if subject.kind == "vector" else np.array([*subject.state.scored.values()])
        if not np.isfinite(found).all():
            raise Failed("its numbers are not finite")
        return before, found, store.path
    finally:
        store.close()
