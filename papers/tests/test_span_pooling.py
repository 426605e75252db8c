"""Pooling over spans: the reference's figures, its files, and a model with it in encheck and sentence-transformers."""

import copy
import importlib.util
import json
import pickle
import sys

import numpy as np
import pytest
import tiny
from tiny_models import change_json

from encheck.encoders.load import detect_adapter, find_or_make_model_config, load_model
from encheck.encoders.model_config import Device
from encheck.encoders.models_file import apply_model_args
from encheck.errors import DataError, EncoderError, ModelError, UsageError
from encheck.running.resources import resolve_models
from encheck.store import Store
from encheck_papers.span_pooling import MARKS, marks_of
from encheck_papers.spans import Structure

TEXTS = ["the dog sings", "a cat sleeps on the red dog and the blue cat sings under the dog", "", "!"]
FRAMES = [{"sentence": TEXTS[0], "tokens": TEXTS[0].split(), "frames": [["B-ARG0", "I-ARG0", "B-V"]]}]
CPU = Device("cpu")
GRAPH = {"spans": "words", "weights": "mean", "graph_layers": 2}
graphs = pytest.mark.skipif(not importlib.util.find_spec("torch_geometric"), reason="needs torch_geometric")


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return tiny.build(tmp_path_factory.mktemp("spans") / "tiny")


@pytest.fixture(scope="module")
def folder(plain, tmp_path_factory):
    """A checkpoint with a span pooling."""
    return saved(spanned(plain), tmp_path_factory.mktemp("spanned") / "model")


def spanned(plain, **settings):
    import torch
    from sentence_transformers import SentenceTransformer

    from encheck_papers import with_span_pooling

    torch.manual_seed(0)
    return with_span_pooling(SentenceTransformer(str(plain), device="cpu"), **settings)


def saved(model, to):
    model.save(str(to), create_model_card=False)
    return to


def copied(folder, to, **settings):
    """The same checkpoint with other settings of the pooling."""
    import shutil

    shutil.copytree(folder, to)
    if settings:
        change_json(to / "1_SpanPooling" / "config.json", **settings)
    return to


def pooling(dimension=16, **settings):
    import torch

    from encheck_papers import SpanPooling

    torch.manual_seed(1)
    return SpanPooling(dimension, **settings)


def encoder(folder, **options):
    return load_model(apply_model_args(find_or_make_model_config(str(folder), {}), options), device=CPU)


def drawn(*shape, seed=0):
    import torch

    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def marks(*spans, tokens=6):
    import torch

    return torch.tensor([[[i in span for i in range(tokens)] for span in spans]])


def test_figures_are_those_of_the_reference(shared_data):
    import torch

    path = shared_data.parent / "oracles/pas.json"
    if not path.is_file():
        pytest.skip(f"needs the reference {path}")
    told = json.loads(path.read_text("utf-8"))
    numbers, spans = told["numeric"], told["span_extraction"][0]["span_token_indices"]
    made = pooling(4)
    made.attention.weight.data = torch.tensor([numbers["W"]])
    for key in ("token_vectors", "token_vectors_2"):
        states, inside = torch.tensor([numbers[key]]), marks(*spans)
        features = {"token_embeddings": states, "attention_mask": torch.ones(1, 6), MARKS: inside}
        found = made(features)["sentence_embedding"][0].tolist()
        assert found == pytest.approx(numbers[key.replace("token_vectors", "sentence_vector")], abs=1e-6)
        if key == "token_vectors":
            weights, summed = made.pooled(states, inside)
            assert weights[0].tolist() == pytest.approx(numbers["alpha"], abs=1e-6)
            assert summed[0].tolist() == pytest.approx(numbers["h_hat"], abs=1e-6)


def test_parameters_are_those_of_table_3():
    from encheck_papers import PairHead

    alone, whole = pooling(768, sentence_mean=False), pooling(768)
    heads = [PairHead(d, features=("|u-v|", "u*v")).count_parameters() for d in (768, whole.get_embedding_dimension())]
    assert alone.count_parameters() == 768
    assert alone.get_embedding_dimension() == 768
    assert whole.count_parameters() + heads[1] - heads[0] == 3_840
    assert pooling(768, weights="mean").count_parameters() == 0
    assert round(pooling(768, spans="all", vectors="ends").count_parameters() / 1e6, 2) == 2.36


