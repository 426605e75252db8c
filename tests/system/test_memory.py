"""Freed memory goes back to the system."""

import ctypes

from encheck.system.memory import give_back


def test_what_was_freed_goes_back_and_a_system_without_the_call_is_none_the_worse(monkeypatch):
    give_back()
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    give_back()
    monkeypatch.setattr("sys.platform", "darwin")
    give_back()
