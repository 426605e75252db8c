"""`encheck.run`: the checks on any model object, without pytest."""

import html
import json
import random
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiny
from typer.testing import CliRunner

import encheck
from encheck.cli import app
from encheck.errors import UsageError
from encheck.reporting.results import read_items, read_results
from encheck.store import Store

CHECKS = "quantifier"


@pytest.fixture(scope="module")
def how(quantifier_probes, tmp_path_factory):
    """A quick run: one property on some of the probes."""
    return {"data": quantifier_probes, "checks": CHECKS, "store": tmp_path_factory.mktemp("store") / "store.sqlite"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny checkpoint."""
    return tiny.build(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def by_path(folder, how):
    """The results of the checkpoint by its path."""
    return encheck.run(folder, **how)


def figures(results):
    """Every figure of a run of one model, without the model's name."""
    return {(row.check, row.metric): (row.value, row.low, row.high, row.verdict) for row in results.rows}


def same_figures(one, other, tolerance=1e-6):
    assert figures(one).keys() == figures(other).keys()
    for key, (*values, verdict) in figures(one).items():
        *others, theirs = figures(other)[key]
        assert verdict == theirs
        assert values == pytest.approx(others, abs=tolerance)


PYTEST = ["pytest", "--pyargs", "encheck.checks", "-p", "encheck.short_options", "-p", "no:cacheprovider"]


def of_a_process(command):
    return subprocess.run([sys.executable, "-m", *command], capture_output=True, check=False).returncode


@pytest.mark.parametrize(
    ("command", "call"),
    [
        (["run"], lambda command: CliRunner().invoke(app, command).exit_code),
        *(pytest.param(one, of_a_process, marks=pytest.mark.long) for one in (PYTEST, [*PYTEST, "-n2"])),
    ],
    ids=["shell", "pytest", "workers"],
)
def test_a_run_gives_what_the_commands_write(command, call, folder, how, tmp_path, monkeypatch):
    """To the last digit, from one store."""
    monkeypatch.chdir(tmp_path)
    models = [str(folder), "bag-of-words"]
    named = [f"--model={model}" for model in models]
    rest = ["--data", how["data"], "-m", CHECKS, f"--store={how['store']}", f"--report-dir={tmp_path}", "-q"]
    code = call([*command, *named, *rest])
    written, found = read_results(tmp_path), encheck.run(models, **how)
    assert found.raw.run.settings == written.run.settings
    assert replace(found.raw, run=written.run) == written
    assert found.exit_code == code == written.run.exit_status
    items = read_items(tmp_path)
    assert found.items.keys() == items.keys()
    for case, frame in items.items():
        assert found.items[case].near.scores.tolist() == frame.near.scores.tolist()


def test_a_sentence_transformer_in_memory_is_its_files(folder, how, tmp_path):
    from sentence_transformers import SentenceTransformer

    how = {**how, "store": tmp_path / "store.sqlite"}  # both are encoded here, in the same batches
    model = SentenceTransformer(str(folder), device="cpu").train()
    found = encheck.run(model, **how)
    same_figures(encheck.run(folder, **how), found, tolerance=0)
    assert all(part.training for part in model.modules())
    assert {row.model for row in found.rows} == {"whole"}
    assert encheck.run(model, **how).raw.run.encoded == {"whole": 0}  # known by its weights


def test_weights_that_change_are_another_model(folder, how):
    import torch
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")
    before = encheck.run(model, **how)
    with torch.no_grad():
        next(model.parameters()).mul_(-1.5)
    after = encheck.run(model, **how)
    assert before.raw.models[0].fingerprint != after.raw.models[0].fingerprint
    assert figures(before) != figures(after)


def test_prompts_and_pooling_of_a_model_in_memory_count(folder, how):
    from sentence_transformers import SentenceTransformer

    prompted = SentenceTransformer(str(folder), device="cpu", prompts={"p": "the dog "}, default_prompt_name="p")
    pooled = SentenceTransformer(str(folder), device="cpu")
    pooled[1].pooling_mode = "cls"
    prints = {encheck.run(one, **how).raw.models[0].fingerprint for one in (prompted, pooled)}
    plain = encheck.run(SentenceTransformer(str(folder), device="cpu"), **how).raw.models[0].fingerprint
    assert len({*prints, plain}) == 3


def test_a_transformers_model_comes_with_its_tokenizer(folder, how):
    from transformers import AutoModel, AutoTokenizer

    pair = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    same_figures(encheck.run(folder, model_arg=["adapter=transformers"], **how), encheck.run(pair, **how))
    with pytest.raises(TypeError, match="Give a transformers model with its tokenizer"):
        encheck.run(pair[0], **how)


def test_a_cross_encoder_in_memory_is_its_files(folder, how, tmp_path):
    from sentence_transformers import CrossEncoder

    CrossEncoder(str(folder.parent / "plain"), num_labels=1, device="cpu", max_length=20).save(str(tmp_path / "cross"))
    loaded = CrossEncoder(str(tmp_path / "cross"), device="cpu", max_length=20)
    asked = {**how, "model_arg": ["adapter=cross-encoder", "max_length=20"]}
    same_figures(encheck.run(tmp_path / "cross", **asked), encheck.run(loaded, **how))


def test_a_function_and_an_object_are_asked_anew_and_leave_nothing_in_the_store(folder, by_path, how):
    from sentence_transformers import SentenceTransformer

    model, texts = SentenceTransformer(str(folder), device="cpu"), []

    def embed(sentences):
        texts.extend(sentences)
        return model.encode(sentences, show_progress_bar=False)

    class Wrapped:
        def encode(self, sentences):
            return list(model.encode(sentences, convert_to_tensor=True, show_progress_bar=False))

    stored = {one.fingerprint for one in Store(how["store"]).list_models()}
    found = encheck.run([embed, Wrapped(), lambda sentences: embed(sentences)], **how)
    assert {row.model for row in found.rows} == {"embed", "Wrapped", "function"}
    for name in ("embed", "Wrapped"):
        own = [row for row in found.rows if row.model == name]
        assert {(r.check, r.metric): r.verdict for r in own} == {(r.check, r.metric): r.verdict for r in by_path.rows}
    assert {one.fingerprint for one in Store(how["store"]).list_models()} == stored
    asked = len(texts)
    encheck.run(embed, **how)
    assert len(texts) > asked


@pytest.mark.long
def test_an_mteb_encoder_is_the_sentence_transformer_in_it(how, tmp_path):
    pytest.importorskip("mteb", reason="needs mteb, which `make test-long` installs")
    from mteb.models import CrossEncoderWrapper, SentenceTransformerEncoderWrapper
    from sentence_transformers import CrossEncoder, SentenceTransformer

    built = tiny.build(tmp_path, prompts={"query": "the red dog ", "document": "a blue cat "})
    models = [
        SentenceTransformer(str(built), device="cpu", similarity_fn_name=name) for name in ("cosine", "euclidean")
    ]
    rows = [{"query": f"{word} {i}", "document": f"a dog {word} on {i}"} for i in range(20) for word in tiny.WORDS[:3]]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    asked = {**how, "data": [how["data"], f"retrieval:{tmp_path / 'rows.jsonl'}"], "checks": f"{CHECKS} or retrieval"}
    found = []
    for model in models:
        with warnings.catch_warnings(action="ignore"):  # MTEB warns of what it calls itself
            wrapped = SentenceTransformerEncoderWrapper(model)
        found.append(encheck.run(wrapped, **asked))
        same_figures(found[-1], encheck.run(model, **asked))
    assert figures(found[0]) != figures(found[1])
    with warnings.catch_warnings(action="ignore"):
        pairs = CrossEncoderWrapper(CrossEncoder(str(tmp_path / "plain"), num_labels=1, device="cpu"))
    with pytest.raises(TypeError, match="CrossEncoderWrapper is not a model"):
        encheck.run(pairs, **how)


def test_two_models_of_one_name_have_numbers(how):
    found = encheck.run(
        [lambda texts: np.ones((len(texts), 2)), lambda texts: np.eye(2)[[len(t) % 2 for t in texts]]], **how
    )
    assert {row.model for row in found.rows} == {"function", "function-2"}


@pytest.mark.parametrize("wrong", [3, None, {"a": 1}, np.ones(3), ["oracle", 3], dict])
def test_what_encodes_nothing_is_a_type_error_that_says_what_is_accepted(wrong, how):
    with pytest.raises(TypeError, match=r"is not a model\. A model is a name in models\.yaml, a path, a hub id, "):
        encheck.run(wrong, **how)


def test_a_model_that_fails_has_its_rows(how):
    def broken(texts):
        raise ValueError("no such thing")

    found = encheck.run(broken, **how)
    assert {row.verdict for row in found.rows} == {"error"}
    assert all(
        "broken cannot be measured: broken(texts) raised ValueError('no such thing')" in r.reason for r in found.rows
    )
    assert found.exit_code == 1


def test_a_check_without_items_is_skipped_with_its_reason(tmp_path, how):
    file = tmp_path / "pairs.csv"
    file.write_text("first,second,label\n" + "".join(f"text {i} ab,text {i} cd,{i % 2}\n" for i in range(50)), "utf-8")
    found = encheck.run("oracle", **{**how, "data": f"pairs:{file}", "checks": ["downstream", "sts"]})
    assert {row.verdict for row in found.rows} == {"skipped"}
    assert all(row.reason for row in found.rows)
    assert found.exit_code == 5


@pytest.mark.parametrize(
    ("asked", "said"),
    [({"checks": "numbr"}, "did you mean 'number'"), ({"checks": "number and antonym"}, "selects no check"),
     ({"checks": "number or"}, "cannot be read"), ({"checks": "__import__('os')"}, "cannot be read"),
     ({"checks": ["number", "antonm"]}, "did you mean 'antonym'"),
     ({"model": []}, "no model is named"), ({"data": []}, "no data are named"),
     ({"data": Path("x")}, "x: the file or folder does not exist")],
)  # fmt: skip
def test_a_selection_that_selects_nothing_is_refused(asked, said):
    with pytest.raises(UsageError, match=said):
        encheck.run(**{"model": "oracle", "checks": "number", **asked})


def test_a_gate_takes_objects_and_evaluates_both_together(folder, how):
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")
    decision = encheck.gate(model, folder, **how)
    assert {row.change for row in decision.rows} == {0}
    assert decision.outcome == "block"  # it reads 24 tokens of a long text, whatever it is compared with
    assert decision.reasons[0].startswith("contract broken: end of a long text is seen")
    assert decision.reindex.needed is False
    assert decision.partial.weighed == ("quantifier",)
    worse = encheck.gate(lambda texts: np.eye(2)[[len(text) % 2 for text in texts]], model, **how)
    assert any(row.change < 0 for row in worse.rows)


OWN_CHECK = '''
"""Loud text means what quiet text means."""

from encheck import claim
from encheck.generators.antonym import antonym
from encheck.items import contrast
from encheck.metrics import margin_rate
from loud import casing


@claim(contrast(casing, antonym), property="loudness", family="invariance", metric=margin_rate.calibrated, aim=0.9)
def test_loud_is_nearer_than_antonym(judge):
    """Loud text is nearer than the opposite."""
    judge()
'''


def test_a_run_and_a_gate_import_no_pytest_print_nothing_and_take_checks_of_ones_own(how, tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own/own.py").write_text(OWN_CHECK, "utf-8")
    (tmp_path / "own/loud.py").write_text("from encheck.generators.invariance import casing", "utf-8")
    options = {**how, "store": str(how["store"]), "checks": "loudness or quantifier", "own_checks": ["own/own.py"]}
    code = (
        f"import encheck, sys; assert encheck.run('oracle', **{how | {'store': str(how['store'])}!r}).rows; "
        f"found = encheck.gate('bag-of-words', 'oracle', **{options!r}); "
        "print(found.outcome, *sorted({row.property for row in found.results.rows}), 'pytest' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert (out.stdout, out.stderr) == ("inconclusive contract loudness quantifier False\n", "")
    assert {path.name for path in tmp_path.iterdir()} == {"own"}


def test_one_name_with_other_arguments_is_another_model(folder, how):
    """And both are found by their labels; without arguments of its own, the same model is measured once."""
    spec = str(folder)
    args = [f"{folder.name}-2:max_length=8"]
    found = encheck.gate(spec, spec, model_arg=args, **how)
    assert [model.label for model in found.results.raw.models] == [folder.name]
    assert found.reindex.up_to == 8  # tokens
    same = encheck.gate(spec, spec, **how)
    assert not same.reindex.needed
    assert {row.change for row in same.rows} == {0}


def test_a_model_in_memory_has_a_baseline(folder, how, tmp_path):
    from sentence_transformers import SentenceTransformer

    encheck.run(SentenceTransformer(str(folder), device="cpu"), save_baseline=tmp_path / "kept", **how)
    decision = encheck.gate(folder, tmp_path / "kept", **how)
    assert {row.change for row in decision.rows} == {0}


def test_the_page_of_a_model_in_memory_has_no_command_that_would_name_it(tmp_path, contrasts_alone):
    encheck.run(lambda texts: [[len(text), text.count("a") + 1.0] for text in texts], data=contrasts_alone,
                report_dir=tmp_path / "r")  # fmt: skip
    page = html.unescape((tmp_path / "r/report.html").read_text("utf-8"))
    typed = [re.sub("<[^>]+>", "", one) for one in re.findall("<code>(.*?)</code>", page)]
    assert not [one for one in typed if one.startswith("encheck ") and one != "encheck show ID"]
    (cases,) = json.loads(re.findall("data-cases='([^']*)'", page)[0])
    assert cases[2] == f"--run={tmp_path / 'r'}"
    assert "call encheck.gate(new, old) with this model and the one in use." in page


def test_pairs_whose_words_give_them_away_have_no_verdict_of_their_own_negatives(tmp_path):
    rng = random.Random(0)
    words = [f"w{i}" for i in range(200)]
    lines = []
    for i in range(48):
        first = rng.sample(words, 8)
        second = first[:6] + rng.sample(words, 2) if i % 2 else first[:3] + rng.sample(words, 5)
        lines.append(f"{' '.join(first)},{' '.join(second)},{i % 2}")
    (tmp_path / "easy.csv").write_text("\n".join(["first,second,label", *lines]) + "\n", "utf-8")
    found = encheck.run(
        "bag-of-words", data=f"pairs:{tmp_path}/easy.csv", checks="paraphrase", store=tmp_path / "s.sqlite"
    )
    rows = {row.check: row for row in found.raw.checks if row.metric == "similarity_gap_calibrated"}
    own = rows["paraphrase_is_nearer_than_non_paraphrase"]
    assert (own.verdict, own.aim) == (None, None)
    assert own.reason == "no verdict: word overlap alone tells the labels apart (AUC 1.00, above 0.60)"
    random_pairs = rows["paraphrase_is_nearer_than_random_pair"]
    assert (random_pairs.verdict, random_pairs.floor) == ("pass", random_pairs.aim)
    assert all(row.floor <= row.aim for row in found.raw.checks if row.floor is not None)
    shown = {row.metric for row in found.raw.checks}
    assert {"auc", "auc_beyond_word_overlap", "similarity_gap_beyond_word_overlap_calibrated"} <= shown


def test_another_model_may_cut_what_nobody_searches_and_not_more_of_the_documents(folder, how, tmp_path):
    """On the sentences that come with encheck, both cut the long ones; nobody searches these."""
    rows = [{"query": f"{i} a b", "document": f"{i} c d e f g"} for i in range(40)]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    how = {**how, "data": f"retrieval:{tmp_path / 'log.jsonl'}", "checks": "retrieval"}
    same = encheck.gate(str(folder), str(folder), **how)
    assert not any("contract" in reason for reason in same.reasons)
    shorter = encheck.gate(str(folder), str(folder), model_arg=[f"{folder.name}:max_length=5"], **how)
    assert shorter.outcome == "block"
    assert "the new model truncates 100.0% of your documents, those with over 5 tokens" in shorter.reasons[0]