@pytest.mark.parametrize("settings", [{}, {"weights": "mean"}, {"spans": "all", "vectors": "ends"}])
def test_neither_padding_nor_the_order_of_spans_matters(settings):
    import torch

    made, states = pooling(**settings), drawn(1, 6, 16)
    inside = marks((1, 2), (2, 3, 4), (4,), (1, 4))
    weights, summed = made.pooled(states, inside)
    order = [2, 0, 3, 1]
    turned, same = made.pooled(states, inside[:, order])
    assert torch.allclose(turned, weights[:, order], atol=1e-6)
    assert torch.allclose(same, summed, atol=1e-6)
    padded = torch.cat([states, drawn(1, 3, 16, seed=9)], dim=1)
    more = torch.nn.functional.pad(inside, (0, 3, 0, 2))
    wider, as_before = made.pooled(padded, more)
    assert torch.allclose(wider[:, :4], weights, atol=1e-6)
    assert not wider[:, 4:].any()
    assert torch.allclose(as_before, summed, atol=1e-6)


def test_a_batch_gives_what_each_text_gives_alone(folder):
    model = encoder(folder)
    assert model.encode(TEXTS) == pytest.approx(np.vstack([model.encode([t]) for t in TEXTS]), abs=1e-5)
    assert model.encode(TEXTS).shape == (4, 32)


def test_gradients_reach_the_attention_and_the_transformer(plain):
    import torch

    from encheck_papers import PairHead, PairHeadLoss

    model = spanned(plain)
    loss = PairHeadLoss(model, PairHead(32, features=("|u-v|", "u*v")))
    columns = [model.preprocess(texts) for texts in (TEXTS[:2], TEXTS[1::-1])]
    loss(columns, torch.tensor([0, 1])).backward()
    assert model[1].attention.weight.grad.abs().sum() > 0
    assert model[0].model.embeddings.word_embeddings.weight.grad.abs().sum() > 0


def test_a_token_belongs_to_every_word_that_it_overlaps():
    text = "We cannot paint"  # parsed as We / can / not / paint; tokens We / cannot / pa ##int
    structure = Structure((0, 3, 6, 10), (2, 6, 9, 15), ())
    offsets = np.array([(0, 0), (0, 2), (3, 9), (10, 12), (12, 15), (0, 0)])
    usable, there, spans = np.array([0, 1, 1, 1, 1, 0], bool), np.ones(6, bool), np.eye(4, dtype=bool)
    found = marks_of(structure, spans, offsets, usable, there)
    assert [np.flatnonzero(row).tolist() for row in found] == [[1], [2], [2], [3, 4]]
    cut = marks_of(structure, spans, offsets[:3], usable[:3], there[:3])
    assert [np.flatnonzero(row).tolist() for row in cut] == [[1], [2], [2], []]  # the span that was cut off is no span
    assert marks_of(structure, spans[3:], offsets[:3], usable[:3], there[:3]).tolist() == [[False, True, True]]
    padded = np.array([True, False])
    assert marks_of(structure, spans[:0], offsets[:2], ~there[:2], padded).tolist() == [padded.tolist()]
    assert len(text) == 15


def test_a_prompt_and_special_tokens_are_in_no_span(plain):
    model = spanned(plain)
    bare, prompted = (model.preprocess(TEXTS[:1], prompt=prompt)[MARKS][0] for prompt in (None, "red cat "))
    assert not bare[:, [0, -1]].any()
    assert not prompted[:, :3].any()
    assert (prompted[:, 3:] == bare[:, 1:]).all()
    with pytest.raises(UsageError, match="reads texts, but was given"):
        model.preprocess([("the dog", "sings")])


def test_a_checkpoint_is_a_model_like_any_other(folder):
    from sentence_transformers import SentenceTransformer

    from encheck_papers import load_with_spans

    expected = load_with_spans(folder, device="cpu").encode(TEXTS)
    ours = encoder(folder)
    assert detect_adapter(folder) == ("pair-head", "it has modules.json with a pooling over spans")
    assert ours.encode(TEXTS) == pytest.approx(expected, abs=1e-5)
    assert ours.about()["spans"].startswith("predicate-argument, parsed by en_encheck")
    trusted = SentenceTransformer(str(folder), device="cpu", trust_remote_code=True)
    assert trusted.encode(TEXTS) == pytest.approx(expected, abs=1e-5)
    for again in (copy.deepcopy(trusted), pickle.loads(pickle.dumps(trusted))):
        assert again.encode(TEXTS) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("named", ["encheck_papers.PairHead", "encheck.SpanPooling", "mine.SpanPooling"])
