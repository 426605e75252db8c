"""Freed memory goes back to the system."""

import ctypes
from types import SimpleNamespace

import pytest

from encheck.system.memory import release_memory


@pytest.mark.parametrize(("platform", "asked"), [("linux", [0]), ("darwin", [])])
def test_the_c_library_of_linux_is_asked_and_no_other(monkeypatch, platform, asked):
    calls = []
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(malloc_trim=calls.append))
    release_memory()
    assert calls == asked


def test_a_c_library_without_the_call_is_none_the_worse(monkeypatch):
    release_memory()
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    assert release_memory() is None
