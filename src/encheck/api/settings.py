"""From the keyword options of the public functions to settings."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.api.checks import arguments_of
from encheck.errors import UsageError

if TYPE_CHECKING:
    from encheck.options import Settings


def settings_of(models: Sequence[str], data: Sequence[str], options: Mapping[str, Any]) -> Settings:
    """The settings of a run of these models, in this order, on these data; UsageError for an option that is wrong."""
    from encheck.options import PREFIX, add_options, from_options

    parser = argparse.ArgumentParser(exit_on_error=False, allow_abbrev=False, add_help=False)
    add_options(_Group(parser), prefix=PREFIX)
    given = [*arguments_of(options), *(f"--{PREFIX}data={one}" for one in data)]
    try:
        parsed = parser.parse_args(given)
    except argparse.ArgumentError as error:
        raise UsageError(str(error)) from error
    return replace(from_options(parsed, root=Path.cwd()), models=tuple(models))


@dataclass(frozen=True)
class _Group:
    """An argparse parser that takes options as pytest's groups do."""

    parser: argparse.ArgumentParser

    def addoption(self, *names: str, **attributes: Any) -> None:
        self.parser.add_argument(*names, **attributes)