def test_no_other_module_of_ours_is_imported(folder, tmp_path, named):
    other = copied(folder, tmp_path / "other")
    told = json.loads((other / "modules.json").read_text())
    told[1]["type"] = named
    (other / "modules.json").write_text(json.dumps(told))
    with pytest.raises(ModelError, match=rf"names its own code \({named}\), which is not run"):
        encoder(other)


def test_the_fingerprint_covers_weights_settings_and_where_spans_come_from(folder, tmp_path):
    from safetensors.numpy import load_file, save_file

    (tmp_path / "frames.jsonl").write_text(json.dumps(FRAMES[0]) + "\n")
    other = copied(folder, tmp_path / "weights")
    path = other / "1_SpanPooling" / "model.safetensors"
    save_file({name: weight * 2 for name, weight in load_file(path).items()}, path)
    models = [
        encoder(folder), encoder(other),
        encoder(copied(folder, tmp_path / "random", spans="random")),
        encoder(folder, frames=str(tmp_path / "frames.jsonl")),
        encoder(folder, frames=str(tmp_path / "frames.jsonl"), missing="parse"),
    ]  # fmt: skip
    assert len({model.fingerprint() for model in models}) == 5
    assert encoder(copied(folder, tmp_path / "same"), frames="parse").fingerprint() == models[0].fingerprint()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"spans": "some"}, "spans: unknown value 'some'"),
        ({"dimension": 0}, "dimension is 0, but should be a whole number from 1"),
        ({"sentence_mean": 1}, "sentence_mean is 1, but should be true or false"),
        ({"format": 2}, "format is 2, but only 1 is known"),
        ({"graph_layers": 1}, "only spans of words have a graph network"),
        ({"colour": 1}, "unexpected keyword argument 'colour'"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_before_anything_is_loaded(folder, tmp_path, settings, said):
    with pytest.raises(ModelError, match=said):
        encoder(copied(folder, tmp_path / "other", **settings))


def test_a_half_written_pooling_is_refused(folder, tmp_path):
    for missing, said in (("config.json", "is half-written"), ("model.safetensors", "is half-written")):
        other = copied(folder, tmp_path / missing)
        (other / "1_SpanPooling" / missing).unlink()
        with pytest.raises((ModelError, EncoderError), match=said):
            encoder(other).encode(TEXTS)
    with pytest.raises(EncoderError, match=r"should hold finite weights of the shapes \{'attention.weight': \(1, 8\)"):
        encoder(copied(folder, tmp_path / "narrow", dimension=8)).encode(TEXTS)


def test_frames_take_the_place_of_the_parse(plain, folder, tmp_path):
    from encheck_papers import BroughtFrames, load_with_spans

    path = tmp_path / "frames.jsonl"
    path.write_text(json.dumps(FRAMES[0]) + "\n")
    trained = saved(spanned(plain, source=BroughtFrames(path)), tmp_path / "trained")
    with pytest.raises(ModelError, match=r"trained on frames from a file\. Remedy: name one"):
        encoder(trained)
    with pytest.raises(ModelError, match="trained on frames from a file, and none is given"):
        load_with_spans(trained, device="cpu").encode(TEXTS[:1])
    parsed, brought = encoder(trained, frames="parse"), encoder(trained, frames=str(path), missing="parse")
    assert brought.encode(TEXTS)[1:] == pytest.approx(parsed.encode(TEXTS)[1:], abs=1e-6)
    assert encoder(folder).encode(TEXTS) == pytest.approx(parsed.encode(TEXTS), abs=1e-6)
    with pytest.raises((DataError, EncoderError), match="has no frames for 1 of 2 texts"):
        encoder(trained, frames=str(path)).encode(TEXTS[:2])
    assert brought.about()["spans"] == "predicate-argument, frames of frames.jsonl"


def test_options_of_spans_are_for_models_with_spans(plain):
    with pytest.raises(ModelError, match="missing belongs to a pooling over spans"):
        encoder(plain, adapter="pair-head", missing="parse")


def test_a_run_takes_parses_from_its_store(folder, tmp_path):
    from encheck.options import Settings

    store = Store(tmp_path / "run.sqlite")
    subject = next(iter(resolve_models(Settings(models=(str(folder),), device="cpu"), store).values()))
    subject.model.encode(TEXTS)
    assert {(one.kind, one.rows) for one in store.list_models()} == {("parse", 4)}
    again = next(iter(resolve_models(Settings(models=(str(folder),), device="cpu"), store).values()))
    again.model.encode(TEXTS[::-1])
    assert again.model.spans.english.parsed == 0


def test_a_pooling_that_no_span_reaches_says_so(plain):
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(plain), device="cpu")
    model[1] = pooling()
    with pytest.raises(UsageError, match="no spans reached the pooling"):
        model.encode(TEXTS)


