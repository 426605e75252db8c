"""What a process of a run measured reaches the one that reports as it was, figure by figure."""

import math
from dataclasses import replace

import pyarrow as pa
from recorded import DATA, MODEL, SAID, result

from encheck.encoders.settings import EncodingSettings
from encheck.engine.case_outcome import CaseOutcome, ProcessDescription
from encheck.gating.baseline import FirstLookItems
from encheck.gating.reindex import DocumentLengths, PackedAs, PackedSample, PackedVectors
from encheck.run_file import DataEntry, FirstLook, ModelEntry, RemainingWork, RemainingWorkOfModel, Selection
from encheck.running.parents import ParentScales
from encheck.scoring.scale import Scale
from encheck.system.typed_files import read_typed
from encheck.types import ClaimEntry

ODD = "half \udcff of \x00 a name"


def test_a_case_is_received_as_it_was_sent():
    rows = (
        result({"check": "c", "value": 0.1 + 0.2, "low": 5e-324, "high": 1 / 3, "n": 3, "params": {"n": 1, "x": 1.0}}),
        result({"check": "c", "level": "2", "reason": "x", "surface": {"jaccard": {"value": 2 / 3}}}),
    )
    items = pa.table({"near_score": [0.1 + 0.2, -0.0, 1e-300], "far": [None, "é", "b"], "label": [1, 0, None]})
    parent = pa.table({"far_score": [2 / 3]})
    documents = [(7, "d", "text")]
    found = CaseOutcome(rows, read_typed(ClaimEntry, SAID), FirstLookItems("lock", (2, 0)), documents, items, parent)
    again = CaseOutcome.deserialise(found.serialise())
    assert (again, repr(again)) == (found, repr(found))


def test_text_that_no_reader_takes_and_a_score_that_is_none_are_received():
    row = replace(result({"check": "c"}), reason=ODD)
    again = CaseOutcome.deserialise(
        CaseOutcome((row,), read_typed(ClaimEntry, SAID), items=pa.table({"near_score": [math.nan]})).serialise()
    )
    assert again.rows[0].reason == ODD
    assert math.isnan(again.items["near_score"][0].as_py())


def test_what_an_evaluation_says_of_itself_is_received_as_it_was_sent():
    vectors = PackedVectors((0,), (0.1,), "AA==")
    sample = PackedSample("cosine", 1, EncodingSettings(), "", (("t", 2, None),), {"": vectors, "query": PackedAs("")})
    data = DATA | {"calibration": {"m": {"reference": 0.1 + 0.2, "identity": 1.0, "pairs": 3, "spread": 1e-9}}}
    found = ProcessDescription(
        (read_typed(ModelEntry, MODEL),), (read_typed(DataEntry, data),), (ODD,), Selection(("c/d/1",), ()),
        {"wait": 0.1 + 0.2},
        {"antonym": 3}, {"m": 4}, FirstLook(1, 2, 3, 4), RemainingWork("why",
        (RemainingWorkOfModel("m", 1, 2.5, 3, False, None, None),)),
        {"m": ParentScales("p", "config.json", None, {"d": Scale(2 / 3)})}, {"m": sample},
        {"m": DocumentLengths("tokens", {12: 3, 40: 1})},
    )  # fmt: skip
    again = ProcessDescription.deserialise(found.serialise())
    assert (again, repr(again)) == (found, repr(found))
