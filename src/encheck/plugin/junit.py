"""The gate in the file of --junitxml, through the plugin of pytest that writes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree.ElementTree import Element

import pytest

from encheck.reporting.junit import GateCase, as_properties, cases_of
from encheck.system.terminal import LINES, visible


def note_gate(plugins: Iterable[Any], gate: Mapping[str, Any]) -> None:
    """Add the gate's properties and test cases to the file, where one is asked for."""
    for file in plugins:
        if hasattr(file, "add_global_property"):
            for name, value in as_properties(gate):
                file.add_global_property(name, visible(value, keep=LINES))
            if hasattr(file, "node_reporter"):
                for case in cases_of(gate):
                    _add(file, case)


def _add(file: Any, case: GateCase) -> None:
    """A case of the gate stands in the file as a test would."""
    report = _report(case)
    reporter = file.node_reporter(report)
    reporter.record_testreport(report)
    for name, value in case.properties:
        reporter.add_property(name, visible(value, keep=LINES))
    if case.result == "passed":
        reporter.append_pass(report)
    else:
        reporter.append(_element(case))
    file.finalize(report)


def _element(case: GateCase) -> Element:
    message, *details = (visible(text, keep=LINES) for text in (case.message, *case.details))
    found = Element(str(case.result), message=message)
    found.text = "\n".join([message, *details])
    return found


def _report(case: GateCase) -> pytest.TestReport:
    """The report of a test of this name; two colons would part the name."""
    name = visible(case.name).replace("::", ":")
    return pytest.TestReport(
        f"{case.classname.replace('::', ':')}::{name}", ("encheck", None, case.name), {}, "passed", None, "call"
    )
