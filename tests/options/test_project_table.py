"""[tool.encheck] of pyproject.toml: every complaint names file, line and key, and is one."""

import ast
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encheck.errors import ConfigError
from encheck.options import Project, project_table

GOOD = """\
[project]
name = "mine"

[tool.encheck]
models = "encoders/models.yaml"
store-limit-mb = 4096
thresholds = {a = 0.5, "b/2" = 1}

[tool.encheck.known_failures.my-encoder]
"antonym_*/mrpc*/*" = "few"
"""
WRONG = {
    "number for the tools": ("a = 1\ntool = 1", 2, "tool is 1, but should be a table"),
    "number for the table": ("[tool]\nencheck = 1", 2, "encheck is 1, but should be a table"),
    "list of tables": ("[[tool.encheck]]\nmodels = 'm'", 1, "encheck is [{'models': 'm'}], but should be a table"),
    "unknown key": (
        "[tool.encheck]\nmodel = 'x'",
        2,
        "[tool.encheck] unknown key 'model'; did you mean 'models'? Available: check-packages, known_failures, ",
    ),
    "truth for a size": (
        "[tool.encheck]\n\nstore-limit-mb = true",
        3,
        "[tool.encheck] store-limit-mb is true, but should be a whole number of megabytes",
    ),
    "size below nothing": ("[tool.encheck]\nstore-limit-mb = -1", 2, "store-limit-mb is -1, but should be at least 0"),
    "endless size": (f"[tool.encheck]\nstore-limit-mb = {10**30}", 2, "but should be at most 1000000000"),
    "hexadecimal": (f"[tool.encheck]\nstore-limit-mb = 0x{'f' * 6000}", 2, "is a number of thousands of digits, but"),
    "text as a threshold": (
        "[tool.encheck.thresholds]\nx = 'high'",
        2,
        "[tool.encheck.thresholds] x is 'high', but should be a number",
    ),
    "endless threshold": ("[tool.encheck]\nthresholds.x = inf", 2, "[tool.encheck.thresholds] x is inf, but should be"),
    "huge threshold": (f"[tool.encheck]\nthresholds.x = {10**400}", 2, "[tool.encheck.thresholds] x is 1000"),
    "quoted key": ("[tool.encheck.thresholds]\n# some\n'a/b' = true", 3, "] a/b is true, but should be a number"),
    "no table": ("[tool.encheck]\nthresholds = 7", 2, "thresholds is 7, but should be a table of checks and numbers"),
    "no reasons": (
        "[tool.encheck.known_failures]\noracle = 1",
        2,
        "[tool.encheck.known_failures] oracle is 1, but should be a table of checks and reasons",
    ),
    "empty reason": (
        "[tool.encheck.known_failures.oracle]\n\nsome_check = ''",
        3,
        "[tool.encheck.known_failures.oracle] some_check is '', but should be a reason",
    ),
    "name for a list": ("tool.encheck.check-packages = 'x'", 1, "is 'x', but should be a list of package names"),
    "number for a name": (
        "tool.encheck.check-packages = ['x', 1]",
        1,
        "check-packages is 1, but should be the name of a package",
    ),
    "no file": ("tool.encheck.models = ' '", 1, "[tool.encheck] models is ' ', but should be the path of a file"),
    "inline": ("[tool]\nencheck = {thresholds = {x = 'y'}}", 2, "[tool.encheck.thresholds] x is 'y'"),
    "not TOML": ("[tool.encheck]\nmodels 7", 2, "is not TOML: Expected '='"),
    "cut off": ("[tool.encheck]\nmodels = [\n", 3, "is not TOML: "),
    "no UTF-8": (b"[project]\nname = '\xe9'", 2, "is not UTF-8 (byte 18)"),
}


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "pyproject.toml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_every_key_is_read(write):
    assert project_table(write(GOOD)) == Project(
        models="encoders/models.yaml",
        store_limit_mb=4096,
        thresholds={"a": 0.5, "b/2": 1},
        known_failures={"my-encoder": {"antonym_*/mrpc*/*": "few"}},
    )


@pytest.mark.parametrize(("text", "line", "expected"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_said_with_its_line(write, text, line, expected):
    path = write(text)
    with pytest.raises(ConfigError) as caught:
        project_table(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert expected in str(caught.value)
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("text", [f"a = {'[' * 5_000}", f"a = {'1' * 5_000}"], ids=["deep", "long"])
def test_what_python_does_not_read_is_one_message(write, text):
    path = write(text)
    with pytest.raises(ConfigError, match=f"^{path}: "):
        project_table(path)


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=f"{tmp_path}: cannot be read: Is a directory"):
        project_table(tmp_path)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
)


@given(st.sampled_from(["thresholds", "known_failures", "models", "store-limit-mb", "check-packages", "x"]), VALUES)
def test_any_value_is_taken_or_is_a_complaint_with_file_and_line(tmp_path_factory, key, value):
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text(f"[tool.encheck]\n{key} = {toml(value)}\n", "utf-8")
    try:
        project_table(path)
    except ConfigError as error:
        assert str(error).startswith(f"{path}:2: ")  # noqa: PT017


def toml(value):
    """A value as TOML writes it, on one line."""
    if value is None:
        return "''"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(c):08x}" for c in value if not 0xD800 <= ord(c) < 0xE000) + '"'
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        pairs = {toml(key): toml(inner) for key, inner in value.items()}
        return f"{{{', '.join(f'{key} = {inner}' for key, inner in pairs.items())}}}"
    return str(value)


def test_pydantic_is_imported_for_a_project_with_a_table_alone(write):
    """The plugin reads pyproject.toml in every run of xdist, of other projects too."""
    for text, expected in (("[tool.other]\na = 1", False), (GOOD, True)):
        code = "import sys; from pathlib import Path; from encheck.options import project_table; "
        code += f"project_table(Path({str(write(text))!r})); print('pydantic' in sys.modules)"
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert ast.literal_eval(said) is expected
