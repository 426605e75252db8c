"""The import directions of docs/ARCHITECTURE.md, and what must not be imported too early."""

import ast
import builtins
import json
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import encheck
from encheck.items.catalogue import WORKS
from encheck.options.project import allowed_keys

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(encheck.__file__).parent
HEAVY = {
    "faiss",
    "fsspec",
    "gensim",
    "hypothesis",
    "lemminflect",
    "model2vec",
    "onnxruntime",
    "openvino",
    "peft",
    "ray",
    "s3fs",
    "sacremoses",
    "safetensors",
    "sentencepiece",
    "tensorflow",
    "tokenizers",
    "nltk",
    "torch",
    "transformers",
    "sentence_transformers",
    "spacy",
    "pyarrow",
    "jinja2",
    "huggingface_hub",
    "pydantic",
}
LAYERS = [
    {"ids"},
    {"types", "errors"},
    {"system"},
    {"statistics", "similarity"},
    {"surface"},
    {"store"},
    {"language"},
    {"scoring"},
    {"datasets"},
    {"encoders"},
    {"claims", "options", "relations"},
    {"generators", "strategies"},
    {"items", "metrics", "verdict"},
    {"gating.types"},
    {"run_file"},
    {"gating", "shrinking", "presets"},
    {"running"},
    {"reporting"},
    {"comparing", "indexes"},
    {"scale"},
    {"engine"},
    {"api", "training"},
    {"plugin"},
    {"short_options", "cli", "checks", "__main__"},
    {"operations"},
]
MAY_IMPORT_PYTEST = {"plugin", "short_options", "cli"}


@cache
def modules():
    """(name, tree) of every module, parsed once."""
    folders = {"encheck": SOURCE, "encheck.checks": ROOT / "checks", "encheck.generators": ROOT / "generators"}
    return [
        (
            ".".join([package, *path.relative_to(folder).with_suffix("").parts]).removesuffix(".__init__"),
            ast.parse(path.read_text("utf-8")),
        )
        for package, folder in folders.items()
        for path in sorted(folder.rglob("*.py"))
    ]


@cache
def nodes(tree):
    """All nodes of a tree, walked once."""
    return list(ast.walk(tree))


