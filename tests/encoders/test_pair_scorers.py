"""Pair scorers as models under test: tiny checkpoints in the real formats, against the libraries and oracle files."""

import json

import numpy as np
import pytest
import tiny
from model_checks import LENGTHS, check_any_text, check_half_surrogates

from encheck.encoders.load import load_model
from encheck.encoders.model_config import Device
from encheck.encoders.models_file import ModelConfig, apply_model_args
from encheck.encoders.protocol import Encoder, FittedModel, PairScorer
from encheck.errors import EncoderError, ModelError
from encheck.items.variants import VariantMaker
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.scoring_session import ScoringSession
from encheck.similarity import jaccard
from encheck.store import Store
from encheck.system.terminal import Progress

CPU = Device("cpu")
PAIRS = [("the dog sings", "a cat sleeps on"), ("red", "blue under the cat"), ("the dog sings", "the dog sings on")]
FIRST, SECOND = zip(*PAIRS, strict=True)


def pair_tokenizer():
    from tokenizers import processors

    words = tiny.tokenizer()
    ends = [(name, words.convert_tokens_to_ids(name)) for name in ("[CLS]", "[SEP]")]
    words.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    words.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    return words


def classifier(folder, *, labels=("LABEL_0",), **settings):
    """A BERT with a classification head, as transformers saves it."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    words = pair_tokenizer()
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=2 * tiny.MAX_LENGTH, initializer_range=0.5, id2label=dict(enumerate(labels)),
        label2id={name: i for i, name in enumerate(labels)}, **settings,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def cross_encoder(folder, **options):
    return load_model(ModelConfig("tiny", "cross-encoder", str(folder), options=options), device=CPU)


def logits(folder):
    """What transformers' own class says of each pair alone."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    words = AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        return np.array([model(**words(a, b, return_tensors="pt")).logits[0].numpy() for a, b in PAIRS])


def softmax(rows):
    return np.exp(rows) / np.exp(rows).sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return tmp_path_factory.mktemp("classifiers")


@pytest.fixture(scope="module")
def binary(folders):
    return classifier(folders / "binary", labels=("LABEL_0", "LABEL_1"))


def test_a_binary_head_gives_the_probability_of_its_second_class(binary):
    found = cross_encoder(binary).score_pairs(FIRST, SECOND)
    assert found == pytest.approx(softmax(logits(binary))[:, 1], abs=1e-6)


def test_an_nli_head_gives_the_probability_of_entailment_wherever_it_stands(folders):
    orders = [("contradiction", "ENTAILMENT", "neutral"), ("entailment", "neutral", "contradiction")]
    for i, labels in enumerate(orders):
        folder = classifier(folders / f"nli{i}", labels=labels)
        found = cross_encoder(folder).score_pairs(FIRST, SECOND)
        assert found == pytest.approx(softmax(logits(folder))[:, 1 - i], abs=1e-6)


def test_a_head_of_one_number_is_squashed_as_the_checkpoint_says(folders):
    plain = classifier(folders / "one")
    regression = classifier(folders / "regression", problem_type="regression")
    assert cross_encoder(regression).score_pairs(FIRST, SECOND) == pytest.approx(logits(regression)[:, 0], abs=1e-5)
    squashed = 1 / (1 + np.exp(-logits(plain)[:, 0]))
    assert cross_encoder(plain).score_pairs(FIRST, SECOND) == pytest.approx(squashed, abs=1e-6)
    asked = cross_encoder(plain, activation="identity")
    assert asked.score_pairs(FIRST, SECOND) == pytest.approx(logits(plain)[:, 0], abs=1e-5)
    assert asked.fingerprint() != cross_encoder(plain).fingerprint()


@pytest.mark.parametrize("activation", ["Sigmoid", "Identity"])
def test_a_folder_of_sentence_transformers_scores_as_its_own_class_does(folders, activation):
    import torch
    from sentence_transformers import CrossEncoder

    folder = folders / f"st-{activation}"
    theirs = CrossEncoder(
        str(classifier(folders / f"for-{activation}")), device="cpu", activation_fn=getattr(torch.nn, activation)()
    )
    theirs.save(str(folder))
    assert cross_encoder(folder).score_pairs(FIRST, SECOND) == pytest.approx(theirs.predict(PAIRS), abs=1e-6)


