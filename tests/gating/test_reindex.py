"""Whether an index has to be made again, as a gate says it of checkpoints whose files were changed."""

import json
import shutil
from dataclasses import replace
from importlib import resources

import jsonschema
import numpy as np
import pytest
import tiny
import tiny_models
from recorded import schema

import encheck
from encheck.encoders.settings import EncodingSettings
from encheck.errors import BaselineError
from encheck.gating import reindex
from encheck.gating.baseline import read_baseline, summary_checksum
from encheck.gating.reindex import (
    FIXED_TEXTS,
    KEPT_DIMENSIONS,
    LONG_WORDS,
    DocumentLengths,
    PackedSample,
    RoleVectors,
    TextLength,
    VectorSample,
    make_long_text,
    truncation_faults,
)
from encheck.gating.types import PartialGate
from encheck.reporting.gate.words import gate_headlines, gate_story
from encheck.system.typed_files import as_values, read_typed


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A checkpoint that reads 24 tokens, some probes, and searches of documents of 5 and of 38 tokens."""
    folder = tmp_path_factory.mktemp("reindex")
    tiny.build(folder).rename(folder / "old")
    probes = (resources.files("encheck.datasets") / "probes.jsonl").read_text("utf-8").split("\n")
    folder.joinpath("some.jsonl").write_text("\n".join([line for line in probes if '"number"' in line][:60]))
    words = [f"{a} {b} {c}" for a in "abcdefghij" for b in "klmno" for c in ("dog", "cat")]
    for name, times in (("short", 1), ("long", 12)):
        rows = [{"query": text, "document": " ".join([text] * times)} for text in words]
        folder.joinpath(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def changed(place, name, **files):
    """A copy of the checkpoint in which JSON files have these values too, or what a function makes of them."""
    folder = place / name
    shutil.copytree(place / "old", folder)
    for file, edit in files.items():
        path = folder / f"{file}.json"
        said = json.loads(path.read_text())
        path.write_text(json.dumps(edit(said) if callable(edit) else said | edit))
    return folder


@pytest.fixture(scope="module")
def gate(place, tmp_path_factory):
    """The gate of a candidate against the checkpoint; baselines, one a data set, are made once."""
    baselines, store = {}, tmp_path_factory.mktemp("store") / "store.sqlite"

    def gate(candidate, data="probes", old=place / "old", **options):
        spec = f"probes:{place / 'some.jsonl'}" if data == "probes" else f"retrieval:{place / data}.jsonl"
        how = {"data": spec, "checks": "number or retrieval", "store": store, "device": "cpu"}
        if (old, data) not in baselines:
            baselines[old, data] = tmp_path_factory.mktemp("baseline") / "old"
            encheck.run(old, **how, save_baseline=baselines[old, data])
        found = encheck.gate(candidate, baselines[old, data], **how, **options).results.raw
        jsonschema.validate(as_values(found), schema(), cls=jsonschema.Draft202012Validator)
        return found.gate

    gate.baselines = baselines
    return gate


def index(found):
    return found.against[0].reindex


def test_another_maximum_length_needs_a_new_index_of_longer_documents_alone(place, gate):
    longer = changed(place, "longer", sentence_bert_config={"max_seq_length": 40})
    found = index(gate(longer))
    assert (found.needed, found.up_to, found.unit) == (None, 24, "tokens")
    assert found.says.startswith(
        "re-index: no, for texts of up to 24 tokens; yes, for longer ones (texts are cut at 40"
    )
    long = index(gate(longer, "long"))
    assert (long.needed, long.answer) == (True, "yes, for 100 of 100 documents, which have more than 24 tokens")
    short = index(gate(longer, "short"))
    assert (short.needed, short.longer) == (False, 0)
    assert "the longest of 100 documents has 5 tokens, and vectors stay up to 24" in short.why


def test_an_export_that_is_cut_earlier_needs_a_new_index_of_longer_documents(place, gate, tmp_path):
    """The truncation of a tokenizer.json is a maximum length, where the adapter reads no other."""
    whole = tiny_models.onnx(tmp_path)
    folder = tmp_path / "cut"
    shutil.copytree(whole.name, folder)
    file = folder / "tokenizer.json"
    cut = {"direction": "Right", "max_length": 12, "strategy": "LongestFirst", "stride": 0}
    file.write_text(json.dumps(json.loads(file.read_text()) | {"truncation": cut}))
    found = index(gate(folder, old=tmp_path / "onnx"))
    assert (found.needed, found.up_to) == (None, 12), found
    assert "texts are cut at 12 tokens now, at 24 before" in found.why


def test_a_prompt_before_documents_needs_a_new_index_whatever_is_measured(place, gate):
    prompts = {"prompts": {"query": "red ", "document": "blue "}, "default_prompt_name": None}
    found = index(gate(changed(place, "prompts", config_sentence_transformers=prompts)))
    assert found.needed is True
    assert "over 39 texts as documents" in found.why
    assert found.why.endswith("queries get 'red '; documents get 'blue '")


def test_a_prompt_before_queries_alone_keeps_the_index(place, gate):
    prompts = {"prompts": {"query": "red ", "document": ""}, "default_prompt_name": None}
    found = index(gate(changed(place, "query-prompt", config_sentence_transformers=prompts)))
    assert (found.needed, found.queries_moved) == (False, True)
    assert "stored vectors of queries are no longer valid" in found.why


def test_another_tokenizer_cannot_be_told_where_the_compared_texts_agree(place, gate):
    """Accents are stripped no longer: no compared text has one."""

    def with_accents(said):
        return said | {"normalizer": said["normalizer"] | {"strip_accents": False}}

    found = index(gate(changed(place, "accents", tokenizer=with_accents)))
    assert (found.needed, found.answer) == (None, "cannot tell")
    assert "the tokenizers differ (normalizer)" in found.why


@pytest.mark.parametrize("similarity", [pytest.param("cosine", marks=pytest.mark.long), "dot"])
def test_vectors_that_are_no_longer_normalised_stay_for_cosines_alone(place, gate, similarity):
    folder = changed(
        place, f"long-{similarity}", modules=lambda said: said[:2],
        config_sentence_transformers={"similarity_fn_name": similarity},
    )  # fmt: skip
    found = index(gate(folder))
    assert (found.needed, found.only_by_cosine) == ((None, True) if similarity == "cosine" else (True, False))
    assert "vectors are no longer normalised" in found.why


@pytest.mark.parametrize("data", [pytest.param("probes", marks=pytest.mark.long), "long"])
def test_a_copy_is_the_same_model(place, gate, data):
    again = changed(place, f"again-{data}", config={"note": "it changes the fingerprint"})
    found = gate(again, data)
    told = index(found)
    assert (told.needed, told.same_model, told.longer) == (False, True, None)
    assert "The candidate is the same model: no vector moved" in next(iter(gate_headlines(found)))
    part = PartialGate(("number",), (), "-m")
    for partial, start in ((part, "Partial: "), (None, "Not yet: "), (None, "Yes: ")):
        outcome = "pass" if start == "Yes: " else "inconclusive"
        said = gate_story(replace(found.against[0], outcome=outcome, partial=partial), candidate="new").answer
        assert said == f"{start}new is the same model as old: no vector moved"
        assert "may replace" not in said


@pytest.mark.long
def test_a_half_precision_copy_is_not_the_same_model(place, gate):
    found = index(gate(place / "old", dtype="bfloat16"))
    assert (found.needed, found.same_model) == (False, False)


def test_texts_lie_on_both_sides_of_the_usual_maximum_lengths():
    assert len(set(FIXED_TEXTS)) == len(FIXED_TEXTS) == 32
    texts = [make_long_text(words) for words in LONG_WORDS]
    assert [len(text.split()) for text in texts] == [*LONG_WORDS]
    tokens = [4 * words / 3 for words in (8, *LONG_WORDS)]
    for limit in (2**n for n in range(5, 14)):
        assert any(limit / 2 < count < limit for count in tokens), limit
        assert any(limit < count < 2 * limit for count in tokens), limit


def unit(vectors):
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def vectors(n=32, d=64, seed=0):
    return unit(np.random.default_rng(seed).standard_normal((n, d)))


def turned(some):
    """By a random rotation: all similarities stay."""
    return (some @ np.linalg.qr(np.random.default_rng(5).standard_normal((some.shape[1],) * 2))[0]).astype(np.float32)


def sample(some, *, role="", similarity="cosine", first=0):
    keys = tuple(f"text {i}" for i in range(first, first + len(some)))
    lengths = {key: TextLength(5, None) for key in keys}
    return VectorSample(EncodingSettings(), similarity, some.shape[1], lengths, {role: RoleVectors(keys, some)})


@pytest.mark.parametrize("noise", [0, 1e-4, 3e-3])
def test_rounding_needs_no_new_index_of_what_was_compared(noise):
    found = reindex.compare_samples(sample(vectors()), sample(vectors() + noise * vectors(seed=1)))
    assert found.says.startswith("re-index: no, for texts of up to 5 words; longer ones were not compared (the same")
    assert (found.related, found.same_model) == (True, noise == 0)


def test_only_one_fingerprint_says_more_than_the_compared_texts():
    """Equal vectors of other files: nothing is known of longer texts, whichever name sorts first."""
    said = {
        names: reindex.compare_samples(*(replace(sample(vectors()), fingerprint=name) for name in names)).says
        for names in ("aa", "ab", "ba")
    }
    assert "longer ones" not in said["aa"]
    assert "longer ones were not compared" in said["ab"]
    assert said["ab"] == said["ba"]


@pytest.mark.parametrize(
    ("new", "related", "says"),
    [
        (unit(vectors() + 0.2 * vectors(seed=1)), True, "vectors differ: median cosine 0.98"),
        (turned(vectors()), False, "typical of unrelated models or a rotated copy"),
        (vectors(seed=2), False, "typical of unrelated models"),
        (vectors() * -1, False, "median cosine -1.000"),
    ],
)
def test_other_vectors_need_a_new_index(new, related, says):
    found = reindex.compare_samples(sample(vectors()), sample(new))
    assert (found.needed, found.related) == (True, related)
    assert says in found.why


def test_one_text_that_moved_is_enough():
    new = vectors().copy()
    new[7] *= -1
    found = reindex.compare_samples(sample(vectors()), sample(new))
    assert (found.needed, found.median, found.lowest) == (True, pytest.approx(1), pytest.approx(-1))


@pytest.mark.parametrize(("similarity", "needed"), [("cosine", None), ("dot", True), ("euclidean", True)])
def test_other_lengths_matter_unless_the_index_compares_by_cosine(similarity, needed):
    uneven = vectors() * np.where(np.arange(32) % 2, 0.5, 2)[:, None].astype(np.float32)
    for new in (3 * vectors(), uneven):
        found = reindex.compare_samples(sample(vectors(), similarity=similarity), sample(new, similarity=similarity))
        assert found.needed is needed
        assert "times as long" in found.why


def test_vectors_of_zeros_are_the_same_as_each_other_and_nothing_else():
    old = vectors()
    old[0] = 0
    assert reindex.compare_samples(sample(old), sample(old)).answer.startswith("no, for texts")
    assert reindex.compare_samples(sample(old), sample(vectors())).lowest == 0


def test_another_dimension_needs_a_new_index_and_another_role_tells_nothing():
    says = "re-index: yes (vectors of 64 dimensions before, of 32 now)"
    assert reindex.compare_samples(sample(vectors()), sample(vectors(d=32))).says == says
    found = reindex.compare_samples(sample(vectors()), sample(vectors(), role="document"))
    assert found.says.startswith("re-index: cannot tell (no text")


def test_only_texts_that_both_have_are_compared():
    assert reindex.compare_samples(sample(vectors()), sample(vectors(20), first=20)).texts == 12


@pytest.mark.parametrize("d", [3, 384, 3072])
def test_a_sample_is_kept_in_few_bytes_and_read_as_it_was(d):
    big = sample(7 * vectors(40, d), role="document", similarity="dot")
    kept = as_values(big.pack())
    again = VectorSample.unpack(read_typed(PackedSample, kept))
    assert len(json.dumps(kept)) < 40 * (1.4 * min(d, KEPT_DIMENSIONS) + 60) + 400
    assert (again.similarity, again.dimension, again.lengths, again.settings) == ("dot", d, big.lengths, big.settings)
    moved = VectorSample.unpack(sample(7 * vectors(40, d) + 1e-3 * vectors(40, d, 1), role="document").pack())
    other = VectorSample.unpack(sample(7 * vectors(40, d, seed=1), role="document").pack())
    assert reindex.compare_samples(again, again).same_model
    assert not reindex.compare_samples(again, moved).same_model
    assert reindex.compare_samples(again, other).needed is True


def test_a_damaged_sample_is_refused_with_its_baseline(place, gate, tmp_path):
    gate(place / "old")
    for number, (vectors64, says) in enumerate((("AAA=", "has 2 numbers"), ("!", "are not base64"))):
        folder = tmp_path / str(number)
        shutil.copytree(gate.baselines[place / "old", "probes"], folder)
        said = json.loads((folder / "baseline.json").read_text("utf-8"))
        del said["checksum"]
        said["vectors"]["roles"][""]["vectors"] = vectors64
        (folder / "baseline.json").write_text(json.dumps(said | {"checksum": summary_checksum(said)}), "utf-8")
        with pytest.raises(BaselineError, match=says):
            read_baseline(folder)


@pytest.mark.parametrize(
    ("limits", "lengths", "share"),
    [
        ((512, 256), DocumentLengths("tokens", {100: 90, 300: 10}), "10.0%"),
        ((None, 256), DocumentLengths("tokens", {100: 90, 300: 10}), "10.0%"),
        ((256, 256), DocumentLengths("tokens", {100: 90, 300: 10}), None),
        ((256, None), DocumentLengths("tokens", {300: 1}), None),
        ((512, 256), DocumentLengths("tokens", {100: 995, 300: 5}), None),
        ((512, 256), DocumentLengths("words", {300: 10}), None),
        ((512, 256), None, None),
    ],
)
def test_a_search_minds_how_many_more_documents_are_cut(limits, lengths, share):
    found = truncation_faults(*(EncodingSettings(maximum_length=limit) for limit in limits), lengths)
    assert [f"truncates {share} of your documents" in one for one in found] == [True] * (share is not None)
