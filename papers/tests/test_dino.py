"""DINO: self-debiasing, what is written, and the pairs that are made of it."""

import json

import numpy as np
import pytest
import tiny

from encheck.errors import DataError, ModelError, UsageError
from encheck_papers.dino import INSTRUCTIONS, Writer
from encheck_papers.dino_file import read_written
from encheck_papers.dino_pairs import SyntheticPair, Written, smoothed, training_pairs
from encheck_papers.self_debiasing import debiased, drawn

SPECIAL = ["<pad>", "<end>", "<unk>"]
TEXTS = ["the cat sings", "a red dog", "the dog sleeps on a cat"]


def language_model(folder, *, pads=True, ends=True, positions=64, seed=0):
    """A GPT-2 of one layer over the tiny words and a quote, with random weights."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    words = {word: i for i, word in enumerate([*SPECIAL, '"', *tiny.WORDS])}
    made = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation()])
    names = {"unk_token": "<unk>"} | ({"pad_token": "<pad>"} if pads else {}) | ({"eos_token": "<end>"} if ends else {})
    torch.manual_seed(seed)
    config = GPT2Config(
        vocab_size=len(words), n_embd=16, n_layer=1, n_head=2, n_positions=positions, initializer_range=0.1,
        bos_token_id=1, eos_token_id=1,
    )  # fmt: skip
    GPT2LMHeadModel(config).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=made, **names).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return language_model(tmp_path_factory.mktemp("gpt"))


def writer(model, **settings):
    return Writer(model, **{"tokens": 12, "copies": 3, "top_k": 14, "top_p": 1, "device": "cpu"} | settings)


def test_self_debiasing_is_the_published_formula():
    import torch

    torch.manual_seed(0)
    scores, decay = torch.randn(4, 7), 5.0
    p = torch.softmax(scores, dim=-1)
    delta = p[0] - torch.maximum(p[1], p[2])
    expected = p[0] * torch.where(delta >= 0, torch.ones(7), torch.exp(decay * delta))
    found = debiased(scores, [(0, 1, 2), (3,)], decay=decay).exp()
    assert found[0].tolist() == pytest.approx(expected.tolist(), rel=1e-5)
    assert found[1].tolist() == pytest.approx(p[3].tolist(), rel=1e-5)  # without a counter-label nothing changes
    plain = debiased(scores, [(0, 1, 2)], decay=0.0).exp()
    assert plain[0].tolist() == pytest.approx(p[0].tolist(), rel=1e-5)


def test_tokens_are_drawn_by_their_probability():
    import torch

    weights = torch.log(torch.tensor([0.1, 0.0, 0.6, 0.3])).expand(10_000, 4)
    found = drawn(weights, torch.rand(10_000, generator=torch.Generator().manual_seed(0)))
    shares = np.bincount(found.numpy(), minlength=4) / 10_000
    assert shares == pytest.approx([0.1, 0, 0.6, 0.3], abs=0.02)
    assert drawn(weights[:1].flip(1), torch.tensor([1.0])).tolist() == [3]
    assert drawn(torch.log(torch.tensor([[0.4, 0.6, 0.0]])), torch.tensor([1.0])).tolist() == [1]


def test_what_is_written_is_reproducible_and_does_not_hang_on_the_batch(model, tmp_path):
    paths = [tmp_path / name for name in ("one", "two", "other")]
    assert writer(model, batch_size=1).write(TEXTS, paths[0]) == 9
    writer(model, batch_size=8).write(TEXTS, paths[1])
    writer(model, seed=1).write(TEXTS, paths[2])
    one, two, other = (read_written(path) for path in paths)
    assert one == two != other
    assert [(w.text, w.label) for w in one] == [(text, label) for text in TEXTS for label in INSTRUCTIONS]
    assert all(len(w.made) + w.unfinished == 3 for w in one)
    assert sum(len(w.made) for w in one) > 5
    assert not any('"' in text or text != text.strip() for w in one for text in w.made)


def test_counter_labels_change_what_is_written_and_the_highest_label_has_none(model):
    hard, off = (writer(model, decay=decay, copies=6).written([*writer(model).tasks(TEXTS)]) for decay in (100.0, 0.0))
    same = {
        label: all(a.made == b.made for a, b in zip(hard, off, strict=True) if a.label == label) for label in (1, 0)
    }
    assert same == {1: True, 0: False}


def test_the_models_own_generation_settings_do_not_count(model, tmp_path):
    """A model that would repeat no word and write four tokens, by its generation_config.json."""
    other = language_model(tmp_path / "other")
    own = json.loads((tmp_path / "other" / "generation_config.json").read_text())
    own |= {"no_repeat_ngram_size": 1, "max_length": 4, "do_sample": True}
    (tmp_path / "other" / "generation_config.json").write_text(json.dumps(own))
    tasks = [*writer(model).tasks(TEXTS)]
    assert writer(other).written(tasks) == writer(model).written(tasks)


def test_a_run_that_was_cut_off_goes_on_where_it_was(model, tmp_path):
    whole, path = tmp_path / "whole", tmp_path / "cut"
    writer(model).write(TEXTS, whole)
    lines = whole.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:4]) + lines[4][:20])
    assert writer(model).write(TEXTS, path) == 6
    assert path.read_text() == whole.read_text()
    assert writer(model).write(TEXTS, path) == 0


def test_a_file_of_other_settings_is_not_gone_on_with(model, tmp_path):
    path = tmp_path / "written"
    writer(model).write(TEXTS[:1], path)
    with pytest.raises(DataError, match=r"was written with other settings \(copies, seed\): name another file"):
        writer(model, copies=2, seed=4).write(TEXTS, path)


@pytest.mark.parametrize("content", ["first,second\n", "notes without an end", "one\ntwo", "{}"])
def test_a_file_of_something_else_is_left_as_it_is(model, tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_text(content)
    with pytest.raises(DataError, match=r"notes\.txt is no file that DINO wrote"):
        writer(model).write(TEXTS, path)
    assert path.read_text() == content


def test_a_first_line_that_was_cut_off_is_written_again(model, tmp_path):
    whole, path = tmp_path / "whole", tmp_path / "cut"
    writer(model).write(TEXTS[:1], whole)
    path.write_text(whole.read_text()[:12])
    writer(model).write(TEXTS[:1], path)
    assert path.read_text() == whole.read_text()


def test_a_line_that_dino_did_not_write_is_named(tmp_path):
    path = tmp_path / "written"
    path.write_text('{"dino": {}}\n{"text": "a"}\n')
    with pytest.raises(
        DataError, match=r"written, line 2: should be a line that DINO wrote, but is '{\"text\": \"a\"}'"
    ):
        read_written(path)


@pytest.mark.parametrize("texts", [[], ["", "  "]])
def test_no_text_is_refused(model, tmp_path, texts):
    with pytest.raises(UsageError, match="there is no text to write second texts for"):
        writer(model).write(texts, tmp_path / "written")
    assert not (tmp_path / "written").exists()


def test_a_text_that_is_too_long_is_refused_before_anything_is_written(model, tmp_path):
    with pytest.raises(UsageError, match="3 of 6 prompts have no room for 12 tokens more in the 64 of"):
        writer(model).write(["the cat", "dog " * 40], tmp_path / "written")
    assert not (tmp_path / "written").exists()


def test_a_model_that_looks_ahead_is_no_causal_language_model(tmp_path):
    with pytest.raises(ModelError, match=r"\(BertModel\) is not a causal language model: its prediction"):
        writer(str(tiny.build_plain(tmp_path / "bert"))).write(TEXTS, tmp_path / "written")


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(ModelError, match="cannot be loaded as a causal language model"):
        writer(str(tmp_path)).write(TEXTS, tmp_path / "written")


def test_the_end_token_pads_where_there_is_no_pad_token_and_else_it_is_said(model, tmp_path):
    ends = language_model(tmp_path / "ends", pads=False)
    one, other = (writer(name, copies=1).written([*writer(name).tasks(TEXTS)]) for name in (model, ends))
    plain = [tuple(text.replace("<pad> ", "") for text in w.made) for w in other]  # no special token there
    assert [w.made for w in one] == plain
    assert any(plain)
    with pytest.raises(ModelError, match="neither a pad token nor an end-of-text token"):
        writer(language_model(tmp_path / "none", pads=False, ends=False)).write(TEXTS, tmp_path / "written")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"copies": 0}, "copies is 0, but should be at least 1"),
        ({"top_p": 0}, r"top_p is 0 and decay 100.0, but they should be in \(0, 1\]"),
        ({"instructions": {}}, "there is no instruction"),
        ({"instructions": {2: '{text} "'}}, "the instruction for the label 2 is"),
        ({"instructions": {1: "Say it again: {text}"}}, "end with an opening quote"),
        ({"instructions": {1: 'Say it again: "'}}, r"should hold \{text\}"),
    ],
)
def test_settings_that_cannot_be_followed_are_refused(settings, message):
    with pytest.raises(UsageError, match=message):
        Writer("any", **settings)


def test_labels_are_smoothed_as_in_the_authors_code(shared_data):
    told = json.loads((shared_data.parent / "oracles/rise.json").read_text("utf-8"))["dino_label_smoothing_0_2"]
    assert {float(label): smoothed(float(label)) for label in told} == pytest.approx(
        {float(label): value for label, value in told.items()}
    )


WRITTEN = [
    Written("a", 1.0, ("a", "a1", "a1", "a2", "a3")),
    Written("a", 0.0, ("x",)),
    Written("b", 1.0, ("b1", "a1")),
    Written("c", 0.5, ()),
]


def test_pairs_repeat_nothing_and_hold_at_most_two_of_a_text_and_a_label():
    related = [pair for pair in training_pairs(WRITTEN, seed=0) if pair.label > 0]
    assert related == [
        SyntheticPair("a", "a1", 0.9), SyntheticPair("a", "a2", 0.9), SyntheticPair("a", "x", 0.1),
        SyntheticPair("b", "b1", 0.9), SyntheticPair("b", "a1", 0.9),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_each_text_gets_second_texts_of_others_with_label_zero(seed):
    pairs = training_pairs(WRITTEN, seed=seed)
    unrelated = {text: [p.second for p in pairs if p.first == text and p.label == 0] for text in "abc"}
    assert unrelated["a"] == ["b1"]
    assert len(unrelated["b"]) == len(unrelated["c"]) == 2
    assert set(unrelated["b"]) == {"a2", "x"}
    assert set(unrelated["c"]) <= {"a1", "a2", "x", "b1"}
    assert pairs == training_pairs(WRITTEN, seed=seed)
