"""Corpora as published, each read once a process."""

import logging
from functools import cache
from types import SimpleNamespace

from encheck.datasets.load import load


@cache
def published(name, path):
    """(data, what reading it warned of)."""
    messages = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: messages.append(record.getMessage())
    logging.getLogger("encheck").addHandler(handler)
    try:
        return SimpleNamespace(data=load(f"{name}:{path}", sample=None), messages=messages)
    finally:
        logging.getLogger("encheck").removeHandler(handler)
