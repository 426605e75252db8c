"""The profile of tests that call a model: slow is no fault."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings

PROFILE = "encheck"


def register() -> None:
    """Register the profile, the user's settings without a deadline; it is not loaded, so other tests keep theirs."""
    now = settings()
    settings.register_profile(PROFILE, now, deadline=None, suppress_health_check=_spared(now))


def patient(test: Any) -> Any:
    """Let a test that is decorated with `@given` take its time; what else its settings say holds.

    The plugin does this to each test that asks for the fixture `encoder`. A deadline that differs from hypothesis's own
    default stays.
    """
    function = getattr(test, "__func__", test)
    given: settings = getattr(function, "_hypothesis_internal_use_settings", None) or settings()
    usual = settings.get_profile("default").deadline
    deadline = None if given.deadline == usual else given.deadline
    function._hypothesis_internal_use_settings = settings(
        given, deadline=deadline, suppress_health_check=_spared(given)
    )
    return test


def _spared(given: settings) -> list[HealthCheck]:
    return sorted({*given.suppress_health_check, HealthCheck.too_slow}, key=lambda check: check.value)