@graphs
def test_a_graph_network_is_the_sum_over_roles_of_the_means_over_neighbours():
    import torch

    from encheck_papers.frames import arguments_of
    from encheck_papers.rgcn import convolved, edges_of, relational_layers

    roles = ("ARG0", "ARG1", "other")
    frame = ["B-ARG0", "I-ARG0", "B-V", "B-ARG1", "B-ARGM-LOC"]
    edges = edges_of(arguments_of([frame]), roles=roles, words=range(4))  # the last word has no token
    torch.manual_seed(3)
    layers, vectors = relational_layers(6, roles=roles, count=2), drawn(1, 5, 6)
    with torch.inference_mode():
        found = convolved(layers, vectors, torch.tensor([[True] * 4 + [False]]), torch.from_numpy(edges)[None])[0]
        expected = vectors[0, :4]
        for i, layer in enumerate(layers):
            before = expected.relu() if i else expected
            into = [torch.zeros(4, 6) for _ in range(6)]
            into[0][[0, 1]] = before[2]  # from the predicate to ARG0
            into[1][3] = before[2]  # to ARG1
            into[3][2] = before[[0, 1]].mean(dim=0)  # and back
            into[4][2] = before[3]
            expected = before @ layer.root + layer.bias + sum(x @ w for x, w in zip(into, layer.weight, strict=True))
        again = layers[1](
            layers[0](vectors[0, :4], torch.tensor(edges.T[:2]), torch.tensor(edges.T[2])).relu(),
            torch.tensor(edges.T[:2]),
            torch.tensor(edges.T[2]),
        )
    assert torch.allclose(found[:4], expected, atol=1e-5)
    assert torch.allclose(found[:4], again, atol=1e-5)
    assert not found[4].any()


@graphs
def test_a_graph_network_has_two_matrices_a_role_and_one_for_the_word_itself():
    made = pooling(768, **GRAPH)
    assert made.count_parameters() == 2 * ((2 * 9 + 1) * 768**2 + 768)
    one = pooling(768, **GRAPH | {"graph_layers": 1, "trained_on": "frames"})
    assert 31_000_000 < one.count_parameters() < 33_000_000  # the paper: more than 30 million of a single layer


@graphs
def test_a_checkpoint_with_a_graph_network_is_a_model_like_any_other(plain, tmp_path):
    model = spanned(plain, **GRAPH)
    expected = model.encode(TEXTS)
    ours = encoder(saved(model, tmp_path / "model"))
    assert ours.encode(TEXTS) == pytest.approx(expected, abs=1e-5)
    assert ours.encode(TEXTS) == pytest.approx(np.vstack([ours.encode([text]) for text in TEXTS]), abs=1e-5)
    features = model.preprocess(TEXTS)
    before = model(features)["sentence_embedding"]
    features["span_edges"] = features["span_edges"][:, :0]
    assert (before[0] - model(features)["sentence_embedding"][0]).abs().max() > 1e-3  # "the dog sings" has an edge
    assert copied(tmp_path / "model", tmp_path / "other", graph_layers=1)
    with pytest.raises(EncoderError, match="should hold finite weights of the shapes"):
        encoder(tmp_path / "other").encode(TEXTS)


def test_a_graph_network_says_what_it_needs(plain, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_geometric.nn", None)
    with pytest.raises(ModelError, match=r"needs torch_geometric, .*Remedy: pip install \./papers\[rgcn\]"):
        spanned(plain, **GRAPH)