@cache
def import_nodes(tree):
    return [node for node in nodes(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


def imported(tree, *, top_only=False):
    for node in tree.body if top_only else import_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def layer(name):
    """That of the module where LAYERS names it, else that of its package."""
    parts = {name.removeprefix("encheck."), name.split(".")[1]}
    return next(i for i, names in enumerate(LAYERS) if parts & names)


@cache
def named():
    return [(name, tree) for name, tree in modules() if name != "encheck"]


@cache
def names():
    return {name for name, _ in named()}


@cache
def imports():
    """(module, another one of encheck that it imports), each once."""
    return [(name, other) for name, tree in named() for other in dict.fromkeys(modules_of(tree))]


def modules_of(tree):
    """The modules of encheck that a module imports; local imports and those under TYPE_CHECKING count."""
    for node in import_nodes(tree):
        if isinstance(node, ast.ImportFrom):
            found = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in names() else node.module for name in found if {name, node.module} & names())
        else:
            yield from (alias.name for alias in node.names if alias.name in names())


def test_modules_import_from_their_own_package_or_from_below():
    pairs = [(name, other) for name, other in imports() if name != "encheck.__main__"]
    across = [(name, other) for name, other in pairs if name.split(".")[1] != other.split(".")[1]]
    assert len(across) > 500
    assert [f"{name} imports {other}" for name, other in across if layer(other) >= layer(name)] == []


def test_no_module_imports_itself_by_way_of_others():
    below = {name: set() for name in names()}
    for name, other in imports():
        below[name].add(other)
    cycle = []
    try:
        TopologicalSorter(below).prepare()
    except CycleError as error:
        cycle = error.args[1][::-1]
    assert " imports ".join(cycle) == ""


def test_nothing_imports_what_only_reproduces_a_paper():
    assert [name for name, tree in modules() if "encheck_papers" in {i.partition(".")[0] for i in imported(tree)}] == []


def is_strategy(name):
    """Strategies are hypothesis's own: nothing imports them but the tests that draw from them."""
    return name.startswith("encheck.strategies")


def test_only_the_edge_imports_pytest():
    inside = [(name, tree) for name, tree in named() if name.split(".")[1] not in MAY_IMPORT_PYTEST]
    assert [name for name, tree in inside if "pytest" in set(imported(tree))] == []


def test_heavy_libraries_are_imported_where_they_are_used():
    early = {name: {i.partition(".")[0] for i in imported(tree, top_only=True)} & HEAVY for name, tree in named()}
    early = {name: some - {"hypothesis"} if is_strategy(name) else some for name, some in early.items()}
    assert {name: libraries for name, libraries in early.items() if libraries} == {}


def test_pydantic_stands_at_the_edge_of_files_alone():
    edge = {"system.typed_files", "options.project", "encoders.models_file"}
    importers = {name.removeprefix("encheck.") for name, tree in named() if "pydantic" in " ".join(imported(tree))}
    assert importers == edge


def test_the_plugin_brings_nothing_heavy_into_other_peoples_runs():
    code = "import encheck.plugin, sys; print(sorted({m.partition('.')[0] for m in sys.modules}))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not (HEAVY | {"numpy", "scipy", "yaml", "typer", "filelock"}) & set(ast.literal_eval(out))


def test_a_check_file_is_short_and_has_no_helpers():
    for path in sorted((ROOT / "checks").glob("test_*.py")):
        functions = [n for n in ast.parse(path.read_text("utf-8")).body if isinstance(n, ast.FunctionDef)]
        assert all(f.name.startswith("test_") and ast.get_docstring(f) for f in functions), path.name
        assert max(f.end_lineno - f.lineno for f in functions) < 15, path.name


def test_the_documents_name_every_generator_and_every_key_of_the_project():
    generators = {part.__name__ for part, _ in WORKS}
    for document, names in (("method/generators", generators), ("tasks/add-a-check", allowed_keys())):
        text = (ROOT / f"docs/{document}.md").read_text("utf-8")
        assert not [name for name in names if name not in text], document


def counts():
    """What may only fall; tests/project/most.json has the maxima."""
    sources = [tree for name, tree in modules() if name.split(".")[1:2] not in (["checks"], ["generators"])]
    tests = [ast.parse(path.read_text("utf-8")) for path in (ROOT / "tests").rglob("*.py")]
    attributes = [node for tree in tests for node in nodes(tree) if isinstance(node, ast.Attribute)]
    return {
        "files in src": len(sources),
        "functions in src": sum(isinstance(n, ast.FunctionDef) for tree in sources for n in nodes(tree)),
        "modules of encheck that tests import": len(
            {name for tree in tests for name in modules_of(tree)} - {"encheck"}
        ),
        "uses of monkeypatch.setattr in tests": sum(
            node.attr == "setattr" and getattr(node.value, "id", None) == "monkeypatch" for node in attributes
        ),
    }


def test_what_makes_the_code_hard_to_change_does_not_grow():
    """Raise a maximum only with a feature that needs it; lower it with what makes the count fall."""
    most, now = json.loads((ROOT / "tests/project/most.json").read_text("utf-8")), counts()
    assert most.keys() == now.keys()
    assert [f"{name} rose from {most[name]} to {count}" for name, count in now.items() if count > most[name]] == []


def test_every_exception_derives_from_encheck_error():
    """But for what is no `Exception` either: a request that no handler of faults may catch."""
    bases = {
        node.name: {ast.unparse(base).rpartition(".")[2] for base in node.bases}
        for _, tree in modules()
        for node in nodes(tree)
        if isinstance(node, ast.ClassDef)
    }

    def ancestors(name):
        return {name}.union(*(ancestors(base) for base in bases.get(name, ()) if base != name))

    faults = {name for name in bases if any(_is_fault(base) for base in ancestors(name))}
    assert {"UsageError", "TextError", "LockedElsewhere"} < faults
    assert {name for name in faults if "EncheckError" not in ancestors(name)} == set()


def _is_fault(name):
    found = getattr(builtins, name, None)
    return isinstance(found, type) and issubclass(found, Exception)
