"""Behavioural tests for sentence encoders, as pytest checks."""

from importlib.metadata import version

from encheck.claims import claim

__all__ = ["__version__", "claim"]
__version__ = version("encheck")