STATED = {
    "as now": ("config_sentence_transformers.json", "activation_fn", "mine.Sigmoid"),
    "as in 4 and 5": ("config.json", "activation_fn", "torch.nn.modules.activation.ReLU"),
    "as before": ("config.json", "sbert_ce_default_activation_function", "os.abort"),
}


@pytest.mark.parametrize(("file", "key", "named"), STATED.values(), ids=STATED.keys())
def test_an_activation_that_is_not_known_is_refused_unless_the_entry_says_which(folders, file, key, named):
    folder = folders / key / named
    classifier(folder)
    found = {"sentence_transformers": {key: named}} if (file, key) == ("config.json", "activation_fn") else {key: named}
    before = json.loads((folder / file).read_text()) if (folder / file).exists() else {}
    (folder / file).write_text(json.dumps(before | found))
    with pytest.raises(ModelError, match=rf"{folder / file}: {key} is '{named}', but only torch's Sigmoid and Ident"):
        cross_encoder(folder)
    assert cross_encoder(folder, activation="sigmoid").activation == "sigmoid"


UNDONE = {
    "a prompt": (
        "config_sentence_transformers.json", {"prompts": {"ask": "Q: "}, "default_prompt_name": "ask"}, "pairs get no"
    ),
    "another module": (
        "modules.json", [{"path": "", "type": "sentence_transformers.models.Transformer"},
                         {"path": "1", "type": "sentence_transformers.cross_encoder.modules.logit_score.LogitScore"}],
        "type is 'sentence_transformers.cross_encoder.modules.logit_score.LogitScore', but the scores here are"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("file", "found", "told"), UNDONE.values(), ids=UNDONE.keys())
def test_what_is_not_done_for_pairs_is_refused_by_name(folders, file, found, told):
    folder = classifier(folders / f"with-{file}")
    (folder / file).write_text(json.dumps(found))
    with pytest.raises(ModelError, match=f"{folder / file}: .*{told}"):
        cross_encoder(folder)


def test_layers_that_are_kept_in_full_precision_are_refused_in_half_of_it(folders):
    folder = classifier(folders / "kept")
    (folder / "config_sentence_transformers.json").write_text('{"keep_in_fp32_modules": ["0.model.classifier"]}')
    assert cross_encoder(folder).dtype == "float32"
    with pytest.raises(ModelError, match=r"keep_in_fp32_modules is .*, but dtype bfloat16. Remedy: dtype float32"):
        load_model(ModelConfig("tiny", "cross-encoder", str(folder), dtype="bfloat16"), device=CPU)


def test_classes_that_say_nothing_must_be_named(folders):
    folder = classifier(folders / "three", labels=("a", "b", "c"))
    with pytest.raises(ModelError, match="one that surely means the same"):
        cross_encoder(folder)
    with pytest.raises(ModelError, match="and d is not among"):
        cross_encoder(folder, positive="d")
    for name in ("B", "1"):
        found = cross_encoder(folder, positive=name).score_pairs(FIRST, SECOND)
        assert found == pytest.approx(softmax(logits(folder))[:, 1], abs=1e-6)


def test_a_class_can_be_named_by_its_number_on_the_command_line(folders):
    folder = classifier(folders / "numbered", labels=("a", "b", "c"))
    config = apply_model_args(ModelConfig("tiny", "cross-encoder", str(folder)), {"positive": "1"})
    assert load_model(config, device=CPU).score_pairs(FIRST, SECOND) == pytest.approx(
        softmax(logits(folder))[:, 1], abs=1e-6
    )


def test_both_directions_are_averaged_on_request(binary):
    there = cross_encoder(binary).score_pairs(FIRST, SECOND)
    back = cross_encoder(binary).score_pairs(SECOND, FIRST)
    both = cross_encoder(binary, direction="both")
    assert both.score_pairs(FIRST, SECOND) == pytest.approx((there + back) / 2, abs=1e-6)
    assert np.abs(there - back).max() > 1e-3
    assert both.fingerprint() != cross_encoder(binary).fingerprint()


def test_equal_pairs_are_computed_once_and_batches_are_packed_by_tokens(binary, monkeypatch):
    model = cross_encoder(binary, direction="both")
    seen = []
    real = type(model).compute
    monkeypatch.setattr(type(model), "compute", lambda self, pairs: (seen.extend(pairs), real(self, pairs))[1])
    found = model.score_pairs([*FIRST, *FIRST, *SECOND], [*SECOND, *SECOND, *FIRST])
    assert len(seen) == len(set(seen)) == 2 * len(PAIRS)
    assert found[:3] == pytest.approx(found[3:6])
    assert found[:3] == pytest.approx(found[6:])


def test_long_and_empty_texts_are_scored(binary):
    found = cross_encoder(binary).score_pairs(["word " * 5_000, "", ""], ["x", "", "a dog"])
    assert np.isfinite(found).all()


def test_a_checkpoint_without_a_head_is_refused(tmp_path):
    folder = tiny.build_plain(tmp_path / "plain")
    with pytest.raises(EncoderError, match="classifier"):
        cross_encoder(folder).score_pairs(["a"], ["b"])


def lexical(weighting, corpus=()):
    model = load_model(ModelConfig(weighting, "lexical", options={"weighting": weighting}), device=CPU)
    model.fit(list(corpus))
    return model


def test_jaccard_is_the_overlap_beside_every_figure():
    assert lexical("jaccard").score_pairs(FIRST, SECOND).tolist() == jaccard(FIRST, SECOND).tolist()


def test_tf_idf_is_scikit_learns():
    from sklearn.feature_extraction.text import TfidfVectorizer

    corpus = sorted({*FIRST, *SECOND})
    made = TfidfVectorizer(token_pattern=r"\w+").fit(corpus)
    expected = [(made.transform([a]) @ made.transform([b]).T).toarray()[0, 0] for a, b in PAIRS]
    assert lexical("tf-idf", corpus).score_pairs(FIRST, SECOND) == pytest.approx(expected)


def test_bm25_by_hand():
    corpus = ["a b", "a c c", "d"]
    idf = {word: np.log(1 + (3 - df + 0.5) / (df + 0.5)) for word, df in {"a": 2, "b": 1, "c": 1, "d": 1}.items()}

    def score(query, document):
        norm = 1.5 * (1 - 0.75 + 0.75 * len(document) / 2)
        return sum(idf[w] * document.count(w) * 2.5 / (document.count(w) + norm) for w in query if w in document)

    a, b = ["a", "b"], ["a", "c", "c"]
    expected = (score(a, b) / score(a, a) + score(b, a) / score(b, b)) / 2
    assert lexical("bm25", corpus).score_pairs(["a b"], ["a c c"]) == pytest.approx([expected])


def test_lexical_models_know_words_and_nothing_else():
    for weighting in ("jaccard", "tf-idf", "bm25"):
        model = lexical(weighting, ["the dog sings", "a cat", "red"])
        found = model.score_pairs(["the dog sings", "a cat", "", "red"], ["sings the dog", "red", "", "green"])
        assert found == pytest.approx([1, 0, 1, 0])


def test_pair_scorers_are_no_encoders_and_those_that_count_texts_are_fitted(binary):
    found = {"cross": cross_encoder(binary), "bm25": lexical("bm25")}
    assert all(isinstance(m, PairScorer) and not isinstance(m, Encoder) for m in found.values())
    assert [isinstance(m, FittedModel) for m in found.values()] == [False, True]


def test_the_bench_fits_scores_and_keeps_what_a_pair_scorer_gives(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    subjects = [ModelUnderTest("m", ModelConfig("m"), lexical("bm25")) for _ in range(2)]
    for subject in subjects:
        ScoringSession({"m": subject}, {}, store, maker=VariantMaker()).encode(
            {"m": PAIRS}, progress=Progress(quiet=True)
        )
        assert subject.error is None
    assert [subject.encoded for subject in subjects] == [3, 0]
    assert subjects[0].scored == subjects[1].scored


def test_halves_of_surrogate_pairs_are_read_by_every_scorer(binary):
    for model in (cross_encoder(binary), lexical("bm25")):
        check_half_surrogates(model)


@pytest.mark.parametrize(("examples", "longest"), LENGTHS)
def test_scores_are_finite_and_depend_on_no_other_pair_whatever_the_texts(examples, longest, binary):
    check_any_text(cross_encoder(binary), examples, longest)
