"""Fixtures of the tool's own tests, here and in papers/tests."""

import gc
import importlib
import json
import os
import pkgutil
import shutil
from functools import cache
from importlib import resources
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import bytecode  # first: what follows is compiled once
import pytest
import typer.testing
from hypothesis import settings

import encheck

assert bytecode
gc.set_threshold(20_000, 20, 20)  # with Python's own, collections take 6% of the processor time
typer.testing._get_command = cache(typer.testing._get_command)  # an invocation would build all commands in 30 ms
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("explore", deadline=None)
settings.load_profile("fixed")  # the same examples every time; new ones with --hypothesis-profile=explore

SHARED = Path(__file__).resolve().parents[2] / "shared"
REWRITTEN = "-W ignore::pytest.PytestAssertRewriteWarning"  # a plugin that was imported for the runs before
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def keep_out_of_garbage():
    """What stays until the end is walked by no collection of garbage, which torch's modules make long."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def store_folders(tmp_path_factory):
    """A folder a test, in memory where there is room: on a disk a new store waits some 50 ms for it.

    `mktemp` of each would look through all that were made before.
    """
    memory = Path("/dev/shm")
    has_room = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2**30
    with TemporaryDirectory(dir=memory if has_room else tmp_path_factory.getbasetemp()) as stem:
        yield (Path(stem) / str(number) for number in count())


@pytest.fixture(autouse=True)
def own_environment(store_folders, monkeypatch):
    """No test touches the user's store, and none waits for the disk.

    The runs in processes of their own import no Hypothesis and no asyncio, which takes half a second each.
    """
    folder = next(store_folders)
    folder.mkdir()
    monkeypatch.setenv("ENCHECK_STORE", str(folder / "store.sqlite"))
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest -p no:anyio")
    monkeypatch.setattr(os, "fsync", lambda number: None)
    yield
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def shared_data():
    """The folder of public data sets; a test that needs it skips where it is missing."""
    folder = SHARED / "data"
    if not folder.is_dir():
        pytest.skip(f"needs the public data sets in {folder}")
    return folder


@pytest.fixture(scope="session")
def some_probes(tmp_path_factory):
    """What --data takes for every fourth of the embedded probes: each check still has clusters enough to decide."""
    lines = (resources.files("encheck.datasets") / "probes.jsonl").read_text("utf-8").split("\n")
    path = tmp_path_factory.mktemp("probes") / "some.jsonl"
    path.write_text("\n".join(lines[::4]), "utf-8")
    return f"probes:{path}"


def probes_with(some_probes, tmp_path_factory, *relations):
    """What --data takes for those of some probes that have one of these relations."""
    lines = Path(some_probes.partition(":")[2]).read_text("utf-8").split("\n")
    path = tmp_path_factory.mktemp("probes") / "some.jsonl"
    path.write_text("\n".join(line for line in lines if any(f'"{one}"' in line for one in relations)), "utf-8")
    return f"probes:{path}"


@pytest.fixture(scope="session")
def plain_probes(some_probes, tmp_path_factory):
    """Those without written contrasts, for runs of checks whose generators edit any sentence."""
    return probes_with(some_probes, tmp_path_factory, "antonym")


@pytest.fixture(scope="session")
def few_probes(tmp_path_factory):
    """What --data takes for every fiftieth of the embedded probes: a gate adds all of them to data without any."""
    lines = (resources.files("encheck.datasets") / "probes.jsonl").read_text("utf-8").split("\n")
    path = tmp_path_factory.mktemp("probes") / "few.jsonl"
    path.write_text("\n".join(lines[::50]), "utf-8")
    return f"probes:{path}"


@pytest.fixture(scope="session")
def quantifier_probes(some_probes, tmp_path_factory):
    """The quickest run of a property."""
    return probes_with(some_probes, tmp_path_factory, "quantifier")


@pytest.fixture(scope="session")
def number_probes(some_probes, tmp_path_factory):
    """For runs with `-m number`, which read no other probes but for contracts."""
    return probes_with(some_probes, tmp_path_factory, "number")


@pytest.fixture(scope="session")
def plain_and_number_probes(some_probes, tmp_path_factory):
    """For runs of both."""
    return probes_with(some_probes, tmp_path_factory, "antonym", "number")


@pytest.fixture(scope="session")
def contrasts_alone(tmp_path_factory):
    """What --data takes for contrasts that `bag-of-words` wins: a whole gate of them is of one check, and is quick."""
    path = tmp_path_factory.mktemp("contrasts") / "contrasts.jsonl"
    names = ("q1", "q2", "doc1", "doc2")
    texts = ("where is {} sold", "where is {} not sold", "{} is sold here", "{} is not sold here")
    rows = [{n: text.format(f"thing{i}") for n, text in zip(names, texts, strict=True)} for i in range(160)]
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return f"contrast:{path}"


@pytest.fixture(scope="session")
def torch_once():
    """Some libraries cannot be imported twice in a process, and pytester forgets what was imported while it ran."""
    import nltk  # spares each of the runs three seconds of importing it
    import numpy.fft
    import scipy.optimize
    import scipy.stats
    import spacy  # imports torch too

    for module in pkgutil.walk_packages(encheck.__path__, "encheck."):  # and of compiling its pages each time
        if module.name != "encheck.__main__":
            importlib.import_module(module.name)
    assert nltk
    assert numpy.fft
    assert scipy.optimize
    assert scipy.stats
    assert spacy
    keep_out_of_garbage()


@pytest.fixture
def pytester(torch_once, pytester, monkeypatch):
    """pytest's own, for runs that parse. They look through no installed packages for plugins of others."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "encheck.plugin,xdist.plugin")
    monkeypatch.setenv("PYTEST_ADDOPTS", REWRITTEN)
    return pytester


@pytest.fixture(scope="session")
def chromium():
    """A browser; CI installs one, so that these tests never skip there."""
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None and not os.environ.get("ENCHECK_NEEDS_BROWSER"):
        pytest.skip("needs chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
