"""BERTScore and the alignment of spans on tiny checkpoints, and the entries of the papers' tables."""

import json
from collections import Counter

import numpy as np
import pytest
import tiny
import tiny_models
from model_checks import LENGTHS, check_any_text, check_half_surrogates
from test_pair_scorers import CPU, FIRST, PAIRS, SECOND, classifier, pair_tokenizer

from encheck.encoders.adapters import find_adapter
from encheck.encoders.load import load_model
from encheck.encoders.models_file import ModelConfig, apply_model_args, packaged_models_path, read_models
from encheck.encoders.protocol import Encoder, FittedModel, PairScorer
from encheck.language.pipeline.pipeline import Pipeline
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.service import EncoderService
from encheck.store import Store
from encheck_papers.alignment import one_to_one, span_vectors
from encheck_papers.bertscore import greedy
from encheck_papers.token_states import States


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return tiny.build_plain(tmp_path_factory.mktemp("plain"))


def scorer(adapter, folder, **options):
    return load_model(ModelConfig("tiny", adapter, str(folder), options=options), device=CPU)


def test_greedy_matching_is_that_of_bert_score(shared_data):
    told = json.loads((shared_data.parent / "oracles/bertscore.json").read_text("utf-8"))

    def unit(rows):
        return np.array(rows) / np.linalg.norm(rows, axis=1, keepdims=True)

    for case in told["cases"]:
        weights = zip(case["hyp_weights"], case["ref_weights"], strict=True)
        found = [
            greedy(unit(hyp), unit(ref), [np.array(w) for w in both])
            for hyp, ref, both in zip(told["hyps"], told["refs"], weights, strict=True)
        ]
        expected = zip(*(case[f"{name}_alone"] for name in "PRF"), strict=True)
        assert np.array(found) == pytest.approx(np.array(list(expected)), abs=1e-5)
    padded = told["padding_artefact"]
    sides = unit(padded["hyp"]), unit(padded["ref"])
    precision, _, f1 = greedy(*sides, [np.ones(3), np.ones(3)])
    assert (precision, f1) == pytest.approx((padded["P_alone"], padded["F_alone"]), abs=1e-5)


