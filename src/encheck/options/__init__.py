"""The options of a run, declared once, and [tool.encheck] of pyproject.toml."""

from encheck.options.arguments import (
    PREFIX,
    add_options,
    arguments_for,
    gate_options,
    given_after_a_blank,
    model_options,
    refuse_baseline,
    refuse_misspelt,
    without_quick,
)
from encheck.options.check_names import refuse_unknown_thresholds
from encheck.options.places import refuse_place, try_place
from encheck.options.project import Project, project_table
from encheck.options.settings import (
    GROUPS,
    OPTIONS,
    Option,
    Settings,
    data_of,
    described,
    from_options,
    mode_of,
    models_of,
    reference,
    refuse_wrong,
    sample_of,
    scope_of,
    threshold_of,
)

__all__ = [
    "GROUPS",
    "OPTIONS",
    "PREFIX",
    "Option",
    "Project",
    "Settings",
    "add_options",
    "arguments_for",
    "data_of",
    "described",
    "from_options",
    "gate_options",
    "given_after_a_blank",
    "mode_of",
    "model_options",
    "models_of",
    "project_table",
    "reference",
    "refuse_baseline",
    "refuse_misspelt",
    "refuse_place",
    "refuse_unknown_thresholds",
    "refuse_wrong",
    "sample_of",
    "scope_of",
    "threshold_of",
    "try_place",
    "without_quick",
]
