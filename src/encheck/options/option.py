"""What an option is: one record, held by the field of `Settings` that it fills."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

Group = Literal["what", "baseline", "machine", "output", "research"]
GROUPS: dict[Group, str] = {
    "what": "What to test",
    "baseline": "Baseline",
    "machine": "Machine",
    "output": "Output",
    "research": "Research",
}


def as_given(value: Any) -> Any:
    """The value itself."""
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option of a run.

    `name` has no dashes. `convert` makes a value of one text (argparse's `type`); `parse` makes the
    setting of all that was given, and raises UsageError for what it may not be. `default` is what `parse` gets where
    nothing was given; `usual` describes it where the value itself says little. `kept`: results.json and baselines
    record the setting. `is_pytests`: pytest has an option of that name, and the short one is read from it.
    """

    name: str
    group: Group
    help: str
    metavar: str = ""
    convert: Callable[[str], Any] = str
    parse: Callable[[Any], Any] = as_given
    default: Any = None
    usual: str = ""
    choices: tuple[str, ...] = ()
    is_flag: bool = False
    repeatable: bool = False
    takes_path: bool = False
    kept: bool = False
    hidden: bool = False
    is_pytests: bool = False

    @property
    def dest(self) -> str:
        """Where pytest keeps the value: `config.option.<dest>`."""
        return f"encheck_{self.name.replace('-', '_')}"

    @property
    def default_text(self) -> str:
        """What holds where the option is not given; empty if that needs no word."""
        return self.usual or ("" if self.default is None or self.is_flag else str(self.default))

    @property
    def text(self) -> str:
        """The help with the default."""
        return f"{self.help} (default: {self.default_text})" if self.default_text else self.help


def option(name: str, **attributes: Any) -> Any:
    """A dataclass field that is filled by this option; the attributes are those of `Option`."""
    made = Option(name=name, **attributes)
    return field(default=made.parse(made.default), metadata={"option": made})