def by_hand(folder, corpus, *, layer=-1):
    """BERTScore written out for one pair at a time, with torch alone."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    model, words = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    df = Counter(i for text in corpus for i in set(words(text)["input_ids"]))
    found = []
    for pair in PAIRS:
        sides = []
        for text in pair:
            ids = words(text, return_tensors="pt")["input_ids"]
            with torch.inference_mode():
                hidden = model(ids, output_hidden_states=True).hidden_states[layer][0]
            idf = [np.log((len(corpus) + 1) / (df[int(i)] + 1)) for i in ids[0]]
            idf[0] = idf[-1] = 0
            sides.append((torch.nn.functional.normalize(hidden, dim=1).numpy().astype(float), np.array(idf)))
        (a, u), (b, v) = sides
        p, r = ((a @ b.T).max(1) * u).sum() / u.sum(), ((a @ b.T).max(0) * v).sum() / v.sum()
        found.append(2 * p * r / (p + r))
    return np.array(found)


def named(folder, texts):
    """A file of these texts, as `idf` names it."""
    (folder / "texts.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")
    return f"texts:{folder / 'texts.jsonl'}"


def test_bertscore_over_an_encoder_is_what_torch_gives_pair_by_pair(plain, tmp_path):
    corpus = sorted({*FIRST, *SECOND, "a red dog"})
    for layer in (-1, 0):
        model = scorer("bertscore", plain, layer=layer, idf=named(tmp_path, corpus))
        assert model.score_pairs(FIRST, SECOND) == pytest.approx(by_hand(plain, corpus, layer=layer), abs=1e-5)


def test_the_texts_that_idf_is_counted_in_are_part_of_the_fingerprint(plain, tmp_path):
    models = [scorer("bertscore", plain)]
    for corpus in (["a dog"], ["a cat"]):
        models.append(scorer("bertscore", plain, idf=named(tmp_path, corpus)))
        assert models[-1].about()["weights"] == f"IDF over 1 texts of texts:{tmp_path / 'texts.jsonl'}"
    assert len({model.fingerprint() for model in models}) == 3


def test_bertscore_of_empty_text_is_a_number(plain):
    assert scorer("bertscore", plain).score_pairs(["", "a"], ["a dog", ""]).tolist() == [0, 0]


def test_a_span_is_the_mean_of_all_pieces_of_its_words_and_what_was_cut_off_is_left_out():
    parse = next(iter(Pipeline().parse(["He slices tomatoes in the kitchen"])))
    spans = [(0, 0), (0, 2), (3, 6), (6, 9), (10, 18), (0, 0)]  # slic ##es, the rest beyond the limit
    vectors = np.eye(6, dtype=np.float32)
    states = States(np.zeros(6, int), vectors, np.array(spans), np.array([True, *[False] * 4, True]))
    found = span_vectors(parse, states)
    expected = np.array([vectors[1:4].sum(0), vectors[2:5].sum(0), vectors[2:4].sum(0)])
    assert found == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True), abs=1e-6)


def test_alignment_gives_one_for_the_same_text_and_less_for_another(plain):
    model = scorer("alignment", plain)
    same = model.score_pairs(["The dog sings.", "!"], ["The dog sings.", "!"])
    assert same == pytest.approx([1, 1], abs=1e-6)
    first, second = ["The dog sings.", "the dog sees a red cat"], ["A cat sleeps on.", "a red cat sees the dog"]
    assert (model.score_pairs(first, second) < 0.999).all()
    assert np.isfinite(model.score_pairs(["", "x"], ["", "word " * 3_000])).all()


def test_a_span_has_one_partner_in_a_one_to_one_alignment_and_any_nearest_in_a_greedy_one():
    first, second = np.eye(3)[[0, 0, 1]], np.eye(3)[[0, 2]]
    assert one_to_one(first, second) == pytest.approx(2 * 1 / 5)
    assert greedy(first, second, (np.ones(3), np.ones(2)))[2] == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))
    assert one_to_one(first, second) == one_to_one(second, first)
    assert one_to_one(first, first) == pytest.approx(1)
    assert one_to_one(first, second[:0]) == 0


def test_the_report_and_the_fingerprint_say_how_spans_are_matched(plain):
    models = [scorer("alignment", plain, matching=how) for how in ("greedy", "one-to-one")]
    assert [model.about()["matching"] for model in models] == ["greedy", "one-to-one"]
    assert len({model.fingerprint() for model in models}) == 2
    first, second = ["The dog sings and the cat sleeps."], ["A cat sleeps."]
    greedy_score, one_score = (float(model.score_pairs(first, second)[0]) for model in models)
    assert one_score < greedy_score


@pytest.mark.parametrize("weighted", [True, False])
def test_bertscore_is_that_of_the_bert_score_package(plain, weighted, tmp_path):
    package = pytest.importorskip("bert_score")
    how = {"num_layers": 1, "device": "cpu", "nthreads": 1}
    theirs = package.BERTScorer(str(plain), idf=weighted, idf_sents=sorted(set(SECOND)) if weighted else None, **how)
    model = scorer("bertscore", plain, **({"idf": named(tmp_path, SECOND)} if weighted else {}))
    expected = [float(theirs.score([a], [b])[2][0]) for a, b in PAIRS]
    assert model.score_pairs(FIRST, SECOND) == pytest.approx(expected, abs=1e-5)


def test_every_model_of_the_papers_tables_has_an_entry():
    known = read_models(packaged_models_path())
    wanted = {
        "bert-paraphrase": "cross-encoder", "roberta-paraphrase": "cross-encoder",
        "simcse-unsup": "transformers", "simcse-sup": "transformers",
        "simcse-roberta-unsup": "transformers", "simcse-roberta-sup": "transformers",
        "simcse-pas": "alignment", "simcse-roberta-pas": "alignment",
        "simcse-bertscore": "bertscore", "simcse-roberta-bertscore": "bertscore",
        "sbert-v1": "sentence-transformers", "sbert-v2": "sentence-transformers",
        "jaccard": "lexical", "tf-idf": "lexical", "bm25": "lexical",
    }  # fmt: skip
    assert {name: known[name].adapter for name in wanted} == wanted
    assert {known[n].pooling for n, adapter in wanted.items() if adapter == "transformers"} == {"cls"}
    assert all(map(find_adapter, wanted.values()))


def sentence_bert(folder):
    return tiny.build(folder)


def roberta(folder):
    return tiny_models.roberta(folder).name


def paraphrase_bert(folder):
    return classifier(folder, labels=("LABEL_0", "LABEL_1"))


def paraphrase_roberta(folder):
    """A RoBERTa with a classification head, as transformers saves it."""
    import torch
    from transformers import RobertaConfig, RobertaForSequenceClassification

    torch.manual_seed(0)
    words = pair_tokenizer()
    words.model_max_length = 512
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    config = RobertaConfig(
        vocab_size=len(words), max_position_embeddings=40, type_vocab_size=2, initializer_range=0.5, pad_token_id=0,
        **sizes,
    )  # fmt: skip
    RobertaForSequenceClassification(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


OF_THE_TABLES = {
    "bert-paraphrase": paraphrase_bert, "roberta-paraphrase": paraphrase_roberta,
    "simcse-unsup": tiny.build_plain, "simcse-sup": tiny.build_plain, "simcse-pas": tiny.build_plain,
    "simcse-bertscore": tiny.build_plain, "simcse-roberta-unsup": roberta, "simcse-roberta-sup": roberta,
    "simcse-roberta-pas": roberta, "simcse-roberta-bertscore": roberta,
    "sbert-v1": sentence_bert, "sbert-v2": sentence_bert,
}  # fmt: skip


@pytest.mark.parametrize(("name", "build"), OF_THE_TABLES.items(), ids=OF_THE_TABLES)
def test_the_entries_of_the_papers_tables_score_pairs_with_checkpoints_of_their_kind(name, build, tmp_path):
    config = apply_model_args(read_models(packaged_models_path())[name], {"name": str(build(tmp_path / "model"))})
    subject = ModelUnderTest("m", config, load_model(config, device=CPU))
    pairs = [*PAIRS, ("the dog sings " * 40, "a cat"), ("the dog sings", "the dog sings")]
    found = EncoderService(subject, Store(tmp_path / "s.sqlite")).similarities(*zip(*pairs, strict=True))
    assert np.isfinite(found).all()
    assert len(set(found.round(6))) > 2
    if config.adapter != "cross-encoder":
        assert found[-1] == pytest.approx(1, abs=1e-5)
        assert found[0] < 0.9999


def test_both_are_pair_scorers_and_learn_nothing_from_a_run(plain):
    for model in (scorer("bertscore", plain), scorer("alignment", plain)):
        assert isinstance(model, PairScorer)
        assert not isinstance(model, Encoder | FittedModel)


def test_halves_of_surrogate_pairs_are_read_by_both(plain):
    for name in ("bertscore", "alignment"):
        check_half_surrogates(scorer(name, plain))


@pytest.mark.parametrize(("examples", "longest"), LENGTHS)
def test_scores_are_finite_and_depend_on_neither_order_nor_another_pair(examples, longest, plain):
    check_any_text(scorer("bertscore", plain), examples, longest, symmetric=True)
