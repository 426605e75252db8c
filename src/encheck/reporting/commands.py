"""The commands that a page gives to copy: with what the run was asked for, where labels are only its short names."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from encheck.options import OPTIONS, Settings, model_options
from encheck.options.settings import Setting
from encheck.run_file import RunFile, listed
from encheck.running.labels import OBJECT, data_labels, labels

NOT_OF_A_GATE = ("quick", "strict", "engine")
CHOSEN = [name for name, option in OPTIONS.items() if option.kept and not option.repeatable and name != "device"]


@dataclass(frozen=True)
class Commands:
    """What --model and --data took by label, --model-arg, options of `chosen`, and the folder of the run, if known."""

    models: Mapping[str, str]
    data: Mapping[str, str]
    model_args: Sequence[str] = ()
    options: str = ""
    folder: str = ""

    def run(self, prop: str, model: str, data: str, *, check: str = "") -> str:
        """Run the checks of a property, or one of them alone; a placeholder stands for a path that is not known.

        "" for a model in memory, which no command line can name.
        """
        if not (named := self._named(model)):
            return ""
        asked = self.data.get(data, "probes" if data == "probes" else f"{data}:PATH")
        on = "" if asked == "probes" else f" {_option('data', asked)}"
        one = f" -k {shlex.quote(check)}" if check else ""
        return f"encheck run -m {shlex.quote(prop)}{one} {named}{on}{self.options}"

    def show(self, model: str) -> str:
        """What follows the item in `encheck show ITEM`; without a model in memory, it shows the scores of the run."""
        where = _option("run", self.folder) if self.folder else ""
        return " ".join(filter(None, (self._named(model), where)))

    def _named(self, model: str) -> str:
        spec = self.models.get(model, model)
        return "" if spec.startswith(OBJECT) else model_options(model, spec, self.model_args)


def commands(results: RunFile, folder: Path | None) -> Commands:
    """The commands of a run that lies in `folder`, which is named from here where it lies below."""
    settings = results.run.settings
    here = Path.cwd()
    near = folder.relative_to(here) if folder and folder.is_relative_to(here) else folder
    models, data = labels(listed(settings, "models")), data_labels(listed(settings, "data"))
    return Commands(models, data, listed(settings, "model_args"), chosen(settings), str(near or ""))


def chosen(settings: Mapping[str, Setting], *, but: Sequence[str] = ()) -> str:
    """Options that change the figures and that results.json keeps, where they are no defaults; a blank before each.

    >>> chosen({"sample": None, "strict": True, "seed": 7}, but=NOT_OF_A_GATE)
    ' --sample=all --seed=7'
    """
    return "".join(f" {option}" for option in _chosen(settings, but))


def _chosen(settings: Mapping[str, Setting], but: Sequence[str]) -> Iterator[str]:
    usual = Settings()
    for name in CHOSEN:
        if name in settings and name not in but and (value := settings[name]) != getattr(usual, name):
            option = name.replace("_", "-")
            yield f"--{option}" if value is True else _option(option, "all" if value is None else str(value))


def _option(name: str, value: str) -> str:
    return f"--{name}={shlex.quote(value)}"
