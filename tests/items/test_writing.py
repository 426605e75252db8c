"""What language models write on, and what comes back of a translation: with tiny models in the real file formats."""

import json

import numpy as np
import pytest
import tiny
from typer.testing import CliRunner

from encheck.cli import app
from encheck.datasets.dataset import dataset_from_rows
from encheck.datasets.probes import embedded
from encheck.datasets.reader import PairRow
from encheck.encoders.writing import BackTranslator, ContinuationGenerator, Translator, make_back_translator
from encheck.errors import ModelError, NothingToMeasure, UsageError
from encheck.generators.back_translation import back_translation_problem
from encheck.generators.continuation import AT_CUT, continuation
from encheck.items.chains import Surprisal, continuation_chains, rewrite_sources, swap_chains
from encheck.items.variants import VariantMaker, WritingModels
from encheck.language.english import English
from encheck.language.words import FUNCTION_WORDS
from encheck.scoring.splits import TEST
from encheck.store import Store
from encheck.types import Group

EXAMPLE = "He was born in New York City, and grew up by the sea."
GOES_ON = "was raised in Baltimore, Maryland where the family moved to live"


def causal(folder, *, seed=0):
    """A GPT-2 of one layer, as transformers saves it."""
    import torch
    from tokenizers import processors
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(seed)
    words = tiny.tokenizer()
    words.backend_tokenizer.post_processor = processors.TemplateProcessing(single="$A", special_tokens=[])
    words.bos_token = words.eos_token = "[SEP]"  # one token that begins and ends, none that pads: as GPT-2 has it
    words.pad_token = None
    sizes = {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 160, "initializer_range": 0.5}
    GPT2LMHeadModel(GPT2Config(vocab_size=len(words), bos_token_id=3, eos_token_id=3, **sizes)).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def marian(folder, *, seed=0):
    """A Marian model of one layer, with the SentencePiece vocabularies of the published ones."""
    import sentencepiece as spm
    import torch
    from transformers import MarianConfig, MarianMTModel, MarianTokenizer

    folder.mkdir(parents=True)
    text = folder / "corpus"
    text.write_text("the a dog cat sings sleeps red blue on under\nshe sings under the red cat\n" * 30)
    for name in ("source", "target"):
        spm.SentencePieceTrainer.train(
            input=str(text), model_prefix=str(folder / name), vocab_size=36, minloglevel=2, hard_vocab_limit=False
        )
        (folder / f"{name}.model").rename(folder / f"{name}.spm")
    pieces = [line.split("\t")[0] for line in (folder / "source.vocab").read_text("utf-8").splitlines()]
    names = ["</s>", "<unk>", *(p for p in pieces if p not in ("<s>", "</s>", "<unk>")), "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(names)}), "utf-8")
    words = MarianTokenizer(
        source_spm=str(folder / "source.spm"), target_spm=str(folder / "target.spm"), vocab=str(folder / "vocab.json")
    )
    torch.manual_seed(seed)
    pad = names.index("<pad>")
    sizes = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
             "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "init_std": 0.5}  # fmt: skip
    config = MarianConfig(
        vocab_size=len(names), pad_token_id=pad, eos_token_id=0, decoder_start_token_id=pad, forced_eos_token_id=0,
        max_position_embeddings=300, **sizes,
    )  # fmt: skip
    MarianMTModel(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def gpt(tmp_path_factory):
    return str(causal(tmp_path_factory.mktemp("gpt")))


@pytest.fixture(scope="module")
def marians(tmp_path_factory):
    folder = tmp_path_factory.mktemp("marian")
    return tuple(str(marian(folder / name, seed=seed)) for seed, name in enumerate(("there", "back")))


def going_on(source, text, level, recipe=None):
    group = Group("g", source, "x", "c", continuation=text)
    return VariantMaker(english=English(recipe=recipe)).variants([group], continuation, level=level)[0]


def test_the_papers_example_is_cut_after_and_four_words():
    source = "He was born in New York City in East Broadway on October 23, 1806."
    assert going_on(source, GOES_ON, 5).text == source[:-1] + ", and was raised in Baltimore."
    made = going_on(source, GOES_ON, 5)
    assert made.edits[0].start == len(source) - 1


def test_a_cut_goes_on_to_where_a_clause_ends():
    text = "the roof of the old house had to be mended before the storm came in from the sea"
    assert going_on("It rained.", text, 5) == "no clause of the continuation ends where it would be cut"
    assert going_on("It rained.", text, 10).text == "It rained, and the roof of the old house had to be mended."
    assert going_on("It rained.", text, 15).text == f"It rained, and {text}."
    assert going_on("It rained.", "we took the money of", 5).startswith("no clause of the continuation ends")


def test_a_question_keeps_its_mark_and_a_sentence_without_an_end_gets_none():
    assert going_on("Did it rain?", GOES_ON, 5).text.endswith("Baltimore?")
    assert going_on("It rained", GOES_ON, 5).text.endswith("Baltimore")


def test_punctuation_that_stands_alone_is_no_word():
    assert going_on("It rained .", "was wet , so", 5) == "the continuation has fewer than 5 words"


def test_a_short_continuation_and_none_are_said():
    assert going_on("It rained.", "stopped", 5) == "the continuation has fewer than 5 words"
    assert going_on("It rained.", "", 5) == "the continuation has fewer than 5 words"
    assert going_on("It rained.", None, 5) == "no continuation: give --continuation-model"


def test_chains_of_the_probes_are_cut_where_a_clause_ends():
    found = continuation_chains(embedded(), 30, VariantMaker())
    written = [group for group in embedded().groups if group.split in TEST and group.continuation is not None]
    assert (
        len(written) == len(found.included) + found.excluded["no clause of the continuation ends where it would be cut"]
    )
    assert len(found.included) > 0.9 * len(written)
    for chain in found.included:
        counts = [len(member.split()) - len(chain.source.split()) for member in chain.members]
        assert len({count // 5 for count in counts if count >= 5}) == len(counts)
        assert chain.pairs_to_score[1] == (chain.members[0], chain.partner)
    last = [member.rstrip(AT_CUT).split()[-1].lower() for chain in found.included for member in chain.members]
    assert FUNCTION_WORDS.isdisjoint(last)


def test_data_without_continuations_have_nothing_to_measure():
    with pytest.raises(NothingToMeasure, match="--continuation-model"):
        continuation_chains(dataset_from_rows("own", [PairRow("It rained.", "Rain fell.", 1)]), 30, VariantMaker())


def test_a_language_model_writes_what_follows_each_text_and_not_the_text_itself(gpt):
    texts = ["the dog sings, and", "a red cat sleeps on the dog, and", "the dog sings, and"]
    found = ContinuationGenerator(gpt, device="cpu")(texts)
    assert found[0] == found[2]
    assert all(len(text.split()) >= 5 and "\n" not in text for text in found)
    assert not found[1].startswith("a red cat sleeps on")


def test_what_was_written_does_not_depend_on_the_batch(gpt):
    texts = ["the dog sings, and", "a red cat sleeps on the dog under the blue cat, and", "the, and"]
    together = ContinuationGenerator(gpt, device="cpu")(texts)
    assert together == [ContinuationGenerator(gpt, device="cpu")([text])[0] for text in texts]


def test_what_was_written_is_kept_and_another_model_has_a_place_of_its_own(gpt, tmp_path):
    store = Store(tmp_path / "s.sqlite")
    first = ContinuationGenerator(gpt, device="cpu", store=store)
    text = first(["the dog, and"])
    again = ContinuationGenerator(gpt, device="cpu", store=store)
    assert again(["the dog, and"]) == text
    assert (first.written, again.written) == (1, 0)
    other = ContinuationGenerator(str(causal(tmp_path / "other", seed=7)), device="cpu", store=store)
    assert other.fingerprint != first.fingerprint
    assert other(["the dog, and"]) != text


LONG = "the dog sings " * 900


def test_nothing_is_written_for_a_text_that_the_model_has_no_room_for(gpt, marians):
    for writer in (ContinuationGenerator(gpt, device="cpu"), Translator(marians[0], device="cpu")):
        found = writer(["she sleeps under the red cat", LONG, "the dog \ud800 sings", ""])
        assert found == [writer(["she sleeps under the red cat"])[0], "", writer(["the dog \ufffd sings"])[0], ""]
    group = Group("g", LONG, "x", "c")
    assert rewrite_sources(
        [group], VariantMaker(writers=WritingModels(translations=Translator(marians[0], device="cpu")))
    ) == ["the back-translation is empty"]


def test_surprisal_is_the_loss_of_the_language_model_in_bits(gpt):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, words = AutoModelForCausalLM.from_pretrained(gpt).eval(), AutoTokenizer.from_pretrained(gpt)
    texts = ["the dog sings", "a red cat sleeps on the blue dog", "dog"]
    for text, found in zip(texts, bits(gpt)(texts), strict=True):
        ids = torch.tensor([[words.bos_token_id, *words(text)["input_ids"]]])
        with torch.inference_mode():
            chances = model(ids).logits[0, :-1].log_softmax(-1)
        each = [float(chances[i, token]) for i, token in enumerate(ids[0, 1:])]
        assert found == pytest.approx(-np.mean(each) / np.log(2), abs=1e-4)


def bits(gpt, **options):
    return Surprisal(ContinuationGenerator(gpt, device="cpu", **options))


def test_surprisal_of_a_text_without_room_is_no_number_and_all_is_kept(gpt, tmp_path):
    store = Store(tmp_path / "s.sqlite")
    first, again = bits(gpt, store=store), bits(gpt, store=store)
    texts = ["the dog sings", LONG, "the dog sings"]
    found = first(texts)
    assert found[0] == found[2] > 0
    assert np.isnan(found[1])
    assert again(texts) == pytest.approx(found, nan_ok=True)
    assert (first.computed, again.computed) == (2, 0)


def test_chains_bear_the_surprisal_of_every_text_where_a_language_model_is_given(gpt):
    a, b = (
        "The old gardener quietly planted red tulips and quickly watered dry ferns.",
        "Red tulips the old gardener quietly planted and dry ferns she quickly watered.",
    )
    data = dataset_from_rows("own", [PairRow(a, b, 1)])
    (chain,) = swap_chains()(data, "pivot=a", VariantMaker(writers=WritingModels(surprisal=bits(gpt)))).included
    assert chain.surprisal == pytest.approx(bits(gpt)([b, *chain.members]).tolist())
    assert swap_chains()(data, "pivot=a", VariantMaker()).included[0].surprisal == ()


def test_a_translation_goes_there_and_back(marians):
    there, back = (Translator(name, device="cpu") for name in marians)
    texts = ["the dog sings", "she sleeps under the red cat"]
    assert BackTranslator(there, back)(texts) == back(there(texts))
    assert make_back_translator(",".join(marians), device="cpu")(texts) == back(there(texts))


def test_two_models_or_a_language_are_asked_for():
    for spec in ("./en-de", "./en-de,", ""):
        with pytest.raises(UsageError, match="should be a language"):
            make_back_translator(spec)


def test_a_folder_that_is_no_model_is_refused(tmp_path):
    with pytest.raises(ModelError, match="not a checkpoint"):
        ContinuationGenerator(str(tmp_path))
    with pytest.raises(ModelError, match="does not exist"):
        ContinuationGenerator("./nowhere")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("the MILL closed on Monday!", "copy"),
        ("Closed.", "longer or shorter"),
        ("", "empty"),
        ("the mill the mill the mill the", "repeats itself"),
        ("Mühle Montag geschlossen worden heute", "not English"),
        ("On Monday they shut the mill down.", ""),
    ],
)
def test_what_cannot_stand_for_the_sentence_is_left_out_with_a_reason(text, reason):
    said = back_translation_problem("The mill closed on Monday.", text)
    assert reason in said
    assert bool(said) == bool(reason)


def test_back_translations_take_the_place_of_the_sentence():
    source, other = "The old mill quietly closed on Monday.", "On Monday they shut down the old mill."
    groups = [Group("g", source, "x", "c"), Group("h", "It rained.", "x", "c")]
    maker = VariantMaker(
        writers=WritingModels(translations=lambda texts: [{source: other}.get(text, text) for text in texts])
    )
    found = rewrite_sources(groups, maker)
    assert found[0].text == other
    assert found[1] == "the back-translation is a copy of the sentence"


def test_a_chain_of_a_back_translation_keeps_its_paraphrase():
    a, b, c = (
        "The old gardener quietly planted red tulips and quickly watered dry ferns.",
        "Red tulips the old gardener quietly planted and dry ferns she quickly watered.",
        "Quietly the old man put in tulips and in haste gave water to dry plants.",
    )
    maker = VariantMaker(writers=WritingModels(translations=lambda texts: [c] * len(texts)))
    (chain,) = swap_chains(rewrite_sources)(dataset_from_rows("own", [PairRow(a, b, 1)]), "pivot=a", maker).included
    assert (chain.source, chain.partner) == (c, b)


def test_what_models_wrote_is_listed(gpt, marians, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "sentence1\tsentence2\tlabel\nThe dog sings.\tA dog is singing.\t1\nRain fell.\tNo sun.\t0\n"
    (tmp_path / "own.tsv").write_text(rows)
    writers = [f"--continuation-model={gpt}", f"--back-translate={','.join(marians)}"]
    made = CliRunner().invoke(app, ["data", "variants", "--data", "pairs:own.tsv", *writers])
    assert made.exit_code == 0, made.output
    listed = {line.split()[0] for line in made.output.splitlines() if line.strip()}
    assert {"continuation", "back_translation"} <= listed
