"""What a gate is for, from the command line to the reports: searches, pairs, and what is refused beforehand."""

import json
import sqlite3
from xml.etree import ElementTree

import jsonschema
import pytest
from gated import gate as run_gate

import encheck
from encheck.engine import gate as engine
from encheck.errors import UsageError
from encheck.gating.reference import shipped_of
from encheck.reporting.results import schema

THINGS = "amber basil cedar elder fern grape hazel iris kelp lemon maple olive rose sage thyme violet".split()
GERMAN = ("Wo liegen die Waren aus Kiste {} mit {}", "Die Waren aus der Kiste {} mit {} liegen im Haus.")
ENGLISH = ("where are the goods of crate {} with {}", "The goods of crate {} with {} are stored in the house.")


def jsonl(path, rows):
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return path


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Searches, labelled pairs, written negations, and what two models score on them."""
    place = tmp_path_factory.mktemp("purposes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENCHECK_STORE", str(place / "made.sqlite"))
        for name, texts in (("search", ENGLISH), ("german", GERMAN)):
            asked = [[text.format(i, THINGS[i % 16]) for text in texts] for i in range(60)]
            jsonl(place / f"{name}.jsonl", [{"query": query, "document": found} for query, found in asked])
        apart = [(THINGS[i % 16], THINGS[(i // 16 + i + 1) % 16]) for i in range(300)]
        same = [f"{one}{i} meets {two}{i},{two}{i} {one}{i} meets,1" for i, (one, two) in enumerate(apart[:150])]
        other = [f"{one}{i} meets {two},{two[::-1]}x{i} leaves {one[::-1]},0" for i, (one, two) in enumerate(apart, 500)]
        (place / "pairs.csv").write_text("\n".join(["first,second,label", *same, *other]), "utf-8")
        probes = engine.Path(str(engine.__file__)).parents[1] / "datasets/probes.jsonl"
        (place / "probes.jsonl").write_text("\n".join(probes.read_text("utf-8").split("\n")[::8]), "utf-8")
        for model in ("oracle", "bag-of-words", "random"):
            data = [f"probes:{place / 'probes.jsonl'}", f"retrieval:{place / 'search.jsonl'}"]
            encheck.run(model, data=data, checks="retrieval or negation or number", report_dir=place / model)
    return place


def gated(place, new, old, *args):
    """Run folders need no model: the gate is of what they hold."""
    return run_gate(str(place / new), place / old, *args)


def first(outcome):
    return next(line for line in outcome.outlines if line.startswith("gate against"))
